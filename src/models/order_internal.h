/*
 * What the models of order share: memory that is given back, keys of
 * directories, and elements that compare as equal.
 *
 * What is returned in another order is read in full before: lists of the C
 * library are permuted in place, streams (directories, databases of users) in
 * memory of ours, which lives as long as the library promises for its own, and
 * no longer.
 */
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include "models/choose_internal.h"

#define ORDER_TEXT 96 /* of a path in the report */

#pragma GCC visibility push(hidden)

/* order.c: empty memory that takes no room until it is written to. */
void *order_map(size_t size);
void order_unmap(void *memory, size_t size);
/* Twice as large, somewhere else perhaps; NULL: it is as it was. */
void *order_grow(void *memory, size_t *size);

/*
 * Something that several threads may come to at once. It is waited for, but not
 * for ever: a fork may have left it to a thread that is no more.
 */
struct order_lock {
	uint32_t taken;
};
void order_lock(struct order_lock *lock);
void order_unlock(struct order_lock *lock);

/* A directory that is not changed is the same; @names: sum of their hashes. */
struct choose_keys order_directory_keys(int fd, uint64_t names);
struct choose_keys order_path_keys(int at, const char *path, uint64_t names);
/* Equal contents; the same object if also at the same place. */
struct choose_keys order_array_keys(const void *base, size_t bytes);
/* Empty if it is not needed. */
const char *order_path_of(int fd, char text[ORDER_TEXT]);

/*
 * A sorted array: elements that compare as equal in another order. No choice if
 * there are none, or if they cannot be distinguished.
 */
typedef int order_compare(const void *, const void *, void *);
void order_ties(enum wire_model model, void *base, size_t n, size_t size,
		order_compare *compare, void *argument);

#pragma GCC visibility pop

static inline void order_copy(void *to, const void *from, size_t n)
{
	unsigned char *a = to;
	const unsigned char *b = from;
	for (size_t i = 0; i < n; i++)
		a[i] = b[i];
}

static inline bool order_same(const void *x, const void *y, size_t n)
{
	const unsigned char *a = x, *b = y;
	for (size_t i = 0; i < n; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}
