#include "process/process_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "keep/keep.h"
#include "keep/save.h"
#include "process/process_ipc.h"
#include "process/process_run.h"
#include "process/process_watch.h"
#include "suite/tree.h"

/* ---- what is kept ---- */

struct err *process_keep_files(struct suite *suite, const char *const *paths,
			       size_t n)
{
	struct process_suite *self = (struct process_suite *)suite;
	if (n && !self->saver)
		TRY(saver_create(&self->saver));
	TRY(process_put_back(suite));
	for (size_t i = 0; i < n; i++)
		TRY(saver_add(self->saver, paths[i]));
	return NULL;
}

struct err *process_put_back(struct suite *suite)
{
	const struct process_suite *self = (struct process_suite *)suite;
	return self->saver ? saver_put_back(self->saver) : NULL;
}

/* Files as at the start, and nothing of tests in the system, whatever happened. */
static struct err *process_keep_finish(struct process_suite *suite,
				       struct ipc_span *span, struct err *err)
{
	ipc_span_end(span);
	struct err *failed = process_put_back(&suite->suite);
	if (!err)
		return failed;
	err_ignore(failed);
	return err;
}

struct err *process_run_restored(struct process_suite *suite,
				 const size_t *order, size_t n, unsigned flags,
				 const struct suite_observer *observer,
				 const struct process_watching *watching)
{
	if (!suite->saver)
		return process_run(suite, order, n, flags, observer, watching);
	_cleanup_(ipc_span_free) struct ipc_span span = IPC_SPAN_INIT;
	TRY(process_put_back(&suite->suite));
	TRY(ipc_span_begin(&span));
	struct err *err =
		process_run(suite, order, n, flags, observer, watching);
	return process_keep_finish(suite, &span, err);
}

/* ---- what tests leave ---- */

/* Is all that changed in files? They are kept, each before it is changed. */
static bool changes_are_kept(const struct change *changes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (changes[i].where == CHANGE_FILE)
			continue;
		log_debug(LOG_PROCESS, "changed, but no file: %s",
			  changes[i].root);
		return false;
	}
	return true;
}

/* ---- trees ---- */

/* Where orders part. */
struct process_parting {
	size_t node;	     /* the root: before the first test */
	size_t child;	     /* the next of its children to go on with */
	struct saved *files; /* as they were left; NULL: to be run again */
};

struct process_tree {
	struct process_suite *suite;
	struct suite_tree tree;
	const struct suite_observer *outer;
	bool *told;   /* by node */
	bool follows; /* what tests leave can be seen */

	VEC(struct process_parting) partings;
	/* The order that runs; what came before @begin is there already. */
	struct suite_path path;
	size_t begin;
	size_t ended;	  /* after it */
	bool leaves_more; /* than kept files */
	struct ipc_span span;
};

static void process_tree_free(struct process_tree *tree)
{
	for (size_t i = 0; i < tree->partings.n; i++)
		saved_destroy(tree->partings.data[i].files);
	vec_free(&tree->partings);
	suite_tree_free(&tree->tree);
	suite_path_free(&tree->path);
	free(tree->told);
	ipc_span_free(&tree->span);
}

static void process_tree_started(void *data, size_t test)
{
	const struct process_tree *tree = data;
	if (tree->outer->started &&
	    !tree->told[tree->path.nodes[tree->begin + tree->ended]])
		tree->outer->started(tree->outer->data, test);
}

static void process_tree_finished(void *data, const struct suite_result *result)
{
	struct process_tree *tree = data;
	BUG_ON(result->entry >= tree->path.n - tree->begin);
	tree->ended = result->entry + 1;
	struct suite_result record = *result;
	record.entry = tree->path.nodes[tree->begin + result->entry];
	if (tree->told[record.entry])
		return;
	tree->told[record.entry] = true;
	if (tree->outer->finished)
		tree->outer->finished(tree->outer->data, &record);
}

/* What was not seen may be anything. */
static void process_tree_limit(void *data, const char *text _unused_)
{
	struct process_tree *tree = data;
	tree->leaves_more = true;
}

static void process_tree_changed(void *data, size_t entry _unused_,
				 size_t test _unused_,
				 const struct change *changes, size_t n)
{
	struct process_tree *tree = data;
	tree->leaves_more |= !changes_are_kept(changes, n);
}

/*
 * A fixture's processes stay until the end of the run, and what it changes does
 * not count as a change.
 */
static bool process_tree_has_fixture(const struct process_tree *tree)
{
	for (size_t i = tree->begin; i < tree->path.n; i++) {
		const struct process_test *test =
			&tree->suite->tests.data[tree->path.tests[i]];
		if (test->provides || test->cleans)
			return true;
	}
	return false;
}

