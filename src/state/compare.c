/* Comparing two moments: what was written, and what it leads to. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "state/compare_internal.h"

/* At most this many differences of one root are searched for. */
#define DIFFERENCES_MAX 4096

struct err *compare_identity(struct compare *compare, uint32_t node,
			     uint32_t *ret)
{
	const struct node *self = nodes_get(&compare->state->nodes, node);
	struct compare_place place = {
		.shape = *self,
		.before = self->start,
		.before_size = self->size,
		.node = node,
		.parent = PLACE_NONE,
	};
	*ret = (uint32_t)compare->places.n;
	return vec_push(&compare->places, place);
}

static struct err *compare_describe_value(struct compare *compare,
					  const struct view *view,
					  const struct leaf *leaf,
					  uint64_t start, const char *given,
					  char **ret)
{
	if (given) {
		*ret = strdup(given);
		return *ret ? NULL : err_nomem();
	}
	return describe_leaf(compare->state, view, leaf, start + leaf->offset,
			     ret);
}

static void difference_free(struct state_difference *difference)
{
	free(difference->path);
	free(difference->before);
	free(difference->after);
}

void state_differences_clear(struct state_differences *differences)
{
	for (size_t i = 0; i < differences->n; i++)
		difference_free(&differences->data[i]);
	differences->n = 0;
}

void state_differences_free(struct state_differences *differences)
{
	state_differences_clear(differences);
	vec_free(differences);
}

/* Two values that look the same, but are at another place or another object. */
static struct err *compare_tell_values_apart(
	struct compare *compare, const struct compare_place *place,
	const struct leaf *leaf, struct state_difference *difference)
{
	struct target was = {}, is = {};
	if (leaf->kind == LEAF_POINTER || leaf->kind == LEAF_WORDS) {
		walk_target(compare->state, compare->before, TYPE_UNKNOWN,
			    walk_word(compare->before,
				      place->before + leaf->offset),
			    &was);
		walk_target(compare->state, compare->after, TYPE_UNKNOWN,
			    walk_word(compare->after,
				      place->shape.start + leaf->offset),
			    &is);
	}
	char *before = NULL, *after = NULL;
	int failed;
	if (was.offset != is.offset) {
		failed = asprintf(&before, "%s at byte %" PRIu64,
				  difference->before, was.offset) < 0 ||
			 asprintf(&after, "%s at byte %" PRIu64,
				  difference->after, is.offset) < 0;
	} else {
		failed = asprintf(&before, "%s", difference->before) < 0 ||
			 asprintf(&after, "%s (another one)",
				  difference->after) < 0;
	}
	if (failed)
		return err_nomem();
	free(difference->before);
	free(difference->after);
	difference->before = before;
	difference->after = after;
	return NULL;
}

static unsigned report_kind(const struct difference_report *told)
{
	return told->kind ? told->kind : VALUE_OTHER;
}

/* A time stamp of the root that another difference may displace, plus 1. */
static size_t find_time_stamp(const struct compare *compare, uint32_t root,
			      unsigned kind)
{
	if (kind == VALUE_TIME || !(compare->state->kinds[root] & VALUE_TIME))
		return 0;
	for (size_t i = compare->ret->n; i > 0; i--) {
		const struct state_difference *one = &compare->ret->data[i - 1];
		if (one->root == root && one->kind == VALUE_TIME)
			return i;
	}
	return 0;
}

/* Is there room for one more path of the root? */
static bool has_room(const struct compare *compare, uint32_t root,
		     unsigned kind)
{
	const struct state *state = compare->state;
	return state->reported[root] < state->options.paths ||
	       find_time_stamp(compare, root, kind);
}

static void make_room(struct compare *compare, uint32_t root, unsigned kind)
{
	struct state *state = compare->state;
	struct state_differences *all = compare->ret;
	size_t at = find_time_stamp(compare, root, kind);
	if (state->reported[root] < state->options.paths || !at)
		return;
	difference_free(&all->data[at - 1]);
	memmove(&all->data[at - 1], &all->data[at],
		(all->n - at) * sizeof(*all->data));
	all->n--;
	state->reported[root]--;
	state->more[root]++;
}

