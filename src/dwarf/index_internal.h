/*
 * What the implementation of dwarf/index.h shares; for dwarf/ only.
 *
 * Three steps: one walk over all units notes the scopes, the definitions of
 * types by name and the variables that have a fixed place (scopes.c,
 * variables.c); then the types that these variables reach are built
 * (typebuild.c, records.c), so that a type declared in one unit finds its
 * definition in any other; last come the vtables (vtables.c) and the symbols
 * that nothing covers (data_symbols.c).
 *
 * The tables here are keyed with 64-bit hashes of what they stand for; two
 * different names of equal hash do not occur by chance, and in a file made for
 * it would only be taken for one another.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "dwarf/index.h"
#include "dwarf/object_internal.h"
#include "type/type.h"

/* ---- scopes.c ---- */

#define SCOPE_NONE UINT32_MAX

/* A namespace, struct or function: what others are named after. */
struct scope {
	const void *addr; /* of the DIE */
	const void *last; /* of the last DIE inside; NULL: still open */
	uint32_t parent;
};

struct scope_unit {
	VEC(struct scope) scopes; /* by addr */
};

struct variable_die {
	Dwarf_Die die;
	uint32_t unit; /* number of the object's unit */
};

struct scopes {
	struct object *object;
	VEC(struct scope_unit *) units;
	struct map_u64 by_cu;	    /* to units */
	struct map_u64 numbers;	    /* Dwarf_CU to the object's number of it */
	VEC(Dwarf_Die) definitions; /* of structs and enums */
	struct map_u64 by_name;	    /* hash of the qualified name to those */
	VEC(struct variable_die) variables;
	VEC(Dwarf_Die) templates; /* definitions that a vtable may be of */
	struct map_u64 wanted;	  /* hashes of the plain names of those */
	bool incomplete;	  /* a split file is missing */
	size_t dies;		  /* how many were seen: bounds later work */
};

/* Walks all units of the object. */
struct err *scopes_read(struct scopes *scopes,
			struct object *object) _must_check_;
void scopes_free(struct scopes *scopes);
static inline void scopes_freep(struct scopes *scopes)
{
	scopes_free(scopes);
}
/* Where it was first declared: follows origins and specifications. */
void die_origin(Dwarf_Die *die, Dwarf_Die *ret);
enum scope_flags {
	/* In a function or in a namespace without a name: others may have
	   another of this name. */
	SCOPE_LOCAL = 1 << 0,
	SCOPE_FUNCTION = 1 << 1, /* in a function */
	SCOPE_NAMELESS = 1 << 2, /* whose name is not given */
};
/* Appends "ns::Class::name". @ret_flags: enum scope_flags; NULL is fine. */
struct err *scopes_name(struct scopes *scopes, Dwarf_Die *die, struct str *out,
			unsigned *ret_flags) _must_check_;
/* The number of the object's unit; @ret stays if it is not one of them. */
void scopes_unit_number(const struct scopes *scopes, const Dwarf_CU *cu,
			uint32_t *ret);
/* The class that @die was declared in. */
bool scopes_class(struct scopes *scopes, Dwarf_Die *die, Dwarf_Die *ret);
/* A definition by qualified name, spelled as in debug information. */
bool scopes_definition(const struct scopes *scopes, const char *name,
		       Dwarf_Die *ret);
/* Classes of this name (without scopes) are noted, for vtables. */
struct err *scopes_want(struct scopes *scopes, const char *name) _must_check_;
/* "a::b<c::d>::e" → "e": the last part at the top level. */
const char *scope_last_part(const char *name);

/* ---- typebuild.c, records.c ---- */

struct type_work {
	Dwarf_Die die;
	type_id id;
	const char *name; /* the pool's */
};

struct type_builder {
	struct object *object;
	struct scopes *scopes;
	struct type_pool *pool;
	type_id first;		 /* of this file */
	struct map_u64 by_die;	 /* the DIE's position to its type */
	struct map_u64 interned; /* hash of the content to the type */
	VEC(struct type_work) work;
	VEC(struct type_member) members; /* scratch, as the next two */
	VEC(struct type_enumerator) enumerators;
	VEC(struct type_argument) arguments;
	struct str name;
	size_t steps, steps_max;
	struct map_u64 *pieces; /* see variables_finish() */
};

