/* What the models of order share. See order_internal.h. */
#include "models/order_internal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define LOCK_TRIES 100000

/* ---- memory ---- */

/*
 * One region for all, listed as the agent's: what the program is like does not
 * depend on it, and there is no room for many (wire/heap.h). Pieces are powers of
 * two; free ones are listed, by size, in themselves.
 */
#define ARENA ((size_t)1 << 30)
#define PIECE ((size_t)4096)
#define PIECES 19

static struct {
	struct order_lock lock;
	unsigned char *memory;
	size_t used;
	void *free[PIECES];
} arena;

static unsigned order_piece_of(size_t size)
{
	unsigned piece = 0;
	while (piece < PIECES && PIECE << piece < size)
		piece++;
	return piece;
}

static bool is_piece(const void *memory)
{
	const unsigned char *begin =
		__atomic_load_n(&arena.memory, __ATOMIC_ACQUIRE);
	return begin && (uintptr_t)memory - (uintptr_t)begin < ARENA;
}

/* Never waited for: a signal may have come in the midst of it. */
static bool arena_take(void)
{
	return !__atomic_exchange_n(&arena.lock.taken, 1, __ATOMIC_ACQUIRE);
}

static void *take_piece(unsigned piece)
{
	void **found = arena.free[piece];
	if (found) {
		arena.free[piece] = *found;
		*found = NULL;
		return found;
	}
	size_t size = PIECE << piece;
	if (!arena.memory)
		__atomic_store_n(&arena.memory, sys_map(ARENA, WIRE_MAPPING),
				 __ATOMIC_RELEASE);
	if (!arena.memory || size > ARENA - arena.used)
		return NULL;
	arena.used += size;
	return arena.memory + arena.used - size;
}

void *order_map(size_t size)
{
	unsigned piece = order_piece_of(size);
	void *memory = NULL;
	if (piece < PIECES && arena_take()) {
		memory = take_piece(piece);
		order_unlock(&arena.lock);
	}
	if (memory)
		return memory;
	long at = sys_call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return at < 0 && at > -4096 ? NULL : (void *)at;
}

void order_unmap(void *memory, size_t size)
{
	unsigned piece = order_piece_of(size);
	if (!memory)
		return;
	if (!is_piece(memory)) {
		sys_call(SYS_munmap, (long)memory, (long)size, 0, 0, 0, 0);
		return;
	}
	/* Empty again. */
	sys_call(SYS_madvise, (long)memory, (long)(PIECE << piece),
		 MADV_DONTNEED, 0, 0, 0);
	if (!arena_take())
		return; /* it is lost */
	*(void **)memory = arena.free[piece];
	arena.free[piece] = memory;
	order_unlock(&arena.lock);
}

void *order_grow(void *memory, size_t *size)
{
	if (!is_piece(memory)) {
		long at = sys_call(SYS_mremap, (long)memory, (long)*size,
				   (long)*size * 2, MREMAP_MAYMOVE, 0, 0);
		if (at < 0 && at > -4096)
			return NULL;
		*size *= 2;
		return (void *)at;
	}
	uint64_t *more = order_map(*size * 2);
	if (!more)
		return NULL;
	/* Its pages are of words. */
	for (size_t i = 0; i < *size / sizeof(*more); i++)
		more[i] = ((const uint64_t *)memory)[i];
	order_unmap(memory, *size);
	*size *= 2;
	return more;
}

void order_lock(struct order_lock *lock)
{
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (!__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE))
			return;
		sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	}
}

