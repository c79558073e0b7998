/* polygraph repair: a source patch that makes an order-dependent test reliable. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_tree.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/repairing.h"
#include "cli/sandboxing.h"
#include "cli/state_options.h"
#include "replay/replay.h"
#include "results/last.h"
#include "results/results.h"
#include "sandbox/sandbox.h"

struct repair_values {
	struct state_command_options state;
	char *build;
	char *patches;
	bool apply;
	uint64_t budget_ns;
};

static const struct repair_values defaults = {
	.state = STATE_DEFAULTS,
	.budget_ns = 300 * NS_PER_S,
};

/* Of a root: what is assigned has to be all that differs. */
#define REPAIR_PATHS 32

#define FIELD(member) .offset = offsetof(struct repair_values, member)

/* clang-format off */
static const struct option repair_options[] = {
	{ "build", 0, OPTION_TEXT, FIELD(build), .value = "COMMAND",
	  .help = "shell command that builds the test executable, run in the "
		  "working directory: each patch is built and proven with it, "
		  "in a private copy of your files" },
	{ "patches", 0, OPTION_TEXT, FIELD(patches), .value = "DIR",
	  .no_config = true,
	  .help = "also write each patch to DIR/FINDING-ID.patch" },
	{ "apply", 0, OPTION_FLAG, FIELD(apply), .no_config = true,
	  .help = "change your source files; only proven patches, so it needs "
		  "--build" },
	{ "budget", 0, OPTION_DURATION, FIELD(budget_ns), .value = "DURATION",
	  .help = "stop trying candidates for a finding after this time "
		  "(default: 5m)" },
	{}
};
/* clang-format on */

static const struct option_group repair_group = { "Repair", repair_options };

/* All that one call works with. */
struct repair_call {
	const struct repair_values *values;
	struct store_findings findings;
	struct record record; /* of the first: what opens the suite */
	struct options *options;
	struct common_suite choice;
	struct state_watch watch;
	struct outputs outputs;
	char *cwd;
	char *project;
	char *work;
	int root;   /* "/", outside of the sandbox */
	int folder; /* --patches, likewise */
	struct roster *roster;
	size_t suite_tests;
	char *framework;
	struct findings made;
	size_t unfixed;
};

/* ---- the suite ---- */

/* A candidate may remove the working directory: the one of that name is back. */
static struct err *repair_return(const struct repair_call *call)
{
	return chdir(call->cwd) < 0 ? err_errno(errno, "%s", call->cwd) : NULL;
}

static struct err *repair_open_suite(void *data, struct suite **ret)
{
	struct repair_call *call = data;
	struct suite *suite = NULL;
	TRY(repair_return(call));
	TRY(suite_open(&call->choice.options, &suite));
	struct err *err =
		call->record.files.n
			? suite_keep_files(
				  suite,
				  (const char *const *)call->record.files.data,
				  call->record.files.n)
			: NULL;
	if (err)
		suite_close(suite);
	else
		*ret = suite;
	return err;
}

static struct err *repair_choose_suite(struct repair_call *call)
{
	static const struct option_group *const groups[] = {
		&common_suite_group, NULL
	};
	static const struct common_options none = COMMON_DEFAULTS;
	const struct strv *words = &call->record.suite;
	int used = 0, n = (int)words->n;
	TRY(options_create(groups, &none, sizeof(none), &call->options));
	TRY(options_parse(call->options, n, words->data, &used));
	TRY(common_suite_choose(call->options, n - used, words->data + used,
				&call->choice));
	struct suite_options *options = &call->choice.options;
	options->restores = true;
	options->jobs = 1;
	options->agent = SUITE_AGENT_STATE;
	if (!options->argv)
		return err_create(ERR_USAGE,
				  "only test executables can be repaired, not "
				  "suites of processes");
	return NULL;
}

