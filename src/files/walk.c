/*
 * Walking: everything below the watched folders, compared with what it was the
 * last time.
 *
 * A walk looks at the stat data of every known name, on all processors, and
 * takes a snapshot only where they differ; a folder is listed again only where
 * its own do. The watched folders are themselves entries of a folder without a
 * name, so that they are no special case.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compare.h"
#include "base/path.h"
#include "files/walk_internal.h"

#define RANGE 512  /* entries that a thread takes at a time */
#define ALONE 1024 /* entries for which no second thread is started */
#define THREADS_MAX 16
#define BUDGET (256ULL << 20) /* bytes hashed in one walk */
#define FILE_MAX (4ULL << 20) /* larger files count by their stat data */

/* One thread's part. */
struct walk_worker {
	struct walk *walk;
	const struct range *ranges;
	size_t n;
	atomic_size_t *next;
	bool fresh; /* entries without a snapshot: take one, whatever it is */
	VEC(struct dirty) dirty;
	struct err *err;
};

/*
 * The processors that the program was started on: a controller may stay on one
 * by its own choice later, and a walk need not.
 */
static cpu_set_t processors;
__attribute__((constructor)) static void note_processors(void)
{
	if (sched_getaffinity(0, sizeof(processors), &processors) < 0)
		CPU_ZERO(&processors);
}

static void folder_free(struct walk_folder *folder)
{
	for (size_t i = 0; i < folder->n; i++) {
		snap_free(&folder->entries[i].snap);
		free(folder->entries[i].name);
	}
	free(folder->entries);
	free(folder->path);
	free(folder);
}

static void clear_results(struct walk *walk)
{
	for (size_t i = 0; i < walk->results.n; i++) {
		struct result *result = &walk->results.data[i];
		free(result->path);
		snap_free(&result->before);
		snap_free(&result->after);
	}
	walk->results.n = 0;
}

void walk_destroy(struct walk *walk)
{
	if (!walk)
		return;
	clear_results(walk);
	for (size_t i = 0; i < walk->folders.n; i++)
		folder_free(walk->folders.data[i]);
	vec_free(&walk->folders);
	vec_free(&walk->ranges);
	vec_free(&walk->spots);
	walk_clear_added(walk);
	vec_free(&walk->added);
	notify_destroy(walk->notify);
	vec_free(&walk->list);
	vec_free(&walk->fresh);
	vec_free(&walk->results);
	free(walk);
}

static struct err *entry_path(const struct walk_folder *folder,
			      const char *name, char **ret)
{
	bool slash = folder->path[0] && strcmp(folder->path, "/");
	if (asprintf(ret, "%s%s%s", folder->path, slash ? "/" : "", name) < 0)
		return err_nomem();
	return NULL;
}

