/*
 * What the agent notes (wire/state.h). Its counter of changes is watched like
 * any other place in memory; only when it moves, the whole is read.
 */
#include "attributes/attributes_internal.h"

#define GROUP (26 - MEMORY_SHIFT) /* SOURCE_HANDLERS */
/* Who asked for what is of no interest here. */
#define SIZE offsetof(struct wire_state, log_reads)

static bool agent_state_differs(const struct wire_state *a,
				const struct wire_state *b, size_t from,
				size_t to)
{
	return memcmp((const char *)a + from, (const char *)b + from,
		      to - from) != 0;
}

/* Which parts are others than the last time. */
static unsigned agent_state_parts(const struct wire_state *old,
				  const struct wire_state *now)
{
	static const struct {
		size_t from, to;
		unsigned source;
	} all[] = {
		{ offsetof(struct wire_state, signals),
		  offsetof(struct wire_state, locale), SOURCE_HANDLERS },
		{ offsetof(struct wire_state, locale),
		  offsetof(struct wire_state, locale_calls), SOURCE_LOCALE },
		{ offsetof(struct wire_state, random),
		  offsetof(struct wire_state, drand48), SOURCE_RANDOM },
		{ offsetof(struct wire_state, drand48),
		  offsetof(struct wire_state, exits_n), SOURCE_DRAND48 },
		{ offsetof(struct wire_state, exits_n),
		  offsetof(struct wire_state, terminate), SOURCE_EXITS },
		{ offsetof(struct wire_state, terminate),
		  offsetof(struct wire_state, results_n), SOURCE_HOOKS },
	};
	unsigned changed = 0;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (agent_state_differs(old, now, all[i].from, all[i].to))
			changed |= all[i].source;
	}
	return changed;
}

struct err *agent_probe(struct attributes *a, unsigned *ret)
{
	bool first = !a->captured;
	if (!a->options.agent ||
	    !(first || (a->has_agent && *ret & SOURCE_HANDLERS)))
		return NULL;
	struct wire_state *now = calloc(1, sizeof(*now));
	if (!now)
		return err_nomem();
	bool good = read_bytes(a, a->options.agent, now, SIZE) &&
		    now->magic == WIRE_STATE_MAGIC &&
		    now->version == WIRE_STATE_VERSION && now->active;
	if (!good) {
		/* Overwritten by the program: as it was. */
		free(now);
		if (first)
			a->has_agent = false;
		return NULL;
	}
	for (size_t i = 0; i < WIRE_LOCALES; i++)
		now->locale[i][WIRE_LOCALE_NAME - 1] = '\0';
	now->strtok_rest[WIRE_REST - 1] = '\0';
	if (!first) {
		*ret &= ~(unsigned)SOURCE_HANDLERS;
		*ret |= agent_state_parts(a->wire, now);
	}
	free(a->wire);
	a->wire = now;
	a->has_agent = true;
	ranges_forget(&a->spans, GROUP);
	return ranges_add(&a->spans, GROUP,
			  a->options.agent +
				  offsetof(struct wire_state, changes),
			  sizeof(now->changes));
}
