/* Questions, and the trees of orders that answer them. */
#include "order/order_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/log.h"

/*
 * Questions that may share a beginning: more would leave the other processors
 * idle, fewer would run the beginning more often than necessary.
 */
#define BLOCK_MIN 128
#define BLOCK_PREFIXES 4
/* A tree takes about this long: between two the clock is checked. */
#define TREE_NS NS_PER_S
#define TREE_NODES_MIN ((size_t)16) /* for all processors */
#define TREE_NODES_MAX ((size_t)65536)
#define MESSAGE_MAX 4096

struct err *tests_copy(const size_t *tests, size_t n, struct order_tests *ret)
{
	struct order_tests copy = {};
	TRY(vec_append(&copy, tests, n));
	*ret = copy;
	return NULL;
}

bool tests_have(const struct order_tests *tests, size_t test)
{
	for (size_t i = 0; i < tests->n; i++) {
		if (tests->data[i] == test)
			return true;
	}
	return false;
}

static void ask_free(struct order_ask *ask)
{
	vec_free(&ask->order);
	free(ask->message);
	free(ask->file);
	*ask = (struct order_ask){};
}

static void asks_clear(struct order_asks *asks)
{
	for (size_t i = 0; i < asks->n; i++)
		ask_free(&asks->data[i]);
	asks->n = 0;
}

void asks_freep_deep(struct order_asks *asks)
{
	asks_clear(asks);
	vec_free(asks);
}

/* Does @order still have @prefix in its sequence, before its last entry? */
static bool has_sequence(const size_t *order, size_t n, const size_t *prefix,
			 size_t m)
{
	size_t at = 0;
	for (size_t i = 0; i < n && at < m; i++)
		at += order[i] == prefix[at];
	return at == m;
}

struct err *asks_add(struct order_search *search, struct order_asks *asks,
		     const size_t *prefix, size_t n, size_t test)
{
	struct order_ask ask = {
		.asked = n ? prefix[0] : ORDER_NONE,
		.node = ORDER_NONE,
	};
	struct err *err = vec_reserve(&ask.order, n + 1);
	if (!err)
		err = vec_append(&ask.order, prefix, n);
	if (!err)
		err = vec_push(&ask.order, test);
	if (!err && !rules_allow(search->rules, ask.order.data, ask.order.n)) {
		size_t *arranged = NULL, m = 0;
		err = rules_arrange(search->rules, ask.order.data, ask.order.n,
				    &arranged, &m);
		/*
		 * After the test nothing matters; before it everything must be
		 * there.
		 */
		while (!err && m && arranged[m - 1] != test)
			m--;
		if (!err) {
			ask.impossible =
				!m || !has_sequence(arranged, m - 1, prefix, n);
			ask.order.n = 0;
			err = vec_append(&ask.order, arranged, m);
		}
		free(arranged);
	}
	ask.impossible |=
		!err && !rules_fit(search->rules, ask.order.data, ask.order.n);
	/* Nothing can be run twice there. */
	for (size_t i = 1; search->fixed && i < ask.order.n; i++)
		ask.impossible |= ask.order.data[i] <= ask.order.data[i - 1];
	if (ask.impossible)
		search_log_order(search, test, prefix, n,
				 "not tried, the suite does not allow this "
				 "order");
	if (!err)
		err = vec_push(asks, ask);
	if (err)
		ask_free(&ask);
	return err;
}

/* ---- what is known ---- */

static uint64_t digest_next(uint64_t digest, size_t test)
{
	uint64_t word = test;
	return XXH3_64bits_withSeed(&word, sizeof(word), digest);
}

static uint64_t asks_digest_of(const struct order_tests *order)
{
	uint64_t digest = 0;
	for (size_t i = 0; i < order->n; i++)
		digest = digest_next(digest, order->data[i]);
	return digest;
}

static bool asks_recall_outcome(struct order_search *search, uint64_t digest,
				enum outcome *ret)
{
	const struct order_memory *memory = search->options->memory;
	uint64_t known;
	if (map_u64_get(&search->answers, digest, &known)) {
		*ret = (enum outcome)known;
		return true;
	}
	char key[32];
	void *value;
	size_t n;
	snprintf(key, sizeof(key), "ask %016llx", (unsigned long long)digest);
	if (!memory || !memory->get(memory->data, key, &value, &n))
		return false;
	bool whole =
		n == 1 && *(uint8_t *)value && *(uint8_t *)value < OUTCOMES;
	if (whole) {
		*ret = (enum outcome)(*(uint8_t *)value);
		err_ignore(map_u64_put(&search->answers, digest, *ret));
		search->result->reach.known++;
	}
	free(value);
	return whole;
}

static struct err *asks_remember_outcome(struct order_search *search,
					 uint64_t digest, enum outcome outcome)
{
	const struct order_memory *memory = search->options->memory;
	uint64_t known;
	if (map_u64_get(&search->answers, digest, &known))
		return NULL;
	uint8_t value = (uint8_t)outcome;
	char key[32];
	snprintf(key, sizeof(key), "ask %016llx", (unsigned long long)digest);
	if (memory)
		memory->put(memory->data, key, &value, 1);
	return map_u64_put(&search->answers, digest, outcome);
}

