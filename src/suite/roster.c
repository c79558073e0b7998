#include "suite/roster.h"

#include <stdlib.h>
#include <string.h>

static struct err *copy_test(const struct suite_test *test,
			     struct roster_test *ret)
{
	*ret = (struct roster_test){
		.name = strdup(test->name),
		.file = test->file ? strdup(test->file) : NULL,
		.line = test->line,
		.disabled = test->disabled,
		.isolated_by = test->isolated_by,
	};
	return ret->name && (ret->file || !test->file) ? NULL : err_nomem();
}

struct err *roster_create(const struct suite *suite, struct roster **ret)
{
	size_t n = suite_count(suite);
	_cleanup_(roster_destroyp) struct roster *roster =
		calloc(1, sizeof(*roster));
	if (!roster)
		return err_nomem();
	roster->tests = calloc(n + 1, sizeof(*roster->tests));
	if (!roster->tests)
		return err_nomem();
	while (roster->n < n) {
		size_t i = roster->n++;
		TRY(copy_test(suite_test(suite, i), &roster->tests[i]));
	}
	*ret = take_ptr(roster);
	return NULL;
}

void roster_destroy(struct roster *roster)
{
	if (!roster)
		return;
	for (size_t i = 0; i < roster->n; i++) {
		free((char *)roster->tests[i].name);
		free((char *)roster->tests[i].file);
	}
	free(roster->tests);
	free(roster);
}

bool roster_matches(const struct roster *roster, const struct suite *suite)
{
	bool same = suite_count(suite) == roster->n;
	for (size_t i = 0; same && i < roster->n; i++)
		same = !strcmp(suite_test(suite, i)->name,
			       roster_name(roster, i));
	return same;
}
