/*
 * What C, C++, POSIX and Java leave open, as one table: the functions whose calls
 * the agents may answer differently (wire/choices.h), shared by the agents, the
 * report and the documentation.
 *
 * To add a model: one row in the file of its family, wire/models_FAMILY.h; its
 * function in models/; a fragile and a correct case in tests/models/FAMILY.* (a
 * test compares both lists with this table). Then tests/lint/check_models.py --fix
 * writes the table of docs/choices.md. Other names under which the function can be
 * called go into tests/agent/exports_choices.txt. Models of Java are in
 * wire/models_java.h: their methods are listed in vm/vm_models.c, and their cases
 * are tests/subjects/jvm/choices.
 *
 *	X(name, kind, level, flags, api, clause, never)
 *
 *	name	of the enumerator: WIRE_MODEL_name
 *	kind	WIRE_PERMUTE, …: what is done
 *	level	the lowest (most consistent) level at which it takes part
 *	flags	WIRE_THROUGH, WIRE_OPTIONAL, …
 *	api	what users call it; --api matches it
 *	clause	what leaves it open, and where that is written
 *	never	what the model must not do
 */
#pragma once

#include "wire/models_environment.h"
#include "wire/models_hash.h"
#include "wire/models_java.h"
#include "wire/models_memory.h"
#include "wire/models_order.h"
#include "wire/models_short.h"
#include "wire/models_statics.h"
#include "wire/models_threads.h"
#include "wire/models_values.h"

/* How consistent choices stay, from the most to the least. */
enum wire_level {
	WIRE_ONE,  /* one other but constant behaviour */
	WIRE_EQ,   /* equal inputs behave alike */
	WIRE_ID,   /* the same unchanged object behaves alike */
	WIRE_FULL, /* every call on its own */
	WIRE_LEVELS,
};

enum wire_kind {
	WIRE_PERMUTE,	  /* the same things in another order */
	WIRE_RANDOM,	  /* another value with the same property */
	WIRE_EXTEND,	  /* more, longer or later than today */
	WIRE_SHORT,	  /* less than was asked for */
	WIRE_SPURIOUS,	  /* it returns without the reason one waits for */
	WIRE_ENVIRONMENT, /* another surrounding, constant through a run */
	WIRE_KINDS,
};

enum wire_model_flags {
	/* Calls from the C++ library and from GLib are the program's. */
	WIRE_THROUGH = 1 << 0,
	/* Only where --api names it: correct programs may rely on it. */
	WIRE_OPTIONAL = 1 << 1,
	/* Decided once, before the program's first constructor. */
	WIRE_STARTUP = 1 << 2,
	/* The same through a run, in all its processes: at FULL as at ID. */
	WIRE_CONSTANT = 1 << 3,
	/* Of Java's library: in a VM, and nowhere else. */
	WIRE_JAVA = 1 << 4,
};

/* clang-format off */
#define WIRE_MODELS(X)                                                         \
	WIRE_MODELS_ORDER(X)                                                   \
	WIRE_MODELS_HASH(X)                                                    \
	WIRE_MODELS_MEMORY(X)                                                  \
	WIRE_MODELS_VALUES(X)                                                  \
	WIRE_MODELS_SHORT(X)                                                   \
	WIRE_MODELS_STATICS(X)                                                 \
	WIRE_MODELS_THREADS(X)                                                 \
	WIRE_MODELS_ENVIRONMENT(X)                                             \
	WIRE_MODELS_JAVA(X)
/* clang-format on */

enum wire_model {
#define X(name, kind, level, flags, api, clause, never) WIRE_MODEL_##name,
	WIRE_MODELS(X)
#undef X
		WIRE_MODELS_N,
};
