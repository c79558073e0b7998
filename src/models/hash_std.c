/*
 * Models of libstdc++'s unordered containers.
 *
 * All their code is compiled into the program, except three functions: how many
 * buckets to have (_Prime_rehash_policy), and the hash of texts. Orders that
 * follow from the number of buckets alone are few: a node goes to the front of
 * its bucket, that of an empty bucket to the front of all, and a rehash
 * reverses them. So a new element is put elsewhere, too (unordered_insert):
 *
 *  1. _M_need_rehash() is asked before a node is linked. The container lies
 *     around the policy, and the node is the block that this thread got last.
 *     The answer is "rehash, to as many buckets as there are".
 *  2. The program allocates the array (hash_new_buckets()). The container's
 *     nodes are hidden, the new one and a copy of it are shown instead.
 *  3. The program's own code hashes them, and links them.
 *  4. It frees the old array (hash_delete_buckets()). Now the bucket of the new
 *     node is known, and by the order of node and copy whether keys are unique:
 *     only then nothing is looked up before the node is linked. Nodes and
 *     buckets are restored as they were. The empty bucket says after which node
 *     its first one comes; libstdc++ says "before all", here it is the end of
 *     any other bucket's nodes.
 *  5. The program links the node there.
 *
 * All of the container's invariants hold again then. Nodes have 16 bytes, or
 * they are left alone: larger ones may keep their hash, which is not there yet.
 *
 * What is relied on: arrays go back to operator delete at once (4). Allocators
 * of which that is not known are left alone (hash_site.c), and so are arenas
 * and pools that take large blocks (is_block()).
 *
 * Out of reach, and forbidden: another order of a container that nobody
 * changes. C++17 [container.requirements.general]: "Unless otherwise specified
 * […] invoking a container member function […] shall not invalidate iterators";
 * [unord.req] says of rehashing alone that it "invalidates iterators, changes
 * ordering between elements".
 */
#include "models/choose_internal.h"

#include "agent/note.h"
#include "models/hash_internal.h"

#include <sys/types.h>

#define _unused_ __attribute__((unused))

#define ELEMENTS 32 /* in larger ones new elements come where they come */
#define BUCKETS 128
#define WINDOW 96 /* words of the caller's stack */
#define GROWN 64  /* elements from which growth stays geometric */

/* std::pair<bool, std::size_t> */
struct answer {
	bool rehash;
	size_t buckets;
};

struct policy {
	float max_load;
	size_t next_resize;
};

struct std_hash_node {
	struct std_hash_node *next;
	unsigned char value[HASH_NODE - sizeof(struct std_hash_node *)];
};

/* _Hashtable from its first member on. */
struct std_hash_table {
	struct std_hash_node **buckets; /* the node before their first one */
	size_t buckets_n;
	struct std_hash_node
		before; /* its next only, the value is what follows it */
};
#define TABLE_ELEMENTS(table) (((const size_t *)(table))[3])
#define TABLE_POLICY 32 /* bytes to it */

/* Registers that a called function keeps, the return address, the stack. */
#define FRAME_CALLER 6
struct std_hash_frame {
	uintptr_t saved[WINDOW]; /* as far as the stack goes */
};

size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(
	const struct policy *policy, size_t n);
struct answer _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(
	const struct policy *policy, size_t buckets_n, size_t n, size_t more);
size_t _ZSt11_Hash_bytesPKvmm(const void *data, size_t n, size_t seed);
size_t _ZSt15_Fnv_hash_bytesPKvmm(const void *data, size_t n, size_t seed);

#define next_bkt _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm
#define need_rehash _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm

typedef struct answer need_function(const struct policy *, size_t, size_t,
				    size_t);
typedef size_t next_function(const struct policy *, size_t);

/* ---- where a new element comes ---- */

static __thread struct {
	struct std_hash_table *table;
	struct std_hash_node *node;
	struct std_hash_node copy;
	struct std_hash_node *first;  /* of the container, while it is hidden */
	struct std_hash_node **fresh; /* buckets */
	uintptr_t probed; /* the caller, where it is only looked at; or 0 */
} place __attribute__((tls_model("initial-exec")));

/* Is it a block of the heap, of that size? */
static bool is_block(const void *block, size_t size)
{
	uint64_t address = (uint64_t)(uintptr_t)block;
	if (agent_mode != AGENT_NOTE || !block || address % WIRE_GRANULE)
		return false;
	const struct wire_leaf *leaf = note_leaf(address);
	if (!leaf)
		return false;
	uint64_t entry = __atomic_load_n(
		&leaf->entries[note_offset(address) / WIRE_GRANULE],
		__ATOMIC_RELAXED);
	return entry && WIRE_SIZE(entry) == size;
}

