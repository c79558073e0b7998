/* Cases of the models of memory. */
#include "cases.h"

#include <malloc.h>
#include <new>
#include <stdint.h>
#include <sys/mman.h>

#include "../../src/wire/heap.h"

/* Test runners set MALLOC_PERTURB_; here contents are what they ever were. */
__attribute__((constructor)) static void leave_contents(void)
{
	mallopt(M_PERTURB, 0);
}

/* Where the compiler must not know what a pointer is. */
template <class T> static T *opaque(T *pointer)
{
	__asm__ volatile("" : "+r"(pointer) : : "memory");
	return pointer;
}

template <class T> static uintptr_t number(T *pointer)
{
	return (uintptr_t)opaque(pointer);
}

static volatile size_t huge = SIZE_MAX / 2;

static bool is_all(void *memory, size_t n, unsigned char value)
{
	const volatile unsigned char *bytes =
		(const volatile unsigned char *)opaque(memory);
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != value)
			return false;
	}
	return true;
}

/* The agent's table of live blocks (wire/heap.h), where there is an agent. */
extern "C" struct wire_heap polygraph_agent_heap __attribute__((weak));

/* Does it say that a block of this size begins there, or (-1) that none does? */
static bool is_noted(void *block, long size)
{
	const struct wire_heap *heap = opaque(&polygraph_agent_heap);
	if (!heap || !heap->active)
		return true;
	uint64_t address = number(block), index = address >> WIRE_LEAF_SHIFT;
	const struct wire_slot *slots =
		(const struct wire_slot *)(uintptr_t)heap->directory;
	uint64_t entry = 0;
	for (unsigned i = 0; i < WIRE_PROBES; i++) {
		const struct wire_slot *slot = &slots[(index + i) % WIRE_SLOTS];
		if (slot->index != index + 1)
			continue;
		const struct wire_leaf *leaf =
			(const struct wire_leaf *)(uintptr_t)slot->leaf;
		uint64_t offset = address & ((1ULL << WIRE_LEAF_SHIFT) - 1);
		entry = leaf->entries[offset / WIRE_GRANULE];
	}
	return entry ? (long)WIRE_SIZE(entry) == size : size < 0;
}

/* Blocks can be written from end to end, and do not overlap. */
template <class Allocate> static bool are_apart(Allocate allocate, size_t size)
{
	unsigned char *blocks[40];
	for (int i = 0; i < 40; i++) {
		blocks[i] = (unsigned char *)opaque(allocate(size));
		if (!blocks[i] || number(blocks[i]) % 16)
			return false;
		memset(blocks[i], i + 1, size);
	}
	bool held = true;
	for (int i = 0; i < 40; i++)
		held = held && is_noted(blocks[i], (long)size) &&
		       is_all(blocks[i], size, (unsigned char)(i + 1));
	for (int i = 0; i < 40; i++) {
		uintptr_t there = number(blocks[i]);
		free(blocks[i]);
		held = held && is_noted((void *)there, -1);
	}
	return held;
}

/* A struct is compared with its padding, the known case. */
struct padded {
	char kind;
	/* 7 bytes that nobody writes */
	long value;
};

static struct padded *make_padded(void)
{
	struct padded *made = opaque((struct padded *)malloc(2000));
	made->kind = 'k';
	made->value = 7;
	return made;
}

static bool malloc_contents_fragile(void)
{
	struct padded *a = make_padded(), *b = make_padded();
	return !memcmp(a, opaque(b), sizeof(*a));
}

static bool malloc_contents_correct(void)
{
	struct padded *a = make_padded(), *b = make_padded();
	bool held = a->kind == b->kind && a->value == b->value;
	for (size_t size = 0; size < 100000; size = size * 3 + 1) {
		held = held &&
		       are_apart([](size_t n) { return malloc(n ? n : 1); },
				 size ? size : 1);
		void *zero = opaque(calloc(size + 1, 1));
		held = held && is_all(zero, size + 1, 0);
		free(zero);
	}
	return held;
}

template <class Allocate> static bool go_up(Allocate allocate)
{
	uintptr_t a = number(allocate()), b = number(allocate()),
		  c = number(allocate());
	return a < b && b < c;
}

static bool malloc_address_fragile(void)
{
	/* Nothing was freed of this size: glibc cuts from one piece. */
	return go_up([] { return malloc(808); });
}

static bool malloc_address_correct(void)
{
	bool held = true;
	for (size_t size = 8; size < 3000; size += 200)
		held = held && are_apart(malloc, size);
	uintptr_t a = number(malloc(808)), b = number(malloc(808));
	return held && (a + 808 <= b || b + 808 <= a);
}

