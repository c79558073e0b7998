#include "finding/assumption.h"

#include <stdlib.h>
#include <string.h>

#include "finding/words.h"

void assumption_call_free(struct assumption_call *call)
{
	for (size_t i = 0; i < call->stack.n; i++) {
		free(call->stack.data[i].function);
		free(call->stack.data[i].file);
	}
	vec_free(&call->stack);
	free(call->api);
	free(call->clause);
	free(call->argument);
	free(call->test);
	free(call->did);
	*call = (struct assumption_call){};
}

static void free_calls(struct assumption_calls *calls)
{
	for (size_t i = 0; i < calls->n; i++)
		assumption_call_free(&calls->data[i]);
	vec_free(calls);
}

void assumption_free(struct assumption *assumption)
{
	free_calls(&assumption->calls);
	free_calls(&assumption->critical);
	vec_free(&assumption->ranges);
	vec_free(&assumption->prefix);
	vec_free(&assumption->forced);
	finding_failure_free(&assumption->failure);
	*assumption = (struct assumption){};
}

static void assumption_destroy(void *evidence)
{
	assumption_free(evidence);
	free(evidence);
}

const struct finding_kind assumption_kind = {
	.name = "assumption",
	.prefix = "choice",
	.command = "choices",
	.free = assumption_destroy,
};

const char *const assumption_levels[] = { "one", "eq", "id", "full", NULL };

/* Each once, in the sequence of their calls. */
struct err *assumption_append_apis(struct str *str,
				   const struct assumption *assumption)
{
	const struct assumption_call *calls = assumption->calls.data;
	size_t all = MIN(assumption->calls.n, (size_t)ASSUMPTION_CALLS_MAX);
	size_t shown = 0;
	for (size_t i = 0; i < all; i++) {
		bool known = false;
		for (size_t j = 0; j < i; j++)
			known |= !strcmp(calls[j].api, calls[i].api);
		if (known)
			continue;
		TRY(str_append(str, shown++ ? " and " : ""));
		TRY(words_append(str, calls[i].api));
	}
	return str_append(str, shown > 1 ? " promise" : " promises");
}
