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
 * All of the container's invariants hold again then. Some nodes keep the hash of
 * their key behind the value, where it is not written yet: that of texts is known
 * (_Hash_bytes() is ours), and is put there for (3). Others are among the words that
 * the caller has on its stack and in its registers: where, is learned from the nodes
 * that it linked before (hash_lesson).
 *
 * A rehash that the load asks for leaves all of the order open: after (4) the
 * buckets' nodes come in another one (hash_permute_buckets()). That takes nothing but
 * the list, so it is done whatever the nodes are, and for equal keys.
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
#define GROWN 64     /* elements from which growth stays geometric */
#define REHASHED 128 /* elements up to which a rehash brings another order */
#define NODE_MIN 16  /* bytes: the next node, and a value … */
#define NODE_MAX 512
#define NODE_CACHED 24 /* … and its hash */

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
	unsigned char value[]; /* and the hash of its key, or not */
};

/* _Hashtable from its first member on. */
struct std_hash_table {
	struct std_hash_node **buckets; /* the node before their first one */
	size_t buckets_n;
	struct std_hash_node *before; /* a node without a value: its next */
	size_t elements;
};
#define TABLE_POLICY 32 /* bytes to it */

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

/* The place before the first node is a node, too. */
static struct std_hash_node *before_of(struct std_hash_table *table)
{
	return (struct std_hash_node *)&table->before;
}

static __thread struct {
	struct std_hash_table *table;
	struct std_hash_node *node;
	size_t size;		      /* of a node */
	struct std_hash_node *first;  /* of the container, while it is hidden */
	struct std_hash_node **fresh; /* buckets … */
	size_t fresh_n;
	bool hides;  /* nodes of the container, at the moment */
	bool cached; /* nodes keep their hash: @code; instead of @kept */
	uint64_t code, kept;
	uintptr_t caller;
	uintptr_t probed; /* the caller, where it is only looked at; or 0 */
	_Alignas(16) unsigned char copy[NODE_MAX];
} place __attribute__((tls_model("initial-exec")));

size_t hash_block_size(const void *block)
{
	uint64_t address = (uint64_t)(uintptr_t)block;
	if (agent_mode != AGENT_NOTE || !block || address % WIRE_GRANULE)
		return 0;
	const struct wire_leaf *leaf = note_leaf(address);
	if (!leaf)
		return 0;
	uint64_t entry = __atomic_load_n(
		&leaf->entries[note_offset(address) / WIRE_GRANULE],
		__ATOMIC_RELAXED);
	return entry ? WIRE_SIZE(entry) : 0;
}

bool hash_is_block(const void *block, size_t size)
{
	return size && hash_block_size(block) == size;
}

/* May that be a node of @size bytes that is not in a list yet? */
static bool is_loose(uintptr_t word, size_t size)
{
	return word >> 16 && !(word >> 47) &&
	       hash_is_block((const void *)word, size) &&
	       !((const struct std_hash_node *)word)->next;
}

/* How many words of the caller's stack there are. */
size_t hash_frame_words(const struct hash_frame *frame)
{
	uintptr_t low = (uintptr_t)frame->saved;
	const struct stack_bounds *bounds = &stack_bounds;
	if ((low < bounds->low || low >= bounds->high) && !stack_extend(low))
		return 0;
	size_t n = (bounds->high - low) / sizeof(uintptr_t);
	return n < HASH_WINDOW ? n : HASH_WINDOW;
}

static bool is_in_frame(const struct hash_frame *frame, uint64_t word)
{
	for (size_t i = 0, n = hash_frame_words(frame); i < n; i++) {
		if (frame->saved[i] == word)
			return true;
	}
	return false;
}

static bool is_recent(const void *block)
{
	for (unsigned i = 0; i < HASH_RECENT; i++) {
		if (hash_thread.recent[i] == block)
			return true;
	}
	return false;
}

/*
 * The caller still needs the node that it is about to link: it is in a register
 * that we keep, or on the stack, and was allocated a short time ago. A node that was
 * taken out of another container may not have been, but would be found here, too: so
 * where there are two that it may be, nothing is done.
 */
