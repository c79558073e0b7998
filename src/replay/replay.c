#include "replay/replay.h"

#include <string.h>

#include "base/log.h"
#include "base/path.h"
#include "base/version.h"
#include "replay/replay_internal.h"

/* Tests of an order that a line names. */
#define SHOWN_NAMES 4

/* ---- what kinds share ---- */

struct err *replay_check_trials(const struct replay_kind *kind,
				const struct record *record)
{
	bool same = record->trials.n == REPLAY_TRIALS;
	for (size_t i = 0; same && i < REPLAY_TRIALS; i++)
		same = record->trials.data[i].expect == kind->expects[i];
	return same ? NULL : record_unreadable("trials");
}

bool replay_is_expected(const struct trial *trial, enum outcome outcome)
{
	bool good = outcome == OUTCOME_PASS || outcome == OUTCOME_SKIP;
	return outcome != OUTCOME_NONE && good == (trial->expect == TRIAL_PASS);
}

struct err *replay_append_names(struct str *str, const struct strv *names)
{
	bool cut = names->n > SHOWN_NAMES;
	for (size_t i = 0; i < names->n; i++) {
		if (cut && i == SHOWN_NAMES - 1) {
			TRY(str_appendf(str, ", … %zu more",
					names->n - SHOWN_NAMES));
			i = names->n - 1;
		}
		TRY(str_append(str, i ? ", " : "["));
		TRY(str_append_escaped(str, names->data[i],
				       strlen(names->data[i])));
	}
	return str_append(str, "]");
}

struct err *replay_append_test(const struct replay *replay, struct str *str)
{
	const char *test = replay->record.test;
	return str_append_escaped(str, test, strlen(test));
}

struct err *replay_append_comparison(const struct replay *replay,
				     const char *how, struct str *str)
{
	const struct trial *with = &replay->record.trials.data[0];
	const struct trial *without = &replay->record.trials.data[1];
	TRY(str_append(str, replay->reproduced ? "reproduced: "
					       : "not reproduced: "));
	TRY(replay_append_test(replay, str));
	if (replay->reproduced)
		return str_appendf(str,
				   " fails %s and passes without, "
				   "%zu of %zu times each\n",
				   how, with->runs, with->runs);
	return str_appendf(str,
			   " fails %zu of %zu times %s, and passes "
			   "%zu of %zu times without\n",
			   with->as_expected, with->runs, how,
			   without->as_expected, without->runs);
}

/* ---- opening ---- */

static struct err *resolve_order(const struct replay *replay,
				 const struct map_text *numbers,
				 struct trial *trial)
{
	for (size_t i = 0; i < trial->order.n; i++) {
		uint64_t test = 0;
		if (!map_text_get(numbers, trial->order.data[i], &test))
			return err_hint(
				err_create(ERR_SUITE,
					   "the suite no longer has a test "
					   "'%s'",
					   trial->order.data[i]),
				"run 'polygraph %s' again to see how it is now",
				replay->finding->command);
		TRY(vec_push(&trial->tests, test));
	}
	return NULL;
}

/* Names are compared as JSON has them. */
static struct err *resolve_orders(struct replay *replay)
{
	_cleanup_(map_text_freep) struct map_text numbers = MAP_INIT;
	for (size_t i = 0; i < suite_count(replay->suite); i++) {
		const char *name = suite_test(replay->suite, i)->name;
		_cleanup_(freep) char *text = str_utf8(name, strlen(name));
		if (!text)
			return err_nomem();
		TRY(map_text_put(&numbers, text, i));
	}
	for (size_t i = 0; i < replay->record.trials.n; i++) {
		replay->record.trials.data[i].tests.n = 0;
		TRY(resolve_order(replay, &numbers,
				  &replay->record.trials.data[i]));
	}
	return NULL;
}

static void warn_of_changed_files(const struct replay *replay)
{
	const struct suite_options *options = &replay->suite_options;
	const char *then = replay->record.files_digest;
	char now[DIGEST_SIZE] = "";
	if (!*then)
		return;
	struct err *err = digest_files(options, now);
	if (!err && strcmp(now, then) != 0)
		log_warn("'%s' has changed since this was found",
			 options->argv ? options->argv[0] : options->source);
	err_ignore(err);
}

/* As the detector did, whatever polygraph.toml says today. */
struct err *replay_open_suite(struct replay *replay)
{
	const struct record *record = &replay->record;
	struct suite_options *options = &replay->suite_options;
	options->jobs = 1;
	options->agent = replay->kind->agent;
	options->keep_output = replay->options->verbose;
	if (replay->kind->prepare)
		replay->kind->prepare(replay->details, options);
	TRY(suite_open(options, &replay->suite));
	warn_of_changed_files(replay);
	if (record->files.n)
		TRY(suite_keep_files(replay->suite,
				     (const char *const *)record->files.data,
				     record->files.n));
	return resolve_orders(replay);
}