static struct err *report_path(struct compare *compare, uint32_t id,
			       const struct difference_report *told,
			       const struct path *path)
{
	struct state *state = compare->state;
	const struct compare_place *place = &compare->places.data[id];
	if (regexes_match(&state->exclude_fields, path->text)) {
		log_debug(LOG_STATE, "%s is ignored: --exclude-fields",
			  path->text);
		return NULL;
	}
	unsigned kind = report_kind(told);
	compare->differences++;
	state->kinds[path->root] |= kind;
	make_room(compare, path->root, kind);
	if (state->reported[path->root] >= state->options.paths) {
		log_debug(LOG_STATE,
			  "%s is only counted: %zu differences of its root are "
			  "reported already",
			  path->text, (size_t)state->reported[path->root]);
		state->more[path->root]++;
		return NULL;
	}
	state->reported[path->root]++;
	struct state_difference difference = {
		.root = path->root,
		.address = path->address,
		.size = path->size,
		.heap = path->heap,
		.depth = path->depth,
		.kind = kind,
		.type = told->leaf ? told->leaf->type : TYPE_UNKNOWN,
		.pointer = told->leaf && told->leaf->kind == LEAF_POINTER,
		.stack = told->stack,
		.dead = told->dead,
	};
	uint64_t before = place->before, after = place->shape.start;
	struct err *err = compare_describe_value(
		compare, compare->before, told->leaf, before, told->before,
		&difference.before);
	if (!err)
		err = compare_describe_value(compare, compare->after,
					     told->leaf, after, told->after,
					     &difference.after);
	if (!err && !strcmp(difference.before, difference.after))
		err = compare_tell_values_apart(compare, place, told->leaf,
						&difference);
	if (!err) {
		difference.path = strdup(path->text);
		err = difference.path ? vec_push(compare->ret, difference)
				      : err_nomem();
	}
	if (err)
		difference_free(&difference);
	return err;
}

/*
 * Is the way to it from the root only guessed? Words that changed are no part of
 * that: the test wrote them, whatever they mean.
 */
static bool compare_is_guess(const struct compare *compare, uint32_t id)
{
	const struct compare_place *place = &compare->places.data[id];
	while (place->parent != PLACE_NONE)
		place = &compare->places.data[place->parent];
	return place->node != NODE_NONE &&
	       walk_doubt(compare->state, place->node) >= DOUBT_MAX;
}

struct err *compare_report(struct compare *compare, uint32_t id,
			   const struct difference_report *told)
{
	const struct compare_place *place = &compare->places.data[id];
	uint64_t known;
	/* A leaf may be met twice: it may be on two pages. */
	uint64_t key = (place->shape.start + told->leaf->offset) * 8 +
		       told->leaf->bit_offset;
	if (map_u64_get(&compare->seen, key, &known))
		return NULL;
	TRY(map_u64_put(&compare->seen, key, 1));
	if (!compare->ret)
		return NULL;
	if (compare_is_guess(compare, id)) {
		log_debug(
			LOG_STATE,
			"a difference under '%s' does not count: what leads "
			"to it is only guessed",
			compare->state->options.roots[place->shape.root].name);
		return NULL;
	}
	struct state *state = compare->state;
	uint32_t root = place->shape.root;
	if (!state->exclude_fields.n &&
	    !has_room(compare, root, report_kind(told))) {
		/* They are only counted: a path may be long. */
		compare->differences++;
		state->kinds[root] |= report_kind(told);
		state->more[root]++;
		return NULL;
	}
	struct path path = {};
	bool valid;
	TRY(path_find(compare, id, told->leaf, &path, &valid));
	if (!valid) {
		compare->stale = true;
		free(path.text);
		return NULL;
	}
	struct err *err = report_path(compare, id, told, &path);
	free(path.text);
	return err;
}

static struct err *report_leaf(struct compare *compare, uint32_t place,
			       const struct leaf *leaf)
{
	struct difference_report told = { .leaf = leaf };
	return compare_report(compare, place, &told);
}

