#include "native/session.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "dwarf/unwind.h"
#include "native/again.h"
#include "native/arguments.h"
#include "native/bench.h"
#include "native/between.h"
#include "native/calls.h"
#include "native/chooser.h"
#include "native/environment.h"
#include "native/executable.h"
#include "native/explore.h"
#include "native/framework.h"
#include "native/isolation.h"
#include "native/listing.h"
#include "native/middle.h"
#include "native/parallel.h"
#include "native/saving.h"
#include "native/scheduler.h"
#include "native/slots.h"
#include "native/sort_models.h"
#include "native/tree.h"
#include "native/tries.h"
#include "native/user_models.h"
#include "native/verdict.h"
#include "suite/declare.h"
#include "tracee/breakpoint.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "tracee/quiet.h"
#include "watch/places.h"
#include "watch/watch.h"

static struct session *session_of(struct suite *suite)
{
	return (struct session *)suite; /* suite is its first member */
}

struct watch_host session_host(struct session *session)
{
	return (struct watch_host){
		.tracer = session->tracer,
		.program = session->program,
		.env = session->env,
		.forked = session->tests_forked,
		.observer = &session->observer,
		.saver = &session->saver,
		.inlined = &session->inlined,
	};
}

struct watch_process session_watched(const struct session *session,
				     const struct run *run)
{
	const struct run *origin = session->origin;
	return (struct watch_process){
		.tracee = run->tracee,
		.thread = run->ready_thread,
		/* Only what stands where this one does. */
		.origin = origin && origin != run && !session->early.on
				  ? origin->tracee
				  : NULL,
		.held = &run->given,
	};
}

void session_forget_origin(struct session *session)
{
	run_destroy(take_ptr(session->guarded));
	run_destroy(take_ptr(session->origin));
}

static void session_close(struct suite *suite)
{
	struct session *session = session_of(suite);
	parallel_stop(session);
	watch_destroy(session->watch);
	initialising_free(&session->initialising);
	map_u64_free(&session->early.refused);
	tries_forget(session);
	verdict_destroy(session->verdict);
	free(session->opening);
	free(session->took);
	between_free(session);
	arguments_destroy(session);
	middle_forget(session);
	session_forget_origin(session);
	tracer_destroy(session->tracer);
	saving_destroy(session); /* nothing can write now */
	quiet_destroy(session->quiet);
	output_destroy(session->output);
	program_destroy(session->program);
	free(session->owns);
	environment_free_words(session->argv);
	environment_free_words(session->env);
	vec_free(&session->hooks);
	vec_free(&session->failed);
	vec_free(&session->handles);
	map_u64_free(&session->by_handle);
	map_u64_free(&session->seen);
	map_u64_free(&session->call_sites);
	map_u64_free(&session->suites);
	free(session->listing_end);
	for (size_t i = 0; i < session->sources.map.cap; i++) {
		if (session->sources.map.slots[i].hash)
			free((char *)(uintptr_t)session->sources.map.slots[i]
				     .value);
	}
	map_text_free(&session->sources);
	map_u64_free(&session->group_parents);
	map_u64_free(&session->declared);
	positions_destroy(session->positions);
	chooser_destroy(session->chooser);
	user_models_destroy(session->user_models);
	sort_models_destroy(session->sort_models);
	unwinder_destroy(session->schedule_unwinder);
	suite_free_tests(suite);
	free(session);
}

/*
 * A program that asks for its processors must not see that it shares one with
 * us (tracee.c, "Processors").
 */
static struct err *on_getaffinity(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	cpu_set_t cpus;
	uint64_t pid = thread_arg(thread, 0), n = thread_arg(thread, 1);
	if (!tracee_pinned(run->tracee, &cpus) ||
	    ((int)pid != 0 && (int)pid != tracee_pid(run->tracee)) ||
	    n < sizeof(long) || n > sizeof(cpus))
		return NULL;
	struct err *err = memory_write(run->tracee,
				       RADDR(thread_arg(thread, 2)), &cpus, n);
	if (err) {
		err_ignore(err); /* the kernel will refuse that address, too */
		return NULL;
	}
	return calls_skip(run, thread, 0);
}

