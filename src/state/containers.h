/*
 * Abstraction: types whose content is compared instead of their bytes.
 *
 * A recipe says for types of some name where their elements are. All recipes
 * are rows of one table (recipes.c, where also is how to add one); users add
 * theirs in polygraph.toml with the same words (docs/containers.md). Member
 * paths in them are dotted, as in the debug information ("_M_impl._M_start");
 * members of base classes are found without naming the base, a pointer in the
 * middle is followed, and "#N" is the type of the N-th template argument.
 *
 * What it does not do: compare. It says where the content is; whether it is
 * the same is the walk's question, and so are dynamic types and extents.
 */
#pragma once

#include "base/vec.h"
#include "state/view.h"
#include "type/type.h"

enum container_shape {
	CONTAINER_SEQUENCE, /* from @first to @last, or @count of them: a run */
	CONTAINER_TEXT,	    /* characters: the same, shown as a string */
	CONTAINER_BITS,	    /* vector<bool> */
	CONTAINER_CHAIN,    /* nodes linked by @next, until NULL or the head */
	CONTAINER_TREE,	    /* red-black tree nodes, in order */
	CONTAINER_BLOCKS,   /* several elements in each of several blocks */
	CONTAINER_POINTER,  /* owns or shares what it points to */
	CONTAINER_OPTIONAL,
	CONTAINER_VARIANT,
	CONTAINER_FUNCTION, /* std::function, std::any: target and its bytes */
	CONTAINER_TABLE,    /* GHashTable: arrays of keys and of values */
	CONTAINER_SKIP,	    /* never compared: mutexes, caches */
	CONTAINER_SPECIAL,  /* found by code: recipe->expand */
};

struct container_recipe;

/*
 * One element of a container at one moment.
 *
 * Maps: the element is the whole pair, the key its first part (its address is
 * in the element). Sets: the key is the element. GHashTable: key and value are
 * separate, and both are content. Smart pointers: what they point to, with its
 * static type; T for unique_ptr<T[]>, too, whose length its block says, and
 * TYPE_VOID or TYPE_UNKNOWN where nothing is known.
 */
struct container_element {
	uint64_t address; /* where its value is */
	type_id type;
	uint64_t key; /* address of the key it is found by; 0: its position */
	type_id key_type;
};

struct container_contents {
	struct container_element *data;
	size_t n;
	size_t cap;
	bool unordered;
	/*
	 * Elements that follow each other: only the first is in data, and there
	 * are @run of them, each @stride bytes. (A vector of 1 GiB.) 0: all are
	 * in data.
	 */
	uint64_t run;
	uint64_t stride;
	/*
	 * Values that are compared as they are:
	 *  CONTAINER_OPTIONAL  engaged; for threads and exceptions all there is
	 *  CONTAINER_VARIANT   the index, all ones where there is no value
	 *  CONTAINER_BITS	how many bits, and those of the last byte where
	 *			it is not whole (the run has the whole ones)
	 *  CONTAINER_FUNCTION  addresses of the code that handles the target
	 */
	uint64_t words[4];
	size_t n_words;
	/*
	 * Addresses in blocks that hold no elements but say which there are (the
	 * array of buckets, a header that the object only points to): where they
	 * are written, the container may have changed.
	 */
	VEC(uint64_t) structure;
};

void container_contents_free(struct container_contents *contents);

/* Users' rows; strings are copied. Wrong ones get a sentence (ERR_USAGE). */
struct container_user {
	const char *type;  /* glob over qualified names */
	const char *shape; /* "sequence", "chain", …, "skip" */
	const char *first, *last, *count, *next, *value, *element;
	bool unordered;
};

struct containers;
/* @pool may grow: element arrays and the like. It outlives the containers. */
struct err *containers_create(struct type_pool *pool,
			      const struct container_user *users, size_t n,
			      struct containers **ret) _must_check_;
void containers_destroy(struct containers *containers); /* NULL is fine */
static inline void containers_destroyp(struct containers **containers)
{
	containers_destroy(*containers);
}

/*
 * Names of code ("&name", "name+8"; false: unknown; at most @n bytes): they
 * show the type of the value in a std::any or of the target of a std::function.
 * Without them it is bytes, some of which may be left over.
 */
void containers_set_symbols(struct containers *containers,
			    bool (*symbol)(void *data, uint64_t address,
					   char *out, size_t n),
			    void *data);

/* The type of what structure leads to: nothing in it is ever compared. */
struct err *containers_structure_type(struct containers *containers,
				      type_id *ret) _must_check_;
/* NULL: an ordinary type. Remembered, so asking again costs nothing. */
const struct container_recipe *container_recipe(struct containers *containers,
						type_id type);
enum container_shape
container_recipe_shape(const struct container_recipe *recipe);
/*
 * The elements of the container of type @type at @address. @ret is cleared
 * first. *@ret_sound is false where its memory makes no sense (destroyed, or
 * the layout is another): then it is compared by members. Memory that is still
 * all zero is sound and empty, so a first construction does not count as a
 * change. At most @max elements are listed; more is unsound, too.
 */
struct err *container_expand(struct containers *containers, type_id type,
			     const struct view *view, uint64_t address,
			     size_t max, struct container_contents *ret,
			     bool *ret_sound) _must_check_;
/*
 * Types that a program only declares, but of which a recipe knows all that is
 * needed (GHashTable), become structs of the size it says.
 */
struct err *containers_complete(struct containers *containers) _must_check_;