static int walk_open_folder(const struct walk_folder *folder, int flags)
{
	if (!folder->path[0])
		return AT_FDCWD;
	return open(folder->path, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool means_absent(int number)
{
	return number == ENOENT || number == ENOTDIR || number == ELOOP;
}

static void walk_look_at_entry(struct walk_worker *worker,
			       const struct range *range, int dir, int number,
			       size_t i)
{
	struct walk_entry *entry = &range->folder->entries[i];
	struct dirty dirty = { .folder = range->folder, .entry = i };
	struct file_state stat;
	if (entry->gone)
		return;
	if (dir >= 0 || dir == AT_FDCWD)
		number = file_state_take(dir, entry->name, &stat) ? 0 : errno;
	if (!number && !worker->fresh && snap_holds(&entry->snap, &stat))
		return;
	if (!number)
		snap_take_stat(dir, entry->name, &stat,
			       worker->fresh ? NULL : &entry->snap,
			       &worker->walk->limits, &dirty.now);
	else if (means_absent(number))
		snap_absent(&dirty.now);
	else if (worker->fresh)
		dirty.now.type = SNAP_UNKNOWN;
	else
		return; /* what it was is as good as anything */
	worker->err = vec_push(&worker->dirty, dirty);
	if (worker->err)
		snap_free(&dirty.now);
}

static void *walk_worker_run(void *data)
{
	struct walk_worker *worker = data;
	size_t at;
	while (!worker->err &&
	       (at = atomic_fetch_add(worker->next, 1)) < worker->n) {
		const struct range *range = &worker->ranges[at];
		int dir = walk_open_folder(range->folder, O_PATH);
		int number = dir < 0 && dir != AT_FDCWD ? errno : 0;
		for (size_t i = range->from; i < range->to && !worker->err; i++)
			walk_look_at_entry(worker, range, dir, number, i);
		closep(&dir);
	}
	return NULL;
}

static size_t count_threads(size_t ranges, size_t entries)
{
	size_t n = (size_t)MAX(CPU_COUNT(&processors), 1);
	if (entries < ALONE)
		return 1;
	return MIN(MIN(n, ranges), (size_t)THREADS_MAX);
}

static bool walk_start_worker(pthread_t *ret, struct walk_worker *worker)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	if (CPU_COUNT(&processors))
		pthread_attr_setaffinity_np(&attr, sizeof(processors),
					    &processors);
	bool started = !pthread_create(ret, &attr, walk_worker_run, worker);
	pthread_attr_destroy(&attr);
	return started;
}

static struct err *walk_apply_dirty(struct walk *walk, struct dirty *dirty);

/* Looks at all entries of @ranges, and takes in what differs. */
static struct err *walk_look_at_ranges(struct walk *walk,
				       const struct range *ranges, size_t n,
				       size_t entries, bool fresh)
{
	struct walk_worker workers[THREADS_MAX] = {};
	pthread_t threads[THREADS_MAX];
	bool started[THREADS_MAX] = {};
	atomic_size_t next = 0;
	size_t count = count_threads(n, entries);
	for (size_t i = 0; i < count; i++)
		workers[i] = (struct walk_worker){
			.walk = walk,
			.ranges = ranges,
			.n = n,
			.next = &next,
			.fresh = fresh,
		};
	for (size_t i = 1; i < count; i++)
		started[i] = walk_start_worker(&threads[i], &workers[i]);
	walk_worker_run(&workers[0]);
	struct err *err = NULL;
	for (size_t i = 0; i < count; i++) {
		struct walk_worker *worker = &workers[i];
		if (started[i])
			pthread_join(threads[i], NULL);
		if (!err)
			err = take_ptr(worker->err);
		err_destroy(worker->err);
		for (size_t j = 0; j < worker->dirty.n; j++) {
			if (!err)
				err = walk_apply_dirty(walk,
						       &worker->dirty.data[j]);
			else
				snap_free(&worker->dirty.data[j].now);
		}
		vec_free(&worker->dirty);
	}
	return err;
}

static struct err *walk_add_result(struct walk *walk,
				   const struct walk_folder *folder,
				   const char *name, const struct snap *before,
				   const struct snap *after)
{
	struct result result = {};
	if (walk->first)
		return NULL;
	TRY(entry_path(folder, name, &result.path));
	struct err *err = vec_reserve(&walk->results, walk->results.n + 1);
	if (err) {
		free(result.path);
		return err;
	}
	snap_share(before, &result.before);
	snap_share(after, &result.after);
	return vec_push(&walk->results, result);
}

/* A folder is gone, with all that was in it. */
static struct err *kill_folder(struct walk *walk, struct walk_folder *folder)
{
	struct snap absent;
	struct err *err = NULL;
	snap_absent(&absent);
	folder->dead = true;
	walk->changed = true;
	notify_forget(walk, folder);
	/* Depth is bounded by that of the walk. */
	for (size_t i = 0; i < folder->n && !err; i++) {
		struct walk_entry *entry = &folder->entries[i];
		if (!entry->gone)
			err = walk_add_result(walk, folder, entry->name,
					      &entry->snap, &absent);
		entry->gone = true;
		if (entry->folder && !err)
			err = kill_folder(walk, take_ptr(entry->folder));
	}
	return err;
}

static struct err *add_folder(struct walk *walk, char *path, unsigned depth,
			      struct walk_folder **ret)
{
	struct walk_folder *folder = calloc(1, sizeof(*folder));
	if (!folder || !path) {
		free(folder);
		free(path);
		return err_nomem();
	}
	folder->path = path;
	folder->depth = depth;
	folder->watch = -1;
	folder->special = true;
	struct err *err = vec_push(&walk->folders, folder);
	if (err) {
		folder_free(folder);
		return err;
	}
	*ret = folder;
	return NULL;
}

/* Is the folder to be looked into? */
static bool walk_enters_folder(struct walk *walk,
			       const struct walk_folder *folder,
			       const struct walk_entry *entry, const char *path)
{
	if (folder->depth >= DEPTH_MAX) {
		walk->files->limit = "folders nested more than 128 deep "
				     "were not examined";
		return false;
	}
	return !names_pseudo(&walk->files->names, entry->snap.stat.dev, path);
}

static struct err *apply_folder(struct walk *walk, struct walk_folder *folder,
				struct walk_entry *entry, bool same)
{
	if (entry->snap.type != SNAP_FOLDER) {
		struct walk_folder *gone = take_ptr(entry->folder);
		return gone ? kill_folder(walk, gone) : NULL;
	}
	if (!entry->folder) {
		char *path = NULL;
		TRY(entry_path(folder, entry->name, &path));
		if (!walk_enters_folder(walk, folder, entry, path)) {
			free(path);
			return NULL;
		}
		TRY(add_folder(walk, path, folder->depth + 1, &entry->folder));
		entry->folder->parent = folder;
		notify_watch(walk, entry->folder, entry->snap.stat.dev);
		walk->changed = true;
	} else if (!same) {
		/* Another one in its place: its entries are not known. */
		notify_forget(walk, entry->folder);
		notify_watch(walk, entry->folder, entry->snap.stat.dev);
		entry->folder->renewed = !walk->all;
	} else if (!walk->all && entry->folder->watch >= 0) {
		return NULL; /* its names are reported */
	}
	return vec_push(&walk->list, entry->folder);
}

static bool walk_snap_differs(const struct snap *a, const struct snap *b)
{
	return snap_differ(a, b) || snap_mtime(a) != snap_mtime(b) ||
	       (snap_exists(a) && !snap_same_inode(a, b));
}

static struct err *walk_apply_dirty(struct walk *walk, struct dirty *dirty)
{
	struct walk_entry *entry = &dirty->folder->entries[dirty->entry];
	struct snap before = entry->snap;
	if (dirty->folder->dead) {
		snap_free(&dirty->now); /* reported when the folder went */
		return NULL;
	}
	entry->snap = dirty->now;
	dirty->folder->special = true;
	entry->gone = entry->snap.type == SNAP_ABSENT;
	struct err *err = NULL;
	if (walk_snap_differs(&before, &entry->snap))
		err = walk_add_result(walk, dirty->folder, entry->name, &before,
				      &entry->snap);
	bool same = before.stat.ino == entry->snap.stat.ino &&
		    before.stat.dev == entry->snap.stat.dev;
	snap_free(&before);
	return err ? err : apply_folder(walk, dirty->folder, entry, same);
}

struct walk_entry *walk_find(const struct walk_folder *folder, const char *name)
{
	size_t low = 0, high = folder->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, folder->entries[middle].name);
		if (!order)
			return &folder->entries[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

DEFINE_VEC(name_list, char *)

static void name_list_clearp(struct name_list *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->data[i]);
	name_list_freep(names);
}

static bool name_counts(const struct walk *walk,
			const struct walk_folder *folder, const char *name)
{
	if (!strcmp(name, ".") || !strcmp(name, "..") || path_is_coverage(name))
		return false;
	char *path = NULL;
	struct err *err = entry_path(folder, name, &path);
	if (err) {
		err_ignore(err);
		return false;
	}
	bool counts = names_counts_text(&walk->files->names, path);
	free(path);
	return counts;
}

static struct err *read_names(struct walk *walk,
			      const struct walk_folder *folder,
			      struct name_list *ret, bool *ret_read)
{
	int fd = walk_open_folder(folder, O_RDONLY);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct err *err = NULL;
	const struct dirent *item;
	*ret_read = dir != NULL;
	if (!dir) {
		closep(&fd);
		return NULL;
	}
	while (!err && (item = readdir(dir))) {
		if (!name_counts(walk, folder, item->d_name))
			continue;
		if (walk->entries + ret->n >= ENTRIES_MAX + folder->n) {
			walk->files->limit = "more than 1,000,000 files: "
					     "not all were examined";
			break;
		}
		char *name = strdup(item->d_name);
		err = name ? vec_push(ret, name) : err_nomem();
		if (err)
			free(name);
	}
	closedir(dir);
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), compare_as_text);
	return err;
}

