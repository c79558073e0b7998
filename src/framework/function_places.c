#include "framework/function_places.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define LINE_DIGITS_MAX 7

/* Ends what is before @end with the name of a source file? *@ret: where it begins. */
static bool function_place_is_file(const char *start, const char *end,
				   const char **ret)
{
	static const char *const endings[] = { ".c", ".cc", ".cpp", ".cxx",
					       ".C", ".h",  ".hh",  ".hpp" };
	const char *name = end;
	while (name > start && !isspace((unsigned char)name[-1]) &&
	       !strchr(":\"'`([<", name[-1]))
		name--;
	*ret = name;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);
		if ((size_t)(end - name) > n &&
		    (size_t)(end - name) < FUNCTION_PLACE_FILE_MAX &&
		    !memcmp(end - n, endings[i], n))
			return true;
	}
	return false;
}

/* Of "function: Assertion `x' failed." what failed: "assertion failed: x". */
static bool function_place_shorten(char *text)
{
	static const char mark[] = "Assertion `", end[] = "' failed.";
	char expression[FUNCTION_PLACE_TEXT_MAX];
	char *from = strstr(text, mark);
	char *to = from ? strstr(from, end) : NULL;
	if (!to)
		return false;
	from += strlen(mark);
	snprintf(expression, sizeof(expression), "%.*s", (int)(to - from),
		 from);
	snprintf(text, FUNCTION_PLACE_TEXT_MAX, "assertion failed: %.200s",
		 expression);
	return true;
}

/* In one line of output. */
static bool function_place_in_line(const char *line, const char *end,
				   struct function_place *ret)
{
	for (const char *at = line; at < end; at++) {
		const char *file, *digits = at + 1, *after = digits;
		while (after < end && isdigit((unsigned char)*after))
			after++;
		if (*at != ':' || after == digits ||
		    after - digits > LINE_DIGITS_MAX ||
		    (after < end && isalnum((unsigned char)*after)) ||
		    !function_place_is_file(line, at, &file))
			continue;
		while (after < end &&
		       (isspace((unsigned char)*after) || *after == ':'))
			after++;
		snprintf(ret->file, sizeof(ret->file), "%.*s", (int)(at - file),
			 file);
		snprintf(ret->text, sizeof(ret->text), "%.*s",
			 (int)MIN(end - after,
				  (ptrdiff_t)FUNCTION_PLACE_TEXT_MAX),
			 after);
		ret->line = (unsigned)strtoul(digits, NULL, 10);
		ret->assertion = function_place_shorten(ret->text);
		return ret->line;
	}
	return false;
}

bool function_place_find(const char *output, struct function_place *ret)
{
	struct function_place place;
	bool found = false;
	for (const char *line = output; *line;) {
		const char *end = strchrnul(line, '\n');
		if (function_place_in_line(line, end, &place) &&
		    (!found || (place.assertion && !ret->assertion))) {
			*ret = place;
			found = true;
		}
		line = *end ? end + 1 : end;
	}
	return found;
}
