#include "native/run.h"
#include "native/chooser.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "native/framework.h"
#include "native/hand_over.h"
#include "native/inlined.h"
#include "native/isolation.h"
#include "native/middle.h"
#include "native/scheduler.h"
#include "native/session.h"
#include "native/sort_models.h"
#include "native/tries.h"
#include "native/verdict.h"
#include "program/place.h"
#include "tracee/breakpoint.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "watch/places.h"
#include "watch/watch.h"

/* glibc's struct _IO_FILE: _IO_write_base and _IO_write_ptr. */
#define FILE_WRITE_BASE 32
/* More than that in a stdio buffer is not taken over by a cut. */
#define PENDING_MAX ((uint64_t)1 << 20)
/* A test that did nothing for that long did wait, or was kept waiting. */
#define WAITED_NS NS_PER_MS

struct run *run_create(struct session *session, struct tracee *tracee)
{
	struct run *run = calloc(1, sizeof(*run));
	if (!run)
		return NULL;
	size_t size = session->framework ? session->framework->state_size : 0;
	run->state = calloc(1, size ? size : 1);
	if (!run->state) {
		free(run);
		return NULL;
	}
	run->session = session;
	run->tracee = tracee;
	run->program = session->program;
	run->framework = session->framework;
	run->current = RUN_NONE;
	if (run->framework && run->framework->catches_faults)
		tracee_report_faults(tracee);
	return run;
}

static void clear_notes(struct run *run)
{
	free(take_ptr(run->message));
	free(take_ptr(run->file));
	run->line = 0;
	run->outcome = OUTCOME_NONE;
	run->explained = false;
	run->faulted = 0;
}

void run_destroy(struct run *run)
{
	if (!run)
		return;
	run_destroy(run->checkpoint);
	tracee_destroy(run->tracee);
	clear_notes(run);
	free(run->seen.file);
	suite_result_free(&run->held);
	free(run->state);
	free(run->begun);
	vec_free(&run->given.all);
	free(run);
}

struct err *run_break(struct run *run, struct raddr address, run_hook *hook,
		      uint64_t arg)
{
	struct session *session = run->session;
	uint64_t word;
	if (breakpoint_at(run->tracee, address, &word) &&
	    session->hooks.data[word].call == hook &&
	    session->hooks.data[word].arg == arg)
		return breakpoint_set(run->tracee, address, word);
	for (word = 0; word < session->hooks.n; word++) {
		if (session->hooks.data[word].call == hook &&
		    session->hooks.data[word].arg == arg)
			break;
		/* Suites of functions have one per test: no long search. */
		if (word == 64)
			word = session->hooks.n - 1;
	}
	if (word >= session->hooks.n) {
		word = session->hooks.n;
		TRY(vec_push(&session->hooks, (struct hook){ hook, arg }));
	}
	return breakpoint_set(run->tracee, address, word);
}

struct err *run_break_symbol(struct run *run, const char *symbol,
			     run_hook *hook, uint64_t arg, bool *ret_found)
{
	struct raddr address;
	uint8_t byte;
	/* A test may load a library: processes from before it do not have it. */
	bool found = program_symbol(run->program, symbol, &address) &&
		     memory_read_some(run->tracee, address, &byte, 1) == 1;
	if (ret_found)
		*ret_found = found;
	return found ? run_break(run, address, hook, arg) : NULL;
}

struct err *run_unbreak(struct run *run, struct raddr address)
{
	return breakpoint_clear(run->tracee, address);
}

void run_ready(struct run *run, struct thread *thread)
{
	if (run->order || run->ready_thread)
		return;
	run->ready = true;
	run->ready_thread = thread;
}

/*
 * Frameworks know files as __FILE__ had them, relative to the folder of the
 * compiler; users are somewhere else.
 */
