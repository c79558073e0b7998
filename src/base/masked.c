#include "base/masked.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/str.h"

#define DIGITS "0123456789"
#define SECONDS_A_DAY 86400

size_t masked_date(const char *text, int64_t *ret_day)
{
	static const struct {
		size_t digits;
		int least, most;
	} parts[] = { { 4, 1970, 2999 }, { 2, 1, 12 }, { 2, 1, 31 } };
	int values[3];
	size_t at = 0;
	char between = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (i == 1 && text[at] && strchr("-_.", text[at]))
			between = text[at];
		if (i && between && text[at++] != between)
			return 0;
		values[i] = 0;
		for (size_t k = 0; k < parts[i].digits; k++) {
			if (!isdigit((unsigned char)text[at]))
				return 0;
			values[i] = values[i] * 10 + (text[at++] - '0');
		}
		if (values[i] < parts[i].least || values[i] > parts[i].most)
			return 0;
	}
	if (isdigit((unsigned char)text[at]))
		return 0;
	struct tm tm = { .tm_year = values[0] - 1900,
			 .tm_mon = values[1] - 1,
			 .tm_mday = values[2] };
	*ret_day = timegm(&tm) / SECONDS_A_DAY;
	return at;
}

bool masked_name(const char *root)
{
	size_t n = strlen(root);
	return strstr(root, MADE_UP_SHOWN) || strstr(root, MASK_PID) ||
	       strstr(root, MASK_DATE) ||
	       (n > 1 && !strcmp(root + n - 2, MASK_ANY)) ||
	       !strcmp(root, &MASK_ANY[1]);
}

bool masked_fits(const char *masked, const char *path)
{
	while (*masked) {
		/* Any one name in the folder, and what is below. */
		if (!strcmp(masked, MASK_ANY))
			return path[0] == '/' && path[1];
		if (str_starts(masked, MADE_UP_SHOWN)) {
			size_t most = 0;
			while (most < MASK_RANDOM_MAX &&
			       (isalnum((unsigned char)path[most]) ||
				path[most] == '_'))
				most++;
			for (size_t n = MADE_UP; n <= most; n++) {
				if (masked_fits(masked + MADE_UP, path + n))
					return true;
			}
			return false;
		}
		if (str_starts(masked, MASK_PID) &&
		    isdigit((unsigned char)*path)) {
			path += strspn(path, DIGITS);
			masked += strlen(MASK_PID);
			continue;
		}
		int64_t day;
		size_t date = str_starts(masked, MASK_DATE)
				      ? masked_date(path, &day)
				      : 0;
		if (date) {
			path += date;
			masked += strlen(MASK_DATE);
			continue;
		}
		if (*masked != *path)
			return false;
		masked++;
		path++;
	}
	/* The same, or below. */
	return !*path || *path == '/';
}
