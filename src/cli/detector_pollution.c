/* Tests that leave shared state changed, as the commands look for them. */
#include <string.h>

#include "cli/detection.h"
#include "cli/interrupt.h"

/*
 * Where others follow, what changes mean gets no more than this part of a
 * budget.
 */
#define MEANING_PART 3

struct pollution_state {
	struct pollution pollution;
	bool found; /* it was searched for */
};

/* It is reported, or helps the search for orders. */
static bool detector_pollution_wanted(const struct detection *detection,
				      const struct detection_step *step)
{
	const struct detection_options *values = detection->values;
	return values->pollution &&
	       !(step->hidden && values->strategy == ORDER_RANDOM);
}

static uint64_t meaning_until(const struct detection *detection)
{
	return detection_goes_on(detection)
		       ? detection->began + detection->budget_ns / MEANING_PART
		       : detection->deadline;
}

/* pollution_options.deadline_after */
static uint64_t settle_after_run(void *data, uint64_t ns)
{
	struct detection *detection = data;
	return detection_settle_budget(detection, ns) ? meaning_until(detection)
						      : 0;
}

/* Call stacks are for reports that show them; `check` keeps one that may be. */
static bool shows_traces(const struct detection *detection)
{
	const struct outputs *outputs = &detection->outputs;
	bool shows = detection->limited || outputs->style.verbose;
	for (size_t i = 0; i < outputs->n; i++)
		shows |= outputs->data[i].format != &report_text;
	return shows && !detection->step->hidden;
}

static struct err *pollution_search(struct detection *detection, void *data)
{
	struct pollution_state *state = data;
	const struct state_command_options *values = &detection->values->state;
	bool goes_on = detection_goes_on(detection);
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	struct pollution_options options = {
		.run = &detection->run,
		.watch = detection->watch.watch,
		.eager = values->eager,
		.effect = values->effect && !detection->step->hidden,
		.readers = values->readers,
		.traces = shows_traces(detection),
		.omitted = goes_on,
	};
	if (!detection->order.n)
		return NULL; /* all of them are disabled */
	if (detection->deadline) {
		detection->collect.deadline = detection->deadline;
		options.deadline = meaning_until(detection);
	} else {
		options.deadline_after = settle_after_run;
		options.data = detection;
	}
	struct suite_observer observer = detection_observer(detection);
	TRY(detection_show_progress(detection, NULL, &progress));
	state->found = true;
	detection->pollution = &state->pollution;
	struct err *err = pollution_find(
		detection->suite, detection->order.data, detection->order.n,
		&options, &observer, &state->pollution);
	detection->collect.deadline = 0;
	return collect_end(&detection->collect, err);
}

static struct err *pollution_say_limits(struct detection *detection,
					void *state _unused_)
{
	size_t entries = detection->order.n;
	size_t left = entries - MIN(detection->collect.finished, entries);
	char why[48];
	detection_why(detection, NULL, "ended early", why);
	return left ? detection_say(detection,
				    "%zu of %zu tests not examined (%s)", left,
				    entries, why)
		    : NULL;
}

static struct err *pollution_add(struct detection *detection, void *data,
				 struct report *report)
{
	struct pollution_state *state = data;
	report->watched = state->found || !detection_goes_on(detection);
	report->firsts = state->pollution.firsts.data;
	report->n_firsts = state->pollution.firsts.n;
	return findings_move(&detection->findings, &state->pollution.findings);
}

static void pollution_keep(struct detection *detection, void *data)
{
	const struct pollution_state *state = data;
	if (state->found || !detection_goes_on(detection))
		results_put(detection->records.results, "pollution",
			    detection->findings.data, detection->findings.n);
}

static void pollution_free_state(void *data)
{
	struct pollution_state *state = data;
	pollution_free(&state->pollution);
}

/* The budget, or the user, may have ended the last one as it was examined. */
static bool is_last(const struct detection *detection, size_t test)
{
	const struct collect *collect = &detection->collect;
	return (collect->budget_spent || interrupt_happened()) &&
	       collect->tests.n &&
	       !strcmp(collect->tests.data[collect->tests.n - 1].name,
		       roster_name(detection->roster, test));
}

/* A test that was examined has what it has, as far as was looked for. */
static void pollution_judge_earlier(const struct detection *detection,
				    void *data, struct earlier_list *earlier)
{
	static const unsigned bits[] = {
		[CHANGE_MEMORY] = SUITE_MEMORY,
		[CHANGE_FILE] = SUITE_FILES,
		[CHANGE_PROCESS] = SUITE_PROCESS,
	};
	const struct pollution_state *state = data;
	const uint8_t *outcomes = state->pollution.outcomes;
	for (size_t i = 0; i < earlier->n; i++) {
		struct earlier_finding *finding = &earlier->data[i];
		const char *where = earlier_text(finding, "where");
		finding->tried = outcomes && outcomes[finding->test] &&
				 !is_last(detection, finding->test);
		for (size_t j = 0; j < ARRAY_SIZE(bits); j++) {
			const char *name =
				leftover_where_name((enum change_where)j);
			finding->left_out |=
				!strcmp(where, name) &&
				!(detection->watch.watch.what & bits[j]);
		}
	}
}

const struct detector detector_pollution = {
	.name = "pollution",
	.agent = SUITE_AGENT_STATE,
	.state_size = sizeof(struct pollution_state),
	.is_wanted = detector_pollution_wanted,
	.find = pollution_search,
	.say_limits = pollution_say_limits,
	.judge_earlier = pollution_judge_earlier,
	.add = pollution_add,
	.keep = pollution_keep,
	.free = pollution_free_state,
};