const char *run_source(struct run *run, const char *file)
{
	struct session *session = run->session;
	uint64_t known;
	if (!file || !*file || *file == '/')
		return file && *file ? file : NULL;
	if (map_text_get(&session->sources, file, &known))
		return (const char *)(uintptr_t)known;
	const char *folder = NULL;
	for (size_t i = 0; i < run->program->modules.n && !folder; i++) {
		const struct module *module = &run->program->modules.data[i];
		if (module->object && !module->system)
			folder = object_compile_folder(module->object, file);
	}
	char *source = NULL;
	struct err *err = path_join(folder ? folder : "", file, &source);
	if (!err && !folder) {
		free(source);
		source = strdup(file);
	}
	if (!err && source)
		err = map_text_put(&session->sources, file, (uintptr_t)source);
	err_ignore(err);
	return source ? source : file;
}

size_t run_wanted(const struct run *run)
{
	return run_wanted_at(run, 0);
}

size_t run_wanted_at(const struct run *run, size_t ahead)
{
	if (run->next + ahead < run->n)
		return run->order[run->next + ahead];
	if (run->parting)
		run->parting->asked = true;
	return RUN_NONE;
}

bool run_settled(const struct run *run)
{
	return !run->parting;
}

size_t run_known(const struct run *run)
{
	return run->n - run->next;
}

size_t run_unknown(const struct run *run)
{
	return run->parting ? run->parting->more : 0;
}

bool run_parts(const struct run *run)
{
	return run->parting && run->next >= run->n;
}

bool run_in_sequence(const struct run *run)
{
	if (run->session->resequenced)
		return false;
	if (run->parting)
		return run->parting->sequence;
	for (size_t i = 1; i < run->n; i++) {
		if (run->order[i] <= run->order[i - 1])
			return false;
	}
	return true;
}

/*
 * What the program has printed but not yet written: it is between two pointers
 * of its stdio structure.
 */
static size_t pending_output(struct run *run, char **ret_text)
{
	struct raddr file = run->session->stdout_file;
	uint64_t bounds[2];
	if (ret_text)
		*ret_text = NULL;
	if (!file.v ||
	    memory_read_some(run->tracee, raddr_add(file, FILE_WRITE_BASE),
			     bounds, sizeof(bounds)) != sizeof(bounds) ||
	    bounds[1] <= bounds[0] || bounds[1] - bounds[0] > PENDING_MAX)
		return 0;
	size_t n = bounds[1] - bounds[0];
	if (!ret_text)
		return n;
	_cleanup_(freep) char *text = malloc(n);
	if (!text ||
	    memory_read_some(run->tracee, RADDR(bounds[0]), text, n) != n)
		return 0;
	*ret_text = take_ptr(text);
	return n;
}

/* The output of the running test; before a test it belongs to none. */
static struct err *cut_output(struct run *run, bool gone,
			      struct output_piece *ret)
{
	struct output *output = run->session->output;
	_cleanup_(freep) char *text = NULL;
	size_t n = gone ? 0 : pending_output(run, ret ? &text : NULL);
	return output_cut(output, text, n, ret);
}

struct err *run_output(struct run *run, char **ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t n = pending_output(run, &text);
	output_take_over(run->session->output, text, n);
	return output_peek(run->session->output, ret);
}

bool run_point_wanted(const struct run *run, enum suite_point point)
{
	return run->session->points & 1U << point;
}

static void log_point(const struct run *run, enum suite_point point)
{
	static const char *const names[SUITE_POINTS] = {
		[SUITE_BEFORE_SETUP] = "before-setup",
		[SUITE_AFTER_SETUP] = "after-setup",
		[SUITE_BEFORE_TEARDOWN] = "before-teardown",
		[SUITE_AFTER_TEARDOWN] = "after-teardown",
	};
	if (run_point_wanted(run, point))
		log_debug(LOG_NATIVE, "point %s %s", names[point],
			  run_name(run, run->current));
}

