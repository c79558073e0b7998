/* For people: aligned, short where all is well, detailed where it is not. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "report/block.h"
#include "report/kind.h"
#include "report/left_out.h"
#include "report/models.h"
#include "report/name.h"
#include "report/verdict.h"
#include "report/width.h"

/* Longer names push their place to the right instead of everybody's. */
#define NAME_COLUMNS 60
/* How much of a test's output is shown without --verbose. */
/* Blocks without --verbose; the rest is counted. */
#define BLOCKS_MAX 100
#define TAIL_LINES 20
#define TAIL_BYTES 4096

#define RED "\033[31m"
#define GREEN "\033[32m"

static const struct {
	const char *word;
	const char *color;
	const char *counted; /* in the summary */
} outcomes[OUTCOMES] = {
	[OUTCOME_NONE] = { "NONE", DIM, "not run" },
	[OUTCOME_PASS] = { "PASS", GREEN, "passed" },
	[OUTCOME_FAIL] = { "FAIL", "\033[1;31m", "failed" },
	[OUTCOME_CRASH] = { "CRASH", "\033[1;35m", "crashed" },
	[OUTCOME_TIMEOUT] = { "TIMEOUT", "\033[1;33m", "timed out" },
	[OUTCOME_SKIP] = { "SKIP", "\033[36m", "skipped" },
};

static const char *style_on(const struct report_style *style, const char *color)
{
	return style->color ? color : "";
}

static const char *style_off(const struct report_style *style)
{
	return style_on(style, RESET);
}

/* "dir/file.c:12"; empty where the file is not known. */
static struct err *append_place(struct str *str, const char *file,
				unsigned line)
{
	if (!file)
		return NULL;
	_cleanup_(freep) char *shown = NULL;
	TRY(path_display_short(file, &shown));
	TRY(str_append_escaped(str, shown, strlen(shown)));
	return line ? str_appendf(str, ":%u", line) : NULL;
}

/*
 * Lines of the tested program, each after @prefix. Newlines and tabs stay what
 * they are, the rest is escaped.
 */
static struct err *write_lines(const char *text, size_t n, const char *prefix,
			       FILE *out)
{
	BUG_ON(n && !text);
	while (n) {
		const char *end = memchr(text, '\n', n);
		size_t line = end ? (size_t)(end - text) : n;
		size_t shown = line && text[line - 1] == '\r' ? line - 1 : line;
		_cleanup_(str_freep) struct str clean = STR_INIT;
		for (size_t i = 0; i < shown;) {
			const char *tab = memchr(text + i, '\t', shown - i);
			size_t plain =
				tab ? (size_t)(tab - text) - i : shown - i;
			TRY(str_append_escaped(&clean, text + i, plain));
			if (tab)
				TRY(str_append(&clean, "\t"));
			i += plain + (tab ? 1 : 0);
		}
		fprintf(out, "%s%s\n", prefix, clean.s ? clean.s : "");
		text += line + (end ? 1 : 0);
		n -= line + (end ? 1 : 0);
	}
	return NULL;
}

/* Where the last lines that are worth showing begin. */
static size_t tail_start(const char *text, size_t n)
{
	size_t lines = 0;
	for (size_t i = n; i-- > 0;) {
		if (text[i] == '\n' && i + 1 < n && ++lines == TAIL_LINES)
			return i + 1;
		if (n - i < TAIL_BYTES)
			continue;
		/* In the middle of a line: show none of it, or its end. */
		const char *next = memchr(text + i, '\n', n - i);
		if (next && next + 1 < text + n)
			return (size_t)(next + 1 - text);
		return i;
	}
	return 0;
}

static size_t trimmed_length(const char *text, size_t n)
{
	while (n && (text[n - 1] == '\n' || text[n - 1] == '\r' ||
		     text[n - 1] == ' '))
		n--;
	return n;
}

/*
 * What the test printed, less the lines that say again what its message, shown
 * right above, has said.
 */
static struct err *output_without_message(const struct report_test *test,
					  struct str *ret)
{
	const char *text = test->output;
	size_t n = test->output_n;
	size_t m = test->message ? trimmed_length(test->message,
						  strlen(test->message))
				 : 0;
	const char *again = m ? memmem(text, n, test->message, m) : NULL;
	if (again && again != text && again[-1] != '\n')
		again = NULL;
	if (again) {
		TRY(str_append_n(ret, text, (size_t)(again - text)));
		const char *end =
			memchr(again + m, '\n', n - (size_t)(again + m - text));
		size_t skipped = end ? (size_t)(end + 1 - text) : n;
		text += skipped;
		n -= skipped;
	}
	return str_append_n(ret, text, n);
}

