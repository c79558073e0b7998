#include "process/process_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/proc.h"
#include "base/str.h"
#include "process/capture.h"
#include "process/process_choices.h"
#include "process/process_saving.h"
#include "process/process_watch.h"

/* Kept for judges that search in the output; cut down for the report. */
#define SEARCH_KEEP ((size_t)2 << 20)
/* Entries that are considered after one that has to wait. */
#define LOOK_AHEAD 256
/* Longest time until an interrupt is noticed that came before poll(). */
#define WAKE_MS 100
/* Without pidfds: how often we look whether a process ended. */
#define POLL_MS 5
/* What a pipe can hold after its writers are gone, and then some. */
#define DRAIN_READS 32
#define READ_SIZE ((size_t)64 << 10)
/* A process that ends so soon after its test was not left running. */
#define GRACE_MS 5
#define GRACE_ROUNDS 20
#define LOST_NS (2 * NS_PER_S)

#define NONE ((size_t)-1)

struct running_test {
	struct process process;
	size_t entry;
	struct capture capture;
	struct tap *tap;
	struct choice_block block;
	uint64_t limit_ns; /* PROCESS_NO_LIMIT: none */
	uint64_t lost_ns;  /* in which we were stopped, and it too */
	unsigned weight;
	bool timed_out;
	bool out_open, err_open;
};

struct process_run {
	struct process_suite *suite;
	const size_t *order;
	size_t n;
	const struct suite_observer *observer;
	unsigned jobs;

	size_t *next; /* entries that have not begun: a list */
	size_t head;
	bool *ended;	     /* by entry */
	size_t *waits;	     /* entries to wait for, one after the other … */
	size_t *waits_begin; /* … by entry; one more than there are entries */
	bool *held;	     /* locks */

	struct running_test *running;
	size_t running_n;
	unsigned weight; /* of all that runs */
	bool serial;	 /* what runs wants to be alone */

	/* Ended, but something that they started goes on until the run ends. */
	VEC(struct process) left;
	struct process_watch *watch; /* NULL: not watched */
	/* NULL: files are not kept, or by @watch. */
	struct process_saving *saving;
	uint64_t last_tick;
	char *buffer;
};

/* ---- suspending ---- */

/*
 * The groups of what runs, for the handler of Ctrl-Z, which the terminal sends
 * to our group only. A slot is written before the group can be gone.
 */
static volatile pid_t suspendable[4096];

void process_note_group(pid_t old, pid_t new)
{
	for (size_t i = 0; i < ARRAY_SIZE(suspendable); i++) {
		if (suspendable[i] != old)
			continue;
		suspendable[i] = new;
		return;
	}
}

void process_run_signal(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(suspendable); i++) {
		pid_t group = suspendable[i];
		if (group > 0)
			kill(-group, number);
	}
}

/*
 * The loop turns several times a second. Where it did not for long, we were
 * stopped (Ctrl-Z, the whole machine): that is not the tests' time.
 */
static void process_run_note_lost_time(struct process_run *run)
{
	uint64_t now = clock_now();
	uint64_t gone = now - run->last_tick;
	run->last_tick = now;
	for (size_t i = 0; gone > LOST_NS && i < run->running_n; i++)
		run->running[i].lost_ns += gone;
}

static uint64_t running_time(const struct running_test *running, uint64_t now)
{
	uint64_t ns = now - running->process.began_ns;
	return ns > running->lost_ns ? ns - running->lost_ns : 0;
}

static const struct process_test *
process_run_test(const struct process_run *run, size_t entry)
{
	return &run->suite->tests.data[run->order[entry]];
}

/* ---- preparation ---- */

/*
 * For each entry the earlier entries it waits for: of every test it comes
 * after, and of itself, the last one before it.
 */
static struct err *process_run_find_waits(struct process_run *run)
{
	size_t tests = run->suite->tests.n;
	_cleanup_(freep) size_t *last = malloc((tests + 1) * sizeof(*last));
	run->waits_begin = calloc(run->n + 1, sizeof(*run->waits_begin));
	if (!last || !run->waits_begin)
		return err_nomem();
	for (size_t i = 0; i < tests; i++)
		last[i] = NONE;
	VEC(size_t) waits = VEC_INIT;
	struct err *err = NULL;
	for (size_t entry = 0; entry < run->n && !err; entry++) {
		const struct process_test *test = process_run_test(run, entry);
		size_t own = run->order[entry];
		run->waits_begin[entry] = waits.n;
		if (last[own] != NONE)
			err = vec_push(&waits, last[own]);
		for (size_t i = 0; i < test->after.n && !err; i++) {
			size_t at = last[test->after.data[i]];
			if (at != NONE)
				err = vec_push(&waits, at);
		}
		last[own] = entry;
	}
	run->waits_begin[run->n] = waits.n;
	run->waits = waits.data;
	return err;
}

