#include "cli/reuse.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/json.h"
#include "base/log.h"
#include "cli/detection.h"
#include "cli/interrupt.h"

/* ---- under which name ---- */

/* Options that say how it is shown, or how long it may take. */
static bool option_matters(const char *name)
{
	static const char *const others[] = {
		"format",  "output",   "color",	   "quiet",
		"verbose", "baseline", "fail-on",  "update-baseline",
		"budget",  "config",   "jobs",	   "fresh",
		"help",	   "version",  "suppress",
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(others[i], name))
			return false;
	}
	return true;
}

/* Variables that differ from terminal to terminal, and from call to call. */
static bool variable_matters(const char *variable)
{
	static const char *const others[] = {
		"_=",	      "SHLVL=",	  "PWD=",      "OLDPWD=", "COLUMNS=",
		"LINES=",     "TERM",	  "WINDOW",    "SSH_",	  "DISPLAY=",
		"POLYGRAPH_", "XDG_SESS", "COLORTERM",
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (str_starts(variable, others[i]))
			return false;
	}
	return true;
}

/* The sum does not depend on the order in which they stand. */
static XXH64_hash_t hash_environment(void)
{
	XXH64_hash_t sum = geteuid();
	for (char **variable = environ; variable && *variable; variable++) {
		if (variable_matters(*variable))
			sum += XXH64(*variable, strlen(*variable), 1);
	}
	return sum;
}

static struct err *make_key(const struct detection *detection, char **ret)
{
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(str_freep) struct str key = STR_INIT;
	XXH64_hash_t hash = hash_environment();
	TRY(options_words(detection->options, NULL, option_matters, &words));
	for (size_t i = 0; i < words.n; i++)
		hash = XXH64(words.data[i], strlen(words.data[i]) + 1, hash);
	TRY(str_appendf(&key, "%s %016llx", detection->command,
			(unsigned long long)hash));
	*ret = str_take(&key);
	return *ret ? NULL : err_nomem();
}

/*
 * An order file may have changed, and a replay wants to see it happen. All that
 * was tried, as --verbose and other formats than text have it, is not kept.
 */
static bool is_reusable(const struct detection *detection)
{
	const struct state_command_options *state = &detection->values->state;
	for (size_t i = 0; i < detection->outputs.n; i++) {
		if (detection->outputs.data[i].format != &report_text ||
		    detection->outputs.style.verbose)
			return false;
	}
	return detection->limited && !state->order && !state->common.look;
}

/* ---- reading ---- */

static const char *json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Nothing in the store is trusted: what is not whole is not taken. */
static struct err *add_test(struct detection *detection, const json_t *test)
{
	struct collect *collect = &detection->collect;
	json_int_t number = json_integer_value(json_object_get(test, "test"));
	json_int_t outcome =
		json_integer_value(json_object_get(test, "outcome"));
	if (number < 0 || (size_t)number >= detection->roster->n ||
	    outcome <= OUTCOME_NONE || outcome >= OUTCOMES)
		return err_create(ERR_INTERNAL, "unreadable");
	const struct suite_result result = {
		.test = (size_t)number,
		.outcome = (enum outcome)outcome,
		.ns = (uint64_t)json_integer_value(json_object_get(test, "ns")),
		.message = (char *)json_text(test, "message"),
		.file = (char *)json_text(test, "file"),
		.line = (unsigned)json_integer_value(
			json_object_get(test, "line")),
	};
	struct suite_observer observer = collect_observer(collect);
	observer.finished(observer.data, &result);
	return NULL;
}

static struct err *take_report(struct detection *detection, json_t *report)
{
	const char *open = json_text(report, "open");
	size_t i;
	json_t *value;
	json_array_foreach(json_object_get(report, "tests"), i, value)
		TRY(add_test(detection, value));
	json_array_foreach(json_object_get(report, "limits"), i, value)
	{
		if (json_is_string(value))
			TRY(collect_limit(&detection->collect,
					  json_string_value(value)));
	}
	return open ? str_copy(open, &detection->open_line) : NULL;
}

