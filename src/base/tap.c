#include "base/tap.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/str.h"

/* The directive after an unescaped " #": "SKIP …", "TODO …". */
static const char *tap_find_directive(const char *line)
{
	for (const char *c = line; *c; c++) {
		if (*c == '\\' && c[1])
			c++;
		else if (*c == '#') {
			c++;
			return c + strspn(c, " \t");
		}
	}
	return "";
}

static bool tap_is_directive(const char *line, const char *word)
{
	return !strncasecmp(tap_find_directive(line), word, strlen(word));
}

static void tap_note_first(struct tap *tap, const char *line)
{
	if (!tap->first[0])
		memcpy(tap->first, line, strlen(line) + 1);
}

static void tap_read_point(struct tap *tap, const char *line, bool ok)
{
	tap->points++;
	if (tap_is_directive(line, "TODO"))
		return;
	if (ok && tap_is_directive(line, "SKIP")) {
		tap->skipped++;
	} else if (!ok) {
		if (!tap->failed)
			tap->first[0] = '\0';
		tap_note_first(tap, line);
		tap->failed++;
	}
}

static void tap_read_plan(struct tap *tap, const char *count)
{
	uint64_t n = 0;
	if (!isdigit((unsigned char)*count))
		return;
	for (; isdigit((unsigned char)*count); count++) {
		if (n > UINT64_MAX / 16)
			return;
		n = n * 10 + (uint64_t)(*count - '0');
	}
	if (tap->has_plan)
		return;
	tap->has_plan = true;
	tap->planned = n;
	if (!n) {
		tap->all_skipped = true;
		tap_note_first(tap, tap_find_directive(count));
	}
}

static bool tap_word_ends(char c)
{
	return !c || c == ' ' || c == '\t';
}

static void tap_read_line(struct tap *tap)
{
	char *line = tap->line;
	size_t n = tap->line_n;
	tap->line_n = 0;
	line[MIN(n, sizeof(tap->line) - 1)] = '\0';
	size_t length = strlen(line);
	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	if (tap->bailed)
		return;
	if (str_starts(line, "ok") && tap_word_ends(line[2]))
		tap_read_point(tap, line, true);
	else if (str_starts(line, "not ok") && tap_word_ends(line[6]))
		tap_read_point(tap, line, false);
	else if (str_starts(line, "1.."))
		tap_read_plan(tap, line + 3);
	else if (str_starts(line, "Bail out!")) {
		tap->bailed = true;
		tap->first[0] = '\0';
		tap_note_first(tap, line);
	}
}

void tap_feed(struct tap *tap, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] == '\n')
			tap_read_line(tap);
		else if (tap->line_n < sizeof(tap->line) - 1)
			tap->line[tap->line_n++] = data[i];
	}
}

void tap_finish(struct tap *tap)
{
	if (tap->line_n)
		tap_read_line(tap);
}

enum outcome tap_outcome(const struct tap *tap, const char **ret_why)
{
	*ret_why = tap->first[0] ? tap->first : NULL;
	if (tap->bailed || tap->failed)
		return OUTCOME_FAIL;
	if (tap->all_skipped && !tap->points)
		return OUTCOME_SKIP;
	if (!tap->points && !tap->has_plan) {
		*ret_why = "printed no TAP: neither a plan nor a test line";
		return OUTCOME_FAIL;
	}
	if (tap->has_plan && tap->points < tap->planned) {
		*ret_why = "fewer tests ran than the TAP plan says";
		return OUTCOME_FAIL;
	}
	if (tap->has_plan && tap->points > tap->planned) {
		*ret_why = "more tests ran than the TAP plan says";
		return OUTCOME_FAIL;
	}
	if (tap->points && tap->skipped == tap->points)
		return OUTCOME_SKIP;
	return OUTCOME_PASS;
}
