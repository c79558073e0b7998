#include "files/snapshot_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HUGE_FILE (256ULL << 20)
#define HUGE_END (1ULL << 20)	 /* of a huge file, at both ends */
#define CHUNK ((size_t)64 << 10) /* on the stack */
#define TRIES 4			 /* at a file that changes while it is read */
#define XATTRS 64
#define XATTR_LIST 4096
#define XATTR_VALUE 65536 /* the kernel's limit, xattr(7) */

static enum snap_type snap_type_of(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return SNAP_FILE;
	case S_IFDIR:
		return SNAP_FOLDER;
	case S_IFLNK:
		return SNAP_LINK;
	case S_IFSOCK:
		return SNAP_SOCKET;
	case S_IFIFO:
		return SNAP_FIFO;
	default:
		return SNAP_DEVICE;
	}
}

static void snap_fill_stat(const struct file_state *stat, struct snap *ret)
{
	*ret = (struct snap){
		.type = (uint8_t)snap_type_of(stat->mode),
		.stat = *stat,
	};
}

bool snap_holds(const struct snap *snap, const struct file_state *stat)
{
	return file_state_is_same(&snap->stat, stat) && snap_exists(snap) &&
	       !(snap->flags & (SNAP_RACY | SNAP_CHANGING));
}

static struct snap_extra *extra_of(struct snap *snap, size_t text)
{
	struct snap_extra *extra = malloc(sizeof(*extra) + text + 1);
	if (!extra)
		return NULL;
	*extra = (struct snap_extra){ .n_text = (uint32_t)text };
	atomic_init(&extra->refs, 1);
	extra->text[text] = '\0';
	snap->extra = extra;
	return extra;
}

/* Content or target; @snap must have none. */
static void snap_keep_text(struct snap *snap, const char *text, size_t n)
{
	struct snap_extra *extra = extra_of(snap, n);
	if (!extra)
		return; /* the hash has to do */
	memcpy(extra->text, text, n);
	extra->has_text = true;
}

/* In pieces; of a huge file the middle is left out. */
static int64_t hash_pieces(int fd, char *buffer, uint64_t size,
			   struct snap *ret)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	for (uint64_t at = 0; at < size;) {
		if (size > HUGE_FILE && at >= HUGE_END && at < size - HUGE_END)
			at = size - HUGE_END;
		ssize_t n = pread(fd, buffer, MIN(CHUNK, (size_t)(size - at)),
				  (off_t)at);
		if (n <= 0)
			return n ? -1 : -2;
		XXH3_64bits_update(&state, buffer, (size_t)n);
		at += (uint64_t)n;
	}
	if (size > HUGE_FILE) {
		ret->flags |= SNAP_PARTIAL;
		int64_t mtime = snap_mtime(ret);
		XXH3_64bits_update(&state, &mtime, sizeof(mtime));
	}
	ret->hash = XXH3_64bits_digest(&state);
	return (int64_t)(size > HUGE_FILE ? 2 * HUGE_END : size);
}

/* Bytes that were hashed; -1: it cannot be read; -2: it changed. */
static int64_t hash_content(int fd, uint64_t size, uint32_t text,
			    struct snap *ret)
{
	char buffer[CHUNK];
	if (size >= CHUNK)
		return hash_pieces(fd, buffer, size, ret);
	/* One byte more would be there if it had grown. */
	ssize_t n = pread(fd, buffer, CHUNK, 0);
	if (n < 0)
		return -1;
	if ((uint64_t)n != size)
		return -2;
	ret->hash = XXH3_64bits(buffer, (size_t)n);
	if (size && size <= text)
		snap_keep_text(ret, buffer, (size_t)n);
	return n;
}

static int snap_open_file(int dir, const char *name)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = openat(dir, name, flags | O_NOATIME);
	/* Only its owner may look without leaving a trace, open(2). */
	if (fd < 0 && errno == EPERM)
		fd = openat(dir, name, flags);
	return fd;
}

static int snap_compare_xattrs(const void *a, const void *b)
{
	const struct snap_xattr *x = a, *y = b;
	return strcmp(x->name, y->name);
}

/* Those change with the content, by the kernel's hand (integrity). */
static bool snap_xattr_counts(const char *name)
{
	return strcmp(name, "security.ima") && strcmp(name, "security.evm");
}

