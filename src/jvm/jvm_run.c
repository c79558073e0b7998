#include "jvm/jvm_run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/macro.h"
#include "jvm/jvm_choices.h"
#include "jvm/jvm_pool.h"
#include "jvm/jvm_tree.h"
#include "process/capture.h"
#include "process/process_run.h"
#include "process/process_saving.h"
#include "process/process_suite.h"

/* Longest time until an interrupt is noticed that came before poll(). */
#define WAKE_MS 100
#define READ_SIZE ((size_t)64 << 10)
/* What a pipe can hold, and then some. */
#define DRAIN_READS 32
/* Until a VM is ready to begin. */
#define READY_NS (120 * NS_PER_S)
/* For what its tests want done at the end (Runtime.addShutdownHook()). */
#define LEAVE_NS (5 * NS_PER_S)
#define LOST_NS (2 * NS_PER_S)
/* Bytes of messages about one test: what it changed is kept. */
#define SAID_MAX ((uint64_t)256 << 20)
/* Messages that are read before the time is looked at again. */
#define SAID_AT_ONCE 256

/* One VM at work. */
struct jvm_worker {
	struct jvm_vm *vm;
	const struct jvm_chain *chain;
	size_t next;  /* in the chain: the first that has not ended */
	bool asked;   /* the VM was given the rest of the chain */
	bool started; /* test @next runs */
	bool timed_out;
	bool leaving;	/* it was asked to end */
	uint64_t since; /* of the test, or of what is waited for */
	uint64_t lost_ns;
	uint64_t said; /* bytes of messages since the last test ended */
	struct capture capture; /* of test @next */
};

struct jvm_runner {
	struct jvm_suite *suite;
	const struct jvm_chain *chains;
	size_t n, next;
	const struct suite_observer *observer;
	struct jvm_worker *workers;
	size_t workers_n, jobs;
	size_t began; /* VMs */
	char *buffer;
	uint64_t last_tick;
};

static void jvm_runner_free(struct jvm_runner *runner)
{
	for (size_t i = 0; i < runner->workers_n; i++) {
		struct jvm_worker *worker = &runner->workers[i];
		if (worker->vm)
			process_note_group(worker->vm->process.pid, 0);
		jvm_vm_destroy(worker->vm);
		capture_free(&worker->capture);
	}
	free(runner->workers);
	free(runner->buffer);
}

static size_t worker_test(const struct jvm_worker *worker)
{
	return worker->chain->tests[worker->next];
}

static size_t worker_entry(const struct jvm_worker *worker)
{
	return worker->chain->entries[worker->next];
}

/* ---- results ---- */

/* By another order that begins alike. */
static bool worker_was_told(const struct jvm_worker *worker)
{
	return worker->chain->told && worker->chain->told[worker_entry(worker)];
}

static void worker_tell(struct jvm_runner *runner,
			const struct jvm_worker *worker,
			const struct suite_result *result)
{
	if (worker_was_told(worker))
		return;
	if (worker->chain->told)
		worker->chain->told[worker_entry(worker)] = true;
	if (runner->observer->finished)
		runner->observer->finished(runner->observer->data, result);
}

static void jvm_tell_started(struct jvm_runner *runner,
			     struct jvm_worker *worker)
{
	worker->started = true;
	worker->since = clock_now();
	worker->lost_ns = 0;
	runner->suite->suite.executions++;
	if (runner->observer->started && !worker_was_told(worker))
		runner->observer->started(runner->observer->data,
					  worker_test(worker));
}

static struct err *jvm_tell_finished(struct jvm_runner *runner,
				     struct jvm_worker *worker,
				     struct suite_result *result)
{
	result->test = worker_test(worker);
	result->entry = worker_entry(worker);
	result->threads = worker->vm->threads;
	result->threads_began = worker->vm->threads_began;
	worker->vm->threads = worker->vm->threads_began = false;
	TRY(capture_text(&worker->capture, &result->output, &result->output_n,
			 &result->output_dropped));
	if (result->outcome == OUTCOME_PASS &&
	    !runner->suite->suite.options.keep_output) {
		free(take_ptr(result->output));
		result->output_n = 0;
		result->output_dropped = 0;
	}
	jvm_choices_end(runner->suite, worker->vm, result->entry, result->test,
			runner->observer);
	worker_tell(runner, worker, result);
	capture_free(&worker->capture);
	capture_init(&worker->capture, CAPTURE_KEEP);
	worker->next++;
	worker->said = 0;
	worker->started = false;
	worker->since = clock_now();
	worker->lost_ns = 0;
	return NULL;
}

