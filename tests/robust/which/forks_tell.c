/*
 * A runner that forks for each of its tests, whose children always end with exit
 * status 0 and tell what became of the test in another way. HOW: by a pipe that is
 * read before or after the child is waited for, or in shared memory. With GOOD
 * nothing fails. With MANY the program's exit status is how many failed. With LOGS the
 * runner writes a file, so that it cannot be asked how it would end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#define READ_FIRST 1
#define WAIT_FIRST 2
#define SHARED 3

#define TEST __attribute__((noinline)) int

#ifdef GOOD
#define BAD 0
#else
#define BAD 1
#endif

static volatile int number;

/* The twin: what another test changed in memory is gone. */
TEST test_passes(void) { return number++; }
TEST test_fails(void)
{
	number++;
	if (BAD)
		fprintf(stderr, "%s:%d: number is %d\n", __FILE__, __LINE__, number);
	return BAD;
}
TEST test_passes_too(void) { return number++; }
TEST test_fails_silently(void) { number += BAD; return number; }
TEST test_wants_no_file(void) { return access("left.txt", F_OK) == 0; }
TEST test_leaves_file(void)
{
	int fd = open("left.txt", O_CREAT | O_WRONLY, 0600);
	return fd < 0 || close(fd) != 0;
}

static int (*const tests[])(void) = {
	test_passes,	     test_fails,	 test_passes_too,
	test_fails_silently, test_wants_no_file, test_leaves_file,
};

static volatile int *shared;

static int run_one(size_t i)
{
	int ends[2] = { -1, -1 }, status;
	char word[8] = "";
	if (HOW == SHARED)
		*shared = -1;
	else if (pipe(ends) < 0)
		return 1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		int failed = tests[i]();
		if (HOW == SHARED)
			*shared = failed;
		else if (write(ends[1], failed ? "bad" : "good", 5) != 5)
			_exit(9);
		_exit(0);
	}
	if (HOW == WAIT_FIRST || HOW == SHARED)
		waitpid(child, &status, 0);
	if (HOW == SHARED)
		return *shared != 0;
	close(ends[1]);
	if (read(ends[0], word, sizeof(word) - 1) < 0)
		return 1;
	close(ends[0]);
	if (HOW == READ_FIRST)
		waitpid(child, &status, 0);
	return strcmp(word, "good") != 0;
}

int main(void)
{
	int failed = 0;
	if (HOW == SHARED)
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		failed += run_one(i);
	printf("%d failed\n", failed);
#ifdef LOGS
	FILE *log = fopen("log.txt", "a");
	if (!log || fprintf(log, "%d failed\n", failed) < 0 || fclose(log) != 0)
		return 9;
#endif
#ifdef MANY
	return failed;
#else
	return failed != 0;
#endif
}
