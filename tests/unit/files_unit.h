/*
 * A folder of its own for tests of files, and file operations that tell of
 * themselves first, as follow/ does.
 */
#pragma once

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "files/files.h"

struct box {
	char dir[64];
	struct files *files;
	bool walk;
	struct changes changes;
};

static inline char *at(const struct box *box, const char *name)
{
	static _Thread_local char paths[4][4096];
	static _Thread_local unsigned turn;
	char *path = paths[turn++ % 4];
	snprintf(path, 4096, "%s/%s", box->dir, name);
	return path;
}

static inline void box_files(struct box *box)
{
	const char *dirs[] = { box->dir, NULL };
	char excluded[128];
	snprintf(excluded, sizeof(excluded), "%s/excluded", box->dir);
	const char *exclude[] = { excluded, NULL };
	struct files_options options = {
		.dirs = dirs,
		.exclude = exclude,
		.directory = box->dir,
		.walk = box->walk,
		.paths = 8,
	};
	files_destroy(box->files);
	box->files = NULL;
	assert_ok(files_create(&options, &box->files));
}

static inline void box_open(struct box *box, bool walk)
{
	*box = (struct box){ .walk = walk };
	strcpy(box->dir, "/tmp/polygraph-files-XXXXXX");
	assert_non_null(mkdtemp(box->dir));
	char *real = realpath(box->dir, NULL);
	assert_non_null(real);
	snprintf(box->dir, sizeof(box->dir), "%s", real);
	free(real);
}

static inline void box_close(struct box *box)
{
	char command[256];
	files_destroy(box->files);
	changes_freep_deep(&box->changes);
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s",
		 box->dir, box->dir);
	assert_int_equal(system(command), 0);
}

/* Tells of a call, paths below the box. */
static inline void event(struct box *box, enum follow_kind kind,
			 const char *name, const char *name2, uint64_t flags,
			 unsigned mode)
{
	struct follow_event event = {
		.kind = kind,
		.number = kind == FOLLOW_CREATE ? SYS_mkdir : 0,
		.tid = 4242,
		.path = name ? at(box, name) : NULL,
		.path2 = name2 ? at(box, name2) : NULL,
		.flags = flags,
		.mode = mode,
	};
	if (box->files)
		files_event(box->files, &event);
}

static inline int op_open(struct box *box, const char *name, int flags,
			  mode_t mode)
{
	event(box, FOLLOW_OPEN, name, NULL, (uint64_t)flags, mode);
	return open(at(box, name), flags | O_CLOEXEC, mode);
}

static inline void op_write_n(struct box *box, const char *name,
			      const void *data, size_t n)
{
	int fd = op_open(box, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
}

static inline void op_write(struct box *box, const char *name, const char *text)
{
	op_write_n(box, name, text, strlen(text));
}

static inline int op_unlink(struct box *box, const char *name)
{
	event(box, FOLLOW_REMOVE, name, NULL, 0, 0);
	return unlink(at(box, name));
}

static inline int op_rmdir(struct box *box, const char *name)
{
	event(box, FOLLOW_REMOVE, name, NULL, 0, 0);
	return rmdir(at(box, name));
}

static inline int op_mkdir(struct box *box, const char *name, mode_t mode)
{
	event(box, FOLLOW_CREATE, name, NULL, 0, mode);
	return mkdir(at(box, name), mode);
}

static inline int op_rename(struct box *box, const char *from, const char *to)
{
	event(box, FOLLOW_RENAME, from, to, 0, 0);
	return rename(at(box, from), at(box, to));
}

static inline int op_link(struct box *box, const char *from, const char *to)
{
	event(box, FOLLOW_LINK, from, to, 0, 0);
	return link(at(box, from), at(box, to));
}

static inline int op_symlink(struct box *box, const char *target,
			     const char *name)
{
	event(box, FOLLOW_CREATE, name, NULL, 0, 0);
	return symlink(target, at(box, name));
}

static inline int op_chmod(struct box *box, const char *name, mode_t mode)
{
	event(box, FOLLOW_MODE, name, NULL, 0, mode);
	return chmod(at(box, name), mode);
}

static inline int op_times(struct box *box, const char *name, time_t seconds)
{
	struct timespec times[2] = { { .tv_sec = seconds },
				     { .tv_sec = seconds } };
	event(box, FOLLOW_TIMES, name, NULL, 0, 0);
	return utimensat(AT_FDCWD, at(box, name), times, AT_SYMLINK_NOFOLLOW);
}

/* A point: what changed is in box->changes. */
static inline void capture(struct box *box)
{
	changes_clear(&box->changes);
	assert_ok(files_capture(box->files, 31337, NULL, 0, &box->changes));
}

/* All changes, one a line: "path|before|after" and the weight in front. */
static inline const char *shown(struct box *box)
{
	static char text[65536];
	size_t n = 0;
	text[0] = '\0';
	for (size_t i = 0; i < box->changes.n; i++) {
		const struct change *change = &box->changes.data[i];
		assert_int_equal(change->where, CHANGE_FILE);
		assert_true(change->n > 0);
		for (size_t j = 0; j < change->n; j++) {
			const struct change_path *path = &change->paths[j];
			assert_int_equal(strncmp(path->path, change->root,
						 strlen(change->root)),
					 0);
			n += (size_t)snprintf(
				text + n, sizeof(text) - n, "%s%s|%s|%s\n",
				change->weight == WEIGHT_LOW ? "low " : "",
				path->path, path->before, path->after);
			assert_true(n < sizeof(text));
		}
	}
	return text;
}

#define assert_shown(box, expected)                                            \
	do {                                                                   \
		capture(box);                                                  \
		assert_string_equal(shown(box), expected);                     \
	} while (0)
