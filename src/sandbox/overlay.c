#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "sandbox/sandbox_internal.h"

/* Of memory; what tests write counts, and what they read does not. */
#define LAYERS_OPTIONS "mode=0755,size=75%,inode32"

struct fd_path fd_path_make(int fd)
{
	struct fd_path path;
	snprintf(path.s, sizeof(path.s), "/proc/self/fd/%d", fd);
	return path;
}

/* ---- memory ---- */

static bool is_above_any(const char *folder, const char *const *covered,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (path_is_below(covered[i], folder) ||
		    !strcmp(covered[i], folder))
			return true;
	}
	return false;
}

/* Descriptors from before are of mounts that are not ours. */
static struct err *open_disks(struct sandbox_site *site)
{
	for (size_t i = 0; site->disks && i < site->disks->n; i++) {
		const char *path = site->disks->data[i].path;
		int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return err_errno(errno, "cannot open '%s'", path);
		struct err *err = vec_push(&site->disk_fds, fd);
		if (err) {
			closep(&fd);
			return err;
		}
	}
	return NULL;
}

struct err *sandbox_layers_create(struct sandbox_site *site,
				  const char *const *covered, size_t n)
{
	static const char *const folders[] = { "/sys", "/mnt", "/media",
					       "/srv", "/opt", "/boot" };
	struct stat st;
	TRY(open_disks(site));
	for (size_t i = 0; i < ARRAY_SIZE(folders) && !site->holder; i++) {
		if (stat(folders[i], &st) == 0 && S_ISDIR(st.st_mode) &&
		    !is_above_any(folders[i], covered, n))
			site->holder = folders[i];
	}
	if (!site->holder)
		return err_create(ERR_INTERNAL,
				  "there is no folder to mount on");
	if (mount("tmpfs", site->holder, "tmpfs", MS_NOSUID | MS_NODEV,
		  LAYERS_OPTIONS) < 0)
		return err_errno(errno, "cannot mount memory");
	site->layers = open(site->holder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (site->layers < 0)
		return err_errno(errno, "cannot open '%s'", site->holder);
	/* An overlay without them forgets what was removed. */
	if (site->is_whole &&
	    setxattr(site->holder, "trusted.polygraph", "", 0, 0) < 0)
		return err_errno(errno, "cannot set trusted attributes");
	const char *fault = getenv("POLYGRAPH_FAULT_LAYERS");
	if (!site->is_whole && !site->disks &&
	    ((fault && *fault) ||
	     setxattr(site->holder, "user.polygraph", "", 0, 0) < 0))
		return err_errno(ENOTSUP,
				 "file systems in memory lack attributes");
	return NULL;
}

/* ---- attributes of the topmost folder ---- */

static void copy_attributes(const char *from, const char *to)
{
	char names[4096], value[4096];
	ssize_t n = listxattr(from, names, sizeof(names));
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1) {
		const char *name = names + at;
		ssize_t size = getxattr(from, name, value, sizeof(value));
		if (size < 0 || setxattr(to, name, value, (size_t)size, 0) < 0)
			log_debug(LOG_SANDBOX, "%s of '%s' is not copied: %s",
				  name, from, strerror(errno));
	}
}

/* The overlay shows those of the upper folder. */
struct err *sandbox_make_upper(int layers, const char *name, int lower)
{
	struct fd_path from = fd_path_make(lower);
	char to[PATH_MAX];
	struct stat st;
	if (mkdirat(layers, name, 0755) < 0)
		return err_errno(errno, "cannot make a layer");
	if (fstat(lower, &st) < 0)
		return err_errno(errno, "cannot examine a folder");
	/* The owner cannot be one that is unknown in our user namespace. */
	if (fchownat(layers, name, st.st_uid, st.st_gid, 0) < 0)
		log_debug(LOG_SANDBOX, "owner %u:%u is not copied: %s",
			  st.st_uid, st.st_gid, strerror(errno));
	if (fchmodat(layers, name, st.st_mode & 07777, 0) < 0)
		return err_errno(errno, "cannot make a layer");
	snprintf(to, sizeof(to), "/proc/self/fd/%d/%s", layers, name);
	copy_attributes(from.s, to);
	const struct timespec times[2] = { st.st_atim, st.st_mtim };
	if (utimensat(layers, name, times, 0) < 0)
		return err_errno(errno, "cannot make a layer");
	return NULL;
}

/* ---- flags ---- */

/* What a mount forbids, its overlay has to forbid as well. */
static unsigned long flags_of_mount(const struct statvfs *st)
{
	static const struct {
		unsigned long seen, set;
	} flags[] = {
		{ ST_NOSUID, MS_NOSUID },	  { ST_NODEV, MS_NODEV },
		{ ST_NOEXEC, MS_NOEXEC },	  { ST_NOATIME, MS_NOATIME },
		{ ST_NODIRATIME, MS_NODIRATIME }, { ST_RELATIME, MS_RELATIME },
	};
	unsigned long ret = 0;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		ret |= st->f_flag & flags[i].seen ? flags[i].set : 0;
	return ret;
}

