#include "replay/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

/* Others are not read. */
#define RECORD_VERSION 2
/* Texts of one list, and trials; more is not ours. */
#define LIST_MAX ((size_t)1 << 20)
#define TRIALS_MAX 16

static const char *const expects[] = {
	[TRIAL_FAIL] = "fail",
	[TRIAL_PASS] = "pass",
	[TRIAL_FINDING] = "finding",
};

static void trial_free(struct trial *trial)
{
	free(trial->name);
	strv_free(&trial->order);
	strv_free(&trial->command);
	vec_free(&trial->tests);
	for (size_t i = 0; i < trial->results.n; i++)
		suite_result_free(&trial->results.data[i]);
	vec_free(&trial->results);
}

void record_free(struct record *record)
{
	free(record->test);
	free(record->folder);
	strv_free(&record->suite);
	strv_free(&record->files);
	for (size_t i = 0; i < record->trials.n; i++)
		trial_free(&record->trials.data[i]);
	vec_free(&record->trials);
	json_decref(record->details);
	*record = (struct record){};
}

struct err *record_enter(const struct record *record)
{
	if (!record->folder)
		return NULL;
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	TRY(path_show_from(cwd));
	if (!chdir(record->folder))
		return NULL;
	return err_with_kind(err_errno(errno,
				       "cannot enter '%s', where it was "
				       "found",
				       record->folder),
			     ERR_USAGE);
}

/* ---- to fill in ---- */

struct err *record_add_name(struct strv *names, const char *raw)
{
	return strv_take(names, str_utf8(raw, strlen(raw)));
}

struct err *record_add_trial(struct record *record, const char *name,
			     enum trial_expect expect, struct trial **ret)
{
	_cleanup_(freep) char *copy = strdup(name);
	if (!copy)
		return err_nomem();
	TRY(vec_push(&record->trials,
		     (struct trial){ .name = copy, .expect = expect }));
	take_ptr(copy);
	*ret = &record->trials.data[record->trials.n - 1];
	return NULL;
}

/* ---- writing ---- */

json_t *record_pack_list(const struct strv *list)
{
	_cleanup_(json_freep) json_t *array = json_array();
	for (size_t i = 0; i < list->n; i++) {
		if (json_array_append_new(array, json_string(list->data[i])))
			return NULL;
	}
	return take_ptr(array);
}

static json_t *pack_trials(const struct record *record)
{
	_cleanup_(json_freep) json_t *array = json_array();
	for (size_t i = 0; i < record->trials.n; i++) {
		const struct trial *trial = &record->trials.data[i];
		json_t *packed = json_pack(
			"{s:s, s:s, s:b, s:o, s:o}", "name", trial->name,
			"expect", expects[trial->expect], "forced",
			trial->forced, "order", record_pack_list(&trial->order),
			"command", record_pack_list(&trial->command));
		if (json_array_append_new(array, packed))
			return NULL;
	}
	return take_ptr(array);
}

struct err *record_write(const struct record *record, char **ret)
{
	_cleanup_(json_freep) json_t *packed = json_pack(
		"{s:i, s:s, s:s, s:s*, s:o, s:o, s:o, s:O*}", "version",
		RECORD_VERSION, "files_digest", record->files_digest, "test",
		record->test, "folder", record->folder, "suite",
		record_pack_list(&record->suite), "files",
		record_pack_list(&record->files), "trials", pack_trials(record),
		"details", record->details);
	if (!packed)
		return err_create(ERR_INTERNAL, "a name is not UTF-8");
	*ret = json_dumps(packed, JSON_COMPACT);
	return *ret ? NULL : err_nomem();
}

/* ---- reading ---- */

struct err *record_unreadable(const char *what)
{
	return err_hint(err_create(ERR_INTERNAL,
				   "the stored record of this finding "
				   "cannot be read (%s)",
				   what),
			"run the command that found it again");
}

