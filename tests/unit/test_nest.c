/* Nests: the parent of a program, what it holds, and what ends with it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "nest/nest.h"
#include "unit.h"

static int ends[2];

/* Says its parent and its own number, and waits for a byte that never comes. */
static void child_say_and_stay(void *data _unused_)
{
	const pid_t said[2] = { getppid(), getpid() };
	(void)!write(ends[1], said, sizeof(said));
	for (;;)
		pause();
}

static void child_leave(void *data)
{
	_exit(*(const int *)data);
}

static void child_crash(void *data _unused_)
{
	signal(SIGSEGV, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	kill(getpid(), SIGSEGV);
}

/* An orphan, and a child in a session of its own. */
static void child_leave_others(void *data _unused_)
{
	if (!fork()) {
		setsid();
		if (!fork())
			child_say_and_stay(NULL);
		_exit(0);
	}
	if (!fork()) {
		setsid();
		child_say_and_stay(NULL);
	}
	wait(NULL);
	for (;;)
		pause();
}

static void child_kill_parent(void *data)
{
	kill(getppid(), *(const int *)data);
	_exit(7);
}

static bool is_there(pid_t pid)
{
	return kill(pid, 0) == 0;
}

static siginfo_t wait_for_end(struct nest *nest)
{
	siginfo_t info;
	uint64_t deadline = clock_now() + 20 * NS_PER_S;
	while (!nest_ended(nest, &info)) {
		assert_true(clock_now() < deadline);
		usleep(1000);
	}
	return info;
}

static void assert_childless(void)
{
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_parent(void **state _unused_)
{
	struct nest *nest;
	pid_t said[2];
	assert_int_equal(pipe(ends), 0);
	assert_ok(nest_start(NEST_HOLDS, child_say_and_stay, NULL, &nest));
	assert_int_equal(read(ends[0], said, sizeof(said)), sizeof(said));
	assert_int_equal(said[0], nest_pid(nest));
	assert_int_equal(said[1], nest_program(nest));
	assert_true(nest_owns(nest_pid(nest)));
	assert_true(nest_owns(nest_program(nest)));
	siginfo_t info;
	assert_false(nest_ended(nest, &info));
	nest_end(nest);
	assert_false(is_there(said[1]));
	assert_false(nest_owns(said[0]));
	assert_childless();
	close(ends[0]);
	close(ends[1]);
}

static void test_end_is_kept(void **state _unused_)
{
	int status = 42;
	struct nest *nest;
	assert_ok(nest_start(NEST_HOLDS, child_leave, &status, &nest));
	siginfo_t info = wait_for_end(nest);
	assert_int_equal(info.si_code, CLD_EXITED);
	assert_int_equal(info.si_status, 42);
	/* Its number is nobody else's. */
	pid_t pid = nest_program(nest);
	assert_true(is_there(pid));
	nest_release(nest);
	for (int i = 0; i < 20000 && is_there(pid); i++)
		usleep(1000);
	assert_false(is_there(pid));
	info = wait_for_end(nest);
	assert_int_equal(info.si_status, 42);
	nest_end(nest);

	assert_ok(nest_start(NEST_HOLDS, child_crash, NULL, &nest));
	info = wait_for_end(nest);
	assert_true(info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED);
	assert_int_equal(info.si_status, SIGSEGV);
	nest_end(nest);
	assert_childless();
}

static void test_others_end(void **state _unused_)
{
	struct nest *nest;
	pid_t said[2][2];
	assert_int_equal(pipe(ends), 0);
	assert_ok(nest_start(NEST_REAPS, child_leave_others, NULL, &nest));
	for (int i = 0; i < 2; i++)
		assert_int_equal(read(ends[0], said[i], sizeof(said[i])),
				 sizeof(said[i]));
	nest_end(nest);
	assert_false(is_there(said[0][1]));
	assert_false(is_there(said[1][1]));
	assert_childless();
	close(ends[0]);
	close(ends[1]);
}

/* What the program does to it changes nothing. */
static void test_signals_to_nest(void **state _unused_)
{
	for (int number = 1; number < NSIG; number++) {
		struct nest *nest;
		assert_ok(nest_start(NEST_HOLDS, child_kill_parent, &number,
				     &nest));
		siginfo_t info = wait_for_end(nest);
		assert_int_equal(info.si_code, CLD_EXITED);
		assert_int_equal(info.si_status, 7);
		nest_end(nest);
		assert_childless();
	}
}

/* Another nest's program stays when one was killed. */
static void test_two_nests(void **state _unused_)
{
	struct nest *one, *two;
	pid_t said[2];
	int number = SIGKILL;
	assert_int_equal(pipe(ends), 0);
	assert_ok(nest_start(NEST_HOLDS, child_say_and_stay, NULL, &one));
	assert_int_equal(read(ends[0], said, sizeof(said)), sizeof(said));
	kill(nest_pid(one), SIGKILL);
	assert_ok(nest_start(NEST_HOLDS, child_kill_parent, &number, &two));
	assert_int_equal(wait_for_end(two).si_status, 7);
	nest_end(two);
	assert_true(is_there(said[1]));
	nest_end(one);
	assert_false(is_there(said[1]));
	assert_childless();
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_end_is_kept),
		cmocka_unit_test(test_others_end),
		cmocka_unit_test(test_signals_to_nest),
		cmocka_unit_test(test_two_nests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
