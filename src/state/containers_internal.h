/*
 * Recipes as they apply to one type: paths become offsets, once for each type.
 */
#pragma once

#include "base/map.h"
#include "state/containers.h"
#include "state/recipes.h"

#define PLACE_STEPS 4 /* pointers on the way to a place, plus one */

/* Lengths above it are nonsense, whatever the memory says. */
#define CONTAINER_BYTES_MAX (1ULL << 40)

struct container_place {
	bool known;
	uint8_t n; /* steps: at each but the last a pointer is followed */
	uint64_t offsets[PLACE_STEPS];
	type_id type; /* TYPE_UNKNOWN where it is only an offset */
	uint8_t size; /* bytes to read, at most 8 */
	uint8_t bit_offset;
	uint8_t bit_size;
};

/* A recipe for one type. */
struct container {
	const struct container_recipe *recipe;
	type_id type;
	struct container_place places[PLACES];
	type_id element;
	uint64_t element_size; /* 0: not known */
	type_id key;
	uint64_t key_offset;  /* in the element */
	uint64_t next, right; /* in a node */
	uint64_t value;	      /* in a node or, user's optional, the object */
	/* recipe->inner: */
	const struct container *inner;
	uint64_t inner_offset;
};

struct containers {
	struct type_pool *pool;
	struct container_recipe *users;
	size_t n_users;
	VEC(char *) texts; /* of the users' rows */
	/* By type id: NULL not asked yet, &ordinary none. */
	VEC(const struct container *) by_type;
	/* Types that are needed and may not be in the pool; 0: not made yet. */
	type_id void_pointer;
	type_id structure;
	struct map_u64 opaque; /* by size */
	bool (*symbol)(void *data, uint64_t address, char *out, size_t n);
	void *symbol_data;
	struct map_u64 held; /* by address of code: type, and enum held_where */
};

/* Where a value is whose type only its handler's name shows. */
enum held_where { HELD_UNKNOWN, HELD_IN_PLACE, HELD_IN_BLOCK };

/* One call of container_expand(). */
struct expansion {
	struct containers *containers;
	const struct container *container;
	const struct view *view;
	uint64_t address;
	size_t max;
	struct container_contents *out;
	bool sound; /* false until everything added up */
};

/* container_place.c: */
bool place_resolve(const struct type_pool *pool, type_id type, const char *path,
		   struct container_place *ret);
bool place_address(const struct view *view, uint64_t object,
		   const struct container_place *place, uint64_t *ret);
/* As an unsigned number; the sign is ignored. */
bool place_read(const struct view *view, uint64_t object,
		const struct container_place *place, uint64_t *ret);

/* container_types.c: */
/* The type of the template argument; TYPE_UNKNOWN where there is none. */
struct err *container_argument(struct containers *containers, type_id type,
			       size_t n, type_id *ret) _must_check_;
/* "#0", "#3.#0", "void *", "char", "name". */
struct err *container_named(struct containers *containers, type_id type,
			    const char *spec, type_id *ret) _must_check_;
struct err *container_pair(struct containers *containers, type_id first,
			   type_id second, type_id *ret) _must_check_;
struct err *container_void_pointer(struct containers *containers,
				   type_id *ret) _must_check_;
/* Bytes of unknown meaning. */
struct err *container_opaque(struct containers *containers, uint64_t size,
			     type_id *ret) _must_check_;
/* What the code at @code handles; TYPE_UNKNOWN where its name is no help. */
struct err *container_held(struct containers *containers, uint64_t code,
			   type_id *ret,
			   enum held_where *ret_where) _must_check_;
static inline uint64_t container_align(uint64_t offset, uint64_t align)
{
	return align > 1 ? (offset + align - 1) / align * align : offset;
}

/* container_users.c: */
struct err *container_users_add(struct containers *containers,
				const struct container_user *users,
				size_t n) _must_check_;

/* container_expand.c and container_expand_std.c: by shape, and rows' own. */
struct err *container_push(struct expansion *x, uint64_t address,
			   uint64_t key) _must_check_;
/* The one element that a pointer of the container has; 0: none. */
struct err *container_push_target(struct expansion *x,
				  uint64_t target) _must_check_;
struct err *container_push_run(struct expansion *x, uint64_t first, uint64_t n,
			       type_id type, uint64_t stride) _must_check_;
void container_word(struct expansion *x, uint64_t word);
struct err *container_structure(struct expansion *x,
				uint64_t block) _must_check_;
bool container_number(const struct expansion *x, enum recipe_place_index index,
		      uint64_t *ret);
bool container_fits(const struct view *view, uint64_t address, uint64_t size);
bool container_u64(const struct view *view, uint64_t address, uint64_t *ret);
struct err *container_expand_shape(struct expansion *x) _must_check_;
struct err *container_expand_tree(struct expansion *x) _must_check_;

expand_fn expand_keyed_sequence, expand_absl_flat, expand_absl_node,
	expand_absl_inlined, expand_absl_btree, expand_boost_unordered,
	expand_boost_circular;
expand_fn expand_qt_array, expand_qt_list, expand_qt_hash_chained,
	expand_qt_hash_spans, expand_qt_hash_multi, expand_qt_shared,
	expand_qt_weak, expand_qt_map, expand_qt_variant,
	expand_qt_variant_number;
expand_fn expand_string_cow, expand_string_libcxx;
expand_fn expand_bits_libstdcxx, expand_bits_libcxx;
expand_fn expand_deque_libstdcxx, expand_deque_libcxx;
expand_fn expand_shared, expand_weak, expand_function, expand_function_libcxx,
	expand_any, expand_presence, expand_garray, expand_ghash, expand_span;
