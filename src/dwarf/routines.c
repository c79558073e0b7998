/* Functions and variables as calls of them are written (base/routine.h). */
#include "dwarf/routines.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "dwarf/index_internal.h"

#define ROUTINES_MAX 50000
#define VARIABLES_MAX 20000
#define ENUMERATORS_MAX 64
#define CHILDREN_MAX 100000

struct routines_walk {
	struct die_walk walk;
	struct object *object;
	struct scopes *scopes;
	uint64_t bias;
	bool (*leave)(const char *file);
	struct map_text known; /* symbols, and owner::name of members */
	struct routines *ret;
	struct err *err;
};

/* A copy that lives as long as the list. */
static struct err *routines_text(struct routines *routines, const char *text,
				 const char **ret)
{
	TRY(strv_add(&routines->texts, text));
	*ret = routines->texts.data[routines->texts.n - 1];
	return NULL;
}

#define UNNAMED "(anonymous namespace)::"

/* No source can say it, and none has to. */
static void strip_unnamed(char *name)
{
	for (char *at = name; at && (at = strstr(at, UNNAMED));)
		memmove(at, at + strlen(UNNAMED),
			strlen(at + strlen(UNNAMED)) + 1);
}

static struct err *routines_name(struct routines_walk *walk, Dwarf_Die *die,
				 const char **ret, unsigned *ret_flags)
{
	_cleanup_(str_freep) struct str name = STR_INIT;
	TRY(scopes_name(walk->scopes, die, &name, ret_flags));
	strip_unnamed(name.s);
	return routines_text(walk->ret, name.s ? name.s : "", ret);
}

/* ---- values ---- */

/* "ns::Enum" in front of the enumerators of a scoped one, else its scope. */
static struct err *routine_read_choices(struct routines_walk *walk,
					Dwarf_Die *type,
					struct routine_value *ret)
{
	_cleanup_(str_freep) struct str all = STR_INIT;
	Dwarf_Die child;
	bool scoped = die_flag(type, DW_AT_enum_class);
	size_t scope = strlen(ret->type);
	const char *last = scope_last_part(ret->type);
	if (!scoped)
		scope = last > ret->type + 1 ? (size_t)(last - ret->type) - 2
					     : 0;
	if (!die_child(type, &child))
		return NULL;
	size_t seen = 0;
	do {
		const char *name = dwarf_diename(&child);
		if (dwarf_tag(&child) != DW_TAG_enumerator || !name)
			continue;
		TRY(str_append_n(&all, ret->type, scope));
		TRY(str_appendf(&all, "%s%s\n", scope ? "::" : "", name));
	} while (++seen < ENUMERATORS_MAX && die_next(&child));
	return routines_text(walk->ret, all.s ? all.s : "", &ret->choices);
}

static bool is_string_class(const char *name)
{
	return str_starts(name, "std::basic_string<char") ||
	       str_starts(name, "std::__cxx11::basic_string<char") ||
	       str_starts(name, "std::__1::basic_string<char") ||
	       str_starts(name, "std::basic_string_view<char") ||
	       str_starts(name, "std::__1::basic_string_view<char") ||
	       !strcmp(name, "std::string") ||
	       !strcmp(name, "std::string_view");
}

