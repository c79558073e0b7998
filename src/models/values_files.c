/* Values of which only a property is promised: files and descriptors. */
#undef _FILE_OFFSET_BITS /* both names of functions are ours */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1 /* none of them is inlined by <stdio.h> */
#endif
#include "models/clocks_internal.h"
#include "models/values_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* ---- descriptors: any number that is free ---- */

static int value_move_descriptor(enum wire_model model, int fd,
				 uintptr_t caller)
{
	if (fd < 0 || fd > 900 || !choose_wanted(model, caller))
		return fd;
	uint64_t pick = choose_pick(model, 8, value_keys(0));
	if (!pick)
		return fd;
	long flags = sys_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0);
	long other = sys_call(SYS_fcntl, fd,
			      flags > 0 && flags & FD_CLOEXEC ? F_DUPFD_CLOEXEC
							      : F_DUPFD,
			      fd + (long)pick, 0, 0, 0);
	if (other < 0)
		return fd;
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	choose_did("returned descriptor %d, not the lowest that is free",
		   (int)other);
	return (int)other;
}

_export_ int memfd_create(const char *name, unsigned flags)
{
	CHOOSE_NEXT(memfd_create, -1)
	return value_move_descriptor(WIRE_MODEL_memfd_create, next(name, flags),
				     CHOOSE_CALLER());
}

_export_ int epoll_create1(int flags)
{
	CHOOSE_NEXT(epoll_create1, -1)
	return value_move_descriptor(WIRE_MODEL_epoll_create1, next(flags),
				     CHOOSE_CALLER());
}

_export_ int epoll_create(int size)
{
	CHOOSE_NEXT(epoll_create, -1)
	return value_move_descriptor(WIRE_MODEL_epoll_create1, next(size),
				     CHOOSE_CALLER());
}

_export_ int eventfd(unsigned count, int flags)
{
	CHOOSE_NEXT(eventfd, -1)
	return value_move_descriptor(WIRE_MODEL_eventfd, next(count, flags),
				     CHOOSE_CALLER());
}

_export_ int timerfd_create(clockid_t clock, int flags)
{
	CHOOSE_NEXT(timerfd_create, -1)
	return value_move_descriptor(WIRE_MODEL_timerfd_create,
				     next(clock, flags), CHOOSE_CALLER());
}

_export_ int inotify_init1(int flags)
{
	CHOOSE_NEXT(inotify_init1, -1)
	return value_move_descriptor(WIRE_MODEL_inotify_init1, next(flags),
				     CHOOSE_CALLER());
}

_export_ int inotify_init(void)
{
	CHOOSE_NEXT(inotify_init, -1)
	return value_move_descriptor(WIRE_MODEL_inotify_init1, next(),
				     CHOOSE_CALLER());
}

/* ---- what stat(2) returns ---- */

uint64_t value_inode(uint64_t device, uint64_t inode)
{
	uint64_t pick = value_steady(WIRE_MODEL_stat_inode, WIRE_MANY, 0);
	(void)device;
	choose_did("numbered inodes differently");
	/* One to one, and never 0: real ones have no such high bits. */
	return pick ? inode ^ ((pick & 0xffff) + 1) << 44 : inode;
}

/* Keys are constant: inode numbers are others in the next run. */
static void value_change_stat(struct stat *stat, uintptr_t caller)
{
	choose_used(WIRE_MODEL_umask, caller); /* it is seen in the mode */
	clocks_stamp(&stat->st_atim, caller);
	clocks_stamp(&stat->st_mtim, caller);
	clocks_stamp(&stat->st_ctim, caller);
	if (S_ISDIR(stat->st_mode) &&
	    choose_wanted(WIRE_MODEL_stat_directory, caller)) {
		uint64_t pick = value_steady(WIRE_MODEL_stat_directory, 3, 0);
		choose_did("gave a directory another size, and 1 link");
		if (pick)
			stat->st_nlink = 1;
		if (pick)
			stat->st_size = pick == 1 ? 6 : 98304;
	}
	if (choose_wanted(WIRE_MODEL_stat_blksize, caller)) {
		static const blksize_t sizes[] = { 0, 512, 1024, 65536,
						   1048576 };
		uint64_t pick = value_steady(WIRE_MODEL_stat_blksize, 5, 0);
		if (pick)
			stat->st_blksize = sizes[pick];
		choose_did("gave another preferred block size");
	}
	if (choose_wanted(WIRE_MODEL_stat_times, caller)) {
		uint64_t pick = value_steady(WIRE_MODEL_stat_times, 3, 0);
		long grain = pick == 1 ? 1000000000 : 10000000;
		if (pick) {
			stat->st_atim.tv_nsec -= stat->st_atim.tv_nsec % grain;
			stat->st_mtim.tv_nsec -= stat->st_mtim.tv_nsec % grain;
			stat->st_ctim.tv_nsec -= stat->st_ctim.tv_nsec % grain;
		}
		choose_did("gave times of less resolution");
	}
	if (choose_wanted(WIRE_MODEL_stat_inode, caller))
		stat->st_ino = value_inode(stat->st_dev, stat->st_ino);
}

