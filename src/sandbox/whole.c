/* The way for those who may mount: a new root, with all that was mounted. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/sandbox_internal.h"

#define NEW_ROOT "root"

/* Not writable is always better than not private. */
static struct err *bind_read_only(const struct sandbox_mount *mount,
				  const char *target)
{
	TRY(sandbox_bind(mount->fd, target));
	return mount->read_only ? NULL : sandbox_make_read_only(target);
}

static struct err *add_mount(struct sandbox_site *site,
			     const struct sandbox_mount *mount,
			     const char *target)
{
	if (!mount->has_files)
		return sandbox_bind(mount->fd, target);
	if (mount->read_only || !mount->is_folder)
		return bind_read_only(mount, target);
	struct err *err = sandbox_overlay(site, mount->fd, target, mount->path);
	/* Names that are equal in upper and lower case, for one, forbid it. */
	if (!err || !strcmp(mount->path, "/") ||
	    !strcmp(mount->path, site->cwd) ||
	    path_is_below(site->cwd, mount->path))
		return err;
	log_debug(LOG_SANDBOX, "%s; it is read-only", err_message(err));
	err_destroy(err);
	return bind_read_only(mount, target);
}

static struct err *build_root(struct sandbox_site *site, const char *root)
{
	for (size_t i = 0; i < site->mounts.n; i++) {
		const struct sandbox_mount *mount = &site->mounts.data[i];
		_cleanup_(freep) char *target = NULL;
		bool is_root = !strcmp(mount->path, "/");
		TRY(str_format(&target, "%s%s", root,
			       is_root ? "" : mount->path));
		struct err *err = add_mount(site, mount, target);
		if (!err)
			continue;
		/* Below something that hides it now. */
		if (!is_root && mount->has_files &&
		    path_is_below(site->cwd, mount->path))
			return err;
		if (is_root)
			return err;
		err_ignore(err);
	}
	return NULL;
}

/*
 * The root folder becomes that of the namespace. In a chroot it is another, which
 * may not be mounted at all: mounts around it could not be made private, nor
 * could it be exchanged. Not every process may do that, nor has to.
 */
static void go_to_top(int mounts)
{
	if (setns(mounts, CLONE_NEWNS) < 0)
		log_debug(LOG_SANDBOX, "the root folder stays: %s",
			  strerror(errno));
}

/* Or what we mount would appear outside. */
static struct err *make_all_private(int mounts)
{
	_cleanup_(closep) int root =
		open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_errno(errno, "cannot open the root folder");
	go_to_top(mounts);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_errno(errno, "cannot make mounts private");
	if (fchdir(root) < 0 || chroot(".") < 0)
		return err_errno(errno, "cannot return to the root folder");
	return NULL;
}

/* Nothing of what was above the old root folder can be reached any more. */
static struct err *change_root(int mounts, const char *path)
{
	_cleanup_(closep) int root =
		open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_errno(errno, "cannot open '%s'", path);
	go_to_top(mounts);
	if (fchdir(root) < 0)
		return err_errno(errno, "cannot enter '%s'", path);
	if (syscall(SYS_pivot_root, ".", ".") == 0) {
		if (umount2(".", MNT_DETACH) < 0)
			return err_errno(errno, "cannot leave the old root");
		return NULL;
	}
	/* The first root of all, as of a rescue system, cannot be exchanged. */
	log_debug(LOG_SANDBOX, "pivot_root: %s", strerror(errno));
	if (mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0)
		return err_errno(errno, "cannot change the root folder");
	return NULL;
}

struct err *sandbox_build_whole(struct sandbox_site *site)
{
	_cleanup_(freep) char *root = NULL;
	if (unshare(CLONE_NEWNS) < 0)
		return err_errno(errno, "cannot make a mount namespace");
	_cleanup_(closep) int mounts =
		open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (mounts < 0)
		return err_errno(errno, "cannot open the mount namespace");
	TRY(make_all_private(mounts));
	TRY(sandbox_mounts_read(&site->mounts));
	sandbox_mounts_open(&site->mounts);
	if (!site->mounts.n || strcmp(site->mounts.data[0].path, "/") != 0)
		return err_create(ERR_INTERNAL,
				  "the root folder cannot be opened");
	TRY(sandbox_through_open(site));
	/* Nothing is covered in place, so any folder will do. */
	TRY(sandbox_layers_create(site, NULL, 0));
	TRY(path_join(site->holder, NEW_ROOT, &root));
	if (mkdir(root, 0755) < 0)
		return err_errno(errno, "cannot make the root folder");
	TRY(build_root(site, root));
	TRY(sandbox_through_bind(site, root));
	return change_root(mounts, root);
}