/* Entries that are no longer listed are gone, if not known to be already. */
static struct err *lose_entry(struct walk *walk, struct walk_folder *folder,
			      struct walk_entry *entry)
{
	struct snap absent;
	struct err *err = NULL;
	snap_absent(&absent);
	if (!entry->gone)
		err = walk_add_result(walk, folder, entry->name, &entry->snap,
				      &absent);
	if (entry->folder && !err)
		err = kill_folder(walk, entry->folder);
	snap_free(&entry->snap);
	free(entry->name);
	return err;
}

static struct err *note_fresh(struct walk *walk, struct walk_folder *folder,
			      size_t i)
{
	struct range *last = NULL;
	if (walk->fresh.n)
		last = &walk->fresh.data[walk->fresh.n - 1];
	if (last && last->folder == folder && last->to == i &&
	    last->to - last->from < RANGE) {
		last->to++;
		return NULL;
	}
	struct range range = { .folder = folder, .from = i, .to = i + 1 };
	TRY(vec_reserve(&walk->fresh, walk->fresh.n + 1));
	BUG_ON(!walk->fresh.data);
	walk->fresh.data[walk->fresh.n++] = range;
	return NULL;
}

/* A name that is there: one that was known, or a new one. */
static struct err *merge_entry(struct walk *walk, struct walk_folder *folder,
			       struct walk_entry *entries, size_t i,
			       char **name)
{
	if (entries[i].name && !entries[i].gone && !folder->renewed)
		return NULL;
	/* Seen as gone just before, and there again. */
	entries[i].gone = false;
	if (!entries[i].name)
		entries[i].name = take_ptr(*name);
	return note_fresh(walk, folder, i);
}

