/* polygraph history: what runs of the past say. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/storing.h"
#include "history/history.h"
#include "report/history_page.h"

#define STORE_DEFAULT ".polygraph/history.db"
/* Of the page, whatever --limit says: a row is a day of a suite. */
#define TREND_ROWS_MAX 20000

struct history_options {
	struct common_options common;
	char *store;
	char *branch;
	char *base;
	uint64_t limit;
};

static const struct history_options defaults = {
	.common = COMMON_DEFAULTS,
	.limit = 100,
};

#define FIELD(member) .offset = offsetof(struct history_options, member)

static const char *const history_formats[] = { "text", "json", "html", NULL };

/* clang-format off */
static const struct option history_own_options[] = {
	{ "store", 0, OPTION_TEXT, FIELD(store), .value = "URL",
	  .help = "the history: a file (SQLite; default: "
		  STORE_DEFAULT "), or postgresql://USER@HOST/NAME" },
	{ "branch", 0, OPTION_TEXT, FIELD(branch), .value = "NAME",
	  .help = "for 'new': the branch that is examined (default: the one "
		  "that is checked out)" },
	{ "base", 0, OPTION_TEXT, FIELD(base), .value = "NAME",
	  .help = "for 'new': the branch that it is compared with (default: "
		  "main)" },
	{ "format", 0, OPTION_LIST, FIELD(common.formats), .value = "FORMAT",
	  .choices = history_formats, .no_config = true,
	  .help = "text (default: a table), json (an object per line), or html "
		  "(a page with the answers to all questions); repeatable, each "
		  "with its own --output" },
	{ "output", 'o', OPTION_LIST, FIELD(common.outputs), .value = "PATH",
	  .no_config = true,
	  .help = "file for the preceding --format (default or '-': standard "
		  "output)" },
	{ "limit", 0, OPTION_NUMBER, FIELD(limit), .value = "N", .min = 1,
	  .max = 1000000, .help = "rows at most (default: 100)" },
	{}
};
/* clang-format on */

static const struct option_group history_group = { "History",
						   history_own_options };

struct history_question {
	const char *word;
	bool branches;	     /* takes the two branches as parameters */
	const char *nothing; /* said where there are no rows */
	const char *sql;     /* without its limit */
};

enum { QUESTION_FLAKY, QUESTION_FAILING, QUESTION_NEW, QUESTION_TREND };

static const struct history_question questions[] = {
	[QUESTION_FLAKY] = { "flaky", false,
			     "no test with an outcome that varies",
			     "SELECT f.suite AS suite, f.test AS test, f.kind "
			     "AS kind, "
			     "MIN(r.happened) AS since, MAX(r.happened) AS "
			     "last, "
			     "COUNT(DISTINCT f.run) AS runs FROM "
			     "polygraph_finding f "
			     "JOIN polygraph_run r ON f.run = r.key WHERE "
			     "f.kind <> 'pollution' "
			     "GROUP BY f.suite, f.test, f.kind ORDER BY since, "
			     "suite, test" },
	[QUESTION_FAILING] = { "failing", false, "no test that failed",
			       "SELECT t.suite AS suite, t.test AS test, "
			       "MIN(r.happened) AS since, "
			       "MAX(r.happened) AS last, COUNT(*) AS failures "
			       "FROM polygraph_result t JOIN polygraph_run r "
			       "ON t.run = r.key "
			       "WHERE t.outcome <> 'pass' AND t.outcome <> "
			       "'skip' "
			       "GROUP BY t.suite, t.test ORDER BY failures "
			       "DESC, suite, test" },
	[QUESTION_NEW] = { "new", true, "nothing new",
			   "SELECT f.suite AS suite, f.test AS test, f.kind AS "
			   "kind, "
			   "f.id AS id, MIN(r.happened) AS since FROM "
			   "polygraph_finding f "
			   "JOIN polygraph_run r ON f.run = r.key WHERE "
			   "r.branch = $1 "
			   "AND NOT EXISTS (SELECT 1 FROM polygraph_finding g "
			   "JOIN polygraph_run s ON g.run = s.key WHERE g.id = "
			   "f.id AND "
			   "s.branch = $2) GROUP BY f.suite, f.test, f.kind, "
			   "f.id "
			   "ORDER BY since, suite, test" },
	[QUESTION_TREND] = { "trend", false, "no suite",
			     "SELECT SUBSTR(r.happened, 1, 10) AS day, s.suite "
			     "AS suite, "
			     "COUNT(*) AS runs, MAX(s.tests) AS tests, "
			     "MAX(s.failed) AS failed, "
			     "MAX(s.findings) AS findings FROM polygraph_suite "
			     "s "
			     "JOIN polygraph_run r ON s.run = r.key "
			     "GROUP BY SUBSTR(r.happened, 1, 10), s.suite "
			     "ORDER BY day DESC, suite" },
};

