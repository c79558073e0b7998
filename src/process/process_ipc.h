/*
 * System V objects that tests leave in the system: shared memory, semaphores and
 * message queues.
 *
 * Objects belong to the system, and others have some. So only those are removed
 * that appeared within a span of time, that our user made, and that were made or
 * last used by processes that were started within the span and are dead.
 * Where nothing is known of that (a queue without a message, POSIX objects),
 * they stay.
 */
#pragma once

#include <sys/types.h>

#include "base/map.h"

struct ipc_span {
	struct map_u64 known; /* kind and id of those that were there before */
	pid_t first, last;    /* processes were given these numbers meanwhile */
};

#define IPC_SPAN_INIT                                                          \
	{                                                                      \
	}

struct err *ipc_span_create(struct ipc_span **ret) _must_check_;
void ipc_span_destroy(struct ipc_span *span); /* NULL is fine */
struct err *ipc_span_begin(struct ipc_span *span) _must_check_;
/* Removes what is new; how much that was. Can be called again. */
size_t ipc_span_end(struct ipc_span *span);
void ipc_span_free(struct ipc_span *span);
