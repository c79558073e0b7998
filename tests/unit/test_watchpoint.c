/*
 * Watchpoints: who touches a place, and how. The subject is this very program,
 * started again: it marks each step, and does one thing to the place in it.
 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/macro.h"
#include "base/path.h"
#include "tracee/breakpoint.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/remote.h"
#include "tracee/watchpoint.h"

/* ---- the subject ---- */

struct places {
	uint64_t before[8];
	uint64_t place;
	uint64_t behind[8];
	uint64_t other;
	uint64_t spare[8];
} __attribute__((aligned(64)));

static struct places data __attribute__((used));
static atomic_int turn;

static void __attribute__((noinline)) mark(unsigned step)
{
	__asm__ volatile("" ::"r"(step) : "memory");
}

/* Something to call from outside; reads the place. */
static uint64_t __attribute__((noinline)) peek_place(void)
{
	return *(volatile uint64_t *)&data.place;
}

#define ASM(code, ...)                                                         \
	__asm__ volatile(code ::"b"(&data.place), "d"(&data.other)             \
			 : "rax", "rcx", "rsi", "rdi", "xmm0", "memory", "cc")

static void nothing(void)
{
}

static void do_load(void)
{
	ASM("mov (%%rbx),%%rax");
}

static void do_store(void)
{
	ASM("movq $1,(%%rbx)");
}

/* The same value again: only the instruction tells that it was written. */
static void do_store_same(void)
{
	ASM("movq $1,(%%rbx)");
}

static void do_change(void)
{
	ASM("addq $1,(%%rbx)");
}

static void do_compare(void)
{
	ASM("cmpl $0,4(%%rbx)");
}

static void do_test(void)
{
	ASM("testb $1,(%%rbx)");
}

static void do_vector_store(void)
{
	ASM("pxor %%xmm0,%%xmm0; movups %%xmm0,(%%rbx)");
}

static void do_vector_load(void)
{
	ASM("movups -8(%%rbx),%%xmm0");
}

static void do_follow(void)
{
	ASM("mov %%rbx,%%rax; mov (%%rax),%%rax");
}

static void do_exchange(void)
{
	ASM("xor %%eax,%%eax; lock cmpxchg %%rcx,(%%rbx)");
}

static void do_push(void)
{
	ASM("push (%%rbx); pop %%rax");
}

static void do_pop(void)
{
	ASM("push $7; pop (%%rbx)");
}

static void do_float_store(void)
{
	ASM("fldz; fstpl (%%rbx)");
}

static void do_copy_from(void)
{
	ASM("lea -16(%%rbx),%%rsi; lea 8(%%rdx),%%rdi; mov $32,%%ecx;"
	    "rep movsb");
}

static void do_copy_to(void)
{
	ASM("lea -16(%%rbx),%%rdi; lea 8(%%rdx),%%rsi; mov $4,%%ecx;"
	    "rep movsq");
}

static void do_fill(void)
{
	ASM("lea -16(%%rbx),%%rdi; mov $32,%%ecx; xor %%eax,%%eax; rep stosb");
}

static void do_search(void)
{
	ASM("lea -16(%%rbx),%%rdi; mov $32,%%ecx; mov $5,%%eax; repne scasb");
}

static void do_neighbours(void)
{
	ASM("mov -8(%%rbx),%%rax; mov %%rax,8(%%rbx); movb $1,-1(%%rbx)");
}

static void do_call(void)
{
	data.place = (uintptr_t)nothing;
	mark(1000);
	/* Below the red zone of whoever has no need of a frame. */
	ASM("sub $128,%%rsp; call *(%%rbx); add $128,%%rsp");
}

static void do_jump(void)
{
	ASM("lea 1f(%%rip),%%rax; mov %%rax,8(%%rbx);"
	    "mov %%rax,(%%rbx); jmp *(%%rbx); 1:");
}

static void do_system_call(void)
{
	int ends[2];
	if (pipe(ends) == 0 && write(ends[1], &data.place, 8) == 8 &&
	    read(ends[0], &data.place, 8) == 8)
		close(ends[0]);
}

void at_breakpoint(void); /* labels in code */
void behind_breakpoint(void);
static void __attribute__((noinline)) do_at_breakpoint(void)
{
	ASM(".globl at_breakpoint; at_breakpoint: mov (%%rbx),%%rax;"
	    "add %%rax,%%rcx; addq $1,(%%rbx);"
	    ".globl behind_breakpoint; behind_breakpoint: nop");
}

static void do_two_places(void)
{
	ASM("mov %%rbx,%%rsi; mov %%rdx,%%rdi; movsq");
}

static void *other_thread(void *arg)
{
	(void)arg;
	for (;;) {
		while (atomic_load(&turn) == 0)
			usleep(100);
		ASM("mov (%%rbx),%%rax");
		atomic_store(&turn, 0);
	}
	return NULL;
}

