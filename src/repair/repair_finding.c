/* From a plan to a finding. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "finding/words.h"
#include "repair/repair.h"

/* "T: reset() at the start of T makes it pass after A; proven" */
static struct err *repair_make_message(const struct finding_run *run,
				       const struct repair_plan *plan,
				       char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	const struct repair_way *way =
		plan->ways.n ? &plan->ways.data[plan->chosen] : NULL;
	TRY(words_append(&text, roster_name(run->tests, plan->request->test)));
	if (!way && plan->fixed) {
		TRY(str_append(&text, " does not fail any more: nothing is "
				      "left to fix"));
	} else if (!way) {
		TRY(str_append(&text, " was not fixed: "));
		TRY(words_append(&text, plan->why_not ? plan->why_not
						      : "no reason is known"));
	} else {
		TRY(str_append(&text, ": "));
		TRY(words_append(&text, way->code));
		TRY(str_append(&text, " "));
		TRY(words_append(&text, way->where));
		TRY(str_append(&text, plan->request->leftover
					      ? " restores it"
					      : " lets it pass"));
		if (way->rest && !plan->unproven && !plan->proven) {
			TRY(str_append(&text, ", but leaves "));
			TRY(words_append(&text, way->rest));
		}
		TRY(str_append(&text, plan->proven ? "; proven"
				      : plan->unproven
					      ? "; not proven: "
					      : "; not proven: no --build"));
		if (!plan->proven && plan->unproven)
			TRY(words_append(&text, plan->unproven));
		if (plan->proven && way->partial && way->rest) {
			TRY(str_append(&text, "; what did not mislead it "
					      "stays: "));
			TRY(words_append(&text, way->rest));
		}
	}
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

static struct err *repair_copy_evidence(const struct repair_plan *plan,
					struct repair_patch *patch)
{
	const struct repair_way *way =
		plan->ways.n ? &plan->ways.data[plan->chosen] : NULL;
	patch->test = plan->request->test;
	patch->proven = plan->proven;
	patch->exact = way && way->exact;
	patch->gone = !way && plan->fixed;
	patch->tried = plan->tried;
	patch->search_ns = plan->search_ns;
	patch->prove_ns = plan->prove_ns;
	patch->try_ns = plan->try_ns;
	TRY(str_copy(plan->request->id, &patch->finding));
	if (!way)
		return str_copy(plan->function, &patch->function);
	TRY(str_copy(way->patch, &patch->patch));
	TRY(str_copy(way->function, &patch->function));
	TRY(str_copy(way->folder, &patch->folder));
	TRY(str_copy(way->path, &patch->path));
	return str_copy(way->content, &patch->content);
}

struct err *repair_finding_make(const struct finding_run *run,
				const struct repair_plan *plan,
				struct finding *ret)
{
	_cleanup_(finding_free) struct finding finding = {
		.kind = &repair_patch_kind,
		.tests = run->tests,
		.test = plan->request->test,
		.severity = FINDING_LOW,
	};
	_cleanup_(repair_patch_freep) struct repair_patch patch = {};
	TRY(finding_id(&repair_patch_kind, 0, finding_test(&finding),
		       plan->request->id, &finding.id));
	TRY(repair_make_message(run, plan, &finding.message));
	TRY(str_format(&finding.replay, "polygraph repair %s",
		       plan->request->id));
	TRY(repair_copy_evidence(plan, &patch));
	TRY(finding_take_evidence(&finding, &patch, sizeof(patch)));
	*ret = finding;
	finding = (struct finding){};
	return NULL;
}
