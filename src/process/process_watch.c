#include "process/process_watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attributes/attributes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/proc.h"
#include "files/files.h"
#include "files/inputs.h"
#include "follow/follow.h"
#include "keep/save.h"
#include "suite/change.h"

/* Processes that one command left, at most. */
#define LEFT_MAX 1024

/* One command whose calls are followed, and what it left running. */
struct command_follower {
	struct process_watch *watch;
	struct follow *follow;
	size_t entry, test;
	/* Of the follower's thread: */
	atomic_bool over;   /* the command ended; what it left goes on … */
	struct files *late; /* … and does this to files; NULL: no matter */
	/* Process state (enum follow_state) that was asked for, and set. */
	atomic_uint looked, written;
};

struct process_watch {
	struct process_suite *suite;
	const struct suite_observer *observer;
	struct files_options file_options;
	char *directory;
	bool follows;
	unsigned flags;	       /* enum follow_flags */
	struct inputs *inputs; /* told what is read; NULL: nobody asks */
	struct saver *saver;   /* the suite's; NULL: files are not kept */

	struct files *files;	     /* NULL: not asked for */
	struct system_state *system; /* NULL: not asked for */
	struct changes changes;	     /* of the command that ended */
	size_t entry, test;	     /* its place and number */
	bool left;		     /* it left processes */
	uint64_t capture_ns;	     /* what looking cost */

	/* In a run that looks for readers. */
	const struct suite_place *places;
	size_t n_places;
	struct files_readers *readers;
	VEC(const char *) roots;     /* of files … */
	VEC(size_t) places_of_roots; /* … and which places they are */
	size_t *found;		     /* room for answers */
	bool *read;		     /* by place */

	struct command_follower *follower; /* of the command that runs */
	VEC(struct command_follower *)
	followers;		  /* of processes left running */
	struct pids known;	  /* children left by earlier ones */
	struct pids groups;	  /* and their process groups */
	struct map_text fixtures; /* roots that set-ups changed */
	uint64_t told;		  /* calls held back */
	size_t unfollowed;	  /* commands */
	unsigned unseen;	  /* enum follow_unseen */
};

static const struct process_test *
process_watch_test(const struct process_watch *watch, size_t test)
{
	return &watch->suite->tests.data[test];
}

/* ---- calls ---- */

static void process_watch_note_states(struct command_follower *follower,
				      const struct follow_event *event)
{
	if (event->kind == FOLLOW_LOOKED) {
		unsigned own = atomic_load(&follower->written);
		atomic_fetch_or(&follower->looked, event->states & ~own);
	} else if (event->kind == FOLLOW_STATE) {
		atomic_fetch_or(&follower->written, event->states);
	}
}

static void process_watch_call(void *data, const struct follow_event *event)
{
	struct command_follower *follower = data;
	struct process_watch *watch = follower->watch;
	bool over = atomic_load(&follower->over);
	if (watch->saver)
		saver_event(watch->saver, event);
	if (watch->inputs && event->kind >= FOLLOW_READ &&
	    event->kind <= FOLLOW_LOOKED)
		return;
	if (!over)
		process_watch_note_states(follower, event);
	if (watch->places) {
		/* What a server that was left running reads does not count. */
		if (!over && watch->readers)
			files_readers_sink(watch->readers, event);
		return;
	}
	if (watch->system && !over) {
		system_state_touched(watch->system, event->path);
		system_state_touched(watch->system, event->path2);
	}
	struct files *files = over ? follower->late : watch->files;
	if (files && event->kind != FOLLOW_STATE)
		files_event(files, event);
}

static void command_follower_destroy(struct command_follower *follower)
{
	if (!follower)
		return;
	if (follower->follow) {
		follower->watch->told += follow_counts(follower->follow).told;
		follower->watch->unseen |= follow_unseen(follower->follow);
	}
	/* First its thread, which tells the files. */
	follow_destroy(follower->follow);
	files_destroy(follower->late);
	free(follower);
}

