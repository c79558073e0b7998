#include "native/explore.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "dwarf/unwind.h"
#include "keep/save.h"
#include "native/chooser.h"
#include "native/executable.h"
#include "native/fingerprint.h"
#include "native/framework.h"
#include "native/saving.h"
#include "native/verdict.h"
#include "suite/explore.h"
#include "tracee/breakpoint.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "wire/choices.h"

/* Processes that wait to be gone on with, at most. */
#define WAITING_MAX 512

/* A process stopped before a choice. */
struct waiting {
	struct run *run;
	struct positions *positions;
	struct saved *files;
	size_t node;
};

struct explorer {
	struct session *session;
	const struct suite_explore_options *options;
	struct suite_graph *graph;
	struct raddr pick; /* the agent's variable for it */
	size_t test;
	struct fingerprint_files files;
	struct unwinder *unwinder;
	VEC(struct waiting) stack;
	struct map_u64 states; /* fingerprints → node + 1 */
	/* Of the run that just went on. */
	bool at_choice;
	uint64_t model, alternatives;
	bool ended;
	enum outcome outcome;
};

static void waiting_free(struct waiting *waiting)
{
	run_destroy(waiting->run);
	positions_destroy(waiting->positions);
	saved_destroy(waiting->files);
	*waiting = (struct waiting){};
}

static void explorer_free(struct explorer *explorer)
{
	for (size_t i = 0; i < explorer->stack.n; i++)
		waiting_free(&explorer->stack.data[i]);
	vec_free(&explorer->stack);
	map_u64_free(&explorer->states);
	unwinder_destroy(explorer->unwinder);
}

static struct err *on_choice(struct run *run, struct thread *thread,
			     uint64_t arg)
{
	struct explorer *explorer = run->session->explorer;
	(void)arg;
	if (!explorer || !run->in_test)
		return NULL;
	explorer->at_choice = true;
	explorer->model = thread_arg(thread, 0);
	explorer->alternatives = thread_arg(thread, 1);
	run->stop = true;
	return NULL;
}

static void explorer_on_finished(void *data, const struct suite_result *result)
{
	struct explorer *explorer = data;
	explorer->ended = true;
	explorer->outcome = result->outcome;
}