/*
 * Takes in the names of a folder, which are sorted. @all: there are no others,
 * else they are added to those that are known.
 */
static struct err *merge_names(struct walk *walk, struct walk_folder *folder,
			       struct name_list *names, bool all)
{
	struct walk_entry *entries =
		calloc(folder->n + names->n + 1, sizeof(*entries));
	if (!entries)
		return err_nomem();
	struct err *err = NULL;
	size_t i = 0, j = 0, n = 0;
	while (i < folder->n || j < names->n) {
		int order = i == folder->n  ? 1
			    : j == names->n ? -1
					    : strcmp(folder->entries[i].name,
						     names->data[j]);
		struct err *bad = NULL;
		if (order < 0 && !all && !folder->entries[i].gone) {
			entries[n++] = folder->entries[i++];
		} else if (order < 0) {
			bad = lose_entry(walk, folder, &folder->entries[i++]);
		} else {
			if (order == 0)
				entries[n] = folder->entries[i++];
			bad = merge_entry(walk, folder, entries, n++,
					  &names->data[j++]);
		}
		if (bad && err)
			err_ignore(take_ptr(bad));
		else if (bad)
			err = bad;
	}
	walk->entries = walk->entries - folder->n + n;
	folder->special = true;
	free(folder->entries);
	folder->entries = entries;
	folder->n = n;
	folder->renewed = false;
	walk->changed = true;
	return err;
}

