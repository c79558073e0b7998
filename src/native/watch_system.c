#include "native/watch_system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attributes/attributes.h"
#include "base/log.h"
#include "files/files.h"
#include "files/log.h"
#include "follow/follow.h"
#include "wire/files.h"
#include "wire/state.h"

struct system_watch {
	struct session *session;
	const struct suite_watch *options;
	/* Of the process that is followed; NULL: none now, or not asked for. */
	struct run *run;
	struct follow *follow;
	struct files *files;
	struct files_log *log; /* the agent's; NULL: it keeps none */
	struct attributes *attributes;
	VEC(struct files_open) open;
	char *directory; /* that tests begin in */
	bool said;	 /* that calls cannot be followed */
};

struct err *system_watch_create(struct session *session,
				const struct suite_watch *options,
				struct system_watch **ret)
{
	struct system_watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return err_nomem();
	watch->session = session;
	watch->options = options;
	watch->directory = getcwd(NULL, 0);
	*ret = watch;
	return NULL;
}

static void log_costs(const struct system_watch *watch)
{
	struct follow_counts calls = follow_counts(watch->follow);
	struct files_log_counts log = {};
	if (watch->log)
		log = files_log_counts(watch->log);
	log_info("%llu calls followed: %llu us; %llu logged by the agent",
		 (unsigned long long)calls.told,
		 (unsigned long long)calls.ns / 1000,
		 (unsigned long long)log.records);
}

void system_watch_stop(struct system_watch *watch)
{
	if (watch->follow)
		log_costs(watch);
	/* First of all: its thread tells the others. */
	follow_destroy(take_ptr(watch->follow));
	files_log_destroy(take_ptr(watch->log));
	files_destroy(take_ptr(watch->files));
	attributes_destroy(take_ptr(watch->attributes));
	watch->run = NULL;
}

void system_watch_destroy(struct system_watch *watch)
{
	if (!watch)
		return;
	system_watch_stop(watch);
	vec_free(&watch->open);
	free(watch->directory);
	free(watch);
}

/* ---- what process state is asked of the program ---- */

static uint64_t symbol_address(void *data, const char *name)
{
	struct system_watch *watch = data;
	struct raddr address;
	return program_symbol(watch->session->program, name, &address)
		       ? address.v
		       : 0;
}

static bool function_name(void *data, uint64_t address, char *out, size_t n)
{
	struct system_watch *watch = data;
	return program_name_at(watch->session->program, RADDR(address), out, n);
}

static bool thread_place(void *data, pid_t tid, char *out, size_t n)
{
	struct system_watch *watch = data;
	_cleanup_(freep) char *file = NULL, *function = NULL;
	unsigned line = 0;
	err_ignore(place_find(watch->run, tid, &file, &line, &function));
	if (!function)
		return false;
	const char *slash = file ? strrchr(file, '/') : NULL;
	if (file)
		snprintf(out, n, "%s at %s:%u", function,
			 slash ? slash + 1 : file, line);
	else
		snprintf(out, n, "%s", function);
	return true;
}

static const char *loaded_library(void *data, size_t index)
{
	struct system_watch *watch = data;
	const struct program *program = watch->session->program;
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		if (module->end && !index--)
			return module->path;
	}
	return NULL;
}

/* ---- the process ---- */

static void on_call(void *data, const struct follow_event *event)
{
	struct system_watch *watch = data;
	if (watch->attributes && event->states)
		attributes_dirty(watch->attributes, event->states);
	if (watch->attributes && event->path)
		attributes_touched(watch->attributes, event->path);
	if (watch->attributes && event->path2)
		attributes_touched(watch->attributes, event->path2);
	if (watch->log)
		files_log_event(watch->log, event);
	if (watch->files && event->kind != FOLLOW_STATE)
		files_event(watch->files, event);
}

/*
 * What the agent writes down itself need not be held back. When the process is
 * gone, the copy that stands before the first test still has the log.
 */
static void open_log(struct system_watch *watch, struct run *run)
{
	const struct run *origin = watch->session->origin;
	struct raddr object;
	if (getenv("POLYGRAPH_FAULT_FILE_LOG") || /* for tests */
	    !(watch->options->what & SUITE_FILES) ||
	    !program_symbol(run->program, WIRE_FILES_SYMBOL, &object))
		return;
	struct err *err = files_log_create(
		tracee_pid(run->tracee),
		origin && origin != run ? tracee_pid(origin->tracee) : 0,
		object.v, &watch->log);
	if (err)
		log_debug(LOG_SUITE, "files: %s", err_message(err));
	err_ignore(err);
}

