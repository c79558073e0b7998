/*
 * What a Java VM says: any messages, in any order, while it is asked to list tests,
 * to run them, to look at its heap and at its threads. The real code reads them
 * from a real socket; only the VM's process is not there (see the wraps in
 * meson.build), so that each one has ended when its messages are read.
 *
 * The first byte says what is asked for. Then come messages: kind (1 byte), size
 * (2 bytes) and content. Two kinds are our own: RAW is no message, but bytes as they
 * are; NEXT is the end of this VM, what follows is said by the next one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attributes/attributes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "jvm/jvm_heap.h"
#include "jvm/jvm_outside.h"
#include "jvm/jvm_pool.h"
#include "jvm/jvm_schedules.h"
#include "jvm/jvm_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
struct err *__wrap_jvm_suite_start_vm(struct jvm_suite *suite,
				      struct jvm_vm **ret);
bool __wrap_process_ended(struct process *process);
struct err *__wrap_process_try_follow(void);
struct err *__wrap_attributes_capture_outside(struct attributes *attributes,
					      pid_t pid, struct changes *ret);

enum { RAW = 254, NEXT = 255 };
enum { TESTS = 3, NODES = 5, PLACES = 2 };
enum asked { LIST, RUN, CONSECUTIVE, OUTSIDE, READERS, ROOTS, SCHEDULE, TREE };

/* What VMs have not said yet. */
static const uint8_t *said;
static size_t said_n;

static const struct suite *tested;
static size_t entries; /* of the order or tree that runs */
static volatile size_t seen_bytes;

/* ---- instead of a VM ---- */

