/* The part of the agent that lets Java's library do otherwise: see vm_choices.c. */
#pragma once

#include "vm/vm_agent.h"

extern const struct vm_part vm_choices;
