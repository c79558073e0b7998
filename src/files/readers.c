/*
 * Who reads files that were left changed. Names are roots as reports show them;
 * everything is text here, the file system is not asked.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/masked.h"
#include "base/path.h"
#include "files/files_internal.h"

struct reader_root {
	char *path;
	char *folder; /* that it lies in */
	bool masked;
	/*
	 * Looked at, or listed: that counts as reading, unless it is removed or
	 * overwritten afterwards, as who makes room does ("rm -rf").
	 */
	bool seen;
	bool read;
};

struct files_readers {
	pthread_mutex_t lock;
	struct reader_root *roots;
	size_t n;
	bool any_masked, any_seen;
	struct map_text paths; /* → number + 1, of roots without masks */
	/* Overwritten or removed since the last time: their own by now. */
	struct map_text written;
};

struct err *files_readers_create(const char *const *roots, size_t n,
				 const char *directory,
				 struct files_readers **ret)
{
	struct files_readers *readers = calloc(1, sizeof(*readers));
	if (!readers)
		return err_nomem();
	pthread_mutex_init(&readers->lock, NULL);
	readers->roots = calloc(n + 1, sizeof(*readers->roots));
	char *folder = NULL;
	struct err *err = readers->roots ? names_real(directory ?: ".", &folder)
					 : err_nomem();
	for (; !err && readers->n < n; readers->n++) {
		BUG_ON(!readers->roots);
		struct reader_root *root = &readers->roots[readers->n];
		const char *name = roots[readers->n];
		err = path_join(folder, strcmp(name, ".") ? name : "",
				&root->path);
		if (err)
			break;
		size_t length = strlen(root->path);
		if (length > 1 && root->path[length - 1] == '/')
			root->path[length - 1] = '\0';
		const char *slash = strrchr(root->path, '/');
		root->folder = strndup(root->path,
				       slash && slash != root->path
					       ? (size_t)(slash - root->path)
					       : 1);
		root->masked = masked_name(name);
		readers->any_masked |= root->masked;
		if (!root->folder)
			err = err_nomem();
		else if (!root->masked)
			err = map_text_put(&readers->paths, root->path,
					   readers->n + 1);
	}
	free(folder);
	if (err) {
		readers->n = MIN(readers->n + 1, n);
		files_readers_destroy(readers);
		return err;
	}
	*ret = readers;
	return NULL;
}

void files_readers_destroy(struct files_readers *readers)
{
	if (!readers)
		return;
	for (size_t i = 0; readers->roots && i < readers->n; i++) {
		free(readers->roots[i].path);
		free(readers->roots[i].folder);
	}
	free(readers->roots);
	map_text_free(&readers->paths);
	map_text_free(&readers->written);
	pthread_mutex_destroy(&readers->lock);
	free(readers);
}

/* Is @path, or a folder above it, in @map? */
static bool find_above(const struct map_text *map, const char *path,
		       uint64_t *ret)
{
	if (!map->map.n)
		return false;
	char part[4096];
	size_t n = strlen(path);
	if (n >= sizeof(part))
		return false;
	memcpy(part, path, n + 1);
	while (n > 0) {
		part[n] = '\0';
		if (map_text_get(map, part, ret))
			return true;
		while (n > 0 && part[--n] != '/')
			;
	}
	return false;
}

static void readers_mark_root(struct files_readers *readers,
			      struct reader_root *root, bool only_seen)
{
	root->seen |= only_seen;
	root->read |= !only_seen;
	readers->any_seen |= only_seen;
}

static void readers_note_path(struct files_readers *readers, const char *path,
			      bool only_seen)
{
	uint64_t at;
	if (find_above(&readers->written, path, &at))
		return;
	if (find_above(&readers->paths, path, &at))
		readers_mark_root(readers, &readers->roots[at - 1], only_seen);
	for (size_t i = 0; i < readers->n && readers->any_masked; i++) {
		struct reader_root *root = &readers->roots[i];
		if (root->masked && !root->read &&
		    masked_fits(root->path, path))
			readers_mark_root(readers, root, only_seen);
	}
}

