#include "keep/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/log.h"
#include "base/masked.h"
#include "base/path.h"
#include "keep/keep_internal.h"

#define LOST_MAX 1000
#define TEXT_MAX 40
#define PARTS_MAX 2048 /* of a given path */
#define HELD_MAX 128   /* files that are held open */

/* ---- names ---- */

static bool keep_add_name(struct strv *names, const char *name, size_t limit)
{
	if (!strcmp(name, ".") || !strcmp(name, "..") ||
	    !strcmp(name, KEEP_OWN))
		return true;
	if (names->n >= limit) {
		errno = EOVERFLOW;
		return false;
	}
	struct err *err = strv_add(names, name);
	if (!err)
		return true;
	err_ignore(err);
	errno = ENOMEM;
	return false;
}

bool keep_names_list(int fd, size_t limit, struct strv *ret)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir) {
		int number = errno;
		closep(&copy);
		errno = number;
		return false;
	}
	struct strv names = {};
	bool ok = true;
	int number = 0;
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		ok = entry ? keep_add_name(&names, entry->d_name, limit)
			   : !errno;
		number = errno;
		if (!entry || !ok)
			break;
	}
	closedir(dir);
	if (!ok) {
		strv_free(&names);
		errno = number;
		return false;
	}
	if (names.n)
		qsort(names.data, names.n, sizeof(*names.data),
		      compare_as_text);
	*ret = names;
	return true;
}

int keep_open(int fd, int flags)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	/* Only its owner may look without leaving a trace, open(2). */
	int opened = open(path, flags | O_NOATIME);
	if (opened < 0 && errno == EPERM)
		opened = open(path, flags);
	return opened;
}

int keep_chmod(int fd, uint32_t mode)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, mode & 07777);
}

bool keep_unlock(int fd, const struct file_state *attr, uint32_t mode)
{
	return (attr->mode & mode) != mode && geteuid() != 0 &&
	       attr->uid == geteuid() && keep_chmod(fd, attr->mode | mode) == 0;
}

int keep_open_folder(int fd, const struct file_state *attr)
{
	int folder = keep_open(fd, O_RDONLY | O_DIRECTORY);
	bool shut = folder < 0 ? errno == EACCES
			       : geteuid() != 0 && !(attr->mode & 0100) &&
					 attr->uid == geteuid();
	if (!shut)
		return folder;
	closep(&folder);
	if (keep_chmod(fd, attr->mode | 0700) < 0) {
		errno = EACCES;
		return -1;
	}
	return keep_open(fd, O_RDONLY | O_DIRECTORY);
}

/* ---- nodes ---- */

static void node_free(struct keep_node *node)
{
	for (size_t i = 0; i < node->n; i++)
		node_free(&node->children[i]);
	if (node->held)
		close(node->held - 1);
	free(node->children);
	free(node->name);
	free(node->target);
	content_unref(node->content);
	xattrs_unref(node->xattrs);
	*node = (struct keep_node){};
}

const struct keep_node *node_child(const struct keep_node *node,
				   const char *name)
{
	size_t low = 0, high = node->n;
	while (low < high) {
		size_t at = low + (high - low) / 2;
		int order = strcmp(node->children[at].name, name);
		if (!order)
			return &node->children[at];
		if (order < 0)
			low = at + 1;
		else
			high = at;
	}
	return NULL;
}

static bool node_same(const struct keep_node *a, const struct keep_node *b)
{
	if (!a || !b)
		return a == b;
	if (a->attr.mode != b->attr.mode || a->attr.uid != b->attr.uid ||
	    a->attr.gid != b->attr.gid || a->content != b->content ||
	    a->attr.rdev != b->attr.rdev || a->n != b->n ||
	    !xattrs_same(a->xattrs, b->xattrs))
		return false;
	if ((a->target || b->target) &&
	    (!a->target || !b->target || strcmp(a->target, b->target)))
		return false;
	/* That of a folder says of its names what they say themselves. */
	if (!S_ISDIR(a->attr.mode) &&
	    !file_time_is_same(a->attr.mtime, b->attr.mtime))
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (strcmp(a->children[i].name, b->children[i].name) ||
		    !node_same(&a->children[i], &b->children[i]))
			return false;
	}
	return true;
}

