/*
 * Models of GLib's hash tables. "The iteration order of a GHashTableIter over
 * the keys/values in a hash table is not defined", and so it is for the
 * functions that walk over a table for their caller.
 *
 * The first WINDOW pairs of a table come in another order, those after them as
 * usual: programs that take one pair after the other out of a large table by
 * starting over each time stay as fast as they were.
 *
 * What is not done: g_str_hash() computes what its documentation says. A table
 * that changes during the walk is the caller's mistake, as without us.
 *
 * GLib's headers are not needed: its types are pointers, int and unsigned here,
 * and GHashTableIter is 40 bytes that only GLib understands.
 */
#include "models/choose_internal.h"

#define WINDOW 64

struct iter {
	unsigned char bytes[40];
};

struct glib_list { /* GList */
	void *data;
	struct glib_list *next, *prev;
};

typedef unsigned hash_function(const void *key);
typedef int equal_function(const void *a, const void *b);
typedef void destroy_function(void *data);
typedef void pair_function(void *key, void *value, void *data);
typedef int pair_predicate(void *key, void *value, void *data);

/* As GLib has them; lookups go on to it by these names. */
void *g_hash_table_new(hash_function *hash, equal_function *equal);
void *g_hash_table_new_full(hash_function *hash, equal_function *equal,
			    destroy_function *key, destroy_function *value);
void *g_hash_table_new_similar(void *table);
int g_hash_table_insert(void *table, void *key, void *value);
int g_hash_table_replace(void *table, void *key, void *value);
int g_hash_table_add(void *table, void *key);
int g_hash_table_remove(void *table, const void *key);
void g_hash_table_remove_all(void *table);
int g_hash_table_steal(void *table, const void *key);
int g_hash_table_steal_extended(void *table, const void *key, void **ret_key,
				void **ret_value);
void g_hash_table_steal_all(void *table);
void g_hash_table_destroy(void *table);
void g_hash_table_iter_init(struct iter *iter, void *table);
int g_hash_table_iter_next(struct iter *iter, void **ret_key, void **ret_value);
void g_hash_table_iter_remove(struct iter *iter);
void g_hash_table_iter_steal(struct iter *iter);
void g_hash_table_iter_replace(struct iter *iter, void *value);
void g_hash_table_foreach(void *table, pair_function *function, void *data);
void *g_hash_table_find(void *table, pair_predicate *predicate, void *data);
unsigned g_hash_table_foreach_remove(void *table, pair_predicate *predicate,
				     void *data);
unsigned g_hash_table_foreach_steal(void *table, pair_predicate *predicate,
				    void *data);
struct glib_list *g_hash_table_get_keys(void *table);
struct glib_list *g_hash_table_get_values(void *table);
void **g_hash_table_get_keys_as_array(void *table, unsigned *ret_n);

/* ---- what GLib has ---- */

static struct {
	void (*iter_init)(struct iter *, void *);
	int (*iter_next)(struct iter *, void **, void **);
	void *(*iter_get_hash_table)(struct iter *);
	hash_function *str_hash, *int_hash, *int64_hash, *double_hash,
		*direct_hash;
	bool complete;
} glib;

/* Threads that look at once find the same. */
static _cold_ bool find_glib(void)
{
	glib.iter_init = (void (*)(struct iter *, void *))lookup_next(
		"g_hash_table_iter_init");
	glib.iter_next = (int (*)(struct iter *, void **, void **))lookup_next(
		"g_hash_table_iter_next");
	glib.iter_get_hash_table = (void *(*)(struct iter *))lookup_next(
		"g_hash_table_iter_get_hash_table");
	glib.str_hash = (hash_function *)lookup_next("g_str_hash");
	glib.int_hash = (hash_function *)lookup_next("g_int_hash");
	glib.int64_hash = (hash_function *)lookup_next("g_int64_hash");
	glib.double_hash = (hash_function *)lookup_next("g_double_hash");
	glib.direct_hash = (hash_function *)lookup_next("g_direct_hash");
	bool complete =
		glib.iter_init && glib.iter_next && glib.iter_get_hash_table;
	__atomic_store_n(&glib.complete, complete, __ATOMIC_RELEASE);
	return complete;
}

static bool have_glib(void)
{
	return __atomic_load_n(&glib.complete, __ATOMIC_ACQUIRE) || find_glib();
}

/* ---- tables and what their keys are ---- */

enum keys {
	KEYS_UNKNOWN,
	KEYS_DIRECT,
	KEYS_TEXT,
	KEYS_4_BYTES,
	KEYS_8_BYTES,
};

