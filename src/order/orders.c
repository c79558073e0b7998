/*
 * Whole orders: each a path of a tree, resumed after a test that ended its
 * process.
 */
#include "order/order_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/log.h"

/* Orders that are given to the suite at once, so that they can run side by side. */
#define TOGETHER 8
/* An order that dies more often than that is given up. */
#define DEATHS_MAX 64

/* One order on its way. */
struct going {
	const struct order_tests *order;
	uint8_t *outcomes; /* by place */
	size_t begin;	   /* the process that runs now began with this place */
	size_t deaths;
	bool done;
	bool recalled;
	bool again; /* this call has had it */
};

struct orders_together {
	struct order_search *search;
	struct going going[TOGETHER];
	size_t n;
	struct suite_nodes nodes;
	VEC(uint32_t) whose; /* by node: which of them … */
	VEC(size_t) places;  /* … and which place of it */
};

static void together_freep(struct orders_together *together)
{
	for (size_t i = 0; i < together->n; i++)
		free(together->going[i].outcomes);
	vec_free(&together->nodes);
	vec_free(&together->whose);
	vec_free(&together->places);
}

static void order_finished(void *data, const struct suite_result *result)
{
	struct orders_together *together = data;
	BUG_ON(result->entry >= together->nodes.n);
	struct going *going =
		&together->going[together->whose.data[result->entry]];
	search_note_ns(together->search, result);
	going->outcomes[together->places.data[result->entry]] =
		(uint8_t)suite_result_judged(result);
}

static void order_limit(void *data, const char *text)
{
	const struct orders_together *together = data;
	search_say(together->search, text);
}

/* ---- what an earlier call knew ---- */

static uint64_t orders_digest(const struct order_tests *order)
{
	return XXH3_64bits(order->data, order->n * sizeof(*order->data));
}

static void order_key(const struct order_tests *order, char out[40])
{
	snprintf(out, 40, "order %016llx %zu",
		 (unsigned long long)orders_digest(order), order->n);
}

static void recall_order(struct order_search *search, struct going *going)
{
	const struct order_memory *memory = search->options->memory;
	char key[40];
	void *value;
	size_t n;
	uint64_t known;
	/* Few tests have few orders: shuffles meet. */
	if (map_u64_get(&search->ran, orders_digest(going->order), &known)) {
		log_debug(LOG_ORDER, "an order of %zu tests has run already",
			  going->order->n);
		going->done = going->again = true;
		return;
	}
	order_key(going->order, key);
	if (!memory || !memory->get(memory->data, key, &value, &n))
		return;
	if (n == going->order->n) {
		memcpy(going->outcomes, value, n);
		for (size_t i = 0; i < n; i++) {
			if (going->outcomes[i] >= OUTCOMES)
				going->outcomes[i] = OUTCOME_NONE;
		}
		log_debug(LOG_ORDER,
			  "an order of %zu tests is reused from an earlier run",
			  n);
		search->result->reach.known += n;
		going->done = going->recalled = true;
	}
	free(value);
}

static void remember_order(struct order_search *search,
			   const struct going *going)
{
	const struct order_memory *memory = search->options->memory;
	char key[40];
	if (!memory || going->recalled || !going->done)
		return;
	order_key(going->order, key);
	memory->put(memory->data, key, going->outcomes, going->order->n);
}

/* ---- running ---- */

static struct err *lay_out(struct orders_together *together)
{
	together->nodes.n = together->whose.n = together->places.n = 0;
	for (size_t i = 0; i < together->n; i++) {
		struct going *going = &together->going[i];
		size_t parent = SUITE_TREE_ROOT;
		for (size_t j = going->begin;
		     !going->done && j < going->order->n; j++) {
			struct suite_node node = { parent,
						   going->order->data[j] };
			parent = together->nodes.n;
			TRY(vec_push(&together->nodes, node));
			TRY(vec_push(&together->whose, (uint32_t)i));
			TRY(vec_push(&together->places, j));
		}
	}
	return NULL;
}

/* Continues after the test that ended the process. */
static void orders_continue_after(struct going *going)
{
	size_t at = going->begin;
	while (at < going->order->n && going->outcomes[at])
		at++;
	bool stuck = at == going->begin;
	going->begin = at;
	if (at == going->order->n || stuck || ++going->deaths > DEATHS_MAX)
		going->done = true;
}