static void note_listed(struct files_readers *readers, const char *path)
{
	uint64_t at;
	if (find_above(&readers->written, path, &at))
		return;
	for (size_t i = 0; i < readers->n; i++) {
		struct reader_root *root = &readers->roots[i];
		if (root->read ||
		    find_above(&readers->written, root->path, &at))
			continue;
		if (root->masked && masked_name(root->folder))
			root->seen |= masked_fits(root->folder, path) &&
				      strlen(path) >= strlen(root->folder);
		else
			root->seen |= !strcmp(root->folder, path);
		readers->any_seen |= root->seen;
	}
}

static void note_written(struct files_readers *readers, const char *path)
{
	struct err *err = map_text_put(&readers->written, path, 1);
	if (err)
		err_ignore(err);
	if (!readers->any_seen)
		return;
	/*
	 * With a folder goes what lies in it, also what was seen not to be
	 * there.
	 */
	size_t length = strlen(path);
	readers->any_seen = false;
	for (size_t i = 0; i < readers->n; i++) {
		struct reader_root *root = &readers->roots[i];
		if (root->seen &&
		    ((!strncmp(root->path, path, length) &&
		      (!root->path[length] || root->path[length] == '/')) ||
		     (root->masked && masked_fits(root->path, path))))
			root->seen = false;
		readers->any_seen |= root->seen;
	}
}

static void note_open(struct files_readers *readers,
		      const struct follow_event *event)
{
	bool both = (event->flags & O_ACCMODE) == O_RDWR;
	/*
	 * A program that insists on a file of its own depends on there being none;
	 * mkstemp(3) tries the next name.
	 */
	bool insists =
		(event->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) &&
		(event->mode & 07777) != 0600;
	/* Who would make it if there were none may not care, as for locks. */
	if (insists || (both && !(event->flags & O_TRUNC)))
		readers_note_path(readers, event->path,
				  !insists && event->flags & O_CREAT);
	if (event->flags & (O_TRUNC | O_EXCL))
		note_written(readers, event->path);
}

void files_readers_sink(void *data, const struct follow_event *event)
{
	struct files_readers *readers = data;
	if (!event->path || event->kind > FOLLOW_LIST)
		return;
	pthread_mutex_lock(&readers->lock);
	switch (event->kind) {
	case FOLLOW_READ:
		readers_note_path(readers, event->path,
				  event->flags & O_DIRECTORY);
		break;
	case FOLLOW_LOOK:
		readers_note_path(readers, event->path, true);
		break;
	case FOLLOW_LIST:
		readers_note_path(readers, event->path, true);
		note_listed(readers, event->path);
		break;
	case FOLLOW_OPEN:
		note_open(readers, event);
		break;
	case FOLLOW_REMOVE:
		note_written(readers, event->path);
		break;
	case FOLLOW_RENAME:
	case FOLLOW_LINK:
		/* Its content goes on under another name. */
		readers_note_path(readers, event->path, false);
		if (event->path2)
			note_written(readers, event->path2);
		if (event->kind == FOLLOW_RENAME)
			note_written(readers, event->path);
		break;
	default:
		break;
	}
	pthread_mutex_unlock(&readers->lock);
}

size_t files_readers_take(struct files_readers *readers, size_t *ret)
{
	size_t n = 0;
	pthread_mutex_lock(&readers->lock);
	for (size_t i = 0; i < readers->n; i++) {
		struct reader_root *root = &readers->roots[i];
		if (root->read || root->seen)
			ret[n++] = i;
		root->read = root->seen = false;
	}
	readers->any_seen = false;
	if (readers->written.map.n)
		map_text_free(&readers->written);
	pthread_mutex_unlock(&readers->lock);
	return n;
}