/* A test without its fixture runs as asked; polygraph warns why it may fail. */
static struct err *
process_run_report_missing_fixtures(const struct process_run *run)
{
	size_t tests = run->suite->tests.n;
	_cleanup_(freep) bool *present = calloc(tests + 1, sizeof(*present));
	if (!present)
		return err_nomem();
	for (size_t i = 0; i < run->n; i++)
		present[run->order[i]] = true;
	size_t lacking = 0, example = 0, fixture = 0;
	for (size_t i = 0; i < tests; i++) {
		const struct process_test *test = &run->suite->tests.data[i];
		for (size_t j = 0; present[i] && j < test->fixtures; j++) {
			if (present[test->after.data[j]])
				continue;
			if (!lacking++) {
				example = i;
				fixture = test->after.data[j];
			}
			break;
		}
	}
	const struct suite_test *names = run->suite->suite.tests.data;
	if (lacking)
		suite_limit(run->observer,
			    "%zu test%s ran without the fixture they need (%s "
			    "without %s)",
			    lacking, lacking == 1 ? "" : "s",
			    names[example].name, names[fixture].name);
	return NULL;
}

/* Commands in which no choice is made: a pass says nothing there. */
static void process_run_report_unchosen(const struct process_run *run)
{
	size_t missed = 0, example = 0;
	if (!process_chooses(run->suite))
		return;
	for (size_t i = 0; i < run->n; i++) {
		if (!process_choices_miss(run->suite, run->order[i]))
			continue;
		example = missed++ ? example : run->order[i];
	}
	if (missed)
		suite_limit(run->observer,
			    "choices: %zu of %zu commands run a program into "
			    "which our library cannot be loaded, as it is "
			    "statically linked or 32-bit (%s): nothing is "
			    "chosen in it",
			    missed, run->n,
			    suite_test(&run->suite->suite, example)->name);
}

static struct err *process_run_prepare(struct process_run *run)
{
	run->next = calloc(run->n + 1, sizeof(*run->next));
	run->ended = calloc(run->n + 1, sizeof(*run->ended));
	run->held = calloc(run->suite->locks.map.n + 1, sizeof(*run->held));
	run->running = calloc(run->jobs, sizeof(*run->running));
	run->buffer = malloc(READ_SIZE);
	if (!run->next || !run->ended || !run->held || !run->running ||
	    !run->buffer)
		return err_nomem();
	for (size_t i = 0; i < run->n; i++)
		run->next[i] = i + 1 < run->n ? i + 1 : NONE;
	run->head = run->n ? 0 : NONE;
	TRY(process_run_find_waits(run));
	TRY(process_run_report_missing_fixtures(run));
	if (run->suite->suite.options.n_user_models)
		suite_limit(run->observer,
			    "models of functions in polygraph.toml are for "
			    "test executables; in a suite of processes they do "
			    "nothing");
	process_run_report_unchosen(run);
	return NULL;
}

static void running_free(struct running_test *running)
{
	if (running->process.pid > 0)
		process_note_group(running->process.pid, 0);
	process_reap(&running->process);
	capture_free(&running->capture);
	free(running->tap);
	choice_block_free(&running->block);
}

static void process_run_freep(struct process_run *run)
{
	for (size_t i = 0; i < run->running_n; i++)
		running_free(&run->running[i]);
	run->running_n = 0;
	for (size_t i = 0; i < run->left.n; i++)
		process_reap(&run->left.data[i]);
	vec_free(&run->left);
	/* Now that nobody is left whose calls it holds back. */
	process_watch_destroy(run->watch);
	process_saving_destroy(run->saving);
	free(run->next);
	free(run->ended);
	free(run->waits);
	free(run->waits_begin);
	free(run->held);
	free(run->running);
	free(run->buffer);
}

/* ---- results ---- */

static void process_run_report_result(struct process_run *run, size_t entry,
				      const struct suite_result *result)
{
	run->ended[entry] = true;
	if (run->observer->finished)
		run->observer->finished(run->observer->data, result);
}

