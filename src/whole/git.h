/*
 * Questions to git about the repository of the working directory.
 *
 * A repository may have come from anywhere, and its configuration names
 * programs: a monitor of files (core.fsmonitor), hooks, filters, converters of
 * what is compared (textconv), transports. None of these runs, and files are
 * compared as they lie there.
 *
 * What it does not do: look into submodules.
 */
#pragma once

#include "base/err.h"
#include "base/strv.h"
#include "process/process.h"

struct git {
	struct strv words;   /* each command begins with these */
	struct strv environ; /* NULL-terminated */
	char *top;
};

struct err *git_open(struct git *ret) _must_check_;
void git_close(struct git *git);
static inline void git_closep(struct git *git)
{
	git_close(git);
}
/* At the top of the working tree; @words end with NULL. */
struct err *git_ask(const struct git *git, const char *const *words,
		    struct process_output *ret) _must_check_;