static bool is_class_tag(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

/* Looks through typedefs; says whether a const was among them. */
static bool peel_const(Dwarf_Die *type, bool *ret_const)
{
	for (int i = 0; i < CHAIN_MAX; i++) {
		int tag = dwarf_tag(type);
		if (tag == DW_TAG_const_type)
			*ret_const = true;
		else if (tag != DW_TAG_typedef && tag != DW_TAG_volatile_type &&
			 tag != DW_TAG_restrict_type &&
			 tag != DW_TAG_atomic_type)
			return true;
		if (!die_type(type, type))
			return false;
	}
	return false;
}

static void read_base(Dwarf_Die *type, struct routine_value *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;
	if (dwarf_attr(type, DW_AT_encoding, &attr))
		dwarf_formudata(&attr, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		ret->kind = ROUTINE_BOOL;
		break;
	case DW_ATE_signed:
	case DW_ATE_unsigned:
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		ret->kind = ROUTINE_INTEGER;
		break;
	case DW_ATE_float:
		ret->kind = ROUTINE_FLOAT;
		break;
	default:
		break;
	}
}

/* A typedef is what a struct without a name is called. */
static struct err *read_class(struct routines_walk *walk, Dwarf_Die *given,
			      Dwarf_Die *type, struct routine_value *ret)
{
	Dwarf_Die *named = dwarf_diename(type) ? type : given;
	return routines_name(walk, named, &ret->type, NULL);
}

static struct err *read_pointee_value(struct routines_walk *walk,
				      Dwarf_Die *pointer,
				      struct routine_value *ret)
{
	Dwarf_Die given, type;
	ret->kind = ROUTINE_POINTER;
	if (!die_type(pointer, &given))
		return NULL; /* void * */
	type = given;
	if (!peel_const(&type, &ret->fixed))
		return NULL; /* const void * */
	if (is_class_tag(dwarf_tag(&type)))
		return read_class(walk, &given, &type, ret);
	struct routine_value target = {};
	if (dwarf_tag(&type) == DW_TAG_base_type)
		read_base(&type, &target);
	const char *name = dwarf_diename(&type);
	ret->kind =
		target.kind == ROUTINE_INTEGER && name && !strcmp(name, "char")
			? ROUTINE_TEXT
			: ROUTINE_OTHER;
	return NULL;
}

static struct err *read_value(struct routines_walk *walk, Dwarf_Die *of,
			      struct routine_value *ret)
{
	Dwarf_Die given, type;
	ret->type = ret->choices = "";
	if (!die_type(of, &given)) {
		ret->kind = ROUTINE_VOID;
		return NULL;
	}
	type = given;
	bool fixed = false;
	if (!peel_const(&type, &fixed))
		return NULL;
	int tag = dwarf_tag(&type);
	if (tag == DW_TAG_reference_type ||
	    tag == DW_TAG_rvalue_reference_type) {
		ret->reference = true;
		if (!die_type(&type, &given))
			return NULL;
		type = given;
		if (!peel_const(&type, &ret->fixed))
			return NULL;
		tag = dwarf_tag(&type);
	}
	if (tag == DW_TAG_pointer_type)
		return read_pointee_value(walk, &type, ret);
	if (tag == DW_TAG_base_type) {
		read_base(&type, ret);
		return NULL;
	}
	if (tag != DW_TAG_enumeration_type && !is_class_tag(tag))
		return NULL;
	TRY(read_class(walk, &given, &type, ret));
	ret->kind = tag == DW_TAG_enumeration_type ? ROUTINE_ENUM
		    : is_string_class(ret->type)   ? ROUTINE_STRING
						   : ROUTINE_OBJECT;
	return ret->kind == ROUTINE_ENUM
		       ? routine_read_choices(walk, &type, ret)
		       : NULL;
}

/* ---- functions ---- */

/* *@ret: calls of it can be written. */
static struct err *read_parameters(struct routines_walk *walk, Dwarf_Die *die,
				   struct routine *routine, bool *ret)
{
	Dwarf_Die child;
	*ret = true;
	if (!die_child(die, &child))
		return NULL;
	size_t seen = 0;
	do {
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_unspecified_parameters && routine->n)
			*ret = false;
		/* What has a default need not be given. */
		if (tag != DW_TAG_formal_parameter ||
		    die_flag(&child, DW_AT_artificial) ||
		    dwarf_hasattr(&child, DW_AT_default_value))
			continue;
		if (routine->n == ROUTINE_PARAMETERS)
			*ret = false;
		else
			TRY(read_value(walk, &child,
				       &routine->parameters[routine->n++]));
	} while (*ret && ++seen < CHILDREN_MAX && die_next(&child));
	return NULL;
}