#define TABLES 4096

/* Where two share a place the later one is known. */
static struct {
	uintptr_t table;
	uint64_t keys; /* enum keys */
} tables[TABLES];

static size_t table_place(const void *table)
{
	return choose_mix((uintptr_t)table, 1) % TABLES;
}

static void ghash_note_table(const void *table, hash_function *hash)
{
	if (!choose_block || !table || !have_glib())
		return;
	uint64_t keys = !hash || hash == glib.direct_hash ? KEYS_DIRECT
			: hash == glib.str_hash		  ? KEYS_TEXT
			: hash == glib.int_hash		  ? KEYS_4_BYTES
			: hash == glib.int64_hash	  ? KEYS_8_BYTES
			: hash == glib.double_hash	  ? KEYS_8_BYTES
							  : KEYS_UNKNOWN;
	size_t at = table_place(table);
	choose_object_changed(table);
	__atomic_store_n(&tables[at].table, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&tables[at].keys, keys, __ATOMIC_RELEASE);
	__atomic_store_n(&tables[at].table, (uintptr_t)table, __ATOMIC_RELEASE);
}

static enum keys ghash_keys_of(const void *table)
{
	size_t at = table_place(table);
	if (__atomic_load_n(&tables[at].table, __ATOMIC_ACQUIRE) !=
	    (uintptr_t)table)
		return KEYS_UNKNOWN;
	return (enum keys)__atomic_load_n(&tables[at].keys, __ATOMIC_RELAXED);
}

/*
 * A key's contents. The table calls its hash function, so what that reads is
 * there; other functions' keys, and keys that are addresses, have none that
 * would be the same in the next run.
 */
static uint64_t hash_key(enum keys keys, const void *key)
{
	uintptr_t value = (uintptr_t)key;
	switch (keys) {
	case KEYS_DIRECT:
		return value + (1UL << 32) < 2UL << 32 ? choose_mix(value, 2)
						       : 0;
	case KEYS_TEXT:
		return key ? choose_hash_text(key) : 0;
	case KEYS_4_BYTES:
		return key ? choose_hash(key, 4) : 0;
	case KEYS_8_BYTES:
		return key ? choose_hash(key, 8) : 0;
	default:
		return 0;
	}
}

static void ghash_note_change(const void *table)
{
	if (choose_block)
		choose_object_changed(table);
}

_export_ void *g_hash_table_new(hash_function *hash, equal_function *equal)
{
	CHOOSE_NEXT(g_hash_table_new, NULL)
	void *table = next(hash, equal);
	ghash_note_table(table, hash);
	return table;
}

_export_ void *g_hash_table_new_full(hash_function *hash, equal_function *equal,
				     destroy_function *key,
				     destroy_function *value)
{
	CHOOSE_NEXT(g_hash_table_new_full, NULL)
	void *table = next(hash, equal, key, value);
	ghash_note_table(table, hash);
	return table;
}

_export_ void *g_hash_table_new_similar(void *other)
{
	CHOOSE_NEXT(g_hash_table_new_similar, NULL)
	void *table = next(other);
	enum keys keys = ghash_keys_of(other);
	ghash_note_table(table, keys == KEYS_DIRECT    ? NULL
				: keys == KEYS_TEXT    ? glib.str_hash
				: keys == KEYS_4_BYTES ? glib.int_hash
				: keys == KEYS_8_BYTES ? glib.int64_hash
						       : (hash_function *)1);
	return table;
}

/* What changes a table makes it another. */
#define CHANGE(type, name, failed, parameters, arguments)                      \
	_export_ type name parameters                                          \
	{                                                                      \
		CHOOSE_NEXT(name, failed)                                      \
		ghash_note_change(table);                                      \
		return next arguments;                                         \
	}
#define CHANGE_VOID(name, parameters, arguments)                               \
	_export_ void name parameters                                          \
	{                                                                      \
		CHOOSE_NEXT(name, )                                            \
		ghash_note_change(table);                                      \
		next arguments;                                                \
	}
#define CHANGE_ITER(name, parameters, arguments)                               \
	_export_ void name parameters                                          \
	{                                                                      \
		CHOOSE_NEXT(name, )                                            \
		if (choose_block && iter && have_glib())                       \
			ghash_note_change(glib.iter_get_hash_table(iter));     \
		next arguments;                                                \
	}