static bool malloc_spacing_fragile(void)
{
	uintptr_t a = number(malloc(808)), b = number(malloc(808));
	return b - a == 816;
}

static bool malloc_spacing_correct(void)
{
	uintptr_t a = number(malloc(808)), b = number(malloc(808));
	return a + 808 <= b || b + 808 <= a;
}

/* The next block of an even chunk is aligned to 32, unless the heap is odd. */
template <class Allocate> static bool is_aligned(Allocate allocate)
{
	void *first = opaque(allocate(856));
	if (number(first) % 32)
		opaque(allocate(872));
	return number(allocate(856)) % 32 == 0;
}

static bool malloc_alignment_fragile(void)
{
	return is_aligned(malloc);
}

static bool malloc_alignment_correct(void)
{
	for (size_t size = 1; size < 9000; size += 111) {
		if (number(malloc(size)) % 16)
			return false;
		void *aligned = opaque(aligned_alloc(64, 640));
		if (number(aligned) % 64)
			return false;
	}
	return true;
}

static bool malloc_zero_fragile(void)
{
	return number(malloc(0)) != 0;
}

static bool malloc_zero_correct(void)
{
	void *nothing = opaque(malloc(0));
	void *something = opaque(malloc(1));
	free(nothing);
	return something && number(operator new(0)) != 0;
}

static bool malloc_usable_size_fragile(void)
{
	return malloc_usable_size(opaque(malloc(20))) == 24;
}

/* Whatever it says can be used, and is kept. */
static bool malloc_usable_size_correct(void)
{
	unsigned char *block = (unsigned char *)opaque(malloc(20));
	size_t n = malloc_usable_size(block);
	if (n < 20)
		return false;
	memset(block, 9, n);
	block = (unsigned char *)opaque(realloc(block, 300));
	if (!is_all(block, n, 9))
		return false;
	n = malloc_usable_size(block);
	memset(block, 8, n);
	block = (unsigned char *)opaque(realloc(block, n + 1));
	return is_all(block, n, 8);
}

static bool calloc_address_fragile(void)
{
	return go_up([] { return calloc(1, 776); });
}

static bool calloc_address_correct(void)
{
	for (size_t size = 1; size < 70000; size = size * 2 + 9) {
		for (int i = 0; i < 12; i++) {
			void *dirty = opaque(malloc(size));
			memset(dirty, 0x77, size);
			free(dirty);
			void *block = opaque(calloc(size, 1));
			if (!is_all(block, size, 0))
				return false;
		}
	}
	return !opaque(calloc(huge, 3));
}

static bool strdup_address_fragile(void)
{
	return go_up([] { return strdup(opaque("to be copied")); });
}

static bool strdup_address_correct(void)
{
	char *a = strdup(opaque("one")), *b = strdup(opaque("two"));
	return !strcmp(a, "one") && !strcmp(b, "two");
}

static bool strndup_address_fragile(void)
{
	return go_up([] { return strndup(opaque("to be copied"), 5); });
}

static bool strndup_address_correct(void)
{
	char *a = strndup(opaque("one"), 2), *b = strndup(opaque("two"), 9);
	return !strcmp(a, "on") && !strcmp(b, "two");
}

static bool realloc_move_fragile(void)
{
	char *block = (char *)opaque(malloc(3000));
	uintptr_t before = number(block);
	return number(realloc(block, 3100)) == before;
}

static bool reallocates(size_t from, size_t to)
{
	unsigned char *block = (unsigned char *)opaque(malloc(from));
	memset(block, 5, from);
	uintptr_t there = number(block);
	block = (unsigned char *)opaque(realloc(block, to));
	bool held = is_all(block, from < to ? from : to, 5) &&
		    is_noted(block, (long)to) &&
		    (number(block) == there || is_noted((void *)there, -1));
	memset(block, 6, to);
	held = held && is_all(block, to, 6);
	free(block);
	return held;
}

static bool realloc_move_correct(void)
{
	bool held = true;
	for (size_t size = 1; size < 100000; size = size * 5 + 3)
		held = held && reallocates(size, size + 1) &&
		       reallocates(size, size * 2) &&
		       reallocates(size, size + 20000);
	void *block = opaque(reallocarray(NULL, 10, 10));
	held = held && block && !opaque(reallocarray(block, huge, 10));
	free(block);
	return held;
}

