/*
 * What watches get from the code that drives the program: the program, the
 * observer, and the process that is followed. They know nothing else of the
 * engine.
 */
#pragma once

#include "program/program.h"
#include "suite/suite.h"

struct held_list;
struct saver;

struct watch_host {
	struct tracer *tracer;
	struct program *program;
	char *const *env; /* that it is started with; NULL: ours */
	/* As they are at each moment; both may be NULL. */
	const struct suite_observer *const *observer;
	/*
	 * Tests run in children of the process: of process state, only what
	 * outlives processes can be left.
	 */
	bool forked;
	struct saver *const *saver; /* keeps files before they are touched */
	/* How many tests cannot be told from their runner; may be NULL. */
	const size_t *inlined;
};

struct watch_process {
	struct tracee *tracee;
	struct thread *thread; /* stands where the next test will begin */
	struct tracee *origin; /* another that stands there; NULL: none */
	/* What its framework gives to tests, as it is at each moment. */
	const struct held_list *held;
	/* The tests that it ran before, if it is on its way. */
	const size_t *before;
	size_t n_before;
};
