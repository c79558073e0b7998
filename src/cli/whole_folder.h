/*
 * The temporary folder of a check of a whole build: reports of its parts, and
 * what they are told.
 *
 * It carries a lock as long as its process lives. One that was killed leaves
 * it, and the next one removes it.
 */
#pragma once

#include <limits.h>

#include "base/err.h"

/* What there is in it. */
#define WHOLE_REPORT "report.json"
#define WHOLE_ORDER "order"
#define WHOLE_KNOWN "known"
#define WHOLE_FILES                                                            \
	{                                                                      \
		WHOLE_REPORT, WHOLE_ORDER, WHOLE_KNOWN                         \
	}

struct whole_folder {
	char path[PATH_MAX]; /* "": none */
	int fd;
};

#define WHOLE_FOLDER_INIT                                                      \
	{                                                                      \
		.fd = -1                                                       \
	}

struct err *whole_folder_create(struct whole_folder *ret) _must_check_;
void whole_folder_remove(struct whole_folder *folder);
