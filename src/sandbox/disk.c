/*
 * Layers on a disk, for ordinary users before Linux 6.6: what an overlay has to
 * note about a folder are extended attributes of users, which file systems in
 * memory have since then.
 *
 * The folders carry a lock as long as their process lives. One that was killed
 * leaves them, and the next one removes them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file_tree.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/sandbox_internal.h"

#define DISK_PREFIX "polygraph-layers-"
/* Only what carries it is ours to remove. */
#define DISK_MARK "user.polygraph"

/* ---- removing ---- */

static bool disk_is_abandoned(int parent, const char *name)
{
	struct stat st;
	_cleanup_(closep) int fd = openat(
		parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       fgetxattr(fd, DISK_MARK, NULL, 0) >= 0 &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void remove_abandoned(int parent)
{
	int again = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = again < 0 ? NULL : fdopendir(again);
	if (!folder) {
		closep(&again);
		return;
	}
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (!str_starts(entry->d_name, DISK_PREFIX) ||
		    !disk_is_abandoned(parent, entry->d_name))
			continue;
		log_debug(LOG_SANDBOX, "'%s' was left by another run",
			  entry->d_name);
		file_tree_remove(parent, entry->d_name);
	}
	closedir(folder);
}

/* ---- folders ---- */

static bool disk_has_attributes(int fd)
{
	return fsetxattr(fd, DISK_MARK, "", 0, 0) == 0;
}

static struct err *add_disk(struct sandbox_disks *disks, const char *folder)
{
	_cleanup_(freep) char *resolved =
		folder ? realpath(folder, NULL) : NULL;
	_cleanup_(freep) char *path = NULL;
	if (!resolved)
		return NULL;
	for (size_t i = 0; i < disks->n; i++) {
		if (path_is_below(disks->data[i].path, resolved))
			return NULL;
	}
	struct sandbox_disk disk = { .parent = -1, .fd = -1 };
	TRY(str_format(&path, "%s/" DISK_PREFIX "XXXXXX", resolved));
	disk.parent = open(resolved, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (disk.parent < 0)
		return NULL;
	remove_abandoned(disk.parent);
	if (mkdtemp(path))
		disk.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool usable = disk.fd >= 0 && flock(disk.fd, LOCK_EX | LOCK_NB) == 0 &&
		      disk_has_attributes(disk.fd);
	struct err *err = NULL;
	if (usable)
		err = vec_push(disks, disk);
	if (usable && !err) {
		disks->data[disks->n - 1].path = take_ptr(path);
		return NULL;
	}
	if (disk.fd >= 0)
		unlinkat(disk.parent, path_base(path), AT_REMOVEDIR);
	closep(&disk.fd);
	closep(&disk.parent);
	return err;
}

/*
 * Two are enough: an upper layer must not lie in the folder that it covers, and
 * of two folders that do not lie in one another one never does.
 */
struct err *sandbox_disks_create(struct sandbox_disks *ret)
{
	const char *const folders[] = { "/var/tmp", getenv("HOME"), "/tmp",
					getenv("TMPDIR"), "." };
	for (size_t i = 0; i < ARRAY_SIZE(folders) && ret->n < 2; i++)
		TRY(add_disk(ret, folders[i]));
	if (ret->n < 2)
		return err_create(ERR_SUITE,
				  "before Linux 6.6, two folders on disks are "
				  "needed");
	return NULL;
}

void sandbox_disks_remove(struct sandbox_disks *disks)
{
	for (size_t i = 0; i < disks->n; i++) {
		struct sandbox_disk *disk = &disks->data[i];
		file_tree_remove(disk->parent, path_base(disk->path));
		closep(&disk->fd);
		closep(&disk->parent);
		free(disk->path);
	}
	vec_free(disks);
}

size_t sandbox_disk_for(const struct sandbox_disks *disks, const char *covered)
{
	size_t i = 0;
	while (i < disks->n && path_is_below(disks->data[i].path, covered))
		i++;
	return i;
}