static struct err *write_output(const struct report_test *test,
				const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str shown = STR_INIT;
	if (test->output)
		TRY(output_without_message(test, &shown));
	size_t n = trimmed_length(shown.s, shown.n);
	if (!n)
		return NULL;

	size_t start = style->verbose ? 0 : tail_start(shown.s, n);
	_cleanup_(str_freep) struct str prefix = STR_INIT;
	TRY(str_appendf(&prefix, "%s%s|%s ", INDENT, style_on(style, DIM),
			style_off(style)));
	if (start)
		fprintf(out, "%s… %zu earlier bytes, shown with --verbose\n",
			prefix.s, start);
	TRY(write_lines(shown.s + start, n - start, prefix.s, out));
	if (test->output_dropped)
		fprintf(out, "%s(%llu bytes omitted in the middle)\n", prefix.s,
			(unsigned long long)test->output_dropped);
	return NULL;
}

/* "FAIL       1.2 ms  Suite.Name" */
static struct err *write_test_line(const struct report_test *test,
				   const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str name = STR_INIT;
	TRY(str_append_escaped(&name, test->name, strlen(test->name)));
	char took[16] = "";
	bool ran = !(test->disabled && test->outcome == OUTCOME_SKIP);
	if (ran)
		duration_format(test->ns, took);
	size_t pad = 9 - MIN(width_of(took), (size_t)9);
	fprintf(out, "%s%-7s%s %s%*s%s%s  %s%s\n",
		style_on(style, outcomes[test->outcome].color),
		outcomes[test->outcome].word, style_off(style),
		style_on(style, DIM), (int)pad, "", took, style_off(style),
		name.s, ran ? "" : "  (disabled)");
	return NULL;
}

static struct err *write_details(const struct report_test *test,
				 const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str place = STR_INIT;
	if (test->failure_file)
		TRY(append_place(&place, test->failure_file,
				 test->failure_line));
	else
		TRY(append_place(&place, test->file, test->line));
	if (place.n)
		fprintf(out, "%s%s%s%s\n", INDENT, style_on(style, BOLD),
			place.s, style_off(style));
	if (test->message)
		TRY(write_lines(
			test->message,
			trimmed_length(test->message, strlen(test->message)),
			INDENT, out));
	return write_output(test, style, out);
}

static bool is_bad(const struct report_test *test)
{
	return test->outcome == OUTCOME_FAIL ||
	       test->outcome == OUTCOME_CRASH ||
	       test->outcome == OUTCOME_TIMEOUT;
}

static struct err *text_write_test(const struct report_test *test,
				   const struct report_style *style, FILE *out)
{
	bool bad = is_bad(test);
	if (style->quiet)
		return bad ? write_test_line(test, style, out) : NULL;
	/* A skipped test has something to say where it gives a reason. */
	bool reason = test->outcome == OUTCOME_SKIP && test->message &&
		      !test->disabled;
	if (!bad && !reason && !style->verbose)
		return NULL;
	TRY(write_test_line(test, style, out));
	if (bad) {
		TRY(write_details(test, style, out));
		fputc('\n', out);
		return NULL;
	}
	if (test->message)
		TRY(write_lines(
			test->message,
			trimmed_length(test->message, strlen(test->message)),
			INDENT, out));
	return style->verbose ? write_output(test, style, out) : NULL;
}

static void write_summary(const struct report *report,
			  const struct report_style *style, FILE *out)
{
	static const enum outcome order[] = {
		OUTCOME_PASS,	 OUTCOME_FAIL, OUTCOME_CRASH,
		OUTCOME_TIMEOUT, OUTCOME_SKIP,
	};
	struct report_counts counts = report_count(report);
	bool bad = report_has_failures(report);

	fputs(style_on(style, bad		   ? RED
			      : report->n_findings ? ""
						   : GREEN),
	      out);
	if (report->n != report->distinct)
		fprintf(out, "%zu runs of ", report->n);
	fprintf(out, "%zu test%s:", report->distinct,
		report->distinct == 1 ? "" : "s");
	const char *comma = "";
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		size_t count = counts.of[order[i]];
		if (!count && order[i] != OUTCOME_PASS)
			continue;
		fprintf(out, "%s %zu %s", comma, count,
			outcomes[order[i]].counted);
		if (order[i] == OUTCOME_SKIP && counts.disabled)
			fprintf(out, " (%zu disabled)", counts.disabled);
		comma = ",";
	}
	char took[16];
	duration_format(report->ns, took);
	fprintf(out, " in %s%s\n", took, style_off(style));
}

/* ---- findings ---- */

