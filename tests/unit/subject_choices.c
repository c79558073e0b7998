/*
 * Programs of tests/unit/test_process_choices.c: they rely on the order of equal
 * elements after qsort(), so they fail where it is another.
 *
 *	subject_choices once	sorts
 *	subject_choices never	does nothing that is left open
 *	subject_choices fork	two children sort, one after the other
 *	subject_choices self	becomes "once" in the same process
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct pair {
	int key, value;
};

static int by_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* 0: they stayed in their order. */
static int sort(void)
{
	struct pair pairs[6] = { { 1, 0 }, { 1, 1 }, { 1, 2 },
				 { 1, 3 }, { 1, 4 }, { 1, 5 } };
	int moved = 0;
	qsort(pairs, 6, sizeof(pairs[0]), by_key);
	for (int i = 0; i < 6; i++) {
		printf("%d", pairs[i].value);
		moved |= pairs[i].value != i;
	}
	printf("\n");
	fflush(stdout);
	return moved;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "never";
	int result = 0;
	printf("%p\n", (void *)&result);
	if (!strcmp(what, "once"))
		return sort();
	if (!strcmp(what, "self")) {
		fflush(stdout);
		execl(argv[0], argv[0], "once", (char *)NULL);
		return 9;
	}
	for (int i = 0; i < 2 && !strcmp(what, "fork"); i++) {
		fflush(stdout);
		pid_t pid = fork();
		if (!pid)
			_exit(sort());
		int status = 0;
		while (waitpid(pid, &status, 0) != pid)
			;
		result |= status != 0;
	}
	return result;
}
