#include "watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "keep/save.h"
#include "suite/change.h"
#include "watch/memory_watch.h"
#include "watch/system_watch.h"
#include "wire/state.h"

#define NO_TEST ((size_t)-1)

struct watch {
	struct watch_host host;
	const struct suite_watch *options;
	/* NULL: not asked for, or given up. */
	struct memory_watch *memory;
	struct system_watch *system;
	/* Of the process that is followed; NULL: none now. */
	struct tracee *tracee;
	size_t pending; /* test whose changes are searched for; NO_TEST */
	size_t entry;	/* its place in the order */
	/*
	 * Changes wait until the next test begins: what the runner undoes in
	 * between was a fixture's.
	 */
	size_t held_test; /* NO_TEST: none are held */
	size_t held_entry;
	struct changes changes;
	struct map_text fixtures; /* roots, memory's apart, that were undone */
	bool said_agent, said_threads, said_between;
	/* Names of process state that changed while no test ran. */
	struct str between;
	unsigned n_between;
};

#define BETWEEN_MAX 8 /* of these names */

unsigned watch_points(const struct suite_watch *options)
{
	unsigned points = 1U << options->from;
	return options->consecutive ? points : points | 1U << options->to;
}

struct err *watch_create(const struct watch_host *host,
			 const struct suite_watch *options, struct watch **ret)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return err_nomem();
	watch->host = *host;
	watch->options = options;
	watch->pending = watch->held_test = NO_TEST;
	struct err *err = NULL;
	if (options->what & SUITE_MEMORY)
		err = memory_watch_create(host, options, &watch->memory);
	if (!err && options->what & (SUITE_FILES | SUITE_PROCESS))
		err = system_watch_create(host, options, &watch->system);
	if (err) {
		watch_destroy(watch);
		return err;
	}
	*ret = watch;
	return NULL;
}

void watch_destroy(struct watch *watch)
{
	if (!watch)
		return;
	watch_stop(watch);
	memory_watch_destroy(watch->memory);
	system_watch_destroy(watch->system);
	changes_freep_deep(&watch->changes);
	map_text_free(&watch->fixtures);
	str_free(&watch->between);
	free(watch);
}

/* ---- changes ---- */

/* To the observer, all that is held. */
static void watch_report_changes(struct watch *watch)
{
	const struct suite_observer *observer = *watch->host.observer;
	if (watch->held_test != NO_TEST && watch->changes.n && observer &&
	    observer->changed)
		observer->changed(observer->data, watch->held_entry,
				  watch->held_test, watch->changes.data,
				  watch->changes.n);
	watch->held_test = NO_TEST;
	changes_clear(&watch->changes);
}

static bool is_fixture(const struct watch *watch, const struct change *change)
{
	uint64_t known;
	if (change->where == CHANGE_MEMORY)
		return watch->memory &&
		       memory_watch_is_fixture(watch->memory, change);
	return map_text_get(&watch->fixtures, change->root, &known);
}

/* After the last test nothing shows what its fixtures are; others' did. */
static void drop_fixtures(struct watch *watch)
{
	size_t n = 0;
	for (size_t i = 0; i < watch->changes.n; i++) {
		struct change *change = &watch->changes.data[i];
		if (is_fixture(watch, change))
			change_free(change);
		else
			watch->changes.data[n++] = *change;
	}
	watch->changes.n = n;
}

/*
 * The next test is about to begin: what the runner restored is a fixture.
 * @gone: or the process has ended, and only files can be examined.
 */
static struct err *watch_drop_undone(struct watch *watch, bool gone)
{
	struct err *err = NULL;
	size_t n = 0;
	for (size_t i = 0; i < watch->changes.n; i++) {
		struct change *change = &watch->changes.data[i];
		if (err || change->where == CHANGE_MEMORY ||
		    (gone && !system_watch_outlives(watch->system, change)) ||
		    !system_watch_undone(watch->system, change)) {
			watch->changes.data[n++] = *change;
			continue;
		}
		/* Of processes that are left, only their names are known. */
		if (change->where == CHANGE_FILE ||
		    !system_watch_outlives(watch->system, change))
			err = map_text_put(&watch->fixtures, change->root, 1);
		change_free(change);
	}
	watch->changes.n = n;
	return err;
}

static void report_between(struct watch *watch)
{
	if (!watch->n_between || watch->said_between || !*watch->host.observer)
		return;
	watch->said_between = true;
	suite_limit(*watch->host.observer,
		    "pollution: changed while no test ran, by the runner or by "
		    "tests that were inlined into it: %s",
		    watch->between.s);
}

/* ---- the process ---- */

