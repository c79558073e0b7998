/*
 * suite_choose() of a test executable: the block that the controller shares
 * with the agent (wire/choices.h), and when in a test's life it says what.
 *
 * The program is started with the block in its environment. Before the first
 * test choices are made only where that was asked for (suite_choices.startup):
 * then the process stopped before the first test is started again for each set
 * of choices. What was chosen up to there stays in the block next to what each
 * test chooses. Numbering starts over with each test; between tests nothing is
 * chosen.
 */
#pragma once

#include "native/run.h"
#include "native/session.h"

struct chooser;

struct err *chooser_create(const struct suite_options *options,
			   struct chooser **ret) _must_check_;
void chooser_destroy(struct chooser *chooser); /* NULL is fine */
/* "POLYGRAPH_CHOICES=…", for the program's environment. */
const char *chooser_variable(const struct chooser *chooser);
struct wire_choices *chooser_block(struct chooser *chooser);

/* suite_ops.choose */
struct err *chooser_choose(struct suite *suite,
			   const struct suite_choices *choices) _must_check_;
/* Are choices made now? Then one process at a time. */
bool chooser_chooses(const struct chooser *chooser);

/* Did the process before the first test begin under choices? */
bool chooser_starts_otherwise(const struct chooser *chooser);

/* The program is loaded: which of its code is not its own. */
struct err *chooser_attach(struct run *run) _must_check_;
/* A process is about to be started; it stands before its first test. */
void chooser_starts(struct chooser *chooser);
void chooser_ready(struct chooser *chooser);
/* Choices stop the process (wire_choices.stop), and go on doing so. */
void chooser_stop(struct chooser *chooser, bool stop);
/*
 * A test begins; it is over, and only how the program ends is waited for; it ended,
 * which is reported to the observer.
 */
void chooser_begin(struct chooser *chooser, size_t test);
void chooser_pause(struct chooser *chooser);
void chooser_end(struct chooser *chooser, const struct suite_observer *observer,
		 size_t entry, size_t test);
