/*
 * The state of a suite in one text: what is known about it holds as long as
 * this stays the same.
 *
 * Of a test executable the content counts, and that of the shared libraries
 * that it needs and that are not the system's: they are searched for as
 * ld.so(8) does, by run paths and LD_LIBRARY_PATH. Not seen are libraries that
 * it opens itself (dlopen(3)) and files that tests read.
 *
 * Of a suite of processes the file that lists them counts, and the programs:
 * with --ctest and --meson the executable files below the build folder, by
 * name, size and time; with --commands those that the lines name. Of a Java suite
 * the class files and jars count, by name, size and time.
 */
#pragma once

#include "base/err.h"
#include "suite/suite.h"

/* 32 hexadecimal digits and a NUL. */
#define DIGEST_SIZE 33

/* Of the files alone. What cannot be read is left out. */
struct err *digest_files(const struct suite_options *options,
			 char ret[DIGEST_SIZE]) _must_check_;
/* Of all: @files is the digest above, @words what else counts; ends with NULL. */
void digest_suite(const struct suite *suite, const char *files,
		  const char *const *words, char ret[DIGEST_SIZE]);
