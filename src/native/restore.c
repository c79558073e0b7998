#include "native/restore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "native/framework.h"
#include "native/positions.h"
#include "native/undo.h"
#include "native/watch_memory_internal.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "wire/heap.h"

/* A try may take so many times as long as the test is known to take … */
#define SLOWER 10
/* … and at least that. */
#define LIMIT_MIN (UINT64_C(1000) * 1000 * 1000)

struct restore {
	struct session *session;
	const struct suite_observer *outer; /* the caller's */
	struct suite_observer inner;
	struct memory_watch *memory; /* NULL: not asked for, or given up */
	size_t *order;		     /* the prefix and the test */
	size_t n;
	struct run *run;	 /* runs the prefix, then stands */
	struct tracee *between;	 /* a copy of it, at the end of the prefix */
	const char *why_not;	 /* there are no roots because … */
	bool stands;		 /* where the test is about to begin */
	bool kept;		 /* the agent's quarantine is on */
	struct changes roots;	 /* … that can be put back */
	struct undo *undos;	 /* one a root */
	struct positions *files; /* of open files, where it stands */
	/* The try that runs. */
	enum outcome outcome;
	uint64_t took;
	uint64_t longest; /* of tries that ended by themselves; 0: none yet */
};

static void say_limit(const struct restore *restore, const char *why)
{
	const struct suite_observer *outer = restore->outer;
	char text[256];
	snprintf(text, sizeof(text),
		 "order: what makes '%s' depend on its order was not looked "
		 "for in memory: %s",
		 restore->session->suite.tests
			 .data[restore->order[restore->n - 1]]
			 .name,
		 why);
	if (outer && outer->limit)
		outer->limit(outer->data, text);
}

static void on_limit(void *data, const char *text)
{
	const struct restore *restore = data;
	if (restore->outer && restore->outer->limit)
		restore->outer->limit(restore->outer->data, text);
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct restore *restore = data;
	restore->outcome = result->outcome;
	restore->took = result->ns;
}

/* ---- the prefix ---- */

/* From now on blocks that are there now stay what they are. */
static struct err *begin_quarantine(struct restore *restore)
{
	struct tracee *tracee = restore->run->tracee;
	struct wire_heap heap;
	uint64_t agent = memory_watch_agent(restore->run);
	if (!agent ||
	    memory_read_some(tracee, RADDR(agent), &heap, sizeof(heap)) !=
		    sizeof(heap) ||
	    heap.magic != WIRE_HEAP_MAGIC ||
	    heap.version != WIRE_HEAP_VERSION || !heap.active)
		return NULL;
	TRY(memory_write_u64(tracee,
			     RADDR(agent + offsetof(struct wire_heap, fresh)),
			     WIRE_FRESH));
	restore->kept = true;
	return NULL;
}

static struct err *look(struct restore *restore, struct changes *ret)
{
	struct tracee *tracee = restore->run->tracee;
	struct err *err = memory_watch_capture(
		restore->memory, tracee_thread(tracee, 0), ret, NULL);
	if (!err || err_kind(err) == ERR_INTERRUPTED)
		return err;
	log_info("memory cannot be looked at: %s", err_message(err));
	err_destroy(err);
	restore->why_not = "its memory cannot be looked at";
	return NULL;
}

/*
 * The state before is that of the first test of the prefix, with what the
 * framework did before it: that is the same whatever test comes first.
 */
struct err *restore_begin(struct restore *restore, struct run *run)
{
	if (run != restore->run)
		return NULL;
	size_t entry = run->next - 1;
	if (tracee_threads(run->tracee) > 1) {
		restore->why_not = "the program has several threads there";
		run->stop = true;
		return NULL;
	}
	if (entry == 0) {
		TRY(begin_quarantine(restore));
		TRY(look(restore, NULL));
	}
	if (entry + 1 == restore->n)
		restore->stands = true;
	run->stop = restore->stands || restore->why_not;
	return NULL;
}

/*
 * What comes between the prefix and the test is the test's: set-up of its group,
 * tear-down of the one before. That is not to be put back.
 */
struct err *restore_end(struct restore *restore, struct run *run)
{
	if (run != restore->run || run->next + 1 != restore->n ||
	    restore->between || tracee_threads(run->tracee) > 1)
		return NULL;
	return checkpoint_fork(tracee_thread(run->tracee, 0),
			       &restore->between);
}

