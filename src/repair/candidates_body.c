/* Candidates out of tests that clean up, and out of fixtures. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "repair/candidates.h"

/* Of so many statements every run is tried. */
#define RUNS_OF 14
#define FIXTURES_MAX 8
#define BODY_SCORE 14

/* Is it an assertion of some framework, of which only the calls count? */
static bool is_assertion(const char *statement)
{
	static const char *const names[] = { "assert",	     "ck_assert",
					     "g_assert",     "fail_",
					     "munit_assert", "cr_",
					     "cl_" };
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_starts(statement, names[i]))
			return true;
	}
	while (isupper((unsigned char)statement[n]) || statement[n] == '_' ||
	       isdigit((unsigned char)statement[n]))
		n++;
	return n > 2 && statement[n] == '(';
}

/* A statement as it may stand elsewhere; "" if nothing of it may. */
static struct err *statement_code(const struct source_file *source,
				  struct source_span span, char **ret)
{
	_cleanup_(freep) char *flat = source_flat(source, span);
	_cleanup_(strv_freep) struct strv calls = {};
	_cleanup_(str_freep) struct str code = STR_INIT;
	if (!flat)
		return err_nomem();
	if (!is_assertion(flat)) {
		*ret = take_ptr(flat);
		return NULL;
	}
	TRY(source_inner_calls(source, span, &calls));
	for (size_t i = 0; i < calls.n; i++)
		TRY(str_appendf(&code, "%s%s;", i ? " " : "", calls.data[i]));
	*ret = str_take(&code);
	return *ret ? NULL : err_nomem();
}

static struct err *add_run(const struct strv *statements, size_t from,
			   size_t to, struct candidate_list *ret)
{
	_cleanup_(str_freep) struct str code = STR_INIT;
	struct repair_candidate candidate = {
		.arguments = (unsigned)(to - from),
		.score = BODY_SCORE + (unsigned)(to - from),
	};
	for (size_t i = from; i < to; i++) {
		if (*statements->data[i])
			TRY(str_appendf(&code, "%s%s", code.n ? "\n" : "",
					statements->data[i]));
	}
	if (!code.n)
		return NULL;
	candidate.code = str_take(&code);
	return candidate.code ? vec_push(ret, candidate) : err_nomem();
}

static struct err *add_runs(const struct source_file *source,
			    struct source_span body, struct candidate_list *ret)
{
	_cleanup_(source_spans_freep) struct source_spans spans = {};
	_cleanup_(strv_freep) struct strv statements = {};
	TRY(source_statements(source, body, &spans));
	for (size_t i = 0; i < spans.n; i++) {
		char *code = NULL;
		TRY(statement_code(source, spans.data[i], &code));
		TRY(strv_take(&statements, code));
	}
	size_t longest = statements.n > RUNS_OF ? 2 : statements.n;
	for (size_t n = 1; n <= longest; n++) {
		for (size_t i = 0; i + n <= statements.n; i++)
			TRY(add_run(&statements, i, i + n, ret));
	}
	return statements.n > RUNS_OF
		       ? add_run(&statements, 0, statements.n, ret)
		       : NULL;
}

static bool is_fixture_name(const char *at)
{
	static const char *const names[] = { "setup",	 "set_up",
					     "SetUp",	 "setUp",
					     "teardown", "tear_down",
					     "TearDown", "tearDown" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);
		if (!strncmp(at, names[i], n)) {
			at += n;
			at += strspn(at, "_abcdefghijklmnopqrstuvwxyz0123456789"
					 "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
			return *at == '(';
		}
	}
	return false;
}

struct err *candidates_from_body(const struct source_file *source,
				 struct source_span body,
				 struct candidate_list *ret)
{
	size_t fixtures = 0;
	TRY(add_runs(source, body, ret));
	for (size_t at = 0; at < source->n && fixtures < FIXTURES_MAX; at++) {
		struct source_span found;
		if (!is_fixture_name(source->plain + at))
			continue;
		size_t line = source_line(source, at);
		if (!source_body(source, (unsigned)line + 1, &found) ||
		    source_line(source, found.from) > line + 2)
			continue;
		fixtures++;
		TRY(add_runs(source, found, ret));
		at = found.to;
	}
	return NULL;
}
