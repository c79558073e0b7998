#include "jvm/jvm_tree.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/macro.h"
#include "jvm/jvm_outside.h"
#include "jvm/jvm_run.h"
#include "keep/save.h"
#include "suite/tree.h"

/* ---- files ---- */

struct err *jvm_put_back(struct suite *suite)
{
	const struct jvm_suite *self = (const struct jvm_suite *)suite;
	return self->saver ? saver_put_back(self->saver) : NULL;
}

struct err *jvm_keep_files(struct suite *suite, const char *const *paths,
			   size_t n)
{
	struct jvm_suite *self = (struct jvm_suite *)suite;
	TRY(jvm_put_back(suite));
	if (n && !self->saver)
		return NULL; /* it was not opened for that */
	for (size_t i = 0; i < n; i++)
		TRY(saver_add(self->saver, paths[i]));
	self->shares_files = n > 0;
	return NULL;
}

const char *jvm_touched_file(const struct suite *suite, size_t i)
{
	const struct jvm_suite *self = (const struct jvm_suite *)suite;
	return self->saver ? saver_path(self->saver, i) : NULL;
}

const char *jvm_unrestored(const struct suite *suite, size_t i)
{
	const struct jvm_suite *self = (const struct jvm_suite *)suite;
	return self->saver ? saver_lost(self->saver, i) : NULL;
}

static unsigned jvm_jobs(const struct jvm_suite *suite, unsigned flags)
{
	return flags & SUITE_SERIAL || suite->shares_files || suite->outside
		       ? 1
		       : suite->suite.options.jobs;
}

/* Files as at the start before and afterwards, whatever happens. */
static struct err *jvm_run_kept(struct jvm_suite *suite,
				const struct jvm_chain *chains, size_t n,
				unsigned flags,
				const struct suite_observer *observer)
{
	TRY(jvm_put_back(&suite->suite));
	TRY(jvm_outside_begin_run(suite, observer));
	struct err *err = jvm_run_chains(suite, chains, n,
					 jvm_jobs(suite, flags), observer);
	struct err *failed = jvm_put_back(&suite->suite);
	if (!err)
		return failed;
	err_ignore(failed);
	return err;
}

struct err *jvm_run_restored(struct jvm_suite *suite, const size_t *order,
			     size_t n, unsigned flags,
			     const struct suite_observer *observer)
{
	bool alone = flags & SUITE_ALONE;
	size_t chains_n = alone ? n : 1;
	_cleanup_(freep) size_t *entries = calloc(n + 1, sizeof(*entries));
	_cleanup_(freep) struct jvm_chain *chains =
		calloc(chains_n + 1, sizeof(*chains));
	if (!entries || !chains)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		BUG_ON(order[i] >= suite->suite.tests.n);
		entries[i] = i;
	}
	for (size_t i = 0; i < chains_n; i++)
		chains[i] = (struct jvm_chain){
			.tests = order + i,
			.entries = entries + i,
			.n = alone ? 1 : n,
		};
	return jvm_run_kept(suite, chains, chains_n, flags, observer);
}

/* ---- trees ---- */

struct jvm_tree {
	struct suite_tree tree;
	struct jvm_chain *chains;
	size_t n;
	VEC(struct suite_path) paths;
	bool *told; /* by node */
};

static void jvm_tree_free(struct jvm_tree *tree)
{
	for (size_t i = 0; i < tree->paths.n; i++)
		suite_path_free(&tree->paths.data[i]);
	vec_free(&tree->paths);
	suite_tree_free(&tree->tree);
	free(tree->chains);
	free(tree->told);
}

/* The order that ends with @leaf. */
static struct err *jvm_tree_add(struct jvm_tree *tree, size_t leaf)
{
	struct suite_path path = {};
	size_t n = tree->tree.depths[leaf] + 1;
	path.nodes = calloc(n, sizeof(*path.nodes));
	path.tests = calloc(n, sizeof(*path.tests));
	struct err *err = path.nodes && path.tests
				  ? vec_push(&tree->paths, path)
				  : err_nomem();
	if (err) {
		suite_path_free(&path);
		return err;
	}
	suite_path_to(&tree->paths.data[tree->paths.n - 1], &tree->tree, leaf);
	return NULL;
}

static struct err *jvm_tree_split(struct jvm_tree *tree)
{
	for (size_t i = 0; i < tree->tree.n; i++) {
		if (!suite_tree_children(&tree->tree, i))
			TRY(jvm_tree_add(tree, i));
	}
	tree->n = tree->paths.n;
	tree->chains = calloc(tree->n + 1, sizeof(*tree->chains));
	if (!tree->chains)
		return err_nomem();
	for (size_t i = 0; i < tree->n; i++)
		tree->chains[i] = (struct jvm_chain){
			.tests = tree->paths.data[i].tests,
			.entries = tree->paths.data[i].nodes,
			.n = tree->paths.data[i].n,
			.told = tree->told,
			.ends_with_vm = true,
		};
	return NULL;
}

struct err *jvm_run_tree(struct suite *suite, const struct suite_node *nodes,
			 size_t n, unsigned flags,
			 const struct suite_observer *observer)
{
	_cleanup_(jvm_tree_free) struct jvm_tree tree = {
		.told = calloc(n + 1, sizeof(*tree.told)),
	};
	if (!tree.told)
		return err_nomem();
	TRY(suite_tree_create(nodes, n, &tree.tree));
	TRY(jvm_tree_split(&tree));
	log_debug(LOG_JVM, "%zu orders with %zu tests in a tree", tree.n, n);
	return jvm_run_kept((struct jvm_suite *)suite, tree.chains, tree.n,
			    flags, observer);
}
