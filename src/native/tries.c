#include "native/tries_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "keep/save.h"
#include "native/between.h"
#include "native/framework.h"
#include "native/saving.h"
#include "restore/positions.h"
#include "restore/remedies.h"
#include "tracee/checkpoint.h"
#include "tracee/output.h"
#include "watch/memory_watch.h"
#include "watch/system_watch.h"

/* A try may take this many times as long as the test is known to take … */
#define SLOWER 10
/* … and at least that. */
#define LIMIT_MIN (UINT64_C(1000) * 1000 * 1000)

static void tries_on_limit(void *data, const char *text)
{
	const struct tries *tries = data;
	if (tries->outer && tries->outer->limit)
		tries->outer->limit(tries->outer->data, text);
}

static void tries_on_finished(void *data, const struct suite_result *result)
{
	struct tries *tries = data;
	tries->outcome = result->outcome;
	tries->took = result->ns;
}

/* ---- the prefix ---- */

/* Continues without what cannot be examined. */
static struct err *tries_do_without(struct tries *tries, bool memory,
				    struct err *err)
{
	if (!err || err_kind(err) == ERR_INTERRUPTED ||
	    err_kind(err) == ERR_USAGE)
		return err;
	suite_limit(tries->outer,
		    "order: %s could not be examined (%s): what tests depend "
		    "on is not found there",
		    memory ? "memory" : "process state", err_message(err));
	err_destroy(err);
	if (memory) {
		tries->memory = NULL;
	} else {
		system_watch_destroy(tries->system);
		tries->system = NULL;
	}
	if (!tries->memory && !tries->system)
		tries->why_not = "it cannot be examined";
	return NULL;
}

struct err *tries_look_at_changes(struct tries *tries, struct changes *ret)
{
	struct thread *thread = tracee_thread(tries->run->tracee, 0);
	/* Memory last: what the others do in the process is not to be seen. */
	if (tries->system)
		TRY(tries_do_without(
			tries, false,
			system_watch_capture(tries->system, thread, ret)));
	if (tries->memory)
		TRY(tries_do_without(tries, true,
				     memory_watch_capture(tries->memory, thread,
							  ret, NULL)));
	return NULL;
}

/* A process stopped where the prefix begins, to read what was there. */
static struct err *keep_before(struct tries *tries)
{
	const struct run *run = tries->run;
	if (!tries->system || checkpoint_obstacle(run->tracee))
		return NULL;
	return checkpoint_fork(tracee_thread(run->tracee, 0), &tries->before);
}

static struct err *look_before(struct tries *tries)
{
	if (tries->bench)
		return tries_look_at_changes(tries, NULL);
	TRY(keep_before(tries));
	TRY(remedies_quarantine(tries->session->program, tries->run->tracee,
				&tries->kept));
	return tries_look_at_changes(tries, NULL);
}

/* Is it the first test, of the same group as the last? They share a set-up. */
static bool shares_set_up(const struct tries *tries)
{
	const struct suite_test *tests = tries->session->suite.tests.data;
	size_t group = tests[tries->order[0]].group;
	return group != SUITE_NO_GROUP &&
	       group == tests[tries->order[tries->n - 1]].group;
}

/*
 * The state before is that of the first test of the prefix, with what the
 * framework did before it: that is the same whatever test comes first. What the
 * set-up of a group did is there for the test, too, where it is of that group.
 */
struct err *tries_begin(struct tries *tries, struct run *run)
{
	if (run != tries->run)
		return NULL;
	size_t entry = run->next - 1;
	tracee_reap(run->tracee);
	if (tracee_threads(run->tracee) > 1) {
		tries->why_not = "the program has several threads there";
		run->stop = true;
		return NULL;
	}
	if (entry == 0 && !(run->early && shares_set_up(tries)))
		TRY(look_before(tries));
	/* A patch comes after the set-up of the group: so do its candidates. */
	if (entry + 1 == tries->n && !(run->early && tries->bench))
		tries->stands = true;
	run->stop = tries->stands || tries->why_not;
	return NULL;
}

