/*
 * Symbols of the objects that are loaded, from their own hash tables (System V
 * ABI, "Hash Table"; DT_GNU_HASH as glibc/elf/dl-lookup.c reads it).
 */
#include "agent/agent.h"

#include <link.h>

struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu;
	const uint32_t *sysv;
	const uint16_t *versions; /* one a symbol; NULL: it has none */
};

/* Of a symbol's version: only for programs that were linked with it long ago. */
#define VERSION_HIDDEN 0x8000

/* ld.so has made addresses of them, but not in read-only ones (the vDSO). */
static const void *lookup_table_address(const struct link_map *object,
					ElfW(Addr) value)
{
	return (const void *)(value < object->l_addr ? value + object->l_addr
						     : value);
}

static bool tables_of(const struct link_map *object, struct tables *ret)
{
	struct tables tables = {};
	if (!object->l_ld)
		return false;
	for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++) {
		const void *at = lookup_table_address(object, d->d_un.d_ptr);
		if (d->d_tag == DT_SYMTAB)
			tables.symbols = at;
		else if (d->d_tag == DT_STRTAB)
			tables.strings = at;
		else if (d->d_tag == DT_GNU_HASH)
			tables.gnu = at;
		else if (d->d_tag == DT_HASH)
			tables.sysv = at;
		else if (d->d_tag == DT_VERSYM)
			tables.versions = at;
	}
	if (!tables.symbols || !tables.strings)
		return false;
	*ret = tables;
	return true;
}

static bool lookup_symbol_is(const struct tables *tables, uint32_t index,
			     const char *name)
{
	const ElfW(Sym) *symbol = &tables->symbols[index];
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_NOTYPE ||
		type == STT_GNU_IFUNC) &&
	       text_is(tables->strings + symbol->st_name, name);
}

static bool is_current(const struct tables *tables, uint32_t index)
{
	return !tables->versions || !(tables->versions[index] & VERSION_HIDDEN);
}

/* The version that programs are linked with today, or else any. */
static uint32_t find_gnu(const struct tables *tables, const char *name)
{
	const uint32_t *head = tables->gnu;
	uint32_t buckets_n = head[0], first = head[1], bloom_n = head[2];
	const uint32_t *buckets =
		(const uint32_t *)((const uint64_t *)(head + 4) + bloom_n);
	const uint32_t *chain = buckets + buckets_n;
	uint32_t hash = 5381;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (!buckets_n || !bloom_n)
		return 0;
	/* Most objects do not have it, and one word says so. */
	uint64_t word = ((const uint64_t *)(head + 4))[hash / 64 % bloom_n];
	if (!(word >> hash % 64 & word >> (hash >> head[3]) % 64 & 1))
		return 0;
	uint32_t i = buckets[hash % buckets_n];
	if (i < first)
		return 0;
	for (uint32_t found = 0;; i++) {
		uint32_t there = chain[i - first];
		if ((there | 1) == (hash | 1) &&
		    lookup_symbol_is(tables, i, name)) {
			if (is_current(tables, i))
				return i;
			found = i;
		}
		if (there & 1)
			return found;
	}
}

static uint32_t find_sysv(const struct tables *tables, const char *name)
{
	uint32_t n = tables->sysv[1], found = 0;
	for (uint32_t i = 1; i < n; i++) {
		if (!lookup_symbol_is(tables, i, name))
			continue;
		if (is_current(tables, i))
			return i;
		found = i;
	}
	return found;
}

void *lookup_in(const struct link_map *object, const char *name)
{
	struct tables tables;
	if (!tables_of(object, &tables))
		return NULL;
	uint32_t i = tables.gnu	   ? find_gnu(&tables, name)
		     : tables.sysv ? find_sysv(&tables, name)
				   : 0;
	if (!i)
		return NULL;
	const ElfW(Sym) *symbol = &tables.symbols[i];
	uintptr_t at = object->l_addr + symbol->st_value;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))at)();
	return (void *)at;
}

static void *lookup_from(const struct link_map *object, const char *name,
			 const struct link_map **ret_object)
{
	for (; object; object = object->l_next) {
		void *at = object->l_ld == _DYNAMIC ? NULL
						    : lookup_in(object, name);
		if (at) {
			if (ret_object)
				*ret_object = object;
			return at;
		}
	}
	return NULL;
}

void *lookup_other(const char *name, const struct link_map **ret_object)
{
	return lookup_from(_r_debug.r_map, name, ret_object);
}

void *lookup_next(const char *name)
{
	const struct link_map *own = lookup_own();
	return own ? lookup_from(own->l_next, name, NULL) : NULL;
}

const struct link_map *lookup_own(void)
{
	const struct link_map *object = _r_debug.r_map;
	while (object && object->l_ld != _DYNAMIC)
		object = object->l_next;
	return object;
}
