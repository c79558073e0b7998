/* polygraph replay: makes a finding of the last run happen again. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "base/suggest.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/replay.h"
#include "cli/results.h"
#include "store/store.h"

/* Findings that an error names; tests of an order that a line does. */
#define SHOWN_FINDINGS 20
#define SHOWN_TESTS 4

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
	  .help = "run each order, or with and without choices, so often, "
		  "each time in a fresh process "
		  "(default: 3)" },
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
	  .help = "auto (default: on a terminal), always, never" },
	{ "quiet", 'q', OPTION_FLAG, FIELD(common.quiet),
	  .help = "the verdict alone" },
	{ "verbose", 'v', OPTION_FLAG, FIELD(common.verbose),
	  .help = "also what the tests wrote" },
	{}
};
/* clang-format on */

static const struct option_group replay_group = { "Replay", replay_options };
static const struct option_group output_group = { "Output", output_options };

static void json_freep(json_t **json)
{
	json_decref(*json);
}

/* ---- what is known ---- */

/* One finding in a line: "order-0123  victim  Registry.Counts". */
static struct err *append_finding(struct str *str,
				  const struct store_finding *finding)
{
	_cleanup_(json_freep) json_t *json =
		json_loads(finding->json ? finding->json : "", 0, NULL);
	const char *test = json_string_value(json_object_get(json, "test"));
	const char *class = json_string_value(json_object_get(json, "class"));
	const char *root = json_string_value(json_object_get(json, "root"));
	if (!root)
		root = json_string_value(json_object_get(json, "api"));
	const char *const parts[] = {
		finding->id,
		"  ",
		class ? class : finding->command,
		"  ",
		test ? test : "?",
		root ? ": " : "",
		root ? root : "",
	};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i])
			TRY(str_append_escaped(str, parts[i],
					       strlen(parts[i])));
	}
	return NULL;
}

static struct err *no_results(void)
{
	return err_hint(err_create(ERR_USAGE,
				   "no results are kept in the working "
				   "directory"),
			"they lie in " RESULTS_FOLDER " where 'polygraph "
			"pollution', 'polygraph order' or 'polygraph choices' "
			"was run");
}

static struct err *open_results(struct store **ret)
{
	if (access(RESULTS_FOLDER "/" STORE_FILE, F_OK) < 0)
		return no_results();
	return store_open(RESULTS_FOLDER, ret);
}

/* Adds to the error of an id that is not known what is. Takes it over. */
static struct err *unknown(struct err *err, struct store *store, const char *id)
{
	_cleanup_(store_findings_free) struct store_findings all = {};
	_cleanup_(str_freep) struct str hint = STR_INIT;
	_cleanup_(err_destroyp) struct err *unlisted =
		store_list_findings(store, &all);
	if (unlisted || err_kind(err) != ERR_USAGE)
		return err;
	if (!all.n)
		return err_hint(err, "the last runs had no findings");
	struct suggestion suggestion;
	suggestion_init(&suggestion, id);
	for (size_t i = 0; i < all.n; i++)
		suggestion_offer(&suggestion, all.data[i].id);
	struct err *failed = NULL;
	if (suggestion.best)
		failed = str_appendf(&hint, "did you mean '%s'? ",
				     suggestion.best);
	if (!failed)
		failed = str_append(&hint, "known are:");
	for (size_t i = 0; !failed && i < MIN(all.n, (size_t)SHOWN_FINDINGS);
	     i++) {
		failed = str_append(&hint, "\n");
		if (!failed)
			failed = append_finding(&hint, &all.data[i]);
	}
	if (!failed && all.n > SHOWN_FINDINGS)
		failed = str_appendf(&hint,
				     "\n… and %zu more; 'polygraph replay "
				     "--list' shows them",
				     all.n - SHOWN_FINDINGS);
	if (failed) {
		err_destroy(failed);
		return err;
	}
	return err_hint(err, "%s", hint.s);
}

