/*
 * What a document says of the whole call, as a report of one suite does: where
 * its paths lead, when it began, how it ended.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "whole/document_internal.h"

/* What the source roots of all suites have in common; NULL: none has one. */
static struct err *find_common_sources(const struct document *document,
				       char **ret)
{
	_cleanup_(freep) char *common = NULL;
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		const char *sources = document_text_of(
			json_object_get(suite, "run"), "sources");
		if (*sources != '/')
			continue;
		if (common)
			path_cut_to_common(common, sources);
		else
			TRY(str_copy(sources, &common));
	}
	*ret = take_ptr(common);
	return NULL;
}

/* Times of one form: the order of texts is that of times. */
static const char *find_first_start(const struct document *document)
{
	const char *first = "";
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		const char *started = document_text_of(
			json_object_get(suite, "run"), "started");
		if (*started && (!*first || strcmp(started, first) < 0))
			first = started;
	}
	return first;
}

static double sum_seconds(const struct document *document)
{
	const json_t *suites = document_list_of(document, "suites");
	double sum = 0;
	for (size_t i = 0; i < json_array_size(suites); i++)
		sum += json_number_value(
			json_object_get(json_array_get(suites, i), "seconds"));
	return sum;
}

struct err *document_set_run(struct document *document)
{
	_cleanup_(freep) char *folder = getcwd(NULL, 0);
	_cleanup_(freep) char *shown = NULL, *sources = NULL, *named = NULL;
	int status = 0;
	TRY(document_status(document, &status));
	TRY(find_common_sources(document, &sources));
	shown = folder ? str_utf8(folder, strlen(folder)) : NULL;
	named = sources ? str_utf8(sources, strlen(sources)) : NULL;
	json_t *run = json_pack(
		"{s:s, s:s?, s:s?, s:[], s:n, s:s, s:f, s:[], s:i}", "command",
		"check", "folder", shown, "sources", named, "options",
		"build_id", "started", find_first_start(document), "seconds",
		sum_seconds(document), "phases", "exit_status", status);
	return json_object_set_new(document->root, "run", run) ? err_nomem()
							       : NULL;
}
