/*
 * Which orders a suite allows: what it declares (suite/suite.h, struct
 * suite_test) as questions about lists of tests.
 *
 *  - A test stands after those of its `after` that are in the list, and so do
 *    repetitions: every one of them before every one of it.
 *  - Its `needs` are in the list, its `cleanups` too.
 *  - Tests of one group, and of the groups in it, stand together.
 *  - Tests of higher priority stand before others; a group of one priority as a
 *    whole. Next to a group of several priorities none counts.
 *
 * With @any nothing is asked but that tests exist.
 */
#pragma once

#include "suite/suite.h"

struct rules;

struct err *rules_create(const struct suite *suite, bool any,
			 struct rules **ret) _must_check_;
void rules_destroy(struct rules *rules); /* NULL is fine */
static inline void rules_destroyp(struct rules **rules)
{
	rules_destroy(*rules);
}

/* Does the suite declare anything at all? */
bool rules_free(const struct rules *rules); /* true: every order is allowed */
bool rules_allow(const struct rules *rules, const size_t *order, size_t n);
/*
 * Is there room for so many? Where tests run in the places of their runner's own
 * calls (suite_fixture()), a group has as many as it has tests.
 */
bool rules_fit(const struct rules *rules, const size_t *order, size_t n);
/* May @first stand before @second, others left out (needs added)? */
bool rules_allow_pair(const struct rules *rules, size_t first, size_t second);
/*
 * The allowed order nearest to @order: what is needed is added where it
 * belongs, and what is misplaced is moved no further than necessary. Stable: an
 * allowed order stays as it is. What is needed comes just before the first that
 * needs it, what cleans up comes last: what was adjacent stays so, where
 * possible. @ret is malloc()ed. An error only where memory is short. Relations
 * that are circular, or that contradict a priority, are left out, here and in
 * the questions above.
 */
struct err *rules_arrange(const struct rules *rules, const size_t *order,
			  size_t n, size_t **ret, size_t *ret_n) _must_check_;