struct err *run_point(struct run *run, enum suite_point point)
{
	struct watch *watch = run->session->watch;
	if (!run->in_test || (int)point <= run->point)
		return NULL;
	run->point = (int)point;
	log_point(run, point);
	const struct watch_point at = {
		.tracee = run->tracee,
		.point = point,
		.test = run->current,
		.entry = run->session->reported,
		.captured = &run->captured,
	};
	return watch ? watch_point(watch, &at) : NULL;
}

static uint64_t run_time_limit(const struct run *run)
{
	uint64_t all = run->session->suite.options.timeout_ns;
	return run->limit_ns && run->limit_ns < all ? run->limit_ns : all;
}

struct err *run_begin(struct run *run)
{
	struct session *session = run->session;
	if (run->in_test)
		TRY(run_end(run, OUTCOME_NONE));
	BUG_ON(run->next >= run->n);
	if (!run->begun)
		run->begun = calloc(run_tests(run), 1);
	if (!run->begun)
		return err_nomem();
	run->current = run->order[run->next++];
	run->begun[run->current] = 1;
	session->suite.executions++;
	run->in_test = true;
	run->point = -1;
	run->allowed_exit = -1;
	run->allowed_signal = 0;
	run->limit_ns = 0;
	clear_notes(run);
	tracee_forget_fault(run->tracee);
	if (!run->output_cut)
		TRY(cut_output(run, false, NULL));
	if (session->observer && session->observer->started)
		session->observer->started(session->observer->data,
					   run->current);
	TRY(run_point(run, SUITE_BEFORE_SETUP));
	if (session->tries)
		TRY(tries_begin(session->tries, run));
	if (session->places)
		places_begin(session->places, run->tracee);
	if (session->verdict)
		verdict_begin(run);
	chooser_begin(session->chooser, run->current);
	TRY(sort_models_begin(run));
	run->threads_before = tracee_threads_made(run->tracee);
	run->cpu_before = tracee_cpu_time(run->tracee);
	TRY(scheduler_begin(run));
	run->began_ns = clock_now();
	run->deadline = tracer_clock() + run_time_limit(run);
	return NULL;
}

struct err *run_group_ready(struct run *run)
{
	struct session *session = run->session;
	if (!run->early)
		return NULL;
	run->early = false;
	return session->tries ? tries_group_ready(session->tries, run) : NULL;
}

static void run_report_result(struct run *run,
			      const struct suite_result *result)
{
	struct session *session = run->session;
	if (result->outcome != OUTCOME_PASS &&
	    result->outcome != OUTCOME_SKIP) {
		session->unhappy = true;
		run->failed = true;
		/* Time-outs would take their time once more. */
		if (result->outcome != OUTCOME_TIMEOUT)
			isolation_note_failure(session, result->test);
	}
	if (session->observer && session->observer->finished)
		session->observer->finished(session->observer->data, result);
}

/* The program's end may say more of the last test. */
static bool run_waits_for_end(const struct run *run)
{
	return run->whole && run->unjudged && !run->failed &&
	       run->framework->exit_status_counts && run->next >= run->n;
}

void run_report_held(struct run *run)
{
	if (!run->holds)
		return;
	run->holds = false;
	run_report_result(run, &run->held);
	suite_result_free(&run->held);
	run->held = (struct suite_result){};
}

/* No test failed as far as is known, and yet the program says so. */
static void run_blame_held(struct run *run)
{
	_cleanup_(freep) char *text = NULL;
	if (!run->holds || run->killed_by || !run->exit_status ||
	    !verdict_status_counts(run->session))
		return;
	bool inlined = inlined_may_have_failed(run->session);
	verdict_surprised(run->session);
	run->held.outcome = OUTCOME_FAIL;
	run->held.unsure = run->blind || inlined;
	if (asprintf(&text, "the program ended with %s%s", run_end_text(run),
		     inlined	  ? "; a test that was inlined into the runner "
				    "may have failed: build with -fno-inline"
		     : run->blind ? "; which of its tests failed is not known"
				  : "") >= 0)
		run->held.message = take_ptr(text);
}

/*
 * The test slept, or waited for a timer. Time that went by without it says so
 * only where the program can do that: on a busy machine it goes by in any test.
 */
