/*
 * Every combination of the choices in a test, up to a bound: the graph of what it
 * may do (suite/explore.h), explored from copies of its process; or, where that is
 * not possible, way by way, each from the beginning of the test with its picks
 * given. From the graph follow how likely the test fails if every choice is
 * uniform, and the choices that decide by themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "choices/choices_internal.h"
#include "suite/explore.h"

/*
 * Up to this many alternatives of a choice are followed: a permutation of six.
 */
#define ALTERNATIVES_MAX 720
/*
 * Every critical state is reported; this many with their stacks, for each of which
 * the test runs once more.
 */
#define CRITICAL_SHOWN 64

struct exploration {
	struct choices_search *search;
	size_t test;
	uint64_t models[WIRE_MODEL_WORDS];
	struct suite_graph graph;
	/* By node. */
	size_t *first; /* of its edges, once sorted; [nodes] is their end */
	double *probability, *paths, *failing;
	uint8_t *state; /* 0: new, 1: open, 2: done */
	bool *whole;	/* all below it was followed */
};

static void exploration_free(struct exploration *x)
{
	suite_graph_free(&x->graph);
	free(x->first);
	free(x->probability);
	free(x->paths);
	free(x->failing);
	free(x->state);
	free(x->whole);
}

/* ---- way by way ---- */

struct way {
	struct exploration *x;
	VEC(uint64_t) forced;
	VEC(size_t) nodes; /* of this way */
	struct wire_choice_step *steps;
	size_t n;
	bool ended, cut;
	enum outcome outcome;
};

static void way_free(struct way *way)
{
	vec_free(&way->forced);
	vec_free(&way->nodes);
	free(way->steps);
}

static void exploration_on_chosen(void *data, size_t entry _unused_,
				  size_t test _unused_,
				  const struct wire_choices *block)
{
	struct way *way = data;
	way->cut = block->trace_n > WIRE_CHOICE_TRACE;
	way->n = MIN(block->trace_n, (uint64_t)WIRE_CHOICE_TRACE);
	memcpy(way->steps, block->trace, way->n * sizeof(*way->steps));
}

static void exploration_on_finished(void *data,
				    const struct suite_result *result)
{
	struct way *way = data;
	way->ended = true;
	way->outcome = result->outcome;
}

static struct err *run_way(struct way *way)
{
	struct exploration *x = way->x;
	const struct suite_observer observer = {
		.chosen = exploration_on_chosen,
		.finished = exploration_on_finished,
		.data = way,
	};
	const struct suite_choices choices = {
		.level = WIRE_FULL,
		.models = x->models,
		.on = x->models,
		.trace = true,
		.forced = way->forced.data,
		.n_forced = way->forced.n,
	};
	way->n = 0;
	way->ended = false;
	way->outcome = OUTCOME_NONE;
	TRY(suite_choose(x->search->suite, &choices));
	return suite_run(x->search->suite, &x->test, 1,
			 SUITE_SERIAL | SUITE_ALONE, &observer);
}

static uint64_t count_followed_picks(uint64_t alternatives)
{
	return MIN(alternatives, (uint64_t)ALTERNATIVES_MAX);
}

/* What this way met after the part it has in common with the last one. */
static struct err *add_way(struct way *way)
{
	struct suite_graph *graph = &way->x->graph;
	size_t common = MIN(way->nodes.n, way->n);
	/* Another choice than the last time: it depends on something else. */
	for (size_t i = 0; i < common; i++) {
		const struct suite_graph_node *node =
			&graph->nodes.data[way->nodes.data[i]];
		if (node->model != way->steps[i].model ||
		    node->alternatives != way->steps[i].alternatives)
			graph->whole = false;
	}
	way->nodes.n = common;
	for (size_t i = common; i < way->n; i++) {
		size_t parent = i ? way->nodes.data[i - 1] : SUITE_GRAPH_END;
		uint64_t pick = i ? way->steps[i - 1].pick : 0;
		if (graph->nodes.n >= way->x->search->options->bound) {
			graph->whole = false;
			way->n = i;
			return NULL;
		}
		if (i)
			TRY(vec_push(&graph->edges,
				     (struct suite_graph_edge){
					     parent, pick, graph->nodes.n,
					     OUTCOME_NONE }));
		TRY(vec_push(&way->nodes, graph->nodes.n));
		TRY(vec_push(&graph->nodes, (struct suite_graph_node){
						    way->steps[i].model,
						    way->steps[i].alternatives,
						    parent,
						    pick,
					    }));
		graph->whole &= way->steps[i].alternatives <= ALTERNATIVES_MAX;
	}
	graph->whole &= !way->cut;
	if (!way->n) {
		graph->outcome = way->outcome;
		return NULL;
	}
	return vec_push(&graph->edges, (struct suite_graph_edge){
					       way->nodes.data[way->n - 1],
					       way->steps[way->n - 1].pick,
					       SUITE_GRAPH_END, way->outcome });
}