/* Those that follow a test which ended its VM. */
static void jvm_tell_not_run(struct jvm_runner *runner,
			     struct jvm_worker *worker)
{
	for (; worker->next < worker->chain->n; worker->next++) {
		const struct suite_result result = {
			.test = worker_test(worker),
			.entry = worker_entry(worker),
			.outcome = OUTCOME_NONE,
		};
		worker_tell(runner, worker, &result);
	}
}

/* ---- what it prints ---- */

/* *@ret: there was something. */
static struct err *jvm_read_output(struct jvm_runner *runner,
				   struct jvm_worker *worker, bool *ret)
{
	struct jvm_vm *vm = worker->vm;
	*ret = false;
	if (!vm->out_open)
		return NULL;
	ssize_t got = read(vm->process.out, runner->buffer, READ_SIZE);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (got <= 0) {
		vm->out_open = false;
		return NULL;
	}
	*ret = true;
	/* What the VM says before it begins and after its tests is nobody's. */
	if (!worker->asked || worker->next == worker->chain->n)
		return NULL;
	if (runner->suite->suite.options.pass_through)
		process_run_pass_output(runner->buffer, (size_t)got,
					STDOUT_FILENO);
	return capture_add(&worker->capture, runner->buffer, (size_t)got);
}

static struct err *jvm_drain_output(struct jvm_runner *runner,
				    struct jvm_worker *worker)
{
	bool more = true;
	for (int i = 0; i < DRAIN_READS && more; i++)
		TRY(jvm_read_output(runner, worker, &more));
	return NULL;
}

/* ---- what it says ---- */

static struct err *jvm_worker_ask(struct jvm_runner *runner,
				  struct jvm_worker *worker)
{
	_cleanup_(str_freep) struct str message = STR_INIT;
	const struct jvm_chain *chain = worker->chain;
	for (const struct jvm_part *const *part = jvm_parts; *part; part++) {
		if ((*part)->begin)
			TRY((*part)->begin(runner->suite, worker->vm));
	}
	TRY(jvm_suite_add_folders(runner->suite, &message));
	TRY(message_add_number(&message, (uint32_t)(chain->n - worker->next)));
	for (size_t i = worker->next; i < chain->n; i++) {
		TRY(message_add_number(&message, (uint32_t)i));
		TRY(message_add_text(&message,
				     runner->suite->ids.data[chain->tests[i]]));
	}
	worker->asked = true;
	worker->since = clock_now();
	jvm_choices_begin(runner->suite, worker->vm, worker_test(worker));
	return jvm_vm_send(worker->vm, WIRE_VM_RUN, &message);
}

static struct err *jvm_worker_lies(void)
{
	return err_create(ERR_SUITE,
			  "the Java VM reports tests that were not asked for");
}

static struct err *jvm_worker_end_test(struct jvm_runner *runner,
				       struct jvm_worker *worker,
				       struct message_reader *reader)
{
	static const enum outcome outcomes[] = {
		[WIRE_VM_PASSED] = OUTCOME_PASS,
		[WIRE_VM_FAILED] = OUTCOME_FAIL,
		[WIRE_VM_SKIPPED] = OUTCOME_SKIP,
	};
	_cleanup_(suite_result_free) struct suite_result result = {};
	uint32_t place = message_number(reader);
	uint32_t outcome = message_number(reader);
	result.ns = message_number(reader) * NS_PER_US;
	result.line = message_number(reader);
	TRY(message_text(reader, &result.message));
	TRY(message_text(reader, &result.file));
	if (reader->broken || !worker->started || place != worker->next ||
	    outcome >= ARRAY_SIZE(outcomes))
		return jvm_worker_lies();
	result.outcome = outcomes[outcome];
	size_t entry = worker_entry(worker), test = worker_test(worker);
	TRY(jvm_drain_output(runner, worker));
	TRY(jvm_tell_finished(runner, worker, &result));
	for (const struct jvm_part *const *part = jvm_parts; *part; part++) {
		if ((*part)->ended)
			TRY((*part)->ended(runner->suite, worker->vm, entry,
					   test, runner->observer));
	}
	if (worker->next < worker->chain->n)
		jvm_choices_begin(runner->suite, worker->vm,
				  worker_test(worker));
	return jvm_vm_send(worker->vm, WIRE_VM_GO, NULL);
}

