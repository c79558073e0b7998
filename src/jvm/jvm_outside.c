#include "jvm/jvm_outside.h"

#include <libgen.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attributes/attributes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/proc.h"
#include "files/files.h"
#include "follow/follow.h"
#include "jvm/jvm_pool.h"
#include "keep/save.h"
#include "suite/change.h"
#include "wire/vm_outside.h"

/* Until what the VM did for a moment is over. */
#define SETTLE_US 10000

struct jvm_outside {
	struct jvm_suite *suite;
	const struct suite_watch *watch; /* NULL: it looks for readers */
	char *directory;
	struct strv home;      /* of the JDK */
	struct strv libraries; /* folders in which jars are */
	bool follows;
	char *why_not;
	bool said;
	VEC(const char *) roots; /* files whose readers are looked for … */
	VEC(size_t) places;	 /* … and which places they are */
	size_t *found;		 /* room for answers */
};

/* One VM. */
struct jvm_seen {
	struct jvm_outside *outside;
	const struct jvm_vm *vm; /* NULL: it was not asked yet */
	struct follow *follow;
	struct files *files; /* NULL: not asked for */
	struct attributes *attributes;
	struct files_readers *readers;
	/* In ticks: what began between them was left by an earlier test. */
	atomic_ullong first_test, this_test;
	size_t last_entry, last_test; /* of consecutive tests */
	bool any;
};

/* ---- what is the VM's own ---- */

static struct err *outside_add_folder(struct jvm_outside *outside, char *entry)
{
	char path[PATH_MAX];
	if (str_ends(entry, "/*")) {
		entry[strlen(entry) - 1] = '\0';
		return realpath(entry, path)
			       ? strv_add(&outside->libraries, path)
			       : NULL;
	}
	if (!str_ends(entry, ".jar") || !realpath(entry, path))
		return NULL;
	return strv_add(&outside->libraries, dirname(path));
}

/* Where jars of the class path lie, by their names and by what these mean. */
static struct err *outside_find_libraries(struct jvm_outside *outside)
{
	_cleanup_(freep) char *all = strdup(outside->suite->class_path);
	if (!all)
		return err_nomem();
	char *rest = all;
	for (char *entry; (entry = strsep(&rest, ":"));)
		TRY(outside_add_folder(outside, entry));
	return NULL;
}

/* lib/modules and the like: below the folder in which bin/java is. */
static struct err *outside_find_home(struct jvm_outside *outside, pid_t pid)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	if (!realpath(link, path))
		return NULL;
	return strv_add(&outside->home, dirname(dirname(path)));
}

static bool seen_ignores(void *data, const char *thing, bool writes)
{
	/* The other end of the last is closed: it takes the place of others. */
	static const char *const own[] = { "/dev/random", "/dev/urandom",
					   "userfaultfd", "socket unix" };
	const struct jvm_seen *seen = data;
	const struct strv *home = &seen->outside->home;
	const struct strv *libraries = &seen->outside->libraries;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (!strcmp(thing, own[i]))
			return true;
	}
	if (str_starts(thing, "/proc/") ||
	    str_starts(thing, "/memfd:java_heap"))
		return true;
	for (size_t i = 0; !writes && i < home->n; i++) {
		if (path_is_below(thing, home->data[i]))
			return true;
	}
	for (size_t i = 0; !writes && i < libraries->n; i++) {
		if (path_is_below(thing, libraries->data[i]) &&
		    str_ends(thing, ".jar"))
			return true;
	}
	return false;
}

static struct err *seen_orphans(void *data, struct pids *ret)
{
	const struct jvm_seen *seen = data;
	return seen->vm ? process_left(&seen->vm->process, ret) : NULL;
}

/* ---- calls ---- */

