/* JSON values (jansson): their scope guard, and how they are written. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"

static inline void json_freep(json_t **json)
{
	json_decref(*json);
}

/*
 * With @flags of json_dumpf(). Characters that mislead (str_misleads()) are
 * written as \uNNNN, which is the same text to a program. A failure to write is
 * seen where @out is closed.
 */
struct err *json_write_to(const json_t *json, size_t flags,
			  FILE *out) _must_check_;
