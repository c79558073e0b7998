/*
 * A tree of orders with its links: which nodes follow each node, and how much.
 *
 * The nodes are the caller's (struct suite_node: a parent and a test each,
 * parents first) and stay where they are while the tree is used. A node is
 * called by its number; the number suite_tree.n stands for the root, before
 * the first test.
 */
#pragma once

#include "suite/suite.h"

struct suite_tree {
	const struct suite_node *nodes;
	size_t n;
	/* Of node i: children[first[i]] up to, not including, [first[i + 1]]. */
	size_t *first;
	size_t *children;
	size_t *sizes;	 /* nodes from it on, itself included */
	size_t *heights; /* the same of the longest order through it */
	size_t *depths;	 /* nodes before it */
};

/* Links all nodes; children come in the order of their numbers. */
struct err *suite_tree_create(const struct suite_node *nodes, size_t n,
			      struct suite_tree *ret) _must_check_;
void suite_tree_free(struct suite_tree *tree);
/*
 * Links only the nodes that have one of the bits @wanted in @marks, by node.
 * The others have no parent then, but keep their children. Of each node, the
 * child with the most nodes comes last.
 */
void suite_tree_select(struct suite_tree *tree, const uint8_t *marks,
		       unsigned wanted);

static inline size_t suite_tree_children(const struct suite_tree *tree,
					 size_t node)
{
	return tree->first[node + 1] - tree->first[node];
}

static inline size_t suite_tree_child(const struct suite_tree *tree,
				      size_t node, size_t i)
{
	return tree->children[tree->first[node] + i];
}

/* An order of the tree from its first test on. */
struct suite_path {
	size_t *nodes;
	size_t *tests; /* of these: what suite_run() takes */
	size_t n;
};

/* Empty, with room for any order of @tree. */
struct err *suite_path_create(const struct suite_tree *tree,
			      struct suite_path *ret) _must_check_;
void suite_path_free(struct suite_path *path);
/* The order that ends with @node. */
void suite_path_to(struct suite_path *path, const struct suite_tree *tree,
		   size_t node);
/* Adds @node, and what follows until orders part or end. */
void suite_path_add(struct suite_path *path, const struct suite_tree *tree,
		    size_t node);
