/*
 * What tests leave behind, after the search: where every test that reads it passes
 * right after the one that leaves it, nobody was misled by it. That depends on
 * these pairs alone, so that each command comes to the same.
 */
#include "order/order_internal.h"

static struct err *passes_after(struct order_search *search, size_t reader,
				size_t polluter, bool *ret)
{
	const struct order_known *known = &search->known[reader];
	enum outcome after = OUTCOME_NONE;
	*ret = false;
	if (known->place == ORDER_NONE || known->random ||
	    !outcome_is_good((enum outcome)known->alone))
		return NULL;
	TRY(asks_recall(search, &polluter, 1, reader, &after));
	*ret = outcome_is_good(after);
	return NULL;
}

/* Tests after which alone another one fails. */
static void note_misleading(struct order_search *search)
{
	const struct findings *findings = &search->result->findings;
	for (size_t i = 0; i < findings->n; i++) {
		const struct dependence *dependence =
			dependence_of(&findings->data[i]);
		if (!dependence || dependence->class != ORDER_VICTIM)
			continue;
		for (size_t j = 0; j < dependence->polluters.n; j++) {
			const struct order_tests *list =
				&dependence->polluters.data[j];
			if (list->n == 1 && list->data[0] != dependence->test)
				search->known[list->data[0]].misleads = true;
		}
	}
}

struct err *proof_note(struct order_search *search)
{
	const struct pollution *pollution = search->leftovers;
	note_misleading(search);
	for (size_t i = 0; pollution && i < pollution->findings.n; i++) {
		const struct finding *finding = &pollution->findings.data[i];
		const struct leftover *leftover = leftover_of(finding);
		bool passed =
			leftover_wants_proof(finding) &&
			search->known[leftover->test].place != ORDER_NONE &&
			!search->known[leftover->test].misleads;
		for (size_t j = 0; passed && j < leftover->readers.n; j++)
			TRY(passes_after(search, leftover->readers.data[j],
					 leftover->test, &passed));
		if (passed)
			TRY(strv_add(&search->result->harmless, finding->id));
	}
	return NULL;
}
