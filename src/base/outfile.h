/*
 * A file that appears whole or not at all: written next to its place and moved
 * there by outfile_commit(). What is not a regular file (/dev/null, a pipe) is
 * written directly. One at a time.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"

/*
 * Where one is written. The folder is opened early and stays the same one,
 * whatever is mounted on it or done to its name later.
 */
struct outfile_place {
	int folder;
	char *name; /* in the folder; links are resolved */
	char *path; /* as it was given, for messages */
};

#define OUTFILE_PLACE_INIT                                                     \
	{                                                                      \
		.folder = -1                                                   \
	}

struct err *outfile_place_open(const char *path,
			       struct outfile_place *ret) _must_check_;
void outfile_place_close(struct outfile_place *place);

struct outfile {
	FILE *file;
	const struct outfile_place *place; /* outlives it */
	char *temporary; /* name in the folder; NULL: written directly */
};

struct err *outfile_open(const struct outfile_place *place,
			 struct outfile *ret) _must_check_;
struct err *outfile_commit(struct outfile *outfile) _must_check_;
/* After a commit it does nothing. */
void outfile_discard(struct outfile *outfile);

/* From a signal handler that is about to _exit(): removes what is half written. */
void outfile_abandon(void);