static bool realloc_shrink_fragile(void)
{
	char *block = (char *)opaque(malloc(3000));
	uintptr_t before = number(block);
	return number(realloc(block, 1000)) == before;
}

static bool realloc_shrink_correct(void)
{
	bool held = true;
	for (size_t size = 2; size < 100000; size = size * 5 + 3)
		held = held && reallocates(size, size - 1) &&
		       reallocates(size, size) && reallocates(size, size / 2);
	return held;
}

static bool realloc_contents_fragile(void)
{
	char *block = (char *)opaque(malloc(3000));
	block = (char *)opaque(realloc(block, 5000));
	/* What lies next to the block is the allocator's. */
	return is_all(block + 3100, 1900, 0);
}

static bool realloc_contents_correct(void)
{
	return reallocates(3000, 5000) && reallocates(3000, 3001);
}

static bool free_contents_fragile(void)
{
	char *block = (char *)opaque(malloc(600));
	memset(block, 'x', 600);
	uintptr_t there = number(block);
	free(block);
	return is_all((char *)there + 100, 400, 'x');
}

static bool free_contents_correct(void)
{
	char *a = (char *)opaque(malloc(600)), *b = (char *)opaque(malloc(600));
	memset(b, 'x', 600);
	free(a);
	return is_all(b, 600, 'x');
}

static bool free_reuse_fragile(void)
{
	void *block = opaque(malloc(600));
	uintptr_t there = number(block);
	free(block);
	return number(malloc(600)) == there;
}

/* A great many, and then some that live. */
static bool free_reuse_correct(void)
{
	for (int i = 0; i < 2000; i++) {
		char *block = (char *)opaque(malloc((size_t)i));
		if (i)
			block[i - 1] = 1;
		free(block);
	}
	return are_apart(malloc, 600);
}

static bool aligned_alloc_contents_fragile(void)
{
	return is_all(aligned_alloc(64, 6400), 6400, 0);
}

static bool aligned_alloc_contents_correct(void)
{
	void *a = opaque(aligned_alloc(64, 640));
	memset(a, 1, 640);
	void *b = opaque(aligned_alloc(64, 640));
	memset(b, 2, 640);
	return is_all(a, 640, 1);
}

static bool aligned_alloc_address_fragile(void)
{
	return go_up([] { return aligned_alloc(64, 6400); });
}

static bool aligned_alloc_address_correct(void)
{
	for (size_t alignment = 16; alignment <= 4096; alignment *= 2) {
		for (int i = 0; i < 5; i++) {
			void *block = opaque(aligned_alloc(alignment, 4096));
			if (number(block) % alignment)
				return false;
			memset(block, 1, 4096);
			if (i % 2)
				free(block);
		}
	}
	return are_apart([](size_t n) { return aligned_alloc(64, n); }, 640);
}

static void *posix(size_t size)
{
	void *block = NULL;
	return posix_memalign(&block, 128, size) ? NULL : block;
}

static bool posix_memalign_contents_fragile(void)
{
	return is_all(posix(6400), 6400, 0);
}

static bool posix_memalign_contents_correct(void)
{
	void *block = NULL;
	return are_apart(posix, 640) && posix_memalign(&block, 3, 10) && !block;
}

static bool posix_memalign_address_fragile(void)
{
	return go_up([] { return posix(6400); });
}

static bool posix_memalign_address_correct(void)
{
	for (int i = 0; i < 50; i++) {
		if (number(posix((size_t)i * 7)) % 128)
			return false;
	}
	return are_apart(posix, 6400);
}

struct vector {
	double x, y, z;
	double more[80];
};

static bool new_contents_fragile(void)
{
	return opaque(new vector)->z == 0;
}

static bool new_contents_correct(void)
{
	struct alignas(64) wide {
		char bytes[64];
	};
	return opaque(new vector())->z == 0 &&
	       number(opaque(new wide())) % 64 == 0 &&
	       is_all(new wide(), sizeof(wide), 0);
}

static bool new_address_fragile(void)
{
	return go_up([] { return new vector; });
}

static bool new_address_correct(void)
{
	uintptr_t a = number(new vector), b = number(new vector);
	return a + sizeof(vector) <= b || b + sizeof(vector) <= a;
}

static bool new_spacing_fragile(void)
{
	uintptr_t a = number(new vector), b = number(new vector);
	return b - a == ((sizeof(vector) + 8 + 15) & ~15UL);
}

static bool new_spacing_correct(void)
{
	return new_address_correct();
}

static bool new_alignment_fragile(void)
{
	return is_aligned([](size_t n) { return operator new(n); });
}