/* ---- life ---- */

static struct err *process_watch_create_readers(struct process_watch *watch)
{
	for (size_t i = 0; i < watch->n_places; i++) {
		if (watch->places[i].where != CHANGE_FILE)
			continue;
		TRY(vec_push(&watch->roots, watch->places[i].root));
		TRY(vec_push(&watch->places_of_roots, i));
	}
	watch->read = calloc(watch->n_places + 1, sizeof(*watch->read));
	watch->found = calloc(watch->roots.n + 1, sizeof(*watch->found));
	if (!watch->read || !watch->found)
		return err_nomem();
	if (!watch->roots.n)
		return NULL;
	return files_readers_create(watch->roots.data, watch->roots.n,
				    watch->directory, &watch->readers);
}

static struct err *process_watch_create_state(struct process_watch *watch,
					      const struct suite_watch *options)
{
	watch->file_options = (struct files_options){
		.dirs = options->dirs,
		.exclude = options->own_files,
		.directory = watch->directory,
		.walk = !watch->follows,
		.paths = options->paths,
	};
	if (options->what & SUITE_FILES) {
		TRY(files_create(&watch->file_options, &watch->files));
		TRY(files_capture(watch->files, 0, NULL, 0, NULL));
	}
	if (options->what & SUITE_PROCESS) {
		TRY(system_state_create(&watch->system));
		TRY(system_state_capture(watch->system, NULL, 0, NULL));
	}
	return NULL;
}

/* Can calls be followed here? Else it is said, once a suite. */
static struct err *process_watch_try_follow(struct process_watch *watch,
					    const struct suite_watch *options)
{
	const char *method = options ? options->file_method : NULL;
	if (method && !strcmp(method, "walk"))
		return NULL;
	_cleanup_(err_destroyp) struct err *err = process_try_follow();
	if (!err) {
		watch->follows = true;
		return NULL;
	}
	if (method && !strcmp(method, "follow"))
		return follow_impossible(err);
	log_debug(LOG_PROCESS, "calls are not followed: %s", err_message(err));
	if (watch->saver)
		saver_cannot_follow(watch->saver, err_message(err));
	bool *said = options ? &watch->suite->said_walk
			     : &watch->suite->said_readers;
	if (*said || (options && !(options->what & SUITE_FILES)))
		return NULL;
	*said = true;
	suite_limit(watch->observer, "pollution: %s: %s",
		    options ? "changed files are detected only in the "
			      "watched folders"
			    : "the tests that read changed files could not "
			      "be determined",
		    err_message(err));
	return NULL;
}

static struct err *process_watch_fill(struct process_watch *watch,
				      const struct process_watching *what)
{
	watch->directory = getcwd(NULL, 0);
	watch->saver = watch->suite->saver;
	TRY(process_watch_try_follow(watch, what->watch));
	if (what->watch) {
		watch->flags = FOLLOW_FILES;
		if (what->watch->what & SUITE_PROCESS)
			watch->flags |= FOLLOW_STATES;
		watch->inputs = watch->suite->suite.options.inputs;
		if (watch->inputs)
			watch->flags |= FOLLOW_READS;
		if (watch->inputs && watch->follows && watch->saver)
			inputs_begin(watch->inputs);
		else if (watch->inputs)
			inputs_lose(watch->inputs);
		return process_watch_create_state(watch, what->watch);
	}
	watch->flags = FOLLOW_FILES | FOLLOW_READS | FOLLOW_STATES;
	watch->places = what->places;
	watch->n_places = what->n_places;
	return process_watch_create_readers(watch);
}

struct err *process_watch_create(struct process_suite *suite,
				 const struct process_watching *what,
				 const struct suite_observer *observer,
				 struct process_watch **ret)
{
	struct process_watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return err_nomem();
	watch->suite = suite;
	watch->observer = observer;
	struct err *err = process_watch_fill(watch, what);
	if (!err && (what->watch || watch->follows)) {
		*ret = watch;
		return NULL;
	}
	process_watch_destroy(watch);
	if (!err)
		*ret = NULL;
	return err;
}

