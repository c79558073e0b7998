/*
 * Shows what a suite declares of the order of its tests, for test_declared.py.
 *
 * First a line "FRAMEWORK free|bound natural|unnatural": is every order allowed,
 * is the suite's own? Then a line a test: its groups from the outermost, its
 * priority, the tests that come before it, those it needs, those that clean up
 * after it (numbers of tests), its name. "-" is none. With --again that is what
 * is known after all tests were run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/str.h"
#include "framework/frameworks.h"
#include "order/rules.h"
#include "process/kinds.h"
#include "suite/suite.h"

static void show_list(const size_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%zu", i ? "," : "", list[i]);
	fputs(n ? " " : "- ", stdout);
}

static void show_groups(const struct suite *suite, size_t group)
{
	if (group == SUITE_NO_GROUP)
		return;
	show_groups(suite, suite_group_parent(suite, group));
	printf("/%zu", group);
}

static void show_test(const struct suite *suite, const struct suite_test *test)
{
	show_groups(suite, test->group);
	printf("%s %lld ", test->group == SUITE_NO_GROUP ? "-" : "",
	       (long long)test->priority);
	show_list(test->after, test->n_after);
	show_list(test->needs, test->n_needs);
	show_list(test->cleanups, test->n_cleanups);
	_cleanup_(freep) char *name = str_escape(test->name);
	puts(name ? name : "?");
}

/* Each test in a process of its own; how often that goes well is their matter. */
static struct err *run_all(struct suite *suite, const size_t *order, size_t n)
{
	const struct suite_observer observer = {};
	return suite_run(suite, order, n, SUITE_ALONE, &observer);
}

static struct err *show(const struct suite_options *options, bool again)
{
	_cleanup_(suite_closep) struct suite *suite = NULL;
	_cleanup_(rules_destroyp) struct rules *rules = NULL;
	TRY(suite_open(options, &suite));
	size_t n = suite_count(suite);
	_cleanup_(freep) size_t *order = calloc(n + 1, sizeof(*order));
	if (!order)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	if (again)
		TRY(run_all(suite, order, n));
	TRY(rules_create(suite, false, &rules));
	printf("%s %s %s\n", suite_framework(suite),
	       rules_free(rules) ? "free" : "bound",
	       rules_allow(rules, order, n) ? "natural" : "unnatural");
	for (size_t i = 0; i < n; i++)
		show_test(suite, suite_test(suite, i));
	return NULL;
}

int main(int argc, char **argv)
{
	struct suite_options options = { .timeout_ns = 10 * NS_PER_S,
					 .jobs = 1 };
	bool again = argc > 1 && !strcmp(argv[1], "--again");
	if (again) {
		argc--;
		argv++;
	}
	options.source = argc == 3 && argv[1][0] == '-' ? argv[2] : NULL;
	options.argv = options.source ? NULL : argv + 1;
	if (options.source && !strcmp(argv[1], "--ctest"))
		options.kind = &ctest_suite_kind;
	else if (options.source && !strcmp(argv[1], "--meson"))
		options.kind = &meson_suite_kind;
	else if (argc > 1)
		options.kind = &executable_suite_kind;
	else
		return EXIT_FAILURE;
	struct err *err = show(&options, again);
	if (!err)
		return EXIT_SUCCESS;
	fprintf(stderr, "%s\n", err_message(err));
	err_destroy(err);
	return EXIT_FAILURE;
}
