/*
 * A runner that forks for each of its tests, which leave something in the system, or
 * remove it again, or change only their own process. The message queue that is left
 * has the key KEY of the environment, and is for the caller to remove.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST __attribute__((noinline)) int

static volatile int number;

static int make_queue(int which)
{
	return msgget((key_t)(atoi(getenv("KEY")) + which), IPC_CREAT | 0600);
}

TEST test_leaves_queue(void) { return make_queue(0) < 0; }
TEST test_removes_queue(void)
{
	int queue = make_queue(1);
	return queue < 0 || msgctl(queue, IPC_RMID, NULL) != 0;
}
TEST test_leaves_process(void)
{
	pid_t child = fork();
	if (child == 0) {
		execlp("sleep", "sleep", "30", (char *)NULL);
		_exit(127);
	}
	return child < 0;
}
TEST test_ends_process(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	return child < 0 || kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child;
}
TEST test_changes_itself(void)
{
	umask(077);
	signal(SIGUSR1, SIG_IGN);
	return chdir("/") != 0 || setenv("LEFT", "1", 1) != 0 || ++number != 1;
}

static int (*const tests[])(void) = { test_leaves_queue, test_removes_queue, test_leaves_process, test_ends_process,
				      test_changes_itself };

int main(void)
{
	int failed = 0, status;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(tests[i]());
		waitpid(child, &status, 0);
		failed += status != 0;
	}
	return failed != 0;
}
