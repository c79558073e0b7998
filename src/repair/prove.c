/* Is a patch right? It is built, and run in all orders that matter. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "finding/words.h"
#include "repair/repair_internal.h"
#include "repair/tool.h"

/* What a build may take where less is left of the budget. */
#define BUILD_LEAST (10 * NS_PER_S)
/* Tests that are run right after the one that is fixed, and right before it. */
#define FOLLOWERS_MAX 400
#define REPEATS 2
#define LISTS_MAX 200

/* ---- files ---- */

/* In place, so that links and permissions stay. */
static struct err *prove_write_file(const char *path, const char *text)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	size_t n = strlen(text), done = 0;
	if (fd < 0)
		return err_errno(errno, "cannot write '%s'", path);
	while (done < n) {
		ssize_t wrote = write(fd, text + done, n - done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return err_errno(errno, "cannot write '%s'", path);
		done += (size_t)wrote;
	}
	return NULL;
}

/* ---- orders ---- */

struct outcomes_seen {
	enum outcome *data; /* by entry */
	size_t n;
};

static void see_outcome(void *data, const struct suite_result *result)
{
	struct outcomes_seen *seen = data;
	if (result->entry < seen->n)
		seen->data[result->entry] = result->outcome;
}

static void see_start(void *data _unused_, size_t test _unused_)
{
}

static void see_limit(void *data _unused_, const char *text)
{
	log_info("%s", text);
}

static struct err *run_nodes(struct suite *suite,
			     const struct suite_nodes *nodes,
			     enum outcome **ret)
{
	_cleanup_(freep) enum outcome *all = calloc(nodes->n + 1, sizeof(*all));
	struct outcomes_seen seen = { all, nodes->n };
	const struct suite_observer observer = {
		.started = see_start,
		.finished = see_outcome,
		.limit = see_limit,
		.data = &seen,
	};
	if (!all)
		return err_nomem();
	TRY(suite_run_tree(suite, nodes->data, nodes->n, SUITE_SERIAL,
			   &observer));
	*ret = take_ptr(all);
	return NULL;
}

static bool is_fine(enum outcome outcome)
{
	return outcome == OUTCOME_PASS || outcome == OUTCOME_SKIP;
}

/* How the last test of an order ends. */
static struct err *run_last(struct suite *suite, const size_t *order, size_t n,
			    enum outcome *ret)
{
	_cleanup_(suite_nodes_freep) struct suite_nodes nodes = {};
	_cleanup_(freep) enum outcome *all = NULL;
	for (size_t i = 0; i < n; i++)
		TRY(vec_push(&nodes,
			     (struct suite_node){ .parent = i ? i - 1
							      : SUITE_TREE_ROOT,
						  .test = order[i] }));
	TRY(run_nodes(suite, &nodes, &all));
	BUG_ON(!all);
	*ret = all[n - 1];
	return NULL;
}

/* Each test in the suite's own order. */
static struct err *run_own(struct suite *suite, enum outcome **ret, size_t *n)
{
	_cleanup_(suite_nodes_freep) struct suite_nodes nodes = {};
	_cleanup_(freep) enum outcome *all = NULL;
	enum outcome *by_test;
	for (size_t i = 0; i < suite_count(suite); i++) {
		const struct suite_node node = {
			.parent = nodes.n ? nodes.n - 1 : SUITE_TREE_ROOT,
			.test = i,
		};
		if (!suite_test(suite, i)->disabled)
			TRY(vec_push(&nodes, node));
	}
	TRY(run_nodes(suite, &nodes, &all));
	BUG_ON(!all);
	by_test = calloc(suite_count(suite) + 1, sizeof(*by_test));
	if (!by_test)
		return err_nomem();
	for (size_t i = 0; i < nodes.n; i++)
		by_test[nodes.data[i].test] = all[i];
	*ret = by_test;
	*n = suite_count(suite);
	return NULL;
}