/* clang-format off */
CHANGE(int, g_hash_table_insert, 0, (void *table, void *key, void *value), (table, key, value))
CHANGE(int, g_hash_table_replace, 0, (void *table, void *key, void *value), (table, key, value))
CHANGE(int, g_hash_table_add, 0, (void *table, void *key), (table, key))
CHANGE(int, g_hash_table_remove, 0, (void *table, const void *key), (table, key))
CHANGE(int, g_hash_table_steal, 0, (void *table, const void *key), (table, key))
CHANGE(int, g_hash_table_steal_extended, 0,
       (void *table, const void *key, void **ret_key, void **ret_value),
       (table, key, ret_key, ret_value))
CHANGE_VOID(g_hash_table_remove_all, (void *table), (table))
CHANGE_VOID(g_hash_table_steal_all, (void *table), (table))
CHANGE_VOID(g_hash_table_destroy, (void *table), (table))
CHANGE_ITER(g_hash_table_iter_remove, (struct iter *iter), (iter))
CHANGE_ITER(g_hash_table_iter_steal, (struct iter *iter), (iter))
CHANGE_ITER(g_hash_table_iter_replace, (struct iter *iter, void *value), (iter, value))
/* clang-format on */

/* ---- the first pairs of a table ---- */

struct ghash_window {
	size_t n;
	void *keys[WINDOW], *values[WINDOW];
	uint32_t order[WINDOW];
	struct iter rest; /* GLib's own, after them */
	uint64_t pick;
};

/*
 * One choice over the pairs of @table; false: there is none, or it is what GLib
 * does. @steps may be NULL: GLib's iterator at each pair.
 */
static bool window_choose(struct ghash_window *window, enum wire_model model,
			  uintptr_t caller, void *table, struct iter *steps)
{
	if (!table || !choose_wanted(model, caller) || !have_glib())
		return false;
	enum keys kind = ghash_keys_of(table);
	uint64_t equal = 0;
	size_t n = 0;
	glib.iter_init(&window->rest, table);
	while (n < WINDOW && glib.iter_next(&window->rest, &window->keys[n],
					    &window->values[n])) {
		equal += hash_key(kind, window->keys[n]);
		if (steps)
			steps[n] = window->rest;
		n++;
	}
	window->n = n;
	if (n < 2)
		return false;
	struct choose_keys keys = {
		.equal = choose_mix(equal, n),
		.object = choose_object(table),
	};
	window->pick = choose_pick(model, choose_permutations(n), keys);
	choose_argument("a table of %zu%s pairs", n,
			n == WINDOW ? " or more" : "");
	choose_permutation(window->pick, n, window->order);
	return window->pick != 0;
}

/* ---- walks ---- */

_export_ void g_hash_table_foreach(void *table, pair_function *function,
				   void *data)
{
	struct ghash_window window;
	CHOOSE_NEXT(g_hash_table_foreach, )
	if (!function ||
	    !window_choose(&window, WIRE_MODEL_g_hash_table_foreach,
			   CHOOSE_CALLER(), table, NULL)) {
		next(table, function, data);
		return;
	}
	choose_did("pairs came in another order");
	for (size_t i = 0; i < window.n; i++)
		function(window.keys[window.order[i]],
			 window.values[window.order[i]], data);
	void *key, *value;
	while (window.n == WINDOW && glib.iter_next(&window.rest, &key, &value))
		function(key, value, data);
}

_export_ void *g_hash_table_find(void *table, pair_predicate *predicate,
				 void *data)
{
	struct ghash_window window;
	CHOOSE_NEXT(g_hash_table_find, NULL)
	if (!predicate || !window_choose(&window, WIRE_MODEL_g_hash_table_find,
					 CHOOSE_CALLER(), table, NULL))
		return next(table, predicate, data);
	choose_did("pairs were tried in another order");
	for (size_t i = 0; i < window.n; i++) {
		void *value = window.values[window.order[i]];
		if (predicate(window.keys[window.order[i]], value, data))
			return value;
	}
	void *key, *value;
	while (window.n == WINDOW &&
	       glib.iter_next(&window.rest, &key, &value)) {
		if (predicate(key, value, data))
			return value;
	}
	return NULL;
}

/* What the program said about the first pairs; the others it is asked. */
struct verdicts {
	pair_predicate *predicate;
	void *data;
	size_t at, n;
	int said[WINDOW];
};

static int ghash_repeat_verdict(void *key, void *value, void *data)
{
	struct verdicts *verdicts = data;
	if (verdicts->at < verdicts->n)
		return verdicts->said[verdicts->at++];
	return verdicts->predicate(key, value, verdicts->data);
}

/*
 * The program is asked in another order, and then GLib removes in its own: keys
 * are not read again, since the program may have freed them.
 */
