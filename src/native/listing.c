#include "native/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "native/framework.h"
#include "native/run.h"
#include "native/saving.h"
#include "native/session.h"
#include "tracee/output.h"

static void listing_forget(struct session *session)
{
	suite_free_tests(&session->suite);
	session->handles.n = 0;
	map_u64_free(&session->by_handle);
	map_u64_free(&session->seen);
	map_u64_free(&session->group_parents);
	map_u64_free(&session->declared);
}

static struct err *listing_discover(struct session *session,
				    bool *ret_ended_well)
{
	listing_forget(session);
	const struct framework *framework = session->framework;
	bool copied = session->origin && !session_find_obstacle(session);
	if (copied && framework->before_discovery)
		TRY(framework->before_discovery(session->origin,
						session->origin->ready_thread));
	_cleanup_(run_destroyp) struct run *run = NULL;
	TRY(session_process(session, &run));
	run->discovering = true;
	TRY(run->framework->discover(run, run->ready_thread));
	enum run_state state;
	do {
		TRY(run_loop(run, &state));
	} while (state == RUN_READY);
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	free(take_ptr(session->listing_end));
	session->listing_exited = state == RUN_GONE && !run->killed_by;
	if (state == RUN_HUNG)
		session->listing_end = strdup("did not end");
	else if (state == RUN_GONE && run->killed_by)
		TRY(str_format(&session->listing_end, "was %s",
			       run_end_text(run)));
	else if (state == RUN_GONE && run->exit_status)
		TRY(str_format(&session->listing_end, "ended with %s",
			       run_end_text(run)));
	*ret_ended_well =
		state == RUN_GONE && !run->killed_by && !run->exit_status;
	output_restart(session->output);
	/* A copy of what the adapter had prepared for this. */
	run_destroy(take_ptr(session->guarded));
	BUG_ON(copied && !session->origin);
	if (copied && framework->after_discovery)
		TRY(framework->after_discovery(session->origin,
					       session->origin->ready_thread));
	/* The origin goes with a file that it has open, if that is gone. */
	return saving_put_back(session);
}

/* Of @best tests, found without running them: are there more if they run? */
static struct err *listing_discover_running(struct session *session,
					    size_t best, bool *ret)
{
	bool ended_well;
	int discovery = session->discovery;
	session->listing_runs = true;
	memset(session->listed_results, 0, sizeof(session->listed_results));
	struct err *err = listing_discover(session, &ended_well);
	session->listing_runs = false;
	TRY(err);
	const size_t *results = session->listed_results;
	session->discovery = ended_well ? results[1] > results[0] : discovery;
	log_debug(LOG_NATIVE, "%zu tests listed while they ran, %zu without",
		  session->suite.tests.n, best);
	*ret = session->suite.tests.n > best ||
	       (session->suite.tests.n == best && ended_well);
	return NULL;
}

static struct err *listing_discover_best(struct session *session)
{
	int best = 0, n = MAX(session->framework->discoveries, 1);
	size_t best_count = 0;
	bool best_ended_well = false, exited = false;
	session->dies_without_tests = false;
	for (int i = 0; i < n; i++) {
		bool ended_well;
		session->discovery = i;
		TRY(listing_discover(session, &ended_well));
		size_t count = session->suite.tests.n;
		if (i == 0 && count && ended_well)
			return NULL; /* the program was content */
		exited |= session->listing_exited;
		if (count > best_count ||
		    (count == best_count && ended_well && !best_ended_well)) {
			best = i;
			best_count = count;
			best_ended_well = ended_well;
		}
	}
	session->dies_without_tests = !exited;
	if (session->framework->lists_running && !exited && best_count &&
	    !session->tests_forked) {
		bool better;
		session->discovery = best;
		TRY(listing_discover_running(session, best_count, &better));
		if (better)
			return NULL;
	} else if (best == n - 1) {
		return NULL;
	}
	bool ended_well;
	session->discovery = best;
	return listing_discover(session, &ended_well);
}

struct err *listing_find(struct session *session)
{
	if (!session->framework->list) {
		TRY(listing_discover_best(session));
		if (session->listing_end && !session->listing_exited)
			log_warn("the program %s while its tests were listed; "
				 "the list may be incomplete",
				 session->listing_end);
		return NULL;
	}
	struct run *run = session->origin;
	return session->framework->list(run, run->ready_thread);
}
