/*
 * The memory layout that the agent (in the tested process) and the controller
 * share: the table of live heap blocks. The agent writes it, the controller
 * reads it while the process is stopped. Plain integers of fixed size only.
 *
 * The agent exports one object of this type, wire_heap_symbol.
 *
 * Shadow: for each granule of WIRE_GRANULE bytes of the address space there is
 * one entry of 8 bytes, in two levels. directory[address >> WIRE_LEAF_SHIFT] is
 * the address of a leaf (0: none), and a leaf has an entry for each granule. An
 * entry that is not 0 says that a block begins at its granule:
 *
 *	bits 63..40  number of the stack that allocated it (0: not known)
 *	bits 39..0   requested size + 1
 *
 * Blocks larger than WIRE_LARGE are in the table of large blocks instead, so
 * that looking for the block an address lies in never goes far back.
 *
 * All of it is private memory: a forked process has its own.
 */
#pragma once

#include <stdint.h>

#define WIRE_HEAP_MAGIC 0x7061656867796c6fULL /* "olyghepa" */
#define WIRE_HEAP_VERSION 1
#define WIRE_HEAP_SYMBOL "polygraph_agent_heap"

#define WIRE_GRANULE 16
#define WIRE_LEAF_SHIFT 24 /* a leaf covers 16 MiB */
#define WIRE_ADDRESS_BITS 47
#define WIRE_DIRECTORY_ENTRIES (1ULL << (WIRE_ADDRESS_BITS - WIRE_LEAF_SHIFT))
#define WIRE_LEAF_BYTES ((1ULL << WIRE_LEAF_SHIFT) / WIRE_GRANULE * 8)
#define WIRE_LARGE (128 * 1024)
#define WIRE_STACK_FRAMES 8
#define WIRE_STACK_MAX (1U << 18)
#define WIRE_REGIONS 64

#define WIRE_SIZE(entry) (((entry) & ((1ULL << 40) - 1)) - 1)
#define WIRE_STACK(entry) ((uint32_t)((entry) >> 40))
#define WIRE_ENTRY(size, stack)                                                \
	((((uint64_t)(stack)) << 40) |                                         \
	 (((uint64_t)(size) + 1) & ((1ULL << 40) - 1)))

struct wire_large {
	uint64_t address; /* 0: free */
	uint64_t entry;	  /* as in the shadow */
};

struct wire_stack {
	uint64_t frames[WIRE_STACK_FRAMES]; /* return addresses, 0 ends them */
};

struct wire_region {
	uint64_t address;
	uint64_t size;
};

struct wire_heap {
	uint64_t magic;
	uint32_t version;
	uint32_t active;    /* 0: malloc is somebody else's, nothing is known */
	uint64_t directory; /* address of WIRE_DIRECTORY_ENTRIES words */
	uint64_t large;	    /* address of struct wire_large[large_n] */
	uint64_t large_n;
	uint64_t stacks; /* address of struct wire_stack[stacks_n]; 0 is none */
	uint64_t stacks_n;
	uint64_t lost; /* blocks that could not be noted: tables full */
	/* All memory of the agent, its data excepted: not the program's. */
	uint64_t regions_n;
	struct wire_region regions[WIRE_REGIONS];
};