static bool new_alignment_correct(void)
{
	for (size_t size = 0; size < 9000; size += 111) {
		void *block = opaque(operator new(size));
		if (!block || number(block) % 16)
			return false;
		operator delete(block);
		block = opaque(operator new(size, std::align_val_t(256)));
		if (number(block) % 256)
			return false;
		operator delete(block, std::align_val_t(256));
	}
	return true;
}

static bool new_array_contents_fragile(void)
{
	return opaque(new int[500])[250] == 0;
}

static bool new_array_contents_correct(void)
{
	return opaque(new int[500]())[250] == 0;
}

static bool new_array_address_fragile(void)
{
	return go_up([] { return new char[888]; });
}

static bool new_array_address_correct(void)
{
	char *a = opaque(new char[888]), *b = opaque(new char[888]);
	memset(a, 1, 888);
	memset(b, 2, 888);
	bool held = is_all(a, 888, 1);
	delete[] a;
	held = held && is_all(b, 888, 2);
	delete[] b;
	return held;
}

static bool delete_contents_fragile(void)
{
	char *block = opaque(new char[600]);
	memset(block, 'x', 600);
	uintptr_t there = number(block);
	delete[] block;
	return is_all((char *)there + 100, 400, 'x');
}

static bool delete_contents_correct(void)
{
	return new_array_address_correct();
}

static bool delete_reuse_fragile(void)
{
	char *block = opaque(new char[600]);
	uintptr_t there = number(block);
	delete[] block;
	return number(new char[600]) == there;
}

static bool delete_reuse_correct(void)
{
	for (int i = 0; i < 1000; i++)
		delete opaque(new vector);
	return new_array_address_correct();
}

static void *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The kernel goes down, without holes. */
static bool mmap_address_fragile(void)
{
	size_t size = 1024 * 1024;
	uintptr_t a = number(map(size)), b = number(map(size));
	return b + size == a;
}

static bool mmap_address_correct(void)
{
	for (int i = 0; i < 20; i++) {
		char *block = (char *)opaque(map(65536));
		if (block == MAP_FAILED || !is_all(block, 65536, 0))
			return false;
		memset(block, 1, 65536);
		if (munmap(block, 65536))
			return false;
	}
	void *fixed = map(8192);
	return mmap(fixed, 4096, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == fixed;
}

static __attribute__((noinline)) int read_local(void)
{
	volatile int local[256];
	__asm__ volatile("" : "=m"(local[0]));
	return local[40];
}

static __attribute__((noinline)) void clear_local(void)
{
	volatile int local[1024];
	for (int i = 0; i < 1024; i++)
		local[i] = 0;
	__asm__ volatile("" : : "m"(local[0]));
}

static __attribute__((noinline)) bool locals_are_zero(void)
{
	/* The first calls leave more than others: functions are looked up. */
	for (int i = 0; i < 8; i++)
		free(opaque(malloc(40)));
	/* Some calls leave something, not all. */
	for (int i = 0; i < 64; i++) {
		clear_local();
		free(opaque(malloc(40)));
		if (read_local())
			return false;
	}
	return true;
}

static bool stack_garbage_fragile(void)
{
	return locals_are_zero();
}

static __attribute__((noinline)) bool keeps_locals(int depth)
{
	volatile unsigned char local[300];
	for (int i = 0; i < 300; i++)
		local[i] = (unsigned char)depth;
	free(opaque(malloc((size_t)depth)));
	bool held = depth == 60 || keeps_locals(depth + 1);
	for (int i = 0; i < 300; i++)
		held = held && local[i] == (unsigned char)depth;
	return held;
}

static bool stack_garbage_correct(void)
{
	return keeps_locals(0);
}

CASES(CASE(malloc_contents), CASE(malloc_address), CASE(malloc_spacing),
      CASE(malloc_alignment), CASE(malloc_zero), CASE(malloc_usable_size),
      CASE(calloc_address), CASE(strdup_address), CASE(strndup_address),
      CASE(realloc_move), CASE(realloc_shrink), CASE(realloc_contents),
      CASE(free_contents), CASE(free_reuse), CASE(aligned_alloc_contents),
      CASE(aligned_alloc_address), CASE(posix_memalign_contents),
      CASE(posix_memalign_address), CASE(new_contents), CASE(new_address),
      CASE(new_spacing), CASE(new_alignment), CASE(new_array_contents),
      CASE(new_array_address), CASE(delete_contents), CASE(delete_reuse),
      CASE(mmap_address), CASE(stack_garbage))
