#pragma once

#include "vm/vm_agent.h"

extern const struct vm_part vm_outside_part;