/* clang-format off */
#define STAT(name, parameters, arguments)                                      \
	int name parameters;                                                   \
	_export_ int name parameters                                           \
	{                                                                      \
		CHOOSE_NEXT(name, -1)                                          \
		int result = next arguments;                                   \
		if (unlikely(choose_block) && !result)                         \
			value_change_stat((struct stat *)out,                  \
					  CHOOSE_CALLER());                    \
		return result;                                                 \
	}

STAT(stat, (const char *path, struct stat *out), (path, out))
STAT(lstat, (const char *path, struct stat *out), (path, out))
STAT(fstat, (int fd, struct stat *out), (fd, out))
STAT(fstatat, (int fd, const char *path, struct stat *out, int flags),
     (fd, path, out, flags))
STAT(stat64, (const char *path, struct stat64 *out), (path, out))
STAT(lstat64, (const char *path, struct stat64 *out), (path, out))
STAT(fstat64, (int fd, struct stat64 *out), (fd, out))
STAT(fstatat64, (int fd, const char *path, struct stat64 *out, int flags),
     (fd, path, out, flags))
STAT(__xstat, (int version, const char *path, struct stat *out),
     (version, path, out))
STAT(__lxstat, (int version, const char *path, struct stat *out),
     (version, path, out))
STAT(__fxstat, (int version, int fd, struct stat *out), (version, fd, out))
STAT(__fxstatat, (int version, int fd, const char *path, struct stat *out,
		  int flags),
     (version, fd, path, out, flags))
STAT(__xstat64, (int version, const char *path, struct stat64 *out),
     (version, path, out))
STAT(__lxstat64, (int version, const char *path, struct stat64 *out),
     (version, path, out))
STAT(__fxstat64, (int version, int fd, struct stat64 *out),
     (version, fd, out))
STAT(__fxstatat64, (int version, int fd, const char *path,
		    struct stat64 *out, int flags),
     (version, fd, path, out, flags))
/* clang-format on */

_export_ int statx(int fd, const char *path, int flags, unsigned mask,
		   struct statx *out)
{
	CHOOSE_NEXT(statx, -1)
	int result = next(fd, path, flags, mask, out);
	if (likely(!choose_block) || result)
		return result;
	struct stat stat = {
		.st_dev = makedev(out->stx_dev_major, out->stx_dev_minor),
		.st_ino = out->stx_ino,
		.st_mode = out->stx_mode,
		.st_nlink = out->stx_nlink,
		.st_size = (off_t)out->stx_size,
		.st_blksize = out->stx_blksize,
		.st_atim = { out->stx_atime.tv_sec, out->stx_atime.tv_nsec },
		.st_mtim = { out->stx_mtime.tv_sec, out->stx_mtime.tv_nsec },
		.st_ctim = { out->stx_ctime.tv_sec, out->stx_ctime.tv_nsec },
	};
	value_change_stat(&stat, CHOOSE_CALLER());
	out->stx_ino = stat.st_ino;
	out->stx_nlink = (uint32_t)stat.st_nlink;
	out->stx_size = (uint64_t)stat.st_size;
	out->stx_blksize = (uint32_t)stat.st_blksize;
	out->stx_atime.tv_sec = stat.st_atim.tv_sec;
	out->stx_atime.tv_nsec = (uint32_t)stat.st_atim.tv_nsec;
	out->stx_mtime.tv_sec = stat.st_mtim.tv_sec;
	out->stx_mtime.tv_nsec = (uint32_t)stat.st_mtim.tv_nsec;
	out->stx_ctime.tv_sec = stat.st_ctim.tv_sec;
	out->stx_ctime.tv_nsec = (uint32_t)stat.st_ctim.tv_nsec;
	return result;
}

