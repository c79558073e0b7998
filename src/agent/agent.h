/*
 * The agent: a library preloaded into the tested program that keeps the table
 * of live heap blocks (wire/heap.h) for the controller, and notes process state
 * that no system call shows (wire/state.h).
 *
 * It lives in another program's process. Its laws:
 *  1. Nothing is allocated from the program's heap: memory comes from mmap().
 *  2. errno stays what the C library makes it: system calls of our own go
 *     around it (sys_call()).
 *  3. No locks, so neither a signal, nor a stopped thread, nor a fork at the
 *     wrong moment can block the next allocation.
 *  4. Only what it interposes is visible, and the objects of wire/.
 *  5. It works the same when nobody looks.
 *
 * glibc's allocator is called under the names __libc_*, which it exports for
 * this. What the library that notes state does not do: change what an
 * allocation returns, or where it comes from. The one that makes choices does,
 * within what is promised (heap.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/heap.h"

#define _export_ __attribute__((visibility("default")))
#define _cold_ __attribute__((noinline, cold))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Before the program's first constructor its versions of the C library's
 * functions may not be ready (sanitizers' are not): text has its own here.
 */
static inline size_t text_length(const char *text)
{
	size_t n = 0;
	while (text[n])
		n++;
	return n;
}

/* The part of @text after @start; NULL if it does not begin with it. */
static inline char *text_after(char *text, const char *start)
{
	while (*start) {
		if (*text++ != *start++)
			return NULL;
	}
	return text;
}

static inline bool text_is(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Declarations, too: reached without the global offset table. */
#pragma GCC visibility push(hidden)

enum agent_mode {
	AGENT_NEW,  /* nothing is known yet */
	AGENT_NOTE, /* glibc's allocator, each block is noted */
	AGENT_PASS, /* another one, or no tables: calls are passed on */
};

extern enum agent_mode agent_mode;
extern struct wire_heap agent_heap;

/* The first call of all decides the mode; there is one thread then. */
_cold_ enum agent_mode agent_begin(void);

/* Where the program's calls would go if the agent were not there. */
struct agent_next {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*reallocarray)(void *, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void (*free)(void *);
	size_t (*malloc_usable_size)(void *);
	char *(*strdup)(const char *);
	char *(*strndup)(const char *, size_t);
};
extern struct agent_next agent_next;

/*
 * lookup.c: definitions in the order in which the dynamic linker looks, the
 * agent's own left out; NULL where there is none. Unlike dlsym() it never
 * allocates.
 */
struct link_map;
/* The first: what the program would use without us. @ret_object may be NULL. */
void *lookup_other(const char *name, const struct link_map **ret_object);
/*
 * The first definition after ours: where our own calls continue. The program
 * may have one that calls ours (sanitizers' do), which would recurse forever.
 */
void *lookup_next(const char *name);
void *lookup_in(const struct link_map *object, const char *name);
/* The agent itself. */
const struct link_map *lookup_own(void);

/* environment.c: LD_PRELOAD as it would be without the agent. */
void environment_restore(char **envp);

/* operators.c: does anybody but the C++ runtime define operator new? */
void operators_begin(void);

/* sys.c */
long sys_call(long number, long a, long b, long c, long d, long e, long f);
/* Can the 8 bytes at @address be read? */
bool sys_readable(uintptr_t address);
/* One more entry in the list of the agent's memory; NULL: it is full. */
struct wire_region *sys_region(void);
/* Empty private memory, listed in the heap's regions; NULL where none is. */
void *sys_map(size_t size, const char *name);
/* Shared with those that fork(2) makes. */
void *sys_map_shared(size_t size, const char *name);
/* All of it is given back, before anybody has used it. */
void sys_unmap_all(void);

/* table.c */
bool table_create(void);
_cold_ struct wire_leaf *table_leaf_create(uint64_t index);
_cold_ struct wire_leaf *table_leaf_find(uint64_t index);
_cold_ uint32_t table_stack_add(const uint64_t *frames, uint64_t hash);
extern struct wire_slot *table_directory;
/*
 * A hash table of stacks: the hash, and in its low bits the stack's number, 0:
 * empty. Numbers are given one after the other, so that few pages hold them.
 */
#define STACK_NUMBER ((uint64_t)WIRE_STACK_MAX - 1)
#define STACK_HASH (~STACK_NUMBER)
extern uint64_t *table_stack_keys;

/* stack.c: memory between the stack pointer and the end of the stack. */
struct stack_bounds {
	uintptr_t low, high; /* known to be readable */
	uint32_t refused;
};
extern __thread struct stack_bounds stack_bounds
	__attribute__((tls_model("initial-exec")));
_cold_ bool stack_extend(uintptr_t pointer);
/* code.c: pages of code that were seen on a stack, by their lowest bits. */
#define CODE_PAGES 1024
extern uint64_t code_pages[CODE_PAGES]; /* address >> 12 */
void code_begin(void);
/* Lists the agent's own variables as its memory. */
void code_list_own(void);
void code_list_own_tls(void);
_cold_ bool code_learn(uint64_t address);

#pragma GCC visibility pop
