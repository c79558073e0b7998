/*
 * What the paths in system calls mean.
 *
 * Names are resolved by the kernel, from the caller's own /proc/TID/cwd and
 * /proc/TID/fd. Names of folders are kept for a while (folders.c). The caller's
 * folder of /proc stays open, which is safe: when the caller is gone, it answers
 * with an error, even if its number belongs to another process by then.
 *
 * A caller's root may differ from ours only after a call that we follow
 * (chroot, pivot_root, unshare, setns) or if it did so from the beginning; from
 * then on (@careful) it is looked at each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/str.h"
#include "follow/follow_internal.h"

/* As many symbolic links as the kernel follows (path_resolution(7)). */
#define LINKS_MAX 40
#define FIRST_READ 256
#define DELETED " (deleted)"

struct err *names_open(struct caller_names *names)
{
	for (size_t i = 0; i < NAMES_TASKS; i++)
		names->tasks[i].fd = -1;
	names->own_fds = open("/proc/self/fd", O_PATH | O_CLOEXEC);
	if (names->own_fds < 0)
		return err_errno(errno, "cannot open /proc/self/fd");
	snprintf(names->own, sizeof(names->own), "/proc/%d", getpid());
	return folders_init(&names->folders);
}

void names_close(struct caller_names *names)
{
	for (size_t i = 0; i < NAMES_TASKS; i++)
		closep(&names->tasks[i].fd);
	closep(&names->own_fds);
	folders_free(&names->folders);
}

size_t names_read(pid_t tid, uint64_t address, void *out, size_t n)
{
	struct iovec here = { out, n };
	struct iovec there = { (void *)(uintptr_t)address, n };
	ssize_t got = process_vm_readv(tid, &here, 1, &there, 1, 0);
	return got < 0 ? 0 : (size_t)got;
}

bool names_text(struct caller_names *names, pid_t tid, uint64_t address)
{
	size_t n = 0, step = FIRST_READ;
	while (n < sizeof(names->text)) {
		step = MIN(step, sizeof(names->text) - n);
		size_t got =
			names_read(tid, address + n, names->text + n, step);
		if (memchr(names->text + n, '\0', got))
			return true;
		/* The next one begins at the page that could not be read. */
		if (!got)
			return false;
		n += got;
		step = sizeof(names->text);
	}
	return false;
}

/* ---- the caller's folder of /proc ---- */

static int task_open(struct caller_names *names, pid_t tid, size_t at)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", tid);
	closep(&names->tasks[at].fd);
	names->tasks[at].tid = tid;
	names->tasks[at].fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return names->tasks[at].fd;
}

static int task_folder(struct caller_names *names, pid_t tid)
{
	for (size_t i = 0; i < NAMES_TASKS; i++) {
		if (names->tasks[i].tid == tid && names->tasks[i].fd >= 0)
			return names->tasks[i].fd;
	}
	names->next = (names->next + 1) % NAMES_TASKS;
	return task_open(names, tid, names->next);
}

/* After a failure: was it a folder of a process that is gone by now? */
static bool task_was_stale(struct caller_names *names, pid_t tid)
{
	for (size_t i = 0; i < NAMES_TASKS; i++) {
		if (names->tasks[i].tid != tid || names->tasks[i].fd < 0)
			continue;
		if (faccessat(names->tasks[i].fd, "root", F_OK,
			      AT_SYMLINK_NOFOLLOW) == 0)
			return false;
		return task_open(names, tid, i) >= 0;
	}
	return false;
}

/*
 * A link of /proc as a name. The kernel marks files without one, but a file may
 * really be called so.
 */
static enum found magic_name(int folder, const char *link, char *out)
{
	ssize_t n = readlinkat(folder, link, out, PATH_MAX);
	if (n <= 0 || n == PATH_MAX)
		return UNKNOWN;
	out[n] = '\0';
	if (out[0] != '/')
		return NAMELESS;
	if (!str_ends(out, DELETED))
		return FOUND;
	struct stat there, here;
	if (fstatat(folder, link, &there, 0) == 0 && stat(out, &here) == 0 &&
	    there.st_dev == here.st_dev && there.st_ino == here.st_ino)
		return FOUND;
	return NAMELESS;
}

