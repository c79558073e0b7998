#include "native/slots.h"

#include "base/log.h"
#include "native/between.h"
#include "native/framework.h"

void slots_start(const struct run *run, struct slots *slots)
{
	/* It would not get to a place that has skipped tests before it. */
	bool part = run->session->dies_without_tests && run->n < run_tests(run);
	slots->diverts = part || !run_in_sequence(run);
	log_debug(LOG_NATIVE, "the order %s",
		  slots->diverts ? "runs in the places of the program's calls"
				 : "keeps the program's own sequence");
}

bool slots_fit(const struct run *run, const struct slots *slots, size_t here,
	       size_t test)
{
	if (!slots->diverts || here == RUN_NONE)
		return here == test;
	return here == test || between_segment(run->session, here) ==
				       between_segment(run->session, test);
}

size_t slots_find(const struct run *run, const struct slots *slots, size_t test)
{
	if (!slots->diverts)
		return test;
	for (size_t i = slots->next; i < run_tests(run); i++) {
		if (slots_fit(run, slots, i, test))
			return i;
	}
	return RUN_NONE;
}

bool slots_stay(const struct run *run, const struct slots *slots, bool failed)
{
	if (!slots->diverts || between_fixture(run->session))
		return false;
	for (size_t i = slots->next; !failed && i < run_tests(run); i++) {
		if (between_segment(run->session, i) != RUN_NONE)
			return false;
	}
	return true;
}

bool slots_tell_rest(const struct run *run, size_t test)
{
	const struct session *session = run->session;
	const char *fixture = between_fixture(session);
	if (!run->framework->flows || run_in_sequence(run) || run->killed_by ||
	    run->ended == OUTCOME_CRASH || run->ended == OUTCOME_TIMEOUT)
		return false;
	suite_limit(session->observer,
		    "run: the runner ended before '%s': it ran, with what "
		    "follows it, in a new process%s%s%s",
		    run_name(run, test),
		    fixture ? ", because the runner changes " : "",
		    fixture ? fixture : "",
		    fixture ? " between its tests" : "");
	return true;
}
