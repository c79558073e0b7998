/*
 * Commands whose calls that change files are followed, for the suite's saver to
 * keep these files first (keep/save.h). For runs that are not watched; any
 * number of commands side by side.
 */
#pragma once

#include "process/process_suite.h"

struct follow;
struct process_saving;

struct err *process_saving_create(struct saver *saver,
				  struct process_saving **ret) _must_check_;
/* After all processes of the run were ended. NULL is fine. */
void process_saving_destroy(struct process_saving *saving);

/* For each command that is started. *@ret is for process_spec.follow. */
struct err *process_saving_begin(struct process_saving *saving,
				 struct follow **ret) _must_check_;
/* It runs; @unfollowed is process.unfollowed, taken over. */
void process_saving_started(struct process_saving *saving,
			    struct err *unfollowed);
/* One ended: those of which no process is left are no longer followed. */
void process_saving_settle(struct process_saving *saving);
