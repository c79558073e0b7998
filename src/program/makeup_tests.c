/*
 * Which pieces are of which tests: the functions that debug information says
 * were written where the framework says the test is, what a compiler inlined
 * them into, the tables of virtual functions that hold them, and templates that
 * make them known to the framework.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "program/makeup_internal.h"

#define DEPTH_MAX 64
/* Parts of one function. */
#define PARTS_MAX 16
/* Table, factory, table of the factory: more steps are not between them. */
#define OWNED_STEPS 4

/* ---- where tests are written ---- */

struct piece_owner {
	uint32_t test;
	uint32_t next; /* of the same key; PIECE_NONE: last */
};

struct owner_map {
	struct map_text places; /* "file.c:12": first of its owners */
	struct map_u64 pieces;	/* the same, by piece */
	VEC(struct piece_owner) owners;
};

static void owner_map_free(struct owner_map *map)
{
	map_text_free(&map->places);
	map_u64_free(&map->pieces);
	vec_free(&map->owners);
}

static void format_place(const char *file, unsigned line, char out[300])
{
	snprintf(out, 300, "%.250s:%u", path_base(file), line);
}

static struct err *take_places(struct owner_map *map,
			       const struct makeup_test *tests, size_t n)
{
	char place[300];
	for (size_t i = 0; i < n; i++) {
		uint64_t first = PIECE_NONE;
		if (!tests[i].file || !tests[i].line)
			continue;
		format_place(tests[i].file, tests[i].line, place);
		map_text_get(&map->places, place, &first);
		TRY(map_text_put(&map->places, place, map->owners.n));
		TRY(vec_push(
			&map->owners,
			(struct piece_owner){ (uint32_t)i, (uint32_t)first }));
	}
	return NULL;
}

static bool has_owner(const struct owner_map *map, uint64_t first,
		      uint32_t test)
{
	for (uint32_t i = (uint32_t)first; i != PIECE_NONE;
	     i = map->owners.data[i].next) {
		if (map->owners.data[i].test == test)
			return true;
	}
	return false;
}

/* All owners in the list from @first on get the piece. */
static struct err *give_piece(struct makeup *pieces, struct owner_map *map,
			      uint32_t piece, uint64_t first)
{
	for (uint32_t i = (uint32_t)first; i < map->owners.n;
	     i = map->owners.data[i].next) {
		uint32_t test = map->owners.data[i].test;
		uint64_t known = PIECE_NONE;
		map_u64_get(&map->pieces, piece, &known);
		if (has_owner(map, known, test))
			continue;
		TRY(map_u64_put(&map->pieces, piece, map->owners.n));
		TRY(vec_push(&map->owners,
			     (struct piece_owner){ test, (uint32_t)known }));
		TRY(vec_push(&pieces->tests.data[test].all, piece));
	}
	struct made_piece *given = &pieces->all.data[piece];
	given->owned =
		!given->init && !(given->name && !strcmp(given->name, "main"));
	return NULL;
}

/* ---- debug information ---- */

struct place_walk {
	struct makeup *pieces;
	struct piece_file *file;
	struct owner_map *map;
};

static struct err *take_place_function(struct place_walk *walk, Dwarf_Die *die,
				       uint32_t function)
{
	const char *file = dwarf_decl_file(die);
	int line;
	uint64_t first;
	char place[300];
	if (function == PIECE_NONE || !file || dwarf_decl_line(die, &line) ||
	    line <= 0)
		return NULL;
	format_place(file, (unsigned)line, place);
	if (!map_text_get(&walk->map->places, place, &first))
		return NULL;
	return give_piece(walk->pieces, walk->map, function, first);
}

/*
 * A function may be split in a hot and a cold part. *@ret: the piece of the first
 * one; PIECE_NONE: it has no code.
 */
