/* What sentences and lines about findings are made of. */
#pragma once

#include "base/outcome.h"
#include "base/str.h"
#include "suite/roster.h"

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
/* "A, B and 3 more"; one more is named rather than counted. */
struct err *words_append_texts(struct str *line, const char *const *texts,
			       size_t n, size_t max) _must_check_;
struct err *words_append_tests(struct str *line, const struct roster *roster,
			       const size_t *tests, size_t n,
			       size_t max) _must_check_;
/* The same for a name as a pattern that matches nothing else. */
struct err *words_append_pattern(struct str *line,
				 const char *name) _must_check_;