/* ---- the tree ---- */

struct tree {
	struct order_search *search;
	struct suite_nodes nodes;
	VEC(uint64_t) digests; /* by node */
	VEC(uint8_t) outcomes; /* by node */
	VEC(size_t) asks;      /* by node: one that ends there, or ORDER_NONE */
	struct order_ask *first; /* the questions asked now */
	struct map_u64 children; /* of this block: digest → node */
	unsigned flags;
	uint64_t cost; /* search_cost() */
};

static void tree_freep(struct tree *tree)
{
	vec_free(&tree->nodes);
	vec_free(&tree->digests);
	vec_free(&tree->outcomes);
	vec_free(&tree->asks);
	map_u64_free(&tree->children);
}

static struct err *tree_add(struct tree *tree, struct order_ask *ask)
{
	size_t at = SUITE_TREE_ROOT;
	uint64_t digest = 0;
	if (tree->flags & ASK_ANEW) /* a repetition repeats all of it */
		map_u64_free(&tree->children);
	for (size_t i = 0; i < ask->order.n; i++) {
		uint64_t node;
		digest = digest_next(digest, ask->order.data[i]);
		if (map_u64_get(&tree->children, digest, &node)) {
			at = node;
			continue;
		}
		struct suite_node added = { at, ask->order.data[i] };
		at = tree->nodes.n;
		TRY(vec_push(&tree->nodes, added));
		TRY(vec_push(&tree->digests, digest));
		TRY(vec_push(&tree->outcomes, OUTCOME_NONE));
		TRY(vec_push(&tree->asks, ORDER_NONE));
		TRY(map_u64_put(&tree->children, digest, at));
	}
	ask->node = at;
	if (at != SUITE_TREE_ROOT)
		tree->asks.data[at] = (size_t)(ask - tree->first);
	return NULL;
}

static char *cut_copy(const char *text)
{
	return text ? strndup(text, MESSAGE_MAX) : NULL;
}

static void tree_finished(void *data, const struct suite_result *result)
{
	struct tree *tree = data;
	BUG_ON(result->entry >= tree->nodes.n);
	tree->outcomes.data[result->entry] = (uint8_t)result->outcome;
	search_note_ns(tree->search, result);
	size_t ask = tree->asks.data[result->entry];
	if (!(tree->flags & ASK_DETAILS) || ask == ORDER_NONE ||
	    outcome_is_good(result->outcome))
		return;
	free(tree->first[ask].message);
	free(tree->first[ask].file);
	tree->first[ask].message = cut_copy(result->message);
	tree->first[ask].file = cut_copy(result->file);
	tree->first[ask].line = result->line;
}

static void tell_limit(void *data, const char *text)
{
	const struct tree *tree = data;
	search_say(tree->search, text);
}

/*
 * Which tests ran next to each other on the way to an answer. They are judged
 * like the last one, which the caller judges; otherwise they would be ignored.
 */
static struct err *note_pairs(struct order_search *search,
			      const struct order_tests *order)
{
	uint64_t digest = 0;
	for (size_t i = 0; i < order->n; i++) {
		size_t test = order->data[i];
		enum outcome outcome = OUTCOME_NONE;
		digest = digest_next(digest, test);
		if (!i || search_pair_tried(search, order->data[i - 1], test) ||
		    !asks_recall_outcome(search, digest, &outcome))
			continue; /* no outcome: one before took the process */
		search_pair(search, order->data[i - 1], test);
		if (i + 1 < order->n &&
		    order_differs(outcome,
				  (enum outcome)search->known[test].alone))
			TRY(search_suspect(search, test, order->data, i,
					   outcome, false));
	}
	return NULL;
}

/* Is it big enough to be run? */
static bool tree_full(const struct tree *tree)
{
	bool serial = tree->flags & ASK_SERIAL;
	/* A small one first shows how long things take. */
	return tree->nodes.n >= TREE_NODES_MAX ||
	       (tree->nodes.n >= TREE_NODES_MIN &&
		(!search_paced(tree->search, serial) ||
		 search_expect(tree->search, tree->cost, serial) >= TREE_NS));
}

/* What a question adds to the tree. */
static uint64_t asks_cost_of(const struct tree *tree,
			     const struct order_ask *ask)
{
	bool known = !(tree->flags & ASK_ANEW);
	uint64_t digest = 0, cost = 0, node;
	for (size_t i = 0; i < ask->order.n; i++) {
		digest = digest_next(digest, ask->order.data[i]);
		known = known && map_u64_get(&tree->children, digest, &node);
		if (!known)
			cost += search_cost(tree->search, ask->order.data[i]);
	}
	return cost ? cost + tree->search->start_ns : 0;
}

