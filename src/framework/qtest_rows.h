/*
 * The rows of data of Qt Test. A QTestTable has them in a vector; all but one of
 * them can be hidden for a while, so that the framework runs only that one. A
 * program has one table for all its functions (initTestCase_data()) and one for
 * each function; in the name of a test are the tags of both.
 */
#pragma once

#include "native/run.h"

/* A vector of which a part is hidden. */
struct qtest_rows {
	uint64_t at; /* 0: nothing is hidden */
	uint64_t bounds[2];
};

/*
 * Hides all rows but the one that @test names; @hint is where it was.
 * *@ret_found: false where there is none, and nothing is hidden. A global table
 * without rows has nothing to hide.
 */
struct err *qtest_rows_narrow_global(struct run *run, size_t test,
				     uint64_t table, uint64_t hint,
				     struct qtest_rows *rows,
				     bool *ret_found) _must_check_;
/* The same of a function's table, after that; @global is as that left it. */
struct err *qtest_rows_narrow(struct run *run, size_t test, uint64_t table,
			      uint64_t hint, const struct qtest_rows *global,
			      struct qtest_rows *rows,
			      bool *ret_found) _must_check_;
/* Shows them again. */
struct err *qtest_rows_show(struct run *run,
			    struct qtest_rows *rows) _must_check_;

/* "global:local", or one of them; as in the framework's own names. */
struct err *qtest_rows_join_tags(const char *global, const char *local,
				 char **ret) _must_check_;
