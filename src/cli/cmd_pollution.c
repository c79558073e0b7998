/* polygraph pollution: tests that leave shared state changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/collect.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/findings.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/recipe.h"
#include "cli/results.h"
#include "cli/select.h"
#include "cli/version.h"
#include "dwarf/index.h"
#include "pollution/pollution.h"

struct pollution_values {
	struct common_options common;
	char *order;
	uint64_t budget_ns; /* 0: none */
	char *baseline;
	char *capture;
	struct option_list include_roots;
	struct option_list exclude_roots;
	struct option_list exclude_fields;
	struct option_list containers;
	unsigned only; /* index into onlys */
	struct option_list watch_dirs;
	unsigned file_tracking; /* index into file_trackings */
	bool eager;
	bool effect;
	bool readers;
	uint64_t paths;
	unsigned tracking; /* index into trackings */
};

static const struct pollution_values defaults = {
	.common = COMMON_DEFAULTS,
	.effect = true,
	.readers = true,
	.paths = 3,
};

#define FIELD(member) .offset = offsetof(struct pollution_values, member)

static const char *const onlys[] = { "all", "memory", "files", "process",
				     NULL };
static const unsigned only_bits[] = { SUITE_ALL, SUITE_MEMORY, SUITE_FILES,
				      SUITE_PROCESS };
static const char *const file_trackings[] = { "auto", "follow", "walk", NULL };
static const char *const trackings[] = { "auto", "scan",    "soft-dirty",
					 "fork", "compare", NULL };

/* clang-format off */
static const struct option state_options[] = {
	{ "include-roots", 0, OPTION_LIST, FIELD(include_roots),
	  .value = "REGEX",
	  .help = "only variables, files and attributes whose name matches, "
		  "also variables of the test framework and the C++ library, "
		  "which are left out otherwise. May be given again" },
	{ "exclude-roots", 0, OPTION_LIST, FIELD(exclude_roots),
	  .value = "REGEX",
	  .help = "no variables, files and attributes whose name matches. "
		  "May be given again" },
	{ "exclude-fields", 0, OPTION_LIST, FIELD(exclude_fields),
	  .value = "REGEX",
	  .help = "no places whose access path matches, e.g. "
		  "'\\.last_used$'. May be given again" },
	{ "container", 0, OPTION_LIST, FIELD(containers), .value = "RECIPE",
	  .help = "compare a type by its content: 'TYPE: SHAPE key=value …', "
		  "e.g. 'app::list<*>: chain first=head next=next "
		  "value=item element=#0'. May be given again" },
	{ "capture", 0, OPTION_TEXT, FIELD(capture), .value = "FROM..TO",
	  .help = "two of before-setup, after-setup, before-teardown and "
		  "after-teardown (default: before-setup..after-teardown); "
		  "the same twice: from one test to the next. Not all "
		  "frameworks have the two in the middle" },
	{ "only", 0, OPTION_CHOICE, FIELD(only), .value = "WHAT",
	  .choices = onlys,
	  .help = "kind of state: all (default), memory, files or process" },
	{ "watch-dir", 0, OPTION_LIST, FIELD(watch_dirs), .value = "DIR",
	  .help = "folder whose files are compared where they cannot be "
		  "followed (default: the working directory and the temporary "
		  "directory). May be given again" },
	{ "eager", 0, OPTION_FLAG, FIELD(eager),
	  .help = "run all tests once before, so that what is initialised "
		  "by its first user is compared, too" },
	{}
};

static const struct option meaning_options[] = {
	{ "effect", 0, OPTION_FLAG, FIELD(effect),
	  .help = "run polluting tests a second time, to tell whether the "
		  "change settles (default; --no-effect)" },
	{ "readers", 0, OPTION_FLAG, FIELD(readers),
	  .help = "find the tests that read what was changed (default; "
		  "--no-readers)" },
	{ "paths", 0, OPTION_NUMBER, FIELD(paths), .value = "N", .min = 1,
	  .max = 1000,
	  .help = "differing places shown of a variable, a file or an "
		  "attribute (default: 3)" },
	{}
};

