/*
 * The allowed order nearest to one: what is missing is added, then each unit's
 * children are brought into an order of their own, and the order of tests read
 * off the tree.
 *
 * A child has the place of its first test. What has to wait for others comes as
 * soon as it may (Kahn's algorithm with a heap of places), so that an order that
 * is allowed stays as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "order/rules_internal.h"

/* A unit in its parent's list of children; a test may be there repeatedly. */
struct occurrence {
	size_t unit;
	size_t next; /* of that list, from 1; 0: the last */
};

/* To a unit that comes later. */
struct edge {
	size_t unit;
	size_t next; /* of the same earlier unit, from 1; 0: the last */
};

DEFINE_VEC(numbers, size_t)
DEFINE_VEC(occurrences, struct occurrence)
DEFINE_VEC(edges, struct edge)

struct arranging_visit {
	size_t test, next;
};
DEFINE_VEC(visits, struct arranging_visit)

/* A child with its rank, for the sort by priority. */
struct ranked {
	int64_t priority;
	size_t rank;
	size_t unit;
};

struct arranging {
	const struct rules *rules;
	struct numbers tests; /* with those that were added */
	struct visits visits;
	struct occurrences occurrences;
	struct edges edges;
	struct numbers levels; /* units that have children */
	struct ranked *ranked; /* of one level */
	size_t *same;	       /* next rank of the same unit, from 1 */
	size_t *heap;
	size_t heap_n;
	size_t *sorted; /* children of all levels */
	size_t sorted_n;
};

static void arranging_freep(struct arranging *work)
{
	numbers_freep(&work->tests);
	visits_freep(&work->visits);
	occurrences_freep(&work->occurrences);
	edges_freep(&work->edges);
	numbers_freep(&work->levels);
	free(work->ranked);
	free(work->same);
	free(work->heap);
	free(work->sorted);
}

/* ---- what is missing ---- */

/* Adds the test after what it needs; it was marked. */
static struct err *arranging_add_test(struct arranging *work, size_t test)
{
	const struct number_lists *needs = &work->rules->needs;
	TRY(vec_push(&work->visits,
		     (struct arranging_visit){ test, needs->at[test] }));
	while (work->visits.n) {
		struct arranging_visit *visit =
			&work->visits.data[work->visits.n - 1];
		if (visit->next == needs->at[visit->test + 1]) {
			TRY(vec_push(&work->tests, visit->test));
			work->visits.n--;
			continue;
		}
		size_t need = needs->data[visit->next++];
		if (rules_marked(work->rules, need))
			continue;
		rules_mark(work->rules, need, NULL);
		TRY(vec_push(&work->visits, (struct arranging_visit){
						    need, needs->at[need] }));
	}
	return NULL;
}

/*
 * Needed tests stand before the first that needs them; those that clean up come
 * last, so that nothing comes between two tests that does not have to.
 */
static struct err *add_missing(struct arranging *work, const size_t *order,
			       size_t n)
{
	const struct rules *rules = work->rules;
	const struct number_lists *cleanups = &rules->cleanups;
	rules_unmark(rules);
	for (size_t i = 0; i < n; i++) {
		BUG_ON(order[i] >= rules->n);
		rules_mark(rules, order[i], NULL);
	}
	for (size_t i = 0; i < n; i++)
		TRY(arranging_add_test(work, order[i]));
	for (size_t i = 0; i < work->tests.n; i++) {
		size_t test = work->tests.data[i];
		for (size_t j = cleanups->at[test]; j < cleanups->at[test + 1];
		     j++) {
			size_t cleanup = cleanups->data[j];
			if (rules_marked(rules, cleanup))
				continue;
			rules_mark(rules, cleanup, NULL);
			TRY(arranging_add_test(work, cleanup));
		}
	}
	return NULL;
}

/* ---- the tree ---- */