static struct err *list_findings(const struct replay_values *values)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(store_findings_free) struct store_findings all = {};
	TRY(open_results(&store));
	TRY(store_list_findings(store, &all));
	if (values->format)
		fputs("[", stdout);
	else if (!all.n)
		log_warn("the last runs had no findings");
	for (size_t i = 0; i < all.n; i++) {
		const struct store_finding *finding = &all.data[i];
		_cleanup_(str_freep) struct str line = STR_INIT;
		if (values->format) {
			/* As it was written; what is no JSON is left out. */
			_cleanup_(json_freep) json_t *json = json_loads(
				finding->json ? finding->json : "", 0, NULL);
			_cleanup_(freep) char *text =
				json ? json_dumps(json, 0) : NULL;
			printf("%s\n  %s", i ? "," : "", text ? text : "null");
		} else if (values->common.quiet) {
			TRY(str_append_escaped(&line, finding->id,
					       strlen(finding->id)));
			puts(line.s ? line.s : "");
		} else {
			TRY(append_finding(&line, finding));
			puts(line.s);
		}
	}
	if (values->format)
		puts(all.n ? "\n]" : "]");
	return NULL;
}

/* ---- order-dependent tests ---- */

/* One of the two orders, and how it went each time. */
struct trial {
	const char *name; /* "failing" */
	bool good;	  /* what it was found to do */
	const struct strv *tests;
	struct suite_nodes nodes;
	VEC(struct suite_result) results; /* of its last test; ours */
	size_t as_found;
};

static void trial_free(struct trial *trial)
{
	for (size_t i = 0; i < trial->results.n; i++)
		suite_result_free(&trial->results.data[i]);
	vec_free(&trial->results);
	suite_nodes_freep(&trial->nodes);
}

enum { FAILING, PASSING, TRIALS };

struct trials {
	struct trial of[TRIALS];
};

static void trials_freep(struct trials *trials)
{
	for (size_t i = 0; i < TRIALS; i++)
		trial_free(&trials->of[i]);
}

static struct err *find_tests(const struct map_text *numbers,
			      struct trial *trial)
{
	for (size_t i = 0; i < trial->tests->n; i++) {
		uint64_t test = 0;
		if (!map_text_get(numbers, trial->tests->data[i], &test))
			return err_hint(
				err_create(ERR_SUITE,
					   "the suite has no test '%s' any "
					   "more",
					   trial->tests->data[i]),
				"'polygraph order' finds out how it is now");
		struct suite_node node = {
			.parent = i ? i - 1 : SUITE_TREE_ROOT,
			.test = test,
		};
		TRY(vec_push(&trial->nodes, node));
	}
	return NULL;
}

/* What is seen of one run of an order. */
struct watcher {
	struct trial *trial;
	size_t last; /* entry */
	bool told;
	bool failed; /* no memory */
};

static void on_finished(void *data, const struct suite_result *result)
{
	struct watcher *watcher = data;
	struct suite_result copy;
	if (result->entry != watcher->last || watcher->told)
		return;
	watcher->told = true;
	struct err *err = suite_result_copy(result, &copy);
	if (!err) {
		err = vec_push(&watcher->trial->results, copy);
		if (err)
			suite_result_free(&copy);
	}
	watcher->failed |= err != NULL;
	err_destroy(err);
}

static void on_started(void *data _unused_, size_t test _unused_)
{
}

static void on_limit(void *data _unused_, const char *text)
{
	log_info("%s", text);
}

static struct err *run_once(struct suite *suite, struct trial *trial)
{
	struct watcher watcher = { .trial = trial, .last = trial->nodes.n - 1 };
	const struct suite_observer observer = {
		.started = on_started,
		.finished = on_finished,
		.limit = on_limit,
		.data = &watcher,
	};
	TRY(suite_run_tree(suite, trial->nodes.data, trial->nodes.n,
			   SUITE_SERIAL, &observer));
	if (watcher.failed)
		return err_nomem();
	if (!watcher.told)
		return err_create(ERR_INTERNAL,
				  "nothing was heard of the order's last test");
	enum outcome outcome =
		trial->results.data[trial->results.n - 1].outcome;
	trial->as_found += outcome != OUTCOME_NONE &&
			   replay_is_good(outcome) == trial->good;
	return NULL;
}

