/*
 * The progress line: how many tests are done, how many of them failed, which
 * one runs now. For a terminal, which the caller has checked, or a line now and
 * then for a log.
 *
 * A thread of its own draws it a few times a second, because a test that hangs
 * gives no other occasion; telling it of a test costs a lock. Log lines make it
 * step aside (log_hook_set()), so there is at most one at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/outcome.h"

struct progress;

/* Draws to @fd, which stays the caller's. */
struct err *progress_create(int fd, size_t total,
			    struct progress **ret) _must_check_;
/* Instead of a line that is drawn again, a new one each 30 s: for log files. */
struct err *progress_create_lines(int fd, size_t total,
				  struct progress **ret) _must_check_;
/* Wipes the line. NULL is fine, here and below. */
void progress_destroy(struct progress *progress);
static inline void progress_destroyp(struct progress **progress)
{
	progress_destroy(*progress);
}

/* @name must live as long as the progress; it is how the test is known. */
void progress_started(struct progress *progress, const char *name);
void progress_finished(struct progress *progress, const char *name,
		       enum outcome outcome);

/*
 * From now on it says what is going on, since when, and how many tests that took
 * so far: for what has no known end. @count is asked by another thread.
 */
void progress_count(struct progress *progress, const char *what,
		    uint64_t (*count)(const void *data), const void *data);

/*
 * It is phase @phase of @phases, which all together began at @began; @deadline: 0:
 * they take as long as they take.
 */
void progress_phase(struct progress *progress, unsigned phase, unsigned phases,
		    uint64_t began, uint64_t deadline);

/* @head stands before all else, and must live as long. */
void progress_head(struct progress *progress, const char *head);

/* From a signal handler that is about to _exit(): wipes the line. */
void progress_abandon(void);
