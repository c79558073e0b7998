/* A document as text for people: as short as the report of one suite. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/str.h"
#include "finding/words.h"
#include "report/block.h"
#include "report/kind.h"
#include "report/reread.h"
#include "report/verdict.h"
#include "whole/document_internal.h"

/* Blocks without --verbose; the rest is counted. */
#define DOCUMENT_BLOCKS_MAX 100
/* Suites that a line names. */
#define SUITES_NAMED 2

/* A cause, in all suites that have it. */
struct document_block {
	enum finding_severity severity;
	bool fresh;  /* not all of its findings are known */
	bool counts; /* the exit status follows from it */
	size_t misled;
	size_t number; /* as found */
	char *text;
	char *id;     /* of its first finding */
	char *replay; /* the same one's */
	struct strv suites;
};

struct document_blocks {
	struct document_block *data;
	size_t n;
	size_t cap;
	struct map_text places; /* in data, by what makes them alike */
	struct map_text ids;	/* of findings: the suites that have it */
	struct report_verdict verdict;
};

static void document_block_free(struct document_block *block)
{
	free(block->text);
	free(block->id);
	free(block->replay);
	strv_free(&block->suites);
}

static void document_blocks_free(struct document_blocks *blocks)
{
	for (size_t i = 0; i < blocks->n; i++)
		document_block_free(&blocks->data[i]);
	vec_free(blocks);
	map_text_free(&blocks->places);
	map_text_free(&blocks->ids);
}

static void put_escaped(const char *text, FILE *out)
{
	_cleanup_(freep) char *escaped = str_escape(text);
	fputs(escaped ? escaped : "?", out);
}

static const char *plural_end(size_t n)
{
	return n == 1 ? "" : "s";
}

static struct err *append_suites(struct str *line, const struct strv *suites,
				 size_t from)
{
	return words_append_texts(line,
				  (const char *const *)suites->data + from,
				  suites->n - from, SUITES_NAMED);
}

/* ---- blocks ---- */

static struct err *render_block(const struct cause *cause,
				const struct report *report,
				const struct report_style *style, char **ret)
{
	size_t n = 0;
	FILE *file = open_memstream(ret, &n);
	if (!file)
		return err_nomem();
	struct err *err = block_write(cause, report, style, file);
	if (fclose(file) && !err)
		err = err_nomem();
	return err;
}

/*
 * What nobody is misled by is told in a line: of each such root one is enough.
 * Others are alike where nothing that is said of them differs.
 */
static struct err *make_block_key(const struct cause *cause, const char *text,
				  struct str *key)
{
	if (cause->severity > FINDING_LOW || cause->misled.n)
		return str_append(key, text);
	return str_appendf(key, "%s %s", cause_type_name(cause->type),
			   cause->name);
}

static struct err *gather_cause(struct document_blocks *blocks,
				const struct cause *cause,
				const struct report *report,
				const struct report_style *style,
				const char *suite)
{
	const struct finding *lead = block_lead(cause);
	bool counts = verdict_counts(cause, report->fail_on);
	_cleanup_(document_block_free) struct document_block block = {
		.severity = cause->severity,
		.fresh = cause->fresh,
		.counts = counts,
		.misled = cause->misled.n,
		.number = blocks->n,
	};
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t at;
	TRY(render_block(cause, report, style, &block.text));
	TRY(make_block_key(cause, block.text, &key));
	if (map_text_get(&blocks->places, key.s, &at)) {
		BUG_ON(at >= blocks->n || !blocks->data);
		struct document_block *same = &blocks->data[at];
		same->fresh |= cause->fresh != 0;
		same->counts |= counts;
		return strv_add(&same->suites, suite);
	}
	TRY(map_text_put(&blocks->places, key.s, blocks->n));
	TRY(str_copy(lead->id, &block.id));
	TRY(str_copy(lead->replay, &block.replay));
	TRY(strv_add(&block.suites, suite));
	TRY(vec_push(blocks, block));
	block = (struct document_block){};
	return NULL;
}

