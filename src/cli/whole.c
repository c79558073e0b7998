#include "cli/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/version.h"
#include "cli/detection.h"
#include "cli/dry_run.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/select.h"
#include "cli/whole_folder.h"
#include "framework/frameworks.h"
#include "report/name.h"
#include "report/reread.h"
#include "report/width.h"
#include "results/last.h"
#include "results/results.h"
#include "whole/child.h"
#include "whole/document.h"
#include "whole/part.h"
#include "whole/shard.h"
#include "whole/since.h"

#define LIST_MAX ((size_t)256 << 20)
#define REPORT_MAX ((size_t)1 << 30)
/* Of a part whose tests were never measured: start-up, and so much a test. */
#define WEIGHT_BASE 10

/* Says to the check of a part what the whole build was given, in nanoseconds. */
#define BUDGET_VARIABLE "POLYGRAPH_WHOLE_BUDGET"
/* The folder that it was called in: its results are there. */
#define FOLDER_VARIABLE "POLYGRAPH_WHOLE_FOLDER"
#define TERMINAL_VARIABLE "POLYGRAPH_WHOLE_TERMINAL"

#define FIELD(member) .offset = offsetof(struct detection_options, whole.member)

/* clang-format off */
static const struct option whole_options[] = {
	{ "program", 0, OPTION_LIST, FIELD(programs), .value = "GLOB",
	  .often = true,
	  .help = "test executables to check together, by path or shell "
		  "pattern; repeatable" },
	{ "inside", 0, OPTION_FLAG, FIELD(inside),
	  .help = "of a build, check the tests inside executables, as if each "
		  "were given alone (default; --no-inside checks every "
		  "executable as one test)" },
	{ "shard", 0, OPTION_TEXT, FIELD(shard), .value = "I/N",
	  .help = "only the Ith of N shares of a build, for one of N "
		  "machines; 'polygraph merge' joins their JSON reports" },
	{ "shard-weights", 0, OPTION_TEXT, FIELD(weights), .value = "FILE",
	  .help = "divide by what each executable took in an earlier JSON "
		  "report, or take the tests from that of a --dry-run "
		  "(default: by the number of tests); must be the same file "
		  "for all shares" },
	{ "since", 0, OPTION_TEXT, FIELD(since), .value = "REV",
	  .no_config = true,
	  .often = true,
	  .help = "of a build, only tests that changes since this git "
		  "revision reach; build files and data reach all" },
	{ "dry-run", 0, OPTION_FLAG, FIELD(dry_run), .no_config = true,
	  .help = "of a build, only list the tests that would be checked "
		  "(with --since, --shard and --tests)" },
	{ "store", 0, OPTION_TEXT, FIELD(store), .value = "URL",
	  .help = "also add the results to a history: a file (SQLite), or "
		  "postgresql://USER@HOST/NAME; 'polygraph history' shows it" },
	{}
};
/* clang-format on */

const struct option_group whole_group = { "Whole build", whole_options };

struct whole {
	const struct options *options;
	const struct whole_options *values;
	const struct common_options *common;
	struct common_suite choice; /* of --ctest and --meson */
	struct whole_folder folder;
	struct strv words;	/* options for all of them */
	struct strv list_words; /* for asking what is in them */
	struct parts parts;
	struct outputs outputs;
	struct document document;
	struct baseline baseline; /* of all suites */
	struct map_text names;	  /* of all tests, as it has them */
	struct document weights;  /* an earlier report; root NULL: none */
	bool timed;		  /* it says what suites took */
	uint64_t deadline;	  /* clock_now(); 0: none */
};

bool whole_is_wanted(const struct options *options,
		     const struct whole_options *whole, int argc)
{
	const struct common_options *common = options->values;
	if (common->look || argc || !whole->inside)
		return false;
	return whole->programs.n ||
	       ((common->ctest || common->meson) && !common->commands);
}

/* ---- files of ours ---- */

static struct err *whole_path(const struct whole *whole, const char *name,
			      char **ret)
{
	return path_join(whole->folder.path, name, ret);
}