static struct std_hash_node *find_new_node(const struct hash_frame *frame,
					   size_t size,
					   const struct std_hash_node *last)
{
	uintptr_t found = 0;
	for (size_t i = 0, n = hash_frame_words(frame); i < n; i++) {
		uintptr_t word = frame->saved[i];
		if (word == found || word == (uintptr_t)last ||
		    !is_loose(word, size))
			continue;
		if (found)
			return NULL;
		found = word;
	}
	return is_recent((void *)found) ? (struct std_hash_node *)found : NULL;
}

/* The last node of the container's list; NULL: it is not as it should be. */
static const struct std_hash_node *last_of(const struct std_hash_table *table,
					   size_t n, size_t size)
{
	const struct std_hash_node *node = table->before;
	for (size_t i = 1; i < n && node; i++)
		node = hash_is_block(node, size) ? node->next : NULL;
	return node && hash_is_block(node, size) && !node->next ? node : NULL;
}

/* The container around @policy; NULL: it is not what it should look like. */
static struct std_hash_table *table_of(const struct policy *policy,
				       size_t buckets_n, size_t n)
{
	struct std_hash_table *table =
		(struct std_hash_table *)((uintptr_t)policy - TABLE_POLICY);
	bool right = table->buckets_n == buckets_n && table->elements == n &&
		     hash_is_block(table->buckets,
				   buckets_n * sizeof(struct std_hash_node *));
	return right ? table : NULL;
}

static uint64_t *std_hash_code_of(const struct std_hash_node *node, size_t size)
{
	return (uint64_t *)((uintptr_t)node + size - sizeof(uint64_t));
}

/* Is what nodes end with a hash, as far as one can see? */
static bool may_keep_hash(const struct std_hash_table *table, size_t size)
{
	for (size_t i = 0; i < table->buckets_n; i++) {
		if (table->buckets[i] &&
		    *std_hash_code_of(table->buckets[i]->next, size) %
				    table->buckets_n !=
			    i)
			return false;
	}
	return size >= NODE_CACHED;
}

/* ---- where code keeps the hash of a new node ---- */

/*
 * A variable that code still needs is at one place of its frame whenever it calls
 * from the same address. The words that it has when it asks are compared with the
 * hash that its node has at the next call. Where all words that were right so far
 * say the same, that is the hash. Lessons end with the test, so that a test makes the
 * same choices alone.
 */
struct hash_lesson {
	uintptr_t caller;
	uint64_t epoch;
	const struct policy *policy; /* of the last container … */
	const struct std_hash_node
		*node;	/* … and its new node; NULL: its first */
	unsigned right; /* hashes that words were compared with */
	uint64_t hash;	/* the last of them */
	size_t words_n;
	uintptr_t words[HASH_WINDOW];
	bool wrong[HASH_WINDOW];
};
#define HASH_LESSONS 8
#define HASH_LEARNED 2 /* different hashes */

static __thread struct hash_lesson lessons[HASH_LESSONS]
	__attribute__((tls_model("initial-exec")));

static struct hash_lesson *hash_lesson_of(uintptr_t caller)
{
	struct hash_lesson *lesson =
		&lessons[(caller ^ caller >> 7) % HASH_LESSONS];
	if (lesson->caller != caller || lesson->epoch != choose_block->epoch)
		*lesson = (struct hash_lesson){
			.caller = caller,
			.epoch = choose_block->epoch,
		};
	return lesson;
}

/* The node that was new at the last call has its hash by now. */
static void hash_lesson_check(struct hash_lesson *lesson,
			      const struct std_hash_table *table, size_t size)
{
	const struct std_hash_node *node = lesson->node;
	if (!node && table && lesson->words_n && table->elements == 1)
		node = table->before;
	if (!node || !hash_is_block(node, size))
		return;
	uint64_t hash = *std_hash_code_of(node, size);
	for (size_t i = 0; i < HASH_WINDOW; i++)
		lesson->wrong[i] |=
			i >= lesson->words_n || lesson->words[i] != hash;
	if (!lesson->right || hash != lesson->hash)
		lesson->right++;
	lesson->hash = hash;
}

