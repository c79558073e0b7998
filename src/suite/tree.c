#include "suite/tree.h"

#include <stdlib.h>
#include <string.h>

/* ---- the tree ---- */

static size_t parent_of(const struct suite_tree *tree, size_t node)
{
	size_t parent = tree->nodes[node].parent;
	return parent == SUITE_TREE_ROOT ? tree->n : parent;
}

static bool is_selected(const uint8_t *marks, unsigned wanted, size_t node)
{
	return !marks || marks[node] & wanted;
}

static void link_nodes(struct suite_tree *tree, const uint8_t *marks,
		       unsigned wanted)
{
	size_t n = tree->n;
	memset(tree->first, 0, (n + 3) * sizeof(*tree->first));
	for (size_t i = 0; i <= n; i++)
		tree->sizes[i] = tree->heights[i] = i < n;
	for (size_t i = n; i-- > 0;) {
		size_t parent = parent_of(tree, i);
		if (!is_selected(marks, wanted, i))
			continue;
		tree->sizes[parent] += tree->sizes[i];
		tree->heights[parent] = MAX(tree->heights[parent],
					    tree->heights[i] + (parent < n));
		tree->first[parent + 2]++;
	}
	for (size_t i = 2; i < n + 3; i++)
		tree->first[i] += tree->first[i - 1];
	/* first[i + 1] is where the next child of i goes, and ends as it ought. */
	for (size_t i = 0; i < n; i++) {
		if (is_selected(marks, wanted, i))
			tree->children[tree->first[parent_of(tree, i) + 1]++] =
				i;
	}
}

struct err *suite_tree_create(const struct suite_node *nodes, size_t n,
			      struct suite_tree *ret)
{
	_cleanup_(suite_tree_free) struct suite_tree tree = {
		.nodes = nodes,
		.n = n,
		.first = calloc(n + 3, sizeof(*tree.first)),
		.children = calloc(n + 1, sizeof(*tree.children)),
		.sizes = calloc(n + 1, sizeof(*tree.sizes)),
		.heights = calloc(n + 1, sizeof(*tree.heights)),
		.depths = calloc(n + 1, sizeof(*tree.depths)),
	};
	if (!tree.first || !tree.children || !tree.sizes || !tree.heights ||
	    !tree.depths)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		if (nodes[i].parent != SUITE_TREE_ROOT)
			tree.depths[i] = tree.depths[nodes[i].parent] + 1;
	}
	link_nodes(&tree, NULL, 0);
	*ret = tree;
	tree = (struct suite_tree){};
	return NULL;
}

void suite_tree_free(struct suite_tree *tree)
{
	free(tree->first);
	free(tree->children);
	free(tree->sizes);
	free(tree->heights);
	free(tree->depths);
	*tree = (struct suite_tree){};
}

static int compare_node_sizes(const void *a, const void *b, void *data)
{
	const struct suite_tree *tree = data;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	if (tree->sizes[x] != tree->sizes[y])
		return tree->sizes[x] < tree->sizes[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

void suite_tree_select(struct suite_tree *tree, const uint8_t *marks,
		       unsigned wanted)
{
	link_nodes(tree, marks, wanted);
	for (size_t i = 0; i < tree->n; i++) {
		if (suite_tree_children(tree, i) > 1)
			qsort_r(tree->children + tree->first[i],
				suite_tree_children(tree, i),
				sizeof(*tree->children), compare_node_sizes,
				tree);
	}
}

/* ---- paths ---- */

struct err *suite_path_create(const struct suite_tree *tree,
			      struct suite_path *ret)
{
	struct suite_path path = {
		.nodes = calloc(tree->n + 1, sizeof(*path.nodes)),
		.tests = calloc(tree->n + 1, sizeof(*path.tests)),
	};
	if (!path.nodes || !path.tests) {
		suite_path_free(&path);
		return err_nomem();
	}
	*ret = path;
	return NULL;
}

void suite_path_free(struct suite_path *path)
{
	free(path->nodes);
	free(path->tests);
	*path = (struct suite_path){};
}

void suite_path_to(struct suite_path *path, const struct suite_tree *tree,
		   size_t node)
{
	path->n = tree->depths[node] + 1;
	for (size_t i = path->n; i-- > 0; node = tree->nodes[node].parent) {
		path->nodes[i] = node;
		path->tests[i] = tree->nodes[node].test;
	}
}

void suite_path_add(struct suite_path *path, const struct suite_tree *tree,
		    size_t node)
{
	for (;;) {
		path->nodes[path->n] = node;
		path->tests[path->n++] = tree->nodes[node].test;
		if (suite_tree_children(tree, node) != 1)
			return;
		node = suite_tree_child(tree, node, 0);
	}
}
