/*
 * The memory layout that the agent (in the tested process) and the controller
 * share: the table of live heap blocks. The agent writes it, the controller
 * reads it while the process is stopped. Plain integers of fixed size only.
 *
 * The agent exports one object of this type, WIRE_HEAP_SYMBOL.
 *
 * Shadow: for each granule of WIRE_GRANULE bytes of the address space there is
 * one entry of 8 bytes, in leaves that each cover 1 << WIRE_LEAF_SHIFT bytes.
 * The leaf of an address is in the directory, a hash table from which nothing
 * is ever taken: in the slot with the number index % WIRE_SLOTS, where index is
 * address >> WIRE_LEAF_SHIFT, or in one of the WIRE_PROBES - 1 after it, with
 * no free slot before it. (An array of all leaves would be 64 MiB of address
 * space, which programs with limits of their own notice.) An entry that is not
 * 0 says that a live block begins at its granule:
 *
 *	bit  63      allocated in quarantine (below)
 *	bits 62..40  number of the stack that allocated it (0: not known)
 *	bits 39..0   requested size + 1
 *
 * Large blocks: from inside a block of more than WIRE_LARGE bytes the way back
 * to its entry is long. After the entries a leaf therefore has a word for each
 * cell of WIRE_LARGE bytes: where in the cell a large block begins, in
 * granules, plus 1; 0 where none does. Two cannot begin in one cell, since the
 * first is longer than it. The list of leaves leads to all of them.
 *
 * Quarantine: where the controller has set wire_heap.fresh, blocks that were
 * there before are never given back to the allocator. Freeing one only forgets
 * it, and reallocating it gives another: what it held stays where it was. The
 * heap grows by at most what it held when this began.
 *
 * Invariants:
 *  1. An entry is written after the allocator returned the block, and cleared
 *     before the allocator gets it back: what it says is never another block.
 *  2. Everything is written without locks. A thread that is stopped on its way
 *     leaves a block that is not noted yet, never a wrong one.
 *  3. All of it is private memory: a forked process has its own.
 */
#pragma once

#include <stdint.h>

#define WIRE_HEAP_MAGIC 0x7061656867796c6fULL /* "olyghepa" */
#define WIRE_HEAP_VERSION 2
#define WIRE_HEAP_SYMBOL "polygraph_agent_heap"

/*
 * Names of its mappings, if the kernel supports names. Stacks are only ever
 * added, all over their tables: writes there are not tracked.
 */
#define WIRE_MAPPING "polygraph"
#define WIRE_STACKS_MAPPING "polygraph stacks"

#define WIRE_GRANULE 16
#define WIRE_LEAF_SHIFT 24 /* a leaf covers 16 MiB */
#define WIRE_ADDRESS_BITS 47
#define WIRE_LARGE (128 * 1024)
#define WIRE_LEAF_ENTRIES ((1ULL << WIRE_LEAF_SHIFT) / WIRE_GRANULE)
#define WIRE_LEAF_CELLS ((1ULL << WIRE_LEAF_SHIFT) / WIRE_LARGE)
#define WIRE_SLOTS (1U << 16) /* leaves of 1 TiB of heap */
#define WIRE_PROBES 64
#define WIRE_STACK_FRAMES 8
#define WIRE_STACK_MAX (1U << 18)
#define WIRE_REGIONS 64
#define WIRE_NAME 64

#define WIRE_SIZE_MAX ((1ULL << 40) - 2)
#define WIRE_SIZE(entry) (((entry) & ((1ULL << 40) - 1)) - 1)
#define WIRE_FRESH (1ULL << 63)
#define WIRE_STACK(entry) ((uint32_t)(((entry) & ~WIRE_FRESH) >> 40))
#define WIRE_ENTRY(size, stack)                                                \
	((((uint64_t)(stack)) << 40) | ((uint64_t)(size) + 1))

struct wire_leaf {
	uint64_t entries[WIRE_LEAF_ENTRIES];
	uint16_t cells[WIRE_LEAF_CELLS];
};
/* Leaves begin at multiples of a page. */
#define WIRE_LEAF_BYTES ((sizeof(struct wire_leaf) + 4095) & ~4095ULL)

struct wire_slot {
	uint64_t index; /* of the leaf, plus 1; 0: free */
	uint64_t leaf;	/* its address; 0: not there yet */
};

struct wire_stack {
	uint64_t frames[WIRE_STACK_FRAMES]; /* return addresses, 0 ends them */
};

struct wire_region {
	uint64_t address;
	uint64_t size;
};

/* Why nothing is known: wire_heap.active is 0. */
enum wire_reason {
	WIRE_NOT_STARTED, /* the agent has not run yet */
	WIRE_OWN_MALLOC,  /* the program brings its own, see allocator */
	WIRE_NO_MEMORY,	  /* the tables could not be mapped */
};

struct wire_heap {
	uint64_t magic;
	uint32_t version;
	uint32_t active; /* 1: malloc is ours, the rest holds */
	uint32_t reason; /* enum wire_reason */
	uint32_t leaves_n;
	uint64_t leaves;    /* address of uint32_t[WIRE_SLOTS]: slot + 1 */
	uint64_t directory; /* address of struct wire_slot[WIRE_SLOTS] */
	uint64_t stacks; /* address of struct wire_stack[stacks_n]; 0 is none */
	uint64_t stacks_n;
	uint64_t lost; /* blocks that could not be noted: tables full */
	/*
	 * In every new entry. The controller's to write, while the process is
	 * stopped: 0, or WIRE_FRESH for quarantine.
	 */
	uint64_t fresh;
	/* The file that defines the malloc that is used; "": the program. */
	char allocator[WIRE_NAME];
	/* All memory of the agent, its variables too: not the program's. */
	uint64_t regions_n;
	struct wire_region regions[WIRE_REGIONS];
};