static const char *routine_linkage(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

/* A name that a call can be written with: no operator, no destructor. */
static bool is_callable_name(const char *name)
{
	return name && *name && name[0] != '~' && name[0] != '_' &&
	       !strchr(name, '<') && !str_starts(name, "operator");
}

/* Of a function that is split, the hot part comes first. */
static bool has_code(struct routines_walk *walk, Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Addr address, base, end;
	if (!object_die_has_code(walk->object, die) ||
	    (dwarf_entrypc(die, &address) != 0 &&
	     dwarf_ranges(die, 0, &base, &address, &end) <= 0))
		return false;
	*ret = address + walk->object->dwarf_bias + walk->bias;
	return true;
}

static struct err *add_routine(struct routines_walk *walk, Dwarf_Die *die,
			       const char *owner)
{
	Dwarf_Die origin;
	struct routine routine = { .owner = owner };
	die_origin(die, &origin);
	const char *plain = dwarf_diename(&origin), *file = NULL;
	const char *symbol = routine_linkage(die);
	unsigned flags = 0;
	uint64_t known;
	bool possible;
	if (!is_callable_name(plain) || walk->ret->functions.n >= ROUTINES_MAX)
		return NULL;
	if (object_decl_place(walk->object, &origin, &file, &routine.line)) {
		if (walk->leave && walk->leave(file))
			return NULL;
		TRY(routines_text(walk->ret, file, &routine.file));
	}
	routine.local = !die_flag(&origin, DW_AT_external);
	has_code(walk, die, &routine.address);
	if (!symbol)
		symbol = plain;
	if (!routine.local && map_text_get(&walk->known, symbol, &known)) {
		struct routine *first = &walk->ret->functions.data[known];
		if (!first->address)
			first->address = routine.address;
		return NULL;
	}
	TRY(routines_name(walk, &origin, &routine.name, &flags));
	routine.local |= (flags & SCOPE_LOCAL) != 0;
	TRY(routines_text(walk->ret, symbol, &routine.symbol));
	TRY(read_value(walk, &origin, &routine.result));
	TRY(read_parameters(walk, &origin, &routine, &possible));
	if (!possible)
		return NULL;
	if (!routine.local)
		TRY(map_text_put(&walk->known, symbol, walk->ret->functions.n));
	return vec_push(&walk->ret->functions, routine);
}

/* clang says so of definitions only: but its first parameter is its own. */
static bool takes_object(Dwarf_Die *die)
{
	Dwarf_Die child;
	return dwarf_hasattr(die, DW_AT_object_pointer) ||
	       (die_child(die, &child) &&
		dwarf_tag(&child) == DW_TAG_formal_parameter &&
		die_flag(&child, DW_AT_artificial));
}

/* Of a class: only what others may call. */
static struct err *routines_add_members(struct routines_walk *walk,
					Dwarf_Die *class)
{
	Dwarf_Die child;
	const char *owner = NULL;
	unsigned flags = 0;
	bool is_class = dwarf_tag(class) == DW_TAG_class_type;
	if (!dwarf_diename(class) || !die_child(class, &child))
		return NULL;
	size_t seen = 0;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word access =
			is_class ? DW_ACCESS_private : DW_ACCESS_public;
		if (dwarf_tag(&child) != DW_TAG_subprogram ||
		    die_flag(&child, DW_AT_artificial) ||
		    die_flag(&child, DW_AT_deleted))
			continue;
		if (dwarf_attr(&child, DW_AT_accessibility, &attr))
			dwarf_formudata(&attr, &access);
		const char *name = dwarf_diename(&child);
		if (access != DW_ACCESS_public || !name ||
		    !strcmp(name, dwarf_diename(class)))
			continue;
		if (!owner)
			TRY(routines_name(walk, class, &owner, &flags));
		bool object = takes_object(&child);
		TRY(add_routine(walk, &child, object ? owner : NULL));
	} while (++seen < CHILDREN_MAX && die_next(&child));
	return NULL;
}

static struct err *routines_add_variable(struct routines_walk *walk,
					 Dwarf_Die *die)
{
	Dwarf_Die origin;
	struct routine_variable variable = {};
	unsigned line, flags = 0;
	const char *file = NULL;
	die_origin(die, &origin);
	if (!dwarf_diename(&origin) ||
	    walk->ret->variables.n >= VARIABLES_MAX ||
	    (object_decl_place(walk->object, &origin, &file, &line) &&
	     walk->leave && walk->leave(file)))
		return NULL;
	TRY(read_value(walk, &origin, &variable.value));
	if (variable_address(walk->object, die, &variable.address))
		variable.address += walk->bias;
	TRY(routines_name(walk, &origin, &variable.name, &flags));
	if (file)
		TRY(routines_text(walk->ret, file, &variable.file));
	variable.local =
		!die_flag(&origin, DW_AT_external) || (flags & SCOPE_LOCAL);
	return vec_push(&walk->ret->variables, variable);
}

