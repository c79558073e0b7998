/*
 * Tests that read what others leave, right after these: where all of them pass,
 * nobody was misled. The search for orders finds that out, too; this is for where
 * only leftovers are asked for, so that they are of the same severity there.
 */
#include "cli/detection.h"

/* Where there is no budget: it takes no longer, … */
#define READERS_NS (20 * NS_PER_S)
#define READERS_RUNS 3 /* … or than this many times the suite's own order. */

struct readers_state {
	struct order_result result;
};

static bool readers_have_work(const struct detection *detection)
{
	const struct pollution *pollution = detection->pollution;
	if (!pollution || !detection->values->state.prove ||
	    detection->collect.budget_spent)
		return false;
	for (size_t i = 0; i < pollution->findings.n; i++) {
		if (leftover_wants_proof(&pollution->findings.data[i]))
			return true;
	}
	return false;
}

static struct err *readers_search(struct detection *detection, void *data)
{
	struct readers_state *state = data;
	const struct pollution *pollution = detection->pollution;
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	const struct order_options options = {
		.run = &detection->run,
		.strategy = ORDER_SYSTEMATIC,
		.readers = true,
		.repeats = 1,
		.watch = &detection->watch.watch,
		.deadline = detection->deadline
				    ? detection->deadline
				    : clock_now() +
					      MAX(READERS_NS,
						  READERS_RUNS * pollution->ns),
	};
	struct suite_observer observer = detection_observer(detection);
	TRY(detection_show_progress(detection, "readers", &progress));
	struct err *err = order_find(detection->suite, detection->order.data,
				     detection->order.n, pollution, &options,
				     &observer, &state->result);
	return collect_end(&detection->collect, err);
}

static struct err *readers_say_limits(struct detection *detection, void *data)
{
	const struct readers_state *state = data;
	char why[48];
	if (!state->result.reach.why)
		return NULL;
	detection_why(detection, state->result.reach.why, "", why);
	return detection_say(detection,
			     "not all tests that read what others leave were "
			     "run after them (%s)",
			     why);
}

static struct err *readers_add(struct detection *detection, void *data,
			       struct report *report _unused_)
{
	const struct readers_state *state = data;
	return leftovers_prove(&detection->findings, &state->result.harmless);
}

static void readers_free(void *data)
{
	struct readers_state *state = data;
	order_result_free(&state->result);
}

const struct detector detector_readers = {
	.name = "readers",
	.agent = SUITE_AGENT_STATE,
	.state_size = sizeof(struct readers_state),
	.has_work = readers_have_work,
	.find = readers_search,
	.say_limits = readers_say_limits,
	.add = readers_add,
	.free = readers_free,
};
