/*
 * Candidates as source code, compiled for a process of the tested program and
 * loaded into it.
 *
 * Each candidate is one function. What does not compile is left out, and the
 * rest compiled again, so that it may be generated without knowing whether it is
 * allowed: the compiler knows. The same holds for declarations.
 */
#pragma once

#include "base/strv.h"
#include "repair/source.h"
#include "suite/bench.h"

/* How the file of a test is compiled. */
struct compiler {
	struct strv command; /* the program, then its options */
	struct strv folders; /* in which headers are searched; absolute */
	char *folder;	     /* in which it is run */
	char *work;	     /* for our own files */
	bool cxx;
	bool old_c;	   /* declarations come first */
	uint64_t deadline; /* clock_now(); 0: none */
	size_t made;
};

/*
 * @build: the project's own command, which may be asked; NULL: unknown.
 * @deadline: of all that the compiler is for.
 */
struct err *compiler_find(const struct source_file *source,
			  const struct suite_code *code, const char *work,
			  const char *build, uint64_t deadline,
			  struct compiler *ret) _must_check_;
void compiler_free(struct compiler *compiler);
static inline void compiler_freep(struct compiler *compiler)
{
	compiler_free(compiler);
}

/*
 * Would a file with this content, in place of @path, compile? *@ret: it would,
 * or the compiler cannot tell, as it does not know the file as it is either.
 */
struct err *compiler_check(struct compiler *compiler, const char *path,
			   const char *original, const char *content,
			   bool *ret) _must_check_;

/* What was compiled together. */
struct trial_batch {
	char *object;
	char *library; /* NULL: not linked yet */
	/* By candidate: its place in the table; BATCH_NONE: does not compile. */
	VEC(size_t) places;
	size_t compiled;
};
#define BATCH_NONE ((size_t)-1)
void batch_free(struct trial_batch *batch);
static inline void batch_freep(struct trial_batch *batch)
{
	batch_free(batch);
}

/*
 * @declarations that do not compile are set to NULL and left out from then on.
 * The first candidate of each batch is an empty one, the control: it is not among
 * @code. An error where not even that compiles.
 */
struct err *batch_compile(struct compiler *compiler, struct strv *declarations,
			  const struct strv *code,
			  struct trial_batch *ret) _must_check_;
/*
 * For this process, as if it were a part of @file; *@ret: the library is there
 * and loaded.
 */
struct err *batch_load(struct compiler *compiler, struct trial_batch *batch,
		       const struct suite_bench *bench,
		       const struct suite_code *code, const char *file,
		       bool *ret) _must_check_;
