/*
 * Models of libc++'s unordered containers.
 *
 * All their code is compiled into the program, except one function: the number of
 * buckets of a rehash (__next_prime()). It is asked before the list of nodes is
 * rebuilt, which goes by the list as it is. So the order of the list is changed then,
 * and nothing else: the program's own code makes the buckets of it. Growth asks from
 * the third element on; smaller containers are out of reach, and so are those that
 * were reserved large enough.
 *
 * The container is found among the words that the caller has on its stack and in its
 * registers. What is taken for one has an array of buckets of the size that it names,
 * a list as long as it says, and hashes in the right buckets; all of it is a block of
 * the heap of the right size.
 *
 * Nodes with the same hash stay together: equal keys must.
 */
#include "models/hash_internal.h"

#define REHASHED 128 /* elements up to which a rehash brings another order */

struct cxx_hash_node {
	struct cxx_hash_node *next;
	size_t hash;
};

/* std::__1::__hash_table, ABI version 1. */
struct cxx_hash_table {
	struct cxx_hash_node **buckets;
	size_t buckets_n;
	struct cxx_hash_node *first;
	size_t elements;
	float max_load;
};

size_t _ZNSt3__112__next_primeEm(size_t n);

/* __constrain_hash() */
static size_t cxx_bucket_of(size_t hash, size_t buckets_n)
{
	if (!(buckets_n & (buckets_n - 1)))
		return hash & (buckets_n - 1);
	return hash < buckets_n ? hash : hash % buckets_n;
}

static bool cxx_is_table(uintptr_t address)
{
	const struct cxx_hash_table *table = (const void *)address;
	if (address % sizeof(uintptr_t) || !(address >> 16) || address >> 47 ||
	    !sys_readable(address) ||
	    !sys_readable(address + sizeof(*table) - 1))
		return false;
	if (table->elements < 2 || table->elements > REHASHED ||
	    table->buckets_n < 2 ||
	    !hash_is_block(table->buckets,
			   table->buckets_n * sizeof(*table->buckets)))
		return false;
	size_t n = 0, size = hash_block_size(table->first);
	if (size <= sizeof(struct cxx_hash_node))
		return false;
	for (const struct cxx_hash_node *node = table->first; node;
	     node = node->next) {
		if (++n > table->elements || !hash_is_block(node, size) ||
		    !table->buckets[cxx_bucket_of(node->hash,
						  table->buckets_n)])
			return false;
	}
	return n == table->elements;
}

/* The one that the caller works on; NULL: it is not found, or one of two. */
static struct cxx_hash_table *cxx_find_table(const struct hash_frame *frame)
{
	uintptr_t found = 0;
	for (size_t i = 0, n = hash_frame_words(frame); i < n; i++) {
		/* What it points to, and what the frame itself has. */
		uintptr_t candidates[] = { frame->saved[i],
					   (uintptr_t)&frame->saved[i] };
		for (size_t k = 0; k < 2; k++) {
			if (candidates[k] == found ||
			    !cxx_is_table(candidates[k]))
				continue;
			if (found)
				return NULL;
			found = candidates[k];
		}
	}
	return (struct cxx_hash_table *)found;
}

/* Nodes that follow one another and have the same hash. */
struct cxx_hash_run {
	struct cxx_hash_node *first, *last;
};

static size_t cxx_find_runs(const struct cxx_hash_table *table,
			    struct cxx_hash_run *runs)
{
	size_t n = 0;
	for (struct cxx_hash_node *node = table->first; node;
	     node = node->next) {
		if (!n || runs[n - 1].last->hash != node->hash)
			runs[n++].first = node;
		runs[n - 1].last = node;
	}
	return n;
}

static void cxx_permute_nodes(struct cxx_hash_table *table, size_t buckets,
			      uintptr_t caller)
{
	struct cxx_hash_run runs[REHASHED];
	size_t n = cxx_find_runs(table, runs);
	if (n < 2)
		return;
	struct choose_keys keys = {
		.equal = choose_mix(table->elements, buckets),
		.object = choose_mix(choose_object(table), table->elements),
	};
	uint64_t pick = choose_pick(WIRE_MODEL_unordered_insert,
				    choose_permutations(n), keys);
	choose_argument("%s of %zu elements, rehashed", hash_site_name(caller),
			table->elements);
	choose_did("its elements came in another order");
	choose_permute(pick, runs, n, sizeof(runs[0]));
	struct cxx_hash_node **link = &table->first;
	for (size_t i = 0; i < n; i++) {
		*link = runs[i].first;
		link = &runs[i].last->next;
	}
	*link = NULL;
}

static size_t answer_next_prime(size_t n, const struct hash_frame *frame)
	__attribute__((used));

static size_t answer_next_prime(size_t n, const struct hash_frame *frame)
{
	CHOOSE_NEXT(_ZNSt3__112__next_primeEm, n)
	uintptr_t caller = frame->saved[HASH_CALLER];
	size_t buckets = next(n);
	bool order = choose_wanted(WIRE_MODEL_unordered_insert, caller);
	bool count = choose_wanted(WIRE_MODEL_unordered_rehash, caller);
	if (n > 1UL << 24 || (!order && !count))
		return buckets;
	struct cxx_hash_table *table = cxx_find_table(frame);
	if (count) {
		struct choose_keys keys = {
			.equal = n,
			.object = choose_mix(choose_object(table), n),
		};
		uint64_t pick =
			choose_pick(WIRE_MODEL_unordered_rehash, 3, keys);
		size_t usual = buckets;
		buckets = next(n * (size_t)(pick + 1));
		choose_argument("%zu buckets", n);
		choose_did("%zu buckets instead of %zu", buckets, usual);
	}
	/* Only where there will be more is it known that they are made. */
	if (order && table && buckets > table->buckets_n)
		cxx_permute_nodes(table, buckets, caller);
	return buckets;
}

/* The caller's registers are needed as they are: see cxx_find_table(). */
_export_ __attribute__((naked)) size_t
_ZNSt3__112__next_primeEm(__attribute__((unused)) size_t n)
{
	__asm__("pushq %r15\n\t"
		"pushq %r14\n\t"
		"pushq %r13\n\t"
		"pushq %r12\n\t"
		"pushq %rbp\n\t"
		"pushq %rbx\n\t"
		".cfi_adjust_cfa_offset 48\n\t"
		"movq %rsp, %rsi\n\t"
		"subq $8, %rsp\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		"call answer_next_prime\n\t"
		"addq $56, %rsp\n\t"
		".cfi_adjust_cfa_offset -56\n\t"
		"ret");
}