static void process_watch_log_costs(const struct process_watch *watch)
{
	log_debug(LOG_PROCESS, "%llu calls followed; looking took %llu us",
		  (unsigned long long)watch->told,
		  (unsigned long long)(watch->capture_ns / 1000));
}

void process_watch_destroy(struct process_watch *watch)
{
	if (!watch)
		return;
	command_follower_destroy(watch->follower);
	for (size_t i = 0; i < watch->followers.n; i++)
		command_follower_destroy(watch->followers.data[i]);
	vec_free(&watch->followers);
	if (watch->inputs && watch->unseen)
		inputs_lose(watch->inputs);
	process_watch_log_costs(watch);
	files_destroy(watch->files);
	system_state_destroy(watch->system);
	files_readers_destroy(watch->readers);
	changes_freep_deep(&watch->changes);
	vec_free(&watch->roots);
	vec_free(&watch->places_of_roots);
	vec_free(&watch->known);
	vec_free(&watch->groups);
	map_text_free(&watch->fixtures);
	free(watch->found);
	free(watch->read);
	free(watch->directory);
	free(watch);
}

/* ---- a command ---- */

struct err *process_watch_begin(struct process_watch *watch, size_t entry,
				size_t test, struct follow **ret)
{
	/* That of a command that could not be started. */
	command_follower_destroy(take_ptr(watch->follower));
	watch->entry = entry;
	watch->test = test;
	changes_clear(&watch->changes);
	*ret = NULL;
	if (watch->readers)
		files_readers_take(watch->readers, watch->found);
	if (!watch->follows)
		return NULL;
	struct command_follower *follower = calloc(1, sizeof(*follower));
	if (!follower)
		return err_nomem();
	follower->watch = watch;
	follower->entry = entry;
	follower->test = test;
	const struct follow_options options = {
		.flags = watch->flags,
		.sink = process_watch_call,
		.data = follower,
	};
	struct err *err = follow_prepare(&options, &follower->follow);
	if (err) {
		command_follower_destroy(follower);
		return err;
	}
	watch->follower = follower;
	*ret = follower->follow;
	return NULL;
}

void process_watch_started(struct process_watch *watch, struct err *unfollowed)
{
	if (!unfollowed)
		return;
	watch->unfollowed++;
	if (watch->inputs)
		inputs_lose(watch->inputs);
	log_debug(LOG_PROCESS, "a command is not followed: %s",
		  err_message(unfollowed));
	if (watch->saver)
		saver_cannot_follow(watch->saver, err_message(unfollowed));
	err_destroy(unfollowed);
}

bool process_watch_left(const struct process_watch *watch,
			const struct pids *children)
{
	for (size_t i = 0; i < children->n; i++) {
		if (!pids_have(&watch->known, children->data[i]))
			return true;
	}
	return false;
}

/* What @pid started and that is alive, and so on. */
static struct err *process_watch_add_descendants(pid_t pid, struct pids *ret)
{
	_cleanup_(pids_freep) struct pids children = {};
	TRY(proc_read_children(pid, pid, &children));
	for (size_t i = 0; i < children.n && ret->n < LEFT_MAX; i++) {
		if (!pids_have(ret, children.data[i]))
			TRY(vec_push(ret, children.data[i]));
	}
	return NULL;
}

/*
 * Of @children those that the command left, and what these started. Not those
 * of earlier ones, nor what they started meanwhile and came to us when they
 * ended: the group tells.
 */
static struct err *process_watch_find_left(const struct process_watch *watch,
					   const struct pids *children,
					   struct pids *ret)
{
	for (size_t i = 0; i < children->n; i++) {
		pid_t child = children->data[i];
		if (!pids_have(&watch->known, child) &&
		    !pids_have(&watch->groups, getpgid(child)))
			TRY(vec_push(ret, child));
	}
	for (size_t i = 0; i < ret->n; i++)
		TRY(process_watch_add_descendants(ret->data[i], ret));
	return NULL;
}