/* ---- names of temporary files ---- */

#define MARKS 6
#define TRIES 100

/*
 * Where the six characters are that are replaced: one of them becomes one of
 * those that the C library never takes, the others follow from the seed.
 */
static char *value_template_marks(char *template, int suffix)
{
	size_t n = text_length(template);
	if (suffix < 0 || n < MARKS + (size_t)suffix)
		return NULL;
	char *marks = template + n - (size_t)suffix - MARKS;
	for (size_t i = 0; i < MARKS; i++) {
		if (marks[i] != 'X')
			return NULL;
	}
	return marks;
}

static void value_fill_template(char *marks, uint64_t pick)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	static uint64_t count;
	uint64_t hash =
		choose_mix(choose_block->seed,
			   __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
	for (size_t i = 0; i < MARKS; i++) {
		marks[i] = letters[hash % (sizeof(letters) - 1)];
		hash /= sizeof(letters) - 1;
	}
	marks[(pick - 1) / 3] = "-_."[(pick - 1) % 3];
}

/* The descriptor, 0 for a directory; -1: let the library try. */
static long value_make_temporary(enum wire_model model, char *template,
				 int suffix, int flags, uintptr_t caller)
{
	char *marks =
		choose_block ? value_template_marks(template, suffix) : NULL;
	if (!marks || !choose_wanted(model, caller))
		return -1;
	uint64_t key = value_keyed() ? choose_hash_text(template) : 0;
	uint64_t pick = choose_pick(model, 1 + 3 * MARKS, value_keys(key));
	if (!pick)
		return -1;
	choose_argument("\"%s\"", template);
	for (unsigned i = 0; i < TRIES; i++) {
		value_fill_template(marks, pick);
		long result =
			model == WIRE_MODEL_mkdtemp
				? sys_call(SYS_mkdir, (long)template, 0700, 0,
					   0, 0, 0)
				: sys_call(SYS_openat, AT_FDCWD, (long)template,
					   O_RDWR | O_CREAT | O_EXCL | flags,
					   0600, 0, 0);
		if (result >= 0) {
			choose_did("named it %s", template);
			return result;
		}
		if (result != -EEXIST)
			break;
	}
	for (size_t i = 0; i < MARKS; i++)
		marks[i] = 'X';
	return -1;
}

#define MAKE_FILE(function, parameters, arguments, suffix, flags)              \
	_export_ int function parameters                                       \
	{                                                                      \
		CHOOSE_NEXT(function, -1)                                      \
		long fd =                                                      \
			value_make_temporary(WIRE_MODEL_mkstemp, template,     \
					     suffix, flags, CHOOSE_CALLER());  \
		return fd >= 0 ? (int)fd : next arguments;                     \
	}

/* clang-format off */
MAKE_FILE(mkstemp, (char *template), (template), 0, 0)
MAKE_FILE(mkstemp64, (char *template), (template), 0, 0)
MAKE_FILE(mkstemps, (char *template, int suffix), (template, suffix), suffix, 0)
MAKE_FILE(mkostemp, (char *template, int flags), (template, flags), 0,
	  flags & ~O_ACCMODE)
MAKE_FILE(mkostemp64, (char *template, int flags), (template, flags), 0,
	  flags & ~O_ACCMODE)
MAKE_FILE(mkostemps, (char *template, int suffix, int flags),
	  (template, suffix, flags), suffix, flags & ~O_ACCMODE)
/* clang-format on */

_export_ char *mkdtemp(char *template)
{
	CHOOSE_NEXT(mkdtemp, NULL)
	return value_make_temporary(WIRE_MODEL_mkdtemp, template, 0, 0,
				    CHOOSE_CALLER()) >= 0
		       ? template
		       : next(template);
}

/* ---- arrays with unspecified contents ---- */

/* Nothing is promised about what is after the text that was read, either. */
static ssize_t value_spoil_after_link(char *out, size_t room, ssize_t n,
				      uintptr_t caller)
{
	if (n < 0 || (size_t)n >= room ||
	    !choose_wanted(WIRE_MODEL_readlink, caller))
		return n;
	if (choose_pick(WIRE_MODEL_readlink, 2, value_keys((uint64_t)n))) {
		choose_argument("%zd of %zu bytes", n, room);
		choose_did("left something after the name, which has no end");
		value_indeterminate(out + n, room - (size_t)n);
	}
	return n;
}

