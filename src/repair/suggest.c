/*
 * Which function may put a variable back, for a hint: the likeliest of those that a
 * search for a patch would call, by its code and its name. Nothing is called.
 */
#include <string.h>

#include "base/str.h"
#include "repair/repair_internal.h"
#include "repair/spelling.h"

/* Of a program with more functions, a hint does not wait for the answer. */
#define FUNCTIONS_MAX 20000

static struct err *suggest_work(void *data, const struct suite_bench *bench)
{
	struct search *search = data;
	struct candidate_input input;
	_cleanup_(freep) char *text = NULL;
	TRY(search_make_input(search, bench, &input));
	TRY(candidates_likeliest(&input, &text));
	return text ? spelling_names(&search->source, text, &search->missing)
		    : NULL;
}

static struct err *suggest_one(struct search *search)
{
	const struct repair_request *request = search->request;
	const struct suite_bench_options options = {
		.watch = search->settings->watch,
		.prefix = request->failing.data,
		.n = request->failing.n - 1,
		.test = request->test,
	};
	const struct suite_test *test =
		suite_test(search->suite, request->test);
	bool found = false;
	TRY(suite_describe_code(search->suite, test->file ? test->file : "",
				&search->code));
	TRY(search_read_test(search, request->test, &search->source,
			     &search->body, &found));
	if (!found || search->code.routines.functions.n > FUNCTIONS_MAX)
		return NULL;
	search_settle_files(search);
	return suite_work_bench(search->suite, &options, suggest_work, search,
				search->settings->observer, NULL);
}

struct err *repair_suggest(struct suite *suite,
			   const struct repair_request *request,
			   const struct repair_settings *settings, char **ret)
{
	struct repair_plan plan = {};
	struct search search = {
		.suite = suite,
		.request = request,
		.settings = settings,
		.plan = &plan,
	};
	struct err *err = suggest_one(&search);
	*ret = err ? NULL : take_ptr(search.missing);
	search_free(&search);
	return err;
}
