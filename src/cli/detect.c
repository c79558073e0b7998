#include "cli/detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "base/version.h"
#include "cli/baseline.h"
#include "cli/choices_run.h"
#include "cli/collect.h"
#include "cli/interrupt.h"
#include "cli/results.h"
#include "cli/select.h"
#include "order/order.h"
#include "pollution/pollution.h"

#define FIELD(member) .offset = offsetof(struct detect_options, member)

/* Of a budget, what changes mean gets no more than this part. */
#define MEANING_PART 3

static const char *const strategies[] = { "systematic", "random", NULL };

/* clang-format off */
static const struct option order_options[] = {
	{ "strategy", 0, OPTION_CHOICE, FIELD(strategy), .value = "NAME",
	  .choices = strategies,
	  .help = "systematic (default: what tests leave behind first, then "
		  "orders that cover all pairs) or random (shuffles the whole "
		  "suite, without looking at state)" },
	{ "runs", 0, OPTION_NUMBER, FIELD(runs), .value = "N", .min = 1,
	  .max = 1000000,
	  .help = "random orders of the whole suite (default: as the strategy "
		  "has it; random: 20)" },
	{ "all-pairs", 0, OPTION_FLAG, FIELD(all_pairs),
	  .help = "try every pair of tests, also where the first of them "
		  "leaves nothing behind that is compared" },
	{ "any-order", 0, OPTION_FLAG, FIELD(any_order),
	  .help = "also orders that the suite does not allow: it declares "
		  "fixtures, dependencies, priorities or groups" },
	{ "repeat", 0, OPTION_NUMBER, FIELD(repeat), .value = "N", .min = 1,
	  .max = 1000,
	  .help = "so often the failing and the passing order of a finding "
		  "must go as said (default: 3)" },
	{ "cleaners", 0, OPTION_FLAG, FIELD(cleaners),
	  .help = "find the tests that, run in between, let a victim pass "
		  "(default; --no-cleaners)" },
	{ "roots", 0, OPTION_FLAG, FIELD(roots),
	  .help = "find the variables, files and attributes through which a "
		  "test is made to fail, by putting them back (default; "
		  "--no-roots)" },
	{ "pollution", 0, OPTION_FLAG, FIELD(pollution),
	  .help = "look first at what tests leave behind, and try what that "
		  "leaves possible (default; --no-pollution)" },
	{ "fresh", 0, OPTION_FLAG, FIELD(fresh), .no_config = true,
	  .help = "forget what earlier calls found out about this suite" },
	{ "seed", 0, OPTION_NUMBER, FIELD(seed), .value = "N",
	  .help = "makes every random choice reproducible" },
	{}
};
/* clang-format on */

/* clang-format off */
static const struct option choices_options[] = {
	{ "choices", 0, OPTION_FLAG, FIELD(choices),
	  .help = "look for tests that assume more than an API promises "
		  "(default; --no-choices)" },
	{ "level", 0, OPTION_CHOICE, FIELD(settings.level), .value = "LEVEL",
	  .choices = assumption_levels,
	  .help = "how consistent choices stay: one, eq, id or full (default: "
		  "all, from one up to full)" },
	{ "api", 0, OPTION_LIST, FIELD(settings.apis), .value = "GLOB",
	  .help = "only APIs whose name matches; with '!' in front: not "
		  "those. May be given again" },
	{ "model", 0, OPTION_LIST, FIELD(settings.models), .value = "MODEL",
	  .tables = true,
	  .help = "a function of your own that leaves something open; see "
		  "'polygraph help choices'. May be given again" },
	{}
};
/* clang-format on */

const struct option_group detect_choices_group = { "Choices", choices_options };

const struct option_group detect_order_group = { "Orders", order_options };

struct detect {
	const struct detect_options *values;
	unsigned flags;
	struct suite *suite;
	struct common_suite choice;
	struct outputs outputs;
	struct state_watch watch;
	struct baseline baseline;
	struct indexes order, disabled;
	struct collect collect;
	struct pollution pollution;
	struct order_result result;
	struct results *results;
	char matters[64]; /* options that facts depend on */
	uint64_t seed;
	uint64_t start, ns;
	uint64_t deadline; /* clock_now(); 0: none */
	bool polluted;	   /* pollution was looked for */
	bool searched;	   /* orders were */

	struct choices_plan plan;
	struct choices_result assumptions;
	bool chosen; /* choices were made */

	struct common_names names;
	struct findings findings; /* of all that are reported */
};

