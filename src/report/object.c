#include "report/object.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "report/report.h"

struct err *object_set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) ? err_nomem() : NULL;
}

struct err *object_append(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) ? err_nomem() : NULL;
}

struct err *object_set_text(json_t *object, const char *key, const char *text,
			    size_t n)
{
	if (!text)
		return object_set(object, key, json_null());
	_cleanup_(str_freep) struct str clean = STR_INIT;
	TRY(str_append_utf8(&clean, text, n));
	return object_set(object, key, json_stringn_nocheck(clean.s, clean.n));
}

struct err *object_set_string(json_t *object, const char *key, const char *text)
{
	return object_set_text(object, key, text, text ? strlen(text) : 0);
}

struct err *object_text(const char *text, json_t **ret)
{
	_cleanup_(str_freep) struct str clean = STR_INIT;
	TRY(str_append_utf8(&clean, text, strlen(text)));
	*ret = json_stringn_nocheck(clean.s, clean.n);
	return *ret ? NULL : err_nomem();
}

struct err *object_set_count(json_t *object, const char *key, uint64_t count)
{
	return object_set(object, key, json_integer((json_int_t)count));
}

struct err *object_set_place(json_t *object, const char *file, unsigned line)
{
	_cleanup_(freep) char *shown = NULL;
	if (file)
		TRY(path_display(NULL, file, &shown));
	TRY(object_set_string(object, "file", shown));
	return object_set(object, "line",
			  file && line ? json_integer(line) : json_null());
}

struct err *object_frames(const struct report_frame *frames, size_t n,
			  json_t **ret)
{
	_cleanup_(object_freep) json_t *list = json_array();
	if (!list)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		json_t *frame = json_object();
		TRY(object_append(list, frame));
		TRY(object_set_string(frame, "function", frames[i].function));
		TRY(object_set_place(frame, frames[i].file, frames[i].line));
	}
	*ret = take_ptr(list);
	return NULL;
}