/* ---- leaves ---- */

#define NUMBER_MAX 16

static void keep_bits(uint8_t *bytes, const struct leaf *leaf)
{
	uint64_t value = 0, mask;
	memcpy(&value, bytes, leaf->size);
	mask = leaf->bit_size >= 64 ? UINT64_MAX
				    : ((uint64_t)1 << leaf->bit_size) - 1;
	value = value >> leaf->bit_offset & mask;
	memset(bytes, 0, NUMBER_MAX);
	memcpy(bytes, &value, sizeof(value));
}

static bool same_float(const uint8_t *a, const uint8_t *b, size_t n)
{
	if (n == sizeof(float)) {
		float x, y;
		memcpy(&x, a, n);
		memcpy(&y, b, n);
		return !memcmp(a, b, n) || (isnan(x) && isnan(y));
	}
	if (n == sizeof(double)) {
		double x, y;
		memcpy(&x, a, n);
		memcpy(&y, b, n);
		return !memcmp(a, b, n) || (isnan(x) && isnan(y));
	}
	if (n == sizeof(long double)) {
		long double x, y;
		memcpy(&x, a, n);
		memcpy(&y, b, n);
		/* x87: ten bytes count, the others are padding. */
		return !memcmp(a, b, 10) || (isnan(x) && isnan(y));
	}
	return !memcmp(a, b, n);
}

static struct err *compare_number(struct compare *compare, uint32_t id,
				  const struct leaf *leaf)
{
	const struct compare_place *place = &compare->places.data[id];
	const struct type *type = type_get(compare->state->pool, leaf->type);
	uint8_t was[2 * NUMBER_MAX] = {}, is[2 * NUMBER_MAX] = {};
	size_t n = MIN(leaf->size, sizeof(was));
	if (!view_read(compare->before, place->before + leaf->offset, was, n) ||
	    !view_read(compare->after, place->shape.start + leaf->offset, is,
		       n))
		return NULL;
	if (leaf->bit_size && n <= 8) {
		keep_bits(was, leaf);
		keep_bits(is, leaf);
		n = sizeof(uint64_t);
	}
	bool same;
	if (leaf->kind == LEAF_FLOAT && type->kind == TYPE_COMPLEX)
		same = same_float(was, is, n / 2) &&
		       same_float(was + n / 2, is + n / 2, n / 2);
	else if (leaf->kind == LEAF_FLOAT)
		same = same_float(was, is, n);
	else
		same = !memcmp(was, is, n);
	if (same)
		return NULL;
	struct difference_report told = {
		.leaf = leaf,
		.kind = kinds_of_number(compare, place, leaf, was, is, n),
	};
	return compare_report(compare, id, &told);
}

/* How many bytes are the same, up to @n. */
static uint64_t same_bytes(const struct compare *compare, uint64_t was,
			   uint64_t is, uint64_t n)
{
	uint8_t a[256], b[256];
	for (uint64_t at = 0; at < n; at += sizeof(a)) {
		size_t part = MIN(n - at, sizeof(a)), same = 0;
		if (!view_read(compare->before, was + at, a, part) ||
		    !view_read(compare->after, is + at, b, part))
			return at;
		while (same < part && a[same] == b[same])
			same++;
		if (same < part)
			return at + same;
	}
	return n;
}

struct err *compare_texts(struct compare *compare, uint32_t place,
			  const struct leaf *leaf, uint64_t unit, uint64_t was,
			  uint64_t n, uint64_t is, uint64_t m, uint32_t stack)
{
	struct state *state = compare->state;
	uint64_t same = same_bytes(compare, was, is, MIN(n, m));
	if (n == m && same == n)
		return NULL;
	_cleanup_(freep) char *before = NULL, *after = NULL;
	TRY(describe_text(state, compare->before, was, unit, n, same, &before));
	TRY(describe_text(state, compare->after, is, unit, m, same, &after));
	struct difference_report told = {
		.leaf = leaf, .before = before, .after = after, .stack = stack
	};
	return compare_report(compare, place, &told);
}

