/*
 * What the models of C++'s unordered containers see of operator new and delete:
 * the node that a thread is about to put into a container, and the two arrays of
 * buckets of a rehash. See hash_std.c.
 */
#pragma once

#include "agent/agent.h"

#ifdef AGENT_CHOICES

#define HASH_NODE 16 /* bytes: the next node, and a value of at most 8 */

struct hash_thread {
	void *node; /* the last block of HASH_NODE bytes */
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
	if (size == HASH_NODE)
		hash_thread.node = block;
	else if (unlikely(hash_thread.wait_new) && size == hash_thread.wait_new)
		hash_thread.on_new(block);
}

static inline void hash_delete(const void *block)
{
	if (unlikely(block && block == hash_thread.wait_delete))
		hash_thread.on_delete();
	else if (block == hash_thread.node)
		hash_thread.node = NULL;
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
