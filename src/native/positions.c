#include "native/positions.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "base/vec.h"

#define FILES_MAX 1024

struct position {
	int fd; /* ours, of the same open file */
	off_t at;
};

struct positions {
	VEC(struct position) all;
};

void positions_destroy(struct positions *positions)
{
	if (!positions)
		return;
	for (size_t i = 0; i < positions->all.n; i++)
		close(positions->all.data[i].fd);
	vec_free(&positions->all);
	free(positions);
}

static struct err *take(struct positions *positions, int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	struct stat stat;
	if (fd < 0)
		return NULL;
	struct position position = { fd, -1 };
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
		position.at = lseek(fd, 0, SEEK_CUR);
	if (position.at < 0) {
		close(fd);
		return NULL;
	}
	struct err *err = vec_push(&positions->all, position);
	if (err)
		close(fd);
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
	for (size_t i = 0; positions && i < positions->all.n; i++)
		lseek(positions->all.data[i].fd, positions->all.data[i].at,
		      SEEK_SET);
}
