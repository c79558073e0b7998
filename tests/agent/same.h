/*
 * Programs that are run with the agent and without it (check_same.py): what
 * they print must be the same, and where the agent is there, what it noted
 * must be right.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "wire/heap.h"
#include "wire/state.h"

extern struct wire_state polygraph_agent_state __attribute__((weak));
extern struct wire_heap polygraph_agent_heap __attribute__((weak));

#define AGENT (&polygraph_agent_state != NULL)

static inline void must(int condition, const char *what, int line)
{
	if (condition)
		return;
	dprintf(2, "line %d: failed: %s\n", line, what);
	_exit(3);
}
#define MUST(condition) must(!!(condition), #condition, __LINE__)
/* Holds where the agent is there. */
#define NOTED(condition)                                                       \
	do {                                                                   \
		if (AGENT)                                                     \
			MUST(condition);                                       \
	} while (0)
