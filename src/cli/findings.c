#include "cli/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/map.h"
#include "base/str.h"
#include "report/order.h"

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->owned.n; i++)
		free(findings->owned.data[i]);
	vec_free(&findings->owned);
	vec_free(&findings->all);
	vec_free(&findings->firsts);
}

struct err *findings_own(struct findings *findings, void *memory)
{
	if (!memory)
		return err_nomem();
	struct err *err = vec_push(&findings->owned, memory);
	if (err)
		free(memory);
	return err;
}

struct err *findings_own_text(struct findings *findings, struct str *text,
			      const char **ret)
{
	char *taken = str_take(text);
	TRY(findings_own(findings, taken));
	*ret = taken;
	return NULL;
}

/* A word for the shell, as it is where that is safe. */
static struct err *append_word(struct str *str, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+=./:,@%";
	if (*word && word[strspn(word, safe)] == '\0')
		return str_append(str, word);
	TRY(str_append(str, "'"));
	for (const char *c = word; *c; c++)
		TRY(*c == '\'' ? str_append(str, "'\\''")
			       : str_append_n(str, c, 1));
	return str_append(str, "'");
}

/* A name as a pattern that matches nothing else. */
static struct err *append_pattern(struct str *str, const char *name)
{
	_cleanup_(str_freep) struct str pattern = STR_INIT;
	for (const char *c = name; *c; c++) {
		if (strchr("*?[]\\!", *c))
			TRY(str_append(&pattern, "\\"));
		TRY(str_append_n(&pattern, c, 1));
	}
	return append_word(str, pattern.s ? pattern.s : "");
}

static struct err *replay(struct findings *findings,
			  const struct findings_context *context,
			  const char *command, const char *test,
			  const char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_appendf(&text, "polygraph %s --tests ", command));
	TRY(append_pattern(&text, test));
	for (size_t i = 0; context->command[i]; i++) {
		TRY(str_append(&text,
			       i || context->suite_option ? " " : " -- "));
		TRY(append_word(&text, context->command[i]));
	}
	return findings_own_text(findings, &text, ret);
}

/* The same defect has the same id in every run. */
static struct err *make_id(struct findings *findings, const char *kind,
			   enum change_where where, const char *test,
			   const char *root, const char **ret)
{
	XXH64_hash_t hash = XXH64(kind, strlen(kind) + 1, where);
	hash = XXH64(test, strlen(test) + 1, hash);
	hash = XXH64(root, strlen(root) + 1, hash);
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_appendf(&text, "%s-%012llx", kind,
			(unsigned long long)(hash & 0xffffffffffffULL)));
	return findings_own_text(findings, &text, ret);
}

static struct err *message(struct findings *findings, const char *test,
			   const struct pollution_finding *finding,
			   const char **ret)
{
	const struct change_path *path = &finding->change.paths[0];
	_cleanup_(str_freep) struct str text = STR_INIT;
	const char *const parts[] = { test,	    " leaves ",
				      path->path,   " changed from ",
				      path->before, " to ",
				      path->after };
	/* Names are the program's own: one line all the same. */
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		TRY(str_append_escaped(&text, parts[i], strlen(parts[i])));
	if (finding->effect == EFFECT_ACCUMULATES)
		TRY(str_append(&text, ", again each time it runs"));
	if (finding->lazy)
		TRY(str_append(&text, "; so would the tests that read it"));
	else if (finding->readers.n)
		TRY(str_appendf(&text, ", and %zu other test%s read%s it",
				finding->readers.n,
				finding->readers.n == 1 ? "" : "s",
				finding->readers.n == 1 ? "s" : ""));
	return findings_own_text(findings, &text, ret);
}

static struct err *add_stack(struct findings *findings,
			     const struct change_path *path,
			     struct report_path *ret)
{
	if (!path->n_stack)
		return NULL;
	struct report_frame *frames = calloc(path->n_stack, sizeof(*frames));
	TRY(findings_own(findings, frames));
	for (size_t i = 0; i < path->n_stack; i++)
		frames[i] = (struct report_frame){ path->stack[i].function,
						   path->stack[i].file,
						   path->stack[i].line };
	ret->stack = frames;
	ret->n_stack = path->n_stack;
	return NULL;
}

