#include "cli/reuse.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/json.h"
#include "base/log.h"
#include "base/map.h"
#include "cli/detection.h"
#include "cli/interrupt.h"
#include "report/reread.h"

/* ---- under which name ---- */

/* Options that say how it is shown, or how long it may take. */
static bool option_matters(const char *name)
{
	static const char *const others[] = {
		"format",  "output",   "color",	   "quiet",
		"verbose", "baseline", "fail-on",  "update-baseline",
		"budget",  "config",   "jobs",	   "fresh",
		"help",	   "version",  "suppress", "order",
		"tests",   "store",
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(others[i], name))
			return false;
	}
	return true;
}

/* Which tests are run, and in which order, however that was asked for. */
static XXH64_hash_t hash_order(const struct detection *detection,
			       XXH64_hash_t hash)
{
	const struct indexes *order = &detection->order;
	for (size_t i = 0; i < order->n; i++) {
		const char *name =
			roster_name(detection->roster, order->data[i]);
		hash = XXH64(name, strlen(name) + 1, hash);
	}
	return hash;
}

static struct err *reuse_make_key(const struct detection *detection, char **ret)
{
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(str_freep) struct str key = STR_INIT;
	XXH64_hash_t hash = hash_order(detection, 0);
	TRY(options_words(detection->options, NULL, option_matters, &words));
	for (size_t i = 0; i < words.n; i++)
		hash = XXH64(words.data[i], strlen(words.data[i]) + 1, hash);
	TRY(str_appendf(&key, "%s %016llx", detection->command,
			(unsigned long long)hash));
	*ret = str_take(&key);
	return *ret ? NULL : err_nomem();
}

/* A replay wants to see it happen. */
static bool reuse_is_kept(const struct detection *detection)
{
	return detection->limited && !detection->values->state.common.look;
}

/* --verbose has all that was tried, and what each test printed. */
static bool reuse_is_possible(const struct detection *detection)
{
	return reuse_is_kept(detection) && !detection->outputs.style.verbose &&
	       detection->holds.all;
}

/* ---- reading ---- */

/*
 * What the user gave: of a whole build, for all its parts. A part's share of it
 * differs from call to call.
 */
static uint64_t budget_asked(const struct detection *detection)
{
	return detection->part.budget_ns ? detection->part.budget_ns
					 : detection->values->state.budget_ns;
}

/* Enough time was spent on it, and enough was looked at, for what is asked now? */
static bool is_enough(const struct detection *detection, const json_t *kept)
{
	const json_t *report = json_object_get(kept, "report");
	uint64_t spent =
		(uint64_t)json_integer_value(json_object_get(kept, "budget"));
	bool open = json_object_get(report, "open");
	if (open && budget_asked(detection) > spent)
		return false;
	return !detection->watch.watch.detail ||
	       json_is_true(json_object_get(kept, "detail"));
}

/* A report whose findings are not kept any more would name what nobody replays. */
static struct err *are_there(struct detection *detection,
			     const struct report *report, bool *ret)
{
	_cleanup_(map_text_freep) struct map_text ids = MAP_INIT;
	uint64_t there;
	for (size_t i = 0; detection->steps[i].detector; i++) {
		_cleanup_(store_findings_free) struct store_findings all = {};
		const char *digest;
		if (!detection->states[i] || detection->steps[i].hidden)
			continue;
		TRY(results_get(detection->records.results,
				detection->steps[i].detector->name, &all,
				&digest));
		for (size_t j = 0; j < all.n; j++)
			TRY(map_text_put(&ids, all.data[j].id, 1));
	}
	*ret = true;
	for (size_t i = 0; i < report->n_findings && *ret; i++)
		*ret = map_text_get(&ids, report->findings[i].id, &there);
	return NULL;
}

/* Which searches were not complete: what they did not find may still be there. */
static void take_open(struct detection *detection, const json_t *kept)
{
	const json_t *open = json_object_get(kept, "not_complete");
	for (size_t i = 0; i < json_array_size(open); i++) {
		const char *name = json_string_value(json_array_get(open, i));
		for (size_t j = 0; name && detection->steps[j].detector; j++)
			detection->open[j] |= !strcmp(
				detection->steps[j].detector->name, name);
	}
}

struct err *reuse_load(struct detection *detection, struct reread **ret)
{
	_cleanup_(freep) char *key = NULL;
	_cleanup_(freep) void *value = NULL;
	_cleanup_(reread_destroyp) struct reread *reread = NULL;
	size_t n = 0;
	bool there;
	if (!reuse_is_possible(detection))
		return NULL;
	TRY(reuse_make_key(detection, &key));
	if (!results_get_fact(detection->records.results, key, &value, &n))
		return NULL;
	_cleanup_(json_freep) json_t *kept =
		json_loadb(value, n, JSON_ALLOW_NUL, NULL);
	if (!kept || !is_enough(detection, kept))
		return NULL;
	/* Nothing in the store is trusted: what is not whole is not taken. */
	struct err *err = reread_create(
		json_incref(json_object_get(kept, "report")), &reread);
	if (err) {
		log_debug(LOG_CLI, "the kept report: %s", err_message(err));
		err_destroy(err);
		return NULL;
	}
	TRY(are_there(detection, reread_report(reread), &there));
	if (!there || !reread_report(reread)->run)
		return NULL;
	take_open(detection, kept);
	log_debug(LOG_CLI, "nothing has changed since the last check");
	*ret = take_ptr(reread);
	return NULL;
}

/* ---- writing ---- */

static void reuse_closep(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* {"budget": …, "report": …}: the report is as JSON has it. */
static struct err *reuse_write(const struct detection *detection,
			       const struct report *report, FILE *out)
{
	const struct report_style style = {};
	const char *comma = "";
	uint64_t asked = budget_asked(detection);
	fprintf(out, "{\"budget\": %llu, \"detail\": %s, \"not_complete\": [",
		(unsigned long long)(asked ? asked : detection->budget_ns),
		detection->watch.watch.detail ? "true" : "false");
	for (size_t i = 0; detection->steps[i].detector; i++) {
		if (!detection->open[i] && !detection->left_out[i])
			continue;
		fprintf(out, "%s\"%s\"", comma,
			detection->steps[i].detector->name);
		comma = ", ";
	}
	fputs("], \"report\": ", out);
	TRY(report_json.write(report, &style, out));
	fputs("}", out);
	return fflush(out) ? err_nomem() : NULL;
}

struct err *reuse_keep(struct detection *detection, const struct report *report)
{
	_cleanup_(freep) char *key = NULL;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(reuse_closep) FILE *out = NULL;
	size_t n = 0;
	if (!reuse_is_kept(detection) || interrupt_happened() ||
	    detection->collect.finished < detection->order.n)
		return NULL;
	TRY(reuse_make_key(detection, &key));
	out = open_memstream(&text, &n);
	if (!out)
		return err_nomem();
	TRY(reuse_write(detection, report, out));
	results_put_fact(detection->records.results, key, text, n);
	return NULL;
}
