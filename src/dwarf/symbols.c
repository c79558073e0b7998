/* The symbol tables of a file as one: by name, by address, in file order. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macro.h"
#include "dwarf/object_internal.h"

/* Entries are counted in 32 bits, and a table section is a few at most. */
#define ENTRIES_MAX (UINT32_MAX / 4)
#define SECTIONS_MAX 1000000

#define STT_MASK_(type) (1u << (type))
/*
 * What is kept. Not STT_TLS: its value is an offset in a block of each thread,
 * which is of no use as an address.
 */
#define TYPES_KEPT                                                             \
	(STT_MASK_(STT_NOTYPE) | STT_MASK_(STT_OBJECT) | STT_MASK_(STT_FUNC) | \
	 STT_MASK_(STT_COMMON) | STT_MASK_(STT_GNU_IFUNC))

static uint32_t hash_name(const char *name, size_t n)
{
	return (uint32_t)XXH3_64bits(name, n);
}

static uint32_t hash_double(uint32_t hash, uint64_t value)
{
	return (uint32_t)XXH3_64bits_withSeed(&value, sizeof(value), hash);
}

static struct err *table_room(struct symbol_table *table)
{
	if (table->n * 2 < table->cap)
		return NULL;
	size_t cap = table->cap ? table->cap * 2 : 64;
	struct symbol_slot *slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return err_nomem();
	for (size_t i = 0; i < table->cap; i++) {
		if (!table->slots[i].entry)
			continue;
		size_t j = table->slots[i].hash & (cap - 1);
		while (slots[j].entry)
			j = (j + 1) & (cap - 1);
		slots[j] = table->slots[i];
	}
	free(table->slots);
	table->slots = slots;
	table->cap = cap;
	return NULL;
}

/* Where @name is, or the empty slot where it belongs; the table has room. */
static struct symbol_slot *find_name(const struct symbols *symbols,
				     uint32_t hash, const char *name)
{
	const struct symbol_table *table = &symbols->by_name;
	for (size_t i = hash;; i++) {
		struct symbol_slot *slot = &table->slots[i & (table->cap - 1)];
		if (!slot->entry ||
		    (slot->hash == hash &&
		     !strcmp(symbols->entries.data[slot->entry - 1].name,
			     name)))
			return slot;
	}
}

static struct symbol_slot *find_double(const struct symbols *symbols,
				       uint32_t hash,
				       const struct symbol_entry *key)
{
	const struct symbol_table *table = &symbols->doubles;
	for (size_t i = hash;; i++) {
		struct symbol_slot *slot = &table->slots[i & (table->cap - 1)];
		if (!slot->entry)
			return slot;
		const struct symbol_entry *other =
			&symbols->entries.data[slot->entry - 1];
		if (slot->hash == hash && other->value == key->value &&
		    !strcmp(other->name, key->name))
			return slot;
	}
}

/* .dynsym often knows what .symtab knew: fill in, do not repeat. */
static void symbols_merge_entry(struct symbol_entry *into,
				const struct symbol_entry *from)
{
	into->rank = MIN(into->rank, from->rank);
	if (!into->size)
		into->size = from->size;
	if (into->type == STT_NOTYPE)
		into->type = from->type;
}

static struct err *symbols_add_entry(struct symbols *symbols,
				     const struct symbol_entry *entry)
{
	if (symbols->entries.n >= ENTRIES_MAX)
		return NULL;
	TRY(table_room(&symbols->by_name));
	uint32_t hash = hash_name(entry->name, strlen(entry->name));
	struct symbol_slot *slot = find_name(symbols, hash, entry->name);
	uint32_t next = (uint32_t)symbols->entries.n + 1;
	if (!slot->entry) {
		TRY(vec_push(&symbols->entries, *entry));
		*slot = (struct symbol_slot){ .hash = hash, .entry = next };
		symbols->by_name.n++;
		return NULL;
	}

	struct symbol_entry *first = &symbols->entries.data[slot->entry - 1];
	if (first->value == entry->value) {
		symbols_merge_entry(first, entry);
		return NULL;
	}
	/* The one of this name that steps back goes to the doubles. */
	TRY(table_room(&symbols->doubles));
	uint32_t hash2 = hash_double(hash, entry->value);
	struct symbol_slot *known = find_double(symbols, hash2, entry);
	if (known->entry) {
		struct symbol_entry *old =
			&symbols->entries.data[known->entry - 1];
		symbols_merge_entry(old, entry);
		if (old->rank < first->rank) {
			/* Both stay findable: swap their places. */
			uint32_t winner = known->entry;
			uint32_t loser = slot->entry;
			slot->entry = winner;
			hash2 = hash_double(hash, first->value);
			known = find_double(symbols, hash2, first);
			if (!known->entry) {
				*known = (struct symbol_slot){ .hash = hash2,
							       .entry = loser };
				symbols->doubles.n++;
			}
		}
		return NULL;
	}
	bool better = entry->rank < first->rank;
	struct symbol_entry loser = better ? *first : *entry;
	uint32_t loser_entry = better ? slot->entry : next;
	TRY(vec_push(&symbols->entries, *entry));
	hash2 = hash_double(hash, loser.value);
	known = find_double(symbols, hash2, &loser);
	if (!known->entry) {
		*known = (struct symbol_slot){ .hash = hash2,
					       .entry = loser_entry };
		symbols->doubles.n++;
	}
	if (better)
		slot->entry = next;
	return NULL;
}

