#include "unit.h"

#include "native/split.h"

static void check(const struct suite_node *nodes, size_t n, size_t wanted,
		  size_t parts_min, size_t parts_max)
{
	struct split split = {};
	assert_null(split_tree(nodes, n, wanted, &split));
	uint8_t *leaves = calloc(n, 1), *inner = calloc(n, 1);
	uint8_t *here = calloc(n, 1);
	assert_non_null(leaves);
	assert_non_null(inner);
	assert_non_null(here);
	for (size_t i = 0; i < n; i++) {
		if (nodes[i].parent != SUITE_TREE_ROOT)
			inner[nodes[i].parent] = 1;
	}
	assert_in_range(split.n, parts_min, parts_max);
	for (size_t i = 0; i < split.n; i++) {
		const struct part *part = &split.parts[i];
		memset(here, 0, n);
		for (size_t j = 0; j < part->n; j++) {
			size_t node = part->data[j];
			size_t parent = nodes[node].parent;
			/* A tree by itself, parents first, nothing twice. */
			assert_true(!j || part->data[j - 1] < node);
			assert_true(parent == SUITE_TREE_ROOT || here[parent]);
			here[node] = 1;
			leaves[node]++;
		}
	}
	/* Each order is in one part. */
	for (size_t i = 0; i < n; i++)
		assert_true(inner[i] ? leaves[i] >= 1 : leaves[i] == 1);
	split_free(&split);
	free(leaves);
	free(inner);
	free(here);
}

static void test_flat(void **state)
{
	(void)state;
	struct suite_node nodes[100];
	for (size_t i = 0; i < 100; i++)
		nodes[i] = (struct suite_node){ SUITE_TREE_ROOT, i };
	check(nodes, 100, 10, 10, 10);
	check(nodes, 1, 10, 1, 1);
	check(nodes, 100, 0, 100, 100);
}

/* One test before all others is run by each part. */
static void test_fan(void **state)
{
	(void)state;
	struct suite_node nodes[1000] = { { SUITE_TREE_ROOT, 0 } };
	for (size_t i = 1; i < 1000; i++)
		nodes[i] = (struct suite_node){ 0, i };
	check(nodes, 1000, 100, 9, 11);
}

/* A long beginning is not run again and again. */
static void test_long_beginning(void **state)
{
	(void)state;
	struct suite_node nodes[1000];
	for (size_t i = 0; i < 1000; i++)
		nodes[i] = (struct suite_node){
			!i	  ? SUITE_TREE_ROOT
			: i < 900 ? i - 1
				  : 899,
			i,
		};
	check(nodes, 1000, 100, 1, 1);
}

static void test_random(void **state)
{
	(void)state;
	struct suite_node nodes[500];
	unsigned seed = 7;
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < 500; i++) {
			seed = seed * 1103515245 + 12345;
			size_t pick = (seed >> 8) % (i + 1);
			nodes[i] = (struct suite_node){
				pick == i ? SUITE_TREE_ROOT : pick,
				i,
			};
		}
		check(nodes, 500, (size_t)round, 1, 500);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_fan),
		cmocka_unit_test(test_long_beginning),
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
