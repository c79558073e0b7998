/*
 * Models of memory: where blocks are, and what is in them.
 *
 * Blocks stay glibc's (heap.h). Where they are is chosen by allocating several
 * of a size at once, and returning them in another order than by address: the
 * others wait in the reserve, which is bounded.
 *
 * Only for the program's own calls. What the C++ library allocates for itself
 * (strings, streams) is left alone, too: it writes before it reads, the program
 * sees only what was written, and it would cost as much again.
 *
 * The keys: equal are the size and the call site (addresses of code are the
 * same from run to run); the object is the block: its number in its thread
 * since numbering began.
 */
/* mmap() and mmap64() are both defined here. */
#undef _FILE_OFFSET_BITS
#include "agent/heap.h"
#include "models/choose_internal.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

/* Chunks up to here have reserves of their own size. */
#define SMALL 1024
/* Up to here two blocks change places; larger ones stay where they are. */
#define MEDIUM (64UL << 10)
/*
 * Larger blocks are filled at both ends only: code that reserves memory to use
 * a part of it must not pay for the rest.
 */
#define FILLED (32UL << 10)
#define FILLED_FIRST (16UL << 10)
#define FILLED_LAST (4UL << 10)
/* Growing step by step would copy too much with every step. */
#define MOVED (64UL << 10)
/* Freed blocks that are not given back yet, and how large they may be. */
#define KEPT 256
#define KEPT_SIZE (16UL << 10)
/* Below the stack pointer, once in this many calls. */
#define STACK_BYTES 2048
#define STACK_CALLS 16
#define STACK_MARGIN 1024

#define NONE -1

/* Which models a function has; each but @contents says where the block is. */
static const struct rows {
	int contents, address, spacing, alignment;
} rows[HEAP_FUNCTIONS] = {
	[HEAP_MALLOC] = { WIRE_MODEL_malloc_contents, WIRE_MODEL_malloc_address,
			  WIRE_MODEL_malloc_spacing,
			  WIRE_MODEL_malloc_alignment },
	[HEAP_CALLOC] = { NONE, WIRE_MODEL_calloc_address, NONE, NONE },
	[HEAP_STRDUP] = { NONE, WIRE_MODEL_strdup_address, NONE, NONE },
	[HEAP_STRNDUP] = { NONE, WIRE_MODEL_strndup_address, NONE, NONE },
	[HEAP_ALIGNED_ALLOC] = { WIRE_MODEL_aligned_alloc_contents,
				 WIRE_MODEL_aligned_alloc_address, NONE, NONE },
	[HEAP_POSIX_MEMALIGN] = { WIRE_MODEL_posix_memalign_contents,
				  WIRE_MODEL_posix_memalign_address, NONE,
				  NONE },
	[HEAP_NEW] = { WIRE_MODEL_new_contents, WIRE_MODEL_new_address,
		       WIRE_MODEL_new_spacing, WIRE_MODEL_new_alignment },
	[HEAP_NEW_ARRAY] = { WIRE_MODEL_new_array_contents,
			     WIRE_MODEL_new_array_address,
			     WIRE_MODEL_new_spacing, WIRE_MODEL_new_alignment },
};

/* ---- choices of a call ---- */

struct heap_call {
	const struct wire_choices *block;
	size_t size;
	uint64_t number; /* of the block in its thread */
	struct choose_keys keys;
};

static __thread struct {
	uint64_t epoch;
	uint64_t blocks;
	uint64_t calls;
} self __attribute__((tls_model("initial-exec")));

static inline bool heap_model_takes_part(const struct heap_call *call,
					 int model)
{
	return model != NONE &&
	       choose_bit(call->block->models, (unsigned)model);
}

static inline struct heap_call call_begin(size_t size, uintptr_t caller)
{
	struct heap_call call = { .block = choose_block, .size = size };
	if (unlikely(self.epoch != call.block->epoch)) {
		self.epoch = call.block->epoch;
		self.blocks = self.calls = 0;
	}
	call.number = ++self.blocks;
	if (choose_keyed()) {
		call.keys.equal = choose_mix(size, caller);
		call.keys.object = choose_mix(call.number, 0x6b636f6c62);
	}
	return call;
}

