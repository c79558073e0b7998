#include "restore/positions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/vec.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

/* A program with more open files has them for something else than tests. */
#define FILES_MAX 1024
#define CONTENT_MAX (1 << 20)
#define FDINFO_MAX 4096

struct position {
	int number;  /* there */
	bool shared; /* the descriptor below is of the same open file */
	int fd;	     /* ours, on the same file; -1: none */
	uint64_t at;
	/* Of a file without a name. */
	bool nameless;
	char *content;
	size_t size;
	char *folder; /* its path, if it is one */
};

struct positions {
	VEC(struct position) all;
	char *directory; /* the working one; NULL: it has no name */
};

static void position_free(struct position *position)
{
	closep(&position->fd);
	free(position->content);
	free(position->folder);
}

void positions_destroy(struct positions *positions)
{
	if (!positions)
		return;
	for (size_t i = 0; i < positions->all.n; i++)
		position_free(&positions->all.data[i]);
	vec_free(&positions->all);
	free(positions->directory);
	free(positions);
}

/* What a link of /proc leads to, if that is there by this name. */
static char *read_named_link(const char *link)
{
	char target[PATH_MAX];
	struct stat named, linked;
	ssize_t n = readlink(link, target, sizeof(target) - 1);
	target[MAX(n, 0)] = '\0';
	if (n <= 0 || stat(target, &named) < 0 || stat(link, &linked) < 0 ||
	    named.st_dev != linked.st_dev || named.st_ino != linked.st_ino)
		return NULL;
	return strdup(target);
}

/* Is another folder there by the name that the one of this link had? */
static bool is_made_again(const char *link, const char *folder)
{
	struct stat named, linked;
	return stat(folder, &named) == 0 && S_ISDIR(named.st_mode) &&
	       stat(link, &linked) == 0 &&
	       (named.st_dev != linked.st_dev || named.st_ino != linked.st_ino);
}

static void read_content(struct position *position, size_t size)
{
	position->content = malloc(size + 1);
	position->nameless = position->content &&
			     pread(position->fd, position->content, size, 0) ==
				     (ssize_t)size;
	position->size = size;
}

static void put_back_content(const struct position *position)
{
	if (ftruncate(position->fd, (off_t)position->size) < 0 ||
	    pwrite(position->fd, position->content, position->size, 0) !=
		    (ssize_t)position->size)
		log_debug(LOG_RESTORE, "a file without a name: %s",
			  strerror(errno));
}

/* False: it has none, or is gone. */
static bool read_position(pid_t pid, int number, uint64_t *ret)
{
	char path[64];
	_cleanup_(freep) char *text = NULL;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, number);
	err_ignore(file_read(path, FDINFO_MAX, &text, NULL));
	if (!text || !str_starts(text, "pos:"))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return str_to_u64(text + 4 + strspn(text + 4, " \t"), 10, ret);
}

static struct err *positions_take_descriptor(struct positions *positions,
					     pid_t pid, int pidfd, int number)
{
	char path[64];
	struct stat stat;
	struct position position = { .number = number, .fd = -1 };
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
	if (fstatat(AT_FDCWD, path, &stat, 0) < 0 ||
	    !(S_ISREG(stat.st_mode) || S_ISDIR(stat.st_mode)) ||
	    !read_position(pid, number, &position.at))
		return NULL;
	bool nameless = S_ISREG(stat.st_mode) && !stat.st_nlink &&
			stat.st_size <= CONTENT_MAX;
	if (S_ISDIR(stat.st_mode))
		position.folder = read_named_link(path);
	/* Containers may forbid it: the process moves them itself, then. */
	if (pidfd >= 0)
		position.fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	position.shared = position.fd >= 0;
	if (nameless && position.fd < 0)
		position.fd = open(path, O_RDWR | O_CLOEXEC);
	if (nameless && position.fd >= 0 &&
	    (fcntl(position.fd, F_GETFL) & O_ACCMODE) == O_RDWR)
		read_content(&position, (size_t)stat.st_size);
	struct err *err = vec_push(&positions->all, position);
	if (err)
		position_free(&position);
	return err;
}

