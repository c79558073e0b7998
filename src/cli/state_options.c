#include "cli/state_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/regexes.h"
#include "base/str.h"
#include "dwarf/index.h"
#include "results/results.h"

#define FIELD(member) .offset = offsetof(struct state_command_options, member)

static const char *const onlys[] = { "all", "memory", "files", "process",
				     NULL };
static const unsigned only_bits[] = { SUITE_ALL, SUITE_MEMORY, SUITE_FILES,
				      SUITE_PROCESS };
static const char *const severities[] = { "low", "medium", "high", "none",
					  NULL };
static const char *const file_trackings[] = { "auto", "follow", "walk", NULL };
static const char *const trackings[] = { "auto", "scan",    "soft-dirty",
					 "fork", "compare", NULL };

/* clang-format off */
static const struct option compared_options[] = {
	{ "include-roots", 0, OPTION_LIST, FIELD(include_roots),
	  .value = "REGEX",
	  .help = "compare only variables, files and attributes whose name "
		  "matches; also matches variables of the test framework and "
		  "the C++ library, which are otherwise ignored; repeatable" },
	{ "exclude-roots", 0, OPTION_LIST, FIELD(exclude_roots),
	  .value = "REGEX",
	  .help = "ignore variables, files and attributes whose name matches; "
		  "repeatable" },
	{ "exclude-fields", 0, OPTION_LIST, FIELD(exclude_fields),
	  .value = "REGEX",
	  .help = "ignore places whose access path matches, e.g. "
		  "'\\.last_used$'; repeatable" },
	{ "container", 0, OPTION_LIST, FIELD(containers), .value = "RECIPE",
	  .help = "compare a type by its content: 'TYPE: SHAPE key=value …', "
		  "e.g. 'app::list<*>: chain first=head next=next "
		  "value=item element=#0'; repeatable" },
	{ "capture", 0, OPTION_TEXT, FIELD(capture), .value = "FROM..TO",
	  .help = "compare between two of the points before-setup, "
		  "after-setup, before-teardown and after-teardown (default: "
		  "before-setup..after-teardown); the same point twice means "
		  "from one test to the next. Not all frameworks have the two "
		  "middle points" },
	{ "only", 0, OPTION_CHOICE, FIELD(only), .value = "WHAT",
	  .choices = onlys,
	  .help = "kind of state to compare: all (default), memory, files or "
		  "process" },
	{ "watch-dir", 0, OPTION_LIST, FIELD(watch_dirs), .value = "DIR",
	  .help = "folder to scan for changed files where system calls cannot "
		  "be followed (default: the working directory and the "
		  "temporary directory); repeatable" },
	{ "eager", 0, OPTION_FLAG, FIELD(eager),
	  .help = "initialise C++ statics before the first test, by calling "
		  "the functions that give access to them" },
	{ "page-tracking", 0, OPTION_CHOICE, FIELD(tracking),
	  .value = "METHOD", .choices = trackings,
	  .help = "how to detect written memory: auto (default: the fastest "
		  "that works here), scan, soft-dirty, fork or compare" },
	{ "file-tracking", 0, OPTION_CHOICE, FIELD(file_tracking),
	  .value = "METHOD", .choices = file_trackings,
	  .help = "how to detect changed files: auto (default), follow (trace "
		  "the system calls of the tests) or walk (scan the watched "
		  "folders)" },
	{}
};

static const struct option meaning_options[] = {
	{ "effect", 0, OPTION_FLAG, FIELD(effect),
	  .help = "run polluting tests a second time to see whether the change "
		  "settles (default; --no-effect)" },
	{ "readers", 0, OPTION_FLAG, FIELD(readers),
	  .help = "find the tests that read the changed state (default; "
		  "--no-readers)" },
	{ "prove", 0, OPTION_FLAG, FIELD(prove),
	  .help = "run the tests that read it right after the polluting test: "
		  "where all pass, it is of lower severity (default; "
		  "--no-prove)" },
	{ "paths", 0, OPTION_NUMBER, FIELD(paths), .value = "N", .min = 1,
	  .max = 1000,
	  .help = "number of differing places to show per variable, file or "
		  "attribute (default: 3)" },
	{}
};

static const struct option run_options[] = {
	{ "order", 0, OPTION_TEXT, FIELD(order), .value = "FILE",
	  .help = "run the tests in this order: a file with one name per line" },
	{ "budget", 0, OPTION_DURATION, FIELD(budget_ns), .value = "DURATION",
	  .often = true,
	  .help = "start no new work after this time: 30s, 10m (default: none; "
		  "'check': 60s or ten times as long as the suite takes, "
		  "whichever is longer)" },
	{ "baseline", 0, OPTION_TEXT, FIELD(baseline), .value = "FILE",
	  .often = true,
	  .help = "known findings: those listed in FILE are counted, not shown, "
		  "and do not fail the run" },
	{ "update-baseline", 0, OPTION_FLAG, FIELD(update_baseline),
	  .no_config = true,
	  .often = true,
	  .help = "write the findings of this run to the file of --baseline; "
		  "what was not searched for stays in it" },
	{ "suppress", 0, OPTION_LIST, FIELD(suppress), .value = "RULE",
	  .tables = true,
	  .help = "treat findings as known: 'test=GLOB; reason=TEXT; "
		  "expires=YYYY-MM-DD', also by id= and kind=; in "
		  "polygraph.toml a [[suppress]] table; repeatable" },
	{ "fail-on", 0, OPTION_CHOICE, FIELD(fail_on), .value = "SEVERITY",
	  .choices = severities,
	  .often = true,
	  .help = "exit status 1 for new findings of at least this severity: "
		  "low, medium (default), high or none" },
	{ "jobs", 'j', OPTION_NUMBER, FIELD(common.jobs), .value = "N",
	  .min = 1, .max = 4096,
	  .often = true,
	  .help = "number of parallel processes; the first run is one "
		  "process" },
	{}
};
/* clang-format on */

