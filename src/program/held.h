/*
 * Objects that tests get from their framework: cmocka's group state, the data of
 * GLib's tests, Qt's test object. They lie on the heap or on the stack of main(),
 * and often nothing but the framework points to them.
 *
 * Adapters say which test function gets what (run_hold()); the watch makes roots
 * of what more than one of them gets (watch/held_roots.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct held {
	uint64_t object;    /* where it lies; 0: not known yet, or none */
	uint64_t function;  /* that gets it; 0: functions of its class */
	uint64_t caller;    /* code that gave it away, where that is known */
	unsigned parameter; /* which of its parameters it is, from 0 on … */
	bool indirect;	    /* … or that points to a pointer to it */
	const char *name;   /* where the parameter has none; static */
};

/* What one process and its copies hold now. */
struct held_list {
	VEC(struct held) all;
	uint64_t version; /* another whenever @all is */
};