static struct err *count_ids(struct document_blocks *blocks,
			     const struct report *report)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		uint64_t n = 0;
		map_text_get(&blocks->ids, report->findings[i].id, &n);
		TRY(map_text_put(&blocks->ids, report->findings[i].id, n + 1));
	}
	return NULL;
}

static struct err *gather_suite(struct document_blocks *blocks,
				const struct report *report,
				const struct report_style *style,
				const char *suite)
{
	_cleanup_(causes_free) struct causes causes = {};
	TRY(count_ids(blocks, report));
	struct report_verdict verdict;
	TRY(causes_group(report, &causes));
	TRY(verdict_judge(report, &causes, &verdict));
	blocks->verdict.failing += verdict.failing;
	blocks->verdict.fail_on = MIN(blocks->verdict.fail_on, verdict.fail_on);
	for (size_t i = 0; i < causes.n; i++)
		TRY(gather_cause(blocks, &causes.data[i], report, style,
				 suite));
	return NULL;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct document_block *x = a, *y = b;
	if (x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	if (x->fresh != y->fresh)
		return x->fresh ? -1 : 1;
	if (x->misled != y->misled)
		return x->misled < y->misled ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/*
 * "polygraph replay ID"; the program is named where the id is that of another one's
 * finding, too.
 */
static struct err *append_start(const struct document_blocks *blocks,
				const struct document_block *block,
				struct str *line)
{
	uint64_t suites = 0;
	/* Of a file that others wrote, it may be in another folder. */
	if (strstr(block->replay, "polygraph replay "))
		return words_append(line, block->replay);
	TRY(str_append(line, "polygraph replay "));
	TRY(words_append(line, block->id));
	map_text_get(&blocks->ids, block->id, &suites);
	if (suites < 2)
		return NULL;
	_cleanup_(str_freep) struct str program = STR_INIT;
	TRY(str_append_shell(&program, block->suites.data[0]));
	TRY(str_append(line, " "));
	return words_append(line, program.s);
}

/* "in build/a_test; also in build/b_test, build/c_test and 3 more" */
static struct err *write_where(const struct document_block *block, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	TRY(words_append(&line, block->suites.data[0]));
	if (block->suites.n > 1) {
		TRY(str_append(&line, "; also in "));
		TRY(append_suites(&line, &block->suites, 1));
	}
	fprintf(out, INDENT "in %s\n", line.s);
	return NULL;
}

static struct err *document_write_blocks(const struct document_blocks *blocks,
					 const struct report_style *style,
					 FILE *out)
{
	size_t shown = 0, more = 0, minor = 0;
	for (size_t i = 0; i < blocks->n; i++) {
		const struct document_block *block = &blocks->data[i];
		if (!block->fresh)
			continue;
		if (!style->all &&
		    verdict_is_minor(block->severity, block->misled,
				     block->counts)) {
			minor++;
			continue;
		}
		if (shown == DOCUMENT_BLOCKS_MAX) {
			more++;
			continue;
		}
		shown++;
		fputs(block->text, out);
		if (!style->quiet)
			TRY(write_where(block, out));
	}
	if (more)
		fprintf(out, INDENT "… and %zu more (shown with --verbose)\n",
			more);
	verdict_tell_minor(minor, shown, style, out);
	return NULL;
}

/* ---- suites ---- */

/* With --verbose: each finding by itself. */
static void write_finding_line(const struct finding *finding, FILE *out)
{
	const char *test = finding_test(finding);
	fprintf(out, "%-6s  ", finding_severity_name(finding->severity));
	/* Most messages begin with it. */
	if (!str_starts(finding->message, test)) {
		put_escaped(test, out);
		fputs(": ", out);
	}
	put_escaped(finding->message, out);
	fputs(finding->known ? " (known)\n" : "\n", out);
	fputs(INDENT "reproduce: ", out);
	put_escaped(finding->replay, out);
	fputc('\n', out);
}

static void write_message_lines(const char *message, FILE *out)
{
	while (*message) {
		size_t n = strcspn(message, "\n");
		_cleanup_(freep) char *line = strndup(message, n);
		fputs(INDENT, out);
		put_escaped(line ? line : "?", out);
		fputc('\n', out);
		message += n + (message[n] == '\n');
	}
}

static void write_failed_test(const struct report_test *test, FILE *out)
{
	fprintf(out, "%-6s  ", outcome_name(test->outcome));
	put_escaped(test->name, out);
	fputc('\n', out);
	if (test->failure_file) {
		fputs(INDENT, out);
		put_escaped(test->failure_file, out);
		if (test->failure_line)
			fprintf(out, ":%u", test->failure_line);
		fputc('\n', out);
	}
	write_message_lines(test->message ? test->message : "", out);
}

static void write_suite_head(const json_t *suite,
			     const struct report_style *style, FILE *out)
{
	json_int_t tests = json_integer_value(json_object_get(suite, "tests"));
	double seconds = json_number_value(json_object_get(suite, "seconds"));
	fputs(style->color ? BOLD : "", out);
	fputs("== ", out);
	put_escaped(document_text_of(suite, "name"), out);
	fputs(style->color ? RESET : "", out);
	if (json_object_get(suite, "framework")) {
		fputs(" (", out);
		put_escaped(document_text_of(suite, "framework"), out);
		fprintf(out, ", %lld test%s, %.1f s)", (long long)tests,
			tests == 1 ? "" : "s", seconds);
	}
	fputc('\n', out);
}

static bool is_failure(const struct report_test *test,
		       const struct map_text *explained)
{
	return verdict_has_failed(test) &&
	       verdict_why(test, explained) == WHY_OWN;
}

static struct err *tell_suite(const json_t *suite, const struct report *report,
			      const struct report_style *style, FILE *out)
{
	const char *message = document_text_of(suite, "message");
	_cleanup_(map_text_freep) struct map_text explained = MAP_INIT;
	size_t failures = 0;
	TRY(verdict_explained(report, &explained));
	for (size_t i = 0; i < report->n; i++)
		failures += is_failure(&report->tests[i], &explained);
	if (!failures && !*message && !style->verbose)
		return NULL;
	write_suite_head(suite, style, out);
	for (size_t i = 0; style->verbose && i < report->n_findings; i++)
		write_finding_line(&report->findings[i], out);
	for (size_t i = 0; i < report->n; i++) {
		if (is_failure(&report->tests[i], &explained))
			write_failed_test(&report->tests[i], out);
	}
	write_message_lines(message, out);
	return NULL;
}

static struct err *tell_suites(const struct document *document,
			       const struct report_style *style,
			       struct document_blocks *blocks, FILE *out)
{
	struct suite_cursor tests = { document_list_of(document, "tests"), 0 };
	struct suite_cursor findings = { document_list_of(document, "findings"),
					 0 };
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		const char *name = document_text_of(suite, "name");
		_cleanup_(reread_destroyp) struct reread *reread = NULL;
		struct err *err =
			document_open(suite, &tests, &findings, &reread);
		/* A file that others wrote. */
		if (err && err_kind(err) == ERR_USAGE) {
			if (out) {
				write_suite_head(suite, style, out);
				write_message_lines(err_message(err), out);
			}
			err_destroy(err);
			continue;
		}
		TRY(err);
		const struct report *report = reread_report(reread);
		if (out)
			TRY(tell_suite(suite, report, style, out));
		TRY(gather_suite(blocks, report, style, name));
	}
	if (blocks->n)
		qsort(blocks->data, blocks->n, sizeof(*blocks->data),
		      compare_blocks);
	return NULL;
}

/* ---- limits ---- */

struct document_limit {
	const char *text;   /* after the suite's name */
	struct strv suites; /* none: it is one of the whole */
};

struct document_limits {
	struct document_limit *data;
	size_t n;
	size_t cap;
	struct map_text places;
};

static void document_limits_free(struct document_limits *limits)
{
	for (size_t i = 0; i < limits->n; i++)
		strv_free(&limits->data[i].suites);
	vec_free(limits);
	map_text_free(&limits->places);
}

/* "SUITE: text": after the name of a suite; else @limit. */
static struct err *split_limit(const struct map_text *suites, const char *limit,
			       char **ret_suite, const char **ret)
{
	*ret = limit;
	for (const char *at = limit;
	     (at = strstr(at, ": ")) && at - limit < PATH_MAX; at += 2) {
		_cleanup_(freep) char *name =
			strndup(limit, (size_t)(at - limit));
		uint64_t number;
		if (!name)
			return err_nomem();
		if (!map_text_get(suites, name, &number))
			continue;
		*ret_suite = take_ptr(name);
		*ret = at + 2;
		return NULL;
	}
	return NULL;
}

static struct err *add_to_limits(struct document_limits *limits,
				 const char *text, char *suite)
{
	uint64_t at;
	if (!map_text_get(&limits->places, text, &at)) {
		at = limits->n;
		TRY(vec_push(limits, (struct document_limit){ .text = text }));
		TRY(map_text_put(&limits->places, text, at));
	}
	return suite ? strv_add(&limits->data[at].suites, suite) : NULL;
}

/* A limit of many suites is one. */
static struct err *gather_limits(const struct document *document,
				 struct document_limits *ret)
{
	_cleanup_(map_text_freep) struct map_text suites = MAP_INIT;
	size_t i;
	json_t *member;
	json_array_foreach(document_list_of(document, "suites"), i, member)
		TRY(map_text_put(&suites, document_text_of(member, "name"), i));
	json_array_foreach(document_list_of(document, "limits"), i, member)
	{
		_cleanup_(freep) char *suite = NULL;
		const char *text;
		if (!json_is_string(member))
			continue;
		TRY(split_limit(&suites, json_string_value(member), &suite,
				&text));
		TRY(add_to_limits(ret, text, suite));
	}
	return NULL;
}

static struct err *write_limit(const struct document_limit *limit, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	TRY(words_append(&line, limit->text));
	if (limit->suites.n) {
		TRY(str_append(&line, " (in "));
		TRY(append_suites(&line, &limit->suites, 0));
		TRY(str_append(&line, ")"));
	}
	fprintf(out, "limit: %s\n", line.s ? line.s : "");
	return NULL;
}

/* What the budget left open in suites, in a line. */
static struct err *write_open(const struct document *document, FILE *out)
{
	_cleanup_(strv_freep) struct strv suites = {};
	_cleanup_(str_freep) struct str line = STR_INIT;
	const char *text = "";
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		if (!*document_text_of(suite, "open"))
			continue;
		text = document_text_of(suite, "open");
		TRY(strv_add(&suites, document_text_of(suite, "name")));
	}
	if (!suites.n)
		return NULL;
	TRY(append_suites(&line, &suites, 0));
	if (suites.n == 1) {
		TRY(str_append(&line, ": "));
		TRY(words_append(&line, text));
		fprintf(out, "%s\n", line.s);
		return NULL;
	}
	fprintf(out,
		"the budget left something open in %zu suites (%s); a longer "
		"--budget goes further\n",
		suites.n, line.s);
	return NULL;
}

