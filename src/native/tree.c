#include "native/tree.h"

#include <stdlib.h>
#include <string.h>

#include "keep/keep.h"
#include "native/executable.h"
#include "native/framework.h"
#include "restore/positions.h"
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

struct walk {
	struct session *session;
	const struct suite_node *nodes;
	size_t n;
	const struct suite_observer *outer;
	uint8_t *flags; /* by node */
	/* Node i has children[first[i]] to [first[i + 1]]; n is the root. */
	size_t *first, *children;
	size_t *sizes;	 /* nodes below, with itself */
	size_t *heights; /* of the longest order that begins with it */
	size_t *stack;	 /* room for all nodes */
	/* The order that runs, and its nodes. */
	size_t *tests, *at;
	struct run *run;
	struct parting parting;
	/* An order that is run for its exit status alone, and what it was. */
	bool probing;
	enum outcome probed;
	struct suite_result held; /* waits for that; copies */
	bool holds;
};

static size_t count_children(const struct walk *walk, size_t node)
{
	return walk->first[node + 1] - walk->first[node];
}

/* ---- the tree ---- */

static int compare_sizes(const void *a, const void *b, void *data)
{
	const struct walk *walk = data;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	if (walk->sizes[x] != walk->sizes[y])
		return walk->sizes[x] < walk->sizes[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The tree of those nodes that have one of the @flags; the largest come last. */
static void link_nodes(struct walk *walk, unsigned flags)
{
	size_t n = walk->n;
	memset(walk->first, 0, (n + 3) * sizeof(*walk->first));
	memset(walk->sizes, 0, n * sizeof(*walk->sizes));
	memset(walk->heights, 0, n * sizeof(*walk->heights));
	for (size_t i = n; i-- > 0;) {
		size_t parent = walk->nodes[i].parent;
		walk->sizes[i]++;
		walk->heights[i]++;
		if (!(walk->flags[i] & flags))
			continue;
		if (parent == SUITE_TREE_ROOT) {
			parent = n;
		} else {
			walk->sizes[parent] += walk->sizes[i];
			walk->heights[parent] =
				MAX(walk->heights[parent], walk->heights[i]);
		}
		walk->first[parent + 2]++;
	}
	for (size_t i = 2; i < n + 3; i++)
		walk->first[i] += walk->first[i - 1];
	/* first[i + 1] is where the next child of i goes, and ends as it ought. */
	for (size_t i = 0; i < n; i++) {
		size_t parent = walk->nodes[i].parent;
		if (!(walk->flags[i] & flags))
			continue;
		if (parent == SUITE_TREE_ROOT)
			parent = n;
		walk->children[walk->first[parent + 1]++] = i;
	}
	for (size_t i = 0; i < n; i++) {
		if (count_children(walk, i) > 1)
			qsort_r(walk->children + walk->first[i],
				count_children(walk, i),
				sizeof(*walk->children), compare_sizes, walk);
	}
}

/* Which orders are parts of the program's own sequence? */
static void find_sequences(struct walk *walk)
{
	const struct suite_node *nodes = walk->nodes;
	uint8_t *flags = walk->flags;
	bool differ = walk->session->framework->flows;
	for (size_t i = 0; i < walk->n; i++) {
		size_t parent = nodes[i].parent;
		bool sequence = !differ || parent == SUITE_TREE_ROOT ||
				(flags[parent] & SEQUENCE &&
				 nodes[i].test > nodes[parent].test);
		flags[i] |= sequence ? SEQUENCE : ELSEWISE;
	}
	/* A node belongs to the orders that end below it, not to itself. */
	for (size_t i = walk->n; i-- > 0;) {
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

static void tell(struct walk *walk, const struct suite_result *result)
{
	if (walk->flags[result->entry] & TOLD)
		return;
	walk->flags[result->entry] |= TOLD;
	if (walk->outer->finished)
		walk->outer->finished(walk->outer->data, result);
}

/* Those below @node did not run. */
static void tell_none(struct walk *walk, size_t node)
{
	size_t n = 0;
	walk->stack[n++] = node;
	while (n) {
		size_t at = walk->stack[--n];
		for (size_t i = walk->first[at]; i < walk->first[at + 1]; i++) {
			size_t child = walk->children[i];
			walk->stack[n++] = child;
			tell(walk, &(struct suite_result){
					   .test = walk->nodes[child].test,
					   .entry = child,
				   });
		}
	}
}

static void on_started(void *data, size_t test)
{
	const struct walk *walk = data;
	size_t node = walk->at[walk->run->next - 1];
	if (!walk->probing && !(walk->flags[node] & TOLD) &&
	    walk->outer->started)
		walk->outer->started(walk->outer->data, test);
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void hold(struct walk *walk, const struct suite_result *result)
{
	suite_result_free(&walk->held);
	walk->held = *result;
	walk->held.message = copy_text(result->message);
	walk->held.file = copy_text(result->file);
	walk->held.output = NULL;
	if (result->output && result->output_n) {
		walk->held.output = malloc(result->output_n);
		if (walk->held.output)
			memcpy(walk->held.output, result->output,
			       result->output_n);
	}
	walk->held.output_n = walk->held.output ? result->output_n : 0;
	walk->holds = true;
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct walk *walk = data;
	const struct run *run = walk->run;
	if (walk->probing) {
		walk->probed = result->outcome;
		return;
	}
	struct suite_result record = *result;
	record.entry = walk->at[run->next - 1];
	/* Judged by an exit status that may be an earlier test's doing. */
	if (run->deferred && run->exit_status && run->next > 1 &&
	    record.outcome == OUTCOME_FAIL)
		hold(walk, &record);
	else
		tell(walk, &record);
}

static void on_limit(void *data, const char *text)
{
	const struct walk *walk = data;
	if (walk->outer->limit)
		walk->outer->limit(walk->outer->data, text);
}

/* ---- running ---- */

/* The order up to @node, from the beginning; its length. */
static size_t lay_path(struct walk *walk, size_t node)
{
	size_t n = 0;
	for (size_t at = node; at != SUITE_TREE_ROOT;
	     at = walk->nodes[at].parent)
		n++;
	size_t i = n;
	for (size_t at = node; at != SUITE_TREE_ROOT;
	     at = walk->nodes[at].parent) {
		walk->at[--i] = at;
		walk->tests[i] = walk->nodes[at].test;
	}
	return n;
}

/* The order goes on with @node and what follows until orders part or end. */
static size_t lay_on(struct walk *walk, size_t node, size_t depth)
{
	for (;;) {
		walk->at[depth] = node;
		walk->tests[depth++] = walk->nodes[node].test;
		if (count_children(walk, node) != 1)
			return depth;
		node = walk->children[walk->first[node]];
	}
}

/* A process at the root, files as they are to be. */
static struct err *begin_process(struct walk *walk, struct run **ret)
{
	TRY(session_put_back(walk->session));
	return session_process(walk->session, ret);
}

/* Lets @run go on up to the @end of the order that is laid out. */
static struct err *run_to(struct walk *walk, struct run *run, size_t end,
			  bool parts, enum run_state *ret)
{
	bool status_counts = run->framework->exit_status_counts;
	walk->run = run;
	walk->parting.asked = false;
	walk->parting.more = walk->heights[walk->at[end - 1]] - 1;
	run->order = walk->tests;
	run->n = end;
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

/*
 * The program left with a status that counts against its last test. Does it, too,
 * without that test? Then it says nothing about it.
 */
static struct err *judge_held(struct walk *walk)
{
	if (!walk->holds)
		return NULL;
	walk->holds = false;
	size_t parent = walk->nodes[walk->held.entry].parent;
	if (!(walk->flags[parent] & (STATUS_OK | STATUS_BAD))) {
		_cleanup_(run_destroyp) struct run *run = NULL;
		enum run_state state;
		size_t n = lay_path(walk, parent);
		TRY(begin_process(walk, &run));
		walk->probing = true;
		walk->probed = OUTCOME_NONE;
		struct err *err = run_to(walk, run, n, false, &state);
		walk->probing = false;
		TRY(err);
		output_restart(walk->session->output);
		bool good = run->next == n && state == RUN_GONE &&
			    !run->killed_by && !run->exit_status;
		walk->flags[parent] |= good ? STATUS_OK : STATUS_BAD;
	}
	if (walk->flags[parent] & STATUS_BAD) {
		walk->held.outcome = OUTCOME_PASS;
		free(take_ptr(walk->held.message));
		free(take_ptr(walk->held.file));
		walk->held.line = 0;
	}
	tell(walk, &walk->held);
	suite_result_free(&walk->held);
	walk->held = (struct suite_result){};
	return NULL;
}

/* The process of the order is over: with its last test, or with an earlier one. */
static struct err *end_process(struct walk *walk, struct run *run, size_t end)
{
	size_t done = run->next, last = walk->at[done - 1];
	run_destroy(run);
	walk->run = NULL;
	output_restart(walk->session->output);
	if (done < end || count_children(walk, last)) {
		walk->flags[last] |= GONE;
		tell_none(walk, last);
	}
	return judge_held(walk);
}

static struct err *run_path(struct walk *walk, size_t leaf)
{
	size_t n = lay_path(walk, leaf);
	for (size_t i = 0; i + 1 < n; i++) {
		if (walk->flags[walk->at[i]] & GONE)
			return NULL; /* those below were told */
	}
	_cleanup_(run_destroyp) struct run *run = NULL;
	enum run_state state;
	TRY(begin_process(walk, &run));
	TRY(run_to(walk, run, n, false, &state));
	return end_process(walk, take_ptr(run), n);
}

/* Each order through @node from its beginning. */
static struct err *run_paths(struct walk *walk, size_t node)
{
	_cleanup_(freep) size_t *stack =
		malloc((walk->sizes[node] + 1) * sizeof(*stack));
	if (!stack)
		return err_nomem();
	size_t n = 0;
	stack[n++] = node;
	while (n) {
		size_t at = stack[--n];
		if (!count_children(walk, at))
			TRY(run_path(walk, at));
		for (size_t i = walk->first[at + 1]; i-- > walk->first[at];)
			stack[n++] = walk->children[i];
	}
	return NULL;
}

/* A process that several orders go on from, and what comes with it. */
struct branch {
	struct run *run;
	struct positions *positions;
	struct kept *kept;
	size_t node;
};

static void branch_free(struct branch *branch)
{
	run_destroy(branch->run);
	positions_destroy(branch->positions);
	kept_destroy(branch->kept);
	*branch = (struct branch){};
}

static struct err *put_back(struct walk *walk, const struct branch *branch,
			    struct run *run)
{
	/* The test before is told of only now, with its output, or was. */
	if (walk->flags[branch->node] & TOLD)
		output_restart(walk->session->output);
	TRY(session_put_back_kept(walk->session, branch->kept));
	return positions_put_back(branch->positions,
				  tracee_thread(run->tracee, 0));
}

static struct err *go(struct walk *walk, struct run *run, size_t node,
		      size_t depth);

/* All children of the branch's node but the last, a copy each. */
static struct err *go_each(struct walk *walk, struct branch *branch,
			   size_t depth)
{
	size_t node = branch->node;
	for (size_t i = walk->first[node]; i + 1 < walk->first[node + 1]; i++) {
		struct run *run = branch->run, *copy = NULL;
		if (walk->flags[node] & GONE)
			return NULL;
		TRY(run_copy(run, tracee_thread(run->tracee, 0), &copy));
		struct err *err = put_back(walk, branch, copy);
		if (err) {
			run_destroy(copy);
			return err;
		}
		TRY(go(walk, copy, walk->children[i], depth));
	}
	return NULL;
}

/*
 * Goes on with @run, which it takes, from @node at @depth of the order. Recursion
 * ends soon: what is below all but the last child is at most half.
 */
static struct err *go(struct walk *walk, struct run *run, size_t node,
		      size_t depth)
{
	_cleanup_(run_destroyp) struct run *owned = run;
	for (;;) {
		enum run_state state;
		depth = lay_on(walk, node, depth);
		node = walk->at[depth - 1];
		TRY(run_to(walk, owned, depth, count_children(walk, node),
			   &state));
		if (state != RUN_PARTED)
			return end_process(walk, take_ptr(owned), depth);

		_cleanup_(branch_free) struct branch branch = { .node = node };
		branch.run = take_ptr(owned->checkpoint);
		run_destroy(take_ptr(owned));
		if (!branch.run)
			return run_paths(walk, node);
		TRY(positions_take(branch.run->tracee, &branch.positions));
		TRY(session_take_kept(walk->session, &branch.kept));
		TRY(go_each(walk, &branch, depth));
		if (walk->flags[node] & GONE) {
			tell_none(walk, node);
			return NULL;
		}
		TRY(put_back(walk, &branch, branch.run));
		owned = take_ptr(branch.run);
		node = walk->children[walk->first[node + 1] - 1];
	}
}

static struct err *go_all(struct walk *walk, unsigned flags)
{
	walk->parting.sequence = flags & SEQUENCE;
	link_nodes(walk, flags);
	for (size_t i = walk->first[walk->n]; i < walk->first[walk->n + 1];
	     i++) {
		size_t node = walk->children[i];
		struct run *run = NULL;
		if (walk->flags[node] & GONE) {
			tell_none(walk, node);
			continue;
		}
		if (!walk->session->framework->branches) {
			TRY(run_paths(walk, node));
			continue;
		}
		TRY(begin_process(walk, &run));
		TRY(go(walk, run, node, 0));
	}
	return NULL;
}

static struct err *run_walk(struct walk *walk)
{
	uint8_t all = 0;
	find_sequences(walk);
	for (size_t i = 0; i < walk->n; i++)
		all |= walk->flags[i];
	if (all & SEQUENCE)
		TRY(go_all(walk, SEQUENCE));
	return all & ELSEWISE ? go_all(walk, ELSEWISE) : NULL;
}

static void walk_free(struct walk *walk)
{
	free(walk->flags);
	free(walk->first);
	free(walk->children);
	free(walk->sizes);
	free(walk->heights);
	free(walk->stack);
	free(walk->tests);
	free(walk->at);
	suite_result_free(&walk->held);
}

struct err *tree_run(struct session *session, const struct suite_node *nodes,
		     size_t n, const struct suite_observer *observer)
{
	_cleanup_(walk_free) struct walk walk = {
		.session = session,
		.nodes = nodes,
		.n = n,
		.outer = observer,
		.flags = calloc(n, sizeof(*walk.flags)),
		.first = calloc(n + 3, sizeof(*walk.first)),
		.children = calloc(n, sizeof(*walk.children)),
		.sizes = calloc(n, sizeof(*walk.sizes)),
		.heights = calloc(n, sizeof(*walk.heights)),
		.stack = calloc(n + 1, sizeof(*walk.stack)),
		.tests = calloc(n, sizeof(*walk.tests)),
		.at = calloc(n, sizeof(*walk.at)),
	};
	if (!walk.flags || !walk.first || !walk.children || !walk.sizes ||
	    !walk.heights || !walk.stack || !walk.tests || !walk.at)
		return err_nomem();
	const struct suite_observer inner = {
		.started = on_started,
		.finished = on_finished,
		.limit = on_limit,
		.data = &walk,
	};
	session->observer = &inner;
	struct err *err = run_walk(&walk);
	session->observer = NULL;
	return err;
}
