/*
 * What clocks tell beyond the true time, shared by the models of clocks, time
 * and files. Clocks only ever get ahead, in steps (shifts): readings never go
 * backwards. A shift of all clocks is time that passed while the process did not
 * run; one of the calendar is another hour at which the test was started.
 */
#pragma once

#include "models/threads_internal.h"

#define CLOCK_SECOND 1000000000LL

#pragma GCC visibility push(hidden)

/* By how many nanoseconds clocks are ahead; @calendar: those that know the date. */
int64_t clocks_shift(bool calendar);
/* A clock of the system, not as the program sees it; nanoseconds. */
int64_t clocks_true(clockid_t clock);
/* Does this clock tell the date; does it go on while the process does not run? */
bool clocks_is_calendar(clockid_t clock);
bool clocks_is_real(clockid_t clock);
/* Before the program reads the date: see WIRE_MODEL_clock_boundary. */
void clocks_cross(uintptr_t caller);
/*
 * So much time has passed, as far as clocks tell. False: not again in this
 * test, which would make loops of sleeps take forever.
 */
bool clocks_jump(int64_t nanoseconds);
/* A time stamp of the kernel, as it would be by these clocks. */
void clocks_stamp(struct timespec *stamp, uintptr_t caller);

#pragma GCC visibility pop