/* ---- losing ---- */

void keeper_lose(struct keeper *keeper, struct told_path *told,
		 const char *name, const char *why)
{
	log_debug(LOG_KEEP, "%s is not kept or restored, because of '%s': %s",
		  told->shown, name ? name : "", why);
	if (told->said || keeper->lost.n >= LOST_MAX)
		return;
	told->said = true;
	_cleanup_(str_freep) struct str text = STR_INIT;
	struct err *err =
		str_append_escaped(&text, told->shown, strlen(told->shown));
	if (!err && name && name[0])
		err = str_append(&text, "/…/");
	if (!err && name)
		err = str_append_escaped(&text, name, strlen(name));
	if (!err)
		err = str_appendf(&text, ": %s", why);
	char *copy = err ? NULL : str_take(&text);
	if (!err && copy)
		err = vec_push(&keeper->lost, copy);
	if (err)
		free(copy);
	err_ignore(err);
}

const char *keeper_lost(const struct keeper *keeper, size_t i)
{
	return i < keeper->lost.n ? keeper->lost.data[i] : NULL;
}

/* ---- paths ---- */

bool keep_is_exact(const char *root)
{
	struct stat st;
	return root[0] && (!masked_name(root) || lstat(root, &st) == 0);
}

static void told_free(struct told_path *told)
{
	free(told->shown);
	free(told->path);
	free(told->name);
	vec_free(&told->ancestors);
	*told = (struct told_path){};
}

/* The next folder on the way to what @at leads to; 0: no more, -1: no name. */
static int next_part(const char **at, char *ret)
{
	BUG_ON(!*at);
	*at += strspn(*at, "/");
	size_t n = strcspn(*at, "/");
	const char *rest = *at + n;
	if (!n || !rest[strspn(rest, "/")])
		return 0; /* the name itself */
	if (n > NAME_MAX)
		return -1;
	memcpy(ret, *at, n);
	ret[n] = '\0';
	*at = rest;
	return 1;
}

/* One folder after the other, none of them a link; @make: those missing too. */
static int walk_to(const struct told_path *told, bool make)
{
	char part[NAME_MAX + 1];
	const char *at = told->path;
	int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_(closep) int folder = open("/", flags);
	for (size_t i = 0; folder >= 0 && i < PARTS_MAX; i++) {
		int more = next_part(&at, part);
		if (more < 0) {
			errno = ENAMETOOLONG;
			return -1;
		}
		if (!more)
			return take_fd(folder);
		int next = openat(folder, part, flags);
		if (next < 0 && errno == ENOENT && make) {
			struct ancestor was = { 0755, geteuid(), getegid() };
			if (i < told->ancestors.n)
				was = told->ancestors.data[i];
			if (mkdirat(folder, part, 0700) < 0)
				return -1;
			next = openat(folder, part, flags);
			if (next >= 0) {
				(void)!fchownat(next, "", was.uid, was.gid,
						AT_EMPTY_PATH);
				keep_chmod(next, was.mode);
			}
		}
		int number = errno;
		close(folder);
		folder = next;
		errno = number;
	}
	return -1;
}

int told_open(const struct told_path *told, bool make)
{
	_cleanup_(freep) char *folder = strdup(told->path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	if (!slash) {
		errno = ENOMEM;
		return -1;
	}
	slash[slash == folder] = '\0';
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, folder, &how, sizeof(how));
	if (fd >= 0 ||
	    (errno != ENOSYS && errno != EPERM && !(errno == ENOENT && make)))
		return fd;
	return walk_to(told, make);
}

static struct err *note_ancestors(struct told_path *told)
{
	char part[NAME_MAX + 1];
	const char *at = told->path;
	_cleanup_(closep) int folder =
		open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; folder >= 0 && i < PARTS_MAX; i++) {
		struct file_state attr;
		if (next_part(&at, part) <= 0)
			break;
		int next =
			openat(folder, part,
			       O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(folder);
		folder = next;
		if (folder < 0 || !file_state_take(folder, NULL, &attr))
			break;
		TRY(vec_push(
			&told->ancestors,
			(struct ancestor){ attr.mode, attr.uid, attr.gid }));
	}
	return NULL;
}

