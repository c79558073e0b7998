/*
 * Two graphs side by side, from the roots that both have: equal up to the
 * identity of objects. Each object of one is matched with one of the other, once;
 * where an object meets a second partner, what was shared is not any more, or the
 * other way round.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vm/vm_heap_compare.h"

/* As the controller's enum value_kind (base/value_kind.h). */
enum { OTHER = 1, GREW = 2, SHRANK = 4, MIXED = 8, TIME = 16 };
#define MS_PER_DAY ((int64_t)24 * 60 * 60 * 1000)
#define NS_PER_S INT64_C(1000000000)
#define MIXED_PART 5
/* Texts of dates are shorter. */
#define TIME_TEXT_MAX 64
/* Of one pair of objects: more differences are counted as one. */
#define ELEMENTS_MAX 1000
#define NO_PAIR UINT32_MAX
/* Elements that are compared at once where all are equal. */
#define EQUAL_BLOCK 1024

/* A value on one side: a number in a slot, an object, or nothing at all. */
struct heap_side {
	const struct heap_graph *graph;
	const uint8_t *slot;
	char type;
	uint32_t node;
	bool absent;
};

/* ---- paths ---- */

static void append_heap_step(const struct heap_step *step,
			     struct heap_string *ret)
{
	switch (step->kind) {
	case STEP_FIELD:
		heap_appendf(ret, ".%s", step->field->name);
		break;
	case STEP_INDEX:
		heap_appendf(ret, "[%u]", step->index);
		break;
	case STEP_KEY:
		heap_append(ret, "[", 1);
		heap_value(step->graph, step->key, ret);
		heap_append(ret, "]", 1);
		break;
	case STEP_ROOT:
	case STEP_WHOLE:
		break;
	}
}

#define STEPS_MAX 64

/* From a root to a pair, outermost first; false: it is deeper than that. */
static size_t pair_steps(const struct heap_comparison *compare, uint32_t at,
			 uint32_t ret[STEPS_MAX])
{
	size_t n = 0;
	for (; at != NO_PAIR && n < STEPS_MAX;
	     at = compare->pairs.data[at].parent)
		ret[n++] = at;
	return n;
}

static char *heap_path_text(const struct heap_comparison *compare,
			    uint32_t root, uint32_t parent,
			    const struct heap_step *step, uint32_t *ret_depth)
{
	uint32_t steps[STEPS_MAX];
	size_t n = pair_steps(compare, parent, steps);
	struct heap_string path = {};
	const struct heap_root *from = &heap.roots.data[root];
	heap_appendf(&path, "%s", from->label ? from->label : from->name);
	if (n == STEPS_MAX)
		heap_append(&path, "…", strlen("…"));
	for (size_t i = n; i-- > 0;)
		append_heap_step(&compare->pairs.data[steps[i]].step, &path);
	append_heap_step(step, &path);
	*ret_depth = (uint32_t)n;
	return path.data;
}

/*
 * What tests read on their way to a place: fields from the root on, up to where a
 * container or an array begins. "Lcom/acme/Registry;.instance:Lcom/…;" and more,
 * one a line.
 */
static char *place_text(const struct heap_comparison *compare, uint32_t root,
			uint32_t parent, const struct heap_step *step)
{
	uint32_t steps[STEPS_MAX];
	size_t n = pair_steps(compare, parent, steps);
	struct heap_string place = {};
	const struct heap_root *it = &heap.roots.data[root];
	heap_append(&place, "", 0);
	if (it->by_key) /* every test reads the container of all */
		return place.data;
	heap_appendf(&place, "%s %s %s", it->class->name, it->field.name,
		     it->field.signature);
	for (size_t i = n + 1; i-- > 0;) {
		const struct heap_step *each =
			i ? &compare->pairs.data[steps[i - 1]].step : step;
		if (each->kind == STEP_ROOT)
			continue;
		if (each->kind != STEP_FIELD || each->field->owner->jdk)
			break;
		heap_appendf(&place, "\n%s %s %s", each->field->owner->name,
			     each->field->name, each->field->signature);
	}
	return place.data;
}

/* ---- numbers ---- */

