/*
 * From names that may differ to what happened: renames are put together, folders
 * that came or went are reported without their entries, and several names of one
 * file are reported once.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/path.h"
#include "files/files_internal.h"

#define TAKEN_MAX 4096 /* further looks at names in renamed folders */
/* What belongs to the file, whichever of its names it is seen by. */
#define DIFF_INODE                                                             \
	(DIFF_CONTENT | DIFF_MODE | DIFF_OWNER | DIFF_XATTRS | DIFF_LINKS |    \
	 DIFF_TIMES)

struct comparison {
	struct files *files;
	struct delta **sorted;
	size_t n;
	struct map_u64 by_inode;
	VEC(struct snap *) taken; /* looked at here */
};

static void comparison_free(struct comparison *c)
{
	map_u64_free(&c->by_inode);
	for (size_t i = 0; i < c->taken.n; i++) {
		snap_free(c->taken.data[i]);
		free(c->taken.data[i]);
	}
	vec_free(&c->taken);
	free(c->sorted);
}

static uint64_t inode_key(const struct snap *snap)
{
	return file_state_key(&snap->stat);
}

static bool moved_away(const struct delta *delta)
{
	return snap_exists(delta->before) &&
	       !snap_same_inode(delta->before, delta->after);
}

static bool moved_here(const struct delta *delta)
{
	return snap_exists(delta->after) &&
	       !snap_same_inode(delta->before, delta->after);
}

/* Times count where they were set: otherwise writing sets them. */
static bool times_differ(const struct files *files, const struct delta *delta)
{
	int64_t now = snap_mtime(delta->after);
	if (!snap_exists(delta->before) || !snap_exists(delta->after) ||
	    snap_mtime(delta->before) == now)
		return false;
	if (!files->walking)
		return delta->marks & TOUCH_TIMES;
	/* Another file that was put in its place brings its own. */
	if (!snap_same_inode(delta->before, delta->after))
		return false;
	return now < files->point - FILE_TIME_TICK ||
	       now > files->begin + 1000 * FILE_TIME_TICK;
}

static unsigned comparison_kinds_of(const struct files *files,
				    const struct delta *delta)
{
	unsigned diff = snap_differ(delta->before, delta->after);
	if (!(diff & (DIFF_EXISTS | DIFF_TYPE | DIFF_CONTENT)) &&
	    times_differ(files, delta))
		diff |= DIFF_TIMES;
	return diff;
}

static int compare_deltas(const void *a, const void *b)
{
	const struct delta *const *x = a, *const *y = b;
	return path_compare((*x)->path, (*y)->path);
}

static struct delta *comparison_find_delta(const struct comparison *c,
					   const char *path)
{
	struct delta key = { .path = path }, *p = &key;
	struct delta **at = bsearch(&p, c->sorted, c->n, sizeof(*c->sorted),
				    compare_deltas);
	return at ? *at : NULL;
}

/* Without system calls to go by, equal inodes have to do. */
static bool may_be_moved(const struct comparison *c, const struct delta *delta)
{
	return c->files->walking || (delta->marks & TOUCH_MOVED);
}

static struct err *pair_renames(struct comparison *c)
{
	bool any = false;
	for (size_t i = c->n; i-- > 0;) {
		struct delta *delta = c->sorted[i];
		if (!moved_here(delta) || !may_be_moved(c, delta))
			continue;
		any = true;
		TRY(map_u64_put(&c->by_inode, inode_key(delta->after), i));
	}
	for (size_t i = 0; i < c->n && any; i++) {
		struct delta *delta = c->sorted[i];
		uint64_t at;
		if (!moved_away(delta) || !may_be_moved(c, delta) ||
		    !map_u64_get(&c->by_inode, inode_key(delta->before), &at))
			continue;
		struct delta *to = c->sorted[at];
		if (to->from || !snap_same_inode(delta->before, to->after))
			continue;
		delta->to = to;
		to->from = delta;
	}
	map_u64_free(&c->by_inode);
	return NULL;
}

/* A name below a renamed folder as it is now, under the new one. */
static struct err *look_moved(struct comparison *c, struct delta *delta,
			      const char *now)
{
	struct delta *there = comparison_find_delta(c, now);
	if (there) {
		if (!snap_exists(there->before) && !there->from)
			there->done = snap_exists(there->after);
		delta->after = there->after;
		return NULL;
	}
	if (c->files->walking || c->taken.n >= TAKEN_MAX)
		return NULL;
	struct snap *snap = calloc(1, sizeof(*snap));
	struct err *err = snap ? vec_push(&c->taken, snap) : err_nomem();
	if (err) {
		free(snap);
		return err;
	}
	snap_take(AT_FDCWD, now, delta->before, &c->files->limits, snap);
	delta->after = snap;
	return NULL;
}

