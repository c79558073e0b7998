/*
 * Tests whose outcome depends on which tests ran before, as the commands look
 * for them.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "cli/detection.h"
#include "repair/repair.h"

/* Findings whose hint names a call. */
#define SUGGESTIONS_MAX 8

#define FIELD(member) .offset = offsetof(struct detection_options, member)

static const char *const strategies[] = { "systematic", "random", NULL };

/* clang-format off */
static const struct option order_options[] = {
	{ "strategy", 0, OPTION_CHOICE, FIELD(strategy), .value = "NAME",
	  .choices = strategies,
	  .help = "systematic (default: starts with the tests that leave "
		  "state changed, then covers all pairs) or random "
		  "(shuffles the whole suite and ignores state)" },
	{ "runs", 0, OPTION_NUMBER, FIELD(runs), .value = "N", .min = 1,
	  .max = 1000000,
	  .help = "number of random orders of the whole suite (default: "
		  "chosen by the strategy; random: 20)" },
	{ "all-pairs", 0, OPTION_FLAG, FIELD(all_pairs),
	  .help = "try every pair of tests, even if the first leaves no "
		  "compared state changed" },
	{ "any-order", 0, OPTION_FLAG, FIELD(any_order),
	  .help = "also try orders that the suite does not allow because of "
		  "fixtures, dependencies, priorities or groups" },
	{ "repeat", 0, OPTION_NUMBER, FIELD(repeat), .value = "N", .min = 1,
	  .max = 1000,
	  .help = "confirmations required per finding (default: 3)" },
	{ "cleaners", 0, OPTION_FLAG, FIELD(cleaners),
	  .help = "find cleaners: tests that let a victim pass when they "
		  "run in between (default; --no-cleaners)" },
	{ "roots", 0, OPTION_FLAG, FIELD(roots),
	  .help = "find the variables, files and attributes that make a "
		  "test fail, by restoring them (default; --no-roots)" },
	{ "pollution", 0, OPTION_FLAG, FIELD(pollution),
	  .help = "first record what tests leave changed, to try only the "
		  "orders that can matter (default; --no-pollution)" },
	{ "fresh", 0, OPTION_FLAG, FIELD(fresh), .no_config = true,
	  .often = true,
	  .help = "discard what earlier runs learned about this suite" },
	{ "seed", 0, OPTION_NUMBER, FIELD(seed), .value = "N", .random = true,
	  .help = "seed for every random choice, for reproducible runs; random: a "
		  "new one each time, daily: each day (it is printed)" },
	{}
};
/* clang-format on */

const struct option_group detection_order_group = { "Orders", order_options };

struct order_state {
	struct order_result result;
	bool searched;
	uint64_t seed;
	char matters[64]; /* options that facts depend on */
	/* Findings of earlier runs, as the search tries them again; by place. */
	VEC(struct order_earlier) again;
	/* Of a turn before this one, whose results are known by now. */
	uint64_t executed_before, known_before;
};

static bool is_random(const struct detection *detection)
{
	return detection->values->strategy == ORDER_RANDOM;
}

static struct err *order_prepare(struct detection *detection, void *data)
{
	struct order_state *state = data;
	const struct detection_options *values = detection->values;
	/* Random orders of the other strategy need not differ each time. */
	state->seed = values->seed;
	if (is_random(detection))
		TRY(common_seed_choose(detection->options, values->seed,
				       &state->seed));
	/* How a test ends depends on whether files are restored before it. */
	snprintf(state->matters, sizeof(state->matters), "pollution=%d only=%u",
		 values->pollution && !is_random(detection),
		 values->state.only);
	return NULL;
}

