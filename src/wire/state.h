/*
 * What the agent (in the tested process) notes of process state that no system
 * call shows, for the controller to read while the process is stopped. Plain
 * integers of fixed size and bytes only.
 *
 * The agent exports one object of this type, WIRE_STATE_SYMBOL. A value is
 * written after the C or C++ library's function did it. @changes counts all
 * such calls: as long as it stays the same, nothing below changed, except what
 * the addresses point to.
 */
#pragma once

#include <stdint.h>

#define WIRE_STATE_MAGIC 0x7461747379676c70ULL
#define WIRE_STATE_VERSION 2
#define WIRE_STATE_SYMBOL "polygraph_agent_state"

#define WIRE_SIGNALS 65
#define WIRE_LOCALES 13 /* LC_CTYPE … LC_IDENTIFICATION, as <locale.h> */
#define WIRE_LOCALE_NAME 64
#define WIRE_EXITS 64
#define WIRE_READS 256
#define WIRE_READ_NAME 56
#define WIRE_REST 48
#define WIRE_RESULTS 32

struct wire_signal {
	uint64_t handler; /* 0: default, 1: ignored */
	uint64_t flags;	  /* SA_… */
	uint64_t mask;
};

/* Functions to be called at the end, without destructors of statics. */
struct wire_exit {
	uint64_t function;
	uint32_t kind; /* 0: atexit, 1: on_exit, 2: at_quick_exit */
	uint32_t caller_known;
	uint64_t caller; /* return address of the registering call */
};

/* What can be asked for, with @log_reads set by the controller. */
enum wire_asked {
	WIRE_ENVIRONMENT,
	WIRE_RANDOM,  /* rand, random */
	WIRE_DRAND48, /* drand48, lrand48, mrand48 */
	WIRE_LOCALE,
	WIRE_TIME_ZONE,
	WIRE_STRTOK,
	WIRE_GETOPT,
	WIRE_HSEARCH,
	WIRE_ASKED,
};

/*
 * Environment variables that were asked for: a ring of the last ones; @reads_n
 * counts on. The others have no names, and only their number counts (@asked):
 * a test that draws a million numbers would leave no room for variables.
 */
struct wire_read {
	uint32_t what;		   /* WIRE_ENVIRONMENT */
	uint32_t wrote;		   /* 1: it was set, not asked for */
	char name[WIRE_READ_NAME]; /* variable, cut off; ends with 0 */
};

/* Memory of the C library that a function of it returns, each time the same. */
struct wire_result {
	uint64_t address;
	uint64_t size;
};

struct wire_state {
	uint64_t magic;
	uint32_t version;
	uint32_t active;
	uint64_t changes;

	struct wire_signal signals[WIRE_SIGNALS]; /* by number */

	char locale[WIRE_LOCALES][WIRE_LOCALE_NAME]; /* by category */
	uint64_t locale_calls;

	uint64_t random;      /* address of random()'s table … */
	uint64_t random_size; /* … bytes */
	uint64_t drand48;     /* address of drand48()'s last number … */
	uint64_t drand48_size;

	uint64_t exits_n; /* registered in all; the last WIRE_EXITS: */
	struct wire_exit exits[WIRE_EXITS];

	/* C++ hooks as they were set; 0: never. */
	uint64_t terminate, terminate_calls;
	uint64_t new_handler, new_handler_calls;
	uint64_t unexpected, unexpected_calls;
	/* std::locale::global(): the implementation of the one that was set. */
	uint64_t cxx_locale, cxx_locale_calls;

	/* strtok(): where it is, and what the next call would divide, cut off. */
	uint64_t strtok_at;
	char strtok_rest[WIRE_REST];
	uint64_t getopt_calls;
	uint32_t getopt_inside; /* 1: in the middle of an argument */
	uint32_t hsearch;	/* 1: hcreate() made a table */
	uint64_t results_n;
	struct wire_result results[WIRE_RESULTS];

	uint32_t log_reads; /* written by the controller */
	/*
	 * Bits 1 << enum wire_asked: set again since the controller cleared it.
	 * Asking for it no longer means asking for what others left.
	 */
	uint32_t overwritten;
	uint64_t reads_n;
	struct wire_read reads[WIRE_READS];
	uint64_t asked[WIRE_ASKED]; /* how often, all kinds */
};