/* Runs what was gathered, and gives the answers. */
static struct err *asks_run_tree(struct tree *tree, struct order_ask *asks,
				 size_t n)
{
	struct order_search *search = tree->search;
	const struct suite_observer observer = {
		.finished = tree_finished,
		.limit = tell_limit,
		.data = tree,
	};
	uint64_t began = clock_now();
	struct err *err = suite_run_tree(
		search->suite, tree->nodes.data, tree->nodes.n,
		tree->flags & ASK_SERIAL ? SUITE_SERIAL : 0, &observer);
	search_took(search, began, tree->cost, n, tree->flags & ASK_SERIAL);
	tree->cost = 0;
	for (size_t i = 0; !(tree->flags & ASK_ANEW) && i < tree->nodes.n;
	     i++) {
		enum outcome outcome = (enum outcome)tree->outcomes.data[i];
		struct err *failed =
			outcome ? asks_remember_outcome(search,
							tree->digests.data[i],
							outcome)
				: NULL;
		if (failed && !err)
			err = failed;
		else
			err_ignore(failed);
	}
	for (size_t i = 0; i < n; i++) {
		struct order_ask *ask = &asks[i];
		if (ask->node == ORDER_NONE)
			continue;
		ask->outcome = (enum outcome)tree->outcomes.data[ask->node];
		ask->fresh = true;
		ask->node = ORDER_NONE;
		if (!err && !(tree->flags & ASK_ANEW))
			err = note_pairs(search, &ask->order);
	}
	tree->nodes.n = tree->digests.n = 0;
	tree->outcomes.n = tree->asks.n = 0;
	map_u64_free(&tree->children);
	return err;
}

static struct err *is_known(struct order_search *search, struct order_ask *ask,
			    unsigned flags, bool *ret)
{
	*ret = ask->impossible || ask->outcome;
	if (*ret || flags & ASK_ANEW ||
	    !asks_recall_outcome(search, asks_digest_of(&ask->order),
				 &ask->outcome))
		return NULL;
	*ret = true;
	return note_pairs(search, &ask->order);
}

struct err *asks_run(struct order_search *search, struct order_asks *asks,
		     unsigned flags)
{
	_cleanup_(tree_freep) struct tree tree = {
		.search = search,
		.flags = flags,
	};
	bool serial = flags & ASK_SERIAL;
	size_t from = 0, in_block = 0, left = 0;
	for (size_t i = 0; i < asks->n; i++) {
		struct order_ask *ask = &asks->data[i];
		bool known;
		TRY(is_known(search, ask, flags, &known));
		if (known)
			continue;
		if (tree_full(&tree)) {
			tree.first = asks->data + from;
			TRY(asks_run_tree(&tree, asks->data + from, i - from));
			from = i;
			in_block = 0;
		}
		if (search_late(search)) {
			left += asks->n - i;
			break;
		}
		if (in_block++ >=
		    MAX((size_t)BLOCK_MIN, BLOCK_PREFIXES * ask->order.n)) {
			in_block = 1;
			map_u64_free(&tree.children);
		}
		uint64_t cost = asks_cost_of(&tree, ask);
		if (!search_fits(search, tree.cost + cost, serial)) {
			left++;
			continue;
		}
		tree.cost += cost;
		tree.first = asks->data + from;
		TRY(tree_add(&tree, ask));
	}
	if (left)
		log_debug(LOG_ORDER, "%zu of %zu orders not tried: %s", left,
			  asks->n, search->result->reach.why);
	return tree.nodes.n
		       ? asks_run_tree(&tree, asks->data + from, asks->n - from)
		       : NULL;
}

struct err *asks_one(struct order_search *search, const size_t *prefix,
		     size_t n, size_t test, unsigned flags, enum outcome *ret)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	TRY(asks_add(search, &asks, prefix, n, test));
	TRY(asks_run(search, &asks, flags));
	*ret = asks.data[0].outcome;
	return NULL;
}

struct err *asks_recall(struct order_search *search, const size_t *prefix,
			size_t n, size_t test, enum outcome *ret)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	TRY(asks_add(search, &asks, prefix, n, test));
	*ret = OUTCOME_NONE;
	if (!asks.data[0].impossible)
		asks_recall_outcome(search, asks_digest_of(&asks.data[0].order),
				    ret);
	return NULL;
}

struct err *asks_judge(struct order_search *search, struct order_asks *asks,
		       bool *ret_all)
{
	TRY(asks_run(search, asks, 0));
	bool all = true;
	for (size_t i = 0; i < asks->n; i++) {
		const struct order_ask *ask = &asks->data[i];
		if (ask->impossible)
			continue;
		size_t test = ask->order.data[ask->order.n - 1];
		all &= ask->outcome != OUTCOME_NONE;
		if (order_differs(ask->outcome,
				  (enum outcome)search->known[test].alone))
			TRY(search_suspect(search, test, ask->order.data,
					   ask->order.n - 1, ask->outcome,
					   false));
	}
	asks_clear(asks);
	if (ret_all)
		*ret_all = all && !search_late(search);
	return NULL;
}
