/* Statements of a source file, out of line tables. */
#include <string.h>

#include "dwarf/object_internal.h"

/* Rows of one unit that are looked at. */
#define ROWS_MAX ((size_t)4 << 20)

/* The same file may be named from different folders. */
static bool row_has_file(const char *name, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	slash = strrchr(name, '/');
	return !strcmp(slash ? slash + 1 : name, base);
}

static bool row_read(struct object *object, Dwarf_Line *line,
		     struct object_row *ret)
{
	Dwarf_Addr address;
	bool end, begins;
	int number, column;
	if (!line || dwarf_lineaddr(line, &address) != 0 ||
	    dwarf_lineendsequence(line, &end) != 0 || end ||
	    dwarf_linebeginstatement(line, &begins) != 0 || !begins ||
	    dwarf_lineno(line, &number) != 0 || number <= 0)
		return false;
	if (dwarf_linecol(line, &column) != 0 || column < 0)
		column = 0;
	*ret = (struct object_row){
		.address = address + object->dwarf_bias,
		.line = (unsigned)number,
		.column = (unsigned)column,
	};
	return true;
}

void object_each_row(struct object *object, const char *file, unsigned first,
		     unsigned last,
		     bool (*visit)(void *data, const struct object_row *row),
		     void *data)
{
	const struct units *units = object_units(object);
	for (size_t i = 0; i < units->data.n; i++) {
		Dwarf_Die *unit = &units->data.data[i].skeleton;
		Dwarf_Lines *lines;
		size_t n;
		const char *name = dwarf_diename(unit);
		if (!name || !row_has_file(name, file) ||
		    dwarf_getsrclines(unit, &lines, &n) != 0)
			continue;
		for (size_t j = 0; j < n && j < ROWS_MAX; j++) {
			Dwarf_Line *line = dwarf_onesrcline(lines, j);
			struct object_row row;
			if (!row_read(object, line, &row) || row.line < first ||
			    row.line > last)
				continue;
			const char *source = dwarf_linesrc(line, NULL, NULL);
			if (source && row_has_file(source, file) &&
			    !visit(data, &row))
				return;
		}
	}
}