static void hash_lesson_begin(struct hash_lesson *lesson,
			      const struct hash_frame *frame,
			      const struct policy *policy,
			      const struct std_hash_node *node)
{
	lesson->policy = policy;
	lesson->node = node;
	lesson->words_n = hash_frame_words(frame);
	for (size_t i = 0; i < lesson->words_n; i++)
		lesson->words[i] = frame->saved[i];
}

static bool hash_lesson_ask(const struct hash_lesson *lesson,
			    const struct hash_frame *frame, uint64_t *ret)
{
	bool found = false;
	size_t n = hash_frame_words(frame);
	if (lesson->right < HASH_LEARNED)
		return false;
	for (size_t i = 0; i < HASH_WINDOW; i++) {
		if (lesson->wrong[i])
			continue;
		if (i >= n || (found && frame->saved[i] != *ret))
			return false;
		found = true;
		*ret = frame->saved[i];
	}
	return found;
}

/* ---- the new node ---- */

static void hash_new_buckets(void *block);
static void hash_delete_buckets(void);

static const struct policy *place_policy(void)
{
	return (const struct policy *)((uintptr_t)place.table + TABLE_POLICY);
}

/* Is the bucket of the new node found by what it is now? */
static bool place_know_hash(const struct hash_frame *frame,
			    const struct hash_site *site)
{
	place.cached = site->named ? site->cached
				   : may_keep_hash(place.table, place.size);
	if (!place.cached)
		return true;
	if (!may_keep_hash(place.table, place.size))
		return false;
	struct hash_lesson *lesson = hash_lesson_of(place.caller);
	hash_lesson_check(lesson,
			  lesson->policy == place_policy() ? place.table : NULL,
			  place.size);
	bool learned = hash_lesson_ask(lesson, frame, &place.code);
	hash_lesson_begin(lesson, frame, place_policy(), place.node);
	if (learned)
		return true;
	place.code = hash_thread.code;
	return place.code && is_in_frame(frame, place.code);
}

static bool place_begin(const struct policy *policy, size_t buckets_n, size_t n,
			const struct hash_frame *frame)
{
	uintptr_t caller = frame->saved[HASH_CALLER];
	if (!n || n > ELEMENTS || buckets_n < 2 || buckets_n > BUCKETS ||
	    hash_thread.wait_delete ||
	    !choose_wanted(WIRE_MODEL_unordered_insert, caller))
		return false;
	place.table = table_of(policy, buckets_n, n);
	place.size = place.table ? hash_block_size(place.table->before) : 0;
	if (place.size < NODE_MIN || place.size > NODE_MAX)
		return false;
	const struct std_hash_node *last = last_of(place.table, n, place.size);
	place.node = last ? find_new_node(frame, place.size, last) : NULL;
	if (!place.node)
		return false;
	place.caller = caller;
	struct hash_site site = hash_site(caller);
	bool known = place_know_hash(frame, &site);
	if (site.arrays == HASH_SITE_OTHER ||
	    (site.arrays == HASH_SITE_NEW && n > 1) ||
	    (site.arrays == HASH_SITE_RIGHT && !known))
		return false;
	/* A caller that does not give the array back is never asked again. */
	place.probed = site.arrays == HASH_SITE_NEW ? caller : 0;
	if (place.probed)
		hash_site_set(caller, HASH_SITE_OTHER);
	place.fresh = NULL;
	hash_thread.on_new = hash_new_buckets;
	hash_thread.on_delete = hash_delete_buckets;
	hash_thread.wait_new = buckets_n * sizeof(struct std_hash_node *);
	return true;
}

static void hash_new_buckets(void *block)
{
	struct std_hash_table *table = place.table;
	struct std_hash_node *copy = (struct std_hash_node *)place.copy;
	uint64_t *code = std_hash_code_of(place.node, place.size);
	hash_thread.wait_new = 0;
	hash_thread.wait_delete = table->buckets;
	if (place.probed)
		return;
	place.hides = true;
	place.fresh = block;
	place.first = table->before;
	place.kept = *code;
	if (place.cached)
		*code = place.code;
	for (size_t i = 0; i < place.size; i++)
		place.copy[i] = ((const unsigned char *)place.node)[i];
	copy->next = NULL;
	place.node->next = copy;
	table->before = place.node;
}