static bool routines_enter(struct die_walk *of, Dwarf_Die *die)
{
	struct routines_walk *walk = (struct routines_walk *)of;
	Dwarf_Die origin, class;
	bool enter = false;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		die_origin(die, &origin);
		/* Members come with their class. */
		if (scopes_class(walk->scopes, die, &class)) {
			uint64_t address = 0, known;
			const char *symbol = routine_linkage(die);
			if (symbol && has_code(walk, die, &address) &&
			    map_text_get(&walk->known, symbol, &known))
				walk->ret->functions.data[known].address =
					address;
		} else if (object_die_has_code(walk->object, die) ||
			   die_flag(&origin, DW_AT_inline)) {
			walk->err = add_routine(walk, die, NULL);
		}
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		walk->err = routines_add_members(walk, die);
		enter = true;
		break;
	case DW_TAG_variable:
		walk->err = routines_add_variable(walk, die);
		break;
	case DW_TAG_namespace:
		enter = true;
		break;
	default:
		break;
	}
	of->stop = walk->err != NULL;
	return enter && !walk->err;
}

struct err *object_routines(struct object *object, uint64_t bias,
			    bool (*leave)(const char *file),
			    struct routines *ret)
{
	_cleanup_(scopes_freep) struct scopes scopes = {};
	struct routines_walk walk = {
		.walk = { .enter = routines_enter },
		.object = object,
		.scopes = &scopes,
		.bias = bias,
		.leave = leave,
		.ret = ret,
	};
	if (!object_dwarf(object))
		return NULL;
	TRY(scopes_read(&scopes, object));
	struct units *units = object_units(object);
	for (size_t i = 0; i < units->data.n && !walk.err; i++)
		die_walk(&walk.walk,
			 object_unit_die(object, &units->data.data[i]));
	map_text_free(&walk.known);
	return walk.err;
}

/* ---- what is static in a file ---- */

/* As it would be called if other files could name it. */
static char *public_name(const char *name)
{
	char *plain = demangle_name(name);
	if (!plain)
		plain = strdup(name);
	strip_unnamed(plain);
	return plain;
}

/* gcc gives no symbol to what is static: then parameters do not count. */
static bool is_public_name(const struct routine *routine, const char *wanted)
{
	if (str_starts(routine->symbol, "_Z")) {
		_cleanup_(freep) char *name = public_name(routine->symbol);
		return name && !strcmp(name, wanted);
	}
	size_t n = strcspn(wanted, "(");
	return strlen(routine->name) == n && !strncmp(routine->name, wanted, n);
}

/* @name is part of its symbol: a cheap look before a costly one. */
static bool may_be_static(bool local, const char *of, const char *file,
			  const char *name, const char *symbol)
{
	return local && of && !strcmp(of, file) &&
	       strstr(symbol, scope_last_part(name));
}

bool routines_find_static(const struct routines *routines, const char *file,
			  const char *symbol, uint64_t *ret)
{
	_cleanup_(freep) char *wanted = public_name(symbol);
	bool found = false;
	*ret = 0;
	for (size_t i = 0; wanted && i < routines->variables.n; i++) {
		const struct routine_variable *variable =
			&routines->variables.data[i];
		if (!may_be_static(variable->local, variable->file, file,
				   variable->name, symbol) ||
		    strcmp(variable->name, wanted) != 0)
			continue;
		/* The one in its namespace may only say that there is one. */
		found = true;
		*ret = variable->address;
		if (*ret)
			return true;
	}
	for (size_t i = 0; wanted && i < routines->functions.n; i++) {
		const struct routine *routine = &routines->functions.data[i];
		if (!may_be_static(routine->local, routine->file, file,
				   routine->name, symbol))
			continue;
		if (!is_public_name(routine, wanted))
			continue;
		*ret = routine->address;
		return true;
	}
	return found;
}

