/* Tests that leave shared state changed. */
#include <string.h>

#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"
#include "report/width.h"

/* Readers that a line names. */
#define READERS_MAX 2

/* Are findings of this kind looked for by the command? */
static bool is_covered(const struct report *report)
{
	return !strcmp(report->kind, "pollution") ||
	       !strcmp(report->kind, "check");
}

/* ---- one finding ---- */

/* "; read by A, B and 3 more" */
static struct err *append_readers(struct str *line,
				  const struct finding *finding)
{
	const struct leftover *leftover = leftover_of(finding);
	size_t n = leftover->readers.n;
	for (size_t i = 0; i < n && i < READERS_MAX; i++) {
		TRY(str_append(line, i == 0	  ? "; read by "
				     : i + 1 == n ? " and "
						  : ", "));
		TRY(words_append(line, roster_name(finding->tests,
						   leftover->readers.data[i])));
	}
	return n > READERS_MAX
		       ? str_appendf(line, " and %zu more", n - READERS_MAX)
		       : NULL;
}

/* "registry.head: NULL → {…}" */
static struct err *append_path(struct str *line, const struct change_path *path)
{
	TRY(words_append(line, path->path));
	TRY(str_append(line, ": "));
	TRY(words_append(line, path->before));
	TRY(str_append(line, " → "));
	return words_append(line, path->after);
}

static struct err *write_line(const struct finding *finding,
			      const struct report_style *style, FILE *out)
{
	const struct leftover *leftover = leftover_of(finding);
	const struct change *change = &leftover->change;
	_cleanup_(str_freep) struct str line = STR_INIT;
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	size_t more = change->n - 1 + change->more;
	TRY(words_append(&line, finding_test(finding)));
	TRY(str_append(&line, ": "));
	TRY(append_path(&line, &change->paths[0]));
	if (more)
		TRY(str_appendf(&line, " and %zu more place%s", more,
				more == 1 ? "" : "s"));
	TRY(str_append(&remarks,
		       leftover->effect == EFFECT_UNKNOWN
			       ? "effect unknown"
			       : leftover_effect_name(leftover->effect)));
	TRY(append_readers(&remarks, finding));
	if (leftover->proven)
		TRY(str_append(&remarks, leftover->readers.n == 1
						 ? ", which passes after it"
						 : ", which pass after it"));
	if (finding->known)
		TRY(str_append(&remarks, "; known"));
	kind_write_head(finding, &line, &remarks, style, out);
	return NULL;
}

/* The path of which it is known where it was allocated; else the first. */
static const struct change_path *allocated_path(const struct change *change)
{
	for (size_t i = 0; i < change->n; i++) {
		if (change->paths[i].n_stack)
			return &change->paths[i];
	}
	return &change->paths[0];
}

/* @what: "allocated" */
static struct err *pollution_append_stack(struct str *text, const char *what,
					  const struct call_frame *stack,
					  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct call_frame *frame = &stack[i];
		if (i)
			TRY(str_appendf(text, INDENT "%*s",
					(int)(width_of(what) + strlen(" in ")),
					""));
		else
			TRY(str_appendf(text, INDENT "%s in ", what));
		TRY(words_append(text,
				 frame->function ? frame->function : "?"));
		if (frame->file) {
			TRY(str_append(text, " at "));
			TRY(words_append_place(text, frame->file, frame->line));
		}
		TRY(str_append(text, "\n"));
	}
	return NULL;
}

/* Where it was written and read, as far as that was traced. */
static struct err *append_traces(struct str *text,
				 const struct finding *finding)
{
	const struct leftover *leftover = leftover_of(finding);
	TRY(pollution_append_stack(text, "written", leftover->written.stack,
				   leftover->written.n));
	for (size_t i = 0; i < leftover->reads.n; i++) {
		const struct leftover_trace *read = &leftover->reads.data[i];
		_cleanup_(str_freep) struct str what = STR_INIT;
		TRY(str_append(&what, "read by "));
		TRY(words_append(&what,
				 roster_name(finding->tests, read->test)));
		TRY(pollution_append_stack(text, what.s, read->stack, read->n));
	}
	return NULL;
}