/* May that be a node that is not in a list yet? */
static bool is_loose(uintptr_t word)
{
	return word >> 16 && !(word >> 47) &&
	       is_block((const void *)word, HASH_NODE) &&
	       !((const struct std_hash_node *)word)->next;
}

/*
 * The caller still needs the node that it is about to link: it is in a register
 * that we keep, or on the stack. A node that was taken out of another container
 * is not the block that was allocated last, but would be found here, too: so
 * where there is another that it may be, nothing is done.
 */
static bool is_only(const struct std_hash_frame *frame,
		    const struct std_hash_node *node,
		    const struct std_hash_node *last)
{
	uintptr_t low = (uintptr_t)frame->saved;
	const struct stack_bounds *bounds = &stack_bounds;
	bool found = false;
	if ((low < bounds->low || low >= bounds->high) && !stack_extend(low))
		return false;
	for (unsigned i = 0;
	     i < WINDOW && low + (i + 1) * sizeof(uintptr_t) <= bounds->high;
	     i++) {
		uintptr_t word = frame->saved[i];
		if (word == (uintptr_t)node)
			found = true;
		else if (word != (uintptr_t)last && is_loose(word))
			return false;
	}
	return found;
}

/* The last node of the container's list; NULL: it is not as it should be. */
static const struct std_hash_node *last_of(const struct std_hash_table *table,
					   size_t n)
{
	const struct std_hash_node *node = table->before.next;
	for (size_t i = 1; i < n && node; i++)
		node = is_block(node, HASH_NODE) ? node->next : NULL;
	return node && is_block(node, HASH_NODE) && !node->next ? node : NULL;
}

/* The container around @policy; NULL: it is not what it should look like. */
static struct std_hash_table *table_of(const struct policy *policy,
				       size_t buckets_n, size_t n)
{
	struct std_hash_table *table =
		(struct std_hash_table *)((uintptr_t)policy - TABLE_POLICY);
	bool right = table->buckets_n == buckets_n &&
		     TABLE_ELEMENTS(table) == n &&
		     is_block(table->buckets,
			      buckets_n * sizeof(struct std_hash_node *));
	return right ? table : NULL;
}

static void hash_new_buckets(void *block);
static void hash_delete_buckets(void);

static bool place_begin(const struct policy *policy, size_t buckets_n, size_t n,
			struct std_hash_node *node,
			const struct std_hash_frame *frame)
{
	if (!node || !n || n > ELEMENTS || buckets_n < 2 ||
	    buckets_n > BUCKETS || hash_thread.wait_delete ||
	    !choose_wanted(WIRE_MODEL_unordered_insert,
			   frame->saved[FRAME_CALLER]) ||
	    !is_loose((uintptr_t)node))
		return false;
	struct std_hash_table *table = table_of(policy, buckets_n, n);
	const struct std_hash_node *last = table ? last_of(table, n) : NULL;
	if (!last || !is_only(frame, node, last))
		return false;
	uintptr_t caller = frame->saved[FRAME_CALLER];
	enum hash_site site = hash_site(caller);
	if (site == HASH_SITE_OTHER || (site == HASH_SITE_NEW && n > 1))
		return false;
	/* A caller that does not give the array back is never asked again. */
	place.probed = site == HASH_SITE_NEW ? caller : 0;
	if (place.probed)
		hash_site_set(caller, HASH_SITE_OTHER);
	place.table = table;
	place.node = node;
	place.fresh = NULL;
	hash_thread.on_new = hash_new_buckets;
	hash_thread.on_delete = hash_delete_buckets;
	hash_thread.wait_new = buckets_n * sizeof(struct std_hash_node *);
	return true;
}

static void hash_new_buckets(void *block)
{
	struct std_hash_table *table = place.table;
	hash_thread.wait_new = 0;
	hash_thread.wait_delete = table->buckets;
	if (place.probed)
		return;
	place.fresh = block;
	place.first = table->before.next;
	for (size_t i = 0; i < sizeof(place.copy.value); i++)
		place.copy.value[i] = place.node->value[i];
	place.copy.next = NULL;
	place.node->next = &place.copy;
	table->before.next = place.node;
}