static struct err *add_paths(struct findings *findings,
			     const struct change *change,
			     struct report_finding *ret)
{
	struct report_path *paths = calloc(change->n + 1, sizeof(*paths));
	TRY(findings_own(findings, paths));
	for (size_t i = 0; i < change->n; i++) {
		const struct change_path *path = &change->paths[i];
		paths[i] = (struct report_path){ .path = path->path,
						 .before = path->before,
						 .after = path->after };
		TRY(add_stack(findings, path, &paths[i]));
	}
	ret->paths = paths;
	ret->n_paths = change->n;
	ret->more_paths = change->more;
	return NULL;
}

static struct err *add_readers(struct findings *findings,
			       const struct findings_context *context,
			       const struct pollution_finding *finding,
			       struct report_finding *ret)
{
	const char **names = calloc(finding->readers.n + 1, sizeof(*names));
	TRY(findings_own(findings, names));
	for (size_t i = 0; i < finding->readers.n; i++)
		names[i] = suite_test(context->suite, finding->readers.data[i])
				   ->name;
	ret->readers = names;
	ret->n_readers = finding->readers.n;
	return NULL;
}

static struct err *add_pollution(struct findings *findings,
				 const struct findings_context *context,
				 const struct pollution_finding *finding)
{
	static const char *const wheres[] = { "memory", "file", "process" };
	const struct change *change = &finding->change;
	const char *test = suite_test(context->suite, finding->test)->name;
	struct report_finding record = {
		.kind = "pollution",
		.test = test,
		.severity = pollution_severity_name(finding->severity),
		.where = wheres[change->where],
		.root = change->root,
		.file = change->file,
		.line = change->line,
		.effect = pollution_effect_name(finding->effect),
		.detail = change->detail,
	};
	TRY(make_id(findings, "pollution", change->where, test, change->root,
		    &record.id));
	TRY(message(findings, test, finding, &record.message));
	TRY(replay(findings, context, "pollution", test, &record.replay));
	TRY(add_paths(findings, change, &record));
	TRY(add_readers(findings, context, finding, &record));
	record.known = baseline_knows(context->baseline, record.id);
	return vec_push(&findings->all, record);
}

struct err *findings_of_pollution(struct findings *findings,
				  const struct findings_context *context,
				  const struct pollution *pollution)
{
	for (size_t i = 0; i < pollution->findings.n; i++) {
		if (pollution->findings.data[i].change.n)
			TRY(add_pollution(findings, context,
					  &pollution->findings.data[i]));
	}
	for (size_t i = 0; i < pollution->firsts.n; i++) {
		const struct pollution_first *first =
			&pollution->firsts.data[i];
		struct report_first record = {
			suite_test(context->suite, first->test)->name,
			first->root,
		};
		TRY(vec_push(&findings->firsts, record));
	}
	return NULL;
}

/* ---- orders ---- */

static struct err *name_tests(struct findings *findings,
			      const struct suite *suite,
			      const struct order_tests *tests,
			      struct report_names *ret)
{
	const char **names = calloc(tests->n + 1, sizeof(*names));
	TRY(findings_own(findings, names));
	for (size_t i = 0; i < tests->n; i++)
		names[i] = suite_test(suite, tests->data[i])->name;
	*ret = (struct report_names){ names, tests->n };
	return NULL;
}

static struct err *name_lists(struct findings *findings,
			      const struct suite *suite,
			      const struct order_lists *lists, bool complete,
			      struct report_lists *ret)
{
	struct report_names *all = calloc(lists->n + 1, sizeof(*all));
	TRY(findings_own(findings, all));
	for (size_t i = 0; i < lists->n; i++)
		TRY(name_tests(findings, suite, &lists->data[i], &all[i]));
	*ret = (struct report_lists){ all, lists->n, !complete };
	return NULL;
}

