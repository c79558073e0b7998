/* Deltas as changes: roots, paths, texts, weights. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/masked.h"
#include "files/files_internal.h"

/* More names than that in one folder are reported together. */
#define CROWD 32
#define PARTS_MAX 1000 /* kept of a change, to see whether it is undone */

struct teller {
	struct files *files;
	struct changes *ret;
	struct map_text masked; /* root → number of change */
	struct map_text crowds; /* folder → names that came or went in it */
};

static void teller_free(struct teller *teller)
{
	map_text_free(&teller->crowds);
	map_text_free(&teller->masked);
}

void told_clear(struct told *told)
{
	for (size_t i = 0; i < told->parts.n; i++) {
		free(told->parts.data[i].path);
		snap_free(&told->parts.data[i].before);
	}
	vec_free(&told->parts);
}

/* Takes the texts over, also where it fails. */
static struct err *tell_add_path(const struct files *files,
				 struct change *change, const char *what,
				 char *before, char *after)
{
	_cleanup_(freep) char *a = before, *b = after, *path = NULL;
	if (!a || !b)
		return err_nomem();
	if (change->n >= files->paths) {
		change->more++;
		return NULL;
	}
	if (asprintf(&path, "%s%s%s", change->root, what ? ": " : "",
		     what ?: "") < 0) {
		path = NULL;
		return err_nomem();
	}
	struct change_path *paths = realloc(
		change->paths, (change->n + 1) * sizeof(*change->paths));
	if (!paths)
		return err_nomem();
	change->paths = paths;
	paths[change->n++] = (struct change_path){
		.path = take_ptr(path),
		.before = take_ptr(a),
		.after = take_ptr(b),
	};
	return NULL;
}

static char *mode_text(const struct snap *snap)
{
	char *text;
	return asprintf(&text, "%04o", snap_permissions(snap)) < 0 ? NULL
								   : text;
}

static char *owner_text(const struct snap *snap)
{
	char *text;
	return asprintf(&text, "%u:%u", snap->stat.uid, snap->stat.gid) < 0
		       ? NULL
		       : text;
}

static char *links_text(const struct snap *snap)
{
	char *text;
	return asprintf(&text, "%u", snap->stat.nlink) < 0 ? NULL : text;
}

static char *xattr_text(const struct snap_xattr *xattr)
{
	char *text;
	if (!xattr)
		return strdup("absent");
	return asprintf(&text, "%zu byte%s, hash %08x", (size_t)xattr->size,
			xattr->size == 1 ? "" : "s", (unsigned)xattr->hash) < 0
		       ? NULL
		       : text;
}

static struct err *add_xattrs(const struct files *files, struct change *change,
			      const struct snap *before,
			      const struct snap *after)
{
	size_t i = 0, j = 0;
	size_t n = before->extra ? before->extra->n_xattrs : 0;
	size_t m = after->extra ? after->extra->n_xattrs : 0;
	while (i < n || j < m) {
		const struct snap_xattr *a =
			i < n ? &before->extra->xattrs[i] : NULL;
		const struct snap_xattr *b =
			j < m ? &after->extra->xattrs[j] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);
		if (order > 0)
			a = NULL;
		if (order < 0)
			b = NULL;
		BUG_ON(!a && !b);
		i += a != NULL;
		j += b != NULL;
		if (a && b && a->hash == b->hash && a->size == b->size)
			continue;
		_cleanup_(freep) char *what = NULL;
		if (asprintf(&what, "xattr %s", a ? a->name : b->name) < 0) {
			what = NULL;
			return err_nomem();
		}
		TRY(tell_add_path(files, change, what, xattr_text(a),
				  xattr_text(b)));
	}
	return NULL;
}

static struct err *add_texts(const struct files *files, struct change *change,
			     const struct delta *delta,
			     const struct snap *after)
{
	const struct snap *before = delta->before;
	unsigned diff = delta->diff;
	char *a = NULL, *b = NULL;
	if (diff & (DIFF_EXISTS | DIFF_TYPE)) {
		bool is = after->type == SNAP_FOLDER;
		TRY(text_state(before, is ? 0 : delta->entries, &a));
		struct err *err =
			text_state(after, is ? delta->entries : 0, &b);
		if (err) {
			free(a);
			return err;
		}
		return tell_add_path(files, change,
				     diff & DIFF_TYPE ? "type" : NULL, a, b);
	}
	if (diff & DIFF_CONTENT) {
		TRY(text_contents(before, after, &a, &b));
		TRY(tell_add_path(files, change, NULL, a, b));
	}
	if (diff & DIFF_TARGET) {
		TRY(text_target(before, &a));
		struct err *err = text_target(after, &b);
		if (err) {
			free(a);
			return err;
		}
		TRY(tell_add_path(files, change, "target", a, b));
	}
	if (diff & DIFF_MODE)
		TRY(tell_add_path(files, change, "mode", mode_text(before),
				  mode_text(after)));
	if (diff & DIFF_OWNER)
		TRY(tell_add_path(files, change, "owner", owner_text(before),
				  owner_text(after)));
	if (diff & DIFF_LINKS)
		TRY(tell_add_path(files, change, "links", links_text(before),
				  links_text(after)));
	if (diff & DIFF_TIMES) {
		TRY(text_time(before->stat.mtime, &a));
		struct err *err = text_time(after->stat.mtime, &b);
		if (err) {
			free(a);
			return err;
		}
		TRY(tell_add_path(files, change, "times", a, b));
	}
	if (diff & DIFF_XATTRS)
		TRY(add_xattrs(files, change, before, after));
	return NULL;
}

