/*
 * What the tested program leaves running: orphaned children of children. A
 * process that called prctl(PR_SET_CHILD_SUBREAPER) is given them by the
 * kernel; this ends them.
 */
#pragma once

/* The children that this process has now are not to be ended later. */
void descendants_spare(void);
/* Kills and reaps all others, again and again until there are none. */
void descendants_end(void);