/* It chooses for itself, from all it has. */
static struct err *on_setaffinity(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)thread;
	(void)arg;
	tracee_leave_processors(run->tracee);
	return NULL;
}

/* assert() of the C library: says more than the SIGABRT that follows. */
static struct err *on_assert(struct run *run, struct thread *thread,
			     uint64_t arg)
{
	(void)arg;
	if (!run->in_test || run->message)
		return NULL;
	_cleanup_(freep) char *expression = NULL, *file = NULL;
	err_ignore(run_text(run, RADDR(thread_arg(thread, 0)), &expression));
	err_ignore(run_text(run, RADDR(thread_arg(thread, 1)), &file));
	if (!expression || !file)
		return NULL;
	if (asprintf(&run->message, "assertion failed: %s", expression) < 0)
		run->message = NULL;
	run->file = strdup(run_source(run, file));
	run->line = (unsigned)thread_arg(thread, 2);
	run->explained = true;
	return NULL;
}

/* Libraries come and go: the adapter may find more in them. */
static struct err *on_libraries(struct run *run, struct thread *thread,
				uint64_t arg)
{
	(void)thread;
	/* While it is at it, the loader still maps over what we would change. */
	uint32_t state;
	TRY(run_u32(run, RADDR(arg), &state));
	if (state != RT_CONSISTENT)
		return NULL;
	TRY(program_load(run->program, run->tracee));
	TRY(user_models_attach(run));
	TRY(sort_models_attach(run));
	return run->framework->loaded ? run->framework->loaded(run) : NULL;
}

static const struct framework *framework_by_name(const struct session *session,
						 const char *name)
{
	for (size_t i = 0; session->frameworks[i]; i++) {
		if (!strcmp(session->frameworks[i]->name, name))
			return session->frameworks[i];
	}
	return NULL;
}

const char *const *session_test_functions(const struct session *session)
{
	static const struct suite_options usual;
	return suite_test_functions(session ? &session->suite.options : &usual);
}

static struct err *no_framework(const struct session *session, const char *name)
{
	_cleanup_(str_freep) struct str names = STR_INIT;
	for (size_t i = 0; session->frameworks[i]; i++)
		TRY(str_appendf(&names, ", %s", session->frameworks[i]->name));
	return err_hint(
		err_create(ERR_USAGE, "there is no framework '%s'", name),
		"--framework takes auto%s", names.s);
}

static struct err *session_recognise_framework(const struct session *session,
					       const struct framework **ret)
{
	const struct framework *const *frameworks = session->frameworks;
	const char *wanted = session->suite.options.framework;
	if (!wanted || !strcmp(wanted, "auto"))
		wanted = session->suite.options.test_functions ? "functions"
							       : NULL;
	if (wanted) {
		*ret = framework_by_name(session, wanted);
		return *ret ? NULL : no_framework(session, wanted);
	}
	for (size_t i = 0; frameworks[i]; i++) {
		if (!framework_recognises(frameworks[i], session->program))
			continue;
		*ret = frameworks[i];
		log_debug(LOG_NATIVE, "framework: %s", frameworks[i]->name);
		return NULL;
	}
	return executable_unrecognised(session->program,
				       session_test_functions(session));
}

