/*
 * Is an address one of code? What code without frame pointers leaves on the
 * stack is not, and every such number would make another stack.
 *
 * The objects that were there at the beginning never go, so their code is
 * known for good. For those loaded since, the C library is asked whether there
 * is an object at all: _dl_find_object() takes no lock and allocates nothing
 * (glibc 2.35; before, everything else is believed).
 */
#include "agent/agent.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#define RANGES 512
#define ELF_MAGIC 0x464c457fU /* ELFMAG as a number */

struct code_range {
	uint64_t low, high;
};

struct ranges {
	struct code_range data[RANGES];
	unsigned n;
};

uint64_t code_pages[CODE_PAGES];

static struct ranges code, other;
static int (*find_object)(void *, void *);

static void code_add_range(struct ranges *ranges, uint64_t low, uint64_t size)
{
	if (ranges->n < RANGES)
		ranges->data[ranges->n++] =
			(struct code_range){ low, low + size };
}

static bool code_ranges_contain(const struct ranges *ranges, uint64_t address)
{
	for (unsigned i = 0; i < ranges->n; i++) {
		const struct code_range *range = &ranges->data[i];
		if (address - range->low < range->high - range->low)
			return true;
	}
	return false;
}

static void code_add_segments(uint64_t bias, const ElfW(Phdr) * segments,
			      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const ElfW(Phdr) *segment = &segments[i];
		if (segment->p_type == PT_LOAD)
			code_add_range(segment->p_flags & PF_X ? &code : &other,
				       bias + segment->p_vaddr,
				       segment->p_memsz);
	}
}

/* Libraries are mapped from their beginning, where the ELF header is. */
static size_t segments_of(const struct link_map *object,
			  const ElfW(Phdr) * *ret)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->l_addr;
	if (!object->l_addr || !sys_readable(object->l_addr) ||
	    *(const uint32_t *)header->e_ident != ELF_MAGIC)
		return 0;
	*ret = (const ElfW(Phdr) *)(object->l_addr + header->e_phoff);
	return header->e_phnum;
}

void code_list_own(void)
{
	const struct link_map *own = lookup_own();
	const ElfW(Phdr) * segments;
	size_t n = own ? segments_of(own, &segments) : 0;
	for (size_t i = 0; i < n; i++) {
		struct wire_region *region;
		if (segments[i].p_type != PT_LOAD ||
		    !(segments[i].p_flags & PF_W) || !(region = sys_region()))
			continue;
		/* In whole pages, as it is mapped. */
		uint64_t low = own->l_addr + segments[i].p_vaddr;
		uint64_t high = low + segments[i].p_memsz;
		region->address = low & ~4095ULL;
		region->size = ((high + 4095) & ~4095ULL) - region->address;
	}
}

/*
 * The first thread's copy of our thread-local variables. glibc's handles are the
 * objects themselves, so that ours need not be opened.
 */
void code_list_own_tls(void)
{
	int (*info)(void *, int, void *) =
		(int (*)(void *, int, void *))lookup_next("dlinfo");
	const struct link_map *own = lookup_own();
	const ElfW(Phdr) * segments;
	size_t n = own ? segments_of(own, &segments) : 0;
	for (size_t i = 0; info && i < n; i++) {
		void *at = NULL;
		struct wire_region *region;
		if (segments[i].p_type != PT_TLS ||
		    info((void *)own, RTLD_DI_TLS_DATA, &at) || !at ||
		    !(region = sys_region()))
			continue;
		region->address = (uint64_t)(uintptr_t)at;
		region->size = segments[i].p_memsz;
	}
}

void code_begin(void)
{
	const struct link_map *program = _r_debug.r_map;
	if (!program)
		return;
	code_add_segments(program->l_addr,
			  (const ElfW(Phdr) *)getauxval(AT_PHDR),
			  getauxval(AT_PHNUM));
	for (const struct link_map *object = program->l_next; object;
	     object = object->l_next) {
		const ElfW(Phdr) * segments;
		size_t n = segments_of(object, &segments);
		if (n)
			code_add_segments(object->l_addr, segments, n);
	}
	find_object = (int (*)(void *, void *))lookup_next("_dl_find_object");
}

bool code_learn(uint64_t address)
{
	/* struct dl_find_object of <dlfcn.h>, which older ones do not have. */
	uint64_t found[32];
	if (address < 0x10000 || address >> WIRE_ADDRESS_BITS)
		return false;
	if (!code_ranges_contain(&code, address) &&
	    (code_ranges_contain(&other, address) ||
	     (find_object && find_object((void *)address, found))))
		return false;
	__atomic_store_n(&code_pages[address >> 12 & (CODE_PAGES - 1)],
			 address >> 12, __ATOMIC_RELAXED);
	return true;
}