/* clang-format off */
#define READ_LINK(name, parameters, arguments)                                 \
	ssize_t name parameters;                                               \
	_export_ ssize_t name parameters                                       \
	{                                                                      \
		CHOOSE_NEXT(name, -1)                                          \
		return value_spoil_after_link(out, n, next arguments,          \
					      CHOOSE_CALLER());                \
	}

READ_LINK(readlink, (const char *path, char *out, size_t n), (path, out, n))
READ_LINK(readlinkat, (int fd, const char *path, char *out, size_t n),
	  (fd, path, out, n))
READ_LINK(__readlink_chk,
	  (const char *path, char *out, size_t n, size_t room),
	  (path, out, n, room))
READ_LINK(__readlinkat_chk,
	  (int fd, const char *path, char *out, size_t n, size_t room),
	  (fd, path, out, n, room))
/* clang-format on */

static void value_spoil_failed(enum wire_model model, char *out, size_t room,
			       uintptr_t caller)
{
	if (!out || !room || !choose_wanted(model, caller) ||
	    !choose_pick(model, 2, value_keys(room)))
		return;
	choose_did("failed, and left something in the array");
	value_indeterminate(out, room);
}

_export_ char *getcwd(char *out, size_t n)
{
	CHOOSE_NEXT(getcwd, NULL)
	char *result = next(out, n);
	if (!result)
		value_spoil_failed(WIRE_MODEL_getcwd, out, n, CHOOSE_CALLER());
	return result;
}

char *__getcwd_chk(char *out, size_t n, size_t room);
_export_ char *__getcwd_chk(char *out, size_t n, size_t room)
{
	CHOOSE_NEXT(__getcwd_chk, NULL)
	char *result = next(out, n, room);
	if (!result)
		value_spoil_failed(WIRE_MODEL_getcwd, out, n, CHOOSE_CALLER());
	return result;
}

_export_ char *realpath(const char *path, char *out)
{
	CHOOSE_NEXT(realpath, NULL)
	char *result = next(path, out);
	if (!result)
		value_spoil_failed(WIRE_MODEL_realpath, out, PATH_MAX,
				   CHOOSE_CALLER());
	return result;
}

char *__realpath_chk(const char *path, char *out, size_t room);
_export_ char *__realpath_chk(const char *path, char *out, size_t room)
{
	CHOOSE_NEXT(__realpath_chk, NULL)
	char *result = next(path, out, room);
	if (!result)
		value_spoil_failed(WIRE_MODEL_realpath, out, room,
				   CHOOSE_CALLER());
	return result;
}

/* ---- lines ---- */

/* It made room: how much is its own affair. */
static ssize_t value_move_line(char **line, size_t *n, size_t before,
			       ssize_t length, uintptr_t caller)
{
	if (length < 0 || *n == before || *n <= (size_t)length ||
	    !choose_wanted(WIRE_MODEL_getline, caller))
		return length;
	uint64_t pick = choose_pick(WIRE_MODEL_getline, 4,
				    value_keys((uint64_t)length));
	size_t size = pick == 1	  ? (size_t)length + 1
		      : pick == 2 ? *n + 1
				  : *n + 3976;
	if (!pick)
		return length;
	int error = errno;
	char *other = realloc(*line, size);
	errno = error;
	if (other) {
		choose_argument("a line of %zd bytes", length);
		choose_did("made room for %zu bytes, not %zu", size, *n);
		*line = other;
		*n = size;
	}
	return length;
}

#define GET_LINE(name, parameters, arguments)                                  \
	ssize_t name parameters;                                               \
	_export_ ssize_t name parameters                                       \
	{                                                                      \
		CHOOSE_NEXT(name, -1)                                          \
		size_t before = line && n && *line ? *n : 0;                   \
		ssize_t length = next arguments;                               \
		return value_move_line(line, n, before, length,                \
				       CHOOSE_CALLER());                       \
	}

/* clang-format off */
GET_LINE(getline, (char **line, size_t *n, FILE *file), (line, n, file))
GET_LINE(getdelim, (char **line, size_t *n, int end, FILE *file),
	 (line, n, end, file))
GET_LINE(__getdelim, (char **line, size_t *n, int end, FILE *file),
	 (line, n, end, file))
/* clang-format on */
