#include "cli/detection.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "base/version.h"
#include "cli/interrupt.h"
#include "cli/known.h"
#include "cli/reuse.h"
#include "cli/sandboxing.h"
#include "finding/words.h"
#include "report/reread.h"
#include "report/verdict.h"
#include "results/last.h"

/* Files that are named as not restored, a suite that was opened. */
#define UNRESTORED_MAX 20

/* A budget is exceeded by no more than this part of it. */
#define GRACE_PART 10
#define GRACE_LEAST (100 * NS_PER_MS)
#define GRACE_MOST (10 * NS_PER_S)

/* Where none is given, and the command has one. */
#define BUDGET_LEAST (60 * NS_PER_S)
#define BUDGET_SUITES 10
/* A part of it that is left for the report, and for what takes longer. */
#define DEFAULT_SPARE 20
/* Where no more than this part of it is left, it was spent. */
#define TURN_PART 10
/* How much longer one is suggested where it was spent. */
#define BUDGET_MORE 5

static void detection_freep(struct detection *detection)
{
	records_close(&detection->records);
	findings_free(&detection->findings);
	reread_destroy(detection->reused);
	collect_free(&detection->collect);
	indexes_freep(&detection->order);
	indexes_freep(&detection->disabled);
	baseline_free(&detection->baseline);
	suite_close(detection->suite);
	state_watch_free(&detection->watch);
	outputs_free(&detection->outputs);
	suppressions_free(&detection->suppressions);
	strv_free(&detection->gone);
	strv_free(&detection->short_of_time);
	free(detection->open_line);
	run_facts_free(&detection->facts);
	holds_free(&detection->holds);
	whole_part_free(&detection->part);
	for (size_t i = 0; detection->steps[i].detector; i++) {
		const struct detector *detector = detection->steps[i].detector;
		if (detection->states[i] && detector->free)
			detector->free(detection->states[i]);
		free(detection->states[i]);
		earlier_free(&detection->earlier[i]);
	}
	roster_destroy(detection->roster);
	free(detection->suite_words);
}

/* ---- for detectors ---- */

bool detection_goes_on(const struct detection *detection)
{
	const struct detector *next = detection->step[1].detector;
	return next && next != &detector_readers;
}

struct suite_observer detection_observer(struct detection *detection)
{
	struct suite_observer observer = collect_observer(&detection->collect);
	if (detection->collect.finished) {
		observer.started = NULL;
		observer.finished = NULL;
	}
	return observer;
}

/* One word that only grows: a reader that sees an old one draws again soon. */
static uint64_t count_executions(const void *data)
{
	return suite_executions(data);
}

struct err *detection_show_progress(struct detection *detection,
				    const char *what, struct progress **ret)
{
	unsigned phase = 0, phases = 0;
	if (detection->values->state.common.quiet)
		return NULL;
	for (size_t i = 0; detection->steps[i].detector; i++) {
		phases += detection->states[i] != NULL;
		if (&detection->steps[i] <= detection->step)
			phase = phases;
	}
	int terminal = detection->part.terminal;
	if (!terminal && output_is_terminal(STDERR_FILENO))
		terminal = STDERR_FILENO;
	TRY(terminal ? progress_create(terminal, detection->order.n, ret)
		     : progress_create_lines(STDERR_FILENO, detection->order.n,
					     ret));
	if (detection->part.terminal)
		progress_head(*ret, detection->part.head);
	if (phases > 1)
		progress_phase(*ret, phase, phases, detection->began,
			       detection->deadline);
	if (what)
		progress_count(*ret, what, count_executions, detection->suite);
	detection->collect.progress = *ret;
	return NULL;
}

struct err *detection_say(struct detection *detection, const char *fmt, ...)
{
	char *text = NULL;
	_cleanup_(str_freep) struct str limit = STR_INIT;
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return err_nomem();
	struct err *err = str_appendf(&limit, "%s: %s",
				      detection->step->detector->name, text);
	detection->open[detection->step - detection->steps] = true;
	if (!err && strstr(text, "(budget "))
		err = strv_add(&detection->short_of_time, limit.s);
	free(text);
	return err ? err : collect_limit(&detection->collect, limit.s);
}

void detection_why(const struct detection *detection, const char *why,
		   const char *otherwise, char out[48])
{
	uint64_t budget = detection->budget_ns;
	bool spent =
		why ? !strcmp(why, "budget") : detection->collect.budget_spent;
	char shown[32];
	if (interrupt_happened()) {
		snprintf(out, 48, "interrupted");
	} else if (spent && budget) {
		common_budget_format(budget, shown);
		snprintf(out, 48, "budget %s", shown);
	} else {
		snprintf(out, 48, "%s", why ? why : otherwise);
	}
}