/* Each test right after the last of an order. */
static struct err *run_after(struct suite *suite, const size_t *order, size_t n,
			     enum outcome **ret)
{
	_cleanup_(suite_nodes_freep) struct suite_nodes nodes = {};
	_cleanup_(freep) enum outcome *all = NULL;
	enum outcome *by_test;
	for (size_t i = 0; i < n; i++)
		TRY(vec_push(&nodes,
			     (struct suite_node){ .parent = i ? i - 1
							      : SUITE_TREE_ROOT,
						  .test = order[i] }));
	for (size_t i = 0;
	     i < suite_count(suite) && nodes.n < n + FOLLOWERS_MAX; i++) {
		if (!suite_test(suite, i)->disabled && i != order[n - 1])
			TRY(vec_push(&nodes,
				     (struct suite_node){ .parent = n - 1,
							  .test = i }));
	}
	TRY(run_nodes(suite, &nodes, &all));
	BUG_ON(!all);
	by_test = calloc(suite_count(suite) + 1, sizeof(*by_test));
	if (!by_test)
		return err_nomem();
	for (size_t i = n; i < nodes.n; i++)
		by_test[nodes.data[i].test] = all[i];
	*ret = by_test;
	return NULL;
}

/* The test after which it fails, or itself. */
static size_t prove_polluter(const struct repair_request *request)
{
	return request->failing
		.data[request->failing.n > 1 ? request->failing.n - 2 : 0];
}

struct err *search_note_before(struct suite *suite, struct repair_plan *plan)
{
	_cleanup_(freep) enum outcome *own = NULL, *after = NULL, *other = NULL;
	size_t n = 0;
	const struct repair_request *request = plan->request;
	const size_t polluter = prove_polluter(request);
	/* A brittle test leaves what it should only where it passes. */
	bool brittle = request->class == ORDER_BRITTLE;
	TRY(run_own(suite, &own, &n));
	TRY(run_after(suite, brittle ? request->passing.data : &request->test,
		      brittle ? request->passing.n : 1, &after));
	TRY(run_after(suite, &polluter, 1, &other));
	BUG_ON(!own || !after || !other);
	TRY(vec_append(&plan->own, own, n));
	TRY(vec_append(&plan->after, after, n));
	return vec_append(&plan->after_polluter, other, n);
}

/* ---- the proof ---- */

struct proof {
	struct repair_plan *plan;
	const struct repair_way *way;
	struct suite *suite;
	char *failed; /* what is not as it should be; NULL: nothing */
};

static struct err *expect_good(struct proof *proof, const size_t *order,
			       size_t n, const char *what)
{
	enum outcome outcome = OUTCOME_NONE;
	if (proof->failed)
		return NULL;
	TRY(run_last(proof->suite, order, n, &outcome));
	if (is_fine(outcome))
		return NULL;
	return str_format(&proof->failed, "built with it, the test %s %s",
			  words_verb(outcome), what);
}

static struct err *expect_same(struct proof *proof, const enum outcome *before,
			       const enum outcome *now, const char *what)
{
	for (size_t i = 0; i < proof->plan->own.n && !proof->failed; i++) {
		if (is_fine(before[i]) && !is_fine(now[i]) && now[i])
			return str_format(&proof->failed,
					  "built with it, %s %s %s",
					  suite_test(proof->suite, i)->name,
					  words_verb(now[i]), what);
	}
	return NULL;
}

/* Each of these lists of tests, and then the test. */
static struct err *prove_lists(struct proof *proof,
			       const struct order_lists *lists,
			       const char *what)
{
	const struct repair_request *request = proof->plan->request;
	for (size_t i = 0; i < MIN(lists->n, (size_t)LISTS_MAX); i++) {
		const struct order_tests *list = &lists->data[i];
		_cleanup_(order_tests_freep) struct order_tests order = {};
		TRY(vec_append(&order, list->data, list->n));
		TRY(vec_push(&order, request->test));
		TRY(expect_good(proof, order.data, order.n, what));
	}
	return NULL;
}

static struct err *add_before(const struct suite *suite, size_t test,
			      size_t before, struct suite_nodes *nodes)
{
	if (before == test || suite_test(suite, before)->disabled)
		return NULL;
	const size_t first = nodes->n;
	TRY(vec_push(nodes, (struct suite_node){ .parent = SUITE_TREE_ROOT,
						 .test = before }));
	return vec_push(nodes,
			(struct suite_node){ .parent = first, .test = test });
}

