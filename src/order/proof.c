/*
 * What tests leave behind, after the search: where every test that reads it was
 * run right after the one that leaves it, and passed, nobody was misled by it.
 */
#include <string.h>

#include "order/order_internal.h"

/* Does what is known of @reader leave open whether @polluter turns it? */
static bool may_be_turned(const struct dependence *dependence, size_t polluter)
{
	if (dependence->class != ORDER_VICTIM ||
	    !dependence->polluters_complete)
		return true;
	for (size_t i = 0; i < dependence->polluters.n; i++) {
		if (tests_have(&dependence->polluters.data[i], polluter))
			return true;
	}
	return false;
}

static bool passed_after(const struct order_search *search, size_t reader,
			 size_t polluter)
{
	const struct findings *findings = &search->result->findings;
	const struct order_known *known = &search->known[reader];
	if (known->place == ORDER_NONE || known->random || !search->pairs ||
	    !outcome_is_good((enum outcome)known->alone) ||
	    !search_pair_tried(search, polluter, reader))
		return false;
	for (size_t i = 0; i < findings->n; i++) {
		const struct dependence *dependence =
			dependence_of(&findings->data[i]);
		if (findings->data[i].test == reader &&
		    (!dependence || may_be_turned(dependence, polluter)))
			return false;
	}
	return true;
}

/* Does it explain a test that depends on the order? */
static bool is_cause(const struct order_search *search, const char *id)
{
	const struct findings *findings = &search->result->findings;
	for (size_t i = 0; i < findings->n; i++) {
		const struct dependence *dependence =
			dependence_of(&findings->data[i]);
		for (size_t j = 0; dependence && j < dependence->because.n; j++)
			if (!strcmp(dependence->because.data[j], id))
				return true;
	}
	return false;
}

struct err *proof_note(struct order_search *search)
{
	const struct pollution *pollution = search->leftovers;
	for (size_t i = 0; pollution && i < pollution->findings.n; i++) {
		const struct finding *finding = &pollution->findings.data[i];
		const struct leftover *leftover = leftover_of(finding);
		size_t n = leftover->readers.n;
		bool passed = n && leftover->readers_known &&
			      search->known[leftover->test].place != ORDER_NONE;
		for (size_t j = 0; passed && j < n; j++)
			passed = passed_after(search, leftover->readers.data[j],
					      leftover->test);
		if (passed && !is_cause(search, finding->id))
			TRY(strv_add(&search->result->harmless, finding->id));
	}
	return NULL;
}
