/*
 * What a detector's command keeps for later calls: its findings, with what
 * reproduces them, and facts (results/results.h). Names the suite and its
 * options to rooms that know no command line.
 */
#pragma once

#include "cli/common.h"
#include "replay/replay.h"
#include "results/results.h"

struct records {
	const struct options *options;
	const struct common_suite *choice;
	char *name;	   /* the suite's command line */
	char *folder;	   /* the working directory, if results are elsewhere */
	struct strv suite; /* words that open it */
	struct strv models;	     /* of users, as --model takes them */
	struct replay_source source; /* each detector adds what it found */
	struct results *results;
};

/*
 * @matters: what facts depend on besides the suite, as a text. Everything passed in outlives it, and it does not move.
 */
struct err *records_open(struct records *records, const struct options *options,
			 const struct common_suite *choice,
			 const struct suite *suite,
			 const char *matters) _must_check_;
void records_close(struct records *records);
static inline void records_closep(struct records *records)
{
	records_close(records);
}
