#include "report/history_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "report/page.h"

/* Suites that are drawn, those with most findings first; days of each. */
#define TREND_SUITES_MAX 200
#define TREND_DAYS_MAX 180

/* The drawing, in its own units. */
#define TREND_WIDTH 320
#define TREND_HEIGHT 80
#define TREND_EDGE 6

static size_t history_rows(const struct history_table *table)
{
	return table->columns.n ? table->cells.n / table->columns.n : 0;
}

/* "" where there is no such row or column. */
static const char *history_cell(const struct history_table *table, size_t row,
				const char *column)
{
	for (size_t i = 0; i < table->columns.n; i++) {
		size_t at = row * table->columns.n + i;
		if (!strcmp(table->columns.data[i], column))
			return at < table->cells.n ? table->cells.data[at] : "";
	}
	return "";
}

/* Spelt as the text format spells it. */
static struct err *history_write_text(const char *text, FILE *out)
{
	_cleanup_(freep) char *shown = str_escape(text);
	if (!shown)
		return err_nomem();
	page_write_text(shown, out);
	return NULL;
}

/* ---- tables ---- */

static struct err *history_write_rows(const struct history_table *table,
				      FILE *out)
{
	size_t n = table->columns.n;
	fputs("<table class=\"values\"><thead><tr>", out);
	for (size_t i = 0; i < n; i++) {
		fputs("<th scope=\"col\">", out);
		page_write_text(table->columns.data[i], out);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < history_rows(table) * n; i++) {
		fputs(i % n ? "<td data-label=\"" : "<tr><td data-label=\"",
		      out);
		page_write_text(table->columns.data[i % n], out);
		fputs("\">", out);
		TRY(history_write_text(table->cells.data[i], out));
		fputs(i % n == n - 1 ? "</td></tr>\n" : "</td>", out);
	}
	fputs("</tbody></table>\n", out);
	return NULL;
}

static struct err *history_write_table(const struct history_table *table,
				       const char *none, FILE *out)
{
	if (!history_rows(table)) {
		fprintf(out, "<p>%s</p>\n", none);
		return NULL;
	}
	TRY(history_write_rows(table, out));
	if (table->more)
		fprintf(out,
			"<p>Only %zu rows are shown; <code>--limit</code> "
			"sets how many.</p>\n",
			history_rows(table));
	return NULL;
}

/* ---- trends ---- */

struct trend_day {
	const char *day, *suite;
	uint64_t tests, failed, findings;
};

/* Days of one suite, the first one first. */
struct trend_suite {
	const struct trend_day *days;
	size_t n;
};

static int compare_trend_days(const void *a, const void *b)
{
	const struct trend_day *one = a, *other = b;
	int order = strcmp(one->suite, other->suite);
	return order ? order : strcmp(one->day, other->day);
}

static const struct trend_day *trend_last(const struct trend_suite *suite)
{
	return &suite->days[suite->n - 1];
}

/* What is worst now comes first. */
static int compare_trend_suites(const void *a, const void *b)
{
	const struct trend_day *one = trend_last(a), *other = trend_last(b);
	if (one->findings != other->findings)
		return one->findings < other->findings ? 1 : -1;
	if (one->failed != other->failed)
		return one->failed < other->failed ? 1 : -1;
	return strcmp(one->suite, other->suite);
}

static uint64_t trend_number(const struct history_table *table, size_t row,
			     const char *column)
{
	/* More cannot be told apart in a picture. */
	return MIN(strtoull(history_cell(table, row, column), NULL, 10),
		   1000000000ULL);
}

static double trend_x(const struct trend_suite *suite, size_t i)
{
	double span = TREND_WIDTH - 2 * TREND_EDGE;
	return TREND_EDGE + (suite->n > 1
				     ? span * (double)i / (double)(suite->n - 1)
				     : span / 2);
}

static double trend_y(uint64_t value, uint64_t top)
{
	double span = TREND_HEIGHT - 2 * TREND_EDGE;
	return TREND_HEIGHT - TREND_EDGE - span * (double)value / (double)top;
}

static uint64_t trend_value(const struct trend_day *day, bool failed)
{
	return failed ? day->failed : day->findings;
}

static void draw_trend_line(const struct trend_suite *suite, bool failed,
			    uint64_t top, FILE *out)
{
	const char *name = failed ? "failed" : "findings";
	fprintf(out, "<polyline class=\"%s\" points=\"", name);
	for (size_t i = 0; i < suite->n; i++)
		fprintf(out, "%s%.1f,%.1f", i ? " " : "", trend_x(suite, i),
			trend_y(trend_value(&suite->days[i], failed), top));
	fputs("\"/>\n", out);
	/* A line of one point is not seen. */
	fprintf(out, "<circle class=\"%s\" r=\"3\" cx=\"%.1f\" cy=\"%.1f\"/>\n",
		name, trend_x(suite, suite->n - 1),
		trend_y(trend_value(trend_last(suite), failed), top));
}