/* ---- text ---- */

static struct err *show_output(const struct replay *replay,
			       const struct suite_result *result)
{
	_cleanup_(str_freep) struct str output = STR_INIT;
	const char *rest = result->output, *end = rest + result->output_n;
	while (rest < end) {
		const char *stop = memchr(rest, '\n', (size_t)(end - rest));
		size_t n = (size_t)((stop ? stop : end) - rest);
		TRY(str_append(&output, "    "));
		TRY(str_append_escaped(&output, rest, n));
		TRY(str_append(&output, "\n"));
		rest += n + 1;
	}
	fputs(output.s, replay->options->out);
	return NULL;
}

static struct err *append_failure(struct str *line,
				  const struct suite_result *result)
{
	_cleanup_(freep) char *place = NULL;
	if (result->outcome == OUTCOME_NONE)
		TRY(str_append(line, ": an earlier test ended the process"));
	if (result->message) {
		TRY(str_append(line, ": "));
		TRY(str_append_escaped(line, result->message,
				       strlen(result->message)));
	}
	if (!result->file)
		return NULL;
	TRY(path_display_short(result->file, &place));
	TRY(str_append(line, " ("));
	TRY(str_append_escaped(line, place, strlen(place)));
	return result->line ? str_appendf(line, ":%u)", result->line)
			    : str_append(line, ")");
}

static const char *name_outcome(const struct suite_result *result)
{
	return result->outcome == OUTCOME_NONE ? "none"
					       : outcome_name(result->outcome);
}

/* "failing order 1/3: fail: [A, B]: expected 1 (x.c:3)" */
static struct err *show_run(const struct replay *replay,
			    const struct trial *trial, bool as_expected)
{
	const struct replay_options *options = replay->options;
	const struct suite_result *result =
		&trial->results.data[trial->results.n - 1];
	_cleanup_(str_freep) struct str line = STR_INIT;
	if (options->json || options->quiet)
		return NULL;
	TRY(str_appendf(&line, "%s %s %zu", trial->name, replay->kind->noun,
			trial->runs));
	if (!replay->kind->until)
		TRY(str_appendf(&line, "/%llu",
				(unsigned long long)options->times));
	TRY(str_append(&line, ": "));
	TRY(str_appendf(&line, "%s%s%s: ",
			!options->color ? ""
			: as_expected	? "\033[32m"
					: "\033[1;31m",
			name_outcome(result), options->color ? "\033[0m" : ""));
	TRY(replay->kind->shows_order
		    ? replay_append_names(&line, &trial->order)
		    : replay_append_test(replay, &line));
	TRY(append_failure(&line, result));
	fprintf(options->out, "%s\n", line.s);
	if (options->verbose && result->output_n)
		TRY(show_output(replay, result));
	fflush(options->out);
	return NULL;
}

/* ---- JSON ---- */

/* What the tested program wrote; NULL becomes null. */
static json_t *pack_text(const char *text)
{
	_cleanup_(freep) char *clean =
		text ? str_utf8(text, strlen(text)) : NULL;
	return text ? json_string(clean) : json_null();
}

static struct err *pack_result(const struct suite_result *result, json_t **ret)
{
	_cleanup_(freep) char *place = NULL;
	if (result->file)
		TRY(path_display_short(result->file, &place));
	*ret = json_pack("{s:o, s:o, s:o, s:o}", "outcome",
			 result->outcome == OUTCOME_NONE
				 ? json_null()
				 : json_string(outcome_name(result->outcome)),
			 "message", pack_text(result->message), "file",
			 pack_text(place), "line",
			 place && result->line ? json_integer(result->line)
					       : json_null());
	return *ret ? NULL : err_nomem();
}

static struct err *pack_trial(const struct replay *replay,
			      const struct trial *trial, json_t **ret)
{
	_cleanup_(json_freep) json_t *runs = json_array();
	for (size_t i = 0; i < trial->results.n; i++) {
		json_t *result = NULL;
		TRY(pack_result(&trial->results.data[i], &result));
		if (json_array_append_new(runs, result))
			return err_nomem();
	}
	*ret = replay->kind->shows_order
		       ? json_pack("{s:o, s:O}", "order",
				   record_pack_list(&trial->order), "runs",
				   runs)
		       : json_pack("{s:O}", "runs", runs);
	return *ret ? NULL : err_nomem();
}

