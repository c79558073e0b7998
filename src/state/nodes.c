#include "state/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define FIRST_SLOTS 1024
#define GROW_SLOWLY 65536
/* Blocks begin at multiples of it; variables may share a slot. */
#define GRANULE 16

/*
 * Neighbours in memory are neighbours in the table: objects are mostly visited
 * in the order in which they were allocated, and a table that scatters them costs
 * a miss of every cache for each of millions.
 */
static size_t slot_of(uint64_t key, size_t cap)
{
	return (key + (key >> 26) * 0x9e3779b1ULL) & (cap - 1);
}

void nodes_free(struct nodes *nodes)
{
	vec_free(&nodes->all);
	vec_free(&nodes->large);
	free(nodes->slots);
	free(nodes->pages);
	free(nodes->page_keys);
	*nodes = (struct nodes){};
}

uint32_t nodes_find(const struct nodes *nodes, uint64_t start)
{
	if (!nodes->cap)
		return NODE_NONE;
	for (size_t i = slot_of(start / GRANULE, nodes->cap);;
	     i = (i + 1) & (nodes->cap - 1)) {
		uint32_t id = nodes->slots[i];
		if (!id)
			return NODE_NONE;
		if (nodes->all.data[id - 1].start == start &&
		    !(nodes->all.data[id - 1].flags & NODE_DEAD))
			return id - 1;
	}
}

static void put_slot(uint32_t *slots, size_t cap, uint64_t start, uint32_t id)
{
	size_t i = slot_of(start / GRANULE, cap);
	while (slots[i])
		i = (i + 1) & (cap - 1);
	slots[i] = id + 1;
}

/* Dead nodes lose their slots here; the others keep their numbers. */
static struct err *grow_slots(struct nodes *nodes)
{
	size_t cap = nodes->cap ? nodes->cap * 2 : FIRST_SLOTS;
	uint32_t *slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return err_nomem();
	for (size_t i = 0; i < nodes->all.n; i++) {
		const struct node *node = &nodes->all.data[i];
		if (!(node->flags & NODE_DEAD))
			put_slot(slots, cap, node->start, (uint32_t)i);
	}
	free(nodes->slots);
	nodes->slots = slots;
	nodes->cap = cap;
	return NULL;
}

/* The place for a page's list, or where it would be. */
static size_t page_slot(const uint64_t *keys, size_t cap, uint64_t page)
{
	size_t i = slot_of(page / NODE_PAGE, cap);
	while (keys[i] && keys[i] != page + 1)
		i = (i + 1) & (cap - 1);
	return i;
}

static struct err *grow_pages(struct nodes *nodes)
{
	size_t cap = nodes->pages_cap ? nodes->pages_cap * 2 : FIRST_SLOTS;
	uint64_t *keys = calloc(cap, sizeof(*keys));
	uint32_t *pages = calloc(cap, sizeof(*pages));
	if (!keys || !pages) {
		free(keys);
		free(pages);
		return err_nomem();
	}
	for (size_t i = 0; i < nodes->pages_cap; i++) {
		if (!nodes->page_keys[i])
			continue;
		size_t to = page_slot(keys, cap, nodes->page_keys[i] - 1);
		keys[to] = nodes->page_keys[i];
		pages[to] = nodes->pages[i];
	}
	free(nodes->page_keys);
	free(nodes->pages);
	nodes->page_keys = keys;
	nodes->pages = pages;
	nodes->pages_cap = cap;
	return NULL;
}

static struct err *put_on_page(struct nodes *nodes, uint32_t id)
{
	struct node *node = &nodes->all.data[id];
	if (node->size > NODE_PAGE) {
		nodes->large_sorted = false;
		return vec_push(&nodes->large, id);
	}
	if (nodes->pages_n * 4 >= nodes->pages_cap * 3)
		TRY(grow_pages(nodes));
	uint64_t page = node->start & ~(uint64_t)(NODE_PAGE - 1);
	size_t i = page_slot(nodes->page_keys, nodes->pages_cap, page);
	if (!nodes->page_keys[i]) {
		nodes->page_keys[i] = page + 1;
		nodes->pages[i] = NODE_NONE;
		nodes->pages_n++;
	}
	node->page_next = nodes->pages[i];
	nodes->pages[i] = id;
	return NULL;
}

