/*
 * An allocator of one's own, as jemalloc and tcmalloc are: blocks come from an
 * array and never go back. A block that is not its own ends the program, so a
 * pair of calls that goes two ways is noticed. Linked into a program, or as a
 * library of it.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static _Alignas(4096) char array[64 << 20];
static size_t used;

size_t allocator_calls(void);
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *block, size_t size);
void *memalign(size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
int posix_memalign(void **ret, size_t alignment, size_t size);
void free(void *block);

static size_t calls;

static void *take(size_t alignment, size_t size)
{
	alignment = alignment < 16 ? 16 : alignment;
	calls++;
	size_t at = __atomic_fetch_add(&used, size + 16 + alignment,
				       __ATOMIC_RELAXED);
	at = (at + 16 + alignment - 1) & ~(alignment - 1);
	if (at + size > sizeof(array)) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(array + at - 8, &size, sizeof(size));
	return array + at;
}

size_t allocator_calls(void)
{
	return calls;
}

void *malloc(size_t size)
{
	return take(16, size);
}

void *calloc(size_t n, size_t size)
{
	return take(16, n * size); /* never used before: empty */
}

void free(void *block)
{
	char *at = block;
	if (at && (at < array || at >= array + sizeof(array)))
		_exit(9);
}

void *realloc(void *block, size_t size)
{
	size_t old = 0;
	free(block);
	void *new = take(16, size);
	if (block)
		memcpy(&old, (char *)block - 8, sizeof(old));
	if (new &&block)
		memcpy(new, block, old < size ? old : size);
	return new;
}

void *memalign(size_t alignment, size_t size)
{
	return take(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return take(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	*ret = take(alignment, size);
	return *ret ? 0 : ENOMEM;
}
