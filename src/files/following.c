/*
 * Following: names are touched by system calls that are reported just before
 * they happen, so that the state before can be recorded.
 *
 * A key is a name as of the last point. Files keep theirs: both names of a
 * renaming are touched. A folder's renaming moves all below it, touched or not;
 * so while there is one, a name in a call stands for two keys: what is there
 * now had another name at the last point (following_path_before()), and what
 * had that name then is elsewhere now (following_path_now()).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/path.h"
#include "files/files_internal.h"

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif

/* Larger files that are mapped count by their stat data. */
#define MAPPED_HASHED ((uint64_t)1 << 20)
#define ENTRIES_KEPT 65536 /* names whose state is remembered */
#define RENAMES_MAX 1024
#define PENDING_MAX 16
#define TWINS_MAX 64 /* files whose other names are searched for */

static void rename_free(struct rename *rename)
{
	free(rename->old);
	free(rename->new);
}

static void renames_clear(struct renames *renames)
{
	for (size_t i = 0; i < renames->n; i++)
		rename_free(&renames->data[i]);
	renames->n = 0;
}

static void entry_free(struct touched_name *entry)
{
	snap_free(&entry->now);
	snap_free(&entry->before);
	free(entry->path);
	free(entry);
}

void following_free(struct files *files)
{
	for (size_t i = 0; i < files->all.n; i++)
		entry_free(files->all.data[i]);
	vec_free(&files->all);
	vec_free(&files->touched);
	vec_free(&files->open);
	map_text_free(&files->entries);
	renames_clear(&files->renames);
	renames_freep(&files->renames);
	renames_clear(&files->pending);
	renames_freep(&files->pending);
}

static struct err *entry_get(struct files *files, const char *path,
			     struct touched_name **ret)
{
	uint64_t value;
	if (map_text_get(&files->entries, path, &value)) {
		*ret = (struct touched_name *)(uintptr_t)value;
		return NULL;
	}
	struct touched_name *entry = calloc(1, sizeof(*entry));
	if (!entry)
		return err_nomem();
	entry->path = strdup(path);
	struct err *err = entry->path ? NULL : err_nomem();
	if (!err)
		err = vec_reserve(&files->all, files->all.n + 1);
	if (!err)
		err = map_text_put(&files->entries, path,
				   (uint64_t)(uintptr_t)entry);
	if (err) {
		entry_free(entry);
		return err;
	}
	entry->counts = names_counts(&files->names, path);
	files->all.data[files->all.n++] = entry;
	*ret = entry;
	return NULL;
}

/* @text with @from in front replaced by @to; NULL: it is not. */
static char *following_move_path(const char *text, const char *from,
				 const char *to)
{
	if (strcmp(text, from) && !path_is_below(text, from))
		return NULL;
	char *ret;
	return asprintf(&ret, "%s%s", to, text + strlen(from)) < 0 ? NULL : ret;
}

/*
 * One step, in place. False: the renaming took the name away, nothing that it
 * stood for before (after, if backwards) is there.
 */
static bool following_undo_rename(char **name, const struct rename *rename,
				  bool back)
{
	const char *from = back ? rename->new : rename->old;
	const char *to = back ? rename->old : rename->new;
	char *next = following_move_path(*name, from, to);
	if (!next && rename->exchange)
		next = following_move_path(*name, to, from);
	if (next) {
		free(*name);
		*name = next;
		return true;
	}
	return strcmp(*name, to) && !path_is_below(*name, to);
}

/* What the thing at @path was called at the last point; NULL: it was not. */
static char *following_path_before(const struct files *files, const char *path)
{
	char *name = strdup(path);
	for (size_t i = files->renames.n; i-- > 0 && name;) {
		if (!following_undo_rename(&name, &files->renames.data[i],
					   true)) {
			free(name);
			return NULL;
		}
	}
	return name;
}

/* Where what was called @path at the last point is now; NULL: gone. */
static char *following_path_now(const struct files *files, const char *path)
{
	char *name = strdup(path);
	for (size_t i = 0; i < files->renames.n && name; i++) {
		if (!following_undo_rename(&name, &files->renames.data[i],
					   false)) {
			free(name);
			return NULL;
		}
	}
	return name;
}

