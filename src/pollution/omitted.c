/*
 * Tests that change variables which are left out: they may leave something that no
 * finding shows. A framework's own bookkeeping is changed by every test and says
 * nothing; what at most half of them change does.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pollution/pollution_internal.h"

static struct err *omitted_number(struct pollution_search *search,
				  const char *name, uint64_t offset,
				  uint64_t *ret)
{
	struct omitted *omitted = &search->omitted;
	_cleanup_(freep) char *key = NULL;
	if (asprintf(&key, "%s+%llu", name, (unsigned long long)offset) < 0)
		return err_nomem();
	if (map_text_get(&omitted->numbers, key, ret))
		return NULL;
	*ret = omitted->counts.n;
	TRY(vec_push(&omitted->counts, 0));
	return map_text_put(&omitted->numbers, key, *ret);
}

static struct err *omitted_add(struct pollution_search *search, size_t test,
			       const char *name, uint64_t offset)
{
	struct omitted_change change = { .test = test };
	TRY(omitted_number(search, name, offset, &change.place));
	search->omitted.counts.data[change.place]++;
	return vec_push(&search->omitted.changes, change);
}

void search_omitted(void *data, size_t test, const char *name, uint64_t offset)
{
	struct pollution_search *search = data;
	search_fail(search, omitted_add(search, test, name, offset));
}

struct err *omitted_judge(struct pollution_search *search, size_t tests)
{
	const struct omitted *omitted = &search->omitted;
	for (size_t i = 0; i < omitted->changes.n; i++) {
		const struct omitted_change *change = &omitted->changes.data[i];
		size_t n = search->pollution->changers.n;
		if (2 * omitted->counts.data[change->place] > tests ||
		    (n &&
		     search->pollution->changers.data[n - 1] == change->test))
			continue;
		TRY(vec_push(&search->pollution->changers, change->test));
	}
	return NULL;
}

void omitted_free(struct omitted *omitted)
{
	map_text_free(&omitted->numbers);
	vec_free(&omitted->counts);
	vec_free(&omitted->changes);
}
