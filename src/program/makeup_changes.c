/*
 * Which pieces were compiled from source files that changed. An optimising
 * compiler lets a function of a unit change any other of the same unit, so a
 * unit counts as a whole; only what is written inside of a test, which nobody
 * calls, concerns that test alone.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "program/makeup_internal.h"

#define MARK_DEPTH 64

struct piece_marks {
	struct makeup *pieces;
	const struct piece_file *file;
	const struct makeup_source *sources;
	size_t n;
	const struct map_text *listed;
	bool *found; /* by source */
	bool known;
};

/* ---- units ---- */

/* Where it was, resolved if it is still there. */
static char *makeup_unit_path(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_diename(unit);
	const char *folder =
		dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	_cleanup_(freep) char *joined = NULL;
	if (!name)
		return NULL;
	if (*name != '/' && folder)
		err_ignore(path_join(folder, name, &joined));
	const char *path = joined ? joined : name;
	char *real = realpath(path, NULL);
	return real ? real : strdup(path);
}

static bool is_source_of(const struct makeup_source *source, const char *path)
{
	/* Paths that the compiler was told to write otherwise. */
	return !strcmp(source->path, path) ||
	       (access(path, F_OK) &&
		!strcmp(path_base(source->path), path_base(path)));
}

static void mark_range(struct piece_marks *marks, uint64_t start, uint64_t end)
{
	struct makeup *pieces = marks->pieces;
	const struct piece_file *file = marks->file;
	for (size_t i = file->first; i < file->first + file->n; i++) {
		struct made_piece *piece = &pieces->all.data[i];
		if (piece->start < end && piece->start + piece->size > start)
			piece->changed = true;
	}
}

static void mark_variable(struct piece_marks *marks, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;
	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &n) || !n)
		return;
	uint64_t at = ops[0].number;
	if (ops[0].atom == DW_OP_const8u || ops[0].atom == DW_OP_const4u)
		at += PIECE_TLS;
	else if (ops[0].atom != DW_OP_addr)
		return;
	uint32_t piece = makeup_at(marks->pieces, marks->file, at);
	if (piece != PIECE_NONE)
		marks->pieces->all.data[piece].changed = true;
}

static void mark_variables(struct piece_marks *marks, Dwarf_Die *parent,
			   unsigned depth)
{
	Dwarf_Die die;
	if (!depth || dwarf_child(parent, &die))
		return;
	do {
		if (dwarf_tag(&die) == DW_TAG_variable)
			mark_variable(marks, &die);
		else
			mark_variables(marks, &die, depth - 1);
	} while (!dwarf_siblingof(&die, &die));
}

static void mark_unit(struct piece_marks *marks, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0)
		mark_range(marks, start, end);
	mark_variables(marks, unit, MARK_DEPTH);
}

/* ---- lines inside of tests ---- */

DEFINE_VEC(piece_lines, unsigned)

/* Lines of the unit's own file on which something outside of functions begins. */
static struct err *take_declarations(Dwarf_Die *parent, const char *name,
				     unsigned depth, struct piece_lines *ret)
{
	Dwarf_Die die;
	if (!depth || dwarf_child(parent, &die))
		return NULL;
	do {
		int line, tag = dwarf_tag(&die);
		const char *file = dwarf_decl_file(&die);
		if (file && !dwarf_decl_line(&die, &line) && line > 0 &&
		    !strcmp(path_base(file), name))
			TRY(vec_push(ret, (unsigned)line));
		if (tag == DW_TAG_namespace)
			TRY(take_declarations(&die, name, depth - 1, ret));
	} while (!dwarf_siblingof(&die, &die));
	return NULL;
}

struct test_region {
	unsigned first, last;
	uint32_t piece;
};
DEFINE_VEC(test_regions, struct test_region)

static unsigned next_declaration(const struct piece_lines *lines,
				 unsigned after)
{
	unsigned next = UINT32_MAX;
	for (size_t i = 0; i < lines->n; i++) {
		if (lines->data[i] > after)
			next = MIN(next, lines->data[i]);
	}
	return next;
}

/* The last line of the unit's own file that code of the piece is made from. */
static unsigned last_line(Dwarf_Lines *rows, size_t n, const char *name,
			  const struct made_piece *piece, unsigned before)
{
	unsigned last = 0;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		Dwarf_Addr address;
		int line;
		if (!row || dwarf_lineaddr(row, &address) ||
		    address - piece->start >= piece->size ||
		    dwarf_lineno(row, &line) || line <= 0 ||
		    (unsigned)line >= before)
			continue;
		const char *file = dwarf_linesrc(row, NULL, NULL);
		if (file && !strcmp(path_base(file), name))
			last = MAX(last, (unsigned)line);
	}
	return last;
}