/* 0 if it is not in use. */
static inline uint64_t call_pick(const struct heap_call *call, int model,
				 uint64_t alternatives)
{
	if (!heap_model_takes_part(call, model))
		return 0;
	uint64_t pick =
		choose_pick((enum wire_model)model, alternatives, call->keys);
	if (pick)
		choose_argument("%zu bytes", call->size);
	return pick;
}

/* ---- contents ---- */

typedef uint64_t pair __attribute__((vector_size(16), aligned(1)));

static inline void fill_all(unsigned char *at, size_t n, uint64_t word)
{
	pair words = { word, word };
	size_t i = 0;
	for (; i + 16 <= n; i += 16)
		*(pair *)(at + i) = words;
	for (; i < n; i++)
		at[i] = (unsigned char)(word >> i % 8 * 8);
}

static void heap_fill_bytes(unsigned char *at, size_t n, uint64_t word)
{
	if (likely(n <= FILLED)) {
		fill_all(at, n, word);
		return;
	}
	fill_all(at, FILLED_FIRST, word);
	fill_all(at + n - FILLED_LAST, FILLED_LAST, word);
}

/* Pointers that lead nowhere, text without an end, and no two blocks alike. */
#define FILLINGS 4
static uint64_t heap_fill_pattern(uint64_t pick, uint64_t number)
{
	switch (pick) {
	case 1:
		return 0xa5a5a5a5a5a5a5a5;
	case 2:
		return ~0ULL;
	default:
		return choose_mix(number, 0x7365746e6f63) | 0x8080808080808080;
	}
}

static inline void spoil_contents(const struct heap_call *call, int model,
				  void *block, size_t from)
{
	if (from >= call->size)
		return;
	uint64_t pick = call_pick(call, model, FILLINGS);
	if (!pick)
		return;
	uint64_t word = heap_fill_pattern(pick, call->number);
	heap_fill_bytes((unsigned char *)block + from, call->size - from, word);
	choose_did("contents were bytes like 0x%x", (unsigned)(word & 0xff));
}

/* ---- the stack ---- */

/* As a function of the program with many variables would leave it. */
static __attribute__((noinline)) void spoil_below(uint64_t word)
{
	unsigned char area[STACK_BYTES];
	fill_all(area, sizeof(area), word);
	__asm__ volatile("" : : "r"(area) : "memory");
}

static bool is_room_below(void)
{
	const struct stack_bounds *bounds = &stack_bounds;
	uintptr_t low = (uintptr_t)__builtin_frame_address(0) - STACK_BYTES -
			STACK_MARGIN;
	if (low >= bounds->low && low < bounds->high)
		return true;
	/* Small stacks: noting the callers needs its own attempts. */
	return bounds->refused < 4 && stack_extend(low);
}

static __attribute__((noinline)) void spoil_stack(const struct heap_call *call)
{
	if (!is_room_below())
		return;
	uint64_t pick = call_pick(call, WIRE_MODEL_stack_garbage, FILLINGS);
	if (!pick)
		return;
	uint64_t word = heap_fill_pattern(pick, call->number);
	choose_did("unused memory of the stack was filled with bytes like "
		   "0x%x",
		   (unsigned)(word & 0xff));
	spoil_below(word);
}

/* The first call of an epoch, and then one in this many. */
static inline void call_end(const struct heap_call *call)
{
	if (unlikely(self.calls++ % STACK_CALLS == 0) &&
	    heap_model_takes_part(call, WIRE_MODEL_stack_garbage))
		spoil_stack(call);
}

/* ---- addresses: small blocks ---- */

#define SLOTS 8
#define CLASSES (SMALL / 16 + 1)
#define ORDERS 3
#define ASIDE 24
#define REST 4

/*
 * By class: chunks of 16 times as many bytes; sorted by address when they were
 * put there. The second half is of those at odd multiples of 16.
 */
static void *reserve[2][CLASSES][SLOTS];
/* How many more calls do not look for odd ones. */
struct rest {
	unsigned left;
};
static struct rest rests[CLASSES]; /* by class */

static const uint8_t orders[ORDERS][SLOTS] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7 },
	{ 7, 6, 5, 4, 3, 2, 1, 0 },
	{ 3, 6, 1, 4, 7, 0, 5, 2 },
};

/* As glibc lays them out: 8 bytes of its own, multiples of 16, at least 32. */
static inline size_t chunk_of(size_t size)
{
	size_t chunk = (size + 8 + 15) & ~15UL;
	return chunk < 32 ? 32 : chunk;
}

