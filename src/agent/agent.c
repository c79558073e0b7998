/* The beginning: which malloc is used, and what the program sees of us. */
#include "agent/agent.h"

#include <link.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

enum agent_mode agent_mode;
struct agent_next agent_next;

struct wire_heap agent_heap = {
	.magic = WIRE_HEAP_MAGIC,
	.version = WIRE_HEAP_VERSION,
};
/* Visible under its name, but reached from inside without the GOT. */
extern struct wire_heap polygraph_agent_heap _export_
	__attribute__((alias("agent_heap")));

static void agent_begin_pass(enum wire_reason reason)
{
	agent_heap.reason = reason;
	agent_mode = AGENT_PASS;
}

static void keep_name(const struct link_map *object)
{
	const char *name = object->l_name ? object->l_name : "";
	for (const char *c = name; *c; c++) {
		if (*c == '/')
			name = c + 1;
	}
	for (size_t i = 0; i + 1 < WIRE_NAME && name[i]; i++)
		agent_heap.allocator[i] = name[i];
}

static void find_next(void)
{
	agent_next = (struct agent_next){
		.malloc = lookup_next("malloc"),
		.calloc = lookup_next("calloc"),
		.realloc = lookup_next("realloc"),
		.reallocarray = lookup_next("reallocarray"),
		.aligned_alloc = lookup_next("aligned_alloc"),
		.posix_memalign = lookup_next("posix_memalign"),
		.memalign = lookup_next("memalign"),
		.valloc = lookup_next("valloc"),
		.pvalloc = lookup_next("pvalloc"),
		.free = lookup_next("free"),
		.malloc_usable_size = lookup_next("malloc_usable_size"),
		.strdup = lookup_next("strdup"),
		.strndup = lookup_next("strndup"),
	};
}

/*
 * The first definition of malloc that is not ours is the one the program would
 * use. Unless it is the C library's, blocks belong to another allocator: a
 * library such as jemalloc or tcmalloc, a sanitizer, the program.
 */
enum agent_mode agent_begin(void)
{
	if (agent_mode != AGENT_NEW)
		return agent_mode;
	const struct link_map *object = NULL;
	void *other_malloc = lookup_other("malloc", &object);
	void *other_free = lookup_other("free", NULL);
	find_next();
	operators_begin();
	code_begin();
	if (object)
		keep_name(object);
	if (other_malloc != (void *)__libc_malloc ||
	    other_free != (void *)__libc_free) {
		agent_begin_pass(WIRE_OWN_MALLOC);
	} else if (!table_create()) {
		agent_begin_pass(WIRE_NO_MEMORY);
	} else {
		agent_heap.active = 1;
		agent_mode = AGENT_NOTE;
	}
	code_list_own();
	return agent_mode;
}