struct err *record_read_list(const json_t *value, const char *what,
			     struct strv *ret)
{
	if (!json_is_array(value) || json_array_size(value) > LIST_MAX)
		return record_unreadable(what);
	for (size_t i = 0; i < json_array_size(value); i++) {
		/* Without NUL inside: jansson refuses that by default. */
		const char *text = json_string_value(json_array_get(value, i));
		if (!text)
			return record_unreadable(what);
		TRY(strv_add(ret, text));
	}
	return NULL;
}

static struct err *read_trial(json_t *value, struct record *record)
{
	json_error_t error;
	json_t *order = NULL, *command = NULL;
	const char *name = NULL, *expect = NULL;
	int forced = 0;
	unsigned at = 0;
	struct trial *trial = NULL;
	if (json_unpack_ex(value, &error, 0, "{s:s, s:s, s:b, s:o, s:o}",
			   "name", &name, "expect", &expect, "forced", &forced,
			   "order", &order, "command", &command))
		return record_unreadable(error.text);
	while (at < ARRAY_SIZE(expects) && strcmp(expects[at], expect) != 0)
		at++;
	if (at == ARRAY_SIZE(expects))
		return record_unreadable("expect");
	_cleanup_(freep) char *shown = str_escape(name);
	if (!shown)
		return err_nomem();
	TRY(record_add_trial(record, shown, (enum trial_expect)at, &trial));
	BUG_ON(!trial);
	trial->forced = forced;
	TRY(record_read_list(order, "order", &trial->order));
	TRY(record_read_list(command, "command", &trial->command));
	if (trial->expect == TRIAL_FINDING)
		return trial->command.n ? NULL : record_unreadable("command");
	if (!trial->order.n ||
	    strcmp(trial->order.data[trial->order.n - 1], record->test) != 0)
		return record_unreadable("order");
	return NULL;
}

static struct err *read_trials(json_t *value, struct record *record)
{
	if (!json_is_array(value) || !json_array_size(value) ||
	    json_array_size(value) > TRIALS_MAX)
		return record_unreadable("trials");
	for (size_t i = 0; i < json_array_size(value); i++)
		TRY(read_trial(json_array_get(value, i), record));
	return NULL;
}

struct err *record_read(const char *text, struct record *ret)
{
	_cleanup_(json_freep) json_t *root = json_loads(text, 0, NULL);
	_cleanup_(record_freep) struct record record = {};
	json_error_t error;
	json_t *suite = NULL, *files = NULL, *trials = NULL, *details = NULL;
	const char *digest = NULL, *test = NULL, *folder = NULL;
	int version = 0;
	if (!root || json_unpack(root, "{s:i}", "version", &version))
		return record_unreadable("version");
	if (version != RECORD_VERSION)
		return err_hint(
			err_create(ERR_INTERNAL,
				   "this finding was stored by another version "
				   "of polygraph and cannot be read"),
			"run the command that found it again");
	if (json_unpack_ex(root, &error, 0,
			   "{s:s, s:s, s?s, s:o, s:o, s:o, s?o}",
			   "files_digest", &digest, "test", &test, "folder",
			   &folder, "suite", &suite, "files", &files, "trials",
			   &trials, "details", &details))
		return record_unreadable(error.text);
	if (strlen(digest) >= DIGEST_SIZE)
		return record_unreadable("files_digest");
	snprintf(record.files_digest, DIGEST_SIZE, "%s", digest);
	record.test = strdup(test);
	if (!record.test)
		return err_nomem();
	TRY(str_copy(folder, &record.folder));
	TRY(record_read_list(suite, "suite", &record.suite));
	if (!record.suite.n)
		return record_unreadable("suite");
	TRY(record_read_list(files, "files", &record.files));
	TRY(read_trials(trials, &record));
	record.details = json_is_object(details) ? json_incref(details) : NULL;
	*ret = record;
	record = (struct record){};
	return NULL;
}