/* What comes before and after a test is asked of one place in the order. */
static struct err *check_once(const struct detection *detection)
{
	_cleanup_(map_u64_freep) struct map_u64 seen = MAP_INIT;
	for (size_t i = 0; i < detection->order.n; i++) {
		size_t test = detection->order.data[i];
		uint64_t known;
		if (map_u64_get(&seen, test, &known))
			return err_hint(
				err_create(ERR_USAGE,
					   "'%s' stands in '%s' more than once",
					   suite_test(detection->suite, test)
						   ->name,
					   detection->values->state.order),
				"orders are searched of tests that stand in it "
				"once; 'polygraph run' takes any");
		TRY(map_u64_put(&seen, test, 1));
	}
	return NULL;
}

static struct err *order_begin(struct detection *detection,
			       void *state _unused_)
{
	return check_once(detection);
}

/* In which order each of them shows; of a flaky test in which it went both ways. */
static struct err *order_list_earlier(const struct detection *detection,
				      struct order_state *state)
{
	const struct earlier_list *earlier =
		&detection->earlier[detection->step - detection->steps];
	for (size_t i = 0; i < earlier->n; i++) {
		const struct earlier_finding *finding = &earlier->data[i];
		const struct record *record = &finding->record;
		const char *class = earlier_text(finding, "class");
		struct order_earlier again = {
			.test = finding->test,
			.flaky = finding->kind == &flaky_kind,
			.unexplained = !strcmp(class, "unexplained"),
			.left_out = finding->left_out || record->trials.n != 2,
		};
		/* The failing order, or the passing one if it fails alone. */
		bool brittle = !strcmp(class, "brittle") ||
			       (again.unexplained && !again.left_out &&
				record->trials.data[0].order.n < 2);
		again.outcome = brittle ? OUTCOME_PASS : OUTCOME_FAIL;
		struct err *err =
			again.left_out
				? NULL
				: earlier_prefix(detection,
						 &record->trials.data[brittle],
						 &again.prefix);
		if (!err)
			err = vec_push(&state->again, again);
		if (err)
			vec_free(&again.prefix);
		TRY(err);
	}
	return NULL;
}

static void order_judge_earlier(const struct detection *detection _unused_,
				void *data, struct earlier_list *earlier)
{
	const struct order_state *state = data;
	for (size_t i = 0; i < earlier->n && i < state->again.n; i++)
		earlier->data[i].tried = state->again.data[i].tried;
}

static void order_free(void *data)
{
	struct order_state *state = data;
	order_result_free(&state->result);
	for (size_t i = 0; i < state->again.n; i++)
		vec_free(&state->again.data[i].prefix);
	vec_free(&state->again);
}

/* ---- facts, under the options that they depend on ---- */

struct order_facts {
	struct results *results;
	const char *matters;
};

#define FACT_KEY_MAX 128

static bool get_order_fact(void *data, const char *key, void **ret,
			   size_t *ret_n)
{
	const struct order_facts *facts = data;
	char whole[FACT_KEY_MAX];
	snprintf(whole, sizeof(whole), "%s %s", facts->matters, key);
	return results_get_fact(facts->results, whole, ret, ret_n);
}

static void put_order_fact(void *data, const char *key, const void *value,
			   size_t n)
{
	const struct order_facts *facts = data;
	char whole[FACT_KEY_MAX];
	snprintf(whole, sizeof(whole), "%s %s", facts->matters, key);
	results_put_fact(facts->results, whole, value, n);
}

/* ---- the search ---- */

/*
 * For hints: what may put back the variables that tests are misled by. Only of the
 * first few, since nobody puts in more calls before the next run; and a hint is not
 * worth a failure.
 */