static struct err *compare_strings(struct compare *compare, uint32_t place,
				   const struct leaf *leaf, uint64_t unit,
				   uint64_t was, uint64_t was_max, uint64_t is,
				   uint64_t is_max, uint32_t stack)
{
	uint64_t n =
		walk_text(compare->before, was, unit, MIN(was_max, TEXT_MAX));
	uint64_t m = walk_text(compare->after, is, unit, MIN(is_max, TEXT_MAX));
	return compare_texts(compare, place, leaf, unit, was, n, is, m, stack);
}

static struct err *compare_text(struct compare *compare, uint32_t id,
				const struct leaf *leaf)
{
	const struct state *state = compare->state;
	const struct compare_place *place = &compare->places.data[id];
	const struct type *type = type_get(state->pool, leaf->type);
	if (type->kind == TYPE_ARRAY)
		type = type_get(state->pool, type->target);
	uint64_t was_max = leaf->size, is_max = leaf->size;
	if (place->shape.flags & NODE_TEXT) {
		was_max = place->before_size -
			  MIN(place->before_size, leaf->offset);
		is_max = place->shape.size -
			 MIN(place->shape.size, leaf->offset);
	}
	uint64_t was = place->before + leaf->offset;
	uint64_t is = place->shape.start + leaf->offset;
	/* A long one is compared whole, whichever of its pages was written. */
	if (was == compare->text_was && is == compare->text_is)
		return NULL;
	compare->text_was = was;
	compare->text_is = is;
	return compare_strings(compare, id, leaf, type->size, was, was_max, is,
			       is_max, 0);
}

/* ---- pointers ---- */

static struct err *compare_contest_leaf(struct compare *compare, uint32_t place,
					const struct leaf *leaf,
					uint64_t before, uint64_t after)
{
	struct contested contested = { place, *leaf, before, after };
	return vec_push(&compare->contested, contested);
}

struct err *compare_pair(struct compare *compare, uint32_t place,
			 const struct leaf *leaf, uint64_t before,
			 uint64_t after, bool *ret_new, bool *ret_equal)
{
	uint64_t known;
	*ret_new = false;
	*ret_equal = true;
	bool to = map_u64_get(&compare->forward, before, &known);
	if (to && known == after)
		return NULL;
	bool from = map_u64_get(&compare->backward, after, &known);
	if (to || from) {
		struct difference_report told = { .leaf = leaf };
		*ret_equal = false;
		told.after = "the same value, but another object: what shared "
			     "it before no longer does";
		if (from)
			told.after = "the same value, but now an object that "
				     "others share";
		return compare_report(compare, place, &told);
	}
	*ret_new = true;
	TRY(map_u64_put(&compare->forward, before, after));
	TRY(map_u64_put(&compare->backward, after, before));
	if (before == after)
		return NULL;
	/* Does either of the two stand for itself elsewhere? */
	const struct nodes *nodes = &compare->state->nodes;
	struct view_block block;
	bool still =
		nodes_find(nodes, before) != NODE_NONE &&
		compare->after->block &&
		compare->after->block(compare->after->data, before, &block) &&
		block.start == before;
	bool already =
		nodes_find(nodes, after) != NODE_NONE &&
		compare->before->block &&
		compare->before->block(compare->before->data, after, &block) &&
		block.start == after;
	if (still || already)
		return compare_contest_leaf(compare, place, leaf, before,
					    after);
	return NULL;
}

/*
 * If there is a length next to an array's pointer, only that much is compared.
 */
static void use_length(const struct compare *compare,
		       const struct compare_place *owner,
		       const struct leaf *leaf, struct compare_place *place)
{
	struct node *shape = &place->shape;
	bool typed = shape->type != TYPE_UNKNOWN;
	uint64_t room =
		typed ? shape->count : MIN(shape->size, place->before_size);
	if (shape->flags & NODE_TEXT || room <= 1)
		return;
	uint64_t used = extent_used(compare, &owner->shape, owner->before,
				    leaf->offset, shape->type, room);
	if (used >= room)
		return;
	if (typed) {
		shape->count = used;
		shape->flags |= NODE_BARE;
	} else {
		place->before_size = used;
	}
}