/* The last choice that has another alternative takes it. */
static struct err *next_way(struct way *way, bool *ret)
{
	size_t n = way->n;
	while (n &&
	       way->steps[n - 1].pick + 1 >=
		       count_followed_picks(way->steps[n - 1].alternatives))
		n--;
	*ret = n;
	way->forced.n = 0;
	for (size_t i = 0; i < n; i++)
		TRY(vec_push(&way->forced, way->steps[i].pick + (i + 1 == n)));
	way->nodes.n = MIN(way->nodes.n, n);
	return NULL;
}

static struct err *explore_ways(struct exploration *x)
{
	_cleanup_(way_free) struct way way = { .x = x };
	bool more = true;
	way.steps = calloc(WIRE_CHOICE_TRACE, sizeof(*way.steps));
	if (!way.steps)
		return err_nomem();
	x->graph.whole = true;
	while (more) {
		if (choices_late(x->search) ||
		    x->graph.edges.n >= x->search->options->bound) {
			x->graph.whole = false;
			return NULL;
		}
		TRY(run_way(&way));
		TRY(add_way(&way));
		TRY(next_way(&way, &more));
	}
	return NULL;
}

/* ---- what follows from the graph ---- */

static int compare_edges(const void *a, const void *b)
{
	const struct suite_graph_edge *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->pick < y->pick ? -1 : x->pick > y->pick;
}

static bool edge_is_bad(const struct suite_graph_edge *edge)
{
	return edge->outcome != OUTCOME_NONE && !outcome_is_good(edge->outcome);
}

/* What an edge leads to; false: back into what is open, which says nothing. */
static bool value_of(const struct exploration *x,
		     const struct suite_graph_edge *edge, double *probability,
		     double *paths, double *failing)
{
	if (edge->to == SUITE_GRAPH_END) {
		*probability = *failing = edge_is_bad(edge);
		*paths = 1;
		return true;
	}
	*probability = x->probability[edge->to];
	*paths = x->paths[edge->to];
	*failing = x->failing[edge->to];
	/* One that was not followed is unknown. */
	return x->state[edge->to] == 2 &&
	       x->first[edge->to] < x->first[edge->to + 1];
}

static void judge_node(struct exploration *x, size_t node)
{
	size_t n = 0;
	double sum = 0, paths = 0, failing = 0;
	bool whole = x->first[node + 1] - x->first[node] ==
		     x->graph.nodes.data[node].alternatives;
	for (size_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct suite_graph_edge *edge = &x->graph.edges.data[i];
		double p, w, f;
		whole &= edge->to == SUITE_GRAPH_END ||
			 x->state[edge->to] == 1 || x->whole[edge->to];
		if (!value_of(x, edge, &p, &w, &f))
			continue;
		n++;
		sum += p;
		paths += w;
		failing += f;
	}
	x->probability[node] = n ? sum / (double)n : 0;
	x->paths[node] = paths;
	x->failing[node] = failing;
	x->whole[node] = whole;
	x->state[node] = 2;
}