/* The beginning and the end of a long list: of an order, its test is last. */
static struct err *append_order(struct str *str, const struct strv *tests)
{
	bool cut = tests->n > SHOWN_TESTS;
	for (size_t i = 0; i < tests->n; i++) {
		if (cut && i == SHOWN_TESTS - 1 && i + 1 < tests->n) {
			TRY(str_appendf(str, ", … %zu more",
					tests->n - SHOWN_TESTS));
			i = tests->n - 1;
		}
		TRY(str_append(str, i ? ", " : "["));
		TRY(str_append_escaped(str, tests->data[i],
				       strlen(tests->data[i])));
	}
	return str_append(str, "]");
}

/* "failing order 1/3: fail: [A, B]: expected 1 (x.c:3)" */
static struct err *show_run(const struct trial *trial, size_t times, bool color,
			    bool verbose)
{
	const struct suite_result *result =
		&trial->results.data[trial->results.n - 1];
	_cleanup_(str_freep) struct str head = STR_INIT;
	_cleanup_(str_freep) struct str order = STR_INIT;
	TRY(str_appendf(&head, "%s order %zu/%zu", trial->name,
			trial->results.n, times));
	TRY(append_order(&order, trial->tests));
	return replay_show(head.s, order.s, result, trial->good, color,
			   verbose);
}

static struct err *trial_json(const struct trial *trial, json_t **ret)
{
	_cleanup_(json_freep) json_t *object = json_object();
	json_t *order = json_array(), *runs = NULL;
	TRY(replay_set(object, "order", order));
	for (size_t i = 0; i < trial->tests->n; i++) {
		if (json_array_append_new(order,
					  json_string(trial->tests->data[i])))
			return err_nomem();
	}
	runs = json_array();
	TRY(replay_set(object, "runs", runs));
	for (size_t i = 0; i < trial->results.n; i++) {
		json_t *record = NULL;
		TRY(replay_result_json(&trial->results.data[i], &record));
		if (json_array_append_new(runs, record))
			return err_nomem();
	}
	*ret = take_ptr(object);
	return NULL;
}

static struct err *write_json(const char *id, const char *test, bool again,
			      const struct trial *trials, size_t n)
{
	_cleanup_(json_freep) json_t *object = NULL;
	TRY(replay_json(id, test, again, &object));
	for (size_t i = 0; i < n; i++) {
		json_t *trial = NULL;
		TRY(trial_json(&trials[i], &trial));
		TRY(replay_set(object, trials[i].name, trial));
	}
	return replay_print(object);
}

static struct err *run_trials(const struct replay_values *values,
			      struct suite *suite, struct trials *trials)
{
	bool color = output_color(values->common.color, STDOUT_FILENO);
	for (size_t i = 0; i < TRIALS; i++) {
		for (uint64_t j = 0; j < values->times; j++) {
			TRY(run_once(suite, &trials->of[i]));
			if (!values->format && !values->common.quiet)
				TRY(show_run(&trials->of[i], values->times,
					     color, values->common.verbose));
			fflush(stdout);
		}
	}
	return NULL;
}

