/* Putting kept states back. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keep/keep_internal.h"

/* Names that one path may have too many. */
#define EXTRA_MAX (10 * KEEP_FILES_MAX)
#define LINKS_MAX 128

/* An inode that has several names among those kept, as it is now. */
struct put_link {
	struct file_state was;
	int fd; /* O_PATH */
};

struct put {
	struct keeper *keeper;
	struct told_path *told;
	size_t left; /* names that may still be removed */
	VEC(struct put_link) links;
	struct err *err; /* out of memory */
};

/* A folder in which names are changed. */
struct put_folder {
	int fd; /* O_PATH is fine */
	struct file_state attr;
	bool opened; /* made writable for the time needed */
};

static void put_lose_name(struct put *put, const char *name, int number)
{
	keeper_lose(put->keeper, put->told, name, strerror(number));
}

/* False, and said: what is there would be gone for good. */
static bool may_go(struct put *put, const char *name,
		   const struct file_state *attr)
{
	if (keeper_may_remove(put->keeper, attr))
		return true;
	keeper_lose(put->keeper, put->told, name,
		    "a file that was not made by tests is there now");
	return false;
}

static bool is_type(const struct file_state *attr, uint32_t type)
{
	return (attr->mode & S_IFMT) == type;
}

/* ---- folders ---- */

static void folder_allow(struct put_folder *folder)
{
	if (folder->opened || geteuid() == 0 ||
	    (folder->attr.mode & 0300) == 0300 || folder->attr.uid != geteuid())
		return;
	folder->opened = keep_chmod(folder->fd, folder->attr.mode | 0700) == 0;
}

static void folder_leave(struct put_folder *folder)
{
	if (folder->opened)
		keep_chmod(folder->fd, folder->attr.mode);
	folder->opened = false;
}

/* ---- removing ---- */

static bool remove_at(struct put *put, struct put_folder *parent,
		      const char *name, unsigned depth);

/* Closes @fd: of each folder on the way one descriptor is open. */
static bool remove_children(struct put *put, int *fd,
			    const struct file_state *attr, const char *name,
			    unsigned depth)
{
	struct strv names = {};
	struct put_folder folder = { .attr = *attr };
	folder.fd = keep_open_folder(*fd, attr);
	close(take_fd(*fd));
	if (folder.fd < 0 || !keep_names_list(folder.fd, put->left, &names)) {
		put_lose_name(put, name, errno);
		closep(&folder.fd);
		return false;
	}
	bool ok = true;
	for (size_t i = 0; i < names.n && ok; i++)
		ok = remove_at(put, &folder, names.data[i], depth + 1);
	/* It goes, too: its mode no longer matters, unless it stays. */
	if (!ok)
		keep_chmod(folder.fd, attr->mode);
	strv_free(&names);
	close(folder.fd);
	return ok;
}

/* Never follows a link, never leaves the file system. */
static bool remove_at(struct put *put, struct put_folder *parent,
		      const char *name, unsigned depth)
{
	_cleanup_(closep) int fd =
		openat(parent->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct file_state attr;
	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd < 0 || !file_state_take(fd, NULL, &attr)) {
		put_lose_name(put, name, errno);
		return false;
	}
	bool here = attr.dev == put->keeper->cwd_dev &&
		    attr.ino == put->keeper->cwd_ino;
	if (attr.mount || attr.dev != parent->attr.dev || here ||
	    depth >= KEEP_DEPTH_MAX || !put->left) {
		put_lose_name(put, name, !put->left ? EOVERFLOW : EBUSY);
		return false;
	}
	put->left--;
	if (!may_go(put, depth ? name : "", &attr))
		return false;
	bool folder = is_type(&attr, S_IFDIR);
	if (folder && !remove_children(put, &fd, &attr, name, depth))
		return false;
	folder_allow(parent);
	if (unlinkat(parent->fd, name, folder ? AT_REMOVEDIR : 0) < 0 &&
	    errno != ENOENT) {
		put_lose_name(put, name, errno);
		return false;
	}
	return true;
}

/* ---- attributes ---- */

static void put_times(int fd, const struct keep_node *want)
{
	char path[64];
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
				     want->attr.mtime };
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)!utimensat(AT_FDCWD, path, times, 0);
}