static enum found own_name(struct caller_names *names, int fd, char *out)
{
	char link[16];
	snprintf(link, sizeof(link), "%d", fd);
	return magic_name(names->own_fds, link, out);
}

enum found names_descriptor(struct caller_names *names, pid_t tid, int fd,
			    char *out)
{
	char link[32];
	snprintf(link, sizeof(link), "fd/%d", fd);
	for (;;) {
		int task = task_folder(names, tid);
		if (task < 0 || fd < 0)
			return UNKNOWN;
		enum found found = magic_name(task, link, out);
		if (found != UNKNOWN || !task_was_stale(names, tid))
			return found;
	}
}

/* ---- text ---- */

/* Where the last part of @text begins; slashes at the end are cut off. */
static size_t last_part(char *text, bool *slash)
{
	size_t n = strlen(text);
	*slash = false;
	while (n > 1 && text[n - 1] == '/') {
		text[--n] = '\0';
		*slash = true;
	}
	while (n && text[n - 1] != '/')
		n--;
	return n;
}

static bool is_dots(const char *part)
{
	return !*part || !strcmp(part, ".") || !strcmp(part, "..");
}

/* Where @text begins with @prefix, it begins with @by instead. */
static void replace_prefix(char *text, const char *prefix, const char *by)
{
	size_t n = strlen(prefix), by_n = strlen(by);
	if (strncmp(text, prefix, n) != 0 || (text[n] && text[n] != '/'))
		return;
	size_t rest_n = strlen(text + n);
	if (by_n + rest_n >= PATH_MAX)
		return;
	memmove(text + by_n, text + n, rest_n + 1);
	memcpy(text, by, by_n);
}

/* What "self" means depends on who asks. */
static void replace_self(const struct caller_names *names, pid_t tid,
			 char *text)
{
	char proc[32], fds[40];
	if (text[0] != '/' || (text[1] != 'p' && text[1] != 'd'))
		return;
	snprintf(proc, sizeof(proc), "/proc/%d", tid);
	snprintf(fds, sizeof(fds), "/proc/%d/fd", tid);
	replace_prefix(text, "/proc/self", proc);
	replace_prefix(text, "/proc/thread-self", proc);
	replace_prefix(text, "/dev/fd", fds);
	replace_prefix(text, names->own, proc);
}

static bool path_join_into(char *out, size_t size, const char *folder,
			   const char *rest)
{
	const char *between = str_ends(folder, "/") || !*rest ? "" : "/";
	int n = snprintf(out, size, "%s%s%s", folder, between, rest);
	return n > 0 && (size_t)n < size;
}

/* ---- resolving ---- */

/* names->work is an absolute path in the root @root; -1: in ours. */
static int path_open_folder(int root, const char *path)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	if (root < 0)
		return open(path, flags);
	struct open_how how = { .flags = (uint64_t)flags,
				.resolve = RESOLVE_IN_ROOT };
	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/*
 * Parts that do not exist, or that we may not look into: the rest of the path
 * stays as it is, which is right but for symbolic links in it.
 */
static enum found by_text(struct caller_names *names, int root, char *path,
			  char *out)
{
	char rest[PATH_MAX] = "", more[PATH_MAX];
	bool slash;
	names->failed = true;
	for (;;) {
		size_t at = last_part(path, &slash);
		if (!at || !strcmp(path + at, ".."))
			return UNKNOWN;
		if (path[at] && strcmp(path + at, ".") != 0) {
			if (!path_join_into(more, sizeof(more), path + at,
					    rest))
				return UNKNOWN;
			memcpy(rest, more, strlen(more) + 1);
		}
		path[at > 1 ? at - 1 : at] = '\0';
		int fd = path_open_folder(root, path);
		if (fd < 0 && at == 1)
			return UNKNOWN;
		if (fd < 0)
			continue;
		enum found found = own_name(names, fd, more);
		close(fd);
		if (found == FOUND &&
		    !path_join_into(out, PATH_MAX, more, rest))
			return UNKNOWN;
		return found;
	}
}