/* @fd: open, or -1: @path is looked at. */
static void take_xattrs(int fd, const char *path, struct snap *snap)
{
	char list[XATTR_LIST];
	ssize_t n = fd >= 0 ? flistxattr(fd, list, sizeof(list))
			    : llistxattr(path, list, sizeof(list));
	if (n <= 0)
		return;
	struct snap_extra *extra = snap->extra ?: extra_of(snap, 0);
	if (!extra)
		return;
	extra->xattrs = calloc(XATTRS, sizeof(*extra->xattrs));
	char *value = malloc(XATTR_VALUE);
	for (const char *name = list; extra->xattrs && value && name < list + n;
	     name += strlen(name) + 1) {
		if (!snap_xattr_counts(name) || extra->n_xattrs == XATTRS)
			continue;
		ssize_t size =
			fd >= 0 ? fgetxattr(fd, name, value, XATTR_VALUE)
				: lgetxattr(path, name, value, XATTR_VALUE);
		char *copy = strdup(name);
		if (!copy)
			break;
		extra->xattrs[extra->n_xattrs++] = (struct snap_xattr){
			.name = copy,
			.size = size > 0 ? (uint64_t)size : 0,
			.hash = size > 0 ? XXH3_64bits(value, (size_t)size) : 0,
		};
	}
	free(value);
	if (extra->xattrs && extra->n_xattrs)
		qsort(extra->xattrs, extra->n_xattrs, sizeof(*extra->xattrs),
		      snap_compare_xattrs);
}

static void take_xattrs_at(int dir, const char *name, struct snap *snap)
{
	if (dir == AT_FDCWD) {
		take_xattrs(-1, name, snap);
		return;
	}
	/* There is no llistxattrat() before Linux 6.13: through the folder. */
	char path[NAME_MAX + 64];
	int n = snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
	if (n > 0 && (size_t)n < sizeof(path))
		take_xattrs(-1, path, snap);
}

static bool take_budget(const struct snap_limits *limits, uint64_t size)
{
	if (limits->file && size > limits->file)
		return false;
	if (!limits->budget)
		return true;
	uint64_t left = atomic_load(limits->budget);
	while (left >= size) {
		if (atomic_compare_exchange_weak(limits->budget, &left,
						 left - size))
			return true;
	}
	return false;
}

/*
 * Reads a regular file. False: it is another one by now, or was changed
 * meanwhile; @ret is then as far as it came.
 */
static bool take_content(int dir, const char *name,
			 const struct snap_limits *limits, struct snap *ret)
{
	_cleanup_(closep) int fd = snap_open_file(dir, name);
	struct file_state stat;
	if (fd < 0) {
		if (errno == EACCES || errno == EPERM)
			take_xattrs_at(dir, name, ret);
		return errno != ENOENT && errno != ELOOP && errno != ENXIO;
	}
	if (!file_state_take(fd, NULL, &stat))
		return true;
	if (!S_ISREG(stat.mode) || stat.ino != ret->stat.ino)
		return false;
	snap_fill_stat(&stat, ret);
	int64_t n = hash_content(fd, stat.size, limits->text, ret);
	if (n == -2)
		return false;
	if (n >= 0) {
		ret->flags |= SNAP_HASHED;
		if (limits->hashed)
			atomic_fetch_add(limits->hashed, (uint64_t)n);
	}
	take_xattrs(fd, NULL, ret);
	return !file_state_take(fd, NULL, &stat) || snap_holds(ret, &stat);
}

static void snap_take_target(int dir, const char *name, struct snap *ret)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
	if (n < 0)
		return;
	ret->hash = XXH3_64bits(target, (size_t)n);
	ret->flags |= SNAP_HASHED;
	snap_keep_text(ret, target, (size_t)n);
}

static void take_once(int dir, const char *name, const struct file_state *stat,
		      const struct snap *prior,
		      const struct snap_limits *limits, struct snap *ret,
		      bool *ret_done)
{
	*ret_done = true;
	if (prior && snap_holds(prior, stat)) {
		snap_share(prior, ret);
		ret->stat.atime = stat->atime;
		return;
	}
	snap_fill_stat(stat, ret);
	if (ret->type == SNAP_LINK) {
		snap_take_target(dir, name, ret);
	} else if (ret->type == SNAP_FOLDER) {
		take_xattrs_at(dir, name, ret);
	} else if (ret->type == SNAP_FILE) {
		if (take_budget(limits, ret->stat.size))
			*ret_done = take_content(dir, name, limits, ret);
		else
			take_xattrs_at(dir, name, ret);
	}
}

void snap_take_stat(int dir, const char *name, const struct file_state *stat,
		    const struct snap *prior, const struct snap_limits *limits,
		    struct snap *ret)
{
	struct file_state again;
	bool done;
	for (int i = 0;; i++) {
		int64_t now = file_time_now();
		take_once(dir, name, stat, prior, limits, ret, &done);
		/* A prior one that holds is as good as it was. */
		if (file_time_is_racy(ret->stat.ctime, now))
			ret->flags |= SNAP_RACY;
		if (done)
			return;
		if (i == TRIES - 1)
			break;
		snap_free(ret);
		if (!file_state_take(dir, name, &again)) {
			snap_absent(ret);
			return;
		}
		stat = &again;
	}
	ret->flags |= SNAP_CHANGING;
}

