/*
 * The agent's log of file operations (wire/files.h): they are not held back one
 * by one to be looked at, the tested process itself writes down what it is about
 * to change, and at the next point, or before the next call that was held back,
 * it is read.
 *
 * What is read there is the tested program's word: nothing in it is trusted
 * further than a report goes.
 *
 * Paths are resolved when the log is read. A folder that is gone by then keeps
 * the name that the program used.
 */
#pragma once

#include <sys/types.h>

#include "files/files.h"

struct files_log;

/*
 * Of the process @pid, whose agent has its struct wire_files at @object. An
 * error where there is no log. Nothing is logged before files_log_begin().
 * @twin: a process that was forked from it, or it from that one; the log can
 * then be read when @pid is gone. 0: there is none.
 */
struct err *files_log_create(pid_t pid, pid_t twin, uint64_t object,
			     struct files_log **ret) _must_check_;
/* The process may be gone. What was not read is forgotten. NULL is fine. */
void files_log_destroy(struct files_log *log);
static inline void files_log_destroyp(struct files_log **log)
{
	files_log_destroy(*log);
}

/* For follow_options.exempt. */
uint64_t files_log_exempt(const struct files_log *log);

/*
 * From now on, for @files; calls with that instruction pointer must no longer
 * be held back. What is in the log from before is forgotten.
 */
struct err *files_log_begin(struct files_log *log,
			    struct files *files) _must_check_;
/*
 * Tells @files what is in the log. To be called before each files_capture(),
 * and, in the follower's thread, with each event before files_event() gets it.
 * A log that makes no sense is switched off.
 */
void files_log_read(struct files_log *log);
void files_log_event(struct files_log *log, const struct follow_event *event);

struct files_log_counts {
	uint64_t records;
	uint64_t lost;	  /* records that could not be read */
	uint64_t refused; /* operations for which there was no room */
};
struct files_log_counts files_log_counts(const struct files_log *log);
