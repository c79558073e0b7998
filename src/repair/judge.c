/* Of the candidates that help: which of them really put the state back? */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "repair/repair_internal.h"

/* Of those that one step found, so many are looked at more closely. */
#define HITS_MAX 32

bool search_is_good(enum outcome outcome)
{
	return outcome == OUTCOME_PASS || outcome == OUTCOME_SKIP;
}

void hits_free(struct search *search)
{
	for (size_t i = 0; i < search->hits.n; i++)
		free(search->hits.data[i].rest);
	vec_free(&search->hits);
}

/* ---- where it passed before ---- */

static struct err *judge_elsewhere(void *data, const struct suite_bench *bench)
{
	struct search *search = data;
	size_t loaded = BATCH_NONE;
	for (size_t i = search->judged; i < search->hits.n; i++) {
		struct hit *hit = &search->hits.data[i];
		struct suite_called called;
		bool done = true;
		if (hit->batch != loaded)
			TRY(bench->load(
				bench->context,
				search->batches.data[hit->batch].library,
				&done));
		if (!done)
			continue;
		loaded = hit->batch;
		TRY(bench->call(bench->context, hit->place, &called));
		hit->elsewhere =
			called.returned && search_is_good(called.outcome);
		log_debug(LOG_REPAIR, "%s: %s where it passes without",
			  search->all.data[hit->candidate].code,
			  called.returned ? outcome_name(called.outcome)
					  : "does not return");
	}
	return NULL;
}

/* ---- what is left ---- */

struct exactness {
	struct search *search;
	struct hit *hit;
};

/* "'cache' (cache.hits is 3 instead of 0)" */
static struct err *hit_note_rest(const struct change *root, struct hit *hit)
{
	const struct change_path *path = root->n ? &root->paths[0] : NULL;
	if (hit->rest)
		return NULL;
	if (!path || !path->before || !path->after)
		return str_format(&hit->rest, "'%s'", root->root);
	return str_format(&hit->rest, "'%s' (%s is %.80s instead of %.80s)",
			  root->root, path->path, path->after, path->before);
}

/* What still differs after the call. */
static struct err *judge_exactness(void *data, const struct suite_bench *bench)
{
	const struct exactness *exactness = data;
	const struct strv *names = &exactness->search->request->polluted;
	struct hit *hit = exactness->hit;
	hit->judged = true;
	for (size_t i = 0; i < bench->n; i++) {
		bool polluted = !names->n;
		for (size_t j = 0; j < names->n; j++)
			polluted |=
				!strcmp(names->data[j], bench->roots[i].root);
		if (polluted)
			TRY(hit_note_rest(&bench->roots[i], hit));
		hit->remaining += polluted;
	}
	hit->differing = bench->n;
	hit->leaked = bench->blocks > exactness->search->blocks
			      ? bench->blocks - exactness->search->blocks
			      : 0;
	return NULL;
}

/* ---- the better one ---- */

static struct repair_candidate *hit_candidate(const struct search *search,
					      const struct hit *hit)
{
	return &search->all.data[hit->candidate];
}

static struct search *sorting;

static int hit_compare(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

static int hit_order(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;
	const struct repair_candidate *x = hit_candidate(sorting, a);
	const struct repair_candidate *y = hit_candidate(sorting, b);
	int order = hit_compare(!a->elsewhere, !b->elsewhere);
	if (!order)
		order = hit_compare(a->remaining, b->remaining);
	/* A reset function says what is meant; a value does not. */
	if (!order)
		order = hit_compare(x->template && x->score,
				    y->template && y->score);
	if (!order)
		order = hit_compare(a->leaked, b->leaked);
	if (!order)
		order = hit_compare(a->differing, b->differing);
	if (!order)
		order = hit_compare(x->arguments, y->arguments);
	if (!order)
		order = hit_compare(x->score, y->score);
	return order ? order : hit_compare(a->candidate, b->candidate);
}

static void sort_hits(struct search *search)
{
	sorting = search;
	if (search->hits.n)
		qsort(search->hits.data, search->hits.n, sizeof(struct hit),
		      hit_order);
}

bool search_hit_is_sound(const struct search *search, const struct hit *hit)
{
	/* A brittle test needs what others leave: nothing is put back. */
	return hit->elsewhere && (search->request->class == ORDER_BRITTLE ||
				  (hit->judged && !hit->remaining));
}

/* ---- all of it ---- */

static struct err *judge_each(struct search *search)
{
	const struct repair_request *request = search->request;
	struct suite_bench_options options = {
		.watch = search->settings->watch,
		.prefix = request->failing.data,
		.n = request->failing.n - 1,
		.test = request->test,
	};
	for (size_t i = search->judged; options.n && i < search->hits.n; i++) {
		struct hit *hit = &search->hits.data[i];
		struct exactness exactness = { search, hit };
		hit->elsewhere |= request->leftover;
		hit->remaining = hit->differing = search->roots_n;
		if (!hit->elsewhere || search_has_ended(search))
			continue;
		hit->remaining = 0;
		options.library = search->batches.data[hit->batch].library;
		options.first = hit->place;
		TRY(suite_work_bench(search->suite, &options, judge_exactness,
				     &exactness, search->settings->observer,
				     NULL));
		if (!hit->judged)
			hit->remaining = hit->differing = search->roots_n;
		log_debug(LOG_REPAIR, "%s: %zu polluted roots remain (%s)",
			  search->all.data[hit->candidate].code, hit->remaining,
			  hit->rest ? hit->rest : "none");
	}
	return NULL;
}

struct err *search_judge_hits(struct search *search)
{
	const struct repair_request *request = search->request;
	const struct order_tests *other = &request->passing;
	const struct suite_bench_options options = {
		.watch = search->settings->watch,
		.prefix = other->data,
		.n = other->n ? other->n - 1 : 0,
		.test = request->test,
	};
	const char *why_not = NULL;
	/* They are in the order of their scores. */
	if (!request->leftover)
		search->hits.n = MIN(search->hits.n, search->judged + HITS_MAX);
	if (!request->leftover && search->hits.n > search->judged)
		TRY(suite_work_bench(search->suite, &options, judge_elsewhere,
				     search, search->settings->observer,
				     &why_not));
	if (why_not)
		log_debug(LOG_REPAIR, "not tried elsewhere: %s", why_not);
	TRY(judge_each(search));
	size_t kept = search->judged;
	for (size_t i = search->judged; i < search->hits.n; i++) {
		const struct hit *hit = &search->hits.data[i];
		if (hit->elsewhere && (!request->leftover || !hit->remaining))
			search->hits.data[kept++] = *hit;
		else
			free(hit->rest);
	}
	search->hits.n = kept;
	sort_hits(search);
	search->judged = kept;
	return NULL;
}