/* What the page begins with. */
static const char totals[] =
	"SELECT COUNT(*) AS runs, COALESCE(MIN(happened), '') AS first, "
	"COALESCE(MAX(happened), '') AS last, "
	"(SELECT COUNT(DISTINCT suite) FROM polygraph_suite) AS suites, "
	"(SELECT COUNT(*) FROM (SELECT DISTINCT suite, test FROM "
	"polygraph_finding WHERE kind <> 'pollution') f) AS flaky, "
	"(SELECT COUNT(*) FROM (SELECT DISTINCT suite, test FROM "
	"polygraph_result WHERE outcome <> 'pass' AND outcome <> 'skip') t) "
	"AS failing FROM polygraph_run";

/* ---- tables ---- */

static struct err *write_json_rows(const struct history_table *table, FILE *out)
{
	const struct strv *columns = &table->columns, *cells = &table->cells;
	for (size_t i = 0; i + columns->n <= cells->n; i += columns->n) {
		_cleanup_(json_freep) json_t *row = json_object();
		if (!columns->n)
			return NULL;
		for (size_t j = 0; j < columns->n; j++) {
			const char *cell = cells->data[i + j];
			_cleanup_(freep) char *text =
				str_utf8(cell, strlen(cell));
			if (!text || json_object_set_new(row, columns->data[j],
							 json_string(text)))
				return err_nomem();
		}
		TRY(json_write_to(row, 0, out));
		fputs("\n", out);
	}
	return NULL;
}

/* The last column is as wide as it is. */
static struct err *write_text_rows(const struct history_table *table, FILE *out)
{
	const struct strv *columns = &table->columns, *cells = &table->cells;
	_cleanup_(freep) size_t *widths =
		calloc(columns->n + 1, sizeof(size_t));
	if (!widths)
		return err_nomem();
	/* No cell without a column. */
	BUG_ON(cells->n && !columns->n);
	for (size_t i = 0; i < columns->n; i++)
		widths[i] = strlen(columns->data[i]);
	for (size_t i = 0; i < cells->n; i++) {
		size_t *width = &widths[i % columns->n];
		*width = MIN(MAX(*width, strlen(cells->data[i])), (size_t)60);
	}
	for (size_t i = 0; i < columns->n + cells->n; i++) {
		size_t at = i % columns->n;
		const char *text = i < columns->n ? columns->data[i]
						  : cells->data[i - columns->n];
		_cleanup_(freep) char *shown = str_escape(text);
		if (!shown)
			return err_nomem();
		if (at == columns->n - 1)
			fprintf(out, "%s\n", shown);
		else
			fprintf(out, "%-*s  ", (int)widths[at], shown);
	}
	return NULL;
}

/* ---- the command ---- */

/* What is to be written. */
struct history_answers {
	struct history_table table; /* of text and JSON */
	struct str nothing; /* instead of text, where the table is empty */
	struct history_page page;
};