static struct err *process_tree_run_order(struct process_tree *tree,
					  bool watched)
{
	const struct suite_observer observer = {
		.started = process_tree_started,
		.finished = process_tree_finished,
		.changed = process_tree_changed,
		.limit = process_tree_limit,
		.data = tree,
	};
	static const char *const none[] = { NULL };
	const struct suite_watch watch = {
		.what = SUITE_FILES | SUITE_PROCESS,
		.from = SUITE_BEFORE_SETUP,
		.to = SUITE_AFTER_TEARDOWN,
		.dirs = none,
		.own_files = none,
		.file_method = "follow",
		.paths = 8,
	};
	const struct process_watching watching = { .watch = &watch };
	tree->ended = 0;
	tree->leaves_more = false;
	return process_run(tree->suite, tree->path.tests + tree->begin,
			   tree->path.n - tree->begin, SUITE_SERIAL, &observer,
			   watched ? &watching : NULL);
}

/* Runs the order that goes on at @child, up to where orders part again. */
static struct err *process_tree_run_child(struct process_tree *tree,
					  size_t child)
{
	const struct process_parting *from =
		&tree->partings.data[tree->partings.n - 1];
	while (!from->files)
		from--; /* the first has all */
	const struct suite_tree *links = &tree->tree;
	suite_path_to(&tree->path, links, child);
	tree->path.n--;
	suite_path_add(&tree->path, links, child);
	tree->begin =
		from->node == links->n ? 0 : links->depths[from->node] + 1;
	size_t last = tree->path.nodes[tree->path.n - 1];
	bool parts = suite_tree_children(links, last) > 1;
	bool watched =
		parts && tree->follows && !process_tree_has_fixture(tree);
	ipc_span_end(&tree->span);
	TRY(saver_put_back_to(tree->suite->saver, from->files));
	TRY(process_tree_run_order(tree, watched));
	if (!parts)
		return NULL;
	_cleanup_(saved_destroyp) struct saved *files = NULL;
	if (watched && !tree->leaves_more)
		TRY(saver_take(tree->suite->saver, &files));
	if (files && !kept_whole(saved_kept(files))) {
		saved_destroy(files);
		files = NULL;
	}
	if (!files)
		log_debug(LOG_PROCESS,
			  "orders that part after %zu tests run again from "
			  "their beginning: %s",
			  tree->path.n,
			  !tree->follows ? "system calls cannot be followed"
			  : !watched	 ? "a fixture is among the tests"
			  : tree->leaves_more
				  ? "more than kept files was changed"
				  : "not all files could be kept");
	TRY(vec_push(&tree->partings, (struct process_parting){
					      .node = last,
					      .files = files,
				      }));
	files = NULL;
	return NULL;
}

static struct err *process_tree_run_all(struct process_tree *tree)
{
	const struct suite_tree *links = &tree->tree;
	TRY(ipc_span_begin(&tree->span));
	struct process_parting start = { .node = links->n };
	TRY(saver_take(tree->suite->saver, &start.files));
	struct err *err = vec_push(&tree->partings, start);
	if (err) {
		saved_destroy(start.files);
		return err;
	}
	while (tree->partings.n) {
		struct process_parting *top =
			&tree->partings.data[tree->partings.n - 1];
		if (top->child == suite_tree_children(links, top->node)) {
			saved_destroy(top->files);
			tree->partings.n--;
			continue;
		}
		TRY(process_tree_run_child(
			tree,
			suite_tree_child(links, top->node, top->child++)));
	}
	return NULL;
}

static bool process_suite_can_follow(struct process_suite *suite)
{
	if (!suite->follows_known) {
		struct err *err = process_try_follow();
		suite->follows = !err;
		suite->follows_known = true;
		err_ignore(err);
	}
	return suite->follows;
}

struct err *process_run_tree(struct suite *suite,
			     const struct suite_node *nodes, size_t n,
			     unsigned flags _unused_,
			     const struct suite_observer *observer)
{
	struct process_suite *self = (struct process_suite *)suite;
	if (!self->saver)
		TRY(saver_create(&self->saver));
	_cleanup_(process_tree_free) struct process_tree tree = {
		.suite = self,
		.outer = observer,
		.told = calloc(n + 1, sizeof(*tree.told)),
		.follows = process_suite_can_follow(self),
	};
	if (!tree.told)
		return err_nomem();
	TRY(suite_tree_create(nodes, n, &tree.tree));
	TRY(suite_path_create(&tree.tree, &tree.path));
	TRY(process_put_back(suite));
	struct err *err = process_tree_run_all(&tree);
	return process_keep_finish(self, &tree.span, err);
}