static void process_run_report_start(struct process_run *run, size_t entry)
{
	run->suite->suite.executions++;
	if (run->observer->started)
		run->observer->started(run->observer->data, run->order[entry]);
}

static struct err *process_run_report_not_run(struct process_run *run,
					      size_t entry,
					      enum outcome outcome,
					      const char *why)
{
	_cleanup_(suite_result_free) struct suite_result result = {
		.test = run->order[entry],
		.entry = entry,
		.outcome = outcome,
	};
	log_debug(LOG_PROCESS, "%s is not started: %s",
		  run->suite->suite.tests.data[result.test].name, why);
	TRY(process_message(&result, "%s", why));
	process_run_report_result(run, entry, &result);
	return NULL;
}

static struct err *running_judge(struct process_run *run,
				 struct running_test *running,
				 struct suite_result *result)
{
	const struct process_test *test = process_run_test(run, running->entry);
	const struct process *process = &running->process;
	_cleanup_(str_freep) struct str name = STR_INIT;
	if (running->timed_out) {
		char limit[16];
		duration_format(running->limit_ns, limit);
		result->outcome = OUTCOME_TIMEOUT;
		return process_message(result, "did not end within %s", limit);
	}
	if (process->signal) {
		TRY(process_signal_name(process->signal, &name));
		result->outcome = OUTCOME_CRASH;
		return process_message(result, "killed by %s%s", name.s,
				       process->dumped ? ", core dumped" : "");
	}
	if (running->tap)
		tap_finish(running->tap);
	struct process_end end = {
		.status = process->status,
		.output = result->output,
		.output_n = result->output_n,
		.tap = running->tap,
	};
	return run->suite->kind->judge(run->suite, test, &end, result);
}

static struct err *running_report_result(struct process_run *run,
					 struct running_test *running)
{
	_cleanup_(suite_result_free) struct suite_result result = {
		.test = run->order[running->entry],
		.entry = running->entry,
		.ns = running_time(running, running->process.ended_ns),
	};
	TRY(capture_text(&running->capture, &result.output, &result.output_n,
			 &result.output_dropped));
	TRY(running_judge(run, running, &result));
	capture_shorten(result.output, &result.output_n, &result.output_dropped,
			CAPTURE_KEEP);
	if (result.outcome == OUTCOME_PASS &&
	    !run->suite->suite.options.keep_output) {
		free(take_ptr(result.output));
		result.output_n = 0;
		result.output_dropped = 0;
	}
	if (running->block.shared && run->suite->choosing &&
	    run->observer->chosen)
		run->observer->chosen(run->observer->data, result.entry,
				      result.test, running->block.shared);
	process_run_report_result(run, running->entry, &result);
	return NULL;
}

/* ---- starting ---- */

static bool process_run_may_start(const struct process_run *run, size_t entry)
{
	const struct process_test *test = process_run_test(run, entry);
	BUG_ON(!run->waits_begin);
	for (size_t i = run->waits_begin[entry];
	     i < run->waits_begin[entry + 1]; i++) {
		if (!run->ended[run->waits[i]])
			return false;
	}
	for (size_t i = 0; i < test->locks.n; i++) {
		if (run->held[test->locks.data[i]])
			return false;
	}
	return true;
}

static void process_run_hold_locks(struct process_run *run,
				   const struct process_test *test, bool held)
{
	for (size_t i = 0; i < test->locks.n; i++)
		run->held[test->locks.data[i]] = held;
	run->serial = held && test->serial;
}

/* Why it cannot be started at all; NULL: it can. */
static struct err *process_test_obstacle(const struct process_test *test,
					 char **ret)
{
	_cleanup_(str_freep) struct str why = STR_INIT;
	if (!test->argv.n)
		TRY(str_append(&why, test->why ? test->why : "has no command"));
	for (size_t i = 0; i < test->files.n && !why.n; i++) {
		if (access(test->files.data[i], F_OK))
			TRY(str_appendf(&why,
					"the file '%s' it requires is missing",
					test->files.data[i]));
	}
	if (!why.n)
		return NULL;
	*ret = str_take(&why);
	return *ret ? NULL : err_nomem();
}

/* @environment stays empty where it is ours. */
static struct err *process_run_make_environment(struct process_run *run,
						size_t entry,
						struct choice_block *block,
						struct strv *environment)
{
	const struct process_test *test = process_run_test(run, entry);
	bool chooses = process_chooses(run->suite);
	if (test->environment.n || chooses)
		TRY(env_build(&test->environment, environment));
	if (!chooses)
		return NULL;
	TRY(process_block_create(run->suite, run->order[entry], block));
	return process_block_environment(run->suite, block, environment);
}

