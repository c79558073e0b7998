#include "watch/system_watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attributes/attributes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/str.h"
#include "files/files.h"
#include "follow/follow.h"
#include "keep/save.h"
#include "tracee/brood.h"
#include "wire/state.h"

/* Processes whose age is remembered. */
#define BEGAN_MAX 4096
/* So long children that were killed may take to be gone. */
#define ENDING_MS 50

struct system_watch {
	struct watch_host host;
	const struct suite_watch *options;
	/* Of the process that is followed; NULL: none now, or not asked for. */
	struct tracee *tracee;
	struct follow *follow;
	struct files *files;
	struct attributes *attributes;
	/* Where tests run in children: what these leave in the system. */
	struct system_state *system;
	struct pids helpers; /* that were there before the running test */
	struct pids left;    /* by the last test that ran in a child */
	atomic_uint written; /* states, since the last point */
	VEC(struct files_open) open;
	/* Ticks at which tests began, and processes (by files/ alone). */
	atomic_uint_least64_t first_test, this_test;
	struct map_u64 began;
	char *directory; /* that tests begin in */
	/* Variables that the tool set; NULL ends them. */
	VEC(char *) own_variables;
	/* Said once: that calls cannot be followed, and what was left out. */
	bool said, said_files, said_attributes;
	unsigned said_unseen; /* enum follow_unseen */
};

/* Those of the environment it was started with that are not ours. */
static struct err *list_own_variables(struct system_watch *watch)
{
	char *const *env = watch->host.env;
	for (size_t i = 0; env && env[i]; i++) {
		bool same = false;
		for (size_t j = 0; environ[j] && !same; j++)
			same = !strcmp(env[i], environ[j]);
		char *name =
			same ? NULL : strndup(env[i], strcspn(env[i], "="));
		if (same)
			continue;
		struct err *err = name ? vec_push(&watch->own_variables, name)
				       : err_nomem();
		if (err) {
			free(name);
			return err;
		}
	}
	return vec_push(&watch->own_variables, NULL);
}

struct err *system_watch_create(const struct watch_host *host,
				const struct suite_watch *options,
				struct system_watch **ret)
{
	struct system_watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return err_nomem();
	watch->host = *host;
	watch->options = options;
	watch->directory = getcwd(NULL, 0);
	struct err *err = list_own_variables(watch);
	if (err)
		system_watch_destroy(watch);
	else
		*ret = watch;
	return err;
}

static void system_watch_log_costs(const struct system_watch *watch)
{
	struct follow_counts calls = follow_counts(watch->follow);
	log_debug(LOG_WATCH, "%llu calls followed: %llu us",
		  (unsigned long long)calls.told,
		  (unsigned long long)calls.ns / 1000);
}

static void report_limit_once(const struct system_watch *watch,
			      const char *limit, bool *said)
{
	const struct suite_observer *observer = *watch->host.observer;
	if (!limit || *said || !observer || !observer->limit)
		return;
	suite_limit(observer, "pollution: %s", limit);
	*said = true;
}

/* What was left out. */
static void report_limits(struct system_watch *watch)
{
	unsigned unseen = watch->follow ? follow_unseen(watch->follow) : 0;
	for (unsigned bit = 1; bit <= unseen; bit <<= 1) {
		bool said = watch->said_unseen & bit;
		if (unseen & bit)
			report_limit_once(watch, follow_unseen_text(bit),
					  &said);
		watch->said_unseen |= said ? bit : 0;
	}
	if (watch->files)
		report_limit_once(watch, files_limit(watch->files),
				  &watch->said_files);
	if (watch->attributes && watch->options->what & SUITE_PROCESS)
		report_limit_once(watch, attributes_limit(watch->attributes),
				  &watch->said_attributes);
}

void system_watch_stop(struct system_watch *watch)
{
	report_limits(watch);
	if (watch->follow)
		system_watch_log_costs(watch);
	/* First of all: its thread tells the others. */
	follow_destroy(take_ptr(watch->follow));
	files_destroy(take_ptr(watch->files));
	system_state_destroy(take_ptr(watch->system));
	attributes_destroy(take_ptr(watch->attributes));
	map_u64_free(&watch->began);
	watch->tracee = NULL;
}

void system_watch_destroy(struct system_watch *watch)
{
	if (!watch)
		return;
	system_watch_stop(watch);
	vec_free(&watch->open);
	vec_free(&watch->helpers);
	vec_free(&watch->left);
	map_u64_free(&watch->began);
	for (size_t i = 0; i < watch->own_variables.n; i++)
		free(watch->own_variables.data[i]);
	vec_free(&watch->own_variables);
	free(watch->directory);
	free(watch);
}

/* ---- what process state is asked of the program ---- */

static uint64_t system_watch_symbol_address(void *data, const char *name)
{
	struct system_watch *watch = data;
	struct raddr address;
	return program_symbol(watch->host.program, name, &address) ? address.v
								   : 0;
}

static bool system_watch_function_name(void *data, uint64_t address, char *out,
				       size_t n)
{
	struct system_watch *watch = data;
	return program_name_at(watch->host.program, RADDR(address), out, n);
}

