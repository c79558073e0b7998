/*
 * A search for orders made of paper: order/order.h without any search, so that
 * what commands make of its results can be tested by itself.
 *
 * $FAKE_ORDER names a JSON file: {"findings": [{"test": 0, "class": "victim",
 * "polluters": [[1], [2, 3]], "setters": …, "cleaners": …, "passing": [0],
 * "failing": [1, 0], "outcome": "fail", "message": …, "file": …, "line": …,
 * "polluted": ["x"]}], "flaky": [{"test": 1, "runs": 10, "failures": 2}],
 * "reach": {"pairs": …, "tried": …, "by_state": …, "alone": true, …, "why": …},
 * "asked": PATH}. What was asked for is written to PATH. Without a file nothing
 * is found, and everything was tried.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "order/order_internal.h"

void order_result_free(struct order_result *result)
{
	findings_free(&result->findings);
}

static struct err *read_tests(const json_t *from, struct order_tests *ret)
{
	for (size_t i = 0; i < json_array_size(from); i++)
		TRY(vec_push(ret, (size_t)json_integer_value(
					  json_array_get(from, i))));
	return NULL;
}

static struct err *read_lists(const json_t *from, struct order_lists *ret)
{
	for (size_t i = 0; i < json_array_size(from); i++) {
		struct order_tests tests = {};
		TRY(read_tests(json_array_get(from, i), &tests));
		TRY(vec_push(ret, tests));
	}
	return NULL;
}

static char *read_text(const json_t *from, const char *key)
{
	const char *text = json_string_value(json_object_get(from, key));
	return text ? strdup(text) : NULL;
}

static uint64_t read_number(const json_t *from, const char *key, uint64_t other)
{
	const json_t *value = json_object_get(from, key);
	return json_is_boolean(value) ? json_is_true(value)
	       : value		      ? (uint64_t)json_integer_value(value)
				      : other;
}

static struct err *read_finding(const json_t *from,
				const struct pollution *pollution,
				const struct finding_run *run,
				struct order_result *ret)
{
	struct finding made;
	struct dependence finding = {
		.test = read_number(from, "test", 0),
		.polluters_complete = read_number(from, "complete", 1),
		.cleaners_complete = true,
		.failure = { .outcome = OUTCOME_FAIL,
			     .message = read_text(from, "message"),
			     .file = read_text(from, "file"),
			     .line = (unsigned)read_number(from, "line", 0) },
		.polluted_together = read_number(from, "together", 0),
		.roots_known = true,
		.repeats = read_number(from, "repeats", 3),
		.passing_own = read_number(from, "passing_own", 0),
		.natural = read_number(from, "natural", 0),
	};
	const char *word = json_string_value(json_object_get(from, "class"));
	for (int i = 0; word && i < ORDER_CLASSES; i++) {
		if (!strcmp(order_class_name((enum order_class)i), word))
			finding.class = (enum order_class)i;
	}
	word = json_string_value(json_object_get(from, "outcome"));
	for (int i = 0; word && i < OUTCOMES; i++) {
		if (!strcmp(outcome_name((enum outcome)i), word))
			finding.failure.outcome = (enum outcome)i;
	}
	TRY(read_lists(json_object_get(from, "polluters"), &finding.polluters));
	TRY(read_lists(json_object_get(from, "setters"), &finding.setters));
	TRY(read_lists(json_object_get(from, "cleaners"), &finding.cleaners));
	TRY(read_tests(json_object_get(from, "passing"), &finding.passing));
	TRY(read_tests(json_object_get(from, "failing"), &finding.failing));
	const json_t *cleaned = json_object_get(from, "cleaned");
	for (size_t i = 0; i < json_array_size(cleaned); i++) {
		struct order_lists lists = {};
		TRY(read_lists(json_array_get(cleaned, i), &lists));
		TRY(vec_push(&finding.cleaned, lists));
	}
	const json_t *roots = json_object_get(from, "polluted");
	for (size_t i = 0; i < json_array_size(roots); i++)
		TRY(strv_add(&finding.polluted,
			     json_string_value(json_array_get(roots, i))));
	TRY(order_finding_make(run, pollution, &finding, &made));
	return vec_push(&ret->findings, made);
}

static struct err *read_flaky(const json_t *from, const struct finding_run *run,
			      struct order_result *ret)
{
	struct finding made = {};
	struct flaky flaky = {
		.test = read_number(from, "test", 0),
		.runs = read_number(from, "runs", 10),
		.failures = read_number(from, "failures", 1),
		.failure = { .outcome = OUTCOME_FAIL,
			     .message = strdup("no luck") },
	};
	TRY(vec_push(&flaky.order, flaky.test));
	TRY(flaky_finding_make(run, "order", &flaky, &made));
	return vec_push(&ret->findings, made);
}

/* Was it asked before, and is that still believed? */
static bool recall(const struct order_memory *memory)
{
	void *value;
	size_t n;
	if (!memory)
		return false;
	if (memory->get(memory->data, "asked", &value, &n)) {
		free(value);
		return true;
	}
	memory->put(memory->data, "asked", "yes", 3);
	return false;
}

