#include "jvm/jvm_schedules.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "jvm/jvm_tree.h"
#include "wire/vm_schedule.h"

#define MOMENTS_MAX ((size_t)8192)
#define FRAMES_MAX 64
/* What a fresh VM may take besides what the schedule allows. */
#define FRESH_NS (5 * NS_PER_S)
/* Of Java: native methods of other versions have other names. */
#define SCHEDULED_VERSION "17"

/* ---- to the VM ---- */

static struct err *jvm_schedules_prepare(struct jvm_suite *suite,
					 struct str *options,
					 struct strv *words)
{
	if (!suite->schedules.schedule)
		return NULL;
	TRY(str_append(options, ",schedules=1"));
	/* These are to be calls of the native methods that were replaced. */
	TRY(strv_add(words, "-XX:+UnlockDiagnosticVMOptions"));
	TRY(strv_add(words, "-XX:DisableIntrinsic=_nanoTime,"
			    "_currentTimeMillis,_notify,_notifyAll"));
	/* The VM warns of native methods in java.base that are not its own. */
	return strv_add(words, "-Xlog:jni+resolve=error");
}

static struct err *message_add_time(struct str *message, uint64_t ns)
{
	TRY(message_add_number(message, (uint32_t)ns));
	return message_add_number(message, (uint32_t)(ns >> 32));
}

/* "JUnit4\torg.example.FooTest\t…": "Lorg/example/FooTest;". */
static struct err *jvm_test_signature(const char *id, char **ret)
{
	const char *tab = strchr(id, '\t');
	const char *name = tab ? tab + 1 : id;
	TRY(str_format(ret, "L%.*s;", (int)strcspn(name, "\t"), name));
	for (char *c = *ret; *c; c++)
		*c = *c == '.' ? '/' : *c;
	return NULL;
}

static struct err *jvm_schedules_begin(struct jvm_suite *suite,
				       struct jvm_vm *vm)
{
	const struct suite_schedule *schedule = suite->schedules.schedule;
	_cleanup_(str_freep) struct str message = STR_INIT;
	_cleanup_(freep) char *signature = NULL;
	if (!schedule)
		return NULL;
	size_t n = strlen(SCHEDULED_VERSION);
	if (!vm->version || strncmp(vm->version, SCHEDULED_VERSION, n) != 0 ||
	    (vm->version[n] && vm->version[n] != '.'))
		return err_hint(
			err_create(ERR_USAGE,
				   "threads of Java %s are not scheduled",
				   vm->version ? vm->version : "?"),
			"schedules need Java " SCHEDULED_VERSION
			"; give its folder with --java");
	size_t test = suite->schedules.test;
	TRY(jvm_test_signature(suite->ids.data[test], &signature));
	TRY(message_add_text(&message, signature));
	TRY(message_add_number(&message, suite->suite.tests.data[test].line));
	TRY(message_add_number(
		&message, (schedule->inside ? WIRE_SCHEDULE_INSIDE : 0) |
				  (schedule->early ? WIRE_SCHEDULE_EARLY : 0)));
	TRY(message_add_number(&message, schedule->nth));
	TRY(message_add_number(&message, schedule->until_nth));
	TRY(message_add_number(&message, schedule->before_nth));
	TRY(message_add_time(&message, schedule->patience_ns));
	TRY(message_add_time(&message, schedule->seed));
	TRY(message_add_time(&message, schedule->delay_ns));
	TRY(message_add_text(&message, schedule->event));
	TRY(message_add_text(&message, schedule->until));
	TRY(message_add_text(&message, schedule->before));
	return jvm_vm_send(vm, (enum wire_vm_kind)WIRE_SCHEDULE_BEGIN,
			   &message);
}

/* ---- from the VM ---- */

static uint64_t message_time(struct message_reader *reader)
{
	uint64_t low = message_number(reader);
	return low | (uint64_t)message_number(reader) << 32;
}

static const char *schedule_operation(uint32_t operation)
{
	static const char *const names[] = {
#define X(name, text) text,
		WIRE_SCHEDULE_OPERATIONS(X)
#undef X
	};
	return operation && operation < ARRAY_SIZE(names) ? names[operation]
							  : NULL;
}