static struct err *walk_list_folder(struct walk *walk,
				    struct walk_folder *folder)
{
	_cleanup_(name_list_clearp) struct name_list names = {};
	bool read;
	TRY(read_names(walk, folder, &names, &read));
	/* Not allowed, or gone: looked at as it was. */
	return read ? merge_names(walk, folder, &names, true) : NULL;
}

static int compare_added(const void *a, const void *b)
{
	const struct added *x = a, *y = b;
	if (x->folder != y->folder)
		return (uintptr_t)x->folder < (uintptr_t)y->folder ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Names that inotify reported: no need to list their folders. */
static struct err *merge_added(struct walk *walk)
{
	struct added *added = walk->added.data;
	size_t n = walk->added.n;
	struct err *err = NULL;
	if (n)
		qsort(added, n, sizeof(*added), compare_added);
	for (size_t i = 0; i < n && !err;) {
		struct walk_folder *folder = added[i].folder;
		_cleanup_(name_list_clearp) struct name_list names = {};
		for (; i < n && added[i].folder == folder && !err; i++) {
			if ((i && !compare_added(&added[i - 1], &added[i])) ||
			    folder->dead || folder->queued ||
			    walk->entries >= ENTRIES_MAX ||
			    !name_counts(walk, folder, added[i].name))
				continue;
			char *name = strdup(added[i].name);
			err = name ? vec_push(&names, name) : err_nomem();
		}
		if (!err && names.n)
			err = merge_names(walk, folder, &names, false);
	}
	walk_clear_added(walk);
	return err;
}

void walk_clear_added(struct walk *walk)
{
	for (size_t i = 0; i < walk->added.n; i++)
		free(walk->added.data[i].name);
	walk->added.n = 0;
}

/* Takes in new names and lists what is found new, level by level. */
static struct err *list_all(struct walk *walk)
{
	walk->fresh.n = 0;
	/* What is listed anyway is not merged before: places would move. */
	for (size_t i = 0; i < walk->list.n; i++)
		walk->list.data[i]->queued = true;
	struct err *err = merge_added(walk);
	for (size_t i = 0; i < walk->list.n; i++)
		walk->list.data[i]->queued = false;
	TRY(err);
	while (walk->list.n || walk->fresh.n) {
		for (size_t i = 0; i < walk->list.n; i++) {
			struct walk_folder *folder = walk->list.data[i];
			if (!folder->dead && !folder->listed)
				TRY(walk_list_folder(walk, folder));
			folder->listed = true;
		}
		for (size_t i = 0; i < walk->list.n; i++)
			walk->list.data[i]->listed = false;
		walk->list.n = 0;
		size_t entries = 0;
		for (size_t i = 0; i < walk->fresh.n; i++)
			entries += walk->fresh.data[i].to -
				   walk->fresh.data[i].from;
		TRY(walk_look_at_ranges(walk, walk->fresh.data, walk->fresh.n,
					entries, true));
		walk->fresh.n = 0;
	}
	return NULL;
}

static struct err *make_ranges(struct walk *walk)
{
	if (!walk->changed)
		return NULL;
	walk->ranges.n = 0;
	for (size_t i = 0; i < walk->folders.n; i++) {
		struct walk_folder *folder = walk->folders.data[i];
		for (size_t at = 0; at < folder->n; at += RANGE) {
			struct range range = {
				.folder = folder,
				.from = at,
				.to = MIN(at + RANGE, folder->n),
			};
			TRY(vec_push(&walk->ranges, range));
		}
	}
	walk->changed = false;
	return NULL;
}

/* @all: whatever notify.c says. */
static struct err *walk_once(struct walk *walk, bool all)
{
	atomic_store(&walk->budget, BUDGET);
	walk->list.n = 0;
	walk->spots.n = 0;
	walk_clear_added(walk);
	if (!walk->notify || !notify_read(walk))
		all = true;
	walk->all = all;
	if (all) {
		walk_clear_added(walk);
		TRY(make_ranges(walk));
		TRY(walk_look_at_ranges(walk, walk->ranges.data, walk->ranges.n,
					walk->entries, false));
		walk->looked = walk->entries;
	} else {
		TRY(walk_look_at_ranges(walk, walk->spots.data, walk->spots.n,
					walk->spots.n, false));
		walk->looked = walk->spots.n;
	}
	return list_all(walk);
}

struct err *walk_deltas(struct walk *walk, struct deltas *ret)
{
	clear_results(walk);
	TRY(walk_once(walk, false));
	TRY(vec_reserve(ret, walk->results.n));
	for (size_t i = 0; i < walk->results.n; i++) {
		const struct result *result = &walk->results.data[i];
		struct delta delta = {
			.path = result->path,
			.before = &result->before,
			.after = &result->after,
		};
		TRY(vec_push(ret, delta));
	}
	return NULL;
}

void walk_commit(struct walk *walk)
{
	clear_results(walk);
	if (!walk->changed)
		return;
	size_t kept = 0;
	walk->ranges.n = 0;
	for (size_t i = 0; i < walk->folders.n; i++) {
		struct walk_folder *folder = walk->folders.data[i];
		if (!folder->dead) {
			walk->folders.data[kept++] = folder;
			continue;
		}
		walk->entries -= MIN(walk->entries, folder->n);
		folder_free(folder);
	}
	walk->folders.n = kept;
}

uint64_t walk_entries(const struct walk *walk)
{
	return walk->looked;
}

/* The watched folders, resolved; those below others are not needed. */
static struct err *walk_watched_folders(const char *const *dirs,
					struct name_list *ret)
{
	for (size_t i = 0; dirs && dirs[i]; i++) {
		char *path = NULL;
		TRY(names_real(dirs[i], &path));
		struct err *err = vec_push(ret, path);
		if (err) {
			free(path);
			return err;
		}
	}
	size_t kept = 0;
	for (size_t i = 0; i < ret->n; i++) {
		bool needed = true;
		for (size_t j = 0; j < ret->n && needed; j++) {
			if (j != i && ret->data[j])
				needed = !path_is_below(ret->data[i],
							ret->data[j]) &&
					 (j > i ||
					  strcmp(ret->data[i], ret->data[j]));
		}
		if (!needed)
			free(take_ptr(ret->data[i]));
	}
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->data[i])
			ret->data[kept++] = ret->data[i];
	}
	ret->n = kept;
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), compare_as_text);
	return NULL;
}