/*
 * Where the search did not come to it: files are as before the first test, also
 * for the next call, which would else take them for the suite's own.
 */
struct err *detection_put_files_back(struct detection *detection)
{
	VEC(const char *) paths = VEC_INIT;
	struct err *err = NULL;
	const char *path;
	for (size_t i = 0;
	     !err && (path = suite_touched_file(detection->suite, i)); i++)
		err = vec_push(&paths, path);
	if (!err && paths.n)
		err = suite_keep_files(detection->suite, paths.data, paths.n);
	if (!err && paths.n)
		err = suite_keep_files(detection->suite, NULL, 0);
	vec_free(&paths);
	return err;
}

/* ---- prepare ---- */

/* Detectors that are wanted get their state. */
static struct err *prepare_detectors(struct detection *detection)
{
	bool watches = false;
	for (size_t i = 0; detection->steps[i].detector; i++) {
		const struct detection_step *step = &detection->steps[i];
		const struct detector *detector = step->detector;
		BUG_ON(i >= DETECTION_STEPS_MAX);
		watches |= detector->agent == SUITE_AGENT_STATE;
		if (detector->is_wanted &&
		    !detector->is_wanted(detection, step)) {
			log_debug(LOG_CLI, "%s: not wanted by the options",
				  detector->name);
			continue;
		}
		detection->states[i] = calloc(1, detector->state_size);
		if (!detection->states[i])
			return err_nomem();
		if (detector->prepare)
			TRY(detector->prepare(detection, detection->states[i]));
	}
	return watches ? state_watch_choose(&detection->values->state,
					    &detection->outputs,
					    &detection->watch)
		       : NULL;
}

static struct err *open_for(struct detection *detection, size_t step)
{
	const struct detector *detector = detection->steps[step].detector;
	detection->choice.options.agent = detector->agent;
	detection->choice.options.restores = true;
	detection->choice.options.any_order = detection->values->any_order;
	detection->choice.options.schedules = false;
	if (detector->open)
		detector->open(detection->states[step],
			       &detection->choice.options);
	detection->opened = step;
	detection->unrestored = 0;
	return common_suite_open(&detection->choice, &detection->suite);
}

/* With what the first of the detectors needs. */
static struct err *open_first(struct detection *detection)
{
	for (size_t i = 0; detection->steps[i].detector; i++) {
		if (detection->states[i])
			return open_for(detection, i);
	}
	BUG("no detector is wanted");
}

static struct err *open_records(struct detection *detection)
{
	return records_open(&detection->records, detection->options,
			    &detection->choice, detection->suite,
			    detection->holds.state);
}

static struct err *make_suite_words(const struct common_suite *choice,
				    char **ret)
{
	_cleanup_(str_freep) struct str words = STR_INIT;
	/* Of "--ctest BUILD" the first word is an option. */
	TRY(str_append(&words, choice->options.argv ? " --" : ""));
	for (size_t i = 0; choice->command[i]; i++) {
		TRY(str_append(&words, " "));
		TRY(str_append_shell(&words, choice->command[i]));
	}
	*ret = str_take(&words);
	return *ret ? NULL : err_nomem();
}

static struct err *say_left_out(struct detection *detection)
{
	const char *path;
	for (size_t i = 0; (path = sandboxing_left_out(i)); i++) {
		_cleanup_(freep) char *text = NULL;
		TRY(str_format(&text,
			       "sandbox: '%s' is outside it, and restored "
			       "afterwards",
			       path));
		TRY(collect_limit(&detection->collect, text));
	}
	return NULL;
}

