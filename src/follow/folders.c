/*
 * Names of folders that were resolved just now, and of working directories.
 *
 * To look a path up again (one stat) costs a quarter of resolving it. What is
 * found there must be the same folder as before; its name may have changed all
 * the same if a folder above it was renamed and a link leads there now, or if
 * it was removed and its inode number given to another. And a directory may be
 * changed by another thread. Followed processes do none of this without our
 * seeing it: from the report of such a call until its caller makes another
 * one (it is over then) nothing is kept or found. Against processes that we do
 * not follow, and reused process numbers, no entry lives long.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/macro.h"
#include "follow/follow_internal.h"

#define KEEP_NS (100 * NS_PER_MS)
#define LOOK_NS (5 * NS_PER_MS)
#define NAME_SIZE 248

struct folder {
	uint64_t until; /* 0: empty */
	dev_t device;
	ino_t inode;
	char path[NAME_SIZE];
	char name[NAME_SIZE];
};

struct directory {
	pid_t tid;
	uint64_t until;
	char name[NAME_SIZE];
};

struct err *folders_init(struct folders *folders)
{
	folders->kept = calloc(FOLDERS_N, sizeof(*folders->kept));
	folders->directories =
		calloc(FOLDERS_DIRECTORIES, sizeof(*folders->directories));
	return folders->kept && folders->directories ? NULL : err_nomem();
}

void folders_free(struct folders *folders)
{
	free(folders->kept);
	free(folders->directories);
}

static struct folder *folders_find_slot(struct folders *folders,
					const char *path)
{
	uint32_t hash = 2166136261U; /* FNV-1a */
	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * 16777619U;
	return &folders->kept[(hash ^ hash >> 16) % FOLDERS_N];
}

/* Those that ended without another call (rm) are not to block us for ever. */
static bool somebody_moves(struct folders *folders)
{
	if (!folders->moving_n)
		return false;
	uint64_t now = clock_now();
	if (now < folders->look_at || folders->moving_n > FOLDERS_MOVING)
		return true;
	folders->look_at = now + LOOK_NS;
	for (size_t i = folders->moving_n; i-- > 0;) {
		if (kill(folders->moving[i], 0) < 0 && errno == ESRCH)
			folders->moving[i] =
				folders->moving[--folders->moving_n];
	}
	return folders->moving_n;
}

bool folders_find(struct folders *folders, const char *path, char *out)
{
	struct folder *folder = folders_find_slot(folders, path);
	struct stat found;
	if (somebody_moves(folders) || !folder->until ||
	    strcmp(folder->path, path) != 0 || folder->until < clock_now() ||
	    stat(path, &found) < 0 || found.st_dev != folder->device ||
	    found.st_ino != folder->inode)
		return false;
	memcpy(out, folder->name, strlen(folder->name) + 1);
	return true;
}

void folders_keep(struct folders *folders, const char *path, int fd,
		  const char *name)
{
	struct folder *folder = folders_find_slot(folders, path);
	struct stat found;
	/* Links of /proc lead elsewhere without any of this. */
	if (folders->moving_n || strlen(path) >= NAME_SIZE ||
	    strlen(name) >= NAME_SIZE || !strncmp(path, "/proc", 5) ||
	    fstat(fd, &found) < 0)
		return;
	folder->until = clock_now() + KEEP_NS;
	folder->device = found.st_dev;
	folder->inode = found.st_ino;
	memcpy(folder->path, path, strlen(path) + 1);
	memcpy(folder->name, name, strlen(name) + 1);
}

bool folders_directory(struct folders *folders, pid_t tid, char *out)
{
	struct directory *directory =
		&folders->directories[(unsigned)tid % FOLDERS_DIRECTORIES];
	if (directory->tid != tid || somebody_moves(folders) ||
	    directory->until < clock_now())
		return false;
	memcpy(out, directory->name, strlen(directory->name) + 1);
	return true;
}

void folders_keep_directory(struct folders *folders, pid_t tid,
			    const char *name)
{
	struct directory *directory =
		&folders->directories[(unsigned)tid % FOLDERS_DIRECTORIES];
	if (folders->moving_n || strlen(name) >= NAME_SIZE)
		return;
	directory->tid = tid;
	directory->until = clock_now() + KEEP_NS;
	memcpy(directory->name, name, strlen(name) + 1);
}

void folders_move(struct folders *folders, pid_t tid)
{
	for (size_t i = 0; i < FOLDERS_N; i++)
		folders->kept[i].until = 0;
	for (size_t i = 0; i < FOLDERS_DIRECTORIES; i++)
		folders->directories[i].until = 0;
	folders->look_at = clock_now() + LOOK_NS;
	/* One that does not fit in is never over: then nothing is kept. */
	if (folders->moving_n < FOLDERS_MOVING)
		folders->moving[folders->moving_n] = tid;
	folders->moving_n++;
}

void folders_moved(struct folders *folders, pid_t tid)
{
	if (folders->moving_n > FOLDERS_MOVING)
		return;
	for (size_t i = folders->moving_n; i-- > 0;) {
		if (folders->moving[i] == tid)
			folders->moving[i] =
				folders->moving[--folders->moving_n];
	}
}
