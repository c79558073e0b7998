/* What the tested programs share: telling the test, waiting for it. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "records.h"

/* Called as written: not inlined, cloned, or its frame left out. */
#ifdef __clang__
#define AS_WRITTEN __attribute__((noinline, optnone))
#else
#define AS_WRITTEN __attribute__((noinline, noipa))
#endif

/* Not there without the agent. */
extern char polygraph_agent_heap[] __attribute__((weak));

static inline void tell(enum record_kind kind, const void *address, size_t size)
{
	struct record record = { kind, (uint64_t)(uintptr_t)address, size };
	if (write(1, &record, sizeof(record)) != (ssize_t)sizeof(record))
		_exit(3);
}

static inline void live(const void *block, size_t size)
{
	tell(RECORD_LIVE, block, size);
}

static inline void freed(const void *block)
{
	tell(RECORD_FREED, block, 0);
}

/* The test looks now; it closes our input when it has seen enough. */
static inline void show(void)
{
	char byte;
	tell(RECORD_HEAP, polygraph_agent_heap, 0);
	tell(RECORD_END, NULL, 0);
	if (read(0, &byte, 1) < 0)
		_exit(3);
}

static inline void must(int condition, const char *what)
{
	if (condition)
		return;
	dprintf(2, "failed: %s\n", what);
	_exit(3);
}
#define MUST(condition) must(!!(condition), #condition)