static int64_t clock_ms(void)
{
	struct timespec now = {};
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_time(int64_t value)
{
	struct timespec up = {};
	int64_t now = clock_ms(), ms = value;
	for (int unit = 0; unit < 3; unit++, ms /= 1000) {
		if (ms >= now - MS_PER_DAY && ms <= now + MS_PER_DAY)
			return true;
	}
	clock_gettime(CLOCK_MONOTONIC, &up);
	int64_t seconds = value / NS_PER_S; /* System.nanoTime() */
	return up.tv_sec >= 60 && seconds >= up.tv_sec - 10 &&
	       seconds <= up.tv_sec + 10;
}

/* Does the text have the time of day and this year, as dates are written? */
static bool is_time_text(const char *text, size_t n)
{
	time_t now = time(NULL);
	struct tm today = {};
	char year[16];
	bool clock = false;
	if (n > TIME_TEXT_MAX || !gmtime_r(&now, &today))
		return false;
	for (size_t i = 0; i + 7 < n && !clock; i++) {
		clock = true;
		for (size_t k = 0; k < 8; k++)
			clock &= k % 3 == 2 ? text[i + k] == ':'
					    : text[i + k] >= '0' &&
						      text[i + k] <= '9';
	}
	int length = snprintf(year, sizeof(year), "%d", today.tm_year + 1900);
	return clock && length > 0 && memmem(text, n, year, (size_t)length);
}

static uint32_t kind_of_objects(const struct heap_graph *graph, uint32_t node)
{
	const struct heap_class *class =
		node ? heap_class_at(graph, node) : NULL;
	struct heap_string text = {};
	if (!class || class->kind != HEAP_STRING)
		return OTHER;
	heap_string_text(graph, node, &text);
	bool is_clock = is_time_text(text.data, text.n);
	free(text.data);
	return is_clock ? TIME : OTHER;
}

static uint32_t kind_of_numbers(char type, const uint8_t *was,
				const uint8_t *is)
{
	int64_t before = heap_integer(type, was);
	int64_t after = heap_integer(type, is);
	if (type == 'F' || type == 'D') {
		double x[2];
		float f[2];
		if (type == 'D') {
			memcpy(&x[0], was, sizeof(double));
			memcpy(&x[1], is, sizeof(double));
		} else {
			memcpy(&f[0], was, sizeof(float));
			memcpy(&f[1], is, sizeof(float));
			x[0] = (double)f[0];
			x[1] = (double)f[1];
		}
		return x[1] > x[0] ? GREW : x[1] < x[0] ? SHRANK : OTHER;
	}
	if (!strchr("BSIJ", type))
		return OTHER;
	if (type == 'J' && is_time(after))
		return TIME;
	unsigned bits = 8 * heap_type_size(type);
	uint64_t x = (uint64_t)(before < 0 ? -before : before);
	uint64_t y = (uint64_t)(after < 0 ? -after : after);
	if (bits >= 32 && (x | y) >> (bits / 2) &&
	    (unsigned)__builtin_popcountll(x ^ y) >= bits / MIXED_PART)
		return MIXED;
	return after > before ? GREW : SHRANK;
}

/* ---- differences ---- */

static void side_value(const struct heap_side *side, struct heap_string *ret)
{
	if (side->absent)
		heap_append(ret, "(absent)", strlen("(absent)"));
	else if (side->type == 'L')
		heap_value(side->graph, side->node, ret);
	else
		heap_slot_value(side->type, side->slot, ret);
}

static uint64_t side_digest(const struct heap_side *side)
{
	if (side->absent)
		return 0;
	if (side->type == 'L')
		return heap_digest(side->graph, side->node);
	return heap_hash(7, side->slot, heap_type_size(side->type));
}

static struct heap_side side_of_root(const struct heap_graph *graph,
				     uint32_t root)
{
	const uint8_t *slot = (const uint8_t *)&graph->roots[root];
	char type = heap.roots.data[root].field.type;
	return (struct heap_side){
		.graph = graph,
		.slot = slot,
		.type = type,
		.node = type == 'L' ? heap_follow(graph, slot) : 0,
	};
}

/* One attribute a key: "system-property[user.dir]". */
static char *change_key(const struct heap_comparison *compare, uint32_t root,
			uint32_t parent, const struct heap_step *step)
{
	uint32_t steps[STEPS_MAX];
	size_t n = pair_steps(compare, parent, steps);
	if (!heap.roots.data[root].by_key)
		return NULL;
	for (size_t i = n + 1; i-- > 0;) {
		const struct heap_step *each =
			i ? &compare->pairs.data[steps[i - 1]].step : step;
		if (each->kind != STEP_KEY)
			continue;
		struct heap_string key = {};
		heap_string_text(each->graph, each->key, &key);
		return key.data;
	}
	return NULL;
}

static struct heap_change *change_of(struct heap_comparison *compare,
				     uint32_t root, char *key)
{
	for (size_t i = compare->changes->n; i-- > 0;) {
		struct heap_change *each = &compare->changes->data[i];
		if (each->root != root)
			break;
		if ((!key && !each->key) ||
		    (key && each->key && !strcmp(key, each->key))) {
			free(key);
			return each;
		}
	}
	const struct heap_change change = {
		.root = root,
		.key = key,
		.digest_before = key ? 0 : heap.roots.data[root].digest,
	};
	HEAP_PUSH(compare->changes, change);
	return &compare->changes->data[compare->changes->n - 1];
}

/* What a VM has of its own is told as a whole: the first that differs. */
static bool is_told(const struct heap_comparison *compare, uint32_t root)
{
	const struct heap_root *it = &heap.roots.data[root];
	size_t n = compare->changes->n;
	if (!it->label || it->by_key)
		return false;
	return (it->lazy &&
		!heap_decode((const uint8_t *)&compare->a->roots[root])) ||
	       (n && compare->changes->data[n - 1].root == root);
}

/* A property that is set when the default time zone is first asked for. */
static bool is_noted_by_library(const char *key, const struct heap_side *before)
{
	struct heap_string text = {};
	bool empty = before->absent || !before->node ||
		     (heap_string_text(before->graph, before->node, &text) &&
		      !text.n);
	free(text.data);
	return empty && !strcmp(key, "user.timezone");
}

/* Does what is there now count as gone from the moment that memory is short? */
static bool side_is_passing(const struct heap_side *side)
{
	const struct heap_class *class =
		side->type == 'L' && side->node
			? heap_class_at(side->graph, side->node)
			: NULL;
	return class && (!strcmp(class->name, "java.lang.ref.SoftReference") ||
			 !strcmp(class->name, "java.lang.ref.WeakReference"));
}

/* Is the object of pair @at the value of this field of that class of the JDK? */
static bool pair_is_field(const struct heap_comparison *compare, uint32_t at,
			  const char *class, const char *name)
{
	const struct heap_step *step =
		at == NO_PAIR ? NULL : &compare->pairs.data[at].step;
	return step && step->kind == STEP_FIELD &&
	       !strcmp(step->field->name, name) &&
	       !strcmp(step->field->owner->name, class);
}

/*
 * What next to no test depends on, although many read it: numbers in an array
 * that a thread has of its own, which is a buffer, and a generator's state.
 */
static bool is_working_memory(const struct heap_comparison *compare,
			      uint32_t parent, char type)
{
	return (type != 'L' &&
		pair_is_field(compare, parent, "java.lang.ThreadLocal",
			      "get()")) ||
	       pair_is_field(compare, parent, "java.util.Random", "seed");
}

/* Was it put into a map that lets go of it, as soon as nobody has the key? */
static bool is_weak_entry(const struct heap_comparison *compare,
			  uint32_t parent, const struct heap_side *before)
{
	const struct heap_class *class =
		parent == NO_PAIR || !before->absent
			? NULL
			: heap_class_at(compare->a,
					compare->pairs.data[parent].a);
	return class && class->recipe && class->recipe->key &&
	       !strcmp(class->recipe->key, "referent");
}

static void compare_differ(struct heap_comparison *compare, uint32_t root,
			   uint32_t parent, const struct heap_step *step,
			   const struct heap_side *before,
			   const struct heap_side *after, uint32_t kind)
{
	static const struct heap_step whole = { .kind = STEP_ROOT };
	uint32_t depth;
	const struct heap_root *it = &heap.roots.data[root];
	struct heap_side sides[2];
	if (is_told(compare, root))
		return;
	if (it->label && !it->by_key) {
		sides[0] = side_of_root(compare->a, root);
		sides[1] = side_of_root(compare->b, root);
		before = &sides[0];
		after = &sides[1];
		parent = NO_PAIR;
		step = &whole;
	}
	char *path = heap_path_text(compare, root, parent, step, &depth);
	if (heap_patterns_match(&heap.exclude_fields, path)) {
		free(path);
		return;
	}
	char *key = change_key(compare, root, parent, step);
	if (key && is_noted_by_library(key, before)) {
		free(key);
		free(path);
		return;
	}
	if (key) { /* as its root is shown */
		struct heap_string named = {};
		heap_appendf(&named, "%s[%s]", it->label, key);
		free(path);
		path = named.data;
	}
	struct heap_change *change = change_of(compare, root, key);
	uint64_t was = side_digest(before), is = side_digest(after);
	bool equal = was == is;
	if (equal) /* but shared with others, or not any more */
		is ^= 0x5A;
	size_t n = strlen(path);
	was = heap_hash(was, path, n);
	is = heap_hash(is, path, n);
	if (change->key) { /* its own, whatever the others are */
		change->digest_before += was;
		change->digest += is;
	} else {
		heap.roots.data[root].digest += is - was;
	}
	change->kinds |= kind;
	change->matters |= !equal && !side_is_passing(after) &&
			   !is_working_memory(compare, parent, before->type) &&
			   !is_weak_entry(compare, parent, before);
	if (change->paths.n >= heap.paths) {
		change->more++;
		free(path);
		return;
	}
	struct heap_string values[2] = {}, type = {};
	side_value(before, &values[0]);
	side_value(after, &values[1]);
	const struct heap_side *typed =
		after->absent || !after->node ? before : after;
	const struct heap_class *class =
		typed->type == 'L' && typed->node
			? heap_class_at(typed->graph, typed->node)
			: NULL;
	heap_append(&type, "", 0);
	if (class)
		heap_class_shown(class, &type);
	const struct heap_path shown = {
		.path = path,
		.before = values[0].data,
		.after = values[1].data,
		.type = type.data,
		.place = place_text(compare, root, parent, step),
		.kind = kind,
		.depth = depth,
	};
	HEAP_PUSH(&change->paths, shown);
}

void compare_objects_differ(struct heap_comparison *compare, uint32_t root,
			    uint32_t parent, const struct heap_step *step,
			    uint32_t a, uint32_t b)
{
	const struct heap_side before = { compare->a, NULL, 'L', a, false };
	const struct heap_side after = { compare->b, NULL, 'L', b, false };
	compare_differ(compare, root, parent, step, &before, &after,
		       kind_of_objects(compare->b, b));
}

void compare_one_sided(struct heap_comparison *compare, uint32_t at,
		       const struct heap_step *step, uint32_t a, uint32_t b,
		       bool added)
{
	const struct heap_side before = { compare->a, NULL, 'L', a, added };
	const struct heap_side after = { compare->b, NULL, 'L', b, !added };
	compare_differ(compare, compare->pairs.data[at].root, at, step, &before,
		       &after, OTHER);
}

/* ---- values ---- */

static bool bytes_are_equal(const struct heap_comparison *compare, uint32_t a,
			    uint32_t b, const char *name)
{
	const struct heap_field *field =
		heap_field_named(heap_class_at(compare->a, a), name);
	return !field || !memcmp(heap_bytes(compare->a, a) + field->offset,
				 heap_bytes(compare->b, b) + field->offset,
				 heap_type_size(field->type));
}

static bool strings_are_equal(const struct heap_graph *x, uint32_t a,
			      const struct heap_graph *y, uint32_t b)
{
	uint32_t value_a = heap_ref(x, a, "value");
	uint32_t value_b = heap_ref(y, b, "value");
	const struct heap_class *class =
		value_a ? heap_class_at(x, value_a) : NULL;
	uint32_t n = value_a ? x->nodes.data[value_a].length : 0;
	if (!class || !value_b)
		return value_a == value_b;
	if (n != y->nodes.data[value_b].length ||
	    heap_number(x, a, "coder") != heap_number(y, b, "coder"))
		return false;
	uint32_t base = heap_array_base(class->element);
	return !memcmp(heap_bytes(x, value_a) + base,
		       heap_bytes(y, value_b) + base,
		       (size_t)n * heap_type_size(class->element));
}

static bool texts_are_equal(const struct heap_comparison *compare, uint32_t a,
			    uint32_t b)
{
	struct heap_string x = {}, y = {};
	heap_string_text(compare->a, a, &x);
	heap_string_text(compare->b, b, &y);
	bool equal = x.n == y.n && !memcmp(x.data, y.data, x.n);
	free(x.data);
	free(y.data);
	return equal;
}

bool values_are_equal(const struct heap_comparison *compare, uint32_t a,
		      uint32_t b, const struct heap_class *class,
		      bool *ret_by_value)
{
	*ret_by_value = true;
	switch (class->kind) {
	case HEAP_STRING:
		return strings_are_equal(compare->a, a, compare->b, b);
	case HEAP_BUILDER:
		return texts_are_equal(compare, a, b);
	case HEAP_BOX:
		return bytes_are_equal(compare, a, b, "value");
	case HEAP_ENUM:
		return bytes_are_equal(compare, a, b, "ordinal");
	case HEAP_MIRROR:
		return compare->a->nodes.data[a].length ==
		       compare->b->nodes.data[b].length;
	case HEAP_SKIP:
		return true;
	case HEAP_PLAIN:
	case HEAP_ARRAY:
		break;
	}
	*ret_by_value = false;
	return true;
}

/* An enum's constant is looked into where it is declared. */
static bool is_own_constant(uint32_t root, const struct heap_step *step,
			    const struct heap_class *class)
{
	const struct heap_class *owner = heap.roots.data[root].class;
	return step->kind == STEP_ROOT &&
	       (class == owner || class->super == owner);
}

/* Do references that have not changed lead to it? Then it is its own partner. */
static bool node_has_kept(const struct heap_comparison *compare, uint32_t node)
{
	size_t n = compare->focus->added_size / sizeof(uint32_t);
	return node < n && compare->b->nodes.data[node].references >
				   compare->focus->added[node];
}

void compare_references(struct heap_comparison *compare, uint32_t root,
			uint32_t parent, const struct heap_step *step,
			uint32_t a, uint32_t b)
{
	if (!a && !b)
		return;
	if (compare->focus && a == b && !compare->b->nodes.data[b].dirty)
		return;
	const struct heap_class *class =
		a && b ? heap_class_at(compare->a, a) : NULL;
	if (!a || !b || class != heap_class_at(compare->b, b)) {
		compare_objects_differ(compare, root, parent, step, a, b);
		return;
	}
	if (!class)
		return;
	bool by_value;
	bool equal = values_are_equal(compare, a, b, class, &by_value);
	if (by_value && class->kind == HEAP_ENUM && equal &&
	    is_own_constant(root, step, class))
		by_value = false;
	if (by_value && !equal)
		compare_objects_differ(compare, root, parent, step, a, b);
	if (by_value)
		return;
	if (compare->focus && a != b &&
	    (node_has_kept(compare, a) || node_has_kept(compare, b))) {
		compare->unsure = true;
		return;
	}
	if (compare->of_a[a] == b && compare->of_b[b] == a)
		return;
	if (compare->of_a[a] || compare->of_b[b]) {
		compare_objects_differ(compare, root, parent, step, a, b);
		return;
	}
	compare->of_a[a] = b;
	compare->of_b[b] = a;
	const struct heap_pair pair = { a, b, parent, root, *step };
	HEAP_PUSH(&compare->pairs, pair);
}

/* ---- objects ---- */

void compare_slots(struct heap_comparison *compare, uint32_t root,
		   uint32_t parent, const struct heap_step *step, char type,
		   const uint8_t *was, const uint8_t *is)
{
	if (type == 'L') {
		compare_references(compare, root, parent, step,
				   heap_follow(compare->a, was),
				   heap_follow(compare->b, is));
		return;
	}
	if (!memcmp(was, is, heap_type_size(type)))
		return;
	const struct heap_side before = { compare->a, was, type, 0, false };
	const struct heap_side after = { compare->b, is, type, 0, false };
	compare_differ(compare, root, parent, step, &before, &after,
		       kind_of_numbers(type, was, is));
}

void find_indexes(const struct heap_comparison *compare, uint32_t array,
		  uint32_t parent, uint32_t n, struct heap_indexes *ret)
{
	const struct heap_node *nodes = compare->b->nodes.data;
	const struct heap_update *focus = compare->focus;
	unsigned size = heap.layout.reference;
	if (nodes[array].changed) {
		const uint8_t *was =
			heap_bytes(compare->a, array) + heap_array_base('L');
		const uint8_t *is =
			heap_bytes(compare->b, array) + heap_array_base('L');
		for (uint32_t i = 0; i < n; i++) {
			if (memcmp(was + (size_t)i * size,
				   is + (size_t)i * size, size) != 0)
				HEAP_PUSH(ret, i);
		}
	}
	size_t low = 0, high = focus->dirty.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (nodes[focus->dirty.data[middle]].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < focus->dirty.n; low++) {
		const struct heap_node *it = &nodes[focus->dirty.data[low]];
		if (it->parent != parent)
			break;
		if (it->edge < n)
			HEAP_PUSH(ret, it->edge);
	}
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data),
		      heap_compare_numbers);
	size_t kept = 0;
	for (size_t i = 0; i < ret->n; i++) {
		if (!kept || ret->data[kept - 1] != ret->data[i])
			ret->data[kept++] = ret->data[i];
	}
	ret->n = kept;
}