/* Before the sandbox: what is to be written outside of it. */
static struct err *repair_open_outside(struct repair_call *call)
{
	const char *patches = call->values->patches;
	TRY(outputs_choose(&call->values->state.common, "repair",
			   &call->outputs));
	call->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (call->root < 0)
		return err_errno(errno, "/");
	if (!patches)
		return NULL;
	if (mkdir(patches, 0777) < 0 && errno != EEXIST)
		return err_with_kind(
			err_errno(errno, "--patches '%s'", patches), ERR_USAGE);
	call->folder = open(patches, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (call->folder < 0)
		return err_with_kind(
			err_errno(errno, "--patches '%s'", patches), ERR_USAGE);
	return NULL;
}

static struct err *repair_enter_sandbox(struct repair_call *call)
{
	struct option_item item = {};
	struct option_list folders = { .data = &item, .n = 1 };
	TRY(repairing_project(call->choice.options.argv[0], &item.text));
	TRY(str_copy(item.text, &call->project));
	const struct sandboxing sandboxing = {
		.suite = &call->choice,
		.folders = &folders,
	};
	struct err *err =
		sandboxing_begin(&call->values->state.common, &sandboxing);
	free(item.text);
	TRY(err);
	if (!sandbox_is_entered() && call->values->build)
		return err_hint(err_create(ERR_USAGE,
					   "--build needs a sandbox: patches "
					   "are built in it, not in your "
					   "files"),
				"leave --build out, or see docs/sandbox.md");
	if (!sandbox_is_entered() &&
	    call->values->state.common.sandbox != SANDBOX_NEVER)
		return err_hint(
			err_create(ERR_SUITE,
				   "without a sandbox, calls that are only "
				   "tried could change your files"),
			"--sandbox never allows that; docs/sandbox.md says "
			"how to allow a sandbox");
	const char *temporary = getenv("TMPDIR");
	TRY(str_format(&call->work, "%s/polygraph-repair-XXXXXX",
		       temporary && *temporary ? temporary : "/tmp"));
	if (!mkdtemp(call->work)) {
		struct err *failed = err_errno(errno, "%s", call->work);
		free(take_ptr(call->work));
		return failed;
	}
	return NULL;
}

static void repair_warn_of_changes(const struct repair_call *call)
{
	char now[DIGEST_SIZE] = "";
	const char *then = call->record.files_digest;
	if (!*then)
		return;
	struct err *err = digest_files(&call->choice.options, now);
	if (!err && strcmp(now, then) != 0)
		log_warn("'%s' has changed since this was found",
			 call->choice.options.argv[0]);
	err_ignore(err);
}

/* ---- findings ---- */

static bool repair_has_id(const struct repair_call *call, const char *id)
{
	for (size_t i = 0; i < call->findings.n; i++) {
		if (!strcmp(call->findings.data[i].id, id))
			return true;
	}
	return false;
}

/* Of a whole build: what is repaired are findings of one program. */
static void repair_warn_of_others(const struct repair_call *call)
{
	_cleanup_(json_freep) json_t *report = NULL;
	size_t i, others = 0;
	json_t *finding;
	struct err *err = last_report_get(&report);
	if (err) {
		err_ignore(err);
		return;
	}
	json_array_foreach(json_object_get(report, "findings"), i, finding)
	{
		const char *id =
			json_string_value(json_object_get(finding, "id"));
		others += id && str_starts(id, "order-") &&
			  json_object_get(finding, "suite") &&
			  !repair_has_id(call, id);
	}
	if (others)
		log_warn("%zu finding%s of other programs of the build %s left "
			 "out; give their ids, one program at a time",
			 others, others == 1 ? "" : "s",
			 others == 1 ? "is" : "are");
}

static struct err *repair_find_all(struct repair_call *call, int argc,
				   char **argv)
{
	if (!argc)
		TRY(replay_find_latest("order", &call->findings));
	for (int i = 0; i < argc; i++) {
		struct store_finding finding = {};
		TRY(replay_find(argv[i], NULL, &finding));
		struct err *err = vec_push(&call->findings, finding);
		if (err)
			store_finding_free(&finding);
		TRY(err);
	}
	BUG_ON(!call->findings.n || !call->findings.data);
	TRY(record_read(call->findings.data[0].replay, &call->record));
	for (size_t i = 1; i < call->findings.n; i++) {
		const char *first = call->findings.data[0].suite;
		const char *other = call->findings.data[i].suite;
		if (first && other && strcmp(first, other) != 0)
			return err_hint(err_create(ERR_USAGE,
						   "'%s' is from another suite "
						   "than '%s'",
						   call->findings.data[i].id,
						   call->findings.data[0].id),
					"one suite at a time");
	}
	if (!argc)
		repair_warn_of_others(call);
	return NULL;
}

static struct err *repair_know_suite(struct repair_call *call,
				     const struct suite *suite)
{
	if (call->roster)
		return NULL;
	call->suite_tests = suite_count(suite);
	TRY(str_copy(suite_framework(suite), &call->framework));
	return roster_create(suite, &call->roster);
}

static struct err *repair_write_patch(struct repair_call *call,
				      const struct repair_plan *plan)
{
	_cleanup_(freep) char *name = NULL;
	if (call->folder < 0 || !plan->ways.n)
		return NULL;
	const char *patch = plan->ways.data[plan->chosen].patch;
	TRY(str_format(&name, "%s.patch", plan->request->id));
	_cleanup_(closep) int fd =
		openat(call->folder, name,
		       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, patch, strlen(patch)) != (ssize_t)strlen(patch))
		return err_errno(errno, "'%s/%s'", call->values->patches, name);
	return NULL;
}

