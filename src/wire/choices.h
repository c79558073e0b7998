/*
 * The memory that the agent (in the tested process) and the controller share
 * while APIs are made to do something else that is allowed: which choices to
 * make, and which were made. It is a file that both map, so that processes
 * started by the tested one share it, and so that it outlives them. Its path is
 * in the environment (WIRE_CHOICES_VARIABLE). Plain integers of fixed size and
 * bytes.
 *
 * A choice is a point at which an API may do one of several things
 * (alternatives). They are numbered; 0 is what the library does on its own.
 * Which one is taken (the pick) follows from seed, model, level and the key of
 * that level, never from choices before it:
 *
 *	ONE	hash(seed, model), and never 0
 *	EQ	hash(seed, model, hash of the inputs)
 *	ID	hash(seed, model, number and version of the object)
 *	FULL	hash(seed, model, thread, number of the model's choice in it)
 *
 * Choices are numbered by thread and phase. A thread is known by the path of
 * its creation, not by its id: the first has the key WIRE_MAIN, the n-th that a
 * thread creates hash(its key, n). If started processes are included
 * (@children), one is known by its command line and how many had the same
 * before it, or, if it was only forked, by the thread that forked it. Choices
 * that are switched off (@on, @ranges) are still numbered, and take 0. The
 * phase is 0 before the first test and 1 in tests; whenever @epoch changes,
 * numbering starts over.
 *
 * Permutations of n things are one choice of n! alternatives, the number being
 * their Lehmer code; of more than WIRE_PERMUTED things the pick is the seed of
 * a shuffle, and there are WIRE_MANY alternatives.
 *
 * The controller writes what is marked with C, while no thread of the process
 * runs or before it begins, the agent what is marked with A. What the agent
 * wrote is hostile: every number is checked before it is used.
 */
#pragma once

#include <stdint.h>

#include "wire/models.h"

#define WIRE_CHOICES_MAGIC 0x736563696f686370ULL
#define WIRE_CHOICES_VERSION 5
#define WIRE_CHOICES_VARIABLE "POLYGRAPH_CHOICES"

#define WIRE_MAIN 1ULL
#define WIRE_PERMUTED 20 /* 20! fits in 64 bits */
#define WIRE_MANY (1ULL << 62)

#define WIRE_USER_MODELS 32 /* of polygraph.toml, numbered after the others */
#define WIRE_MODEL_USER WIRE_MODELS_N
#define WIRE_MODELS_ALL (WIRE_MODELS_N + WIRE_USER_MODELS)
#define WIRE_MODEL_WORDS 6
#define WIRE_MODELS_MAX (64 * WIRE_MODEL_WORDS)

#define WIRE_CHOICE_RANGES 4096
#define WIRE_CHOICE_THREADS 1024
#define WIRE_CHOICE_RECORDS 64
#define WIRE_CHOICE_TEXT 128
#define WIRE_CHOICE_STACK (32U << 10)
#define WIRE_CHOICE_MODULES 256
#define WIRE_CHOICE_PATH 256
#define WIRE_CHOICE_TRACE 16384
#define WIRE_CALLERS 16384
#define WIRE_CHOICE_PROCESSES 4096
#define WIRE_CHOICE_PINNED 2048
#define WIRE_CHOICE_LIBRARIES 1024

/* Choices @from to @to - 1 of a thread in a phase. */
struct wire_choice_range {
	uint64_t thread;
	uint64_t from, to;
	uint64_t phase;
};

struct wire_choice_thread {
	uint64_t key;
	uint64_t phase;
	uint64_t n; /* choices so far */
};

/* Callee-saved registers of x86-64, and where they were taken. */
enum wire_register {
	WIRE_RIP,
	WIRE_RSP,
	WIRE_RBP,
	WIRE_RBX,
	WIRE_R12,
	WIRE_R13,
	WIRE_R14,
	WIRE_R15,
	WIRE_REGISTERS,
};

/* A choice with its surroundings, where @detail is set and it took another than 0. */
struct wire_choice {
	uint64_t thread, n, phase;
	uint64_t model;
	uint64_t pick, alternatives;
	char argument
		[WIRE_CHOICE_TEXT]; /* what it was called with; ends with 0 */
	char did[WIRE_CHOICE_TEXT]; /* what it did instead; ends with 0 */
	uint64_t registers[WIRE_REGISTERS];
	uint64_t stack_n; /* bytes from the stack pointer on */
	/*
	 * 1: @stack has no bytes of a stack but, of each frame, from the
	 * innermost on, function, file and line as texts, each ended by 0.
	 */
	uint64_t frames;
	unsigned char stack[WIRE_CHOICE_STACK];
};

