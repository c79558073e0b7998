#include "state/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "state/compare_internal.h"

static int root_compare_address(const void *a, const void *b)
{
	const struct root_span *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static const char *root_name(const struct state *state, uint32_t id)
{
	return state->options.roots[id].name;
}

/* Roots by address; of those that overlap, the first stays. */
static struct err *sort_roots(struct state *state)
{
	for (size_t i = 0; i < state->options.n_roots; i++) {
		const struct state_root *root = &state->options.roots[i];
		uint64_t size = MIN(root->size, OBJECT_MAX);
		struct root_span span = { root->address, root->address + size,
					  (uint32_t)i };
		if (size && span.start < span.end)
			TRY(vec_push(&state->spans, span));
		else
			log_debug(
				LOG_STATE,
				"root '%s' is left out: its size is not known",
				root->name);
	}
	if (!state->spans.n)
		return NULL;
	qsort(state->spans.data, state->spans.n, sizeof(struct root_span),
	      root_compare_address);
	size_t n = 0;
	for (size_t i = 0; i < state->spans.n; i++) {
		if (n &&
		    state->spans.data[i].start < state->spans.data[n - 1].end) {
			log_debug(
				LOG_STATE,
				"root '%s' is left out: it overlaps '%s'",
				root_name(state, state->spans.data[i].id),
				root_name(state, state->spans.data[n - 1].id));
			continue;
		}
		state->spans.data[n++] = state->spans.data[i];
	}
	state->spans.n = n;
	return NULL;
}

struct err *state_create(const struct type_pool *pool,
			 struct containers *containers,
			 const struct state_options *options,
			 struct state **ret)
{
	_cleanup_(state_destroyp) struct state *state =
		calloc(1, sizeof(*state));
	if (!state)
		return err_nomem();
	state->pool = pool;
	state->containers = containers;
	state->options = *options;
	TRY(layout_init(&state->layout, pool, containers));
	state->layout.class_at = walk_class_at;
	state->layout.data = state;
	state->more = calloc(options->n_roots + 1, sizeof(*state->more));
	state->reported =
		calloc(options->n_roots + 1, sizeof(*state->reported));
	state->kinds = calloc(options->n_roots + 1, sizeof(*state->kinds));
	state->lengths = malloc((options->n_roots + 1) * sizeof(uint32_t));
	if (!state->more || !state->reported || !state->kinds ||
	    !state->lengths)
		return err_nomem();
	memset(state->lengths, 0xff, (options->n_roots + 1) * sizeof(uint32_t));
	TRY(sort_roots(state));
	TRY(regexes_add(&state->exclude_fields, "--exclude-fields",
			options->exclude_fields));
	*ret = take_ptr(state);
	return NULL;
}

void state_destroy(struct state *state)
{
	if (!state)
		return;
	layout_free(&state->layout);
	nodes_free(&state->nodes);
	vec_free(&state->spans);
	vec_free(&state->work);
	regexes_free(&state->exclude_fields);
	container_contents_free(&state->contents);
	free(state->more);
	free(state->reported);
	free(state->kinds);
	free(state->lengths);
	free(state);
}

static struct err *state_add_root(struct state *state, size_t index)
{
	const struct state_root *root = &state->options.roots[index];
	const struct type *type = type_get(state->pool, root->type);
	struct node node = {
		.start = root->address,
		.size = MIN(root->size, OBJECT_MAX),
		.type = type->size ? root->type : TYPE_UNKNOWN,
		.count = 1,
		.parent = NODE_NONE,
		.index = (uint32_t)index,
		.root = (uint32_t)index,
		.kind = NODE_ROOT,
	};
	uint32_t id;
	TRY(nodes_add(&state->nodes, &node, &id));
	BUG_ON(id != index);
	return vec_push(&state->work, id);
}

static struct err *add_roots(struct state *state)
{
	nodes_free(&state->nodes);
	state->work.n = state->worked = 0;
	for (size_t i = 0; i < state->options.n_roots; i++)
		TRY(state_add_root(state, i));
	/* One of several variables at one place is enough. */
	for (size_t i = 0; i < state->options.n_roots; i++)
		nodes_kill(&state->nodes, (uint32_t)i);
	for (size_t i = 0; i < state->spans.n; i++)
		nodes_revive(&state->nodes, state->spans.data[i].id);
	return NULL;
}

struct err *state_index(struct state *state, const struct view *view)
{
	TRY(add_roots(state));
	state->indexed++;
	return walk_all_roots(state, view);
}

struct err *state_index_root(struct state *state, const struct view *view,
			     size_t root)
{
	TRY(add_roots(state));
	state->work.n = 0;
	TRY(vec_push(&state->work, (uint32_t)root));
	return walk_all_roots(state, view);
}

static bool is_skipped(const struct state *state, type_id type)
{
	const struct container_recipe *recipe =
		container_recipe(state->containers, type);
	return recipe && container_recipe_shape(recipe) == CONTAINER_SKIP;
}

struct err *state_reach(struct state *state, const struct view *view,
			size_t root, state_reached *visit, void *data)
{
	state->whole = true;
	struct err *err = state_index_root(state, view, root);
	state->whole = false;
	TRY(err);
	for (size_t i = 0; i < state->nodes.all.n; i++) {
		const struct node *node = &state->nodes.all.data[i];
		if (node->flags & NODE_DEAD ||
		    (node->kind == NODE_ROOT && i != root) ||
		    is_skipped(state, node->type))
			continue;
		const struct state_extent extent = {
			.address = node->start,
			.size = node->size,
			.block = node->kind == NODE_BLOCK,
		};
		TRY(visit(data, &extent));
	}
	return NULL;
}

struct err *state_each_block(const struct state *state, state_block *visit,
			     void *data)
{
	for (size_t i = 0; i < state->nodes.all.n; i++) {
		const struct node *node = &state->nodes.all.data[i];
		if (node->kind == NODE_BLOCK && !(node->flags & NODE_DEAD) &&
		    !walk_doubt(state, (uint32_t)i))
			TRY(visit(data, node->root, node->start, node->size));
	}
	return NULL;
}

size_t state_more(const struct state *state, size_t root)
{
	return state->more[root];
}

unsigned state_kinds(const struct state *state, size_t root)
{
	return state->kinds[root];
}

struct err *state_describe(struct state *state, const struct view *view,
			   size_t root, char **ret)
{
	const struct state_root *at = &state->options.roots[root];
	return describe_object(state, view, at->type, at->address, at->size,
			       ret);
}

uint64_t state_digest(struct state *state, const struct view *view, size_t root)
{
	const struct state_root *at = &state->options.roots[root];
	return describe_hash(state, view, at->type, at->address, 0);
}

struct state_counts state_counts(const struct state *state)
{
	return (struct state_counts){
		.nodes = state->nodes.all.n - state->nodes.dead,
		.indexed = state->indexed,
	};
}