/* Where the tests of the unit begin and end. */
static struct err *find_regions(struct piece_marks *marks, Dwarf_Die *unit,
				const char *name, struct test_regions *ret)
{
	_cleanup_(piece_lines_freep) struct piece_lines declared = {};
	struct makeup *pieces = marks->pieces;
	Dwarf_Lines *rows;
	size_t n;
	TRY(take_declarations(unit, name, MARK_DEPTH, &declared));
	if (dwarf_getsrclines(unit, &rows, &n))
		return NULL;
	for (size_t i = 0; i < pieces->tests.n; i++) {
		const struct test_pieces *test = &pieces->tests.data[i];
		if (!test->place.file ||
		    strcmp(path_base(test->place.file), name) != 0)
			continue;
		unsigned next = next_declaration(&declared, test->place.line);
		for (size_t j = 0; j < test->all.n; j++) {
			uint32_t at = test->all.data[j];
			const struct made_piece *piece = &pieces->all.data[at];
			unsigned last =
				piece->code && piece->owned
					? last_line(rows, n, name, piece, next)
					: 0;
			if (last > test->place.line)
				TRY(vec_push(ret, (struct test_region){
							  test->place.line,
							  last, at }));
		}
	}
	return NULL;
}

/* False: some of the lines are elsewhere, and nothing was marked. */
static struct err *mark_tests(struct piece_marks *marks, Dwarf_Die *unit,
			      const struct makeup_source *source, bool *ret)
{
	_cleanup_(test_regions_freep) struct test_regions regions = {};
	const char *name = path_base(source->path);
	*ret = false;
	if (!source->n_lines)
		return NULL;
	TRY(find_regions(marks, unit, name, &regions));
	for (int mark = 0; mark < 2; mark++) {
		for (size_t i = 0; i < source->n_lines; i++) {
			const struct makeup_lines *lines = &source->lines[i];
			bool inside = false;
			for (size_t j = 0; j < regions.n; j++) {
				if (lines->first < regions.data[j].first ||
				    lines->last > regions.data[j].last)
					continue;
				inside = true;
				if (mark)
					marks->pieces->all
						.data[regions.data[j].piece]
						.changed = true;
			}
			if (!inside)
				return NULL;
		}
	}
	*ret = true;
	return NULL;
}

/* ---- all ---- */

/* Included by it, as some tests do with what they test? */
static bool unit_includes(Dwarf_Die *unit, const struct makeup_source *source)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	size_t n;
	const char *folder =
		dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (dwarf_getsrcfiles(unit, &files, &n))
		return true; /* nobody knows */
	for (size_t i = 0; i < n; i++) {
		const char *file = dwarf_filesrc(files, i, NULL, NULL);
		_cleanup_(freep) char *joined = NULL;
		if (!file ||
		    strcmp(path_base(file), path_base(source->path)) != 0)
			continue;
		if (*file != '/' && folder)
			err_ignore(path_join(folder, file, &joined));
		_cleanup_(freep) char *real =
			realpath(joined ? joined : file, NULL);
		if (!real || !strcmp(real, source->path))
			return true;
	}
	return false;
}

static struct err *look_at_unit(struct piece_marks *marks, Dwarf_Die *unit)
{
	_cleanup_(freep) char *path = makeup_unit_path(unit);
	uint64_t known;
	if (!path)
		return err_nomem();
	/* Optimised as a whole: which unit a function is of is not known. */
	if (!strcmp(path_base(path), "<artificial>"))
		marks->known = false;
	bool changed =
		marks->listed && !map_text_get(marks->listed, path, &known);
	for (size_t i = 0; i < marks->n; i++) {
		bool in_tests;
		if (!is_source_of(&marks->sources[i], path)) {
			bool included = unit_includes(unit, &marks->sources[i]);
			marks->found[i] |= included;
			changed |= included;
			continue;
		}
		marks->found[i] = true;
		TRY(mark_tests(marks, unit, &marks->sources[i], &in_tests));
		changed |= !in_tests;
	}
	if (changed) {
		log_debug(LOG_PROGRAM, "changed: '%s' in '%s'", path,
			  marks->file->path);
		mark_unit(marks, unit);
	}
	return NULL;
}

/* Compiled without debug information, as the linker was told its name? */
static bool may_hold(const struct piece_file *file, const char *path)
{
	for (size_t i = 0; i < file->units.n; i++) {
		if (!strcmp(path_base(file->units.data[i]), path_base(path)))
			return true;
	}
	return false;
}

static struct err *mark_file(struct piece_marks *marks)
{
	const struct piece_file *file = marks->file;
	Dwarf *dwarf = file->elf
			       ? dwarf_begin_elf(file->elf, DWARF_C_READ, NULL)
			       : NULL;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	struct err *err = NULL;
	size_t units = 0;
	memset(marks->found, 0, marks->n * sizeof(*marks->found));
	while (dwarf && !err &&
	       !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		units++;
		err = look_at_unit(marks, &die);
	}
	dwarf_end(dwarf);
	marks->known &= units > 0;
	for (size_t i = 0; i < marks->n; i++)
		marks->known &= marks->found[i] ||
				!may_hold(file, marks->sources[i].path);
	return err;
}

struct err *makeup_mark(struct makeup *pieces,
			const struct makeup_source *sources, size_t n,
			const struct map_text *listed, bool *ret_known)
{
	struct piece_marks marks = {
		.pieces = pieces,
		.sources = sources,
		.n = n,
		.listed = listed,
		.found = calloc(n + 1, sizeof(bool)),
		.known = true,
	};
	struct err *err = NULL;
	if (!marks.found)
		return err_nomem();
	for (size_t i = 0; !err && i < pieces->files.n; i++) {
		marks.file = &pieces->files.data[i];
		err = mark_file(&marks);
	}
	free(marks.found);
	if (!err)
		*ret_known = marks.known;
	return err;
}