static const struct option run_options[] = {
	{ "order", 0, OPTION_TEXT, FIELD(order), .value = "FILE",
	  .help = "run in this order: one test name a line" },
	{ "budget", 0, OPTION_DURATION, FIELD(budget_ns), .value = "DURATION",
	  .help = "begin nothing more after it: 30s, 10m" },
	{ "baseline", 0, OPTION_TEXT, FIELD(baseline), .value = "FILE",
	  .help = "findings listed there are known, and do not fail the run" },
	{ "jobs", 'j', OPTION_NUMBER, FIELD(common.jobs), .value = "N",
	  .min = 1, .max = 4096,
	  .help = "processes side by side; state is looked at in one "
		  "process, or in one after the other" },
	{ "page-tracking", 0, OPTION_CHOICE, FIELD(tracking),
	  .value = "METHOD", .choices = trackings,
	  .help = "how written memory is found: auto (default: the fastest "
		  "that works here), scan, soft-dirty, fork or compare" },
	{ "file-tracking", 0, OPTION_CHOICE, FIELD(file_tracking),
	  .value = "METHOD", .choices = file_trackings,
	  .help = "how changed files are found: auto (default), follow (the "
		  "system calls of the tests) or walk (the watched folders "
		  "are compared)" },
	{}
};
/* clang-format on */

static const struct option_group state_group = { "What is compared",
						 state_options };
static const struct option_group meaning_group = { "What it means",
						   meaning_options };
static const struct option_group run_group = { "Run", run_options };

/* ---- options into what the detector takes ---- */

static const char *const points[SUITE_POINTS] = {
	[SUITE_BEFORE_SETUP] = "before-setup",
	[SUITE_AFTER_SETUP] = "after-setup",
	[SUITE_BEFORE_TEARDOWN] = "before-teardown",
	[SUITE_AFTER_TEARDOWN] = "after-teardown",
};

static bool point_by_name(const char *name, size_t n, enum suite_point *ret)
{
	for (unsigned i = 0; i < SUITE_POINTS; i++) {
		if (strlen(points[i]) == n && !strncmp(points[i], name, n)) {
			*ret = (enum suite_point)i;
			return true;
		}
	}
	return false;
}

static struct err *parse_capture(const char *text, struct suite_watch *watch)
{
	watch->from = SUITE_BEFORE_SETUP;
	watch->to = SUITE_AFTER_TEARDOWN;
	if (!text)
		return NULL;
	const char *dots = strstr(text, "..");
	if (!dots ||
	    !point_by_name(text, (size_t)(dots - text), &watch->from) ||
	    !point_by_name(dots + 2, strlen(dots + 2), &watch->to))
		return err_hint(err_create(ERR_USAGE,
					   "--capture '%s' is not a pair of "
					   "points",
					   text),
				"FROM..TO, each of before-setup, after-setup, "
				"before-teardown, after-teardown");
	if (watch->from > watch->to)
		return err_create(ERR_USAGE,
				  "--capture '%s': the second point comes "
				  "before the first",
				  text);
	watch->consecutive = watch->from == watch->to;
	return NULL;
}

DEFINE_VEC(texts, const char *)

static struct err *list_texts(const struct option_list *list, struct texts *ret)
{
	for (size_t i = 0; i < list->n; i++)
		TRY(vec_push(ret, list->data[i].text));
	return vec_push(ret, NULL);
}

/* Default: where tests leave files most. */
static struct err *list_dirs(const struct option_list *list, struct texts *ret)
{
	const char *temporary = getenv("TMPDIR");
	for (size_t i = 0; i < list->n; i++) {
		const char *dir = list->data[i].text;
		struct stat status;
		if (stat(dir, &status) < 0)
			return err_hint(err_create(ERR_USAGE,
						   "--watch-dir '%s': %s", dir,
						   strerror(errno)),
					"give a folder that is there");
		if (!S_ISDIR(status.st_mode))
			return err_hint(err_create(ERR_USAGE,
						   "--watch-dir '%s' is not a "
						   "folder",
						   dir),
					"give the folder that it lies in");
	}
	if (list->n)
		return list_texts(list, ret);
	TRY(vec_push(ret, "."));
	TRY(vec_push(ret, temporary && *temporary ? temporary : "/tmp"));
	return vec_push(ret, NULL);
}

