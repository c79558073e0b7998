/* Lists of texts out of JSON that other programs wrote. */
#pragma once

#include <jansson.h>

#include "base/json.h"
#include "process/env.h"

/* A text or a list of texts; whatever else is in it is passed over. */
static inline struct err *json_texts(const json_t *json, struct strv *list)
{
	if (json_is_string(json))
		return strv_add(list, json_string_value(json));
	for (size_t i = 0; i < json_array_size(json); i++) {
		const char *text = json_string_value(json_array_get(json, i));
		if (text)
			TRY(strv_add(list, text));
	}
	return NULL;
}