/*
 * Those of what @fd (O_PATH) is open on, no link. The owner first: changing it
 * takes bits off the mode. 0, or errno of the first that could not be set.
 */
static int put_attributes(int fd, const struct keep_node *want,
			  const struct xattrs *xattrs)
{
	struct file_state now;
	int number = 0;
	if (!file_state_take(fd, NULL, &now))
		return errno;
	if ((now.uid != want->attr.uid || now.gid != want->attr.gid) &&
	    fchownat(fd, "", want->attr.uid, want->attr.gid, AT_EMPTY_PATH) < 0)
		number = errno;
	if (!xattrs_same(xattrs, want->xattrs)) {
		keep_unlock(fd, &now, 0200);
		int failed = xattrs_put(fd, xattrs, want->xattrs);
		number = number ? number : failed;
	}
	if (!file_state_take(fd, NULL, &now))
		return errno;
	if (now.mode != want->attr.mode && keep_chmod(fd, want->attr.mode) < 0)
		number = number ? number : errno;
	if (!file_time_is_same(now.mtime, want->attr.mtime))
		put_times(fd, want);
	return number;
}

static void put_all_attributes(struct put *put, int fd,
			       const struct keep_node *want)
{
	_cleanup_(xattrs_unrefp) struct xattrs *xattrs = NULL;
	struct file_state now;
	if (file_state_take(fd, NULL, &now))
		keep_unlock(fd, &now, 0400);
	struct err *err = xattrs_take(fd, &xattrs);
	if (err) {
		err_ignore(err);
		return;
	}
	int number = put_attributes(fd, want, xattrs);
	if (number)
		put_lose_name(put, want->name, number);
}

/* ---- files ---- */

/* The content it has now is noted for the next time. */
static void put_note_content(struct put *put, int fd,
			     const struct keep_node *want)
{
	struct file_state now;
	if (put->err || !file_state_take(fd, NULL, &now))
		return;
	put->err = keep_contents_note(&put->keeper->contents, &now,
				      want->content, want->xattrs);
}

static bool has_content(struct put *put, int fd, const struct file_state *now,
			const struct keep_node *want, bool *ret_known)
{
	const struct seen *seen =
		keep_contents_seen(&put->keeper->contents, now);
	*ret_known = seen != NULL && xattrs_same(seen->xattrs, want->xattrs);
	if (seen)
		return seen->content == want->content;
	if (now->size != want->attr.size)
		return false;
	_cleanup_(closep) int file = keep_open(fd, O_RDONLY);
	return file >= 0 && content_is(want->content, file);
}

/*
 * The same inode, so that processes that have it open or mapped see it as well.
 */
static bool write_in_place(struct put *put, int fd,
			   const struct file_state *now,
			   const struct keep_node *want)
{
	_cleanup_(closep) int file = keep_open(fd, O_RDWR);
	if (file < 0 && errno == EACCES && keep_unlock(fd, now, 0600))
		file = keep_open(fd, O_RDWR);
	if (file < 0)
		file = keep_open(fd, O_WRONLY);
	return file >= 0 &&
	       content_write(&put->keeper->contents, want->content, file);
}

static void spare_name(struct put *put, char *ret, size_t n)
{
	snprintf(ret, n, KEEP_OWN "-%d-%zu", (int)getpid(),
		 (size_t)(put->left % 1000000));
}