static void ghash_ask_program(struct verdicts *verdicts,
			      const struct ghash_window *window)
{
	verdicts->at = 0;
	verdicts->n = window->n;
	for (size_t i = 0; i < window->n; i++) {
		uint32_t which = window->order[i];
		verdicts->said[which] = verdicts->predicate(
			window->keys[which], window->values[which],
			verdicts->data);
	}
	choose_did("pairs were tried in another order");
}

_export_ unsigned
g_hash_table_foreach_remove(void *table, pair_predicate *predicate, void *data)
{
	struct ghash_window window;
	CHOOSE_NEXT(g_hash_table_foreach_remove, 0)
	bool other =
		predicate &&
		window_choose(&window, WIRE_MODEL_g_hash_table_foreach_remove,
			      CHOOSE_CALLER(), table, NULL);
	ghash_note_change(table);
	if (!other)
		return next(table, predicate, data);
	struct verdicts verdicts = { .predicate = predicate, .data = data };
	ghash_ask_program(&verdicts, &window);
	return next(table, ghash_repeat_verdict, &verdicts);
}

_export_ unsigned
g_hash_table_foreach_steal(void *table, pair_predicate *predicate, void *data)
{
	struct ghash_window window;
	CHOOSE_NEXT(g_hash_table_foreach_steal, 0)
	bool other =
		predicate &&
		window_choose(&window, WIRE_MODEL_g_hash_table_foreach_steal,
			      CHOOSE_CALLER(), table, NULL);
	ghash_note_change(table);
	if (!other)
		return next(table, predicate, data);
	struct verdicts verdicts = { .predicate = predicate, .data = data };
	ghash_ask_program(&verdicts, &window);
	return next(table, ghash_repeat_verdict, &verdicts);
}

/* ---- lists and arrays ---- */

static struct glib_list *ghash_shuffle_list(struct glib_list *list,
					    const struct ghash_window *window)
{
	struct glib_list *nodes[WINDOW];
	void *data[WINDOW];
	size_t n = 0;
	for (struct glib_list *node = list; node && n < window->n;
	     node = node->next) {
		nodes[n] = node;
		data[n] = node->data;
		n++;
	}
	if (n != window->n)
		return list;
	for (size_t i = 0; i < n; i++)
		nodes[i]->data = data[window->order[i]];
	return list;
}

_export_ struct glib_list *g_hash_table_get_keys(void *table)
{
	struct ghash_window window;
	CHOOSE_NEXT(g_hash_table_get_keys, NULL)
	if (!window_choose(&window, WIRE_MODEL_g_hash_table_get_keys,
			   CHOOSE_CALLER(), table, NULL))
		return next(table);
	choose_did("keys came in another order");
	return ghash_shuffle_list(next(table), &window);
}

_export_ struct glib_list *g_hash_table_get_values(void *table)
{
	struct ghash_window window;
	CHOOSE_NEXT(g_hash_table_get_values, NULL)
	if (!window_choose(&window, WIRE_MODEL_g_hash_table_get_values,
			   CHOOSE_CALLER(), table, NULL))
		return next(table);
	choose_did("values came in another order");
	return ghash_shuffle_list(next(table), &window);
}

_export_ void **g_hash_table_get_keys_as_array(void *table, unsigned *ret_n)
{
	struct ghash_window window;
	CHOOSE_NEXT(g_hash_table_get_keys_as_array, NULL)
	bool other = window_choose(&window,
				   WIRE_MODEL_g_hash_table_get_keys_as_array,
				   CHOOSE_CALLER(), table, NULL);
	unsigned n = 0;
	void **keys = next(table, &n);
	if (ret_n)
		*ret_n = n;
	if (other && keys && n >= window.n) {
		choose_did("keys came in another order");
		choose_permute(window.pick, keys, window.n, sizeof(*keys));
	}
	return keys;
}

/* ---- iterators ---- */

/*
 * An iterator of the program whose first pairs come in another order. GLib's
 * own state stays in the program's memory, at the pair that was returned, so
 * that it can be replaced or removed there.
 */
struct ghash_walk {
	uintptr_t iter; /* the program's; 0: free */
	size_t at;
	struct ghash_window window;
	struct iter steps[WINDOW];	 /* GLib's at each pair */
	bool moves[sizeof(struct iter)]; /* bytes that differ between these */
};

#define WALK_SETS 64
#define WALK_WAYS 4
static struct ghash_walk walks[WALK_SETS][WALK_WAYS];
static uint64_t walks_n; /* how many were ever begun */

