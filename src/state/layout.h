/*
 * Types taken apart: which leaves an object has, and where.
 *
 * A leaf is what is compared as one: a number, a pointer, a container, or bytes
 * of unknown meaning. Padding is in no leaf.
 */
#pragma once

#include "state/containers.h"
#include "type/type.h"

enum leaf_kind {
	LEAF_NUMBER,	/* also enumerations, bools, pointers to members */
	LEAF_FLOAT,	/* floating and complex */
	LEAF_POINTER,	/* also references; type is the target */
	LEAF_CODE,	/* address of a function or a vtable */
	LEAF_TEXT,	/* an array of characters: until its first 0 */
	LEAF_CONTAINER, /* type has a recipe */
	LEAF_WORDS,	/* unions, opaque memory: words, some are pointers */
};

struct leaf {
	enum leaf_kind kind;
	type_id type;
	uint64_t offset; /* in the object that was asked about */
	uint64_t size;
	uint8_t bit_offset, bit_size;
};

/* Where a type has its pointers, for going through many objects of it. */
struct pointer_map {
	bool simple; /* false: it has more than plain pointers that lead on */
	uint32_t n;
	struct {
		uint32_t offset;
		type_id target;
	} at[];
};

struct layout {
	const struct type_pool *pool;
	struct containers *containers;
	uint8_t *pointers; /* by type: 0 unknown, 1 none, 2 some */
	size_t n_pointers;
	struct pointer_map **maps; /* by type; NULL: not made yet */
	size_t n_maps;
	/*
	 * The class of the object that was made in @room raw bytes at @address
	 * (std::aligned_storage), if its vtable shows it; else TYPE_UNKNOWN.
	 * May be NULL.
	 */
	type_id (*class_at)(void *data, const struct view *view,
			    uint64_t address, uint64_t room);
	void *data;
};

struct err *layout_init(struct layout *layout, const struct type_pool *pool,
			struct containers *containers) _must_check_;
void layout_free(struct layout *layout);

/* Can something be reached from an object of this type? */
bool layout_has_pointers(struct layout *layout, type_id type);

/* NULL: none could be made. */
const struct pointer_map *layout_pointer_map(struct layout *layout,
					     type_id type);

enum layout_flags {
	LAYOUT_POINTERS = 1 << 0, /* only leaves that lead somewhere */
	LAYOUT_PLAIN = 1 << 1,	  /* the outermost type is no container */
};

typedef struct err *leaf_visit(void *data, const struct leaf *leaf);

/*
 * Calls @visit for the leaves of an object of @type at @offset that overlap
 * bytes @from to @to, in the order of their offsets. @size: bytes that the
 * object really has, for flexible arrays at its end. @view and @address: where
 * one such object is, to find virtual bases; NULL: those are left out.
 */
struct layout_object {
	type_id type;
	uint64_t offset;
	uint64_t size;
	const struct view *view;
	uint64_t address; /* of byte @offset */
};
struct err *layout_visit(struct layout *layout,
			 const struct layout_object *object, uint64_t from,
			 uint64_t to, unsigned flags, leaf_visit *visit,
			 void *data) _must_check_;