static void *short_thread(void *arg)
{
	ASM("movq $3,(%%rbx)");
	return arg;
}

static void do_in_old_thread(void)
{
	atomic_store(&turn, 1);
	while (atomic_load(&turn))
		usleep(100);
}

static void do_in_new_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, short_thread, NULL) == 0)
		pthread_join(thread, NULL);
}

static void *endless_thread(void *arg)
{
	for (;;)
		ASM("mov (%%rbx),%%rax");
	return arg;
}

/* There is never a moment at which none of them has stopped. */
static void touch_endlessly(void)
{
	mark(0);
	for (unsigned i = 0; i < 63; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, endless_thread, NULL))
			_exit(1);
	}
	endless_thread(NULL);
}

#define R WATCHPOINT_READ
#define W WATCHPOINT_WRITE
#define RW (R | W)
#define MANY 0x80 /* once or more */

struct step {
	const char *name;
	void (*act)(void);
	unsigned expect[4]; /* of the first slot; 0 ends */
	bool elsewhere;	    /* in another thread */
};

static const struct step steps[] = {
	{ "nothing", nothing, {}, false },
	{ "load", do_load, { R }, false },
	{ "store", do_store, { W }, false },
	{ "store the same", do_store_same, { W }, false },
	{ "change", do_change, { RW }, false },
	{ "compare", do_compare, { R }, false },
	{ "test", do_test, { R }, false },
	{ "vector store", do_vector_store, { W }, false },
	{ "vector load", do_vector_load, { R }, false },
	{ "follow", do_follow, { R }, false },
	{ "exchange", do_exchange, { RW }, false },
	{ "push", do_push, { R }, false },
	{ "pop", do_pop, { W }, false },
	{ "float store", do_float_store, { W }, false },
	{ "copy from", do_copy_from, { R | MANY }, false },
	{ "copy to", do_copy_to, { W | MANY }, false },
	{ "fill", do_fill, { W | MANY }, false },
	{ "search", do_search, { R | MANY }, false },
	{ "neighbours", do_neighbours, {}, false },
	{ "call", do_call, { W, R }, false },
	{ "jump", do_jump, { W, R }, false },
	{ "system call", do_system_call, {}, false },
	{ "at a breakpoint", do_at_breakpoint, { R, RW }, false },
	{ "old thread", do_in_old_thread, { R }, true },
	{ "new thread", do_in_new_thread, { W }, true },
	{ "two places", do_two_places, { R }, false },
	{ "end", nothing, {}, false },
};

static int subject(const char *what)
{
	if (!strcmp(what, "endless"))
		touch_endlessly();
	if (!strcmp(what, "threads")) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, other_thread, NULL))
			return 1;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].elsewhere && strcmp(what, "threads") != 0)
			continue;
		mark(i);
		steps[i].act();
	}
	_exit(0);
}

/* ---- the controller ---- */

enum { AT_MARK = 1, AT_INSN, BEHIND_INSN };

struct hand {
	struct tracer *tracer;
	struct tracee *tracee;
	struct thread *thread; /* of the last mark */
	int64_t bias;
};

/* Where the program lies in a process: the first mapping of its file. */
static uint64_t base_of(pid_t pid)
{
	char path[64], own[4096], line[4400];
	snprintf(path, sizeof(path), "/proc/self/exe");
	ssize_t n = readlink(path, own, sizeof(own) - 1);
	assert_true(n > 0);
	own[n] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	assert_non_null(maps);
	unsigned long long base = 0;
	while (!base && fgets(line, sizeof(line), maps)) {
		if (strstr(line, own))
			sscanf(line, "%llx-", &base);
	}
	fclose(maps);
	assert_true(base);
	return base;
}

static struct raddr there(const struct hand *hand, const void *here)
{
	return raddr_add(RADDR((uintptr_t)here), hand->bias);
}

static void hand_open(struct hand *hand, const char *what)
{
	char *argv[] = { "/proc/self/exe", "subject", (char *)what, NULL };
	const struct tracee_command command = { .argv = argv };
	assert_ok(tracer_create(&hand->tracer));
	tracer_tick(true);
	assert_ok(tracee_start(hand->tracer, &command, &hand->tracee));
	hand->bias = (int64_t)(base_of(tracee_pid(hand->tracee)) -
			       base_of(getpid()));
	assert_ok(breakpoint_set(hand->tracee, there(hand, mark), AT_MARK));
}

static void hand_closep(struct hand *hand)
{
	tracer_destroy(hand->tracer);
}

static void next_event(struct hand *hand, struct tracee_event *event)
{
	assert_ok(tracee_continue(hand->tracee, tracer_clock() + 20000000000ULL,
				  event));
}

