/*
 * The table of abstracted types: one row says for all types of one name where
 * their content is. How to add a row is at the top of recipes.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/containers.h"

/* Recognised by the inline namespace: std::__1 and the like are libc++'s. */
enum recipe_library { RECIPE_ANY, RECIPE_LIBSTDCXX, RECIPE_LIBCXX };

/* Of the type that containers_structure_type() makes. */
#define CONTAINER_STRUCTURE "polygraph::structure"

/* What an element is found by. */
enum recipe_keys {
	KEYS_NONE, /* its position */
	KEYS_SELF, /* itself: sets */
	KEYS_PAIR, /* the first of a pair, which is the element: maps */
};

/*
 * A place in an object, as a path of members (containers.h has the syntax;
 * "a.b|c" is c where there is no a.b). Where debug information leaves the
 * members out, it is AT(offset), if the type's size is recipe->size or is not
 * known either.
 */
struct recipe_place {
	const char *path;
	uint32_t at; /* 0: none; AT() */
};
#define AT(offset) ((offset) + 1)

enum recipe_place_index {
	PLACE_FIRST, /* pointer to the first element, node, root or target */
	PLACE_LAST,  /* pointer past the last one */
	PLACE_COUNT, /* elements; for variants the index, for optional "engaged" */
	PLACE_EXTRA, /* the shape's own: see its expansion */
	PLACES,
};

/* How nodes of chains and trees are laid out. */
struct recipe_node {
	uint8_t next;	/* offset of the next node's or left child's address */
	uint8_t right;	/* trees: offset of the right child's address */
	uint8_t header; /* the value comes after it, as its alignment requires */
};

struct expansion;
typedef struct err *expand_fn(struct expansion *x);

struct container_recipe {
	/*
	 * "std::vector": all its instances, inline namespaces left out;
	 * "std::vector<bool": the instances that begin so. Users: a glob.
	 */
	const char *type;
	enum recipe_library library;
	enum container_shape shape;
	struct recipe_place places[PLACES];
	uint64_t size; /* of the type, where the offsets of its places hold */
	/*
	 * "#0", "#3.#0" (an argument's argument), "void *", "char", or a type's
	 * name; NULL: what PLACE_FIRST points to.
	 */
	const char *element;
	enum recipe_keys keys;
	bool unordered;
	struct recipe_node node;
	const char *next, *value; /* users: members of the node */
	const char *inner; /* the content is that of this member, a container */
	expand_fn *expand; /* NULL: what the shape says */
	bool user;
};

extern const struct container_recipe recipes[];
extern const size_t n_recipes;

/* A qualified name, taken apart once for all rows. */
struct recipe_name {
	const char *name;
	size_t n; /* of the name without its arguments */
	enum recipe_library library;
	char plain[64]; /* without inline namespaces; "" where too long */
	bool nested;	/* in a template: no row's */
};

void recipe_name_parse(const char *name, struct recipe_name *ret);
bool recipe_matches(const struct container_recipe *recipe,
		    const struct recipe_name *name);
