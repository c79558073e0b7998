/*
 * Types of a program's data, from whatever source.
 *
 * A pool holds types and the variables that have them, for all files of a
 * program together. Types are known by number (type_id); 0 is "not known".
 * cv-qualifiers are gone and typedefs are looked through; a typedef's name is
 * kept only where the type itself has none (`typedef struct {…} point;`).
 *
 * Invariants, which code that fills a pool establishes and readers rely on:
 *  1. Every id in a pool is below pool->n_types.
 *  2. A struct or union that is defined has a size; its members are inside it
 *     (except a flexible array at its end). Sizes of arrays are
 *     count * size of the element, without overflow.
 *  3. Structs contain themselves only through pointers: containment is finite
 *     and at most TYPE_DEPTH_MAX deep.
 *
 * What it does not do: know of DWARF, files or processes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef uint32_t type_id;
#define TYPE_UNKNOWN ((type_id)0)
#define TYPE_DEPTH_MAX 64
#define TYPE_NO_COUNT UINT64_MAX
#define TYPE_SIZE_MAX ((uint64_t)1 << 47) /* no object is larger */

enum type_kind {
	TYPE_OPAQUE, /* declared only, or not understood: bytes of some size */
	TYPE_VOID,
	TYPE_BOOL,
	TYPE_SIGNED,
	TYPE_UNSIGNED,
	TYPE_CHAR,	  /* char, char8_t, char16_t, char32_t, wchar_t: text */
	TYPE_FLOAT,	  /* by size: 4, 8, 16 (x87 extended: 10 bytes count) */
	TYPE_COMPLEX,	  /* two floats of half its size */
	TYPE_ENUM,	  /* values: enumerators */
	TYPE_POINTER,	  /* target; TYPE_VOID: void * */
	TYPE_REFERENCE,	  /* C++ & and &&: stored as a pointer, never NULL */
	TYPE_CODE,	  /* a function: only ever a pointer's target */
	TYPE_DATA_MEMBER, /* pointer to a data member: 8 bytes, an offset */
	TYPE_CODE_MEMBER, /* pointer to a member function: 16 bytes */
	TYPE_STRUCT,	  /* also classes */
	TYPE_UNION,
	TYPE_ARRAY, /* target: element; count: TYPE_NO_COUNT where flexible */
};

enum type_flags {
	TYPE_POLYMORPHIC = 1 << 0, /* has a vptr, its own or of a base */
	TYPE_ATOMIC = 1 << 1,	   /* _Atomic; std::atomic is a struct */
};

struct type_member {
	const char *name; /* "" where it has none: bases, anonymous unions */
	type_id type;
	uint64_t
		offset; /* bytes; for bit-fields of the byte of its first bit */
	uint8_t bit_offset; /* 0 to 7, from the least significant bit */
	uint8_t bit_size;   /* 0: no bit-field */
	bool base;	    /* a base class */
	bool virtual_base;  /* offset is found through the vtable: see below */
	bool artificial;    /* the compiler's own, e.g. the vptr */
	/*
	 * Virtual bases: the vtable has, at this (negative) distance in bytes
	 * from where the vptr points, the base's offset in the object.
	 */
	int64_t vtable_offset;
};

struct type_enumerator {
	const char *name;
	int64_t value;
};

/* A template argument: a type, or a value of one. */
struct type_argument {
	type_id type;
	bool is_value;
	int64_t value;
};

struct type {
	enum type_kind kind;
	uint32_t flags;
	const char *name; /* "" where it has none; qualified: "ns::list<int>" */
	uint64_t size;	  /* bytes; 0: not known or none */
	uint32_t align;	  /* natural alignment; at least 1 */
	type_id target;	  /* also of enums: the integer type, where known */
	uint64_t count;
	const struct type_member *members; /* by offset; bases among them */
	uint32_t n_members;
	const struct type_enumerator *enumerators;
	uint32_t n_enumerators;
	const struct type_argument *arguments;
	uint32_t n_arguments;
};

enum variable_flags {
	VARIABLE_LOCAL = 1 << 0,    /* static in a file or a function */
	VARIABLE_TLS = 1 << 1,	    /* address is the offset in the TLS block */
	VARIABLE_UNTYPED = 1 << 2,  /* from a symbol alone */
	VARIABLE_CONSTANT = 1 << 3, /* const: writable until initialised */
};

struct variable {
	/*
	 * "registry", "app::registry", "Cache::instance_"; a static of a
	 * function: "next_id::last" (function without its parameters).
	 */
	const char *name;
	const char *symbol; /* linkage name; NULL: none */
	const char *file;   /* of its declaration; NULL: unknown */
	uint32_t line;
	uint32_t flags;
	uint64_t address; /* link-time, or offset in the TLS block */
	uint64_t size;	  /* bytes that are really there (pieces) */
	type_id type;
	/*
	 * Link-time address of its guard variable, 0: none. If it is
	 * thread-local, so is its guard: its offset plus 1.
	 */
	uint64_t guard;
	uint32_t unit; /* number of the unit (source file) it is from */
};

/* A class's vtable: from the vptr's value to the dynamic type. */
struct vtable {
	uint64_t address; /* link-time, of the _ZTV symbol's data */
	uint64_t size;
	type_id type;
};

struct type_pool;

struct err *type_pool_create(struct type_pool **ret) _must_check_;
void type_pool_destroy(struct type_pool *pool); /* NULL is fine */
static inline void type_pool_destroyp(struct type_pool **pool)
{
	type_pool_destroy(*pool);
}

const struct type *type_get(const struct type_pool *pool, type_id id);
size_t type_count(const struct type_pool *pool);
/* A struct, union, enum or base type by its qualified name; TYPE_UNKNOWN. */
type_id type_by_name(const struct type_pool *pool, const char *name);

/*
 * Filling: names are copied into the pool (equal ones once), members and the
 * like, too. type_set() gives a declared id its content, so that types can
 * refer to each other.
 */
struct err *type_declare(struct type_pool *pool, type_id *ret) _must_check_;
struct err *type_set(struct type_pool *pool, type_id id,
		     const struct type *type) _must_check_;
/*
 * The array of @count @element; equal ones are the same. TYPE_UNKNOWN where it
 * would be larger than TYPE_SIZE_MAX.
 */
struct err *type_array_of(struct type_pool *pool, type_id element,
			  uint64_t count, type_id *ret) _must_check_;
const char *type_text(struct type_pool *pool,
		      const char *text); /* NULL: no memory */

/*
 * Makes the invariants hold for the types from @first on, whatever was set:
 * works out the sizes of arrays, alignments (where none is set) and which
 * classes are polymorphic; members outside the type are dropped, and what
 * contains itself or nests too deeply becomes opaque. Code that fills a pool
 * calls it once at the end.
 */
struct err *type_settle(struct type_pool *pool, type_id first) _must_check_;

/* "int", "struct point *", "char[8]": for people; writes at most @n bytes. */
void type_describe(const struct type_pool *pool, type_id id, char *out,
		   size_t n);
