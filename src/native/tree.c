#include "native/tree.h"

#include <stdlib.h>
#include <string.h>

#include "keep/save.h"
#include "native/between.h"
#include "native/executable.h"
#include "native/framework.h"
#include "native/saving.h"
#include "native/verdict.h"
#include "restore/positions.h"
#include "suite/tree.h"
#include "tracee/output.h"

/* What is known of a node. */
enum {
	TOLD = 1 << 0,	    /* the observer was */
	GONE = 1 << 1,	    /* the process did not survive it */
	SEQUENCE = 1 << 2,  /* some order through it is the program's own */
	ELSEWISE = 1 << 3,  /* some is not */
	STATUS_OK = 1 << 4, /* an order that ends with it leaves with 0 */
	STATUS_BAD = 1 << 5,
};

struct order_tree_walk {
	struct session *session;
	struct suite_tree tree;
	const struct suite_observer *outer;
	uint8_t *flags;		/* by node */
	size_t *stack;		/* room for all nodes */
	struct suite_path path; /* the order that runs */
	size_t before;		/* so many of it ran in other processes */
	struct run *run;
	struct parting parting;
	/* An order that is run for its exit status alone, and what it was. */
	bool probing;
	enum outcome probed;
	struct suite_result held; /* waits for that; copies */
	bool holds;
};

/* ---- the tree ---- */

/* Which orders are parts of the program's own sequence? */
static void find_sequences(struct order_tree_walk *walk)
{
	const struct suite_node *nodes = walk->tree.nodes;
	uint8_t *flags = walk->flags;
	bool differ = walk->session->framework->flows;
	for (size_t i = 0; i < walk->tree.n; i++) {
		size_t parent = nodes[i].parent;
		bool sequence = !differ || parent == SUITE_TREE_ROOT ||
				(flags[parent] & SEQUENCE &&
				 nodes[i].test > nodes[parent].test);
		flags[i] |= sequence ? SEQUENCE : ELSEWISE;
	}
	/* A node belongs to the orders that end below it, not to itself. */
	for (size_t i = walk->tree.n; i-- > 0;) {
		unsigned kinds = SEQUENCE | ELSEWISE;
		if (walk->stack[i]) {
			flags[i] &= (uint8_t)~kinds;
			flags[i] |= (uint8_t)walk->stack[i];
		}
		if (nodes[i].parent != SUITE_TREE_ROOT)
			walk->stack[nodes[i].parent] |= flags[i] & kinds;
	}
}

/* ---- telling ---- */

static void tree_report_result(struct order_tree_walk *walk,
			       const struct suite_result *result)
{
	if (walk->flags[result->entry] & TOLD)
		return;
	walk->flags[result->entry] |= TOLD;
	if (walk->outer->finished)
		walk->outer->finished(walk->outer->data, result);
}

/* Those below @node did not run. */
static void tell_none(struct order_tree_walk *walk, size_t node)
{
	const struct suite_tree *tree = &walk->tree;
	size_t n = 0;
	walk->stack[n++] = node;
	while (n) {
		size_t at = walk->stack[--n];
		for (size_t i = 0; i < suite_tree_children(tree, at); i++) {
			size_t child = suite_tree_child(tree, at, i);
			walk->stack[n++] = child;
			tree_report_result(
				walk,
				&(struct suite_result){
					.test = walk->tree.nodes[child].test,
					.entry = child,
				});
		}
	}
}

static void tree_on_started(void *data, size_t test)
{
	const struct order_tree_walk *walk = data;
	size_t node = walk->path.nodes[walk->before + walk->run->next - 1];
	if (!walk->probing && !(walk->flags[node] & TOLD) &&
	    walk->outer->started)
		walk->outer->started(walk->outer->data, test);
}

static void hold_result(struct order_tree_walk *walk,
			const struct suite_result *result)
{
	suite_result_free(&walk->held);
	struct err *err = suite_result_copy(result, &walk->held);
	if (err) /* no memory: without its texts */
		walk->held = (struct suite_result){
			.test = result->test,
			.entry = result->entry,
			.outcome = result->outcome,
			.ns = result->ns,
		};
	err_ignore(err);
	walk->holds = true;
}