static struct err *document_write_limits(const struct document *document,
					 const struct report_style *style,
					 FILE *out)
{
	_cleanup_(document_limits_free) struct document_limits limits = {};
	size_t hidden = 0;
	TRY(gather_limits(document, &limits));
	for (size_t i = 0; i < limits.n; i++)
		hidden += limits.data[i].suites.n > 0;
	/* One is told, more are counted. */
	bool all = style->verbose || hidden == 1;
	for (size_t i = 0; i < limits.n; i++) {
		if (all || !limits.data[i].suites.n)
			TRY(write_limit(&limits.data[i], out));
	}
	hidden = all ? 0 : hidden;
	if (hidden)
		fprintf(out,
			"%s%zu limit%s of what was examined, shown with "
			"--verbose%s\n",
			style->color ? DIM : "", hidden, plural_end(hidden),
			style->color ? RESET : "");
	return write_open(document, out);
}

/* ---- the verdict ---- */

/* What is of the whole; problems are counted as blocks. */
static void judge_blocks(const struct document *document,
			 struct document_blocks *blocks)
{
	struct document_counts counts = document_count(document);
	struct report_verdict *verdict = &blocks->verdict;
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		verdict->suites++;
		verdict->unrun += *document_text_of(suite, "message") != '\0';
	}
	if (verdict->fail_on > FAIL_ON_NONE)
		verdict->fail_on = FINDING_MEDIUM;
	verdict->tests = counts.tests;
	verdict->skipped = counts.skipped;
	verdict->problems = blocks->n;
	for (i = 0; i < blocks->n; i++) {
		verdict->of[blocks->data[i].severity]++;
		verdict->fresh += blocks->data[i].fresh;
		verdict->counted += blocks->data[i].counts;
	}
}