const struct option_group state_compared_group = { "Compared state",
						   compared_options };
const struct option_group state_meaning_group = { "Classification",
						  meaning_options };
const struct option_group state_run_group = { "Run", run_options };

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

static struct err *list_texts(const struct option_list *list,
			      struct state_texts *ret)
{
	for (size_t i = 0; i < list->n; i++)
		TRY(vec_push(ret, list->data[i].text));
	return vec_push(ret, NULL);
}

/* Default: where tests leave files most. */
static struct err *list_dirs(const struct option_list *list,
			     struct state_texts *ret)
{
	const char *temporary = getenv("TMPDIR");
	for (size_t i = 0; i < list->n; i++) {
		const char *dir = list->data[i].text;
		struct stat status;
		if (stat(dir, &status) < 0)
			return err_hint(err_create(ERR_USAGE,
						   "--watch-dir '%s': %s", dir,
						   strerror(errno)),
					"give an existing folder");
		if (!S_ISDIR(status.st_mode))
			return err_hint(err_create(ERR_USAGE,
						   "--watch-dir '%s' is not a "
						   "folder",
						   dir),
					"give the folder that contains it");
	}
	if (list->n)
		return list_texts(list, ret);
	TRY(vec_push(ret, "."));
	TRY(vec_push(ret, temporary && *temporary ? temporary : "/tmp"));
	return vec_push(ret, NULL);
}

/* What we write ourselves. */
static struct err *list_own(const struct outputs *outputs, const char *cache,
			    const char *baseline, struct state_texts *ret)
{
	if (baseline)
		TRY(vec_push(ret, baseline));
	for (size_t i = 0; i < outputs->n; i++) {
		if (outputs->data[i].path)
			TRY(vec_push(ret, outputs->data[i].path));
	}
	if (cache)
		TRY(vec_push(ret, cache));
	TRY(vec_push(ret, results_folder()));
	return vec_push(ret, NULL);
}

void state_watch_free(struct state_watch *watch)
{
	state_texts_freep(&watch->include);
	state_texts_freep(&watch->exclude);
	state_texts_freep(&watch->fields);
	state_texts_freep(&watch->dirs);
	state_texts_freep(&watch->own);
	recipes_freep(&watch->recipes);
	free(watch->cache);
	*watch = (struct state_watch){};
}

/* The page shows them. */
static bool wants_graphs(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->n; i++) {
		if (outputs->data[i].format == &report_html)
			return true;
	}
	return false;
}

struct err *state_watch_choose(const struct state_command_options *options,
			       const struct outputs *outputs,
			       struct state_watch *ret)
{
	_cleanup_(state_watch_freep) struct state_watch chosen = {};
	struct suite_watch *watch = &chosen.watch;
	err_ignore(index_cache_folder(&chosen.cache));
	TRY(parse_capture(options->capture, watch));
	TRY(list_texts(&options->include_roots, &chosen.include));
	TRY(list_texts(&options->exclude_roots, &chosen.exclude));
	TRY(list_texts(&options->exclude_fields, &chosen.fields));
	TRY(regexes_check("--include-roots", chosen.include.data));
	TRY(regexes_check("--exclude-roots", chosen.exclude.data));
	TRY(regexes_check("--exclude-fields", chosen.fields.data));
	TRY(recipes_parse(&options->containers, &chosen.recipes));
	TRY(list_dirs(&options->watch_dirs, &chosen.dirs));
	TRY(list_own(outputs, chosen.cache, options->baseline, &chosen.own));
	watch->what = only_bits[options->only];
	watch->dirs = chosen.dirs.data;
	watch->own_files = chosen.own.data;
	if (options->file_tracking)
		watch->file_method = file_trackings[options->file_tracking];
	watch->include_roots = chosen.include.data;
	watch->exclude_roots = chosen.exclude.data;
	watch->exclude_fields = chosen.fields.data;
	watch->containers = chosen.recipes.rows.data;
	watch->n_containers = chosen.recipes.rows.n;
	watch->cache = chosen.cache;
	watch->detail = options->common.verbose || wants_graphs(outputs);
	watch->paths = options->paths;
	if (options->tracking)
		watch->method = trackings[options->tracking];
	*ret = chosen;
	chosen = (struct state_watch){};
	return NULL;
}