static bool is_inode(const char *path, uint64_t dev, uint64_t ino)
{
	struct stat st;
	return lstat(path, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

/*
 * What was written through another name of the file since the last point is in
 * this one, too: it was what that one was.
 */
static const struct snap *before_of_twin(const struct files *files,
					 const struct snap *snap)
{
	for (size_t i = 0; i < files->touched.n; i++) {
		const struct touched_name *entry = files->touched.data[i];
		if (snap_same_inode(&entry->before, snap))
			return &entry->before;
	}
	return NULL;
}

static void take_before(struct files *files, struct touched_name *entry,
			const char *where)
{
	struct snap now;
	snap_take(AT_FDCWD, where, entry->known ? &entry->now : NULL,
		  &files->limits, &now);
	const struct snap *twin = now.type == SNAP_FILE && now.stat.nlink > 1
					  ? before_of_twin(files, &now)
					  : NULL;
	if (twin) {
		snap_free(&now);
		snap_share(twin, &now);
	}
	entry->before = now;
}

/*
 * A touched name: @where its state as of the last point can be seen now; NULL:
 * there was nothing.
 */
static void touch_at(struct files *files, const char *key, const char *where,
		     unsigned marks, pid_t tid)
{
	struct touched_name *entry = NULL;
	struct err *err = entry_get(files, key, &entry);
	if (err) {
		err_ignore(err);
		return;
	}
	BUG_ON(!entry);
	if (!entry->counts)
		return;
	entry->marks |= marks;
	if (entry->touched)
		return;
	err = vec_reserve(&files->touched, files->touched.n + 1);
	if (err) {
		err_ignore(err);
		return;
	}
	entry->touched = true;
	entry->marks = marks;
	entry->creator = tid;
	files->counts.touched++;
	if (where)
		take_before(files, entry, where);
	else
		snap_absent(&entry->before);
	files->touched.data[files->touched.n++] = entry;
}

/*
 * What was made in a folder, or moved into it, before that was renamed has a
 * name now that no call mentions.
 */
static void touch_carried(struct files *files)
{
	/* A copy: touching grows what these lie in. */
	const struct rename rename = files->renames.data[files->renames.n - 1];
	size_t n = files->touched.n;
	for (size_t i = 0; i < n; i++) {
		const struct touched_name *entry = files->touched.data[i];
		if (entry->before.type != SNAP_ABSENT &&
		    !(entry->marks & TOUCH_MOVED))
			continue;
		_cleanup_(freep) char *name = NULL;
		if (path_is_below(entry->path, rename.old))
			name = following_move_path(entry->path, rename.old,
						   rename.new);
		else if (rename.exchange &&
			 path_is_below(entry->path, rename.new))
			name = following_move_path(entry->path, rename.new,
						   rename.old);
		if (!name)
			continue;
		_cleanup_(freep) char *there = following_path_now(files, name);
		touch_at(files, name, there, entry->marks, entry->creator);
	}
}

/* Calls are reported before they happen, and may have failed. */
static void settle_renames(struct files *files)
{
	size_t kept = 0;
	for (size_t i = 0; i < files->pending.n; i++) {
		struct rename *rename = &files->pending.data[i];
		if (is_inode(rename->new, rename->dev, rename->ino) &&
		    files->renames.n < RENAMES_MAX) {
			struct err *err = vec_push(&files->renames, *rename);
			if (!err) {
				touch_carried(files);
				continue;
			}
			err_ignore(err);
			rename_free(rename);
		} else if (is_inode(rename->old, rename->dev, rename->ino)) {
			files->pending.data[kept++] = *rename;
		} else {
			rename_free(rename);
		}
	}
	files->pending.n = kept;
}

/* Is there nothing at @path at this moment? */
static bool following_is_absent(const char *path)
{
	struct stat st;
	return lstat(path, &st) < 0 && errno == ENOENT;
}

static void following_touch_name(struct files *files, const char *path,
				 unsigned marks, pid_t tid)
{
	if (files->renames.n) {
		_cleanup_(freep) char *was = following_path_before(files, path);
		if (was && strcmp(was, path)) {
			touch_at(files, was, path, marks, tid);
			_cleanup_(freep) char *now =
				following_path_now(files, path);
			touch_at(files, path, now, marks, tid);
			return;
		}
		if (!was) {
			_cleanup_(freep) char *now =
				following_path_now(files, path);
			touch_at(files, path, now, marks, tid);
			return;
		}
	}
	touch_at(files, path, path, marks, tid);
}

/* "//", "/./" and a '/' at the end: textual, links are resolved already. */
static const char *following_clean_path(const char *path, char *buffer)
{
	size_t n = strlen(path);
	if (n >= PATH_MAX || path[0] != '/')
		return NULL;
	if (!strstr(path, "//") && !strstr(path, "/.") && path[n - 1] != '/')
		return path;
	size_t out = 0;
	while (*path) {
		path += strspn(path, "/");
		size_t part = strcspn(path, "/");
		if (part == 2 && !strncmp(path, "..", 2)) {
			while (out && buffer[--out] != '/')
				;
		} else if (part && !(part == 1 && *path == '.')) {
			buffer[out++] = '/';
			memcpy(buffer + out, path, part);
			out += part;
		}
		path += part;
	}
	if (!out)
		buffer[out++] = '/';
	buffer[out] = '\0';
	return buffer;
}

/* mkstemp(3): O_EXCL and 0600; mkdtemp(3): 0700. */
static bool makes_fresh(const struct follow_event *event)
{
	if (event->kind == FOLLOW_OPEN)
		return (event->flags & (O_CREAT | O_EXCL)) ==
			       (O_CREAT | O_EXCL) &&
		       (event->mode & 07777) == 0600;
	return event->kind == FOLLOW_CREATE &&
	       (event->number == SYS_mkdir || event->number == SYS_mkdirat) &&
	       (event->mode & 07777) == 0700;
}

static void note_rename(struct files *files, const char *old, const char *new,
			bool exchange)
{
	struct stat st, other;
	bool folders = lstat(old, &st) == 0 && S_ISDIR(st.st_mode);
	if (!folders && exchange)
		folders = lstat(old, &st) == 0 && lstat(new, &other) == 0 &&
			  S_ISDIR(other.st_mode);
	if (!folders || !strcmp(old, new))
		return;
	if (files->pending.n == PENDING_MAX) {
		rename_free(&files->pending.data[0]);
		memmove(files->pending.data, files->pending.data + 1,
			(PENDING_MAX - 1) * sizeof(*files->pending.data));
		files->pending.n--;
	}
	struct rename rename = {
		.old = strdup(old),
		.new = strdup(new),
		.exchange = exchange,
		.dev = st.st_dev,
		.ino = st.st_ino,
	};
	struct err *err = rename.old && rename.new
				  ? vec_push(&files->pending, rename)
				  : err_nomem();
	if (err) {
		err_ignore(err);
		rename_free(&rename);
	}
}

static bool following_is_folder(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Shared memory and semaphores have names there: process state. */
static bool is_shm_object(const char *path)
{
	return names_is_shm(path) && !following_is_folder(path);
}

static unsigned marks_of(const struct follow_event *event)
{
	switch (event->kind) {
	case FOLLOW_OPEN:
	case FOLLOW_CHANGE:
		return TOUCH_WROTE;
	case FOLLOW_TIMES:
		return TOUCH_TIMES;
	case FOLLOW_LINK:
	case FOLLOW_RENAME:
		return TOUCH_MOVED;
	default:
		return 0;
	}
}

void following_event(struct files *files, const struct follow_event *event)
{
	char buffer[PATH_MAX + 1], buffer2[PATH_MAX + 1];
	const char *path =
		event->path ? following_clean_path(event->path, buffer) : NULL;
	const char *path2 =
		event->path2 ? following_clean_path(event->path2, buffer2)
			     : NULL;
	unsigned marks = marks_of(event);

	if (event->kind > FOLLOW_XATTR ||
	    (files->left_over && files->left_over(files->data, event->tid)))
		return;
	/* The quick ones: nobody counts devices. */
	if (path && !names_counts_text(&files->names, path))
		path = NULL;
	if (path2 && !names_counts_text(&files->names, path2))
		path2 = NULL;
	if (path && event->kind != FOLLOW_CREATE && is_shm_object(path))
		path = NULL;
	/* It becomes what the other one is. */
	if (path2 && names_is_shm(path2) &&
	    !(path && following_is_folder(path)))
		path2 = NULL;
	if (files->pending.n)
		settle_renames(files);
	if (path) {
		if (makes_fresh(event) && following_is_absent(path))
			marks |= TOUCH_FRESH;
		following_touch_name(files, path, marks, event->tid);
	}
	if (path2)
		following_touch_name(files, path2, marks, event->tid);
	if (path && path2 && event->kind == FOLLOW_RENAME)
		note_rename(files, path, path2, event->flags & RENAME_EXCHANGE);
}

/*
 * A file lost the name by which it may have been written to: other names that
 * are known of it are looked at. Those that never were cannot be found.
 */
static struct err *touch_twins(struct files *files,
			       const struct touched_name *lost)
{
	for (size_t i = 0; i < files->all.n; i++) {
		struct touched_name *entry = files->all.data[i];
		if (entry->touched || !entry->known ||
		    !snap_same_inode(&entry->now, &lost->before) ||
		    !is_inode(entry->path, lost->before.stat.dev,
			      lost->before.stat.ino))
			continue;
		TRY(vec_push(&files->touched, entry));
		entry->touched = true;
		entry->marks = 0;
		snap_share(&lost->before, &entry->before);
	}
	return NULL;
}

/* A snapshot whose hash still holds if the times are the same. */
static const struct snap *following_find_hint(const struct touched_name *entry,
					      const struct snap *known)
{
	bool small =
		known->type == SNAP_FILE && known->stat.size <= MAPPED_HASHED;
	return entry->open && entry->mapped && small ? NULL : known;
}

struct err *following_deltas(struct files *files, struct deltas *ret)
{
	unsigned searches = 0;
	settle_renames(files);
	/* Written to without a call that is reported: through older descriptors. */
	for (size_t i = 0; i < files->open.n; i++) {
		struct touched_name *entry = files->open.data[i];
		if (entry->touched || !entry->known)
			continue;
		TRY(vec_push(&files->touched, entry));
		entry->touched = true;
		entry->marks = TOUCH_WROTE;
		snap_share(&entry->now, &entry->before);
	}
	TRY(vec_reserve(ret, files->touched.n));
	for (size_t i = 0; i < files->touched.n; i++) {
		struct touched_name *entry = files->touched.data[i];
		snap_free(&entry->now);
		snap_take(AT_FDCWD, entry->path,
			  following_find_hint(entry, &entry->before),
			  &files->limits, &entry->now);
		struct delta delta = {
			.path = entry->path,
			.before = &entry->before,
			.after = &entry->now,
			.marks = entry->marks,
			.creator = entry->creator,
		};
		TRY(vec_push(ret, delta));
		if (entry->before.type == SNAP_FILE &&
		    entry->before.stat.nlink > 1 && searches < TWINS_MAX &&
		    !snap_same_inode(&entry->before, &entry->now)) {
			searches++;
			TRY(touch_twins(files, entry));
		}
	}
	return NULL;
}

/* Forgets names that nobody touched lately, or that are not there. */
static void drop_entries(struct files *files)
{
	size_t kept = 0;
	map_text_free(&files->entries);
	for (size_t i = 0; i < files->all.n; i++) {
		struct touched_name *entry = files->all.data[i];
		struct err *err =
			entry->open ? map_text_put(&files->entries, entry->path,
						   (uint64_t)(uintptr_t)entry)
				    : NULL;
		if (err)
			err_ignore(err);
		if (entry->open)
			files->all.data[kept++] = entry;
		else
			entry_free(entry);
	}
	files->all.n = kept;
}

void following_commit(struct files *files, bool known)
{
	for (size_t i = 0; i < files->touched.n; i++) {
		struct touched_name *entry = files->touched.data[i];
		snap_free(&entry->before);
		entry->touched = false;
		entry->marks = 0;
		entry->known = known;
	}
	files->touched.n = 0;
	renames_clear(&files->renames);
	renames_clear(&files->pending);
	if (files->all.n > ENTRIES_KEPT)
		drop_entries(files);
}

struct err *following_open(struct files *files, const struct files_open *open,
			   size_t n_open)
{
	for (size_t i = 0; i < files->open.n; i++)
		files->open.data[i]->open = files->open.data[i]->mapped = false;
	files->open.n = 0;
	for (size_t i = 0; i < n_open; i++) {
		struct touched_name *entry = NULL;
		struct snap now;
		char buffer[PATH_MAX + 1];
		const char *path =
			open[i].path
				? following_clean_path(open[i].path, buffer)
				: NULL;
		if (!path || !names_counts_text(&files->names, path) ||
		    names_is_shm(path))
			continue;
		TRY(entry_get(files, path, &entry));
		BUG_ON(!entry);
		if (!entry->counts || entry->open)
			continue;
		entry->mapped = open[i].mapped;
		snap_take(AT_FDCWD, path,
			  entry->known ? following_find_hint(entry, &entry->now)
				       : NULL,
			  &files->limits, &now);
		/* Unlinked since, or another one by now: nobody's name. */
		if (now.type != SNAP_FILE || now.stat.ino != open[i].inode ||
		    now.stat.dev != open[i].device) {
			snap_free(&now);
			continue;
		}
		snap_free(&entry->now);
		entry->now = now;
		entry->known = true;
		TRY(vec_push(&files->open, entry));
		entry->open = true;
	}
	return NULL;
}
