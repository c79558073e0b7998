#include "keep/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "keep/keep_internal.h"
#include "keep/overlaid.h"
#include "sandbox/sandbox.h"

/* Bytes of one fdinfo, at most. */
#define FDINFO_MAX 4096
#define SAVER_LOST_MAX 1000 /* reasons that are named */

/* How a path is kept, in saver.known with its number above. */
#define SHALLOW 2U /* only what the folder itself is, not what is in it */
#define WHOLE 1U

struct saver_mark {
	bool touched; /* since all was restored */
	bool open;    /* by the tested program, from its beginning on … */
	bool opened;  /* … or by an earlier start of it */
	bool removed; /* some process did, once */
};

/* A folder in which names came or went: its time is restored, too. */
struct saver_folder {
	char *path;
	struct file_state was;
};

struct saver {
	pthread_mutex_t mutex;
	struct keeper *keeper;
	struct kept *kept; /* as many paths as the keeper was given */
	VEC(struct saver_mark) marks; /* by path */
	struct map_text known; /* path to number * 4 + SHALLOW or WHOLE */
	VEC(struct saver_folder) folders;
	struct map_text folders_known; /* path to number + 1; 0: left alone */
	bool unnamed; /* a name could not be found out, which was said */
	bool full;    /* there were too many, which was said */
	bool open_is_gone;
	/* See saver_tell(); NULL: nobody. */
	void (*sink)(void *data, const struct follow_event *event);
	void *sink_data;
};

struct saved {
	size_t n; /* paths that there were */
	struct kept *kept;
	struct saver_mark marks[];
};

static void saver_unlockp(struct saver **saver)
{
	pthread_mutex_unlock(&(*saver)->mutex);
}
#define SAVER_LOCKED(saver)                                                    \
	pthread_mutex_lock(&(saver)->mutex);                                   \
	_cleanup_(saver_unlockp) struct saver *locked _unused_ = (saver)

struct err *saver_create(struct saver **ret)
{
	_cleanup_(saver_destroyp) struct saver *saver =
		calloc(1, sizeof(*saver));
	if (!saver)
		return err_nomem();
	pthread_mutex_init(&saver->mutex, NULL);
	TRY(keeper_create(NULL, 0, &saver->keeper));
	TRY(keeper_take(saver->keeper, &saver->kept));
	*ret = take_ptr(saver);
	return NULL;
}

void saver_destroy(struct saver *saver)
{
	if (!saver)
		return;
	kept_destroy(saver->kept);
	keeper_destroy(saver->keeper);
	vec_free(&saver->marks);
	map_text_free(&saver->known);
	for (size_t i = 0; i < saver->folders.n; i++)
		free(saver->folders.data[i].path);
	vec_free(&saver->folders);
	map_text_free(&saver->folders_known);
	pthread_mutex_destroy(&saver->mutex);
	free(saver);
}

/* In one list with what the keeper says. */
static void saver_note_lost(struct saver *saver, const char *text)
{
	struct keeper *keeper = saver->keeper;
	for (size_t i = 0; i < keeper->lost.n; i++) {
		if (!strcmp(keeper->lost.data[i], text))
			return;
	}
	char *copy = keeper->lost.n < SAVER_LOST_MAX ? strdup(text) : NULL;
	struct err *err = copy ? vec_push(&keeper->lost, copy) : NULL;
	if (err)
		free(copy);
	err_ignore(err);
}

void saver_tell(struct saver *saver,
		void (*sink)(void *data, const struct follow_event *event),
		void *data)
{
	saver->sink = sink;
	saver->sink_data = data;
}

unsigned saver_flags(const struct saver *saver)
{
	return FOLLOW_FILES | (saver->sink ? FOLLOW_READS : 0U);
}

void saver_missed(struct saver *saver)
{
	if (saver->sink)
		saver->sink(saver->sink_data, NULL);
}

void saver_cannot_follow(struct saver *saver, const char *why)
{
	_cleanup_(freep) char *text = NULL;
	saver_missed(saver);
	SAVER_LOCKED(saver);
	if (saver->unnamed)
		return;
	saver->unnamed = true;
	if (asprintf(&text,
		     "all but what is known of them, because calls "
		     "cannot be followed: %s",
		     why) < 0)
		text = NULL;
	saver_note_lost(saver, text ? text : why);
}