/* What we write ourselves. */
static struct err *list_own(const struct outputs *outputs, const char *cache,
			    struct texts *ret)
{
	for (size_t i = 0; i < outputs->n; i++) {
		if (outputs->data[i].path)
			TRY(vec_push(ret, outputs->data[i].path));
	}
	if (cache)
		TRY(vec_push(ret, cache));
	TRY(vec_push(ret, RESULTS_FOLDER));
	return vec_push(ret, NULL);
}

/* ---- the run ---- */

static enum status judge(const struct report *report)
{
	if (report_new_findings(report))
		return STATUS_FINDINGS;
	return report_has_failures(report) ? STATUS_SUITE : STATUS_OK;
}

static struct err *find(const struct pollution_values *values,
			struct suite *suite, const struct indexes *order,
			struct pollution_options *options,
			struct collect *collect, struct pollution *ret)
{
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	if (!order->n)
		return NULL; /* all of them are disabled */
	if (!values->common.quiet && output_is_terminal(STDERR_FILENO))
		TRY(progress_create(STDERR_FILENO, order->n, &progress));
	collect->progress = progress;
	if (values->budget_ns) {
		collect->deadline = clock_now() + values->budget_ns;
		options->deadline = collect->deadline;
	}
	struct suite_observer observer = collect_observer(collect);
	struct err *err = pollution_find(suite, order->data, order->n, options,
					 &observer, ret);
	return collect_end(collect, err);
}

static struct err *say_unfinished(struct collect *collect, size_t entries)
{
	size_t left = entries - MIN(collect->finished, entries);
	if (!left)
		return NULL;
	char text[128];
	snprintf(text, sizeof(text),
		 "pollution: %zu of %zu tests not looked at (%s)", left,
		 entries,
		 interrupt_happened()	 ? "interrupted"
		 : collect->budget_spent ? "budget"
					 : "ended early");
	return collect_limit(collect, text);
}

static struct err *
write_report(const struct options *options, const struct baseline *baseline,
	     const struct common_suite *choice, const struct suite *suite,
	     const struct outputs *outputs, struct collect *collect,
	     const struct pollution *pollution, uint64_t ns, enum status *ret)
{
	_cleanup_(results_closep) struct results *results = NULL;
	_cleanup_(findings_freep) struct findings findings = {};
	const struct findings_context context = {
		.suite = suite,
		.command = (const char *const *)choice->command,
		.suite_option = !choice->options.argv,
		.baseline = baseline,
	};
	TRY(findings_of_pollution(&findings, &context, pollution));
	TRY(results_open(options, choice, suite, NULL, &results));
	results_put(results, "pollution", findings.all.data, findings.all.n);
	struct report report = {
		.kind = "pollution",
		.version = POLYGRAPH_VERSION,
		.command = (const char *const *)choice->command,
		.framework = suite_framework(suite),
		.suite_tests = suite_count(suite),
		.tests = collect->tests.data,
		.n = collect->tests.n,
		.distinct = collect->distinct,
		.ns = ns,
		.findings = findings.all.data,
		.n_findings = findings.all.n,
		.firsts = findings.firsts.data,
		.n_firsts = findings.firsts.n,
		.limits = (const char *const *)collect->limits.data,
		.n_limits = collect->limits.n,
	};
	TRY(outputs_write(outputs, &report));
	*ret = judge(&report);
	return NULL;
}