static void whole_free(struct whole *whole)
{
	whole_folder_remove(&whole->folder);
	strv_free(&whole->words);
	strv_free(&whole->list_words);
	parts_free(&whole->parts);
	outputs_free(&whole->outputs);
	document_free(&whole->document);
	document_free(&whole->weights);
	baseline_free(&whole->baseline);
	map_text_free(&whole->names);
}

/* @raw: commands, not names. */
static struct err *whole_write_lines(const char *path, const struct strv *names,
				     bool raw)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(outfile_discard) struct outfile outfile = {};
	struct outfile_place place = OUTFILE_PLACE_INIT;
	TRY(str_append(&text, ""));
	for (size_t i = 0; i < names->n; i++) {
		TRY(raw ? str_append(&text, names->data[i])
			: name_append(&text, names->data[i]));
		TRY(str_append(&text, "\n"));
	}
	TRY(outfile_place_open(path, &place));
	struct err *err = outfile_open(&place, &outfile);
	if (!err) {
		fwrite(text.s, 1, text.n, outfile.file);
		err = outfile_commit(&outfile);
	}
	outfile_discard(&outfile);
	outfile_place_close(&place);
	return err;
}

/* ---- options of the calls ---- */

/* What is said of the whole, or is said anew for each part. */
static bool is_passed_on(const char *name)
{
	static const char *const others[] = {
		"tests",    "ctest",	       "meson",
		"commands", "program",	       "inside",
		"shard",    "format",	       "output",
		"color",    "quiet",	       "verbose",
		"budget",   "config",	       "help",
		"order",    "version",	       "since",
		"store",    "shard-weights",   "dry-run",
		"baseline", "update-baseline", "all",
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(others[i], name))
			return false;
	}
	return true;
}

static bool is_of_list(const char *name)
{
	return !strcmp(name, "framework") || !strcmp(name, "test-functions") ||
	       !strcmp(name, "timeout");
}

static bool is_path(const struct option *option)
{
	return option && option->value && option->type != OPTION_CHOICE &&
	       !option->choices &&
	       (!strcmp(option->value, "FILE") ||
		!strcmp(option->value, "PATH") ||
		!strcmp(option->value, "DIR"));
}

static struct err *add_words(struct strv *words, const struct strv *more)
{
	return more->n ? strv_add_all(words, more->data) : NULL;
}

/* Parts may run elsewhere: paths are made absolute. */
static struct err *take_words(struct whole *whole, bool (*wanted)(const char *),
			      const struct option_group *const *known,
			      struct strv *ret)
{
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	TRY(options_words(whole->options, known, wanted, &words));
	if (!cwd)
		return err_errno(errno, "the working directory has no name");
	for (size_t i = 0; i < words.n; i++) {
		char *word = words.data[i];
		size_t n = strcspn(word, "=");
		_cleanup_(freep) char *name = str_starts(word, "--")
						      ? strndup(word + 2, n - 2)
						      : NULL;
		const struct option *option =
			name ? option_find(whole->options->groups, name) : NULL;
		if (is_path(option) && word[n] && word[n + 1] != '/')
			TRY(strv_addf(ret, "%.*s=%s/%s", (int)n, word, cwd,
				      word + n + 1));
		else
			TRY(strv_add(ret, word));
	}
	return NULL;
}

/* ---- known findings ---- */

/*
 * Each suite gets the ids alone: that a test of another suite is not in it is no
 * mistake of the list.
 */
static struct err *pass_baseline(struct whole *whole)
{
	const struct detection_options *values = whole->options->values;
	const char *path = values->state.baseline;
	_cleanup_(strv_freep) struct strv ids = {};
	_cleanup_(freep) char *known = NULL;
	TRY(baseline_read(&whole->baseline, path,
			  values->state.update_baseline));
	if (!path)
		return NULL;
	for (size_t i = 0; i < whole->baseline.entries.n; i++)
		TRY(strv_add(&ids, whole->baseline.entries.data[i].id));
	TRY(whole_path(whole, WHOLE_KNOWN, &known));
	TRY(whole_write_lines(known, &ids, false));
	return strv_addf(&whole->words, "--baseline=%s", known);
}