/* ---- keeping ---- */

/*
 * The path, or a folder that contains it, that is kept already. A folder's own
 * attributes are kept with it in both ways.
 */
static struct err *saver_find(const struct saver *saver, const char *path,
			      bool shallow, size_t *ret, bool *ret_found)
{
	_cleanup_(freep) char *folder = strdup(path);
	if (!folder)
		return err_nomem();
	*ret_found = false;
	for (char *slash = folder + strlen(folder); slash && slash != folder;
	     slash = strrchr(folder, '/')) {
		uint64_t known;
		bool itself = !*slash;
		*slash = '\0';
		if (!map_text_get(&saver->known, folder, &known) ||
		    !((known & 3) == WHOLE || (itself && shallow)))
			continue;
		*ret = (size_t)(known >> 2);
		*ret_found = true;
		break;
	}
	return NULL;
}

/* In /tmp and the like others work, too: when they did is not ours to change. */
static struct err *saver_note_folder(struct saver *saver, const char *path)
{
	struct saver_folder folder = {};
	uint64_t known;
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return NULL;
	_cleanup_(freep) char *name = strndup(path, (size_t)(slash - path));
	if (!name)
		return err_nomem();
	if (map_text_get(&saver->folders_known, name, &known))
		return NULL;
	TRY(map_text_put(&saver->folders_known, name, 0));
	if (!file_state_take(AT_FDCWD, name, &folder.was) ||
	    !S_ISDIR(folder.was.mode) || folder.was.mode & S_ISVTX)
		return NULL;
	folder.path = name;
	TRY(vec_push(&saver->folders, folder));
	name = NULL;
	return map_text_put(&saver->folders_known, folder.path,
			    saver->folders.n);
}

static struct err *saver_note_path(struct saver *saver, const char *path,
				   bool shallow)
{
	_cleanup_(freep) char *shown = NULL, *folder = NULL;
	TRY(path_display(NULL, path, &shown));
	if (!shallow)
		return keeper_add(saver->keeper, shown);
	if (asprintf(&folder, "%s/", shown) < 0)
		return err_nomem();
	return keeper_add(saver->keeper, folder);
}

static struct err *saver_keep(struct saver *saver, const char *path,
			      bool shallow, bool open)
{
	size_t n = saver->kept->n;
	if (n >= KEEP_FILES_MAX) {
		if (!saver->full)
			saver_note_lost(saver,
					"tests touch more files than can be "
					"kept");
		saver->full = true;
		return NULL;
	}
	TRY(saver_note_folder(saver, path));
	struct kept *grown =
		realloc(saver->kept,
			sizeof(*grown) + (n + 1) * sizeof(grown->paths[0]));
	if (!grown)
		return err_nomem();
	saver->kept = grown;
	grown->paths[n] = (struct kept_path){ .lost = true };
	TRY(vec_push(&saver->marks, (struct saver_mark){ .touched = true,
							 .open = open,
							 .opened = open }));
	struct err *err = saver_note_path(saver, path, shallow);
	if (err) {
		saver->marks.n--;
		return err;
	}
	grown->n++;
	TRY(map_text_put(&saver->known, path,
			 n << 2 | (shallow ? SHALLOW : WHOLE)));
	err = keeper_take_one(saver->keeper, n,
			      open ? TAKE_FIRST_OPEN : TAKE_FIRST,
			      &grown->paths[n]);
	grown->paths[n].lost |= err != NULL;
	return err;
}

static struct err *saver_touch(struct saver *saver, const char *path,
			       bool shallow)
{
	size_t i = 0;
	bool found = false;
	TRY(saver_find(saver, path, shallow, &i, &found));
	if (!found)
		return saver_keep(saver, path, shallow, false);
	saver->marks.data[i].touched = true;
	return NULL;
}

