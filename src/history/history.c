#include "history/history.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/outfile.h"
#include "base/path.h"
#include "base/str.h"
#include "history/database.h"

#define KEPT_MAX ((size_t)1 << 30)
/* Rows of one statement: five parameters each, and SQLite takes 32,766. */
#define ROWS_MAX 500

struct history {
	struct history_database database;
};

/* Both databases know all of it. */
static const char *const schema[] = {
	"CREATE TABLE IF NOT EXISTS polygraph_run (key text PRIMARY KEY, "
	"happened text NOT NULL, branch text NOT NULL, revision text NOT NULL)",
	"CREATE TABLE IF NOT EXISTS polygraph_result (run text NOT NULL, "
	"suite text NOT NULL, test text NOT NULL, outcome text NOT NULL, "
	"seconds double precision)",
	"CREATE TABLE IF NOT EXISTS polygraph_finding (run text NOT NULL, "
	"suite text NOT NULL, test text NOT NULL, kind text NOT NULL, "
	"id text NOT NULL, severity text NOT NULL, message text NOT NULL)",
	"CREATE TABLE IF NOT EXISTS polygraph_suite (run text NOT NULL, "
	"suite text NOT NULL, tests integer, failed integer, "
	"findings integer)",
	"CREATE INDEX IF NOT EXISTS polygraph_suite_run ON polygraph_suite "
	"(run)",
	"CREATE INDEX IF NOT EXISTS polygraph_result_bad ON polygraph_result "
	"(suite, test) WHERE outcome <> 'pass' AND outcome <> 'skip'",
	"CREATE INDEX IF NOT EXISTS polygraph_run_when ON polygraph_run "
	"(happened)",
	"CREATE INDEX IF NOT EXISTS polygraph_result_run ON polygraph_result "
	"(run, suite, outcome)",
	"CREATE INDEX IF NOT EXISTS polygraph_finding_id ON polygraph_finding "
	"(id, run)",
	"CREATE INDEX IF NOT EXISTS polygraph_finding_run ON polygraph_finding "
	"(run, suite)",
};

static struct err *history_run_sql(struct history *history, const char *sql,
				   const char *const *parameters, size_t n)
{
	return history->database.ops->run(history->database.handle, sql,
					  parameters, n, NULL, NULL);
}

struct err *history_open(const char *url, struct history **ret)
{
	_cleanup_(history_closep) struct history *history =
		calloc(1, sizeof(*history));
	if (!history)
		return err_nomem();
	if (str_starts(url, "postgresql:") || str_starts(url, "postgres:"))
		TRY(database_open_postgres(url, &history->database));
	else if (str_starts(url, "sqlite:"))
		TRY(database_open_sqlite(url + strlen("sqlite:"),
					 &history->database));
	else if (!strstr(url, "://"))
		TRY(database_open_sqlite(url, &history->database));
	else
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is no place for results", url),
				"give a file, or postgresql://…");
	struct strv found = {};
	struct err *err = history->database.ops->run(
		history->database.handle,
		str_starts(url, "postgres")
			? "SELECT 1 FROM pg_indexes WHERE indexname = "
			  "'polygraph_finding_run'"
			: "SELECT 1 FROM sqlite_master WHERE name = "
			  "'polygraph_finding_run'",
		NULL, 0, NULL, &found);
	for (size_t i = 0; !err && !found.n && i < ARRAY_SIZE(schema); i++)
		err = history_run_sql(history, schema[i], NULL, 0);
	strv_free(&found);
	TRY(err);
	*ret = take_ptr(history);
	return NULL;
}

void history_close(struct history *history)
{
	if (history && history->database.ops)
		history->database.ops->close(history->database.handle);
	free(history);
}

/* ---- adding ---- */

static const char *history_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* Rows of one table that are inserted together; parameters are ours. */
struct history_rows {
	const char *table;
	size_t columns;
	bool numeric; /* the last one is a number */
	struct strv cells;
};