static struct err *detection_prepare(struct detection *detection, int argc,
				     char **argv)
{
	const struct state_command_options *state = &detection->values->state;
	TRY(common_suite_choose(detection->options, argc, argv,
				&detection->choice));
	TRY(outputs_choose(&state->common, detection->command,
			   &detection->outputs));
	TRY(baseline_read(&detection->baseline, state->baseline,
			  state->update_baseline));
	TRY(suppressions_read(&state->suppress, NULL,
			      &detection->suppressions));
	TRY(prepare_detectors(detection));
	const struct sandboxing sandboxing = {
		.suite = &detection->choice,
		.folders = &state->watch_dirs,
		.keeps_results = !state->common.look,
	};
	TRY(sandboxing_begin(&state->common, &sandboxing));
	TRY(holds_begin(detection));
	TRY(open_first(detection));
	TRY(roster_create(detection->suite, &detection->roster));
	TRY(known_warn(detection));
	TRY(make_suite_words(&detection->choice, &detection->suite_words));
	detection->run = (struct finding_run){ detection->roster,
					       detection->suite_words };
	struct selection_options selection = {
		.tests = &state->common.tests,
		.order = state->order,
		.repeat = 1,
	};
	TRY(select_order(detection->suite, &selection, &detection->order,
			 &detection->disabled));
	TRY(open_records(detection));
	TRY(holds_judge(detection));
	for (size_t i = 0; detection->steps[i].detector; i++) {
		const struct detector *detector = detection->steps[i].detector;
		if (detection->states[i] && detector->begin)
			TRY(detector->begin(detection, detection->states[i]));
	}
	TRY(collect_init(&detection->collect, detection->roster, false));
	return say_left_out(detection);
}

/* ---- find ---- */

/* Takes @err over. */
static struct err *say_not_searched(struct detection *detection,
				    struct err *err)
{
	struct err *failed =
		detection_say(detection, "not searched (%s)", err_message(err));
	err_destroy(err);
	return failed;
}

static struct err *open_again(struct detection *detection, size_t step)
{
	TRY(open_for(detection, step));
	if (roster_matches(detection->roster, detection->suite))
		return NULL;
	suite_close(take_ptr(detection->suite));
	return err_create(ERR_SUITE, "the suite has other tests now");
}

/*
 * The same tests in a program with the other library. One at a time: they may
 * hold a port or a lock from their start on.
 */
static struct err *change_agent(struct detection *detection, bool *ret_could)
{
	size_t before = detection->opened;
	records_close(&detection->records);
	suite_close(take_ptr(detection->suite));
	struct err *err = open_again(
		detection, (size_t)(detection->step - detection->steps));
	*ret_could = !err;
	if (err && err_kind(err) == ERR_INTERRUPTED)
		return err;
	if (err) {
		TRY(say_not_searched(detection, err));
		TRY(open_again(detection, before));
	}
	return open_records(detection);
}

/* In a separate process; false: not possible, which was reported. */
static struct err *move_on(struct detection *detection, bool *ret_could)
{
	*ret_could = false;
	if (!detection->order.n)
		return NULL; /* all of them are disabled */
	if (detection->deadline && clock_now() >= detection->deadline) {
		char why[48];
		detection_why(detection, "budget", "", why);
		return detection_say(detection, "not searched (%s)", why);
	}
	return change_agent(detection, ret_could);
}

/*
 * The turn of detection->step. *@ret_left_out: it could not run, which was
 * reported.
 */
static struct err *find_step(struct detection *detection, void *state,
			     bool *ret_left_out)
{
	const struct detector *detector = detection->step->detector;
	bool moves = detector->agent != detection->choice.options.agent;
	bool could = true;
	run_facts_phase(&detection->facts, detector->name,
			moves ? 0 : suite_executions(detection->suite));
	if (moves)
		TRY(move_on(detection, &could));
	*ret_left_out = !could;
	if (!could)
		return NULL;
	log_debug(LOG_CLI, "%s: starts with %zu tests%s", detector->name,
		  detection->order.n, moves ? ", in a process of its own" : "");
	struct err *err = detector->find(detection, state);
	/* Suites that cannot: the other findings are still there. */
	if (err && moves &&
	    (err_kind(err) == ERR_USAGE || err_kind(err) == ERR_SUITE)) {
		*ret_left_out = true;
		return say_not_searched(detection, err);
	}
	return err;
}

/* What runs may not have begun with as the first one did. */
static struct err *say_unrestored_files(struct detection *detection)
{
	const char *text = NULL;
	size_t *said = &detection->unrestored, more = 0;
	while (detection->suite &&
	       (text = suite_unrestored(detection->suite, *said))) {
		++*said;
		if (*said > UNRESTORED_MAX)
			more++;
		else
			TRY(detection_say(detection,
					  "not restored between runs: %s",
					  text));
	}
	return more ? detection_say(detection,
				    "not restored between runs: %zu more", more)
		    : NULL;
}

static uint64_t grace_of(const struct detection *detection)
{
	uint64_t budget = detection->budget_ns;
	return MIN(MAX(budget / GRACE_PART, GRACE_LEAST), GRACE_MOST);
}