/*
 * Adds what was found, which is known then. What was known stays, found again or
 * not, unless there is no such test any more.
 */
static struct err *update_baseline(struct whole *whole)
{
	const struct detection_options *values = whole->options->values;
	size_t i;
	json_t *finding;
	if (!values->state.update_baseline)
		return NULL;
	json_array_foreach(json_object_get(whole->document.root, "findings"), i,
			   finding)
	{
		const char *id =
			json_string_value(json_object_get(finding, "id"));
		const char *test =
			json_string_value(json_object_get(finding, "test"));
		const char *message =
			json_string_value(json_object_get(finding, "message"));
		if (!id || !test || !message ||
		    json_is_true(json_object_get(finding, "suppressed")))
			continue;
		if (!baseline_lists(&whole->baseline, id))
			TRY(baseline_add(&whole->baseline, id, test, message));
		if (json_object_set_new(finding, "known", json_true()))
			return err_nomem();
	}
	baseline_drop(&whole->baseline, &whole->names);
	TRY(baseline_write(&whole->baseline));
	if (!whole->common->quiet)
		baseline_tell(&whole->baseline, stderr);
	return NULL;
}

/* ---- which parts there are ---- */

static struct err *read_tests(const char *text, size_t n,
			      struct build_part *part)
{
	_cleanup_(json_freep) json_t *root = json_loadb(text, n, 0, NULL);
	size_t i;
	json_t *test;
	json_array_foreach(json_object_get(root, "tests"), i, test)
	{
		const char *name =
			json_string_value(json_object_get(test, "name"));
		const char *file =
			json_string_value(json_object_get(test, "file"));
		if (!name)
			continue;
		TRY(strv_add(&part->tests, name));
		TRY(strv_add(&part->files, file ? file : ""));
		TRY(vec_push(&part->lines,
			     (unsigned)json_integer_value(
				     json_object_get(test, "line"))));
	}
	return NULL;
}

/*
 * Shares that get the same report need not start every executable of the build
 * to learn what is in it. One that changed since is checked as it is now.
 */
static struct err *take_known_tests(const struct whole *whole,
				    struct build_part *part)
{
	bool selects = whole->values->since || whole->common->tests.n;
	if (!whole->values->shard || !whole->weights.root || selects)
		return NULL;
	return document_take_tests(&whole->weights, part->name,
				   part->argv.data + 1, &part->tests);
}

/* part_ask: what `polygraph list` says. */
static struct err *ask_program(void *data, struct build_part *part)
{
	struct whole *whole = data;
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(freep) char *path = NULL, *text = NULL;
	_cleanup_(child_end_free) struct child_end end = {};
	size_t n;
	if (interrupt_happened())
		return err_create(ERR_INTERRUPTED, "interrupted");
	TRY(take_known_tests(whole, part));
	if (part->tests.n)
		return NULL;
	TRY(whole_path(whole, WHOLE_REPORT, &path));
	TRY(strv_add(&words, "list"));
	TRY(add_words(&words, &whole->list_words));
	TRY(strv_add(&words, "--config=/dev/null"));
	TRY(strv_add(&words, "--format=json"));
	TRY(strv_addf(&words, "--output=%s", path));
	TRY(strv_add(&words, "--"));
	TRY(strv_add_all(&words, part->argv.data));
	unlink(path);
	const struct child child = {
		.words = &words,
		.folder = part->folder,
		.env = part->env.n ? part->env.data : NULL,
	};
	TRY(child_run(&child, &end));
	if (end.status) {
		log_debug(LOG_CLI, "%s: not opened: %s", part->name,
			  end.message);
		return NULL;
	}
	TRY(file_read(path, LIST_MAX, &text, &n));
	return read_tests(text, n, part);
}