void snap_take(int dir, const char *name, const struct snap *prior,
	       const struct snap_limits *limits, struct snap *ret)
{
	struct file_state stat;
	if (file_state_take(dir, name, &stat)) {
		snap_take_stat(dir, name, &stat, prior, limits, ret);
		return;
	}
	snap_absent(ret);
	if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG &&
	    errno != ELOOP)
		ret->type = SNAP_UNKNOWN;
}

void snap_absent(struct snap *ret)
{
	*ret = (struct snap){ .type = SNAP_ABSENT };
}

void snap_share(const struct snap *snap, struct snap *ret)
{
	*ret = *snap;
	if (ret->extra)
		atomic_fetch_add(&ret->extra->refs, 1);
}

void snap_free(struct snap *snap)
{
	struct snap_extra *extra = take_ptr(snap->extra);
	if (!extra || atomic_fetch_sub(&extra->refs, 1) != 1)
		return;
	for (size_t i = 0; i < extra->n_xattrs; i++)
		free(extra->xattrs[i].name);
	free(extra->xattrs);
	free(extra);
}

bool snap_same_inode(const struct snap *a, const struct snap *b)
{
	return snap_exists(a) && snap_exists(b) &&
	       file_state_is_same_file(&a->stat, &b->stat);
}

static bool content_differs(const struct snap *a, const struct snap *b)
{
	if (a->stat.size != b->stat.size ||
	    ((a->flags | b->flags) & SNAP_CHANGING))
		return true;
	if ((a->flags & b->flags & SNAP_HASHED) &&
	    (a->flags & SNAP_PARTIAL) == (b->flags & SNAP_PARTIAL))
		return a->hash != b->hash;
	/* Where content is not known, being written to has to do. */
	return snap_mtime(a) != snap_mtime(b);
}

static bool xattrs_differ(const struct snap *a, const struct snap *b)
{
	size_t n = a->extra ? a->extra->n_xattrs : 0;
	if (n != (b->extra ? b->extra->n_xattrs : 0))
		return true;
	for (size_t i = 0; i < n; i++) {
		const struct snap_xattr *x = &a->extra->xattrs[i];
		const struct snap_xattr *y = &b->extra->xattrs[i];
		if (x->hash != y->hash || x->size != y->size ||
		    strcmp(x->name, y->name))
			return true;
	}
	return false;
}

unsigned snap_differ(const struct snap *before, const struct snap *after)
{
	const struct snap *a = before, *b = after;
	if (a->type == SNAP_UNKNOWN || b->type == SNAP_UNKNOWN)
		return 0; /* without permission to look, nothing is known */
	if (a->type == SNAP_ABSENT || b->type == SNAP_ABSENT)
		return a->type == b->type ? 0 : DIFF_EXISTS;
	if (a->type != b->type)
		return DIFF_TYPE;

	unsigned diff = 0;
	if (a->type == SNAP_FILE && content_differs(a, b))
		diff |= DIFF_CONTENT;
	if (a->type == SNAP_DEVICE && a->stat.rdev != b->stat.rdev)
		diff |= DIFF_TYPE;
	if (a->type == SNAP_LINK)
		return a->hash != b->hash ? DIFF_TARGET : 0;
	if (snap_permissions(a) != snap_permissions(b))
		diff |= DIFF_MODE;
	if (a->stat.uid != b->stat.uid || a->stat.gid != b->stat.gid)
		diff |= DIFF_OWNER;
	if (a->type == SNAP_FILE && a->stat.nlink != b->stat.nlink &&
	    snap_same_inode(a, b))
		diff |= DIFF_LINKS;
	if (xattrs_differ(a, b))
		diff |= DIFF_XATTRS;
	return diff;
}

uint64_t snap_digest(const struct snap *snap)
{
	struct {
		uint64_t type, mode, uid, gid, size, hash, xattrs;
	} all = { .type = snap->type };
	if (snap_exists(snap) && snap->type != SNAP_LINK) {
		all.mode = snap_permissions(snap);
		all.uid = snap->stat.uid;
		all.gid = snap->stat.gid;
	}
	if (snap->type == SNAP_FILE)
		all.size = snap->stat.size;
	else if (snap->type == SNAP_DEVICE)
		all.size = snap->stat.rdev;
	if (snap->flags & SNAP_HASHED)
		all.hash = snap->hash;
	else if (snap->type == SNAP_FILE)
		all.hash = (uint64_t)snap_mtime(snap);
	for (size_t i = 0; snap->extra && i < snap->extra->n_xattrs; i++) {
		const struct snap_xattr *x = &snap->extra->xattrs[i];
		all.xattrs +=
			XXH3_64bits_withSeed(x->name, strlen(x->name), x->hash);
	}
	return XXH3_64bits(&all, sizeof(all));
}