static struct err *process_run_start_entry(struct process_run *run,
					   size_t entry, unsigned weight)
{
	const struct process_test *test = process_run_test(run, entry);
	_cleanup_(freep) char *why = NULL;
	process_run_report_start(run, entry);
	if (run->suite->suite.tests.data[run->order[entry]].disabled)
		return process_run_report_not_run(run, entry, OUTCOME_SKIP,
						  "disabled by the suite");
	TRY(process_test_obstacle(test, &why));
	if (why)
		return process_run_report_not_run(run, entry, OUTCOME_FAIL,
						  why);

	_cleanup_(strv_freep) struct strv environment = {};
	_cleanup_(choice_block_free) struct choice_block block =
		CHOICE_BLOCK_INIT;
	TRY(process_run_make_environment(run, entry, &block, &environment));
	struct process_spec spec = {
		.argv = test->argv.data,
		.environment = environment.data,
		.folder = test->folder,
		.split = test->tap,
		.same_addresses = process_chooses(run->suite),
	};
	struct running_test running = {
		.process = PROCESS_INIT,
		.block = CHOICE_BLOCK_INIT,
		.entry = entry,
		.weight = weight,
		.out_open = true,
		.err_open = test->tap,
	};
	_cleanup_(freep) struct tap *tap =
		test->tap ? calloc(1, sizeof(*tap)) : NULL;
	if (test->tap && !tap)
		return err_nomem();
	if (run->watch)
		TRY(process_watch_begin(run->watch, entry, run->order[entry],
					&spec.follow));
	if (run->saving)
		TRY(process_saving_begin(run->saving, &spec.follow));
	TRY(process_start(&spec, &running.process, &why));
	if (run->watch)
		process_watch_started(run->watch,
				      take_ptr(running.process.unfollowed));
	if (run->saving)
		process_saving_started(run->saving,
				       take_ptr(running.process.unfollowed));
	if (why)
		return process_run_report_not_run(run, entry, OUTCOME_FAIL,
						  why);
	log_debug(LOG_PROCESS, "%s runs as process %d",
		  run->suite->suite.tests.data[run->order[entry]].name,
		  (int)running.process.pid);
	process_note_group(0, running.process.pid);
	const struct suite_options *options = &run->suite->suite.options;
	running.limit_ns = test->timeout_ns && !options->timeout_given
				   ? test->timeout_ns
				   : options->timeout_ns;
	if (!running.limit_ns)
		running.limit_ns = PROCESS_NO_LIMIT;
	capture_init(&running.capture,
		     test->search ? SEARCH_KEEP : CAPTURE_KEEP);
	running.tap = take_ptr(tap);
	running.block = block;
	block = (struct choice_block)CHOICE_BLOCK_INIT;
	run->running[run->running_n++] = running;
	run->weight += weight;
	process_run_hold_locks(run, test, true);
	return NULL;
}

/*
 * Starts what may start. A serial test that has to wait holds back all after
 * it, so that it gets its turn; other waiting ones are overtaken.
 */
static struct err *process_run_start_entries(struct process_run *run)
{
	size_t before = NONE;
	size_t looked = 0;
	for (size_t entry = run->head; entry != NONE && !interrupted;) {
		const struct process_test *test = process_run_test(run, entry);
		unsigned weight = MIN(MAX(test->weight, 1u), run->jobs);
		if (run->serial || run->running_n == run->jobs ||
		    (test->serial && run->running_n))
			return NULL;
		bool fits = run->weight + weight <= run->jobs;
		size_t next = run->next[entry];
		if (!fits || !process_run_may_start(run, entry)) {
			/* Heavy ones hold back too, or they would starve. */
			if (!fits || ++looked > LOOK_AHEAD)
				return NULL;
			before = entry;
			entry = next;
			continue;
		}
		if (before == NONE)
			run->head = next;
		else
			run->next[before] = next;
		TRY(process_run_start_entry(run, entry, weight));
		entry = next;
	}
	return NULL;
}

/* ---- the loop ---- */

void process_run_pass_output(const char *data, size_t n, int fd)
{
	while (n) {
		ssize_t done = write(fd, data, n);
		if (done < 0 && errno == EINTR && !interrupted)
			continue;
		if (done <= 0)
			return;
		data += done;
		n -= (size_t)done;
	}
}