static struct err *jvm_worker_hand_to_part(struct jvm_runner *runner,
					   struct jvm_worker *worker,
					   uint16_t kind,
					   struct message_reader *reader)
{
	size_t at = MIN(worker->next, worker->chain->n - 1);
	for (const struct jvm_part *const *part = jvm_parts; *part; part++) {
		if ((*part)->message && kind >= (*part)->first &&
		    kind < (*part)->end)
			TRY((*part)->message(runner->suite, worker->vm, kind,
					     reader, worker->chain->entries[at],
					     worker->chain->tests[at],
					     runner->observer));
	}
	return NULL;
}

static struct err *jvm_worker_take(struct jvm_runner *runner,
				   struct jvm_worker *worker, uint16_t kind,
				   struct message_reader *reader)
{
	_cleanup_(freep) char *text = NULL;
	/* Parts know a VM from when it is asked on. */
	if (!worker->asked && kind != WIRE_VM_HELLO && kind != WIRE_VM_SAYS)
		return jvm_worker_lies();
	switch (kind) {
	case WIRE_VM_HELLO:
		if (worker->asked)
			return jvm_worker_lies();
		TRY(jvm_vm_hello(worker->vm, reader));
		return jvm_worker_ask(runner, worker);
	case WIRE_VM_STARTED:
		if (message_number(reader) != worker->next || worker->started ||
		    worker->next >= worker->chain->n)
			return jvm_worker_lies();
		jvm_tell_started(runner, worker);
		return NULL;
	case WIRE_VM_ENDED:
		return jvm_worker_end_test(runner, worker, reader);
	case WIRE_VM_SAYS:
		TRY(message_text(reader, &text));
		suite_limit(runner->observer, "%s", text ? text : "");
		return NULL;
	default:
		return kind >= WIRE_VM_HEAP
			       ? jvm_worker_hand_to_part(runner, worker, kind,
							 reader)
			       : NULL;
	}
}

/* ---- the end of a VM ---- */

static struct err *jvm_describe_end(const struct jvm_worker *worker,
				    uint64_t limit_ns,
				    struct suite_result *result)
{
	const struct process *process = &worker->vm->process;
	_cleanup_(str_freep) struct str name = STR_INIT;
	result->outcome = worker->timed_out || worker->vm->hangs
				  ? OUTCOME_TIMEOUT
				  : OUTCOME_CRASH;
	if (worker->vm->hangs)
		return process_message(result,
				       "hangs: all of its threads wait");
	if (worker->timed_out) {
		char limit[16];
		duration_format(limit_ns, limit);
		return process_message(result, "did not end within %s", limit);
	}
	if (!process->signal)
		return process_message(result,
				       "ended the Java VM: exit status %d",
				       process->status);
	TRY(process_signal_name(process->signal, &name));
	return process_message(result, "the Java VM was killed by %s", name.s);
}

static void jvm_worker_drop_vm(struct jvm_suite *suite,
			       struct jvm_worker *worker)
{
	process_note_group(worker->vm->process.pid, 0);
	jvm_vm_destroy(take_ptr(worker->vm));
	if (suite->saving)
		process_saving_settle(suite->saving);
	worker->asked = worker->timed_out = worker->leaving = false;
}

static struct err *jvm_worker_start_vm(struct jvm_runner *runner,
				       struct jvm_worker *worker)
{
	struct jvm_suite *suite = runner->suite;
	/* Those that ran before, one at a time, may have changed files. */
	if (runner->jobs == 1 && runner->began++)
		TRY(jvm_put_back(&suite->suite));
	TRY(jvm_pool_take(suite, &worker->vm));
	process_note_group(0, worker->vm->process.pid);
	worker->said = 0;
	worker->since = clock_now();
	worker->lost_ns = 0;
	/* As soon as this one is busy; and there will be another run. */
	return jvm_pool_fill(suite,
			     runner->next < runner->n || suite->runs > 1);
}