static struct err *push_place(struct compare *compare, uint32_t parent,
			      const struct leaf *leaf, const struct target *was,
			      const struct target *is, type_id type,
			      uint64_t typed)
{
	struct state *state = compare->state;
	struct compare_place place = {
		.shape = {
			.start = is->start,
			.size = is->size,
			.edge = leaf->offset,
			.stack = is->stack,
			.root = compare->places.data[parent].shape.root,
			.kind = is->kind == TARGET_BLOCK ? NODE_BLOCK : NODE_LOOSE,
		},
		.before = was->start,
		.before_size = was->size,
		.node = NODE_NONE,
		.parent = parent,
	};
	struct walk_edge edge = { .edge = leaf->offset };
	if (is->slack || was->slack)
		place.shape.flags |= NODE_SLACK;
	/* What both have: capacities may differ. */
	place.shape.size = MIN(was->size, is->size);
	walk_explain(state, &place.shape, type, typed, &edge);
	place.shape.size = is->size;
	if (leaf->kind == LEAF_CONTAINER)
		place.shape.flags |= NODE_BARE;
	else
		use_length(compare, &compare->places.data[parent], leaf,
			   &place);
	return vec_push(&compare->places, place);
}

struct err *compare_report_pointer(struct compare *compare, uint32_t place,
				   const struct leaf *leaf,
				   const struct target *is)
{
	struct difference_report told = { .leaf = leaf };
	if (is->kind == TARGET_BLOCK)
		told.stack = is->stack;
	if (is->kind == TARGET_DANGLING)
		told.after = "(freed memory)";
	told.dead = is->kind == TARGET_DEAD && leaf->kind == LEAF_POINTER;
	return compare_report(compare, place, &told);
}

static bool same_kind(const struct target *was, const struct target *is)
{
	if (was->kind == is->kind)
		return true;
	return (was->kind == TARGET_BLOCK && is->kind == TARGET_LOOSE) ||
	       (was->kind == TARGET_LOOSE && is->kind == TARGET_BLOCK);
}

static struct err *follow_pointer(struct compare *compare, uint32_t place,
				  const struct leaf *leaf, type_id type,
				  uint64_t was, uint64_t is,
				  struct target *before, struct target *after)
{
	struct state *state = compare->state;
	uint64_t top_was = was, top_is = is;
	type_id class_was =
		walk_dynamic(state, compare->before, type, was, &top_was);
	type_id class_is =
		walk_dynamic(state, compare->after, type, is, &top_is);
	if (class_was != class_is)
		return compare_report_pointer(compare, place, leaf, after);
	if (before->kind == TARGET_LOOSE && after->kind == TARGET_LOOSE &&
	    class_is != type) {
		before->start = top_was;
		after->start = top_is;
		before->size = after->size =
			type_get(state->pool, class_is)->size;
	}
	if (top_was - before->start != top_is - after->start)
		return compare_report_pointer(compare, place, leaf, after);
	bool fresh, equal;
	TRY(compare_pair(compare, place, leaf, before->start, after->start,
			 &fresh, &equal));
	if (!fresh || !equal)
		return NULL;
	uint32_t node = nodes_find(&state->nodes, after->start);
	if (before->start == after->start && before->size == after->size &&
	    before->kind == after->kind && node != NODE_NONE)
		/* Stands for itself: handled where it was written. */
		return compare_adopt(compare, node, place, leaf->offset);
	uint64_t typed = top_is - after->start;
	return push_place(compare, place, leaf, before, after, class_is, typed);
}

