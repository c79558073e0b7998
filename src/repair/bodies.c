/*
 * Tests that clean up, as a whole and with their fixtures around them; what helps
 * is reduced to the statements that it takes, by delta debugging (Zeller and
 * Hildebrandt 2002). Each round is compiled at once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "repair/fixtures.h"
#include "repair/repair_internal.h"

#define LISTS_MAX 4
#define FIXTURES_MAX 8
#define STATEMENTS_MAX 200
#define PINNED_MAX 4

void bodies_free(struct search *search)
{
	for (size_t i = 0; i < search->bodies.n; i++)
		trial_body_free(&search->bodies.data[i]);
	vec_free(&search->bodies);
}

static struct err *keep_body(struct search *search, struct trial_body *body)
{
	struct err *err = candidates_from_body(body, &search->all);
	if (!err)
		err = vec_push(&search->bodies, *body);
	if (err)
		trial_body_free(body);
	return err;
}

static struct err *read_span(struct search *search,
			     const struct source_file *source,
			     struct source_span span)
{
	struct trial_body body = {};
	struct err *err = trial_body_read(source, span, &body);
	if (err)
		trial_body_free(&body);
	return err ? err : keep_body(search, &body);
}

/* What runs before and after a test, each by itself. */
static struct err *read_fixtures(struct search *search,
				 const struct source_file *source)
{
	struct source_fixture fixture;
	size_t at = 0;
	for (size_t n = 0;
	     n < FIXTURES_MAX && fixture_next(source, &at, &fixture); n++)
		TRY(read_span(search, source, fixture.body));
	return NULL;
}

/* The test with what its fixture does around it. */
static struct err *read_surrounded(struct search *search,
				   const struct source_file *source,
				   struct source_span span)
{
	struct trial_body body = {};
	struct source_fixture fixture;
	struct err *err = NULL;
	bool before = fixture_of(source, span, true, &fixture);
	if (before)
		err = trial_body_read(source, fixture.body, &body);
	if (!err)
		err = trial_body_read(source, span, &body);
	bool after = fixture_of(source, span, false, &fixture);
	if (!err && after)
		err = trial_body_read(source, fixture.body, &body);
	if (!err && (before || after))
		return vec_push(&search->bodies, body);
	trial_body_free(&body);
	return err;
}

/* One test after the other, after lines that are always there. */
static struct err *read_sequence(struct search *search,
				 const struct order_tests *tests,
				 const char *pinned)
{
	struct trial_body body = {};
	struct err *err = pinned ? trial_body_pin(pinned, &body) : NULL;
	for (size_t i = 0; !err && i < tests->n; i++) {
		_cleanup_(source_freep) struct source_file source = {};
		struct source_span span;
		bool found;
		err = search_read_test(search, tests->data[i], &source, &span,
				       &found);
		if (!err && found)
			err = trial_body_read(&source, span, &body);
	}
	if (!err)
		err = vec_push(&search->bodies, body);
	if (err)
		trial_body_free(&body);
	return err;
}

/*
 * What one test after the other does; of a brittle test also in a fixture that
 * was made anew, so that it is not done twice where they ran before.
 */
static struct err *read_sequences(struct search *search,
				  const struct order_tests *tests)
{
	size_t singles = search->all.n, pinned = 0;
	if (search->request->class == ORDER_BRITTLE) {
		for (size_t i = 0; i < singles && pinned < PINNED_MAX; i++) {
			if (!search->all.data[i].fixture)
				continue;
			pinned++;
			TRY(read_sequence(search, tests,
					  search->all.data[i].code));
		}
	}
	return tests->n > 1 ? read_sequence(search, tests, NULL) : NULL;
}

struct err *search_read_bodies(struct search *search)
{
	const struct repair_request *request = search->request;
	const struct order_lists *lists = request->class == ORDER_BRITTLE
						  ? &request->setters
						  : &request->cleaners;
	for (size_t i = 0; i < lists->n && i < LISTS_MAX; i++) {
		TRY(read_sequences(search, &lists->data[i]));
		for (size_t j = 0; j < lists->data[i].n; j++) {
			_cleanup_(source_freep) struct source_file source = {};
			struct source_span body;
			bool found;
			TRY(search_read_test(search, lists->data[i].data[j],
					     &source, &body, &found));
			if (!found)
				continue;
			TRY(read_span(search, &source, body));
			TRY(read_surrounded(search, &source, body));
			TRY(read_fixtures(search, &source));
		}
	}
	/* Fixtures of its own file, also where no test cleans up. */
	return lists->n ? NULL : read_fixtures(search, &search->source);
}

/* ---- reducing ---- */

struct reduction {
	struct search *search;
	const struct suite_bench *bench;
	const struct trial_body *body;
	bool *kept; /* by statement */
	size_t n;   /* of the statements */
};

/* Of those that may be left out. */
static size_t count_kept(const struct reduction *reduction)
{
	size_t count = 0;
	for (size_t i = reduction->body->pinned; i < reduction->n; i++)
		count += reduction->kept[i];
	return count;
}