/* From now on events are those of processes that the command left. */
static struct err *process_watch_turn_over(struct process_watch *watch,
					   bool left)
{
	struct command_follower *follower = watch->follower;
	if (!follower)
		return NULL;
	struct err *err = NULL;
	if (left && watch->files &&
	    !process_watch_test(watch, watch->test)->provides)
		err = files_create(&watch->file_options, &follower->late);
	if (!err && follower->late)
		err = files_capture(follower->late, 0, NULL, 0, NULL);
	atomic_store(&follower->over, true);
	return err;
}

/* ---- fixtures ---- */

static struct err *change_fixture_key(const struct change *change,
				      struct str *ret)
{
	ret->n = 0;
	return str_appendf(ret, "%d %s", change->where, change->root);
}

static struct err *process_watch_keep_fixture_roots(struct process_watch *watch)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	for (size_t i = 0; i < watch->changes.n; i++) {
		TRY(change_fixture_key(&watch->changes.data[i], &key));
		TRY(map_text_put(&watch->fixtures, key.s, 1));
	}
	return NULL;
}

/*
 * IPC objects belong to the system, and others have some, too: where calls are
 * followed, the command must have had to do with some. Those that are files
 * were reported by name (system_state_touched()).
 */
static bool process_watch_is_foreign(const struct process_watch *watch,
				     const struct change *change)
{
	struct command_follower *follower = watch->follower;
	if (change->where != CHANGE_PROCESS || !follower ||
	    !(attribute_states(change->root) & STATE_IPC) ||
	    str_starts(change->root, "semaphore[/") ||
	    str_starts(change->root, "shared-memory[/"))
		return false;
	return !(atomic_load(&follower->written) & STATE_IPC);
}

/* Processes and ports that are gone were reported when they were left. */
static bool process_watch_is_end(const struct change *change)
{
	return change->where == CHANGE_PROCESS && change_is_removal(change) &&
	       (str_starts(change->root, "child[") ||
		str_starts(change->root, "port["));
}

static struct err *process_watch_is_clean_up(const struct process_watch *watch,
					     const struct change *change,
					     bool *ret)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t known;
	TRY(change_fixture_key(change, &key));
	*ret = change_is_removal(change) ||
	       map_text_get(&watch->fixtures, key.s, &known);
	return NULL;
}

/* Drops what does not count. */
static struct err *process_watch_drop_changes(struct process_watch *watch)
{
	const struct process_test *test =
		process_watch_test(watch, watch->test);
	struct changes *changes = &watch->changes;
	if (test->provides) {
		log_debug(LOG_PROCESS,
			  "%zu changes do not count: made by a fixture",
			  changes->n);
		TRY(process_watch_keep_fixture_roots(watch));
		changes_clear(changes);
		return NULL;
	}
	size_t kept = 0;
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->data[i];
		bool drop = false;
		struct err *err = test->cleans ? process_watch_is_clean_up(
							 watch, change, &drop)
					       : NULL;
		if (err)
			err_ignore(err);
		const char *why =
			drop ? "cleaned up by a fixture"
			: process_watch_is_end(change)
				? "the end of what an earlier one left"
			: process_watch_is_foreign(watch, change)
				? "the command made no IPC call"
				: NULL;
		if (!why) {
			changes->data[kept++] = changes->data[i];
			continue;
		}
		log_debug(LOG_PROCESS, "%s does not count: %s", change->root,
			  why);
		change_free(&changes->data[i]);
	}
	changes->n = kept;
	return NULL;
}

/* ---- after a command ---- */