/* The longest part of @path that is there, without links, and the rest. */
static struct err *keep_resolve_path(const char *path, char **ret)
{
	_cleanup_(freep) char *folder = strdup(path);
	if (!folder)
		return err_nomem();
	for (char *slash; (slash = strrchr(folder, '/'));) {
		if (slash == folder)
			break;
		*slash = '\0';
		_cleanup_(freep) char *real = realpath(folder, NULL);
		if (real)
			return path_join(real, path + (slash - folder) + 1,
					 ret);
	}
	*ret = strdup(path);
	return *ret ? NULL : err_nomem();
}

/* From the root, dots gone. */
static struct err *path_whole(const char *path, char **ret)
{
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	_cleanup_(freep) char *shown = NULL;
	TRY(path_display(NULL, path, &shown));
	TRY(path_join(cwd ? cwd : "/", strcmp(shown, ".") ? shown : "", ret));
	size_t n = strlen(*ret);
	while (n > 1 && (*ret)[n - 1] == '/')
		(*ret)[--n] = '\0';
	return NULL;
}

static struct err *told_fill(const char *path, struct told_path *told)
{
	told->shallow = str_ends(path, "/");
	_cleanup_(freep) char *whole = NULL;
	TRY(path_whole(path, &whole));
	TRY(keep_resolve_path(whole, &told->path));
	const char *base = path_base(told->path);
	told->name = strdup(base[0] ? base : ".");
	told->shown = strdup(path);
	if (!told->name || !told->shown)
		return err_nomem();
	return note_ancestors(told);
}

static int compare_told(const void *a, const void *b)
{
	const struct told_path *x = a, *y = b;
	return path_compare(x->path, y->path);
}

static bool is_within(const char *path, const char *folder)
{
	return !strcmp(path, folder) || path_is_below(path, folder);
}

struct err *keeper_add(struct keeper *keeper, const char *path)
{
	struct told_path told = {};
	struct err *err = told_fill(path, &told);
	if (!err)
		err = vec_push(&keeper->told, told);
	if (err)
		told_free(&told);
	return err;
}

bool keeper_has(const struct keeper *keeper, const char *path)
{
	_cleanup_(freep) char *whole = NULL, *real = NULL;
	struct err *err = path_whole(path, &whole);
	if (!err)
		err = keep_resolve_path(whole, &real);
	bool found = false;
	for (size_t i = 0; !err && !found && i < keeper->told.n; i++)
		found = keeper->told.data[i].shallow
				? !strcmp(real, keeper->told.data[i].path)
				: is_within(real, keeper->told.data[i].path);
	err_ignore(err);
	return found;
}

/* ---- what may go ---- */

/* All of it is kept: it can be had again wherever it went. */
static struct err *note_safe(struct keeper *keeper,
			     const struct keep_node *node)
{
	if (node->content)
		TRY(map_u64_put(&keeper->safe, file_state_key(&node->attr),
				(uint64_t)file_time_ns(node->attr.btime)));
	for (size_t i = 0; i < node->n; i++)
		TRY(note_safe(keeper, &node->children[i]));
	return NULL;
}

bool keeper_may_remove(const struct keeper *keeper,
		       const struct file_state *attr)
{
	int64_t born = file_time_ns(attr->btime);
	uint64_t kept;
	if (!S_ISREG(attr->mode) || attr->nlink > 1 || !born ||
	    born >= keeper->since)
		return true;
	return map_u64_get(&keeper->safe, file_state_key(attr), &kept) &&
	       kept == (uint64_t)born;
}

