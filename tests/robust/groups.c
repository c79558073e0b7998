/*
 * A runner with a child for each test, in a process group of its own, which it ends
 * when the test is over: what the group had started is not left. The twins: a test
 * whose child is in no such group, and with -DLEAVES a runner that ends none.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(int apart)
{
	if (fork())
		return;
	if (apart)
		setsid();
	alarm(20);
	for (;;)
		pause();
}

void test_starts(void)
{
	start(0);
	usleep(20000);
}

void test_nothing(void)
{
	if (getpid() == 1)
		abort();
}

void test_escapes(void)
{
	if (ESCAPES)
		start(1);
	usleep(20000);
}

void test_starts_last(void)
{
	start(0);
	usleep(20000);
}

int main(void)
{
	static void (*const tests[])(void) = { test_starts, test_nothing, test_escapes, test_starts_last };
	int bad = 0;
	for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		int status;
		pid_t pid = fork();
		if (!pid) {
			setpgid(0, 0);
			tests[i]();
			exit(0);
		}
		setpgid(pid, pid);
		waitpid(pid, &status, 0);
#ifndef LEAVES
		killpg(pid, SIGKILL);
#endif
		bad += status != 0;
	}
	printf("%d bad\n", bad);
	return bad;
}