static bool saver_is_folder(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Devices, and what tools write beside the program at its end, do not count. */
static bool saver_path_counts(const char *path)
{
	return path && path[0] == '/' && path[1] && strlen(path) < PATH_MAX &&
	       !str_starts(path, "/proc/") && !str_starts(path, "/sys/") &&
	       (!str_starts(path, "/dev/") || str_starts(path, "/dev/shm/")) &&
	       !path_is_coverage(path) && !sandbox_goes_through(path);
}

/* Not every overlay can do what the call is about to do. */
static void saver_prepare_overlay(struct saver *saver,
				  const struct follow_event *event,
				  const char *path)
{
	bool moves =
		event->kind == FOLLOW_REMOVE || event->kind == FOLLOW_RENAME;
	struct err *err = overlaid_check_refused(path, moves);
	if (!err && event->kind == FOLLOW_RENAME)
		err = overlaid_free_folder(path);
	if (!err && !moves)
		err = overlaid_prepare_file(path);
	if (err)
		saver_note_lost(saver, err_message(err));
	err_ignore(err);
}

/* Does the call concern a folder itself, not what is in it? */
static bool event_is_shallow(const struct follow_event *event, const char *path)
{
	bool whole =
		event->kind == FOLLOW_REMOVE || event->kind == FOLLOW_RENAME;
	return !whole && saver_is_folder(path);
}

/* Opened, or there already: a folder stays what it is. */
static bool event_changes(const struct follow_event *event, bool shallow)
{
	return !shallow || event->kind >= FOLLOW_MODE;
}

static void saver_touch_event(struct saver *saver,
			      const struct follow_event *event,
			      const char *path)
{
	bool shallow = event_is_shallow(event, path);
	if (!event_changes(event, shallow))
		return;
	struct err *err = saver_touch(saver, path, shallow);
	uint64_t known;
	if (!err && event->kind == FOLLOW_REMOVE &&
	    map_text_get(&saver->known, path, &known))
		saver->marks.data[known >> 2].removed = true;
	if (err)
		saver_note_lost(saver, err_message(err));
	err_ignore(err);
}

/* Does the call change what has a name that is not known? */
static bool is_unnamed(const struct follow_event *event)
{
	switch (event->kind) {
	case FOLLOW_LINK:
		return !event->path2;
	case FOLLOW_RENAME:
		return !event->path || !event->path2;
	default:
		return !event->path;
	}
}

bool saver_event_counts(const struct follow_event *event)
{
	const char *paths[] = { event->path, event->path2 };
	if (event->kind > FOLLOW_XATTR)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *path = paths[i];
		if (saver_path_counts(path) &&
		    event_changes(event, event_is_shallow(event, path)))
			return true;
	}
	return is_unnamed(event);
}

void saver_event(struct saver *saver, const struct follow_event *event)
{
	const char *paths[] = { event->path, event->path2 };
	if (saver->sink)
		saver->sink(saver->sink_data, event);
	if (event->kind > FOLLOW_XATTR)
		return;
	SAVER_LOCKED(saver);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!saver_path_counts(paths[i]))
			continue;
		saver_touch_event(saver, event, paths[i]);
		saver_prepare_overlay(saver, event, paths[i]);
	}
	if (is_unnamed(event) && !saver->unnamed) {
		saver->unnamed = true;
		saver_note_lost(saver,
				"a call changes a file whose name could not "
				"be determined");
	}
}

/* Absolute, links on the way resolved. */
static struct err *saver_real_path(const char *path, char **ret)
{
	struct keeper *one = NULL;
	TRY(keeper_create(&path, 1, &one));
	*ret = one->told.n ? strdup(one->told.data[0].path) : strdup("");
	keeper_destroy(one);
	return *ret ? NULL : err_nomem();
}

struct err *saver_add(struct saver *saver, const char *path)
{
	_cleanup_(freep) char *real = NULL;
	TRY(saver_real_path(path, &real));
	SAVER_LOCKED(saver);
	bool shallow = str_ends(path, "/");
	return saver_path_counts(real) ? saver_touch(saver, real, shallow)
				       : NULL;
}

/* ---- what is open ---- */