static void look_for_sanitizers(struct symbols *symbols, const char *name)
{
	if (name[0] != '_' || name[1] != '_')
		return;
	if (!strcmp(name, "__asan_init"))
		symbols->asan = true;
	else if (!strcmp(name, "__tsan_init"))
		symbols->tsan = true;
}

/*
 * Global names of shared libraries carry their version in .symtab: "f@@V2" is
 * what linking against f gives, "f@V1" is kept for old programs.
 */
static struct err *symbols_cut_version(struct symbols *symbols,
				       struct symbol_entry *entry)
{
	const char *at = strchr(entry->name, '@');
	if (!at || at == entry->name)
		return NULL;
	if (at[1] != '@')
		entry->rank = 1;
	_cleanup_(freep) char *name =
		strndup(entry->name, (size_t)(at - entry->name));
	if (!name)
		return err_nomem();
	TRY(vec_push(&symbols->names, name));
	entry->name = take_ptr(name);
	return NULL;
}

static struct err *add_import(struct symbols *symbols, const char *name)
{
	size_t n = strcspn(name, "@");
	_cleanup_(freep) char *plain = strndup(name, n);
	if (!plain)
		return err_nomem();
	return map_text_put(&symbols->imports, plain, 1);
}

static struct err *add_sym(struct symbols *symbols, const char *name,
			   const Elf64_Sym *sym, uint64_t value, bool hidden)
{
	if (!*name)
		return NULL;
	look_for_sanitizers(symbols, name);
	unsigned type = ELF64_ST_TYPE(sym->st_info);
	if (sym->st_shndx == SHN_UNDEF)
		return add_import(symbols, name);
	if (sym->st_shndx == SHN_COMMON || !(TYPES_KEPT & STT_MASK_(type)))
		return NULL;
	struct symbol_entry entry = {
		.name = name,
		.value = value,
		.size = sym->st_size,
		.type = (uint8_t)type,
		.absolute = sym->st_shndx == SHN_ABS,
	};
	if (ELF64_ST_BIND(sym->st_info) == STB_LOCAL)
		entry.rank = 2;
	else if (hidden)
		entry.rank = 1;
	else
		TRY(symbols_cut_version(symbols, &entry));
	return symbols_add_entry(symbols, &entry);
}

/* The bytes of a string table; *ret_n is 0 unless it ends in a NUL. */
static const char *symbols_string_table(Elf *elf, size_t index, size_t *ret_n)
{
	*ret_n = 0;
	Elf_Scn *section = elf_getscn(elf, index);
	Elf64_Shdr header;
	if (!section_header(section, &header) || header.sh_type != SHT_STRTAB)
		return NULL;
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return NULL;
	/* Without the NUL at the end the last name is lost, not more. */
	const char *text = data->d_buf;
	const char *end = memrchr(text, '\0', data->d_size);
	*ret_n = end ? (size_t)(end - text) + 1 : 0;
	return text;
}

static struct err *read_section(struct symbols *symbols, Elf *elf,
				Elf_Scn *section, const Elf_Data *versions)
{
	Elf64_Shdr header;
	Elf_Data *data = elf_getdata(section, NULL);
	if (!section_header(section, &header) || !data || !data->d_buf ||
	    data->d_type != ELF_T_SYM)
		return NULL;
	size_t names_n;
	const char *names = symbols_string_table(elf, header.sh_link, &names_n);
	size_t n = data->d_size / sizeof(Elf64_Sym);
	size_t versions_n =
		versions && versions->d_buf ? versions->d_size / 2 : 0;
	for (size_t i = 1; i < n; i++) {
		Elf64_Sym sym;
		memcpy(&sym, (const char *)data->d_buf + i * sizeof(sym),
		       sizeof(sym));
		if (sym.st_name >= names_n)
			continue;
		uint16_t version = 0;
		if (i < versions_n)
			memcpy(&version, (const char *)versions->d_buf + i * 2,
			       2);
		/* Bit 15: hidden, an old version (gABI, GNU versioning). */
		TRY(add_sym(symbols, names + sym.st_name, &sym, sym.st_value,
			    version & 0x8000));
	}
	return NULL;
}

