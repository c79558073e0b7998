/* Tests that end their process, or leave it in a bad state, each in its way. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#define TEST __attribute__((noinline)) void

/* The compiler must not find out which functions never return. */
static volatile int yes = 1;

TEST test_kill_self(void)
{
	kill(getpid(), SIGKILL);
}

TEST test_kill_group(void)
{
	kill(0, SIGKILL);
}

TEST test_terminate_group(void)
{
	kill(0, SIGTERM);
}

TEST test_close_all(void)
{
	for (int i = 0; i < 1024; i++)
		close(i);
}

TEST test_trace_me(void)
{
	/* Refused: it is traced already. */
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
		abort();
}

TEST test_flood(void)
{
	while (yes)
		puts("a line of a program that never stops talking");
}

TEST test_exec(void)
{
	execl("/bin/echo", "echo", "replaced", (char *)NULL);
}

TEST test_daemon(void)
{
	if (fork())
		return;
	setsid();
	if (!fork())
		sleep(1000);
	_exit(0);
}

TEST test_child_left(void)
{
	if (!fork()) {
		sleep(1000);
		_exit(0);
	}
}

TEST test_exit(void)
{
	if (yes)
		exit(0);
}

TEST test_helper(void)
{
	__asm__ volatile("");
}

/* At any moment, also while it stands at a breakpoint. */
TEST test_killed_by_child(void)
{
	pid_t self = getpid();
	if (!fork()) {
		usleep((useconds_t)(self % 50) * 20);
		kill(self, SIGKILL);
		_exit(0);
	}
	while (yes)
		test_helper();
}

TEST test_stop_self(void)
{
	raise(SIGSTOP);
}

TEST test_stack_overflow(void)
{
	volatile char room[4096];
	room[0] = 1;
	if (yes)
		test_stack_overflow();
	room[1] = 2;
}

TEST test_fine(void)
{
	puts("fine");
}

/* For tests of interruption: children that nobody waits for. */
static void leave_children(void)
{
	if (!fork()) {
		setsid();
		if (!fork())
			sleep(1000);
		_exit(0);
	}
	if (!fork()) {
		sleep(1000);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		leave_children();
	test_kill_self();
	test_kill_group();
	test_terminate_group();
	test_close_all();
	test_trace_me();
	test_flood();
	test_exec();
	test_daemon();
	test_child_left();
	test_exit();
	test_killed_by_child();
	test_stop_self();
	test_stack_overflow();
	test_fine();
	return 0;
}