/* The bucket of the new node; -1: keys are not unique, or it is not alone. */
static ssize_t place_bucket(const struct std_hash_table *table)
{
	ssize_t found = -1;
	for (size_t i = 0; i < table->buckets_n; i++) {
		if (!place.fresh[i])
			continue;
		if (found >= 0 || place.fresh[i] != &table->before)
			return -1;
		found = (ssize_t)i;
	}
	if (table->before.next != &place.copy ||
	    place.copy.next != place.node || place.node->next || found < 0 ||
	    table->buckets[found])
		return -1;
	return found;
}

/* Is @node the last one of its bucket, and which bucket's first comes next? */
static bool std_hash_is_bucket_end(const struct std_hash_table *table,
				   const struct std_hash_node *node,
				   size_t *ret_next)
{
	*ret_next = table->buckets_n;
	if (!node->next)
		return true;
	for (size_t i = 0; i < table->buckets_n; i++) {
		if (table->buckets[i] == node) {
			*ret_next = i;
			return true;
		}
	}
	return false;
}

static uint64_t choose_place(const struct std_hash_table *table)
{
	uint64_t ends = 0;
	size_t behind;
	/*
	 * The first byte of each: those of a value of fewer than eight bytes
	 * are followed by whatever was there.
	 */
	uint64_t equal = 0;
	for (const struct std_hash_node *node = table->before.next; node;
	     node = node->next) {
		ends += std_hash_is_bucket_end(table, node, &behind);
		equal += choose_mix(node->value[0], 4);
	}
	struct choose_keys keys = {
		.equal = choose_mix(choose_mix(equal, place.node->value[0]),
				    TABLE_ELEMENTS(table)),
		.object = choose_mix(
			choose_object((const char *)table + TABLE_POLICY),
			TABLE_ELEMENTS(table)),
	};
	uint64_t pick =
		choose_pick(WIRE_MODEL_unordered_insert, ends + 1, keys);
	choose_argument("a container of %zu elements", TABLE_ELEMENTS(table));
	choose_did("the new element came elsewhere among them");
	return pick;
}

static void hash_delete_buckets(void)
{
	struct std_hash_table *table = place.table;
	const void *old = hash_thread.wait_delete;
	hash_thread.wait_delete = NULL;
	if (place.probed) {
		/* At once: the container does not have the new one yet. */
		if (sys_readable((uintptr_t)table) && table->buckets == old)
			hash_site_set(place.probed, HASH_SITE_RIGHT);
		return;
	}
	ssize_t bucket = place_bucket(table);
	table->before.next = place.first;
	place.node->next = NULL;
	for (size_t i = 0; i < table->buckets_n; i++)
		place.fresh[i] = table->buckets[i];
	uint64_t pick = bucket >= 0 ? choose_place(table) : 0;
	size_t behind;
	for (struct std_hash_node *node = table->before.next; node && pick;
	     node = node->next) {
		if (!std_hash_is_bucket_end(table, node, &behind) || --pick)
			continue;
		place.fresh[bucket] = node;
		if (behind < table->buckets_n)
			place.fresh[behind] = place.node;
	}
}

/* ---- how many buckets ---- */

static size_t ask_next(const struct policy *policy, size_t n)
{
	static next_function *found;
	next_function *next = __atomic_load_n(&found, __ATOMIC_RELAXED);
	if (unlikely(!next)) {
		next = (next_function *)lookup_next(
			"_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm");
		__atomic_store_n(&found, next, __ATOMIC_RELAXED);
	}
	return next ? next(policy, n) : 0;
}

/* The library rehashes, for it must, or there is nothing yet: to how many? */
static size_t choose_buckets(const struct policy *policy, size_t buckets_n,
			     size_t n, size_t more, size_t wanted)
{
	static const unsigned times[] = { 1, 1, 3, 4 };
	if (!(policy->max_load > 0.01F && policy->max_load < 100.0F) ||
	    n > 1UL << 32 || more > 1UL << 32)
		return wanted;
	size_t least = (size_t)((double)(n + more) / policy->max_load) + 1;
	if (!n && buckets_n == 1) /* another container than the last here */
		choose_object_changed(policy);
	struct choose_keys keys = {
		.equal = choose_mix(choose_mix(n, more), buckets_n),
		.object = choose_mix(choose_object(policy), n),
	};
	uint64_t pick = choose_pick(WIRE_MODEL_unordered_rehash, 4, keys);
	/* Growth by the least is for small ones: all of it is linear. */
	if (!pick || (pick == 1 && n > GROWN))
		return wanted;
	size_t buckets = ask_next(
		policy, pick == 1 ? (least > 2 ? least : 2)
				  : times[pick] * (least > 8 ? least : 8));
	choose_argument("a container of %zu elements", n);
	choose_did("%zu buckets instead of %zu", buckets, wanted);
	return buckets > buckets_n ? buckets : wanted;
}

