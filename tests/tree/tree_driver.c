/*
 * Trees of orders against the same orders one by one: for tests/harness and
 * tests/robust.
 *
 * usage: tree_driver [OPTION…] PROGRAM [ARGUMENT…]
 *   --jobs N        side by side; default 1
 *   --seed N --trees N --nodes N
 *                   random trees: each path must go as suite_run() of that very
 *                   order does in a fresh process
 *   --avoid GLOB    tests left out; may be given again
 *   --ends GLOB     tests that take their process with them though they pass;
 *                   may be given again
 *   --timeout-ms N
 *   --tree TEXT     that tree alone, as "PARENT:TEST …"; PARENT is the number of
 *                   a node or "-"; prints a line a node in the order told:
 *                   "NODE OUTCOME", and then "executions N"
 *   --keep PATH     suite_keep_files(); may be given again
 *   --again N       so many times
 *   --bench         figures
 * Exit status: 0, or 1 with what went wrong on standard output, a line each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "framework/frameworks.h"
#include "suite/kind.h"
#include "suite/suite.h"

#define WORDS_MAX 64

struct options {
	struct suite_options suite;
	uint64_t seed, trees, nodes, again;
	const char *avoid[WORDS_MAX], *ends[WORDS_MAX];
	const char *keep[WORDS_MAX];
	size_t n_keep;
	const char *tree;
	bool bench;
};

struct told {
	enum outcome *outcomes;
	uint8_t *times;
	const struct suite_node *nodes;
	size_t n, count, wrong;
	bool print;
};

static uint64_t random_state;
static int exit_status;

static uint64_t next_random(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static void fail(struct err *err)
{
	if (!err)
		return;
	printf("error: %s\n", err_message(err));
	err_destroy(err);
	exit(1);
}

static const char *name_of(enum outcome outcome)
{
	return outcome == OUTCOME_NONE ? "none" : outcome_name(outcome);
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct told *told = data;
	size_t i = result->entry;
	if (i >= told->n || result->test != told->nodes[i].test) {
		printf("node %zu, test %zu: there is none\n", i, result->test);
		exit_status = 1;
		return;
	}
	size_t parent = told->nodes[i].parent;
	if (told->times[i]++ ||
	    (parent != SUITE_TREE_ROOT && !told->times[parent])) {
		printf("node %zu: told twice, or before its parent\n", i);
		exit_status = 1;
	}
	told->outcomes[i] = result->outcome;
	told->count++;
	if (told->print)
		printf("%zu %s\n", i, name_of(result->outcome));
}

static void run_tree(struct suite *suite, const struct suite_node *nodes,
		     size_t n, unsigned flags, struct told *told)
{
	*told = (struct told){
		.outcomes = calloc(n, sizeof(*told->outcomes)),
		.times = calloc(n, 1),
		.nodes = nodes,
		.n = n,
		.print = told->print,
	};
	const struct suite_observer observer = {
		.finished = on_finished,
		.data = told,
	};
	fail(suite_run_tree(suite, nodes, n, flags, &observer));
	if (told->count != n) {
		printf("%zu of %zu nodes were told\n", told->count, n);
		exit_status = 1;
	}
}

static void told_free(struct told *told)
{
	free(told->outcomes);
	free(told->times);
}

/* ---- one by one ---- */

struct path {
	enum outcome *outcomes;
	size_t n;
};

static void on_path_finished(void *data, const struct suite_result *result)
{
	struct path *path = data;
	path->outcomes[path->n++] = result->outcome;
}

static bool matches(const char *const *globs, const char *name)
{
	for (size_t i = 0; globs[i]; i++) {
		if (str_glob(globs[i], name))
			return true;
	}
	return false;
}

static bool ends(const struct suite *suite, size_t test,
		 const struct options *options)
{
	/* GLib's assertions abort, and that is a failure. */
	return !strcmp(suite_framework(suite), "glib") ||
	       matches(options->ends, suite_test(suite, test)->name);
}