/* @out: NULL: nothing is said of each suite. */
static struct err *judge_document(const struct document *document,
				  const struct report_style *style,
				  struct document_blocks *blocks, FILE *out)
{
	blocks->verdict.fail_on = FAIL_ON_NONE + 1; /* until a suite says */
	TRY(tell_suites(document, style, blocks, out));
	judge_blocks(document, blocks);
	return NULL;
}

struct err *document_judge(const struct document *document,
			   struct report_verdict *ret)
{
	_cleanup_(document_blocks_free) struct document_blocks blocks = {};
	const struct report_style style = {};
	TRY(judge_document(document, &style, &blocks, NULL));
	*ret = blocks.verdict;
	return NULL;
}

/* With --verbose: in numbers. */
static void write_build_totals(const struct document *document, FILE *out)
{
	struct document_counts counts = document_count(document);
	double seconds = 0;
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
		seconds += json_number_value(json_object_get(suite, "seconds"));
	fprintf(out, "%zu suite%s, %zu test%s: %zu passed", i, plural_end(i),
		counts.tests, plural_end(counts.tests), counts.passed);
	if (counts.failed)
		fprintf(out, ", %zu failed", counts.failed);
	if (counts.skipped)
		fprintf(out, ", %zu skipped", counts.skipped);
	fprintf(out, " in %.1f s\n", seconds);
	fprintf(out, "%zu finding%s", counts.findings,
		plural_end(counts.findings));
	if (counts.findings)
		fprintf(out, ": %zu high, %zu medium, %zu low", counts.high,
			counts.medium, counts.low);
	if (counts.known)
		fprintf(out, "; %zu known", counts.known);
	fputc('\n', out);
}

