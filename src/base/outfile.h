/*
 * A file that appears whole or not at all: written next to its place and moved
 * there by outfile_commit(). What is not a regular file (/dev/null, a pipe) is
 * written directly. One at a time.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"

struct outfile {
	FILE *file;
	char *path;	 /* links resolved */
	char *temporary; /* NULL: written directly */
};

struct err *outfile_open(const char *path, struct outfile *ret) _must_check_;
struct err *outfile_commit(struct outfile *outfile) _must_check_;
/* After a commit it does nothing. */
void outfile_discard(struct outfile *outfile);

/* From a signal handler that is about to _exit(): removes what is half written. */
void outfile_abandon(void);
