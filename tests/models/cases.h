/*
 * Cases of models: for each model of wire/models.h a piece of test code that
 * assumes more than the API promises, and the same written correctly.
 *
 *	static bool qsort_fragile(void) { … return what_a_test_would_assert; }
 *	static bool qsort_correct(void) { … }
 *	CASES(CASE(qsort), …)
 *
 * Without choices both hold. A case runs in a process of its own; what it does
 * must not depend on the cases before it. Cases of models that are decided at
 * the start (WIRE_STARTUP) see what main() saw.
 *
 *	PROGRAM correct | fragile [MODEL]	runs them, "MODEL held|failed" a line
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A case ends with this status where the machine lacks what it needs. */
#define CASE_NOT_HERE 77

struct model_case {
	const char *model;
	bool (*fragile)(void);
	bool (*correct)(void);
	bool out_of_reach; /* in this build: the compiler did it itself */
};

#define CASE(name)                                                             \
	{                                                                      \
		#name, name##_fragile, name##_correct, false                   \
	}
/* With optimisation the compiler makes the call itself: nothing to interpose. */
#ifdef __OPTIMIZE__
#define CASE_INLINED(name)                                                     \
	{                                                                      \
		#name, name##_fragile, name##_correct, true                    \
	}
#else
#define CASE_INLINED(name) CASE(name)
#endif

static int run_case(const struct model_case *one, bool fragile)
{
	bool (*function)(void) = fragile ? one->fragile : one->correct;
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0)
		_exit(3);
	if (!pid) {
		alarm(20);
		bool held = function();
		_exit(held ? 0 : 1);
	}
	int status = 0;
	while (waitpid(pid, &status, 0) != pid)
		;
	printf("%s %s\n", one->model,
	       fragile && (one->out_of_reach ||
			   (WIFEXITED(status) &&
			    WEXITSTATUS(status) == CASE_NOT_HERE))
		       ? "unreachable"
	       : status == 0		    ? "held"
					    : "failed");
	return 0;
}

#define CASES(...)                                                             \
	int main(int argc, char **argv)                                        \
	{                                                                      \
		static const struct model_case cases[] = { __VA_ARGS__ };      \
		size_t n = sizeof(cases) / sizeof(cases[0]);                   \
		if (argc < 2)                                                  \
			return 2;                                              \
		bool fragile = argv[1][0] == 'f';                              \
		for (size_t i = 0; i < n; i++) {                               \
			if (argc < 3 || !strcmp(cases[i].model, argv[2]))      \
				run_case(&cases[i], fragile);                  \
		}                                                              \
		return 0;                                                      \
	}