/* All units that the tests are in, as children of theirs. */
static struct err *arranging_plant_units(struct arranging *work)
{
	const struct rules *rules = work->rules;
	size_t root = rules_root(rules);
	rules_mark(rules, root, NULL);
	TRY(vec_push(&work->levels, root));
	for (size_t i = 0; i < work->tests.n; i++) {
		size_t unit = work->tests.data[i];
		bool new = true;
		while (new &&unit != root) {
			size_t parent = rules->parent[unit];
			struct mark *level = rules_mark(rules, parent, &new);
			if (new)
				TRY(vec_push(&work->levels, parent));
			TRY(vec_push(&work->occurrences,
				     (struct occurrence){ unit, 0 }));
			size_t number = work->occurrences.n;
			if (level->children_last)
				work->occurrences.data[level->children_last - 1]
					.next = number;
			else
				level->children = number;
			level->children_last = number;
			level->n_children++;
			unit = parent;
		}
	}
	return NULL;
}

static struct err *arranging_add_edge(struct arranging *work,
				      const struct relation *relation)
{
	const struct rules *rules = work->rules;
	struct mark *marks = rules->marks->of;
	struct mark *first = &marks[relation->first];
	TRY(vec_push(&work->edges,
		     (struct edge){ relation->second, first->relations }));
	first->relations = work->edges.n;
	marks[relation->second].waits++;
	marks[rules->parent[relation->first]].related = true;
	return NULL;
}

static struct err *relate_test(struct arranging *work, size_t test)
{
	const struct rules *rules = work->rules;
	if (rules_long_list(rules, test, work->tests.n)) {
		/* Of a repeated one more than once: it is waited for as often. */
		for (size_t i = 0; i < work->tests.n; i++) {
			const struct relation *relation = rules_relation(
				rules, test, work->tests.data[i]);
			if (relation)
				TRY(arranging_add_edge(work, relation));
		}
		return NULL;
	}
	for (size_t i = rules->relations_at[test];
	     i < rules->relations_at[test + 1]; i++) {
		if (rules_marked(rules, rules->relations[i].earlier))
			TRY(arranging_add_edge(work, &rules->relations[i]));
	}
	return NULL;
}

/* The relations of all tests that are there. */
static struct err *arranging_relate_tests(struct arranging *work)
{
	struct mark *marks = work->rules->marks->of;
	for (size_t i = 0; work->rules->related && i < work->tests.n; i++) {
		size_t test = work->tests.data[i];
		if (marks[test].last)
			continue; /* repeated */
		marks[test].last = 1;
		TRY(relate_test(work, test));
	}
	return NULL;
}

/* ---- the order of one unit's children ---- */

static void heap_push(struct arranging *work, size_t rank)
{
	size_t at = work->heap_n++, *heap = work->heap;
	while (at && heap[(at - 1) / 2] > rank) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = rank;
}

static size_t heap_pop(struct arranging *work)
{
	size_t *heap = work->heap, least = heap[0];
	size_t n = --work->heap_n, rank = heap[n], at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= n)
			break;
		if (child + 1 < n && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= rank)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = rank;
	return least;
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* A unit no longer waits for anything: all its occurrences may come. */
static void arranging_release_unit(struct arranging *work, size_t unit)
{
	for (size_t at = work->rules->marks->of[unit].occurrences; at;
	     at = work->same[at - 1])
		heap_push(work, at - 1);
}

static void sort_related(struct arranging *work, size_t n)
{
	struct mark *marks = work->rules->marks->of;
	struct ranked *ranked = work->ranked;
	for (size_t i = 0; i < n; i++) {
		struct mark *mark = &marks[ranked[i].unit];
		work->same[i] = mark->occurrences;
		mark->occurrences = i + 1;
		mark->times++;
	}
	/* Where a unit's list begins, it is released once. */
	for (size_t i = 0; i < n; i++) {
		const struct mark *mark = &marks[ranked[i].unit];
		if (mark->occurrences == i + 1 && !mark->waits)
			arranging_release_unit(work, ranked[i].unit);
	}
	size_t placed = 0;
	for (; work->heap_n; placed++) {
		size_t unit = ranked[heap_pop(work)].unit;
		work->sorted[work->sorted_n++] = unit;
		if (--marks[unit].times)
			continue;
		for (size_t at = marks[unit].relations; at;
		     at = work->edges.data[at - 1].next) {
			size_t later = work->edges.data[at - 1].unit;
			if (!--marks[later].waits)
				arranging_release_unit(work, later);
		}
	}
	BUG_ON(placed != n); /* relations are not circular */
}

