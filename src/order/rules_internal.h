/*
 * What a suite declares, made ready for questions.
 *
 * Tests are in groups, and groups in groups: a tree of units, which are
 * numbered: first the tests, then the groups, last the whole suite. That one
 * test comes after another is a relation between two units directly inside the
 * same unit: the tests themselves, or the groups that they are in, which stay
 * together and so can only come one after the other as a whole.
 *
 * Invariants:
 *  1. Relations that are kept are not circular, in any unit.
 *  2. No relation contradicts a priority.
 *  3. What is kept of needs and cleanups is kept as a relation, too.
 */
#pragma once

#include "base/vec.h"
#include "order/rules.h"

/* A test stands after this one: as units of one unit, @first before @second. */
struct relation {
	size_t earlier;
	size_t first, second;
};

/* Lists of numbers, one per test: list @i is [at[i], at[i + 1]) of data. */
struct number_lists {
	size_t *at;
	size_t *data;
};

/* A unit in the order that is being looked at; numbers of lists count from 1. */
struct mark {
	uint64_t stamp;	    /* of that order; otherwise the rest says nothing */
	size_t first, last; /* places of a test */
	size_t relations;   /* to units that come later: the first */
	size_t waits;	    /* relations to units that come first */
	/* rules_arrange.c: */
	size_t children, children_last; /* occurrences of units in it */
	size_t n_children;
	size_t sorted;	    /* where they stand in their order */
	size_t times;	    /* occurrences of it that are not placed */
	size_t occurrences; /* the first */
	bool related;	    /* some of its children are */
	bool reached;	    /* of a search along relations */
};

/* Scratch of the calls, which never overlap. */
struct marks {
	uint64_t stamp;
	struct mark of[]; /* units */
};

struct rules {
	bool any;
	bool free;
	size_t n; /* tests */
	size_t n_groups;
	size_t *parent;	   /* of units, a unit */
	size_t *depth;	   /* of units; the suite's is 0 */
	int64_t *priority; /* of units */
	bool *prioritised; /* of units: those in it come by priority */
	struct relation *relations;
	size_t *relations_at; /* as in struct number_lists */
	struct number_lists needs, cleanups;
	bool related; /* there is any relation */
	bool bounded; /* see rules_fit() */
	size_t *room; /* of units: tests directly in them */
	struct marks *marks;
};

static inline size_t rules_root(const struct rules *rules)
{
	return rules->n + rules->n_groups;
}

/* A new order: no unit is in it. */
void rules_unmark(const struct rules *rules);
/* *@ret_new (may be NULL): it is the first time in this order. */
struct mark *rules_mark(const struct rules *rules, size_t unit, bool *ret_new);
static inline bool rules_marked(const struct rules *rules, size_t unit)
{
	return rules->marks->of[unit].stamp == rules->marks->stamp;
}
/* The two units directly inside one unit that contain the tests. */
void rules_lift(const struct rules *rules, size_t *first, size_t *second);
/* NULL: nothing says that @test stands after @earlier. */
const struct relation *rules_relation(const struct rules *rules, size_t test,
				      size_t earlier);
/*
 * Are there so many before it that searching for each of @n tests is cheaper? A
 * clean-up has a list of all that use what it takes away.
 */
static inline bool rules_long_list(const struct rules *rules, size_t test,
				   size_t n)
{
	return (rules->relations_at[test + 1] - rules->relations_at[test]) /
		       16 >
	       n;
}
/* rules_arrange.c: what they need comes with them. */
bool rules_allow_needing(const struct rules *rules, size_t first,
			 size_t second);