static void process_watch_find_read(struct process_watch *watch)
{
	memset(watch->read, 0, watch->n_places * sizeof(*watch->read));
	size_t n = watch->readers
			   ? files_readers_take(watch->readers, watch->found)
			   : 0;
	for (size_t i = 0; i < n; i++) {
		if (watch->found[i] < watch->roots.n)
			watch->read[watch->places_of_roots
					    .data[watch->found[i]]] = true;
	}
	unsigned looked =
		watch->follower ? atomic_load(&watch->follower->looked) : 0;
	for (size_t i = 0; looked && i < watch->n_places; i++) {
		const struct suite_place *place = &watch->places[i];
		if (place->where == CHANGE_PROCESS &&
		    attribute_states(place->root) & looked)
			watch->read[i] = true;
	}
}

struct err *process_watch_end(struct process_watch *watch, pid_t pid,
			      const struct pids *children)
{
	uint64_t start = clock_now();
	_cleanup_(pids_freep) struct pids left = {};
	TRY(process_watch_find_left(watch, children, &left));
	TRY(process_watch_turn_over(watch,
				    process_watch_left(watch, children)));
	if (watch->places) {
		process_watch_find_read(watch);
		return NULL;
	}
	if (watch->files)
		TRY(files_capture(watch->files, pid, NULL, 0, &watch->changes));
	watch->left = left.n;
	if (watch->system)
		TRY(system_state_capture(watch->system, left.data, left.n,
					 &watch->changes));
	TRY(process_watch_drop_changes(watch));
	watch->capture_ns += clock_now() - start;
	return NULL;
}

static void process_watch_report_changes(struct process_watch *watch,
					 size_t entry, size_t test)
{
	const struct suite_observer *observer = watch->observer;
	if (watch->changes.n && observer->changed)
		observer->changed(observer->data, entry, test,
				  watch->changes.data, watch->changes.n);
	changes_clear(&watch->changes);
}

void process_watch_tell(struct process_watch *watch)
{
	const struct suite_observer *observer = watch->observer;
	process_watch_report_changes(watch, watch->entry, watch->test);
	for (size_t i = 0; i < watch->n_places; i++) {
		if (watch->read[i] && observer->read)
			observer->read(observer->data, watch->test, i, false);
	}
}

struct err *process_watch_settle(struct process_watch *watch,
				 const struct pids *children)
{
	bool left = process_watch_left(watch, children);
	watch->known.n = watch->groups.n = 0;
	TRY(vec_append(&watch->known, children->data, children->n));
	for (size_t i = 0; i < children->n; i++) {
		pid_t group = getpgid(children->data[i]);
		if (group > 0)
			TRY(vec_push(&watch->groups, group));
	}
	/* Ports and the like of what was ended went with it. */
	if (watch->system && watch->left)
		TRY(system_state_capture(watch->system, NULL, 0, NULL));
	if (!watch->follower)
		return NULL;
	if (left) {
		log_debug(LOG_PROCESS,
			  "still followed: processes that a command left");
		TRY(vec_push(&watch->followers, watch->follower));
		watch->follower = NULL;
	}
	command_follower_destroy(take_ptr(watch->follower));
	return NULL;
}

struct err *process_watch_finish(struct process_watch *watch)
{
	for (size_t i = 0; i < watch->followers.n; i++) {
		struct command_follower *follower = watch->followers.data[i];
		if (!follower->late)
			continue;
		TRY(files_capture(follower->late, 0, NULL, 0, &watch->changes));
		process_watch_report_changes(watch, follower->entry,
					     follower->test);
	}
	if (watch->unfollowed)
		suite_limit(watch->observer,
			    "pollution: the files of %zu command%s could not "
			    "be followed",
			    watch->unfollowed,
			    watch->unfollowed == 1 ? "" : "s");
	for (unsigned bit = 1; bit <= watch->unseen; bit <<= 1) {
		if (watch->unseen & bit)
			suite_limit(watch->observer, "pollution: %s",
				    follow_unseen_text(bit));
	}
	return NULL;
}
