/* What the files that show a document have in common. */
#pragma once

#include <stdbool.h>

#include "report/verdict.h"
#include "whole/document.h"

struct reread;

json_t *document_list_of(const struct document *document, const char *key);
/* "" where there is no such text. */
const char *document_text_of(const json_t *object, const char *key);
bool document_is_known(const json_t *finding);

/* Of tests or findings of a suite that ran in @folder. */
struct err *document_move_places(json_t *list, const char *folder) _must_check_;

/* Sets "run"; suites and findings are complete. */
struct err *document_set_run(struct document *document) _must_check_;

struct document_counts {
	size_t passed, failed, skipped, tests;
	size_t findings, known, high, medium, low;
};
struct document_counts document_count(const struct document *document);

/* Tests and findings are sorted by suite: a cursor each. */
struct suite_cursor {
	const json_t *list;
	size_t at;
};
/* How many members of @suite are next. */
size_t suite_cursor_span(struct suite_cursor *cursor, const char *suite);
/* The report of one suite, whose members are next; moves the cursors on. */
struct err *document_open(const json_t *suite, struct suite_cursor *tests,
			  struct suite_cursor *findings,
			  struct reread **ret) _must_check_;

/* The verdict on all suites: what they have alike is one problem. */
struct err *document_judge(const struct document *document,
			   struct report_verdict *ret) _must_check_;