/* Without it the process does not note anything, and all calls are told. */
static void begin_log(struct system_watch *watch)
{
	struct err *err = files_log_begin(watch->log, watch->files);
	if (!err)
		return;
	log_debug(LOG_SUITE, "files: %s", err_message(err));
	err_ignore(err);
	files_log_destroy(take_ptr(watch->log));
}

static struct err *follow(struct system_watch *watch, struct run *run)
{
	const char *method = watch->options->file_method;
	const struct follow_options options = {
		.flags = (watch->options->what & SUITE_FILES ? FOLLOW_FILES
							     : 0U) |
			 (watch->options->what & SUITE_PROCESS ? FOLLOW_STATES
							       : 0U),
		.sink = on_call,
		.data = watch,
		.exempt = watch->log ? files_log_exempt(watch->log) : 0,
	};
	if (method && !strcmp(method, "walk"))
		return NULL;
	struct err *err =
		follow_attach(run->ready_thread, &options, &watch->follow);
	if (!err || (method && !strcmp(method, "follow")))
		return err;
	const struct suite_observer *observer = watch->session->observer;
	_cleanup_(freep) char *text = NULL;
	if (asprintf(&text,
		     "pollution: files are looked for in the watched folders "
		     "only: %s",
		     err_message(err)) < 0)
		text = NULL;
	if (!watch->said && text && observer && observer->limit)
		observer->limit(observer->data, text);
	watch->said = true;
	err_destroy(err);
	return NULL;
}

static struct err *start(struct system_watch *watch, struct run *run)
{
	const struct suite_watch *options = watch->options;
	struct raddr agent;
	if (!program_symbol(run->program, WIRE_STATE_SYMBOL, &agent))
		agent = RADDR(0);
	open_log(watch, run);
	TRY(follow(watch, run));
	if (!watch->follow)
		files_log_destroy(take_ptr(watch->log));
	const struct attributes_options attributes = {
		.symbol = symbol_address,
		.function = function_name,
		.where = thread_place,
		.library = loaded_library,
		.data = watch,
		.agent = agent.v,
		.followed = watch->follow != NULL,
	};
	const struct files_options files = {
		.dirs = options->dirs,
		.exclude = options->own_files,
		.directory = watch->directory,
		.walk = !watch->follow,
		.paths = options->paths,
	};
	/* Which files are open is asked of it, too. */
	if (options->what & SUITE_PROCESS || watch->follow)
		TRY(attributes_create(&attributes, &watch->attributes));
	if (options->what & SUITE_FILES)
		TRY(files_create(&files, &watch->files));
	if (watch->log)
		begin_log(watch);
	return NULL;
}

struct err *system_watch_start(struct system_watch *watch, struct run *run)
{
	system_watch_stop(watch);
	watch->run = run;
	struct err *err = start(watch, run);
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

struct err *system_watch_capture(struct system_watch *watch,
				 struct thread *thread, struct changes *ret)
{
	if (!watch->run)
		return NULL;
	if (watch->attributes)
		TRY(attributes_capture(
			watch->attributes, thread,
			watch->options->what & SUITE_PROCESS ? ret : NULL));
	if (!watch->files)
		return NULL;
	TRY(list_open(watch));
	if (watch->log)
		files_log_read(watch->log);
	return files_capture(watch->files, tracee_pid(watch->run->tracee),
			     watch->open.data, watch->open.n, ret);
}

struct err *system_watch_leave(struct system_watch *watch, struct changes *ret)
{
	if (!watch->run || !watch->files)
		return NULL;
	if (watch->log)
		files_log_read(watch->log);
	return files_capture(watch->files, tracee_pid(watch->run->tracee), NULL,
			     0, ret);
}

bool system_watch_undone(struct system_watch *watch,
			 const struct change *change)
{
	if (change->where == CHANGE_FILE)
		return watch->files && files_undone(watch->files, change);
	return watch->attributes &&
	       attributes_undone(watch->attributes, change);
}