static struct err *jvm_read_frames(struct message_reader *reader,
				   struct suite_moment *moment)
{
	uint32_t n = message_number(reader);
	if (n > FRAMES_MAX)
		reader->broken = true;
	for (uint32_t i = 0; i < n && !reader->broken; i++) {
		struct call_frame frame = {};
		struct err *err = message_text(reader, &frame.function);
		if (!err)
			err = message_text(reader, &frame.file);
		frame.line = message_number(reader);
		if (!err)
			err = vec_push(&moment->stack, frame);
		if (err) {
			free(frame.function);
			free(frame.file);
			return err;
		}
	}
	return NULL;
}

static struct err *jvm_read_moment(const struct jvm_suite *suite,
				   struct message_reader *reader,
				   struct suite_moment *moment)
{
	uint32_t kind = message_number(reader);
	moment->kind = (enum suite_moment_kind)kind;
	moment->thread = message_number(reader);
	moment->ns = message_time(reader);
	moment->nth = message_number(reader);
	moment->operation = schedule_operation(message_number(reader));
	moment->line = message_number(reader);
	moment->inside = message_number(reader);
	TRY(message_text(reader, &moment->key));
	TRY(message_text(reader, &moment->file));
	TRY(jvm_read_frames(reader, moment));
	reader->broken |= kind >= WIRE_MOMENTS_N;
	/* Where work begins is compared by what it came out of. */
	reader->broken |= !moment->operation && (kind == WIRE_MOMENT_STARTED ||
						 kind == WIRE_MOMENT_RESUMED);
	/* Those of statements are the test's. */
	if (!moment->file && moment->line)
		return str_copy(
			suite->suite.tests.data[suite->schedules.test].file,
			&moment->file);
	if (!moment->file && moment->stack.n) {
		moment->line = moment->stack.data[0].line;
		return str_copy(moment->stack.data[0].file, &moment->file);
	}
	return NULL;
}

static struct err *jvm_take_moment(struct jvm_suite *suite,
				   struct message_reader *reader)
{
	struct suite_trace *trace = suite->schedules.trace;
	struct suite_moment moment = {};
	struct err *err = jvm_read_moment(suite, reader, &moment);
	if (!err && !reader->broken && trace->moments.n < MOMENTS_MAX) {
		log_debug(LOG_JVM, "schedule: %d thread %u '%s' %u %llu us",
			  moment.kind, moment.thread,
			  moment.key ? moment.key : "", moment.nth,
			  (unsigned long long)(moment.ns / NS_PER_US));
		/* What was held may have brought the VM to its end. */
		trace->reached |= moment.kind == SUITE_MOMENT_HELD;
		trace->threads |= moment.kind == SUITE_MOMENT_STARTED ||
				  moment.kind == SUITE_MOMENT_HELD;
		err = vec_push(&trace->moments, moment);
		if (!err)
			return NULL;
	}
	trace->more = true;
	suite_moment_free(&moment);
	return err;
}

static void jvm_take_end(struct jvm_suite *suite, struct jvm_vm *vm,
			 struct message_reader *reader)
{
	struct suite_trace *trace = suite->schedules.trace;
	uint32_t flags = message_number(reader);
	uint32_t why = message_number(reader);
	trace->margin_ns = message_time(reader);
	trace->threads |= flags & WIRE_SCHEDULE_HAD_THREADS;
	trace->reached |= flags & WIRE_SCHEDULE_REACHED;
	trace->hung = flags & WIRE_SCHEDULE_HUNG;
	trace->stood = flags & WIRE_SCHEDULE_STOOD;
	trace->after = flags & WIRE_SCHEDULE_AFTER;
	trace->ended = why < WIRE_HOLD_ENDS_N ? (enum suite_hold_end)why
					      : SUITE_HOLD_NONE;
	log_debug(LOG_JVM, "schedule: ended (%u), %llu us, flags %x", why,
		  (unsigned long long)(trace->margin_ns / NS_PER_US), flags);
	if (!trace->hung)
		return;
	vm->hangs = true;
	process_kill(&vm->process);
}