/* From the program's first instruction to its entry point: libraries loaded. */
static struct err *run_to_entry(struct session *session, struct tracee *tracee)
{
	struct raddr entry;
	TRY(program_entry(tracee, &entry));
	TRY(breakpoint_set(tracee, entry, 0));
	struct tracee_event event;
	uint64_t deadline = tracer_clock() + session->suite.options.timeout_ns;
	do {
		TRY(tracee_continue(tracee, deadline, &event));
	} while (event.kind == TRACEE_DYING);
	if (event.kind == TRACEE_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	if (event.kind != TRACEE_BREAKPOINT)
		return executable_ended_early(session, "could not be loaded");
	return breakpoint_clear(tracee, entry);
}

/*
 * Extra arguments can only be chosen when the framework is known, which needs
 * the libraries loaded: then the program is started once more.
 */
static struct err *session_launch_program(struct session *session,
					  struct tracee **ret)
{
	output_restart(session->output);
	const struct tracee_command command = {
		.argv = session->argv,
		.env = session->env,
		.output = session->output,
		/* These would be others when it is replayed. */
		.no_inherited = session->chooser,
	};
	_cleanup_(tracee_destroyp) struct tracee *tracee = NULL;
	chooser_starts(session->chooser);
	TRY(tracee_start(session->tracer, &command, &tracee));
	if (session->suite.options.schedules)
		TRY(scheduler_hide_vdso(tracee));
	TRY(run_to_entry(session, tracee));
	TRY(saving_launched(session, tracee));
	TRY(program_load(session->program, tracee));
	*ret = take_ptr(tracee);
	return NULL;
}

static struct err *prepare_words(struct session *session)
{
	const struct framework *framework = session->framework;
	if (framework->arguments) {
		char **argv;
		TRY(environment_copy_words(session->argv, framework->arguments,
					   &argv));
		environment_free_words(session->argv);
		session->argv = argv;
	}
	return environment_prepare(session);
}

static struct err *session_attach_run(struct run *run)
{
	struct session *session = run->session;
	if (!program_symbol(run->program, "_IO_2_1_stdout_",
			    &session->stdout_file))
		session->stdout_file = RADDR(0);
	TRY(run_break_symbol(run, "sched_getaffinity", on_getaffinity, 0,
			     NULL));
	TRY(run_break_symbol(run, "sched_setaffinity", on_setaffinity, 0,
			     NULL));
	TRY(run_break_symbol(run, "pthread_setaffinity_np", on_setaffinity, 0,
			     NULL));
	TRY(run_break_symbol(run, "__assert_fail", on_assert, 0, NULL));
	struct raddr state;
	struct raddr hook =
		program_loader_hook(run->program, run->tracee, &state);
	if (hook.v)
		TRY(run_break(run, hook, on_libraries, state.v));
	TRY(run->framework->attach(run));
	if (run->session->chooser)
		TRY(chooser_attach(run));
	TRY(user_models_attach(run));
	return sort_models_attach(run);
}

static struct err *session_start(struct session *session, bool discovering,
				 struct run **ret)
{
	_cleanup_(tracee_destroyp) struct tracee *tracee = NULL;
	TRY(session_launch_program(session, &tracee));
	if (!session->framework) {
		const struct framework *framework = NULL;
		TRY(session_recognise_framework(session, &framework));
		BUG_ON(!framework);
		session->framework = framework;
		session->program->own = &framework->own;
		if (framework->arguments || framework->environment ||
		    environment_looks_for_leaks(session)) {
			TRY(prepare_words(session));
			tracee_destroy(take_ptr(tracee));
			TRY(session_launch_program(session, &tracee));
		}
	}
	_cleanup_(run_destroyp) struct run *run = run_create(session, tracee);
	if (!run)
		return err_nomem();
	take_ptr(tracee);
	run->discovering = discovering;
	TRY(session_attach_run(run));