static inline bool is_odd(const void *block)
{
	return (uintptr_t)block % 32 == 16;
}

/* With one thread what is atomic need not be so; see <sys/single_threaded.h>. */
static inline void *heap_slot_exchange(void **slot, void *block)
{
	if (__libc_single_threaded) {
		void *old = *slot;
		*slot = block;
		return old;
	}
	return __atomic_exchange_n(slot, block, __ATOMIC_ACQ_REL);
}

static inline bool heap_slot_put(void **slot, void *block)
{
	void *empty = NULL;
	if (__libc_single_threaded) {
		if (*slot)
			return false;
		*slot = block;
		return true;
	}
	return __atomic_compare_exchange_n(slot, &empty, block, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool heap_slots_put_any(void **slots, void *block)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		if (!slots[i] && heap_slot_put(&slots[i], block))
			return true;
	}
	return false;
}

static void heap_sort_blocks(void **blocks, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		void *block = blocks[i];
		unsigned k = i;
		for (; k && (uintptr_t)blocks[k - 1] > (uintptr_t)block; k--)
			blocks[k] = blocks[k - 1];
		blocks[k] = block;
	}
}

static void heap_slots_fill(void **slots, void **blocks, unsigned n)
{
	heap_sort_blocks(blocks, n);
	for (unsigned i = 0; i < n; i++) {
		if (!heap_slot_put(&slots[i], blocks[i]))
			__libc_free(blocks[i]);
	}
}

static __attribute__((noinline)) void heap_slots_refill(size_t chunk)
{
	void *got[SLOTS];
	unsigned n = 0;
	int error = errno;
	while (n < SLOTS && (got[n] = __libc_malloc(chunk - 8)))
		n++;
	errno = error;
	heap_slots_fill(reserve[0][chunk / 16], got, n);
}

/*
 * Where blocks at odd multiples of 16 are wanted chunks have even sizes, so
 * that another one follows each of them. The others wait in the other half, or
 * until this is done: if they were freed they would come back each time. If
 * most were of no use, the next calls take what comes, so that looking for them
 * costs little in the long run.
 */
static __attribute__((noinline)) void refill_odd(size_t chunk)
{
	void *got[SLOTS], *aside[ASIDE];
	unsigned n = 0, aside_n = 0;
	int error = errno;
	while (n < SLOTS && aside_n + 2 <= ASIDE) {
		void *block = __libc_malloc(chunk - 8);
		if (!block)
			break;
		if (is_odd(block)) {
			got[n++] = block;
			continue;
		}
		if (!heap_slots_put_any(reserve[0][chunk / 16], block))
			aside[aside_n++] = block;
		/*
		 * An odd number of granules: the next may be aligned
		 * differently.
		 */
		aside[aside_n++] = __libc_malloc(40);
	}
	errno = error;
	heap_slots_fill(reserve[1][chunk / 16], got, n);
	if (aside_n > n)
		__atomic_store_n(&rests[chunk / 16].left, REST * aside_n,
				 __ATOMIC_RELAXED);
	while (aside_n)
		__libc_free(aside[--aside_n]);
}

static inline void *take_slot(void **slots, const uint8_t *order)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		void **slot = &slots[order[i]];
		if (!__atomic_load_n(slot, __ATOMIC_RELAXED))
			continue;
		void *block = heap_slot_exchange(slot, NULL);
		if (block)
			return block;
	}
	return NULL;
}

/* One less; false: it is 0. Threads at once may take it for one. */
static inline bool count_down(struct rest *rest)
{
	unsigned left = __atomic_load_n(&rest->left, __ATOMIC_RELAXED);
	if (left)
		__atomic_store_n(&rest->left, left - 1, __ATOMIC_RELAXED);
	return left;
}

static void *take_odd(size_t chunk, uint64_t order)
{
	void **slots = reserve[1][chunk / 16];
	void *block = take_slot(slots, orders[order]);
	if (likely(block) || count_down(&rests[chunk / 16]))
		return block;
	refill_odd(chunk);
	return take_slot(slots, orders[order]);
}

static void *heap_slots_take(size_t chunk, uint64_t order, bool odd)
{
	if (odd) {
		chunk = (chunk + 31) & ~31UL;
		void *block = take_odd(chunk, order);
		if (likely(block))
			return block;
	}
	void **slots = reserve[0][chunk / 16];
	void *block = take_slot(slots, orders[order]);
	if (likely(block))
		return block;
	heap_slots_refill(chunk);
	block = take_slot(slots, orders[order]);
	return block ? block : __libc_malloc(chunk - 8);
}