static struct answer answer_need(const struct policy *policy, size_t buckets_n,
				 size_t n, size_t more,
				 const struct std_hash_frame *frame)
	__attribute__((used));

static struct answer answer_need(const struct policy *policy, size_t buckets_n,
				 size_t n, size_t more,
				 const struct std_hash_frame *frame)
{
	static need_function *found;
	need_function *next = __atomic_load_n(&found, __ATOMIC_RELAXED);
	struct std_hash_node *node = hash_thread.node;
	hash_thread.node = NULL;
	hash_thread.wait_new = 0;
	/* What is given back only now is given back by other code. */
	if (place.probed)
		hash_thread.wait_delete = NULL;
	if (unlikely(!next)) {
		next = (need_function *)lookup_next(
			"_ZNKSt8__detail20_Prime_rehash_policy14_M_need_"
			"rehashEmmm");
		__atomic_store_n(&found, next, __ATOMIC_RELAXED);
		if (!next)
			return (struct answer){};
	}
	struct answer answer = next(policy, buckets_n, n, more);
	if (answer.rehash) {
		if (choose_wanted(WIRE_MODEL_unordered_rehash,
				  frame->saved[FRAME_CALLER]))
			answer.buckets = choose_buckets(policy, buckets_n, n,
							more, answer.buckets);
	} else if (more == 1 &&
		   place_begin(policy, buckets_n, n, node, frame)) {
		answer = (struct answer){ true, buckets_n };
	}
	return answer;
}

/* The caller's registers are needed as they are: see is_only(). */
_export_ __attribute__((naked)) struct answer
need_rehash(_unused_ const struct policy *policy, _unused_ size_t buckets_n,
	    _unused_ size_t n, _unused_ size_t more)
{
	__asm__("pushq %r15\n\t"
		"pushq %r14\n\t"
		"pushq %r13\n\t"
		"pushq %r12\n\t"
		"pushq %rbp\n\t"
		"pushq %rbx\n\t"
		".cfi_adjust_cfa_offset 48\n\t"
		"movq %rsp, %r8\n\t"
		"subq $8, %rsp\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		"call answer_need\n\t"
		"addq $56, %rsp\n\t"
		".cfi_adjust_cfa_offset -56\n\t"
		"ret");
}

/* reserve(), rehash() and constructors: at least as many as @n. */
_export_ size_t next_bkt(const struct policy *policy, size_t n)
{
	if (n < 2 || n > 1UL << 24 ||
	    !choose_wanted(WIRE_MODEL_unordered_reserve, CHOOSE_CALLER()))
		return ask_next(policy, n);
	struct choose_keys keys = {
		.equal = n,
		.object = choose_mix(choose_object(policy), n),
	};
	uint64_t pick = choose_pick(WIRE_MODEL_unordered_reserve, 4, keys);
	size_t buckets = ask_next(policy, n * (size_t)(pick + 1));
	choose_argument("%zu buckets", n);
	choose_did("made %zu", buckets);
	return buckets;
}

/* ---- the hash of texts ---- */

/*
 * The same for all callers, and for the whole run: containers keep hashes, and
 * are passed around. So it is chosen before the first constructor, or never.
 */
static size_t salt;

__attribute__((constructor)) static void choose_salt(void)
{
	const struct wire_choices *block = choose_block;
	/* Programs without the C++ library have no such hashes. */
	if (!block || !block->active ||
	    !choose_bit(block->models, WIRE_MODEL_hash_bytes) ||
	    !lookup_next("_ZSt11_Hash_bytesPKvmm"))
		return;
	struct choose_keys keys = {};
	salt = choose_pick(WIRE_MODEL_hash_bytes, 1UL << 32, keys);
	choose_argument("all texts");
	choose_did("hashes with another seed");
}

_export_ size_t _ZSt11_Hash_bytesPKvmm(const void *data, size_t n, size_t seed)
{
	CHOOSE_NEXT(_ZSt11_Hash_bytesPKvmm, 0)
	return next(data, n, seed ^ salt);
}

_export_ size_t _ZSt15_Fnv_hash_bytesPKvmm(const void *data, size_t n,
					   size_t seed)
{
	CHOOSE_NEXT(_ZSt15_Fnv_hash_bytesPKvmm, 0)
	return next(data, n, seed ^ salt);
}