static void detect_freep(struct detect *detect)
{
	results_close(detect->results);
	choices_result_free(&detect->assumptions);
	choices_plan_free(&detect->plan);
	order_result_free(&detect->result);
	pollution_free(&detect->pollution);
	collect_free(&detect->collect);
	indexes_freep(&detect->order);
	indexes_freep(&detect->disabled);
	baseline_freep(&detect->baseline);
	suite_close(detect->suite);
	state_watch_free(&detect->watch);
	outputs_free(&detect->outputs);
	findings_free(&detect->findings);
	common_names_free(&detect->names);
}

static bool is_random(const struct detect *detect)
{
	return detect->values->strategy == ORDER_RANDOM;
}

/* What tests leave behind helps the search … */
static bool uses_pollution(const struct detect *detect)
{
	return detect->values->pollution && !is_random(detect);
}

/* … or is to be reported. */
static bool wants_pollution(const struct detect *detect)
{
	return uses_pollution(detect) ||
	       (detect->values->pollution &&
		detect->flags & DETECT_REPORT_POLLUTION);
}

static struct err *show_progress(struct detect *detect, struct progress **ret)
{
	if (detect->values->state.common.quiet ||
	    !output_is_terminal(STDERR_FILENO))
		return NULL;
	TRY(progress_create(STDERR_FILENO, detect->order.n, ret));
	detect->collect.progress = *ret;
	return NULL;
}

static struct err *find_pollution(struct detect *detect)
{
	const struct state_options *values = &detect->values->state;
	bool report = detect->flags & DETECT_REPORT_POLLUTION;
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	struct pollution_options options = {
		.run = &detect->names.run,
		.watch = detect->watch.watch,
		.eager = values->eager,
		.effect = report && values->effect,
		.readers = values->readers,
	};
	options.watch.save = true; /* other orders begin where this one did */
	TRY(show_progress(detect, &progress));
	if (detect->deadline) {
		detect->collect.deadline = detect->deadline;
		options.deadline =
			detect->start + values->budget_ns / MEANING_PART;
	}
	struct suite_observer observer = collect_observer(&detect->collect);
	detect->polluted = true;
	struct err *err = pollution_find(detect->suite, detect->order.data,
					 detect->order.n, &options, &observer,
					 &detect->pollution);
	detect->collect.deadline = 0;
	return collect_end(&detect->collect, err);
}

/* One word that only grows: whoever sees an old one draws again soon. */
static uint64_t count_executions(const void *data)
{
	return suite_executions(data);
}

static struct err *search_orders(struct detect *detect)
{
	const struct detect_options *values = detect->values;
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	const struct order_options options = {
		.run = &detect->names.run,
		.strategy = (enum order_strategy)values->strategy,
		.any_order = values->any_order,
		.seed = detect->seed,
		.orders = values->runs ? values->runs : (size_t)-1,
		.all_pairs = values->all_pairs,
		.repeats = values->repeat,
		.cleaners = values->cleaners,
		.roots = values->roots,
		.deadline = detect->deadline,
		.budget = detect->deadline,
		.watch = &detect->watch.watch,
		.memory = results_memory(detect->results),
	};
	TRY(show_progress(detect, &progress));
	progress_count(progress, "other orders", count_executions,
		       detect->suite);
	struct suite_observer observer = collect_observer(&detect->collect);
	if (detect->polluted) { /* the suite's own order is told already */
		observer.started = NULL;
		observer.finished = NULL;
	}
	detect->searched = true;
	struct err *err = order_find(
		detect->suite, detect->order.data, detect->order.n,
		detect->polluted && !is_random(detect) ? &detect->pollution
						       : NULL,
		&options, &observer, &detect->result);
	return collect_end(&detect->collect, err);
}

static struct err *find(struct detect *detect)
{
	uint64_t budget = detect->values->state.budget_ns;
	detect->start = clock_now();
	if (budget)
		detect->deadline = detect->start + budget;
	if (!detect->order.n)
		return NULL; /* all of them are disabled */
	if (wants_pollution(detect)) {
		TRY(find_pollution(detect));
		if (detect->collect.budget_spent)
			return NULL;
	}
	return search_orders(detect);
}

/*
 * Where the search did not come to it: files are as before the first test, also
 * for the next call, which would else take them for the suite's own.
 */
static struct err *put_files_back(struct detect *detect)
{
	VEC(const char *) paths = VEC_INIT;
	struct err *err = NULL;
	const char *path;
	for (size_t i = 0;
	     !err && (path = suite_touched_file(detect->suite, i)); i++)
		err = vec_push(&paths, path);
	if (!err && paths.n)
		err = suite_keep_files(detect->suite, paths.data, paths.n);
	if (!err && paths.n)
		err = suite_keep_files(detect->suite, NULL, 0);
	vec_free(&paths);
	return err;
}

