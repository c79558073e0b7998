#include "framework/doctest_filter.h"

#include <ctype.h>
#include <stdlib.h>

void doctest_filter_free(struct doctest_filter *filter)
{
	for (size_t i = 0; i < DOCTEST_FILTERS; i++) {
		for (size_t j = 0; j < filter->globs[i].n; j++)
			free(filter->globs[i].data[j]);
		vec_free(&filter->globs[i]);
	}
}

static bool doctest_same_letter(char a, char b, bool case_sensitive)
{
	return a == b || (!case_sensitive && tolower((unsigned char)a) ==
						     tolower((unsigned char)b));
}

/* '*' and '?', nothing else: doctest's wildcmp(). */
static bool doctest_match_wildcard(const char *text, const char *wild,
				   bool case_sensitive)
{
	const char *back_wild = NULL, *back_text = NULL;
	while (*text) {
		if (*wild == '*') {
			back_wild = ++wild;
			back_text = text + 1;
		} else if (*wild == '?' ||
			   doctest_same_letter(*wild, *text, case_sensitive)) {
			wild++;
			text++;
		} else if (back_wild) {
			wild = back_wild;
			text = back_text++;
		} else {
			return false;
		}
	}
	while (*wild == '*')
		wild++;
	return !*wild;
}

static bool doctest_filter_matches(const struct doctest_filter *filter,
				   size_t which, const char *text)
{
	for (size_t i = 0; i < filter->globs[which].n; i++) {
		if (doctest_match_wildcard(text, filter->globs[which].data[i],
					   filter->case_sensitive))
			return true;
	}
	return false;
}

static bool doctest_filter_takes_text(const struct doctest_filter *filter,
				      size_t which, const char *text)
{
	return (!filter->globs[which].n ||
		doctest_filter_matches(filter, which, text)) &&
	       !doctest_filter_matches(filter, which + 1, text);
}

bool doctest_filter_takes(struct doctest_filter *filter, const char *file,
			  const char *suite, const char *name, bool disabled)
{
	if (!doctest_filter_takes_text(filter, DOCTEST_FILTER_FILE, file) ||
	    !doctest_filter_takes_text(filter, DOCTEST_FILTER_SUITE, suite) ||
	    !doctest_filter_takes_text(filter, DOCTEST_FILTER_CASE, name))
		return false;
	if (!disabled)
		filter->passed++;
	bool behind =
		filter->first <= filter->last && filter->last < filter->passed;
	return !behind && filter->first <= filter->passed;
}