static struct err *expand_programs(const struct whole *whole, struct strv *ret)
{
	const struct option_list *globs = &whole->values->programs;
	for (size_t i = 0; i < globs->n; i++) {
		const char *pattern = globs->data[i].text;
		glob_t found = {};
		int failed = glob(pattern, 0, NULL, &found);
		struct err *err = NULL;
		if (failed == GLOB_NOMATCH)
			err = err_create(ERR_USAGE,
					 "no file matches --program '%s'",
					 pattern);
		else if (failed)
			err = err_create(ERR_USAGE,
					 "--program '%s' cannot be read",
					 pattern);
		for (size_t j = 0; !err && j < found.gl_pathc; j++) {
			char *real = realpath(found.gl_pathv[j], NULL);
			err = real ? strv_take(ret, real) : err_nomem();
		}
		globfree(&found);
		TRY(err);
	}
	return NULL;
}

static struct err *whole_find_parts(struct whole *whole)
{
	_cleanup_(strv_freep) struct strv programs = {};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	if (whole->values->programs.n) {
		if (whole->common->ctest || whole->common->meson)
			return err_create(ERR_USAGE,
					  "--program and --ctest or --meson "
					  "cannot be combined");
		TRY(expand_programs(whole, &programs));
		return parts_of_programs(programs.data, programs.n, ask_program,
					 whole, &whole->parts);
	}
	TRY(common_suite_choose(whole->options, 0, NULL, &whole->choice));
	TRY(common_suite_open(&whole->choice, &suite));
	return parts_find(suite, ask_program, whole, &whole->parts);
}

/* Of what the baseline lists. */
static struct err *warn_of_gone(struct whole *whole)
{
	for (size_t i = 0; i < whole->parts.n; i++) {
		const struct build_part *part = &whole->parts.data[i];
		for (size_t j = 0; j < part->tests.n; j++)
			TRY(baseline_name(&whole->names, part->tests.data[j]));
	}
	baseline_warn(&whole->baseline, &whole->names);
	return NULL;
}

/* ---- which of them are wanted ---- */

static void part_drop(struct whole *whole, size_t number)
{
	struct parts one = { &whole->parts.data[number], 1, 0 };
	struct build_part gone = one.data[0];
	struct parts *parts = &whole->parts;
	memmove(&parts->data[number], &parts->data[number + 1],
		(parts->n - number - 1) * sizeof(*parts->data));
	parts->n--;
	struct build_part *copy = malloc(sizeof(gone));
	if (!copy)
		return; /* what it holds stays until the end */
	*copy = gone;
	one = (struct parts){ copy, 1, 1 };
	parts_free(&one);
}

/* --tests; parts without any are left out. */
static struct err *select_parts(struct whole *whole)
{
	const struct option_list *patterns = &whole->common->tests;
	if (!patterns->n)
		return NULL;
	for (size_t i = whole->parts.n; i-- > 0;) {
		struct build_part *part = &whole->parts.data[i];
		_cleanup_(freep) bool *keep =
			calloc(part->tests.n + 1, sizeof(*keep));
		if (!keep)
			return err_nomem();
		for (size_t j = 0; j < part->tests.n; j++)
			keep[j] = select_matches(patterns, part->tests.data[j]);
		part_select(part, keep);
		if (!part->tests.n)
			part_drop(whole, i);
	}
	return whole->parts.n
		       ? NULL
		       : err_hint(err_create(ERR_USAGE, "no test of the build "
							"matches --tests"),
				  "'polygraph list' shows the names");
}

/* The same on all machines, or shares do not fit together. */
static struct err *whole_make_plan(const struct whole *whole, char plan[17])
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_append(&text, POLYGRAPH_VERSION));
	for (size_t i = 0; i < whole->parts.n; i++) {
		const struct build_part *part = &whole->parts.data[i];
		TRY(str_appendf(&text, "\n%s", part->name));
		for (size_t j = 0; j < part->tests.n; j++)
			TRY(str_appendf(&text, "\t%s", part->tests.data[j]));
	}
	snprintf(plan, 17, "%016llx",
		 (unsigned long long)XXH3_64bits(text.s, text.n));
	return NULL;
}