static bool run_waited(const struct run *run, uint64_t ns)
{
	static const char *const waits[] = {
		"alarm",
		"clock_nanosleep",
		"event_add",
		"g_timeout_add",
		"g_timeout_add_full",
		"nanosleep",
		"setitimer",
		"sleep",
		"timer_settime",
		"timerfd_settime",
		"ualarm",
		"usleep",
		"uv_timer_start",
	};
	return tracee_cpu_time(run->tracee) - run->cpu_before + WAITED_NS <
		       ns &&
	       program_uses_any(run->program, waits, ARRAY_SIZE(waits));
}

static struct err *finish_test(struct run *run, enum outcome outcome, bool gone)
{
	struct session *session = run->session;
	uint64_t now = clock_now();
	if (outcome != OUTCOME_NONE && outcome != OUTCOME_PASS)
		scheduler_note_failure(run);
	scheduler_end(run);
	if (outcome == OUTCOME_NONE)
		outcome = run->outcome ? run->outcome : OUTCOME_PASS;
	struct suite_result result = {
		.test = run->current,
		.entry = session->reported,
		.outcome = outcome,
		.ns = now - run->began_ns,
		.threads =
			tracee_threads(run->tracee) > 1 ||
			tracee_threads_made(run->tracee) != run->threads_before,
	};
	if (outcome != OUTCOME_PASS) {
		result.message = run->message;
		result.file = run->file;
		result.line = run->line;
	}
	if (!gone && result.ns > WAITED_NS)
		result.waited = run_waited(run, result.ns);
	bool waits = outcome == OUTCOME_PASS && !gone && run_waits_for_end(run);
	bool wanted = outcome != OUTCOME_PASS || session->want_output || waits;
	struct output_piece piece = {};
	TRY(cut_output(run, gone, wanted ? &piece : NULL));
	run->output_cut = true;
	result.output = piece.text;
	result.output_n = piece.n;
	result.output_dropped = piece.dropped;
	struct err *err = gone ? NULL : run_point(run, SUITE_AFTER_TEARDOWN);
	if (!err && !gone && session->tries)
		err = tries_end(session->tries, run);
	run->in_test = false;
	if (session->places)
		places_end(session->places, run->tracee, run->current);
	run->current = RUN_NONE;
	chooser_end(session->chooser, session->observer, session->reported,
		    result.test);
	session->reported++;
	run->ended = outcome;
	if (outcome != OUTCOME_TIMEOUT)
		session_note_took(session, result.test, result.ns);
	if (waits) {
		run->held = result;
		run->holds = true;
	} else {
		run_report_result(run, &result);
		free(piece.text);
	}
	clear_notes(run);
	run->deadline = tracer_clock() + session->suite.options.timeout_ns;
	return err;
}

struct err *run_end(struct run *run, enum outcome outcome)
{
	if (!run->in_test)
		return NULL;
	if (run->session->verdict)
		TRY(verdict_end(run));
	bool last = run->next >= run->n && !run->parting;
	if (run->defer && !run->outcome && last) {
		run->deferred = true;
		/* What the runner does from here on is not the test's. */
		chooser_pause(run->session->chooser);
		return NULL;
	}
	TRY(finish_test(run, outcome, false));
	run->early = false;
	if (run->stop_after && last)
		run->stop = true;
	return NULL;
}

/* Fail beats skip; the first of each stays. */
static struct err *run_note_outcome(struct run *run, enum outcome outcome,
				    const char *file, unsigned line,
				    const char *message)
{
	if (!run->in_test || run->outcome == OUTCOME_FAIL ||
	    run->outcome == outcome)
		return NULL;
	if (outcome == OUTCOME_FAIL)
		scheduler_note_failure(run);
	file = run_source(run, file);
	clear_notes(run);
	run->outcome = outcome;
	run->line = file ? line : 0;
	run->file = file ? strdup(file) : NULL;
	run->message = message ? strdup(message) : NULL;
	if ((file && !run->file) || (message && !run->message))
		return err_nomem();
	return NULL;
}

