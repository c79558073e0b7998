/*
 * JSON values out of texts that the tested program may have written.
 *
 * Made for jansson's json_pack(): each function returns a new value, or NULL
 * where there is no memory, which makes the pack that takes it return NULL as
 * well. The last pack is tested for it (value_made()).
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/call_frame.h"
#include "finding/finding.h"

static inline void value_freep(json_t **json)
{
	json_decref(*json);
}

/* *@ret = @made, unless it is NULL: no memory. */
struct err *value_made(json_t *made, json_t **ret) _must_check_;
/*
 * Takes @value over. Where there is no memory *@list becomes NULL, and stays so.
 */
void value_append(json_t **list, json_t *value);

/* Bytes that are not UTF-8 become \xNN; NULL becomes null. */
json_t *value_text(const char *text);
json_t *value_text_n(const char *text, size_t n);
json_t *value_texts(const char *const *texts, size_t n);
/* The name of a test; of several. */
json_t *value_test(const struct roster *roster, size_t test);
json_t *value_tests(const struct roster *roster, const size_t *tests, size_t n);
/* As it is shown; null where it is unknown. */
json_t *value_file(const char *file);
json_t *value_line(const char *file, unsigned line);
/* A list of "function", "file" and "line". */
json_t *value_frames(const struct call_frame *frames, size_t n);
/* "file", "line" and "message". */
json_t *value_failure(const char *file, unsigned line, const char *message);