/* ---- roots ---- */

struct root_tries {
	struct process_suite *suite;
	struct saved *after; /* the prefix */
	struct changes changes;
	VEC(size_t) paths; /* by root: which one of those kept */
	bool *chosen;	   /* by path */
	size_t test;
	enum outcome outcome;
	struct ipc_span span, own; /* of all; of one try */
};

static void root_tries_free(struct root_tries *roots)
{
	saved_destroy(roots->after);
	changes_freep_deep(&roots->changes);
	vec_free(&roots->paths);
	free(roots->chosen);
	ipc_span_free(&roots->span);
	ipc_span_free(&roots->own);
}

static void root_try_finished(void *data, const struct suite_result *result)
{
	struct root_tries *roots = data;
	roots->outcome = result->outcome;
}

static struct err *root_tries_run(void *context, const bool *put_back,
				  enum outcome *ret)
{
	struct root_tries *roots = context;
	struct saver *saver = roots->suite->saver;
	const struct suite_observer observer = {
		.finished = root_try_finished,
		.data = roots,
	};
	size_t chosen = 0;
	memset(roots->chosen, 0, saved_count(roots->after));
	for (size_t i = 0; i < roots->paths.n; i++) {
		roots->chosen[roots->paths.data[i]] = put_back && put_back[i];
		chosen += put_back && put_back[i];
	}
	ipc_span_end(&roots->own);
	/* All of them: what does not count as a root is as at the start, too. */
	if (chosen == roots->paths.n) {
		TRY(saver_put_back(saver));
	} else {
		TRY(saver_put_back_to(saver, roots->after));
		TRY(saver_put_back_some(saver, roots->after, roots->chosen));
	}
	roots->outcome = OUTCOME_NONE;
	TRY(process_run(roots->suite, &roots->test, 1, SUITE_SERIAL, &observer,
			NULL));
	*ret = roots->outcome;
	return NULL;
}

static struct err *root_tries_add(struct root_tries *roots, size_t path)
{
	const struct saver *saver = roots->suite->saver;
	struct change change = {
		.where = CHANGE_FILE,
		.root = keeper_root(saver_keeper(saver), path),
		.weight = WEIGHT_MEDIUM,
		.paths = calloc(1, sizeof(*change.paths)),
		.n = 1,
	};
	if (!change.root || !change.paths) {
		free(change.root);
		free(change.paths);
		return err_nomem();
	}
	struct change_path *text = &change.paths[0];
	text->path = strdup(change.root);
	text->before = kept_text(saver_first(saver), path);
	text->after = kept_text(saved_kept(roots->after), path);
	struct err *err = text->path && text->before && text->after
				  ? vec_push(&roots->paths, path)
				  : err_nomem();
	if (!err)
		err = vec_push(&roots->changes, change);
	if (err)
		change_free(&change);
	return err;
}

static struct err *root_tries_find(struct root_tries *roots,
				   const size_t *prefix, size_t n)
{
	static const struct suite_observer nobody = {};
	struct saver *saver = roots->suite->saver;
	TRY(ipc_span_begin(&roots->span));
	TRY(saver_put_back(saver));
	TRY(process_run(roots->suite, prefix, n, SUITE_SERIAL, &nobody, NULL));
	TRY(ipc_span_begin(&roots->own));
	TRY(saver_take(saver, &roots->after));
	_cleanup_(freep) size_t *changed = NULL;
	size_t count = 0;
	TRY(saved_changed(saver, roots->after, &changed, &count));
	roots->chosen =
		calloc(saved_count(roots->after) + 1, sizeof(*roots->chosen));
	if (!roots->chosen)
		return err_nomem();
	for (size_t i = 0; i < count; i++)
		TRY(root_tries_add(roots, changed[i]));
	return NULL;
}

struct err *process_try_roots(struct suite *suite,
			      const struct suite_watch *watch _unused_,
			      const size_t *prefix, size_t n, size_t test,
			      suite_judge *judge, void *data,
			      const struct suite_observer *observer _unused_)
{
	struct process_suite *self = (struct process_suite *)suite;
	if (!self->saver)
		return NULL;
	_cleanup_(root_tries_free) struct root_tries roots = {
		.suite = self,
		.test = test,
	};
	struct err *err = root_tries_find(&roots, prefix, n);
	if (!err && roots.changes.n)
		err = judge(data, roots.changes.data, roots.changes.n,
			    root_tries_run, &roots);
	return process_keep_finish(self, &roots.span, err);
}