static struct ghash_walk *walk_set(const struct iter *iter)
{
	return walks[choose_mix((uintptr_t)iter, 3) % WALK_SETS];
}

static struct ghash_walk *ghash_walk_find(const struct iter *iter)
{
	if (likely(!__atomic_load_n(&walks_n, __ATOMIC_RELAXED)))
		return NULL;
	struct ghash_walk *set = walk_set(iter);
	for (unsigned i = 0; i < WALK_WAYS; i++) {
		if (__atomic_load_n(&set[i].iter, __ATOMIC_ACQUIRE) ==
		    (uintptr_t)iter)
			return &set[i];
	}
	return NULL;
}

static void walk_end(struct ghash_walk *walk)
{
	__atomic_store_n(&walk->iter, 0, __ATOMIC_RELEASE);
}

/*
 * A loop that was left early does not say so: its iterator is gone if it is on
 * this thread's stack, below what is in use.
 */
static bool ghash_iterator_is_gone(uintptr_t iter)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const struct stack_bounds *bounds = &stack_bounds;
	if ((here < bounds->low || here >= bounds->high) && !stack_extend(here))
		return false;
	return iter < here && iter >= here - (1UL << 20);
}

/* One that is free; NULL: there is none, and this walk is left alone. */
static struct ghash_walk *ghash_walk_begin(const struct iter *iter)
{
	struct ghash_walk *set = walk_set(iter);
	for (unsigned i = 0; i < WALK_WAYS; i++) {
		uintptr_t there =
			__atomic_load_n(&set[i].iter, __ATOMIC_ACQUIRE);
		if ((!there || ghash_iterator_is_gone(there)) &&
		    __atomic_compare_exchange_n(
			    &set[i].iter, &there, (uintptr_t)iter, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&walks_n, 1, __ATOMIC_RELAXED);
			set[i].at = 0;
			return &set[i];
		}
	}
	return NULL;
}

_export_ void g_hash_table_iter_init(struct iter *iter, void *table)
{
	CHOOSE_NEXT(g_hash_table_iter_init, )
	next(iter, table);
	if (!iter)
		return;
	struct ghash_walk *walk = ghash_walk_find(iter);
	if (walk)
		walk_end(walk);
	if (!table ||
	    !choose_wanted(WIRE_MODEL_g_hash_table_iter_next, CHOOSE_CALLER()))
		return;
	walk = ghash_walk_begin(iter);
	if (!walk)
		return;
	if (!window_choose(&walk->window, WIRE_MODEL_g_hash_table_iter_next,
			   CHOOSE_CALLER(), table, walk->steps)) {
		walk_end(walk);
		return;
	}
	choose_did("pairs came in another order");
	for (size_t b = 0; b < sizeof(*iter); b++) {
		walk->moves[b] = false;
		for (size_t i = 0; i < walk->window.n; i++)
			walk->moves[b] |=
				walk->steps[i].bytes[b] != iter->bytes[b];
	}
}

static void walk_move(const struct ghash_walk *walk, struct iter *iter,
		      size_t step)
{
	for (size_t b = 0; b < sizeof(*iter); b++) {
		if (walk->moves[b])
			iter->bytes[b] = walk->steps[step].bytes[b];
	}
}

/* Is it where we left it? Other code may have its iterator in this place now. */
static bool walk_is_there(const struct ghash_walk *walk,
			  const struct iter *iter)
{
	if (!walk->at)
		return true;
	const struct iter *left =
		&walk->steps[walk->window.order[walk->at - 1]];
	for (size_t b = 0; b < sizeof(*iter); b++) {
		if (walk->moves[b] && iter->bytes[b] != left->bytes[b])
			return false;
	}
	return true;
}

_export_ int g_hash_table_iter_next(struct iter *iter, void **ret_key,
				    void **ret_value)
{
	CHOOSE_NEXT(g_hash_table_iter_next, 0)
	struct ghash_walk *walk = ghash_walk_find(iter);
	if (likely(!walk))
		return next(iter, ret_key, ret_value);
	struct ghash_window *window = &walk->window;
	if (!walk_is_there(walk, iter)) {
		walk_end(walk);
		return next(iter, ret_key, ret_value);
	}
	if (walk->at >= window->n) { /* those after them, as usual */
		walk_move(walk, iter, window->n - 1);
		walk_end(walk);
		return next(iter, ret_key, ret_value);
	}
	uint32_t which = window->order[walk->at++];
	walk_move(walk, iter, which);
	if (ret_key)
		*ret_key = window->keys[which];
	if (ret_value)
		*ret_value = window->values[which];
	return 1;
}