/* Millions of them: growing by a quarter, not twofold. */
static struct err *nodes_make_room(struct nodes *nodes)
{
	size_t cap = nodes->all.cap;
	if (nodes->all.n < cap || cap < GROW_SLOWLY)
		return NULL;
	cap += cap / 4;
	struct node *grown = realloc(nodes->all.data, cap * sizeof(*grown));
	if (!grown)
		return err_nomem();
	nodes->all.data = grown;
	nodes->all.cap = cap;
	return NULL;
}

struct err *nodes_add(struct nodes *nodes, const struct node *node,
		      uint32_t *ret)
{
	if (nodes->all.n >= NODE_NONE - 1)
		return err_create(ERR_INTERNAL, "too many objects in memory");
	/* One slot a node that ever was: the table never gets full. */
	if (nodes->all.n * 2 >= nodes->cap)
		TRY(grow_slots(nodes));
	uint32_t id = (uint32_t)nodes->all.n;
	TRY(nodes_make_room(nodes));
	TRY(vec_push(&nodes->all, *node));
	nodes->all.data[id].page_next = NODE_NONE;
	put_slot(nodes->slots, nodes->cap, node->start, id);
	struct err *err = put_on_page(nodes, id);
	if (err) {
		nodes->all.data[id].flags |= NODE_DEAD;
		return err;
	}
	*ret = id;
	return NULL;
}

void nodes_kill(struct nodes *nodes, uint32_t id)
{
	struct node *node = nodes_get(nodes, id);
	if (node->flags & NODE_DEAD)
		return;
	node->flags |= NODE_DEAD;
	nodes->dead++;
}

void nodes_revive(struct nodes *nodes, uint32_t id)
{
	struct node *node = nodes_get(nodes, id);
	if (!(node->flags & NODE_DEAD))
		return;
	node->flags &= (uint8_t)~NODE_DEAD;
	nodes->dead--;
}

static int nodes_compare_start(const void *a, const void *b, void *data)
{
	const struct nodes *nodes = data;
	uint64_t x = nodes->all.data[*(const uint32_t *)a].start;
	uint64_t y = nodes->all.data[*(const uint32_t *)b].start;
	return x < y ? -1 : x > y;
}

static void sort_large(struct nodes *nodes)
{
	if (nodes->large_sorted)
		return;
	size_t n = 0;
	for (size_t i = 0; i < nodes->large.n; i++) {
		uint32_t id = nodes->large.data[i];
		if (!(nodes->all.data[id].flags & NODE_DEAD))
			nodes->large.data[n++] = id;
	}
	nodes->large.n = n;
	if (n)
		qsort_r(nodes->large.data, n, sizeof(uint32_t),
			nodes_compare_start, nodes);
	nodes->large_sorted = true;
}

/* The list of a page, without those that died since. */
static uint32_t page_first(struct nodes *nodes, uint64_t page)
{
	if (!nodes->pages_cap)
		return NODE_NONE;
	size_t i = page_slot(nodes->page_keys, nodes->pages_cap, page);
	if (!nodes->page_keys[i])
		return NODE_NONE;
	uint32_t *link = &nodes->pages[i];
	while (*link != NODE_NONE) {
		struct node *node = &nodes->all.data[*link];
		if (node->flags & NODE_DEAD)
			*link = node->page_next;
		else
			link = &node->page_next;
	}
	return nodes->pages[i];
}

struct err *nodes_on_page(struct nodes *nodes, uint64_t page,
			  struct err *(*visit)(void *data, uint32_t id),
			  void *data)
{
	/* A node of up to a page may begin on the one before. */
	for (unsigned before = 0; before < 2; before++) {
		uint64_t at = page - (uint64_t)before * NODE_PAGE;
		uint32_t next;
		for (uint32_t id = page_first(nodes, at); id != NODE_NONE;
		     id = next) {
			const struct node *node = &nodes->all.data[id];
			next = node->page_next;
			if (node->start + node->size <= page ||
			    node->flags & NODE_DEAD)
				continue;
			TRY(visit(data, id));
		}
	}
	sort_large(nodes);
	size_t low = 0, high = nodes->large.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct node *node =
			&nodes->all.data[nodes->large.data[mid]];
		if (node->start + node->size <= page)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; i < nodes->large.n; i++) {
		uint32_t id = nodes->large.data[i];
		const struct node *node = &nodes->all.data[id];
		if (node->start >= page + NODE_PAGE)
			break;
		if (!(node->flags & NODE_DEAD))
			TRY(visit(data, id));
	}
	return NULL;
}