/* ---- choices ---- */

static struct err *open_with(struct detect *detect, enum suite_agent agent)
{
	choices_plan_open(&detect->plan, &detect->choice.options);
	detect->choice.options.agent = agent;
	TRY(common_suite_open(&detect->choice, &detect->suite));
	if (roster_matches(detect->names.roster, detect->suite))
		return NULL;
	suite_close(take_ptr(detect->suite));
	return err_create(ERR_SUITE, "the suite has other tests now");
}

/* What is said where choices cannot be made. Takes @err over. */
static struct err *say_no_choices(struct detect *detect, struct err *err)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	struct err *failed = str_appendf(&text, "choices: not searched (%s)",
					 err_message(err));
	err_destroy(err);
	return failed ? failed : collect_limit(&detect->collect, text.s);
}

/*
 * The same tests in a program with the other library. One at a time: they may
 * hold a port or a lock from their start on. What is kept was found before.
 */
static struct err *change_agent(struct detect *detect,
				const struct options *options, bool *ret_could)
{
	results_close(take_ptr(detect->results));
	suite_close(take_ptr(detect->suite));
	struct err *err = open_with(detect, SUITE_AGENT_CHOICES);
	*ret_could = !err;
	if (err && err_kind(err) == ERR_INTERRUPTED)
		return err;
	if (err) {
		TRY(say_no_choices(detect, err));
		TRY(open_with(detect, SUITE_AGENT_STATE));
	}
	return results_open(options, &detect->choice, detect->suite,
			    detect->matters, &detect->results);
}

static struct err *say_spent(struct detect *detect)
{
	char budget[32], text[64];
	common_budget_format(detect->values->state.budget_ns, budget);
	snprintf(text, sizeof(text), "choices: not searched (budget %s)",
		 budget);
	return collect_limit(&detect->collect, text);
}

static struct err *find_assumptions(struct detect *detect,
				    const struct options *options)
{
	const struct detect_options *values = detect->values;
	bool could = false;
	if (!(detect->flags & DETECT_CHOICES) || !values->choices ||
	    !detect->order.n)
		return NULL;
	if (detect->deadline && clock_now() >= detect->deadline)
		return say_spent(detect);
	TRY(change_agent(detect, options, &could));
	if (!could)
		return NULL;
	struct choices_run run = {
		.suite = detect->suite,
		.tests = detect->order.data,
		.n = detect->order.n,
		.plan = &detect->plan,
		.collect = &detect->collect,
		.budget_ns = values->state.budget_ns,
		.deadline = detect->deadline,
		.progress = !values->state.common.quiet,
		.told = detect->collect.finished,
	};
	struct err *err = choices_run(&run, &detect->assumptions);
	/* Suites that cannot: the other findings are there all the same. */
	if (err && (err_kind(err) == ERR_USAGE || err_kind(err) == ERR_SUITE))
		return say_no_choices(detect, err);
	detect->chosen = true;
	TRY(choices_run_limits(&run, &detect->assumptions));
	return err;
}

/* ---- what was left open ---- */

/* In brackets: "budget 30s". */
static void why_open(const struct detect *detect, char out[48])
{
	const char *why = detect->searched ? detect->result.reach.why : NULL;
	if (interrupt_happened()) {
		snprintf(out, 48, "interrupted");
	} else if (detect->collect.budget_spent ||
		   (why && detect->deadline && !strcmp(why, "budget"))) {
		char budget[32];
		common_budget_format(detect->values->state.budget_ns, budget);
		snprintf(out, 48, "budget %s", budget);
	} else if (why) {
		snprintf(out, 48, "%s", why);
	} else if (is_random(detect)) {
		size_t orders = detect->result.reach.orders;
		snprintf(out, 48, "%zu random order%s", orders,
			 orders == 1 ? "" : "s");
	} else if (detect->result.reach.rows < detect->result.reach.rows_all) {
		snprintf(out, 48, "a --budget or --all-pairs explores more");
	} else { /* tests that crash, or fail at random, stand before them */
		snprintf(out, 48, "the others could not be tried");
	}
}

static struct err *say(struct detect *detect, const struct str *text)
{
	return collect_limit(&detect->collect, text->s);
}

static struct err *say_open_pairs(struct detect *detect, const char *why)
{
	const struct order_reach *reach = &detect->result.reach;
	uint64_t done = reach->pairs_tried + reach->pairs_by_state;
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (done >= reach->pairs)
		return NULL;
	TRY(str_appendf(&text, "order: %llu of %llu pairs explored (%s)",
			(unsigned long long)done,
			(unsigned long long)reach->pairs, why));
	return say(detect, &text);
}