/* Those that a node leads to come first. */
static struct err *judge_all(struct exploration *x)
{
	VEC(size_t) stack = VEC_INIT;
	struct err *err = x->graph.nodes.n ? vec_push(&stack, (size_t)0) : NULL;
	while (!err && stack.n) {
		size_t node = stack.data[stack.n - 1];
		if (x->state[node]) {
			stack.n--;
			if (x->state[node] == 1)
				judge_node(x, node);
			continue;
		}
		x->state[node] = 1;
		for (size_t i = x->first[node]; !err && i < x->first[node + 1];
		     i++) {
			size_t to = x->graph.edges.data[i].to;
			if (to != SUITE_GRAPH_END && !x->state[to])
				err = vec_push(&stack, to);
		}
	}
	vec_free(&stack);
	return err;
}

static struct err *index_edges(struct exploration *x)
{
	size_t n = x->graph.nodes.n, at = 0;
	x->first = calloc(n + 1, sizeof(*x->first));
	x->probability = calloc(n + 1, sizeof(*x->probability));
	x->paths = calloc(n + 1, sizeof(*x->paths));
	x->failing = calloc(n + 1, sizeof(*x->failing));
	x->state = calloc(n + 1, sizeof(*x->state));
	x->whole = calloc(n + 1, sizeof(*x->whole));
	if (!x->first || !x->probability || !x->paths || !x->failing ||
	    !x->state || !x->whole)
		return err_nomem();
	if (x->graph.edges.n)
		qsort(x->graph.edges.data, x->graph.edges.n,
		      sizeof(*x->graph.edges.data), compare_edges);
	for (size_t i = 0; i <= n; i++) {
		while (at < x->graph.edges.n &&
		       x->graph.edges.data[at].from < i)
			at++;
		x->first[i] = at;
	}
	return NULL;
}

/* Does what is chosen here alone decide? Then also which pick fails. */
static bool is_critical(const struct exploration *x, size_t node,
			uint64_t *ret_pick)
{
	bool passes = false, fails = false;
	for (size_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct suite_graph_edge *edge = &x->graph.edges.data[i];
		double p, w, f;
		if ((edge->to != SUITE_GRAPH_END && !x->whole[edge->to]) ||
		    !value_of(x, edge, &p, &w, &f))
			continue;
		if (p >= 1 && !fails) {
			fails = true;
			*ret_pick = x->graph.edges.data[i].pick;
		}
		passes |= p <= 0;
	}
	return passes && fails;
}

/* Nodes that more than one edge leads to. */
static struct err *count_merge_nodes(const struct exploration *x, uint64_t *ret)
{
	_cleanup_(freep) uint8_t *met = calloc(x->graph.nodes.n + 1, 1);
	uint64_t n = 0;
	if (!met)
		return err_nomem();
	for (size_t i = 0; i < x->graph.edges.n; i++) {
		size_t to = x->graph.edges.data[i].to;
		if (to != SUITE_GRAPH_END && met[to] < 2)
			n += ++met[to] == 2;
	}
	*ret = n;
	return NULL;
}

static uint64_t count_critical_nodes(const struct exploration *x)
{
	uint64_t n = 0, pick;
	for (size_t i = 0; i < x->graph.nodes.n; i++)
		n += is_critical(x, i, &pick);
	return n;
}

/* ---- the finding ---- */

/* The picks that lead to @node, and @pick there. */
static struct err *picks_to(const struct exploration *x, size_t node,
			    uint64_t pick, struct way *way)
{
	const struct suite_graph_node *nodes = x->graph.nodes.data;
	size_t depth = 0;
	way->forced.n = 0;
	for (size_t at = node; nodes[at].parent != SUITE_GRAPH_END;
	     at = nodes[at].parent)
		depth++;
	for (size_t i = 0; i <= depth; i++)
		TRY(vec_push(&way->forced, (uint64_t)0));
	way->forced.data[depth] = pick;
	size_t i = depth;
	for (size_t at = node; i--; at = nodes[at].parent)
		way->forced.data[i] = nodes[at].parent_pick;
	return NULL;
}

/* What failed, if it is not known yet. */
static void take_failure(struct choices_trial *trial,
			 struct assumption *finding)
{
	if (!outcome_is_good(trial->outcome) &&
	    finding->failure.outcome == OUTCOME_NONE)
		finding->failure = choices_take_failure(trial);
}

