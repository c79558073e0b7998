#include <stdbool.h>

#include "whole/document_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"

#define DOCUMENT_MAX ((size_t)1 << 30)
#define STATUS_OF_INTERRUPT 130
/* Members of a report that are those of the whole, too. */
static const char *const joined[] = { "schema", "polygraph", "suite",
				      "tests",	"findings",  "limits",
				      "suites", "shard",     "shards" };

json_t *document_list_of(const struct document *document, const char *key)
{
	return json_object_get(document->root, key);
}

struct err *document_create(char *const *command, const char *version,
			    struct document *ret)
{
	_cleanup_(json_freep) json_t *words = json_array();
	for (size_t i = 0; command[i]; i++) {
		_cleanup_(freep) char *text =
			str_utf8(command[i], strlen(command[i]));
		if (!text || json_array_append_new(words, json_string(text)))
			return err_nomem();
	}
	json_t *root = json_pack(
		"{s:i, s:s, s:{s:O, s:s, s:i}, s:[], s:[], s:[], s:[]}",
		"schema", 1, "polygraph", version, "suite", "command", words,
		"framework", "build", "tests", 0, "suites", "tests", "findings",
		"limits");
	if (!root)
		return err_nomem();
	ret->root = root;
	return NULL;
}

void document_free(struct document *document)
{
	json_decref(document->root);
	document->root = NULL;
}

/* ---- one suite ---- */

/* What runs the suite again does so where it ran; results are here. */
static struct err *move_replay(json_t *finding, const char *folder)
{
	json_t *replay = json_object_get(finding, "replay");
	_cleanup_(str_freep) struct str command = STR_INIT;
	if (!folder || !json_is_string(replay) ||
	    str_starts(json_string_value(replay), "polygraph replay "))
		return NULL;
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	if (cwd && !strcmp(cwd, folder))
		return NULL;
	_cleanup_(freep) char *shown = NULL;
	TRY(path_display(NULL, folder, &shown));
	_cleanup_(freep) char *text = str_utf8(shown, strlen(shown));
	if (!text)
		return err_nomem();
	TRY(str_append(&command, "cd "));
	TRY(str_append_shell(&command, text));
	TRY(str_appendf(&command, " && %s", json_string_value(replay)));
	return json_string_set(replay, command.s) ? err_nomem() : NULL;
}

/* "…replay ID" becomes "…replay ID 'build/unit_tests'", once. */
static struct err *name_program(json_t *finding)
{
	json_t *replay = json_object_get(finding, "replay");
	const char *name = json_string_value(json_object_get(finding, "suite"));
	_cleanup_(str_freep) struct str command = STR_INIT;
	if (!json_is_string(replay) || !name || strchr(name, '\''))
		return NULL;
	const char *text = json_string_value(replay);
	size_t n = strlen(text);
	/* Other commands name their program already. */
	if (!strstr(text, "polygraph replay ") || text[n - 1] == '\'')
		return NULL;
	TRY(str_appendf(&command, "%s '%s'", text, name));
	return json_string_set(replay, command.s) ? err_nomem() : NULL;
}

static bool is_joined(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(joined); i++) {
		if (!strcmp(joined[i], key))
			return true;
	}
	return false;
}

/* Members of @list go to that of the document, with the suite's name first. */
static struct err *document_add_members(struct document *document,
					const char *key, const json_t *list,
					const char *name, const char *folder)
{
	_cleanup_(json_freep) json_t *entries = json_array();
	size_t i;
	json_t *member;
	json_array_foreach(list, i, member)
	{
		if (!json_is_object(member))
			continue;
		_cleanup_(json_freep) json_t *entry =
			json_pack("{s:s}", "suite", name);
		if (!entry || json_object_update_missing(entry, member))
			return err_nomem();
		TRY(move_replay(entry, folder));
		if (json_array_append(entries, entry))
			return err_nomem();
	}
	TRY(document_move_places(entries, folder));
	if (json_array_extend(document_list_of(document, key), entries))
		return err_nomem();
	return NULL;
}

