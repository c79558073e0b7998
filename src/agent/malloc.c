/* The C library's allocating functions, as the program calls them. */
#include "agent/heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void cfree(void *block);

#ifdef AGENT_CHOICES
struct heap_models heap_models;
#endif

/* Not this time, or not yet: the first call finds out. */
static inline bool malloc_passes_through(void)
{
	return unlikely(agent_mode != AGENT_NOTE) &&
	       agent_begin() != AGENT_NOTE;
}

_export_ void *malloc(size_t size)
{
	if (malloc_passes_through())
		return agent_next.malloc(size);
	void *block = heap_allocate(HEAP_MALLOC, size, NOTE_CALLER());
	note_block(block, size, NOTE_CALLER());
	return block;
}

_export_ void *calloc(size_t n, size_t size)
{
	if (malloc_passes_through())
		return agent_next.calloc(n, size);
	void *block = heap_calloc(n, size, NOTE_CALLER());
	note_block(block, n * size, NOTE_CALLER());
	return block;
}

/* The old block stays as it is: see wire/heap.h, quarantine. */
static _cold_ void *reallocate_apart(void *old, uint64_t entry, size_t size,
				     struct note_caller caller)
{
	if (!size) /* glibc's way to free */
		return NULL;
	void *block = __libc_malloc(size);
	if (!block) {
		if (entry)
			note_entry((uint64_t)(uintptr_t)old, entry);
		return NULL;
	}
	size_t had = agent_next.malloc_usable_size(old);
	note_block(block, size, caller);
	return memcpy(block, old, had < size ? had : size);
}

static inline void *malloc_reallocate_block(void *old, size_t size,
					    struct note_caller caller)
{
	/* Another thread may get the old place before we continue. */
	uint64_t entry = old ? note_gone(old) : 0;
	if (old && note_stays(entry))
		return reallocate_apart(old, entry, size, caller);
	void *block = heap_reallocate(old, entry, size, caller);
	if (block)
		note_block(block, size, caller);
	else if (size && entry) /* failed: the old one lives on */
		note_entry((uint64_t)(uintptr_t)old, entry);
	return block;
}

_export_ void *realloc(void *old, size_t size)
{
	if (malloc_passes_through())
		return agent_next.realloc(old, size);
	return malloc_reallocate_block(old, size, NOTE_CALLER());
}

_export_ void *reallocarray(void *old, size_t n, size_t size)
{
	if (malloc_passes_through())
		return agent_next.reallocarray(old, n, size);
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return malloc_reallocate_block(old, bytes, NOTE_CALLER());
}

_export_ void *aligned_alloc(size_t alignment, size_t size)
{
	bool pass = malloc_passes_through();
	void *block = agent_next.aligned_alloc(alignment, size);
	if (!pass) {
		block = heap_aligned(HEAP_ALIGNED_ALLOC, block, alignment, size,
				     NOTE_CALLER());
		note_block(block, size, NOTE_CALLER());
	}
	return block;
}

_export_ int posix_memalign(void **ret, size_t alignment, size_t size)
{
	bool pass = malloc_passes_through();
	int error = agent_next.posix_memalign(ret, alignment, size);
	if (!pass && !error) {
		*ret = heap_aligned(HEAP_POSIX_MEMALIGN, *ret, alignment, size,
				    NOTE_CALLER());
		note_block(*ret, size, NOTE_CALLER());
	}
	return error;
}

_export_ void *memalign(size_t alignment, size_t size)
{
	bool pass = malloc_passes_through();
	void *block = agent_next.memalign(alignment, size);
	if (!pass) {
		block = heap_aligned(HEAP_ALIGNED_ALLOC, block, alignment, size,
				     NOTE_CALLER());
		note_block(block, size, NOTE_CALLER());
	}
	return block;
}

_export_ void *valloc(size_t size)
{
	bool pass = malloc_passes_through();
	void *block = agent_next.valloc(size);
	if (!pass)
		note_block(block, size, NOTE_CALLER());
	return block;
}

/* Rounds up to whole pages: that is what the caller asked for. */
_export_ void *pvalloc(size_t size)
{
	bool pass = malloc_passes_through();
	void *block = agent_next.pvalloc(size);
	if (!pass)
		note_block(block, (size + 4095) & ~4095UL, NOTE_CALLER());
	return block;
}

_export_ void free(void *block)
{
	if (malloc_passes_through()) {
		agent_next.free(block);
		return;
	}
	if (!block)
		return;
	uint64_t entry = note_gone(block);
	if (!note_stays(entry))
		heap_release(HEAP_MALLOC, block, entry, NOTE_CALLER());
}

/* glibc has it for programs linked before 2.26. */
_export_ void cfree(void *block)
{
	free(block);
}

/*
 * These two only so that the caller is the program and not the C library. What
 * others return (asprintf, getline, realpath, …) comes from malloc() above.
 */
_export_ char *strdup(const char *text)
{
	if (malloc_passes_through())
		return agent_next.strdup(text);
	size_t size = strlen(text) + 1;
	char *copy = heap_allocate(HEAP_STRDUP, size, NOTE_CALLER());
	if (!copy)
		return NULL;
	note_block(copy, size, NOTE_CALLER());
	return memcpy(copy, text, size);
}

_export_ char *strndup(const char *text, size_t most)
{
	if (malloc_passes_through())
		return agent_next.strndup(text, most);
	size_t n = strnlen(text, most);
	char *copy = heap_allocate(HEAP_STRNDUP, n + 1, NOTE_CALLER());
	if (!copy)
		return NULL;
	note_block(copy, n + 1, NOTE_CALLER());
	copy[n] = '\0';
	return memcpy(copy, text, n);
}
