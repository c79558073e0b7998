/*
 * What containers have in them: keys and values, elements in order, sums and bits,
 * whatever their capacity and buckets.
 */
#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_compare.h"

/* Are these keys the same? Without a hash by value, or by what is in them. */
static bool keys_match(const struct heap_comparison *compare,
		       const struct heap_item *x, const struct heap_item *y)
{
	if (x->hash != y->hash || !x->key != !y->key)
		return false;
	if (!x->key)
		return true;
	/* Of one graph at two moments: the very same object. */
	if (compare->a->past && x->key == y->key)
		return true;
	const struct heap_class *class = heap_class_at(compare->a, x->key);
	if (class != heap_class_at(compare->b, y->key))
		return false;
	if (compare->of_a[x->key] || compare->of_b[y->key])
		return compare->of_a[x->key] == y->key;
	bool by_value = true;
	bool equal = !class || values_are_equal(compare, x->key, y->key, class,
						&by_value);
	return by_value ? equal
			: heap_digest(compare->a, x->key) ==
				  heap_digest(compare->b, y->key);
}

/* The same hash code, but not what it was: something in the key changed. */
static bool keys_are_akin(const struct heap_comparison *compare,
			  const struct heap_item *x, const struct heap_item *y)
{
	if (!x->keyed || !x->hash || x->hash != y->hash || !x->key || !y->key ||
	    compare->of_a[x->key] || compare->of_b[y->key])
		return false;
	const struct heap_class *class = heap_class_at(compare->a, x->key);
	return class && class == heap_class_at(compare->b, y->key) &&
	       (class->kind == HEAP_PLAIN || class->kind == HEAP_ARRAY);
}

static void compare_item(struct heap_comparison *compare, uint32_t at,
			 const struct heap_item *x, const struct heap_item *y)
{
	const struct heap_step step = {
		.kind = STEP_KEY,
		.graph = compare->a,
		.key = x->key,
	};
	uint32_t root = compare->pairs.data[at].root;
	if (x->key != x->value)
		compare_references(compare, root, at, &step, x->key, y->key);
	compare_references(compare, root, at, &step, x->value, y->value);
}

static int compare_hashes(const void *x, const void *y)
{
	const struct heap_item *a = x, *b = y;
	return (a->hash > b->hash) - (a->hash < b->hash);
}

/* By what they look like where the container does not say. */
static void items_sort(const struct heap_graph *graph, struct heap_items *items)
{
	for (size_t i = 0; i < items->n; i++) {
		if (!items->data[i].hash)
			items->data[i].hash =
				heap_digest(graph, items->data[i].key);
	}
	if (items->n)
		qsort(items->data, items->n, sizeof(*items->data),
		      compare_hashes);
}

static void tell_one_sided(struct heap_comparison *compare, uint32_t at,
			   const struct heap_graph *graph,
			   const struct heap_item *item, bool added)
{
	const struct heap_step step = {
		.kind = STEP_KEY,
		.graph = graph,
		.key = item->key,
	};
	compare_one_sided(compare, at, &step, added ? 0 : item->value,
			  added ? item->value : 0, added);
}

typedef bool items_match(const struct heap_comparison *compare,
			 const struct heap_item *x, const struct heap_item *y);

/* Both are sorted by hash: partners are found among equal ones. */
static void match_items(struct heap_comparison *compare, uint32_t at,
			items_match *match, bool *taken_x, bool *taken_y)
{
	const struct heap_items *x = &compare->items_a, *y = &compare->items_b;
	size_t from = 0;
	for (size_t i = 0; i < x->n; i++) {
		while (from < y->n && y->data[from].hash < x->data[i].hash)
			from++;
		for (size_t j = from; j < y->n && !taken_x[i] &&
				      y->data[j].hash == x->data[i].hash;
		     j++) {
			if (taken_y[j] ||
			    !match(compare, &x->data[i], &y->data[j]))
				continue;
			taken_x[i] = taken_y[j] = true;
			compare_item(compare, at, &x->data[i], &y->data[j]);
		}
	}
}