/*
 * Whatever does not look at the clock in time is ended: a bit later if the user
 * gave the budget, and never later if he did not.
 */
static void arm_interrupt(const struct detection *detection, uint64_t more)
{
	uint64_t at = detection->deadline + more;
	if (!detection->values->state.budget_ns)
		at = MIN(at,
			 detection->began + detection->budget_ns - GRACE_LEAST);
	interrupt_arm(at);
}

void detection_hold_budget(const struct detection *detection)
{
	uint64_t longest = 0;
	for (size_t i = 0; i < detection->collect.tests.n; i++)
		longest = MAX(longest, detection->collect.tests.data[i].ns);
	if (detection->deadline && longest)
		arm_interrupt(detection, MIN(MAX(longest, GRACE_LEAST),
					     grace_of(detection)));
}

static void set_budget(struct detection *detection, uint64_t ns)
{
	bool given = detection->values->state.budget_ns;
	detection->budget_ns = ns;
	detection->deadline =
		detection->began + (given ? ns : ns - ns / DEFAULT_SPARE);
	arm_interrupt(detection, grace_of(detection));
}

bool detection_settle_budget(struct detection *detection, uint64_t suite_ns)
{
	const struct detection_options *values = detection->values;
	if (detection->deadline || values->state.budget_ns ||
	    !detection->limited || values->all_pairs)
		return detection->deadline;
	set_budget(detection,
		   MAX(BUDGET_LEAST,
		       (suite_ns / NS_PER_S + 1) * BUDGET_SUITES * NS_PER_S));
	log_debug(LOG_CLI, "budget: %llu s",
		  (unsigned long long)(detection->budget_ns / NS_PER_S));
	return true;
}

uint64_t detection_share(const struct detection *detection)
{
	uint64_t now = clock_now(), deadline = detection->deadline;
	size_t later = 0;
	for (size_t i = (size_t)(detection->step - detection->steps) + 1;
	     detection->steps[i].detector && !detection->last_turns; i++) {
		const struct detector *detector = detection->steps[i].detector;
		later += detection->states[i] && !detection->steps[i].hidden &&
			 (!detector->has_work || detector->has_work(detection));
	}
	return deadline > now && later
		       ? deadline - (deadline - now) * later / (later + 2)
		       : deadline;
}

/* Others may leave some of the budget. */
static bool may_go_on(const struct detection *detection, size_t step)
{
	const struct detector *detector = detection->steps[step].detector;
	uint64_t now = clock_now();
	return detection->states[step] && !detection->left_out[step] &&
	       detector->wants_more &&
	       detector->wants_more(detection->states[step]) &&
	       detection->deadline > now &&
	       detection->deadline - now > detection->budget_ns / TURN_PART;
}

/* Once more, with all that is left. */
static struct err *take_last_turn(struct detection *detection, size_t step,
				  struct err **ret_failed)
{
	const struct detector *detector = detection->steps[step].detector;
	void *state = detection->states[step];
	detection->step = &detection->steps[step];
	if (!*ret_failed && may_go_on(detection, step)) {
		log_debug(LOG_CLI, "%s: takes what is left of the budget",
			  detector->name);
		TRY(detector->begin_again(detection, state));
		*ret_failed =
			find_step(detection, state, &detection->left_out[step]);
		run_facts_phase_end(&detection->facts,
				    detection->suite
					    ? suite_executions(detection->suite)
					    : 0);
		if (detector->end)
			detector->end(detection, state, *ret_failed);
	}
	return detector->say_limits && !detection->left_out[step]
		       ? detector->say_limits(detection, state)
		       : NULL;
}