static void to_mark(struct hand *hand, unsigned step)
{
	struct tracee_event event;
	next_event(hand, &event);
	assert_int_equal(event.kind, TRACEE_BREAKPOINT);
	assert_int_equal(event.breakpoint, AT_MARK);
	assert_int_equal(thread_arg(event.thread, 0), step);
	hand->thread = event.thread;
}

/* Up to the next step: what came from the first slot. */
static void check_step(struct hand *hand, unsigned step,
		       struct tracee_event *last)
{
	unsigned got[64] = {}, n = 0, expected = 0;
	bool broke[BEHIND_INSN + 1] = {};
	for (;;) {
		next_event(hand, last);
		if (last->kind == TRACEE_BREAKPOINT) {
			broke[last->breakpoint] = true;
			if (last->breakpoint == AT_MARK &&
			    thread_arg(last->thread, 0) < 1000)
				break;
			continue;
		}
		if (last->kind != TRACEE_WATCHPOINT)
			break;
		if (last->slot)
			continue;
		assert_true(n < ARRAY_SIZE(got));
		/* They arrive around the breakpoints, not instead of them. */
		if (!strcmp(steps[step].name, "at a breakpoint")) {
			assert_int_equal(broke[AT_INSN], true);
			assert_int_equal(broke[BEHIND_INSN], false);
		}
		assert_int_equal(last->thread != hand->thread,
				 steps[step].elsewhere);
		got[n++] = last->access;
	}
	const unsigned *expect = steps[step].expect;
	unsigned at = 0;
	for (; expect[expected]; expected++) {
		unsigned access = expect[expected] & ~(unsigned)MANY;
		if (at == n || got[at] != access) {
			print_error("%s: %u is %u instead of %u\n",
				    steps[step].name, at, at < n ? got[at] : 0,
				    access);
			fail();
		}
		at++;
		while (expect[expected] & MANY && at < n && got[at] == access)
			at++;
	}
	if (at != n) {
		print_error("%s: %u more, the first is %u\n", steps[step].name,
			    n - at, got[at]);
		fail();
	}
}

static void check_steps(const char *what)
{
	_cleanup_(hand_closep) struct hand hand = {};
	hand_open(&hand, what);
	assert_ok(breakpoint_set(hand.tracee, there(&hand, at_breakpoint),
				 AT_INSN));
	assert_ok(breakpoint_set(hand.tracee, there(&hand, behind_breakpoint),
				 BEHIND_INSN));
	to_mark(&hand, 0);
	assert_ok(watchpoint_set(hand.tracee, 0, there(&hand, &data.place), 8));
	struct tracee_event event;
	unsigned step = 0;
	do {
		check_step(&hand, step, &event);
		if (event.kind != TRACEE_BREAKPOINT)
			break;
		step = (unsigned)thread_arg(event.thread, 0);
	} while (step < ARRAY_SIZE(steps));
	assert_int_equal(step, ARRAY_SIZE(steps) - 1);
	assert_int_equal(event.kind, TRACEE_EXITED);
	assert_int_equal(event.status, 0);
}

static void test_every_access(void **state)
{
	(void)state;
	check_steps("plain");
}

static void test_threads(void **state)
{
	(void)state;
	check_steps("threads");
}

/* Instructions at breakpoints stepped in their place: seen all the same. */
static void test_stepped_in_place(void **state)
{
	(void)state;
	setenv("POLYGRAPH_FAULT_STEP", "1", 1);
	check_steps("plain");
	unsetenv("POLYGRAPH_FAULT_STEP");
}

static unsigned step_named(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
		if (!strcmp(steps[i].name, name))
			return i;
	}
	fail();
	return 0;
}

static void to_step(struct hand *hand, const char *name)
{
	unsigned step = step_named(name);
	struct tracee_event event;
	do {
		next_event(hand, &event);
		assert_int_equal(event.kind, TRACEE_BREAKPOINT);
	} while (thread_arg(event.thread, 0) != step);
	hand->thread = event.thread;
}

static void expect_hit(struct hand *hand, unsigned slot, unsigned access)
{
	struct tracee_event event;
	next_event(hand, &event);
	assert_int_equal(event.kind, TRACEE_WATCHPOINT);
	assert_int_equal(event.slot, slot);
	assert_int_equal(event.access, access);
}

