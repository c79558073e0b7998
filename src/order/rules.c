#include "order/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "order/rules_internal.h"

/* ---- making them ready ---- */

static size_t unit_of_group(const struct rules *rules, size_t group)
{
	return group == SUITE_NO_GROUP ? rules_root(rules) : rules->n + group;
}

void rules_lift(const struct rules *rules, size_t *first, size_t *second)
{
	while (rules->parent[*first] != rules->parent[*second]) {
		size_t *deeper = rules->depth[*first] >= rules->depth[*second]
					 ? first
					 : second;
		*deeper = rules->parent[*deeper];
	}
}

static size_t count_groups(const struct suite *suite)
{
	size_t n = 0;
	for (size_t i = 0; i < suite_count(suite); i++) {
		size_t group = suite_test(suite, i)->group;
		if (group != SUITE_NO_GROUP)
			n = MAX(n, group + 1);
	}
	return n;
}

static void fill_tree(struct rules *rules, const struct suite *suite)
{
	size_t root = rules_root(rules);
	rules->parent[root] = root;
	/* A group's parent was there before it. */
	for (size_t i = 0; i < rules->n_groups; i++) {
		size_t parent = suite_group_parent(suite, i);
		BUG_ON(parent != SUITE_NO_GROUP && parent >= i);
		size_t unit = rules->n + i;
		rules->parent[unit] = unit_of_group(rules, parent);
		rules->depth[unit] = rules->depth[rules->parent[unit]] + 1;
	}
	for (size_t i = 0; i < rules->n; i++) {
		size_t group = suite_test(suite, i)->group;
		rules->parent[i] = unit_of_group(rules, group);
		rules->depth[i] = rules->depth[rules->parent[i]] + 1;
	}
}

/*
 * A group whose tests all have one priority has it itself. Where a group has
 * none, those next to it cannot come by priority either: it would have to stand
 * in two places.
 */
static struct err *fill_priorities(struct rules *rules,
				   const struct suite *suite)
{
	enum { NONE, ONE, MIXED };
	size_t units = rules_root(rules) + 1;
	_cleanup_(freep) uint8_t *has = calloc(units, 1);
	_cleanup_(freep) bool *differ = calloc(units, sizeof(*differ));
	if (!has || !differ)
		return err_nomem();
	for (size_t i = 0; i < rules->n; i++) {
		rules->priority[i] = suite_test(suite, i)->priority;
		has[i] = ONE;
	}
	/* From the innermost: a unit comes after its parent, tests aside. */
	for (size_t i = 0; i + 1 < units; i++) {
		size_t unit = i < rules->n ? i : units - 2 - (i - rules->n);
		size_t parent = rules->parent[unit];
		if (has[unit] == NONE)
			continue;
		if (has[parent] == NONE) {
			has[parent] = has[unit];
			rules->priority[parent] = rules->priority[unit];
		} else if (has[unit] == MIXED ||
			   rules->priority[unit] != rules->priority[parent]) {
			has[parent] = MIXED;
			differ[parent] = true;
		}
	}
	memcpy(rules->prioritised, differ, units * sizeof(*differ));
	for (size_t i = rules->n; i + 1 < units; i++) {
		if (has[i] == MIXED)
			rules->prioritised[rules->parent[i]] = false;
	}
	return NULL;
}

/* ---- circles ---- */

/* The relations as a graph of units, and its strongly connected parts. */
struct graph {
	size_t n;
	size_t *at, *to; /* as in struct number_lists */
	size_t *part;	 /* of a unit: number of its part */
};

static void graph_freep(struct graph *graph)
{
	free(graph->at);
	free(graph->to);
	free(graph->part);
}

