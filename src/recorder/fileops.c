/*
 * File operations as the program calls them: those that create or change a file
 * under a plain name are logged and done here, all others are passed on. The
 * system calls are those that glibc makes.
 */
/* The headers are to give each function its own name, and no body. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include "recorder/filelog_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of open(2); the flag itself, without O_DIRECTORY. */
#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)

/* One operation under way. */
struct operation {
	enum wire_call call;
	int flags;
	mode_t mode;
	long number; /* of the system call, with its arguments */
	long arguments[4];
};

/* No result of a system call: the C library's function is to do it. */
#define HAND_ON LONG_MIN

static inline bool fileops_is_active(void)
{
	return unlikely(__atomic_load_n(&agent_files.active, __ATOMIC_RELAXED));
}

static long fileops_make_call(const struct operation *operation)
{
	const long *a = operation->arguments;
	return sys_call(operation->number, a[0], a[1], a[2], a[3], 0, 0);
}

/* With a record of @names names before it. */
static long make_logged(const struct operation *operation, unsigned names)
{
	if (!filelog_put(operation->call, names, operation->flags,
			 operation->mode))
		return HAND_ON;
	return fileops_make_call(operation);
}

/*
 * It will fail because of what its name is. If it does not, another thread or
 * process changed the name just now, and what we did is still reported.
 */
static long make_failing(const struct operation *operation)
{
	long result = fileops_make_call(operation);
	if (result >= 0)
		filelog_put_late(operation->call, operation->flags,
				 operation->mode);
	return result;
}

/*
 * Leaves the log, and makes of what a system call returned what a function
 * does. False: the C library is to do it.
 */
static bool fileops_finish_call(long result, long *ret)
{
	filelog_leave();
	if (result == HAND_ON)
		return false;
	if (result < 0) {
		errno = (int)-result;
		result = -1;
	}
	*ret = result;
	return true;
}

