#include "suite/declare.h"

#include <stdlib.h>
#include <string.h>

struct err *declare_group(struct suite *suite, size_t parent, size_t *ret)
{
	BUG_ON(parent != SUITE_NO_GROUP && parent >= suite->groups.n);
	TRY(vec_push(&suite->groups, parent));
	*ret = suite->groups.n - 1;
	return NULL;
}

/* Lists ascend: usually something is added after the last. */
static struct err *declare_add_test(size_t **list, size_t *n, size_t test)
{
	size_t from = 0, to = *n;
	if (to && (*list)[to - 1] < test)
		from = to;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if ((*list)[middle] < test)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < *n && (*list)[from] == test)
		return NULL;
	/* Sizes are powers of two: the number alone tells when it is full. */
	if (!(*n & (*n - 1))) {
		size_t *grown =
			realloc(*list, (*n ? *n * 2 : 1) * sizeof(**list));
		if (!grown)
			return err_nomem();
		*list = grown;
	}
	memmove(*list + from + 1, *list + from, (*n - from) * sizeof(**list));
	(*list)[from] = test;
	(*n)++;
	return NULL;
}

static struct suite_test *declare_test_of(struct suite *suite, size_t test)
{
	BUG_ON(test >= suite->tests.n);
	return &suite->tests.data[test];
}

struct err *declare_after(struct suite *suite, size_t test, size_t earlier)
{
	struct suite_test *record = declare_test_of(suite, test);
	BUG_ON(earlier >= suite->tests.n);
	if (test == earlier)
		return NULL;
	return declare_add_test(&record->after, &record->n_after, earlier);
}

struct err *declare_needs(struct suite *suite, size_t test, size_t earlier)
{
	struct suite_test *record = declare_test_of(suite, test);
	BUG_ON(earlier >= suite->tests.n);
	if (test == earlier)
		return NULL;
	TRY(declare_after(suite, test, earlier));
	return declare_add_test(&record->needs, &record->n_needs, earlier);
}

struct err *declare_cleanup(struct suite *suite, size_t test, size_t later)
{
	struct suite_test *record = declare_test_of(suite, test);
	if (test == later)
		return NULL;
	TRY(declare_after(suite, later, test));
	return declare_add_test(&record->cleanups, &record->n_cleanups, later);
}

void declare_priority(struct suite *suite, size_t test, int64_t priority)
{
	declare_test_of(suite, test)->priority = priority;
}
