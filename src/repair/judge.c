/* Of the candidates that help: which of them really put the state back? */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "base/value_kind.h"
#include "repair/repair_internal.h"

/* Of those that one step found, so many are looked at more closely. */
#define HITS_MAX 32

bool search_is_good(enum outcome outcome)
{
	return outcome == OUTCOME_PASS || outcome == OUTCOME_SKIP;
}

/* ---- where it passed before ---- */

static struct err *judge_elsewhere(void *data, const struct suite_bench *bench)
{
	struct search *search = data;
	size_t loaded = BATCH_NONE;
	search->clean_blocks = bench->blocks;
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

/* ---- what differs by itself ---- */

/*
 * A port that the kernel chose, a time, a random number: what was there before is
 * another value in each process, and so cannot be put back.
 */
struct seen_value {
	char *path, *value;
	size_t times;
	bool unsteady;
};

void hits_free(struct search *search)
{
	for (size_t i = 0; i < search->hits.n; i++)
		free(search->hits.data[i].rest);
	vec_free(&search->hits);
	for (size_t i = 0; i < search->seen.n; i++) {
		free(search->seen.data[i].path);
		free(search->seen.data[i].value);
	}
	vec_free(&search->seen);
}

static struct seen_value *find_seen(const struct search *search,
				    const char *path)
{
	for (size_t i = 0; i < search->seen.n; i++) {
		if (!strcmp(search->seen.data[i].path, path))
			return &search->seen.data[i];
	}
	return NULL;
}

static struct err *note_seen(struct search *search, const struct change *root)
{
	for (size_t i = 0; i < root->n; i++) {
		const struct change_path *path = &root->paths[i];
		struct seen_value *seen = find_seen(search, path->path);
		struct seen_value value = { .times = 1 };
		if (!path->before)
			continue;
		if (seen) {
			seen->times++;
			seen->unsteady |=
				strcmp(seen->value, path->before) != 0;
			continue;
		}
		struct err *err = str_copy(path->path, &value.path);
		if (!err)
			err = str_copy(path->before, &value.value);
		if (!err)
			err = vec_push(&search->seen, value);
		if (err) {
			free(value.path);
			free(value.value);
			return err;
		}
	}
	return NULL;
}

/* Were all of these seen in two processes? */
static bool is_seen_again(const struct search *search,
			  const struct change *root)
{
	for (size_t i = 0; i < root->n; i++) {
		const struct seen_value *seen =
			find_seen(search, root->paths[i].path);
		if (seen && seen->times < 2)
			return false;
	}
	return true;
}

/* ---- what is left ---- */

/* A part of a polluted root that is not as before. */
struct rest_path {
	char *path, *after;
	bool moves; /* each call gives it another value */
};

struct exactness {
	struct search *search;
	struct hit *hit;
	bool again; /* another process would say more */
	VEC(struct rest_path) rest;
};

static void rest_free(struct exactness *exactness)
{
	for (size_t i = 0; i < exactness->rest.n; i++) {
		free(exactness->rest.data[i].path);
		free(exactness->rest.data[i].after);
	}
	vec_free(&exactness->rest);
}

static bool is_polluted_root(const struct search *search,
			     const struct change *root)
{
	const struct strv *names = &search->request->polluted;
	for (size_t i = 0; i < names->n; i++) {
		if (!strcmp(names->data[i], root->root))
			return true;
	}
	return !names->n;
}

static struct rest_path *find_rest_path(const struct exactness *exactness,
					const char *path)
{
	for (size_t i = 0; i < exactness->rest.n; i++) {
		if (!strcmp(exactness->rest.data[i].path, path))
			return &exactness->rest.data[i];
	}
	return NULL;
}

/* What the polluter left in that very part; NULL: it did not change it. */
static const char *polluted_value(const struct search *search, const char *path)
{
	for (size_t i = 0; i < search->parts.n; i++) {
		if (!strcmp(search->parts.data[i], path))
			return search->values.data[i];
	}
	return NULL;
}

/* "'cache' (cache.hits is 3 instead of 0)" */
static struct err *hit_note_rest(const struct change *root,
				 const struct change_path *path,
				 struct hit *hit)
{
	if (hit->rest)
		return NULL;
	if (!path || !path->before || !path->after)
		return str_format(&hit->rest, "'%s'", root->root);
	return str_format(&hit->rest, "'%s' (%s is %.80s instead of %.80s)",
			  root->root, path->path, path->after, path->before);
}

static struct err *note_rest_path(struct exactness *exactness,
				  const struct change_path *path)
{
	struct rest_path rest = {};
	if (find_rest_path(exactness, path->path) || !path->after)
		return NULL;
	struct err *err = str_copy(path->path, &rest.path);
	if (!err)
		err = str_copy(path->after, &rest.after);
	if (!err)
		err = vec_push(&exactness->rest, rest);
	if (err) {
		free(rest.path);
		free(rest.after);
	}
	return err;
}

static bool is_wrong(const struct exactness *exactness,
		     const struct change_path *path)
{
	const struct seen_value *seen =
		find_seen(exactness->search, path->path);
	const struct rest_path *rest = find_rest_path(exactness, path->path);
	return !(seen && seen->unsteady) && !(rest && rest->moves);
}

/* The first part that should have been put back; NULL: there is none. */
static const struct change_path *find_wrong(const struct exactness *exactness,
					    const struct change *root)
{
	for (size_t i = 0; i < root->n; i++) {
		if (is_wrong(exactness, &root->paths[i]))
			return &root->paths[i];
	}
	return NULL;
}

static bool differed_before(const struct search *search,
			    const struct change *root)
{
	for (size_t i = 0; i < search->roots.n; i++) {
		if (!strcmp(search->roots.data[i], root->root))
			return true;
	}
	return false;
}

/*
 * Does the call nothing but put a part back? What else differs is as the polluter
 * left it: since the test passes, that is not what misled it. A part that is
 * neither as before nor as it was left was changed in another way.
 */
static bool is_partly_restored(const struct exactness *exactness,
			       const struct suite_bench *bench)
{
	const struct search *search = exactness->search;
	size_t left = 0;
	for (size_t i = 0; i < bench->n; i++) {
		const struct change *root = &bench->roots[i];
		if (!is_polluted_root(search, root)) {
			if (!root->first && !differed_before(search, root))
				return false;
			continue;
		}
		if (root->more || !root->n)
			return false;
		for (size_t j = 0; j < root->n; j++) {
			const struct change_path *path = &root->paths[j];
			const char *value = polluted_value(search, path->path);
			left += value != NULL;
			if (is_wrong(exactness, path) &&
			    (!value || !path->after ||
			     strcmp(value, path->after) != 0))
				return false;
		}
	}
	return left < search->parts.n;
}

/* What still differs after the call. */
static struct err *judge_exactness(void *data, const struct suite_bench *bench)
{
	struct exactness *exactness = data;
	struct search *search = exactness->search;
	struct hit *hit = exactness->hit;
	hit->judged = true;
	hit->remaining = 0;
	free(take_ptr(hit->rest));
	for (size_t i = 0; i < bench->n; i++) {
		const struct change *root = &bench->roots[i];
		if (!is_polluted_root(search, root))
			continue;
		TRY(note_seen(search, root));
		for (size_t j = 0; j < root->n; j++)
			TRY(note_rest_path(exactness, &root->paths[j]));
		const struct change_path *path = find_wrong(exactness, root);
		if (root->n && !root->more && !path)
			continue;
		TRY(hit_note_rest(root, path, hit));
		hit->remaining++;
		exactness->again |= !is_seen_again(search, root);
	}
	hit->partial = hit->remaining && is_partly_restored(exactness, bench);
	hit->differing = bench->n;
	hit->leaked = bench->blocks > search->blocks
			      ? bench->blocks - search->blocks
			      : 0;
	return NULL;
}

/*
 * It was called twice: a number that is another one each time counts calls, or is
 * drawn at random. That is not what was polluted, if the polluter did not change
 * it.
 */
static struct err *judge_moving(void *data, const struct suite_bench *bench)
{
	struct exactness *exactness = data;
	for (size_t i = 0; i < bench->n; i++) {
		const struct change *root = &bench->roots[i];
		for (size_t j = 0; j < root->n; j++) {
			const struct change_path *path = &root->paths[j];
			struct rest_path *rest =
				find_rest_path(exactness, path->path);
			if (!rest || !path->after ||
			    path->kind == VALUE_OTHER ||
			    polluted_value(exactness->search, path->path))
				continue;
			rest->moves = strcmp(rest->after, path->after) != 0;
		}
	}
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
		order = hit_compare(a->remaining && !a->partial,
				    b->remaining && !b->partial);
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

/* Where nothing was polluted: what is made anew there is left over. */
static struct err *judge_leaks(void *data, const struct suite_bench *bench)
{
	const struct exactness *exactness = data;
	size_t before = exactness->search->clean_blocks;
	if (before && bench->blocks > before)
		exactness->hit->leaked += bench->blocks - before;
	return NULL;
}

/* Once, and where something remains, closer. */
static struct err *judge_hit(struct search *search,
			     struct suite_bench_options *options,
			     struct hit *hit)
{
	struct exactness exactness = { .search = search, .hit = hit };
	const struct suite_observer *observer = search->settings->observer;
	struct err *err =
		suite_work_bench(search->suite, options, judge_exactness,
				 &exactness, observer, NULL);
	bool closer = hit->remaining && !search->request->leftover;
	if (!err && closer) {
		options->twice = true;
		err = suite_work_bench(search->suite, options, judge_moving,
				       &exactness, observer, NULL);
		options->twice = false;
	}
	if (!err && (closer || exactness.again))
		err = suite_work_bench(search->suite, options, judge_exactness,
				       &exactness, observer, NULL);
	if (!err && hit->judged && !hit->remaining &&
	    !search->request->leftover) {
		const struct order_tests *passing = &search->request->passing;
		struct suite_bench_options clean = *options;
		clean.prefix = passing->data;
		clean.n = passing->n ? passing->n - 1 : 0;
		err = suite_work_bench(search->suite, &clean, judge_leaks,
				       &exactness, observer, NULL);
	}
	rest_free(&exactness);
	return err;
}

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
		hit->elsewhere |= request->leftover;
		hit->remaining = hit->differing = search->roots_n;
		if (!hit->elsewhere || search_has_ended(search))
			continue;
		options.library = search->batches.data[hit->batch].library;
		options.first = hit->place;
		TRY(judge_hit(search, &options, hit));
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