/*
 * Right after each other test, first those that leave something where its
 * polluters do: what one of them leaves may be another value than the one for
 * which the patch was found.
 */
static struct err *prove_after_each(struct proof *proof)
{
	const struct repair_request *request = proof->plan->request;
	const struct order_tests *leavers = &request->leavers;
	_cleanup_(suite_nodes_freep) struct suite_nodes nodes = {};
	_cleanup_(freep) enum outcome *all = NULL;
	if (proof->failed || request->leftover)
		return NULL;
	for (size_t i = 0; i < leavers->n; i++)
		TRY(add_before(proof->suite, request->test, leavers->data[i],
			       &nodes));
	for (size_t i = 0;
	     i < suite_count(proof->suite) && nodes.n < 2 * FOLLOWERS_MAX; i++)
		TRY(add_before(proof->suite, request->test, i, &nodes));
	if (!nodes.n)
		return NULL;
	TRY(run_nodes(proof->suite, &nodes, &all));
	BUG_ON(!all);
	for (size_t i = 1; i < nodes.n; i += 2) {
		const size_t before = nodes.data[i - 1].test;
		if (all[i] && !is_fine(all[i]))
			return str_format(
				&proof->failed,
				"built with it, the test %s right "
				"after %s",
				words_verb(all[i]),
				suite_test(proof->suite, before)->name);
	}
	return NULL;
}

static struct err *prove_orders(struct proof *proof)
{
	const struct repair_request *request = proof->plan->request;
	_cleanup_(freep) enum outcome *own = NULL, *after = NULL, *other = NULL;
	const size_t twice[] = { request->test, request->test };
	size_t n = 0;
	for (int i = 0; i < REPEATS; i++) {
		TRY(expect_good(proof, request->failing.data,
				request->failing.n, "in its failing order"));
		TRY(expect_good(proof, &request->test, 1, "alone"));
		TRY(expect_good(proof, request->passing.data,
				request->passing.n, "in its passing order"));
	}
	if (request->class == ORDER_NON_IDEMPOTENT)
		TRY(expect_good(proof, twice, 2, "the second time"));
	TRY(prove_lists(proof, &request->polluters,
			"after another of its polluters"));
	TRY(prove_lists(proof, &request->setters,
			"after another of its setters"));
	TRY(prove_after_each(proof));
	if (proof->failed)
		return NULL;
	TRY(run_own(proof->suite, &own, &n));
	BUG_ON(!own);
	TRY(expect_same(proof, proof->plan->own.data, own,
			"in the suite's own order"));
	if (!proof->failed && !request->leftover &&
	    !is_fine(own[request->test]))
		return str_format(&proof->failed,
				  "built with it, the test %s in the suite's "
				  "own order",
				  words_verb(own[request->test]));
	if (proof->failed)
		return NULL;
	TRY(run_after(proof->suite, &request->test, 1, &after));
	BUG_ON(!after);
	TRY(expect_same(proof, proof->plan->after.data, after,
			"right after it, and did not before"));
	if (proof->failed || !proof->way->after)
		return NULL;
	const size_t polluter = prove_polluter(request);
	TRY(run_after(proof->suite, &polluter, 1, &other));
	BUG_ON(!other);
	return expect_same(proof, proof->plan->after_polluter.data, other,
			   "right after the test that is changed, and did not "
			   "before");
}

static struct err *leftover_is_gone(void *data, const struct suite_bench *bench)
{
	struct proof *proof = data;
	const struct strv *names = &proof->plan->request->polluted;
	for (size_t i = 0; i < bench->n; i++) {
		for (size_t j = 0; j < names->n && !proof->failed; j++) {
			if (!strcmp(names->data[j], bench->roots[i].root))
				TRY(str_format(&proof->failed,
					       "built with it, '%s' is still "
					       "left changed",
					       names->data[j]));
		}
	}
	return NULL;
}

