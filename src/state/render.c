/* The subgraph of a root, for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/state_internal.h"

struct render {
	struct state *state;
	const struct view *view;
	struct str *out;
	/* Objects to be shown, in the order found; a number each. */
	VEC(uint64_t) addresses;
	VEC(type_id) types;
	struct map_u64 numbers;
	uint64_t start;
	size_t lines;
	size_t max;
};

static struct err *render_reference(struct render *render, type_id type,
				    uint64_t address, uint64_t *ret)
{
	if (map_u64_get(&render->numbers, address, ret))
		return NULL;
	*ret = render->addresses.n;
	TRY(map_u64_put(&render->numbers, address, *ret));
	TRY(vec_push(&render->addresses, address));
	return vec_push(&render->types, type);
}

static struct err *show_reference(struct render *render, type_id type,
				  uint64_t value)
{
	struct target target;
	walk_target(render->state, render->view, type, value, &target);
	if (target.kind != TARGET_BLOCK && target.kind != TARGET_LOOSE)
		return NULL;
	if (type_get(render->state->pool, type)->kind == TYPE_CHAR ||
	    !type_get(render->state->pool, type)->size)
		return NULL;
	uint64_t start, number;
	type = walk_dynamic(render->state, render->view, type, value, &start);
	TRY(render_reference(render, type, start, &number));
	return str_appendf(render->out, " → #%" PRIu64, number);
}

static struct err *show_leaf(void *data, const struct leaf *leaf)
{
	struct render *render = data;
	if (render->lines >= render->max)
		return NULL;
	render->lines++;
	_cleanup_(freep) char *value = NULL;
	uint64_t address = render->start + leaf->offset;
	TRY(describe_leaf(render->state, render->view, leaf, address, &value));
	TRY(str_appendf(render->out, "      +%-4" PRIu64 " %s", leaf->offset,
			value));
	if (leaf->kind == LEAF_POINTER)
		TRY(show_reference(render, leaf->type,
				   walk_word(render->view, address)));
	return str_append(render->out, "\n");
}

static struct err *show_object(struct render *render, size_t i)
{
	struct state *state = render->state;
	type_id type = render->types.data[i];
	uint64_t size = type_get(state->pool, type)->size;
	char name[128];
	type_describe(state->pool, type, name, sizeof(name));
	render->lines++;
	TRY(str_appendf(render->out, "    #%zu ", i));
	TRY(str_append_escaped(render->out, name, strlen(name)));
	TRY(str_append(render->out, "\n"));
	render->start = render->addresses.data[i];
	struct layout_object object = {
		.type = type,
		.size = size,
		.view = render->view,
		.address = render->start,
	};
	/* No more of it can be shown. */
	uint64_t end = MIN(size, (uint64_t)65536);
	return layout_visit(&state->layout, &object, 0, end, 0, show_leaf,
			    render);
}

static struct err *show_all(struct render *render, size_t root)
{
	const struct state_root *at = &render->state->options.roots[root];
	uint64_t number;
	TRY(render_reference(render, at->type, at->address, &number));
	for (size_t i = 0; i < render->addresses.n; i++) {
		if (render->lines >= render->max)
			return str_append(render->out, "    …\n");
		TRY(show_object(render, i));
	}
	return NULL;
}

struct err *state_render(struct state *state, const struct view *view,
			 size_t root, size_t lines, char **ret)
{
	_cleanup_(str_freep) struct str out = STR_INIT;
	struct render render = {
		.state = state, .view = view, .out = &out, .max = lines
	};
	struct err *err = show_all(&render, root);
	vec_free(&render.addresses);
	vec_free(&render.types);
	map_u64_free(&render.numbers);
	if (err)
		return err;
	*ret = str_take(&out);
	return *ret ? NULL : err_nomem();
}
