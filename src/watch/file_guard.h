/*
 * A process whose calls that change files are followed, for a saver to keep
 * these files first (keep/save.h). Its copies share it.
 *
 * Processes that are watched anyway (system_watch.h, readers.h) tell the saver
 * themselves: a process can be followed once.
 */
#pragma once

#include "base/err.h"

struct file_guard;
struct saver;
struct thread;

/*
 * From now on. Where calls cannot be followed, the saver is told, and *@ret is
 * NULL.
 */
struct err *file_guard_attach(struct thread *thread, struct saver *saver,
			      struct file_guard **ret) _must_check_;
/*
 * As above, but nothing changes: before the first call that would, @refused is
 * called, in another thread, and the call waits until its caller is killed or
 * this process ends.
 */
struct file_guard_refusal {
	void (*refused)(void *data);
	void *data;
};
struct err *file_guard_attach_refusing(struct thread *thread,
				       struct saver *saver,
				       const struct file_guard_refusal *refusal,
				       struct file_guard **ret) _must_check_;
/* What the processes do then is not seen. NULL is fine. */
void file_guard_destroy(struct file_guard *guard);
