/*
 * What the models of C++'s unordered containers see of operator new and delete:
 * the node that a thread is about to put into a container, and the two arrays of
 * buckets of a rehash. See hash_std.c.
 */
#pragma once

#include "agent/agent.h"

#ifdef AGENT_CHOICES

/* Blocks that a thread got last: a node's value may take some after it. */
#define HASH_RECENT 16

struct hash_thread {
	void *recent[HASH_RECENT];
	unsigned recent_n;
	/* What _Hash_bytes() returned last. */
	size_t code;
	/*
	 * Bytes of the awaited array, or 0; and the function to call with it.
	 */
	size_t wait_new;
	void (*on_new)(void *block);
	/*
	 * The array whose end is awaited, or NULL; and the function to call
	 * then.
	 */
	void *wait_delete;
	void (*on_delete)(void);
};

#pragma GCC visibility push(hidden)
extern __thread struct hash_thread hash_thread /* operators.c */
	__attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

static inline void hash_new(void *block, size_t size)
{
	if (unlikely(hash_thread.wait_new) && size == hash_thread.wait_new)
		hash_thread.on_new(block);
	else
		hash_thread.recent[hash_thread.recent_n++ % HASH_RECENT] =
			block;
}

static inline void hash_delete(const void *block)
{
	if (unlikely(block && block == hash_thread.wait_delete))
		hash_thread.on_delete();
}

#else

static inline void hash_new(void *block, size_t size)
{
	(void)block;
	(void)size;
}

static inline void hash_delete(const void *block)
{
	(void)block;
}

#endif
