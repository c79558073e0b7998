/*
 * Choices in suites of processes: what APIs do instead of what they do by
 * themselves, in each command and all that it starts (wire/choices.h).
 *
 * Each running test has a block of its own, a file in memory that its processes
 * open under this one's /proc/PID/fd; so tests may run side by side. Where
 * nothing is to be chosen the library is preloaded all the same and the block says
 * so: runs with and without choices differ in nothing else.
 *
 * Out of reach, and left as they are: programs linked statically or with special
 * rights, those started with another environment (env -i), and those that
 * cannot see this process's /proc.
 *
 * What it does not do: know which code in a program is a framework's
 * (wire_choices.callers): it knows commands, not programs.
 */
#pragma once

#include "process/process_suite.h"
#include "suite/choice_block.h"

/* As suite_ops has it. */
struct err *process_choose(struct suite *suite,
			   const struct suite_choices *choices) _must_check_;
/* Was the suite opened for choices? Else there are no blocks. */
bool process_chooses(const struct process_suite *suite);

/*
 * For a test about to be started: its block, and what its environment needs.
 * @environment is what it would be else, complete.
 */
struct err *process_block_create(struct process_suite *suite, size_t test,
				 struct choice_block *ret) _must_check_;
struct err *process_block_environment(const struct process_suite *suite,
				      const struct choice_block *block,
				      struct strv *environment) _must_check_;

/* Can nothing be chosen in the program that this test starts, as far as known? */
bool process_choices_miss(const struct process_suite *suite, size_t test);