static struct err *pollution_write_more(const struct finding *finding,
					FILE *out)
{
	const struct change *change = &leftover_of(finding)->change;
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (finding->file) {
		TRY(str_append(&text, INDENT "declared at "));
		TRY(words_append_place(&text, finding->file, finding->line));
		TRY(str_append(&text, "\n"));
	}
	for (size_t i = 1; i < change->n; i++) {
		TRY(str_append(&text, INDENT "also "));
		TRY(append_path(&text, &change->paths[i]));
		TRY(str_append(&text, "\n"));
	}
	if (change->more)
		TRY(str_appendf(&text, INDENT "and %zu more\n", change->more));
	const struct change_path *allocated = allocated_path(change);
	TRY(pollution_append_stack(&text, "allocated", allocated->stack,
				   allocated->n_stack));
	TRY(append_traces(&text, finding));
	fputs(text.s ? text.s : "", out);
	TRY(kind_write_hint(finding, out));
	TRY(kind_write_replay(finding, out));
	if (change->detail)
		fprintf(out, "%s\n", change->detail);
	return NULL;
}

static struct err *pollution_write_finding(const struct finding *finding,
					   const struct report_style *style,
					   FILE *out)
{
	TRY(write_line(finding, style, out));
	return pollution_write_more(finding, out);
}

/* ---- in a block ---- */

static struct err *append_more_places(struct str *line,
				      const struct change *change)
{
	size_t more = change->n - 1 + change->more;
	return more ? str_appendf(line, " and %zu more place%s", more,
				  more == 1 ? "" : "s")
		    : NULL;
}

/*
 * "T leaves registry.head changed"; where there is no other line "T leaves
 * registry.head: NULL → {…} and 2 more places"
 */
static struct err *pollution_append_head(const struct finding *finding,
					 struct str *line)
{
	const struct change *change = &leftover_of(finding)->change;
	TRY(words_append(line, finding_test(finding)));
	TRY(str_append(line, " leaves "));
	if (finding->severity != FINDING_LOW) {
		TRY(words_append(line, change->paths[0].path));
		return str_append(line, " changed");
	}
	TRY(append_path(line, &change->paths[0]));
	return append_more_places(line, change);
}

/* "NULL → {…} and 2 more places; declared at x.c:12; each run changes it again" */
static struct err *pollution_append_about(const struct finding *finding,
					  struct str *line)
{
	const struct leftover *leftover = leftover_of(finding);
	const struct change_path *path = &leftover->change.paths[0];
	TRY(words_append(line, path->before));
	TRY(str_append(line, " → "));
	TRY(words_append(line, path->after));
	TRY(append_more_places(line, &leftover->change));
	if (finding->file) {
		TRY(str_append(line, "; declared at "));
		TRY(words_append_place(line, finding->file, finding->line));
	}
	if (leftover->effect == EFFECT_ACCUMULATES)
		TRY(str_append(line, "; each run changes it again"));
	return leftover->readers_known && !leftover->readers.n
		       ? str_append(line, "; no other test was seen to read it")
		       : NULL;
}

/* ---- all of them ---- */

static struct err *write_firsts(const struct report *report, FILE *out)
{
	for (size_t i = 0; i < report->n_firsts; i++) {
		const struct first_use *first = &report->firsts[i];
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(words_append(&line,
				 roster_name(report->roster, first->test)));
		TRY(str_append(&line, ": "));
		TRY(words_append(&line, first->root));
		fprintf(out, "first   %s was initialised for the first time\n",
			line.s);
	}
	return NULL;
}

static struct err *pollution_write_summary(const struct report *report,
					   const struct report_style *style,
					   FILE *out)
{
	size_t tests = 0, high = 0, all = 0, before = (size_t)-1;
	if (style->quiet || !report->watched || !is_covered(report))
		return NULL;
	TRY(write_firsts(report, out));
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct finding *finding = &report->findings[i];
		if (!leftover_of(finding))
			continue;
		tests += finding->test != before;
		before = finding->test;
		high += finding->severity == FINDING_HIGH;
		all++;
	}
	if (!all)
		fprintf(out, "no test leaves shared state changed%s",
			kind_this_time(report, &leftover_kind));
	else
		fprintf(out,
			"%zu test%s leave%s shared state changed: %zu "
			"finding%s, %zu high",
			tests, tests == 1 ? "" : "s", tests == 1 ? "s" : "",
			all, all == 1 ? "" : "s", high);
	if (report->n_firsts)
		fprintf(out, "; %zu static%s initialised for the first time",
			report->n_firsts, report->n_firsts == 1 ? "" : "s");
	fputc('\n', out);
	return NULL;
}

