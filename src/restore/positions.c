#include "restore/positions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
};

struct positions {
	VEC(struct position) all;
};

static void position_free(struct position *position)
{
	closep(&position->fd);
	free(position->content);
}

void positions_destroy(struct positions *positions)
{
	if (!positions)
		return;
	for (size_t i = 0; i < positions->all.n; i++)
		position_free(&positions->all.data[i]);
	vec_free(&positions->all);
	free(positions);
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

struct err *positions_put_back(const struct positions *positions,
			       struct thread *thread)
{
	for (size_t i = 0; positions && i < positions->all.n; i++) {
		const struct position *position = &positions->all.data[i];
		const uint64_t args[6] = { (uint64_t)position->number,
					   position->at, SEEK_SET };
		int64_t got;
		if (position->nameless)
			put_back_content(position);
		if (position->shared)
			lseek(position->fd, (off_t)position->at, SEEK_SET);
		else
			TRY(remote_syscall(thread, SYS_lseek, args, &got));
	}
	return NULL;
}
