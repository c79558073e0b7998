/* What the models of unordered containers share (hash_site.c). */
#pragma once

#include "agent/hash.h"
#include "models/choose_internal.h"

/* Do arrays of buckets go back to operator delete where @caller's code has them? */
enum hash_site {
	HASH_SITE_NEW,	 /* not known */
	HASH_SITE_RIGHT, /* yes */
	HASH_SITE_OTHER, /* no, or in doubt */
};

#pragma GCC visibility push(hidden)
enum hash_site hash_site(uintptr_t caller);
void hash_site_set(uintptr_t caller, enum hash_site site);
#pragma GCC visibility pop
