/*
 * What the paths in system calls mean.
 *
 * Names are resolved by the kernel, through the caller's own /proc/TID/cwd and
 * /proc/TID/fd, and never kept: between two calls anybody may rename a folder,
 * and another thread of the caller may change its directory at any time. Only
 * the caller's folder of /proc stays open, which is safe: when the caller is
 * gone, it answers with an error, also where its number was given anew.
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

struct err *names_open(struct names *names)
{
	for (size_t i = 0; i < NAMES_TASKS; i++)
		names->tasks[i].fd = -1;
	names->own_fds = open("/proc/self/fd", O_PATH | O_CLOEXEC);
	if (names->own_fds < 0)
		return err_errno(errno, "cannot open /proc/self/fd");
	snprintf(names->own, sizeof(names->own), "/proc/%d", getpid());
	return NULL;
}

void names_close(struct names *names)
{
	for (size_t i = 0; i < NAMES_TASKS; i++)
		closep(&names->tasks[i].fd);
	closep(&names->own_fds);
}

size_t names_read(pid_t tid, uint64_t address, void *out, size_t n)
{
	struct iovec here = { out, n };
	struct iovec there = { (void *)(uintptr_t)address, n };
	ssize_t got = process_vm_readv(tid, &here, 1, &there, 1, 0);
	return got < 0 ? 0 : (size_t)got;
}

bool names_text(struct names *names, pid_t tid, uint64_t address)
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

static int task_open(struct names *names, pid_t tid, size_t at)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", tid);
	closep(&names->tasks[at].fd);
	names->tasks[at].tid = tid;
	names->tasks[at].fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return names->tasks[at].fd;
}

static int task_folder(struct names *names, pid_t tid)
{
	for (size_t i = 0; i < NAMES_TASKS; i++) {
		if (names->tasks[i].tid == tid && names->tasks[i].fd >= 0)
			return names->tasks[i].fd;
	}
	names->next = (names->next + 1) % NAMES_TASKS;
	return task_open(names, tid, names->next);
}

/* After a failure: was it a folder of a process that is gone by now? */
static bool task_was_stale(struct names *names, pid_t tid)
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

static enum found own_name(struct names *names, int fd, char *out)
{
	char link[16];
	snprintf(link, sizeof(link), "%d", fd);
	return magic_name(names->own_fds, link, out);
}

enum found names_descriptor(struct names *names, pid_t tid, int fd, char *out)
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

/* @text with what follows @prefix, where it begins with it, put after @by. */
static void replace_prefix(char *text, const char *prefix, const char *by)
{
	char rest[PATH_MAX];
	size_t n = strlen(prefix), by_n = strlen(by);
	if (strncmp(text, prefix, n) != 0 || (text[n] && text[n] != '/'))
		return;
	size_t rest_n = strlen(text + n);
	if (by_n + rest_n >= PATH_MAX)
		return;
	memcpy(rest, text + n, rest_n + 1);
	memcpy(text, by, by_n);
	memcpy(text + by_n, rest, rest_n + 1);
}

/* What "self" means depends on who asks. */
static void replace_self(const struct names *names, pid_t tid, char *text)
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

static bool join(char *out, size_t size, const char *folder, const char *rest)
{
	const char *between = str_ends(folder, "/") || !*rest ? "" : "/";
	int n = snprintf(out, size, "%s%s%s", folder, between, rest);
	return n > 0 && (size_t)n < size;
}

/* ---- resolving ---- */

/* Where a path begins, and in which root it is resolved. */
struct start {
	int fd;	      /* the path is relative to it, or AT_FDCWD */
	char by[32];  /* and this is put in front of it */
	size_t floor; /* how much of it is that, and not to be taken apart */
	int root;     /* -1: ours */
	char root_name[PATH_MAX];
};

static int open_folder(const struct start *start, const char *path)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	if (start->root < 0)
		return openat(start->fd, path, flags);
	struct open_how how = { .flags = (uint64_t)flags,
				.resolve = RESOLVE_IN_ROOT };
	return (int)syscall(SYS_openat2, start->root, path, &how, sizeof(how));
}

/*
 * Parts that do not exist, or that we may not look into: the rest of the path
 * stays as it is, which is right but for symbolic links in it.
 */
static enum found by_text(struct names *names, const struct start *start,
			  char *path, char *out)
{
	char rest[PATH_MAX] = "", more[PATH_MAX];
	bool slash;
	names->failed = true;
	for (;;) {
		size_t at = last_part(path, &slash);
		if (at <= start->floor || !strcmp(path + at, ".."))
			return UNKNOWN;
		if (path[at] && strcmp(path + at, ".") != 0) {
			if (!join(more, sizeof(more), path + at, rest))
				return UNKNOWN;
			memcpy(rest, more, strlen(more) + 1);
		}
		path[at > 1 ? at - 1 : at] = '\0';
		int fd = open_folder(start, path);
		if (fd < 0 && at == 1)
			return UNKNOWN;
		if (fd < 0)
			continue;
		enum found found = own_name(names, fd, more);
		close(fd);
		if (found == FOUND && !join(out, PATH_MAX, more, rest))
			return UNKNOWN;
		return found;
	}
}

/* A folder, or something whose last part does not name it. */
static enum found whole(struct names *names, const struct start *start,
			char *path, char *out)
{
	int fd = open_folder(start, *path ? path : ".");
	if (fd < 0)
		return by_text(names, start, path, out);
	enum found found = own_name(names, fd, out);
	close(fd);
	return found;
}

