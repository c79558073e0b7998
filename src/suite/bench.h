/*
 * Trying calls: a process in which some tests ran stands where another test is
 * about to begin; functions out of a library that the caller compiled are called
 * in copies of it, and then the test runs.
 *
 * The library is made for this very process: symbols of the program get the
 * addresses that they have there (bench.bind()). It has an array of functions
 * without parameters, SUITE_BENCH_TABLE, that ends with NULL.
 *
 * A call that crashes, hangs or ends the process is a result, not an error. So is
 * one that sends signals to other processes, starts some, or connects: it is
 * ended there. Files that it changes are restored as those that tests change.
 */
#pragma once

#include "base/routine.h"
#include "suite/suite.h"

#define SUITE_BENCH_TABLE "polygraph_candidates"

struct suite_symbol {
	char *name;
	uint64_t address; /* in the process; 0: the program has none */
};
DEFINE_VEC(suite_symbols, struct suite_symbol)
void suite_symbols_free(struct suite_symbols *symbols);
static inline void suite_symbols_freep_deep(struct suite_symbols *symbols)
{
	suite_symbols_free(symbols);
}

struct suite_called {
	bool returned;	      /* the call came back by itself */
	bool late;	      /* it did not in time */
	enum outcome outcome; /* of the test then; OUTCOME_NONE: did not run */
};

/* A call without a compiler: the machine's own way, integers and addresses. */
struct suite_raw_argument {
	uint64_t value;
	const char *text; /* its address is the value; NULL: none */
	bool string;	  /* a std::string of libstdc++ that holds the text */
};
struct suite_raw_call {
	uint64_t function;
	uint64_t getter; /* whose result is the first argument; 0: none */
	struct suite_raw_argument arguments[ROUTINE_PARAMETERS];
	size_t n;
};

struct suite_bench {
	/* What differs from before the first test, now. */
	const struct change *roots;
	size_t n;
	size_t blocks; /* live in the heap, now; 0: not known */
	void *context;
	/*
	 * What the object file at @path needs from the project's own files, and
	 * what nobody has (address 0); the rest is left to the loader. It stands
	 * for a part of @file, whose static variables and functions come first.
	 */
	struct err *(*bind)(void *context, const char *path,
			    const struct routines *routines, const char *file,
			    struct suite_symbols *ret);
	/* *@ret: it could be loaded. One at a time: replaces the last one. */
	struct err *(*load)(void *context, const char *library, bool *ret);
	/* The function at that place of the library's table. */
	struct err *(*call)(void *context, size_t index,
			    struct suite_called *ret);
	struct err *(*call_raw)(void *context,
				const struct suite_raw_call *call,
				struct suite_called *ret);
	/*
	 * How far functions are from changing these roots (bits of @chosen), by
	 * place in @functions; (unsigned)-1: they do not lead there.
	 */
	struct err *(*rank)(void *context, const bool *chosen,
			    const struct routines *routines, unsigned *ret);
};

struct suite_bench_options {
	const struct suite_watch *watch;
	const size_t *prefix; /* may be empty */
	size_t n;
	size_t test;
	/*
	 * A library and a function of it that is called when the prefix has
	 * ended, before roots and blocks are determined. NULL: none.
	 */
	const char *library;
	size_t first;
	bool twice;			  /* it is called a second time */
	const struct suite_raw_call *raw; /* the same; or NULL */
};

typedef struct err *suite_bench_work(void *data,
				     const struct suite_bench *bench);
/*
 * Calls @work once; not at all where the process cannot be copied or calls of it
 * cannot be tried, and then *@ret_why_not (if not NULL) is why: a text that
 * lives as long as the suite.
 */
struct err *suite_work_bench(struct suite *suite,
			     const struct suite_bench_options *options,
			     suite_bench_work *work, void *data,
			     const struct suite_observer *observer,
			     const char **ret_why_not) _must_check_;

/* How a source file was compiled, and which functions the program has. */
struct suite_code {
	struct routines routines;
	char *folder;	/* in which the compiler was started; NULL: unknown */
	char *producer; /* what it called itself */
	struct strv folders; /* of the files it read */
};
void suite_code_free(struct suite_code *code);
static inline void suite_code_freep(struct suite_code *code)
{
	suite_code_free(code);
}
/* Empty where that is not known, as with suites of processes. */
struct err *suite_describe_code(struct suite *suite, const char *file,
				struct suite_code *ret) _must_check_;
