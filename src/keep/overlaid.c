#include "keep/overlaid.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/file_tree.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/strv.h"
#include "keep/keep.h"
#include "sandbox/sandbox.h"

#define ASIDE ".polygraph-aside" /* a name that nobody else uses */

static bool is_overlaid(const char *path)
{
	struct statfs fs;
	return sandbox_has_weak_overlays() && statfs(path, &fs) == 0 &&
	       fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* ---- folders ---- */

/* The kernel alone knows where a folder lies. */
static bool overlaid_can_rename(const char *path, const char *aside)
{
	if (rename(path, aside) < 0)
		return errno != EXDEV;
	if (rename(aside, path) < 0)
		log_warn("'%s' is called '%s' now: %s", path, aside,
			 strerror(errno));
	return true;
}

struct err *overlaid_free_folder(const char *path)
{
	_cleanup_(keeper_destroyp) struct keeper *keeper = NULL;
	_cleanup_(kept_destroyp) struct kept *kept = NULL;
	_cleanup_(freep) char *aside = NULL;
	struct stat st;
	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || !is_overlaid(path))
		return NULL;
	TRY(str_format(&aside, "%s" ASIDE, path));
	if (overlaid_can_rename(path, aside))
		return NULL;
	TRY(keeper_create(&path, 1, &keeper));
	TRY(keeper_take(keeper, &kept));
	if (!kept_whole(kept))
		return err_create(ERR_SUITE,
				  "'%s' is too large to be renamed in the "
				  "sandbox",
				  path);
	log_debug(LOG_KEEP, "'%s' is copied, so that it can be renamed", path);
	file_tree_remove(AT_FDCWD, path);
	return keeper_put_back(keeper, kept);
}

/* ---- names ---- */

/* Names of the file @st in @folder, without @name. */
static struct err *find_names(DIR *folder, const struct stat *st,
			      const char *name, struct strv *ret)
{
	struct stat other;
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (strcmp(entry->d_name, name) != 0 &&
		    fstatat(dirfd(folder), entry->d_name, &other,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(other.st_mode) && other.st_ino == st->st_ino &&
		    other.st_dev == st->st_dev)
			TRY(strv_add(ret, entry->d_name));
	}
	return NULL;
}

static bool is_one_file(int folder, const char *name, const char *other)
{
	struct stat a, b;
	return fstatat(folder, name, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(folder, other, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Renaming one name of a file to another would do nothing. */
static struct err *join_name(int folder, const char *name, const char *other)
{
	if (is_one_file(folder, name, other))
		return NULL;
	if (linkat(folder, name, folder, ASIDE, 0) < 0 ||
	    renameat(folder, ASIDE, folder, other) < 0)
		return err_errno(errno, "'%s' and '%s' are no longer one file",
				 name, other);
	return NULL;
}

/* What is not the user's cannot be copied, even if its mode allows writing. */
static struct err *check_owner(const char *path, const struct stat *st)
{
	if ((st->st_uid == geteuid() && st->st_gid == getegid()) ||
	    access(path, W_OK) < 0)
		return NULL;
	sandbox_note_refused(path);
	return err_create(ERR_SUITE,
			  "'%s' belongs to another user or group and cannot be "
			  "changed in the sandbox",
			  path);
}

/* Changing it is what copies a file into the upper layer. */
static struct err *copy_up(int folder, const char *name, const struct stat *st)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	if (utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(errno, "'%s' cannot be changed in the sandbox",
				 name);
	return NULL;
}

static struct err *join_file_names(DIR *folder, const char *path,
				   const struct stat *st)
{
	_cleanup_(strv_freep) struct strv names = {};
	const char *name = path_base(path);
	TRY(find_names(folder, st, name, &names));
	TRY(copy_up(dirfd(folder), name, st));
	for (size_t i = 0; i < names.n; i++)
		TRY(join_name(dirfd(folder), name, names.data[i]));
	if (names.n + 1 < st->st_nlink)
		return err_create(ERR_SUITE,
				  "'%s' has names in other folders, which do "
				  "not show what is written to it in the "
				  "sandbox",
				  path);
	return NULL;
}

struct err *overlaid_check_refused(const char *path, bool moves)
{
	if (moves && sandbox_pins(path))
		return err_create(ERR_SUITE,
				  "'%s' can be neither removed nor renamed in "
				  "the sandbox",
				  path);
	if (!sandbox_refuses(path))
		return NULL;
	sandbox_note_refused(path);
	return err_create(ERR_SUITE, "'%s' is read-only in the sandbox", path);
}

struct err *overlaid_prepare_file(const char *path)
{
	_cleanup_(freep) char *above = NULL;
	struct stat st;
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || !is_overlaid(path))
		return NULL;
	TRY(check_owner(path, &st));
	if (st.st_nlink < 2)
		return NULL;
	TRY(str_format(&above, "%.*s", (int)(path_base(path) - path), path));
	DIR *folder = opendir(above);
	if (!folder)
		return err_errno(errno, "'%s'", above);
	struct err *err = join_file_names(folder, path, &st);
	closedir(folder);
	return err;
}