struct err *run_fail(struct run *run, const char *file, unsigned line,
		     const char *message)
{
	return run_note_outcome(run, OUTCOME_FAIL, file, line, message);
}

struct err *run_skip(struct run *run, const char *file, unsigned line,
		     const char *message)
{
	return run_note_outcome(run, OUTCOME_SKIP, file, line, message);
}

struct err *run_note_more(struct run *run, const char *message)
{
	size_t n = run->message ? strlen(run->message) : 0;
	if (!run->in_test || !run->outcome || n >= RUN_TEXT_MAX)
		return NULL;
	size_t more = strlen(message) + 1;
	char *longer = realloc(run->message, n + more);
	if (!longer)
		return err_nomem();
	memcpy(longer + n, message, more);
	run->message = longer;
	return NULL;
}

void run_allow_exit(struct run *run, int status)
{
	run->allowed_exit = status;
}

void run_allow_signal(struct run *run, int signal)
{
	run->allowed_signal = signal;
}

void run_limit(struct run *run, uint64_t ns)
{
	run->limit_ns = ns;
	run->deadline = tracer_clock() + run_time_limit(run);
}

struct err *run_text(struct run *run, struct raddr address, char **ret)
{
	return memory_read_text(run->tracee, address, RUN_TEXT_MAX, ret);
}

struct err *run_string(struct run *run, struct raddr address, char **ret)
{
	uint64_t words[2]; /* _M_p, _M_string_length */
	TRY(memory_read(run->tracee, address, words, sizeof(words)));
	size_t n = MIN(words[1], RUN_TEXT_MAX);
	_cleanup_(freep) char *text = calloc(1, n + 1);
	if (!text)
		return err_nomem();
	if (n)
		TRY(memory_read(run->tracee, RADDR(words[0]), text, n));
	*ret = take_ptr(text);
	return NULL;
}

struct err *run_set(struct run *run, struct raddr address, size_t max,
		    uint64_t **ret, size_t *ret_n)
{
	struct {
		uint64_t compare, color, root, leftmost, rightmost, count;
	} set;
	struct {
		uint64_t color, parent, left, right;
	} node;
	TRY(memory_read(run->tracee, address, &set, sizeof(set)));
	if (set.count > max)
		return err_create(ERR_SUITE, "not a set in the program");
	/* A queue of nodes; those looked at become elements. */
	_cleanup_(freep) uint64_t *nodes =
		malloc((set.count + 1) * sizeof(*nodes));
	if (!nodes)
		return err_nomem();
	size_t n = 0;
	if (set.count)
		nodes[n++] = set.root;
	for (size_t i = 0; i < n; i++) {
		TRY(memory_read(run->tracee, RADDR(nodes[i]), &node,
				sizeof(node)));
		nodes[i] += sizeof(node);
		if (n + !!node.left + !!node.right > set.count)
			return err_create(ERR_SUITE,
					  "not a set in the program");
		if (node.left)
			nodes[n++] = node.left;
		if (node.right)
			nodes[n++] = node.right;
	}
	*ret = take_ptr(nodes);
	*ret_n = n;
	return NULL;
}

struct err *run_u64(struct run *run, struct raddr address, uint64_t *ret)
{
	return memory_read_u64(run->tracee, address, ret);
}

struct err *run_u32(struct run *run, struct raddr address, uint32_t *ret)
{
	return memory_read_u32(run->tracee, address, ret);
}

const char *run_end_text(const struct run *run)
{
	static char text[128];
	if (run->killed_by)
		snprintf(text, sizeof(text), "killed by SIG%s (%s)",
			 sigabbrev_np(run->killed_by)
				 ? sigabbrev_np(run->killed_by)
				 : "?",
			 strsignal(run->killed_by));
	else
		snprintf(text, sizeof(text), "exit status %d",
			 run->exit_status);
	return text;
}