/* Enough time was spent on it, as it is now asked for? */
static bool had_time(const struct detection *detection, const json_t *report)
{
	uint64_t spent =
		(uint64_t)json_integer_value(json_object_get(report, "budget"));
	bool open = json_text(report, "open");
	return !open || detection->values->state.budget_ns <= spent;
}

struct err *reuse_load(struct detection *detection, bool *ret)
{
	_cleanup_(freep) char *key = NULL;
	void *value = NULL;
	size_t n = 0;
	*ret = false;
	if (!is_reusable(detection) || detection->values->fresh)
		return NULL;
	TRY(make_key(detection, &key));
	if (!results_get_fact(detection->records.results, key, &value, &n))
		return NULL;
	_cleanup_(json_freep) json_t *report =
		json_loadb(value, n, JSON_ALLOW_NUL, NULL);
	free(value);
	if (!report || !had_time(detection, report) ||
	    json_array_size(json_object_get(report, "tests")) !=
		    detection->order.n)
		return NULL;
	for (size_t i = 0; detection->steps[i].detector; i++) {
		detection->step = &detection->steps[i];
		if (detection->states[i] && !detection->step->hidden)
			TRY(earlier_load(detection, &detection->earlier[i]));
	}
	struct err *err = take_report(detection, report);
	if (err) {
		err_destroy(err);
		collect_free(&detection->collect);
		return collect_init(&detection->collect, detection->roster,
				    false);
	}
	log_debug(LOG_CLI, "nothing has changed since the last check");
	*ret = detection->reused = true;
	return NULL;
}

/* ---- writing ---- */

static json_t *pack_clean(const char *text)
{
	_cleanup_(freep) char *clean =
		text ? str_utf8(text, strlen(text)) : NULL;
	return text ? json_string(clean) : json_null();
}

static struct err *find_numbers(const struct detection *detection,
				struct map_text *ret)
{
	for (size_t i = 0; i < detection->roster->n; i++)
		TRY(map_text_put(ret, roster_name(detection->roster, i), i));
	return NULL;
}

static struct err *pack_tests(const struct detection *detection, json_t **ret)
{
	_cleanup_(map_text_freep) struct map_text numbers = MAP_INIT;
	_cleanup_(json_freep) json_t *tests = json_array();
	TRY(find_numbers(detection, &numbers));
	for (size_t i = 0; i < detection->collect.tests.n; i++) {
		const struct report_test *test =
			&detection->collect.tests.data[i];
		uint64_t number;
		if (!map_text_get(&numbers, test->name, &number) ||
		    (test->disabled && test->outcome == OUTCOME_SKIP))
			continue;
		json_t *object = json_pack("{s:I, s:i, s:I, s:o, s:o, s:i}",
					   "test", (json_int_t)number,
					   "outcome", (int)test->outcome, "ns",
					   (json_int_t)test->ns, "message",
					   pack_clean(test->message), "file",
					   pack_clean(test->failure_file),
					   "line", (int)test->failure_line);
		if (json_array_append_new(tests, object))
			return err_nomem();
	}
	*ret = take_ptr(tests);
	return NULL;
}

struct err *reuse_keep(struct detection *detection)
{
	_cleanup_(freep) char *key = NULL;
	_cleanup_(freep) char *text = NULL;
	json_t *tests = NULL;
	const struct collect *collect = &detection->collect;
	if (!is_reusable(detection) || detection->reused ||
	    interrupt_happened() || collect->finished < detection->order.n)
		return NULL;
	TRY(make_key(detection, &key));
	TRY(pack_tests(detection, &tests));
	_cleanup_(json_freep) json_t *limits = json_array();
	for (size_t i = 0; i < collect->limits.n; i++)
		json_array_append_new(limits,
				      pack_clean(collect->limits.data[i]));
	_cleanup_(json_freep) json_t *report = json_pack(
		"{s:I, s:o, s:O, s:o}", "budget",
		(json_int_t)detection->budget_ns, "tests", tests, "limits",
		limits, "open", pack_clean(detection->open_line));
	text = report ? json_dumps(report, JSON_COMPACT) : NULL;
	if (!text)
		return err_nomem();
	results_put_fact(detection->records.results, key, text, strlen(text));
	return NULL;
}