/* Does opening change, or allow to change, a file under this name? */
static bool opens_to_change(int flags)
{
	if (flags & (O_PATH | TMPFILE | O_DIRECTORY))
		return false;
	return (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
}

static _cold_ bool do_open(const char *path, int flags, mode_t mode, long *ret)
{
	struct operation operation = {
		WIRE_CALL_OPEN,
		flags,
		mode,
		SYS_openat,
		{ AT_FDCWD, (long)path, flags, (long)mode },
	};
	bool excluded = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	long result = HAND_ON;
	if (!filelog_enter())
		return false;
	enum filelog_name name = filelog_look_once(path);
	if (name == NAME_DEVICE)
		result = fileops_make_call(&operation);
	else if ((name == NAME_FILE && excluded) ||
		 (name == NAME_ABSENT && !(flags & O_CREAT)))
		result = make_failing(&operation);
	else if (name == NAME_FILE || name == NAME_ABSENT || name == NAME_SEEN)
		result = make_logged(&operation, 1);
	return fileops_finish_call(result, ret);
}

static mode_t mode_of(int flags, va_list list)
{
	return flags & (O_CREAT | TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                                             \
	_export_ int name(const char *path, int flags, ...)                    \
	{                                                                      \
		NEXT(name, -1)                                                 \
		va_list list;                                                  \
		long fd;                                                       \
		va_start(list, flags);                                         \
		mode_t mode = mode_of(flags, list);                            \
		va_end(list);                                                  \
		if (fileops_is_active() && opens_to_change(flags) &&           \
		    do_open(path, flags, mode, &fd))                           \
			return (int)fd;                                        \
		return next(path, flags, mode);                                \
	}

#define OPENAT(name)                                                           \
	_export_ int name(int folder, const char *path, int flags, ...)        \
	{                                                                      \
		NEXT(name, -1)                                                 \
		va_list list;                                                  \
		long fd;                                                       \
		va_start(list, flags);                                         \
		mode_t mode = mode_of(flags, list);                            \
		va_end(list);                                                  \
		if (fileops_is_active() && folder == AT_FDCWD &&               \
		    opens_to_change(flags) && do_open(path, flags, mode, &fd)) \
			return (int)fd;                                        \
		return next(folder, path, flags, mode);                        \
	}

#define CREAT(name)                                                            \
	_export_ int name(const char *path, mode_t mode)                       \
	{                                                                      \
		NEXT(name, -1)                                                 \
		long fd;                                                       \
		if (fileops_is_active() &&                                     \
		    do_open(path, O_WRONLY | O_CREAT | O_TRUNC, mode, &fd))    \
			return (int)fd;                                        \
		return next(path, mode);                                       \
	}

OPEN(open)
OPENAT(openat)
CREAT(creat)
OPEN(open64)
OPENAT(openat64)
CREAT(creat64)

/* Flags of open(2) for the plain modes of fopen(3); -1: others, or reading. */
static int flags_of(const char *mode)
{
	int how, flags = 0;
	switch (*mode) {
	case 'r':
		how = O_RDONLY;
		break;
	case 'w':
		how = O_WRONLY;
		flags = O_CREAT | O_TRUNC;
		break;
	case 'a':
		how = O_WRONLY;
		flags = O_CREAT | O_APPEND;
		break;
	default:
		return -1;
	}
	for (unsigned i = 1; mode[i]; i++) {
		if (mode[i] == '+')
			how = O_RDWR;
		else if (mode[i] == 'x' && flags)
			flags |= O_EXCL;
		else if (mode[i] != 'b' || i > 4)
			return -1;
	}
	return how == O_RDONLY ? -1 : how | flags;
}

static _cold_ bool do_fopen(const char *path, const char *mode, FILE **ret)
{
	int flags = flags_of(mode);
	__typeof__(&fdopen) make_stream = next_find(NEXT_fdopen);
	long fd;
	if (flags < 0 || !make_stream || !do_open(path, flags, 0666, &fd))
		return false;
	*ret = NULL;
	if (fd < 0)
		return true;
	/* As fopen() does, which fdopen() would take for done. */
	if ((flags & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY))
		sys_call(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
	*ret = make_stream((int)fd, mode);
	if (!*ret)
		sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return true;
}

#define FOPEN(name)                                                            \
	_export_ FILE *name(const char *path, const char *mode)                \
	{                                                                      \
		NEXT(name, NULL)                                               \
		FILE *stream;                                                  \
		if (fileops_is_active() && do_fopen(path, mode, &stream))      \
			return stream;                                         \
		return next(path, mode);                                       \
	}

FOPEN(fopen)
FOPEN(fopen64)

/*
 * An operation on what has one name: it is logged, or will fail, by what that is
 * (bits of enum filelog_name); else the C library does it. @once: what the name
 * was may be known from an earlier record.
 */
static bool do_named(const struct operation *operation, bool once,
		     unsigned logged, unsigned failing, long *ret)
{
	const char *path = (const char *)operation->arguments[0];
	long result = HAND_ON;
	if (!filelog_enter())
		return false;
	enum filelog_name name =
		once ? filelog_look_once(path) : filelog_look(0, path);
	if (logged & 1U << name)
		result = make_logged(operation, 1);
	else if (failing & 1U << name)
		result = make_failing(operation);
	return fileops_finish_call(result, ret);
}

static _cold_ bool do_unlink(const char *path, long *ret)
{
	const struct operation operation = {
		.call = WIRE_CALL_UNLINK,
		.number = SYS_unlink,
		.arguments = { (long)path },
	};
	return do_named(&operation, true, 1U << NAME_FILE | 1U << NAME_SEEN,
			1U << NAME_ABSENT | 1U << NAME_FOLDER, ret);
}

static _cold_ bool do_rmdir(const char *path, long *ret)
{
	const struct operation operation = {
		.call = WIRE_CALL_RMDIR,
		.number = SYS_rmdir,
		.arguments = { (long)path },
	};
	return do_named(&operation, false, 1U << NAME_FOLDER,
			1U << NAME_ABSENT | 1U << NAME_FILE, ret);
}

static _cold_ bool do_mkdir(const char *path, mode_t mode, long *ret)
{
	const struct operation operation = {
		.call = WIRE_CALL_MKDIR,
		.mode = mode,
		.number = SYS_mkdir,
		.arguments = { (long)path, (long)mode },
	};
	return do_named(&operation, false, 1U << NAME_ABSENT,
			1U << NAME_FOLDER | 1U << NAME_FILE, ret);
}

static _cold_ bool do_truncate(const char *path, off_t length, long *ret)
{
	const struct operation operation = {
		.call = WIRE_CALL_TRUNCATE,
		.number = SYS_truncate,
		.arguments = { (long)path, (long)length },
	};
	return do_named(&operation, true, 1U << NAME_FILE | 1U << NAME_SEEN,
			1U << NAME_ABSENT | 1U << NAME_FOLDER, ret);
}

/* Of files only: with a folder many names change at once. */
static _cold_ bool do_rename(const char *old, const char *new, long *ret)
{
	struct operation operation = {
		.call = WIRE_CALL_RENAME,
		.number = SYS_rename,
		.arguments = { (long)old, (long)new },
	};
	long result = HAND_ON;
	if (!filelog_enter())
		return false;
	enum filelog_name from = filelog_look(0, old), to;
	if (from == NAME_FILE) {
		to = filelog_look(1, new);
		if (to == NAME_FILE || to == NAME_ABSENT)
			result = make_logged(&operation, 2);
	}
	return fileops_finish_call(result, ret);
}

_export_ int unlink(const char *path)
{
	NEXT(unlink, -1)
	long result;
	if (fileops_is_active() && do_unlink(path, &result))
		return (int)result;
	return next(path);
}

_export_ int rmdir(const char *path)
{
	NEXT(rmdir, -1)
	long result;
	if (fileops_is_active() && do_rmdir(path, &result))
		return (int)result;
	return next(path);
}

_export_ int unlinkat(int folder, const char *path, int flags)
{
	NEXT(unlinkat, -1)
	long result;
	if (fileops_is_active() && folder == AT_FDCWD &&
	    ((!flags && do_unlink(path, &result)) ||
	     (flags == AT_REMOVEDIR && do_rmdir(path, &result))))
		return (int)result;
	return next(folder, path, flags);
}

/* As glibc does it: what is a folder is known when unlink(2) says so. */
static _cold_ bool do_remove(const char *path, long *ret)
{
	long result;
	if (!do_unlink(path, &result))
		return false;
	if (result && errno == EISDIR)
		return do_rmdir(path, ret);
	*ret = result;
	return true;
}

_export_ int remove(const char *path)
{
	NEXT(remove, -1)
	long result;
	if (fileops_is_active() && do_remove(path, &result))
		return (int)result;
	return next(path);
}

_export_ int rename(const char *old, const char *new)
{
	NEXT(rename, -1)
	long result;
	if (fileops_is_active() && do_rename(old, new, &result))
		return (int)result;
	return next(old, new);
}

_export_ int renameat(int old_folder, const char *old, int new_folder,
		      const char *new)
{
	NEXT(renameat, -1)
	long result;
	if (fileops_is_active() && old_folder == AT_FDCWD &&
	    new_folder == AT_FDCWD && do_rename(old, new, &result))
		return (int)result;
	return next(old_folder, old, new_folder, new);
}

_export_ int mkdir(const char *path, mode_t mode)
{
	NEXT(mkdir, -1)
	long result;
	if (fileops_is_active() && do_mkdir(path, mode, &result))
		return (int)result;
	return next(path, mode);
}

_export_ int mkdirat(int folder, const char *path, mode_t mode)
{
	NEXT(mkdirat, -1)
	long result;
	if (fileops_is_active() && folder == AT_FDCWD &&
	    do_mkdir(path, mode, &result))
		return (int)result;
	return next(folder, path, mode);
}

#define TRUNCATE(name)                                                         \
	_export_ int name(const char *path, off_t length)                      \
	{                                                                      \
		NEXT(name, -1)                                                 \
		long result;                                                   \
		if (fileops_is_active() && do_truncate(path, length, &result)) \
			return (int)result;                                    \
		return next(path, length);                                     \
	}

TRUNCATE(truncate)
TRUNCATE(truncate64)

/* Each command has an argument or ignores it, as glibc sees it, too. */
#define FCNTL(name)                                                            \
	_export_ int name(int fd, int command, ...)                            \
	{                                                                      \
		NEXT(name, -1)                                                 \
		va_list list;                                                  \
		va_start(list, command);                                       \
		void *argument = va_arg(list, void *);                         \
		va_end(list);                                                  \
		if (command == F_SETLK || command == F_SETLKW)                 \
			filelog_locks();                                       \
		return next(fd, command, argument);                            \
	}

#define LOCKF(name)                                                            \
	_export_ int name(int fd, int command, off_t length)                   \
	{                                                                      \
		NEXT(name, -1)                                                 \
		filelog_locks();                                               \
		return next(fd, command, length);                              \
	}

FCNTL(fcntl)
FCNTL(fcntl64)
LOCKF(lockf)
LOCKF(lockf64)