static void sort_level(struct arranging *work, size_t unit)
{
	const struct rules *rules = work->rules;
	struct mark *level = &rules->marks->of[unit];
	size_t n = 0;
	level->sorted = work->sorted_n;
	for (size_t at = level->children; at;
	     at = work->occurrences.data[at - 1].next, n++) {
		size_t child = work->occurrences.data[at - 1].unit;
		work->ranked[n] =
			(struct ranked){ rules->priority[child], n, child };
	}
	if (rules->prioritised[unit])
		qsort(work->ranked, n, sizeof(*work->ranked), compare_ranked);
	if (level->related) {
		sort_related(work, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		work->sorted[work->sorted_n++] = work->ranked[i].unit;
}

static struct err *sort_levels(struct arranging *work)
{
	size_t all = work->occurrences.n + 1, most = 1;
	for (size_t i = 0; i < work->levels.n; i++)
		most = MAX(most, work->rules->marks->of[work->levels.data[i]]
					 .n_children);
	work->ranked = calloc(most, sizeof(*work->ranked));
	work->same = calloc(most, sizeof(*work->same));
	work->heap = calloc(most, sizeof(*work->heap));
	work->sorted = calloc(all, sizeof(*work->sorted));
	if (!work->ranked || !work->same || !work->heap || !work->sorted)
		return err_nomem();
	for (size_t i = 0; i < work->levels.n; i++)
		sort_level(work, work->levels.data[i]);
	return NULL;
}

/* The tests of the tree; the way back up is the parents. */
static void read_tree(const struct arranging *work, size_t *ret)
{
	const struct rules *rules = work->rules;
	struct mark *marks = rules->marks->of;
	size_t root = rules_root(rules), unit = root, n = 0;
	for (;;) {
		struct mark *level = &marks[unit];
		if (!level->n_children) {
			if (unit == root)
				break;
			unit = rules->parent[unit];
			continue;
		}
		level->n_children--;
		size_t child = work->sorted[level->sorted++];
		if (child < rules->n)
			ret[n++] = child;
		else
			unit = child;
	}
	BUG_ON(n != work->tests.n);
}

struct err *rules_arrange(const struct rules *rules, const size_t *order,
			  size_t n, size_t **ret, size_t *ret_n)
{
	_cleanup_(arranging_freep) struct arranging work = { .rules = rules };
	if (!rules->free) {
		TRY(add_missing(&work, order, n));
		TRY(arranging_plant_units(&work));
		TRY(arranging_relate_tests(&work));
		TRY(sort_levels(&work));
	} else {
		TRY(vec_append(&work.tests, order, n));
	}
	size_t *arranged = calloc(work.tests.n + 1, sizeof(*arranged));
	if (!arranged)
		return err_nomem();
	if (!rules->free)
		read_tree(&work, arranged);
	else if (n)
		memcpy(arranged, order, n * sizeof(*order));
	*ret = arranged;
	*ret_n = work.tests.n;
	return NULL;
}

/* ---- pairs ---- */

/* Does @second have to come first, in whatever order all of them stand? */
static struct err *must_wait(struct arranging *work, size_t first,
			     size_t second, bool *ret)
{
	const struct rules *rules = work->rules;
	const size_t pair[] = { first, second };
	size_t from = second, to = first;
	TRY(add_missing(work, pair, 2));
	TRY(arranging_plant_units(work));
	TRY(arranging_relate_tests(work));
	rules_lift(rules, &to, &from);
	struct mark *marks = rules->marks->of;
	work->levels.n = 0;
	TRY(vec_push(&work->levels, from));
	marks[from].reached = true;
	while (work->levels.n && !marks[to].reached) {
		size_t unit = work->levels.data[--work->levels.n];
		for (size_t at = marks[unit].relations; at;
		     at = work->edges.data[at - 1].next) {
			size_t later = work->edges.data[at - 1].unit;
			if (marks[later].reached)
				continue;
			marks[later].reached = true;
			TRY(vec_push(&work->levels, later));
		}
	}
	*ret = marks[to].reached;
	return NULL;
}

bool rules_allow_needing(const struct rules *rules, size_t first, size_t second)
{
	_cleanup_(arranging_freep) struct arranging work = { .rules = rules };
	bool wait = false;
	struct err *err = must_wait(&work, first, second, &wait);
	if (!err)
		return !wait;
	err_ignore(err); /* no memory: what is not tried cannot be wrong */
	return false;
}
