#include "native/positions.h"

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
#include "base/vec.h"

#define FILES_MAX 1024
#define CONTENT_MAX (1 << 20)

struct position {
	int fd; /* ours, of the same open file */
	off_t at;
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
	close(position->fd);
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
		log_debug(LOG_SUITE, "a file without a name: %s",
			  strerror(errno));
}

static struct err *take(struct positions *positions, int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	struct stat stat;
	if (fd < 0)
		return NULL;
	struct position position = { .fd = fd, .at = -1 };
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
		position.at = lseek(fd, 0, SEEK_CUR);
	if (position.at < 0) {
		close(fd);
		return NULL;
	}
	if (!stat.st_nlink && stat.st_size <= CONTENT_MAX &&
	    (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR)
		read_content(&position, (size_t)stat.st_size);
	struct err *err = vec_push(&positions->all, position);
	if (err)
		position_free(&position);
	return err;
}

struct err *positions_take(pid_t pid, struct positions **ret)
{
	struct positions *positions = calloc(1, sizeof(*positions));
	if (!positions)
		return err_nomem();
	*ret = positions;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	_cleanup_(closep) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	DIR *folder = opendir(path);
	struct err *err = NULL;
	/* Where the kernel is too old for this they stay where they are. */
	while (pidfd >= 0 && folder && !err && positions->all.n < FILES_MAX) {
		const struct dirent *entry = readdir(folder);
		if (!entry)
			break;
		if (entry->d_name[0] != '.')
			err = take(positions, pidfd, atoi(entry->d_name));
	}
	if (folder)
		closedir(folder);
	return err;
}

void positions_put_back(const struct positions *positions)
{
	for (size_t i = 0; positions && i < positions->all.n; i++) {
		const struct position *position = &positions->all.data[i];
		if (position->nameless)
			put_back_content(position);
		lseek(position->fd, position->at, SEEK_SET);
	}
}
