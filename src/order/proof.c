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

struct err *proof_note(struct order_search *search)
{
	const struct pollution *pollution = search->leftovers;
	for (size_t i = 0; pollution && i < pollution->findings.n; i++) {
		const struct finding *finding = &pollution->findings.data[i];
		const struct leftover *leftover = leftover_of(finding);
		bool passed = leftover_wants_proof(finding) &&
			      search->known[leftover->test].place != ORDER_NONE;
		for (size_t j = 0; passed && j < leftover->readers.n; j++)
			TRY(passes_after(search, leftover->readers.data[j],
					 leftover->test, &passed));
		if (passed)
			TRY(strv_add(&search->result->harmless, finding->id));
	}
	return NULL;
}