static void check_path(struct suite *suite, const struct suite_node *nodes,
		       size_t leaf, size_t n, const struct told *told,
		       const struct options *options)
{
	size_t *order = calloc(n, sizeof(*order));
	size_t *at = calloc(n, sizeof(*at)), depth = 0;
	struct path path = { .outcomes = calloc(n, sizeof(enum outcome)) };
	for (size_t i = leaf; i != SUITE_TREE_ROOT; i = nodes[i].parent)
		depth++;
	size_t left = depth;
	for (size_t i = leaf; i != SUITE_TREE_ROOT; i = nodes[i].parent) {
		at[--left] = i;
		order[left] = nodes[i].test;
	}
	const struct suite_observer observer = {
		.finished = on_path_finished,
		.data = &path,
	};
	bool alone = depth == 1;
	fail(suite_run(suite, order, depth,
		       alone ? SUITE_ALONE | SUITE_SERIAL : SUITE_SERIAL,
		       &observer));
	for (size_t i = 0; i < depth; i++) {
		enum outcome is = told->outcomes[at[i]];
		if (is == OUTCOME_NONE && i &&
		    (path.outcomes[i - 1] == OUTCOME_CRASH ||
		     path.outcomes[i - 1] == OUTCOME_TIMEOUT ||
		     ends(suite, order[i - 1], options) ||
		     told->outcomes[at[i - 1]] == OUTCOME_NONE))
			break;
		if (is == path.outcomes[i])
			continue;
		exit_status = 1;
		printf("node %zu, %s: %s, and in order %s; after", at[i],
		       suite_test(suite, order[i])->name, name_of(is),
		       name_of(path.outcomes[i]));
		for (size_t j = 0; j < i; j++)
			printf(" %zu:%s(%s)", at[j],
			       suite_test(suite, order[j])->name,
			       name_of(path.outcomes[j]));
		printf("\n");
	}
	free(order);
	free(at);
	free(path.outcomes);
}

static void random_trees(struct suite *suite, const struct options *options)
{
	size_t n = options->nodes, n_tests = 0, all = suite_count(suite);
	size_t *tests = calloc(all, sizeof(*tests));
	struct suite_node *nodes = calloc(n, sizeof(*nodes));
	uint8_t *inner = calloc(n, 1);
	for (size_t i = 0; i < all; i++) {
		if (!matches(options->avoid, suite_test(suite, i)->name))
			tests[n_tests++] = i;
	}
	if (!n_tests)
		fail(err_create(ERR_USAGE, "no tests are left"));
	uint64_t runs = 0, begun = 0, none = 0;
	for (uint64_t tree = 0; tree < options->trees; tree++) {
		struct told told = {};
		memset(inner, 0, n);
		for (size_t i = 0; i < n; i++) {
			/* Wide, deep and in between. */
			size_t parent =
				next_random(tree % 3 == 1 && i > 3 ? 3 : i + 1);
			if (tree % 3 == 2 && i)
				parent =
					next_random(4) ? i : next_random(i + 1);
			nodes[i].parent = i && parent < i ? i - 1 - parent % i
							  : SUITE_TREE_ROOT;
			nodes[i].test = tests[next_random(n_tests)];
			if (nodes[i].parent != SUITE_TREE_ROOT)
				inner[nodes[i].parent] = 1;
		}
		uint64_t before = suite_executions(suite);
		run_tree(suite, nodes, n, 0, &told);
		begun += suite_executions(suite) - before;
		runs += n;
		for (size_t i = 0; i < n; i++) {
			none += told.outcomes[i] == OUTCOME_NONE;
			if (!inner[i])
				check_path(suite, nodes, i, n, &told, options);
		}
		told_free(&told);
	}
	printf("%s: %" PRIu64 " nodes, %" PRIu64 " did not run, %" PRIu64
	       " tests begun\n",
	       suite_framework(suite), runs, none, begun);
	free(tests);
	free(nodes);
	free(inner);
}

static void given_tree(struct suite *suite, const struct options *options)
{
	struct suite_node nodes[4096];
	size_t n = 0;
	for (const char *at = options->tree; *at && n < 4096; n++) {
		char *end;
		nodes[n].parent = SUITE_TREE_ROOT;
		if (*at == '-')
			end = (char *)at + 1;
		else
			nodes[n].parent = strtoul(at, &end, 10);
		if (*end != ':')
			fail(err_create(ERR_USAGE, "tree: '%s'", at));
		nodes[n].test = strtoul(end + 1, &end, 10);
		if (nodes[n].test >= suite_count(suite))
			fail(err_create(ERR_USAGE, "there is no such test"));
		at = end + strspn(end, " ");
	}
	for (uint64_t i = 0; i < options->again; i++) {
		struct told told = { .print = true };
		run_tree(suite, nodes, n, 0, &told);
		told_free(&told);
	}
	printf("executions %" PRIu64 "\n", suite_executions(suite));
}