static struct err *say_verdict(const struct replay_values *values,
			       const struct store_finding *finding,
			       const struct results_order *order,
			       const struct trials *trials, bool again)
{
	const unsigned long long times = values->times;
	if (values->format)
		return write_json(finding->id, order->test, again, trials->of,
				  TRIALS);
	_cleanup_(str_freep) struct str test = STR_INIT;
	TRY(str_append_escaped(&test, order->test, strlen(order->test)));
	if (again) {
		printf("reproduced: %s fails in the failing order and passes "
		       "in the passing one, %llu of %llu times each\n",
		       test.s, times, times);
		return NULL;
	}
	printf("not reproduced: %s", test.s);
	const char *between = " ";
	for (size_t i = 0; i < TRIALS; i++) {
		const struct trial *trial = &trials->of[i];
		if (trial->as_found == times)
			continue;
		printf("%s%s %s%zu of %llu times in the %s order", between,
		       trial->good ? "passes" : "fails",
		       trial->as_found ? "only " : "", trial->as_found, times,
		       trial->name);
		between = ", and ";
	}
	putchar('\n');
	if (!order->files.n)
		return NULL;
	_cleanup_(str_freep) struct str files = STR_INIT;
	TRY(append_order(&files, &order->files));
	printf("the tests share files, which began as they are now: %s\n",
	       files.s);
	return NULL;
}

static struct err *replay_order(const struct replay_values *values,
				struct store_finding *finding, enum status *ret)
{
	_cleanup_(results_order_freep) struct results_order order = {};
	_cleanup_(options_destroyp) struct options *options = NULL;
	_cleanup_(map_text_freep) struct map_text numbers = MAP_INIT;
	_cleanup_(suite_closep) struct suite *suite = NULL;
	struct common_suite choice;
	TRY(results_order_parse(finding->replay, &order));
	const struct suite_options how = {
		.keep_output = values->common.verbose,
	};
	TRY(replay_open(&order.suite, &how, &options, &choice, &suite));
	results_say_changed(&choice, suite, order.files_digest);
	TRY(suite_keep_files(suite, (const char *const *)order.files.data,
			     order.files.n));
	TRY(replay_number_tests(suite, &numbers));

	_cleanup_(trials_freep) struct trials trials = {
		.of = { [FAILING] = { .name = "failing",
				      .tests = &order.failing },
			[PASSING] = { .name = "passing",
				      .good = true,
				      .tests = &order.passing } },
	};
	bool again = true;
	for (size_t i = 0; i < TRIALS; i++)
		TRY(find_tests(&numbers, &trials.of[i]));
	TRY(run_trials(values, suite, &trials));
	for (size_t i = 0; i < TRIALS; i++)
		again &= trials.of[i].as_found == values->times;
	*ret = again ? STATUS_FINDINGS : STATUS_OK;
	return say_verdict(values, finding, &order, &trials, again);
}

/* ---- other findings: the detector once more ---- */

static struct err *run_again(const struct replay_values *values,
			     const struct strv *again, const char *id,
			     const char *files, bool silent, bool *ret_seen)
{
	_cleanup_(options_destroyp) struct options *options = NULL;
	const struct command *command = command_find(again->data[0]);
	if (!command || command == &command_replay || !command->guarded)
		return err_hint(err_create(ERR_INTERNAL,
					   "what is kept of this finding is "
					   "not a command of this version"),
				"run the command that found it again");
	int used = 0, n = (int)again->n - 1;
	char **words = again->data + 1;
	TRY(options_create(command->groups, command->defaults,
			   command->values_size, &options));
	TRY(options_parse(options, n, words, &used));
	struct common_options *common = options->values;
	common->color = values->common.color;
	common->quiet = values->common.quiet;
	common->verbose = values->common.verbose;
	const struct option *format = option_find(command->groups, "format");
	const struct option *output = option_find(command->groups, "output");
	if (format && output && silent) {
		/* Only the verdict goes to standard output. */
		TRY(options_set(options, format, "json", OPTION_COMMAND_LINE));
		TRY(options_set(options, output, "/dev/null",
				OPTION_COMMAND_LINE));
	}
	enum status status = STATUS_OK;
	results_replay_begin(id, files);
	struct err *err =
		command->run(options, n - used, words + used, &status);
	*ret_seen = results_replay_end();
	return err;
}

