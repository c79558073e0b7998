/*
 * From what a test leaves to a finding: what it is worth, and the sentence that
 * says it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "finding/words.h"
#include "pollution/pollution_internal.h"

/*
 * Most of what settles is a cache. Where there was no time to find out, that is
 * not claimed to be worse.
 */
static bool is_undecided(const struct leftover *leftover)
{
	return leftover->change.where == CHANGE_MEMORY &&
	       leftover->change.weight == WEIGHT_PLAIN &&
	       leftover->effect == EFFECT_SETTLES && leftover->readers.n &&
	       !leftover->judged;
}

static enum finding_severity
pollution_judge_severity(const struct leftover *leftover)
{
	if (leftover_is_dead_pointer(leftover))
		return FINDING_HIGH;
	if (leftover_is_minor(leftover))
		return FINDING_LOW;
	if (leftover->change.weight == WEIGHT_LOW || leftover_is_time(leftover))
		return leftover->readers.n ? FINDING_MEDIUM : FINDING_LOW;
	if (leftover->filled || leftover->used_by_all ||
	    leftover_is_filled_by_readers(leftover) || is_undecided(leftover))
		return FINDING_MEDIUM;
	if (leftover->readers.n)
		return FINDING_HIGH;
	if (leftover->change.weight == WEIGHT_MEDIUM)
		return FINDING_MEDIUM;
	if (leftover->change.weight == WEIGHT_HIGH)
		return FINDING_HIGH;
	if (leftover->effect == EFFECT_SETTLES && leftover->readers_known)
		return FINDING_LOW;
	return FINDING_MEDIUM;
}

static struct err *pollution_make_message(const char *test,
					  const struct leftover *leftover,
					  char **ret)
{
	const struct change_path *path = &leftover->change.paths[0];
	size_t readers = leftover->readers.n;
	_cleanup_(str_freep) struct str text = STR_INIT;
	const char *const parts[] = { test,	    " leaves ",
				      path->path,   " changed from ",
				      path->before, " to ",
				      path->after };
	/* Names are the program's own: kept on one line. */
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		TRY(words_append(&text, parts[i]));
	if (leftover_is_dead_pointer(leftover)) {
		TRY(str_append(&text, ", which points to a dead local variable "
				      "of "));
		TRY(words_append(&text, test));
	}
	if (leftover->effect == EFFECT_ACCUMULATES)
		TRY(str_append(&text, ", again each time it runs"));
	if (leftover->restores)
		TRY(str_append(&text, ", as it was before the tests"));
	else if (leftover->lazy)
		TRY(str_append(&text, "; so would the tests that read it"));
	else if (leftover->keyed)
		TRY(str_append(&text, "; a cache: other tests add the same "
				      "under the same key"));
	else if (leftover->used_by_all)
		TRY(str_append(&text, "; so do all tests that read it, and "
				      "none depends on it"));
	else if (leftover_is_filled_by_readers(leftover))
		TRY(str_append(&text, "; probably a cache: what reads it makes "
				      "what it does not find there"));
	else if (leftover->harmless && readers)
		TRY(str_append(&text, "; no test that reads it depends on it"));
	else if (readers)
		TRY(str_appendf(&text, ", and %zu other test%s read%s it",
				readers, readers == 1 ? "" : "s",
				readers == 1 ? "s" : ""));
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

/* The detector once more, on that test alone. */
static struct err *make_replay(const struct finding_run *run,
			       const struct leftover *leftover, char **ret)
{
	const char *test = roster_name(run->tests, leftover->test);
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_append(&text, "polygraph pollution "));
	if (leftover->first_user)
		TRY(str_append(&text, "--eager "));
	TRY(str_append(&text, "--tests "));
	TRY(words_append_pattern(&text, test));
	/* Without the tests that read it, it may be of low severity. */
	TRY(str_append(&text, " --all"));
	TRY(str_append(&text, run->suite));
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

struct err *pollution_finding_make(const struct finding_run *run,
				   struct leftover *leftover,
				   struct finding *ret)
{
	const char *test = roster_name(run->tests, leftover->test);
	const struct change *change = &leftover->change;
	_cleanup_(finding_free) struct finding finding = {
		.kind = &leftover_kind,
		.tests = run->tests,
		.test = leftover->test,
		.severity = pollution_judge_severity(leftover),
		.file = change->file,
		.line = change->line,
	};
	TRY(finding_id(&leftover_kind, change->where, test, change->root,
		       &finding.id));
	TRY(pollution_make_message(test, leftover, &finding.message));
	TRY(make_replay(run, leftover, &finding.replay));
	const char *isolated_by = run->tests->tests[leftover->test].isolated_by;
	if (isolated_by && !change_outlives_process(change))
		TRY(finding_isolate(&finding, isolated_by));
	TRY(finding_take_evidence(&finding, leftover, sizeof(*leftover)));
	*ret = finding;
	finding = (struct finding){};
	return NULL;
}