/*
 * Without a .symtab libdwfl looks for one in a separate debug file and in
 * .gnu_debugdata.
 */
static struct err *read_elsewhere(struct symbols *symbols, Elf *main,
				  Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);
	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr value, bias;
		GElf_Word section;
		Elf *elf;
		const char *name = dwfl_module_getsym_info(
			module, i, &sym, &value, &section, &elf, &bias);
		if (!name)
			continue;
		if (elf != main) {
			symbols->full = true;
			symbols->elsewhere = elf;
		}
		/* Bigger section numbers are somewhere, that is enough. */
		if (sym.st_shndx == SHN_XINDEX)
			sym.st_shndx = 1;
		TRY(add_sym(symbols, name, &sym, value, false));
	}
	return NULL;
}

struct err *symbols_read(struct symbols *symbols, Elf *elf, Dwfl_Module *module,
			 bool exported)
{
	Elf_Scn *full = NULL, *dynamic = NULL, *section = NULL;
	Elf_Data *versions = NULL;
	for (size_t i = 0; i < SECTIONS_MAX; i++) {
		section = elf_nextscn(elf, section);
		Elf64_Shdr header;
		if (!section_header(section, &header))
			break;
		if (header.sh_type == SHT_SYMTAB && !full)
			full = section;
		else if (header.sh_type == SHT_DYNSYM && !dynamic)
			dynamic = section;
		else if (header.sh_type == SHT_GNU_versym && !versions)
			versions = elf_getdata(section, NULL);
	}
	if (full) {
		symbols->full = true;
		TRY(read_section(symbols, elf, full, NULL));
	} else if (!exported) {
		TRY(read_elsewhere(symbols, elf, module));
	}
	if (dynamic)
		TRY(read_section(symbols, elf, dynamic, versions));
	return NULL;
}

void symbols_free(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->names.n; i++)
		free(symbols->names.data[i]);
	vec_free(&symbols->names);
	map_text_free(&symbols->imports);
	vec_free(&symbols->entries);
	free(symbols->by_name.slots);
	free(symbols->doubles.slots);
	spans_free(&symbols->functions);
	spans_free(&symbols->others);
}

static bool symbol_is_function(const struct symbol_entry *entry)
{
	return entry->type == STT_FUNC || entry->type == STT_GNU_IFUNC;
}

static struct object_symbol public_symbol(const struct symbol_entry *entry)
{
	return (struct object_symbol){
		.name = entry->name,
		.value = entry->value,
		.size = entry->size,
		.function = symbol_is_function(entry),
		.ifunc = entry->type == STT_GNU_IFUNC,
		.data = entry->type == STT_OBJECT || entry->type == STT_COMMON,
		.local = entry->rank == 2,
	};
}

bool object_imports(const struct object *object, const char *name)
{
	uint64_t found;
	return map_text_get(&object->symbols->imports, name, &found);
}

bool object_symbol(const struct object *object, const char *name,
		   struct object_symbol *ret)
{
	const struct symbols *symbols = object->symbols;
	if (!symbols->by_name.cap)
		return false;
	const struct symbol_slot *slot =
		find_name(symbols, hash_name(name, strlen(name)), name);
	if (!slot->entry)
		return false;
	*ret = public_symbol(&symbols->entries.data[slot->entry - 1]);
	return true;
}

static struct err *symbols_build_index(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->entries.n; i++) {
		const struct symbol_entry *entry = &symbols->entries.data[i];
		if (entry->absolute)
			continue;
		/* Labels without a size give way to what has one. */
		uint32_t rank = entry->rank + (entry->size ? 0 : 4);
		TRY(spans_add(symbol_is_function(entry) ? &symbols->functions
							: &symbols->others,
			      entry->value, entry->size, rank, (uint32_t)i));
	}
	spans_seal(&symbols->functions);
	spans_seal(&symbols->others);
	return NULL;
}

bool object_symbol_at(const struct object *object, uint64_t address,
		      struct object_symbol *ret)
{
	struct symbols *symbols = object->symbols;
	if (!symbols->sealed) {
		symbols->sealed = true;
		struct err *err = symbols_build_index(symbols);
		if (err) {
			err_ignore(err);
			spans_free(&symbols->functions);
			spans_free(&symbols->others);
		}
	}
	uint32_t id;
	if (!spans_find(&symbols->functions, address, &id) &&
	    !spans_find(&symbols->others, address, &id))
		return false;
	*ret = public_symbol(&symbols->entries.data[id]);
	return true;
}

void object_each_symbol(const struct object *object,
			bool (*visit)(void *data,
				      const struct object_symbol *symbol),
			void *data)
{
	const struct symbols *symbols = object->symbols;
	for (size_t i = 0; i < symbols->entries.n; i++) {
		struct object_symbol symbol =
			public_symbol(&symbols->entries.data[i]);
		if (!visit(data, &symbol))
			return;
	}
}
