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
	for (size_t i = 0; i < detection->order.n; i++) {
		_cleanup_(str_freep) struct str name = STR_INIT;
		TRY(name_append(&name, roster_name(detection->roster,
						   detection->order.data[i])));
		TRY(map_text_put(ret, name.s ? name.s : "", 1));
	}
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
		if (!entry->gone)
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
	for (size_t i = 0; i < detection->findings.n; i++)
		TRY(hint_make(&detection->findings.data[i], framework));
	suppressions_mark(&detection->suppressions, &detection->findings);
	baseline_mark(&detection->baseline, &detection->findings);
	return known_find_gone(detection, report);
}

/* Entries of tests that the suite no longer has go, too. */
static struct err *drop_stale(struct detection *detection)
{
	struct baseline *baseline = &detection->baseline;
	_cleanup_(map_text_freep) struct map_text names = MAP_INIT;
	for (size_t i = 0; i < detection->roster->n; i++) {
		_cleanup_(str_freep) struct str name = STR_INIT;
		TRY(name_append(&name, roster_name(detection->roster, i)));
		TRY(map_text_put(&names, name.s ? name.s : "", 1));
	}
	for (size_t i = 0; i < baseline->entries.n; i++) {
		struct baseline_entry *entry = &baseline->entries.data[i];
		uint64_t there;
		entry->gone |= entry->test &&
			       !map_text_get(&names, entry->test, &there);
	}
	return NULL;
}

struct err *known_update(struct detection *detection,
			 const struct report *report)
{
	struct baseline *baseline = &detection->baseline;
	if (!baseline->updates)
		return NULL;
	TRY(drop_stale(detection));
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct finding *finding = &report->findings[i];
		if (!finding->suppressed)
			TRY(baseline_add(baseline, finding->id,
					 finding_test(finding),
					 finding->message));
	}
	return baseline_write(baseline);
}

struct err *known_unreliable(const struct detection *detection,
			     const char *test, bool *ret)
{
	static const struct finding_kind *const kinds[] = { &flaky_kind,
							    &dependence_kind };
	*ret = false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_(freep) char *id = NULL;
		TRY(finding_id(kinds[i], 0, test, NULL, &id));
		*ret |= baseline_lists(&detection->baseline, id);
	}
	return NULL;
}