/* What is below a folder that was renamed went along. */
static struct err *imply_renames(struct comparison *c)
{
	VEC(struct delta *) above = VEC_INIT;
	struct err *err = NULL;
	for (size_t i = 0; i < c->n && !err; i++) {
		struct delta *delta = c->sorted[i];
		while (above.n && !path_is_below(delta->path,
						 above.data[above.n - 1]->path))
			above.n--;
		if (above.n && snap_exists(delta->before) &&
		    !snap_exists(delta->after)) {
			const struct delta *folder = above.data[above.n - 1];
			char now[PATH_MAX];
			int n = snprintf(now, sizeof(now), "%s%s",
					 folder->to->path,
					 delta->path + strlen(folder->path));
			if (n < 0 || n >= PATH_MAX)
				continue;
			if (delta->to && strcmp(delta->to->path, now)) {
				; /* elsewhere: a renaming of its own */
			} else if (delta->to) {
				delta->to->done = true;
				delta->after = delta->to->after;
				delta->to = delta->to->from = NULL;
				delta->diff =
					comparison_kinds_of(c->files, delta);
			} else {
				err = look_moved(c, delta, now);
				delta->diff =
					comparison_kinds_of(c->files, delta);
			}
		}
		if (!err && delta->to && delta->before->type == SNAP_FOLDER)
			err = vec_push(&above, delta);
	}
	vec_free(&above);
	return err;
}

struct comparison_listing {
	const struct files *files;
	char path[PATH_MAX];
	size_t folder; /* of the path that is not theirs */
	size_t n;
	uint64_t names;
};

static void list_entries(struct comparison_listing *list, size_t length,
			 unsigned depth)
{
	int fd = open(list->path,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		closep(&fd);
		return;
	}
	const struct dirent *entry;
	while (list->n < ENTRIES_MAX && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		size_t n = strlen(name);
		if (!strcmp(name, ".") || !strcmp(name, "..") ||
		    length + n + 2 > sizeof(list->path))
			continue;
		list->path[length] = '/';
		memcpy(list->path + length + 1, name, n + 1);
		if (names_counts_text(&list->files->names, list->path)) {
			list->n++;
			list->names +=
				XXH3_64bits(list->path + list->folder,
					    length + 1 + n - list->folder);
			struct stat st;
			bool folder = entry->d_type == DT_DIR ||
				      (entry->d_type == DT_UNKNOWN &&
				       lstat(list->path, &st) == 0 &&
				       S_ISDIR(st.st_mode));
			if (folder && depth < DEPTH_MAX)
				list_entries(list, length + 1 + n, depth + 1);
		}
		list->path[length] = '\0';
	}
	closedir(dir);
}

/* A folder that was made: what is in it now, no matter who put it there. */
static void count_entries(const struct comparison *c, struct delta *top)
{
	struct comparison_listing list = { .files = c->files };
	size_t n = strlen(top->path);
	if (n >= sizeof(list.path))
		return;
	memcpy(list.path, top->path, n + 1);
	list.folder = n;
	list_entries(&list, n, 0);
	top->entries = list.n;
	top->names = list.names;
}

/* Folders that came or went stand for all that is in them. */
static void comparison_absorb_folders(struct comparison *c)
{
	struct delta *top = NULL;
	bool came = false;
	for (size_t i = 0; i < c->n; i++) {
		struct delta *delta = c->sorted[i];
		if (top && path_is_below(delta->path, top->path)) {
			if (came ? delta->before->type != SNAP_ABSENT
				 : delta->after->type != SNAP_ABSENT)
				continue;
			if (!came && (!snap_exists(delta->before) || delta->to))
				continue;
			if (came && !snap_exists(delta->after))
				continue;
			delta->top = top;
			top->entries++;
			top->names += XXH3_64bits(
				delta->path + strlen(top->path),
				strlen(delta->path) - strlen(top->path));
			continue;
		}
		top = NULL;
		bool was = delta->before->type == SNAP_FOLDER;
		bool is = delta->after->type == SNAP_FOLDER;
		if (was == is || delta->done || delta->to || delta->from ||
		    delta->before->type == SNAP_UNKNOWN ||
		    delta->after->type == SNAP_UNKNOWN)
			continue;
		top = delta;
		came = is;
	}
	for (size_t i = 0; i < c->n && !c->files->walking; i++) {
		struct delta *delta = c->sorted[i];
		if (!delta->top && !delta->done && !delta->from &&
		    delta->before->type != SNAP_FOLDER &&
		    delta->after->type == SNAP_FOLDER)
			count_entries(c, delta);
	}
}