static struct err *flush_rows(struct history *history,
			      struct history_rows *rows)
{
	_cleanup_(str_freep) struct str sql = STR_INIT;
	if (!rows->cells.n)
		return NULL;
	TRY(str_appendf(&sql, "INSERT INTO %s VALUES ", rows->table));
	size_t at = 0; /* of its row */
	for (size_t i = 0; i < rows->cells.n; i++) {
		bool first = !at;
		bool last = ++at == rows->columns;
		/* Several rows are not given the types of their table. */
		bool number = last && rows->numeric;
		if (last)
			at = 0;
		TRY(str_appendf(&sql, "%s%s$%zu%s%s",
				first ? (i ? ", (" : "(") : ", ",
				number ? "CAST(" : "", i + 1,
				number ? " AS double precision)" : "",
				last ? ")" : ""));
	}
	TRY(history_run_sql(history, sql.s,
			    (const char *const *)rows->cells.data,
			    rows->cells.n));
	strv_free(&rows->cells);
	rows->cells = (struct strv){};
	return NULL;
}

static struct err *add_cells(struct history *history, struct history_rows *rows,
			     const char *const *cells)
{
	for (size_t i = 0; i < rows->columns; i++)
		TRY(strv_add(&rows->cells, cells[i]));
	return rows->cells.n >= rows->columns * ROWS_MAX
		       ? flush_rows(history, rows)
		       : NULL;
}

/* Of a report of one suite: its command. */
static struct err *suite_name(const json_t *root, struct str *ret)
{
	const json_t *command =
		json_object_get(json_object_get(root, "suite"), "command");
	size_t i;
	json_t *word;
	TRY(str_append(ret, ""));
	json_array_foreach(command, i, word)
	{
		const char *text = json_string_value(word);
		TRY(str_appendf(ret, "%s%s", i ? " " : "", text ? text : ""));
	}
	return NULL;
}

static struct err *insert_tests(struct history *history, const json_t *root,
				const char *key, const char *suite,
				struct history_rows *rows)
{
	size_t i;
	json_t *test;
	json_array_foreach(json_object_get(root, "tests"), i, test)
	{
		const char *own = history_text(test, "suite");
		char seconds[32];
		snprintf(seconds, sizeof(seconds), "%.6f",
			 json_number_value(json_object_get(test, "seconds")));
		const char *const cells[] = { key, *own ? own : suite,
					      history_text(test, "name"),
					      history_text(test, "outcome"),
					      seconds };
		TRY(add_cells(history, rows, cells));
	}
	return flush_rows(history, rows);
}

static struct err *insert_findings(struct history *history, const json_t *root,
				   const char *key, const char *suite,
				   struct history_rows *rows)
{
	size_t i;
	json_t *finding;
	json_array_foreach(json_object_get(root, "findings"), i, finding)
	{
		const char *own = history_text(finding, "suite");
		const char *const cells[] = {
			key,
			*own ? own : suite,
			history_text(finding, "test"),
			history_text(finding, "kind"),
			history_text(finding, "id"),
			history_text(finding, "severity"),
			history_text(finding, "message"),
		};
		TRY(add_cells(history, rows, cells));
	}
	return flush_rows(history, rows);
}

/* So that trends need not count all results again. */
static const char summary[] =
	"INSERT INTO polygraph_suite SELECT r.run, r.suite, COUNT(*), "
	"SUM(CASE WHEN r.outcome IN ('pass', 'skip') THEN 0 ELSE 1 END), "
	"(SELECT COUNT(*) FROM polygraph_finding f WHERE f.run = r.run AND "
	"f.suite = r.suite) FROM polygraph_result r WHERE r.run = $1 "
	"GROUP BY r.run, r.suite";

