/*
 * Where the models of memory come into the allocating functions: each takes its
 * blocks through these, and gives them back through these.
 *
 * In the library that notes state (AGENT_CHOICES is not defined) they are the C
 * library's functions and nothing else. In the one that makes choices they are
 * the same until choices are switched on.
 *
 * Invariant: whatever a model does, a block that the program gets is one of
 * glibc's, as glibc returned it: free(), realloc() and malloc_usable_size() of
 * anybody can be called with it, and the table of blocks (wire/heap.h) holds.
 */
#pragma once

#include "agent/note.h"
#include "wire/choices.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* What was called, as far as models distinguish it. */
enum heap_function {
	HEAP_MALLOC,
	HEAP_CALLOC,
	HEAP_STRDUP,
	HEAP_STRNDUP,
	HEAP_ALIGNED_ALLOC, /* memalign() and valloc(), too */
	HEAP_POSIX_MEMALIGN,
	HEAP_NEW,
	HEAP_NEW_ARRAY,
	HEAP_FUNCTIONS,
};

/*
 * What the models do instead, set once, before the program's first constructor
 * (models/memory.c). @caller is the return address of the program's call.
 */
struct heap_models {
	const struct wire_choices *block; /* NULL: no choices are made */
	void *(*allocate)(enum heap_function function, size_t size,
			  uintptr_t caller);
	void *(*calloc)(size_t n, size_t size, uintptr_t caller);
	void *(*reallocate)(void *old, uint64_t entry, size_t size,
			    uintptr_t caller);
	void *(*aligned)(enum heap_function function, void *block,
			 size_t alignment, size_t size, uintptr_t caller);
	void (*release)(enum heap_function function, void *block,
			uint64_t entry, uintptr_t caller);
};

#ifdef AGENT_CHOICES

#pragma GCC visibility push(hidden)
extern struct heap_models heap_models; /* malloc.c */
#pragma GCC visibility pop

#else

/* The compiler leaves out what depends on it. */
static const struct heap_models heap_models;

#endif

static inline bool heap_choosing(void)
{
	const struct wire_choices *block = heap_models.block;
	return block && __atomic_load_n(&block->active, __ATOMIC_RELAXED);
}

/* A block for any contents. */
static inline void *heap_allocate(enum heap_function function, size_t size,
				  struct note_caller caller)
{
	if (heap_choosing())
		return heap_models.allocate(function, size, caller.address);
	return __libc_malloc(size);
}

static inline void *heap_calloc(size_t n, size_t size,
				struct note_caller caller)
{
	if (heap_choosing())
		return heap_models.calloc(n, size, caller.address);
	return __libc_calloc(n, size);
}

/* @entry is what was noted of @old (note_gone()), 0: nothing. */
static inline void *heap_reallocate(void *old, uint64_t entry, size_t size,
				    struct note_caller caller)
{
	if (heap_choosing())
		return heap_models.reallocate(old, entry, size, caller.address);
	return __libc_realloc(old, size);
}

/* What the program gets in place of @block, which was allocated as it asked. */
static inline void *heap_aligned(enum heap_function function, void *block,
				 size_t alignment, size_t size,
				 struct note_caller caller)
{
	if (heap_choosing() && block)
		return heap_models.aligned(function, block, alignment, size,
					   caller.address);
	return block;
}

static inline void heap_release(enum heap_function function, void *block,
				uint64_t entry, struct note_caller caller)
{
	if (heap_choosing())
		heap_models.release(function, block, entry, caller.address);
	else
		__libc_free(block);
}