/*
 * The folder @path as its name, without links and dots. Into *ret_fd goes a
 * descriptor of it, where that name would not do: in another root.
 */
static enum found folder_name(struct caller_names *names, int root,
			      const char *path, char *out, int *ret_fd)
{
	if (root < 0 && folders_find(&names->folders, path, out))
		return FOUND;
	_cleanup_(closep) int fd = path_open_folder(root, path);
	if (fd < 0) {
		names->failed = true;
		return UNKNOWN;
	}
	enum found found = own_name(names, fd, out);
	if (root >= 0)
		*ret_fd = take_fd(fd);
	else if (found == FOUND)
		folders_keep(&names->folders, path, fd, out);
	return found;
}

static enum found path_read_link(int fd, const char *name, const char *folder,
				 char *target, bool *is_link)
{
	ssize_t n = readlinkat(fd, name, target, PATH_MAX - 1);
	*is_link = n >= 0;
	if (n < 0)
		return FOUND;
	target[n] = '\0';
	/* Links of /proc to what has no name: "pipe:[1]". */
	if (str_starts(folder, "/proc/") &&
	    ((target[0] != '/' && strchr(target, ':')) ||
	     str_ends(target, DELETED)))
		return magic_name(fd, name, target);
	return FOUND;
}

/*
 * One step: the folder of names->work is looked up, and the last part in it.
 * Where that is a symbolic link to be followed, names->work becomes what it
 * refers to, and *again is set.
 */
static enum found path_resolve_step(struct caller_names *names, pid_t tid,
				    int root, bool follow, char *out,
				    bool *again)
{
	char *path = names->work, folder[PATH_MAX], target[PATH_MAX];
	char last[NAME_MAX + 1];
	_cleanup_(closep) int fd = -1;
	bool slash, is_link = false;
	size_t at = last_part(path, &slash), n = strlen(path + at);
	*again = false;
	if (is_dots(path + at)) {
		enum found found = folder_name(names, root, path, out, &fd);
		return names->failed ? by_text(names, root, path, out) : found;
	}
	if (n > NAME_MAX)
		return UNKNOWN;
	memcpy(last, path + at, n + 1);
	path[at] = '\0';
	enum found found = folder_name(names, root, path, folder, &fd);
	if (names->failed) {
		path[at] = last[0];
		return by_text(names, root, path, out);
	}
	if (found != FOUND)
		return found;
	if (!path_join_into(out, PATH_MAX, folder, last))
		return UNKNOWN;
	if (follow || slash)
		found = path_read_link(fd, fd < 0 ? out : last, folder, target,
				       &is_link);
	if (found != FOUND || !is_link)
		return found;
	*again = true;
	if (target[0] == '/') {
		memcpy(path, target, strlen(target) + 1);
	} else {
		size_t skip = root < 0 ? 0 : strlen(names->root);
		if (strncmp(folder, names->root, skip) != 0 ||
		    !path_join_into(path, sizeof(names->work), folder + skip,
				    target))
			return UNKNOWN;
	}
	replace_self(names, tid, path);
	return FOUND;
}

/* Both have the same "/"? Mount namespaces differ by their root's mount. */
static bool same_root(int task)
{
	struct statx there, here;
	const unsigned mask = STATX_INO | STATX_MNT_ID;
	if (statx(task, "root", 0, mask, &there) < 0 ||
	    statx(AT_FDCWD, "/", 0, mask, &here) < 0)
		return false;
	return there.stx_ino == here.stx_ino &&
	       there.stx_dev_major == here.stx_dev_major &&
	       there.stx_dev_minor == here.stx_dev_minor &&
	       there.stx_mnt_id == here.stx_mnt_id;
}

/* What a relative path is relative to. */
static enum found base_name(struct caller_names *names, pid_t tid, int dir,
			    char *out)
{
	char link[32];
	if (dir == AT_FDCWD && folders_directory(&names->folders, tid, out))
		return FOUND;
	int task = task_folder(names, tid);
	if (task < 0)
		return UNKNOWN;
	if (dir != AT_FDCWD) {
		snprintf(link, sizeof(link), "fd/%d", dir);
		return magic_name(task, link, out);
	}
	enum found found = magic_name(task, "cwd", out);
	if (found == FOUND)
		folders_keep_directory(&names->folders, tid, out);
	return found;
}

