/* Trees of orders for kinds of suites that cannot copy their processes. */
#include <stdlib.h>

#include "suite/kind.h"

struct walk {
	const struct suite_node *nodes;
	const struct suite_observer *outer;
	const size_t *path; /* nodes of the order that runs */
	size_t at;	    /* entries of it that ended */
	bool gone;	    /* one took its process with it */
	uint8_t *told;	    /* by node */
};

static void tell(struct walk *walk, const struct suite_result *result)
{
	if (walk->told[result->entry])
		return;
	walk->told[result->entry] = 1;
	if (walk->outer->finished)
		walk->outer->finished(walk->outer->data, result);
}

static void on_started(void *data, size_t test)
{
	const struct walk *walk = data;
	if (walk->outer->started && !walk->told[walk->path[walk->at]])
		walk->outer->started(walk->outer->data, test);
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct walk *walk = data;
	struct suite_result record = *result;
	record.entry = walk->path[walk->at++];
	if (walk->gone) /* in another process: not what was asked for */
		record = (struct suite_result){
			.test = result->test,
			.entry = record.entry,
		};
	tell(walk, &record);
	walk->gone |= record.outcome == OUTCOME_CRASH ||
		      record.outcome == OUTCOME_TIMEOUT;
}

static void on_limit(void *data, const char *text)
{
	const struct walk *walk = data;
	if (walk->outer->limit)
		walk->outer->limit(walk->outer->data, text);
}

static struct err *run_path(struct suite *suite, struct walk *walk, size_t leaf,
			    size_t *path, size_t *order)
{
	const struct suite_observer observer = {
		.started = on_started,
		.finished = on_finished,
		.limit = on_limit,
		.data = walk,
	};
	size_t n = 0;
	for (size_t at = leaf; at != SUITE_TREE_ROOT;
	     at = walk->nodes[at].parent)
		n++;
	size_t i = n;
	for (size_t at = leaf; at != SUITE_TREE_ROOT;
	     at = walk->nodes[at].parent) {
		path[--i] = at;
		order[i] = walk->nodes[at].test;
	}
	walk->path = path;
	walk->at = 0;
	walk->gone = false;
	if (suite->ops->put_back)
		TRY(suite->ops->put_back(suite));
	return suite->ops->run(suite, order, n, SUITE_SERIAL, &observer);
}

static struct err *run_paths(struct suite *suite,
			     const struct suite_node *nodes, size_t n,
			     const struct suite_observer *observer)
{
	_cleanup_(freep) uint8_t *told = calloc(n, 1);
	_cleanup_(freep) uint8_t *inner = calloc(n, 1);
	_cleanup_(freep) size_t *path = calloc(n, sizeof(*path));
	_cleanup_(freep) size_t *order = calloc(n, sizeof(*order));
	if (!told || !inner || !path || !order)
		return err_nomem();
	struct walk walk = { .nodes = nodes, .outer = observer, .told = told };
	for (size_t i = 0; i < n; i++) {
		if (nodes[i].parent != SUITE_TREE_ROOT)
			inner[nodes[i].parent] = 1;
	}
	struct err *err = NULL;
	for (size_t i = 0; !err && i < n; i++) {
		if (!inner[i])
			err = run_path(suite, &walk, i, path, order);
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
	return run_paths(suite, nodes, n, observer);
}
