/* Source places of addresses and functions, and the shape of functions. */
#include <dwarf.h>
#include <string.h>

#include "base/macro.h"
#include "base/path.h"
#include "dwarf/object_internal.h"

/* Rows without a line (compiler-made code) that are stepped over. */
#define ROWS_BACK 64
#define PARAMETERS_MAX 100000
/* A larger one is taken for a word: debug information may be anything. */
#define PARAMETER_MAX 4096

/* ---- files ---- */

static const char *full_name(struct object *object, Dwarf_CU *cu,
			     const char *name)
{
	if (!*name)
		return NULL;
	Dwarf_Die buffer;
	Dwarf_Die *unit =
		*name == '/' ? NULL : object_skeleton(object, cu, &buffer);
	Dwarf_Attribute attr;
	const char *folder = NULL;
	if (unit && dwarf_attr(unit, DW_AT_comp_dir, &attr))
		folder = dwarf_formstring(&attr);
	if (!folder)
		return object_intern(object, name);
	_cleanup_(freep) char *joined = NULL;
	struct err *err = path_join(folder, name, &joined);
	if (err) {
		err_ignore(err);
		return NULL;
	}
	return object_intern(object, joined);
}

const char *object_compile_folder(struct object *object, const char *file)
{
	const struct units *units = object_units(object);
	const char *first = NULL;
	for (size_t i = 0; i < units->data.n; i++) {
		Dwarf_Die *unit = &units->data.data[i].skeleton;
		Dwarf_Attribute attr;
		const char *folder = NULL;
		if (dwarf_attr(unit, DW_AT_comp_dir, &attr))
			folder = dwarf_formstring(&attr);
		if (!folder)
			continue;
		const char *name = dwarf_diename(unit);
		if (name && !strcmp(name, file))
			return folder;
		if (!first)
			first = folder;
	}
	return first;
}

/*
 * Own lookup: dwarf_decl_file() of elfutils 0.188 takes 0 as "none", which in
 * DWARF 5 is the unit's own file.
 */
const char *object_file_name(struct object *object, Dwarf_CU *cu,
			     uint64_t index)
{
	Dwarf_Die die;
	Dwarf_Half version;
	if (!dwarf_cu_die(cu, &die, &version, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	if (!index && version < 5)
		return NULL;
	Dwarf_Files *files;
	size_t n;
	if (dwarf_getsrcfiles(&die, &files, &n) != 0 || index >= n)
		return NULL;
	const char *name = dwarf_filesrc(files, index, NULL, NULL);
	return name ? full_name(object, cu, name) : NULL;
}

bool object_decl_place(struct object *object, Dwarf_Die *die,
		       const char **ret_file, unsigned *ret_line)
{
	Dwarf_Attribute file, line;
	Dwarf_Word file_index, line_number;
	/* File numbers belong to the unit that contains them. */
	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &file) ||
	    dwarf_formudata(&file, &file_index) != 0 ||
	    !dwarf_attr_integrate(die, DW_AT_decl_line, &line) ||
	    dwarf_formudata(&line, &line_number) != 0 || !line_number ||
	    line_number > UINT32_MAX)
		return false;
	const char *name = object_file_name(object, file.cu, file_index);
	if (!name)
		return false;
	*ret_file = name;
	*ret_line = (unsigned)line_number;
	return true;
}

/* ---- lines ---- */

/* The last row at or below @address; false where none is. */
static bool find_row(Dwarf_Lines *lines, size_t n, uint64_t address,
		     size_t *ret)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		Dwarf_Line *line = dwarf_onesrcline(lines, middle);
		Dwarf_Addr at;
		if (!line || dwarf_lineaddr(line, &at) != 0)
			return false;
		if (at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low - 1;
	return low > 0;
}