static void order_suggest(struct detection *detection,
			  struct order_state *state, uint64_t deadline)
{
	const struct repair_settings settings = {
		.watch = &detection->watch.watch,
	};
	size_t left = SUGGESTIONS_MAX;
	for (size_t i = 0; i < state->result.findings.n && left; i++) {
		struct dependence *dependence =
			dependence_of(&state->result.findings.data[i])
				? state->result.findings.data[i].evidence
				: NULL;
		if (!dependence || dependence->class != ORDER_VICTIM ||
		    !dependence->polluted.n || dependence->failing.n < 2 ||
		    !dependence->left.path ||
		    dependence->left.change.where != CHANGE_MEMORY ||
		    (deadline && clock_now() > deadline))
			continue;
		const struct repair_request request = {
			.class = dependence->class,
			.test = dependence->test,
			.failing = dependence->failing,
			.passing = dependence->passing,
			.polluted = dependence->polluted,
		};
		left--;
		struct err *err =
			repair_suggest(detection->suite, &request, &settings,
				       &dependence->left.call);
		if (err)
			log_debug(LOG_CLI, "%s", err_message(err));
		err_destroy(err);
	}
}

static struct err *order_search(struct detection *detection, void *data)
{
	struct order_state *state = data;
	const struct detection_options *values = detection->values;
	detection_settle_budget(detection, 0);
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	struct order_facts facts = { detection->records.results,
				     state->matters };
	const struct order_memory memory = {
		.get = get_order_fact,
		.put = put_order_fact,
		.data = &facts,
	};
	struct order_options options = {
		.run = &detection->run,
		.strategy = (enum order_strategy)values->strategy,
		.any_order = values->any_order,
		.seed = state->seed,
		.orders = values->runs ? values->runs : (size_t)-1,
		.all_pairs = values->all_pairs,
		.repeats = values->repeat,
		.cleaners = values->cleaners,
		.roots = values->roots,
		.deadline = detection_share(detection),
		.budget = values->state.budget_ns,
		.watch = &detection->watch.watch,
		.memory = &memory,
	};
	/*
	 * A test that was not examined would pass for one that leaves nothing:
	 * the run in the suite's own order has to be complete.
	 */
	if (!detection->order.n || detection->collect.budget_spent)
		return NULL;
	TRY(order_list_earlier(detection, state));
	options.earlier = state->again.data;
	options.n_earlier = state->again.n;
	struct suite_observer observer = detection_observer(detection);
	TRY(detection_show_progress(detection, "other orders", &progress));
	detection_hold_budget(detection);
	state->searched = true;
	detection->orders = &state->result.findings;
	struct err *err = order_find(detection->suite, detection->order.data,
				     detection->order.n, detection->pollution,
				     &options, &observer, &state->result);
	if (state->executed_before) {
		state->result.reach.executions += state->executed_before;
		state->result.reach.known = state->known_before;
	}
	if (!err)
		order_suggest(detection, state, options.deadline);
	return collect_end(&detection->collect, err);
}

static void order_end(struct detection *detection, void *data, bool failed)
{
	struct order_state *state = data;
	if (state->searched && !failed)
		return;
	struct err *err = detection_put_files_back(detection);
	if (err)
		log_warn("files were not restored: %s", err_message(err));
	err_destroy(err);
}

static bool order_wants_more(const void *data)
{
	const struct order_state *state = data;
	const struct order_reach *reach = &state->result.reach;
	bool open = !reach->alone || !(reach->twice || reach->fixed) ||
		    reach->pairs_tried + reach->pairs_by_state < reach->pairs;
	return state->searched && open && reach->why &&
	       !strcmp(reach->why, "budget");
}

static struct err *order_begin_again(struct detection *detection, void *data)
{
	struct order_state *state = data;
	const struct order_reach before = state->result.reach;
	order_free(state);
	*state = (struct order_state){
		.executed_before = before.executions + state->executed_before,
		.known_before = before.known,
	};
	return order_prepare(detection, state);
}

/* ---- what was left open ---- */

static void why_open(const struct detection *detection,
		     const struct order_state *state, char out[48])
{
	const struct order_reach *reach = &state->result.reach;
	char orders[48] = "ended early";
	if (state->searched && is_random(detection))
		snprintf(orders, sizeof(orders), "%zu random order%s",
			 reach->orders, reach->orders == 1 ? "" : "s");
	else if (state->searched && reach->rows < reach->rows_all)
		snprintf(orders, sizeof(orders),
			 "a --budget or --all-pairs explores more");
	else if (state->searched)
		/* Tests that crash, or are flaky, stand before them. */
		snprintf(orders, sizeof(orders), "the rest could not be tried");
	detection_why(detection, reach->why, orders, out);
}