static struct err *draw_trend(const struct trend_suite *suite, FILE *out)
{
	uint64_t top = 1;
	for (size_t i = 0; i < suite->n; i++)
		top = MAX(top,
			  MAX(suite->days[i].findings, suite->days[i].failed));
	fprintf(out,
		"<svg viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-label=\"findings and failures by day, %" PRIu64
		" at most\">\n"
		"<path class=\"ground\" d=\"M0 %d.5H%d\"/>\n",
		TREND_WIDTH, TREND_HEIGHT, top, TREND_HEIGHT - TREND_EDGE,
		TREND_WIDTH);
	draw_trend_line(suite, true, top, out);
	draw_trend_line(suite, false, top, out);
	fputs("</svg>\n<p class=\"days\"><span>", out);
	TRY(history_write_text(suite->days[0].day, out));
	fprintf(out, "</span><span>highest: %" PRIu64 "</span><span>", top);
	TRY(history_write_text(trend_last(suite)->day, out));
	fputs("</span></p>\n", out);
	return NULL;
}

static struct err *write_trend_days(const struct trend_suite *suite, FILE *out)
{
	fputs("<details><summary>By day</summary><table class=\"table\">"
	      "<thead><tr><th scope=\"col\">day</th>"
	      "<th scope=\"col\">findings</th><th scope=\"col\">failed</th>"
	      "<th scope=\"col\">tests</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = suite->n; i-- > 0;) {
		const struct trend_day *day = &suite->days[i];
		fputs("<tr><td>", out);
		TRY(history_write_text(day->day, out));
		fprintf(out,
			"</td><td>%" PRIu64 "</td><td>%" PRIu64
			"</td><td>%" PRIu64 "</td></tr>\n",
			day->findings, day->failed, day->tests);
	}
	fputs("</tbody></table></details>\n", out);
	return NULL;
}

static struct err *write_trend(const struct trend_suite *all, FILE *out)
{
	const struct trend_day *now = trend_last(all);
	size_t left = all->n - MIN(all->n, (size_t)TREND_DAYS_MAX);
	const struct trend_suite suite = { all->days + left, all->n - left };
	fputs("<figure class=\"trend\"><figcaption class=\"mono\">", out);
	TRY(history_write_text(now->suite, out));
	fprintf(out,
		"</figcaption>\n<p>findings: <b class=\"findings\">%" PRIu64
		"</b> (first day: %" PRIu64
		"), failed: <b class=\"failed\">%" PRIu64 "</b> of %" PRIu64
		" tests</p>\n",
		now->findings, suite.days[0].findings, now->failed, now->tests);
	TRY(draw_trend(&suite, out));
	TRY(write_trend_days(&suite, out));
	if (left)
		fprintf(out, "<p>%zu earlier days are not shown.</p>\n", left);
	fputs("</figure>\n", out);
	return NULL;
}

static struct err *write_trends(const struct history_table *table, FILE *out)
{
	size_t rows = history_rows(table), n = 0;
	_cleanup_(freep) struct trend_day *days =
		calloc(rows + 1, sizeof(*days));
	_cleanup_(freep) struct trend_suite *suites =
		calloc(rows + 1, sizeof(*suites));
	if (!days || !suites)
		return err_nomem();
	for (size_t i = 0; i < rows; i++)
		days[i] = (struct trend_day){
			.day = history_cell(table, i, "day"),
			.suite = history_cell(table, i, "suite"),
			.tests = trend_number(table, i, "tests"),
			.failed = trend_number(table, i, "failed"),
			.findings = trend_number(table, i, "findings"),
		};
	qsort(days, rows, sizeof(*days), compare_trend_days);
	for (size_t i = 0; i < rows; i++) {
		if (!i || strcmp(days[i].suite, days[i - 1].suite) != 0)
			suites[n++].days = &days[i];
		suites[n - 1].n++;
	}
	qsort(suites, n, sizeof(*suites), compare_trend_suites);
	fputs("<div class=\"trends\">\n", out);
	for (size_t i = 0; i < MIN(n, (size_t)TREND_SUITES_MAX); i++)
		TRY(write_trend(&suites[i], out));
	fputs("</div>\n", out);
	if (!n)
		fputs("<p>No run is stored yet.</p>\n", out);
	if (n > TREND_SUITES_MAX)
		fprintf(out, "<p>%zu more suites are not shown.</p>\n",
			n - TREND_SUITES_MAX);
	if (table->more)
		fprintf(out, "<p>Drawn of the newest %zu rows.</p>\n", rows);
	return NULL;
}

