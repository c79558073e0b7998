/*
 * Which class a vtable is of. Its symbol says so, but debug information spells
 * the names of templates differently ("3u" and "3", blanks), so names are
 * compared without these; and where that fails, the functions in its slots
 * decide: the destructor of a class is in its own vtable only, other functions
 * count where their class has the right name except for its scope.
 */
#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "dwarf/index_internal.h"

#define SLOTS_MAX 64
#define SECTIONS_MAX 1000000
#define VTABLE_FOR "vtable for "

static char *vtable_class_name(const struct data_symbol *symbol)
{
	char *plain = demangle_name(symbol->name);
	if (!plain || !str_starts(plain, VTABLE_FOR)) {
		free(plain);
		return NULL;
	}
	memmove(plain, plain + strlen(VTABLE_FOR),
		strlen(plain) - strlen(VTABLE_FOR) + 1);
	return plain;
}

struct err *vtables_wanted(const struct data_symbols *symbols,
			   struct scopes *scopes)
{
	for (size_t i = 0; i < symbols->data.n; i++) {
		if (!symbols->data.data[i].vtable)
			continue;
		_cleanup_(freep) char *name =
			vtable_class_name(&symbols->data.data[i]);
		if (name)
			TRY(scopes_want(scopes, scope_last_part(name)));
	}
	return NULL;
}

/* Without blanks, and without what numbers are followed or cast by. */
static void vtable_squeeze_name(const char *name, struct str *out)
{
	out->n = 0;
	for (const char *at = name; *at; at++) {
		if (*at == ' ')
			continue;
		/* "(char)65": a cast before a number. */
		if (*at == '(' && at > name && strchr("<, ", at[-1])) {
			const char *end = strchr(at, ')');
			if (end && (end[1] == '-' ||
				    (end[1] >= '0' && end[1] <= '9'))) {
				at = end;
				continue;
			}
		}
		bool digit = at > name && at[-1] >= '0' && at[-1] <= '9';
		if (digit && strchr("uUlL", *at)) {
			while (at[1] && strchr("uUlL", at[1]))
				at++;
			continue;
		}
		struct err *err = str_append_n(out, at, 1);
		if (err) {
			err_ignore(err);
			return;
		}
	}
}

struct vtables {
	struct type_builder *builder;
	const struct data_symbols *symbols;
	struct map_text templates; /* squeezed name to scopes->templates */
	struct map_u64 slots;	   /* relocated words: place to value */
	bool slots_read;
	struct str name;
};

static struct err *read_templates(struct vtables *vtables)
{
	struct scopes *scopes = vtables->builder->scopes;
	for (size_t i = 0; i < scopes->templates.n; i++) {
		_cleanup_(str_freep) struct str name = STR_INIT;
		uint64_t known;
		TRY(scopes_name(scopes, &scopes->templates.data[i], &name,
				NULL));
		if (!name.n)
			continue;
		vtable_squeeze_name(name.s, &vtables->name);
		if (vtables->name.n &&
		    !map_text_get(&vtables->templates, vtables->name.s, &known))
			TRY(map_text_put(&vtables->templates, vtables->name.s,
					 i));
	}
	return NULL;
}

static bool find_by_name(struct vtables *vtables, const char *name,
			 Dwarf_Die *ret)
{
	const struct scopes *scopes = vtables->builder->scopes;
	uint64_t index;
	if (scopes_definition(scopes, name, ret))
		return true;
	vtable_squeeze_name(name, &vtables->name);
	if (!vtables->name.n ||
	    !map_text_get(&vtables->templates, vtables->name.s, &index))
		return false;
	*ret = scopes->templates.data[index];
	return true;
}

/* ---- by the functions in it ---- */

static struct err *vtables_read_section(struct vtables *vtables, Elf *elf,
					const Elf_Data *data, size_t link)
{
	Elf_Scn *table = elf_getscn(elf, link);
	Elf_Data *syms = table ? elf_getdata(table, NULL) : NULL;
	size_t syms_n = syms && syms->d_buf && syms->d_type == ELF_T_SYM
				? syms->d_size / sizeof(Elf64_Sym)
				: 0;
	for (size_t i = 0; i < data->d_size / sizeof(Elf64_Rela); i++) {
		Elf64_Rela rela;
		Elf64_Sym sym = {};
		memcpy(&rela, (const char *)data->d_buf + i * sizeof(rela),
		       sizeof(rela));
		size_t index = ELF64_R_SYM(rela.r_info);
		if (index && index < syms_n)
			memcpy(&sym,
			       (const char *)syms->d_buf + index * sizeof(sym),
			       sizeof(sym));
		uint64_t value = sym.st_value + (uint64_t)rela.r_addend;
		if (value)
			TRY(map_u64_put(&vtables->slots, rela.r_offset, value));
	}
	return NULL;
}

/*
 * Position-independent files keep the words of a vtable in relocations, with
 * the address as addend or as symbol.
 */
