/*
 * IPC objects that tests leave in the system: System V shared memory, semaphores
 * and message queues, POSIX shared memory and semaphores.
 *
 * Objects belong to the system, and others have some. So only those are removed
 * that appeared within a span of time, that our user made, and that no living
 * process is known to use: what tests started is dead by then.
 */
#pragma once

#include "base/map.h"

struct ipc_span {
	struct map_u64 known; /* kind and id of those that were there before */
	struct map_text files;
};

#define IPC_SPAN_INIT                                                          \
	{                                                                      \
	}

struct err *ipc_span_create(struct ipc_span **ret) _must_check_;
void ipc_span_destroy(struct ipc_span *span); /* NULL is fine */
struct err *ipc_span_begin(struct ipc_span *span) _must_check_;
/* Removes what is new; how much that was. Can be called again. */
size_t ipc_span_end(const struct ipc_span *span);
void ipc_span_free(struct ipc_span *span);
