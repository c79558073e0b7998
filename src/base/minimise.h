/*
 * Delta debugging (Zeller's ddmin): the smallest part of a list, in its order,
 * that still has some property. What the property is, the caller decides.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * *@ret: do these @n places of the list (their numbers, ascending) have the
 * property? Called only for lists that were not asked about before.
 */
typedef struct err *minimise_ask(void *data, const size_t *places, size_t n,
				 bool *ret);

/*
 * Reduces a list of @n places that has the property as a whole. @ret_places
 * (room for @n) and *@ret_n are a list that has it and loses it when any single
 * place is left out; after an error they are the smallest list known so far.
 * The whole list and the empty one are never asked about: the first has the
 * property, the second does not. At most @n * @n + 3 * @n questions, and little
 * more than log @n if one place decides.
 */
struct err *minimise_list(size_t n, minimise_ask *ask, void *data,
			  size_t *ret_places, size_t *ret_n) _must_check_;