static void tell_options(const char *path, size_t n,
			 const struct pollution *pollution,
			 const struct order_options *options)
{
	FILE *file = fopen(path, "w");
	if (!file)
		return;
	fprintf(file,
		"{\"tests\": %zu, \"pollution\": %s, \"strategy\": %d, "
		"\"any_order\": %d, \"seed\": %llu, \"orders\": %lld, "
		"\"all_pairs\": %d, \"repeats\": %zu, \"cleaners\": %d, "
		"\"roots\": %d, \"budget\": %d, \"left\": %lld, "
		"\"known\": %d}\n",
		n, pollution ? "true" : "false", (int)options->strategy,
		options->any_order, (unsigned long long)options->seed,
		(long long)options->orders, options->all_pairs,
		options->repeats, options->cleaners, options->roots,
		options->budget,
		options->deadline ? (long long)(options->deadline - clock_now())
				  : 0,
		recall(options->memory));
	fclose(file);
}

static struct err *read_result(const json_t *from,
			       const struct pollution *pollution,
			       const struct order_options *options,
			       struct order_result *ret)
{
	const json_t *reach = json_object_get(from, "reach");
	const json_t *entries = json_object_get(from, "findings");
	for (size_t i = 0; i < json_array_size(entries); i++)
		TRY(read_finding(json_array_get(entries, i), pollution,
				 options->run, ret));
	uint64_t all = ret->reach.pairs;
	const char *why = json_string_value(json_object_get(reach, "why"));
	ret->reach = (struct order_reach){
		.systematic = options->strategy != ORDER_RANDOM,
		.executions = read_number(reach, "executions", 1234),
		.until_last = read_number(reach, "until_last", 567),
		.known = read_number(reach, "known", 0),
		.pairs = read_number(reach, "pairs", all),
		.pairs_tried = read_number(reach, "tried", all),
		.pairs_by_state = read_number(reach, "by_state", 0),
		.orders = read_number(reach, "orders", 2),
		.rows = read_number(reach, "rows", 0),
		.rows_all = read_number(reach, "rows_all", 0),
		.alone = read_number(reach, "alone", 1),
		.twice = read_number(reach, "twice", 1),
		.reversed = read_number(reach, "reversed", 1),
		.why = !why			? NULL
		       : !strcmp(why, "budget") ? "budget"
						: "interrupted",
	};
	/* As a search that came to its end tries all of them. */
	for (size_t i = 0; i < options->n_earlier; i++)
		options->earlier[i].tried = !why;
	entries = json_object_get(from, "flaky");
	for (size_t i = 0; i < json_array_size(entries); i++)
		TRY(read_flaky(json_array_get(entries, i), options->run, ret));
	return NULL;
}

struct err *order_find(struct suite *suite, const size_t *tests, size_t n,
		       const struct pollution *pollution,
		       const struct order_options *options,
		       const struct suite_observer *observer,
		       struct order_result *ret)
{
	const char *path = getenv("FAKE_ORDER");
	json_t *from = path ? json_load_file(path, 0, NULL) : NULL;
	if (path && !from)
		BUG("cannot read $FAKE_ORDER");
	const char *asked = json_string_value(json_object_get(from, "asked"));
	if (asked)
		tell_options(asked, n, pollution, options);
	ret->reach.pairs = (uint64_t)n * (n - 1);
	struct err *err = NULL;
	if (observer->finished)
		err = suite_run(suite, tests, n, 0, observer);
	struct err *bad = read_result(from, pollution, options, ret);
	json_decref(from);
	if (err)
		err_ignore(bad);
	return err ? err : bad;
}