static struct err *add_part(struct told *told, const struct delta *delta)
{
	if (told->parts.n >= PARTS_MAX) {
		told->partial = true;
		return NULL;
	}
	struct told_part part = {
		.path = strdup(delta->path),
		.times = delta->diff & DIFF_TIMES,
		.links = delta->diff & DIFF_LINKS,
	};
	snap_share(delta->before, &part.before);
	struct err *err =
		part.path ? vec_push(&told->parts, part) : err_nomem();
	if (err) {
		free(part.path);
		snap_free(&part.before);
	}
	return err;
}

/* The change of @root: a new one, or for masked names one that is there. */
static struct err *get_change(struct teller *teller, char *root, bool masked,
			      struct change **ret)
{
	struct files *files = teller->files;
	_cleanup_(freep) char *owned = root;
	uint64_t at;
	if (masked && map_text_get(&teller->masked, root, &at)) {
		*ret = &teller->ret->data[at];
		return NULL;
	}
	if (masked)
		TRY(map_text_put(&teller->masked, root, teller->ret->n));
	struct told told = {
		.id = ++files->told_ids,
		.capture = files->counts.captures,
	};
	TRY(vec_push(&files->told, told));
	struct change change = {
		.where = CHANGE_FILE,
		.root = root,
		.weight = WEIGHT_MEDIUM,
		.root_number = files->told_ids,
	};
	TRY(vec_push(teller->ret, change));
	owned = NULL;
	*ret = &teller->ret->data[teller->ret->n - 1];
	return NULL;
}

static struct told *told_of(struct files *files, const struct change *change)
{
	for (size_t i = files->told.n; i-- > 0;) {
		if (files->told.data[i].id == change->root_number)
			return &files->told.data[i];
	}
	return NULL;
}

static uint64_t tell_mix_hash(uint64_t a, uint64_t b)
{
	return XXH3_64bits_withSeed(&b, sizeof(b), a);
}

static void add_digests(struct change *change, const struct delta *delta,
			const struct snap *after)
{
	bool more = change->n > 1 && change->digest;
	uint64_t a = snap_digest(delta->before), b = snap_digest(after);
	if (delta->diff & DIFF_TIMES) {
		a = tell_mix_hash(a, (uint64_t)snap_mtime(delta->before));
		b = tell_mix_hash(b, (uint64_t)snap_mtime(after));
	}
	if (delta->entries && after->type == SNAP_FOLDER)
		b = tell_mix_hash(b, delta->names);
	else if (delta->entries)
		a = tell_mix_hash(a, delta->names);
	if (delta->to)
		b = tell_mix_hash(b, XXH3_64bits(delta->to->path,
						 strlen(delta->to->path)));
	change->digest_before =
		more ? tell_mix_hash(change->digest_before, a) : a;
	change->digest = more ? tell_mix_hash(change->digest, b) : b;
}

/* Of names that only came or went: the folder, as long as its path is. */
static size_t folder_length(const struct delta *delta)
{
	const char *slash = strrchr(delta->path, '/');
	bool plain = delta->diff == DIFF_EXISTS && !delta->to && !delta->from;
	return plain && slash ? (size_t)(slash - delta->path) : 0;
}

static struct err *count_crowds(struct teller *teller, struct delta **sorted,
				size_t n)
{
	if (n <= CROWD)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct delta *delta = sorted[i];
		size_t length = folder_length(delta);
		uint64_t count = 0;
		if (delta->top || delta->done || !length)
			continue;
		_cleanup_(freep) char *folder = strndup(delta->path, length);
		if (!folder)
			return err_nomem();
		map_text_get(&teller->crowds, folder, &count);
		TRY(map_text_put(&teller->crowds, folder, count + 1));
	}
	return NULL;
}