/* In the words of the run that found it, which may be the one that is shown. */
static struct err *write_earlier(const struct finding *finding,
				 const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	_cleanup_(json_freep) json_t *object = NULL;
	TRY(report_finding_json(finding, &object));
	bool earlier = json_is_true(json_object_get(object, "earlier"));
	TRY(str_append_escaped(&line, finding->message,
			       strlen(finding->message)));
	TRY(str_append(&remarks,
		       earlier ? "found by an earlier run, not tried again"
			       : ""));
	if (finding->known)
		TRY(str_append(&remarks, earlier ? "; known" : "known"));
	kind_write_head(finding, &line, &remarks, style, out);
	TRY(kind_write_hint(finding, out));
	return kind_write_replay(finding, out);
}

static struct err *write_in_full(const struct finding *finding,
				 const struct report_style *style, FILE *out)
{
	const struct report_kind *kind = report_kind_of(finding);
	return finding->earlier || !kind->write_finding
		       ? write_earlier(finding, style, out)
		       : kind->write_finding(finding, style, out);
}

/* With --verbose: each of them, by cause. */
static struct err *text_write_all(const struct causes *causes,
				  const struct report_style *style, FILE *out)
{
	for (size_t i = 0; i < causes->n; i++) {
		for (size_t j = 0; j < causes->data[i].findings.n; j++)
			TRY(write_in_full(causes->data[i].findings.data[j],
					  style, out));
	}
	return NULL;
}

/* A block for each cause that has something new. */
static struct err *write_blocks(const struct report *report,
				const struct causes *causes,
				const struct report_style *style, FILE *out)
{
	size_t shown = 0, more = 0, minor = 0;
	for (size_t i = 0; i < causes->n; i++) {
		const struct cause *cause = &causes->data[i];
		if (!cause->fresh)
			continue;
		if (!style->all && !report->in_replay &&
		    verdict_is_minor(cause->severity, cause->misled.n,
				     verdict_counts(cause, report->fail_on))) {
			minor++;
			continue;
		}
		if (shown == BLOCKS_MAX) {
			more++;
			continue;
		}
		shown++;
		TRY(block_write(cause, report, style, out));
	}
	if (more)
		fprintf(out, INDENT "… and %zu more (shown with --verbose)\n",
			more);
	verdict_tell_minor(minor, shown, style, out);
	return NULL;
}

/* One is told, more are counted; what the budget left open has its own line. */
static struct err *tell_limits(const struct report *report,
			       const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	const char *last = NULL;
	size_t n = 0;
	for (size_t i = 0; i < report->n_limits; i++) {
		if (report->open && strstr(report->limits[i], "(budget "))
			continue;
		last = report->limits[i];
		n++;
	}
	if (n == 1) {
		TRY(str_append(&line, "limit: "));
		TRY(str_append_escaped(&line, last, strlen(last)));
	} else if (n) {
		TRY(str_appendf(&line,
				"%zu limits of what was examined, shown with "
				"--verbose",
				n));
	}
	if (n)
		fprintf(out, "%s%s%s\n", style_on(style, DIM), line.s,
			style_off(style));
	return NULL;
}

/* Of the baseline; and what there was no time for. */
static struct err *write_rest(const struct report *report,
			      const struct report_style *style, FILE *out)
{
	for (size_t i = 0; i < report->n_gone; i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(str_append_escaped(&line, report->gone[i],
				       strlen(report->gone[i])));
		fprintf(out, "gone    %s: not found any more\n", line.s);
	}
	if (report->n_gone)
		fprintf(out,
			INDENT "--update-baseline removes %s from the "
			       "baseline\n",
			report->n_gone == 1 ? "it" : "them");
	if (!style->verbose)
		TRY(tell_limits(report, style, out));
	if (report->reused)
		fprintf(out,
			"%snothing has changed since the last check; "
			"--fresh looks again%s\n",
			style_on(style, DIM), style_off(style));
	if (report->open)
		fprintf(out, "%s%s%s\n", style_on(style, "\033[33m"),
			report->open, style_off(style));
	return NULL;
}

static struct err *write_limits(const struct report *report,
				const struct report_style *style, FILE *out)
{
	for (size_t i = 0; i < report->n_limits; i++) {
		_cleanup_(str_freep) struct str limit = STR_INIT;
		TRY(str_append_escaped(&limit, report->limits[i],
				       strlen(report->limits[i])));
		fprintf(out, "%slimit:%s %s\n", style_on(style, "\033[33m"),
			style_off(style), limit.s);
	}
	return NULL;
}

static void write_seed(const struct report *report,
		       const struct report_style *style, bool bad, FILE *out)
{
	bool shuffled = !strcmp(report->kind, "run");
	if (!report->seed || (style->quiet && !(shuffled && bad)))
		return;
	fprintf(out,
		shuffled ? "shuffled; --seed %llu repeats this order\n"
			 : "random choices: --seed %llu repeats them\n",
		(unsigned long long)*report->seed);
}

