/*
 * Growable arrays of any type:
 *
 *	VEC(int) fds = VEC_INIT;
 *	TRY(vec_push(&fds, 3));
 *	for (size_t i = 0; i < fds.n; i++) use(fds.data[i]);
 *	vec_free(&fds);
 *
 * Elements are plain memory: code that stores owning pointers frees them first.
 * Growing moves the elements, so pointers into data live until the next push.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define VEC(type)                                                              \
	struct {                                                               \
		type *data;                                                    \
		size_t n;                                                      \
		size_t cap;                                                    \
	}

#define VEC_INIT                                                               \
	{                                                                      \
	}

/* For a named type, with a guard: DEFINE_VEC(tests, struct test) */
#define DEFINE_VEC(name, type)                                                 \
	struct name {                                                          \
		type *data;                                                    \
		size_t n;                                                      \
		size_t cap;                                                    \
	};                                                                     \
	static inline void name##_freep(struct name *v)                        \
	{                                                                      \
		free(v->data);                                                 \
		*v = (struct name){};                                          \
	}

struct err *vec_grow_(void **data, size_t *cap, size_t need,
		      size_t size) _must_check_;

#define vec_reserve(v, count)                                                  \
	vec_grow_((void **)&(v)->data, &(v)->cap, (count), sizeof(*(v)->data))

#define vec_push(v, ...)                                                       \
	({                                                                     \
		struct err *vec_err_ = (v)->n < (v)->cap                       \
					       ? NULL                          \
					       : vec_reserve((v), (v)->n + 1); \
		if (!vec_err_)                                                 \
			(v)->data[(v)->n++] = __VA_ARGS__;                     \
		vec_err_;                                                      \
	})

#define vec_append(v, items, count)                                            \
	({                                                                     \
		size_t vec_count_ = (count);                                   \
		struct err *vec_err_ = vec_reserve((v), (v)->n + vec_count_);  \
		if (!vec_err_ && vec_count_) {                                 \
			memcpy((v)->data + (v)->n, (items),                    \
			       vec_count_ * sizeof(*(v)->data));               \
			(v)->n += vec_count_;                                  \
		}                                                              \
		vec_err_;                                                      \
	})

#define vec_free(v)                                                            \
	do {                                                                   \
		free((v)->data);                                               \
		(v)->data = NULL;                                              \
		(v)->n = (v)->cap = 0;                                         \
	} while (0)