/* One of many in its folder? Then all of them are one change, of "FOLDER/" and a star. */
static struct err *crowd_root(const struct teller *teller,
			      const struct delta *delta, char **ret)
{
	size_t length = folder_length(delta);
	uint64_t count = 0;
	*ret = NULL;
	_cleanup_(freep) char *folder =
		length ? strndup(delta->path, length) : NULL;
	if (!folder || !map_text_get(&teller->crowds, folder, &count) ||
	    count <= CROWD)
		return NULL;
	_cleanup_(freep) char *shown = NULL;
	TRY(names_root(&teller->files->names, folder, &shown));
	bool here = !strcmp(shown, ".");
	if (asprintf(ret, "%s%s*", here ? "" : shown, here ? "" : "/") < 0) {
		*ret = NULL;
		return err_nomem();
	}
	return NULL;
}

/* Fresh names are drawn anew by each run, and few look at time stamps alone. */
static void weigh_change(struct change *change, struct told *told,
			 const struct delta *delta, bool fresh)
{
	bool times = delta->diff == DIFF_TIMES && !delta->to;
	bool first = !change->n;
	if (fresh || (first && times))
		change->weight = WEIGHT_LOW;
	else if (!times && told->only_times)
		change->weight = WEIGHT_MEDIUM;
	told->only_times = times && (first || told->only_times);
}

static struct err *tell_one_delta(struct teller *teller, struct delta *delta,
				  pid_t pid)
{
	struct files *files = teller->files;
	struct change *change = NULL;
	bool came = delta->diff == DIFF_EXISTS && snap_exists(delta->after) &&
		    !snap_exists(delta->before);
	bool fresh = false;
	char *root = NULL;

	if (came)
		TRY(names_mask(&files->names, delta, pid, &fresh));
	if (!fresh)
		TRY(crowd_root(teller, delta, &root));
	if (!root)
		TRY(names_root(&files->names, delta->path, &root));
	BUG_ON(!root);
	bool together = files->names.shown.n || masked_name(root);
	TRY(get_change(teller, root, together, &change));
	BUG_ON(!change);
	struct told *told = told_of(files, change);
	if (told)
		weigh_change(change, told, delta, fresh);

	bool gone = !snap_exists(delta->after) || delta->from;
	const struct snap *after =
		delta->to && gone ? delta->to->after : delta->after;
	if (delta->to) {
		char *old = NULL, *new = NULL;
		TRY(names_shown(&files->names, delta->path, &old));
		struct err *err =
			names_shown(&files->names, delta->to->path, &new);
		if (err) {
			free(old);
			return err;
		}
		TRY(tell_add_path(files, change, "name", old, new));
	}
	TRY(add_texts(files, change, delta, after));
	add_digests(change, delta, after);

	if (!told)
		return NULL;
	TRY(add_part(told, delta));
	return delta->to ? add_part(told, delta->to) : NULL;
}

static struct err *tell_all_deltas(struct teller *teller, struct delta **sorted,
				   size_t n, pid_t pid)
{
	struct files *files = teller->files;
	const struct delta *top = NULL;
	size_t told = 0; /* of it */
	for (size_t i = 0; i < n; i++) {
		struct delta *delta = sorted[i];
		/* A folder that went is back only with all that was in it. */
		if (delta->top && delta->top == top && told &&
		    snap_exists(delta->before))
			TRY(add_part(&files->told.data[told - 1], delta));
		if (delta->top || delta->done || (!delta->diff && !delta->to))
			continue;
		TRY(tell_one_delta(teller, delta, pid));
		if (delta->entries) {
			top = delta;
			told = files->told.n;
		}
	}
	return NULL;
}

struct err *files_tell_changes(struct files *files, struct delta **sorted,
			       size_t n, pid_t pid, struct changes *ret)
{
	_cleanup_(teller_free) struct teller teller = {
		.files = files,
		.ret = ret,
	};
	TRY(count_crowds(&teller, sorted, n));
	return tell_all_deltas(&teller, sorted, n, pid);
}

/* Removing the whole folder does not restore what was in it. */
static bool folder_is_gone(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st;
	if (!slash || slash == path)
		return false;
	_cleanup_(freep) char *folder = strndup(path, (size_t)(slash - path));
	return folder && lstat(folder, &st) < 0 &&
	       (errno == ENOENT || errno == ENOTDIR);
}

bool told_undone(struct files *files, const struct told *told)
{
	for (size_t i = 0; i < told->parts.n; i++) {
		const struct told_part *part = &told->parts.data[i];
		struct snap now;
		snap_take(AT_FDCWD, part->path, &part->before, &files->limits,
			  &now);
		unsigned other = part->links ? 0 : DIFF_LINKS;
		bool same = !(snap_differ(&part->before, &now) & ~other) &&
			    (!part->times ||
			     snap_mtime(&now) == snap_mtime(&part->before));
		same &= now.type != SNAP_UNKNOWN;
		snap_free(&now);
		if (!same && !folder_is_gone(part->path))
			return false;
	}
	return told->parts.n && !told->partial;
}
