/*
 * What a report says of the call itself: where it ran, with which options, when,
 * and how long each part of it took.
 *
 *	run_facts_begin(&facts);
 *	…run_facts_phase(&facts, "order", executions), run_facts_phase_end()…
 *	TRY(run_facts_fill(&facts, &source));
 *	report.run = &facts.run;
 */
#pragma once

#include "base/strv.h"
#include "cli/option.h"
#include "report/report.h"
#include "suite/suite.h"

#define RUN_FACTS_PHASES_MAX 16

struct run_facts {
	struct report_run run; /* of these: */
	char *folder, *sources, *build_id;
	struct strv options;
	struct report_phase phases[RUN_FACTS_PHASES_MAX];
	uint64_t began; /* clock_now() */
};

void run_facts_begin(struct run_facts *facts);
/* @executions: of the suite, until now. */
void run_facts_phase(struct run_facts *facts, const char *name,
		     uint64_t executions);
void run_facts_phase_end(struct run_facts *facts, uint64_t executions);
/* @program: the test executable; NULL: there are many. */
struct err *run_facts_fill(struct run_facts *facts,
			   const struct options *options, const char *program,
			   const struct roster *roster) _must_check_;
void run_facts_free(struct run_facts *facts);
static inline void run_facts_freep(struct run_facts *facts)
{
	run_facts_free(facts);
}