bool object_line(struct object *object, uint64_t address, const char **ret_file,
		 unsigned *ret_line)
{
	struct object_unit *unit = object_unit_at(object, address);
	Dwarf_Lines *lines;
	size_t n, row;
	if (!unit || dwarf_getsrclines(&unit->skeleton, &lines, &n) != 0 ||
	    !find_row(lines, n, address - object->dwarf_bias, &row))
		return false;
	for (size_t back = 0; back < ROWS_BACK; back++, row--) {
		Dwarf_Line *line = dwarf_onesrcline(lines, row);
		bool end;
		int number;
		if (!line || dwarf_lineendsequence(line, &end) != 0 || end)
			return false;
		if (dwarf_lineno(line, &number) == 0 && number > 0) {
			const char *name = dwarf_linesrc(line, NULL, NULL);
			name = name ? full_name(object, unit->skeleton.cu, name)
				    : NULL;
			if (!name)
				return false;
			*ret_file = name;
			*ret_line = (unsigned)number;
			return true;
		}
		if (!row)
			break;
	}
	return false;
}

/* ---- functions ---- */

bool object_line_of_call(struct object *object, uint64_t address, unsigned line)
{
	struct object_unit *unit = object_unit_at(object, address);
	Dwarf_Die *scopes = NULL;
	bool found = false;
	int n = unit ? dwarf_getscopes(&unit->skeleton,
				       address - object->dwarf_bias, &scopes)
		     : 0;
	for (int i = 0; i < n && !found; i++) {
		Dwarf_Attribute attribute;
		Dwarf_Word number;
		found = dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine &&
			dwarf_attr(&scopes[i], DW_AT_call_line, &attribute) &&
			!dwarf_formudata(&attribute, &number) && number == line;
	}
	free(scopes);
	return found;
}

bool object_function_place(struct object *object, uint64_t address,
			   const char **ret_file, unsigned *ret_line)
{
	Dwarf_Die die;
	return (object_function_die(object, address, &die) &&
		object_decl_place(object, &die, ret_file, ret_line)) ||
	       object_line(object, address, ret_file, ret_line);
}

/*
 * A concrete copy of an inlined function may leave out parameters that were
 * optimised away: its origin has them all.
 */
static void find_origin(Dwarf_Die *die)
{
	for (int i = 0; i < CHAIN_MAX; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die origin;
		if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) ||
		    !dwarf_formref_die(&attr, &origin))
			return;
		*die = origin;
	}
}

static bool written_in_c(Dwarf_Die *die)
{
	Dwarf_Die unit;
	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	default:
		return false;
	}
}

static bool is_whole_number(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;
	if (dwarf_tag(type) == DW_TAG_enumeration_type)
		return true;
	if (dwarf_tag(type) != DW_TAG_base_type ||
	    !dwarf_attr(type, DW_AT_encoding, &attr) ||
	    dwarf_formudata(&attr, &encoding) != 0)
		return false;
	switch (encoding) {
	case DW_ATE_boolean:
	case DW_ATE_signed:
	case DW_ATE_signed_char:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return true;
	default:
		return false;
	}
}

/* ABI for x86-64, 3.2.3: it is in two registers. */
static void read_pair(Dwarf_Die *type, struct object_signature *signature)
{
	Dwarf_Die member, type_of;
	unsigned size = signature->result_size;
	signature->returns_pair = size > 8 && size <= 16;
	if (!signature->returns_pair || dwarf_child(type, &member) != 0)
		return;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word at = 0;
		if (dwarf_tag(&member) != DW_TAG_member ||
		    (dwarf_attr(&member, DW_AT_data_member_location, &attr) &&
		     dwarf_formudata(&attr, &at) != 0) ||
		    (at != 0 && at != 8) || !die_type(&member, &type_of) ||
		    !die_peel(&type_of, &type_of))
			continue;
		signature->pair_pointers[at / 8] =
			dwarf_tag(&type_of) == DW_TAG_pointer_type;
		if (is_whole_number(&type_of))
			signature->pair_numbers[at / 8] =
				(unsigned)MAX(dwarf_bytesize(&type_of), 0);
	} while (dwarf_siblingof(&member, &member) == 0);
}

