/* The tables themselves: what is rare. What each call does: note.h. */
#include "agent/agent.h"

/* A pool gives leaves until it is used up; each is twice as large as the last. */
#define POOL_FIRST 2
#define POOL_MOST 1024

/* How far from its place a stack may be. */
#define PROBES 16

struct slot_pool {
	uint64_t next; /* address of the next leaf */
	uint64_t end;
	uint64_t leaves;
};

struct wire_slot *table_directory;
uint64_t *table_stack_keys;
static uint64_t stacks_used;

/* The pool's description is its own first page, so one word can replace it. */
static struct slot_pool *pool;

static bool slot_pool_grow(struct slot_pool *old)
{
	uint64_t n = old ? old->leaves * 2 : POOL_FIRST;
	if (n > POOL_MOST)
		n = POOL_MOST;
	/*
	 * A lost race leaves unused address space: new leaves are rare, and
	 * threads that need one at the same moment even rarer.
	 */
	struct slot_pool *new =
		sys_map(4096 + n * WIRE_LEAF_BYTES, WIRE_MAPPING);
	if (!new)
		return false;
	new->leaves = n;
	new->next = (uint64_t)(uintptr_t) new + 4096;
	new->end = new->next + n *WIRE_LEAF_BYTES;
	__atomic_compare_exchange_n(&pool, &old, new, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
	return true;
}

static struct wire_leaf *take_leaf(void)
{
	for (;;) {
		struct slot_pool *from =
			__atomic_load_n(&pool, __ATOMIC_ACQUIRE);
		if (from) {
			uint64_t at = __atomic_fetch_add(
				&from->next, WIRE_LEAF_BYTES, __ATOMIC_RELAXED);
			if (at < from->end)
				return (struct wire_leaf *)(uintptr_t)at;
		}
		if (!slot_pool_grow(from))
			return NULL;
	}
}

/* The slot of @index, or a free one that may become it; NULL: full. */
static struct wire_slot *table_probe_slot(uint64_t index)
{
	for (uint64_t i = 0; i < WIRE_PROBES; i++) {
		struct wire_slot *slot =
			&table_directory[(index + i) % WIRE_SLOTS];
		uint64_t there =
			__atomic_load_n(&slot->index, __ATOMIC_ACQUIRE);
		if (there == 0 || there == index + 1)
			return slot;
	}
	return NULL;
}

struct wire_leaf *table_leaf_find(uint64_t index)
{
	const struct wire_slot *slot = table_probe_slot(index);
	return slot ? (struct wire_leaf *)(uintptr_t)__atomic_load_n(
			      &slot->leaf, __ATOMIC_ACQUIRE)
		    : NULL;
}

struct wire_leaf *table_leaf_create(uint64_t index)
{
	struct wire_slot *slot;
	/* Another leaf may take the free slot first: then one after it. */
	for (;;) {
		uint64_t none = 0;
		slot = table_probe_slot(index);
		if (!slot)
			return NULL;
		if (__atomic_compare_exchange_n(&slot->index, &none, index + 1,
						false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    none == index + 1)
			break;
	}
	uint64_t there = __atomic_load_n(&slot->leaf, __ATOMIC_ACQUIRE);
	if (there)
		return (struct wire_leaf *)(uintptr_t)there;
	struct wire_leaf *leaf = take_leaf();
	if (!leaf)
		return NULL;
	if (!__atomic_compare_exchange_n(&slot->leaf, &there,
					 (uint64_t)(uintptr_t)leaf, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return (struct wire_leaf *)(uintptr_t)there;
	/* Each slot once: there is room for all of them. */
	uint32_t i =
		__atomic_fetch_add(&agent_heap.leaves_n, 1, __ATOMIC_RELAXED);
	((uint32_t *)(uintptr_t)agent_heap.leaves)[i] =
		(uint32_t)(slot - table_directory) + 1;
	return leaf;
}

/*
 * Two stacks with the same hash of 64 bits would be taken for one. A stack is
 * known by its key; the thread that puts the key there writes the frames, and
 * no other needs them.
 */
uint32_t table_stack_add(const uint64_t *frames, uint64_t hash)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t *slot = &table_stack_keys[(uint32_t)(hash + i) %
						   WIRE_STACK_MAX];
		uint64_t key = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (key) {
			if (!((key ^ hash) & STACK_HASH))
				return (uint32_t)(key & STACK_NUMBER);
			continue;
		}
		/* Lost races leave an unused number. */
		uint64_t number =
			__atomic_add_fetch(&stacks_used, 1, __ATOMIC_RELAXED);
		if (number >= WIRE_STACK_MAX)
			return 0;
		struct wire_stack *stack =
			(struct wire_stack *)(uintptr_t)agent_heap.stacks +
			number;
		for (unsigned k = 0; k < WIRE_STACK_FRAMES; k++)
			stack->frames[k] = frames[k];
		if (__atomic_compare_exchange_n(
			    slot, &key, (hash & STACK_HASH) | number, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return (uint32_t)number;
		if (!((key ^ hash) & STACK_HASH))
			return (uint32_t)(key & STACK_NUMBER);
	}
	return 0;
}

bool table_create(void)
{
	uint32_t *leaves = sys_map(WIRE_SLOTS * sizeof(*leaves), WIRE_MAPPING);
	struct wire_stack *stacks =
		sys_map(WIRE_STACK_MAX * sizeof(*stacks), WIRE_STACKS_MAPPING);
	table_stack_keys = sys_map(WIRE_STACK_MAX * sizeof(*table_stack_keys),
				   WIRE_STACKS_MAPPING);
	table_directory =
		sys_map(WIRE_SLOTS * sizeof(*table_directory), WIRE_MAPPING);
	if (!leaves || !stacks || !table_stack_keys || !table_directory ||
	    !slot_pool_grow(NULL)) {
		sys_unmap_all();
		return false;
	}
	agent_heap.leaves = (uint64_t)(uintptr_t)leaves;
	agent_heap.stacks = (uint64_t)(uintptr_t)stacks;
	agent_heap.stacks_n = WIRE_STACK_MAX;
	agent_heap.directory = (uint64_t)(uintptr_t)table_directory;
	return true;
}
