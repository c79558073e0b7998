/*
 * What the tested program leaves running: children of children that nobody
 * waits for any more. A process that called prctl(PR_SET_CHILD_SUBREAPER) is
 * given them by the kernel; this ends them.
 */
#pragma once

/* Kills and reaps all children of this process, again until there are none. */
void descendants_end(void);
