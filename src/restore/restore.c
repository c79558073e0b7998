#include "restore/restore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attributes/put_back.h"
#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "keep/keep.h"
#include "native/framework.h"
#include "restore/positions.h"
#include "restore/undo.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "watch/memory_watch_inside.h"
#include "watch/system_watch.h"
#include "wire/heap.h"

/* A try may take so many times as long as the test is known to take … */
#define SLOWER 10
/* … and at least that. */
#define LIMIT_MIN (UINT64_C(1000) * 1000 * 1000)

/* How a root is put back. */
struct remedy {
	struct undo undo;		  /* memory */
	struct attribute_kept *attribute; /* process state */
	size_t file; /* of session->keeper; NO_FILE: none */
};
#define NO_FILE ((size_t)-1)

struct restore {
	struct session *session;
	const struct suite_watch *watch;
	const struct suite_observer *outer; /* the caller's */
	struct suite_observer inner;
	/* NULL: not asked for, or given up. */
	struct memory_watch *memory;
	struct system_watch *system;
	struct suite_watch system_options;
	size_t *order; /* the prefix and the test */
	size_t n;
	struct run *run;	     /* runs the prefix, then stands */
	struct tracee *before;	     /* a copy of it, at the beginning */
	struct tracee *between;	     /* and one at the end of the prefix */
	const char *why_not;	     /* there are no roots because … */
	bool stands;		     /* where the test is about to begin */
	bool kept;		     /* the agent's quarantine is on */
	struct changes roots;	     /* … that can be put back */
	struct remedy *remedies;     /* one a root */
	struct positions *positions; /* in open files, where it stands */
	struct kept *files; /* as they are there; NULL: none are kept */
	bool *chosen;	    /* by path of session->keeper */
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
		 "for: %s",
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

/* What cannot be looked at is done without. */
static struct err *lose(struct restore *restore, bool memory, struct err *err)
{
	if (!err || err_kind(err) == ERR_INTERRUPTED ||
	    err_kind(err) == ERR_USAGE)
		return err;
	log_info("%s cannot be looked at: %s",
		 memory ? "memory" : "process state", err_message(err));
	err_destroy(err);
	if (memory) {
		restore->memory = NULL;
	} else {
		system_watch_destroy(restore->system);
		restore->system = NULL;
	}
	if (!restore->memory && !restore->system)
		restore->why_not = "it cannot be looked at";
	return NULL;
}

static struct err *look(struct restore *restore, struct changes *ret)
{
	struct thread *thread = tracee_thread(restore->run->tracee, 0);
	/* Memory last: what the others do in the process is not to be seen. */
	if (restore->system)
		TRY(lose(restore, false,
			 system_watch_capture(restore->system, thread, ret)));
	if (restore->memory)
		TRY(lose(restore, true,
			 memory_watch_capture(restore->memory, thread, ret,
					      NULL)));
	return NULL;
}

/* A process that stands where the prefix begins, to be asked what was there. */
static struct err *keep_before(struct restore *restore)
{
	const struct run *run = restore->run;
	if (!restore->system || checkpoint_obstacle(run->tracee))
		return NULL;
	return checkpoint_fork(tracee_thread(run->tracee, 0), &restore->before);
}

static struct err *look_before(struct restore *restore)
{
	TRY(keep_before(restore));
	TRY(begin_quarantine(restore));
	return look(restore, NULL);
}

/* Is it the first test, of the same group as the last? They share a set-up. */
static bool shares_set_up(const struct restore *restore)
{
	const struct suite_test *tests = restore->session->suite.tests.data;
	size_t group = tests[restore->order[0]].group;
	return group != SUITE_NO_GROUP &&
	       group == tests[restore->order[restore->n - 1]].group;
}

/*
 * The state before is that of the first test of the prefix, with what the
 * framework did before it: that is the same whatever test comes first. What the
 * set-up of a group did is there for the test, too, where it is of that group.
 */
struct err *restore_begin(struct restore *restore, struct run *run)
{
	if (run != restore->run)
		return NULL;
	size_t entry = run->next - 1;
	tracee_reap(run->tracee);
	if (tracee_threads(run->tracee) > 1) {
		restore->why_not = "the program has several threads there";
		run->stop = true;
		return NULL;
	}
	if (entry == 0 && !(run->early && shares_set_up(restore)))
		TRY(look_before(restore));
	if (entry + 1 == restore->n)
		restore->stands = true;
	run->stop = restore->stands || restore->why_not;
	return NULL;
}

struct err *restore_group_ready(struct restore *restore, struct run *run)
{
	if (run != restore->run || run->next != 1 || !shares_set_up(restore))
		return NULL;
	tracee_reap(run->tracee);
	if (tracee_threads(run->tracee) > 1)
		restore->why_not = "the program has several threads there";
	else
		TRY(look_before(restore));
	run->stop = restore->why_not;
	return NULL;
}

/*
 * What comes between the prefix and the test is the test's: set-up of its group,
 * tear-down of the one before. That is not to be put back.
 */
struct err *restore_end(struct restore *restore, struct run *run)
{
	if (run != restore->run || run->next + 1 != restore->n ||
	    restore->between)
		return NULL;
	tracee_reap(run->tracee);
	if (tracee_threads(run->tracee) > 1)
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
	if (restore->system)
		TRY(lose(restore, false,
			 system_watch_start(restore->system, run)));
	if (restore->memory)
		TRY(lose(restore, true,
			 memory_watch_start(restore->memory, run)));
	if (restore->why_not)
		return NULL;
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

static void remedy_free(struct remedy *remedy)
{
	undo_free(&remedy->undo);
	attribute_kept_destroy(remedy->attribute);
}

static struct err *find_undo(struct restore *restore,
			     struct undo_finder *finder,
			     const struct change *change, struct undo *undo,
			     bool *ret_possible)
{
	TRY(undo_find(finder, change->root_number, undo, ret_possible));
	if (*ret_possible && restore->between)
		TRY(undo_spare(undo, restore->between, restore->run->tracee));
	if (undo_is_empty(undo))
		*ret_possible = false;
	return NULL;
}

static uint64_t symbol_address(void *data, const char *name)
{
	const struct restore *restore = data;
	struct raddr address;
	return program_symbol(restore->session->program, name, &address)
		       ? address.v
		       : 0;
}

static struct err *find_attribute(struct restore *restore,
				  const struct change *change,
				  struct remedy *remedy)
{
	if (!restore->before)
		return NULL;
	return attribute_keep(change->root, tracee_thread(restore->before, 0),
			      symbol_address, restore, &remedy->attribute);
}

static struct err *add_root(struct restore *restore, struct undo_finder *finder,
			    struct change *change)
{
	struct remedy remedy = { .file = NO_FILE };
	bool possible = false;
	struct err *err = NULL;
	if (change->where == CHANGE_MEMORY) {
		err = find_undo(restore, finder, change, &remedy.undo,
				&possible);
	} else if (change->where == CHANGE_PROCESS) {
		err = find_attribute(restore, change, &remedy);
		possible = remedy.attribute;
	}
	if (!err && possible)
		err = vec_push(&restore->roots, *change);
	if (err || !possible) {
		remedy_free(&remedy);
		if (!err)
			log_info("'%s' cannot be put back", change->root);
		return err;
	}
	restore->remedies[restore->roots.n - 1] = remedy;
	*change = (struct change){};
	return NULL;
}

/* What was at a path and what is there now, as a change. */
static struct err *describe_file(const struct restore *restore, size_t path,
				 struct change *change)
{
	const struct session *session = restore->session;
	change->root = keeper_root(session->keeper, path);
	change->paths = calloc(1, sizeof(*change->paths));
	if (!change->root || !change->paths)
		return err_nomem();
	change->n = 1;
	change->paths[0].path = strdup(change->root);
	change->paths[0].before = kept_text(session->kept, path);
	change->paths[0].after = kept_text(restore->files, path);
	return change->paths[0].path && change->paths[0].before &&
			       change->paths[0].after
		       ? NULL
		       : err_nomem();
}

static struct err *add_file(struct restore *restore, size_t path)
{
	struct change change = {
		.where = CHANGE_FILE,
		.weight = WEIGHT_MEDIUM,
	};
	struct err *err = describe_file(restore, path, &change);
	if (!err)
		err = vec_push(&restore->roots, change);
	if (err)
		change_free(&change);
	else
		restore->remedies[restore->roots.n - 1] =
			(struct remedy){ .file = path };
	return err;
}

/*
 * Files that are kept (suite_keep_files()): the others' content before the prefix
 * is not known.
 */
static struct err *find_files(struct restore *restore)
{
	const struct session *session = restore->session;
	size_t n = session->keeper ? keeper_count(session->keeper) : 0;
	TRY(session_take_kept(restore->session, &restore->files));
	if (!restore->files || !(restore->watch->what & SUITE_FILES))
		return NULL;
	restore->chosen = calloc(n + 1, sizeof(*restore->chosen));
	struct remedy *grown = realloc(
		restore->remedies, (restore->roots.n + n + 1) * sizeof(*grown));
	if (grown)
		restore->remedies = grown;
	if (!grown || !restore->chosen)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		if (!kept_same(session->kept, restore->files, i))
			TRY(add_file(restore, i));
	}
	return NULL;
}

static struct err *find_roots(struct restore *restore)
{
	_cleanup_(changes_freep_deep) struct changes changes = {};
	TRY(look(restore, &changes));
	if (restore->why_not)
		return NULL;
	restore->remedies = calloc(changes.n + 1, sizeof(*restore->remedies));
	if (!restore->remedies)
		return err_nomem();
	_cleanup_(undo_finder_destroyp) struct undo_finder *finder = NULL;
	if (restore->memory)
		TRY(undo_finder_create(restore->memory, restore->kept,
				       &finder));
	for (size_t i = 0; i < changes.n; i++) {
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		TRY(add_root(restore, finder, &changes.data[i]));
	}
	tracee_destroy(take_ptr(restore->between));
	tracee_destroy(take_ptr(restore->before));
	return find_files(restore);
}

/* ---- tries ---- */

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

static struct err *apply(const struct remedy *remedy, struct run *copy)
{
	TRY(undo_apply(&remedy->undo, copy));
	if (!remedy->attribute)
		return NULL;
	/* What cannot be put back after all stays as the prefix left it. */
	struct err *err = attribute_put_back(remedy->attribute,
					     tracee_thread(copy->tracee, 0));
	if (err)
		log_info("not put back: %s", err_message(err));
	err_ignore(err);
	return NULL;
}

static struct err *run_try(struct restore *restore, struct run *copy,
			   const bool *put_back)
{
	copy->stop_after = !copy->framework->exit_status_counts;
	copy->defer = copy->framework->exit_status_counts;
	TRY(run_break_symbol(copy, "exit", on_exit_called, 0, NULL));
	for (size_t i = 0; i < restore->roots.n; i++) {
		if (put_back[i])
			TRY(apply(&restore->remedies[i], copy));
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

/* Files are not copied with the process: they are made what they are to be. */
static struct err *put_back_files(const struct restore *restore,
				  const bool *put_back)
{
	struct session *session = restore->session;
	bool any = false;
	TRY(session_put_back_kept(session, restore->files));
	for (size_t i = 0; i < restore->roots.n; i++) {
		size_t file = restore->remedies[i].file;
		if (file == NO_FILE)
			continue;
		restore->chosen[file] = put_back[i];
		any |= put_back[i];
	}
	return any ? keeper_put_back_some(session->keeper, session->kept,
					  restore->chosen)
		   : NULL;
}

static struct err *try_roots(void *context, const bool *put_back,
			     enum outcome *ret)
{
	struct restore *restore = context;
	struct session *session = restore->session;
	if (interrupted)
		return err_create(ERR_INTERRUPTED, "interrupted");
	_cleanup_(run_destroyp) struct run *copy = NULL;
	TRY(put_back_files(restore, put_back));
	TRY(positions_put_back(restore->positions,
			       tracee_thread(restore->run->tracee, 0)));
	TRY(run_copy(restore->run, tracee_thread(restore->run->tracee, 0),
		     &copy));
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
	system_watch_destroy(restore->system);
	tracee_destroy(restore->before);
	tracee_destroy(restore->between);
	run_destroy(restore->run);
	for (size_t i = 0; i < restore->roots.n; i++)
		remedy_free(&restore->remedies[i]);
	free(restore->remedies);
	changes_freep_deep(&restore->roots);
	positions_destroy(restore->positions);
	kept_destroy(restore->files);
	free(restore->chosen);
	free(restore->order);
	if (restore->session->restore_memory)
		memory_watch_stop(restore->session->restore_memory);
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
	       a->method == b->method && a->detail == b->detail &&
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
	if (session->restore_memory &&
	    same_memory(&session->restore_options, watch)) {
		*ret = session->restore_memory;
		return NULL;
	}
	restore_forget(session);
	session->restore_options = *watch;
	struct memory_watch *memory = NULL;
	TRY(memory_watch_create(session, &session->restore_options, &memory));
	BUG_ON(!memory);
	memory->once = true;
	session->restore_memory = *ret = memory;
	return NULL;
}

void restore_forget(struct session *session)
{
	memory_watch_destroy(session->restore_memory);
	session->restore_memory = NULL;
}

/* Process state is read twice only: no need to follow calls for it. */
static struct err *find_system(struct restore *restore)
{
	restore->system_options = *restore->watch;
	restore->system_options.what = SUITE_PROCESS;
	restore->system_options.file_method = "walk";
	return system_watch_create(restore->session, &restore->system_options,
				   &restore->system);
}

static struct err *restore_run(struct restore *restore, suite_judge *judge,
			       void *data)
{
	if (restore->watch->what & SUITE_MEMORY)
		TRY(find_memory(restore->session, restore->watch,
				&restore->memory));
	if (restore->watch->what & SUITE_PROCESS)
		TRY(find_system(restore));
	TRY(session_put_back(restore->session));
	TRY(run_prefix(restore));
	if (!restore->why_not)
		TRY(find_roots(restore));
	if (restore->why_not) {
		say_limit(restore, restore->why_not);
		return NULL;
	}
	TRY(positions_take(restore->run->tracee, &restore->positions));
	return judge(data, restore->roots.data, restore->roots.n, try_roots,
		     restore);
}

struct err *restore_try_roots(struct session *session,
			      const struct suite_watch *watch,
			      const size_t *prefix, size_t n, size_t test,
			      suite_judge *judge, void *data,
			      const struct suite_observer *observer)
{
	if (!(watch->what & SUITE_ALL) || !n)
		return NULL;
	struct restore restore = {
		.session = session,
		.watch = watch,
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
	struct err *err = restore_run(&restore, judge, data);
	restore_free(&restore);
	struct err *failed = session_put_back(session);
	if (!err)
		err = failed;
	else
		err_ignore(failed);
	output_restart(session->output);
	tracer_tick(false);
	session->restore = NULL;
	session->observer = NULL;
	session->watch = outer_watch;
	session->points = points;
	return err;
}