/* One read, so that no test keeps the others waiting. */
static struct err *running_read_output(struct process_run *run,
				       struct running_test *running, bool error,
				       bool *open)
{
	int fd = error ? running->process.err : running->process.out;
	ssize_t got = read(fd, run->buffer, READ_SIZE);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (got <= 0) {
		*open = false;
		return NULL;
	}
	size_t n = (size_t)got;
	if (running->tap && !error)
		tap_feed(running->tap, run->buffer, n);
	if (run->suite->suite.options.pass_through)
		process_run_pass_output(run->buffer, n,
					error ? STDERR_FILENO : STDOUT_FILENO);
	return capture_add(&running->capture, run->buffer, n);
}

static bool descriptor_has_input(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	return fd >= 0 && poll(&poll_fd, 1, 0) > 0;
}

/* What was printed before it ended and still is in the pipes. */
static struct err *running_drain_output(struct process_run *run,
					struct running_test *running)
{
	for (int i = 0; i < DRAIN_READS && running->out_open &&
			descriptor_has_input(running->process.out);
	     i++)
		TRY(running_read_output(run, running, false,
					&running->out_open));
	for (int i = 0; i < DRAIN_READS && running->err_open &&
			descriptor_has_input(running->process.err);
	     i++)
		TRY(running_read_output(run, running, true,
					&running->err_open));
	return NULL;
}

/* ---- what it leaves ---- */

/* Of @running and of those before it. */
static struct err *process_run_list_left(const struct process_run *run,
					 const struct running_test *running,
					 struct pids *ret)
{
	for (size_t i = 0; i < run->left.n; i++)
		TRY(process_left(&run->left.data[i], ret));
	return process_left(&running->process, ret);
}

/* It ended, and something that it started did not: that stays for the others. */
static struct err *running_leave(struct process_run *run,
				 struct running_test *running)
{
	closep(&running->process.out);
	closep(&running->process.err);
	running->process.out = running->process.err = -1;
	TRY(vec_push(&run->left, running->process));
	running->process = (struct process)PROCESS_INIT;
	return NULL;
}

/* Its process ended, what it left was not killed yet. */
static struct err *running_capture_state(struct process_run *run,
					 const struct running_test *running)
{
	_cleanup_(pids_freep) struct pids pids = {};
	bool provides = process_run_test(run, running->entry)->provides;
	for (int round = 0;; round++) {
		pids.n = 0;
		TRY(process_run_list_left(run, running, &pids));
		if (provides || round == GRACE_ROUNDS || interrupted ||
		    !process_watch_left(run->watch, &pids))
			break;
		poll(NULL, 0, GRACE_MS);
	}
	return process_watch_end(run->watch, running->process.pid, &pids);
}

/* Its result was reported, and what is to be killed of it is dead. */
static struct err *running_settle_state(struct process_run *run,
					const struct running_test *running)
{
	_cleanup_(pids_freep) struct pids pids = {};
	process_watch_tell(run->watch);
	TRY(process_run_list_left(run, running, &pids));
	return process_watch_settle(run->watch, &pids);
}

/* Takes the place of @running in the table with the last one. */
static struct err *process_run_end_entry(struct process_run *run, size_t at)
{
	struct running_test running = run->running[at];
	const struct process_test *test = process_run_test(run, running.entry);
	bool provides = test->provides && !running.timed_out;
	struct err *err =
		run->watch ? running_capture_state(run, &running) : NULL;
	process_note_group(running.process.pid, 0);
	/* First its group, so that nobody is left who could print more. */
	bool left = true;
	if (provides)
		process_leave(&running.process);
	else
		process_end_group(&running.process, &left);
	if (!err)
		err = running_drain_output(run, &running);
	if (!err)
		err = running_report_result(run, &running);
	if (!err && run->watch)
		err = running_settle_state(run, &running);
	process_run_hold_locks(run, test, false);
	run->weight -= running.weight;
	run->running[at] = run->running[--run->running_n];
	if (!err && left)
		err = running_leave(run, &running);
	running_free(&running);
	if (run->saving)
		process_saving_settle(run->saving);
	return err;
}