static struct err *repair_add_finding(struct repair_call *call,
				      const struct repair_plan *plan)
{
	const struct finding_run run = { .tests = call->roster, .suite = "" };
	struct finding finding = {};
	TRY(repair_finding_make(&run, plan, &finding));
	struct err *err = vec_push(&call->made, finding);
	if (err)
		finding_free(&finding);
	TRY(err);
	bool fixed = call->values->apply && plan->fixed;
	call->unfixed += !fixed && (!plan->ways.n ||
				    (call->values->build && !plan->proven));
	return repair_write_patch(call, plan);
}

static struct repair_settings repair_settings_of(struct repair_call *call)
{
	return (struct repair_settings){
		.watch = &call->watch.watch,
		.work = call->work,
		.project = call->project,
		.build = call->values->build,
		.deadline = clock_now() + call->values->budget_ns,
		.open = repair_open_suite,
		.data = call,
	};
}

struct repair_job {
	struct repair_request request;
	struct repair_plan plan;
};

/* Whoever leaves something in the same roots, as far as the last run knows. */
static struct err *repair_add_leavers(const struct repair_call *call,
				      const struct suite *suite,
				      struct repair_job *jobs)
{
	_cleanup_(store_findings_free) struct store_findings left = {};
	const char *own = call->findings.data[0].suite;
	struct err *err = replay_find_latest("pollution", &left);
	/* There is none. */
	if (err && err_kind(err) == ERR_USAGE) {
		err_destroy(err);
		return NULL;
	}
	TRY(err);
	for (size_t i = 0; i < left.n; i++) {
		const char *suite_of = left.data[i].suite;
		if (own && suite_of && strcmp(own, suite_of) != 0)
			continue;
		for (size_t j = 0; j < call->findings.n; j++)
			TRY(repairing_add_leaver(suite, &left.data[i],
						 &jobs[j].request));
	}
	return NULL;
}

/* All of them first: which belong together decides where patches go. */
static struct err *repair_make_requests(struct repair_call *call,
					const struct suite *suite,
					struct repair_job *jobs)
{
	for (size_t i = 0; i < call->findings.n; i++) {
		_cleanup_(record_freep) struct record record = {};
		const struct store_finding *finding = &call->findings.data[i];
		TRY(record_read(finding->replay, &record));
		TRY(repairing_request(suite, finding, &record,
				      &jobs[i].request));
	}
	for (size_t i = 0; i < call->findings.n; i++) {
		for (size_t j = 0; j < call->findings.n; j++) {
			if (i != j)
				TRY(repairing_relate(&jobs[i].request,
						     &jobs[j].request));
		}
	}
	return repair_add_leavers(call, suite, jobs);
}

static struct err *repair_search_one(struct repair_call *call,
				     struct suite *suite,
				     struct repair_job *job)
{
	const struct repair_settings settings = repair_settings_of(call);
	log_info("%s: searching", job->request.id);
	return repair_search(suite, &job->request, &settings, &job->plan);
}

/* With --apply each patch is found, proven and applied before the next. */
static struct err *repair_one_by_one(struct repair_call *call,
				     struct repair_job *jobs, size_t number)
{
	struct repair_job *job = &jobs[number];
	struct repair_plan *plan = &job->plan;
	struct repair_settings settings = repair_settings_of(call);
	_cleanup_(suite_closep) struct suite *suite = NULL;
	settings.keep = true;
	TRY(repair_open_suite(call, &suite));
	TRY(repair_know_suite(call, suite));
	if (!number)
		TRY(repair_make_requests(call, suite, jobs));
	TRY(repair_search_one(call, suite, job));
	suite_close(take_ptr(suite));
	TRY(repair_return(call));
	TRY(repair_prove(plan, &settings));
	TRY(repair_add_finding(call, plan));
	if (!plan->proven)
		return NULL;
	const struct repair_way *way = &plan->ways.data[plan->chosen];
	return repairing_write(call->root, way->path, way->original,
			       way->content);
}

static struct err *repair_search_jobs(struct repair_call *call,
				      struct repair_job *jobs)
{
	_cleanup_(suite_closep) struct suite *suite = NULL;
	TRY(repair_open_suite(call, &suite));
	TRY(repair_know_suite(call, suite));
	TRY(repair_make_requests(call, suite, jobs));
	for (size_t i = 0; i < call->findings.n; i++)
		TRY(repair_search_one(call, suite, &jobs[i]));
	return NULL;
}

static struct err *repair_together(struct repair_call *call,
				   struct repair_job *jobs)
{
	const struct repair_settings settings = repair_settings_of(call);
	TRY(repair_search_jobs(call, jobs));
	TRY(repair_return(call));
	for (size_t i = 0; i < call->findings.n; i++) {
		TRY(repair_prove(&jobs[i].plan, &settings));
		TRY(repair_add_finding(call, &jobs[i].plan));
	}
	return NULL;
}

