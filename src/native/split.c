#include "native/split.h"

#include <stdint.h>
#include <stdlib.h>

#define NONE ((size_t)-1)
/* An order's beginning is run again in each part: it has to be that short. */
#define BEGINNING_SHARE 4

DEFINE_VEC(nodes, size_t)

struct splitter {
	const struct suite_node *nodes;
	size_t n, wanted;
	size_t *child, *sibling; /* the first one, the next one; NONE */
	size_t *sizes, *depths;
	size_t *part_of; /* the last part that has it, plus 1 */
	struct nodes stack;
	VEC(struct part) parts;
	size_t filled; /* nodes of the last part that are its own */
};

static void splitter_free(struct splitter *splitter)
{
	free(splitter->child);
	free(splitter->sibling);
	free(splitter->sizes);
	free(splitter->depths);
	free(splitter->part_of);
	nodes_freep(&splitter->stack);
	for (size_t i = 0; i < splitter->parts.n; i++)
		part_freep(&splitter->parts.data[i]);
	vec_free(&splitter->parts);
}

static struct err *splitter_init(struct splitter *splitter)
{
	size_t n = splitter->n;
	splitter->child = malloc((n + 1) * sizeof(size_t));
	splitter->sibling = malloc((n + 1) * sizeof(size_t));
	splitter->sizes = calloc(n + 1, sizeof(size_t));
	splitter->depths = calloc(n + 1, sizeof(size_t));
	splitter->part_of = calloc(n + 1, sizeof(size_t));
	if (!splitter->child || !splitter->sibling || !splitter->sizes ||
	    !splitter->depths || !splitter->part_of)
		return err_nomem();
	for (size_t i = 0; i <= n; i++)
		splitter->child[i] = splitter->sibling[i] = NONE;
	for (size_t i = n; i-- > 0;) {
		size_t parent = splitter->nodes[i].parent;
		parent = parent == SUITE_TREE_ROOT ? n : parent;
		splitter->sizes[i]++;
		splitter->sizes[parent] += splitter->sizes[i];
		splitter->sibling[i] = splitter->child[parent];
		splitter->child[parent] = i;
	}
	for (size_t i = 0; i < n; i++) {
		size_t parent = splitter->nodes[i].parent;
		if (parent != SUITE_TREE_ROOT)
			splitter->depths[i] = splitter->depths[parent] + 1;
	}
	return NULL;
}

static struct err *add(struct splitter *splitter, size_t node)
{
	BUG_ON(!splitter->parts.n);
	if (splitter->part_of[node] == splitter->parts.n)
		return NULL;
	splitter->part_of[node] = splitter->parts.n;
	return vec_push(&splitter->parts.data[splitter->parts.n - 1], node);
}

/* All orders through @node go into the last part, or begin another. */
static struct err *add_whole(struct splitter *splitter, size_t node)
{
	if (!splitter->parts.n || splitter->filled >= splitter->wanted) {
		TRY(vec_push(&splitter->parts, (struct part){}));
		splitter->filled = 0;
	}
	splitter->filled += splitter->sizes[node];
	for (size_t at = splitter->nodes[node].parent; at != SUITE_TREE_ROOT;
	     at = splitter->nodes[at].parent) {
		if (splitter->part_of[at] == splitter->parts.n)
			break;
		TRY(add(splitter, at));
	}
	size_t bottom = splitter->stack.n;
	TRY(vec_push(&splitter->stack, node));
	while (splitter->stack.n > bottom) {
		size_t at = splitter->stack.data[--splitter->stack.n];
		TRY(add(splitter, at));
		for (size_t i = splitter->child[at]; i != NONE;
		     i = splitter->sibling[i])
			TRY(vec_push(&splitter->stack, i));
	}
	return NULL;
}

static bool is_too_large(const struct splitter *splitter, size_t node)
{
	return splitter->sizes[node] > splitter->wanted &&
	       splitter->depths[node] < splitter->wanted / BEGINNING_SHARE &&
	       splitter->child[node] != NONE;
}

static int compare(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

static struct err *run(struct splitter *splitter)
{
	_cleanup_(nodes_freep) struct nodes left = {};
	for (size_t i = splitter->child[splitter->n]; i != NONE;
	     i = splitter->sibling[i])
		TRY(vec_push(&left, i));
	/* From the last to the first: a stack. */
	while (left.n) {
		size_t node = left.data[--left.n];
		if (!is_too_large(splitter, node)) {
			TRY(add_whole(splitter, node));
			continue;
		}
		for (size_t i = splitter->child[node]; i != NONE;
		     i = splitter->sibling[i])
			TRY(vec_push(&left, i));
	}
	for (size_t i = 0; i < splitter->parts.n; i++) {
		struct part *part = &splitter->parts.data[i];
		qsort(part->data, part->n, sizeof(*part->data), compare);
	}
	return NULL;
}

struct err *split_tree(const struct suite_node *nodes, size_t n, size_t wanted,
		       struct split *ret)
{
	_cleanup_(splitter_free) struct splitter splitter = {
		.nodes = nodes,
		.n = n,
		.wanted = MAX(wanted, (size_t)1),
	};
	TRY(splitter_init(&splitter));
	TRY(run(&splitter));
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