static int process_run_wait_ms(const struct process_run *run)
{
	uint64_t now = clock_now();
	uint64_t wait = WAKE_MS;
	for (size_t i = 0; i < run->running_n; i++) {
		const struct running_test *running = &run->running[i];
		if (running->process.pidfd < 0)
			wait = MIN(wait, (uint64_t)POLL_MS);
		if (running->timed_out || running->limit_ns == PROCESS_NO_LIMIT)
			continue;
		uint64_t time = running_time(running, now);
		uint64_t left =
			running->limit_ns > time ? running->limit_ns - time : 0;
		wait = MIN(wait, left / NS_PER_MS + (left % NS_PER_MS != 0));
	}
	return (int)wait;
}

static void process_run_kill_late(struct process_run *run)
{
	uint64_t now = clock_now();
	for (size_t i = 0; i < run->running_n; i++) {
		struct running_test *running = &run->running[i];
		if (running->timed_out ||
		    running_time(running, now) < running->limit_ns)
			continue;
		/* It may have ended while we looked elsewhere. */
		if (process_ended(&running->process))
			continue;
		running->timed_out = true;
		log_debug(LOG_PROCESS, "killed: process %d, out of time",
			  (int)running->process.pid);
		process_kill(&running->process);
	}
}

static struct err *process_run_wait(struct process_run *run, struct pollfd *fds)
{
	for (size_t i = 0; i < run->running_n; i++) {
		const struct running_test *running = &run->running[i];
		fds[3 * i] = (struct pollfd){
			.fd = running->out_open ? running->process.out : -1,
			.events = POLLIN,
		};
		fds[3 * i + 1] = (struct pollfd){
			.fd = running->err_open ? running->process.err : -1,
			.events = POLLIN,
		};
		fds[3 * i + 2] = (struct pollfd){
			.fd = running->process.pidfd,
			.events = POLLIN,
		};
	}
	if (poll(fds, 3 * run->running_n, process_run_wait_ms(run)) < 0) {
		if (errno == EINTR)
			return NULL;
		return err_errno(errno, "cannot wait for the tests");
	}
	process_run_note_lost_time(run);
	for (size_t i = 0; i < run->running_n; i++) {
		struct running_test *running = &run->running[i];
		if (fds[3 * i].revents)
			TRY(running_read_output(run, running, false,
						&running->out_open));
		if (fds[3 * i + 1].revents)
			TRY(running_read_output(run, running, true,
						&running->err_open));
	}
	process_run_kill_late(run);
	/* Backwards: ending one moves the last to its place. */
	for (size_t i = run->running_n; i-- > 0;) {
		struct process *process = &run->running[i].process;
		if ((process->pidfd < 0 || fds[3 * i + 2].revents ||
		     process->ended) &&
		    process_ended(process))
			TRY(process_run_end_entry(run, i));
	}
	return NULL;
}

/* One at a time, so that what is seen between two is of the first. */
static struct err *
process_run_begin_watching(struct process_run *run,
			   const struct process_watching *watching)
{
	if (run->jobs > 1 && !run->suite->said_jobs)
		log_debug(LOG_PROCESS,
			  "one test at a time while their state is watched");
	run->suite->said_jobs |= run->jobs > 1;
	run->jobs = 1;
	return process_watch_create(run->suite, watching, run->observer,
				    &run->watch);
}

struct err *process_run(struct process_suite *suite, const size_t *order,
			size_t n, unsigned flags,
			const struct suite_observer *observer,
			const struct process_watching *watching)
{
	_cleanup_(process_run_freep) struct process_run run = {
		.suite = suite,
		.order = order,
		.n = n,
		.observer = observer,
		.jobs = flags & SUITE_SERIAL
				? 1
				: MAX(suite->suite.options.jobs, 1u),
	};
	for (size_t i = 0; i < n; i++)
		BUG_ON(order[i] >= suite->tests.n);
	if (watching)
		TRY(process_run_begin_watching(&run, watching));
	if (watching && !run.watch)
		return NULL;
	if (suite->saver && !run.watch)
		TRY(process_saving_create(suite->saver, &run.saving));
	TRY(process_run_prepare(&run));
	_cleanup_(freep) struct pollfd *fds =
		calloc(3 * (size_t)run.jobs, sizeof(*fds));
	if (!fds)
		return err_nomem();
	for (;;) {
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		run.last_tick = run.running_n ? run.last_tick : clock_now();
		TRY(process_run_start_entries(&run));
		if (!run.running_n && run.head == NONE)
			return run.watch ? process_watch_finish(run.watch)
					 : NULL;
		if (run.running_n)
			TRY(process_run_wait(&run, fds));
	}
}