static void history_answers_free(struct history_answers *answers)
{
	struct history_table *const tables[] = {
		&answers->table,      &answers->page.totals,
		&answers->page.flaky, &answers->page.failing,
		&answers->page.fresh, &answers->page.trend,
	};
	str_freep(&answers->nothing);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		strv_free(&tables[i]->columns);
		strv_free(&tables[i]->cells);
	}
}

/* One row more than @limit is asked for, which tells whether there are more. */
static struct err *ask_question(struct history *history,
				const struct history_question *question,
				const char *const branches[2], uint64_t limit,
				struct history_table *ret)
{
	_cleanup_(str_freep) struct str sql = STR_INIT;
	TRY(str_appendf(&sql, "%s LIMIT %llu", question->sql,
			(unsigned long long)limit + 1));
	TRY(history_ask(history, sql.s, branches, question->branches ? 2 : 0,
			&ret->columns, &ret->cells));
	ret->more = ret->cells.n > limit * ret->columns.n;
	while (ret->cells.n > limit * ret->columns.n) {
		ret->cells.n--;
		free(take_ptr(ret->cells.data[ret->cells.n]));
	}
	return NULL;
}

static struct err *ask_for_page(struct history *history,
				const char *const branches[2], uint64_t limit,
				struct history_page *page)
{
	struct history_table *const tables[ARRAY_SIZE(questions)] = {
		[QUESTION_FLAKY] = &page->flaky,
		[QUESTION_FAILING] = &page->failing,
		[QUESTION_NEW] = &page->fresh,
		[QUESTION_TREND] = &page->trend,
	};
	page->branch = branches[0];
	page->base = branches[1];
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		if (questions[i].branches && !page->branch)
			continue;
		TRY(ask_question(history, &questions[i], branches,
				 i == QUESTION_TREND
					 ? MAX(limit, (uint64_t)TREND_ROWS_MAX)
					 : limit,
				 tables[i]));
	}
	return history_ask(history, totals, NULL, 0, &page->totals.columns,
			   &page->totals.cells);
}

static struct err *write_answers(const void *data,
				 const struct report_format *format,
				 const struct report_style *style _unused_,
				 FILE *out)
{
	const struct history_answers *answers = data;
	if (format == &report_html)
		return history_page_write(&answers->page, out);
	if (format == &report_json)
		return write_json_rows(&answers->table, out);
	if (!answers->nothing.n)
		return write_text_rows(&answers->table, out);
	fprintf(out, "%s\n", answers->nothing.s);
	return NULL;
}

/* Why there are no rows: nothing was stored, or there was nothing to tell. */
static struct err *say_nothing(struct history *history,
			       const struct history_question *question,
			       const char *const branches[2], struct str *ret)
{
	_cleanup_(strv_freep) struct strv columns = {}, cells = {};
	TRY(history_ask(history, totals, NULL, 0, &columns, &cells));
	const char *runs = cells.n ? cells.data[0] : "0";
	if (!strcmp(runs, "0"))
		return str_append(ret, "no run is stored in this history yet; "
				       "'polygraph check --store' adds one");
	TRY(str_append(ret, question->nothing));
	if (question->branches) {
		TRY(str_append(ret, " on "));
		TRY(str_append_escaped(ret, branches[0], strlen(branches[0])));
		TRY(str_append(ret, " against "));
		TRY(str_append_escaped(ret, branches[1], strlen(branches[1])));
	}
	return str_appendf(ret, " in %s run%s", runs,
			   strcmp(runs, "1") != 0 ? "s" : "");
}

/* Asking makes no file; only where somebody named the place, for what is sent. */
static struct err *history_open_store(const char *store, struct history **ret)
{
	if (!store && access(STORE_DEFAULT, F_OK))
		return err_hint(err_create(ERR_USAGE,
					   "there is no history of runs here "
					   "('" STORE_DEFAULT "')"),
				"runs are kept with 'polygraph check --store "
				"FILE', and shown with 'polygraph history "
				"--store FILE'");
	return history_open(store ? store : STORE_DEFAULT, ret);
}