void order_unlock(struct order_lock *lock)
{
	__atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

/* ---- keys ---- */

/*
 * Numbers of directories are given in the order in which they are met, so that
 * the next run has the same.
 */
static struct choose_keys order_keys_of(const struct stat *st, uint64_t names)
{
	uint64_t id = choose_mix(choose_mix(st->st_dev, st->st_ino),
				 choose_mix((uint64_t)st->st_mtim.tv_sec,
					    (uint64_t)st->st_mtim.tv_nsec));
	uint64_t number = choose_object((const void *)(uintptr_t)id);
	return (struct choose_keys){
		.equal = names,
		.object = choose_mix(names, number),
	};
}

struct choose_keys order_directory_keys(int fd, uint64_t names)
{
	struct stat st = {};
	if (!choose_keyed())
		return (struct choose_keys){};
	sys_call(SYS_fstat, fd, (long)&st, 0, 0, 0, 0);
	return order_keys_of(&st, names);
}

struct choose_keys order_path_keys(int at, const char *path, uint64_t names)
{
	struct stat st = {};
	if (!choose_keyed())
		return (struct choose_keys){};
	sys_call(SYS_newfstatat, at, (long)path, (long)&st, 0, 0, 0);
	return order_keys_of(&st, names);
}

struct choose_keys order_array_keys(const void *base, size_t bytes)
{
	if (!choose_keyed())
		return (struct choose_keys){};
	uint64_t equal = choose_hash(base, bytes);
	return (struct choose_keys){
		.equal = equal,
		.object = choose_mix(equal, choose_object(base)),
	};
}

const char *order_path_of(int fd, char text[ORDER_TEXT])
{
	char link[32] = "/proc/self/fd/", digits[12];
	size_t n = text_length(link), k = 0;
	text[0] = '\0';
	if (!choose_block || !choose_block->detail || fd < 0)
		return text;
	do
		digits[k++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (k)
		link[n++] = digits[--k];
	link[n] = '\0';
	long got = sys_call(SYS_readlinkat, AT_FDCWD, (long)link, (long)text,
			    ORDER_TEXT - 1, 0, 0);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

/* ---- elements that compare as equal ---- */

/*
 * The end of the run of equal elements that begins at @from; @ret_differ: not
 * all of them have the same bytes. An inconsistent comparison, which ends
 * elsewhere than it began, is no equality.
 */
static size_t order_equal_run_end(const unsigned char *base, size_t from,
				  size_t n, size_t size, order_compare *compare,
				  void *argument, bool *ret_differ)
{
	const unsigned char *first = base + from * size;
	size_t to = from + 1;
	bool differ = false;
	while (to < n &&
	       !compare(base + (to - 1) * size, base + to * size, argument)) {
		differ = differ || !order_same(first, base + to * size, size);
		to++;
	}
	if (differ && to - from > 2 &&
	    compare(first, base + (to - 1) * size, argument))
		differ = false;
	*ret_differ = differ;
	return to;
}

struct tie {
	uint32_t from, to;
};

void order_ties(enum wire_model model, void *base, size_t n, size_t size,
		order_compare *compare, void *argument)
{
	size_t room = 1 << 12, ties_n = 0, elements = 0;
	uint64_t alternatives = 1;
	struct tie few[16], *ties = few;
	size_t space = sizeof(few) / sizeof(few[0]);
	for (size_t i = 0; i < n;) {
		bool differ = false;
		size_t to = order_equal_run_end(base, i, n, size, compare,
						argument, &differ);
		if (differ && ties_n == space) {
			struct tie *more = ties == few
						   ? order_map(room)
						   : order_grow(ties, &room);
			if (!more)
				break;
			if (ties == few)
				order_copy(more, few, sizeof(few));
			ties = more;
			space = room / sizeof(*ties);
		}
		if (differ) {
			uint64_t of = choose_permutations(to - i);
			ties[ties_n++] =
				(struct tie){ (uint32_t)i, (uint32_t)to };
			elements += to - i;
			if (alternatives >= WIRE_MANY / of)
				alternatives = WIRE_MANY;
			else
				alternatives *= of;
		}
		i = to;
	}
	if (ties_n) {
		uint64_t pick = choose_pick(model, alternatives,
					    order_array_keys(base, n * size));
		choose_argument("%zu elements of %zu bytes", n, size);
		choose_did("%zu elements that compare as equal came out in "
			   "another order",
			   elements);
		bool many = alternatives == WIRE_MANY;
		for (size_t i = 0; pick && i < ties_n; i++) {
			size_t k = ties[i].to - ties[i].from;
			uint64_t of = choose_permutations(k);
			uint64_t own =
				many ? choose_mix(pick, i) % of : pick % of;
			choose_permute(own,
				       (unsigned char *)base +
					       ties[i].from * size,
				       k, size);
			pick = many ? pick : pick / of;
		}
	}
	if (ties != few)
		order_unmap(ties, room);
}