/* ---- the page ---- */

static struct err *history_write_tile(const struct history_page *page,
				      const char *column, const char *text,
				      FILE *out)
{
	fputs("<div class=\"tile\"><b>", out);
	TRY(history_write_text(history_cell(&page->totals, 0, column), out));
	fprintf(out, "</b><span>%s</span></div>\n", text);
	return NULL;
}

static struct err *history_write_top(const struct history_page *page, FILE *out)
{
	const char *flaky = history_cell(&page->totals, 0, "flaky");
	const char *last = history_cell(&page->totals, 0, "last");
	fputs("<div id=\"page\">\n<header>\n<div class=\"top\">"
	      "<span class=\"brand\">poly<span>graph</span></span>"
	      "<span class=\"suite\">history</span></div>\n",
	      out);
	if (strtoull(flaky, NULL, 10)) {
		fputs("<h1><b>", out);
		TRY(history_write_text(flaky, out));
		fprintf(out, "</b> test%s cannot be trusted</h1>\n",
			strcmp(flaky, "1") ? "s" : "");
	} else {
		fputs("<h1 class=\"fine\"><b>No flaky test</b> was "
		      "found</h1>\n",
		      out);
	}
	fprintf(out, "<p class=\"lead\">%s",
		*last ? "Runs from " : "No run is stored yet.");
	TRY(history_write_text(history_cell(&page->totals, 0, "first"), out));
	fputs(*last ? " to " : "", out);
	TRY(history_write_text(last, out));
	fputs("</p>\n<div class=\"tiles\">\n", out);
	TRY(history_write_tile(page, "runs", "runs", out));
	TRY(history_write_tile(page, "suites", "suites", out));
	TRY(history_write_tile(page, "flaky", "flaky tests", out));
	TRY(history_write_tile(page, "failing", "tests that failed", out));
	if (page->branch)
		fprintf(out,
			"<div class=\"tile\"><b>%zu%s</b><span>new findings on "
			"the branch</span></div>\n",
			history_rows(&page->fresh),
			page->fresh.more ? "+" : "");
	fputs("</div>\n<nav class=\"legend\" aria-label=\"Sections\">"
	      "<a href=\"#flaky\">Flaky tests</a>"
	      "<a href=\"#new\">New findings</a>"
	      "<a href=\"#trend\">Trend by suite</a>"
	      "<a href=\"#failing\">Failing tests</a></nav>\n"
	      "</header>\n<main>\n",
	      out);
	return NULL;
}

static void history_open_panel(const char *id, const char *title,
			       const char *about, FILE *out)
{
	fprintf(out,
		"<section class=\"panel\" id=\"%s\">\n<h2>%s</h2>\n"
		"<p>%s</p>\n",
		id, title, about);
}

static struct err *history_write_fresh(const struct history_page *page,
				       FILE *out)
{
	fputs("<section class=\"panel\" id=\"new\">\n<h2>New findings</h2>\n",
	      out);
	if (!page->branch) {
		fputs("<p>No branch was examined; <code>--branch NAME</code> "
		      "says which one.</p>\n</section>\n",
		      out);
		return NULL;
	}
	fputs("<p>Findings on <code>", out);
	TRY(history_write_text(page->branch, out));
	fputs("</code> that <code>", out);
	TRY(history_write_text(page->base, out));
	fputs("</code> never had.</p>\n", out);
	TRY(history_write_table(&page->fresh, "None.", out));
	fputs("</section>\n", out);
	return NULL;
}

struct err *history_page_write(const struct history_page *page, FILE *out)
{
	page_begin("History", true, out);
	TRY(history_write_top(page, out));
	history_open_panel("flaky", "Flaky tests",
			   "Tests whose result cannot be trusted: since when, "
			   "and in how many runs that was found.",
			   out);
	TRY(history_write_table(&page->flaky, "None was found.", out));
	fputs("</section>\n", out);
	TRY(history_write_fresh(page, out));
	history_open_panel("trend", "Trend by suite",
			   "Most findings first. Each day shows its highest "
			   "numbers; days without a run are left out.",
			   out);
	TRY(write_trends(&page->trend, out));
	fputs("</section>\n", out);
	history_open_panel("failing", "Failing tests",
			   "Tests that failed in their own order, most "
			   "failures first.",
			   out);
	TRY(history_write_table(&page->failing, "None failed.", out));
	fputs("</section>\n</main>\n</div>\n</body>\n</html>\n", out);
	return NULL;
}