void compare_elements(struct heap_comparison *compare, uint32_t at,
		      uint32_t array, uint32_t n)
{
	struct heap_indexes found = {};
	find_indexes(compare, array, array, n, &found);
	for (size_t i = 0; i < found.n; i++) {
		uint32_t index = found.data[i];
		const struct heap_step step = { .kind = STEP_INDEX,
						.index = index };
		compare_references(compare, compare->pairs.data[at].root, at,
				   &step,
				   heap_element(compare->a, array, index),
				   heap_element(compare->b, array, index));
	}
	free(found.data);
}

static void compare_arrays(struct heap_comparison *compare, uint32_t at,
			   const struct heap_class *class)
{
	struct heap_pair pair = compare->pairs.data[at];
	uint32_t n = compare->a->nodes.data[pair.a].length;
	uint32_t m = compare->b->nodes.data[pair.b].length;
	uint32_t base = heap_array_base(class->element);
	unsigned size = heap_type_size(class->element);
	uint32_t both = n < m ? n : m, told = 0;
	if (compare->focus && pair.a == pair.b && class->element == 'L') {
		compare_elements(compare, at, pair.a, n);
		return;
	}
	if (n != m) {
		const struct heap_step whole = { .kind = STEP_WHOLE };
		compare_objects_differ(compare, pair.root, at, &whole, pair.a,
				       pair.b);
	}
	for (uint32_t i = 0; i < both && told < ELEMENTS_MAX; i++) {
		const uint8_t *was = heap_bytes(compare->a, pair.a) + base +
				     (size_t)i * size;
		const uint8_t *is = heap_bytes(compare->b, pair.b) + base +
				    (size_t)i * size;
		const struct heap_step step = { .kind = STEP_INDEX,
						.index = i };
		if (class->element != 'L' && i % EQUAL_BLOCK == 0 &&
		    both - i >= EQUAL_BLOCK &&
		    !memcmp(was, is, (size_t)EQUAL_BLOCK * size)) {
			i += EQUAL_BLOCK - 1;
			continue;
		}
		if (class->element != 'L' && !memcmp(was, is, size))
			continue;
		told += class->element != 'L';
		compare_slots(compare, pair.root, at, &step, class->element,
			      was, is);
	}
}

