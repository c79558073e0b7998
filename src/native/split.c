#include "native/split.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/compare.h"
#include "suite/tree.h"

/* An order's beginning is run again in each part: it has to be that short. */
#define BEGINNING_SHARE 4

struct splitter {
	struct suite_tree tree;
	size_t wanted;
	size_t *part_of; /* the last part that has it, plus 1 */
	VEC(size_t) stack;
	VEC(struct part) parts;
	size_t filled; /* nodes of the last part that are its own */
};

static void splitter_free(struct splitter *splitter)
{
	suite_tree_free(&splitter->tree);
	free(splitter->part_of);
	vec_free(&splitter->stack);
	for (size_t i = 0; i < splitter->parts.n; i++)
		part_freep(&splitter->parts.data[i]);
	vec_free(&splitter->parts);
}

static struct err *splitter_add_node(struct splitter *splitter, size_t node)
{
	BUG_ON(!splitter->parts.n);
	if (splitter->part_of[node] == splitter->parts.n)
		return NULL;
	splitter->part_of[node] = splitter->parts.n;
	return vec_push(&splitter->parts.data[splitter->parts.n - 1], node);
}

static struct err *push_children(struct splitter *splitter, size_t node)
{
	const struct suite_tree *tree = &splitter->tree;
	return vec_append(&splitter->stack, tree->children + tree->first[node],
			  suite_tree_children(tree, node));
}

/* All orders through @node go into the last part, or begin another. */
static struct err *add_whole(struct splitter *splitter, size_t node)
{
	if (!splitter->parts.n || splitter->filled >= splitter->wanted) {
		TRY(vec_push(&splitter->parts, (struct part){}));
		splitter->filled = 0;
	}
	splitter->filled += splitter->tree.sizes[node];
	for (size_t at = splitter->tree.nodes[node].parent;
	     at != SUITE_TREE_ROOT; at = splitter->tree.nodes[at].parent) {
		if (splitter->part_of[at] == splitter->parts.n)
			break;
		TRY(splitter_add_node(splitter, at));
	}
	size_t bottom = splitter->stack.n;
	TRY(vec_push(&splitter->stack, node));
	while (splitter->stack.n > bottom) {
		size_t at = splitter->stack.data[--splitter->stack.n];
		TRY(splitter_add_node(splitter, at));
		TRY(push_children(splitter, at));
	}
	return NULL;
}

static bool is_too_large(const struct splitter *splitter, size_t node)
{
	return splitter->tree.sizes[node] > splitter->wanted &&
	       splitter->tree.depths[node] <
		       splitter->wanted / BEGINNING_SHARE &&
	       suite_tree_children(&splitter->tree, node);
}

static struct err *fill_parts(struct splitter *splitter)
{
	TRY(push_children(splitter, splitter->tree.n));
	/* From the last to the first: a stack. */
	while (splitter->stack.n) {
		size_t node = splitter->stack.data[--splitter->stack.n];
		if (is_too_large(splitter, node))
			TRY(push_children(splitter, node));
		else
			TRY(add_whole(splitter, node));
	}
	for (size_t i = 0; i < splitter->parts.n; i++) {
		struct part *part = &splitter->parts.data[i];
		qsort(part->data, part->n, sizeof(*part->data), compare_as_u64);
	}
	return NULL;
}

struct err *split_tree(const struct suite_node *nodes, size_t n, size_t wanted,
		       struct split *ret)
{
	_cleanup_(splitter_free) struct splitter splitter = {
		.wanted = MAX(wanted, (size_t)1),
		.part_of = calloc(n + 1, sizeof(size_t)),
	};
	if (!splitter.part_of)
		return err_nomem();
	TRY(suite_tree_create(nodes, n, &splitter.tree));
	TRY(fill_parts(&splitter));
	*ret = (struct split){ splitter.parts.data, splitter.parts.n };
	splitter.parts.data = NULL;
	splitter.parts.n = 0;
	return NULL;
}

void split_free(struct split *split)
{
	for (size_t i = 0; i < split->n; i++)
		part_freep(&split->parts[i]);
	free(split->parts);
	*split = (struct split){};
}