/* A process that an earlier test left; threads of the VM are none. */
static bool seen_is_left_over(void *data, pid_t tid)
{
	struct jvm_seen *seen = data;
	struct proc_stat stat;
	uint64_t first = atomic_load(&seen->first_test);
	if (!first || !seen->vm ||
	    proc_read_stat(seen->vm->process.pid, tid, &stat) ||
	    !proc_read_stat(tid, 0, &stat))
		return false;
	return stat.start_ticks >= first &&
	       stat.start_ticks < atomic_load(&seen->this_test);
}

static void seen_call(void *data, const struct follow_event *event)
{
	struct jvm_seen *seen = data;
	if (seen->outside->suite->saver)
		saver_event(seen->outside->suite->saver, event);
	if (seen->readers)
		files_readers_sink(seen->readers, event);
	if (seen->attributes) {
		attributes_dirty(seen->attributes, event->states);
		attributes_touched(seen->attributes, event->path);
		attributes_touched(seen->attributes, event->path2);
	}
	if (seen->files && event->kind != FOLLOW_STATE)
		files_event(seen->files, event);
}

/* ---- life ---- */

static struct err *seen_fill(struct jvm_seen *seen)
{
	const struct jvm_outside *outside = seen->outside;
	const struct suite_watch *watch = outside->watch;
	if (!watch)
		return files_readers_create(outside->roots.data,
					    outside->roots.n,
					    outside->directory, &seen->readers);
	const struct files_options files = {
		.dirs = watch->dirs,
		.exclude = watch->own_files,
		.directory = outside->directory,
		.walk = !outside->follows,
		.paths = watch->paths,
		.left_over = seen_is_left_over,
		.data = seen,
	};
	const struct attributes_options attributes = {
		.directory = outside->directory,
		.followed = outside->follows,
		.ignores = seen_ignores,
		.orphans = seen_orphans,
		.unnumbered = true,
		.data = seen,
	};
	TRY(attributes_create(&attributes, &seen->attributes));
	return watch->what & SUITE_FILES ? files_create(&files, &seen->files)
					 : NULL;
}

struct err *jvm_seen_create(struct jvm_suite *suite, struct jvm_seen **ret)
{
	struct jvm_outside *outside = suite->outside;
	struct jvm_seen *seen = calloc(1, sizeof(*seen));
	if (!seen)
		return err_nomem();
	seen->outside = outside;
	struct err *err = seen_fill(seen);
	const struct follow_options options = {
		.flags = FOLLOW_FILES |
			 (outside->watch ? FOLLOW_STATES : FOLLOW_READS),
		.sink = seen_call,
		.data = seen,
	};
	if (!err && outside->follows)
		err = follow_prepare(&options, &seen->follow);
	if (err) {
		jvm_seen_destroy(seen);
		return err;
	}
	*ret = seen;
	return NULL;
}

struct follow *jvm_seen_follow(const struct jvm_seen *seen)
{
	return seen->follow;
}

void jvm_seen_destroy(struct jvm_seen *seen)
{
	if (!seen)
		return;
	/* First its thread, which tells the others. */
	follow_destroy(seen->follow);
	files_destroy(seen->files);
	attributes_destroy(seen->attributes);
	files_readers_destroy(seen->readers);
	free(seen);
}

void jvm_outside_destroy(struct jvm_outside *outside)
{
	if (!outside)
		return;
	strv_free(&outside->home);
	strv_free(&outside->libraries);
	vec_free(&outside->roots);
	vec_free(&outside->places);
	free(outside->found);
	free(outside->why_not);
	free(outside->directory);
	free(outside);
}

static void jvm_outside_destroyp(struct jvm_outside **outside)
{
	jvm_outside_destroy(*outside);
}

/* Can calls be followed here? */
static struct err *outside_try_follow(struct jvm_outside *outside)
{
	const char *method =
		outside->watch ? outside->watch->file_method : NULL;
	if (method && !strcmp(method, "walk"))
		return NULL;
	_cleanup_(err_destroyp) struct err *err = process_try_follow();
	if (!err) {
		outside->follows = true;
		return NULL;
	}
	if (method && !strcmp(method, "follow"))
		return follow_impossible(err);
	log_debug(LOG_JVM, "calls are not followed: %s", err_message(err));
	if (outside->suite->saver)
		saver_cannot_follow(outside->suite->saver, err_message(err));
	return str_copy(err_message(err), &outside->why_not);
}

