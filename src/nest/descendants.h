/*
 * Processes that came to this one because their parent is gone. A process that
 * called prctl(PR_SET_CHILD_SUBREAPER) is given them by the kernel; this ends
 * them. Nests (nest.h) and their programs are left alone.
 */
#pragma once

#include "base/err.h"
#include "base/proc.h"

/* The children that this process has now are not to be ended later. */
void descendants_spare(void);
/* Nor is this one. */
void descendants_spare_child(pid_t pid);
/* Adds the others. */
struct err *descendants_list(struct pids *ret) _must_check_;
/* Kills and reaps them, again and again until there are none. */
void descendants_end(void);
