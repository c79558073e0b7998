/*
 * Files: which of them a test created, removed, renamed or changed, and who
 * reads them.
 *
 * Two ways. Following: system calls are reported just before they happen
 * (files_event()), and the state of a file is recorded before it is touched for
 * the first time since the last point; at a point only touched names are
 * compared. Walking, where following is not possible: everything below the
 * watched folders is compared with its state at the last point.
 *
 * What counts: whether a name is there; type; content, by hash (a rewrite with
 * the same content does not count, whatever it does to times and inode); mode,
 * owner, hard links, extended attributes; times only where they were set on
 * purpose; the target of a symbolic link. Of folders only their presence counts:
 * changes in them are reported for their entries.
 *
 * Names of pseudo file systems (proc, sysfs, devices, pipes) do not count, nor
 * do names that tools leave beside the program at its end (coverage data).
 *
 * files_event() may be called from another thread at any time; all other calls
 * must come from one thread.
 */
#pragma once

#include "base/err.h"
#include "follow/follow.h"
#include "suite/change.h"

struct files;

struct files_options {
	const char *const *dirs; /* watched when walking; ends with NULL */
	/* Files and folders that do not count: the tool's own. NULL-ended. */
	const char *const *exclude;
	/* Roots are shown relative to it where they lie below. */
	const char *directory;
	bool walk;
	size_t paths; /* of a root, at most */
	/*
	 * Was it left running by an earlier test? Then what it does does not count.
	 * NULL: nothing is. Never called by two threads at once.
	 */
	bool (*left_over)(void *data, pid_t tid);
	void *data;
};

/* A file that the process has open for writing across the point. */
struct files_open {
	const char *path;
	uint64_t device, inode;
	bool mapped; /* written through memory: its times mean nothing */
};

struct err *files_create(const struct files_options *options,
			 struct files **ret) _must_check_;
void files_destroy(struct files *files); /* NULL is fine */
static inline void files_destroyp(struct files **files)
{
	files_destroy(*files);
}

void files_event(struct files *files, const struct follow_event *event);
/* The sink for follow_options, with the struct files as data. */
void files_sink(void *data, const struct follow_event *event);

/*
 * A point: what changed since the last one is appended to @ret (CHANGE_FILE),
 * or forgotten where that is NULL. The state now is what the next point is
 * compared with. @open are watched for writing through old descriptors.
 * @pid: of the tested process, for names that contain it; 0: none.
 */
struct err *files_capture(struct files *files, pid_t pid,
			  const struct files_open *open, size_t n_open,
			  struct changes *ret) _must_check_;
/* Is this change, of the last points, undone by now? */
bool files_undone(struct files *files, const struct change *change);

/*
 * Who reads: names are those of change.root of earlier captures, also such with
 * a masked part. Between two calls of files_take_read() events are collected;
 * a file that was overwritten or removed by its reader before does not count.
 * FOLLOW_READ reports reading; FOLLOW_LOOK, and FOLLOW_LIST of its folder,
 * only count where it is not overwritten or removed afterwards.
 */
struct files_readers;
struct err *files_readers_create(const char *const *roots, size_t n,
				 const char *directory,
				 struct files_readers **ret) _must_check_;
void files_readers_destroy(struct files_readers *readers); /* NULL is fine */
void files_readers_sink(void *data, const struct follow_event *event);
/* Indexes of roots that were read since the last call; @ret has room for n. */
size_t files_readers_take(struct files_readers *readers, size_t *ret);

struct files_counts {
	uint64_t captures, touched, hashed_bytes, walked;
};
struct files_counts files_counts(const struct files *files);
/* What was left out for its size, in words; NULL: nothing. */
const char *files_limit(const struct files *files);