/* Lets it go on to the next choice, or to the end of the test. */
static struct err *explorer_continue_run(struct explorer *explorer,
					 struct run *run)
{
	struct session *session = explorer->session;
	enum run_state state;
	explorer->at_choice = explorer->ended = false;
	explorer->outcome = OUTCOME_NONE;
	run->stop = false;
	bool status_counts = run->framework->exit_status_counts;
	run->stop_after = !status_counts;
	run->defer = status_counts;
	run->deadline = tracer_clock() + session->suite.options.timeout_ns;
	chooser_stop(session->chooser, true);
	TRY(run_loop(run, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	if (!explorer->at_choice)
		output_restart(session->output);
	return NULL;
}

static const char *find_obstacle(struct explorer *explorer, struct run *run)
{
	const char *obstacle = checkpoint_obstacle(run->tracee);
	return obstacle ? obstacle
			: fingerprint_shared(run, &explorer->files, false);
}

static struct err *explorer_add_edge(struct explorer *explorer, size_t from,
				     uint64_t pick, size_t to)
{
	struct suite_graph *graph = explorer->graph;
	if (from == SUITE_GRAPH_END) {
		graph->outcome = explorer->outcome;
		return NULL;
	}
	return vec_push(&graph->edges, (struct suite_graph_edge){
					       .from = from,
					       .pick = pick,
					       .to = to,
					       .outcome = explorer->outcome,
				       });
}

/* @run, which it takes, went on with @pick of the node @from: what now? */
static struct err *explorer_arrive_at(struct explorer *explorer,
				      struct run *run, size_t from,
				      uint64_t pick)
{
	_cleanup_(run_destroyp) struct run *owned = run;
	struct suite_graph *graph = explorer->graph;
	uint64_t state = 0, seen;
	bool known = false;
	if (!explorer->at_choice)
		return explorer_add_edge(explorer, from, pick, SUITE_GRAPH_END);
	graph->obstacle = find_obstacle(explorer, run);
	if (graph->obstacle)
		return NULL;
	struct thread *thread = tracee_thread(run->tracee, 0);
	TRY(fingerprint_take(run, thread, explorer->unwinder, &state, &known));
	if (known && map_u64_get(&explorer->states, state, &seen)) {
		graph->merged++;
		return explorer_add_edge(explorer, from, pick,
					 (size_t)seen - 1);
	}
	if (graph->nodes.n >= explorer->options->nodes ||
	    explorer->stack.n >= WAITING_MAX) {
		graph->whole = false;
		return NULL;
	}
	size_t node = graph->nodes.n;
	TRY(vec_push(&graph->nodes,
		     (struct suite_graph_node){
			     .model = explorer->model,
			     .alternatives = explorer->alternatives,
			     .parent = from,
			     .parent_pick = pick,
		     }));
	if (known)
		TRY(map_u64_put(&explorer->states, state, node + 1));
	TRY(explorer_add_edge(explorer, from, pick, node));
	struct waiting waiting = { .node = node };
	struct err *err = positions_take(run->tracee, &waiting.positions);
	if (!err)
		err = saving_take(explorer->session, &waiting.files);
	if (!err)
		err = vec_push(&explorer->stack, waiting);
	if (err) {
		waiting_free(&waiting);
		return err;
	}
	explorer->stack.data[explorer->stack.n - 1].run = take_ptr(owned);
	return NULL;
}

static struct err *explorer_follow_pick(struct explorer *explorer,
					struct waiting *waiting, uint64_t pick,
					bool last)
{
	_cleanup_(run_destroyp) struct run *run = NULL;
	struct thread *thread = tracee_thread(waiting->run->tracee, 0);
	if (last)
		run = take_ptr(waiting->run);
	else
		TRY(run_copy(waiting->run, thread, &run));
	thread = tracee_thread(run->tracee, 0);
	TRY(saving_put_back_to(explorer->session, waiting->files));
	TRY(positions_put_back(waiting->positions, thread));
	TRY(memory_write_u64(run->tracee, explorer->pick, pick));
	TRY(explorer_continue_run(explorer, run));
	return explorer_arrive_at(explorer, take_ptr(run), waiting->node, pick);
}

static bool explorer_is_late(const struct explorer *explorer)
{
	uint64_t deadline = explorer->options->deadline;
	return deadline && clock_now() >= deadline;
}

static struct err *explorer_expand_node(struct explorer *explorer)
{
	struct suite_graph *graph = explorer->graph;
	_cleanup_(waiting_free) struct waiting waiting =
		explorer->stack.data[--explorer->stack.n];
	uint64_t n = graph->nodes.data[waiting.node].alternatives;
	if (n > explorer->options->alternatives) {
		n = explorer->options->alternatives;
		graph->whole = false;
	}
	for (uint64_t pick = 0; pick < n && !graph->obstacle; pick++) {
		if (explorer_is_late(explorer)) {
			graph->whole = false;
			return NULL;
		}
		TRY(explorer_follow_pick(explorer, &waiting, pick,
					 pick + 1 == n));
	}
	return NULL;
}

static struct err *explorer_explore_all(struct explorer *explorer)
{
	struct session *session = explorer->session;
	struct suite_graph *graph = explorer->graph;
	struct wire_choices *block = chooser_block(session->chooser);
	_cleanup_(run_destroyp) struct run *run = NULL;
	TRY(saving_put_back(session));
	TRY(session_process(session, &run));
	graph->obstacle = fingerprint_shared(run, &explorer->files, true);
	if (graph->obstacle)
		return NULL;
	run->order = &explorer->test;
	run->n = 1;
	explorer->pick = RADDR(block->next_address);
	if (!block->stop_address || !block->next_address)
		return err_create(ERR_INTERNAL, "the agent does not stop");
	TRY(run_break(run, RADDR(block->stop_address), on_choice, 0));
	TRY(run->framework->start(run, run->ready_thread));
	TRY(explorer_continue_run(explorer, run));
	TRY(explorer_arrive_at(explorer, take_ptr(run), SUITE_GRAPH_END, 0));
	while (explorer->stack.n && !graph->obstacle) {
		if (explorer_is_late(explorer)) {
			graph->whole = false;
			break;
		}
		TRY(explorer_expand_node(explorer));
	}
	return NULL;
}

struct err *explore_run(struct suite *suite, size_t test,
			const struct suite_choices *choices,
			const struct suite_explore_options *options,
			struct suite_graph *ret)
{
	struct session *session = (struct session *)suite;
	struct suite_graph graph = { .whole = true };
	_cleanup_(explorer_free) struct explorer explorer = {
		.session = session,
		.options = options,
		.graph = &graph,
		.test = test,
	};
	const struct suite_observer observer = {
		.finished = explorer_on_finished,
		.data = &explorer,
	};
	TRY(verdict_learn(session));
	TRY(unwinder_create(&explorer.unwinder));
	TRY(chooser_choose(suite, choices));
	session->observer = &observer;
	session->explorer = &explorer;
	tracer_tick(true);
	struct err *err = explorer_explore_all(&explorer);
	tracer_tick(false);
	struct err *failed = saving_put_back(session);
	if (err)
		err_ignore(failed);
	else
		err = failed;
	session->explorer = NULL;
	session->observer = NULL;
	chooser_stop(session->chooser, false);
	if (err) {
		suite_graph_free(&graph);
		return err;
	}
	*ret = graph;
	return NULL;
}
