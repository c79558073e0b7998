/* polygraph replay: reproduces a finding of an earlier run. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/sandboxing.h"
#include "replay/replay.h"
#include "results/results.h"

struct replay_values {
	struct common_options common;
	uint64_t times;
	bool list;
	bool gdb;
	unsigned format; /* 0: text, 1: JSON */
};

static const struct replay_values defaults = {
	.common = COMMON_DEFAULTS,
	.times = 3,
};

#define FIELD(member) .offset = offsetof(struct replay_values, member)

static const char *const formats[] = { "text", "json", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };

/* clang-format off */
static const struct option replay_options[] = {
	{ "times", 'n', OPTION_NUMBER, FIELD(times), .value = "N", .min = 1,
	  .max = 10000,
	  .help = "runs of each order, or with and without choices, each in a "
		  "fresh process (default: 3)" },
	{ "gdb", 0, OPTION_FLAG, FIELD(gdb), .no_config = true,
	  .help = "run the failing order up to its last test, and open gdb (or "
		  "lldb) at the assertion that fails" },
	{ "list", 'l', OPTION_FLAG, FIELD(list), .no_config = true,
	  .help = "list the findings that can be replayed" },
	{}
};

static const struct option output_options[] = {
	{ "format", 0, OPTION_CHOICE, FIELD(format), .value = "FORMAT",
	  .choices = formats, .no_config = true,
	  .help = "text (default) or json" },
	{ "color", 0, OPTION_CHOICE, FIELD(common.color), .value = "WHEN",
	  .choices = colors,
	  .help = "auto (default: on a terminal), always or never" },
	{ "quiet", 'q', OPTION_FLAG, FIELD(common.quiet),
	  .help = "only the verdict" },
	{ "verbose", 'v', OPTION_FLAG, FIELD(common.verbose),
	  .help = "also the output of the tests" },
	{}
};
/* clang-format on */

static const struct option_group replay_group = { "Replay", replay_options };
static const struct option_group output_group = { "Output", output_options };

/* ---- what replaying asks of the command line ---- */

struct replay_call {
	const struct replay_values *values;
	/* The words of the suite, read: what they open points here. */
	struct options *options;
	struct common_suite suite;
	const char *kept; /* the finding, as JSON */
};

/* replay_options.choose_suite */
static struct err *choose_suite(void *data, const struct strv *words,
				struct suite_options *ret)
{
	static const struct option_group *const groups[] = {
		&common_suite_group, NULL
	};
	static const struct common_options none = COMMON_DEFAULTS;
	struct replay_call *call = data;
	int used = 0, n = (int)words->n;
	TRY(options_create(groups, &none, sizeof(none), &call->options));
	TRY(options_parse(call->options, n, words->data, &used));
	TRY(common_suite_choose(call->options, n - used, words->data + used,
				&call->suite));
	*ret = call->suite.options;
	ret->restores = true;
	const struct sandboxing sandboxing = { .suite = &call->suite };
	return sandboxing_begin(&call->values->common, &sandboxing);
}

static struct err *find_detector(const char *name, const struct command **ret)
{
	const struct command *command = command_find(name);
	if (!command || command == &command_replay || !command->guarded)
		return err_hint(err_create(ERR_INTERNAL,
					   "the stored record of this finding "
					   "names no command of this version"),
				"run the command that found it again");
	*ret = command;
	return NULL;
}

/* Only the verdict goes to standard output. */
static struct err *silence_detector(const struct command *command,
				    struct options *options)
{
	const struct option *format = option_find(command->groups, "format");
	const struct option *output = option_find(command->groups, "output");
	if (!format || !output)
		return NULL;
	((struct common_options *)options->values)->quiet = true;
	TRY(options_set(options, format, "json", OPTION_COMMAND_LINE));
	return options_set(options, output, "/dev/null", OPTION_COMMAND_LINE);
}

