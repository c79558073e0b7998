/* polygraph history: what runs of the past say. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/storing.h"
#include "history/history.h"

#define STORE_DEFAULT ".polygraph/history.db"

struct history_options {
	struct common_options common;
	char *store;
	char *branch;
	char *base;
	bool json;
	uint64_t limit;
};

static const struct history_options defaults = {
	.common = COMMON_DEFAULTS,
	.limit = 100,
};

#define FIELD(member) .offset = offsetof(struct history_options, member)

/* clang-format off */
static const struct option history_own_options[] = {
	{ "store", 0, OPTION_TEXT, FIELD(store), .value = "URL",
	  .help = "the history: a file (SQLite; default: "
		  STORE_DEFAULT "), or postgresql://USER@HOST/NAME" },
	{ "branch", 0, OPTION_TEXT, FIELD(branch), .value = "NAME",
	  .help = "for 'new': the branch that is examined" },
	{ "base", 0, OPTION_TEXT, FIELD(base), .value = "NAME",
	  .help = "for 'new': the branch that it is compared with (default: "
		  "main)" },
	{ "json", 0, OPTION_FLAG, FIELD(json),
	  .help = "a JSON object per line instead of a table" },
	{ "limit", 0, OPTION_NUMBER, FIELD(limit), .value = "N", .min = 1,
	  .max = 1000000, .help = "rows at most (default: 100)" },
	{}
};
/* clang-format on */

static const struct option_group history_group = { "History",
						   history_own_options };

struct history_question {
	const char *word;
	bool branches;	 /* takes the two branches as parameters */
	const char *sql; /* without its limit */
};

static const struct history_question questions[] = {
	{ "flaky", false,
	  "SELECT f.suite AS suite, f.test AS test, f.kind AS kind, "
	  "MIN(r.happened) AS since, MAX(r.happened) AS last, "
	  "COUNT(DISTINCT f.run) AS runs FROM polygraph_finding f "
	  "JOIN polygraph_run r ON f.run = r.key WHERE f.kind <> 'pollution' "
	  "GROUP BY f.suite, f.test, f.kind ORDER BY since, suite, test" },
	{ "failing", false,
	  "SELECT t.suite AS suite, t.test AS test, MIN(r.happened) AS since, "
	  "MAX(r.happened) AS last, COUNT(*) AS failures "
	  "FROM polygraph_result t JOIN polygraph_run r ON t.run = r.key "
	  "WHERE t.outcome <> 'pass' AND t.outcome <> 'skip' "
	  "GROUP BY t.suite, t.test ORDER BY failures DESC, suite, test" },
	{ "new", true,
	  "SELECT f.suite AS suite, f.test AS test, f.kind AS kind, "
	  "f.id AS id, MIN(r.happened) AS since FROM polygraph_finding f "
	  "JOIN polygraph_run r ON f.run = r.key WHERE r.branch = $1 "
	  "AND NOT EXISTS (SELECT 1 FROM polygraph_finding g "
	  "JOIN polygraph_run s ON g.run = s.key WHERE g.id = f.id AND "
	  "s.branch = $2) GROUP BY f.suite, f.test, f.kind, f.id "
	  "ORDER BY since, suite, test" },
	{ "trend", false,
	  "SELECT SUBSTR(r.happened, 1, 10) AS day, s.suite AS suite, "
	  "COUNT(*) AS runs, MAX(s.tests) AS tests, MAX(s.failed) AS failed, "
	  "MAX(s.findings) AS findings FROM polygraph_suite s "
	  "JOIN polygraph_run r ON s.run = r.key "
	  "GROUP BY SUBSTR(r.happened, 1, 10), s.suite "
	  "ORDER BY day DESC, suite" },
};

/* ---- tables ---- */

static struct err *write_json_rows(const struct strv *columns,
				   const struct strv *cells)
{
	for (size_t i = 0; i + columns->n <= cells->n; i += columns->n) {
		_cleanup_(json_freep) json_t *row = json_object();
		for (size_t j = 0; j < columns->n; j++) {
			const char *cell = cells->data[i + j];
			_cleanup_(freep) char *text =
				str_utf8(cell, strlen(cell));
			if (!text || json_object_set_new(row, columns->data[j],
							 json_string(text)))
				return err_nomem();
		}
		TRY(json_write_to(row, 0, stdout));
		puts("");
	}
	return NULL;
}

/* The last column is as wide as it is. */
static struct err *write_table(const struct strv *columns,
			       const struct strv *cells)
{
	_cleanup_(freep) size_t *widths =
		calloc(columns->n + 1, sizeof(size_t));
	if (!widths)
		return err_nomem();
	if (!columns->n)
		return NULL;
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
			printf("%s\n", shown);
		else
			printf("%-*s  ", (int)widths[at], shown);
	}
	return NULL;
}

/* ---- the command ---- */

static struct err *answer_question(const struct history_options *values,
				   const struct history_question *question)
{
	_cleanup_(history_closep) struct history *history = NULL;
	_cleanup_(strv_freep) struct strv columns = {};
	_cleanup_(strv_freep) struct strv cells = {};
	_cleanup_(str_freep) struct str sql = STR_INIT;
	const char *const branches[] = { values->branch,
					 values->base ? values->base : "main" };
	size_t sent = 0;
	if (question->branches && !values->branch)
		return err_hint(err_create(ERR_USAGE, "which branch?"),
				"polygraph history --branch NAME new");
	TRY(history_open(values->store ? values->store : STORE_DEFAULT,
			 &history));
	/* Only where somebody asked for that place with --store. */
	if (values->store)
		TRY(history_send(history, STORING_FOLDER, &sent));
	TRY(str_appendf(&sql, "%s LIMIT %llu", question->sql,
			(unsigned long long)values->limit));
	TRY(history_ask(history, sql.s, branches, question->branches ? 2 : 0,
			&columns, &cells));
	if (values->json)
		return write_json_rows(&columns, &cells);
	if (!cells.n) {
		puts("nothing");
		return NULL;
	}
	return write_table(&columns, &cells);
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
			{} },
	.groups = (const struct option_group *const[]){ &history_group,
							&common_bare_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.run = history_run_command,
};
