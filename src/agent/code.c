/*
 * Is an address one of code? What code without frame pointers leaves on the
 * stack is not, and every such number would make another stack.
 *
 * The objects that were there at the beginning never go, so their code is
 * known for good. For those loaded since, the C library is asked whether there
 * is an object at all: _dl_find_object() takes no lock and allocates nothing
 * (glibc 2.35; before, everything else is believed).
 */
#include "agent/agent_internal.h"

#include <link.h>
#include <sys/auxv.h>

#define RANGES 512
#define ELF_MAGIC 0x464c457fU /* ELFMAG as a number */

struct range {
	uint64_t low, high;
};

struct ranges {
	struct range data[RANGES];
	unsigned n;
};

uint64_t code_pages[CODE_PAGES];

static struct ranges code, other;
static int (*find_object)(void *, void *);

static void add(struct ranges *ranges, uint64_t low, uint64_t size)
{
	if (ranges->n < RANGES)
		ranges->data[ranges->n++] = (struct range){ low, low + size };
}

static bool in(const struct ranges *ranges, uint64_t address)
{
	for (unsigned i = 0; i < ranges->n; i++) {
		const struct range *range = &ranges->data[i];
		if (address - range->low < range->high - range->low)
			return true;
	}
	return false;
}

static void add_segments(uint64_t bias, const ElfW(Phdr) * segments, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const ElfW(Phdr) *segment = &segments[i];
		if (segment->p_type == PT_LOAD)
			add(segment->p_flags & PF_X ? &code : &other,
			    bias + segment->p_vaddr, segment->p_memsz);
	}
}

/* Libraries are mapped from their beginning, where the ELF header is. */
static void add_library(const struct link_map *object)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->l_addr;
	if (object->l_addr && sys_readable(object->l_addr) &&
	    *(const uint32_t *)header->e_ident == ELF_MAGIC)
		add_segments(
			object->l_addr,
			(const ElfW(Phdr) *)(object->l_addr + header->e_phoff),
			header->e_phnum);
}

void code_begin(void)
{
	const struct link_map *program = _r_debug.r_map;
	if (!program)
		return;
	add_segments(program->l_addr, (const ElfW(Phdr) *)getauxval(AT_PHDR),
		     getauxval(AT_PHNUM));
	for (const struct link_map *object = program->l_next; object;
	     object = object->l_next)
		add_library(object);
	find_object = (int (*)(void *, void *))lookup_next("_dl_find_object");
}

bool code_learn(uint64_t address)
{
	/* struct dl_find_object of <dlfcn.h>, which older ones do not have. */
	uint64_t found[32];
	if (address < 0x10000 || address >> WIRE_ADDRESS_BITS)
		return false;
	if (!in(&code, address) &&
	    (in(&other, address) ||
	     (find_object && find_object((void *)address, found))))
		return false;
	__atomic_store_n(&code_pages[address >> 12 & (CODE_PAGES - 1)],
			 address >> 12, __ATOMIC_RELAXED);
	return true;
}