/* names->text as an absolute path of the caller's root, into names->work. */
static enum found make_absolute(struct caller_names *names, pid_t tid, int dir,
				int root)
{
	char folder[PATH_MAX];
	if (names->text[0] == '/') {
		memcpy(names->work, names->text, strlen(names->text) + 1);
		return FOUND;
	}
	enum found found = base_name(names, tid, dir, folder);
	if (found != FOUND)
		return found;
	size_t skip = root < 0 ? 0 : strlen(names->root);
	if (strncmp(folder, names->root, skip) != 0 ||
	    (skip && folder[skip] && folder[skip] != '/'))
		return UNKNOWN;
	const char *from = folder[skip] ? folder + skip : "/";
	return path_join_into(names->work, sizeof(names->work), from,
			      names->text)
		       ? FOUND
		       : UNKNOWN;
}

/*
 * In another root everything is resolved from there, also what is relative:
 * only so the kernel keeps ".." and absolute links inside.
 */
static enum found open_root(struct caller_names *names, int task, int *ret)
{
	*ret = openat(task, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret < 0 || magic_name(task, "root", names->root) != FOUND)
		return UNKNOWN;
	if (!strcmp(names->root, "/"))
		names->root[0] = '\0';
	return FOUND;
}

/* The name is of another root's mounts: is it the same file here? */
static enum found seen_here(int task, const char *path)
{
	char own[64] = "", theirs[64] = "";
	if (readlink("/proc/self/ns/mnt", own, sizeof(own) - 1) > 0 &&
	    readlinkat(task, "ns/mnt", theirs, sizeof(theirs) - 1) > 0 &&
	    !strcmp(own, theirs))
		return FOUND;
	char folder[PATH_MAX], there[PATH_MAX + 8];
	bool slash;
	if (!path_join_into(folder, sizeof(folder), path, ""))
		return UNKNOWN;
	folder[last_part(folder, &slash)] = '\0';
	struct stat a, b;
	snprintf(there, sizeof(there), "root%s", folder);
	if (stat(folder, &a) < 0 || fstatat(task, there, &b, 0) < 0 ||
	    a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return UNKNOWN;
	return FOUND;
}

static enum found path_resolve_name(struct caller_names *names, pid_t tid,
				    int dir, bool follow, char *out)
{
	_cleanup_(closep) int root = -1;
	int task = -1;
	if (!names->text[0])
		return UNKNOWN;
	if (names->careful) {
		task = task_folder(names, tid);
		if (task < 0)
			return UNKNOWN;
	}
	enum found found = FOUND;
	bool elsewhere = names->careful && !same_root(task);
	if (elsewhere)
		found = open_root(names, task, &root);
	if (found == FOUND)
		found = make_absolute(names, tid, dir, root);
	if (found != FOUND)
		return found;
	replace_self(names, tid, names->work);
	for (int i = 0; i < LINKS_MAX; i++) {
		bool again;
		found = path_resolve_step(names, tid, root, follow, out,
					  &again);
		if (found != FOUND)
			return found;
		if (!again)
			return elsewhere ? seen_here(task, out) : FOUND;
	}
	return UNKNOWN;
}

enum found names_resolve(struct caller_names *names, pid_t tid, int dir,
			 bool follow, char *out)
{
	for (;;) {
		names->failed = false;
		enum found found =
			path_resolve_name(names, tid, dir, follow, out);
		if ((found != UNKNOWN && !names->failed) ||
		    !task_was_stale(names, tid))
			return found;
	}
}

enum found names_given(struct caller_names *names, pid_t tid, int dir,
		       char *out)
{
	if (names->careful)
		return UNKNOWN;
	enum found found = make_absolute(names, tid, dir, -1);
	if (found != FOUND)
		return found;
	replace_self(names, tid, names->work);
	size_t n = strlen(names->work);
	if (n >= PATH_MAX)
		return UNKNOWN;
	memcpy(out, names->work, n + 1);
	return FOUND;
}
