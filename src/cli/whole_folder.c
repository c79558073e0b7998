#include "cli/whole_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#define FOLDER_PREFIX "polygraph-whole-"
#define TRIES_MAX 10

/* Also while it is written under another name: base/outfile.h. */
static bool is_own_file(const struct dirent *entry)
{
	static const char *const names[] = WHOLE_FILES;
	const char *name = entry->d_name + (*entry->d_name == '.');
	bool own = false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		own |= str_starts(name, names[i]);
	return own;
}

/* Whatever else is in it was not made here, and stays. */
static void whole_folder_empty(int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = again < 0 ? NULL : fdopendir(again);
	if (!folder) {
		closep(&again);
		return;
	}
	for (struct dirent *entry; (entry = readdir(folder));) {
		/* Not that of a folder of such a name. */
		if (is_own_file(entry))
			unlinkat(fd, entry->d_name, 0);
	}
	closedir(folder);
}

static bool is_private_folder(int fd)
{
	struct stat st;
	return !fstat(fd, &st) && st.st_uid == geteuid() && st.st_nlink &&
	       (st.st_mode & 07777) == 0700;
}

static void whole_folder_clean(const char *parent)
{
	DIR *folder = opendir(parent);
	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (!str_starts(entry->d_name, FOLDER_PREFIX) ||
		    strlen(entry->d_name) != strlen(FOLDER_PREFIX "XXXXXX"))
			continue;
		_cleanup_(closep) int fd =
			openat(dirfd(folder), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || !is_private_folder(fd) ||
		    flock(fd, LOCK_EX | LOCK_NB))
			continue;
		log_debug(LOG_CLI, "'%s' was left by another run",
			  entry->d_name);
		whole_folder_empty(fd);
		unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
	}
	closedir(folder);
}

struct err *whole_folder_create(struct whole_folder *ret)
{
	/* Parts are checked in other folders than this. */
	const char *temporary = getenv("TMPDIR");
	const char *parent =
		temporary && *temporary == '/' ? temporary : "/tmp";
	struct whole_folder folder = WHOLE_FOLDER_INIT;
	whole_folder_clean(parent);
	/* Another call may take it for abandoned before it is locked. */
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		snprintf(folder.path, sizeof(folder.path),
			 "%s/" FOLDER_PREFIX "XXXXXX", parent);
		if (!mkdtemp(folder.path))
			break;
		folder.fd =
			open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (folder.fd >= 0 && !flock(folder.fd, LOCK_EX | LOCK_NB) &&
		    is_private_folder(folder.fd)) {
			*ret = folder;
			return NULL;
		}
		closep(&folder.fd);
	}
	return err_hint(err_errno(errno, "cannot make a temporary folder '%s'",
				  folder.path),
			"set TMPDIR to a folder that you can write to");
}

void whole_folder_remove(struct whole_folder *folder)
{
	if (folder->fd < 0)
		return;
	whole_folder_empty(folder->fd);
	rmdir(folder->path);
	closep(&folder->fd);
}