static struct err *write_whole_verdict(const struct document_blocks *blocks,
				       const struct report_style *style,
				       FILE *out)
{
	_cleanup_(str_freep) struct str start = STR_INIT;
	for (size_t i = 0; i < blocks->n && !start.s; i++) {
		if (blocks->data[i].fresh &&
		    (blocks->data[i].counts || !blocks->verdict.counted))
			TRY(append_start(blocks, &blocks->data[i], &start));
	}
	return verdict_put(&blocks->verdict, start.s, style, out);
}

struct err *document_write_text(const struct document *document,
				const struct report_style *style, FILE *out)
{
	_cleanup_(document_blocks_free) struct document_blocks blocks = {};
	TRY(judge_document(document, style, &blocks, out));
	if (style->verbose)
		write_build_totals(document, out);
	else
		TRY(document_write_blocks(&blocks, style, out));
	if (!style->quiet)
		TRY(document_write_limits(document, style, out));
	return write_whole_verdict(&blocks, style, out);
}

struct err *document_write_verdict(const struct document *document,
				   const struct report_style *style, FILE *out)
{
	_cleanup_(document_blocks_free) struct document_blocks blocks = {};
	TRY(judge_document(document, style, &blocks, NULL));
	return write_whole_verdict(&blocks, style, out);
}