static struct err *pollution_run(const struct options *options, int argc,
				 char **argv, enum status *ret)
{
	const struct pollution_values *values = options->values;
	_cleanup_(outputs_freep) struct outputs outputs = {};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	_cleanup_(indexes_freep) struct indexes order = {};
	_cleanup_(indexes_freep) struct indexes disabled = {};
	_cleanup_(collect_freep) struct collect collect = {};
	_cleanup_(pollution_freep) struct pollution pollution = {};
	_cleanup_(texts_freep) struct texts include = {}, exclude = {};
	_cleanup_(texts_freep) struct texts fields = {}, dirs = {}, own = {};
	_cleanup_(recipes_freep) struct recipes recipes = {};
	_cleanup_(freep) char *cache = NULL;
	_cleanup_(baseline_freep) struct baseline baseline = {};
	struct common_suite choice;
	struct pollution_options search = {
		.eager = values->eager,
		.effect = values->effect,
		.readers = values->readers,
	};

	err_ignore(index_cache_folder(&cache));
	TRY(common_suite_choose(options, argc, argv, &choice));
	TRY(outputs_choose(&values->common, "pollution", &outputs));
	TRY(parse_capture(values->capture, &search.watch));
	TRY(list_texts(&values->include_roots, &include));
	TRY(list_texts(&values->exclude_roots, &exclude));
	TRY(list_texts(&values->exclude_fields, &fields));
	TRY(recipes_parse(&values->containers, &recipes));
	TRY(list_dirs(&values->watch_dirs, &dirs));
	TRY(list_own(&outputs, cache, &own));
	TRY(baseline_read(&baseline, values->baseline));
	search.watch.what = only_bits[values->only];
	search.watch.dirs = dirs.data;
	search.watch.own_files = own.data;
	if (values->file_tracking)
		search.watch.file_method =
			file_trackings[values->file_tracking];
	search.watch.include_roots = include.data;
	search.watch.exclude_roots = exclude.data;
	search.watch.exclude_fields = fields.data;
	search.watch.containers = recipes.rows.data;
	search.watch.n_containers = recipes.rows.n;
	search.watch.cache = cache;
	search.watch.detail = values->common.verbose;
	search.watch.paths = values->paths;
	if (values->tracking)
		search.watch.method = trackings[values->tracking];
	choice.options.agent = true;
	TRY(common_suite_open(&choice, &suite));

	struct selection_options selection = {
		.tests = &values->common.tests,
		.order = values->order,
		.repeat = 1,
	};
	TRY(select_order(suite, &selection, &order, &disabled));
	TRY(collect_init(&collect, suite, false));

	uint64_t start = clock_now();
	struct err *err =
		find(values, suite, &order, &search, &collect, &pollution);
	uint64_t ns = clock_now() - start;
	if (err && !collect.finished)
		return err;
	_cleanup_(err_destroyp) struct err *run_err = err;
	TRY(say_unfinished(&collect, order.n));
	for (size_t i = 0; i < disabled.n; i++)
		TRY(collect_disabled(&collect, disabled.data[i]));
	TRY(write_report(options, &baseline, &choice, suite, &outputs, &collect,
			 &pollution, ns, ret));
	return take_ptr(run_err);
}

const struct command command_pollution = {
	.name = "pollution",
	.summary = "finds tests that leave shared state changed",
	.synopsis =
		(const char *const[]){ "[OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
				       "[OPTIONS] --ctest BUILD-DIR | --meson "
				       "BUILD-DIR | --commands FILE",
				       NULL },
	.description =
		(const char *const[]){
			"Runs the tests in one process and compares what "
			"they share before and after each of them. Memory: "
			"the global and static variables of the project's own "
			"code, and all that can be reached from them. "
			"Addresses do not count, nor do capacities, padding "
			"and freed memory; values, shapes and sharing do. "
			"Files: what the test or a process it started "
			"created, removed, renamed or changed; a rewrite with "
			"the same content does not count. Process state: "
			"working directory, environment, signal handlers, "
			"open descriptors, locale and so on. For suites of "
			"processes (--ctest, --meson, --commands): files, and "
			"what is left in the system.",
			"A finding is a test and a variable, file or "
			"attribute: the access path "
			"that differs, the values before and after, whether a "
			"second run changes it again (accumulates) or not "
			"(settles), and which other tests read it. What other "
			"tests read is of high severity, and so are a "
			"variable that accumulates within two pointers and "
			"what all tests depend on (working directory, umask, "
			"locale and the like). Files are of medium otherwise. "
			"What settles and nobody reads is of low, and so are "
			"a cache that its readers would have filled alike "
			"and a file whose name is made anew each time.",
			"Tests are run several times, and files are not put "
			"back: begin in a clean folder.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph pollution ./unit_tests",
			  "what each test leaves behind" },
			{ "polygraph pollution --exclude-roots '^stats_' "
			  "--verbose ./unit_tests",
			  "without some variables, with both states in full" },
			{ "polygraph pollution --only files --ctest build",
			  "which files the tests of a build leave for one "
			  "another" },
			{ "polygraph pollution --eager ./unit_tests",
			  "also statics that are set up by their first user" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &state_group, &meaning_group,
			&run_group, &common_output_group, &common_general_group,
			NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = pollution_run,
};