/*
 * Runs it up to and including that choice, the rest as usual; *@ret gets the call,
 * with nothing in it where it has no record: what the library does on its own has none.
 */
static struct err *exploration_run_to(struct exploration *x, size_t node,
				      uint64_t pick, struct assumption *finding,
				      struct assumption_call *ret)
{
	_cleanup_(way_free) struct way way = { .x = x };
	_cleanup_(choices_trial_free) struct choices_trial trial = {};
	struct choices_set set = { .level = WIRE_FULL, .detail = true };
	TRY(picks_to(x, node, pick, &way));
	memcpy(set.models, x->models, sizeof(x->models));
	memcpy(set.on, x->models, sizeof(x->models));
	set.forced = way.forced.data;
	set.n_forced = MIN(way.forced.n, (size_t)WIRE_CHOICE_TRACE);
	TRY(choices_try(x->search, &set, x->test, true, &trial));
	take_failure(&trial, finding);
	if (!pick || !trial.calls.n || trial.more_calls)
		return NULL;
	struct assumption_call *last = &trial.calls.data[trial.calls.n - 1];
	if (last->model != x->graph.nodes.data[node].model)
		return NULL;
	*ret = *last;
	*last = (struct assumption_call){};
	return NULL;
}

/* The same choice with another pick was met with this stack. */
static struct err *forget_pick(struct assumption_call *call)
{
	free(call->did);
	call->did = strdup("");
	call->pick = 0;
	return call->did ? NULL : err_nomem();
}

/* Reports the choice at @node, of which @pick fails. @stack: where it was made. */
static struct err *exploration_show_choice(struct exploration *x, size_t node,
					   uint64_t pick, bool stack,
					   struct assumption *finding)
{
	const struct suite_graph_node *nodes = x->graph.nodes.data;
	struct assumption_call call = {};
	struct err *err = NULL;
	if (stack)
		err = exploration_run_to(x, node, pick, finding, &call);
	if (!err && stack && !pick && nodes[node].alternatives > 1) {
		err = exploration_run_to(x, node, 1, finding, &call);
		if (!err && call.api)
			err = forget_pick(&call);
	}
	if (!err && call.api) {
		err = vec_push(&finding->critical, call);
	} else if (!err) {
		call = (struct assumption_call){
			.model = nodes[node].model,
			.thread = WIRE_MAIN,
			.phase = 1,
			.pick = pick,
			.alternatives = nodes[node].alternatives,
		};
		for (size_t at = node; nodes[at].parent != SUITE_GRAPH_END;
		     at = nodes[at].parent)
			call.n++;
		return choices_add_nameless(x->search->options, &call,
					    &finding->critical);
	}
	if (err)
		assumption_call_free(&call);
	return err;
}

static struct err *copy_call(const struct assumption_call *call,
			     struct assumption *finding)
{
	struct assumption_call copy = *call;
	copy.api = strdup(call->api);
	copy.clause = strdup(call->clause);
	copy.argument = strdup(call->argument);
	copy.did = strdup(call->did);
	copy.stack.data = NULL;
	copy.stack.n = copy.stack.cap = 0;
	struct err *err = copy.api && copy.clause && copy.argument && copy.did
				  ? NULL
				  : err_nomem();
	for (size_t i = 0; !err && i < call->stack.n; i++) {
		const struct call_frame *frame = &call->stack.data[i];
		struct call_frame one = {
			.function = frame->function ? strdup(frame->function)
						    : NULL,
			.file = frame->file ? strdup(frame->file) : NULL,
			.line = frame->line,
		};
		err = vec_push(&copy.stack, one);
	}
	if (!err)
		err = vec_push(&finding->calls, copy);
	if (err)
		assumption_call_free(&copy);
	return err;
}

/* A node whose alternatives all fail, or an edge to a failing end. */
static bool find_failing_edge(const struct exploration *x, size_t *ret_node,
			      uint64_t *ret_pick)
{
	for (size_t i = 0; i < x->graph.edges.n; i++) {
		const struct suite_graph_edge *edge = &x->graph.edges.data[i];
		if (edge->to != SUITE_GRAPH_END || !edge_is_bad(edge))
			continue;
		*ret_node = edge->from;
		*ret_pick = edge->pick;
		return true;
	}
	return false;
}