/* ---- addresses: others ---- */

#define SPARES 64

/* The first of two that changed places, by size and alignment. */
static void *spares[SPARES];

static void **spare_of(size_t alignment, size_t size)
{
	return &spares[choose_mix(alignment, chunk_of(size)) % SPARES];
}

/* A block that fits; those that do not are given back. */
static void *take_spare(void **slot, size_t alignment, size_t size)
{
	void *spare = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL);
	if (!spare)
		return NULL;
	size_t has = agent_next.malloc_usable_size(spare);
	if ((uintptr_t)spare % alignment == 0 && has >= size &&
	    has <= chunk_of(size) + alignment)
		return spare;
	__libc_free(spare);
	return NULL;
}

/* The higher of @a and @b, another one like it; the lower is kept. */
static void *keep_lower(void **slot, void *a, void *b)
{
	if (!b)
		return a;
	bool swapped = (uintptr_t)b < (uintptr_t)a;
	void *rest =
		__atomic_exchange_n(slot, swapped ? b : a, __ATOMIC_ACQ_REL);
	if (rest)
		__libc_free(rest);
	return swapped ? a : b;
}

static void *take_medium(size_t size)
{
	void **slot = spare_of(16, size);
	void *block = take_spare(slot, 16, size);
	if (block)
		return block;
	block = __libc_malloc(size);
	if (!block)
		return NULL;
	int error = errno;
	void *other = __libc_malloc(size);
	errno = error;
	return keep_lower(slot, block, other);
}

/* A few tries; a block that is better aligned is still right. */
static void *take_medium_odd(size_t size)
{
	static struct rest rest;
	void *aside[6];
	unsigned n = 0;
	int error = errno;
	void *block = __libc_malloc(size);
	if (!block || is_odd(block) || count_down(&rest))
		return block;
	while (block && !is_odd(block) && n + 2 <= 6) {
		aside[n] = block;
		aside[n + 1] = __libc_malloc(n ? 2000 : 40);
		n += 2;
		block = __libc_malloc(size);
	}
	if (!block && n) {
		block = aside[0];
		aside[0] = NULL;
		errno = error;
	}
	__atomic_store_n(&rest.left, REST * n, __ATOMIC_RELAXED);
	while (n)
		__libc_free(aside[--n]);
	return block;
}

/* ---- allocating ---- */

/* What is not used after the block, by pick. */
static const uint16_t gaps[] = { 0, 16, 64, 240 };

static inline void *heap_place_block(const struct heap_call *call,
				     const struct rows *row)
{
	size_t size = call->size;
	if (size > MEDIUM)
		return __libc_malloc(size);
	uint64_t gap = call_pick(call, row->spacing, 4);
	if (gap) {
		size += gaps[gap];
		choose_did("%u bytes after the block were left out",
			   (unsigned)gaps[gap]);
	}
	bool odd = call_pick(call, row->alignment, 2);
	if (odd)
		choose_did("aligned to 16 bytes and not to 32");
	size_t chunk = chunk_of(size);
	if (chunk > SMALL - 16) {
		if (odd)
			return take_medium_odd(size);
		if (!call_pick(call, row->address, 2))
			return __libc_malloc(size);
		choose_did("the block changed places with another");
		return take_medium(size);
	}
	uint64_t order = call_pick(call, row->address, ORDERS);
	if (order)
		choose_did(order == 1 ? "addresses went down"
				      : "addresses went up and down");
	else if (!odd)
		return __libc_malloc(size);
	return heap_slots_take(chunk, order, odd);
}

static void *memory_allocate(enum heap_function function, size_t size,
			     uintptr_t caller)
{
	if (choose_caller(caller) != CHOOSE_PROGRAM)
		return __libc_malloc(size);
	const struct rows *row = &rows[function];
	struct heap_call call = call_begin(size, caller);
	if (unlikely(!size) && function == HEAP_MALLOC &&
	    call_pick(&call, WIRE_MODEL_malloc_zero, 2)) {
		choose_did("a null pointer was returned");
		return NULL;
	}
	void *block = heap_place_block(&call, row);
	if (likely(block))
		spoil_contents(&call, row->contents, block, 0);
	call_end(&call);
	return block;
}