static struct err *add_limits(struct document *document, const json_t *limits,
			      const char *name)
{
	size_t i;
	json_t *limit;
	json_array_foreach(limits, i, limit)
	{
		_cleanup_(str_freep) struct str text = STR_INIT;
		if (!json_is_string(limit))
			continue;
		TRY(str_appendf(&text, "%s: %s", name,
				json_string_value(limit)));
		TRY(document_add_limit(document, text.s));
	}
	return NULL;
}

static struct err *add_entry(struct document *document, json_t *entry)
{
	json_t *suite = json_object_get(document->root, "suite");
	json_t *tests = json_object_get(suite, "tests");
	json_int_t more = json_integer_value(json_object_get(entry, "tests"));
	if (json_array_append(document_list_of(document, "suites"), entry) ||
	    json_integer_set(tests, json_integer_value(tests) + more))
		return err_nomem();
	return NULL;
}

static struct err *make_entry(const struct document_suite *suite,
			      const json_t *report, const char *name,
			      json_t **ret)
{
	_cleanup_(json_freep) json_t *entry = json_pack("{s:s}", "name", name);
	const json_t *head = json_object_get(report, "suite");
	const char *key;
	json_t *member;
	if (!entry)
		return err_nomem();
	if (json_is_object(head) &&
	    json_object_update_missing(entry, (json_t *)head))
		return err_nomem();
	if (!head) {
		json_t *words = json_array();
		for (size_t i = 0; suite->command && suite->command[i]; i++) {
			_cleanup_(freep) char *text = str_utf8(
				suite->command[i], strlen(suite->command[i]));
			if (!text)
				return err_nomem();
			json_array_append_new(words, json_string(text));
		}
		if (json_object_set_new(entry, "command", words))
			return err_nomem();
	}
	if (json_object_set_new(entry, "status", json_integer(suite->status)) ||
	    json_object_set_new(entry, "seconds",
				json_real(round(suite->seconds * 1e6) / 1e6)))
		return err_nomem();
	if (suite->message) {
		_cleanup_(freep) char *text =
			str_utf8(suite->message, strlen(suite->message));
		if (!text ||
		    json_object_set_new(entry, "message", json_string(text)))
			return err_nomem();
	}
	json_object_foreach((json_t *)report, key, member)
	{
		if (!is_joined(key) && json_object_set(entry, key, member))
			return err_nomem();
	}
	*ret = take_ptr(entry);
	return NULL;
}

struct err *document_add(struct document *document,
			 const struct document_suite *suite)
{
	_cleanup_(json_freep) json_t *report = NULL, *entry = NULL;
	_cleanup_(freep) char *name =
		str_utf8(suite->name, strlen(suite->name));
	json_error_t error;
	if (!name)
		return err_nomem();
	if (suite->report) {
		report = json_loadb(suite->report, suite->report_n, 0, &error);
		if (!json_is_object(report))
			return err_create(ERR_INTERNAL,
					  "the report of '%s' cannot be read: "
					  "%s",
					  name, error.text);
	}
	TRY(make_entry(suite, report, name, &entry));
	TRY(add_entry(document, entry));
	TRY(document_add_members(document, "tests",
				 json_object_get(report, "tests"), name,
				 suite->folder));
	TRY(document_add_members(document, "findings",
				 json_object_get(report, "findings"), name,
				 suite->folder));
	return add_limits(document, json_object_get(report, "limits"), name);
}

struct err *document_add_limit(struct document *document, const char *text)
{
	_cleanup_(freep) char *utf8 = str_utf8(text, strlen(text));
	if (!utf8 || json_array_append_new(document_list_of(document, "limits"),
					   json_string(utf8)))
		return err_nomem();
	return NULL;
}

struct err *document_set_shard(struct document *document,
			       const struct shard *shard, const char *plan)
{
	json_t *value =
		json_pack("{s:I, s:I, s:s}", "index", (json_int_t)shard->index,
			  "of", (json_int_t)shard->of, "plan", plan);
	return json_object_set_new(document->root, "shard", value) ? err_nomem()
								   : NULL;
}

/* ---- sorting ---- */

struct sorted_entry {
	const char *name;
	size_t number;
	json_t *value;
};

const char *document_text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static int compare_entries_by_name(const void *a, const void *b)
{
	const struct sorted_entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : x->number < y->number ? -1 : 1;
}