static void walk_destroyp(struct walk **walk)
{
	walk_destroy(*walk);
}

struct err *walk_create(struct files *files, const char *const *dirs,
			struct walk **ret)
{
	_cleanup_(walk_destroyp) struct walk *walk = calloc(1, sizeof(*walk));
	_cleanup_(name_list_clearp) struct name_list names = {};
	if (!walk)
		return err_nomem();
	walk->files = files;
	walk->limits = files->limits;
	walk->limits.file = FILE_MAX;
	walk->limits.budget = &walk->budget;
	walk->first = true;
	TRY(walk_watched_folders(dirs, &names));
	struct walk_folder *top = NULL;
	TRY(add_folder(walk, strdup(""), 0, &top));
	BUG_ON(!top);
	top->entries = calloc(names.n + 1, sizeof(*top->entries));
	if (!top->entries)
		return err_nomem();
	for (size_t i = 0; i < names.n; i++)
		top->entries[top->n++].name = take_ptr(names.data[i]);
	walk->entries = top->n;
	walk->changed = true;
	walk->notify = notify_create();
	TRY(walk_once(walk, true));
	walk_commit(walk);
	/* What reading all of it caused is more than can be told apart. */
	TRY(walk_once(walk, true));
	walk_commit(walk);
	walk->first = false;
	*ret = take_ptr(walk);
	return NULL;
}