static struct err *read_relocations(struct vtables *vtables, Elf *elf)
{
	Elf_Scn *section = NULL;
	for (size_t i = 0; i < SECTIONS_MAX; i++) {
		Elf64_Shdr header;
		section = elf_nextscn(elf, section);
		if (!section_header(section, &header))
			break;
		if (header.sh_type != SHT_RELA ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		if (data && data->d_buf && data->d_type == ELF_T_RELA)
			TRY(vtables_read_section(vtables, elf, data,
						 header.sh_link));
	}
	return NULL;
}

/* The word at an address as it is in the file. */
static bool file_word(Elf *elf, uint64_t address, uint64_t *ret)
{
	size_t n, size;
	const char *bytes = elf_rawfile(elf, &size);
	if (!bytes || elf_getphdrnum(elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr segment;
		if (!segment_header(elf, i, &segment))
			return false;
		uint64_t at = address - segment.p_vaddr;
		if (segment.p_type != PT_LOAD || segment.p_filesz < 8 ||
		    at > segment.p_filesz - 8 || segment.p_offset > size ||
		    size - segment.p_offset < 8 ||
		    at > size - segment.p_offset - 8)
			continue;
		memcpy(ret, bytes + segment.p_offset + at, sizeof(*ret));
		return true;
	}
	return false;
}

static bool read_slot(struct vtables *vtables, uint64_t address, uint64_t *ret)
{
	return map_u64_get(&vtables->slots, address, ret) ||
	       (file_word(vtables->builder->object->elf, address, ret) && *ret);
}

/* "_ZN3app4InfoD1Ev": which destructor, and so of which class. */
static bool is_destructor(const char *name)
{
	size_t n = strlen(name);
	return n > 4 && name[n - 4] == 'D' && name[n - 3] >= '0' &&
	       name[n - 3] <= '5' && !strcmp(name + n - 2, "Ev");
}

static bool same_last_part(struct vtables *vtables, const char *name,
			   Dwarf_Die *class)
{
	const char *other = dwarf_diename(class);
	_cleanup_(str_freep) struct str squeezed = STR_INIT;
	if (!other)
		return false;
	vtable_squeeze_name(scope_last_part(name), &squeezed);
	vtable_squeeze_name(other, &vtables->name);
	return squeezed.n && squeezed.n == vtables->name.n &&
	       !strcmp(squeezed.s, vtables->name.s);
}

static bool find_by_slots(struct vtables *vtables,
			  const struct data_symbol *symbol, const char *name,
			  Dwarf_Die *ret)
{
	struct object *object = vtables->builder->object;
	if (!vtables->slots_read) {
		vtables->slots_read = true;
		struct err *err = read_relocations(vtables, object->elf);
		if (err)
			err_ignore(err);
	}
	/* The first two words are the offset to top and the type's info. */
	for (uint64_t i = 2; i < MIN(symbol->size / 8, (uint64_t)SLOTS_MAX);
	     i++) {
		uint64_t code;
		struct object_symbol function;
		Dwarf_Die die;
		if (read_slot(vtables, symbol->value + i * 8, &code) &&
		    object_symbol_at(object, code, &function) &&
		    function.value == code &&
		    object_function_die(object, code, &die) &&
		    scopes_class(vtables->builder->scopes, &die, ret) &&
		    (is_destructor(function.name) ||
		     same_last_part(vtables, name, ret)))
			return true;
	}
	return false;
}

/* ---- */

static int vtable_order(const void *left, const void *right)
{
	const struct vtable *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

static struct err *add_vtable(struct vtables *vtables,
			      const struct data_symbol *symbol,
			      struct index_variables *index)
{
	_cleanup_(freep) char *name = vtable_class_name(symbol);
	Dwarf_Die die;
	if (!name || (!find_by_name(vtables, name, &die) &&
		      !find_by_slots(vtables, symbol, name, &die)))
		return NULL;
	struct vtable vtable = {
		.address = symbol->value,
		.size = symbol->size,
	};
	TRY(type_build(vtables->builder, &die, &vtable.type));
	return vec_push(&index->vtables, vtable);
}

struct err *vtables_add(struct type_builder *builder,
			const struct data_symbols *symbols,
			struct index_variables *index)
{
	struct vtables vtables = { .builder = builder, .symbols = symbols };
	struct err *err = read_templates(&vtables);
	uint64_t last = 0;
	for (size_t i = 0; i < symbols->data.n && !err; i++) {
		const struct data_symbol *symbol = &symbols->data.data[i];
		/* .dynsym has again what .symtab has. */
		if (!symbol->vtable || symbol->tls || symbol->value == last)
			continue;
		last = symbol->value;
		err = add_vtable(&vtables, symbol, index);
	}
	if (index->vtables.n)
		qsort(index->vtables.data, index->vtables.n,
		      sizeof(*index->vtables.data), vtable_order);
	map_text_free(&vtables.templates);
	map_u64_free(&vtables.slots);
	str_free(&vtables.name);
	return err;
}