/* Compared with itself a branch has nothing new. */
static struct err *choose_branch(const struct history_options *values,
				 const char *base, char **ret)
{
	_cleanup_(freep) char *branch = NULL;
	if (values->branch)
		return str_copy(values->branch, ret);
	branch = storing_find_branch();
	if (!branch)
		return err_nomem();
	*ret = *branch && strcmp(branch, base) != 0 ? take_ptr(branch) : NULL;
	return NULL;
}

static struct err *answer_question(const struct history_options *values,
				   const struct history_question *question)
{
	_cleanup_(history_closep) struct history *history = NULL;
	_cleanup_(outputs_freep) struct outputs outputs = {};
	_cleanup_(history_answers_free) struct history_answers answers = {};
	_cleanup_(freep) char *branch = NULL;
	const char *base = values->base ? values->base : "main";
	bool page = false, rows = false;
	size_t sent = 0;
	TRY(outputs_choose(&values->common, "history", &outputs));
	for (size_t i = 0; i < outputs.n; i++) {
		const struct report_format *format = outputs.data[i].format;
		bool html = format == &report_html;
		if (format == &report_sarif || format == &report_junit)
			return err_create(ERR_USAGE,
					  "the history is text, json or html, "
					  "not %s",
					  format->name);
		page |= html;
		rows |= !html;
	}
	if (page || question->branches)
		TRY(choose_branch(values, base, &branch));
	if (rows && question->branches && !branch)
		return err_hint(err_create(ERR_USAGE, "which branch?"),
				"polygraph history --branch NAME new");
	const char *const branches[] = { branch, base };
	TRY(history_open_store(values->store, &history));
	/* Only where somebody asked for that place with --store. */
	if (values->store)
		TRY(history_send(history, STORING_FOLDER, &sent));
	if (rows)
		TRY(ask_question(history, question, branches, values->limit,
				 &answers.table));
	if (rows && !answers.table.cells.n)
		TRY(say_nothing(history, question, branches, &answers.nothing));
	if (page)
		TRY(ask_for_page(history, branches, values->limit,
				 &answers.page));
	return outputs_write_by(&outputs, write_answers, &answers);
}

static struct err *history_run_command(const struct options *options, int argc,
				       char **argv, enum status *ret)
{
	const char *word = argc ? argv[0] : "flaky";
	*ret = STATUS_OK;
	for (size_t i = 0; argc < 2 && i < ARRAY_SIZE(questions); i++) {
		if (!strcmp(questions[i].word, word))
			return answer_question(options->values, &questions[i]);
	}
	return err_hint(err_create(ERR_USAGE, "there is no question '%s'",
				   argc > 1 ? argv[1] : word),
			"the questions are: flaky, failing, new and trend");
}

const struct command command_history = {
	.name = "history",
	.summary =
		"shows what past runs found: since when, what is new, trends",
	.synopsis = (const char *const[]){ "[OPTIONS] [flaky | failing | new | "
					   "trend]",
					   NULL },
	.description =
		(const char *const[]){
			"Answers questions about runs that were stored with "
			"--store. 'flaky' (default): tests that cannot be "
			"trusted, since when, and in how many runs. 'failing': "
			"tests that failed. 'new': findings of a --branch that "
			"its --base never had. 'trend': tests, failures and "
			"findings of each suite by day.",
			"--format html writes a page that answers all of "
			"them, with a picture for each suite.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph check --store results.db ./unit_tests",
			  "store a run" },
			{ "polygraph history --store results.db trend",
			  "all runs by day" },
			{ "polygraph history --store postgresql://ci@db/tests "
			  "--branch topic new",
			  "what the branch brings" },
			{ "polygraph history --store results.db --format html "
			  "--output history.html",
			  "all of it, for the browser" },
			{} },
	.groups = (const struct option_group *const[]){ &history_group,
							&common_bare_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.run = history_run_command,
};
