#include "cli/dry_run.h"

#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/output.h"
#include "whole/document.h"
#include "whole/part.h"

static struct err *describe_test(const struct build_part *part, size_t number,
				 json_t *tests)
{
	const char *name = part->tests.data[number];
	bool placed =
		part->files.n == part->tests.n && *part->files.data[number];
	_cleanup_(freep) char *shown = str_utf8(name, strlen(name));
	if (!shown)
		return err_nomem();
	_cleanup_(json_freep) json_t *test = json_pack("{s:s}", "name", shown);
	if (!test)
		return err_nomem();
	if (placed) {
		const char *path = part->files.data[number];
		_cleanup_(freep) char *file = str_utf8(path, strlen(path));
		if (!file ||
		    json_object_set_new(test, "file", json_string(file)) ||
		    json_object_set_new(test, "line",
					json_integer(part->lines.data[number])))
			return err_nomem();
	}
	return json_array_append(tests, test) ? err_nomem() : NULL;
}

/* As the report of its check would begin. */
static struct err *describe_part(const struct build_part *part, char **ret,
				 size_t *ret_n)
{
	_cleanup_(json_freep) json_t *words = json_array();
	_cleanup_(json_freep) json_t *tests = json_array();
	for (size_t i = 0; i < part->argv.n; i++) {
		_cleanup_(freep) char *word = str_utf8(
			part->argv.data[i], strlen(part->argv.data[i]));
		if (!word || json_array_append_new(words, json_string(word)))
			return err_nomem();
	}
	for (size_t i = 0; i < part->tests.n; i++)
		TRY(describe_test(part, i, tests));
	_cleanup_(json_freep) json_t *root =
		json_pack("{s:{s:O, s:I}, s:O}", "suite", "command", words,
			  "tests", (json_int_t)part->tests.n, "tests", tests);
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	if (!text)
		return err_nomem();
	*ret = text;
	*ret_n = strlen(text);
	return NULL;
}

/* One line a test, to be cut and sorted by others. */
static struct err *write_planned_tests(const struct document *document,
				       FILE *out)
{
	size_t i;
	json_t *test;
	json_array_foreach(json_object_get(document->root, "tests"), i, test)
	{
		const char *suite =
			json_string_value(json_object_get(test, "suite"));
		const char *name =
			json_string_value(json_object_get(test, "name"));
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(str_append_escaped(&line, suite, strlen(suite)));
		TRY(str_append(&line, ": "));
		TRY(str_append_escaped(&line, name, strlen(name)));
		fprintf(out, "%s\n", line.s);
	}
	return NULL;
}

static struct err *write_dry_run(const void *data,
				 const struct report_format *format,
				 const struct report_style *style, FILE *out)
{
	const struct document *document = data;
	size_t i;
	json_t *limit;
	(void)style;
	if (format && !strcmp(format->name, "json"))
		return document_write_json(document, out);
	if (format && strcmp(format->name, "text") != 0)
		return err_create(ERR_USAGE,
				  "--dry-run is shown as text or JSON");
	if (format)
		TRY(write_planned_tests(document, out));
	json_array_foreach(json_object_get(document->root, "limits"), i, limit)
		fprintf(out, "%s\n", json_string_value(limit));
	size_t n = json_array_size(json_object_get(document->root, "tests"));
	size_t m = json_array_size(json_object_get(document->root, "suites"));
	fprintf(out, "would check: %zu test%s in %zu suite%s\n", n,
		n == 1 ? "" : "s", m, m == 1 ? "" : "s");
	return NULL;
}

struct err *dry_run_write(const struct parts *parts, struct document *document,
			  const struct outputs *outputs)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct build_part *part = &parts->data[i];
		_cleanup_(freep) char *report = NULL;
		size_t n = 0;
		TRY(describe_part(part, &report, &n));
		const struct document_suite suite = {
			.name = part->name,
			.folder = part->folder,
			.report = report,
			.report_n = n,
		};
		TRY(document_add(document, &suite));
	}
	TRY(document_finish(document));
	return outputs_write_by(outputs, write_dry_run, document);
}