static void compare_sets(struct heap_comparison *compare, uint32_t at,
			 bool weak)
{
	struct heap_items *x = &compare->items_a, *y = &compare->items_b;
	/* What no container said is known by what is in it. */
	bool hashed = x->n && x->data[0].hash;
	items_sort(compare->a, x);
	items_sort(compare->b, y);
	bool *taken_x = heap_zeroed(x->n + 1, sizeof(*taken_x));
	bool *taken_y = heap_zeroed(y->n + 1, sizeof(*taken_y));
	match_items(compare, at, keys_match, taken_x, taken_y);
	if (hashed)
		match_items(compare, at, keys_are_akin, taken_x, taken_y);
	for (size_t i = 0; i < x->n && !weak; i++) {
		if (!taken_x[i])
			tell_one_sided(compare, at, compare->a, &x->data[i],
				       false);
	}
	for (size_t j = 0; j < y->n; j++) {
		if (!taken_y[j])
			tell_one_sided(compare, at, compare->b, &y->data[j],
				       true);
	}
	free(taken_x);
	free(taken_y);
}

/* Maps in order of their keys, of insertion, …: by key; the order counts, too. */
static bool keys_are_alike(const struct heap_comparison *compare)
{
	const struct heap_items *x = &compare->items_a, *y = &compare->items_b;
	bool alike = x->n == y->n;
	for (size_t i = 0; alike && i < x->n; i++)
		alike = keys_match(compare, &x->data[i], &y->data[i]) ||
			keys_are_akin(compare, &x->data[i], &y->data[i]);
	return alike;
}

static void compare_sequences(struct heap_comparison *compare, uint32_t at)
{
	const struct heap_items *x = &compare->items_a, *y = &compare->items_b;
	uint32_t root = compare->pairs.data[at].root;
	size_t n = x->n > y->n ? x->n : y->n;
	for (size_t i = 0; i < n; i++) {
		const struct heap_step step = { .kind = STEP_INDEX,
						.index = (uint32_t)i };
		if (i < x->n && i < y->n)
			compare_references(compare, root, at, &step,
					   x->data[i].value, y->data[i].value);
		else
			compare_one_sided(compare, at, &step,
					  i < x->n ? x->data[i].value : 0,
					  i < y->n ? y->data[i].value : 0,
					  i >= x->n);
	}
}

static void compare_sums(struct heap_comparison *compare, uint32_t at)
{
	struct heap_pair pair = compare->pairs.data[at];
	int64_t sums[2] = { heap_number(compare->a, pair.a, "base"),
			    heap_number(compare->b, pair.b, "base") };
	for (int side = 0; side < 2; side++) {
		const struct heap_graph *graph = side ? compare->b : compare->a;
		uint32_t cells =
			heap_ref(graph, side ? pair.b : pair.a, "cells");
		uint32_t n = cells ? graph->nodes.data[cells].length : 0;
		for (uint32_t i = 0; i < n; i++)
			sums[side] += heap_number(
				graph, heap_element(graph, cells, i), "value");
	}
	const struct heap_step whole = { .kind = STEP_WHOLE };
	compare_slots(compare, pair.root, at, &whole, 'J',
		      (const uint8_t *)&sums[0], (const uint8_t *)&sums[1]);
}

static void compare_bit_sets(struct heap_comparison *compare, uint32_t at)
{
	struct heap_pair pair = compare->pairs.data[at];
	uint32_t x = heap_ref(compare->a, pair.a, "words");
	uint32_t y = heap_ref(compare->b, pair.b, "words");
	int64_t n = heap_number(compare->a, pair.a, "wordsInUse");
	int64_t m = heap_number(compare->b, pair.b, "wordsInUse");
	for (int64_t i = 0; x && y && i < (n > m ? n : m); i++) {
		static const uint8_t zeroes[8];
		size_t offset = heap_array_base('J') + (size_t)i * 8;
		const uint8_t *was =
			i < n ? heap_bytes(compare->a, x) + offset : zeroes;
		const uint8_t *is =
			i < m ? heap_bytes(compare->b, y) + offset : zeroes;
		for (unsigned bit = 0; bit < 64; bit++) {
			uint8_t old = was[bit / 8] >> bit % 8 & 1;
			uint8_t new = is[bit / 8] >> bit % 8 & 1;
			const struct heap_step step = {
				.kind = STEP_INDEX,
				.index = (uint32_t)(64 * i + bit),
			};
			if (old != new)
				compare_slots(compare, pair.root, at, &step,
					      'Z', &old, &new);
		}
	}
}

static bool is_weak(const struct heap_recipe *recipe)
{
	return recipe->key && !strcmp(recipe->key, "referent");
}