static struct err *graph_create(const struct rules *rules,
				const struct suite *suite, struct graph *graph)
{
	size_t units = graph->n = rules_root(rules) + 1, edges = 0;
	for (size_t i = 0; i < rules->n; i++)
		edges += suite_test(suite, i)->n_after;
	graph->at = calloc(units + 2, sizeof(*graph->at));
	graph->to = calloc(edges + 1, sizeof(*graph->to));
	graph->part = calloc(units, sizeof(*graph->part));
	if (!graph->at || !graph->to || !graph->part)
		return err_nomem();
	/* Counted in the first round, filled in in the second. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < rules->n; i++) {
			const struct suite_test *test = suite_test(suite, i);
			for (size_t j = 0; j < test->n_after; j++) {
				size_t first = test->after[j], second = i;
				rules_lift(rules, &first, &second);
				if (round)
					graph->to[graph->at[first + 1]++] =
						second;
				else
					graph->at[first + 2]++;
			}
		}
		for (size_t i = 2; !round && i < units + 2; i++)
			graph->at[i] += graph->at[i - 1];
	}
	return NULL;
}

struct rules_visit {
	size_t unit, next;
};

/* Tarjan's, with a stack of our own: circles may be as long as the suite. */
struct tarjan {
	size_t *index; /* in which a unit was come to, from 1; 0: not yet */
	size_t *low;
	VEC(struct rules_visit) visits;
	VEC(size_t) open;
	size_t count, parts;
};

static void tarjan_freep(struct tarjan *tarjan)
{
	free(tarjan->index);
	free(tarjan->low);
	vec_free(&tarjan->visits);
	vec_free(&tarjan->open);
}

static struct err *tarjan_enter(struct tarjan *tarjan, size_t unit)
{
	tarjan->index[unit] = tarjan->low[unit] = ++tarjan->count;
	TRY(vec_push(&tarjan->open, unit));
	return vec_push(&tarjan->visits, (struct rules_visit){ unit, 0 });
}

static void tarjan_leave(struct tarjan *tarjan, struct graph *graph)
{
	size_t unit = tarjan->visits.data[--tarjan->visits.n].unit;
	if (tarjan->visits.n) {
		size_t from = tarjan->visits.data[tarjan->visits.n - 1].unit;
		tarjan->low[from] = MIN(tarjan->low[from], tarjan->low[unit]);
	}
	if (tarjan->low[unit] != tarjan->index[unit])
		return;
	tarjan->parts++;
	size_t other;
	do {
		other = tarjan->open.data[--tarjan->open.n];
		graph->part[other] = tarjan->parts;
	} while (other != unit);
}

static struct err *find_parts(struct graph *graph)
{
	_cleanup_(tarjan_freep) struct tarjan tarjan = {
		.index = calloc(graph->n, sizeof(size_t)),
		.low = calloc(graph->n, sizeof(size_t)),
	};
	if (!tarjan.index || !tarjan.low)
		return err_nomem();
	for (size_t i = 0; i < graph->n; i++) {
		if (!tarjan.index[i])
			TRY(tarjan_enter(&tarjan, i));
		while (tarjan.visits.n) {
			struct rules_visit *visit =
				&tarjan.visits.data[tarjan.visits.n - 1];
			size_t unit = visit->unit;
			if (graph->at[unit] + visit->next ==
			    graph->at[unit + 1]) {
				tarjan_leave(&tarjan, graph);
				continue;
			}
			size_t to = graph->to[graph->at[unit] + visit->next++];
			if (!tarjan.index[to])
				TRY(tarjan_enter(&tarjan, to));
			else if (!graph->part[to]) /* still open */
				tarjan.low[unit] =
					MIN(tarjan.low[unit], tarjan.index[to]);
		}
	}
	return NULL;
}

/* ---- relations ---- */

static bool rules_keep_relation(const struct rules *rules,
				const struct graph *graph, size_t earlier,
				size_t later, struct relation *ret)
{
	size_t first = earlier, second = later;
	rules_lift(rules, &first, &second);
	if (ret)
		*ret = (struct relation){ earlier, first, second };
	return graph->part[first] != graph->part[second] &&
	       (!rules->prioritised[rules->parent[first]] ||
		rules->priority[first] >= rules->priority[second]);
}

static struct err *fill_relations(struct rules *rules,
				  const struct suite *suite,
				  const struct graph *graph)
{
	VEC(struct relation) kept = VEC_INIT;
	struct err *err = vec_reserve(&kept, 1);
	for (size_t i = 0; i < rules->n && !err; i++) {
		const struct suite_test *test = suite_test(suite, i);
		for (size_t j = 0; j < test->n_after && !err; j++) {
			struct relation relation;
			if (rules_keep_relation(rules, graph, test->after[j], i,
						&relation))
				err = vec_push(&kept, relation);
		}
		rules->relations_at[i + 1] = kept.n;
	}
	rules->relations = kept.data;
	rules->related = kept.n;
	return err;
}

static struct err *fill_lists(const struct rules *rules,
			      const struct suite *suite,
			      const struct graph *graph, bool cleanups,
			      struct number_lists *lists)
{
	VEC(size_t) kept = VEC_INIT;
	struct err *err = vec_reserve(&kept, 1);
	for (size_t i = 0; i < rules->n && !err; i++) {
		const struct suite_test *test = suite_test(suite, i);
		size_t n = cleanups ? test->n_cleanups : test->n_needs;
		for (size_t j = 0; j < n && !err; j++) {
			size_t other =
				cleanups ? test->cleanups[j] : test->needs[j];
			if (cleanups ? rules_keep_relation(rules, graph, i,
							   other, NULL)
				     : rules_keep_relation(rules, graph, other,
							   i, NULL))
				err = vec_push(&kept, other);
		}
		lists->at[i + 1] = kept.n;
	}
	lists->data = kept.data;
	return err;
}

/* A group of all tests, and one of none, leaves every order free. */
static struct err *find_freedom(struct rules *rules)
{
	size_t root = rules_root(rules);
	_cleanup_(freep) size_t *tests = calloc(root + 1, sizeof(*tests));
	if (!tests)
		return err_nomem();
	rules->free = !rules->related;
	for (size_t i = 0; i < rules->n; i++)
		tests[i] = 1;
	for (size_t i = 0; i < root; i++) {
		size_t unit = i < rules->n ? i : root - 1 - (i - rules->n);
		tests[rules->parent[unit]] += tests[unit];
	}
	for (size_t i = rules->n; i < root; i++) {
		if (tests[i] && tests[i] < rules->n)
			rules->free = false;
	}
	for (size_t i = rules->n; i <= root; i++) {
		if (rules->prioritised[i])
			rules->free = false;
	}
	return NULL;
}

static struct err *rules_fill(struct rules *rules, const struct suite *suite)
{
	fill_tree(rules, suite);
	TRY(fill_priorities(rules, suite));
	_cleanup_(graph_freep) struct graph graph = {};
	TRY(graph_create(rules, suite, &graph));
	TRY(find_parts(&graph));
	TRY(fill_relations(rules, suite, &graph));
	TRY(fill_lists(rules, suite, &graph, false, &rules->needs));
	TRY(fill_lists(rules, suite, &graph, true, &rules->cleanups));
	return find_freedom(rules);
}

struct err *rules_create(const struct suite *suite, bool any,
			 struct rules **ret)
{
	_cleanup_(rules_destroyp) struct rules *rules =
		calloc(1, sizeof(*rules));
	if (!rules)
		return err_nomem();
	rules->any = rules->free = any;
	rules->n = suite_count(suite);
	if (any) {
		*ret = take_ptr(rules);
		return NULL;
	}
	rules->n_groups = count_groups(suite);
	size_t units = rules_root(rules) + 1;
	rules->parent = calloc(units, sizeof(*rules->parent));
	rules->depth = calloc(units, sizeof(*rules->depth));
	rules->priority = calloc(units, sizeof(*rules->priority));
	rules->prioritised = calloc(units, sizeof(*rules->prioritised));
	rules->marks =
		calloc(1, sizeof(*rules->marks) + units * sizeof(struct mark));
	rules->relations_at =
		calloc(rules->n + 1, sizeof(*rules->relations_at));
	rules->room = calloc(units, sizeof(*rules->room));
	rules->needs.at = calloc(rules->n + 1, sizeof(*rules->needs.at));
	rules->cleanups.at = calloc(rules->n + 1, sizeof(*rules->cleanups.at));
	if (!rules->parent || !rules->depth || !rules->priority ||
	    !rules->prioritised || !rules->marks || !rules->relations_at ||
	    !rules->room || !rules->needs.at || !rules->cleanups.at)
		return err_nomem();
	TRY(rules_fill(rules, suite));
	rules->bounded = suite_fixture(suite);
	for (size_t i = 0; i < rules->n; i++)
		rules->room[rules->parent[i]]++;
	*ret = take_ptr(rules);
	return NULL;
}

void rules_destroy(struct rules *rules)
{
	if (!rules)
		return;
	free(rules->parent);
	free(rules->depth);
	free(rules->priority);
	free(rules->prioritised);
	free(rules->relations);
	free(rules->relations_at);
	free(rules->needs.at);
	free(rules->needs.data);
	free(rules->cleanups.at);
	free(rules->cleanups.data);
	free(rules->room);
	free(rules->marks);
	free(rules);
}

/* ---- questions ---- */

void rules_unmark(const struct rules *rules)
{
	rules->marks->stamp++;
}

struct mark *rules_mark(const struct rules *rules, size_t unit, bool *ret_new)
{
	struct mark *mark = &rules->marks->of[unit];
	bool new = mark->stamp != rules->marks->stamp;
	if (new)
		*mark = (struct mark){ .stamp = rules->marks->stamp };
	if (ret_new)
		*ret_new = new;
	return mark;
}

bool rules_free(const struct rules *rules)
{
	return rules->free;
}

/* Notes where each test stands; false: one that there is not. */
static bool mark_places(const struct rules *rules, const size_t *order,
			size_t n)
{
	rules_unmark(rules);
	for (size_t i = 0; i < n; i++) {
		if (order[i] >= rules->n)
			return false;
		bool new;
		struct mark *mark = rules_mark(rules, order[i], &new);
		if (new)
			mark->first = i;
		mark->last = i;
	}
	return true;
}

/* Groups that an order comes to once stand together. */
static bool groups_together(const struct rules *rules, const size_t *order,
			    size_t n)
{
	size_t inside = rules_root(rules); /* the innermost group so far */
	for (size_t i = 0; i < n; i++) {
		size_t first = rules->parent[order[i]], left = inside;
		size_t group = first;
		while (group != left) {
			if (rules->depth[group] < rules->depth[left]) {
				left = rules->parent[left];
				continue;
			}
			bool new;
			rules_mark(rules, group, &new);
			if (!new)
				return false;
			group = rules->parent[group];
		}
		inside = first;
	}
	return true;
}

/* The lists of a suite ascend. */
const struct relation *rules_relation(const struct rules *rules, size_t test,
				      size_t earlier)
{
	size_t from = rules->relations_at[test];
	size_t end = rules->relations_at[test + 1], to = end;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (rules->relations[middle].earlier < earlier)
			from = middle + 1;
		else
			to = middle;
	}
	const struct relation *found = &rules->relations[from];
	return from < end && found->earlier == earlier ? found : NULL;
}