/*
 * The bucket of the new node; -1: it is not alone there. By the order of node and
 * copy, keys are unique, or are not.
 */
static ssize_t place_bucket(struct std_hash_table *table, bool *ret_unique)
{
	ssize_t found = -1;
	struct std_hash_node *copy = (struct std_hash_node *)place.copy;
	for (size_t i = 0; i < table->buckets_n; i++) {
		if (!place.fresh[i])
			continue;
		if (found >= 0 || place.fresh[i] != before_of(table))
			return -1;
		found = (ssize_t)i;
	}
	bool unique = table->before == copy && copy->next == place.node &&
		      !place.node->next;
	bool several = table->before == place.node &&
		       place.node->next == copy && !copy->next;
	*ret_unique = unique;
	if ((!unique && !several) || found < 0 || table->buckets[found])
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

/*
 * What tells an element from others. The first byte of values: those of fewer than
 * eight bytes are followed by whatever was there.
 */
static uint64_t element_key(const struct std_hash_node *node)
{
	return place.cached ? *std_hash_code_of(node, place.size)
			    : node->value[0];
}

static uint64_t choose_place(const struct std_hash_table *table, bool unique)
{
	uint64_t ends = 0;
	size_t behind;
	uint64_t equal = 0;
	for (const struct std_hash_node *node = table->before; node;
	     node = node->next) {
		ends += std_hash_is_bucket_end(table, node, &behind);
		equal += choose_mix(element_key(node), 4);
	}
	/*
	 * Equal keys are looked for first, from the node on after which the
	 * bucket begins: there must be one behind it.
	 */
	ends -= !unique;
	if (!ends)
		return 0;
	uint64_t own = place.cached ? place.code : place.node->value[0];
	struct choose_keys keys = {
		.equal = choose_mix(choose_mix(equal, own), table->elements),
		.object = choose_mix(
			choose_object((const char *)table + TABLE_POLICY),
			table->elements),
	};
	uint64_t pick =
		choose_pick(WIRE_MODEL_unordered_insert, ends + 1, keys);
	choose_argument("%s of %zu elements", hash_site_name(place.caller),
			table->elements);
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
	place.hides = false;
	bool unique = true;
	ssize_t bucket = place_bucket(table, &unique);
	table->before = place.first;
	place.node->next = NULL;
	*std_hash_code_of(place.node, place.size) = place.kept;
	for (size_t i = 0; i < table->buckets_n; i++)
		place.fresh[i] = table->buckets[i];
	uint64_t pick = bucket >= 0 ? choose_place(table, unique) : 0;
	size_t behind;
	for (struct std_hash_node *node = table->before; node && pick;
	     node = node->next) {
		if (!std_hash_is_bucket_end(table, node, &behind) || --pick)
			continue;
		place.fresh[bucket] = node;
		if (behind < table->buckets_n)
			place.fresh[behind] = place.node;
	}
}

/* ---- the order after a rehash ---- */

/* The nodes of a bucket, which follow one another. */
struct hash_run {
	struct std_hash_node *first, *last;
	size_t bucket;
};

/* The bucket whose nodes begin behind @before; or as many as there are. */
static size_t hash_bucket_behind(const struct std_hash_node *before)
{
	size_t i = 0;
	while (i < place.fresh_n && place.fresh[i] != before)
		i++;
	return i;
}

/* How many there are; 0: it is not what a rehash leaves. */
static size_t hash_find_runs(struct hash_run *runs)
{
	struct std_hash_table *table = place.table;
	struct std_hash_node *before = before_of(table);
	size_t n = 0, nodes = 0, taken = 0;
	for (struct std_hash_node *node = table->before; node;
	     before = node, node = node->next) {
		if (++nodes > table->elements ||
		    !hash_is_block(node, place.size))
			return 0;
		size_t bucket = hash_bucket_behind(before);
		if (bucket < place.fresh_n)
			runs[n++] = (struct hash_run){ .first = node,
						       .bucket = bucket };
		if (!n)
			return 0;
		runs[n - 1].last = node;
	}
	for (size_t i = 0; i < place.fresh_n; i++)
		taken += place.fresh[i] != NULL;
	return nodes == table->elements && taken == n ? n : 0;
}

static void hash_permute_buckets(void)
{
	struct hash_run runs[REHASHED];
	struct std_hash_table *table = place.table;
	const void *old = hash_thread.wait_delete;
	hash_thread.wait_delete = NULL;
	/* At once: the container does not have the new ones yet. */
	if (!sys_readable((uintptr_t)table) || table->buckets != old ||
	    table->elements > REHASHED ||
	    !hash_is_block(place.fresh, place.fresh_n * sizeof(*place.fresh)))
		return;
	size_t n = hash_find_runs(runs);
	if (n < 2)
		return;
	struct choose_keys keys = {
		.equal = choose_mix(table->elements, place.fresh_n),
		.object = choose_mix(
			choose_object((const char *)table + TABLE_POLICY),
			table->elements),
	};
	uint64_t pick = choose_pick(WIRE_MODEL_unordered_insert,
				    choose_permutations(n), keys);
	choose_argument("%s of %zu elements, rehashed",
			hash_site_name(place.caller), table->elements);
	choose_did("its elements came in another order");
	choose_permute(pick, runs, n, sizeof(runs[0]));
	struct std_hash_node *before = before_of(table);
	for (size_t i = 0; i < n; i++) {
		before->next = runs[i].first;
		place.fresh[runs[i].bucket] = before;
		before = runs[i].last;
	}
	before->next = NULL;
}

static void hash_new_rehashed(void *block)
{
	hash_thread.wait_new = 0;
	hash_thread.wait_delete = place.table->buckets;
	place.fresh = block;
}

/* The program is about to rehash, to that many buckets. */
static void hash_await_rehash(const struct policy *policy, size_t buckets_n,
			      size_t n, size_t to, uintptr_t caller)
{
	if (n < 2 || n > REHASHED || to < 2 || to == buckets_n ||
	    hash_thread.wait_delete ||
	    !choose_wanted(WIRE_MODEL_unordered_insert, caller))
		return;
	place.table = table_of(policy, buckets_n, n);
	place.size = place.table ? hash_block_size(place.table->before) : 0;
	if (!place.size)
		return;
	place.caller = caller;
	place.probed = 0;
	place.fresh_n = to;
	hash_thread.on_new = hash_new_rehashed;
	hash_thread.on_delete = hash_permute_buckets;
	hash_thread.wait_new = to * sizeof(struct std_hash_node *);
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
				 const struct hash_frame *frame)
	__attribute__((used));

static struct answer answer_need(const struct policy *policy, size_t buckets_n,
				 size_t n, size_t more,
				 const struct hash_frame *frame)
{
	static need_function *found;
	need_function *next = __atomic_load_n(&found, __ATOMIC_RELAXED);
	hash_thread.wait_new = 0;
	/* What is given back only now is given back by other code. */
	if (!place.hides)
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
				  frame->saved[HASH_CALLER]))
			answer.buckets = choose_buckets(policy, buckets_n, n,
							more, answer.buckets);
		hash_await_rehash(policy, buckets_n, n, answer.buckets,
				  frame->saved[HASH_CALLER]);
		if (!n && choose_wanted(WIRE_MODEL_unordered_insert,
					frame->saved[HASH_CALLER]))
			hash_lesson_begin(
				hash_lesson_of(frame->saved[HASH_CALLER]),
				frame, policy, NULL);
	} else if (more == 1 && place_begin(policy, buckets_n, n, frame)) {
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
	choose_used(WIRE_MODEL_hash_bytes, CHOOSE_CALLER());
	return hash_thread.code = next(data, n, seed ^ salt);
}

_export_ size_t _ZSt15_Fnv_hash_bytesPKvmm(const void *data, size_t n,
					   size_t seed)
{
	CHOOSE_NEXT(_ZSt15_Fnv_hash_bytesPKvmm, 0)
	choose_used(WIRE_MODEL_hash_bytes, CHOOSE_CALLER());
	return next(data, n, seed ^ salt);
}
