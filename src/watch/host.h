/*
 * What watches get from the code that drives the program: the program, the
 * observer, and the process that is followed. They know nothing else of the
 * engine.
 */
#pragma once

#include "program/program.h"
#include "suite/suite.h"

struct saver;

struct watch_host {
	struct tracer *tracer;
	struct program *program;
	char *const *env; /* that it is started with; NULL: ours */
	/* As they are at each moment; both may be NULL. */
	const struct suite_observer *const *observer;
	struct saver *const *saver; /* keeps files before they are touched */
};

struct watch_process {
	struct tracee *tracee;
	struct thread *thread; /* stands where the first test will begin */
	struct tracee *origin; /* another that stands there; NULL: none */
};