static void tree_on_finished(void *data, const struct suite_result *result)
{
	struct order_tree_walk *walk = data;
	const struct run *run = walk->run;
	if (walk->probing) {
		walk->probed = result->outcome;
		return;
	}
	struct suite_result record = *result;
	record.entry = walk->path.nodes[walk->before + run->next - 1];
	/* Judged by an exit status that may be an earlier test's doing. */
	if (run->deferred && run->exit_status && run->next > 1 && run->blind &&
	    record.outcome == OUTCOME_FAIL)
		hold_result(walk, &record);
	else
		tree_report_result(walk, &record);
}

static void tree_on_limit(void *data, const char *text)
{
	const struct order_tree_walk *walk = data;
	if (walk->outer->limit)
		walk->outer->limit(walk->outer->data, text);
}

/* ---- running ---- */

/* A process at the root, with files restored. */
static struct err *begin_process(struct order_tree_walk *walk, struct run **ret)
{
	TRY(saving_put_back(walk->session));
	return session_process(walk->session, ret);
}

/* Lets @run go on up to the @end of the order that is laid out. */
static struct err *run_to(struct order_tree_walk *walk, struct run *run,
			  size_t end, bool parts, enum run_state *ret)
{
	bool status_counts = run->framework->exit_status_counts;
	walk->run = run;
	walk->parting.asked = false;
	walk->parting.more = walk->tree.heights[walk->path.nodes[end - 1]] - 1;
	run->order = walk->path.tests + walk->before;
	run->n = end - walk->before;
	run->parting = parts ? &walk->parting : NULL;
	run->stop_after = !parts && !status_counts;
	run->defer = !parts && status_counts;
	if (!run->resume.call) {
		TRY(run->framework->start(run, run->ready_thread));
		if (parts && walk->parting.asked) {
			*ret = RUN_PARTED;
			return NULL;
		}
	}
	TRY(run_loop(run, ret));
	if (*ret == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	if (*ret != RUN_PARTED && !run->next)
		return executable_ended_early(walk->session, run_end_text(run));
	return NULL;
}

/* The order up to @node in a process of its own, of which nothing is told. */
static struct err *probe_path(struct order_tree_walk *walk, size_t node,
			      struct run **ret, enum run_state *ret_state)
{
	_cleanup_(run_destroyp) struct run *run = NULL;
	suite_path_to(&walk->path, &walk->tree, node);
	TRY(begin_process(walk, &run));
	walk->probing = true;
	walk->probed = OUTCOME_NONE;
	struct err *err = run_to(walk, run, walk->path.n, false, ret_state);
	walk->probing = false;
	TRY(err);
	output_restart(walk->session->output);
	*ret = take_ptr(run);
	return NULL;
}

/* Does the program leave with a good status after the tests before @node? */
static struct err *probe_parent(struct order_tree_walk *walk, size_t node,
				bool *ret)
{
	size_t parent = walk->tree.nodes[node].parent;
	if (!(walk->flags[parent] & (STATUS_OK | STATUS_BAD))) {
		_cleanup_(run_destroyp) struct run *run = NULL;
		enum run_state state;
		TRY(probe_path(walk, parent, &run, &state));
		bool good = run->next == walk->path.n && state == RUN_GONE &&
			    !run->killed_by && !run->exit_status;
		walk->flags[parent] |= good ? STATUS_OK : STATUS_BAD;
	}
	*ret = walk->flags[parent] & STATUS_OK;
	return NULL;
}

/*
 * The program left with a status that counts against its last test. Does it, too,
 * without that test? Then it says nothing about it. Tests may end by chance, so
 * another process answers that only where one cannot be asked before each of
 * its tests ends (verdict_foresee()).
 */
static struct err *judge_held(struct order_tree_walk *walk)
{
	_cleanup_(run_destroyp) struct run *run = NULL;
	enum run_state state;
	bool fails = false;
	if (!walk->holds)
		return NULL;
	walk->holds = false;
	size_t node = walk->held.entry;
	verdict_surprised(walk->session);
	if (!walk->session->tests_forked)
		TRY(probe_path(walk, node, &run, &state));
	if (run && !run->blind)
		fails = run->next == walk->path.n &&
			walk->probed == OUTCOME_FAIL;
	else
		TRY(probe_parent(walk, node, &fails));
	if (!fails) {
		walk->held.outcome = OUTCOME_PASS;
		free(take_ptr(walk->held.message));
		free(take_ptr(walk->held.file));
		walk->held.line = 0;
	}
	tree_report_result(walk, &walk->held);
	suite_result_free(&walk->held);
	walk->held = (struct suite_result){};
	return NULL;
}

/* The process of the order is over: with its last test, or with an earlier one. */
static struct err *end_process(struct order_tree_walk *walk, struct run *run,
			       size_t end)
{
	size_t done = walk->before + run->next;
	size_t last = walk->path.nodes[done - 1];
	run_destroy(run);
	walk->run = NULL;
	walk->before = 0;
	output_restart(walk->session->output);
	if (done < end || suite_tree_children(&walk->tree, last)) {
		walk->flags[last] |= GONE;
		tell_none(walk, last);
	}
	return judge_held(walk);
}

static struct err *run_path(struct order_tree_walk *walk, size_t leaf)
{
	suite_path_to(&walk->path, &walk->tree, leaf);
	size_t n = walk->path.n;
	for (size_t i = 0; i + 1 < n; i++) {
		if (walk->flags[walk->path.nodes[i]] & GONE)
			return NULL; /* those below were reported */
	}
	_cleanup_(run_destroyp) struct run *run = NULL;
	enum run_state state;
	TRY(begin_process(walk, &run));
	TRY(run_to(walk, run, n, false, &state));
	/* Tests in children: all that goes on are files, which stay. */
	while (state == RUN_STOPPED && walk->session->tests_forked &&
	       walk->before + run->next < n) {
		walk->before += run->next;
		run_destroy(take_ptr(run));
		TRY(session_process(walk->session, &run));
		TRY(run_to(walk, run, n, false, &state));
	}
	return end_process(walk, take_ptr(run), n);
}

/* Each order through @node from its beginning. */
static struct err *run_paths(struct order_tree_walk *walk, size_t node)
{
	const struct suite_tree *tree = &walk->tree;
	_cleanup_(freep) size_t *stack =
		malloc((tree->sizes[node] + 1) * sizeof(*stack));
	if (!stack)
		return err_nomem();
	size_t n = 0;
	stack[n++] = node;
	while (n) {
		size_t at = stack[--n];
		if (!suite_tree_children(tree, at))
			TRY(run_path(walk, at));
		for (size_t i = suite_tree_children(tree, at); i-- > 0;)
			stack[n++] = suite_tree_child(tree, at, i);
	}
	return NULL;
}

/* A process that several orders go on from, and what comes with it. */
struct branch {
	struct run *run;
	struct positions *positions;
	struct saved *files;
	size_t node;
};

static void branch_free(struct branch *branch)
{
	run_destroy(branch->run);
	positions_destroy(branch->positions);
	saved_destroy(branch->files);
	*branch = (struct branch){};
}

static struct err *tree_put_back(struct order_tree_walk *walk,
				 const struct branch *branch, struct run *run)
{
	/* The test before is reported only now, with its output, or was. */
	if (walk->flags[branch->node] & TOLD)
		output_restart(walk->session->output);
	TRY(saving_put_back_to(walk->session, branch->files));
	return positions_put_back(branch->positions,
				  tracee_thread(run->tracee, 0));
}

static struct err *tree_run_from_node(struct order_tree_walk *walk,
				      struct run *run, size_t node,
				      size_t depth);

/* All children of the branch's node but the last, a copy each. */
static struct err *go_each(struct order_tree_walk *walk, struct branch *branch,
			   size_t depth)
{
	size_t node = branch->node;
	size_t n = suite_tree_children(&walk->tree, node);
	for (size_t i = 0; i + 1 < n; i++) {
		struct run *run = branch->run, *copy = NULL;
		if (walk->flags[node] & GONE)
			return NULL;
		TRY(run_copy(run, tracee_thread(run->tracee, 0), &copy));
		struct err *err = tree_put_back(walk, branch, copy);
		if (err) {
			run_destroy(copy);
			return err;
		}
		TRY(tree_run_from_node(walk, copy,
				       suite_tree_child(&walk->tree, node, i),
				       depth));
	}
	return NULL;
}

/*
 * Continues with @run, which it takes, from @node at @depth of the order.
 * Recursion ends soon: what is below all but the last child is at most half.
 */
static struct err *tree_run_from_node(struct order_tree_walk *walk,
				      struct run *run, size_t node,
				      size_t depth)
{
	_cleanup_(run_destroyp) struct run *owned = run;
	for (;;) {
		enum run_state state;
		walk->path.n = depth;
		suite_path_add(&walk->path, &walk->tree, node);
		depth = walk->path.n;
		node = walk->path.nodes[depth - 1];
		TRY(run_to(walk, owned, depth,
			   suite_tree_children(&walk->tree, node), &state));
		if (state != RUN_PARTED)
			return end_process(walk, take_ptr(owned), depth);

		_cleanup_(branch_free) struct branch branch = { .node = node };
		branch.run = take_ptr(owned->checkpoint);
		run_destroy(take_ptr(owned));
		if (!branch.run)
			return run_paths(walk, node);
		TRY(positions_take(branch.run->tracee, &branch.positions));
		TRY(saving_take(walk->session, &branch.files));
		TRY(go_each(walk, &branch, depth));
		if (walk->flags[node] & GONE) {
			tell_none(walk, node);
			return NULL;
		}
		TRY(tree_put_back(walk, &branch, branch.run));
		owned = take_ptr(branch.run);
		node = suite_tree_child(&walk->tree, node,
					suite_tree_children(&walk->tree, node) -
						1);
	}
}

static struct err *tree_run_all(struct order_tree_walk *walk, unsigned flags)
{
	walk->parting.sequence = flags & SEQUENCE;
	struct suite_tree *tree = &walk->tree;
	suite_tree_select(tree, walk->flags, flags);
	for (size_t i = 0; i < suite_tree_children(tree, tree->n); i++) {
		size_t node = suite_tree_child(tree, tree->n, i);
		struct run *run = NULL;
		if (walk->flags[node] & GONE) {
			tell_none(walk, node);
			continue;
		}
		if (!walk->session->framework->branches ||
		    walk->session->tests_forked) {
			TRY(run_paths(walk, node));
			continue;
		}
		TRY(begin_process(walk, &run));
		TRY(tree_run_from_node(walk, run, node, 0));
	}
	return NULL;
}

static struct err *tree_find_between(struct order_tree_walk *walk)
{
	for (size_t i = 0; i < walk->tree.n; i++)
		walk->stack[i] = walk->tree.nodes[i].test;
	return between_find(walk->session, walk->stack, walk->tree.n);
}

static struct err *run_walk(struct order_tree_walk *walk)
{
	uint8_t all = 0;
	find_sequences(walk);
	for (size_t i = 0; i < walk->tree.n; i++)
		all |= walk->flags[i];
	if (all & ELSEWISE)
		TRY(tree_find_between(walk));
	if (all & SEQUENCE)
		TRY(tree_run_all(walk, SEQUENCE));
	return all & ELSEWISE ? tree_run_all(walk, ELSEWISE) : NULL;
}

static void walk_free(struct order_tree_walk *walk)
{
	free(walk->flags);
	free(walk->stack);
	suite_tree_free(&walk->tree);
	suite_path_free(&walk->path);
	suite_result_free(&walk->held);
}

struct err *tree_run(struct session *session, const struct suite_node *nodes,
		     size_t n, const struct suite_observer *observer)
{
	_cleanup_(walk_free) struct order_tree_walk walk = {
		.session = session,
		.outer = observer,
		.flags = calloc(n, sizeof(*walk.flags)),
		.stack = calloc(n + 1, sizeof(*walk.stack)),
	};
	if (!walk.flags || !walk.stack)
		return err_nomem();
	TRY(suite_tree_create(nodes, n, &walk.tree));
	TRY(suite_path_create(&walk.tree, &walk.path));
	const struct suite_observer inner = {
		.started = tree_on_started,
		.finished = tree_on_finished,
		.limit = tree_on_limit,
		.data = &walk,
	};
	session->observer = &inner;
	struct err *err = run_walk(&walk);
	session->observer = NULL;
	return err;
}