static void weigh_parts(const struct whole *whole, double *ret)
{
	const struct document *known = &whole->weights;
	for (size_t i = 0; i < whole->parts.n; i++) {
		const struct build_part *part = &whole->parts.data[i];
		double seconds =
			known->root ? document_seconds(known, part->name) : -1;
		ret[i] = seconds >= 0	? seconds
			 : whole->timed ? 1
					: WEIGHT_BASE + (double)part->tests.n;
	}
}

/* Tests of an executable that the changes reach. */
static struct err *select_reached(const struct since *since,
				  struct build_part *part)
{
	size_t n = part->tests.n;
	_cleanup_(freep) struct makeup_test *tests =
		calloc(n + 1, sizeof(*tests));
	_cleanup_(freep) bool *reached = calloc(n + 1, sizeof(*reached));
	if (!tests || !reached)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		const char *file = part->files.data[i];
		tests[i] = (struct makeup_test){
			.file = *file ? file : NULL,
			.line = part->lines.data[i],
		};
	}
	TRY(since_reaches(since, part->argv.data[0], frameworks_own, tests, n,
			  reached));
	part_select(part, reached);
	return NULL;
}

static struct err *say_not_reached(struct whole *whole, size_t suites,
				   size_t tests)
{
	_cleanup_(str_freep) struct str limit = STR_INIT;
	size_t left = 0;
	for (size_t i = 0; i < whole->parts.n; i++)
		left += whole->parts.data[i].tests.n;
	if (left == tests)
		return NULL;
	TRY(str_appendf(&limit, "since %s: %zu of %zu ", whole->values->since,
			tests - left, tests));
	TRY(str_appendf(&limit,
			"tests and %zu of %zu suites not reached by the "
			"changes",
			suites - whole->parts.n, suites));
	return document_add_limit(&whole->document, limit.s);
}

/* --since; processes may be scripts that run anything, and stay. */
static struct err *select_changed(struct whole *whole)
{
	struct since since = {};
	struct err *err = NULL;
	const char *build = whole->common->ctest ? whole->common->ctest
						 : whole->common->meson;
	size_t suites = whole->parts.n, tests = 0;
	if (!whole->values->since)
		return NULL;
	TRY(since_read(whole->values->since, build, &since));
	for (size_t i = suites; !err && i-- > 0;) {
		struct build_part *part = &whole->parts.data[i];
		tests += part->tests.n;
		if (part->argv.n)
			err = select_reached(&since, part);
		if (!err && (!part->tests.n || since_is_empty(&since)))
			part_drop(whole, i);
	}
	if (!err)
		err = say_not_reached(whole, suites, tests);
	since_free(&since);
	return err;
}

static struct err *take_share(struct whole *whole)
{
	struct shard shard;
	char plan[17];
	size_t n = whole->parts.n;
	if (!whole->values->shard)
		return NULL;
	TRY(shard_parse(whole->values->shard, &shard));
	_cleanup_(freep) double *weights = calloc(n + 1, sizeof(*weights));
	_cleanup_(freep) uint64_t *shares = calloc(n + 1, sizeof(*shares));
	if (!weights || !shares)
		return err_nomem();
	TRY(whole_make_plan(whole, plan));
	weigh_parts(whole, weights);
	TRY(shard_divide(weights, n, shard.of, shares));
	for (size_t i = n; i-- > 0;) {
		if (shares[i] != shard.index)
			part_drop(whole, i);
	}
	return document_set_shard(&whole->document, &shard, plan);
}

/* ---- one part ---- */

/* Kept for `replay`, which opens the suite again. */
static struct err *write_commands(const struct build_part *part, char **ret)
{
	_cleanup_(str_freep) struct str path = STR_INIT;
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	if (!cwd)
		return err_errno(errno, "the working directory has no name");
	if (mkdir(RESULTS_FOLDER, 0700) < 0 && errno != EEXIST)
		return err_errno(errno, "cannot make '%s'", RESULTS_FOLDER);
	TRY(str_appendf(&path, "%s/" RESULTS_FOLDER "/programs", cwd));
	TRY(whole_write_lines(path.s, &part->tests, true));
	*ret = str_take(&path);
	return *ret ? NULL : err_nomem();
}