/*
 * The process ends or hangs before its first test began: in the set-up of that
 * test's group, say. The test answers for it, so that the others get their turn
 * in another process.
 */
static struct err *blame_first(struct run *run)
{
	if (run->in_test || !run->order || run->next || !run->n)
		return NULL;
	return run_begin(run);
}

static void note_signal(struct run *run, const struct tracee_event *event)
{
	/* Its own message, if it had one, says more than the signal. */
	if (run->outcome == OUTCOME_FAIL || run->explained ||
	    run->faulted == event->signal)
		return;
	_cleanup_(freep) char *file = NULL, *function = NULL, *text = NULL;
	unsigned line = 0;
	err_ignore(place_find(run->program, run->tracee, event->thread->tid,
			      &file, &line, &function));
	if (asprintf(&text, "SIG%s (%s)%s%s",
		     sigabbrev_np(event->signal) ? sigabbrev_np(event->signal)
						 : "?",
		     strsignal(event->signal), function ? " in " : "",
		     function ? function : "") < 0)
		text = NULL;
	clear_notes(run);
	run->message = take_ptr(text);
	run->file = take_ptr(file);
	run->line = line;
}

/* The framework will go on; whether the test broke is for it to say. */
static void on_fault(struct run *run, const struct tracee_event *event)
{
	if (!run->in_test || run->outcome)
		return;
	note_signal(run, event);
	run->faulted = event->signal;
}

/* The last moment at which the process can be examined. */
static struct err *on_dying(struct run *run, struct tracee_event *event)
{
	TRY(blame_first(run));
	if (!run->in_test)
		return NULL;
	run->excused = inlined_is_blamed(run, event->thread->tid, "crashes");
	note_signal(run, event);
	run->dying = true;
	/* Looking at it took time that is not the test's. */
	run->deadline = tracer_clock() + run->session->suite.options.timeout_ns;

	/* What it printed and did not write would be lost with it. */
	_cleanup_(freep) char *pending = NULL;
	size_t n = pending_output(run, &pending);
	output_take_over(run->session->output, pending, n);
	return NULL;
}

/* It ended its process, in another way than was allowed. */
static struct err *judge_end(struct run *run)
{
	char text[192];
	int wanted = run->allowed_signal;
	if (wanted)
		snprintf(text, sizeof(text), "%s, expected SIG%s",
			 run_end_text(run),
			 sigabbrev_np(wanted) ? sigabbrev_np(wanted) : "?");
	else
		snprintf(text, sizeof(text), "%s, expected %d",
			 run_end_text(run), run->allowed_exit);
	if (!run->outcome)
		clear_notes(run);
	TRY(run_fail(run, NULL, 0, text));
	return finish_test(run, OUTCOME_FAIL, true);
}

static bool ended_as_allowed(const struct run *run)
{
	int allowed = run->killed_by ? run->allowed_signal : run->allowed_exit;
	return allowed == RUN_ANY ||
	       allowed == (run->killed_by ? run->killed_by : run->exit_status);
}

static struct err *on_gone(struct run *run, const struct tracee_event *event)
{
	if (event->kind == TRACEE_KILLED)
		run->killed_by = event->signal;
	else
		run->exit_status = event->status;
	run_blame_held(run);
	run_report_held(run);
	bool before = !run->in_test;
	TRY(blame_first(run));
	if (!run->in_test)
		return NULL;
	if (run->deferred && verdict_excuses_end(run))
		return finish_test(run, OUTCOME_PASS, true);
	if (run->deferred && !run->killed_by) {
		char text[64];
		snprintf(text, sizeof(text), "the program ended with %s",
			 run_end_text(run));
		TRY(run_fail(run, NULL, 0, text));
		return finish_test(run, OUTCOME_NONE, true);
	}
	if (ended_as_allowed(run) && run->outcome != OUTCOME_FAIL)
		return finish_test(run, OUTCOME_PASS, true);
	if (run->framework->judges_end && !before && !run->executed &&
	    (!run->killed_by || run->allowed_signal))
		return judge_end(run);
	if (run->outcome == OUTCOME_FAIL && run->killed_by == SIGABRT &&
	    run->framework->failure_aborts)
		return finish_test(run, OUTCOME_FAIL, true);
	if (!run->dying && !run->executed && run->outcome != OUTCOME_FAIL) {
		char text[192];
		snprintf(text, sizeof(text), "the program left %s the test: %s",
			 before ? "before" : "during", run_end_text(run));
		clear_notes(run);
		run->message = strdup(text);
	}
	return finish_test(run, OUTCOME_CRASH, true);
}

