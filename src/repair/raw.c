/*
 * Where there is nothing to compile: functions are called by their addresses, and
 * what helps is suggested, since there is no source that a patch could change.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/str.h"
#include "repair/repair_internal.h"

#define RAW_HITS 16

struct raw_search {
	struct search *search;
	struct raw_list all;
	VEC(size_t) hits;
	size_t best; /* of @all */
	bool exact, elsewhere, found;
	size_t judging;
	struct strv texts; /* by hit: how it would be written */
};

static bool raw_helps(const struct raw_search *raw,
		      const struct suite_called *called)
{
	return called->returned && (raw->search->request->leftover ||
				    search_is_good(called->outcome));
}

static struct err *raw_try(void *data, const struct suite_bench *bench)
{
	struct raw_search *raw = data;
	struct search *search = raw->search;
	static const struct suite_raw_call nothing;
	struct suite_called called;
	struct candidate_input input;
	TRY(search_make_input(search, bench, &input));
	TRY(candidates_raw(&input, &raw->all));
	TRY(bench->call_raw(bench->context, &nothing, &called));
	if (!search->request->leftover && search_is_good(called.outcome))
		return NULL;
	for (size_t i = 0; i < raw->all.n && raw->hits.n < RAW_HITS &&
			   !search_has_ended(search);
	     i++) {
		_cleanup_(freep) char *text = NULL;
		uint64_t began = clock_now();
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		TRY(bench->call_raw(bench->context, &raw->all.data[i].call,
				    &called));
		search->plan->try_ns += clock_now() - began;
		search->plan->tried++;
		if (!raw_helps(raw, &called))
			continue;
		TRY(candidate_raw_text(&input, &raw->all.data[i], &text));
		log_debug(LOG_REPAIR, "helps: %s", text);
		TRY(strv_take(&raw->texts, take_ptr(text)));
		TRY(vec_push(&raw->hits, i));
	}
	return NULL;
}

/* Is what was polluted as before? */
static struct err *raw_judge(void *data, const struct suite_bench *bench)
{
	struct raw_search *raw = data;
	const struct strv *names = &raw->search->request->polluted;
	raw->exact = true;
	for (size_t i = 0; i < bench->n; i++) {
		raw->exact &= names->n > 0;
		for (size_t j = 0; j < names->n; j++)
			raw->exact &= strcmp(names->data[j],
					     bench->roots[i].root) != 0;
	}
	return NULL;
}

static struct err *raw_elsewhere(void *data, const struct suite_bench *bench)
{
	struct raw_search *raw = data;
	const size_t hit = raw->hits.data[raw->judging];
	struct suite_called called;
	TRY(bench->call_raw(bench->context, &raw->all.data[hit].call, &called));
	raw->elsewhere = raw_helps(raw, &called);
	return NULL;
}

/* The first that puts everything back, else the first that helps. */
static struct err *raw_choose(struct raw_search *raw)
{
	struct search *search = raw->search;
	const struct repair_request *request = search->request;
	struct suite_bench_options there = {
		.watch = search->settings->watch,
		.prefix = request->passing.data,
		.n = request->passing.n - 1,
		.test = request->test,
	};
	struct suite_bench_options here = there;
	here.prefix = request->failing.data;
	here.n = request->failing.n - 1;
	for (size_t i = 0; i < raw->hits.n && !search_has_ended(search); i++) {
		raw->judging = i;
		raw->exact = raw->elsewhere = false;
		TRY(suite_work_bench(search->suite, &there, raw_elsewhere, raw,
				     search->settings->observer, NULL));
		if (!raw->elsewhere && !request->leftover)
			continue;
		here.raw = &raw->all.data[raw->hits.data[i]].call;
		if (here.n)
			TRY(suite_work_bench(search->suite, &here, raw_judge,
					     raw, search->settings->observer,
					     NULL));
		if (!raw->found || raw->exact)
			raw->best = i;
		raw->found = true;
		if (raw->exact)
			return NULL;
	}
	raw->exact = false;
	return NULL;
}

static struct err *raw_say(const struct raw_search *raw)
{
	struct search *search = raw->search;
	const struct raw_candidate *best =
		&raw->all.data[raw->hits.data[raw->best]];
	TRY(str_copy(best->routine->name, &search->plan->function));
	return str_format(&search->plan->why_not,
			  "%s; %s %s lets it pass%s, so call it there",
			  search->why_not, raw->texts.data[raw->best],
			  search->request->leftover ? "at its end"
						    : "at its start",
			  raw->exact ? " and puts the state back"
				     : ", though the state is not as before");
}

struct err *search_try_raw(struct search *search)
{
	const struct repair_request *request = search->request;
	struct raw_search raw = { .search = search };
	const struct suite_bench_options options = {
		.watch = search->settings->watch,
		.prefix = request->failing.data,
		.n = request->failing.n - 1,
		.test = request->test,
	};
	struct err *err =
		suite_work_bench(search->suite, &options, raw_try, &raw,
				 search->settings->observer, NULL);
	if (!err && raw.hits.n)
		err = raw_choose(&raw);
	if (!err && raw.found)
		err = raw_say(&raw);
	vec_free(&raw.all);
	vec_free(&raw.hits);
	strv_free(&raw.texts);
	return err;
}
