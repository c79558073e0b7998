/*
 * All that a test may do under choices, as a graph: its nodes are choices
 * (wire/choices.h), its edges their alternatives; an edge leads to the next
 * choice or to the end of the test. States that are equal again are one node.
 */
#pragma once

#include "base/vec.h"
#include "suite/suite.h"

#define SUITE_GRAPH_END ((size_t)-1)

struct suite_graph_node {
	uint64_t model, alternatives;
	/* How it was first met; SUITE_GRAPH_END: it is the first of all. */
	size_t parent;
	uint64_t parent_pick;
};

struct suite_graph_edge {
	size_t from;
	uint64_t pick;
	size_t to;	      /* node, or SUITE_GRAPH_END … */
	enum outcome outcome; /* … and how the test ended there */
};

struct suite_graph {
	VEC(struct suite_graph_node) nodes;
	VEC(struct suite_graph_edge) edges;
	enum outcome outcome; /* where there is no choice at all */
	uint64_t merged;      /* edges to a state that was known */
	bool whole;	      /* every alternative of every node was followed */
	/* Nothing was done: its process cannot be copied in mid-course. */
	const char *obstacle;
};
void suite_graph_free(struct suite_graph *graph);

struct suite_explore_options {
	size_t nodes;	   /* at most */
	uint64_t deadline; /* clock_now(); 0: none */
	/* Choices with more alternatives have only this many of them followed. */
	uint64_t alternatives;
};

/*
 * Explores @test from copies of its process, under @choices (models, on). Where
 * that is not possible (suite_graph.obstacle) nothing is done.
 */
struct err *suite_explore(struct suite *suite, size_t test,
			  const struct suite_choices *choices,
			  const struct suite_explore_options *options,
			  struct suite_graph *ret) _must_check_;