/* ---- overlays ---- */

/*
 * Best first. Without xino, files and folders of an overlay have different
 * devices (stat(2)), as if something were mounted. Without an index, writing to
 * one of several names of a file cuts it off from the others; without redirected
 * folders, renaming a folder of the user fails (EXDEV). Not every file system
 * and kernel has them, and in a user namespace folders are never redirected.
 */
static const char *const whole_options[] = {
	"xino=on,redirect_dir=on,index=on,metacopy=on",
	"xino=on,redirect_dir=on,index=on",
	"redirect_dir=on",
	"",
};
static const char *const places_options[] = {
	"xino=on,userxattr,index=on",
	"userxattr",
};

static struct err *mount_overlay(const struct sandbox_site *site, int lower,
				 int layers, size_t layer, const char *target)
{
	const char *const *choices =
		site->is_whole ? whole_options : places_options;
	size_t n = site->is_whole ? ARRAY_SIZE(whole_options)
				  : ARRAY_SIZE(places_options);
	char options[256];
	struct statvfs st;
	int number = 0;
	if (fstatvfs(lower, &st) < 0)
		return err_errno(errno, "cannot examine '%s'", target);
	for (size_t i = 0; i < n; i++) {
		snprintf(options, sizeof(options),
			 "lowerdir=/proc/self/fd/%d,"
			 "upperdir=/proc/self/fd/%d/upper%zu,"
			 "workdir=/proc/self/fd/%d/work%zu%s%s",
			 lower, layers, layer, layers, layer,
			 *choices[i] ? "," : "", choices[i]);
		if (mount("overlay", target, "overlay", flags_of_mount(&st),
			  options) == 0) {
			log_debug(LOG_SANDBOX, "'%s' is covered (%s)", target,
				  choices[i]);
			return NULL;
		}
		number = errno;
	}
	return err_errno(number, "cannot cover '%s'", target);
}

/*
 * Without them the kernel mounts an overlay with an index, and keeps none: so it
 * is over the overlays that containers are made of.
 */
static bool folder_has_handles(int fd)
{
	struct file_handle handle = {};
	int mount_id;
	return name_to_handle_at(fd, "", &handle, &mount_id, AT_EMPTY_PATH) ==
		       0 ||
	       errno == EOVERFLOW;
}

/* Of an overlay over an overlay, the kernel names mapped files otherwise. */
static struct err *tell_mapped_names(int lower, const char *path)
{
	struct statfs fs;
	struct stat st;
	if (fstatfs(lower, &fs) < 0 || fstat(lower, &st) < 0)
		return err_errno(errno, "cannot examine '%s'", path);
	return fs.f_type == OVERLAYFS_SUPER_MAGIC
		       ? proc_add_folder(st.st_dev, path)
		       : NULL;
}

struct err *sandbox_overlay(struct sandbox_site *site, int fd,
			    const char *target, const char *path)
{
	char upper[32], work[32];
	size_t layer = site->n_layers++;
	int layers = site->layers;
	if (site->disks) {
		size_t disk = sandbox_disk_for(site->disks, path);
		if (disk == site->disks->n)
			return err_create(ERR_SUITE,
					  "no disk is left to cover '%s'",
					  path);
		layers = site->disk_fds.data[disk];
	}
	snprintf(upper, sizeof(upper), "upper%zu", layer);
	snprintf(work, sizeof(work), "work%zu", layer);
	TRY(sandbox_make_upper(layers, upper, fd));
	if (mkdirat(layers, work, 0700) < 0)
		return err_errno(errno, "cannot make a layer");
	TRY(mount_overlay(site, fd, layers, layer, target));
	site->is_weak |= !site->is_whole || !folder_has_handles(fd);
	return tell_mapped_names(fd, path);
}

struct err *sandbox_bind(int fd, const char *target)
{
	struct fd_path from = fd_path_make(fd);
	if (mount(from.s, target, NULL, MS_BIND, NULL) < 0)
		return err_errno(errno, "cannot mount '%s' again", target);
	return NULL;
}

static struct err *remount_with(const char *target, unsigned long flags)
{
	struct statvfs st;
	if (statvfs(target, &st) < 0)
		return err_errno(errno, "cannot examine '%s'", target);
	/* In a user namespace, what is set cannot be taken away. */
	flags |= flags_of_mount(&st) | MS_BIND | MS_REMOUNT;
	if (mount(NULL, target, NULL, flags, NULL) < 0)
		return err_errno(errno, "cannot mount '%s' otherwise", target);
	return NULL;
}

struct err *sandbox_make_read_only(const char *target)
{
	return remount_with(target, MS_RDONLY);
}

struct err *sandbox_take_flags(int fd, const char *target)
{
	struct statvfs st;
	if (fstatvfs(fd, &st) < 0)
		return err_errno(errno, "cannot examine '%s'", target);
	return remount_with(target, flags_of_mount(&st));
}
