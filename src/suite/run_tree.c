/* Running a tree of orders, also in suites that cannot copy their processes. */
#include <stdlib.h>

#include "base/log.h"
#include "suite/kind.h"
#include "suite/tree.h"

struct path_run {
	struct suite_tree tree;
	struct suite_path path; /* the order that runs */
	const struct suite_observer *outer;
	size_t ended;	   /* entries of it */
	bool gone;	   /* one took its process with it */
	uint8_t *reported; /* by node */
};

static void path_run_free(struct path_run *run)
{
	suite_tree_free(&run->tree);
	suite_path_free(&run->path);
	free(run->reported);
}

static void path_started(void *data, size_t test)
{
	const struct path_run *run = data;
	if (run->outer->started && !run->reported[run->path.nodes[run->ended]])
		run->outer->started(run->outer->data, test);
}

static void path_finished(void *data, const struct suite_result *result)
{
	struct path_run *run = data;
	struct suite_result record = *result;
	record.entry = run->path.nodes[run->ended++];
	if (run->gone) /* in another process: not what was asked for */
		record = (struct suite_result){
			.test = result->test,
			.entry = record.entry,
		};
	if (!run->reported[record.entry] && run->outer->finished)
		run->outer->finished(run->outer->data, &record);
	run->reported[record.entry] = 1;
	run->gone |= record.outcome == OUTCOME_CRASH ||
		     record.outcome == OUTCOME_TIMEOUT;
}

static void path_limit(void *data, const char *text)
{
	const struct path_run *run = data;
	if (run->outer->limit)
		run->outer->limit(run->outer->data, text);
}

static struct err *tree_run_path(struct suite *suite, struct path_run *run,
				 size_t leaf)
{
	const struct suite_observer observer = {
		.started = path_started,
		.finished = path_finished,
		.limit = path_limit,
		.data = run,
	};
	suite_path_to(&run->path, &run->tree, leaf);
	run->ended = 0;
	run->gone = false;
	if (suite->ops->put_back)
		TRY(suite->ops->put_back(suite));
	return suite->ops->run(suite, run->path.tests, run->path.n,
			       SUITE_SERIAL, &observer);
}

static struct err *tree_run_paths(struct suite *suite,
				  const struct suite_node *nodes, size_t n,
				  const struct suite_observer *observer)
{
	_cleanup_(path_run_free) struct path_run run = { .outer = observer };
	run.reported = calloc(n, 1);
	if (!run.reported)
		return err_nomem();
	TRY(suite_tree_create(nodes, n, &run.tree));
	TRY(suite_path_create(&run.tree, &run.path));
	log_debug(LOG_SUITE,
		  "%zu nodes: each order from its beginning, because this "
		  "kind of suite cannot copy processes",
		  n);
	struct err *err = NULL;
	for (size_t i = 0; !err && i < n; i++) {
		if (!suite_tree_children(&run.tree, i))
			err = tree_run_path(suite, &run, i);
	}
	if (suite->ops->put_back) {
		struct err *failed = suite->ops->put_back(suite);
		if (err)
			err_ignore(failed);
		else
			err = failed;
	}
	return err;
}

struct err *suite_run_tree(struct suite *suite, const struct suite_node *nodes,
			   size_t n, unsigned flags,
			   const struct suite_observer *observer)
{
	for (size_t i = 0; i < n; i++)
		BUG_ON(nodes[i].test >= suite->tests.n ||
		       (nodes[i].parent != SUITE_TREE_ROOT &&
			nodes[i].parent >= i));
	if (!n)
		return NULL;
	if (suite->ops->run_tree)
		return suite->ops->run_tree(suite, nodes, n, flags, observer);
	return tree_run_paths(suite, nodes, n, observer);
}
