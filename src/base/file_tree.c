#include "base/file_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"

#define FILE_TREE_DEPTH_MAX 1000

static void remove_tree(int parent, const char *name, unsigned depth);

/* Takes @fd over. */
static void remove_tree_entries(int fd, unsigned depth)
{
	DIR *folder = fdopendir(fd);
	if (!folder) {
		close(fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			remove_tree(dirfd(folder), entry->d_name, depth + 1);
	}
	closedir(folder);
}

static void remove_tree(int parent, const char *name, unsigned depth)
{
	if (unlinkat(parent, name, 0) == 0 || depth > FILE_TREE_DEPTH_MAX)
		return;
	char self[32];
	_cleanup_(closep) int path =
		openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
	if (path >= 0)
		(void)!chmod(self, 0700);
	int fd = openat(parent, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		remove_tree_entries(fd, depth);
	unlinkat(parent, name, AT_REMOVEDIR);
}

void file_tree_remove(int parent, const char *name)
{
	remove_tree(parent, name, 0);
}