/* Tests are known by number: the patched suite must have the same. */
static struct err *prove_built(struct proof *proof,
			       const struct repair_settings *settings)
{
	const struct repair_request *request = proof->plan->request;
	TRY(settings->open(settings->data, &proof->suite));
	if (suite_count(proof->suite) != proof->plan->own.n)
		return str_format(&proof->failed,
				  "built with it, the suite has other tests");
	TRY(prove_orders(proof));
	/* What cleans up leaves nothing for the next test to find. */
	if (!proof->way->after || proof->way->partial ||
	    request->failing.n < 2 || proof->failed)
		return NULL;
	const struct suite_bench_options options = {
		.watch = settings->watch,
		.prefix = request->failing.data,
		.n = request->failing.n - 1,
		.test = request->test,
	};
	return suite_work_bench(proof->suite, &options, leftover_is_gone, proof,
				settings->observer, NULL);
}

static struct err *build_with(const struct repair_settings *settings,
			      struct str *said, bool *ret)
{
	char shell[] = "/bin/sh", option[] = "-c";
	_cleanup_(freep) char *command = strdup(settings->build);
	if (!command)
		return err_nomem();
	char *const argv[] = { shell, option, command, NULL };
	uint64_t began = clock_now(), limit = BUILD_LEAST;
	if (settings->deadline > began + limit)
		limit = settings->deadline - began;
	TRY(tool_call(argv, NULL, limit, said, ret));
	if (*ret || clock_now() < began + limit)
		return NULL;
	return str_appendf(said, "%sit does not end within %llu s",
			   said->n ? "; " : "",
			   (unsigned long long)(limit / NS_PER_S));
}

static struct err *prove_way(struct repair_plan *plan,
			     const struct repair_way *way,
			     const struct repair_settings *settings,
			     char **ret_failed)
{
	struct proof proof = { .plan = plan, .way = way };
	_cleanup_(str_freep) struct str said = STR_INIT;
	bool built = false;
	struct err *err = prove_write_file(way->path, way->content);
	if (err) {
		err = str_format(ret_failed, "%s", err_message(err));
		return err;
	}
	err = build_with(settings, &said, &built);
	if (!err && !built)
		err = str_format(&proof.failed, "'%s' failed: %.400s",
				 settings->build, said.n ? said.s : "");
	if (!err && built)
		err = prove_built(&proof, settings);
	suite_close(proof.suite);
	bool stays = settings->keep && !err && !proof.failed;
	struct err *undone =
		stays ? NULL : prove_write_file(way->path, way->original);
	if (!err)
		err = undone;
	else
		err_ignore(undone);
	/* The next finding is searched in what is built now. */
	if (!err && settings->keep && !stays)
		err = build_with(settings, &said, &built);
	if (err)
		free(proof.failed);
	else
		*ret_failed = proof.failed;
	return err;
}

/* It passes, but that may be luck: only what is as before is sound. */
static struct err *say_inexact(const struct repair_way *way, char **ret)
{
	return str_format(ret,
			  "built with it, the test passes in every order, but "
			  "%s is not as before",
			  way->rest ? way->rest : "what was polluted");
}

struct err *repair_prove(struct repair_plan *plan,
			 const struct repair_settings *settings)
{
	uint64_t began = clock_now();
	struct err *err = NULL;
	bool inexact = false;
	if (!plan->ways.n || !settings->build)
		return NULL;
	for (size_t i = 0; !err && i < plan->ways.n && !plan->proven; i++) {
		if (i && settings->deadline && clock_now() > settings->deadline)
			break;
		_cleanup_(freep) char *failed = NULL;
		err = prove_way(plan, &plan->ways.data[i], settings, &failed);
		if (err)
			break;
		log_debug(LOG_REPAIR, "way %zu: %s", i,
			  failed ? failed : "proven");
		bool exact = plan->ways.data[i].exact ||
			     plan->ways.data[i].partial ||
			     plan->request->class == ORDER_BRITTLE;
		if (!failed && exact) {
			plan->proven = true;
			plan->chosen = i;
			free(take_ptr(plan->unproven));
		} else if (!failed && !inexact) {
			/* Better than one that does not even pass. */
			inexact = true;
			plan->chosen = i;
			free(take_ptr(plan->unproven));
			err = say_inexact(&plan->ways.data[i], &plan->unproven);
		} else if (failed && !plan->unproven) {
			plan->unproven = take_ptr(failed);
		}
	}
	plan->prove_ns = clock_now() - began;
	return err;
}