static struct err *insert_run(struct history *history,
			      const struct history_run *run, const json_t *root)
{
	_cleanup_(str_freep) struct str suite = STR_INIT;
	struct strv found = {};
	const char *const key[] = { run->key };
	const char *const cells[] = { run->key, run->when, run->branch,
				      run->commit };
	struct history_rows tests = { "polygraph_result", 5, true, {} };
	struct history_rows findings = { "polygraph_finding", 7, false, {} };
	struct err *err = history->database.ops->run(
		history->database.handle,
		"SELECT key FROM polygraph_run WHERE key = $1", key, 1, NULL,
		&found);
	bool there = found.n;
	strv_free(&found);
	if (there)
		log_debug(LOG_HISTORY, "run %s is there already", run->key);
	if (err || there)
		return err;
	TRY(history_run_sql(history,
			    "INSERT INTO polygraph_run VALUES ($1, $2, $3, $4)",
			    cells, 4));
	TRY(suite_name(root, &suite));
	err = insert_tests(history, root, run->key, suite.s, &tests);
	if (!err)
		err = insert_findings(history, root, run->key, suite.s,
				      &findings);
	strv_free(&tests.cells);
	strv_free(&findings.cells);
	return err ? err : history_run_sql(history, summary, key, 1);
}

struct err *history_add(struct history *history, const struct history_run *run)
{
	json_error_t error;
	_cleanup_(json_freep) json_t *root = json_loads(run->report, 0, &error);
	if (!json_is_object(root))
		return err_create(ERR_USAGE, "no report of polygraph: %s",
				  root ? "not an object" : error.text);
	TRY(history_run_sql(history, "BEGIN", NULL, 0));
	struct err *err = insert_run(history, run, root);
	if (err) {
		err_ignore(history_run_sql(history, "ROLLBACK", NULL, 0));
		return err;
	}
	return history_run_sql(history, "COMMIT", NULL, 0);
}

/* ---- kept until later ---- */

struct err *history_keep(const char *folder, const struct history_run *run)
{
	_cleanup_(str_freep) struct str path = STR_INIT;
	_cleanup_(outfile_discard) struct outfile outfile = {};
	struct outfile_place place = OUTFILE_PLACE_INIT;
	_cleanup_(json_freep) json_t *kept =
		json_pack("{s:s, s:s, s:s, s:s, s:s}", "key", run->key, "when",
			  run->when, "branch", run->branch, "commit",
			  run->commit, "report", run->report);
	if (!kept)
		return err_nomem();
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_errno(errno, "cannot make '%s'", folder);
	TRY(str_appendf(&path, "%s/%s-%s.json", folder, run->when, run->key));
	TRY(outfile_place_open(path.s, &place));
	struct err *err = outfile_open(&place, &outfile);
	if (!err)
		err = json_write_to(kept, 0, outfile.file);
	if (!err)
		err = outfile_commit(&outfile);
	outfile_discard(&outfile);
	outfile_place_close(&place);
	return err;
}

static struct err *send_file(struct history *history, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(json_freep) json_t *kept = NULL;
	size_t n;
	TRY(file_read(path, KEPT_MAX, &text, &n));
	kept = json_loadb(text, n, 0, NULL);
	const struct history_run run = {
		.key = history_text(kept, "key"),
		.when = history_text(kept, "when"),
		.branch = history_text(kept, "branch"),
		.commit = history_text(kept, "commit"),
		.report = history_text(kept, "report"),
	};
	/* Whatever this is, it is not ours: it stays where it is. */
	if (!*run.key || !*run.report) {
		log_warn("'%s' is no kept run; it is left alone", path);
		return NULL;
	}
	TRY(history_add(history, &run));
	return unlink(path) < 0 ? err_errno(errno, "cannot remove '%s'", path)
				: NULL;
}

static int is_kept(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && str_ends(entry->d_name, ".json");
}

struct err *history_send(struct history *history, const char *folder,
			 size_t *ret)
{
	struct dirent **names = NULL;
	int n = scandir(folder, &names, is_kept, alphasort);
	struct err *err = NULL;
	*ret = 0;
	for (int i = 0; i < n; i++) {
		_cleanup_(freep) char *path = NULL;
		if (!err)
			err = path_join(folder, names[i]->d_name, &path);
		if (!err)
			err = send_file(history, path);
		*ret += !err;
		free(names[i]);
	}
	free(names);
	return err;
}

struct err *history_ask(struct history *history, const char *sql,
			const char *const *parameters, size_t n,
			struct strv *ret_columns, struct strv *ret_cells)
{
	return history->database.ops->run(history->database.handle, sql,
					  parameters, n, ret_columns,
					  ret_cells);
}
