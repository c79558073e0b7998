/*
 * How a hand-written runner learns what became of its tests, and so do we.
 *
 * Tests without result tell their runner in variables: a counter of failures, a
 * flag, a list of messages. Which variables these are is learned by experiment.
 * In copies of the process that stand where the first test is called, all
 * tests are skipped, and each time another variable has a value that a test
 * might have left there. Where the program then ends with another exit status
 * than 0, or prints that something failed (verdict_text.h), that variable is the
 * verdict: a test that leaves such a value there has failed. Counters of tests
 * and of checks do not turn the end of the program, so they are none; those that
 * it only prints are its statistics. Both belong to the runner
 * (program_is_runners()): they are not state that tests share.
 *
 * From then on the verdict is measured before and after each test, and
 * watchpoints on it tell the line of the test in which it was written. Programs
 * that print TAP are understood by their lines, too.
 *
 * A variable that a test writes and a later test puts back is state of the tests,
 * not a verdict: before the first failure is reported, the program's own order is
 * rehearsed in another process, which shows that.
 *
 * Where nothing was learned, the exit status is left: after each test a copy of the
 * process skips all others and shows how the program would end now.
 *
 * What it does not do: look at what a test returns (framework/functions.c).
 */
#pragma once

#include "native/session.h"

struct verdict;

/*
 * Once a session; later calls do nothing. Nothing is learned of frameworks that
 * tell their verdicts (framework.exit_status_counts). After this,
 * program_is_runners() knows what belongs to the runner.
 */
struct err *verdict_learn(struct session *session) _must_check_;
void verdict_destroy(struct verdict *verdict); /* NULL is fine */
/* Does it watch places of its own while tests run? */
bool verdict_uses_watchpoints(const struct session *session);

/*
 * run.c, before the @hook in which a test may end: how the program would end
 * without further tests, where nothing else says whether the test failed.
 */
struct err *verdict_foresee(struct run *run, struct thread *thread,
			    struct hook hook) _must_check_;
/*
 * A watched process cannot be copied: the order is run once before, by @run, if
 * nothing but the exit status says which tests fail. What came of it counts in
 * the watched run, until verdict_forget_rehearsal().
 */
struct err *verdict_rehearse_order(struct session *session, const size_t *order,
				   size_t n,
				   struct err *(*run)(struct session *session,
						      const size_t *order,
						      size_t n)) _must_check_;
void verdict_forget_rehearsal(struct session *session);
/* Would it do that? */
bool verdict_rehearses(const struct session *session);
/* Is how the program ended after the last test of the order not that test's doing? */
bool verdict_excuses_end(struct run *run);
/* Are the tests judged by something else than how the program ends? */
bool verdict_is_known(const struct session *session);
/*
 * Does its exit status say something of the tests that ran? Not if it ends badly
 * without tests, too, and their verdicts are known otherwise.
 */
bool verdict_status_counts(const struct session *session);
/* The program ended with an exit status that no test explains. */
void verdict_surprised(struct session *session);
/* After a run: tells the session's observer, once, if verdicts are unknown. */
void verdict_tell(struct session *session);
/* run.c: a test begins, has just written a watched place, ends. */
void verdict_begin(struct run *run);
void verdict_touched(struct run *run, const struct tracee_event *event);
struct err *verdict_end(struct run *run) _must_check_;