static struct err *add_suite_words(struct whole *whole,
				   const struct build_part *part,
				   struct strv *words)
{
	_cleanup_(freep) char *path = NULL;
	if (part->argv.n && part->selected) {
		for (size_t i = 0; i < part->tests.n; i++) {
			_cleanup_(str_freep) struct str word = STR_INIT;
			TRY(str_append(&word, "--tests="));
			TRY(str_append_pattern(&word, part->tests.data[i]));
			TRY(strv_take(words, str_take(&word)));
		}
	}
	if (part->argv.n) {
		TRY(strv_add(words, "--"));
		return strv_add_all(words, part->argv.data);
	}
	TRY(strv_add(words, "--no-inside"));
	if (whole->values->programs.n) {
		TRY(write_commands(part, &path));
		return strv_addf(words, "--commands=%s", path);
	}
	TRY(whole_path(whole, WHOLE_ORDER, &path));
	TRY(whole_write_lines(path, &part->tests, false));
	TRY(strv_addf(words, "--order=%s", path));
	return strv_addf(words, "%s=%s", whole->choice.words[0],
			 whole->choice.words[1]);
}

static struct err *whole_make_call(struct whole *whole,
				   const struct build_part *part, size_t left,
				   const char *path, struct strv *words)
{
	TRY(strv_add(words, "check"));
	TRY(add_words(words, &whole->words));
	TRY(strv_add(words, "--config=/dev/null"));
	TRY(strv_add(words, "--format=json"));
	TRY(strv_addf(words, "--output=%s", path));
	if (whole->deadline) {
		uint64_t now = clock_now();
		uint64_t rest =
			now < whole->deadline ? whole->deadline - now : 0;
		TRY(strv_addf(
			words, "--budget=%llums",
			(unsigned long long)(rest / left / NS_PER_MS + 1)));
	}
	return add_suite_words(whole, part, words);
}

void whole_part_free(struct whole_part *part)
{
	free(part->head);
}

/* "10 [2/7] build/unit_tests" */
static struct err *take_terminal(const char *text, struct whole_part *ret)
{
	char *head;
	long fd = strtol(text, &head, 10);
	if (fd <= STDERR_FILENO || fd > INT_MAX || *head != ' ' ||
	    !isatty((int)fd))
		return NULL;
	ret->head = strdup(head + 1);
	if (!ret->head)
		return err_nomem();
	/* The tested program is not to have it. */
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	ret->terminal = (int)fd;
	return NULL;
}

struct err *whole_take_part(struct whole_part *ret)
{
	const char *text = getenv(BUDGET_VARIABLE);
	const char *folder = getenv(FOLDER_VARIABLE);
	const char *terminal = getenv(TERMINAL_VARIABLE);
	_cleanup_(freep) char *cwd = getcwd(NULL, 0), *path = NULL;
	*ret = (struct whole_part){
		.is_part = text,
		.budget_ns = text ? strtoull(text, NULL, 10) : 0,
	};
	if (folder && *folder == '/' && (!cwd || strcmp(cwd, folder) != 0))
		TRY(path_join(folder, RESULTS_FOLDER, &path));
	if (text && terminal)
		TRY(take_terminal(terminal, ret));
	unsetenv(TERMINAL_VARIABLE);
	unsetenv(BUDGET_VARIABLE);
	unsetenv(FOLDER_VARIABLE);
	return path ? results_set_folder(path) : NULL;
}

/* "[2/7] build/unit_tests" */
static struct err *progress_head_of(const struct whole *whole, size_t at,
				    struct str *ret)
{
	_cleanup_(freep) char *name = str_escape(whole->parts.data[at].name);
	if (!name)
		return err_nomem();
	return str_appendf(ret, "[%zu/%zu] %s", at + 1, whole->parts.n, name);
}