static struct err *say_open_orders(struct detect *detect, const char *why)
{
	const struct order_reach *reach = &detect->result.reach;
	size_t partial = 0, all = detect->result.findings.n;
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(str_freep) struct str others = STR_INIT;
	bool twice = reach->twice || reach->fixed;
	if (!is_random(detect) && (!reach->alone || !twice)) {
		TRY(str_appendf(&text, "order: not all tests were run %s (%s)",
				reach->alone ? "twice"
				: twice	     ? "alone"
					     : "alone and twice",
				why));
		TRY(say(detect, &text));
	}
	for (size_t i = 0; i < all; i++) {
		const struct dependence *dependence =
			dependence_of(&detect->result.findings.data[i]);
		partial += !dependence->polluters_complete &&
			   dependence->class != ORDER_NON_IDEMPOTENT;
	}
	if (!partial)
		return NULL;
	TRY(str_appendf(&others,
			"order: not all tests were tried as polluters or "
			"setters of %zu of %zu finding%s (%s)",
			partial, all, all == 1 ? "" : "s", why));
	return say(detect, &others);
}

static struct err *say_open(struct detect *detect)
{
	size_t entries = detect->order.n;
	size_t left = entries - MIN(detect->collect.finished, entries);
	char why[48];
	_cleanup_(str_freep) struct str text = STR_INIT;
	why_open(detect, why);
	if (detect->polluted && left) {
		TRY(str_appendf(&text,
				"pollution: %zu of %zu tests not looked at "
				"(%s)",
				left, entries, why));
		TRY(say(detect, &text));
	}
	if (detect->searched) {
		TRY(say_open_pairs(detect, why));
		return say_open_orders(detect, why);
	}
	if (!entries)
		return NULL;
	_cleanup_(str_freep) struct str none = STR_INIT;
	TRY(str_appendf(&none, "order: not searched (%s)", why));
	return say(detect, &none);
}

/* ---- the report ---- */

/* Failing tests whose failure no finding explains. */
static struct err *fails_on_its_own(const struct report *report, bool *ret)
{
	_cleanup_(map_text_freep) struct map_text explained = MAP_INIT;
	*ret = false;
	for (size_t i = 0; i < report->n_findings; i++) {
		if (dependence_of(&report->findings[i]))
			TRY(map_text_put(&explained,
					 finding_test(&report->findings[i]),
					 1));
	}
	for (size_t i = 0; i < report->n; i++) {
		uint64_t is_explained;
		enum outcome outcome = report->tests[i].outcome;
		if (outcome != OUTCOME_PASS && outcome != OUTCOME_SKIP &&
		    !map_text_get(&explained, report->tests[i].name,
				  &is_explained))
			*ret = true;
	}
	return NULL;
}

static struct err *judge(const struct report *report, enum status *ret)
{
	bool fails;
	TRY(fails_on_its_own(report, &fails));
	*ret = report_new_findings(report) ? STATUS_FINDINGS
	       : fails || (report->order && report->order->randoms.n) ||
			       (report->choices && report->choices->randoms.n)
		       ? STATUS_SUITE
		       : STATUS_OK;
	return NULL;
}

/* For replay. */
static void keep_results(struct detect *detect)
{
	const struct findings *all = &detect->findings;
	if (detect->polluted && detect->flags & DETECT_REPORT_POLLUTION)
		results_put(detect->results, "pollution", all->data, all->n);
	if (detect->searched)
		results_put_order(detect->results, all->data, all->n,
				  (const char *const *)detect->result.kept.data,
				  detect->result.kept.n);
	if (detect->chosen)
		results_put_choices(detect->results, &detect->plan.options,
				    all->data, all->n);
}