/* None of those that come first is after it. */
static bool after_all(const struct rules *rules, size_t test,
		      const size_t *order, size_t n)
{
	const struct mark *marks = rules->marks->of;
	size_t first = marks[test].first;
	if (rules_long_list(rules, test, n)) {
		for (size_t i = first; i < n; i++) {
			if (rules_relation(rules, test, order[i]))
				return false;
		}
		return true;
	}
	for (size_t i = rules->relations_at[test];
	     i < rules->relations_at[test + 1]; i++) {
		size_t earlier = rules->relations[i].earlier;
		if (rules_marked(rules, earlier) &&
		    marks[earlier].last >= first)
			return false;
	}
	return true;
}

static bool is_complete(const struct rules *rules, size_t test)
{
	for (size_t i = rules->needs.at[test]; i < rules->needs.at[test + 1];
	     i++) {
		if (!rules_marked(rules, rules->needs.data[i]))
			return false;
	}
	for (size_t i = rules->cleanups.at[test];
	     i < rules->cleanups.at[test + 1]; i++) {
		if (!rules_marked(rules, rules->cleanups.data[i]))
			return false;
	}
	return true;
}

/* Groups stand together already: in each unit priorities only go down. */
static bool rules_sorted_by_priority(const struct rules *rules,
				     const size_t *order, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		size_t first = order[i - 1], second = order[i];
		rules_lift(rules, &first, &second);
		if (rules->prioritised[rules->parent[first]] &&
		    rules->priority[first] < rules->priority[second])
			return false;
	}
	return true;
}