static void *memory_calloc(size_t n, size_t size, uintptr_t caller)
{
	size_t bytes;
	/* Large ones are zero already, as fresh pages. */
	if (__builtin_mul_overflow(n, size, &bytes) || !bytes ||
	    bytes > MEDIUM || choose_caller(caller) != CHOOSE_PROGRAM ||
	    !choose_bit(choose_block->models, WIRE_MODEL_calloc_address))
		return __libc_calloc(n, size);
	void *block = memory_allocate(HEAP_CALLOC, bytes, caller);
	if (likely(block))
		fill_all(block, bytes, 0);
	return block;
}

static void *memory_aligned(enum heap_function function, void *block,
			    size_t alignment, size_t size, uintptr_t caller)
{
	if (choose_caller(caller) != CHOOSE_PROGRAM)
		return block;
	const struct rows *row = &rows[function];
	struct heap_call call = call_begin(size, caller);
	if (alignment < 16)
		alignment = 16;
	if (!(alignment & (alignment - 1)) && alignment <= MEDIUM &&
	    size <= MEDIUM && call_pick(&call, row->address, 2)) {
		void **slot = spare_of(alignment, size);
		void *spare = take_spare(slot, alignment, size);
		if (spare) {
			__libc_free(block);
			block = spare;
		} else {
			int error = errno;
			block = keep_lower(slot, block,
					   __libc_memalign(alignment, size));
			errno = error;
		}
		choose_did("the block changed places with another");
	}
	spoil_contents(&call, row->contents, block, 0);
	call_end(&call);
	return block;
}

/* ---- freeing ---- */

static void *kept[KEPT];
static uint64_t kept_n;

static void heap_release_block(enum heap_function function,
			       struct heap_call *call, void *block)
{
	bool is_new = function == HEAP_NEW;
	uint64_t pick = call_pick(call,
				  is_new ? WIRE_MODEL_delete_contents
					 : WIRE_MODEL_free_contents,
				  FILLINGS);
	if (pick) {
		heap_fill_bytes(block, call->size,
				heap_fill_pattern(pick, call->number));
		choose_did("the freed block was overwritten");
	}
	if (call->size <= KEPT_SIZE &&
	    call_pick(call,
		      is_new ? WIRE_MODEL_delete_reuse : WIRE_MODEL_free_reuse,
		      2)) {
		choose_did("the block was not given back for %d others", KEPT);
		uint64_t at =
			__atomic_fetch_add(&kept_n, 1, __ATOMIC_RELAXED) % KEPT;
		block = __atomic_exchange_n(&kept[at], block, __ATOMIC_ACQ_REL);
	}
	if (block)
		__libc_free(block);
}

static void memory_release(enum heap_function function, void *block,
			   uint64_t entry, uintptr_t caller)
{
	if (!block || !entry || choose_caller(caller) != CHOOSE_PROGRAM) {
		__libc_free(block);
		return;
	}
	struct heap_call call = call_begin(WIRE_SIZE(entry), caller);
	heap_release_block(function, &call, block);
	call_end(&call);
}

/* ---- another size ---- */

/*
 * Code that asks how large blocks really are may use all of them, and keeps
 * what is there (malloc_usable_size(3)): then what is after the requested size
 * is treated like what is before it.
 */
static bool asked_for_usable;

static void *heap_move_block(const struct heap_call *call, void *old,
			     size_t had, size_t usable)
{
	size_t size = call->size;
	int model = size > had ? WIRE_MODEL_realloc_move
			       : WIRE_MODEL_realloc_shrink;
	if (size > MOVED || had > MOVED || !call_pick(call, model, 2))
		return NULL;
	choose_did("the block moved");
	int error = errno;
	void *block = __libc_malloc(size);
	errno = error;
	if (!block)
		return NULL;
	memcpy(block, old, usable < size ? usable : size);
	return block;
}

