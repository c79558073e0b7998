/*
 * --sandbox: whether tests run in a private file system (sandbox/sandbox.h),
 * and what of ours and of the user's goes through.
 *
 * Whatever a command writes for the user is opened before: outputs
 * (cli/output.h) keep their folders open; the folder of results and the cache
 * go through.
 */
#pragma once

#include "cli/common.h"

enum sandbox_mode { SANDBOX_AUTO, SANDBOX_ALWAYS, SANDBOX_NEVER };

extern const struct option_group sandbox_group;

struct sandboxing {
	const struct common_suite *suite; /* NULL: not known yet */
	/* More folders that tests may write to. */
	const struct option_list *folders; /* NULL: none */
	bool keeps_results;
};

/*
 * Before anything of the suite runs, in a process with one thread. The second
 * time it does nothing. With "auto" a line says what forbids it and what that
 * means; with "always" it is an error.
 */
struct err *sandboxing_begin(const struct common_options *common,
			     const struct sandboxing *what) _must_check_;
/*
 * To be asked when a test fails, before anything is said of it: did it need a
 * file that only the sandbox refuses? Then a line says so, and the error, of
 * kind ERR_INTERRUPTED, ends the command: the next controller begins it again
 * (cli/guard.h), with a sandbox in which that file can be changed. NULL: no, or
 * there is no other way.
 */
struct err *sandboxing_check(void) _must_check_;
bool sandboxing_begins_again(void);
/* A file that is outside the sandbox because of that; NULL: no more. */
const char *sandboxing_left_out(size_t i);
/*
 * Removes what was prepared and not used. Where the command begins again, the
 * guard is told.
 */
void sandboxing_end(void);