/* Of the test alone: its class may turn out to be another one. */
static struct err *make_order_id(struct findings *findings, const char *test,
				 const char **ret)
{
	static const char kind[] = "order-dependent";
	XXH64_hash_t hash = XXH64(kind, sizeof(kind), 0);
	hash = XXH64(test, strlen(test) + 1, hash);
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_appendf(&text, "order-%012llx",
			(unsigned long long)(hash & 0xffffffffffffULL)));
	return findings_own_text(findings, &text, ret);
}

/* What pollution found, by test and root. */
struct leftovers {
	struct map_text by_key; /* → its place */
	const struct pollution *pollution;
};

static void leftovers_freep(struct leftovers *leftovers)
{
	map_text_free(&leftovers->by_key);
}

static struct err *leftover_key(size_t test, const char *root, struct str *ret)
{
	return str_appendf(ret, "%zu %s", test, root);
}

static struct err *leftovers_init(struct leftovers *leftovers,
				  const struct pollution *pollution)
{
	leftovers->pollution = pollution;
	for (size_t i = 0; pollution && i < pollution->findings.n; i++) {
		const struct pollution_finding *finding =
			&pollution->findings.data[i];
		_cleanup_(str_freep) struct str key = STR_INIT;
		if (!finding->change.n)
			continue;
		TRY(leftover_key(finding->test, finding->change.root, &key));
		TRY(map_text_put(&leftovers->by_key, key.s, i));
	}
	return NULL;
}

/* Of the tests in whichever order has more than the test itself. */
static struct err *add_left(const struct suite *suite,
			    const struct leftovers *leftovers,
			    const struct order_finding *finding,
			    struct report_order *ret)
{
	const struct order_tests *before = finding->class == ORDER_BRITTLE
						   ? &finding->passing
						   : &finding->failing;
	for (size_t i = 0; i + 1 < before->n; i++) {
		for (size_t j = 0; j < finding->polluted.n; j++) {
			_cleanup_(str_freep) struct str key = STR_INIT;
			uint64_t at;
			TRY(leftover_key(before->data[i],
					 finding->polluted.data[j], &key));
			if (!map_text_get(&leftovers->by_key, key.s, &at))
				continue;
			const struct change_path *path =
				&leftovers->pollution->findings.data[at]
					 .change.paths[0];
			ret->left.test =
				suite_test(suite, before->data[i])->name;
			ret->left.path = path->path;
			ret->left.before = path->before;
			ret->left.after = path->after;
			return NULL;
		}
	}
	return NULL;
}

static struct err *add_order(struct findings *findings,
			     const struct findings_context *context,
			     const struct leftovers *leftovers,
			     const struct order_finding *finding)
{
	const struct suite *suite = context->suite;
	struct report_order *order = calloc(1, sizeof(*order));
	TRY(findings_own(findings, order));
	*order = (struct report_order){
		.class = order_class_name(finding->class),
		.outcome = finding->outcome,
		.message = finding->message,
		.file = finding->file,
		.line = finding->line,
		.polluted = { (const char *const *)finding->polluted.data,
			      finding->polluted.n },
		.polluted_together = finding->polluted_together,
		.roots_known = finding->roots_known,
		.roots_in_vain = finding->roots_in_vain,
		.repeats = finding->repeats,
		.natural = finding->natural,
	};
	/* Who disturbs itself has no polluters; brittle tests have setters. */
	if (finding->class == ORDER_VICTIM)
		TRY(name_lists(findings, suite, &finding->polluters,
			       finding->polluters_complete, &order->polluters));
	TRY(name_lists(findings, suite, &finding->setters,
		       finding->polluters_complete, &order->setters));
	TRY(name_lists(findings, suite, &finding->cleaners,
		       finding->cleaners_complete, &order->cleaners));
	TRY(name_tests(findings, suite, &finding->passing, &order->passing));
	TRY(name_tests(findings, suite, &finding->failing, &order->failing));

	struct report_lists *cleaned =
		calloc(finding->cleaned.n + 1, sizeof(*cleaned));
	TRY(findings_own(findings, cleaned));
	for (size_t i = 0; i < finding->cleaned.n; i++)
		TRY(name_lists(findings, suite, &finding->cleaned.data[i],
			       finding->cleaners_complete, &cleaned[i]));
	order->cleaned = cleaned;
	order->n_cleaned = finding->cleaned.n;
	TRY(add_left(suite, leftovers, finding, order));

	struct report_finding record = {
		.kind = "order-dependent",
		.test = suite_test(suite, finding->test)->name,
		.severity = order_severity(finding),
		.order = order,
	};
	TRY(make_order_id(findings, record.test, &record.id));
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(order_append_message(&text, record.test, order));
	TRY(findings_own_text(findings, &text, &record.message));
	_cleanup_(str_freep) struct str again = STR_INIT;
	TRY(str_appendf(&again, "polygraph replay %s", record.id));
	TRY(findings_own_text(findings, &again, &record.replay));
	record.known = baseline_knows(context->baseline, record.id);
	return vec_push(&findings->all, record);
}