static uint32_t list_length(const struct heap_graph *graph, uint32_t node,
			    const struct heap_recipe *recipe, uint32_t array)
{
	uint32_t n = graph->nodes.data[array].length;
	int64_t count =
		recipe->count ? heap_number(graph, node, recipe->count) : n;
	return count >= 0 && count < n ? (uint32_t)count : n;
}

static void compare_lists(struct heap_comparison *compare, uint32_t at,
			  uint32_t node, const struct heap_recipe *recipe,
			  uint32_t array)
{
	uint32_t n = list_length(compare->a, node, recipe, array);
	uint32_t m = list_length(compare->b, node, recipe, array);
	compare_elements(compare, at, array, n < m ? n : m);
	for (uint32_t i = n < m ? n : m; i < (n > m ? n : m); i++) {
		const struct heap_step step = { .kind = STEP_INDEX,
						.index = i };
		compare_one_sided(
			compare, at, &step,
			i < n ? heap_element(compare->a, array, i) : 0,
			i < m ? heap_element(compare->b, array, i) : 0, i >= n);
	}
}

static void compare_tables(struct heap_comparison *compare, uint32_t at,
			   const struct heap_recipe *recipe, uint32_t table)
{
	uint32_t node = compare->pairs.data[at].a;
	bool keys =
		heap_class_at(compare->a, node)->recipe->shape == SHAPE_KEYS;
	struct heap_indexes found = {};
	find_indexes(compare, table, node, compare->a->nodes.data[table].length,
		     &found);
	for (int side = 0; side < 2; side++) {
		struct heap_items *items =
			side ? &compare->items_b : &compare->items_a;
		heap_items_of_buckets(side ? compare->b : compare->a, table,
				      recipe, found.data, found.n, items);
		for (size_t i = 0; keys && i < items->n; i++)
			items->data[i].value = items->data[i].key;
	}
	free(found.data);
	compare_sets(compare, at, is_weak(recipe));
}

/*
 * A container that is on both sides, with the same table or array in it: only what
 * differs of that. False: there is none.
 */
static bool compare_within_container(struct heap_comparison *compare,
				     uint32_t at)
{
	uint32_t node = compare->pairs.data[at].a;
	if (!compare->focus || node != compare->pairs.data[at].b)
		return false;
	uint32_t within = heap_container_within(compare->a, node);
	const struct heap_recipe *recipe =
		heap_class_at(compare->a, within)->recipe;
	if (!recipe || within != heap_container_within(compare->b, node) ||
	    (recipe->shape != SHAPE_TABLE &&
	     (recipe->shape != SHAPE_ARRAY || recipe->unordered)))
		return false;
	uint32_t array = heap_ref(compare->a, within, recipe->first);
	if (!array || array != heap_ref(compare->b, within, recipe->first))
		return false;
	if (recipe->shape == SHAPE_TABLE)
		compare_tables(compare, at, recipe, array);
	else
		compare_lists(compare, at, within, recipe, array);
	return true;
}

void compare_containers(struct heap_comparison *compare, uint32_t at,
			const struct heap_recipe *recipe)
{
	struct heap_pair pair = compare->pairs.data[at];
	if (recipe->shape == SHAPE_SUM) {
		compare_sums(compare, at);
		return;
	}
	if (recipe->shape == SHAPE_BITS) {
		compare_bit_sets(compare, at);
		return;
	}
	if (compare_within_container(compare, at))
		return;
	heap_items_of(compare->a, pair.a, &compare->items_a);
	heap_items_of(compare->b, pair.b, &compare->items_b);
	const struct heap_items *x = &compare->items_a, *y = &compare->items_b;
	bool keyed = (x->n && x->data[0].keyed) || (y->n && y->data[0].keyed);
	bool weak = is_weak(recipe);
	if (!keyed) {
		compare_sequences(compare, at);
	} else if (!x->unordered && !y->unordered && keys_are_alike(compare)) {
		for (size_t i = 0; i < x->n; i++)
			compare_item(compare, at, &x->data[i], &y->data[i]);
	} else {
		bool ordered = !x->unordered && x->n == y->n;
		size_t before = compare->changes->n;
		compare_sets(compare, at, weak);
		/* The same keys in another order. */
		if (ordered && before == compare->changes->n &&
		    recipe->shape == SHAPE_LINKED) {
			const struct heap_step whole = { .kind = STEP_WHOLE };
			compare_objects_differ(compare, pair.root, at, &whole,
					       pair.a, pair.b);
		}
	}
}
