/*
 * A tree of orders in parts that can be run side by side: each part is a tree of
 * its own, with all that its orders begin with. What several parts begin with
 * is run by each of them.
 */
#pragma once

#include "base/vec.h"
#include "suite/suite.h"

/* The nodes of a part, by their numbers in the whole tree, ascending. */
DEFINE_VEC(part, size_t)

struct split {
	struct part *parts;
	size_t n;
};

/* Parts of about @wanted nodes each. */
struct err *split_tree(const struct suite_node *nodes, size_t n, size_t wanted,
		       struct split *ret) _must_check_;
void split_free(struct split *split);