struct err *tries_group_ready(struct tries *tries, struct run *run)
{
	bool first = run->next == 1 && shares_set_up(tries);
	bool last = run->next == tries->n && tries->bench;
	if (run != tries->run || (!first && !last))
		return NULL;
	tracee_reap(run->tracee);
	if (tracee_threads(run->tracee) > 1)
		tries->why_not = "the program has several threads there";
	else if (first)
		TRY(look_before(tries));
	tries->stands |= last;
	run->stop = tries->stands || tries->why_not;
	return NULL;
}

/*
 * What comes between the prefix and the test is the test's: set-up of its
 * group, tear-down of the one before. That must not be restored.
 */
struct err *tries_end(struct tries *tries, struct run *run)
{
	if (run != tries->run || run->next + 1 != tries->n || tries->between ||
	    tries->bench)
		return NULL;
	tracee_reap(run->tracee);
	if (tracee_threads(run->tracee) > 1)
		return NULL;
	return checkpoint_fork(tracee_thread(run->tracee, 0), &tries->between);
}

/* As far as the test; where that does not work, why_not is set. */
static struct err *run_prefix(struct tries *tries)
{
	struct session *session = tries->session;
	TRY(session_process(session, &tries->run));
	struct run *run = tries->run;
	if (session->obstacle) {
		tries->why_not = session->obstacle;
		return NULL;
	}
	run->order = tries->order;
	run->n = tries->n;
	const struct watch_process watched = session_watched(session, run);
	if (tries->system)
		TRY(tries_do_without(
			tries, false,
			system_watch_start(tries->system, &watched)));
	if (tries->memory)
		TRY(tries_do_without(
			tries, true,
			memory_watch_start(tries->memory, &watched)));
	if (tries->why_not)
		return NULL;
	TRY(run->framework->start(run, run->ready_thread));
	enum run_state state = RUN_STOPPED;
	/* The first test may begin at once. */
	if (!run->stop)
		TRY(run_loop(run, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	if (!tries->stands && !tries->why_not)
		tries->why_not = "the tests before it ended the process";
	if (!tries->why_not)
		tries->why_not = checkpoint_obstacle(run->tracee);
	return NULL;
}

/* ---- roots ---- */

static struct err *tries_find_roots(struct tries *tries)
{
	struct session *session = tries->session;
	_cleanup_(changes_freep_deep) struct changes changes = {};
	TRY(tries_look_at_changes(tries, &changes));
	if (tries->why_not)
		return NULL;
	const struct remedy_source source = {
		.program = session->program,
		.memory = tries->memory,
		.quarantined = tries->kept,
		.before = tries->before,
		.between = tries->between,
		.now = tries->run->tracee,
	};
	TRY(remedies_find(&tries->remedies, &source, &changes));
	tracee_destroy(take_ptr(tries->between));
	tracee_destroy(take_ptr(tries->before));
	/* Of files that are not kept the content before is not known. */
	TRY(saving_take(session, &tries->files));
	if (!tries->files || !(tries->watch->what & SUITE_FILES))
		return NULL;
	return remedies_find_files(&tries->remedies, session->saver,
				   tries->files);
}

/* ---- tries ---- */

/* exit(): the status is known, and the handlers are not to run. */
static struct err *on_exit_called(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	return run_leaves(run, (int)(thread_arg(thread, 0) & 0xff));
}

static uint64_t time_limit(const struct tries *tries)
{
	uint64_t most = tries->session->suite.options.timeout_ns;
	uint64_t known =
		MAX(session_took(tries->session, tries->order[tries->n - 1]),
		    tries->longest);
	if (!known)
		return most;
	return MIN(most, MAX(known * SLOWER, LIMIT_MIN));
}

struct err *tries_settle(struct run *copy)
{
	copy->stop_after = !copy->framework->exit_status_counts;
	copy->defer = copy->framework->exit_status_counts;
	return run_break_symbol(copy, "exit", on_exit_called, 0, NULL);
}

struct err *tries_run_test(struct tries *tries, struct run *copy)
{
	tries->outcome = OUTCOME_NONE;
	copy->began_ns = clock_now();
	copy->deadline = tracer_clock() + time_limit(tries);
	enum run_state state;
	TRY(run_loop(copy, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	if (tries->outcome != OUTCOME_TIMEOUT)
		tries->longest = MAX(tries->longest, tries->took);
	/* It ended without the framework's saying so. */
	if (!tries->outcome)
		tries->outcome = OUTCOME_CRASH;
	return NULL;
}

/*
 * Files are not copied with the process: they are restored to what they must
 * be.
 */
struct err *tries_copy(struct tries *tries, const bool *put_back,
		       struct run **ret)
{
	struct session *session = tries->session;
	if (interrupted)
		return err_create(ERR_INTERRUPTED, "interrupted");
	TRY(saving_put_back_to(session, tries->files));
	if (put_back)
		TRY(remedies_put_back_files(&tries->remedies, put_back,
					    session->saver, tries->files));
	TRY(positions_put_back(tries->positions,
			       tracee_thread(tries->run->tracee, 0)));
	TRY(run_copy(tries->run, tracee_thread(tries->run->tracee, 0), ret));
	session->suite.executions++;
	return NULL;
}

static struct err *run_try(struct tries *tries, struct run *copy,
			   const bool *put_back)
{
	TRY(tries_settle(copy));
	TRY(remedies_apply(&tries->remedies, put_back, copy->program,
			   copy->tracee));
	return tries_run_test(tries, copy);
}

static struct err *try_roots(void *context, const bool *put_back,
			     enum outcome *ret)
{
	struct tries *tries = context;
	_cleanup_(freep) bool *none = NULL;
	if (!put_back) {
		remedies_overwrite_more(&tries->remedies);
		put_back = none = calloc(tries->remedies.roots.n + 1, 1);
		if (!none)
			return err_nomem();
	}
	_cleanup_(run_destroyp) struct run *copy = NULL;
	TRY(tries_copy(tries, put_back, &copy));
	BUG_ON(!copy);
	struct err *err = run_try(tries, copy, put_back);
	output_restart(tries->session->output);
	TRY(err);
	*ret = tries->outcome;
	return NULL;
}

/* ---- all of it ---- */

static void tries_free(struct tries *tries)
{
	system_watch_destroy(tries->system);
	tracee_destroy(tries->before);
	tracee_destroy(tries->between);
	run_destroy(tries->run);
	remedies_free(&tries->remedies);
	positions_destroy(tries->positions);
	saved_destroy(tries->files);
	free(tries->order);
	if (tries->session->tries_memory)
		memory_watch_stop(tries->session->tries_memory);
}

/* Do both ask the same of memory? */
static bool same_memory(const struct suite_watch *a,
			const struct suite_watch *b)
{
	return a->include_roots == b->include_roots &&
	       a->exclude_roots == b->exclude_roots &&
	       a->exclude_fields == b->exclude_fields &&
	       a->containers == b->containers &&
	       a->n_containers == b->n_containers && a->cache == b->cache &&
	       a->method == b->method && a->runners == b->runners &&
	       a->everything == b->everything && a->detail == b->detail &&
	       a->paths == b->paths;
}

/*
 * Debug information is read once for all calls that ask for the same: what they
 * point to stays theirs and as it is (suite_watch()).
 */
static struct err *find_memory(struct session *session,
			       const struct suite_watch *watch,
			       struct memory_watch **ret)
{
	if (session->tries_memory &&
	    same_memory(&session->tries_options, watch)) {
		*ret = session->tries_memory;
		return NULL;
	}
	tries_forget(session);
	session->tries_options = *watch;
	struct memory_watch *memory = NULL;
	const struct watch_host host = session_host(session);
	TRY(memory_watch_create(&host, &session->tries_options, &memory));
	BUG_ON(!memory);
	memory->once = true;
	session->tries_memory = *ret = memory;
	return NULL;
}

void tries_forget(struct session *session)
{
	memory_watch_destroy(session->tries_memory);
	session->tries_memory = NULL;
}

/* Process state is read twice only: no need to follow calls for it. */
static struct err *find_system(struct tries *tries)
{
	tries->system_options = *tries->watch;
	tries->system_options.what = SUITE_PROCESS;
	tries->system_options.file_method = "walk";
	const struct watch_host host = session_host(tries->session);
	return system_watch_create(&host, &tries->system_options,
				   &tries->system);
}

static struct err *tries_prepare(struct tries *tries)
{
	if (tries->watch->what & SUITE_MEMORY)
		TRY(find_memory(tries->session, tries->watch, &tries->memory));
	if (tries->watch->what & SUITE_PROCESS)
		TRY(find_system(tries));
	TRY(between_find_for(tries->session, tries->order, tries->n));
	TRY(saving_put_back(tries->session));
	return run_prefix(tries);
}

struct err *tries_enter(struct session *session,
			const struct suite_watch *watch, const size_t *prefix,
			size_t n, size_t test, struct bench *bench,
			struct err *(*use)(struct tries *tries, void *data),
			void *data, const struct suite_observer *observer)
{
	struct tries tries = {
		.session = session,
		.watch = watch,
		.outer = observer,
		.bench = bench,
		.n = n + 1,
	};
	tries.inner = (struct suite_observer){
		.finished = tries_on_finished,
		.limit = tries_on_limit,
		.data = &tries,
	};
	tries.order = malloc((n + 1) * sizeof(*tries.order));
	if (!tries.order)
		return err_nomem();
	if (n)
		memcpy(tries.order, prefix, n * sizeof(*tries.order));
	tries.order[n] = test;
	/* Nothing else may watch these processes. */
	struct watch *outer_watch = session->watch;
	unsigned points = session->points;
	session->watch = NULL;
	session->points = 0;
	session->observer = &tries.inner;
	session->tries = &tries;
	session->reported = 0;
	session->unhappy = false;
	tracer_tick(true);
	struct err *err = tries_prepare(&tries);
	if (!err)
		err = use(&tries, data);
	tries_free(&tries);
	struct err *failed = saving_put_back(session);
	if (!err)
		err = failed;
	else
		err_ignore(failed);
	output_restart(session->output);
	tracer_tick(false);
	session->tries = NULL;
	session->observer = NULL;
	session->watch = outer_watch;
	session->points = points;
	return err;
}

struct judging {
	suite_judge *judge;
	void *data;
};

static struct err *tries_judge(struct tries *tries, void *data)
{
	const struct judging *judging = data;
	if (!tries->why_not)
		TRY(tries_find_roots(tries));
	if (tries->why_not) {
		size_t test = tries->order[tries->n - 1];
		suite_limit(tries->outer,
			    "order: the state that '%s' depends on was not "
			    "searched for: %s",
			    tries->session->suite.tests.data[test].name,
			    tries->why_not);
		return NULL;
	}
	TRY(positions_take(tries->run->tracee, &tries->positions));
	if (interrupted)
		return err_create(ERR_INTERRUPTED, "interrupted");
	return judging->judge(judging->data, tries->remedies.roots.data,
			      tries->remedies.roots.n, try_roots, tries);
}

struct err *tries_run(struct session *session, const struct suite_watch *watch,
		      const size_t *prefix, size_t n, size_t test,
		      suite_judge *judge, void *data,
		      const struct suite_observer *observer)
{
	struct judging judging = { judge, data };
	if (!(watch->what & SUITE_ALL) || !n)
		return NULL;
	return tries_enter(session, watch, prefix, n, test, NULL, tries_judge,
			   &judging, observer);
}