static struct err *jvm_worker_tell_gone(struct jvm_runner *runner,
					struct jvm_worker *worker, size_t entry,
					size_t test)
{
	for (const struct jvm_part *const *part = jvm_parts; *part; part++) {
		if ((*part)->gone)
			TRY((*part)->gone(runner->suite, worker->vm, entry,
					  test, runner->observer));
	}
	return NULL;
}

static struct err *jvm_worker_end_vm(struct jvm_runner *runner,
				     struct jvm_worker *worker)
{
	if (!worker->asked)
		return err_create(ERR_SUITE,
				  "a Java VM ended before it was asked to run "
				  "anything");
	TRY(jvm_drain_output(runner, worker));
	if (worker->next < worker->chain->n) {
		_cleanup_(suite_result_free) struct suite_result result = {};
		if (!worker->started)
			jvm_tell_started(runner, worker);
		TRY(jvm_describe_end(worker,
				     runner->suite->suite.options.timeout_ns,
				     &result));
		result.ns = clock_now() - worker->since;
		size_t entry = worker_entry(worker);
		size_t test = worker_test(worker);
		TRY(jvm_tell_finished(runner, worker, &result));
		TRY(jvm_worker_tell_gone(runner, worker, entry, test));
	}
	jvm_worker_drop_vm(runner->suite, worker);
	if (worker->chain->ends_with_vm)
		jvm_tell_not_run(runner, worker);
	return NULL;
}

/* ---- the loop ---- */

/* Has its limit of time passed? Class fixtures count for the next test. */
static bool jvm_worker_is_late(const struct jvm_runner *runner,
			       const struct jvm_worker *worker)
{
	uint64_t limit = worker->leaving ? LEAVE_NS
			 : worker->asked
				 ? runner->suite->suite.options.timeout_ns
				 : READY_NS;
	uint64_t gone = clock_now() - worker->since;
	return limit && gone > worker->lost_ns &&
	       gone - worker->lost_ns > limit;
}

/* Its chain is done: it ends by itself, so that its hooks run. */
static struct err *jvm_worker_leave(struct jvm_runner *runner,
				    struct jvm_worker *worker, bool ended)
{
	if (ended || (worker->leaving && jvm_worker_is_late(runner, worker))) {
		if (!ended)
			log_debug(LOG_JVM, "VM %d does not end: killed",
				  (int)worker->vm->process.pid);
		jvm_worker_drop_vm(runner->suite, worker);
		return NULL;
	}
	if (worker->leaving)
		return NULL;
	worker->leaving = true;
	worker->since = clock_now();
	worker->lost_ns = 0;
	return jvm_vm_send(worker->vm, WIRE_VM_END, NULL);
}

/*
 * What it said. Some messages take us long: a VM that does not stop sending them is
 * as late as another. What it says after its time was over comes too late.
 */
static struct err *jvm_worker_hear(struct jvm_runner *runner,
				   struct jvm_worker *worker)
{
	TRY(jvm_vm_fill(worker->vm));
	for (size_t i = 0; !worker->timed_out && !interrupted; i++) {
		struct wire_vm_head head;
		struct message_reader reader;
		bool any;
		if (i >= SAID_AT_ONCE && jvm_worker_is_late(runner, worker))
			return NULL;
		TRY(jvm_vm_next(worker->vm, &head, &reader, &any));
		if (!any)
			return NULL;
		worker->said += head.size;
		if (worker->said > SAID_MAX)
			return err_create(ERR_SUITE,
					  "the Java VM sent more than %u MiB "
					  "about one test",
					  (unsigned)(SAID_MAX >> 20));
		TRY(jvm_worker_take(runner, worker, head.kind, &reader));
	}
	return NULL;
}