/* As far as the test; where that does not work, why_not is set. */
static struct err *run_prefix(struct restore *restore)
{
	struct session *session = restore->session;
	TRY(session_process(session, &restore->run));
	struct run *run = restore->run;
	if (session->obstacle) {
		restore->why_not = session->obstacle;
		return NULL;
	}
	run->order = restore->order;
	run->n = restore->n;
	struct err *err = memory_watch_start(restore->memory, run);
	if (err && err_kind(err) == ERR_USAGE)
		return err;
	if (err) {
		err_ignore(err);
		restore->why_not = "its memory cannot be looked at";
		return NULL;
	}
	TRY(run->framework->start(run, run->ready_thread));
	enum run_state state;
	TRY(run_loop(run, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	if (!restore->stands && !restore->why_not)
		restore->why_not = "the tests before it ended the process";
	if (!restore->why_not)
		restore->why_not = checkpoint_obstacle(run->tracee);
	return NULL;
}

/* ---- roots ---- */

static struct err *add_root(struct restore *restore, struct undo_finder *finder,
			    struct change *change)
{
	struct undo undo = {};
	bool possible = false;
	struct err *err =
		undo_find(finder, change->root_number, &undo, &possible);
	if (!err && possible && restore->between)
		err = undo_spare(&undo, restore->between, restore->run->tracee);
	possible = possible && !undo_is_empty(&undo);
	if (!err && possible)
		err = vec_push(&restore->roots, *change);
	if (err || !possible) {
		undo_free(&undo);
		if (!err)
			log_info("'%s' cannot be put back", change->root);
		return err;
	}
	restore->undos[restore->roots.n - 1] = undo;
	*change = (struct change){};
	return NULL;
}

static struct err *find_roots(struct restore *restore)
{
	_cleanup_(changes_freep_deep) struct changes changes = {};
	TRY(look(restore, &changes));
	if (restore->why_not)
		return NULL;
	restore->undos = calloc(changes.n + 1, sizeof(*restore->undos));
	if (!restore->undos)
		return err_nomem();
	_cleanup_(undo_finder_destroyp) struct undo_finder *finder = NULL;
	TRY(undo_finder_create(restore->memory, restore->kept, &finder));
	for (size_t i = 0; i < changes.n; i++) {
		if (suite_interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		TRY(add_root(restore, finder, &changes.data[i]));
	}
	tracee_destroy(restore->between);
	restore->between = NULL;
	return NULL;
}

/* ---- tries ---- */

/* A copy of the process that stands, with all that is known of it. */
static struct err *copy_run(struct run *run, struct run **ret)
{
	_cleanup_(tracee_destroyp) struct tracee *tracee = NULL;
	TRY(checkpoint_fork(tracee_thread(run->tracee, 0), &tracee));
	_cleanup_(run_destroyp) struct run *copy =
		run_create(run->session, tracee);
	if (!copy)
		return err_nomem();
	take_ptr(tracee);
	memcpy(copy->state, run->state, run->framework->state_size);
	size_t tests = run_tests(run);
	copy->begun = malloc(tests);
	if (!copy->begun)
		return err_nomem();
	memcpy(copy->begun, run->begun, tests);
	copy->ready_thread = tracee_thread(copy->tracee, 0);
	copy->order = run->order;
	copy->n = run->n;
	copy->next = run->next;
	copy->in_test = run->in_test;
	copy->current = run->current;
	copy->point = run->point;
	copy->allowed_exit = run->allowed_exit;
	*ret = take_ptr(copy);
	return NULL;
}

/* exit(): the status is known, and the handlers are not to run. */
static struct err *on_exit_called(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	return run_leaves(run, (int)(thread_arg(thread, 0) & 0xff));
}

static uint64_t time_limit(const struct restore *restore)
{
	uint64_t most = restore->session->suite.options.timeout_ns;
	uint64_t known = MAX(
		session_took(restore->session, restore->order[restore->n - 1]),
		restore->longest);
	if (!known)
		return most;
	return MIN(most, MAX(known * SLOWER, LIMIT_MIN));
}

static struct err *run_try(struct restore *restore, struct run *copy,
			   const bool *put_back)
{
	copy->stop_after = !copy->framework->exit_status_counts;
	copy->defer = copy->framework->exit_status_counts;
	TRY(run_break_symbol(copy, "exit", on_exit_called, 0, NULL));
	for (size_t i = 0; i < restore->roots.n; i++) {
		if (put_back[i])
			TRY(undo_apply(&restore->undos[i], copy));
	}
	copy->began_ns = clock_now();
	copy->deadline = tracer_clock() + time_limit(restore);
	enum run_state state;
	TRY(run_loop(copy, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	if (restore->outcome != OUTCOME_TIMEOUT)
		restore->longest = MAX(restore->longest, restore->took);
	return NULL;
}

static struct err *try_roots(void *context, const bool *put_back,
			     enum outcome *ret)
{
	struct restore *restore = context;
	struct session *session = restore->session;
	if (suite_interrupted)
		return err_create(ERR_INTERRUPTED, "interrupted");
	_cleanup_(run_destroyp) struct run *copy = NULL;
	positions_put_back(restore->files);
	TRY(copy_run(restore->run, &copy));
	restore->outcome = OUTCOME_NONE;
	session->suite.executions++;
	struct err *err = run_try(restore, copy, put_back);
	output_restart(session->output);
	TRY(err);
	/* It ended without the framework's saying so. */
	*ret = restore->outcome ? restore->outcome : OUTCOME_CRASH;
	return NULL;
}

/* ---- all of it ---- */

static void restore_free(struct restore *restore)
{
	tracee_destroy(restore->between);
	run_destroy(restore->run);
	for (size_t i = 0; i < restore->roots.n; i++)
		undo_free(&restore->undos[i]);
	free(restore->undos);
	changes_freep_deep(&restore->roots);
	positions_destroy(restore->files);
	free(restore->order);
	if (restore->memory)
		memory_watch_stop(restore->memory);
}

/*
 * Debug information is read once for all calls that ask for the same: what they
 * point to stays theirs and as it is (suite_watch()).
 */
static struct err *find_memory(struct session *session,
			       const struct suite_watch *watch,
			       struct memory_watch **ret)
{
	if (session->restore_memory &&
	    !memcmp(&session->restore_options, watch, sizeof(*watch))) {
		*ret = session->restore_memory;
		return NULL;
	}
	restore_forget(session);
	session->restore_options = *watch;
	TRY(memory_watch_create(session, &session->restore_options,
				&session->restore_memory));
	session->restore_memory->once = true;
	*ret = session->restore_memory;
	return NULL;
}

void restore_forget(struct session *session)
{
	memory_watch_destroy(session->restore_memory);
	session->restore_memory = NULL;
}

static struct err *restore_run(struct restore *restore, suite_judge *judge,
			       void *data)
{
	TRY(run_prefix(restore));
	if (!restore->why_not)
		TRY(find_roots(restore));
	if (restore->why_not) {
		say_limit(restore, restore->why_not);
		return NULL;
	}
	TRY(positions_take(tracee_pid(restore->run->tracee), &restore->files));
	return judge(data, restore->roots.data, restore->roots.n, try_roots,
		     restore);
}

struct err *restore_try_roots(struct session *session,
			      const struct suite_watch *watch,
			      const size_t *prefix, size_t n, size_t test,
			      suite_judge *judge, void *data,
			      const struct suite_observer *observer)
{
	if (!(watch->what & SUITE_MEMORY) || !n)
		return NULL;
	struct restore restore = {
		.session = session,
		.outer = observer,
		.n = n + 1,
	};
	restore.inner = (struct suite_observer){
		.finished = on_finished,
		.limit = on_limit,
		.data = &restore,
	};
	restore.order = malloc((n + 1) * sizeof(*restore.order));
	if (!restore.order)
		return err_nomem();
	memcpy(restore.order, prefix, n * sizeof(*restore.order));
	restore.order[n] = test;
	/* Nobody else is to look at these processes. */
	struct watch *outer_watch = session->watch;
	unsigned points = session->points;
	session->watch = NULL;
	session->points = 0;
	session->observer = &restore.inner;
	session->restore = &restore;
	session->reported = 0;
	session->unhappy = false;
	tracer_tick(true);
	struct err *err = find_memory(session, watch, &restore.memory);
	if (!err)
		err = restore_run(&restore, judge, data);
	restore_free(&restore);
	output_restart(session->output);
	tracer_tick(false);
	session->restore = NULL;
	session->observer = NULL;
	session->watch = outer_watch;
	session->points = points;
	return err;
}