static struct err *replay_again(const struct replay_values *values,
				struct store_finding *finding, enum status *ret)
{
	_cleanup_(results_again_freep) struct results_again again = {};
	_cleanup_(json_freep) json_t *json =
		json_loads(finding->json ? finding->json : "", 0, NULL);
	const char *message =
		json_string_value(json_object_get(json, "message"));
	const char *test = json_string_value(json_object_get(json, "test"));
	bool silent = values->format || values->common.quiet, seen = false;
	TRY(results_again_parse(finding->replay, &again));
	TRY(run_again(values, &again.alone, finding->id, again.files_digest,
		      silent, &seen));
	bool alone = seen;
	if (!seen)
		TRY(run_again(values, &again.whole, finding->id, "", true,
			      &seen));
	*ret = seen ? STATUS_FINDINGS : STATUS_OK;
	if (values->format)
		return write_json(finding->id, test, seen, NULL, 0);
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (message)
		TRY(str_append_escaped(&text, message, strlen(message)));
	printf("%s: %s\n",
	       alone  ? "reproduced"
	       : seen ? "reproduced after other tests, not alone"
		      : "not reproduced",
	       text.s ? text.s : finding->id);
	return NULL;
}

/* ---- the command ---- */

static struct err *load_finding(const char *id, struct store_finding *ret)
{
	_cleanup_(store_closep) struct store *store = NULL;
	TRY(open_results(&store));
	struct err *err = store_get_finding(store, id, ret);
	return err ? unknown(err, store, id) : NULL;
}

static struct err *replay(const struct replay_values *values, const char *id,
			  enum status *ret)
{
	struct store_finding finding = {};
	/* It is closed before tests run: they may last long. */
	TRY(load_finding(id, &finding));
	struct err *err = NULL;
	if (!finding.replay)
		err = err_hint(err_create(ERR_USAGE,
					  "'%s' cannot be replayed by its id",
					  finding.id),
			       "its command line or the name of its test is "
			       "not UTF-8; run the command that found it "
			       "again");
	else if (!strcmp(finding.command, "order"))
		err = replay_order(values, &finding, ret);
	else if (!strcmp(finding.command, "choices"))
		err = replay_choice(values, &finding, ret);
	else
		err = replay_again(values, &finding, ret);
	store_finding_free(&finding);
	return err;
}

static struct err *replay_run(const struct options *options, int argc,
			      char **argv, enum status *ret)
{
	const struct replay_values *values = options->values;
	*ret = STATUS_OK;
	if (argc > 1)
		return err_hint(err_create(ERR_USAGE,
					   "one finding at a time: '%s' is too "
					   "much",
					   argv[1]),
				"give one id");
	if (values->list && argc)
		return err_create(ERR_USAGE,
				  "--list takes no finding, but '%s' is given",
				  argv[0]);
	if (values->list)
		return list_findings(values);
	if (!argc)
		return err_hint(err_create(ERR_USAGE, "which finding?"),
				"give its id, or --list");
	return replay(values, argv[0], ret);
}

const struct command command_replay = {
	.name = "replay",
	.summary = "makes a finding of the last run happen again",
	.synopsis =
		(const char *const[]){ "[OPTIONS] FINDING-ID", "--list", NULL },
	.description =
		(const char *const[]){
			"Detectors keep their findings in " RESULTS_FOLDER
			" in the working directory; run it there. The id is "
			"that of the report, or the beginning of it.",
			"An order-dependent test is run in its failing and in "
			"its passing order, several times, each time in a "
			"fresh process and with the files that the tests "
			"share put back. It is reproduced if it fails each "
			"time in the one and passes each time in the other. "
			"A test that assumes more than an API promises is run "
			"with the decisive choices alone, and without any. "
			"For other findings the detector looks at that test "
			"again, with the options it had.",
			"Exit status 1: reproduced; 0: not. If the suite was "
			"built again meanwhile, that is said.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph replay order-3f1c9a0b7d52",
			  "that test in both orders, three times" },
			{ "polygraph replay --times 20 order-3f",
			  "more often, by the beginning of its id" },
			{ "polygraph replay --list", "what there is" },
			{} },
	.groups = (const struct option_group *const[]){ &replay_group,
							&output_group,
							&common_general_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.word_first = true,
	.guarded = true,
	.run = replay_run,
};
