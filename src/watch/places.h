/*
 * Which tests read which places (suite_run_places()): hardware watchpoints on
 * them while tests run.
 *
 * A test reads a place when it looks at a byte of it that it has not written
 * itself before. After the first such look, or when the test has overwritten
 * all of it, the place is left alone until the next test: what is read all the
 * time costs one stop a test. Outside of tests nothing counts, nor what the
 * allocator does to a block that is given back.
 *
 * What it does not see: reads by the kernel, and more of a large place than
 * there are watchpoints left (four of 8 bytes, at least one a place).
 * Places that are files or process state are for readers.h.
 */
#pragma once

#include "native/run.h"
#include "tracee/watchpoint.h"

struct places;

#define PLACES_MAX WATCHPOINTS

/* suite_ops.run_places */
struct err *places_run(struct suite *suite, const size_t *order, size_t n,
		       const struct suite_place *list, size_t n_places,
		       const struct suite_observer *observer) _must_check_;

/* Hooks of the engine, while the session has places. */
struct err *places_process(struct run *run) _must_check_;
void places_stop(struct session *session); /* before its process goes away */
void places_begin(struct run *run);
void places_end(struct run *run, size_t test);
void places_touched(struct run *run, const struct tracee_event *event);