/* From now on it is restored each time. */
static struct err *saver_add_opened(struct saver *saver, const char *path)
{
	size_t i = 0;
	bool found = false;
	struct stat st;
	if (!saver_path_counts(path) || lstat(path, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return NULL;
	TRY(saver_find(saver, path, false, &i, &found));
	if (!found)
		return saver_keep(saver, path, false, true);
	struct saver_mark *mark = &saver->marks.data[i];
	mark->touched = mark->open = mark->opened = true;
	return NULL;
}

static bool saver_descriptor_writes(pid_t pid, int number)
{
	char path[64];
	_cleanup_(freep) char *text = NULL;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, number);
	err_ignore(file_read(path, FDINFO_MAX, &text, NULL));
	const char *flags = text ? strstr(text, "flags:") : NULL;
	return flags && (strtoul(flags + 6, NULL, 8) & O_ACCMODE) != O_RDONLY;
}

static struct err *saver_add_descriptors(struct saver *saver, pid_t pid)
{
	char path[64], target[PATH_MAX];
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *folder = opendir(path);
	struct err *err = NULL;
	const struct dirent *entry;
	while (folder && !err && (entry = readdir(folder))) {
		uint64_t number;
		if (!str_to_u64(entry->d_name, 10, &number) ||
		    number <= STDERR_FILENO ||
		    !saver_descriptor_writes(pid, (int)number))
			continue;
		ssize_t n = readlinkat(dirfd(folder), entry->d_name, target,
				       sizeof(target) - 1);
		target[MAX(n, 0)] = '\0';
		err = saver_add_opened(saver, target);
	}
	if (folder)
		closedir(folder);
	return err;
}

static struct err *saver_add_mappings(struct saver *saver, pid_t pid)
{
	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	/* It may have ended. */
	err_ignore(proc_read_maps(pid, &maps));
	for (size_t i = 0; i < maps.n; i++) {
		const struct proc_mapping *mapping = &maps.data[i];
		if (mapping->writable && mapping->shared &&
		    mapping->path[0] == '/')
			TRY(saver_add_opened(saver, mapping->path));
	}
	return NULL;
}

struct err *saver_add_open(struct saver *saver, pid_t pid)
{
	SAVER_LOCKED(saver);
	saver->open_is_gone = false;
	/* What an earlier start had open nobody has any more. */
	for (size_t i = 0; i < saver->marks.n; i++)
		saver->marks.data[i].open = false;
	TRY(saver_add_descriptors(saver, pid));
	return saver_add_mappings(saver, pid);
}

/* ---- restoring ---- */

static bool mark_counts(struct saver_mark mark)
{
	return mark.touched || mark.open;
}

/* Does an open file still have its name, and the name the file? */
static bool saver_open_is_there(const struct saver *saver, size_t i)
{
	struct file_state now;
	const struct keep_node *was = saver->kept->paths[i].node;
	return !was || !S_ISREG(was->attr.mode) ||
	       (file_state_take(AT_FDCWD, saver->keeper->told.data[i].path,
				&now) &&
		file_state_is_same_file(&now, &was->attr));
}

/* Those in which something was touched. What was kept first comes last. */
static void saver_put_back_folders(struct saver *saver)
{
	for (size_t i = saver->folders.n; i-- > 0;) {
		const struct saver_folder *folder = &saver->folders.data[i];
		struct file_state now;
		struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					     folder->was.mtime };
		if (file_state_take(AT_FDCWD, folder->path, &now) &&
		    S_ISDIR(now.mode) &&
		    !file_time_is_same(now.mtime, folder->was.mtime))
			(void)!utimensat(AT_FDCWD, folder->path, times,
					 AT_SYMLINK_NOFOLLOW);
	}
}

DEFINE_VEC(keep_targets, struct keep_target)

/* In a folder kept whole that is @chosen? NULL: that is touched. */
static struct err *saver_is_below(const struct saver *saver, size_t i,
				  const bool *chosen, bool *ret)
{
	_cleanup_(freep) char *folder =
		strdup(saver->keeper->told.data[i].path);
	*ret = false;
	if (!folder)
		return err_nomem();
	for (char *slash; (slash = strrchr(folder, '/')) && slash != folder;) {
		uint64_t known;
		*slash = '\0';
		if (!map_text_get(&saver->known, folder, &known) ||
		    (known & 3) != WHOLE)
			continue;
		size_t outer = (size_t)(known >> 2);
		*ret |= (chosen ? chosen[outer]
				: mark_counts(saver->marks.data[outer])) &&
			!saver->kept->paths[outer].lost;
	}
	return NULL;
}

static bool kept_is_folder(const struct kept_path *path)
{
	return path->node && S_ISDIR(path->node->attr.mode);
}

/*
 * The first states of the chosen paths. A folder was kept as it was when it was
 * first touched as a whole: what was touched in it before goes with it.
 */
