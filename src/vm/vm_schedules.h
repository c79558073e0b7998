/* The part of the agent that schedules threads: see vm_schedules_internal.h. */
#pragma once

#include "vm/vm_agent.h"

extern const struct vm_part vm_schedules_part;