static struct err *detection_find_all(struct detection *detection)
{
	_cleanup_(err_destroyp) struct err *failed = NULL;
	bool waits[DETECTION_STEPS_MAX] = {};
	if (detection->values->state.budget_ns)
		set_budget(detection, detection->values->state.budget_ns);
	for (size_t i = 0; detection->steps[i].detector; i++) {
		const struct detector *detector = detection->steps[i].detector;
		void *state = detection->states[i];
		detection->step = &detection->steps[i];
		if (!state)
			continue;
		if (!failed)
			TRY(holds_learn(detection));
		if (!detection->step->hidden && detection->holds.all)
			TRY(earlier_load(detection, &detection->earlier[i]));
		if (!failed && detector->has_work &&
		    !detector->has_work(detection)) {
			log_debug(LOG_CLI, "%s: there is nothing to do",
				  detector->name);
			continue;
		}
		if (failed)
			log_debug(LOG_CLI, "%s: does not start: %s",
				  detector->name, err_message(failed));
		else
			failed = find_step(detection, state,
					   &detection->left_out[i]);
		TRY(say_unrestored_files(detection));
		run_facts_phase_end(&detection->facts,
				    detection->suite
					    ? suite_executions(detection->suite)
					    : 0);
		if (detector->end)
			detector->end(detection, state, failed);
		if (failed &&
		    (!detection->suite || !detection->collect.finished ||
		     sandboxing_begins_again()))
			break;
		waits[i] = !failed && may_go_on(detection, i);
		if (detector->say_limits && !detection->left_out[i] &&
		    !waits[i])
			TRY(detector->say_limits(detection, state));
	}
	detection->last_turns = true;
	for (size_t i = 0; i < DETECTION_STEPS_MAX; i++) {
		if (waits[i])
			TRY(take_last_turn(detection, i, &failed));
	}
	return take_ptr(failed);
}

/* ---- write and judge ---- */

static struct err *judge_report(const struct report *report, enum status *ret)
{
	_cleanup_(causes_free) struct causes causes = {};
	struct report_verdict verdict;
	TRY(causes_group(report, &causes));
	TRY(verdict_judge(report, &causes, &verdict));
	*ret = (enum status)verdict_status(&verdict);
	return NULL;
}

/* What it found, and what earlier runs found that it did not come to. */
static struct err *add_step(struct detection *detection, size_t step,
			    struct report *report)
{
	const struct detector *detector = detection->steps[step].detector;
	struct earlier_list *earlier = &detection->earlier[step];
	void *state = detection->states[step];
	if (!detection->left_out[step]) {
		if (detector->judge_earlier)
			detector->judge_earlier(detection, state, earlier);
		TRY(detector->add(detection, state, report));
	}
	return earlier_add(detection, earlier);
}

static void keep_step(struct detection *detection, size_t step)
{
	const struct detector *detector = detection->steps[step].detector;
	if (detector->keep && !detection->left_out[step])
		detector->keep(detection, detection->states[step]);
}

/* What is kept of each detector is made of its findings among all. */
static struct err *add_findings(struct detection *detection,
				struct report *report)
{
	const struct results_look *look = detection->values->state.common.look;
	for (int kept = 0; kept < 2; kept++) {
		for (size_t i = 0; detection->steps[i].detector; i++) {
			void *state = detection->states[i];
			if (!state || detection->steps[i].hidden)
				continue;
			detection->step = &detection->steps[i];
			if (!kept)
				TRY(add_step(detection, i, report));
			else
				keep_step(detection, i);
		}
		if (!kept)
			TRY(known_mark(detection, report));
	}
	if (look)
		TRY(earlier_look(detection, look));
	report->findings = detection->findings.data;
	report->n_findings = detection->findings.n;
	return NULL;
}

/*
 * "the budget of 60s left open: order (12 of 90 pairs explored), choices (not
 * searched); --budget 5m goes further"
 */
static struct err *tell_open(struct detection *detection)
{
	const struct strv *open = &detection->short_of_time;
	_cleanup_(str_freep) struct str line = STR_INIT;
	char budget[32], more[32];
	if (!open->n || !detection->budget_ns)
		return NULL;
	common_budget_format(detection->budget_ns, budget);
	uint64_t longer = detection->budget_ns * BUDGET_MORE;
	const uint64_t minute = 60 * NS_PER_S;
	if (longer > minute)
		longer = (longer + minute - 1) / minute * minute;
	common_budget_format(longer, more);
	TRY(str_appendf(&line, "the budget of %s left open: ", budget));
	for (size_t i = 0; i < open->n; i++) {
		/* "NAME: what (budget 60s)" */
		const char *text = open->data[i];
		size_t name = strcspn(text, ":");
		const char *what = text + name + strspn(text + name, ": ");
		const char *end = strstr(what, " (budget ");
		bool same = i && !strncmp(text, open->data[i - 1], name + 1);
		TRY(str_append(&line, same ? "; " : i ? "), " : ""));
		if (!same) {
			TRY(str_append_n(&line, text, name));
			TRY(str_append(&line, " ("));
		}
		TRY(str_append_n(&line, what,
				 end ? (size_t)(end - what) : strlen(what)));
	}
	TRY(str_appendf(&line, "); --budget %s goes further", more));
	detection->open_line = str_take(&line);
	return detection->open_line ? NULL : err_nomem();
}

