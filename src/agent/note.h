/*
 * What every allocation and every free does, inlined into each of them: the
 * stack, its number, the entry in the shadow.
 */
#pragma once

#include "agent/agent.h"

/*
 * The allocating call: the return address of the interposed function, and the
 * frame pointer that its caller had. For use in the interposed function itself.
 */
#define NOTE_CALLER()                                                          \
	((struct note_caller){                                                 \
		(uint64_t)(uintptr_t)__builtin_return_address(0),              \
		(uintptr_t)__builtin_frame_address(0),                         \
	})

struct note_caller {
	uint64_t address;
	uintptr_t frame; /* of the interposed function */
};

static inline uint64_t note_mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t note_hash(const uint64_t *f)
{
	uint64_t hash =
		note_mix(f[0] ^ 0x9e3779b97f4a7c15, f[1] ^ 0xbf58476d1ce4e5b9) +
		note_mix(f[2] ^ 0x94d049bb133111eb, f[3] ^ 0xd6e8feb86659fd93) +
		note_mix(f[4] ^ 0xa0761d6478bd642f, f[5] ^ 0xe7037ed1a0b428db) +
		note_mix(f[6] ^ 0x8ebc6af09c88c6e3, f[7] ^ 0x589965cc75374cc3);
	return hash ? hash : 1;
}

static inline uint32_t note_intern(const uint64_t *frames)
{
	uint64_t hash = note_hash(frames);
	uint64_t key = __atomic_load_n(
		&table_stack_keys[(uint32_t)hash % WIRE_STACK_MAX],
		__ATOMIC_RELAXED);
	if (likely(!((key ^ hash) & STACK_HASH) && key & STACK_NUMBER))
		return (uint32_t)(key & STACK_NUMBER);
	return table_stack_add(frames, hash);
}

static inline bool note_code(uint64_t address)
{
	uint64_t page = address >> 12;
	return likely(__atomic_load_n(&code_pages[page % CODE_PAGES],
				      __ATOMIC_RELAXED) == page) ||
	       code_learn(address);
}

/*
 * Follows saved frame pointers, upwards only, as long as they lead to code.
 * What a register that is none leads to is at worst a few wrong places.
 */
static inline uint32_t note_stack(struct note_caller caller)
{
	uint64_t frames[WIRE_STACK_FRAMES] = { caller.address };
	uintptr_t frame = caller.frame;
	const struct stack_bounds *bounds = &stack_bounds;
	if (unlikely(frame < bounds->low || frame >= bounds->high) &&
	    !stack_extend(frame))
		return note_intern(frames);
	uintptr_t last = bounds->high - 16;
	for (unsigned n = 1; n < WIRE_STACK_FRAMES; n++) {
		uintptr_t next = *(const uintptr_t *)frame;
		if (next <= frame || next > last || next % 16 != 0)
			break;
		uint64_t address = ((const uint64_t *)next)[1];
		if (unlikely(!note_code(address)))
			break;
		frames[n] = address;
		frame = next;
	}
	uint32_t stack = note_intern(frames);
	if (unlikely(!stack)) {
		/*
		 * Full, perhaps of nonsense: the number of callers is bounded.
		 */
		uint64_t first[WIRE_STACK_FRAMES] = { caller.address };
		stack = note_intern(first);
	}
	return stack;
}

static inline struct wire_leaf *note_leaf(uint64_t address)
{
	uint64_t index = address >> WIRE_LEAF_SHIFT;
	const struct wire_slot *slot = &table_directory[index % WIRE_SLOTS];
	if (unlikely(__atomic_load_n(&slot->index, __ATOMIC_ACQUIRE) !=
		     index + 1))
		return table_leaf_find(index);
	return (struct wire_leaf *)(uintptr_t)__atomic_load_n(&slot->leaf,
							      __ATOMIC_ACQUIRE);
}

static inline uint64_t note_offset(uint64_t address)
{
	return address & ((1ULL << WIRE_LEAF_SHIFT) - 1);
}

static inline void note_entry(uint64_t address, uint64_t entry)
{
	struct wire_leaf *leaf = note_leaf(address);
	if (unlikely(!leaf)) {
		if (!(address >> WIRE_ADDRESS_BITS))
			leaf = table_leaf_create(address >> WIRE_LEAF_SHIFT);
		if (!leaf) {
			__atomic_fetch_add(&agent_heap.lost, 1,
					   __ATOMIC_RELAXED);
			return;
		}
	}
	uint64_t offset = note_offset(address);
	__atomic_store_n(&leaf->entries[offset / WIRE_GRANULE], entry,
			 __ATOMIC_RELAXED);
	if (unlikely(WIRE_SIZE(entry) > WIRE_LARGE))
		leaf->cells[offset / WIRE_LARGE] =
			(uint16_t)(offset % WIRE_LARGE / WIRE_GRANULE + 1);
}

static inline void note_block(const void *block, size_t size,
			      struct note_caller caller)
{
#ifdef AGENT_CHOICES
	/* Only its size matters there, not which call allocated it. */
	uint32_t stack = 0;
	(void)caller;
#else
	uint32_t stack = likely(block) ? note_stack(caller) : 0;
#endif
	if (unlikely(!block))
		return;
	if (unlikely(size > WIRE_SIZE_MAX))
		size = WIRE_SIZE_MAX;
	note_entry((uint64_t)(uintptr_t)block,
		   WIRE_ENTRY(size, stack) | agent_heap.fresh);
}

/* Quarantine: is the block with this entry (0: not noted) to stay as it is? */
static inline bool note_stays(uint64_t entry)
{
	return unlikely(agent_heap.fresh) && !(entry & WIRE_FRESH);
}

/* The block is about to be the allocator's again; its entry, for note_entry(). */
static inline uint64_t note_gone(const void *block)
{
	uint64_t address = (uint64_t)(uintptr_t)block;
	struct wire_leaf *leaf = note_leaf(address);
	if (unlikely(!leaf))
		return 0;
	uint64_t offset = note_offset(address);
	uint64_t *place = &leaf->entries[offset / WIRE_GRANULE];
	uint64_t entry = __atomic_load_n(place, __ATOMIC_RELAXED);
	/* Not noted: its page need not be touched. */
	if (unlikely(!entry))
		return 0;
	if (unlikely(WIRE_SIZE(entry) > WIRE_LARGE))
		leaf->cells[offset / WIRE_LARGE] = 0;
	__atomic_store_n(place, 0, __ATOMIC_RELAXED);
	return entry;
}
