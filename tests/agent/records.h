/* What a tested program tells the test of its blocks, on its standard output. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum record_kind {
	RECORD_END,
	RECORD_HEAP,  /* address of the agent's description; 0: none */
	RECORD_LIVE,  /* address, size */
	RECORD_FREED, /* address: no block begins there */
	RECORD_FAST,  /* the same, waiting in a fast bin */
	RECORD_CODE,  /* address, size: who allocates what follows */
	RECORD_PID,   /* address is the process to look at */
};

struct record {
	uint64_t kind;
	uint64_t address;
	uint64_t size;
};
