/*
 * Ends what we started when we cannot: a small process that knows the process
 * groups of the tests that run and kills them when its socket closes, which it
 * does whatever we die of (PR_SET_PDEATHSIG reaches children, not theirs).
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

struct warden {
	pid_t pid;
	int fd;
};

#define WARDEN_INIT                                                            \
	{                                                                      \
		.pid = -1, .fd = -1                                            \
	}

/* Where it cannot be started we go on without: said at debug level. */
void warden_start(struct warden *warden);
void warden_watch(struct warden *warden, pid_t group);
void warden_forget(struct warden *warden, pid_t group);
void warden_stop(struct warden *warden);
