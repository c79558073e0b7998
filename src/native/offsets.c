#include "native/offsets.h"

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

struct offset {
	int fd; /* ours, of the same open file */
	off_t at;
};

struct offsets {
	VEC(struct offset) all;
};

void offsets_destroy(struct offsets *offsets)
{
	if (!offsets)
		return;
	for (size_t i = 0; i < offsets->all.n; i++)
		close(offsets->all.data[i].fd);
	vec_free(&offsets->all);
	free(offsets);
}

static struct err *take(struct offsets *offsets, int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	struct stat stat;
	if (fd < 0)
		return NULL;
	struct offset offset = { fd, -1 };
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
		offset.at = lseek(fd, 0, SEEK_CUR);
	if (offset.at < 0) {
		close(fd);
		return NULL;
	}
	struct err *err = vec_push(&offsets->all, offset);
	if (err)
		close(fd);
	return err;
}

struct err *offsets_take(pid_t pid, struct offsets **ret)
{
	struct offsets *offsets = calloc(1, sizeof(*offsets));
	if (!offsets)
		return err_nomem();
	*ret = offsets;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	_cleanup_(closep) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	DIR *folder = opendir(path);
	struct err *err = NULL;
	/* Where the kernel is too old for this they stay where they are. */
	while (pidfd >= 0 && folder && !err && offsets->all.n < FILES_MAX) {
		const struct dirent *entry = readdir(folder);
		if (!entry)
			break;
		if (entry->d_name[0] != '.')
			err = take(offsets, pidfd, atoi(entry->d_name));
	}
	if (folder)
		closedir(folder);
	return err;
}

void offsets_put_back(const struct offsets *offsets)
{
	for (size_t i = 0; offsets && i < offsets->all.n; i++)
		lseek(offsets->all.data[i].fd, offsets->all.data[i].at,
		      SEEK_SET);
}