/* What was tried, what was found in numbers, and what was not done. */
static struct err *write_search(const struct report *report,
				const struct report_style *style, FILE *out)
{
	write_summary(report, style, out);
	for (size_t i = 0; report_kinds[i]; i++) {
		if (report_kinds[i]->write_summary)
			TRY(report_kinds[i]->write_summary(report, style, out));
	}
	TRY(left_out_write(report, style, out));
	return write_limits(report, style, out);
}

static struct err *write_tests(const struct report *report,
			       const struct report_style *style, bool *ret_bad,
			       FILE *out)
{
	_cleanup_(map_text_freep) struct map_text explained = MAP_INIT;
	*ret_bad = false;
	TRY(verdict_explained(report, &explained));
	for (size_t i = 0; i < report->n; i++) {
		const struct report_test *test = &report->tests[i];
		uint64_t is_explained;
		*ret_bad |= is_bad(test);
		if (style->verbose ||
		    !map_text_get(&explained, test->name, &is_explained))
			TRY(text_write_test(test, style, out));
	}
	return NULL;
}

/* Of a command that looks for findings. */
static struct err *write_findings(const struct report *report,
				  const struct report_style *style, FILE *out)
{
	_cleanup_(causes_free) struct causes causes = {};
	bool bad;
	TRY(causes_group(report, &causes));
	TRY(write_tests(report, style, &bad, out));
	TRY(style->verbose ? text_write_all(&causes, style, out)
			   : write_blocks(report, &causes, style, out));
	if (style->verbose)
		TRY(write_search(report, style, out));
	write_seed(report, style, bad, out);
	if (!style->quiet)
		TRY(write_rest(report, style, out));
	return verdict_write(report, &causes, style, out);
}

static struct err *write_run(const struct report *report,
			     const struct report_style *style, FILE *out)
{
	bool bad;
	TRY(write_tests(report, style, &bad, out));
	if (!style->quiet)
		write_summary(report, style, out);
	write_seed(report, style, bad, out);
	if (style->quiet)
		return NULL;
	TRY(left_out_write(report, style, out));
	return write_limits(report, style, out);
}

static struct err *write_list_line(const struct report_test *test,
				   size_t columns,
				   const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str name = STR_INIT;
	_cleanup_(str_freep) struct str place = STR_INIT;
	TRY(str_append_escaped(&name, test->name, strlen(test->name)));
	TRY(append_place(&place, test->file, test->line));
	size_t width = width_of(name.s);
	int pad = place.n || test->disabled
			  ? (int)(columns - MIN(width, columns)) + 2
			  : 0;
	fprintf(out, "%s%*s%s%s%s%s\n", name.s, pad, "", style_on(style, DIM),
		place.n ? place.s : "", style_off(style),
		!test->disabled ? ""
		: place.n	? "  (disabled)"
				: "(disabled)");
	return NULL;
}

static struct err *write_list(const struct report *report,
			      const struct report_style *style, FILE *out)
{
	size_t columns = 0, disabled = 0;
	for (size_t i = 0; i < report->n; i++) {
		const char *name = report->tests[i].name;
		_cleanup_(str_freep) struct str shown = STR_INIT;
		if (style->quiet) {
			TRY(name_append(&shown, name));
			fprintf(out, "%s\n", shown.s ? shown.s : "");
			continue;
		}
		TRY(str_append_escaped(&shown, name, strlen(name)));
		size_t width = width_of(shown.s);
		if (width <= NAME_COLUMNS)
			columns = MAX(columns, width);
		disabled += report->tests[i].disabled;
	}
	if (style->quiet)
		return NULL;
	for (size_t i = 0; i < report->n; i++)
		TRY(write_list_line(&report->tests[i], columns, style, out));

	fprintf(out, "\n%s%zu test%s%s", style_on(style, BOLD), report->n,
		report->n == 1 ? "" : "s", style_off(style));
	if (report->n != report->suite_tests)
		fprintf(out, " of %zu", report->suite_tests);
	if (disabled)
		fprintf(out, ", %zu disabled", disabled);
	fprintf(out, " (%s)\n", report->framework);
	return NULL;
}

static struct err *write_patches(const struct report *report,
				 const struct report_style *style, FILE *out)
{
	for (size_t i = 0; i < report->n_findings; i++)
		TRY(report_repair.write_finding(&report->findings[i], style,
						out));
	return repair_write_verdict(report, style, out);
}

static struct err *text_write(const struct report *report,
			      const struct report_style *style, FILE *out)
{
	if (!strcmp(report->kind, "models"))
		return models_write_text(report, style, out);
	if (!strcmp(report->kind, "repair"))
		return write_patches(report, style, out);
	if (!strcmp(report->kind, "list"))
		return write_list(report, style, out);
	return verdict_applies(report) ? write_findings(report, style, out)
				       : write_run(report, style, out);
}

const struct report_format report_text = {
	.name = "text",
	.lists = true,
	.patches = true,
	.write = text_write,
};
