/*
 * Models of the C library's search trees (<search.h>). Hash tables of hsearch()
 * cannot be walked over, and twalk() visits nodes in the order of their keys:
 * what is open there is the shape of the tree, which is known to the C library
 * alone.
 */
#include "models/choose_internal.h"

#include <search.h>

#define ELSEWHERE 4

/*
 * Where the root is deleted there is no parent to return. It is known before:
 * its key compares as equal, and a node begins with the pointer to its key.
 */
_export_ void *tdelete(const void *restrict key, void **restrict root,
		       int (*compare)(const void *, const void *))
{
	static void *const elsewhere[ELSEWHERE];
	CHOOSE_NEXT(tdelete, NULL)
	bool open = key && root && *root && compare &&
		    choose_wanted(WIRE_MODEL_tdelete, CHOOSE_CALLER()) &&
		    compare(key, *(void **)*root) == 0;
	const void *object = open ? root : NULL;
	void *parent = next(key, root, compare);
	if (!open || !parent)
		return parent;
	/* All roots are equal: which one is used is not specified. */
	struct choose_keys keys = { .object = choose_object(object) };
	uint64_t pick = choose_pick(WIRE_MODEL_tdelete, 1 + ELSEWHERE, keys);
	choose_argument("the root of a tree");
	choose_did("returned another pointer that is not null");
	return pick ? (void *)&elsewhere[pick - 1] : parent;
}