struct err *run_leaves(struct run *run, int status)
{
	const struct tracee_event event = { .kind = TRACEE_EXITED,
					    .status = status };
	run->stop = true;
	return on_gone(run, &event);
}

struct err *run_not_begun(struct run *run)
{
	size_t test = run_wanted(run);
	run->unable = true;
	if (test == RUN_NONE)
		return err_create(ERR_SUITE, "%s ended without a test",
				  run->framework->name);
	return err_hint(err_create(ERR_SUITE,
				   "%s was made to run the test '%s' and "
				   "returned without it having begun",
				   run->framework->name, run_name(run, test)),
			"leave it out with --tests '!%s'", run_name(run, test));
}

static struct err *on_executed(struct run *run)
{
	if (run->in_test && !run->message)
		run->message = strdup("the test replaced its process by "
				      "another program (exec)");
	run->executed = true;
	return NULL;
}

static struct err *on_deadline(struct run *run, bool hung, enum run_state *ret)
{
	TRY(blame_first(run));
	if (!run->in_test) {
		*ret = RUN_HUNG;
		return NULL;
	}
	/* As in on_gone(). */
	if (run->deferred &&
	    (run->session->dies_without_tests ||
	     inlined_is_blamed(run, tracee_pid(run->tracee), "hangs"))) {
		*ret = RUN_STOPPED;
		return finish_test(run, OUTCOME_PASS, false);
	}
	_cleanup_(freep) char *file = NULL, *function = NULL, *text = NULL;
	unsigned line = 0;
	err_ignore(place_find(run->program, run->tracee,
			      tracee_pid(run->tracee), &file, &line,
			      &function));
	char limit[16];
	duration_format(run_time_limit(run), limit);
	if (hung)
		snprintf(limit, sizeof(limit), "all");
	if (asprintf(&text,
		     hung ? "hangs: %s of its threads wait%s%s"
			  : "still running after %s%s%s",
		     limit, function ? ", in " : "",
		     function ? function : "") < 0)
		text = NULL;
	clear_notes(run);
	run->message = take_ptr(text);
	run->file = take_ptr(file);
	run->line = line;
	TRY(finish_test(run, OUTCOME_TIMEOUT, false));
	*ret = RUN_STOPPED;
	return NULL;
}

/*
 * A hook could not do its work: the test has overwritten what belongs to the
 * framework, or the process was killed in the meantime. That is this test's
 * fault; the others continue in another process.
 */
static struct err *on_broken(struct run *run, struct err *err,
			     enum run_state *ret)
{
	if (!run->order || run->unable || err_kind(err) == ERR_INTERRUPTED)
		return err;
	_cleanup_(err_destroyp) struct err *owned _unused_ = err;
	log_debug(LOG_NATIVE, "hook: %s", err_message(err));
	TRY(blame_first(run));
	if (run->in_test) {
		_cleanup_(freep) char *text = NULL;
		if (asprintf(&text, "the process is out of control: %s",
			     err_message(err)) < 0)
			text = NULL;
		clear_notes(run);
		run->message = take_ptr(text);
		TRY(finish_test(run, OUTCOME_CRASH, false));
	}
	*ret = RUN_STOPPED;
	return NULL;
}

/*
 * The last that is known of the order has begun, and others go on from there: if
 * this hook asks which, it is called again in copies of what is there now.
 */