void watch_stop(struct watch *watch)
{
	/* The process is gone in the middle of a test; what it left is not. */
	if (watch->pending != NO_TEST && watch->system && watch->tracee) {
		watch_report_changes(watch);
		watch->held_test = watch->pending;
		watch->held_entry = watch->entry;
		err_ignore(system_watch_leave(watch->system, &watch->changes));
	} else if (watch->held_test != NO_TEST && watch->system) {
		/* The runner may have removed files at its end. */
		err_ignore(system_watch_leave(watch->system, NULL));
		err_ignore(watch_drop_undone(watch, true));
	}
	report_between(watch);
	drop_fixtures(watch);
	watch_report_changes(watch); /* no test came after it */
	if (watch->memory)
		memory_watch_stop(watch->memory);
	if (watch->system)
		system_watch_stop(watch->system);
	watch->tracee = NULL;
	watch->pending = NO_TEST;
}

/*
 * It can no longer be examined: the tests continue without. Where the user or
 * the budget ended it, they do not.
 */
static void lose_memory(struct watch *watch, struct err *err)
{
	if (err_kind(err) != ERR_INTERRUPTED)
		suite_limit(*watch->host.observer,
			    "pollution: memory was not compared: %s",
			    err_message(err));
	err_destroy(err);
	memory_watch_destroy(take_ptr(watch->memory));
}

static void lose_system(struct watch *watch, struct err *err)
{
	suite_limit(*watch->host.observer,
		    "pollution: files and process state were not compared: "
		    "%s",
		    err_message(err));
	if (*watch->host.saver)
		saver_cannot_follow(*watch->host.saver, err_message(err));
	err_destroy(err);
	system_watch_destroy(take_ptr(watch->system));
}

bool watch_allows_copies(const struct watch *watch)
{
	return !watch->memory || !watch->memory->image ||
	       image_method(watch->memory->image) != IMAGE_FORK;
}

bool watch_follows(const struct watch *watch)
{
	return watch->system && system_watch_follows(watch->system);
}

bool watch_is_whole(const struct watch *watch)
{
	unsigned what = watch->options->what;
	return (watch->memory || !(what & SUITE_MEMORY)) &&
	       (watch->system || !(what & (SUITE_FILES | SUITE_PROCESS)));
}

/* ---- what cannot be seen ---- */

/* For files alone neither matters. */
static bool sees_process(const struct watch *watch)
{
	return watch->options->what & (SUITE_MEMORY | SUITE_PROCESS);
}

static const char *find_agent_obstacle(const struct program *program)
{
	const struct module *executable = program->modules.data;
	if (!program->modules.n || !executable->object)
		return "it could not be loaded";
	const struct object_facts *facts = object_facts(executable->object);
	return facts->asan   ? "it does not work with AddressSanitizer"
	       : facts->tsan ? "it does not work with ThreadSanitizer"
			     : "it could not be loaded";
}

/* Without our library less is known; pollution.md has the whole list. */
static void report_missing_agent(struct watch *watch)
{
	const struct program *program = watch->host.program;
	const struct suite_observer *observer = *watch->host.observer;
	struct raddr agent;
	if (watch->said_agent || !observer || !sees_process(watch) ||
	    program_symbol(program, WIRE_STATE_SYMBOL, &agent))
		return;
	watch->said_agent = true;
	bool linked_statically =
		program->modules.n && program->modules.data[0].object &&
		!object_facts(program->modules.data[0].object)->dynamic;
	if (linked_statically)
		suite_limit(
			observer,
			"pollution: the program is statically linked: sizes "
			"of heap blocks are rounded up, and tests that read "
			"the environment, the locale, the time zone or "
			"random numbers are not found");
	else
		suite_limit(
			observer,
			"pollution: our library is not in the program (%s): "
			"changes of the locale, random numbers, exit "
			"handlers and C++ hooks may be missed, and tests "
			"that read them are not found",
			find_agent_obstacle(program));
}

/* At a point: those that a test waited for are gone. */
static void report_threads(struct watch *watch)
{
	if (watch->said_threads || !sees_process(watch) ||
	    tracee_threads(watch->tracee) < 2)
		return;
	tracee_reap(watch->tracee);
	if (tracee_threads(watch->tracee) < 2)
		return;
	watch->said_threads = true;
	suite_limit(*watch->host.observer,
		    "pollution: other threads run beside the tests: what they "
		    "change counts as changed by the test that runs then, and "
		    "their thread-local variables are not compared");
}

struct err *watch_start(struct watch *watch,
			const struct watch_process *process)
{
	watch_stop(watch);
	watch->tracee = process->tracee;
	struct err *err = NULL;
	/* Memory last: what the others do in the process is not to be seen. */
	if (watch->system)
		err = system_watch_start(watch->system, process);
	if (err && err_kind(err) != ERR_INTERNAL)
		return err;
	if (err)
		lose_system(watch, err);
	err = watch->memory ? memory_watch_start(watch->memory, process) : NULL;
	if (err && err_kind(err) == ERR_USAGE)
		return err;
	if (err)
		lose_memory(watch, err);
	report_missing_agent(watch);
	return NULL;
}

/* ---- points ---- */

/*
 * The thread that is at the point: the only one in which calls can be made. The
 * others were stopped wherever they were, and what they have to say waits. Where
 * a test was given up there is none: then calls fail, and the rest is read.
 */