static struct err *repair_all(struct repair_call *call)
{
	struct repair_job *jobs = calloc(call->findings.n, sizeof(*jobs));
	struct err *err = NULL;
	if (!jobs)
		return err_nomem();
	if (!call->values->apply)
		err = repair_together(call, jobs);
	for (size_t i = 0; !err && call->values->apply && i < call->findings.n;
	     i++)
		err = repair_one_by_one(call, jobs, i);
	for (size_t i = 0; i < call->findings.n; i++) {
		repair_plan_free(&jobs[i].plan);
		repair_request_free(&jobs[i].request);
	}
	free(jobs);
	return err;
}

/* ---- the command ---- */

static struct err *repair_report(const struct repair_call *call)
{
	const struct report_patches patches = {
		.built = call->values->build != NULL,
		.applied = call->values->apply,
	};
	const struct report report = {
		.kind = "repair",
		.version = POLYGRAPH_VERSION,
		.command = (const char *const *)call->choice.command,
		.framework = call->framework,
		.suite_tests = call->suite_tests,
		.roster = call->roster,
		.findings = call->made.data,
		.n_findings = call->made.n,
		.patches = &patches,
	};
	return outputs_write(&call->outputs, &report);
}

static struct err *repair_work(struct repair_call *call, int argc, char **argv)
{
	TRY(repair_find_all(call, argc, argv));
	TRY(repair_open_outside(call));
	TRY(record_enter(&call->record));
	call->cwd = getcwd(NULL, 0);
	if (!call->cwd)
		return err_errno(errno, "the working directory");
	TRY(repair_choose_suite(call));
	TRY(repair_enter_sandbox(call));
	TRY(state_watch_choose(&call->values->state, &call->outputs,
			       &call->watch));
	call->watch.watch.paths = REPAIR_PATHS;
	repair_warn_of_changes(call);
	TRY(repair_all(call));
	return repair_report(call);
}

static void repair_call_free(struct repair_call *call)
{
	store_findings_free(&call->findings);
	record_free(&call->record);
	options_destroy(call->options);
	outputs_free(&call->outputs);
	state_watch_free(&call->watch);
	if (call->work)
		file_tree_remove(AT_FDCWD, call->work);
	free(call->work);
	free(call->project);
	free(call->cwd);
	closep(&call->root);
	closep(&call->folder);
	findings_free(&call->made);
	roster_destroy(call->roster);
	free(call->framework);
}

static struct err *repair_command(const struct options *options, int argc,
				  char **argv, enum status *ret)
{
	struct repair_call call = {
		.values = options->values,
		.root = -1,
		.folder = -1,
	};
	if (call.values->apply && !call.values->build)
		return err_hint(err_create(ERR_USAGE,
					   "--apply needs --build: only proven "
					   "patches are applied"),
				"give the command that builds the tests, e.g. "
				"--build make");
	struct err *err = repair_work(&call, argc, argv);
	*ret = call.unfixed ? STATUS_FINDINGS : STATUS_OK;
	repair_call_free(&call);
	return err;
}

const struct command command_repair = {
	.name = "repair",
	.summary = "finds a source patch that makes an order-dependent test "
		   "reliable",
	.synopsis = (const char *const[]){ "[OPTIONS] [FINDING-ID…]", NULL },
	.description =
		(const char *const[]){
			"Takes order-dependent tests from the results of the "
			"last run (by id, or all of them) and searches for "
			"statements that restore the polluted state: calls "
			"of the program's own functions, statements of tests "
			"that clean up, and statements that restore process "
			"state. Each candidate is compiled, loaded into a "
			"process that was stopped between polluter and "
			"victim, and tried in a copy of it. If several let "
			"the test pass, the one that really restores the "
			"state is chosen and printed as a patch. The id of a "
			"pollution finding gives a patch for the end of that "
			"test.",
			"With --build each patch is built in a private copy "
			"of your files and run in every order that matters: "
			"the failing order, alone, the suite's own order, "
			"right after every other test, and each other test "
			"right after it. Only then is it called proven. Your "
			"files are changed only with --apply.",
			"Exit status 0: every finding has a patch, proven if "
			"--build is given; 1: some have none.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph repair --build make",
			  "patches for all order-dependent tests of the last "
			  "run, proven" },
			{ "polygraph repair --build make --apply "
			  "order-3f1c9a0b7d52",
			  "fix one test" },
			{ "polygraph repair --patches patches",
			  "patches as files, not proven" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&repair_group, &sandbox_group, &common_output_group,
			&common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.word_first = true,
	.takes_ids = true,
	.guarded = true,
	.run = repair_command,
};