static struct err *saver_choose_first(const struct saver *saver, bool *chosen,
				      struct keep_targets *ret)
{
	bool folders = false;
	for (size_t i = 0; i < saver->kept->n; i++)
		folders |= chosen[i] && kept_is_folder(&saver->kept->paths[i]);
	for (size_t i = 0; folders && i < saver->kept->n; i++) {
		if (!chosen[i])
			TRY(saver_is_below(saver, i, chosen, &chosen[i]));
	}
	for (size_t i = saver->kept->n; i-- > 0;) {
		const struct keep_target target = { i, &saver->kept->paths[i] };
		if (chosen[i])
			TRY(vec_push(ret, target));
	}
	return NULL;
}

struct err *saver_put_back(struct saver *saver)
{
	_cleanup_(keep_targets_freep) struct keep_targets targets = {};
	SAVER_LOCKED(saver);
	_cleanup_(freep) bool *chosen = calloc(saver->kept->n + 1, 1);
	if (!chosen)
		return err_nomem();
	for (size_t i = 0; i < saver->kept->n; i++)
		chosen[i] = mark_counts(saver->marks.data[i]);
	TRY(saver_choose_first(saver, chosen, &targets));
	if (!targets.n)
		return NULL;
	TRY(keeper_put_back_each(saver->keeper, targets.data, targets.n));
	saver_put_back_folders(saver);
	for (size_t i = 0; i < saver->marks.n; i++) {
		saver->marks.data[i].touched = false;
		saver->open_is_gone |= saver->marks.data[i].open &&
				       !saver_open_is_there(saver, i);
	}
	return NULL;
}

/*
 * Made since there is a saver, by the beginning of the tested program. What
 * another saver restored in the meantime is new, too, but has its old time.
 */
static bool saver_is_new(const struct saver *saver,
			 const struct file_state *was)
{
	return was->btime.tv_sec &&
	       file_time_ns(was->btime) >= saver->keeper->since &&
	       file_time_ns(was->mtime) >= saver->keeper->since;
}

static bool saver_path_is_new(const struct saver *saver, size_t i)
{
	const struct keep_node *was = saver->kept->paths[i].node;
	return was && saver_is_new(saver, &was->attr);
}

/*
 * The folder of such a path, if nothing is left in it: that of a program that
 * was started again before any copy came to its end.
 */
static void saver_remove_made_folder(const struct saver *saver,
				     const char *path)
{
	uint64_t known;
	const char *slash = strrchr(path, '/');
	_cleanup_(freep) char *name =
		slash ? strndup(path, (size_t)(slash - path)) : NULL;
	if (name && map_text_get(&saver->folders_known, name, &known) &&
	    known && saver_is_new(saver, &saver->folders.data[known - 1].was))
		(void)!rmdir(name);
}

/* Made by a beginning, and not by what is to stay. */
static bool saver_was_made(const struct saver *saver, size_t i)
{
	return !saver->marks.data[i].touched && saver_path_is_new(saver, i);
}

/* Does the program remove what it has open? Then each start of it would have. */
static bool saver_removes_open(const struct saver *saver)
{
	for (size_t i = 0; i < saver->kept->n; i++) {
		const struct saver_mark *mark = &saver->marks.data[i];
		if (mark->opened && mark->removed && saver_was_made(saver, i))
			return true;
	}
	return false;
}

void saver_remove_made(struct saver *saver, bool last)
{
	SAVER_LOCKED(saver);
	bool removes_open = saver_removes_open(saver);
	/* What is in a folder was removed before it. */
	for (size_t i = 0; i < saver->kept->n; i++) {
		const struct saver_mark *mark = &saver->marks.data[i];
		const char *path = saver->keeper->told.data[i].path;
		bool left =
			removes_open && mark->opened && (last || !mark->open);
		if (!(mark->removed || left) || !saver_was_made(saver, i))
			continue;
		if (unlink(path) < 0 && (errno == EISDIR || errno == EPERM))
			(void)!rmdir(path);
		saver_remove_made_folder(saver, path);
	}
}

bool saver_open_is_gone(const struct saver *saver)
{
	return saver->open_is_gone;
}

