/*
 * The log of file operations (wire/files.h): what a name is now, and records.
 *
 * There is one set of notes for all operations, so there is one operation at a
 * time: a program with threads, and a signal handler that interrupts one, go to
 * the C library. Threads have another reason: open(2) and others are points at
 * which they can be cancelled, which is the C library's business.
 */
#pragma once

#include "recorder/next_internal.h"
#include "wire/files.h"

enum filelog_name {
	NAME_UNUSUAL, /* not for the log */
	NAME_ABSENT,
	NAME_FILE,
	NAME_FOLDER,
	NAME_DEVICE, /* does not count, whatever is done with it */
	NAME_SEEN,   /* what it was is in the log already */
};

#pragma GCC visibility push(hidden)

extern struct wire_files agent_files;
void filelog_begin(void);
/* Is an operation to be logged? If so, until filelog_leave(). */
bool filelog_enter(void);
void filelog_leave(void);
/* Notes what the name @given is, as number 0 or 1 of the operation. */
enum filelog_name filelog_look(unsigned i, const char *given);
/*
 * The same for an operation on one file that means the same whatever the name
 * is: what the log already has is not examined again.
 */
enum filelog_name filelog_look_once(const char *given);
/* Puts what was noted of the first @names of them into the log. */
bool filelog_put(enum wire_call call, unsigned names, int flags, uint32_t mode);
/* The same for what has taken place already. */
void filelog_put_late(enum wire_call call, int flags, uint32_t mode);
/*
 * Closing a file gives up all locks that the process has on it (fcntl(2)), so
 * once there are any, files are no longer looked into.
 */
void filelog_locks(void);

#pragma GCC visibility pop