struct err *compare_pointer(struct compare *compare, uint32_t place,
			    const struct leaf *leaf, type_id type, uint64_t was,
			    uint64_t is)
{
	struct state *state = compare->state;
	struct target before, after;
	walk_target(state, compare->before, type, was, &before);
	walk_target(state, compare->after, type, is, &after);
	if (was != is && before.kind == TARGET_BLOCK)
		TRY(vec_push(&compare->dropped, before.start));
	if (before.kind == TARGET_NULL && after.kind == TARGET_NULL)
		return NULL;
	if (before.kind == TARGET_DANGLING && after.kind == TARGET_DANGLING)
		return NULL;
	/*
	 * It was dangling and did not change: what is there now is unrelated.
	 */
	if (before.kind == TARGET_DANGLING && was == is)
		return NULL;
	const struct type *target = type_get(state->pool, type);
	bool content =
		(before.kind == TARGET_BLOCK || before.kind == TARGET_LOOSE) &&
		(after.kind == TARGET_BLOCK || after.kind == TARGET_LOOSE);
	if (target->kind == TYPE_CHAR && content) {
		/* Further on in the same text is another place. */
		if (before.kind == TARGET_BLOCK && was != is &&
		    before.start == after.start && before.size == after.size)
			return compare_report_pointer(compare, place, leaf,
						      &after);
		return compare_strings(compare, place, leaf, target->size, was,
				       before.size - before.offset, is,
				       after.size - after.offset,
				       after.kind == TARGET_BLOCK ? after.stack
								  : 0);
	}
	if (!same_kind(&before, &after))
		return compare_report_pointer(compare, place, leaf, &after);
	if (content)
		return follow_pointer(compare, place, leaf, type, was, is,
				      &before, &after);
	if (was == is)
		return NULL;
	return compare_report_pointer(compare, place, leaf, &after);
}

static struct err *compare_words(struct compare *compare, uint32_t id,
				 const struct leaf *leaf)
{
	uint64_t end = leaf->offset + leaf->size;
	for (uint64_t at = leaf->offset; at < end;) {
		const struct compare_place place = compare->places.data[id];
		uint64_t was = place.before + at, is = place.shape.start + at;
		bool whole = !(is % 8) && !(was % 8) && at + 8 <= end;
		uint64_t n = whole ? 8 : MIN(8 - is % 8, end - at);
		uint64_t a = 0, b = 0;
		if (!view_read(compare->before, was, &a, n) ||
		    !view_read(compare->after, is, &b, n))
			return NULL;
		struct leaf word = { LEAF_WORDS, leaf->type, at, n, 0, 0 };
		at += n;
		if (a == b)
			continue;
		struct target before, after;
		if (whole) {
			walk_target(compare->state, compare->before,
				    TYPE_UNKNOWN, a, &before);
			walk_target(compare->state, compare->after,
				    TYPE_UNKNOWN, b, &after);
		}
		bool pointers = whole && (before.kind == TARGET_BLOCK ||
					  before.kind == TARGET_ROOT ||
					  after.kind == TARGET_BLOCK ||
					  after.kind == TARGET_ROOT);
		if (pointers) {
			TRY(compare_pointer(compare, id, &word, TYPE_UNKNOWN, a,
					    b));
			continue;
		}
		TRY(report_leaf(compare, id, &word));
	}
	return NULL;
}

struct err *compare_leaf(struct compare *compare, uint32_t id,
			 const struct leaf *leaf)
{
	const struct compare_place *place = &compare->places.data[id];
	if (leaf->offset + leaf->size >
		    MIN(place->shape.size, place->before_size) &&
	    leaf->kind != LEAF_TEXT && leaf->kind != LEAF_WORDS)
		return NULL;
	switch (leaf->kind) {
	case LEAF_NUMBER:
	case LEAF_FLOAT:
	case LEAF_CODE:
		return compare_number(compare, id, leaf);
	case LEAF_TEXT:
		return compare_text(compare, id, leaf);
	case LEAF_POINTER: {
		uint64_t was = walk_word(compare->before,
					 place->before + leaf->offset);
		uint64_t is = walk_word(compare->after,
					place->shape.start + leaf->offset);
		return compare_pointer(compare, id, leaf, leaf->type, was, is);
	}
	case LEAF_WORDS: {
		struct leaf words = *leaf;
		uint64_t room = MIN(place->shape.size, place->before_size);
		words.size = MIN(words.size, room - MIN(room, words.offset));
		return compare_words(compare, id, &words);
	}
	case LEAF_CONTAINER: {
		bool different;
		return compare_container(compare, id, leaf, &different);
	}
	}
	return NULL;
}