/* How many more names a file has, by what is reported anyway. */
static struct err *explain_links(struct comparison *c)
{
	bool any = false;
	for (size_t i = 0; i < c->n; i++)
		any |= c->sorted[i]->diff & DIFF_LINKS;
	if (!any)
		return NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct delta *delta = c->sorted[i];
		uint64_t sum = 0;
		if (moved_away(delta)) {
			map_u64_get(&c->by_inode, inode_key(delta->before),
				    &sum);
			TRY(map_u64_put(&c->by_inode, inode_key(delta->before),
					sum - 1));
		}
		sum = 0;
		if (moved_here(delta)) {
			map_u64_get(&c->by_inode, inode_key(delta->after),
				    &sum);
			TRY(map_u64_put(&c->by_inode, inode_key(delta->after),
					sum + 1));
		}
	}
	for (size_t i = 0; i < c->n; i++) {
		struct delta *delta = c->sorted[i];
		uint64_t sum = 0;
		if (!(delta->diff & DIFF_LINKS))
			continue;
		map_u64_get(&c->by_inode, inode_key(delta->before), &sum);
		if ((int64_t)sum == (int64_t)delta->after->stat.nlink -
					    (int64_t)delta->before->stat.nlink)
			delta->diff &= ~DIFF_LINKS;
	}
	map_u64_free(&c->by_inode);
	return NULL;
}

/* A file with several names is reported under the one that was written to. */
static struct err *choose_names(struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct delta *delta = c->sorted[i];
		uint64_t at;
		if (!delta->diff || (delta->diff & ~DIFF_INODE) ||
		    delta->after->stat.nlink < 2 || delta->done ||
		    delta->after->type != SNAP_FILE ||
		    !snap_same_inode(delta->before, delta->after))
			continue;
		if (!map_u64_get(&c->by_inode, inode_key(delta->after), &at)) {
			TRY(map_u64_put(&c->by_inode, inode_key(delta->after),
					i));
			continue;
		}
		struct delta *other = c->sorted[at];
		if ((delta->marks & TOUCH_WROTE) &&
		    !(other->marks & TOUCH_WROTE)) {
			TRY(map_u64_put(&c->by_inode, inode_key(delta->after),
					i));
			other->done = true;
		} else {
			delta->done = true;
		}
	}
	return NULL;
}

/*
 * By name: what a rename reports is not reported again. A name whose old file
 * went elsewhere and whose new file came from elsewhere needs no report of its
 * own.
 */
static void settle_names(struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct delta *delta = c->sorted[i];
		if (!delta->to && !delta->from)
			continue;
		bool before = !snap_exists(delta->before) || delta->to;
		bool after = !snap_exists(delta->after) || delta->from;
		if (!before || !after)
			continue;
		delta->diff = delta->to ? snap_differ(delta->before,
						      delta->to->after) &
						  ~DIFF_LINKS
					: 0;
	}
}

struct err *compare_tell(struct files *files, struct deltas *deltas, pid_t pid,
			 struct changes *ret)
{
	_cleanup_(comparison_free) struct comparison c = { .files = files };
	size_t n = 0;
	for (size_t i = 0; i < deltas->n; i++) {
		struct delta *delta = &deltas->data[i];
		delta->diff = comparison_kinds_of(files, delta);
		n += delta->diff || moved_away(delta) || moved_here(delta);
	}
	if (!n)
		return NULL;
	c.sorted = calloc(n, sizeof(*c.sorted));
	if (!c.sorted)
		return err_nomem();
	for (size_t i = 0; i < deltas->n; i++) {
		struct delta *delta = &deltas->data[i];
		if (delta->diff || moved_away(delta) || moved_here(delta))
			c.sorted[c.n++] = delta;
	}
	qsort(c.sorted, c.n, sizeof(*c.sorted), compare_deltas);
	TRY(pair_renames(&c));
	TRY(imply_renames(&c));
	comparison_absorb_folders(&c);
	TRY(explain_links(&c));
	TRY(choose_names(&c));
	settle_names(&c);
	return files_tell_changes(files, c.sorted, c.n, pid, ret);
}
