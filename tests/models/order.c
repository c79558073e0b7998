/* Cases of the models of order. */
#include "cases.h"

struct pair {
	int key, value;
};

static int by_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

static int by_both(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int first = by_key(a, b);
	return first ? first : (x->value > y->value) - (x->value < y->value);
}

static bool sorts(int (*compare)(const void *, const void *))
{
	struct pair pairs[] = { { 2, 1 }, { 1, 1 }, { 2, 2 }, { 1, 2 } };
	qsort(pairs, 4, sizeof(pairs[0]), compare);
	return pairs[0].value == 1 && pairs[1].value == 2 &&
	       pairs[2].value == 1 && pairs[3].value == 2 && pairs[1].key == 1;
}

static bool qsort_fragile(void)
{
	return sorts(by_key);
}

static bool qsort_correct(void)
{
	return sorts(by_both);
}

CASES(CASE(qsort))
