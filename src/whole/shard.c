#include "whole/shard.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"

struct err *shard_parse(const char *text, struct shard *ret)
{
	_cleanup_(freep) char *copy = strdup(text);
	struct shard shard = {};
	if (!copy)
		return err_nomem();
	char *slash = strchr(copy, '/');
	if (slash)
		*slash = '\0';
	if (!slash || !str_to_u64(copy, 10, &shard.index) ||
	    !str_to_u64(slash + 1, 10, &shard.of) || !shard.index ||
	    shard.index > shard.of || shard.of > SHARDS_MAX)
		return err_hint(
			err_create(ERR_USAGE, "'%s' is not a share", text),
			"--shard 2/5 is the second of five; at most "
			"%d are possible",
			SHARDS_MAX);
	*ret = shard;
	return NULL;
}

struct shard_entry {
	double weight;
	size_t number;
};

/* Heaviest first; equals as they stand in the list. */
static int shard_compare_entries(const void *a, const void *b)
{
	const struct shard_entry *x = a, *y = b;
	if (x->weight < y->weight || x->weight > y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->number < y->number ? -1 : 1;
}

struct err *shard_divide(const double *weights, size_t n, uint64_t shards,
			 uint64_t *ret)
{
	_cleanup_(freep) struct shard_entry *entries =
		calloc(n + 1, sizeof(*entries));
	_cleanup_(freep) double *loads = calloc(shards, sizeof(*loads));
	if (!entries || !loads)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		entries[i] = (struct shard_entry){ weights[i], i };
	qsort(entries, n, sizeof(*entries), shard_compare_entries);
	for (size_t i = 0; i < n; i++) {
		uint64_t lightest = 0;
		for (uint64_t j = 1; j < shards; j++) {
			if (loads[j] < loads[lightest])
				lightest = j;
		}
		loads[lightest] += entries[i].weight;
		ret[entries[i].number] = lightest + 1;
	}
	return NULL;
}