/* @outside is all zeros. */
static struct err *outside_init(struct jvm_outside *outside,
				struct jvm_suite *suite,
				const struct suite_watch *watch)
{
	outside->suite = suite;
	outside->watch = watch;
	outside->directory = getcwd(NULL, 0);
	TRY(outside_find_libraries(outside));
	return outside_try_follow(outside);
}

/* VMs that wait were started for something else. */
static void outside_set(struct jvm_suite *suite, struct jvm_outside *outside)
{
	if (!suite->outside && !outside)
		return;
	jvm_pool_free(suite);
	jvm_outside_destroy(suite->outside);
	suite->outside = outside;
}

struct err *jvm_outside_watch(struct jvm_suite *suite,
			      const struct suite_watch *watch)
{
	_cleanup_(jvm_outside_destroyp) struct jvm_outside *outside = NULL;
	if (watch && watch->what & (SUITE_FILES | SUITE_PROCESS)) {
		outside = calloc(1, sizeof(*outside));
		if (!outside)
			return err_nomem();
		TRY(outside_init(outside, suite, watch));
	}
	outside_set(suite, take_ptr(outside));
	return NULL;
}

struct err *jvm_outside_watch_places(struct jvm_suite *suite,
				     const struct suite_place *places, size_t n)
{
	_cleanup_(jvm_outside_destroyp) struct jvm_outside *outside =
		calloc(1, sizeof(*outside));
	if (!outside)
		return err_nomem();
	TRY(outside_init(outside, suite, NULL));
	for (size_t i = 0; i < n; i++) {
		if (places[i].where != CHANGE_FILE)
			continue;
		TRY(vec_push(&outside->roots, places[i].root));
		TRY(vec_push(&outside->places, i));
	}
	outside->found = calloc(outside->roots.n + 1, sizeof(*outside->found));
	if (!outside->found)
		return err_nomem();
	outside_set(suite, NULL);
	if (outside->roots.n)
		suite->outside = take_ptr(outside);
	return NULL;
}

struct err *jvm_outside_begin_run(struct jvm_suite *suite,
				  const struct suite_observer *observer)
{
	struct jvm_outside *outside = suite->outside;
	if (!outside || !outside->why_not || outside->said ||
	    (outside->watch && !(outside->watch->what & SUITE_FILES)))
		return NULL;
	outside->said = true;
	suite_limit(observer, "pollution: %s: %s",
		    outside->watch ? "changed files are detected only in the "
				     "watched folders"
				   : "the tests that read changed files could "
				     "not be determined",
		    outside->why_not);
	return NULL;
}

/* ---- points ---- */

/* Files that are written through what is open across the point. */
static struct err *seen_capture_files(struct jvm_seen *seen,
				      struct changes *ret)
{
	VEC(struct files_open) open = {};
	struct err *err = NULL;
	for (int mapped = 0; mapped < 2 && seen->vm; mapped++) {
		size_t n;
		const struct attributes_file *files =
			mapped ? attributes_mapped(seen->attributes, &n)
			       : attributes_files(seen->attributes, &n);
		for (size_t i = 0; !err && i < n; i++) {
			const struct files_open file = { files[i].path,
							 files[i].device,
							 files[i].inode,
							 mapped };
			err = vec_push(&open, file);
		}
	}
	if (!err)
		err = files_capture(seen->files, seen->vm->process.pid,
				    open.data, open.n, ret);
	vec_free(&open);
	return err;
}

/*
 * What is gone was left before: a collector closes what nobody refers to any
 * more, whichever test runs.
 */
static bool seen_is_dropped(const struct change *change)
{
	static const char *const ended[] = { "child[", "port[", "descriptor[",
					     "mapping[", "lock[" };
	for (size_t i = 0; i < ARRAY_SIZE(ended); i++) {
		if (str_starts(change->root, ended[i]))
			return change_is_removal(change);
	}
	return false;
}

