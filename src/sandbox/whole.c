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

static struct err *change_root(const char *root)
{
	if (chdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0)
		return err_errno(errno, "cannot change the root folder");
	return NULL;
}

struct err *sandbox_build_whole(struct sandbox_site *site)
{
	_cleanup_(freep) char *root = NULL;
	if (unshare(CLONE_NEWNS) < 0)
		return err_errno(errno, "cannot make a mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_errno(errno, "cannot make mounts private");
	TRY(sandbox_mounts_read(&site->mounts));
	sandbox_mounts_open(&site->mounts);
	if (!site->mounts.n || strcmp(site->mounts.data[0].path, "/") != 0)
		return err_create(ERR_INTERNAL,
				  "the root folder is not a mount");
	TRY(sandbox_through_open(site));
	/* Nothing is covered in place, so any folder will do. */
	TRY(sandbox_layers_create(site, NULL, 0));
	TRY(path_join(site->holder, NEW_ROOT, &root));
	if (mkdir(root, 0755) < 0)
		return err_errno(errno, "cannot make the root folder");
	TRY(build_root(site, root));
	TRY(sandbox_through_bind(site, root));
	return change_root(root);
}
