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

/* It takes the controller's breakpoints: tests/subjects/choices has its tests. */
#define CASE_SUBJECT(name)                                                     \
	{                                                                      \
#name, case_without, case_without, true                        \
	}

static inline bool case_without(void)
{
	return true;
}

/* Correct ones run side by side: most of them wait, for one another or for time. */
#define CASES_AT_ONCE 8

static pid_t start_case(const struct model_case *one, bool fragile)
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
	return pid;
}

static void end_case(const struct model_case *one, bool fragile, pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) != pid)
		;
	printf("%s %s\n", one->model,
	       fragile && (one->out_of_reach ||
			   (WIFEXITED(status) &&
			    WEXITSTATUS(status) == CASE_NOT_HERE))
		       ? "unreachable"
	       : status == 0 ? "held"
			     : "failed");
}

static void run_cases(const struct model_case *cases, size_t n, bool fragile,
		      const char *model)
{
	pid_t pids[CASES_AT_ONCE];
	size_t at_once = fragile ? 1 : CASES_AT_ONCE;
	for (size_t i = 0; i < n && model; i++) {
		if (!strcmp(cases[i].model, model))
			end_case(&cases[i], fragile,
				 start_case(&cases[i], fragile));
	}
	for (size_t i = 0; i < n + at_once && !model; i++) {
		if (i >= at_once)
			end_case(&cases[i - at_once], fragile,
				 pids[i % at_once]);
		if (i < n)
			pids[i % at_once] = start_case(&cases[i], fragile);
	}
}

#define CASES(...)                                                             \
	int main(int argc, char **argv)                                        \
	{                                                                      \
		static const struct model_case cases[] = { __VA_ARGS__ };      \
		size_t n = sizeof(cases) / sizeof(cases[0]);                   \
		if (argc < 2)                                                  \
			return 2;                                              \
		bool fragile = argv[1][0] == 'f';                              \
		run_cases(cases, n, fragile, argc < 3 ? NULL : argv[2]);       \
		return 0;                                                      \
	}
