/* What texts of several kinds of findings are made of. */
#pragma once

#include "base/str.h"
#include "report/report.h"

/* Text of the tested program, harmless. */
struct err *words_append(struct str *line, const char *text) _must_check_;
/* 1234567 as "1,234,567". */
struct err *words_append_count(struct str *line, uint64_t count) _must_check_;
/* "dir/file.c:12" */
struct err *words_append_place(struct str *line, const char *file,
			       unsigned number) _must_check_;
/* "fails", "crashes", "hangs" */
const char *words_verb(enum outcome outcome);
/* "fails at x.c:3: expected 1"; nothing where neither is known. */
struct err *words_append_failure(struct str *line, enum outcome outcome,
				 const char *file, unsigned number,
				 const char *message) _must_check_;
/* "WHAT: A (2 of 10 runs), B (1 of 10 runs) and 3 more"; nothing of none. */
struct err *words_append_randoms(struct str *line, const char *what,
				 const struct report_random *randoms, size_t n,
				 size_t max) _must_check_;