struct err *saver_take(struct saver *saver, struct saved **ret)
{
	SAVER_LOCKED(saver);
	size_t n = saver->kept->n;
	_cleanup_(saved_destroyp) struct saved *saved =
		calloc(1, sizeof(*saved) + n * sizeof(saved->marks[0]));
	if (!saved)
		return err_nomem();
	saved->kept = calloc(1, sizeof(*saved->kept) +
					n * sizeof(saved->kept->paths[0]));
	if (!saved->kept)
		return err_nomem();
	saved->n = saved->kept->n = n;
	for (size_t i = 0; i < n; i++) {
		struct kept_path *path = &saved->kept->paths[i];
		saved->marks[i] = saver->marks.data[i];
		path->covered = !mark_counts(saved->marks[i]);
		if (!path->covered)
			TRY(saver_is_below(saver, i, NULL, &path->covered));
		if (!path->covered && !saver->kept->paths[i].lost)
			TRY(keeper_take_one(saver->keeper, i, TAKE_LATER,
					    path));
		path->lost |= saver->kept->paths[i].lost;
	}
	*ret = take_ptr(saved);
	return NULL;
}

void saved_destroy(struct saved *saved)
{
	if (!saved)
		return;
	kept_destroy(saved->kept);
	free(saved);
}

struct err *saver_put_back_to(struct saver *saver, const struct saved *saved)
{
	_cleanup_(keep_targets_freep) struct keep_targets targets = {};
	SAVER_LOCKED(saver);
	_cleanup_(freep) bool *chosen = calloc(saver->kept->n + 1, 1);
	if (!chosen)
		return err_nomem();
	/* First what was not touched then; names below others come after it. */
	for (size_t i = 0; i < saver->kept->n; i++) {
		bool then = i < saved->n && mark_counts(saved->marks[i]);
		chosen[i] = !then && mark_counts(saver->marks.data[i]);
		if (!then)
			saver->marks.data[i].touched = false;
	}
	TRY(saver_choose_first(saver, chosen, &targets));
	for (size_t i = saved->n; i-- > 0;) {
		const struct keep_target target = { i, &saved->kept->paths[i] };
		if (!mark_counts(saved->marks[i]))
			continue;
		TRY(vec_push(&targets, target));
		saver->marks.data[i].touched = true;
	}
	return targets.n ? keeper_put_back_each(saver->keeper, targets.data,
						targets.n)
			 : NULL;
}

struct err *saver_put_back_some(struct saver *saver, const struct saved *saved,
				const bool *which)
{
	_cleanup_(keep_targets_freep) struct keep_targets targets = {};
	SAVER_LOCKED(saver);
	_cleanup_(freep) bool *chosen = calloc(saver->kept->n + 1, 1);
	if (!chosen)
		return err_nomem();
	memcpy(chosen, which, saved->n * sizeof(*which));
	TRY(saver_choose_first(saver, chosen, &targets));
	return targets.n ? keeper_put_back_each(saver->keeper, targets.data,
						targets.n)
			 : NULL;
}

/* ---- what there is ---- */

const struct keeper *saver_keeper(const struct saver *saver)
{
	return saver->keeper;
}

const struct kept *saver_first(const struct saver *saver)
{
	return saver->kept;
}

size_t saved_count(const struct saved *saved)
{
	return saved->n;
}

static int saver_compare_paths(const void *a, const void *b, void *data)
{
	const struct saver *saver = data;
	const struct told_path *told = saver->keeper->told.data;
	return path_compare(told[*(const size_t *)a].path,
			    told[*(const size_t *)b].path);
}

struct err *saved_changed(const struct saver *saver, const struct saved *saved,
			  size_t **ret, size_t *ret_n)
{
	size_t n = 0;
	size_t *changed = calloc(saved->n + 1, sizeof(*changed));
	if (!changed)
		return err_nomem();
	for (size_t i = 0; i < saved->n; i++) {
		if (!kept_same(saver->kept, saved->kept, i))
			changed[n++] = i;
	}
	qsort_r(changed, n, sizeof(*changed), saver_compare_paths,
		(void *)saver);
	*ret = changed;
	*ret_n = n;
	return NULL;
}

const struct kept *saved_kept(const struct saved *saved)
{
	return saved->kept;
}

const char *saver_path(const struct saver *saver, size_t i)
{
	return i < keeper_count(saver->keeper) ? keeper_path(saver->keeper, i)
					       : NULL;
}

const char *saver_lost(const struct saver *saver, size_t i)
{
	return keeper_lost(saver->keeper, i);
}