static void show_progress(const struct whole *whole, size_t at)
{
	if (whole->common->quiet || !output_is_terminal(STDERR_FILENO))
		return;
	if (at == whole->parts.n) {
		fputs("\r\033[K", stderr);
		return;
	}
	_cleanup_(str_freep) struct str line = STR_INIT;
	size_t columns = width_terminal(STDERR_FILENO);
	struct err *err = progress_head_of(whole, at, &line);
	/* One line, and the last column free: filling it makes some wrap. */
	if (!err)
		fprintf(stderr, "\r\033[K%.*s",
			(int)width_fit(line.s, (columns ? columns : 80) - 1),
			line.s);
	err_ignore(err);
	fflush(stderr);
}

/*
 * The part shows which test runs. It is in the background of the terminal, which
 * may be set to stop those that write to it.
 */
static struct err *lend_terminal(const struct whole *whole, size_t at,
				 struct strv *env, int *ret)
{
	_cleanup_(str_freep) struct str head = STR_INIT;
	struct termios settings;
	if (whole->common->quiet || !output_is_terminal(STDERR_FILENO) ||
	    tcgetattr(STDERR_FILENO, &settings) < 0 ||
	    settings.c_lflag & TOSTOP)
		return NULL;
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0)
		return NULL;
	*ret = fd;
	TRY(progress_head_of(whole, at, &head));
	return strv_addf(env, TERMINAL_VARIABLE "=%d %s", fd, head.s);
}

/* Of the part, and what the whole build was given. */
static struct err *make_environment(const struct whole *whole,
				    const struct build_part *part,
				    struct strv *ret)
{
	const struct detection_options *values = whole->options->values;
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	TRY(strv_add_all(ret, part->env.n ? part->env.data : environ));
	if (cwd)
		TRY(strv_addf(ret, FOLDER_VARIABLE "=%s", cwd));
	return strv_addf(ret, BUDGET_VARIABLE "=%llu",
			 (unsigned long long)values->state.budget_ns);
}

static struct err *check_part(struct whole *whole, size_t at, int *ret)
{
	const struct build_part *part = &whole->parts.data[at];
	_cleanup_(strv_freep) struct strv env = {};
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(freep) char *path = NULL, *text = NULL;
	_cleanup_(child_end_free) struct child_end end = {};
	size_t n = 0;
	TRY(whole_path(whole, WHOLE_REPORT, &path));
	unlink(path);
	TRY(whole_make_call(whole, part, whole->parts.n - at, path, &words));
	TRY(make_environment(whole, part, &env));
	_cleanup_(closep) int terminal = -1;
	TRY(lend_terminal(whole, at, &env, &terminal));
	const struct child child = {
		.words = &words,
		.folder = part->folder,
		.env = env.data,
		.terminal = MAX(terminal, 0),
	};
	uint64_t start = clock_now();
	TRY(child_run(&child, &end));
	struct document_suite suite = {
		.name = part->name,
		.folder = part->folder,
		.command = part->argv.data,
		.status = end.status,
		.seconds = (double)(clock_now() - start) / (double)NS_PER_S,
	};
	if (access(path, F_OK)) {
		suite.message = *end.message ? end.message : "no report";
	} else {
		TRY(file_read(path, REPORT_MAX, &text, &n));
		suite.report = text;
		suite.report_n = n;
	}
	if (*end.message)
		log_info("%s: %s", part->name, end.message);
	*ret = end.status;
	return document_add(&whole->document, &suite);
}

static struct err *check_parts(struct whole *whole)
{
	size_t i = 0;
	int status = 0;
	const char *why = NULL;
	char text[128];
	for (; i < whole->parts.n && !why; i++) {
		show_progress(whole, i);
		TRY(check_part(whole, i, &status));
		if (interrupt_happened() || status == STATUS_INTERRUPTED)
			why = "interrupted";
		else if (whole->deadline && clock_now() >= whole->deadline)
			why = "budget";
	}
	show_progress(whole, whole->parts.n);
	if (!why || i == whole->parts.n)
		return NULL;
	snprintf(text, sizeof(text), "%zu of %zu suites not examined (%s)",
		 whole->parts.n - i, whole->parts.n, why);
	return document_add_limit(&whole->document, text);
}

/* ---- the report ---- */