/*
 * A connection that is another one now: libraries keep some open in order to use
 * them again, and open others when those are closed.
 */
static bool seen_is_reconnected(const struct change *change)
{
	return str_starts(change->root, "descriptor[socket tcp") && change->n &&
	       strcmp(change->paths[0].before, "absent") != 0;
}

/* "descriptor[a.txt #2]" is one more of the same as "descriptor[a.txt]". */
static void text_drop_number(char *text)
{
	char *at = text ? strrchr(text, '#') : NULL;
	size_t n = at ? strspn(at + 1, "0123456789") : 0;
	if (!n || at == text || at[-1] != ' ' || at[n + 1] != ']')
		return;
	memmove(at - 1, at + n + 1, strlen(at + n + 1) + 1);
}

static void seen_drop_numbers(struct change *change)
{
	if (!str_starts(change->root, "descriptor[") &&
	    !str_starts(change->root, "port["))
		return;
	text_drop_number(change->root);
	for (size_t i = 0; i < change->n; i++)
		text_drop_number(change->paths[i].path);
}

static void seen_drop(const struct jvm_seen *seen, struct changes *changes)
{
	size_t kept = 0;
	for (size_t i = 0; i < changes->n; i++) {
		struct change *change = &changes->data[i];
		bool process = change->where == CHANGE_PROCESS;
		if (process &&
		    (seen_is_dropped(change) || seen_is_reconnected(change) ||
		     attributes_undone(seen->attributes, change))) {
			change_free(change);
			continue;
		}
		if (process)
			seen_drop_numbers(change);
		changes->data[kept++] = *change;
	}
	changes->n = kept;
}

/*
 * The VM's other threads run on: what they have open for a moment, and a child
 * that is about to end, are not what the test leaves. So it is looked at twice.
 */
static struct err *seen_capture_process(struct jvm_seen *seen,
					struct changes *ret)
{
	pid_t pid = seen->vm->process.pid;
	TRY(attributes_capture_outside(seen->attributes, pid, ret));
	if (!ret || !ret->n)
		return NULL;
	usleep(SETTLE_US);
	return attributes_capture_outside(seen->attributes, pid, NULL);
}

/* @alive: else only files can be looked at. */
static struct err *seen_capture(struct jvm_seen *seen, bool alive,
				struct changes *ret)
{
	bool process = seen->outside->watch->what & SUITE_PROCESS;
	uint64_t now = clock_ticks();
	if (!atomic_load(&seen->first_test))
		atomic_store(&seen->first_test, now);
	atomic_store(&seen->this_test, now);
	if (alive)
		TRY(seen_capture_process(seen, process ? ret : NULL));
	if (seen->files && alive)
		TRY(seen_capture_files(seen, ret));
	else if (seen->files)
		TRY(files_capture(seen->files, seen->vm->process.pid, NULL, 0,
				  ret));
	if (ret)
		seen_drop(seen, ret);
	return NULL;
}

static struct err *seen_tell(struct jvm_seen *seen, bool alive, size_t entry,
			     size_t test, const struct suite_observer *observer)
{
	_cleanup_(changes_freep_deep) struct changes changes = {};
	TRY(seen_capture(seen, alive, &changes));
	if (changes.n && observer->changed)
		observer->changed(observer->data, entry, test, changes.data,
				  changes.n);
	return NULL;
}

static struct err *seen_at(struct jvm_seen *seen, uint32_t point, size_t entry,
			   size_t test, const struct suite_observer *observer)
{
	const struct suite_watch *watch = seen->outside->watch;
	if (!watch)
		return NULL;
	if (watch->consecutive) {
		if (point != watch->from)
			return NULL;
		if (seen->any)
			TRY(seen_tell(seen, true, seen->last_entry,
				      seen->last_test, observer));
		else
			TRY(seen_capture(seen, true, NULL));
		seen->any = true;
		seen->last_entry = entry;
		seen->last_test = test;
		return NULL;
	}
	if (point == watch->to)
		return seen_tell(seen, true, entry, test, observer);
	return point == watch->from ? seen_capture(seen, true, NULL) : NULL;
}

