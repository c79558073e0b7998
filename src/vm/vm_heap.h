/* The part of the agent that compares heaps. */
#pragma once

#include "vm/vm_agent.h"

extern const struct vm_part vm_heap_part;