static struct err *write_document(const void *data,
				  const struct report_format *format,
				  const struct report_style *style, FILE *out)
{
	const struct document *document = data;
	if (!format)
		return document_write_verdict(document, style, out);
	if (!strcmp(format->name, "json"))
		return document_write_json(document, out);
	if (!strcmp(format->name, "junit"))
		return document_write_junit(document, out);
	if (!strcmp(format->name, "text"))
		return document_write_text(document, style, out);
	_cleanup_(reread_destroyp) struct reread *reread = NULL;
	TRY(reread_create(json_incref(document->root), &reread));
	return format->write(reread_report(reread), style, out);
}

struct err *whole_write(const struct outputs *outputs,
			const struct document *document)
{
	return outputs_write_by(outputs, write_document, document);
}

/* For `polygraph report`, as that of one suite. */
static struct err *keep_whole(const struct document *document)
{
	_cleanup_(reread_destroyp) struct reread *reread = NULL;
	TRY(reread_create(json_incref(document->root), &reread));
	last_report_put(reread_report(reread));
	return NULL;
}

static struct err *whole_prepare(struct whole *whole)
{
	char *const of_programs[] = {
		(char *)"--program",
		whole->values->programs.n ? whole->values->programs.data[0].text
					  : NULL,
		NULL
	};
	char *const of_build[] = { (char *)(whole->common->ctest ? "--ctest"
								 : "--meson"),
				   whole->common->ctest ? whole->common->ctest
							: whole->common->meson,
				   NULL };
	if (options_source(whole->options, "order") != OPTION_DEFAULT)
		return err_hint(err_create(ERR_USAGE,
					   "--order is for one suite, not for "
					   "a whole build"),
				"give --no-inside, or one test executable");
	TRY(outputs_choose(whole->common, "check", &whole->outputs));
	TRY(document_create(whole->values->programs.n ? of_programs : of_build,
			    POLYGRAPH_VERSION, &whole->document));
	if (whole->values->weights)
		TRY(err_prefix(
			document_read(whole->values->weights, &whole->weights),
			"--shard-weights"));
	whole->timed =
		whole->weights.root && document_is_timed(&whole->weights);
	TRY(whole_folder_create(&whole->folder));
	TRY(take_words(whole, is_passed_on, NULL, &whole->words));
	TRY(pass_baseline(whole));
	return take_words(whole, is_of_list, command_list.groups,
			  &whole->list_words);
}

/* Nothing can be opened: one suite of processes, as without all this. */
static bool is_plain_suite(const struct whole *whole)
{
	const struct parts *parts = &whole->parts;
	return !whole->values->programs.n && !whole->values->shard &&
	       !whole->values->since && !whole->values->dry_run &&
	       (!parts->n || (parts->n == 1 && !parts->data[0].argv.n));
}

struct err *whole_run(const struct options *options,
		      const struct whole_options *values, uint64_t budget_ns,
		      bool *ret_plain, enum status *ret)
{
	_cleanup_(whole_free) struct whole whole = {
		.options = options,
		.values = values,
		.common = options->values,
		.folder = WHOLE_FOLDER_INIT,
		.deadline = budget_ns ? clock_now() + budget_ns : 0,
	};
	struct shard shard;
	if (values->shard)
		TRY(shard_parse(values->shard, &shard));
	TRY(whole_prepare(&whole));
	TRY(whole_find_parts(&whole));
	*ret_plain = is_plain_suite(&whole);
	if (*ret_plain)
		return NULL;
	TRY(warn_of_gone(&whole));
	TRY(select_parts(&whole));
	TRY(select_changed(&whole));
	TRY(take_share(&whole));
	if (values->dry_run) {
		*ret = STATUS_OK;
		return dry_run_write(&whole.parts, &whole.document,
				     &whole.outputs);
	}
	TRY(check_parts(&whole));
	TRY(document_finish(&whole.document));
	TRY(update_baseline(&whole));
	TRY(document_total(&whole.document));
	TRY(whole_write(&whole.outputs, &whole.document));
	TRY(keep_whole(&whole.document));
	int status;
	TRY(document_status(&whole.document, &status));
	*ret = (enum status)status;
	return NULL;
}