/* replay_options.detect */
static struct err *replay_run_detector(void *data, const struct strv *line,
				       const char *id, bool silent, bool *ret)
{
	_cleanup_(options_destroyp) struct options *options = NULL;
	const struct replay_call *call = data;
	struct results_look look = { .id = id, .json = call->kept };
	const struct command *command = NULL;
	int used = 0, n = (int)line->n - 1;
	char **words = line->data + 1;
	TRY(find_detector(line->data[0], &command));
	BUG_ON(!command);
	TRY(options_create(command->groups, command->defaults,
			   command->values_size, &options));
	TRY(options_parse(options, n, words, &used));
	struct common_options *common = options->values;
	common->color = call->values->common.color;
	common->quiet = call->values->common.quiet;
	common->verbose = call->values->common.verbose;
	common->sandbox = call->values->common.sandbox;
	common->look = &look;
	const struct option_list *through = &call->values->common.write_through;
	for (size_t i = 0; i < through->n; i++)
		TRY(options_set(options,
				option_find(command->groups, "write-through"),
				through->data[i].text, OPTION_COMMAND_LINE));
	if (silent)
		TRY(silence_detector(command, options));
	enum status status = STATUS_OK;
	TRY(command->run(options, n - used, words + used, &status));
	*ret = look.found;
	return NULL;
}

/* ---- the command ---- */

static struct err *replay_one(const struct replay_values *values,
			      const char *id, const char *program,
			      enum status *ret)
{
	struct replay_call call = { .values = values };
	const struct replay_options options = {
		.times = values->times,
		.debug = values->gdb,
		.json = values->format,
		.quiet = values->common.quiet,
		.verbose = values->common.verbose,
		.color = output_color(values->common.color, STDOUT_FILENO),
		.out = stdout,
		.choose_suite = choose_suite,
		.detect = replay_run_detector,
		.check_unexpected = sandboxing_check,
		.data = &call,
	};
	struct store_finding finding = {};
	bool reproduced = false;
	TRY(replay_find(id, program, &finding));
	call.kept = finding.json;
	struct err *err = replay_run(&finding, &options, &reproduced);
	*ret = reproduced ? STATUS_FINDINGS : STATUS_OK;
	options_destroy(call.options);
	store_finding_free(&finding);
	return err;
}

static struct err *replay_command(const struct options *options, int argc,
				  char **argv, enum status *ret)
{
	const struct replay_values *values = options->values;
	*ret = STATUS_OK;
	if (argc > 2)
		return err_hint(
			err_create(ERR_USAGE,
				   "one finding at a time, not also '%s'",
				   argv[2]),
			"give one id, and the program whose finding it is");
	if (values->list && argc)
		return err_create(ERR_USAGE,
				  "--list takes no finding, but '%s' was given",
				  argv[0]);
	if (values->list)
		return replay_list(values->format, values->common.quiet,
				   stdout);
	if (!argc)
		return err_hint(err_create(ERR_USAGE, "no finding given"),
				"give the id of a finding; --list shows them");
	return replay_one(values, argv[0], argc > 1 ? argv[1] : NULL, ret);
}

const struct command command_replay = {
	.name = "replay",
	.summary = "reproduces a finding of an earlier run",
	.synopsis = (const char *const[]){ "[OPTIONS] FINDING-ID [PROGRAM]",
					   "--list", NULL },
	.description =
		(const char *const[]){
			"Detectors store their findings in " RESULTS_FOLDER
			" in the working directory: run replay there. "
			"FINDING-ID is the id in the report, or its beginning. "
			"If several programs have a test of that name, PROGRAM "
			"says whose finding it is; without it, it is that of "
			"the program that was searched last.",
			"An order-dependent test is run several times in its "
			"failing and in its passing order, each time in a "
			"fresh process and with the files that the tests "
			"share restored. It is reproduced if it always fails "
			"in the one and always passes in the other. A test "
			"that assumes more than an API promises is run with "
			"only the decisive choices, and without any. For "
			"other findings the detector checks that test again, "
			"with the options it had.",
			"Exit status 1: reproduced; 0: not reproduced. If the "
			"suite was rebuilt in the meantime, polygraph warns.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph replay order-3f1c9a0b7d52",
			  "run that test in both orders, three times" },
			{ "polygraph replay --times 20 order-3f",
			  "twenty times, with an abbreviated id" },
			{ "polygraph replay --gdb order-3f",
			  "a debugger where it fails" },
			{ "polygraph replay --list", "all stored findings" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&replay_group, &sandbox_group, &output_group,
			&common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.word_first = true,
	.takes_ids = true,
	.guarded = true,
	.run = replay_command,
};