static void keep_checkpoint(struct run *run, struct thread *thread,
			    struct hook hook)
{
	run_destroy(take_ptr(run->checkpoint));
	const char *obstacle = checkpoint_obstacle(run->tracee);
	if (obstacle) {
		log_debug(LOG_NATIVE, "no checkpoint after a test: %s",
			  obstacle);
		return;
	}
	run->resume = hook;
	struct err *err = run_copy(run, thread, &run->checkpoint);
	run->resume = (struct hook){};
	if (err)
		log_debug(LOG_NATIVE, "no checkpoint after a test: %s",
			  err_message(err));
	err_ignore(err);
}

/* *@ret_end: the loop ends with that. */
static struct err *call_hook(struct run *run, struct thread *thread,
			     struct hook hook, bool *ret_end,
			     enum run_state *ret)
{
	run->at = thread;
	if (run_parts(run))
		keep_checkpoint(run, thread, hook);
	if (run->session->keeps_middle && run->whole)
		middle_pass(run, thread, hook);
	if (run->session->verdict && hook.call == run->framework->ends_test)
		TRY(verdict_foresee(run, thread, hook));
	struct err *err = hook.call(run, thread, hook.arg);
	*ret_end = true;
	if (run->parting && run->parting->asked) {
		err_ignore(err); /* its arguments make no sense */
		*ret = RUN_PARTED;
		return NULL;
	}
	run_destroy(take_ptr(run->checkpoint));
	if (err)
		return on_broken(run, err, ret);
	if (run->ready)
		*ret = RUN_READY;
	else if (run->stop)
		*ret = RUN_STOPPED;
	else
		*ret_end = false;
	return NULL;
}

struct err *run_loop(struct run *run, enum run_state *ret)
{
	struct session *session = run->session;
	struct hook resume = run->resume;
	run->resume = (struct hook){};
	if (!run->in_test || resume.call)
		run->deadline =
			tracer_clock() + session->suite.options.timeout_ns;
	run->ready = run->output_cut = run->captured = false;
	if (resume.call) {
		bool end;
		TRY(call_hook(run, tracee_thread(run->tracee, 0), resume, &end,
			      ret));
		if (end)
			return NULL;
	}
	for (;;) {
		struct tracee_event event;
		run->output_cut = run->captured = false;
		TRY(run_continue(run, &event));
		enum run_state state = RUN_READY;
		switch (event.kind) {
		case TRACEE_BREAKPOINT: {
			bool end = false;
			if (!run->executed)
				TRY(call_hook(
					run, event.thread,
					session->hooks.data[event.breakpoint],
					&end, ret));
			if (end)
				return NULL;
			break;
		}
		case TRACEE_WATCHPOINT:
			if (session->places)
				places_touched(session->places, run->tracee,
					       run->in_test ? run->current
							    : PLACES_NO_TEST,
					       &event);
			else
				verdict_touched(run, &event);
			break;
		case TRACEE_DYING:
			TRY(on_dying(run, &event));
			break;
		case TRACEE_FAULT:
			on_fault(run, &event);
			break;
		case TRACEE_EXITED:
		case TRACEE_KILLED:
			TRY(on_gone(run, &event));
			*ret = RUN_GONE;
			return NULL;
		case TRACEE_EXECUTED:
			TRY(on_executed(run));
			break;
		case TRACEE_DEADLINE:
			TRY(on_deadline(run, false, &state));
			*ret = state;
			return NULL;
		case TRACEE_INTERRUPTED:
			*ret = RUN_INTERRUPTED;
			return NULL;
		case TRACEE_CLONED:
		case TRACEE_CALL:
		case TRACEE_SIGNAL:
		case TRACEE_TICK: {
			bool hung;
			TRY(scheduler_take(run, &event, &hung));
			if (!hung)
				break;
			TRY(tracee_stop_all(run->tracee));
			TRY(on_deadline(run, true, &state));
			*ret = state;
			return NULL;
		}
		}
	}
}
