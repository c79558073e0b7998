#include "cli/test_digests.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/macro.h"
#include "dwarf/libraries.h"
#include "framework/frameworks.h"
#include "program/makeup.h"
#include "suite/suite.h"

void test_digests_free(struct test_digests *digests)
{
	free(digests->digests);
	*digests = (struct test_digests){};
}

/* Where the same place holds several tests, each depends on all of it. */
static struct err *read_pieces(const struct suite *suite, const char *program,
			       struct test_digests *digests)
{
	_cleanup_(freep) struct makeup_test *tests =
		calloc(digests->n + 1, sizeof(*tests));
	_cleanup_(makeup_destroyp) struct makeup *pieces = NULL;
	size_t known = 0;
	if (!tests)
		return err_nomem();
	for (size_t i = 0; i < digests->n; i++)
		tests[i] = (struct makeup_test){
			.file = suite_test(suite, i)->file,
			.line = suite_test(suite, i)->line,
		};
	TRY(makeup_read(program, frameworks_own, tests, digests->n, &pieces));
	for (size_t i = 0; i < digests->n; i++) {
		if (!makeup_digest(pieces, i, &digests->digests[i]))
			continue;
		/* 0 says that there is none. */
		digests->digests[i] += !digests->digests[i];
		known++;
	}
	log_debug(LOG_CLI, "what %zu of %zu tests are made of is known", known,
		  digests->n);
	return NULL;
}

struct err *test_digests_read(const struct suite *suite,
			      const struct suite_options *options,
			      struct test_digests *ret)
{
	struct test_digests digests = { .n = suite_count(suite) };
	_cleanup_(freep) char *program = NULL;
	digests.digests = calloc(digests.n + 1, sizeof(*digests.digests));
	struct err *err = NULL;
	if (!digests.digests)
		return err_nomem();
	if (options->argv)
		err = libraries_find_program(options->argv[0], &program);
	if (!err && program)
		err = read_pieces(suite, program, &digests);
	if (err) {
		test_digests_free(&digests);
		return err;
	}
	*ret = digests;
	return NULL;
}