static void compare_fields(struct heap_comparison *compare, uint32_t at,
			   const struct heap_class *class)
{
	struct heap_pair pair = compare->pairs.data[at];
	const struct heap_root *root = &heap.roots.data[pair.root];
	bool of_vm = root->label && !root->by_key;
	for (size_t i = 0; i < class->n_fields; i++) {
		const struct heap_field *field = &class->fields[i];
		const struct heap_step step = { .kind = STEP_FIELD,
						.field = field };
		/* What a VM has of its own is not what the user's class keeps. */
		if (field->compared && (!of_vm || field->owner->jdk))
			compare_slots(
				compare, pair.root, at, &step, field->type,
				heap_bytes(compare->a, pair.a) + field->offset,
				heap_bytes(compare->b, pair.b) + field->offset);
	}
}

/* ---- all ---- */

static void compare_one_pair(struct heap_comparison *compare, uint32_t at)
{
	struct heap_pair pair = compare->pairs.data[at];
	const struct heap_class *class = heap_class_at(compare->a, pair.a);
	if (class->kind == HEAP_ARRAY) {
		compare_arrays(compare, at, class);
		return;
	}
	if (class->recipe && class->recipe->shape != SHAPE_FIELDS &&
	    class->recipe->shape != SHAPE_SKIP)
		compare_containers(compare, at, class->recipe);
	compare_fields(compare, at, class);
}