/* ---- how a file was compiled ---- */

static struct err *add_folders(Dwarf_Die *unit, struct strv *ret)
{
	Dwarf_Files *files;
	const char *const *folders;
	size_t n, n_folders;
	if (dwarf_getsrcfiles(unit, &files, &n) != 0 ||
	    dwarf_getsrcdirs(files, &folders, &n_folders) != 0)
		return NULL;
	for (size_t i = 0; i < MIN(n_folders, (size_t)CHILDREN_MAX); i++) {
		if (folders[i])
			TRY(strv_add(ret, folders[i]));
	}
	return NULL;
}

static const char *unit_text(Dwarf_Die *unit, unsigned attribute)
{
	Dwarf_Attribute attr;
	return dwarf_attr(unit, attribute, &attr) ? dwarf_formstring(&attr)
						  : NULL;
}

static bool is_unit_of(const char *name, const char *folder, const char *file)
{
	_cleanup_(freep) char *joined = NULL;
	if (!name)
		return false;
	if (!strcmp(name, file))
		return true;
	if (*name == '/' || !folder ||
	    asprintf(&joined, "%s/%s", folder, name) < 0)
		return false;
	_cleanup_(freep) char *left = realpath(joined, NULL);
	_cleanup_(freep) char *right = realpath(file, NULL);
	return left && right && !strcmp(left, right);
}

struct err *object_compiled(struct object *object, const char *file,
			    struct object_compiled *ret, bool *ret_found)
{
	struct units *units = object_units(object);
	*ret_found = false;
	for (size_t i = 0; i < units->data.n && !*ret_found; i++) {
		Dwarf_Die *unit = &units->data.data[i].skeleton;
		const char *folder = unit_text(unit, DW_AT_comp_dir);
		if (!is_unit_of(dwarf_diename(unit), folder, file))
			continue;
		const char *producer = unit_text(unit, DW_AT_producer);
		if (!producer)
			producer = unit_text(
				object_unit_die(object, &units->data.data[i]),
				DW_AT_producer);
		*ret_found = true;
		TRY(str_copy(folder ? folder : ".", &ret->folder));
		TRY(str_copy(producer ? producer : "", &ret->producer));
		TRY(add_folders(unit, &ret->folders));
	}
	return NULL;
}

void object_compiled_free(struct object_compiled *compiled)
{
	free(compiled->folder);
	free(compiled->producer);
	strv_free(&compiled->folders);
	*compiled = (struct object_compiled){};
}

/* ---- what an object file needs ---- */

struct err *object_needs(const char *path, struct strv *ret,
			 struct strv *ret_weak)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(errno, "%s", path);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return err_create(ERR_INTERNAL, "%s: %s", path, elf_errmsg(-1));
	struct err *err = NULL;
	Elf_Scn *section = NULL;
	while (!err && (section = elf_nextscn(elf, section))) {
		Elf64_Shdr header;
		Elf_Data *data;
		if (!section_header(section, &header) ||
		    header.sh_type != SHT_SYMTAB || !header.sh_entsize ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		size_t n = MIN(data->d_size / header.sh_entsize,
			       (size_t)ROUTINES_MAX);
		for (size_t i = 1; !err && i < n; i++) {
			GElf_Sym sym;
			if (!gelf_getsym(data, (int)i, &sym))
				break;
			const char *name =
				elf_strptr(elf, header.sh_link, sym.st_name);
			bool weak = GELF_ST_BIND(sym.st_info) == STB_WEAK;
			if (name && *name &&
			    GELF_ST_BIND(sym.st_info) != STB_LOCAL &&
			    GELF_ST_TYPE(sym.st_info) != STT_TLS &&
			    GELF_ST_VISIBILITY(sym.st_other) == STV_DEFAULT &&
			    (sym.st_shndx == SHN_UNDEF || weak))
				err = strv_add(weak ? ret_weak : ret, name);
		}
	}
	elf_end(elf);
	return err;
}