static struct err *
jvm_schedules_message(struct jvm_suite *suite, struct jvm_vm *vm, uint16_t kind,
		      struct message_reader *reader, size_t entry _unused_,
		      size_t test _unused_,
		      const struct suite_observer *observer _unused_)
{
	if (kind == WIRE_SCHEDULE_THREADS) {
		vm->threads = true;
		vm->threads_began = message_number(reader);
	}
	if (!suite->schedules.trace)
		return NULL;
	if (kind == WIRE_SCHEDULE_MOMENT)
		return jvm_take_moment(suite, reader);
	if (kind == WIRE_SCHEDULE_END)
		jvm_take_end(suite, vm, reader);
	return NULL;
}

const struct jvm_part jvm_schedules_part = {
	.prepare = jvm_schedules_prepare,
	.begin = jvm_schedules_begin,
	.first = WIRE_SCHEDULE_BEGIN,
	.end = WIRE_VM_OUTSIDE,
	.message = jvm_schedules_message,
};

/* ---- one run ---- */

/* Of a limit that the test has: when its work comes is not to decide that. */
static bool says_time_is_over(const char *message)
{
	static const char *const words[] = {
		"TestTimedOutException",     "timed out after",
		"exceeded timeout of",	     "ThreadTimeoutException",
		"didn't finish within the ",
	};
	for (size_t i = 0; message && i < ARRAY_SIZE(words); i++) {
		if (strstr(message, words[i]))
			return true;
	}
	return false;
}

struct jvm_schedule_watcher {
	const struct suite_observer *observer;
	struct suite_trace *trace;
	struct err *err;
};

static void jvm_schedule_started(void *data, size_t test)
{
	const struct jvm_schedule_watcher *watcher = data;
	if (watcher->observer->started)
		watcher->observer->started(watcher->observer->data, test);
}

static void jvm_schedule_finished(void *data, const struct suite_result *result)
{
	struct jvm_schedule_watcher *watcher = data;
	struct suite_trace *trace = watcher->trace;
	bool failed = result->outcome == OUTCOME_FAIL ||
		      result->outcome == OUTCOME_CRASH;
	bool told = false;
	for (size_t i = 0; i < trace->moments.n; i++)
		told |= trace->moments.data[i].kind == SUITE_MOMENT_FAILED;
	/* Not in the test itself: after it. */
	if (failed && !told) {
		struct suite_moment moment = {
			.kind = SUITE_MOMENT_FAILED,
			.ns = trace->moments.n
				      ? trace->moments
						.data[trace->moments.n - 1]
						.ns
				      : 0,
		};
		watcher->err = vec_push(&trace->moments, moment);
	}
	trace->limited = failed && says_time_is_over(result->message);
	trace->stood |= trace->limited;
	if (watcher->observer->finished)
		watcher->observer->finished(watcher->observer->data, result);
}

struct err *jvm_run_schedule(struct suite *suite, size_t test,
			     const struct suite_schedule *schedule,
			     const struct suite_observer *observer,
			     struct suite_trace *ret)
{
	struct jvm_suite *self = (struct jvm_suite *)suite;
	_cleanup_(suite_trace_free) struct suite_trace trace = {};
	struct jvm_schedule_watcher watcher = { observer, &trace, NULL };
	const struct suite_observer watching = {
		.started = jvm_schedule_started,
		.finished = jvm_schedule_finished,
		.data = &watcher,
	};
	uint64_t limit = suite->options.timeout_ns;
	if (schedule->priorities)
		return err_hint(err_create(ERR_USAGE,
					   "threads of a Java VM cannot be "
					   "given priorities"),
				"--strategy takes delay or random");
	self->schedules = (struct jvm_schedules){ schedule, &trace, test };
	if (schedule->limit_ns)
		suite->options.timeout_ns = schedule->limit_ns + FRESH_NS;
	struct err *err =
		jvm_run_restored(self, &test, 1, SUITE_SERIAL, &watching);
	suite->options.timeout_ns = limit;
	self->schedules = (struct jvm_schedules){};
	if (!err)
		err = take_ptr(watcher.err);
	err_destroy(watcher.err);
	TRY(err);
	*ret = trace;
	trace = (struct suite_trace){};
	return NULL;
}