static void read_return(Dwarf_Die *die, struct object_signature *signature)
{
	Dwarf_Die type;
	if (!die_type(die, &type)) {
		signature->returns_void = true;
		return;
	}
	if (!die_peel(&type, &type))
		return;
	int size = dwarf_bytesize(&type);
	signature->result_size = size > 0 ? (unsigned)size : 0;
	if (is_whole_number(&type))
		signature->returns_integer = true;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		signature->returns_pointer = true;
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		read_pair(&type, signature);
		break;
	}
}

/* A pointer to a structure points to one; any other, to any number. */
static unsigned read_pointee(Dwarf_Die *pointer)
{
	Dwarf_Die type;
	Dwarf_Word size;
	if (!die_type(pointer, &type) || !die_peel(&type, &type))
		return OBJECT_POINTEE_ANY;
	int tag = dwarf_tag(&type);
	bool known = (tag == DW_TAG_structure_type ||
		      tag == DW_TAG_class_type || tag == DW_TAG_union_type) &&
		     dwarf_aggregate_size(&type, &size) == 0 && size &&
		     size <= PARAMETER_MAX;
	return known ? (unsigned)size : OBJECT_POINTEE_ANY;
}

static bool is_floating(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;
	return dwarf_tag(type) == DW_TAG_base_type &&
	       dwarf_attr(type, DW_AT_encoding, &attr) &&
	       dwarf_formudata(&attr, &encoding) == 0 &&
	       (encoding == DW_ATE_float || encoding == DW_ATE_complex_float);
}

/* One more register, if there is one. */
static void add_register(struct object_signature *signature, unsigned pointee)
{
	if (signature->registers < OBJECT_POINTEES)
		signature->pointees[signature->registers++] = pointee;
}

/*
 * Which registers it takes, by the rules for x86-64 (psABI, 3.2.3). What is in
 * those of a small structure is left open, and in all that follow.
 */
static void place_parameter(Dwarf_Die *type, Dwarf_Word size,
			    struct object_signature *signature)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		add_register(signature, read_pointee(type));
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		/* In C++ a large one may be passed by its address. */
		for (size_t i = 0; size <= 16 && i < OBJECT_POINTEES; i++)
			add_register(signature, OBJECT_POINTEE_ANY);
		break;
	default:
		for (Dwarf_Word i = 0; i < size && !is_floating(type); i += 8)
			add_register(signature, 0);
	}
}

/* In whole words, and with room for what is aligned to two of them. */
static void read_parameter(Dwarf_Die *die, struct object_signature *signature)
{
	Dwarf_Die type;
	signature->parameters++;
	signature->parameters_size += 8;
	if (!die_type(die, &type) || !die_peel(&type, &type)) {
		add_register(signature, OBJECT_POINTEE_ANY);
		return;
	}
	Dwarf_Word size;
	if (dwarf_aggregate_size(&type, &size) != 0 || size > PARAMETER_MAX)
		size = 8;
	if (size > 8)
		signature->parameters_size += (unsigned)(size + 7) / 8 * 8;
	place_parameter(&type, size, signature);
}

bool object_function_signature(struct object *object, uint64_t address,
			       struct object_signature *ret)
{
	Dwarf_Die die, child;
	if (!object_function_die(object, address, &die))
		return false;
	struct object_signature signature = {};
	read_return(&die, &signature);
	find_origin(&die);
	if (die_child(&die, &child)) {
		unsigned seen = 0;
		do {
			int tag = dwarf_tag(&child);
			if (tag == DW_TAG_formal_parameter)
				read_parameter(&child, &signature);
			else if (tag == DW_TAG_unspecified_parameters)
				signature.variadic = true;
		} while (++seen < PARAMETERS_MAX && die_next(&child));
	}
	/* clang writes "void f() {}" in C like this; it takes none. */
	if (signature.variadic && !signature.parameters &&
	    !die_flag(&die, DW_AT_prototyped) && written_in_c(&die))
		signature.variadic = false;
	*ret = signature;
	return true;
}
