/*
 * A runner that forks for each of its tests. HOW: by waitpid(), with a pipe and
 * standard output sent elsewhere, by wait() with an alarm, by waitid(); or, what
 * is refused, several at once.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#define WAITPID 1
#define PIPE 2
#define ALARM 3
#define WAITID 4
#define POLL 5
#define PARALLEL 6

#define TEST __attribute__((noinline)) int

static volatile int number;

TEST test_passes(void) { return getpid() == number; }
TEST test_counts(void) { number++; return number != 1; }
TEST test_counts_too(void) { number += 2; number--; return number != 1; }
TEST test_fails(void) { printf("it fails\n"); return number == 0; }
TEST test_crashes(void) { abort(); }
TEST test_leaves_file(void)
{
	int fd = open("left.txt", O_CREAT | O_WRONLY, 0600);
	return fd < 0 || close(fd) != 0;
}
TEST test_wants_no_file(void) { return access("left.txt", F_OK) == 0; }

static const struct {
	const char *name;
	int (*run)(void);
} tests[] = {
	{ "passes", test_passes },	     { "counts", test_counts },
	{ "counts_too", test_counts_too },   { "fails", test_fails },
	{ "crashes", test_crashes },	     { "wants_no_file", test_wants_no_file },
	{ "leaves_file", test_leaves_file },
};

static int ended_well(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run_one(size_t i)
{
	int ends[2] = { -1, -1 }, status = -1;
	char word[8] = "";
	siginfo_t info = { 0 };
	if (HOW == PIPE && pipe(ends) < 0)
		return 1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		if (HOW == PIPE) {
			close(ends[0]);
			dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		}
		if (HOW == ALARM)
			alarm(60);
		int failed = tests[i].run();
		if (HOW == PIPE && write(ends[1], failed ? "bad" : "good", 4) != 4)
			_exit(9);
		if (HOW == WAITPID)
			exit(failed);
		_exit(failed);
	}
	if (HOW == PIPE) {
		close(ends[1]);
		while (read(ends[0], word, sizeof(word)) > 0)
			;
		close(ends[0]);
	}
	if (HOW == ALARM)
		wait(&status);
	else if (HOW == WAITID)
		waitid(P_PID, (id_t)child, &info, WEXITED);
	else if (HOW == POLL)
		while (waitpid(child, &status, WNOHANG) == 0)
			usleep(1000);
	else
		waitpid(child, &status, 0);
	int good = HOW == WAITID ? info.si_code == CLD_EXITED && info.si_status == 0 :
				   ended_well(status);
	if (HOW == PIPE)
		good = good && strcmp(word, "good") == 0;
	printf("%s: %s\n", tests[i].name, good ? "ok" : "FAILED");
	return !good;
}

int main(void)
{
	size_t n = sizeof(tests) / sizeof(tests[0]);
	int failed = 0, status;
	if (HOW != PARALLEL) {
		for (size_t i = 0; i < n; i++)
			failed += run_one(i);
		return failed;
	}
	for (size_t i = 0; i < n; i++) {
		if (fork() == 0)
			_exit(tests[i].run());
	}
	while (wait(&status) > 0)
		failed += !ended_well(status);
	return failed;
}