static struct err *say_open_pairs(struct detection *detection,
				  const struct order_reach *reach,
				  const char *why)
{
	uint64_t done = reach->pairs_tried + reach->pairs_by_state;
	if (done >= reach->pairs)
		return NULL;
	return detection_say(detection, "%llu of %llu pairs explored (%s)",
			     (unsigned long long)done,
			     (unsigned long long)reach->pairs, why);
}

static struct err *say_open_orders(struct detection *detection,
				   const struct order_state *state,
				   const char *why)
{
	const struct order_reach *reach = &state->result.reach;
	size_t partial = 0, dependent = 0, unexplained = 0;
	bool twice = reach->twice || reach->fixed;
	if (!is_random(detection) && (!reach->alone || !twice))
		TRY(detection_say(detection, "not all tests were run %s (%s)",
				  reach->alone ? "twice"
				  : twice      ? "alone"
					       : "alone and twice",
				  why));
	for (size_t i = 0; i < state->result.findings.n; i++) {
		const struct dependence *dependence =
			dependence_of(&state->result.findings.data[i]);
		if (!dependence)
			continue; /* flaky */
		if (dependence->class == ORDER_UNEXPLAINED) {
			unexplained++;
			continue;
		}
		dependent++;
		partial += !dependence->polluters_complete &&
			   dependence->class != ORDER_NON_IDEMPOTENT;
	}
	if (unexplained)
		TRY(detection_say(detection,
				  "%zu test%s ended differently in other "
				  "orders and could not be explained (%s)",
				  unexplained, unexplained == 1 ? "" : "s",
				  why));
	if (!partial)
		return NULL;
	return detection_say(detection,
			     "not all tests were tried as polluters or "
			     "setters of %zu of %zu finding%s (%s)",
			     partial, dependent, dependent == 1 ? "" : "s",
			     why);
}

static struct err *order_say_limits(struct detection *detection, void *data)
{
	struct order_state *state = data;
	char why[48];
	why_open(detection, state, why);
	if (!state->searched)
		return detection->order.n
			       ? detection_say(detection, "not searched (%s)",
					       why)
			       : NULL;
	TRY(say_open_pairs(detection, &state->result.reach, why));
	return say_open_orders(detection, state, why);
}

/* ---- the report ---- */

static struct err *order_add(struct detection *detection, void *data,
			     struct report *report)
{
	struct order_state *state = data;
	if (is_random(detection) ||
	    options_source(detection->options, "seed") != OPTION_DEFAULT)
		report->seed = &state->seed;
	if (state->searched)
		report->order = &state->result.reach;
	if (detection->values->state.prove)
		TRY(leftovers_prove(&detection->findings,
				    &state->result.harmless));
	return findings_move(&detection->findings, &state->result.findings);
}

static void order_keep(struct detection *detection, void *data)
{
	struct order_state *state = data;
	struct records *records = &detection->records;
	records->source.files = (const char *const *)state->result.kept.data;
	records->source.n_files = state->result.kept.n;
	if (state->searched)
		results_put(records->results, "order", detection->findings.data,
			    detection->findings.n);
}

const struct detector detector_order = {
	.name = "order",
	.agent = SUITE_AGENT_STATE,
	.state_size = sizeof(struct order_state),
	.prepare = order_prepare,
	.begin = order_begin,
	.find = order_search,
	.end = order_end,
	.wants_more = order_wants_more,
	.begin_again = order_begin_again,
	.say_limits = order_say_limits,
	.judge_earlier = order_judge_earlier,
	.add = order_add,
	.keep = order_keep,
	.free = order_free,
};