static struct err *take_place_parts(struct place_walk *walk, Dwarf_Die *die,
				    uint32_t *ret)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	*ret = PIECE_NONE;
	if (!dwarf_hasattr(die, DW_AT_low_pc) &&
	    !dwarf_hasattr(die, DW_AT_ranges))
		return NULL;
	for (unsigned i = 0; i < PARTS_MAX; i++) {
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			break;
		uint32_t part = makeup_at(walk->pieces, walk->file, start);
		TRY(take_place_function(walk, die, part));
		if (*ret == PIECE_NONE)
			*ret = part;
	}
	return NULL;
}

static struct err *walk_places(struct place_walk *walk, Dwarf_Die *parent,
			       uint32_t function, unsigned depth)
{
	Dwarf_Die die;
	if (!depth || dwarf_child(parent, &die))
		return NULL;
	do {
		int tag = dwarf_tag(&die);
		uint32_t inner = function;
		if (tag == DW_TAG_subprogram) {
			TRY(take_place_parts(walk, &die, &inner));
		} else if (tag == DW_TAG_inlined_subroutine) {
			TRY(take_place_function(walk, &die, inner));
		} else if (tag == DW_TAG_base_type || tag == DW_TAG_variable ||
			   tag == DW_TAG_formal_parameter ||
			   tag == DW_TAG_enumeration_type) {
			continue;
		}
		TRY(walk_places(walk, &die, inner, depth - 1));
	} while (!dwarf_siblingof(&die, &die));
	return NULL;
}