static struct err *jvm_worker_turn(struct jvm_runner *runner,
				   struct jvm_worker *worker)
{
	/* Before its messages are read: what it said last comes first. */
	bool ended = process_ended(&worker->vm->process);
	TRY(jvm_worker_hear(runner, worker));
	if (interrupted)
		return NULL; /* what was not heard is not known */
	if (worker->next == worker->chain->n)
		return jvm_worker_leave(runner, worker, ended);
	if (ended)
		return jvm_worker_end_vm(runner, worker);
	if (!worker->timed_out && jvm_worker_is_late(runner, worker)) {
		if (!worker->asked)
			return err_create(ERR_SUITE,
					  "a Java VM was not ready within two "
					  "minutes");
		worker->timed_out = true;
		process_kill(&worker->vm->process);
	}
	return NULL;
}

static struct err *jvm_runner_wait(struct jvm_runner *runner,
				   struct pollfd *fds)
{
	for (size_t i = 0; i < runner->workers_n; i++) {
		const struct jvm_vm *vm = runner->workers[i].vm;
		fds[3 * i] =
			(struct pollfd){ .fd = vm->channel, .events = POLLIN };
		fds[3 * i + 1] = (struct pollfd){
			.fd = vm->out_open ? vm->process.out : -1,
			.events = POLLIN,
		};
		fds[3 * i + 2] = (struct pollfd){ .fd = vm->process.pidfd,
						  .events = POLLIN };
	}
	if (poll(fds, 3 * runner->workers_n, WAKE_MS) < 0 && errno != EINTR)
		return err_errno(errno, "cannot wait for the tests");
	uint64_t now = clock_now();
	uint64_t gone = now - runner->last_tick;
	runner->last_tick = now;
	for (size_t i = 0; i < runner->workers_n; i++) {
		bool any;
		/* Where we did not turn for long, we were stopped. */
		if (gone > LOST_NS)
			runner->workers[i].lost_ns += gone;
		if (fds[3 * i + 1].revents)
			TRY(jvm_read_output(runner, &runner->workers[i], &any));
	}
	return NULL;
}

/* A VM for each that has none: a new chain, or the rest of one. */
static struct err *jvm_runner_start(struct jvm_runner *runner)
{
	for (size_t i = 0; i < runner->workers_n; i++) {
		struct jvm_worker *worker = &runner->workers[i];
		if (worker->vm)
			continue;
		while (worker->next == worker->chain->n &&
		       runner->next < runner->n) {
			worker->chain = &runner->chains[runner->next++];
			worker->next = 0;
		}
		if (worker->next < worker->chain->n) {
			TRY(jvm_worker_start_vm(runner, worker));
			continue;
		}
		capture_free(&worker->capture);
		runner->workers[i--] = runner->workers[--runner->workers_n];
	}
	while (runner->workers_n < runner->jobs && runner->next < runner->n) {
		struct jvm_worker *worker = &runner->workers[runner->workers_n];
		*worker = (struct jvm_worker){
			.chain = &runner->chains[runner->next++],
		};
		if (!worker->chain->n)
			continue;
		capture_init(&worker->capture, CAPTURE_KEEP);
		runner->workers_n++;
		TRY(jvm_worker_start_vm(runner, worker));
	}
	return NULL;
}

struct err *jvm_run_chains(struct jvm_suite *suite,
			   const struct jvm_chain *chains, size_t n,
			   unsigned jobs, const struct suite_observer *observer)
{
	_cleanup_(jvm_runner_free) struct jvm_runner runner = {
		.suite = suite,
		.chains = chains,
		.n = n,
		.observer = observer,
		.jobs = MAX(jobs, 1U),
		.workers = calloc(MAX(jobs, 1U), sizeof(*runner.workers)),
		.buffer = malloc(READ_SIZE),
	};
	_cleanup_(freep) struct pollfd *fds =
		calloc(3 * runner.jobs, sizeof(*fds));
	if (!runner.workers || !runner.buffer || !fds)
		return err_nomem();
	suite->runs++;
	for (;;) {
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		TRY(jvm_runner_start(&runner));
		if (!runner.workers_n)
			return NULL;
		runner.last_tick =
			runner.last_tick ? runner.last_tick : clock_now();
		TRY(jvm_runner_wait(&runner, fds));
		for (size_t i = 0; i < runner.workers_n; i++)
			TRY(jvm_worker_turn(&runner, &runner.workers[i]));
	}
}
