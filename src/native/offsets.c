#include "native/offsets.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "tracee/remote.h"

/* A program with more open files has them for something else than tests. */
#define OFFSETS_MAX 1024
#define FDINFO_MAX 4096

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* False: it has none, or is gone. */
static bool read_position(pid_t pid, const char *name, uint64_t *ret)
{
	char path[64];
	_cleanup_(freep) char *text = NULL;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", pid, name);
	err_ignore(file_read(path, FDINFO_MAX, &text, NULL));
	if (!text || !str_starts(text, "pos:"))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return str_to_u64(text + 4 + strspn(text + 4, " \t"), 10, ret);
}

struct err *offsets_read(const struct tracee *tracee, struct offsets *ret)
{
	pid_t pid = tracee_pid(tracee);
	char path[32];
	ret->n = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	_cleanup_(closedirp) DIR *dir = opendir(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)) && ret->n < OFFSETS_MAX) {
		struct stat stat;
		uint64_t fd, at;
		if (!str_to_u64(entry->d_name, 10, &fd) ||
		    fd <= STDERR_FILENO ||
		    fstatat(dirfd(dir), entry->d_name, &stat, 0) < 0 ||
		    !(S_ISREG(stat.st_mode) || S_ISDIR(stat.st_mode)) ||
		    !read_position(pid, entry->d_name, &at))
			continue;
		TRY(vec_push(ret, (struct offset){ (int)fd, at }));
	}
	return NULL;
}

struct err *offsets_put_back(struct thread *thread,
			     const struct offsets *offsets)
{
	for (size_t i = 0; i < offsets->n; i++) {
		const struct offset *offset = &offsets->data[i];
		const uint64_t args[6] = { (uint64_t)offset->fd, offset->at,
					   SEEK_SET };
		int64_t got;
		TRY(remote_syscall(thread, SYS_lseek, args, &got));
	}
	return NULL;
}
