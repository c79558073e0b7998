/*
 * Ctrl-C and its relatives.
 *
 * The first SIGINT, SIGTERM or SIGHUP asks the suite to end, so that the results
 * so far are written; the second one ends us at once, and the kernel the tested
 * program with us (PTRACE_O_EXITKILL). A signal that was ignored when we were
 * started (nohup, a shell's background job) stays ignored.
 *
 * A budget that is spent ends the suite in the same way: whatever works for long
 * checks whether it is to stop.
 *
 * A closed pipe at standard output is an error of the write, not a death, so
 * that everything is cleaned up; main() ends quietly afterwards. SIGPIPE gets a
 * handler rather than SIG_IGN, because the tested program would inherit that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void interrupt_install(void);
bool interrupt_happened(void);
/* Nothing waits for the tested program any longer: writes are not cut short. */
void interrupt_settle(void);
/*
 * At that clock_now() the suite is asked to end as by Ctrl-C, but it counts as
 * the end of a budget (interrupt_late()). The last call counts.
 */
void interrupt_arm(uint64_t at);
bool interrupt_late(void);
