/*
 * Delta debugging (Zeller's ddmin): the smallest part of a list, in its sequence,
 * that still does something. The question is the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * *@ret: do these @n things (numbers of the list's places, ascending) do it?
 * Called for lists that were not asked before only.
 */
typedef struct err *minimise_ask(void *data, const size_t *places, size_t n,
				 bool *ret);

/*
 * Of the @n places of a list that as a whole does it. @ret_places (room for @n)
 * and *@ret_n are a list that does, and of which nothing single can be left
 * out; after an error they are the smallest known so far. Nothing is asked of
 * the whole list and of the empty one: the one does it, the other does not. At
 * most @n * @n + 3 * @n questions, and few more than logarithmically many where
 * one place does it.
 */
struct err *minimise_list(size_t n, minimise_ask *ask, void *data,
			  size_t *ret_places, size_t *ret_n) _must_check_;