/* Statements that compile by themselves. */
static struct err *choose_compiling(struct reduction *reduction)
{
	struct search *search = reduction->search;
	size_t from = search->all.n;
	_cleanup_(freep) bool *alone = calloc(reduction->n + 1, 1);
	_cleanup_(freep) bool *helped = calloc(reduction->n + 1, 1);
	if (!alone || !helped)
		return err_nomem();
	for (size_t i = 0; i < reduction->n; i++) {
		alone[i] = true;
		TRY(candidates_choose(reduction->body, alone, &search->all));
		alone[i] = false;
	}
	TRY(search_try_some(search, reduction->bench, from, reduction->n,
			    helped));
	for (size_t i = 0; i < reduction->n; i++) {
		const struct repair_candidate *candidate =
			&search->all.data[from + i];
		reduction->kept[i] =
			i < reduction->body->pinned ||
			(candidate->place && candidate->place != BATCH_NONE &&
			 *reduction->body->statements.data[i]);
	}
	return NULL;
}

/* Everything but the @part-th of @parts of what is kept. */
static void leave_part(const struct reduction *reduction, size_t part,
		       size_t parts, bool *ret)
{
	size_t all = count_kept(reduction), seen = 0;
	for (size_t i = reduction->body->pinned; i < reduction->n; i++) {
		bool in = reduction->kept[i] &&
			  seen * parts / MAX(all, (size_t)1) == part;
		ret[i] = reduction->kept[i] && !in;
		seen += reduction->kept[i];
	}
}

/* The smallest of one round replaces what is kept; *@ret: there is one. */
static struct err *reduce_round(struct reduction *reduction, size_t parts,
				size_t *best, bool *ret)
{
	struct search *search = reduction->search;
	size_t from = search->all.n;
	_cleanup_(freep) bool *chosen = calloc(reduction->n + 1, 1);
	_cleanup_(freep) bool *helped = calloc(parts + 1, 1);
	*ret = false;
	if (!chosen || !helped)
		return err_nomem();
	for (size_t i = 0; i < parts; i++) {
		leave_part(reduction, i, parts, chosen);
		TRY(candidates_choose(reduction->body, chosen, &search->all));
	}
	TRY(search_try_some(search, reduction->bench, from, parts, helped));
	for (size_t i = 0; i < parts && !*ret; i++) {
		if (!helped[i] || !*search->all.data[from + i].code)
			continue;
		leave_part(reduction, i, parts, chosen);
		memcpy(reduction->kept, chosen, reduction->n);
		*best = from + i;
		*ret = true;
	}
	return NULL;
}

/* *@best: a candidate that helps, with as few statements as it takes. */
static struct err *reduce_body(struct reduction *reduction, size_t *best)
{
	struct search *search = reduction->search;
	size_t parts = 2;
	for (;;) {
		size_t left = count_kept(reduction);
		bool smaller;
		if (left < 2 || search->why_not || search_has_ended(search))
			return NULL;
		parts = MIN(parts, left);
		TRY(reduce_round(reduction, parts, best, &smaller));
		if (smaller)
			parts = MAX(parts - 1, (size_t)2);
		else if (parts >= left)
			return NULL;
		else
			parts *= 2;
	}
}

/* *@best: it helps as a whole; (size_t)-1: it does not. */
static struct err *try_whole(struct reduction *reduction, size_t *best)
{
	struct search *search = reduction->search;
	size_t all = count_kept(reduction) + reduction->body->pinned;
	bool helped[1] = {};
	*best = search->all.n;
	/* One by one they were tried by now. */
	if (all >= 2 && !search->why_not) {
		TRY(candidates_choose(reduction->body, reduction->kept,
				      &search->all));
		TRY(search_try_some(search, reduction->bench, *best, 1,
				    helped));
		log_debug(LOG_REPAIR, "as a whole, this %s: %s",
			  *helped ? "helps" : "does not help",
			  search->all.data[*best].code);
	}
	if (!*helped)
		*best = (size_t)-1;
	return NULL;
}

/* Without what assertions call: that is rarely what sets something up. */
static struct err *try_plain(struct reduction *reduction, size_t *best)
{
	const struct trial_body *body = reduction->body;
	_cleanup_(freep) bool *all = calloc(reduction->n + 1, 1);
	bool fewer = false;
	*best = (size_t)-1;
	if (!all)
		return err_nomem();
	memcpy(all, reduction->kept, reduction->n);
	for (size_t i = 0; i < reduction->n; i++) {
		fewer |= reduction->kept[i] && body->asserted.data[i];
		reduction->kept[i] &= !body->asserted.data[i];
	}
	if (fewer)
		TRY(try_whole(reduction, best));
	if (*best == (size_t)-1)
		memcpy(reduction->kept, all, reduction->n);
	return NULL;
}

static struct err *try_body(struct search *search,
			    const struct suite_bench *bench,
			    const struct trial_body *body)
{
	_cleanup_(freep) bool *kept = calloc(body->statements.n + 1, 1);
	struct reduction reduction = { search, bench, body, kept,
				       body->statements.n };
	size_t best;
	if (!kept)
		return err_nomem();
	TRY(choose_compiling(&reduction));
	TRY(try_plain(&reduction, &best));
	if (best == (size_t)-1)
		TRY(try_whole(&reduction, &best));
	if (best == (size_t)-1)
		return NULL;
	TRY(reduce_body(&reduction, &best));
	log_debug(LOG_REPAIR, "reduced to: %s", search->all.data[best].code);
	return search_add_hit(search, best);
}

struct err *search_try_bodies(struct search *search,
			      const struct suite_bench *bench)
{
	for (size_t i = 0; i < search->bodies.n && !search->why_not &&
			   !search_has_ended(search);
	     i++) {
		const struct trial_body *body = &search->bodies.data[i];
		if (body->statements.n > 1 &&
		    body->statements.n <= STATEMENTS_MAX)
			TRY(try_body(search, bench, body));
	}
	return NULL;
}