static void *memory_reallocate(void *old, uint64_t entry, size_t size,
			       uintptr_t caller)
{
	if (!old)
		return memory_allocate(HEAP_MALLOC, size, caller);
	if (!entry || !size || choose_caller(caller) != CHOOSE_PROGRAM)
		return __libc_realloc(old, size);
	struct heap_call call = call_begin(size, caller);
	size_t had = WIRE_SIZE(entry),
	       usable = agent_next.malloc_usable_size(old);
	void *block = heap_move_block(&call, old, had, usable);
	if (block) {
		struct heap_call freed = call;
		freed.size = had;
		heap_release_block(HEAP_MALLOC, &freed, old);
	} else {
		block = __libc_realloc(old, size);
	}
	if (block)
		spoil_contents(
			&call, WIRE_MODEL_realloc_contents, block,
			__atomic_load_n(&asked_for_usable, __ATOMIC_RELAXED)
				? usable
				: had);
	call_end(&call);
	return block;
}

/* What was asked for, as the table of blocks says; -1: it does not. */
static uint64_t size_of(const void *block)
{
	uint64_t address = (uint64_t)(uintptr_t)block;
	const struct wire_leaf *leaf = note_leaf(address);
	if (!leaf)
		return ~0ULL;
	uint64_t entry = __atomic_load_n(
		&leaf->entries[note_offset(address) / WIRE_GRANULE],
		__ATOMIC_RELAXED);
	return entry ? WIRE_SIZE(entry) : ~0ULL;
}

_export_ size_t malloc_usable_size(void *block)
{
	CHOOSE_NEXT(malloc_usable_size, 0)
	size_t usable = next(block);
	if (!block || agent_mode != AGENT_NOTE)
		return usable;
	__atomic_store_n(&asked_for_usable, true, __ATOMIC_RELAXED);
	if (!choose_wanted(WIRE_MODEL_malloc_usable_size, CHOOSE_CALLER()))
		return usable;
	uint64_t size = size_of(block);
	if (size >= usable)
		return usable;
	struct choose_keys keys = {
		.equal = size,
		.object = choose_object(block),
	};
	uint64_t pick = choose_pick(WIRE_MODEL_malloc_usable_size, 2, keys);
	choose_argument("a block of %zu bytes", (size_t)size);
	choose_did("it returned %zu instead of %zu", (size_t)size, usable);
	return pick ? (size_t)size : usable;
}

/* ---- mmap ---- */

#define PLACES 3
#define MAPPED_MAX (1ULL << 40)

/* Far from where the kernel begins, upwards and downwards. */
static uint64_t place_up = 0x200000000000, place_down = 0x300000000000;

/* A page is left out between mappings. */
static void *mapping_place(uint64_t pick, size_t length)
{
	uint64_t bytes = ((length + 4095) & ~4095ULL) + 4096;
	if (pick == 1)
		return (void *)(uintptr_t)__atomic_fetch_add(&place_up, bytes,
							     __ATOMIC_RELAXED);
	return (void *)(uintptr_t)__atomic_sub_fetch(&place_down, bytes,
						     __ATOMIC_RELAXED);
}

/* As a hint: what does not fit there goes where the kernel puts it. */
static void *choose_mapping(size_t length, int flags, uintptr_t caller)
{
	if (agent_mode != AGENT_NOTE || !length || length > MAPPED_MAX ||
	    flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT |
		     MAP_GROWSDOWN | MAP_HUGETLB) ||
	    !choose_wanted(WIRE_MODEL_mmap_address, caller))
		return NULL;
	struct heap_call call = call_begin(length, caller);
	uint64_t pick = call_pick(&call, WIRE_MODEL_mmap_address, PLACES);
	if (!pick)
		return NULL;
	choose_did("it was mapped elsewhere, addresses went %s",
		   pick == 1 ? "up" : "down");
	return mapping_place(pick, length);
}

_export_ void *mmap(void *address, size_t length, int protection, int flags,
		    int fd, off_t offset)
{
	CHOOSE_NEXT(mmap, MAP_FAILED)
	if (!address)
		address = choose_mapping(length, flags, CHOOSE_CALLER());
	return next(address, length, protection, flags, fd, offset);
}

_export_ void *mmap64(void *address, size_t length, int protection, int flags,
		      int fd, off64_t offset)
{
	CHOOSE_NEXT(mmap64, MAP_FAILED)
	if (!address)
		address = choose_mapping(length, flags, CHOOSE_CALLER());
	return next(address, length, protection, flags, fd, offset);
}

void memory_begin(void)
{
	heap_models = (struct heap_models){
		.block = choose_block,
		.allocate = memory_allocate,
		.calloc = memory_calloc,
		.reallocate = memory_reallocate,
		.aligned = memory_aligned,
		.release = memory_release,
	};
}
