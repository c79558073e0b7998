#pragma once

#include "vm/vm_agent.h"

extern const struct vm_part vm_points_part;

/* Are the points in the middle of a test looked at? */
bool vm_points_are_wanted(void);
/* The test that runs is this method. */
void vm_points_expect(jmethodID method);