	enum run_state state;
	TRY(run_loop(run, &state));
	switch (state) {
	case RUN_READY:
		chooser_ready(session->chooser);
		if (run->framework->exit_status_counts) {
			output_drain(session->output);
			free(take_ptr(session->opening));
			TRY(output_peek(session->output, &session->opening));
		}
		TRY(saving_started(session, run));
		*ret = take_ptr(run);
		return NULL;
	case RUN_INTERRUPTED:
		return err_create(ERR_INTERRUPTED, "interrupted");
	case RUN_HUNG:
	case RUN_STOPPED:
		return executable_hung_early(session);
	default:
		return executable_ended_early(session, run_end_text(run));
	}
}

uint64_t session_took(const struct session *session, size_t test)
{
	return session->took ? session->took[test] : 0;
}

void session_note_took(struct session *session, size_t test, uint64_t ns)
{
	if (!session->took)
		session->took =
			calloc(session->suite.tests.n, sizeof(*session->took));
	if (session->took)
		session->took[test] = MAX(session->took[test], ns);
}

const char *session_find_obstacle(struct session *session)
{
	if (!session->obstacle_known) {
		session->obstacle =
			checkpoint_obstacle(session->origin->tracee);
		session->obstacle_known = true;
		if (session->obstacle)
			log_debug(LOG_NATIVE,
				  "no checkpoint before the first test: %s; "
				  "the program is started again instead",
				  session->obstacle);
	}
	return session->obstacle;
}

/* With the same addresses as the start before? Some containers refuse it. */
static bool same_addresses(const struct tracee *tracee)
{
	char path[64];
	_cleanup_(freep) char *text = NULL;
	snprintf(path, sizeof(path), "/proc/%d/personality",
		 tracee_pid(tracee));
	err_ignore(file_read(path, 64, &text, NULL));
	return text && strtoul(text, NULL, 16) & ADDR_NO_RANDOMIZE;
}

/*
 * Adapters know tests by addresses, which a new start may have changed: they
 * are found again, by name.
 */
static struct err *find_again(struct session *session)
{
	struct run *run = session->origin;
	bool chosen = chooser_starts_otherwise(session->chooser);
	if (!session->handles.n || (same_addresses(run->tracee) && !chosen))
		return NULL;
	if (!session->framework->list && chosen)
		return NULL; /* these know their tests by functions */
	if (!session->framework->list)
		return err_hint(
			err_create(ERR_SUITE,
				   "the program has to be started again (%s), "
				   "and then its functions lie elsewhere",
				   session->obstacle ? session->obstacle
						     : "it ended"),
			"address randomisation cannot be switched off here: "
			"allow personality(2) in the container");
	_cleanup_(map_text_freep) struct map_text names = MAP_INIT;
	for (size_t i = 0; i < session->suite.tests.n; i++)
		TRY(map_text_put(&names, session->suite.tests.data[i].name, i));
	memset(session->handles.data, 0,
	       session->handles.n * sizeof(*session->handles.data));
	map_u64_free(&session->by_handle);
	session->relisting = &names;
	session->relisted = 0;
	session->resequenced = false;
	struct err *err = session->framework->list(run, run->ready_thread);
	session->relisting = NULL;
	if (err)
		return err;
	if (session->relisted != session->handles.n)
		return err_create(ERR_SUITE,
				  "started again, the program has %zu tests "
				  "instead of %zu",
				  session->relisted, session->handles.n);
	return NULL;
}

/*
 * A process stopped before the first test. It is the origin itself, as the
 * system started it; where that is possible, a copy of it becomes the origin
 * for those to come. While it is needed (keeps_origin), it is the copy.
 */
static struct err *session_take_origin(struct session *session,
				       struct run **ret)
{
	if (!session->origin) {
		TRY(session_start(session, false, &session->origin));
		positions_destroy(take_ptr(session->positions));
		struct err *err = find_again(session);
		/* Its tests are not known: the next one to ask hears so, too. */
		if (err)
			session_forget_origin(session);
		TRY(err);
	}
	struct run *copy = NULL;
	if (!session_find_obstacle(session)) {
		if (!session->positions)
			TRY(positions_take(session->origin->tracee,
					   &session->positions));
		TRY(positions_put_back(session->positions,
				       session->origin->ready_thread));
		TRY(run_fork(session->origin, &copy));
	}
	if (session->keeps_origin && copy) {
		*ret = copy;
		return NULL;
	}
	*ret = session->origin;
	session->origin = copy;
	return NULL;
}

struct err *session_process(struct session *session, struct run **ret)
{
	if (!saving_is_guarded(session))
		return session_take_origin(session, ret);
	if (!session->guarded) {
		_cleanup_(run_destroyp) struct run *run = NULL;
		TRY(session_take_origin(session, &run));
		TRY(saving_guard(session, run));
		session->guarded = take_ptr(run);
	}
	struct run *copy = NULL;
	if (!session_find_obstacle(session)) {
		TRY(positions_put_back(session->positions,
				       session->guarded->ready_thread));
		TRY(run_fork(session->guarded, &copy));
	}
	*ret = session->guarded;
	session->guarded = copy;
	return NULL;
}

/* A process for what comes next of an order, which it may have begun. */
static struct err *begin_order(struct session *session, const size_t *order,
			       size_t n, struct run **ret)
{
	if (session->rest && !session->reported)
		return middle_resume(session, ret);
	TRY(session_process(session, ret));
	middle_begin(session);
	(*ret)->order = order;
	(*ret)->n = n;
	(*ret)->whole = true;
	return session->early.on ? early_initialise(*ret) : NULL;
}

struct err *session_run_order(struct session *session, const size_t *order,
			      size_t n)
{
	bool told = false, goes_on = false;
	for (size_t at = 0; at < n;) {
		_cleanup_(run_destroyp) struct run *run = NULL;
		/* One that takes over after a crash begins where all begin. */
		if (!goes_on)
			TRY(saving_put_back(session));
		TRY(begin_order(session, order + at, n - at, &run));
		struct watch_process watched = session_watched(session, run);
		if (run->resume.call) {
			watched.origin = middle_origin(session);
			watched.before = order;
			watched.n_before = run->next;
		}
		if (session->places)
			TRY(places_start(session->places, &watched));
		if (session->watch) {
			TRY(watch_start(session->watch, &watched));
			TRY(initialising_start(run));
		}
		if (!run->resume.call)
			TRY(run->framework->start(run, run->ready_thread));
		enum run_state state;
		struct err *err = run_loop(run, &state);
		run_report_held(run);
		if (session->watch)
			watch_stop(session->watch);
		if (session->places)
			places_stop(session->places);
		TRY(err);
		if (state == RUN_INTERRUPTED)
			return err_create(ERR_INTERRUPTED, "interrupted");
		at += run->next;
		if (at < n && !run->next)
			return executable_ended_early(session,
						      run_end_text(run));
		/* Tests in children: all that goes on are files. */
		goes_on = state == RUN_STOPPED && session->tests_forked;
		if (at == n)
			executable_judge_end(session, run, state);
		else if (!told && state == RUN_GONE)
			told = slots_tell_rest(run, order[at]);
		output_restart(session->output);
	}
	return NULL;
}

static struct err *run_alone(struct session *session, const size_t *order,
			     size_t n)
{
	for (size_t at = 0; at < n; at++) {
		_cleanup_(run_destroyp) struct run *run = NULL;
		TRY(saving_put_back(session));
		TRY(session_process(session, &run));
		run->order = order + at;
		run->n = 1;
		run->stop_after = !run->framework->exit_status_counts;
		run->defer = run->framework->exit_status_counts;
		TRY(run->framework->start(run, run->ready_thread));
		enum run_state state;
		TRY(run_loop(run, &state));
		if (state == RUN_INTERRUPTED)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (!run->next)
			return executable_ended_early(session,
						      run_end_text(run));
		output_restart(session->output);
	}
	return NULL;
}

struct err *session_run(struct suite *suite, const size_t *order, size_t n,
			unsigned flags, const struct suite_observer *observer)
{
	struct session *session = session_of(suite);
	TRY(verdict_learn(session));
	session->observer = observer;
	session->reported = 0;
	session->unhappy = false;
	session->failed.n = 0;
	session->leaves_files =
		!suite->options.restores && !(flags & SUITE_ALONE);
	tracer_tick(true);
	struct err *err;
	user_models_tell(session);
	executable_tell_listing(session);
	executable_tell_forked(session);
	if (!(flags & SUITE_ALONE)) {
		err = between_find_for(session, order, n);
		if (!err && !session->rest)
			err = verdict_rehearse_order(session, order, n,
						     session_run_order);
		if (!err)
			err = session_run_order(session, order, n);
		middle_end(session);
		verdict_forget_rehearsal(session);
		if (!err)
			err = isolation_check(session, run_alone);
	} else if (!(flags & SUITE_SERIAL) && !saving_shares_files(session) &&
		   !chooser_chooses(session->chooser) &&
		   parallel_useful(session, n)) {
		err = parallel_run_alone(session, order, n);
	} else {
		err = run_alone(session, order, n);
	}
	tracer_tick(false);
	verdict_tell(session);
	sort_models_tell(session);
	if (session->obstacle && session->chooser)
		suite_limit(observer,
			    "choices: the program is started again for each "
			    "run (%s): a failure may depend on timing instead "
			    "of a choice",
			    session->obstacle);
	session->observer = NULL;
	struct err *failed =
		session->leaves_files ? NULL : saving_put_back(session);
	if (!err)
		return failed;
	err_ignore(failed);
	return err;
}

/* The state of these processes is not watched. */
static struct err *session_run_tree(struct suite *suite,
				    const struct suite_node *nodes, size_t n,
				    unsigned flags,
				    const struct suite_observer *observer)
{
	struct session *session = session_of(suite);
	TRY(verdict_learn(session));
	struct watch *watch = session->watch;
	unsigned points = session->points;
	struct err *err;
	session->watch = NULL;
	session->points = 0;
	tracer_tick(true);
	if (!(flags & SUITE_SERIAL) && !saving_shares_files(session) &&
	    !chooser_chooses(session->chooser) && parallel_useful(session, n))
		err = parallel_run_tree(session, nodes, n, observer);
	else
		err = tree_run(session, nodes, n, observer);
	tracer_tick(false);
	if (session->obstacle)
		suite_limit(observer,
			    "order: the program is started again for each "
			    "order (%s): an outcome may depend on timing "
			    "instead of the order",
			    session->obstacle);
	session->watch = watch;
	session->points = points;
	struct err *failed = saving_put_back(session);
	if (!err)
		return failed;
	err_ignore(failed);
	return err;
}

/* Tests in children: @what they may leave, unless only the rest is asked for. */
static const struct suite_watch *
session_forked_options(const struct session *session,
		       const struct suite_watch *options, unsigned what,
		       struct suite_watch *room)
{
	if (!session->tests_forked || !(options->what & ~SUITE_MEMORY))
		return options;
	*room = *options;
	room->what &= what;
	return room;
}

static void session_initialise(struct suite *suite, bool early)
{
	session_of(suite)->early.on = early;
}

static struct err *session_watch(struct suite *suite,
				 const struct suite_watch *options)
{
	struct session *session = session_of(suite);
	watch_destroy(session->watch);
	session->watch = NULL;
	session->points = 0;
	if (!options)
		return NULL;
	unsigned points = watch_points(options);
	unsigned inner = 1U << SUITE_AFTER_SETUP | 1U << SUITE_BEFORE_TEARDOWN;
	if (points & inner && session->framework->no_points)
		return err_hint(err_create(ERR_USAGE,
					   "%s has no point after set-up or "
					   "before tear-down: %s",
					   session->framework->name,
					   session->framework->no_points),
				"--capture before-setup..after-teardown works");
	options = session_forked_options(session, options,
					 SUITE_FILES | SUITE_PROCESS,
					 &session->forked_watch);
	const struct watch_host host = session_host(session);
	TRY(watch_create(&host, options, &session->watch));
	session->points = points;
	return NULL;
}

static struct err *session_try_roots(struct suite *suite,
				     const struct suite_watch *watch,
				     const size_t *prefix, size_t n,
				     size_t test, suite_judge *judge,
				     void *data,
				     const struct suite_observer *observer)
{
	struct session *session = session_of(suite);
	TRY(verdict_learn(session));
	struct suite_watch room;
	watch = session_forked_options(session, watch, SUITE_FILES, &room);
	return tries_run(session, watch, prefix, n, test, judge, data,
			 observer);
}

static struct err *session_work_bench(struct suite *suite,
				      const struct suite_bench_options *options,
				      suite_bench_work *work, void *data,
				      const struct suite_observer *observer,
				      const char **ret_why_not)
{
	struct session *session = session_of(suite);
	struct suite_bench_options given = *options;
	struct suite_watch room;
	TRY(verdict_learn(session));
	given.watch = session_forked_options(session, options->watch,
					     SUITE_FILES, &room);
	return bench_work(session, &given, work, data, observer, ret_why_not);
}

/* Tests stay in their segments, and those in the program's own sequence. */
static struct err *session_declare_segments(struct session *session, size_t n)
{
	struct suite *suite = &session->suite;
	size_t last = RUN_NONE, group = SUITE_NO_GROUP;
	if (between_segments(session) < 2)
		return NULL;
	suite->fixed = between_segments(session) == n;
	for (size_t i = 0; i < suite->tests.n; i++) {
		size_t segment = between_segment(session, i);
		if (segment == RUN_NONE)
			continue;
		declare_priority(suite, i, -(int64_t)segment);
		if (suite->fixed)
			continue;
		if (segment != last)
			TRY(declare_group(suite, SUITE_NO_GROUP, &group));
		suite->tests.data[i].group = group;
		last = segment;
	}
	return NULL;
}

static struct err *session_declare(struct suite *suite, const size_t *tests,
				   size_t n)
{
	struct session *session = session_of(suite);
	if (session->declared_all)
		return NULL;
	session->declared_all = true;
	TRY(verdict_learn(session));
	tracer_tick(true);
	struct err *err = between_find(session, tests, n);
	tracer_tick(false);
	if (!err)
		err = str_copy(between_fixture(session), &suite->fixture);
	return err ? err : session_declare_segments(session, n);
}

static const struct suite_ops session_ops = {
	.run = session_run,
	.watched = SUITE_ALL,
	.watch = session_watch,
	.initialise = session_initialise,
	.run_places = session_run_places,
	.places_max = PLACES_MAX,
	.run_adding = session_run_adding,
	.add_place = session_add_place,
	.keep_middle = middle_keep,
	.middle = middle_find,
	.run_rest = session_run_rest,
	.beside_start = again_beside_start,
	.beside_socket = again_beside_socket,
	.beside_end = again_beside_end,
	.touched_file = saving_touched_file,
	.unrestored = saving_unrestored,
	.try_roots = session_try_roots,
	.work_bench = session_work_bench,
	.read_code = bench_read_code,
	.run_tree = session_run_tree,
	.keep_files = saving_keep_files,
	.put_back = saving_put_back_files,
	.declare = session_declare,
	.choose = chooser_choose,
	.explore = explore_run,
	.run_schedule = scheduler_run,
	.close = session_close,
};

static struct err *list_owns(struct session *session)
{
	size_t n = 0;
	while (session->frameworks[n])
		n++;
	session->owns = calloc(n + 1, sizeof(*session->owns));
	if (!session->owns)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		session->owns[i] = &session->frameworks[i]->own;
	return NULL;
}

struct err *session_open(const struct suite_options *options,
			 const struct framework *const *frameworks,
			 const struct file_guard_refusal *refusal,
			 struct suite **ret)
{
	char *path;
	TRY(executable_find(options->argv[0], &path));
	_cleanup_(freep) char *owned = path;
	TRY(executable_check(path));