/* The whole way to a failing end is what `replay` needs. */
static struct err *keep_way(struct exploration *x, size_t node, uint64_t pick,
			    struct assumption *finding)
{
	_cleanup_(way_free) struct way way = { .x = x };
	TRY(picks_to(x, node, pick, &way));
	for (size_t i = 0; i < way.forced.n; i++)
		TRY(vec_push(&finding->forced, way.forced.data[i]));
	return NULL;
}

static struct err *exploration_add_finding(struct exploration *x)
{
	struct choices_search *search = x->search;
	_cleanup_(assumption_free) struct assumption finding = {
		.test = x->test,
		.level = WIRE_FULL,
		.systematic = true,
		.minimal = true,
		.alone = true,
		.repeats = 1,
		.probability = x->probability[0],
	};
	size_t node = 0, shown = 0;
	uint64_t pick = 0;
	if (!find_failing_edge(x, &node, &pick))
		return NULL;
	memcpy(finding.numbered, x->models, sizeof(x->models));
	memcpy(finding.on, x->models, sizeof(x->models));
	TRY(keep_way(x, node, pick, &finding));
	for (size_t i = 0; i < x->graph.nodes.n; i++) {
		uint64_t failing_pick = 0;
		if (!is_critical(x, i, &failing_pick))
			continue;
		TRY(exploration_show_choice(x, i, failing_pick,
					    !shown || (shown < CRITICAL_SHOWN &&
						       !choices_late(search)),
					    &finding));
		shown++;
	}
	if (!shown)
		TRY(exploration_show_choice(x, node, pick, true, &finding));
	TRY(copy_call(&finding.critical.data[0], &finding));
	if (!shown) {
		assumption_call_free(&finding.critical.data[0]);
		finding.critical.n = 0;
	}
	finding.model = finding.calls.data[0].model;
	const struct choices_model *model =
		choices_find_model(search->options, finding.model);
	if (model)
		finding.level = model->level;
	finding.runs = (size_t)MIN(x->paths[0], 1e15);
	finding.failures = (size_t)MIN(x->failing[0], 1e15);
	return choices_finding_add(search, &finding);
}

struct err *choices_explore(struct choices_search *search, size_t test)
{
	_cleanup_(exploration_free) struct exploration x = {
		.search = search,
		.test = test,
	};
	const struct suite_explore_options options = {
		.nodes = search->options->bound,
		.deadline = search->options->deadline,
		.alternatives = ALTERNATIVES_MAX,
	};
	choices_models_at(search, WIRE_FULL, x.models);
	const struct suite_choices choices = {
		.level = WIRE_FULL,
		.models = x.models,
		.on = x.models,
	};
	TRY(suite_explore(search->suite, test, &choices, &options, &x.graph));
	if (x.graph.obstacle) {
		suite_graph_free(&x.graph);
		TRY(explore_ways(&x));
	}
	TRY(index_edges(&x));
	TRY(judge_all(&x));
	struct choices_space space = {
		.test = test,
		.nodes = x.graph.nodes.n,
		.leaves = x.graph.nodes.n ? (uint64_t)MIN(x.paths[0], 1e18) : 1,
		.failing = (uint64_t)MIN(x.failing[0], 1e18),
		.edges = x.graph.edges.n,
		.merged = x.graph.merged,
		.critical = count_critical_nodes(&x),
		.probability = x.probability[0],
		.exhausted = x.graph.whole,
	};
	TRY(count_merge_nodes(&x, &space.merge_nodes));
	for (size_t i = 0; i < x.graph.nodes.n; i++) {
		if (x.graph.nodes.data[i].model < WIRE_MODELS_ALL)
			choices_set_bit(search->met,
					x.graph.nodes.data[i].model);
	}
	TRY(vec_push(&search->result->reach.spaces, space));
	return x.graph.nodes.n ? exploration_add_finding(&x) : NULL;
}