bool rules_fit(const struct rules *rules, const size_t *order, size_t n)
{
	if (!rules->bounded)
		return true;
	rules_unmark(rules);
	for (size_t i = 0; i < n; i++) {
		size_t unit = rules->parent[order[i]];
		if (++rules_mark(rules, unit, NULL)->times > rules->room[unit])
			return false;
	}
	return true;
}

bool rules_allow(const struct rules *rules, const size_t *order, size_t n)
{
	if (rules->free) {
		for (size_t i = 0; i < n; i++) {
			if (order[i] >= rules->n)
				return false;
		}
		return true;
	}
	if (!mark_places(rules, order, n) || !groups_together(rules, order, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (rules->marks->of[order[i]].first == i &&
		    (!is_complete(rules, order[i]) ||
		     !after_all(rules, order[i], order, n)))
			return false;
	}
	return rules_sorted_by_priority(rules, order, n);
}

static bool comes_alone(const struct rules *rules, size_t test)
{
	return rules->needs.at[test] == rules->needs.at[test + 1] &&
	       rules->cleanups.at[test] == rules->cleanups.at[test + 1];
}

bool rules_allow_pair(const struct rules *rules, size_t first, size_t second)
{
	if (first >= rules->n || second >= rules->n)
		return false;
	if (rules->free || first == second)
		return true;
	size_t before = first, after = second;
	rules_lift(rules, &before, &after);
	if (rules->prioritised[rules->parent[before]] &&
	    rules->priority[before] < rules->priority[after])
		return false;
	if (!rules->related)
		return true;
	if (rules_relation(rules, first, second))
		return false;
	if (comes_alone(rules, first) && comes_alone(rules, second))
		return true;
	return rules_allow_needing(rules, first, second);
}