static void test_slots(void **state)
{
	(void)state;
	_cleanup_(hand_closep) struct hand hand = {};
	hand_open(&hand, "plain");
	to_step(&hand, "load");
	/* Only part of what is touched, and one that moves to odd places. */
	struct raddr place = there(&hand, &data.place);
	assert_ok(watchpoint_set(hand.tracee, 3, place, 8));
	assert_ok(watchpoint_set(hand.tracee, 3, raddr_add(place, 3), 1));
	assert_ok(watchpoint_set(hand.tracee, 1, raddr_add(place, -2), 2));
	assert_true(watchpoint_is_set(hand.tracee, 3));
	assert_false(watchpoint_is_set(hand.tracee, 0));
	expect_hit(&hand, 3, R);
	to_mark(&hand, step_named("store"));
	assert_ok(watchpoint_set(hand.tracee, 3, raddr_add(place, 6), 2));
	expect_hit(&hand, 3, W);
	to_mark(&hand, step_named("store the same"));
	watchpoint_clear(hand.tracee, 3);
	assert_false(watchpoint_is_set(hand.tracee, 3));
	to_mark(&hand, step_named("change"));
	to_mark(&hand, step_named("compare"));
	watchpoint_clear(hand.tracee, 1);
	to_step(&hand, "two places");

	/* One instruction, two events; the one that is cleared never comes. */
	struct raddr other = there(&hand, &data.other);
	assert_ok(watchpoint_set(hand.tracee, 0, other, 8));
	assert_ok(watchpoint_set(hand.tracee, 1, place, 4));
	assert_ok(watchpoint_set(hand.tracee, 2, raddr_add(place, 4), 4));
	expect_hit(&hand, 0, W);
	expect_hit(&hand, 1, R);
	watchpoint_clear(hand.tracee, 2);
	to_mark(&hand, step_named("end"));
}

/* Neither a fork nor a call of ours reports anything. */
static void test_forks_and_calls(void **state)
{
	(void)state;
	_cleanup_(hand_closep) struct hand hand = {};
	hand_open(&hand, "plain");
	to_step(&hand, "load");
	assert_ok(watchpoint_set(hand.tracee, 0, there(&hand, &data.place), 8));
	struct tracee *copy;
	assert_ok(checkpoint_fork(hand.thread, &copy));
	uint64_t result;
	assert_ok(remote_call(hand.thread, there(&hand, peek_place), NULL, 0,
			      1000000000, &result));
	assert_int_equal(result, 0);
	expect_hit(&hand, 0, R);

	struct hand forked = { .tracee = copy };
	assert_false(watchpoint_is_set(copy, 0));
	to_mark(&forked, step_named("store"));
}

/* Events until one of @kind, with so much time. */
static unsigned events_until(struct hand *hand, uint64_t ns,
			     enum tracee_event_kind kind)
{
	uint64_t deadline = tracer_clock() + ns;
	struct tracee_event event = {};
	unsigned n = 0;
	for (; event.kind != kind && n < 1000000; n++) {
		assert_ok(tracee_continue(hand->tracee, deadline, &event));
		assert_true(event.kind == TRACEE_WATCHPOINT ||
			    event.kind == kind);
	}
	assert_int_equal(event.kind, kind);
	return n;
}

static void test_events_without_end(void **state)
{
	(void)state;
	_cleanup_(hand_closep) struct hand hand = {};
	hand_open(&hand, "endless");
	to_mark(&hand, 0);
	assert_ok(watchpoint_set(hand.tracee, 0, there(&hand, &data.place), 8));
	events_until(&hand, 200000000, TRACEE_DEADLINE);
	/* It is over already: what was about to end would have a moment. */
	unsigned n = events_until(&hand, 0, TRACEE_DEADLINE);
	assert_in_range(n, 1, 1000);
	/* With more time it goes on, until the user wants to stop. */
	events_until(&hand, 100000000, TRACEE_DEADLINE);
	interrupted = 1;
	n = events_until(&hand, 20000000000, TRACEE_INTERRUPTED);
	interrupted = 0;
	assert_in_range(n, 1, 1000);
}

static void test_refused(void **state)
{
	(void)state;
	_cleanup_(hand_closep) struct hand hand = {};
	hand_open(&hand, "plain");
	to_step(&hand, "load");
	setenv("POLYGRAPH_FAULT_WATCHPOINTS", "1", 1);
	assert_err(watchpoint_set(hand.tracee, 0, there(&hand, &data.place), 8),
		   ERR_SUITE, "no hardware watchpoints");
	unsetenv("POLYGRAPH_FAULT_WATCHPOINTS");
	assert_false(watchpoint_is_set(hand.tracee, 0));
	/* The kernel refuses its own addresses. */
	_cleanup_(err_destroyp) struct err *err =
		watchpoint_set(hand.tracee, 0, RADDR(0xffffffff81000000ULL), 8);
	assert_non_null(err);
	assert_false(watchpoint_is_set(hand.tracee, 0));
	to_mark(&hand, step_named("store"));
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "subject"))
		return subject(argv[2]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_access),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_stepped_in_place),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_forks_and_calls),
		cmocka_unit_test(test_events_without_end),
		cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
