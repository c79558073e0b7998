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
	void *node;	   /* the last block of HASH_NODE bytes */
	size_t wait_new;   /* bytes of the array that is awaited; or 0 */
	void *wait_delete; /* the array that is awaited; or NULL */
};

#pragma GCC visibility push(hidden)
extern __thread struct hash_thread hash_thread
	__attribute__((tls_model("initial-exec")));
/* hash_site.c: do arrays of buckets go back to operator delete? */
enum hash_site {
	HASH_SITE_NEW,	 /* not known */
	HASH_SITE_RIGHT, /* yes */
	HASH_SITE_OTHER, /* no, or in doubt */
};
enum hash_site hash_site(uintptr_t caller);
void hash_site_set(uintptr_t caller, enum hash_site site);
void hash_new_buckets(void *block);
void hash_delete_buckets(void);
#pragma GCC visibility pop

static inline void hash_new(void *block, size_t size)
{
	if (size == HASH_NODE)
		hash_thread.node = block;
	else if (unlikely(hash_thread.wait_new) && size == hash_thread.wait_new)
		hash_new_buckets(block);
}

static inline void hash_delete(const void *block)
{
	if (unlikely(block && block == hash_thread.wait_delete))
		hash_delete_buckets();
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