struct err *positions_take(const struct tracee *tracee, struct positions **ret)
{
	struct positions *positions = calloc(1, sizeof(*positions));
	if (!positions)
		return err_nomem();
	*ret = positions;
	char path[32];
	pid_t pid = tracee_pid(tracee);
	snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
	positions->directory = read_named_link(path);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	_cleanup_(closep) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	DIR *folder = opendir(path);
	struct err *err = NULL;
	while (folder && !err && positions->all.n < FILES_MAX) {
		const struct dirent *entry = readdir(folder);
		uint64_t number;
		if (!entry)
			break;
		if (str_to_u64(entry->d_name, 10, &number) &&
		    number > STDERR_FILENO)
			err = positions_take_descriptor(positions, pid, pidfd,
							(int)number);
	}
	if (folder)
		closedir(folder);
	return err;
}

/* A system call about a path, which is the argument with the number @at. */
static struct err *call_with_path(struct thread *thread, long number,
				  uint64_t args[6], size_t at, const char *path,
				  int64_t *ret)
{
	struct raddr text;
	size_t n = strlen(path) + 1;
	TRY(remote_map(thread, n, &text));
	args[at] = text.v;
	struct err *err = memory_write(thread->tracee, text, path, n);
	if (!err)
		err = remote_syscall(thread, number, args, ret);
	struct err *failed = remote_unmap(thread, text, n);
	if (!err)
		return failed;
	err_ignore(failed);
	return err;
}

static struct err *put_back_directory(const char *directory,
				      struct thread *thread)
{
	char link[32];
	snprintf(link, sizeof(link), "/proc/%d/cwd",
		 tracee_pid(thread->tracee));
	if (!directory || !is_made_again(link, directory))
		return NULL;
	int64_t got;
	uint64_t args[6] = {};
	TRY(call_with_path(thread, SYS_chdir, args, 0, directory, &got));
	if (got < 0)
		log_debug(LOG_RESTORE, "the working directory: %s",
			  strerror((int)-got));
	return NULL;
}

/* The same descriptor, of the folder that is there by this name now. */
static struct err *open_folder_again(const struct position *position,
				     struct thread *thread)
{
	int64_t opened, flags, got;
	uint64_t asking[6] = { (uint64_t)position->number, F_GETFL };
	TRY(remote_syscall(thread, SYS_fcntl, asking, &flags));
	if (flags < 0)
		return NULL;
	asking[1] = F_GETFD;
	TRY(remote_syscall(thread, SYS_fcntl, asking, &got));
	uint64_t closes = got > 0 && got & FD_CLOEXEC ? O_CLOEXEC : 0;
	uint64_t opening[6] = { (uint64_t)AT_FDCWD, 0,
				(uint64_t)flags | O_DIRECTORY | closes };
	TRY(call_with_path(thread, SYS_openat, opening, 1, position->folder,
			   &opened));
	if (opened < 0) {
		log_debug(LOG_RESTORE, "a folder that was open: %s",
			  strerror((int)-opened));
		return NULL;
	}
	const uint64_t moving[6] = { (uint64_t)opened,
				     (uint64_t)position->number, closes };
	const uint64_t closing[6] = { (uint64_t)opened };
	TRY(remote_syscall(thread, SYS_dup3, moving, &got));
	return remote_syscall(thread, SYS_close, closing, &got);
}

static struct err *put_back_position(const struct position *position,
				     struct thread *thread)
{
	char link[64];
	bool shared = position->shared;
	struct stat ours, theirs;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d",
		 tracee_pid(thread->tracee), position->number);
	if (position->folder) {
		if (is_made_again(link, position->folder))
			TRY(open_folder_again(position, thread));
		/* One that was opened again is its own. */
		shared = shared && fstat(position->fd, &ours) == 0 &&
			 stat(link, &theirs) == 0 &&
			 ours.st_dev == theirs.st_dev &&
			 ours.st_ino == theirs.st_ino;
	}
	if (position->nameless)
		put_back_content(position);
	if (shared) {
		lseek(position->fd, (off_t)position->at, SEEK_SET);
		return NULL;
	}
	int64_t got;
	const uint64_t args[6] = { (uint64_t)position->number, position->at,
				   SEEK_SET };
	return remote_syscall(thread, SYS_lseek, args, &got);
}

struct err *positions_put_back(const struct positions *positions,
			       struct thread *thread)
{
	if (!positions)
		return NULL;
	TRY(put_back_directory(positions->directory, thread));
	for (size_t i = 0; i < positions->all.n; i++)
		TRY(put_back_position(&positions->all.data[i], thread));
	return NULL;
}