	struct session *session = calloc(1, sizeof(*session));
	if (!session)
		return err_nomem();
	session->suite.ops = &session_ops;
	session->suite.options = *options;
	session->frameworks = frameworks;
	session->refusal = refusal;
	session->want_output = options->keep_output;
	if (getenv("POLYGRAPH_FAULT_POINTS")) /* for tests: see run_point() */
		session->points = (1U << SUITE_POINTS) - 1;
	_cleanup_(suite_closep) struct suite *suite = &session->suite;

	TRY(environment_copy_words(options->argv, NULL, &session->argv));
	free(session->argv[0]);
	session->argv[0] = take_ptr(owned);
	if (options->agent == SUITE_AGENT_CHOICES)
		TRY(chooser_create(&session->suite.options, &session->chooser));
	if (session->chooser && options->n_user_models)
		TRY(user_models_create(options->user_models,
				       options->n_user_models,
				       &session->user_models));
	TRY(output_create(options->pass_through, &session->output));
	TRY(list_owns(session));
	TRY(program_create(session->owns, &session->program));
	TRY(environment_prepare(session));
	TRY(tracer_create(&session->tracer));
	TRY(saving_create(session));
	tracer_tick(true);
	TRY(session_start(session, false, &session->origin));
	session->suite.framework = session->framework->name;
	TRY(listing_find(session));
	if (!suite->tests.n)
		return executable_no_tests(session);
	tracer_tick(false);
	*ret = take_ptr(suite);
	return NULL;
}

struct err *native_suite_open(const struct suite_options *options,
			      const struct framework *const *frameworks,
			      struct suite **ret)
{
	return session_open(options, frameworks, NULL, ret);
}