struct err *keeper_create(const char *const *paths, size_t n,
			  struct keeper **ret)
{
	_cleanup_(keeper_destroyp) struct keeper *keeper =
		calloc(1, sizeof(*keeper));
	struct stat st;
	if (!keeper)
		return err_nomem();
	keeper->contents = (struct keep_contents)CONTENTS_INIT;
	keeper->since = file_time_now();
	if (stat(".", &st) == 0) {
		keeper->cwd_dev = st.st_dev;
		keeper->cwd_ino = st.st_ino;
	}
	for (size_t i = 0; i < n; i++) {
		if (paths[i][0])
			TRY(keeper_add(keeper, paths[i]));
	}
	if (keeper->told.n)
		qsort(keeper->told.data, keeper->told.n,
		      sizeof(*keeper->told.data), compare_told);
	*ret = take_ptr(keeper);
	return NULL;
}

void keeper_destroy(struct keeper *keeper)
{
	if (!keeper)
		return;
	for (size_t i = 0; i < keeper->told.n; i++)
		told_free(&keeper->told.data[i]);
	vec_free(&keeper->told);
	for (size_t i = 0; i < keeper->lost.n; i++)
		free(keeper->lost.data[i]);
	vec_free(&keeper->lost);
	keep_contents_free(&keeper->contents);
	map_u64_free(&keeper->safe);
	free(keeper);
}

size_t keeper_count(const struct keeper *keeper)
{
	return keeper->told.n;
}

const char *keeper_path(const struct keeper *keeper, size_t i)
{
	BUG_ON(i >= keeper->told.n);
	return keeper->told.data[i].shown;
}

char *keeper_root(const struct keeper *keeper, size_t i)
{
	const char *path = keeper_path(keeper, i);
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

/* ---- taking ---- */

struct taking {
	struct keeper *keeper;
	struct told_path *told;
	enum keep_take take;
	size_t left; /* names that may still be taken */
	bool lost;
};

static void taking_lose_name(struct taking *taking, const char *name,
			     const char *why)
{
	taking->lost = true;
	keeper_lose(taking->keeper, taking->told, name, why);
}

static struct err *taking_read_file(struct taking *taking, int fd,
				    struct keep_node *node)
{
	struct keep_contents *contents = &taking->keeper->contents;
	const char *why = NULL;
	_cleanup_(closep) int file = keep_open(fd, O_RDONLY);
	if (file < 0) {
		node->alone = true;
		keeper_lose(taking->keeper, taking->told, node->name,
			    strerror(errno));
		return NULL;
	}
	TRY(keep_contents_take(contents, file, &node->content, &why));
	if (!node->content) {
		taking_lose_name(taking, node->name,
				 why ? why : "it cannot be read");
		return NULL;
	}
	return xattrs_take(fd, &node->xattrs);
}

/*
 * Writing to it changes what all its names lead to, and what is written to an
 * open one does not arrive in a copy.
 */
static void taking_hold_file(struct taking *taking, int fd,
			     struct keep_node *node)
{
	struct keeper *keeper = taking->keeper;
	if (taking->take == TAKE_LATER ||
	    (node->attr.nlink < 2 && taking->take != TAKE_FIRST_OPEN))
		return;
	int held = keeper->held < HELD_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (held < 0) {
		keeper_lose(keeper, taking->told, node->name,
			    "there are too many files with several names");
		return;
	}
	keeper->held++;
	node->held = held + 1;
}

static struct err *take_file(struct taking *taking, int fd,
			     struct keep_node *node)
{
	struct keep_contents *contents = &taking->keeper->contents;
	taking_hold_file(taking, fd, node);
	const struct seen *seen = keep_contents_seen(contents, &node->attr);
	if (seen) {
		node->content = seen->content;
		content_ref(node->content);
		node->xattrs = xattrs_ref(seen->xattrs);
		return NULL;
	}
	bool shut = keep_unlock(fd, &node->attr, 0400);
	struct err *err = taking_read_file(taking, fd, node);
	if (shut)
		keep_chmod(fd, node->attr.mode);
	if (err || !node->content || !file_state_take(fd, NULL, &node->attr))
		return err;
	return keep_contents_note(contents, &node->attr, node->content,
				  node->xattrs);
}

static struct err *taking_read_target(int fd, struct keep_node *node)
{
	char target[PATH_MAX + 1];
	ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);
	if (n < 0) {
		node->alone = true;
		return NULL;
	}
	target[n] = '\0';
	node->target = strdup(target);
	return node->target ? NULL : err_nomem();
}