static struct thread *point_thread(const struct tracee *tracee)
{
	struct thread *other = NULL;
	for (size_t i = 0; i < tracee_threads(tracee); i++) {
		struct thread *thread = tracee_thread(tracee, i);
		if (thread->stopped && !thread->has_waiting)
			return thread;
		if (!other ||
		    (thread->tid == tracee_pid(tracee) && thread->stopped))
			other = thread;
	}
	return other;
}

/* Tests that are part of their runner change things while no test runs. */
static struct err *note_between(struct watch *watch, struct thread *thread)
{
	_cleanup_(changes_freep_deep) struct changes changes = {};
	bool inlined = watch->host.inlined && *watch->host.inlined;
	TRY(system_watch_capture(watch->system, thread,
				 inlined ? &changes : NULL));
	for (size_t i = 0; i < changes.n && watch->n_between < BETWEEN_MAX;
	     i++) {
		const char *root = changes.data[i].root;
		if (changes.data[i].where != CHANGE_PROCESS ||
		    (watch->between.n && strstr(watch->between.s, root)))
			continue;
		watch->n_between++;
		TRY(str_appendf(&watch->between, "%s%s",
				watch->between.n ? ", " : "", root));
	}
	return NULL;
}

/* @wanted: the changes belong to a test, and are held. */
static struct err *watch_capture_changes(struct watch *watch, bool wanted)
{
	if (tracee_threads(watch->tracee) > 1)
		TRY(tracee_stop_all(watch->tracee));
	struct thread *thread = point_thread(watch->tracee);
	if (!thread)
		return err_create(ERR_INTERNAL, "no thread is left");
	struct changes *changes = wanted ? &watch->changes : NULL;
	struct err *err = NULL;
	if (watch->system)
		err = wanted ? system_watch_capture(watch->system, thread,
						    changes)
			     : note_between(watch, thread);
	if (err)
		lose_system(watch, err);
	if (watch->system && !wanted && watch->changes.n)
		TRY(watch_drop_undone(watch, false));
	err = watch->memory ? memory_watch_capture(watch->memory, thread,
						   changes, &watch->changes)
			    : NULL;
	if (err)
		lose_memory(watch, err);
	return NULL;
}

/* What the test that ended changed in variables that are left out. */
static void watch_tell_omitted(const struct watch *watch)
{
	const struct suite_observer *observer = *watch->host.observer;
	if (!watch->memory || !observer || !observer->omitted)
		return;
	for (size_t i = 0; i < watch->memory->omitted.n; i++) {
		const struct omitted_word *word =
			&watch->memory->omitted.data[i];
		observer->omitted(observer->data, watch->pending, word->name,
				  word->offset);
	}
}

struct err *watch_point(struct watch *watch, const struct watch_point *at)
{
	const struct suite_watch *options = watch->options;
	enum suite_point point = at->point;
	if (watch->tracee != at->tracee)
		return NULL;
	bool from = point == options->from;
	bool to = point == options->to && !options->consecutive;
	if (!from && !to)
		return NULL;
	report_threads(watch);
	bool wanted = (to || options->consecutive) && watch->pending != NO_TEST;
	/* End and beginning are often one stop: nothing ran since. */
	bool again = *at->captured && !wanted;
	if (wanted)
		watch_report_changes(watch);
	if (!again)
		TRY(watch_capture_changes(watch, wanted));
	*at->captured = true;
	if (wanted) {
		watch_tell_omitted(watch);
		watch->held_test = watch->pending;
		watch->held_entry = watch->entry;
	}
	/* Between other points there is no runner to undo anything. */
	if (!wanted || options->from != SUITE_BEFORE_SETUP ||
	    options->to != SUITE_AFTER_TEARDOWN)
		watch_report_changes(watch);
	watch->pending = from ? at->test : NO_TEST;
	watch->entry = at->entry;
	return NULL;
}

/* ---- what is used for the first time ---- */

/* Is its memory compared now, on behalf of a test? */
static bool watch_wants_moments(const struct watch *watch)
{
	return watch->memory && watch->pending != NO_TEST;
}

static struct err *watch_keep_going(struct watch *watch, struct err *err)
{
	if (err)
		lose_memory(watch, err);
	return NULL;
}

struct err *watch_guard(struct watch *watch, struct thread *thread,
			uint64_t guard)
{
	if (!watch_wants_moments(watch))
		return NULL;
	return watch_keep_going(watch,
				moments_guard(watch->memory, thread, guard));
}

struct err *watch_make(struct watch *watch, struct thread *thread,
		       uint64_t *ret)
{
	*ret = 0;
	if (!watch_wants_moments(watch))
		return NULL;
	return watch_keep_going(watch,
				moments_make(watch->memory, thread, ret));
}

struct err *watch_made(struct watch *watch, struct thread *thread,
		       uint64_t number)
{
	if (!watch_wants_moments(watch))
		return NULL;
	return watch_keep_going(watch,
				moments_made(watch->memory, thread, number));
}