/* By suite; within a suite as they were. */
static struct err *sort_list(struct document *document, const char *list,
			     const char *key)
{
	json_t *values = document_list_of(document, list);
	size_t n = json_array_size(values);
	_cleanup_(freep) struct sorted_entry *entries =
		calloc(n + 1, sizeof(*entries));
	if (!entries)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		json_t *value = json_array_get(values, i);
		const char *name = key ? document_text_of(value, key)
				       : json_string_value(value);
		entries[i] = (struct sorted_entry){ name ? name : "", i,
						    json_incref(value) };
	}
	qsort(entries, n, sizeof(*entries), compare_entries_by_name);
	struct err *err = json_array_clear(values) ? err_nomem() : NULL;
	for (size_t i = 0; i < n; i++) {
		if (json_array_append_new(values, entries[i].value))
			err = err_nomem();
	}
	return err;
}

/* The same test of another program has the same id, maybe in another share. */
static struct err *tell_programs_apart(struct document *document)
{
	_cleanup_(map_text_freep) struct map_text firsts = MAP_INIT;
	json_t *findings = document_list_of(document, "findings");
	size_t i;
	json_t *finding;
	json_array_foreach(findings, i, finding)
	{
		const char *id =
			json_string_value(json_object_get(finding, "id"));
		uint64_t first;
		if (!id)
			continue;
		if (!map_text_get(&firsts, id, &first)) {
			TRY(map_text_put(&firsts, id, i));
			continue;
		}
		json_t *other = json_array_get(findings, first);
		if (json_equal(json_object_get(other, "suite"),
			       json_object_get(finding, "suite")))
			continue;
		TRY(name_program(other));
		TRY(name_program(finding));
	}
	return NULL;
}

struct err *document_finish(struct document *document)
{
	TRY(sort_list(document, "suites", "name"));
	TRY(sort_list(document, "tests", "suite"));
	TRY(sort_list(document, "findings", "suite"));
	TRY(tell_programs_apart(document));
	return sort_list(document, "limits", NULL);
}

/* ---- reading and joining ---- */

struct err *document_read(const char *path, struct document *ret)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(json_freep) json_t *root = NULL;
	json_error_t error;
	size_t n;
	struct err *err = file_read(path, DOCUMENT_MAX, &text, &n);
	if (err)
		return err_with_kind(err, ERR_USAGE);
	root = json_loadb(text, n, 0, &error);
	if (!root)
		return err_create(ERR_USAGE, "'%s' is not JSON: line %d: %s",
				  path, error.line, error.text);
	const json_t *schema = json_object_get(root, "schema");
	if (!json_is_object(root) || !json_is_integer(schema) ||
	    !json_is_array(json_object_get(root, "tests")) ||
	    !json_is_array(json_object_get(root, "findings")))
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is not a report of polygraph",
					   path),
				"reports are written with --format json "
				"--output FILE");
	if (json_integer_value(schema) != 1)
		return err_create(ERR_USAGE,
				  "'%s' has another schema (%lld, not 1)", path,
				  (long long)json_integer_value(schema));
	ret->root = take_ptr(root);
	return NULL;
}

static bool has_suite(const struct document *document, const char *name)
{
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		if (!strcmp(document_text_of(suite, "name"), name))
			return true;
	}
	return false;
}

/* A report of one suite: its exit status is not in it. */
static struct err *join_single(struct document *document, const json_t *root,
			       const char *path)
{
	const json_t *head = json_object_get(root, "suite");
	const json_t *command = json_object_get(head, "command");
	_cleanup_(str_freep) struct str name = STR_INIT;
	_cleanup_(freep) char *text = NULL;
	bool fails = false, found = false;
	size_t i;
	json_t *member;
	json_array_foreach(command, i, member)
	{
		const char *word = json_string_value(member);
		TRY(str_appendf(&name, "%s%s", i ? " " : "", word ? word : ""));
	}
	TRY(str_append(&name, name.n ? "" : path));
	if (has_suite(document, name.s))
		return err_create(ERR_USAGE,
				  "'%s': results of '%s' are there already",
				  path, name.s);
	json_array_foreach(json_object_get(root, "tests"), i, member)
	{
		const char *outcome = document_text_of(member, "outcome");
		fails |= *outcome && strcmp(outcome, "pass") &&
			 strcmp(outcome, "skip");
	}
	json_array_foreach(json_object_get(root, "findings"), i, member)
		found |= !json_is_true(json_object_get(member, "known"));
	text = json_dumps(root, 0);
	if (!text)
		return err_nomem();
	const struct document_suite suite = {
		.name = name.s,
		.report = text,
		.report_n = strlen(text),
		.status = found	  ? 1
			  : fails ? 3
				  : 0,
	};
	return document_add(document, &suite);
}

