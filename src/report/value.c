#include "report/value.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"

struct err *value_made(json_t *made, json_t **ret)
{
	if (!made)
		return err_nomem();
	*ret = made;
	return NULL;
}

void value_append(json_t **list, json_t *value)
{
	if (*list && !json_array_append_new(*list, value))
		return;
	if (!*list)
		json_decref(value);
	json_decref(*list);
	*list = NULL;
}

json_t *value_text_n(const char *text, size_t n)
{
	_cleanup_(str_freep) struct str clean = STR_INIT;
	if (!text)
		return json_null();
	struct err *err = str_append_utf8(&clean, text, n);
	err_ignore(err);
	return err ? NULL
		   : json_stringn_nocheck(clean.n ? clean.s : "", clean.n);
}

json_t *value_text(const char *text)
{
	return value_text_n(text, text ? strlen(text) : 0);
}

json_t *value_texts(const char *const *texts, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		value_append(&list, value_text(texts[i]));
	return list;
}

json_t *value_test(const struct roster *roster, size_t test)
{
	return value_text(roster_name(roster, test));
}

json_t *value_tests(const struct roster *roster, const size_t *tests, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		value_append(&list, value_test(roster, tests[i]));
	return list;
}

json_t *value_file(const char *file)
{
	_cleanup_(freep) char *shown = NULL;
	if (!file)
		return json_null();
	struct err *err = path_display(NULL, file, &shown);
	err_ignore(err);
	return err ? NULL : value_text(shown);
}

json_t *value_line(const char *file, unsigned line)
{
	return file && line ? json_integer(line) : json_null();
}

json_t *value_frames(const struct call_frame *frames, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		value_append(
			&list,
			json_pack("{s:o, s:o, s:o}", "function",
				  value_text(frames[i].function), "file",
				  value_file(frames[i].file), "line",
				  value_line(frames[i].file, frames[i].line)));
	return list;
}

json_t *value_failure(const char *file, unsigned line, const char *message)
{
	return json_pack("{s:o, s:o, s:o}", "file", value_file(file), "line",
			 value_line(file, line), "message",
			 value_text(message));
}