struct leaves {
	struct compare *compare;
	uint32_t place;
	uint64_t from, to; /* LEAF_WORDS are cut to these */
};

static struct err *compare_each(void *data, const struct leaf *leaf)
{
	struct leaves *leaves = data;
	struct leaf cut = *leaf;
	if (leaf->kind == LEAF_WORDS) {
		/* Whole words: they may be pointers. */
		uint64_t to = leaves->to;
		if (to <= UINT64_MAX - 7)
			to = (to + 7) & ~(uint64_t)7;
		uint64_t end = MIN(leaf->offset + leaf->size, to);
		uint64_t from = leaves->from & ~(uint64_t)7;
		cut.offset = MAX(leaf->offset, from);
		cut.size = end - MIN(end, cut.offset);
	}
	return compare_leaf(leaves->compare, leaves->place, &cut);
}

struct err *compare_untyped_text(struct compare *compare, uint32_t id,
				 bool *ret)
{
	const struct compare_place *place = &compare->places.data[id];
	const struct node *shape = &place->shape;
	*ret = shape->type == TYPE_UNKNOWN && shape->kind != NODE_ROOT &&
	       walk_is_text(compare->before, place->before,
			    place->before_size) &&
	       walk_is_text(compare->after, shape->start, shape->size);
	if (!*ret)
		return NULL;
	struct leaf leaf = { .kind = LEAF_TEXT, .size = shape->size };
	return compare_strings(compare, id, &leaf, 1, place->before,
			       place->before_size, shape->start, shape->size,
			       0);
}

struct err *compare_range(struct compare *compare, uint32_t place,
			  const struct node *node, uint64_t from, uint64_t to)
{
	struct leaves leaves = { compare, place, from, to };
	return walk_leaves(compare->state, compare->after, node, from, to, 0,
			   compare_each, &leaves);
}

/* Nothing but zeros on both sides, on all pages that these bytes are on. */
static bool compare_is_zero_on_both_sides(const struct compare *compare,
					  uint64_t was, uint64_t is)
{
	const uint64_t mask = ~(uint64_t)(VIEW_PAGE - 1);
	return walk_is_blank(compare->before, was & mask) &&
	       walk_is_blank(compare->before, (was + VIEW_PAGE) & mask) &&
	       walk_is_blank(compare->after, is & mask) &&
	       walk_is_blank(compare->after, (is + VIEW_PAGE) & mask);
}

static struct err *compare_large(struct compare *compare, uint32_t id,
				 const struct node *shape)
{
	uint64_t was = compare->places.data[id].before;
	for (uint64_t at = 0; at < shape->size; at += VIEW_PAGE) {
		if (!compare_is_zero_on_both_sides(compare, was + at,
						   shape->start + at))
			TRY(compare_range(compare, id, shape, at,
					  at + VIEW_PAGE));
	}
	return NULL;
}

struct err *compare_place(struct compare *compare, uint32_t id)
{
	struct node shape = compare->places.data[id].shape;
	bool text;
	TRY(compare_untyped_text(compare, id, &text));
	if (text)
		return NULL;
	if (shape.size > LARGE)
		return compare_large(compare, id, &shape);
	return compare_range(compare, id, &shape, 0, UINT64_MAX);
}

struct err *compare_queue(struct compare *compare)
{
	for (; compare->compared < compare->places.n; compare->compared++) {
		uint32_t id = (uint32_t)compare->compared;
		if (compare->places.data[id].node != NODE_NONE)
			continue; /* these are compared where written */
		TRY(state_check_time());
		if (compare->differences > DIFFERENCES_MAX) {
			/* What changed its place is not known. */
			compare->lost = true;
			return NULL;
		}
		TRY(compare_place(compare, id));
	}
	return NULL;
}
