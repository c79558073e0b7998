/* The scope guard of JSON values (jansson). */
#pragma once

#include <jansson.h>

static inline void json_freep(json_t **json)
{
	json_decref(*json);
}