/* Which tests had another outcome than alone? */
static struct err *judge_order(struct order_search *search,
			       const struct going *going, bool serial)
{
	const size_t *tests = going->order->data;
	size_t begin = 0;
	for (size_t i = 0; i < going->order->n; i++) {
		enum outcome outcome = (enum outcome)going->outcomes[i];
		const struct order_known *known = &search->known[tests[i]];
		if (i > begin && outcome)
			search_pair(search, tests[i - 1], tests[i]);
		uint8_t expected = known->alone ? known->alone : known->natural;
		if (order_differs(outcome, (enum outcome)expected))
			TRY(search_suspect(search, tests[i], tests + begin,
					   i - begin, outcome, serial));
		if (order_ends(search, outcome) || !outcome)
			begin = i + 1;
	}
	return NULL;
}

/* For the report: the first of them. */
static struct err *note_executed(struct order_search *search,
				 const struct going *going)
{
	struct order_reach *reach = &search->result->reach;
	struct order_executed executed = {};
	size_t n = going->order->n;
	size_t kept = reach->executed.n * n;
	if (kept + n > ORDER_EXECUTED_MAX) {
		reach->executed_more++;
		return NULL;
	}
	struct err *err = tests_copy(going->order->data, n, &executed.order);
	for (size_t i = 0; !err && i < n; i++) {
		size_t test = going->order->data[i];
		const struct order_known *known = &search->known[test];
		uint8_t expected = known->alone ? known->alone : known->natural;
		if (order_differs((enum outcome)going->outcomes[i],
				  (enum outcome)expected))
			err = vec_push(&executed.differing, test);
	}
	if (!err)
		err = vec_push(&reach->executed, executed);
	if (err) {
		vec_free(&executed.order);
		vec_free(&executed.differing);
	}
	return err;
}

static struct err *run_together(struct orders_together *together,
				unsigned flags)
{
	struct order_search *search = together->search;
	const struct suite_observer observer = {
		.finished = order_finished,
		.limit = order_limit,
		.data = together,
	};
	for (;;) {
		TRY(lay_out(together));
		if (!together->nodes.n)
			return NULL;
		uint64_t began = clock_now();
		TRY(suite_run_tree(
			search->suite, together->nodes.data, together->nodes.n,
			flags & ASK_SERIAL ? SUITE_SERIAL : 0, &observer));
		uint64_t cost = together->n * search->start_ns;
		for (size_t i = 0; i < together->nodes.n; i++)
			cost += search_cost(search,
					    together->nodes.data[i].test);
		search_took(search, began, cost, together->n,
			    flags & ASK_SERIAL);
		for (size_t i = 0; i < together->n; i++)
			orders_continue_after(&together->going[i]);
	}
}

struct err *orders_run(struct order_search *search,
		       const struct order_lists *orders, unsigned flags,
		       size_t *ret_done)
{
	size_t at = 0;
	while (at < orders->n && !search_late(search)) {
		_cleanup_(together_freep) struct orders_together together = {
			.search = search,
		};
		uint64_t cost = 0;
		while (at < orders->n && together.n < TOGETHER) {
			const struct order_tests *order = &orders->data[at];
			cost += search_cost_of(search, order->data, order->n);
			if (!search_fits(search, cost, flags & ASK_SERIAL))
				break; /* one after the other, then */
			at++;
			struct going *going = &together.going[together.n];
			*going = (struct going){ .order = order };
			going->outcomes = calloc(order->n + 1, 1);
			if (!going->outcomes)
				return err_nomem();
			together.n++;
			if (!(flags & ASK_ANEW))
				recall_order(search, going);
		}
		if (!together.n)
			break;
		TRY(run_together(&together, flags));
		for (size_t i = 0; i < together.n; i++) {
			const struct going *going = &together.going[i];
			if (going->again)
				continue;
			remember_order(search, going);
			TRY(judge_order(search, going, flags & ASK_SERIAL));
			TRY(note_executed(search, going));
			TRY(map_u64_put(&search->ran,
					orders_digest(going->order), 1));
			search->result->reach.orders++;
		}
		if (ret_done)
			*ret_done = at;
	}
	if (at < orders->n)
		log_debug(LOG_ORDER,
			  "%zu of %zu orders of the suite not tried: %s",
			  orders->n - at, orders->n, search->result->reach.why);
	return NULL;
}