static struct err *take_node(struct taking *taking, int dir, uint64_t dev,
			     const char *name, unsigned depth,
			     struct keep_node *node, bool *ret_there);

static struct err *take_children(struct taking *taking, int folder,
				 struct keep_node *node, unsigned depth)
{
	struct strv names = {};
	if (!keep_names_list(folder, taking->left, &names)) {
		taking_lose_name(taking, node->name,
				 errno == EOVERFLOW
					 ? "there is more than can be kept"
					 : strerror(errno));
		return NULL;
	}
	node->children = calloc(names.n + 1, sizeof(*node->children));
	struct err *err = node->children ? NULL : err_nomem();
	for (size_t i = 0; i < names.n && !err && !taking->lost; i++) {
		bool there = false;
		err = take_node(taking, folder, node->attr.dev, names.data[i],
				depth + 1, &node->children[node->n], &there);
		if (err || there)
			node->n++;
	}
	strv_free(&names);
	return err;
}

/* Closes @fd: of each folder on the way one descriptor is open. */
static struct err *take_folder(struct taking *taking, int *fd,
			       struct keep_node *node, unsigned depth)
{
	if (depth >= KEEP_DEPTH_MAX) {
		taking_lose_name(taking, node->name, "it is nested too deeply");
		return NULL;
	}
	_cleanup_(closep) int folder = keep_open_folder(*fd, &node->attr);
	if (folder < 0) {
		taking_lose_name(taking, node->name, strerror(errno));
		return NULL;
	}
	struct err *err = xattrs_take(*fd, &node->xattrs);
	close(take_fd(*fd));
	if (!err && (depth || !taking->told->shallow))
		err = take_children(taking, folder, node, depth);
	struct file_state now;
	if (file_state_take(folder, NULL, &now) && now.mode != node->attr.mode)
		keep_chmod(folder, node->attr.mode);
	return err;
}

/* @dev: of the folder it is in. */
static struct err *take_node(struct taking *taking, int dir, uint64_t dev,
			     const char *name, unsigned depth,
			     struct keep_node *node, bool *ret_there)
{
	if (!taking->left) {
		taking_lose_name(taking, depth ? name : "",
				 "there is more than can be kept");
		return NULL;
	}
	taking->left--;
	_cleanup_(closep) int fd =
		openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	if (fd < 0 || !file_state_take(fd, NULL, &node->attr)) {
		taking_lose_name(taking, depth ? name : "", strerror(errno));
		return NULL;
	}
	node->name = strdup(depth ? name : "");
	if (!node->name)
		return err_nomem();
	*ret_there = true;
	/* Other file systems are not restored, unless given. */
	if (depth && (node->attr.mount || node->attr.dev != dev)) {
		node->alone = true;
		return NULL;
	}
	switch (node->attr.mode & S_IFMT) {
	case S_IFREG:
		return take_file(taking, fd, node);
	case S_IFLNK:
		return taking_read_target(fd, node);
	case S_IFDIR:
		return take_folder(taking, &fd, node, depth);
	default:
		return NULL;
	}
}

static bool is_pseudo(const char *path)
{
	return is_within(path, "/proc") || is_within(path, "/sys");
}

static struct err *take_path(struct taking *taking, struct kept_path *kept)
{
	struct told_path *told = taking->told;
	if (is_pseudo(told->path)) {
		taking_lose_name(taking, "", "it is no file");
		kept->lost = true;
		return NULL;
	}
	_cleanup_(closep) int dir = told_open(told, false);
	if (dir < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return NULL;
		taking_lose_name(taking, "",
				 errno == ELOOP
					 ? "a folder on the way became a link"
					 : strerror(errno));
		kept->lost = true;
		return NULL;
	}
	kept->node = calloc(1, sizeof(*kept->node));
	if (!kept->node)
		return err_nomem();
	bool there = false;
	TRY(take_node(taking, dir, 0, told->name, 0, kept->node, &there));
	if (taking->lost || !there) {
		node_free(kept->node);
		free(take_ptr(kept->node));
	}
	kept->lost = taking->lost;
	return kept->node && taking->take != TAKE_LATER
		       ? note_safe(taking->keeper, kept->node)
		       : NULL;
}

