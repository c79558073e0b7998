/*
 * What the implementation of dwarf/object.h shares; for dwarf/ only.
 *
 * Layers, each asked lazily: the file and its symbols (object.c, symbols.c),
 * the units of the debug information by address (units.c), and on those the
 * questions about lines and functions (lines.c), types (types.c) and inlined
 * functions (inlined.c).
 *
 * Invariants:
 *  1. An object is used by one thread at a time (libdw is not thread-safe).
 *  2. Whatever the file says, a walk over DIEs visits increasing positions
 *     only (struct die_walk), and a chain of references is followed at most
 *     CHAIN_MAX times.
 *  3. Addresses outside this room are link-time addresses of the file;
 *     those of the debug information differ from them by dwarf_bias.
 */
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libelf.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "dwarf/object.h"
#include "dwarf/spans.h"

/* Longest chain of typedefs, origins, nested members that is followed. */
#define CHAIN_MAX 64
/* Deepest nesting of DIEs that is walked. */
#define DEPTH_MAX 128

/* ---- symbols.c ---- */

struct symbol_entry {
	const char *name; /* in the mapped file or in symbols.names */
	uint64_t value;
	uint64_t size;
	uint8_t type;  /* STT_* */
	uint8_t rank;  /* 0 global, 1 global of an old version, 2 local */
	bool absolute; /* not an address */
};

struct symbol_slot {
	uint32_t hash;
	uint32_t entry; /* index + 1; 0: empty */
};

/* Open addressing; grows at 1/2. */
struct symbol_table {
	struct symbol_slot *slots;
	size_t n;
	size_t cap;
};

struct symbols {
	VEC(struct symbol_entry) entries; /* in file order */
	VEC(char *) names;		  /* those that had a version cut off */
	struct symbol_table by_name;	  /* the preferred entry of each name */
	struct symbol_table doubles;	  /* the others, by name and value */
	struct spans functions, others;	  /* sealed at the first question */
	struct map_text imports;	  /* names it needs from others */
	bool sealed;
	bool asan, tsan;
	bool full;	/* a .symtab was among them */
	Elf *elsewhere; /* file it was in, if another; of the module */
};

struct err *symbols_read(struct symbols *symbols, Elf *elf, Dwfl_Module *module,
			 bool exported) _must_check_;
void symbols_free(struct symbols *symbols);

/* ---- units.c ---- */

struct function {
	uint64_t address; /* of the debug information, not of the file */
	Dwarf_Die die;
};

struct object_unit {
	Dwarf_Die skeleton; /* with the ranges and the line table */
	Dwarf_Die die;	    /* with the children: the same, or the split one */
	bool resolved;	    /* die is filled in */
	uint8_t read;	    /* enum functions_read */
	VEC(struct function) functions; /* sorted by address */
};

enum functions_read { FUNCTIONS_NONE, FUNCTIONS_SHALLOW, FUNCTIONS_DEEP };

struct units {
	bool loaded;
	VEC(struct object_unit) data;
	struct spans ranges;
	struct map_u64 skeletons; /* split Dwarf_CU to unit */
};

struct types {
	size_t units; /* units before this one are in by_name */
	VEC(Dwarf_Die) dies;
	struct map_text by_name;
};

/* Functions that debug information knows only as inlined. */
struct inlined_place {
	const char *file;
	unsigned line;
};

struct inlined_functions {
	bool read;
	VEC(struct inlined_place) places;
	struct map_text by_name; /* the first of each name */
};

struct object {
	char *path;
	struct object_facts facts;
	Dwfl *dwfl;
	Dwfl_Module *module; /* of dwfl */
	Elf *elf;	     /* of module */
	struct spans text;   /* executable segments */
	struct symbols *symbols;
	bool dwarf_tried;
	Dwarf *dwarf; /* of module; NULL: none */
	Dwarf_Addr dwarf_bias;
	struct units units;
	struct types types;
	struct inlined_functions inlined;
	struct map_text texts; /* interned; the value is the text */
};

/*
 * Copies: in a damaged file the tables may be anywhere, and libelf's own
 * pointers would not be aligned.
 */
static inline bool section_header(Elf_Scn *section, Elf64_Shdr *ret)
{
	return section && gelf_getshdr(section, ret);
}
static inline bool segment_header(Elf *elf, size_t index, Elf64_Phdr *ret)
{
	return index <= INT32_MAX && gelf_getphdr(elf, (int)index, ret);
}

/* Opens the debug information at the first call; NULL: there is none. */
Dwarf *object_dwarf(struct object *object);
/* A copy of @text that lives as long as the object; NULL: out of memory. */
const char *object_intern(struct object *object, const char *text);

/* All units; empty without debug information. */
struct units *object_units(struct object *object);
/* The unit whose code covers @address of the file; NULL: none. */
struct object_unit *object_unit_at(struct object *object, uint64_t address);
/* The DIE with the unit's children; opens the split file where there is one. */
Dwarf_Die *object_unit_die(struct object *object, struct object_unit *unit);
/* The DIE with the unit's comp_dir, which split units leave to the other. */
Dwarf_Die *object_skeleton(struct object *object, Dwarf_CU *cu,
			   Dwarf_Die *buffer);
/* The function that begins at @address of the file. */
bool object_function_die(struct object *object, uint64_t address,
			 Dwarf_Die *ret);
/* Has it code in the file (not inlined away, not garbage-collected)? */
bool object_die_has_code(struct object *object, Dwarf_Die *die);
void units_free(struct units *units);

/* Full path of entry @index of the file table of @cu; NULL: none. */
const char *object_file_name(struct object *object, Dwarf_CU *cu,
			     uint64_t index);
/* DW_AT_decl_file and decl_line, from where it was first declared. */
bool object_decl_place(struct object *object, Dwarf_Die *die,
		       const char **ret_file, unsigned *ret_line);

void types_free(struct types *types);
void inlined_functions_free(struct inlined_functions *inlined);

/* ---- walking ---- */

struct die_walk {
	/* Called for each DIE; says whether to go into its children. */
	bool (*enter)(struct die_walk *walk, Dwarf_Die *die);
	/* Called after its children, if entered; may be NULL. */
	void (*leave)(struct die_walk *walk, Dwarf_Die *die);
	bool stop; /* set by either: ends the walk */
	/* private */
	const void *last;
	unsigned depth;
};

/* Walks everything below @root, @root itself not. */
void die_walk(struct die_walk *walk, Dwarf_Die *root);
/* First child and next sibling, forward in the file only. */
bool die_child(Dwarf_Die *die, Dwarf_Die *ret);
bool die_next(Dwarf_Die *die);
/* Without typedefs and qualifiers; resolves type signatures. */
bool die_type(Dwarf_Die *die, Dwarf_Die *ret);
bool die_peel(Dwarf_Die *type, Dwarf_Die *ret);
bool die_flag(Dwarf_Die *die, unsigned attribute);