static void seen_tell_read(struct jvm_seen *seen, size_t test,
			   const struct suite_observer *observer)
{
	const struct jvm_outside *outside = seen->outside;
	size_t n = files_readers_take(seen->readers, outside->found);
	for (size_t i = 0; test != SIZE_MAX && i < n; i++) {
		if (outside->found[i] < outside->places.n && observer->read)
			observer->read(observer->data, test,
				       outside->places.data[outside->found[i]],
				       false);
	}
}

/* ---- the part ---- */

/*
 * Is what the end of a test shows also what the test that follows it begins with?
 * To wait there again would cost each test a change of processes and back.
 */
static bool outside_ends_show_all(const struct jvm_outside *outside)
{
	const struct suite_watch *watch = outside->watch;
	return !watch ||
	       (!watch->consecutive && watch->from == SUITE_BEFORE_SETUP &&
		watch->to == SUITE_AFTER_TEARDOWN);
}

static struct err *jvm_outside_prepare(struct jvm_suite *suite,
				       struct str *options, struct strv *words)
{
	(void)words;
	if (!suite->outside)
		return NULL;
	return str_appendf(options, ",outside=%d",
			   outside_ends_show_all(suite->outside)
				   ? WIRE_OUTSIDE_KNOWN
				   : WIRE_OUTSIDE_ALL);
}

static struct err *jvm_outside_begin(struct jvm_suite *suite, struct jvm_vm *vm)
{
	struct jvm_seen *seen = vm->seen;
	(void)suite;
	if (!seen)
		return NULL;
	seen->vm = vm;
	TRY(outside_find_home(seen->outside, vm->process.pid));
	return seen->outside->watch ? seen_capture(seen, true, NULL) : NULL;
}

static struct err *jvm_outside_message(struct jvm_suite *suite,
				       struct jvm_vm *vm, uint16_t kind,
				       struct message_reader *content,
				       size_t entry, size_t test,
				       const struct suite_observer *observer)
{
	(void)suite;
	uint32_t point = message_number(content);
	if (kind != WIRE_OUTSIDE_POINT || !vm->seen)
		return NULL;
	/* What class fixtures read is nobody's. */
	if (vm->seen->readers && point == WIRE_VM_BEFORE_SETUP)
		seen_tell_read(vm->seen, SIZE_MAX, observer);
	TRY(seen_at(vm->seen, point, entry, test, observer));
	return jvm_vm_send(vm, WIRE_VM_GO, NULL);
}

static struct err *jvm_outside_ended(struct jvm_suite *suite, struct jvm_vm *vm,
				     size_t entry, size_t test,
				     const struct suite_observer *observer)
{
	(void)suite;
	if (!vm->seen)
		return NULL;
	if (vm->seen->readers)
		seen_tell_read(vm->seen, test, observer);
	return seen_at(vm->seen, WIRE_VM_AFTER_TEARDOWN, entry, test, observer);
}

static struct err *jvm_outside_gone(struct jvm_suite *suite, struct jvm_vm *vm,
				    size_t entry, size_t test,
				    const struct suite_observer *observer)
{
	(void)suite;
	if (!vm->seen)
		return NULL;
	if (vm->seen->readers)
		seen_tell_read(vm->seen, test, observer);
	return vm->seen->outside->watch
		       ? seen_tell(vm->seen, false, entry, test, observer)
		       : NULL;
}

const struct jvm_part jvm_outside_part = {
	.prepare = jvm_outside_prepare,
	.begin = jvm_outside_begin,
	.first = WIRE_VM_OUTSIDE,
	.end = WIRE_VM_KINDS,
	.message = jvm_outside_message,
	.ended = jvm_outside_ended,
	.gone = jvm_outside_gone,
};
