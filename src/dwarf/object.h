/*
 * One ELF file on disk with its symbols and, where it has it, its debug
 * information. Knows nothing of processes: addresses here are those of the file
 * ("link-time"); whoever loads it adds the bias.
 *
 * Everything in the file is foreign: sizes and offsets are checked by elfutils,
 * and each loop here is bounded by what the file really holds.
 *
 * Symbols come from .symtab, .dynsym and the .gnu_debugdata section (a
 * compressed symbol table that some distributions leave in stripped programs),
 * and from a separate debug file found by build id or debug link. Debug
 * information is opened at the first question that needs it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct object;

struct object_facts {
	bool elf;	     /* is an ELF file at all */
	bool script;	     /* begins with #! */
	bool native;	     /* 64-bit little-endian x86-64 */
	const char *machine; /* "AArch64", … for messages */
	bool executable; /* ET_EXEC, or ET_DYN with an interpreter or DF_1_PIE */
	bool pie;
	bool dynamic;	 /* has an interpreter */
	bool symtab;	 /* has a full symbol table */
	bool debug;	 /* has debug information (own or separate) */
	bool asan, tsan; /* built with a sanitizer's runtime */
	uint64_t entry;
};

struct object_symbol {
	const char *name; /* as in the file (mangled, without version) */
	uint64_t value;
	uint64_t size;
	bool function; /* STT_FUNC or STT_GNU_IFUNC */
	bool ifunc;
	bool data;
	bool local;
};

/* Looks at the first bytes only; never fails on a readable file. */
struct err *object_probe(const char *path,
			 struct object_facts *ret) _must_check_;

/* The build id of a file, in hexadecimal; *@ret stays NULL: it has none. */
struct err *object_build_id(const char *path, char **ret) _must_check_;

struct err *object_open(const char *path, struct object **ret) _must_check_;
/*
 * As object_open(), but without looking for separate debug files: for system
 * libraries, whose exported names are all that is asked for.
 */
struct err *object_open_exported(const char *path,
				 struct object **ret) _must_check_;
void object_close(struct object *object); /* NULL is fine */
static inline void object_closep(struct object **object)
{
	object_close(*object);
}
const struct object_facts *object_facts(const struct object *object);
const char *object_path(const struct object *object);

/* Defined symbols only. By exact name; global before local, first of equals. */
bool object_symbol(const struct object *object, const char *name,
		   struct object_symbol *ret);
/* Does it need this symbol from another file? */
bool object_imports(const struct object *object, const char *name);
/* The defined symbol that covers @address; function symbols before others. */
bool object_symbol_at(const struct object *object, uint64_t address,
		      struct object_symbol *ret);
/* A symbol's name for people: C++ ones without their mangling; NULL: no memory. */
char *object_plain_name(const char *symbol);
/* The same without parameters and return type: "app::registry::add". */
char *object_function_name(const char *symbol);
/* The same with parameters: "app::registry::add(int)". */
char *object_function_call(const char *symbol);
/*
 * All defined symbols, in file order, each name and address once. @visit
 * returns false to stop.
 */
void object_each_symbol(const struct object *object,
			bool (*visit)(void *data,
				      const struct object_symbol *symbol),
			void *data);

/* Source place of a code address; false without line information. */
bool object_line(struct object *object, uint64_t address, const char **ret_file,
		 unsigned *ret_line);
/* Is the address in a call that the compiler inlined, and that is at that line? */
bool object_line_of_call(struct object *object, uint64_t address,
			 unsigned line);
/*
 * Statements of @file, a source file of its own unit, from line @first to @last,
 * as line tables have them: in no order, several for a line. @visit returns
 * false to stop.
 */
struct object_row {
	uint64_t address;
	unsigned line, column; /* a column of 0 is unknown */
};
void object_each_row(struct object *object, const char *file, unsigned first,
		     unsigned last,
		     bool (*visit)(void *data, const struct object_row *row),
		     void *data);
/*
 * Where the function that begins at @address was declared (DW_AT_decl_file and
 * decl_line, following specifications and abstract origins); falls back to the
 * line table's row of the address.
 */
bool object_function_place(struct object *object, uint64_t address,
			   const char **ret_file, unsigned *ret_line);

/*
 * The folder in which the compiler was started for the unit made from @file, or
 * else for the first unit: what __FILE__ is relative to. NULL: not known.
 */
const char *object_compile_folder(struct object *object, const char *file);

#define OBJECT_POINTEES 6
#define OBJECT_POINTEE_ANY ((unsigned)-1)
struct object_signature {
	unsigned parameters;
	/* Bytes that they take at most where they are passed in memory. */
	unsigned parameters_size;
	/*
	 * What is in the registers for them: a pointer to so many bytes; 0: no
	 * pointer; OBJECT_POINTEE_ANY: it may be one.
	 */
	unsigned pointees[OBJECT_POINTEES];
	unsigned registers; /* of those, how many are used at most */
	bool variadic;
	bool returns_void;
	bool returns_integer; /* also bool and enumerations */
	bool returns_pointer;
	unsigned result_size; /* bytes; 0: unknown or void */
	/* A struct of 9 to 16 bytes, in two registers. */
	bool returns_pair;
	/* What its words begin with: a pointer, or a number of so many bytes. */
	bool pair_pointers[2];
	unsigned pair_numbers[2];
};
/* Shape of the function that begins at @address; false without debug info. */
bool object_function_signature(struct object *object, uint64_t address,
			       struct object_signature *ret);
/*
 * Elements of the range whose begin is the first parameter of the function at
 * @address: a pointer, or an iterator that is no more than one.
 */
struct object_elements {
	uint64_t size;	/* bytes */
	bool scalar;	/* a number, an enumeration or a pointer */
	bool addresses; /* there are pointers in them … */
	bool inside;	/* … some into themselves: libstdc++'s std::string */
};
/* False: it is not known, or their bytes may not be moved as they are. */
bool object_range_elements(struct object *object, uint64_t address,
			   struct object_elements *ret);
/*
 * Offset of a member in a struct or class by qualified names, e.g.
 * ("testing::TestInfo", "name_"); a dotted member path goes into nested
 * members ("m_info.name"). False where debug information does not have it.
 */
bool object_member_offset(struct object *object, const char *type,
			  const char *member, uint64_t *ret);
/* sizeof a struct or class by qualified name. */
bool object_type_size(struct object *object, const char *type, uint64_t *ret);
/*
 * Functions whose plain name, without namespaces, matches globs (base/globs.h)
 * and that debug information knows only as inlined (no code of their own).
 * Calls @visit with name, file, line.
 */
void object_each_inlined(struct object *object, const char *const *globs,
			 bool (*visit)(void *data, const char *name,
				       const char *file, unsigned line),
			 void *data);
/* Where the first of those is that has this name; false: there is none. */
bool object_inlined_place(struct object *object, const char *name,
			  const char **ret_file, unsigned *ret_line);
/* How many of those that match were inlined into functions that do not? */
size_t object_count_inlined(struct object *object, const char *const *globs);
/*
 * The innermost function that matches and was inlined where the address is, into one
 * that does not; NULL: none was. The text is the object's.
 */
const char *object_inlined_at(struct object *object, uint64_t address,
			      const char *const *globs);
