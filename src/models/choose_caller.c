/*
 * Which code calls? Calls of the tested program and its libraries may be
 * answered differently; those of the framework, the C library, the loader and
 * other libraries of the system rely on what they know of one another.
 *
 * Known by the object that contains a return address: its folder and its name.
 * Frameworks that are linked into the program are listed by the controller, as
 * ranges of addresses (wire_choices.callers). What is there at the start stays,
 * so it is listed once; of what is loaded later the dynamic linker knows.
 * Verdicts are kept in a table, by address: code that is unloaded may be
 * followed by other code in its place, but objects that come and go are of the
 * same kind nearly always.
 */
#include "models/choose_internal.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#define OBJECTS 512

struct caller_object {
	uint64_t low, high;
	enum choose_caller who;
	bool program; /* the executable itself */
	uint64_t bias;
};

uint64_t choose_callers[CHOOSE_CALLERS];

static struct caller_object objects[OBJECTS];
static unsigned objects_n;

static const char *const folders[] = {
	"/lib/",     "/lib64/",	    "/lib32/",
	"/usr/lib/", "/usr/lib64/", "/usr/libexec/",
};

/* Names of libraries, up to ".so" or "-": transparent ones … */
static const char *const runtimes[] = {
	"libstdc++.",
	"libc++.",
	"libglib-2.0.",
	"libgio-2.0.",
};
/* … and our own. Those of frameworks the controller names. */
#define OWN_LIBRARY "libpolygraph-"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool caller_path_begins(const char *text, const char *const *starts,
			       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text_after((char *)text, starts[i]))
			return true;
	}
	return false;
}

static bool is_framework_library(const char *name)
{
	const char *start = choose_block ? choose_block->libraries : "";
	const char *end = start + WIRE_CHOICE_LIBRARIES;
	while (*start) {
		if (text_after((char *)name, start))
			return true;
		while (start < end && *start)
			start++;
		if (++start >= end)
			return false;
	}
	return false;
}

static enum choose_caller caller_judge_path(const char *path)
{
	const char *name = path;
	for (const char *c = path; *c; c++) {
		if (*c == '/')
			name = c + 1;
	}
	if (caller_path_begins(name, runtimes, COUNT(runtimes)))
		return CHOOSE_RUNTIME;
	if (is_framework_library(name) ||
	    text_after((char *)name, OWN_LIBRARY) ||
	    caller_path_begins(path, folders, COUNT(folders)) || *path != '/')
		return CHOOSE_OTHER;
	return CHOOSE_PROGRAM;
}

static void caller_add_object(const ElfW(Phdr) * segments, size_t n,
			      uint64_t bias, enum choose_caller who,
			      bool program)
{
	for (size_t i = 0; i < n && objects_n < OBJECTS; i++) {
		if (segments[i].p_type != PT_LOAD ||
		    !(segments[i].p_flags & PF_X))
			continue;
		uint64_t low = bias + segments[i].p_vaddr;
		objects[objects_n++] = (struct caller_object){
			low, low + segments[i].p_memsz, who, program, bias,
		};
	}
}

static void add_library(const struct link_map *object)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->l_addr;
	if (!object->l_addr || !sys_readable(object->l_addr) ||
	    *(const uint32_t *)header->e_ident != 0x464c457fU)
		return;
	caller_add_object(
		(const ElfW(Phdr) *)(object->l_addr + header->e_phoff),
		header->e_phnum, object->l_addr,
		caller_judge_path(object->l_name ? object->l_name : ""), false);
}

/* Before there are other threads. */
void choose_caller_begin(void)
{
	const struct link_map *program = _r_debug.r_map;
	if (!program)
		return;
	caller_add_object((const ElfW(Phdr) *)getauxval(AT_PHDR),
			  getauxval(AT_PHNUM), program->l_addr, CHOOSE_PROGRAM,
			  true);
	for (const struct link_map *object = program->l_next; object;
	     object = object->l_next)
		add_library(object);
}

static const struct caller_object *caller_find_object(uint64_t address)
{
	for (unsigned i = 0; i < objects_n; i++) {
		if (address - objects[i].low < objects[i].high - objects[i].low)
			return &objects[i];
	}
	return NULL;
}

/* Sorted, and they do not overlap. */
static bool is_excluded(uint64_t address)
{
	const struct wire_choices *block = choose_block;
	uint64_t low = 0, high = block->callers_n;
	if (high > WIRE_CALLERS)
		high = WIRE_CALLERS;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		if (block->callers[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < block->callers_n && low < WIRE_CALLERS &&
	       address >= block->callers[low].low;
}

/*
 * Loaded since the start. It cannot be unloaded while its code calls, and
 * _dl_find_object() takes no lock (glibc 2.35).
 */
static enum choose_caller find_loaded(uint64_t address)
{
	struct dl_find_object found;
	if (_dl_find_object((void *)(uintptr_t)address, &found))
		return CHOOSE_OTHER;
	const char *path = found.dlfo_link_map->l_name;
	return caller_judge_path(path ? path : "");
}

enum choose_caller choose_caller_find(uintptr_t address)
{
	const struct caller_object *object = caller_find_object(address);
	/*
	 * The return address is after the call, which may be the last
	 * instruction of all.
	 */
	enum choose_caller who =
		object ? object->who : find_loaded(address - 1);
	if (object && object->program && choose_block &&
	    is_excluded(address - 1 - object->bias))
		who = CHOOSE_OTHER;
	__atomic_store_n(
		&choose_callers[(address ^ address >> 12) % CHOOSE_CALLERS],
		(uint64_t)who << 62 | address, __ATOMIC_RELAXED);
	return who;
}