static struct err *tell_of_run(struct detection *detection, enum status status,
			       struct report *report)
{
	struct run_facts *facts = &detection->facts;
	char *const *argv = detection->choice.options.argv;
	TRY(run_facts_fill(facts, detection->options, argv ? argv[0] : NULL,
			   detection->roster));
	facts->run.status = (int)status;
	report->run = &facts->run;
	report->ns = facts->run.ns;
	return NULL;
}

/* @keeps: for the next call, which may find nothing changed. */
static struct err *show_report(struct detection *detection,
			       const struct report *report, bool keeps)
{
	if (!detection->values->state.common.look && !detection->part.is_part)
		last_report_put(report);
	TRY(outputs_write(&detection->outputs, report));
	TRY(known_update(detection, report));
	return keeps ? reuse_keep(detection, report) : NULL;
}

static struct err *write_report(struct detection *detection,
				const struct err *failed, enum status *ret)
{
	TRY(tell_open(detection));
	struct report report = {
		.kind = detection->command,
		.version = POLYGRAPH_VERSION,
		.command = (const char *const *)detection->choice.command,
		.framework = suite_framework(detection->suite),
		.suite_tests = suite_count(detection->suite),
		.roster = detection->roster,
		.in_replay = detection->values->state.common.look,
		.fail_on = detection->values->state.fail_on,
	};
	for (size_t i = 0; i < detection->disabled.n; i++)
		TRY(collect_disabled(&detection->collect,
				     detection->disabled.data[i]));
	TRY(add_findings(detection, &report));
	report.tests = detection->collect.tests.data;
	report.n = detection->collect.tests.n;
	report.distinct = detection->collect.distinct;
	if (detection->pollution) {
		report.left_out = detection->pollution->left_out.data;
		report.n_left_out = detection->pollution->left_out.n;
	}
	report.limits = (const char *const *)detection->collect.limits.data;
	report.n_limits = detection->collect.limits.n;
	report.open = detection->open_line;
	TRY(known_mark_tests(detection, detection->collect.tests.data,
			     detection->collect.tests.n));
	TRY(judge_report(&report, ret));
	TRY(tell_of_run(detection, failed ? command_status(failed) : *ret,
			&report));
	return show_report(detection, &report, !failed);
}

/* The report of a suite that is as it was: only who knows it is of today. */
static struct err *write_reused(struct detection *detection, enum status *ret)
{
	struct report report = *reread_report(detection->reused);
	struct report_run run = *report.run;
	_cleanup_(freep) struct report_test *tests =
		calloc(report.n + 1, sizeof(*tests));
	if (!tests)
		return err_nomem();
	for (size_t i = 0; i < report.n; i++)
		tests[i] = report.tests[i];
	TRY(findings_move(&detection->findings,
			  reread_findings(detection->reused)));
	for (size_t i = 0; i < detection->findings.n; i++) {
		detection->findings.data[i].known = false;
		detection->findings.data[i].suppressed = false;
	}
	report.reused = true;
	report.fail_on = detection->values->state.fail_on;
	report.findings = detection->findings.data;
	report.n_findings = detection->findings.n;
	TRY(known_mark(detection, &report));
	TRY(known_mark_tests(detection, tests, report.n));
	report.tests = tests;
	TRY(judge_report(&report, ret));
	run.status = (int)*ret;
	report.run = &run;
	return show_report(detection, &report, false);
}

struct err *detection_run(const struct options *options, int argc, char **argv,
			  const char *name, const struct detection_step *steps,
			  enum status *ret)
{
	_cleanup_(detection_freep) struct detection detection = {
		.options = options,
		.values = options->values,
		.command = name,
		.steps = steps,
		.began = clock_now(),
		.limited = !strcmp(name, "check"),
	};
	TRY(whole_take_part(&detection.part));
	run_facts_begin(&detection.facts);
	TRY(detection_prepare(&detection, argc, argv));
	TRY(reuse_load(&detection, &detection.reused));
	if (detection.reused)
		return write_reused(&detection, ret);
	_cleanup_(err_destroyp) struct err *failed =
		detection_find_all(&detection);
	if (failed)
		err_ignore(holds_end(&detection));
	/* There are no results, or the suite could not be opened again. */
	if (failed && (!detection.suite || !detection.collect.finished ||
		       sandboxing_begins_again()))
		return take_ptr(failed);
	TRY(write_report(&detection, failed, ret));
	if (!failed) {
		TRY(holds_learn(&detection));
		TRY(holds_end(&detection));
	}
	return take_ptr(failed);
}