struct err *keeper_take_one(struct keeper *keeper, size_t i,
			    enum keep_take take, struct kept_path *ret)
{
	BUG_ON(i >= keeper->told.n);
	struct taking taking = {
		.keeper = keeper,
		.told = &keeper->told.data[i],
		.take = take,
		.left = KEEP_FILES_MAX,
	};
	*ret = (struct kept_path){};
	return take_path(&taking, ret);
}

struct err *keeper_take(struct keeper *keeper, struct kept **ret)
{
	size_t n = keeper->told.n;
	_cleanup_(kept_destroyp) struct kept *kept =
		calloc(1, sizeof(*kept) + n * sizeof(kept->paths[0]));
	if (!kept)
		return err_nomem();
	kept->n = n;
	size_t left = KEEP_FILES_MAX;
	const struct told_path *outer = NULL; /* that was kept */
	for (size_t i = 0; i < n; i++) {
		struct taking taking = {
			.keeper = keeper,
			.told = &keeper->told.data[i],
			.take = keeper->began ? TAKE_LATER : TAKE_FIRST,
			.left = left,
		};
		if (outer && is_within(taking.told->path, outer->path)) {
			kept->paths[i].covered = true;
			continue;
		}
		TRY(take_path(&taking, &kept->paths[i]));
		if (kept->paths[i].lost)
			continue;
		left = taking.left;
		if (!taking.told->shallow)
			outer = taking.told;
	}
	keeper->began |= n > 0;
	*ret = take_ptr(kept);
	return NULL;
}

void kept_path_free(struct kept_path *path)
{
	if (path->node)
		node_free(path->node);
	free(path->node);
	*path = (struct kept_path){};
}

void kept_destroy(struct kept *kept)
{
	for (size_t i = 0; kept && i < kept->n; i++)
		kept_path_free(&kept->paths[i]);
	free(kept);
}

bool kept_whole(const struct kept *kept)
{
	for (size_t i = 0; i < kept->n; i++) {
		if (kept->paths[i].lost)
			return false;
	}
	return true;
}

bool kept_same(const struct kept *a, const struct kept *b, size_t i)
{
	BUG_ON(i >= a->n || i >= b->n);
	const struct kept_path *x = &a->paths[i], *y = &b->paths[i];
	if (x->lost || y->lost || x->covered || y->covered)
		return true;
	return node_same(x->node, y->node);
}

static char *file_text(const struct keep_node *node)
{
	const struct content *content = node->content;
	_cleanup_(str_freep) struct str text = STR_INIT;
	struct err *err = str_appendf(&text, "%llu byte%s",
				      (unsigned long long)content->size,
				      content->size == 1 ? "" : "s");
	if (!err && content->data && content->size &&
	    content->size <= TEXT_MAX) {
		err = str_append(&text, ": \"");
		if (!err)
			err = str_append_escaped(&text, content->data,
						 (size_t)content->size);
		if (!err)
			err = str_append(&text, "\"");
	}
	err_ignore(err);
	return str_take(&text);
}

char *kept_text(const struct kept *kept, size_t i)
{
	BUG_ON(i >= kept->n);
	const struct keep_node *node = kept->paths[i].node;
	char *text = NULL;
	if (kept->paths[i].lost)
		return strdup("unknown");
	if (!node)
		return strdup("absent");
	if (node->content)
		return file_text(node);
	if (node->target)
		return asprintf(&text, "link to %s", node->target) < 0 ? NULL
								       : text;
	if (S_ISDIR(node->attr.mode))
		return asprintf(&text, "folder of %zu", node->n) < 0 ? NULL
								     : text;
	return strdup("present");
}
