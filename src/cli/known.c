#include "cli/known.h"

#include <string.h>

#include "base/log.h"
#include "cli/detection.h"
#include "finding/hint.h"
#include "report/name.h"

/* Who looks for findings whose ids begin so. */
static const struct {
	const struct finding_kind *kind;
	const struct detector *detector;
} searchers[] = {
	{ &leftover_kind, &detector_pollution },
	{ &dependence_kind, &detector_order },
	{ &assumption_kind, &detector_choices },
};

/* Was the detector's search for such findings complete? */
static bool was_searched(const struct detection *detection, const char *id)
{
	size_t n = strcspn(id, "-");
	const struct detector *detector = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(searchers); i++) {
		const char *prefix = searchers[i].kind->prefix;
		if (strlen(prefix) == n && !strncmp(prefix, id, n))
			detector = searchers[i].detector;
	}
	for (size_t i = 0; detector && detection->steps[i].detector; i++) {
		if (detection->steps[i].detector == detector)
			return detection->states[i] &&
			       !detection->steps[i].hidden &&
			       !detection->left_out[i] && !detection->open[i];
	}
	return false;
}

static struct err *note_selected(const struct detection *detection,
				 struct map_text *ret)
{
	for (size_t i = 0; i < detection->order.n; i++)
		TRY(baseline_name(ret, roster_name(detection->roster,
						   detection->order.data[i])));
	return NULL;
}

static struct err *known_names(const struct detection *detection,
			       struct map_text *ret)
{
	for (size_t i = 0; i < detection->roster->n; i++)
		TRY(baseline_name(ret, roster_name(detection->roster, i)));
	return NULL;
}

/* Of an entry that does not name its test, only where all tests were asked for. */
static struct err *known_find_gone(struct detection *detection,
				   struct report *report)
{
	struct baseline *baseline = &detection->baseline;
	_cleanup_(map_text_freep) struct map_text selected = MAP_INIT;
	bool all = detection->order.n + detection->disabled.n ==
		   detection->roster->n;
	TRY(note_selected(detection, &selected));
	for (size_t i = 0; i < baseline->entries.n; i++) {
		struct baseline_entry *entry = &baseline->entries.data[i];
		uint64_t is_selected;
		if (entry->seen || !was_searched(detection, entry->id))
			continue;
		entry->gone = entry->test ? map_text_get(&selected, entry->test,
							 &is_selected)
					  : all;
		/* What is updated is told of itself. */
		if (!entry->gone || baseline->updates)
			continue;
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(str_append(&line, entry->id));
		TRY(str_append(&line, entry->test ? " " : ""));
		TRY(str_append(&line, entry->test ? entry->test : ""));
		TRY(strv_take(&detection->gone, str_take(&line)));
	}
	report->gone = (const char *const *)detection->gone.data;
	report->n_gone = detection->gone.n;
	return NULL;
}

struct err *known_mark(struct detection *detection, struct report *report)
{
	const char *framework =
		detection->suite ? suite_framework(detection->suite) : NULL;
	TRY(hints_make(&detection->findings, framework));
	suppressions_mark(&detection->suppressions, &detection->findings);
	baseline_mark(&detection->baseline, &detection->findings);
	/* They are written to it now. */
	for (size_t i = 0; i < detection->findings.n; i++)
		detection->findings.data[i].known |=
			detection->baseline.updates;
	return known_find_gone(detection, report);
}

struct err *known_warn(const struct detection *detection)
{
	_cleanup_(map_text_freep) struct map_text names = MAP_INIT;
	TRY(known_names(detection, &names));
	baseline_warn(&detection->baseline, &names);
	return NULL;
}

struct err *known_update(struct detection *detection,
			 const struct report *report)
{
	struct baseline *baseline = &detection->baseline;
	_cleanup_(map_text_freep) struct map_text names = MAP_INIT;
	if (!baseline->updates)
		return NULL;
	TRY(known_names(detection, &names));
	baseline_drop(baseline, &names);
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct finding *finding = &report->findings[i];
		if (!finding->suppressed)
			TRY(baseline_add(baseline, finding->id,
					 finding_test(finding),
					 finding->message));
	}
	TRY(baseline_write(baseline));
	if (!detection->values->state.common.quiet)
		baseline_tell(baseline, stderr);
	return NULL;
}

/* Does the baseline list it as one that fails now and then, or after others? */
static struct err *is_unreliable(const struct baseline *baseline,
				 const char *test, bool *ret)
{
	static const struct finding_kind *const kinds[] = { &flaky_kind,
							    &dependence_kind };
	*ret = false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_(freep) char *id = NULL;
		TRY(finding_id(kinds[i], 0, test, NULL, &id));
		*ret |= baseline_lists(baseline, id);
	}
	return NULL;
}

struct err *known_mark_tests(const struct detection *detection,
			     struct report_test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		tests[i].known = false;
		if (detection->baseline.entries.n &&
		    tests[i].outcome != OUTCOME_PASS)
			TRY(is_unreliable(&detection->baseline, tests[i].name,
					  &tests[i].known));
	}
	return NULL;
}
