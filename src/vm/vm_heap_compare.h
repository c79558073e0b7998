/*
 * A comparison of two graphs as it goes on, as the files share it that do it:
 * objects (vm_heap_compare.c), and what containers have in them
 * (vm_heap_compare_items.c).
 */
#pragma once

#include "vm/vm_heap_internal.h"

enum step_kind { STEP_ROOT, STEP_FIELD, STEP_INDEX, STEP_KEY, STEP_WHOLE };

/* How one gets from an object to a place in it. */
struct heap_step {
	enum step_kind kind;
	const struct heap_field *field;
	uint32_t index;
	const struct heap_graph *graph; /* of the key */
	uint32_t key;
};

struct heap_pair {
	uint32_t a, b;
	uint32_t parent; /* a pair before it; NO_PAIR: its root */
	uint32_t root;
	struct heap_step step; /* from there */
};

struct heap_comparison {
	const struct heap_graph *a, *b;
	uint32_t *of_a, *of_b; /* partners */
	struct {
		struct heap_pair *data;
		size_t n, cap;
	} pairs;
	struct heap_changes *changes;
	struct heap_items items_a, items_b;
	/* Only what it says can differ; NULL: everything. */
	const struct heap_update *focus;
	bool unsure; /* objects traded places: with the focus it is no use */
};

struct heap_indexes {
	uint32_t *data;
	size_t n, cap;
};

/* A reference on both sides, reached from pair @parent by @step. */
void compare_references(struct heap_comparison *compare, uint32_t root,
			uint32_t parent, const struct heap_step *step,
			uint32_t a, uint32_t b);
void compare_slots(struct heap_comparison *compare, uint32_t root,
		   uint32_t parent, const struct heap_step *step, char type,
		   const uint8_t *was, const uint8_t *is);
void compare_objects_differ(struct heap_comparison *compare, uint32_t root,
			    uint32_t parent, const struct heap_step *step,
			    uint32_t a, uint32_t b);
void compare_one_sided(struct heap_comparison *compare, uint32_t at,
		       const struct heap_step *step, uint32_t a, uint32_t b,
		       bool added);
/* Of what is equal by value. *@ret_by_value is false for what is not. */
bool values_are_equal(const struct heap_comparison *compare, uint32_t a,
		      uint32_t b, const struct heap_class *class,
		      bool *ret_by_value);
/*
 * Of an array that is on both sides: which of its first @n slots differ, or lead
 * to what @parent has that does.
 */
void find_indexes(const struct heap_comparison *compare, uint32_t array,
		  uint32_t parent, uint32_t n, struct heap_indexes *ret);
/* Elements of an array that is on both sides, as steps from @at. */
void compare_elements(struct heap_comparison *compare, uint32_t at,
		      uint32_t array, uint32_t n);
/* What is in the containers of pair @at. */
void compare_containers(struct heap_comparison *compare, uint32_t at,
			const struct heap_recipe *recipe);