/* ---- JSON ---- */

/*
 * What a short value is: "absent" where there is none, "null" of a pointer,
 * "value" otherwise.
 */
static const char *kind_of_value(const char *text)
{
	if (!text)
		return "unknown";
	return !strcmp(text, "absent") || !strcmp(text, "(absent)") ||
			       !strcmp(text, "unset") || !strcmp(text, "closed")
		       ? "absent"
	       : !strcmp(text, "NULL") ? "null"
				       : "value";
}

/* Its kind, and null instead of words for what is not there. */
static json_t *make_value(const char *text)
{
	const char *kind = kind_of_value(text);
	return json_pack("{s:s, s:o}", "kind", kind, "text",
			 strcmp(kind, "value") ? json_null()
					       : value_text(text));
}

static json_t *make_paths(const struct change *change)
{
	json_t *list = json_array();
	for (size_t i = 0; i < change->n; i++) {
		const struct change_path *path = &change->paths[i];
		value_append(
			&list,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
				  value_text(path->path), "before",
				  value_text(path->before), "after",
				  value_text(path->after), "was",
				  make_value(path->before), "is",
				  make_value(path->after), "type",
				  value_text(path->type), "allocated",
				  value_frames(path->stack, path->n_stack)));
	}
	return list;
}

static json_t *make_reads(const struct finding *finding)
{
	const struct leftover *leftover = leftover_of(finding);
	json_t *list = json_array();
	for (size_t i = 0; i < leftover->reads.n; i++) {
		const struct leftover_trace *read = &leftover->reads.data[i];
		value_append(&list,
			     json_pack("{s:o, s:o}", "test",
				       value_test(finding->tests, read->test),
				       "stack",
				       value_frames(read->stack, read->n)));
	}
	return list;
}

static json_t *pollution_make_fields(const struct finding *finding)
{
	const struct leftover *leftover = leftover_of(finding);
	const struct change *change = &leftover->change;
	const struct change_path *first = &change->paths[0];
	const struct change_path *allocated = allocated_path(change);
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:s, s:o, s:o, s:I, "
		"s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o}",
		"where", leftover_where_name(change->where), "root",
		value_text(change->root), "path", value_text(first->path),
		"before", value_text(first->before), "after",
		value_text(first->after), "declared", "file",
		value_file(finding->file), "line",
		value_line(finding->file, finding->line), "effect",
		leftover_effect_name(leftover->effect), "readers",
		value_tests(finding->tests, leftover->readers.data,
			    leftover->readers.n),
		"paths", make_paths(change), "more_paths",
		(json_int_t)change->more, "allocated",
		value_frames(allocated->stack, allocated->n_stack), "was",
		make_value(first->before), "is", make_value(first->after),
		"type", value_text(first->type), "readers_known",
		(int)leftover->readers_known, "readers_pass",
		(int)leftover->proven, "lazy", (int)leftover->lazy, "written",
		value_frames(leftover->written.stack, leftover->written.n),
		"reads", make_reads(finding), "graphs",
		value_text(change->detail));
}

static struct err *pollution_make_section(const struct report *report,
					  json_t **ret)
{
	if (!is_covered(report))
		return NULL;
	json_t *list = json_array();
	for (size_t i = 0; i < report->n_firsts; i++)
		value_append(&list,
			     json_pack("{s:o, s:o}", "test",
				       value_test(report->roster,
						  report->firsts[i].test),
				       "root",
				       value_text(report->firsts[i].root)));
	return value_made(list, ret);
}

const struct report_kind report_pollution = {
	.kind = &leftover_kind,
	.help = "docs/pollution.md",
	.title = "Test leaves shared state changed",
	.about = "The test ends with a variable, a file or a piece of process "
		 "state that is not as it was before. Tests that run later "
		 "read it, so their outcome may depend on whether this test "
		 "ran. Restore it in the test's tear-down, or give each test "
		 "an object of its own.",
	.append_head = pollution_append_head,
	.append_about = pollution_append_about,
	.last = true,
	.write_finding = pollution_write_finding,
	.write_summary = pollution_write_summary,
	.make_fields = pollution_make_fields,
	.section = "first_initialised",
	.make_section = pollution_make_section,
};