static void say(int fd, const void *bytes, size_t n)
{
	/* What has no room is not said. */
	if (send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

/* The messages up to the next NEXT. */
static void say_messages(int fd)
{
	while (said_n >= 3) {
		uint8_t kind = said[0];
		size_t n = (size_t)said[1] | (size_t)said[2] << 8;
		said += 3;
		said_n -= 3;
		if (kind == NEXT)
			return;
		n = MIN(n, said_n);
		const struct wire_vm_head head = {
			.size = (uint32_t)n,
			.kind = kind,
			.version = WIRE_VM_VERSION,
		};
		if (kind != RAW)
			say(fd, &head, sizeof(head));
		if (n)
			say(fd, said, n);
		said += n;
		said_n -= n;
	}
}

struct err *__wrap_jvm_suite_start_vm(struct jvm_suite *suite,
				      struct jvm_vm **ret)
{
	int ends[2];
	_cleanup_(jvm_vm_destroyp) struct jvm_vm *vm = calloc(1, sizeof(*vm));
	if (!vm || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		abort();
	vm->process = (struct process)PROCESS_INIT;
	vm->process.pid = getpid();
	vm->block = (struct choice_block)CHOICE_BLOCK_INIT;
	vm->channel = ends[0];
	say_messages(ends[1]);
	close(ends[1]);
	TRY(jvm_suite_vm_words(suite, &vm->words));
	if (suite->outside)
		TRY(jvm_seen_create(suite, &vm->seen));
	*ret = take_ptr(vm);
	return NULL;
}

bool __wrap_process_ended(struct process *process)
{
	process->ended = true;
	return true;
}

struct err *__wrap_process_try_follow(void)
{
	return err_create(ERR_SUITE, "not here");
}

/* It would be ourselves. */
struct err *__wrap_attributes_capture_outside(struct attributes *attributes,
					      pid_t pid, struct changes *ret)
{
	(void)ret;
	if (!attributes || pid != getpid())
		abort();
	return NULL;
}

/* ---- what is promised to those who look ---- */

static void look_at(const char *text)
{
	if (!text)
		abort();
	seen_bytes += strlen(text);
}

static void look_at_test(size_t test)
{
	if (test >= tested->tests.n)
		abort();
}

static void fuzz_started(void *data, size_t test)
{
	(void)data;
	look_at_test(test);
}

static void fuzz_finished(void *data, const struct suite_result *result)
{
	(void)data;
	look_at_test(result->test);
	if (result->entry >= entries)
		abort();
	look_at(outcome_name(result->outcome));
	look_at(result->message ? result->message : "");
	look_at(result->file ? result->file : "");
}

static void fuzz_changed(void *data, size_t entry, size_t test,
			 const struct change *changes, size_t n)
{
	(void)data;
	look_at_test(test);
	if (entry >= entries)
		abort();
	for (size_t i = 0; i < n; i++) {
		const struct change *change = &changes[i];
		struct change copy = {};
		look_at(change->root);
		if (change->weight > WEIGHT_HIGH ||
		    (!change->first && !change->n))
			abort();
		for (size_t j = 0; j < change->n; j++) {
			look_at(change->paths[j].path);
			look_at(change->paths[j].before);
			look_at(change->paths[j].after);
		}
		err_destroy(change_copy(change, &copy));
		change_free(&copy);
	}
}

static void fuzz_read(void *data, size_t test, size_t place, bool fills)
{
	(void)data, (void)fills;
	look_at_test(test);
	if (place >= PLACES)
		abort();
}

static void fuzz_left_out(void *data, const char *name, const char *why)
{
	(void)data;
	look_at(name);
	look_at(why);
}

static void fuzz_limit(void *data, const char *text)
{
	(void)data;
	look_at(text);
}

static const struct suite_observer fuzz_observer = {
	.started = fuzz_started,
	.finished = fuzz_finished,
	.changed = fuzz_changed,
	.read = fuzz_read,
	.left_out = fuzz_left_out,
	.limit = fuzz_limit,
};

static struct err *fuzz_judge(void *data, const struct change *roots, size_t n,
			      suite_try *try, void *context)
{
	enum outcome outcome;
	_cleanup_(freep) bool *put_back = calloc(n + 1, sizeof(*put_back));
	(void)data;
	fuzz_changed(NULL, 0, 0, roots, n);
	if (!put_back)
		return err_nomem();
	memset(put_back, 1, n);
	return try(context, put_back, &outcome);
}

static void look_at_trace(const struct suite_trace *trace)
{
	for (size_t i = 0; i < trace->moments.n; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		if (moment->kind > SUITE_MOMENT_FAILED)
			abort();
		/* Work that begins is compared by where that is. */
		if ((moment->kind == SUITE_MOMENT_STARTED ||
		     moment->kind == SUITE_MOMENT_RESUMED) &&
		    moment->key)
			look_at(moment->operation);
	}
}

/* ---- what is asked for ---- */

static struct err *fuzz_add_tests(struct jvm_suite *suite)
{
	for (size_t i = 0; i < TESTS; i++) {
		TRY(suite_add_test(&suite->suite, "a.T.m",
				   i ? "a/T.java" : NULL, 7, false));
		TRY(strv_add(&suite->ids, "JUnit4\ta.T\tm"));
	}
	return NULL;
}

static struct err *fuzz_ask_readers(struct jvm_suite *suite,
				    const size_t *order)
{
	struct suite_place places[PLACES] = {
		{ .where = CHANGE_MEMORY, .address = 1, .size = 1 },
		{ .where = CHANGE_PROCESS, .root = "default-locale" },
	};
	/* Places are numbered in the first run. */
	TRY(jvm_run_restored(suite, order, TESTS, SUITE_SERIAL,
			     &fuzz_observer));
	return jvm_heap_run_places(&suite->suite, order, TESTS, places, PLACES,
				   &fuzz_observer);
}

static struct err *fuzz_ask_schedule(struct jvm_suite *suite)
{
	_cleanup_(suite_trace_free) struct suite_trace trace = {};
	const struct suite_schedule schedule = { .event = SUITE_ALL_EVENTS };
	entries = 1;
	TRY(jvm_run_schedule(&suite->suite, 1, &schedule, &fuzz_observer,
			     &trace));
	look_at_trace(&trace);
	return NULL;
}

static struct err *fuzz_ask_tree(struct jvm_suite *suite)
{
	static const struct suite_node nodes[NODES] = {
		{ SUITE_TREE_ROOT, 0 }, { 0, 1 }, { 1, 2 }, { 0, 2 },
		{ SUITE_TREE_ROOT, 1 },
	};
	entries = NODES;
	return jvm_run_tree(&suite->suite, nodes, NODES, 0, &fuzz_observer);
}

static struct err *fuzz_ask(struct jvm_suite *suite, enum asked asked)
{
	static const char *const none[] = { NULL };
	const struct suite_watch watch = {
		.what = SUITE_MEMORY | (asked == OUTSIDE ? SUITE_FILES : 0),
		.to = SUITE_AFTER_TEARDOWN,
		.consecutive = asked == CONSECUTIVE,
		.dirs = none,
		.own_files = none,
		.file_method = "walk",
		.paths = 4,
	};
	/* Of its own size each time, so that nothing beyond it is read. */
	_cleanup_(freep) size_t *order = calloc(TESTS, sizeof(*order));
	if (!order)
		return err_nomem();
	entries = TESTS;
	if (asked == LIST)
		return jvm_suite_list(suite);
	TRY(fuzz_add_tests(suite));
	for (size_t i = 0; i < TESTS; i++)
		order[i] = i;
	if (asked == SCHEDULE)
		return fuzz_ask_schedule(suite);
	if (asked == TREE)
		return fuzz_ask_tree(suite);
	if (asked == ROOTS)
		return jvm_try_roots(&suite->suite, &watch, order, TESTS - 1,
				     TESTS - 1, fuzz_judge, NULL,
				     &fuzz_observer);
	TRY(jvm_heap_watch(&suite->suite, &watch));
	if (asked == READERS)
		return fuzz_ask_readers(suite, order);
	TRY(jvm_run_restored(suite, order, TESTS, SUITE_SERIAL,
			     &fuzz_observer));
	/* A shorter one: what was known of the longer one is not. */
	_cleanup_(freep) size_t *alone = calloc(1, sizeof(*alone));
	if (!alone)
		return err_nomem();
	entries = 1;
	return jvm_run_restored(suite, alone, 1, SUITE_SERIAL, &fuzz_observer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_suite suite = {
		.suite.options = {
			.source = "classes",
			.jobs = 1,
			.timeout_ns = 60 * NS_PER_S,
		},
		.class_path = "classes",
	};
	if (!size)
		return 0;
	log_level_set(LOG_LEVEL_QUIET);
	said = data + 1;
	said_n = size - 1;
	tested = &suite.suite;
	err_destroy(fuzz_ask(&suite, data[0] % (TREE + 1)));
	for (size_t i = 0; i < suite.suite.tests.n; i++)
		look_at(suite.suite.tests.data[i].name);
	jvm_pool_free(&suite);
	jvm_outside_destroy(suite.outside);
	jvm_heap_free(&suite.heap);
	strv_free(&suite.ids);
	suite_free_tests(&suite.suite);
	return 0;
}