static struct err *write_report(struct detect *detect, const char *name,
				enum status *ret)
{
	struct findings *all = &detect->findings;
	if (detect->flags & DETECT_REPORT_POLLUTION)
		TRY(findings_move(all, &detect->pollution.findings));
	TRY(findings_move(all, &detect->result.findings));
	TRY(findings_move(all, &detect->assumptions.findings));
	baseline_mark(&detect->baseline, all);
	keep_results(detect);
	bool report_firsts = detect->flags & DETECT_REPORT_POLLUTION;
	struct report report = {
		.kind = name,
		.version = POLYGRAPH_VERSION,
		.command = (const char *const *)detect->choice.command,
		.framework = suite_framework(detect->suite),
		.suite_tests = suite_count(detect->suite),
		.tests = detect->collect.tests.data,
		.n = detect->collect.tests.n,
		.distinct = detect->collect.distinct,
		.ns = detect->ns,
		.seed = is_random(detect) ? &detect->seed : NULL,
		.roster = detect->names.roster,
		.findings = all->data,
		.n_findings = all->n,
		.watched = detect->polluted,
		.firsts = detect->pollution.firsts.data,
		.n_firsts = report_firsts ? detect->pollution.firsts.n : 0,
		.order = detect->searched ? &detect->result.reach : NULL,
		.choices = detect->chosen ? &detect->assumptions.reach : NULL,
		.limits = (const char *const *)detect->collect.limits.data,
		.n_limits = detect->collect.limits.n,
	};
	TRY(outputs_write(&detect->outputs, &report));
	return judge(&report, ret);
}

/* What comes before and after a test is asked of one place in the order. */
static struct err *check_once(const struct detect *detect)
{
	_cleanup_(map_u64_freep) struct map_u64 seen = MAP_INIT;
	for (size_t i = 0; i < detect->order.n; i++) {
		size_t test = detect->order.data[i];
		uint64_t known;
		if (map_u64_get(&seen, test, &known))
			return err_hint(
				err_create(
					ERR_USAGE,
					"'%s' stands in '%s' more than once",
					suite_test(detect->suite, test)->name,
					detect->values->state.order),
				"orders are searched of tests that stand in it "
				"once; 'polygraph run' takes any");
		TRY(map_u64_put(&seen, test, 1));
	}
	return NULL;
}

static struct err *prepare(struct detect *detect, const struct options *options,
			   int argc, char **argv, const char *name)
{
	const struct detect_options *values = detect->values;
	const struct state_options *state = &values->state;
	TRY(common_suite_choose(options, argc, argv, &detect->choice));
	TRY(outputs_choose(&state->common, name, &detect->outputs));
	TRY(state_watch_choose(state, &detect->outputs, &detect->watch));
	TRY(baseline_read(&detect->baseline, state->baseline));
	if (detect->flags & DETECT_CHOICES) {
		bool given = options_source(options, "level") != OPTION_DEFAULT;
		TRY(choices_plan_make(&values->settings, given, &detect->plan));
		detect->plan.options.seed = CHOICES_SEED;
	}
	/* Random orders of the other strategy need not differ each time. */
	detect->seed = values->seed;
	if (is_random(detect))
		TRY(common_seed_choose(options, values->seed, &detect->seed));
	detect->choice.options.agent = SUITE_AGENT_STATE;
	TRY(common_suite_open(&detect->choice, &detect->suite));
	TRY(common_names_init(&detect->names, &detect->choice, detect->suite));
	detect->plan.options.run = &detect->names.run;
	struct selection_options selection = {
		.tests = &state->common.tests,
		.order = state->order,
		.repeat = 1,
	};
	TRY(select_order(detect->suite, &selection, &detect->order,
			 &detect->disabled));
	TRY(check_once(detect));
	/* How a test ends depends on whether files are put back before it. */
	snprintf(detect->matters, sizeof(detect->matters),
		 "pollution=%d only=%u", uses_pollution(detect), state->only);
	TRY(results_open(options, &detect->choice, detect->suite,
			 detect->matters, &detect->results));
	if (values->fresh)
		results_forget(detect->results);
	return collect_init(&detect->collect, detect->names.roster, false);
}

struct err *detect_run(const struct options *options, int argc, char **argv,
		       const char *name, unsigned flags, enum status *ret)
{
	_cleanup_(detect_freep) struct detect detect = {
		.values = options->values,
		.flags = flags,
	};
	TRY(prepare(&detect, options, argc, argv, name));
	struct err *err = find(&detect);
	detect.ns = clock_now() - detect.start;
	if (err || !detect.searched) {
		struct err *failed = put_files_back(&detect);
		if (failed)
			log_warn("files were not put back: %s",
				 err_message(failed));
		err_destroy(failed);
	}
	if (err && !detect.collect.finished)
		return err;
	_cleanup_(err_destroyp) struct err *run_err = err;
	TRY(say_open(&detect));
	if (!run_err) {
		run_err = find_assumptions(&detect, options);
		detect.ns = clock_now() - detect.start;
	}
	if (!detect.suite) /* it could not be opened again */
		return take_ptr(run_err);
	for (size_t i = 0; i < detect.disabled.n; i++)
		TRY(collect_disabled(&detect.collect, detect.disabled.data[i]));
	TRY(write_report(&detect, name, ret));
	return take_ptr(run_err);
}