/* ---- figures ---- */

static void bench_tree(struct suite *suite, const char *what,
		       const struct suite_node *nodes, size_t n)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 3; i++) {
		struct told told = {};
		uint64_t began = clock_now();
		run_tree(suite, nodes, n, 0, &told);
		uint64_t took = clock_now() - began;
		best = took < best ? took : best;
		told_free(&told);
	}
	printf("%s: %.1f us a node\n", what, (double)best / 1000 / (double)n);
}

static void bench(struct suite *suite, size_t n)
{
	struct suite_node *nodes = calloc(n, sizeof(*nodes));
	size_t *order = calloc(n, sizeof(*order)), all = suite_count(suite);
	const struct suite_observer nobody = {};
	uint64_t best = UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		order[i] = i % all;
	for (int i = 0; i < 3; i++) {
		uint64_t began = clock_now();
		fail(suite_run(suite, order, n, SUITE_SERIAL, &nobody));
		uint64_t took = clock_now() - began;
		best = took < best ? took : best;
	}
	printf("suite_run: %.1f us a test\n", (double)best / 1000 / (double)n);
	for (size_t i = 0; i < n; i++)
		nodes[i] = (struct suite_node){ i ? i - 1 : SUITE_TREE_ROOT,
						i % all };
	bench_tree(suite, "one path", nodes, n);
	for (size_t i = 0; i < n; i++)
		nodes[i] =
			(struct suite_node){ i ? 0 : SUITE_TREE_ROOT, i % all };
	bench_tree(suite, "one test, then each", nodes, n);
	for (size_t i = 0; i < n; i++)
		nodes[i] = (struct suite_node){ SUITE_TREE_ROOT, i % all };
	bench_tree(suite, "each alone", nodes, n);
	free(nodes);
	free(order);
}

static char **parse(char **argv, struct options *options)
{
	size_t avoid = 0, ends = 0;
	for (argv++; *argv && !strncmp(*argv, "--", 2); argv++) {
		const char *name = *argv + 2;
		if (!strcmp(name, "bench")) {
			options->bench = true;
			continue;
		}
		const char *value = *++argv;
		if (!value)
			fail(err_create(ERR_USAGE, "--%s: no value", name));
		else if (!strcmp(name, "jobs"))
			options->suite.jobs = (unsigned)atoi(value);
		else if (!strcmp(name, "seed"))
			options->seed = strtoull(value, NULL, 10);
		else if (!strcmp(name, "trees"))
			options->trees = strtoull(value, NULL, 10);
		else if (!strcmp(name, "nodes"))
			options->nodes = strtoull(value, NULL, 10);
		else if (!strcmp(name, "again"))
			options->again = strtoull(value, NULL, 10);
		else if (!strcmp(name, "timeout-ms"))
			options->suite.timeout_ns =
				strtoull(value, NULL, 10) * 1000000;
		else if (!strcmp(name, "avoid") && avoid + 1 < WORDS_MAX)
			options->avoid[avoid++] = value;
		else if (!strcmp(name, "keep") && options->n_keep < WORDS_MAX)
			options->keep[options->n_keep++] = value;
		else if (!strcmp(name, "ends") && ends + 1 < WORDS_MAX)
			options->ends[ends++] = value;
		else if (!strcmp(name, "tree"))
			options->tree = value;
		else
			fail(err_create(ERR_USAGE, "--%s", name));
	}
	return argv;
}

int main(int argc, char **argv)
{
	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	struct options options = {
		.suite = { .jobs = 1, .timeout_ns = UINT64_C(10000000000) },
		.seed = 1,
		.trees = 6,
		.nodes = 40,
		.again = 1,
	};
	char **rest = parse(argv, &options);
	if (!*rest)
		fail(err_create(ERR_USAGE, "which program?"));
	options.suite.kind = &executable_suite_kind;
	options.suite.argv = rest;
	random_state = options.seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	_cleanup_(suite_closep) struct suite *suite = NULL;
	fail(suite_open(&options.suite, &suite));
	if (options.n_keep)
		fail(suite_keep_files(suite, options.keep, options.n_keep));
	if (options.bench)
		bench(suite, options.nodes);
	else if (options.tree)
		given_tree(suite, &options);
	else
		random_trees(suite, &options);
	return exit_status;
}