static enum found read_link(int fd, const char *folder, const char *last,
			    char *target, bool *is_link)
{
	ssize_t n = readlinkat(fd, last, target, PATH_MAX - 1);
	*is_link = n >= 0;
	if (n < 0)
		return FOUND;
	target[n] = '\0';
	/* Links of /proc to what has no name: "pipe:[1]". */
	if (str_starts(folder, "/proc/") &&
	    ((target[0] != '/' && strchr(target, ':')) ||
	     str_ends(target, DELETED)))
		return magic_name(fd, last, target);
	return FOUND;
}

/*
 * One step: the folder of names->work is looked up, and the last part in it.
 * Where that is a symbolic link to be followed, names->work is its target and
 * *again is set; then start->fd is where that begins.
 */
static enum found step(struct names *names, pid_t tid, struct start *start,
		       bool follow, char *out, bool *again)
{
	char *path = names->work, folder[PATH_MAX], target[PATH_MAX];
	bool slash;
	size_t at = last_part(path, &slash);
	*again = false;
	if (is_dots(path + at))
		return whole(names, start, path, out);
	char last[NAME_MAX + 1];
	if (strlen(path + at) > NAME_MAX)
		return UNKNOWN;
	memcpy(last, path + at, strlen(path + at) + 1);

	char kept = path[at];
	path[at] = '\0';
	int fd = open_folder(start, at ? path : ".");
	if (fd < 0) {
		path[at] = kept;
		return by_text(names, start, path, out);
	}
	enum found found = own_name(names, fd, folder);
	bool is_link = false;
	if (found == FOUND && (follow || slash))
		found = read_link(fd, folder, last, target, &is_link);
	close(fd);
	if (found != FOUND)
		return found;
	if (!is_link)
		return join(out, PATH_MAX, folder, last) ? FOUND : UNKNOWN;
	*again = true;
	if (target[0] == '/')
		memcpy(path, target, strlen(target) + 1);
	else if (!join(path, sizeof(names->work),
		       start->root >= 0 ? folder + strlen(start->root_name)
					: folder,
		       target))
		return UNKNOWN;
	start->fd = AT_FDCWD;
	start->floor = 0;
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

/*
 * In another root the path is resolved from there: what is relative, too,
 * because only so the kernel keeps ".." and absolute links inside.
 */
static enum found start_in_root(struct names *names, int task,
				struct start *start)
{
	char folder[PATH_MAX];
	start->root = openat(task, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (start->root < 0 ||
	    magic_name(task, "root", start->root_name) != FOUND)
		return UNKNOWN;
	if (!strcmp(start->root_name, "/"))
		start->root_name[0] = '\0';
	if (names->text[0] == '/')
		return join(names->work, sizeof(names->work), names->text, "")
			       ? FOUND
			       : UNKNOWN;
	enum found found = magic_name(task, start->by, folder);
	if (found != FOUND)
		return found;
	size_t n = strlen(start->root_name);
	if (strncmp(folder, start->root_name, n) != 0 ||
	    (folder[n] && folder[n] != '/'))
		return UNKNOWN;
	return join(names->work, sizeof(names->work),
		    folder[n] ? folder + n : "/", names->text)
		       ? FOUND
		       : UNKNOWN;
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
	if (!join(folder, sizeof(folder), path, ""))
		return UNKNOWN;
	folder[last_part(folder, &slash)] = '\0';
	struct stat a, b;
	snprintf(there, sizeof(there), "root%s", folder);
	if (stat(folder, &a) < 0 || fstatat(task, there, &b, 0) < 0 ||
	    a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return UNKNOWN;
	return FOUND;
}

static enum found resolve(struct names *names, pid_t tid, int dir, bool follow,
			  char *out)
{
	struct start start = { .fd = AT_FDCWD, .root = -1 };
	int task = -1;
	if (!names->text[0])
		return UNKNOWN;
	if (names->text[0] != '/' || names->careful) {
		task = task_folder(names, tid);
		if (task < 0)
			return UNKNOWN;
	}
	if (dir == AT_FDCWD)
		snprintf(start.by, sizeof(start.by), "cwd");
	else
		snprintf(start.by, sizeof(start.by), "fd/%d", dir);

	bool elsewhere = names->careful && !same_root(task);
	_cleanup_(closep) int root = -1;
	if (elsewhere) {
		enum found found = start_in_root(names, task, &start);
		root = start.root;
		if (found != FOUND)
			return found;
	} else if (names->text[0] == '/') {
		memcpy(names->work, names->text, strlen(names->text) + 1);
		replace_self(names, tid, names->work);
	} else {
		start.fd = task;
		start.floor = strlen(start.by);
		if (!join(names->work, sizeof(names->work), start.by,
			  names->text))
			return UNKNOWN;
	}
	for (int i = 0; i < LINKS_MAX; i++) {
		bool again;
		enum found found =
			step(names, tid, &start, follow, out, &again);
		if (found != FOUND)
			return found;
		if (!again)
			return elsewhere ? seen_here(task, out) : FOUND;
	}
	return UNKNOWN;
}

enum found names_resolve(struct names *names, pid_t tid, int dir, bool follow,
			 char *out)
{
	for (;;) {
		names->failed = false;
		enum found found = resolve(names, tid, dir, follow, out);
		if ((found != UNKNOWN && !names->failed) ||
		    !task_was_stale(names, tid))
			return found;
	}
}