struct wire_choice_module {
	uint64_t bias;
	char path[WIRE_CHOICE_PATH]; /* the first is the program itself */
};

/* One choice in the sequence of all threads' (@trace_on). */
struct wire_choice_step {
	uint64_t model;
	uint64_t alternatives;
	uint64_t pick;
	uint64_t thread;
};

/* Code of the program's file that is not the program's: [low, high). */
struct wire_callers {
	uint64_t low, high; /* as in the file: without its bias */
};

/* Processes with this key: a hash table, empty where @key is 0. */
struct wire_choice_process {
	uint64_t key;
	uint64_t n;
};

/* Elements that are sorted: what is in them (@sort_address). */
enum wire_sort_flags {
	WIRE_SORT_ADDRESSES = 1 << 0,
	WIRE_SORT_INSIDE = 1 << 1, /* addresses within the element itself */
};

struct wire_choices {
	uint64_t magic;	  /* C */
	uint64_t version; /* C */

	uint64_t active;   /* C: 0: everything as the libraries do it */
	uint64_t level;	   /* C: enum wire_level */
	uint64_t seed;	   /* C */
	uint64_t phase;	   /* C: 0, 1 */
	uint64_t epoch;	   /* C: changes whenever numbering starts over */
	uint64_t children; /* C: 1: started processes are included */

	/* C: every choice reads all of these, so they are close together. */
	uint64_t only_ranges; /* 1: only choices in @ranges act */
	uint64_t detail;      /* 1: @records of choices that act */
	uint64_t trace_on;    /* 1: see @forced */
	uint64_t log_on;      /* 1: @left_alone is counted, for the log */

	/* C: bits by model: which are numbered, and which act. */
	uint64_t models[WIRE_MODEL_WORDS];
	uint64_t on[WIRE_MODEL_WORDS];
	uint64_t ranges_n; /* C */
	struct wire_choice_range ranges[WIRE_CHOICE_RANGES];

	/* C: framework and runtime linked into the program's own file; sorted. */
	uint64_t callers_n;
	struct wire_callers callers[WIRE_CALLERS];

	/* A: since the epoch began. */
	uint64_t attached; /* processes that mapped this */
	/* C: how many of the two below belong to the start of the process. */
	uint64_t start_made, start_acted;
	uint64_t made[WIRE_MODELS_MAX];	 /* choices of a model */
	uint64_t acted[WIRE_MODELS_MAX]; /* of those, other than 0 */
	/* Calls that did not come from the tested program's own code. */
	uint64_t left_alone[WIRE_MODELS_MAX];
	uint64_t threads_n; /* may be more than there is room for */
	struct wire_choice_thread threads[WIRE_CHOICE_THREADS];

	/* Where @detail is set. */
	uint64_t records_n; /* A: may be more than there is room for */
	struct wire_choice records[WIRE_CHOICE_RECORDS];
	uint64_t modules_n; /* A */
	struct wire_choice_module modules[WIRE_CHOICE_MODULES];

	/*
	 * C: where @trace_on is set picks are not drawn but given: the i-th
	 * choice of all takes forced[i], those after them 0. A: trace of all
	 * choices.
	 */
	uint64_t forced_n;
	uint64_t forced[WIRE_CHOICE_TRACE];
	uint64_t trace_n; /* A: may be more than there is room for */
	struct wire_choice_step trace[WIRE_CHOICE_TRACE];
	/*
	 * C: 1: before each choice the agent calls the function at @stop_address
	 * (A), an empty one where a breakpoint can be.
	 */
	uint64_t stop;
	uint64_t stop_address;
	/* A: address of its variable for the next pick; see models/choose.c. */
	uint64_t next_address;
	/* A: its function for models of polygraph.toml, models/choose_user.c. */
	uint64_t permute_address;
	/* A: its function for std::sort and its kin, models/sorting_std.c. */
	uint64_t sort_address;
	/* A: how many had the same key, so that the next gets another. */
	struct wire_choice_process processes[WIRE_CHOICE_PROCESSES];
	/*
	 * C: how file names of test frameworks' libraries begin, each ended by
	 * 0, the last by two: their calls are left alone, wherever the files
	 * are.
	 */
	char libraries[WIRE_CHOICE_LIBRARIES];
	/*
	 * C: names of environment variables that the suite sets for this test,
	 * ended in the same way: they stay as they are.
	 */
	char pinned[WIRE_CHOICE_PINNED];
};