static struct err *add_reach(struct findings *findings,
			     const struct findings_context *context,
			     const struct order_result *result)
{
	const struct order_reach *reach = &result->reach;
	struct report_random *randoms =
		calloc(result->randoms.n + 1, sizeof(*randoms));
	TRY(findings_own(findings, randoms));
	for (size_t i = 0; i < result->randoms.n; i++) {
		const struct order_random *record = &result->randoms.data[i];
		randoms[i] = (struct report_random){
			suite_test(context->suite, record->test)->name,
			record->runs,
			record->failures,
		};
	}
	findings->reach = (struct report_reach){
		.executions = reach->executions,
		.until_last = reach->until_last,
		.known = reach->known,
		.pairs = reach->pairs,
		.pairs_tried = reach->pairs_tried,
		.pairs_by_state = reach->pairs_by_state,
		.orders = reach->orders,
		.rows = reach->rows,
		.rows_all = reach->rows_all,
		.alone = reach->alone,
		.twice = reach->twice,
		.candidates = reach->candidates,
		.polluters = reach->polluters,
		.reversed = reach->reversed,
		.why = reach->why,
		.randoms = randoms,
		.n_randoms = result->randoms.n,
	};
	return NULL;
}

static struct err *note_lists(struct map_text *culprits,
			      const struct report_lists *lists)
{
	for (size_t i = 0; i < lists->n; i++) {
		for (size_t j = 0; j < lists->data[i].n; j++)
			TRY(map_text_put(culprits, lists->data[i].data[j], 1));
	}
	return NULL;
}

/* Pollution by whoever makes a test fail, in a root that it fails by. */
static struct err *point(struct findings *findings)
{
	_cleanup_(map_text_freep) struct map_text culprits = MAP_INIT;
	_cleanup_(map_text_freep) struct map_text roots = MAP_INIT;
	for (size_t i = 0; i < findings->all.n; i++) {
		const struct report_order *order = findings->all.data[i].order;
		if (!order || !order->polluted.n)
			continue;
		for (size_t j = 0; j < order->polluted.n; j++)
			TRY(map_text_put(&roots, order->polluted.data[j], i));
		TRY(note_lists(&culprits, &order->polluters));
		TRY(note_lists(&culprits, &order->setters));
		if (!order->polluters.n && !order->setters.n)
			TRY(map_text_put(&culprits, findings->all.data[i].test,
					 1));
	}
	for (size_t i = 0; i < findings->all.n; i++) {
		struct report_finding *finding = &findings->all.data[i];
		uint64_t by, is_culprit;
		if (report_is_pollution(finding) &&
		    map_text_get(&roots, finding->root, &by) &&
		    map_text_get(&culprits, finding->test, &is_culprit))
			finding->told_by = findings->all.data[by].id;
	}
	return NULL;
}

struct err *findings_of_order(struct findings *findings,
			      const struct findings_context *context,
			      const struct pollution *pollution,
			      const struct order_result *result)
{
	_cleanup_(leftovers_freep) struct leftovers leftovers = {};
	TRY(leftovers_init(&leftovers, pollution));
	for (size_t i = 0; i < result->findings.n; i++)
		TRY(add_order(findings, context, &leftovers,
			      &result->findings.data[i]));
	TRY(add_reach(findings, context, result));
	return point(findings);
}
