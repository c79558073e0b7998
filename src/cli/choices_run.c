#include "cli/choices_run.h"

#include <stdio.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/output.h"

/* One word that only grows: whoever sees an old one draws again soon. */
static uint64_t count_executions(const void *data)
{
	return suite_executions(data);
}

struct err *choices_run(struct choices_run *run, struct choices_result *ret)
{
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	struct suite_observer observer = collect_observer(run->collect);
	if (run->progress && output_is_terminal(STDERR_FILENO)) {
		TRY(progress_create(STDERR_FILENO, run->n, &progress));
		progress_count(progress, "choices", count_executions,
			       run->suite);
	}
	if (run->told) {
		observer.started = NULL;
		observer.finished = NULL;
	}
	run->plan->options.deadline = run->deadline;
	run->collect->progress = progress;
	struct err *err = choices_find(run->suite, run->tests, run->n,
				       &run->plan->options, &observer, ret);
	return collect_end(run->collect, err);
}

static void why_open(const struct choices_run *run,
		     const struct choices_result *result, char out[48])
{
	char budget[32];
	if (interrupt_happened()) {
		snprintf(out, 48, "interrupted");
	} else if (result->reach.why && !strcmp(result->reach.why, "budget") &&
		   run->budget_ns) {
		common_budget_format(run->budget_ns, budget);
		snprintf(out, 48, "budget %s", budget);
	} else {
		snprintf(out, 48, "%s",
			 result->reach.why ? result->reach.why : "ended early");
	}
}

struct err *choices_run_limits(struct choices_run *run,
			       const struct choices_result *result)
{
	const struct choices_options *options = &run->plan->options;
	size_t levels = options->level_given ? 1 : WIRE_LEVELS;
	size_t all = levels * options->runs;
	char text[160], why[48];
	why_open(run, result, why);
	if (!run->n)
		return NULL;
	if (options->systematic &&
	    (result->reach.why || interrupt_happened())) {
		snprintf(text, sizeof(text),
			 "choices: %zu of %zu tests explored (%s)",
			 result->reach.spaces.n, run->n, why);
		TRY(collect_limit(run->collect, text));
	}
	if (!options->systematic && result->reach.runs < all) {
		snprintf(text, sizeof(text),
			 "choices: %zu of %zu runs with choices made (%s)",
			 result->reach.runs, all, why);
		TRY(collect_limit(run->collect, text));
	}
	if (result->reach.undebugged) {
		snprintf(text, sizeof(text),
			 "choices: %zu failing test%s not explained (%s)",
			 result->reach.undebugged,
			 result->reach.undebugged == 1 ? "" : "s", why);
		TRY(collect_limit(run->collect, text));
	}
	if (result->reach.runs && !result->reach.made)
		return collect_limit(run->collect,
				     "choices: no call of the tests left "
				     "anything to choose: that proves nothing");
	return NULL;
}
