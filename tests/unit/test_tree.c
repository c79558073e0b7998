/* Links and paths of trees of orders, against the same by counting. */
#include "unit.h"

#include <stdlib.h>

#include "suite/tree.h"

#define NODES 200

static bool is_below(const struct suite_node *nodes, size_t node, size_t top)
{
	while (node != top && node != SUITE_TREE_ROOT)
		node = nodes[node].parent;
	return node == top;
}

static void fill_random(struct suite_node *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t parent = (size_t)rand() % (i + 1);
		nodes[i].parent = parent == i ? SUITE_TREE_ROOT : parent;
		nodes[i].test = (size_t)rand() % 20;
	}
}

static void check_links(const struct suite_tree *tree, const uint8_t *marks,
			bool by_size)
{
	const struct suite_node *nodes = tree->nodes;
	size_t linked = 0;
	for (size_t i = 0; i <= tree->n; i++) {
		size_t children = 0;
		for (size_t k = 0; k < tree->n; k++) {
			size_t parent = nodes[k].parent;
			parent = parent == SUITE_TREE_ROOT ? tree->n : parent;
			children += parent == i && (!marks || marks[k] & 2);
		}
		assert_int_equal(suite_tree_children(tree, i), children);
		linked += children;
		for (size_t k = 1; k < children; k++) {
			size_t a = suite_tree_child(tree, i, k - 1);
			size_t b = suite_tree_child(tree, i, k);
			assert_true(by_size && i < tree->n
					    ? tree->sizes[a] <= tree->sizes[b]
					    : a < b);
		}
	}
	assert_true(marks || linked == tree->n);
}

static void test_links(void **state)
{
	(void)state;
	struct suite_node nodes[NODES];
	srand(1);
	for (int round = 0; round < 30; round++) {
		size_t n = (size_t)rand() % NODES;
		struct suite_tree tree;
		uint8_t marks[NODES];
		fill_random(nodes, n);
		assert_ok(suite_tree_create(nodes, n, &tree));
		check_links(&tree, NULL, false);
		assert_int_equal(tree.sizes[n], n);
		for (size_t i = 0; i < n; i++) {
			size_t size = 0, height = 0;
			for (size_t k = 0; k < n; k++) {
				if (!is_below(nodes, k, i))
					continue;
				size++;
				height =
					MAX(height, tree.depths[k] -
							    tree.depths[i] + 1);
			}
			assert_int_equal(tree.sizes[i], size);
			assert_int_equal(tree.heights[i], height);
			marks[i] = (uint8_t)(rand() % 4);
		}
		suite_tree_select(&tree, marks, 2);
		check_links(&tree, marks, true);
		suite_tree_free(&tree);
	}
}

static void test_paths(void **state)
{
	(void)state;
	/* 0 - 1 - 2 - 3, 1 - 4, and 5 */
	const struct suite_node nodes[] = {
		{ SUITE_TREE_ROOT, 10 },
		{ 0, 11 },
		{ 1, 12 },
		{ 2, 13 },
		{ 1, 14 },
		{ SUITE_TREE_ROOT, 15 },
	};
	struct suite_tree tree;
	struct suite_path path;
	assert_ok(suite_tree_create(nodes, ARRAY_SIZE(nodes), &tree));
	assert_ok(suite_path_create(&tree, &path));
	suite_path_to(&path, &tree, 3);
	const size_t whole[] = { 10, 11, 12, 13 };
	assert_int_equal(path.n, 4);
	assert_memory_equal(path.tests, whole, sizeof(whole));
	/* From the root to where orders part, and on from there. */
	path.n = 0;
	suite_path_add(&path, &tree, suite_tree_child(&tree, tree.n, 0));
	assert_int_equal(path.n, 2);
	assert_int_equal(path.nodes[1], 1);
	suite_path_add(&path, &tree, 2);
	assert_int_equal(path.n, 4);
	assert_memory_equal(path.tests, whole, sizeof(whole));
	suite_path_to(&path, &tree, 5);
	assert_int_equal(path.n, 1);
	assert_int_equal(path.tests[0], 15);
	suite_path_free(&path);
	suite_tree_free(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