void type_builder_free(struct type_builder *builder);
static inline void type_builder_freep(struct type_builder *builder)
{
	type_builder_free(builder);
}
/* @die: NULL is void. The content of structs comes with the last step. */
struct err *type_build(struct type_builder *builder, Dwarf_Die *die,
		       type_id *ret) _must_check_;
/* Fills in all structs that were asked for, and what they need. */
struct err *type_build_rest(struct type_builder *builder) _must_check_;
struct err *record_fill(struct type_builder *builder,
			const struct type_work *work) _must_check_;
bool die_unsigned(Dwarf_Die *die, unsigned attribute, uint64_t *ret);

/* ---- data_symbols.c ---- */

struct data_symbol {
	const char *name;
	uint64_t value;
	uint64_t size;
	bool tls;
	bool local;
	bool vtable;
	bool ours; /* a variable of the program, not of compiler or linker */
};

struct data_symbols {
	VEC(struct data_symbol) data; /* TLS last, by value, largest first */
	VEC(char *) names;	      /* those that had a version cut off */
	struct map_text guards;	      /* "_ZGV…" to its value */
	/*
	 * Source file, without folders, to the value of its "__tls_guard" plus
	 * 1; 0 where several files have that name.
	 */
	struct map_text tls_guards;
	struct spans writable; /* where variables may be */
	bool has_libc;	       /* glibc is linked in */
	uint64_t tls_start;    /* address of the block's template */
	uint64_t tls_size;
};

struct err *data_symbols_read(struct data_symbols *symbols,
			      struct object *object) _must_check_;
void data_symbols_free(struct data_symbols *symbols);
static inline void data_symbols_freep(struct data_symbols *symbols)
{
	data_symbols_free(symbols);
}
/* The symbol at exactly this place; NULL: none. */
const struct data_symbol *data_symbol_at(const struct data_symbols *symbols,
					 bool tls, uint64_t value);
/* Adds those that no variable covers. */
struct err *data_symbols_add(const struct data_symbols *symbols,
			     struct type_pool *pool,
			     struct index_variables *index) _must_check_;
/* NULL: not a mangled name, or no memory. */
char *demangle_name(const char *name);
/* The same for a variable; those of functions without their parameters. */
char *demangle_variable(const char *name);

/* ---- variables.c ---- */

/* Does it begin like the place of a static variable? Cheap. */
bool variable_is_static(Dwarf_Die *die);
/* Of one that is in one piece and not a thread's; of the file. */
bool variable_address(struct object *object, Dwarf_Die *die, uint64_t *ret);
/* Adds the variables; their sizes come with variables_finish(). */
struct err *variables_add(struct type_builder *builder,
			  const struct data_symbols *symbols,
			  struct index_variables *index) _must_check_;
/*
 * What can be said only when the types are settled. @pieces: number of a
 * variable that is only a part of one to where in that it was.
 */
struct err *variables_finish(struct type_pool *pool,
			     const struct data_symbols *symbols,
			     const struct map_u64 *pieces,
			     struct index_variables *index) _must_check_;

/* ---- vtables.c ---- */

/* Which names scopes_read() looks for. */
struct err *vtables_wanted(const struct data_symbols *symbols,
			   struct scopes *scopes) _must_check_;
struct err *vtables_add(struct type_builder *builder,
			const struct data_symbols *symbols,
			struct index_variables *index) _must_check_;

/* ---- index_cache.c ---- */

/* *@ret is NULL where the cache has none that is whole. */
struct err *index_cache_read(struct object *object, const char *cache,
			     struct type_pool *pool,
			     struct index_variables **ret) _must_check_;
struct err *index_cache_write(struct object *object, const char *cache,
			      const struct type_pool *pool, type_id first,
			      const struct index_variables *index) _must_check_;
