/*
 * Which allocator does the calling container have? What unordered_insert does
 * (hash_std.c) is right only where arrays that come from operator new go back
 * to operator delete: std::allocator's do.
 *
 *  - The calling function is a member of a _Hashtable, or of one of its bases,
 *    with std::allocator: its name says so.
 *  - It was inlined into one of the program's, or the file is stripped: then
 *    the caller is known only after a rehash of a container of one element to as
 *    many buckets as it had, which cannot be distinguished from none, gave an
 *    array back.
 */
#include "models/hash_internal.h"

#include <dlfcn.h>
#include <link.h>

#include "agent/image.h"

#define SITES 1024
/* In all files and calls: looking must not become what takes time. */
#define SYMBOLS_MAX ((size_t)1 << 23)

/* What is known, from SITE_BITS on, and the address below. */
static uint64_t sites[SITES];
#define SITE_BITS 56
#define SITE_ADDRESS (~0ULL >> (64 - SITE_BITS))
/* Of those bits, above the two of enum hash_arrays. */
enum {
	SITE_NAMED = 1 << 2,
	SITE_CACHED = 1 << 3,
	SITE_SET = 1 << 4,
	SITE_UNIQUE = 1 << 5,
};

/* Is there a number before @end that makes what follows it, up to there, a name? */
static bool is_name_until(const char *begin, const char *end)
{
	for (const char *c = begin; c < end; c++) {
		size_t length = 0;
		const char *digit = c;
		for (; digit < end && *digit >= '0' && *digit <= '9' &&
		       length < 1000;
		     digit++)
			length = length * 10 + (size_t)(*digit - '0');
		if (digit > c && digit + length == end)
			return true;
	}
	return false;
}

/*
 * "_ZNSt10_HashtableI" KEY VALUE ALLOCATOR EXTRACT …: the value is a built-in type
 * or was there before, so that the allocator is SaI, that, and E.
 */
static bool is_standard(const char *name)
{
	static const char *const begins[] = {
		"_ZNSt10_HashtableI",
		"_ZNSt8__detail9_Map_baseI",
		"_ZNSt8__detail12_Insert_baseI",
		"_ZNSt8__detail7_InsertI",
	};
	static const char *const extracts[] = {
		"NSt8__detail9_IdentityE",
		"NSt8__detail10_Select1stE",
		"NS_9_IdentityE",
		"NS_10_Select1stE",
	};
	const char *begin = NULL, *at = NULL;
	for (unsigned i = 0; !begin && i < 4; i++)
		begin = text_after((char *)name, begins[i]);
	for (const char *c = begin; c && !at && *c; c++) {
		for (unsigned i = 0; !at && i < 4; i++)
			at = text_after((char *)c, extracts[i]) ? c : NULL;
	}
	if (!at || at - begin < 6 || at[-1] != 'E')
		return false;
	const char *type = at - 2;
	if (*type == '_') { /* a substitution: S_, S1_, … */
		while (type > begin && *type != 'S')
			type--;
	}
	return type - begin >= 3 && type[-3] == 'S' && type[-2] == 'a' &&
	       type[-1] == 'I' && !is_name_until(begin, type - 1);
}

/* "…17_Hashtable_traitsILb1ELb0ELb1EE…": keeps hashes, is a set, keys are unique. */
static unsigned read_traits(const char *name)
{
	for (; *name; name++) {
		const char *traits =
			text_after((char *)name, "_Hashtable_traitsILb");
		if (!traits)
			continue;
		for (unsigned i = 0; i < 12; i++) {
			if (!traits[i])
				return 0;
		}
		return SITE_NAMED | (traits[0] == '1' ? SITE_CACHED : 0) |
		       (traits[4] == '1' ? SITE_SET : 0) |
		       (traits[8] == '1' ? SITE_UNIQUE : 0);
	}
	return 0;
}

static unsigned look_in_file(const char *path, uint64_t address)
{
	static size_t looked_at;
	struct file_image image;
	if (__atomic_load_n(&looked_at, __ATOMIC_RELAXED) > SYMBOLS_MAX ||
	    !image_map(path, &image))
		return HASH_SITE_NEW;
	size_t n = 0;
	const Elf64_Sym *symbols = image_symbols(&image, &n);
	unsigned known = HASH_SITE_NEW;
	for (size_t i = 0; symbols && i < n; i++) {
		const char *name = NULL;
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
		    address - symbols[i].st_value < symbols[i].st_size)
			name = image_name(&image, symbols[i].st_name);
		if (!name)
			continue;
		if (is_standard(name))
			known = HASH_SITE_RIGHT | read_traits(name);
		break;
	}
	__atomic_fetch_add(&looked_at, n, __ATOMIC_RELAXED);
	image_unmap(&image);
	return known;
}

static unsigned hash_site_look_at(uintptr_t caller)
{
	struct dl_find_object found;
	if (_dl_find_object((void *)(caller - 1), &found))
		return HASH_SITE_OTHER;
	const struct link_map *object = found.dlfo_link_map;
	const char *path = object->l_name;
	if (!path || !*path)
		path = "/proc/self/exe";
	return look_in_file(path, caller - 1 - object->l_addr);
}

static uint64_t *hash_site_slot(uintptr_t caller)
{
	return &sites[(caller ^ caller >> 10) % SITES];
}

static unsigned hash_site_bits(uintptr_t caller)
{
	uint64_t known =
		__atomic_load_n(hash_site_slot(caller), __ATOMIC_RELAXED);
	if ((known & SITE_ADDRESS) == caller)
		return (unsigned)(known >> SITE_BITS);
	unsigned bits = hash_site_look_at(caller);
	__atomic_store_n(hash_site_slot(caller),
			 (uint64_t)bits << SITE_BITS | caller,
			 __ATOMIC_RELAXED);
	return bits;
}

void hash_site_set(uintptr_t caller, enum hash_arrays arrays)
{
	__atomic_store_n(hash_site_slot(caller),
			 (uint64_t)arrays << SITE_BITS | caller,
			 __ATOMIC_RELAXED);
}

struct hash_site hash_site(uintptr_t caller)
{
	unsigned bits = hash_site_bits(caller);
	return (struct hash_site){
		.arrays = (enum hash_arrays)(bits & 3),
		.named = bits & SITE_NAMED,
		.cached = bits & SITE_CACHED,
		.set = bits & SITE_SET,
		.unique = bits & SITE_UNIQUE,
	};
}

const char *hash_site_name(uintptr_t caller)
{
	static const char *const names[2][2] = {
		{ "an unordered_multimap", "an unordered_map" },
		{ "an unordered_multiset", "an unordered_set" },
	};
	struct hash_site site = hash_site(caller);
	return site.named ? names[site.set][site.unique]
			  : "an unordered container";
}