static struct err *write_json(const struct replay *replay)
{
	const struct record *record = &replay->record;
	_cleanup_(json_freep) json_t *object =
		json_pack("{s:i, s:s, s:s, s:s, s:b}", "schema", 1, "polygraph",
			  POLYGRAPH_VERSION, "id", replay->finding->id, "test",
			  record->test, "reproduced", replay->reproduced);
	for (size_t i = 0; replay->kind->noun && i < record->trials.n; i++) {
		json_t *trial = NULL;
		TRY(pack_trial(replay, &record->trials.data[i], &trial));
		if (json_object_set_new(object, record->trials.data[i].name,
					trial))
			return err_nomem();
	}
	TRY(json_write_to(object, JSON_INDENT(2), replay->options->out));
	fputs("\n", replay->options->out);
	return NULL;
}

/* ---- trials ---- */

static struct err *run_trial(struct replay *replay, struct trial *trial)
{
	struct suite_result result = {};
	bool as_expected = false;
	TRY(replay->kind->run(replay, trial, &result, &as_expected));
	trial->runs++;
	trial->as_expected += as_expected;
	log_debug(LOG_REPLAY, "'%s': trial '%s', run %zu: %s",
		  replay->finding->id, trial->name, trial->runs,
		  as_expected ? "as expected" : "not as expected");
	if (!replay->kind->noun)
		return NULL;
	struct err *err = vec_push(&trial->results, result);
	if (err) {
		suite_result_free(&result);
		return err;
	}
	if (!as_expected)
		TRY(replay->options->check_unexpected());
	return show_run(replay, trial, as_expected);
}

/* Until it goes as expected: what happens now and then needs patience. */
static struct err *run_trial_until(struct replay *replay, struct trial *trial)
{
	size_t most =
		MAX((size_t)replay->options->times, (size_t)REPLAY_UNTIL_RUNS);
	while (!trial->as_expected && trial->runs < most)
		TRY(run_trial(replay, trial));
	replay->reproduced &= trial->as_expected > 0;
	return NULL;
}

/* Each this many times; all runs must go as expected. */
static struct err *replay_run_tests(struct replay *replay)
{
	TRY(replay_open_suite(replay));
	replay->reproduced = true;
	for (size_t i = 0; i < replay->record.trials.n; i++) {
		struct trial *trial = &replay->record.trials.data[i];
		if (replay->kind->until) {
			TRY(run_trial_until(replay, trial));
			continue;
		}
		for (uint64_t k = 0; k < replay->options->times; k++)
			TRY(run_trial(replay, trial));
		replay->reproduced &= trial->as_expected == trial->runs;
	}
	return NULL;
}

/* The detector, until it finds it. It opens the suite, or says why it cannot. */
static struct err *run_detector(struct replay *replay)
{
	for (size_t i = 0; i < replay->record.trials.n; i++) {
		struct trial *trial = &replay->record.trials.data[i];
		TRY(run_trial(replay, trial));
		if (!i)
			warn_of_changed_files(replay);
		replay->reproduced = trial->as_expected;
		if (replay->reproduced)
			break;
	}
	return NULL;
}

static void replay_freep(struct replay *replay)
{
	/* The suite goes before what it was opened with. */
	suite_close(replay->suite);
	if (replay->kind && replay->kind->free_details)
		replay->kind->free_details(replay->details);
	record_free(&replay->record);
}

struct err *replay_run(const struct store_finding *finding,
		       const struct replay_options *options,
		       bool *ret_reproduced)
{
	_cleanup_(replay_freep) struct replay replay = {
		.kind = replay_kind_of(finding->id),
		.options = options,
		.finding = finding,
	};
	if (!replay.kind)
		return err_hint(
			err_create(ERR_INTERNAL,
				   "this version cannot replay findings "
				   "of '%s'",
				   finding->command),
			"run the command that found it again");
	TRY(record_read(finding->replay, &replay.record));
	TRY(replay_check_trials(replay.kind, &replay.record));
	if (replay.kind->read_details)
		TRY(replay.kind->read_details(&replay.record, &replay.details));
	TRY(record_enter(&replay.record));
	TRY(options->choose_suite(options->data, &replay.record.suite,
				  &replay.suite_options));
	TRY(options->debug	? replay_debug(&replay)
	    : replay.kind->noun ? replay_run_tests(&replay)
				: run_detector(&replay));
	*ret_reproduced = replay.reproduced;
	if (options->debug)
		return NULL;
	if (options->json)
		return write_json(&replay);
	_cleanup_(str_freep) struct str verdict = STR_INIT;
	TRY(replay.kind->append_verdict(&replay, &verdict));
	fputs(verdict.s, options->out);
	return NULL;
}