static struct err *walk_place_units(struct place_walk *walk)
{
	Dwarf *dwarf = walk->file->elf ? dwarf_begin_elf(walk->file->elf,
							 DWARF_C_READ, NULL)
				       : NULL;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	struct err *err = NULL;
	while (dwarf && !err &&
	       !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		err = walk_places(walk, &die, PIECE_NONE, DEPTH_MAX);
	dwarf_end(dwarf);
	return err;
}

/* ---- what stands between tests and the framework ---- */

static bool is_between(const struct made_piece *piece)
{
	bool table =
		!piece->code && piece->name && str_starts(piece->name, "_ZTV");
	return !piece->owned && !piece->init && !piece->framework &&
	       (table || (piece->code && piece->weak));
}

static struct err *give_between(struct makeup *pieces, struct owner_map *map)
{
	for (unsigned step = 0; step < OWNED_STEPS; step++) {
		VEC(uint32_t) found = VEC_INIT;
		struct err *err = NULL;
		for (size_t i = 0; !err && i < pieces->all.n; i++) {
			const struct made_piece *piece = &pieces->all.data[i];
			bool any = false;
			for (size_t j = 0;
			     is_between(piece) && j < piece->n_edges; j++)
				any |= pieces->all
					       .data[pieces->edges.data
							     [piece->first_edge +
							      j]]
					       .owned;
			if (any)
				err = vec_push(&found, (uint32_t)i);
		}
		for (size_t i = 0; !err && i < found.n; i++) {
			uint32_t at = found.data[i];
			struct made_piece *piece = &pieces->all.data[at];
			for (size_t j = 0; !err && j < piece->n_edges; j++) {
				uint32_t to =
					pieces->edges
						.data[piece->first_edge + j];
				uint64_t first;
				if (pieces->all.data[to].owned &&
				    map_u64_get(&map->pieces, to, &first))
					err = give_piece(pieces, map, at,
							 first);
			}
		}
		bool none = !found.n;
		vec_free(&found);
		TRY(err);
		if (none)
			break;
	}
	return NULL;
}

/* ---- what runs before the tests ---- */

static void mark_initialisers(struct makeup *pieces, struct piece_file *file)
{
	for (size_t i = 0; i < file->sections.n; i++) {
		const struct piece_section *section = &file->sections.data[i];
		if (!str_starts(section->name, ".init_array") &&
		    !str_starts(section->name, ".preinit_array"))
			continue;
		for (uint64_t at = 0; at + 8 <= section->size; at += 8) {
			const struct piece_relocation *word =
				makeup_relocation(file, section->start + at);
			uint64_t to = 0;
			if (word && word->place == section->start + at)
				to = word->target;
			else if (section->bytes)
				memcpy(&to, section->bytes + at, sizeof(to));
			uint32_t piece = makeup_at(pieces, file, to);
			if (piece != PIECE_NONE)
				pieces->all.data[piece].init =
					pieces->all.data[piece].code;
		}
	}
}

DEFINE_VEC(piece_numbers, uint32_t)

/* All that is reached from @root without passing through a test. */
static struct err *close_over(struct makeup *pieces, uint32_t root,
			      uint32_t *seen, struct piece_numbers *ret)
{
	ret->n = 0;
	seen[root] = root;
	TRY(vec_push(ret, root));
	for (size_t i = 0; i < ret->n; i++) {
		size_t at = 0;
		pieces->all.data[ret->data[i]].runner = true;
		for (uint32_t to; (to = makeup_next(pieces, ret->data[i],
						    &at)) != PIECE_NONE;) {
			if (seen[to] == root)
				continue;
			seen[to] = root;
			TRY(vec_push(ret, to));
		}
	}
	return NULL;
}

struct init_of {
	uint32_t variable, init;
};

static int compare_inits(const void *a, const void *b)
{
	const struct init_of *x = a, *y = b;
	if (x->variable != y->variable)
		return x->variable < y->variable ? -1 : 1;
	return x->init < y->init ? -1 : x->init > y->init;
}

/*
 * Made by the linker or by its start files, and in every program; or a copy of a
 * variable of a library: "stderr".
 */
static bool is_of_start_files(const struct made_piece *piece)
{
	return !piece->name || (!piece->bytes && piece->n_refs) ||
	       !strcmp(piece->name, "__dso_handle") ||
	       str_starts(piece->name, "completed.") ||
	       str_starts(piece->name, "__TMC_END__");
}

static struct err *take_inits(struct makeup *pieces, struct init_of *all,
			      size_t n)
{
	if (n)
		qsort(all, n, sizeof(*all), compare_inits);
	for (size_t i = 0; i < n; i++) {
		struct made_piece *variable =
			&pieces->all.data[all[i].variable];
		if (!variable->n_inits)
			variable->first_init = pieces->inits.n;
		variable->n_inits++;
		TRY(vec_push(&pieces->inits, all[i].init));
	}
	return NULL;
}

/* A variable's value is what code before main() made it. */
static struct err *find_runner(struct makeup *pieces)
{
	_cleanup_(piece_numbers_freep) struct piece_numbers reached = {};
	VEC(struct init_of) all = VEC_INIT;
	uint32_t *seen = malloc((pieces->all.n + 1) * sizeof(*seen));
	struct err *err = NULL;
	if (!seen)
		return err_nomem();
	memset(seen, 0xff, (pieces->all.n + 1) * sizeof(*seen));
	for (size_t i = 0; !err && i < pieces->all.n; i++) {
		const struct made_piece *piece = &pieces->all.data[i];
		bool is_main = piece->name && !strcmp(piece->name, "main");
		if (!piece->init && !is_main)
			continue;
		err = close_over(pieces, (uint32_t)i, seen, &reached);
		for (size_t j = 0; !err && piece->init && j < reached.n; j++) {
			const struct made_piece *to =
				&pieces->all.data[reached.data[j]];
			pieces->all.data[i].calls_impure |= to->impure;
			if (to->writable && !to->code && !is_of_start_files(to))
				err = vec_push(
					&all, (struct init_of){ reached.data[j],
								(uint32_t)i });
		}
	}
	if (!err)
		err = take_inits(pieces, all.data, all.n);
	vec_free(&all);
	free(seen);
	return err;
}

struct err *makeup_find_tests(struct makeup *pieces,
			      const struct makeup_test *tests)
{
	_cleanup_(owner_map_free) struct owner_map map = {};
	struct place_walk walk = { .pieces = pieces, .map = &map };
	TRY(take_places(&map, tests, pieces->tests.n));
	for (size_t i = 0; i < pieces->files.n; i++)
		mark_initialisers(pieces, &pieces->files.data[i]);
	for (size_t i = 0; i < pieces->files.n; i++) {
		walk.file = &pieces->files.data[i];
		TRY(walk_place_units(&walk));
	}
	TRY(give_between(pieces, &map));
	return find_runner(pieces);
}