static const char *loaded_library(void *data, size_t index)
{
	struct system_watch *watch = data;
	const struct program *program = watch->host.program;
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		if (module->end && !index--)
			return module->path;
	}
	return NULL;
}

/* ---- the process ---- */

/* Those from before the first test work for it: they are never left over. */
static void spare_helpers(struct system_watch *watch, pid_t pid)
{
	_cleanup_(pids_freep) struct pids children = {};
	err_ignore(proc_read_children(pid, pid, &children));
	for (size_t i = 0; i < children.n; i++)
		err_ignore(map_u64_put(&watch->began,
				       (uint64_t)children.data[i], 0));
}

/* What an earlier test left running is not the running test's doing. */
static bool is_left_over(void *data, pid_t tid)
{
	struct system_watch *watch = data;
	struct proc_stat stat;
	uint64_t ticks;
	pid_t pid = tracee_pid(watch->tracee);
	if (tid == pid)
		return false;
	if (!map_u64_get(&watch->began, (uint64_t)tid, &ticks)) {
		/* A thread of its own, or gone: not left over. */
		bool own = proc_read_stat(pid, tid, &stat);
		ticks = !own && proc_read_stat(tid, 0, &stat) ? stat.start_ticks
							      : 0;
		if (watch->began.map.n >= BEGAN_MAX)
			map_u64_free(&watch->began);
		err_ignore(map_u64_put(&watch->began, (uint64_t)tid, ticks));
	}
	return ticks && ticks >= atomic_load(&watch->first_test) &&
	       ticks < atomic_load(&watch->this_test);
}

static void system_watch_on_call(void *data, const struct follow_event *event)
{
	struct system_watch *watch = data;
	if (*watch->host.saver)
		saver_event(*watch->host.saver, event);
	if (watch->attributes && event->states)
		attributes_dirty(watch->attributes, event->states);
	if (watch->attributes && event->path)
		attributes_touched(watch->attributes, event->path);
	if (watch->attributes && event->path2)
		attributes_touched(watch->attributes, event->path2);
	if (watch->system) {
		atomic_fetch_or(&watch->written, event->states);
		system_state_touched(watch->system, event->path);
		system_state_touched(watch->system, event->path2);
	}
	if (watch->files && event->kind != FOLLOW_STATE)
		files_event(watch->files, event);
}

bool system_watch_follows(const struct system_watch *watch)
{
	const char *method = watch->options->file_method;
	return !method || strcmp(method, "walk") != 0;
}

static struct err *system_watch_follow_calls(struct system_watch *watch,
					     struct thread *thread)
{
	const char *method = watch->options->file_method;
	const struct follow_options options = {
		/* Shared memory has names of files. */
		.flags = FOLLOW_FILES |
			 (watch->options->what & SUITE_PROCESS ? FOLLOW_STATES
							       : 0U),
		.sink = system_watch_on_call,
		.data = watch,
	};
	if (!system_watch_follows(watch))
		return NULL;
	_cleanup_(err_destroyp) struct err *err =
		follow_attach(thread, &options, &watch->follow);
	if (!err)
		return NULL;
	if (method && !strcmp(method, "follow"))
		return follow_impossible(err);
	if (*watch->host.saver)
		saver_cannot_follow(*watch->host.saver, err_message(err));
	if (watch->options->what & SUITE_FILES && !watch->said)
		suite_limit(*watch->host.observer,
			    "pollution: changed files are detected only in "
			    "the watched folders: %s",
			    err_message(err));
	watch->said = true;
	return NULL;
}

static struct err *
system_watch_start_process(struct system_watch *watch,
			   const struct watch_process *process)
{
	const struct suite_watch *options = watch->options;
	struct raddr agent;
	if (!program_symbol(watch->host.program, WIRE_STATE_SYMBOL, &agent))
		agent = RADDR(0);
	spare_helpers(watch, tracee_pid(process->tracee));
	TRY(system_watch_follow_calls(watch, process->thread));
	const struct attributes_options attributes = {
		.symbol = system_watch_symbol_address,
		.function = system_watch_function_name,
		.library = loaded_library,
		.data = watch,
		.directory = watch->directory,
		.agent = agent.v,
		.own_variables = (const char *const *)watch->own_variables.data,
		.raised = options->everything,
		.followed = watch->follow != NULL,
	};
	const struct files_options files = {
		.dirs = options->dirs,
		.exclude = options->own_files,
		.directory = watch->directory,
		.left_over = is_left_over,
		.data = watch,
		.walk = !watch->follow,
		.paths = options->paths,
	};
	/* Which files are open is asked of it, too. */
	if (options->what & SUITE_PROCESS || watch->follow)
		TRY(attributes_create(&attributes, &watch->attributes));
	if (options->what & SUITE_FILES)
		TRY(files_create(&files, &watch->files));
	if (options->what & SUITE_PROCESS && watch->host.forked) {
		watch->helpers.n = 0;
		TRY(brood_started(process->tracee, &watch->helpers));
		TRY(system_state_create(&watch->system));
	}
	return NULL;
}