/* With a @focus only what can differ. False: that does not suffice. */
static bool compare_graphs(const struct heap_graph *before,
			   const struct heap_graph *after,
			   const struct heap_update *focus,
			   struct heap_changes *ret)
{
	size_t size_a = (before->nodes.n + 1) * sizeof(uint32_t);
	size_t size_b = (after->nodes.n + 1) * sizeof(uint32_t);
	struct heap_comparison compare = {
		.a = before,
		.b = after,
		.of_a = heap_sparse(size_a),
		.of_b = heap_sparse(size_b),
		.changes = ret,
		.focus = focus,
	};
	size_t roots = before->n_roots < after->n_roots ? before->n_roots
							: after->n_roots;
	size_t done = 0;
	/* Root by root, so that what differs under one stands together. */
	for (size_t i = 0; i < roots && !compare.unsure; i++) {
		const struct heap_step step = { .kind = STEP_ROOT };
		const struct heap_root *root = &heap.roots.data[i];
		if (focus && !focus->dirty_roots[i] &&
		    before->roots[i] == after->roots[i])
			continue;
		compare_slots(&compare, (uint32_t)i, NO_PAIR, &step,
			      root->field.type,
			      (const uint8_t *)&before->roots[i],
			      (const uint8_t *)&after->roots[i]);
		for (; done < compare.pairs.n; done++)
			compare_one_pair(&compare, (uint32_t)done);
	}
	for (size_t i = 0; i < ret->n; i++) {
		if (!ret->data[i].key)
			ret->data[i].digest =
				heap.roots.data[ret->data[i].root].digest;
	}
	heap_sparse_free(compare.of_a, size_a);
	heap_sparse_free(compare.of_b, size_b);
	free(compare.pairs.data);
	free(compare.items_a.data);
	free(compare.items_b.data);
	return !compare.unsure;
}

void heap_compare(const struct heap_graph *before,
		  const struct heap_graph *after, struct heap_changes *ret)
{
	compare_graphs(before, after, NULL, ret);
}

void heap_compare_update(struct heap_update *update,
			 const struct heap_graph *after,
			 struct heap_changes *ret)
{
	if (!update->everywhere &&
	    compare_graphs(&update->before, after, update, ret))
		return;
	for (size_t i = 0; i < ret->n; i++) {
		const struct heap_change *change = &ret->data[i];
		if (!change->key)
			heap.roots.data[change->root].digest =
				change->digest_before;
	}
	heap_changes_free(ret);
	update->everywhere = true;
	compare_graphs(&update->before, after, NULL, ret);
}

void heap_changes_free(struct heap_changes *changes)
{
	for (size_t i = 0; i < changes->n; i++) {
		struct heap_change *change = &changes->data[i];
		for (size_t j = 0; j < change->paths.n; j++) {
			free(change->paths.data[j].path);
			free(change->paths.data[j].before);
			free(change->paths.data[j].after);
			free(change->paths.data[j].type);
			free(change->paths.data[j].place);
		}
		free(change->paths.data);
		free(change->key);
	}
	free(changes->data);
	*changes = (struct heap_changes){};
}