struct err *document_join(struct document *document,
			  const struct document *from, const char *path)
{
	static const char *const lists[] = { "tests", "findings", "limits" };
	json_t *suites = json_object_get(from->root, "suites");
	size_t i;
	json_t *member;
	if (!json_is_array(suites))
		return join_single(document, from->root, path);
	json_array_foreach(suites, i, member)
	{
		const char *name = document_text_of(member, "name");
		if (!json_is_object(member) || !*name)
			return err_create(ERR_USAGE,
					  "'%s': a suite has no name", path);
		if (has_suite(document, name))
			return err_hint(
				err_create(ERR_USAGE,
					   "'%s': results of '%s' are there "
					   "already",
					   path, name),
				"give each file once, and shares of one run");
		TRY(add_entry(document, member));
	}
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		json_t *list = json_object_get(from->root, lists[i]);
		if (json_is_array(list) &&
		    json_array_extend(document_list_of(document, lists[i]),
				      list))
			return err_nomem();
	}
	return NULL;
}

/* ---- questions ---- */

struct err *document_status(const struct document *document, int *ret)
{
	/* The weightier the later; 0, 1 and 3 are the verdict's. */
	static const int weights[] = { 3, 2, 4, STATUS_OF_INTERRUPT };
	struct report_verdict verdict;
	size_t worst = 0, i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		json_int_t status =
			json_integer_value(json_object_get(suite, "status"));
		size_t at = status && status != 1 ? ARRAY_SIZE(weights) - 1 : 0;
		for (size_t j = 0; j < ARRAY_SIZE(weights); j++) {
			if (weights[j] == status)
				at = j + 1;
		}
		worst = MAX(worst, at);
	}
	TRY(document_judge(document, &verdict));
	*ret = verdict_status(&verdict);
	if (worst > 1 || (worst == 1 && !*ret))
		*ret = weights[worst - 1];
	return NULL;
}

double document_seconds(const struct document *document, const char *name)
{
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		const json_t *seconds = json_object_get(suite, "seconds");
		if (!strcmp(document_text_of(suite, "name"), name) &&
		    json_is_number(seconds) && json_number_value(seconds) > 0)
			return json_number_value(seconds);
	}
	return -1;
}

bool document_is_timed(const struct document *document)
{
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		if (json_number_value(json_object_get(suite, "seconds")) > 0)
			return true;
	}
	return false;
}

/* The program itself may lie elsewhere by now. */
static bool has_arguments(const json_t *suite, char *const *arguments)
{
	const json_t *command = json_object_get(suite, "command");
	size_t n = 0;
	while (arguments[n])
		n++;
	if (json_array_size(command) != n + 1)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *word =
			json_string_value(json_array_get(command, i + 1));
		if (!word || strcmp(word, arguments[i]) != 0)
			return false;
	}
	return true;
}

struct err *document_take_tests(const struct document *document,
				const char *name, char *const *arguments,
				struct strv *ret)
{
	size_t i;
	json_t *suite, *test;
	bool known = false;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
		known |=
		!strcmp(document_text_of(suite, "name"), name) &&
		json_integer_value(json_object_get(suite, "tests")) > 1 &&
		has_arguments(suite, arguments);
	if (!known)
		return NULL;
	json_array_foreach(document_list_of(document, "tests"), i, test)
	{
		if (!strcmp(document_text_of(test, "suite"), name))
			TRY(strv_add(ret, document_text_of(test, "name")));
	}
	return NULL;
}