/* Gives the whole file its name, in place of what may be there. */
static bool name_file(struct put *put, const struct put_folder *parent,
		      int file, const char *name)
{
	char path[64], spare[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (linkat(AT_FDCWD, path, parent->fd, name, AT_SYMLINK_FOLLOW) == 0)
		return true;
	if (errno != EEXIST)
		return false;
	spare_name(put, spare, sizeof(spare));
	if (linkat(AT_FDCWD, path, parent->fd, spare, AT_SYMLINK_FOLLOW) < 0)
		return false;
	bool named = renameat(parent->fd, spare, parent->fd, name) == 0;
	int number = errno;
	/* Where both are names of one file already, nothing happens: rename(2). */
	unlinkat(parent->fd, spare, 0);
	errno = number;
	return named;
}

/* Where files cannot be without a name. */
static bool new_named(struct put *put, const struct put_folder *parent,
		      const char *name, const struct keep_node *want)
{
	char spare[64];
	spare_name(put, spare, sizeof(spare));
	_cleanup_(closep) int file = openat(
		parent->fd, spare,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return false;
	if (content_write(&put->keeper->contents, want->content, file)) {
		(void)put_attributes(file, want, NULL);
		if (renameat(parent->fd, spare, parent->fd, name) == 0)
			return true;
	}
	int number = errno;
	unlinkat(parent->fd, spare, 0);
	errno = number;
	return false;
}

/* All of it, or nothing: a name is given to a whole file only. */
static bool new_file(struct put *put, struct put_folder *parent,
		     const char *name, const struct keep_node *want)
{
	folder_allow(parent);
	_cleanup_(closep) int file =
		openat(parent->fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR ||
			 errno == ENOENT || errno == EINVAL))
		return new_named(put, parent, name, want);
	if (file < 0 ||
	    !content_write(&put->keeper->contents, want->content, file))
		return false;
	(void)put_attributes(file, want,
			     NULL); /* reported below, where it matters */
	return name_file(put, parent, file, name);
}

static const struct put_link *link_of(const struct put *put,
				      const struct keep_node *want)
{
	for (size_t i = 0; i < put->links.n; i++) {
		if (file_state_is_same_file(&put->links.data[i].was,
					    &want->attr))
			return &put->links.data[i];
	}
	return NULL;
}

/* Another name of a file that was restored already. */
static void put_link(struct put *put, struct put_folder *parent,
		     const char *name, const struct put_link *link,
		     const struct file_state *now)
{
	struct file_state attr;
	if (!file_state_take(link->fd, NULL, &attr) ||
	    (now &&
	     (file_state_is_same_file(now, &attr) || !may_go(put, name, now))))
		return;
	folder_allow(parent);
	if (!name_file(put, parent, link->fd, name))
		put_lose_name(put, name, errno);
}

static void note_link(struct put *put, struct put_folder *parent,
		      const char *name, const struct keep_node *want)
{
	if (put->links.n >= LINKS_MAX || put->err)
		return;
	int fd = openat(parent->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	put->err = vec_push(&put->links,
			    (struct put_link){ .was = want->attr, .fd = fd });
	if (put->err)
		close(fd);
}

/*
 * The name leads to another file now, or to none: to the same one as before, if
 * that is not gone for good. -1: it is, and nothing was done.
 */
static int put_same_file(struct put *put, struct put_folder *parent,
			 const char *name, const struct keep_node *want,
			 struct file_state *now)
{
	int held = want->held - 1;
	if (held < 0 || !file_state_take(held, NULL, now) || !now->nlink)
		return -1;
	folder_allow(parent);
	if (!name_file(put, parent, held, name))
		return -1;
	int fd = openat(parent->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !file_state_take(fd, NULL, now))
		closep(&fd);
	return fd;
}

/* @fd: what is there now, -1: nothing; then @now says nothing. */
static void put_file(struct put *put, struct put_folder *parent,
		     const char *name, const struct keep_node *want, int fd,
		     struct file_state *now)
{
	/* The last name of a file that had several may be kept on its own. */
	bool several = want->attr.nlink > 1;
	/* Of a file with further names that was not kept: they are not ours. */
	bool same = fd >= 0 && file_state_is_same_file(now, &want->attr);
	bool ours = same || (fd >= 0 && now->nlink == 1);
	bool known = false;
	if (fd >= 0 && !same && !may_go(put, want->name, now))
		return;
	_cleanup_(closep) int linked =
		same ? -1 : put_same_file(put, parent, name, want, now);
	if (linked >= 0) {
		fd = linked;
		same = ours = true;
	}
	bool whole = ours && has_content(put, fd, now, want, &known);
	if (whole && known && now->mode == want->attr.mode &&
	    now->uid == want->attr.uid && now->gid == want->attr.gid &&
	    file_time_is_same(now->mtime, want->attr.mtime))
		return;
	if (!whole && ours &&
	    (same || keep_contents_knows(&put->keeper->contents, now)))
		whole = write_in_place(put, fd, now, want);
	_cleanup_(closep) int made = -1;
	if (!whole) {
		if (!new_file(put, parent, name, want)) {
			put_lose_name(put, want->name, errno);
			return;
		}
		made = openat(parent->fd, name,
			      O_PATH | O_NOFOLLOW | O_CLOEXEC);
		fd = made;
		several = true;
	}
	if (fd >= 0) {
		put_all_attributes(put, fd, want);
		put_note_content(put, fd, want);
	}
	if (several)
		note_link(put, parent, name, want);
}

/* ---- the other types ---- */

static void put_symlink(struct put *put, struct put_folder *parent,
			const char *name, const struct keep_node *want, int fd)
{
	char target[PATH_MAX + 1];
	ssize_t n =
		fd < 0 ? -1 : readlinkat(fd, "", target, sizeof(target) - 1);
	bool same = n >= 0 && (size_t)n == strlen(want->target) &&
		    !memcmp(target, want->target, (size_t)n);
	if (!same) {
		char spare[64];
		folder_allow(parent);
		spare_name(put, spare, sizeof(spare));
		if (symlinkat(want->target, parent->fd, spare) < 0 ||
		    renameat(parent->fd, spare, parent->fd, name) < 0) {
			put_lose_name(put, want->name, errno);
			unlinkat(parent->fd, spare, 0);
			return;
		}
	}
	struct file_state now;
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
				     want->attr.mtime };
	if (!file_state_take(parent->fd, name, &now) || !is_type(&now, S_IFLNK))
		return;
	if ((now.uid != want->attr.uid || now.gid != want->attr.gid) &&
	    fchownat(parent->fd, name, want->attr.uid, want->attr.gid,
		     AT_SYMLINK_NOFOLLOW) < 0)
		put_lose_name(put, want->name, errno);
	if (!file_time_is_same(now.mtime, want->attr.mtime))
		(void)!utimensat(parent->fd, name, times, AT_SYMLINK_NOFOLLOW);
}

/* A FIFO, a socket without a listener, a device if we may. */
static void put_special(struct put *put, struct put_folder *parent,
			const char *name, const struct keep_node *want, int fd,
			const struct file_state *now)
{
	_cleanup_(closep) int made = -1;
	bool device =
		is_type(&want->attr, S_IFCHR) || is_type(&want->attr, S_IFBLK);
	if (fd >= 0 && device && now->rdev != want->attr.rdev) {
		if (!remove_at(put, parent, name, 0))
			return;
		fd = -1;
	}
	if (fd < 0) {
		folder_allow(parent);
		if (mknodat(parent->fd, name, (want->attr.mode & S_IFMT) | 0600,
			    device ? want->attr.rdev : 0) < 0) {
			put_lose_name(put, want->name, errno);
			return;
		}
		made = openat(parent->fd, name,
			      O_PATH | O_NOFOLLOW | O_CLOEXEC);
		fd = made;
	}
	if (fd >= 0)
		put_all_attributes(put, fd, want);
}

/* ---- folders ---- */

static void put_node(struct put *put, struct put_folder *parent,
		     const char *name, const struct keep_node *want,
		     unsigned depth);

static void put_children(struct put *put, struct put_folder *folder,
			 const struct keep_node *want, unsigned depth)
{
	struct strv names = {};
	if (!keep_names_list(folder->fd, put->left + want->n, &names)) {
		put_lose_name(put, want->name, errno);
		return;
	}
	for (size_t i = 0; i < names.n; i++) {
		if (!node_child(want, names.data[i]))
			remove_at(put, folder, names.data[i], depth + 1);
	}
	strv_free(&names);
	for (size_t i = 0; i < want->n; i++)
		put_node(put, folder, want->children[i].name,
			 &want->children[i], depth + 1);
}

/* Closes @fd, as remove_children() does. */
static void put_folder(struct put *put, struct put_folder *parent,
		       const char *name, const struct keep_node *want, int *fd,
		       unsigned depth)
{
	struct put_folder folder = {};
	if (*fd < 0) {
		folder_allow(parent);
		if (mkdirat(parent->fd, name, 0700) < 0) {
			put_lose_name(put, want->name, errno);
			return;
		}
		*fd = openat(parent->fd, name,
			     O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	}
	if (*fd < 0 || !file_state_take(*fd, NULL, &folder.attr)) {
		put_lose_name(put, want->name, errno);
		return;
	}
	folder.fd = keep_open_folder(*fd, &folder.attr);
	close(take_fd(*fd));
	if (folder.fd < 0) {
		put_lose_name(put, want->name, errno);
		return;
	}
	if (depth || !put->told->shallow)
		put_children(put, &folder, want, depth);
	put_all_attributes(put, folder.fd, want);
	close(folder.fd);
}

/* What is there is something else: it goes. */
static bool put_make_room(struct put *put, struct put_folder *parent,
			  const char *name, unsigned depth, int *fd)
{
	if (!remove_at(put, parent, name, depth))
		return false;
	close(*fd);
	*fd = -1;
	return true;
}

static void put_node(struct put *put, struct put_folder *parent,
		     const char *name, const struct keep_node *want,
		     unsigned depth)
{
	_cleanup_(closep) int fd =
		openat(parent->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct file_state now = {};
	if ((fd < 0 && errno != ENOENT) ||
	    (fd >= 0 && !file_state_take(fd, NULL, &now))) {
		put_lose_name(put, depth ? name : "", errno);
		return;
	}
	if (!want) {
		if (fd >= 0)
			remove_at(put, parent, name, depth);
		return;
	}
	if (want->alone) {
		if (fd < 0)
			put_lose_name(put, want->name, ENOENT);
		return;
	}
	if (fd >= 0 && depth && (now.mount || now.dev != parent->attr.dev)) {
		put_lose_name(put, want->name, EBUSY);
		return;
	}
	if (is_type(&want->attr, S_IFDIR)) {
		if (fd >= 0 && !is_type(&now, S_IFDIR) &&
		    !put_make_room(put, parent, name, depth, &fd))
			return;
		put_folder(put, parent, name, want, &fd, depth);
		return;
	}
	const struct put_link *link = link_of(put, want);
	bool file = is_type(&want->attr, S_IFREG);
	/* Other names of what is no file are not ours to change, either. */
	bool alias = !file && now.nlink > 1 &&
		     !file_state_is_same_file(&now, &want->attr);
	if (fd >= 0 &&
	    (!is_type(&now, want->attr.mode & S_IFMT) || (alias && !link)) &&
	    !put_make_room(put, parent, name, depth, &fd))
		return;
	if (link)
		put_link(put, parent, name, link, fd >= 0 ? &now : NULL);
	else if (file)
		put_file(put, parent, name, want, fd, &now);
	else if (is_type(&want->attr, S_IFLNK))
		put_symlink(put, parent, name, want, fd);
	else
		put_special(put, parent, name, want, fd, &now);
	if (!link && !file && want->attr.nlink > 1)
		note_link(put, parent, name, want);
}

static void put_path(struct put *put, const struct keep_node *want)
{
	struct put_folder parent = {};
	parent.fd = told_open(put->told, want != NULL);
	if (parent.fd < 0) {
		/* What is not to be there is not. */
		if (want || (errno != ENOENT && errno != ENOTDIR))
			put_lose_name(put, "", errno);
		return;
	}
	if (file_state_take(parent.fd, NULL, &parent.attr))
		put_node(put, &parent, put->told->name, want, 0);
	else
		put_lose_name(put, "", errno);
	folder_leave(&parent);
	close(parent.fd);
}

static void put_told(struct put *put, const struct kept_path *want, size_t i)
{
	if (want->lost || want->covered)
		return;
	put->told = &put->keeper->told.data[i];
	put->left = EXTRA_MAX;
	put_path(put, want->node);
}

static struct err *put_end(struct put *put)
{
	for (size_t i = 0; i < put->links.n; i++)
		close(put->links.data[i].fd);
	vec_free(&put->links);
	return put->err;
}

struct err *keeper_put_back_some(struct keeper *keeper, const struct kept *kept,
				 const bool *which)
{
	BUG_ON(kept->n != keeper->told.n);
	struct put put = { .keeper = keeper };
	for (size_t i = 0; i < kept->n; i++) {
		if (!which || which[i])
			put_told(&put, &kept->paths[i], i);
	}
	return put_end(&put);
}

struct err *keeper_put_back_each(struct keeper *keeper,
				 const struct keep_target *targets, size_t n)
{
	struct put put = { .keeper = keeper };
	for (size_t i = 0; i < n; i++) {
		BUG_ON(targets[i].i >= keeper->told.n);
		put_told(&put, targets[i].want, targets[i].i);
	}
	return put_end(&put);
}

struct err *keeper_put_back(struct keeper *keeper, const struct kept *kept)
{
	return keeper_put_back_some(keeper, kept, NULL);
}
