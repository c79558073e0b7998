/* What the files of pieces share; for them alone. */
#pragma once

#include <elfutils/libdw.h>
#include <gelf.h>

#include "base/map.h"
#include "base/vec.h"
#include "dwarf/object.h"
#include "program/makeup.h"

#define PIECE_NONE UINT32_MAX
/* Thread-local variables have addresses of their own, by their offset. */
#define PIECE_TLS ((uint64_t)1 << 62)

struct made_piece {
	uint64_t start, size;
	const char *name;     /* the file's; NULL: a constant without one */
	const uint8_t *bytes; /* NULL: zeroes, or no more is known */
	uint32_t next_same;   /* of equal name in the file; PIECE_NONE: last */
	size_t first_ref, n_refs;   /* in the file's */
	size_t first_edge, n_edges; /* in the program's */
	uint64_t hash;		    /* of its own content, targets by name */
	uint64_t digest;	    /* and of all that it reaches */
	bool code, writable, weak, local, merged;
	size_t first_init, n_inits; /* in the program's: what sets it */
	uint32_t component;	    /* of pieces that reach each other */
	bool init;		    /* called before main() */
	bool impure; /* calls something of the system that may have effects */
	bool calls_impure; /* it, or what it calls; of code before main() */
	bool framework;	   /* of a test framework that is linked in */
	bool owned;  /* of tests, and what makes them known to the framework */
	bool runner; /* reached without passing through a test */
	bool changed, reaches;
};

struct piece_section {
	uint64_t start, size;
	const uint8_t *bytes; /* NULL: zeroes */
	const char *name;
	bool code, writable, table; /* of jumps to other files */
};

/* A word that the loader fills in. */
struct piece_relocation {
	uint64_t place;
	uint64_t target;    /* in the file, where there is no symbol */
	const char *symbol; /* NULL: none */
};

/* What a piece refers to, as the file has it. */
struct piece_ref {
	uint64_t to;
	const char *symbol; /* of another file, perhaps; NULL: it is @to */
	unsigned extent;    /* bytes of it; 0: unknown */
};

/* A frame of code, and the table of what it catches. */
struct piece_catch {
	uint64_t code, table;
};

struct piece_file {
	char *path;
	int fd;
	Elf *elf;
	struct object *object; /* for lines; NULL: none */
	bool fixed;	       /* not position-independent */
	bool symtab;
	VEC(struct piece_section) sections;
	VEC(struct piece_relocation) relocations; /* by place */
	VEC(struct piece_ref) refs;
	VEC(struct piece_catch) catches; /* by code */
	VEC(const char *) units; /* names that the linker was given: STT_FILE */
	uint64_t tls_start, tls_size, tls_filled; /* size: as it is laid out */
	size_t first, n;	     /* its pieces with names, by start, … */
	size_t first_loose, n_loose; /* … and constants without one, too */
};

struct test_pieces {
	struct makeup_test place; /* texts are the caller's */
	VEC(uint32_t) all;	  /* ascending; none: not known */
	uint64_t digest;
	bool reached;
};

struct makeup {
	VEC(const struct framework_own *) owns; /* that are linked in */
	VEC(struct piece_file) files;		/* the program first */
	VEC(struct made_piece) all;
	VEC(uint32_t) edges;
	VEC(uint32_t) inits; /* code that runs before main(), by variable */
	VEC(uint32_t) order; /* all pieces, after those that they refer to */
	struct map_text globals; /* symbols that other files see: piece */
	VEC(struct test_pieces) tests;
	uint64_t common; /* digest of what every test depends on */
	bool common_reached;
};

/* The content at an address of the file; NULL: zeroes, or none. */
const struct piece_section *makeup_section(const struct piece_file *file,
					   uint64_t at);
/* The piece that holds the address; PIECE_NONE: none. */
uint32_t makeup_at(const struct makeup *pieces, const struct piece_file *file,
		   uint64_t at);
const struct piece_relocation *makeup_relocation(const struct piece_file *file,
						 uint64_t place);

/* Fills in piece_file.catches. */
struct err *makeup_find_catches(struct piece_file *file) _must_check_;
/*
 * Calls @type with the address of each type that is caught (0: all), the way the
 * file refers to it. *@ret: places and actions, *@ret_n bytes; 0: none.
 */
struct err *makeup_each_catch(const struct piece_file *file,
			      uint64_t table_start,
			      struct err *(*type)(void *data, uint64_t to),
			      void *data, const uint8_t **ret,
			      size_t *ret_n) _must_check_;

/* Fills in the refs of all pieces, then their hashes and edges. */
struct err *makeup_scan(struct makeup *pieces) _must_check_;
/* Which pieces are of which tests. */
struct err *makeup_find_tests(struct makeup *pieces,
			      const struct makeup_test *tests) _must_check_;
/*
 * What the piece refers to, one after the other from *@at on, which begins with
 * 0; PIECE_NONE: no more.
 */
uint32_t makeup_next(const struct makeup *pieces, uint32_t piece, size_t *at);
/* Digests of all pieces, then of tests. */
struct err *makeup_digest_all(struct makeup *pieces) _must_check_;
