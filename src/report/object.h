/* JSON values, made of texts that the tested program may have written. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

static inline void object_freep(json_t **json)
{
	json_decref(*json);
}

/* Takes @value over, also where it fails; NULL is out of memory. */
struct err *object_set(json_t *object, const char *key,
		       json_t *value) _must_check_;
/* Likewise at the end of a list. */
struct err *object_append(json_t *array, json_t *value) _must_check_;
/* Bytes that are not UTF-8 become \xNN; NULL becomes null. */
struct err *object_set_text(json_t *object, const char *key, const char *text,
			    size_t n) _must_check_;
struct err *object_set_string(json_t *object, const char *key,
			      const char *text) _must_check_;
struct err *object_text(const char *text, json_t **ret) _must_check_;
struct err *object_set_count(json_t *object, const char *key,
			     uint64_t count) _must_check_;
/* A call stack, as a list of "function", "file" and "line". */
struct report_frame;
struct err *object_frames(const struct report_frame *frames, size_t n,
			  json_t **ret) _must_check_;
/* "file" and "line"; null where they are unknown. */
struct err *object_set_place(json_t *object, const char *file,
			     unsigned line) _must_check_;