struct err *system_watch_start(struct system_watch *watch,
			       const struct watch_process *process)
{
	system_watch_stop(watch);
	watch->tracee = process->tracee;
	watch->first_test = watch->this_test = 0;
	struct err *err = system_watch_start_process(watch, process);
	if (err)
		system_watch_stop(watch);
	return err;
}

/* ---- points ---- */

static struct err *list_open(struct system_watch *watch)
{
	watch->open.n = 0;
	if (!watch->attributes)
		return NULL;
	for (int mapped = 0; mapped < 2; mapped++) {
		size_t n;
		const struct attributes_file *open =
			mapped ? attributes_mapped(watch->attributes, &n)
			       : attributes_files(watch->attributes, &n);
		for (size_t i = 0; i < n; i++) {
			struct files_open file = { open[i].path, open[i].device,
						   open[i].inode, mapped };
			TRY(vec_push(&watch->open, file));
		}
	}
	return NULL;
}

/*
 * The end of what an earlier test left does not count, and of objects that all
 * share, what others than the test did: it made no such call (@foreign).
 */
static bool system_watch_is_dropped(const struct change *change, bool foreign)
{
	const char *root = change->root;
	if (str_starts(root, "child[") || str_starts(root, "port["))
		return change_is_removal(change);
	return foreign && attribute_states(root) & STATE_IPC &&
	       !str_starts(root, "semaphore[/") &&
	       !str_starts(root, "shared-memory[/");
}

static void system_watch_drop(struct changes *changes, size_t first,
			      bool foreign)
{
	size_t kept = first;
	for (size_t i = first; i < changes->n; i++) {
		if (system_watch_is_dropped(&changes->data[i], foreign))
			change_free(&changes->data[i]);
		else
			changes->data[kept++] = changes->data[i];
	}
	changes->n = kept;
}

/* What tests that ran in children left in the system. */
static struct err *system_watch_capture_left(struct system_watch *watch,
					     struct changes *ret)
{
	_cleanup_(pids_freep) struct pids started = {}, left = {};
	TRY(brood_started(watch->tracee, &started));
	for (size_t i = 0; i < started.n; i++) {
		if (!pids_have(&watch->helpers, started.data[i]))
			TRY(vec_push(&left, started.data[i]));
	}
	size_t first = ret ? ret->n : 0;
	TRY(system_state_capture(watch->system, left.data, left.n, ret));
	/* Once is enough: what it is called may still change. */
	TRY(vec_append(&watch->helpers, left.data, left.n));
	unsigned written = atomic_exchange(&watch->written, 0);
	if (ret) {
		watch->left.n = 0;
		TRY(vec_append(&watch->left, left.data, left.n));
	}
	if (ret)
		system_watch_drop(ret, first,
				  watch->follow && !(written & STATE_IPC));
	return NULL;
}

struct err *system_watch_capture(struct system_watch *watch,
				 struct thread *thread, struct changes *ret)
{
	if (!watch->tracee)
		return NULL;
	uint64_t now = clock_ticks();
	if (!atomic_load(&watch->first_test))
		atomic_store(&watch->first_test, now);
	atomic_store(&watch->this_test, now);
	bool own = watch->options->what & SUITE_PROCESS && !watch->system;
	if (watch->attributes)
		TRY(attributes_capture(watch->attributes, thread,
				       own ? ret : NULL));
	if (watch->system)
		TRY(system_watch_capture_left(watch, ret));
	if (!watch->files)
		return NULL;
	TRY(list_open(watch));
	return files_capture(watch->files, tracee_pid(watch->tracee),
			     watch->open.data, watch->open.n, ret);
}

struct err *system_watch_leave(struct system_watch *watch, struct changes *ret)
{
	if (!watch->tracee || !watch->files)
		return NULL;
	return files_capture(watch->files, tracee_pid(watch->tracee), NULL, 0,
			     ret);
}

static bool system_watch_is_left(const struct system_watch *watch)
{
	for (size_t i = 0; i < watch->left.n; i++) {
		struct proc_status status;
		if (proc_read_status(watch->left.data[i], &status) &&
		    !strchr("ZXx", status.state))
			return true;
	}
	return false;
}

/* Did the runner end what the test's child had started? A signal takes a moment. */
static bool system_watch_is_ended(const struct system_watch *watch)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	for (int i = 0; i < ENDING_MS && system_watch_is_left(watch); i++)
		nanosleep(&pause, NULL);
	return !system_watch_is_left(watch);
}

bool system_watch_undone(struct system_watch *watch,
			 const struct change *change)
{
	if (change->where == CHANGE_FILE)
		return watch->files && files_undone(watch->files, change);
	if (watch->system)
		return (str_starts(change->root, "child[") ||
			str_starts(change->root, "port[")) &&
		       system_watch_is_ended(watch);
	return watch->attributes &&
	       attributes_undone(watch->attributes, change);
}

bool system_watch_outlives(const struct system_watch *watch,
			   const struct change *change)
{
	return watch->system || change->where == CHANGE_FILE;
}
