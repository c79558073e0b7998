#include "cli/results.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/version.h"
#include "cli/choices_options.h"
#include "cli/command.h"
#include "results/digest.h"
#include "store/store.h"

/* Of what is kept for replay; others are not read. */
#define REPLAY_VERSION 1
/* Words or names of one list; more is not ours. */
#define LIST_MAX ((size_t)1 << 20)

struct results {
	const struct options *options;
	const struct common_suite *choice;
	const struct suite *suite;
	const char *matters;
	struct order_memory memory;

	char *name;	     /* of the suite: its command line */
	struct store *store; /* NULL: not opened yet */
	bool begun;	     /* its facts are this suite's */
	bool digested;	     /* these are known: */
	char files[DIGEST_SIZE];
	char digest[DIGEST_SIZE];
	bool lost;	 /* it cannot be opened */
	bool facts_lost; /* no more are kept */
	bool said;
};

static struct {
	const char *id;
	const char *files;
	bool seen;
} replaying;

static void json_freep(json_t **json)
{
	json_decref(*json);
}

static void say_lost(struct results *results, struct err *err)
{
	if (!results->said)
		log_warn("results are not kept: %s", err_message(err));
	results->said = true;
	err_destroy(err);
}

/* ---- open and close ---- */

static bool memory_get(void *data, const char *key, void **ret, size_t *ret_n);
static void memory_put(void *data, const char *key, const void *value,
		       size_t n);

static struct err *suite_name(const struct common_suite *choice, char **ret)
{
	_cleanup_(str_freep) struct str name = STR_INIT;
	for (size_t i = 0; choice->command[i]; i++) {
		if (i)
			TRY(str_append(&name, " "));
		TRY(str_append_escaped(&name, choice->command[i],
				       strlen(choice->command[i])));
	}
	*ret = str_take(&name);
	return *ret ? NULL : err_nomem();
}

struct err *results_open(const struct options *options,
			 const struct common_suite *choice,
			 const struct suite *suite, const char *matters,
			 struct results **ret)
{
	_cleanup_(results_closep) struct results *results =
		calloc(1, sizeof(*results));
	if (!results)
		return err_nomem();
	results->options = options;
	results->choice = choice;
	results->suite = suite;
	results->matters = matters;
	results->memory = (struct order_memory){
		.get = memory_get,
		.put = memory_put,
		.data = results,
	};
	TRY(suite_name(choice, &results->name));
	*ret = take_ptr(results);
	return NULL;
}

void results_close(struct results *results)
{
	if (!results)
		return;
	store_close(results->store);
	free(results->name);
	free(results);
}

/* @make: also where there is none yet. */
static bool open_store(struct results *results, bool make)
{
	if (results->store)
		return true;
	if (results->lost || replaying.id ||
	    (!make && access(RESULTS_FOLDER "/" STORE_FILE, F_OK) < 0))
		return false;
	struct err *err = store_open(RESULTS_FOLDER, &results->store);
	results->lost = err;
	if (err)
		say_lost(results, err);
	return !err;
}

static struct err *make_digests(struct results *results)
{
	if (results->digested)
		return NULL;
	TRY(digest_files(&results->choice->options, results->suite,
			 results->files));
	const struct suite_options *options = &results->choice->options;
	char timeout[32];
	snprintf(timeout, sizeof(timeout), "%llu",
		 (unsigned long long)options->timeout_ns);
	const char *const words[] = {
		POLYGRAPH_VERSION,
		results->name,
		options->test_functions ? options->test_functions : "",
		timeout,
		results->matters ? results->matters : "",
		NULL,
	};
	digest_suite(results->suite, results->files, words, results->digest);
	results->digested = true;
	return NULL;
}

/* ---- facts ---- */

static struct err *begin_facts(struct results *results)
{
	if (results->begun)
		return NULL;
	TRY(make_digests(results));
	TRY(store_begin(results->store, results->name, results->digest));
	results->begun = true;
	return NULL;
}

static bool has_facts(struct results *results, bool make)
{
	if (results->facts_lost || !open_store(results, make))
		return false;
	struct err *err = begin_facts(results);
	results->facts_lost = err;
	if (err)
		say_lost(results, err);
	return !err;
}

static bool memory_get(void *data, const char *key, void **ret, size_t *ret_n)
{
	struct results *results = data;
	return has_facts(results, false) &&
	       store_get(results->store, key, ret, ret_n);
}

static void memory_put(void *data, const char *key, const void *value, size_t n)
{
	struct results *results = data;
	if (!has_facts(results, true))
		return;
	struct err *err = store_put(results->store, key, value, n);
	if (!err)
		return;
	results->facts_lost = true;
	say_lost(results, err);
}

const struct order_memory *results_memory(struct results *results)
{
	return &results->memory;
}

void results_forget(struct results *results)
{
	if (!has_facts(results, false))
		return;
	struct err *err = store_forget(results->store);
	if (!err)
		return;
	/* What is still there is not to be believed. */
	results->facts_lost = true;
	say_lost(results, err);
}

/* ---- what makes a finding again ---- */

/* Options that say how it is shown, how long it may take, or what is chosen. */
static bool is_of_detector(const char *name)
{
	static const char *const others[] = {
		"tests",  "ctest", "meson",   "commands", "jobs",     "format",
		"output", "color", "quiet",   "verbose",  "baseline", "budget",
		"config", "help",  "version", "order",	  "fresh",
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(others[i], name))
			return false;
	}
	return true;
}

static bool is_of_selection(const char *name)
{
	return !strcmp(name, "tests") || !strcmp(name, "order");
}

static bool is_of_suite(const char *name)
{
	return !strcmp(name, "framework") || !strcmp(name, "test-functions") ||
	       !strcmp(name, "timeout");
}

/* A word that is no text cannot be kept: the error says which. */
static struct err *append_word(json_t *list, const char *word)
{
	json_t *text = json_string(word);
	if (!text)
		return err_create(ERR_INTERNAL, "'%s' is not UTF-8", word);
	return json_array_append_new(list, text) ? err_nomem() : NULL;
}

static struct err *append_options(json_t *list, const struct results *results,
				  const struct option_group *const *known,
				  bool (*wanted)(const char *name))
{
	_cleanup_(strv_freep) struct strv words = {};
	TRY(options_words(results->options, known, wanted, &words));
	for (size_t i = 0; i < words.n; i++)
		TRY(append_word(list, words.data[i]));
	return NULL;
}

static struct err *append_command(json_t *list, const struct results *results)
{
	const struct common_suite *choice = results->choice;
	if (choice->options.argv)
		TRY(append_word(list, "--"));
	for (size_t i = 0; choice->command[i]; i++)
		TRY(append_word(list, choice->command[i]));
	return NULL;
}

/* A name as a pattern that matches nothing else. */
static struct err *append_pattern(json_t *list, const char *name)
{
	_cleanup_(str_freep) struct str word = STR_INIT;
	TRY(str_append(&word, "--tests="));
	for (const char *c = name; *c; c++) {
		if (strchr("*?[]\\!", *c))
			TRY(str_append(&word, "\\"));
		TRY(str_append_n(&word, c, 1));
	}
	return append_word(list, word.s);
}

static struct err *set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) ? err_nomem() : NULL;
}

static struct err *make_record(struct results *results, json_t **ret)
{
	_cleanup_(json_freep) json_t *record = json_object();
	TRY(make_digests(results));
	TRY(set(record, "version", json_integer(REPLAY_VERSION)));
	TRY(set(record, "files_digest", json_string(results->files)));
	*ret = take_ptr(record);
	return NULL;
}

static struct err *dump(const json_t *record, char **ret)
{
	*ret = json_dumps(record, JSON_COMPACT);
	return *ret ? NULL : err_nomem();
}

/* @ret stays the record's. */
static struct err *add_list(json_t *record, const char *key, json_t **ret)
{
	json_t *list = json_array();
	TRY(set(record, key, list));
	*ret = list;
	return NULL;
}

static struct err *add_words(json_t *record, const char *key,
			     const struct results *results, const char *command,
			     const char *test)
{
	const struct command *known = command_find(command);
	json_t *words = NULL;
	TRY(add_list(record, key, &words));
	TRY(append_word(words, command));
	TRY(append_options(words, results, known ? known->groups : NULL,
			   is_of_detector));
	if (test)
		TRY(append_pattern(words, test));
	else
		TRY(append_options(words, results, known ? known->groups : NULL,
				   is_of_selection));
	return append_command(words, results);
}

static struct err *again_text(struct results *results, const char *command,
			      const char *test, char **ret)
{
	_cleanup_(json_freep) json_t *record = NULL;
	TRY(make_record(results, &record));
	TRY(add_words(record, "alone", results, command, test));
	TRY(add_words(record, "whole", results, command, NULL));
	return dump(record, ret);
}

static struct err *append_test(json_t *list, const struct roster *roster,
			       size_t test)
{
	const char *name = roster_name(roster, test);
	_cleanup_(freep) char *text = str_utf8(name, strlen(name));
	return text ? append_word(list, text) : err_nomem();
}

static struct err *add_tests(json_t *record, const char *key,
			     const struct roster *roster, const size_t *tests,
			     size_t n)
{
	json_t *list = NULL;
	TRY(add_list(record, key, &list));
	for (size_t i = 0; i < n; i++)
		TRY(append_test(list, roster, tests[i]));
	return NULL;
}

static struct err *order_text(struct results *results,
			      const struct finding *finding,
			      const char *const *files, size_t n_files,
			      char **ret)
{
	const struct dependence *dependence = dependence_of(finding);
	_cleanup_(json_freep) json_t *record = NULL;
	const char *name = finding_test(finding);
	_cleanup_(freep) char *test = str_utf8(name, strlen(name));
	json_t *words = NULL, *kept = NULL;
	if (!test)
		return err_nomem();
	TRY(make_record(results, &record));
	TRY(set(record, "test", json_string(test)));
	TRY(add_list(record, "suite", &words));
	TRY(append_options(words, results, NULL, is_of_suite));
	TRY(append_command(words, results));
	TRY(add_list(record, "files", &kept));
	for (size_t i = 0; i < n_files; i++)
		TRY(append_word(kept, files[i]));
	TRY(add_tests(record, "failing", finding->tests,
		      dependence->failing.data, dependence->failing.n));
	TRY(add_tests(record, "passing", finding->tests,
		      dependence->passing.data, dependence->passing.n));
	return dump(record, ret);
}

/* 64 bits: more than a JSON number of everybody's holds. */
static struct err *set_wide(json_t *object, const char *key, uint64_t number)
{
	char text[24];
	snprintf(text, sizeof(text), "%llx", (unsigned long long)number);
	return set(object, key, json_string(text));
}

static struct err *add_models(json_t *record, const char *key,
			      const struct choices_options *options,
			      const uint64_t *words)
{
	json_t *list = NULL;
	TRY(add_list(record, key, &list));
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		_cleanup_(str_freep) struct str key = STR_INIT;
		if (!model || !choices_has_model(words, i))
			continue;
		TRY(choices_append_model_key(&key, model));
		TRY(append_word(list, key.s));
	}
	return NULL;
}

static struct err *add_ranges(json_t *record, const struct assumption *finding)
{
	json_t *list = NULL;
	TRY(add_list(record, "ranges", &list));
	for (size_t i = 0; i < finding->ranges.n; i++) {
		const struct wire_choice_range *range =
			&finding->ranges.data[i];
		json_t *entry = json_object();
		if (json_array_append_new(list, entry))
			return err_nomem();
		TRY(set_wide(entry, "thread", range->thread));
		TRY(set_wide(entry, "from", range->from));
		TRY(set_wide(entry, "to", range->to));
		TRY(set_wide(entry, "phase", range->phase));
	}
	return NULL;
}

/* With --systematic: the picks themselves, in sequence. */
static struct err *add_forced(json_t *record, const struct assumption *finding)
{
	json_t *list = NULL;
	TRY(add_list(record, "forced", &list));
	for (size_t i = 0; i < finding->forced.n; i++) {
		json_t *entry = json_object();
		if (json_array_append_new(list, entry))
			return err_nomem();
		TRY(set_wide(entry, "pick", finding->forced.data[i]));
	}
	return NULL;
}

static bool is_of_models(const char *name)
{
	return !strcmp(name, "model");
}

/* The user's own, as --model takes them. */
static struct err *add_user_models(json_t *record, struct results *results)
{
	_cleanup_(strv_freep) struct strv words = {};
	json_t *list = NULL;
	TRY(add_list(record, "models", &list));
	TRY(options_words(results->options, NULL, is_of_models, &words));
	for (size_t i = 0; i < words.n; i++) {
		const char *text = strchr(words.data[i], '=');
		TRY(append_word(list, text ? text + 1 : words.data[i]));
	}
	return NULL;
}

static struct err *choice_text(struct results *results,
			       const struct choices_options *options,
			       const struct finding *finding, char **ret)
{
	const struct assumption *assumption = assumption_of(finding);
	_cleanup_(json_freep) json_t *record = NULL;
	const char *name = finding_test(finding);
	_cleanup_(freep) char *test = str_utf8(name, strlen(name));
	json_t *words = NULL;
	if (!test)
		return err_nomem();
	TRY(make_record(results, &record));
	TRY(set(record, "test", json_string(test)));
	TRY(add_list(record, "suite", &words));
	TRY(append_options(words, results, NULL, is_of_suite));
	TRY(append_command(words, results));
	TRY(set(record, "level",
		json_string(choices_level_name(assumption->level))));
	TRY(set_wide(record, "seed", assumption->failing_seed));
	TRY(set(record, "startup", json_boolean(assumption->startup)));
	TRY(add_user_models(record, results));
	TRY(add_models(record, "numbered", options, assumption->numbered));
	TRY(add_models(record, "on", options, assumption->on));
	TRY(add_ranges(record, assumption));
	TRY(add_forced(record, assumption));
	TRY(add_tests(record, "prefix", finding->tests, assumption->prefix.data,
		      assumption->prefix.n));
	return dump(record, ret);
}

/* ---- findings ---- */

/* Takes *@replay over. NULL: it is kept, and cannot be made again from here. */
static struct err *keep(struct store_findings *kept,
			const struct finding *finding, char **replay)
{
	struct store_finding record = { .replay = take_ptr(*replay),
					.id = strdup(finding->id) };
	struct err *err = record.id ? report_finding_text(finding, &record.json)
				    : err_nomem();
	if (!err)
		err = vec_push(kept, record);
	if (err)
		store_finding_free(&record);
	return err;
}

static bool is_replay(const struct finding *findings, size_t n)
{
	for (size_t i = 0; replaying.id && i < n; i++)
		replaying.seen |= !strcmp(findings[i].id, replaying.id);
	return replaying.id;
}

/* Of a report with findings of several detectors: those of one. */
static bool is_of_command(const struct finding *finding, const char *command)
{
	return !strcmp(finding->kind->command, command);
}

static bool any_of_command(const struct finding *findings, size_t n,
			   const char *command)
{
	for (size_t i = 0; i < n; i++) {
		if (is_of_command(&findings[i], command))
			return true;
	}
	return false;
}

static struct err *put_all(struct results *results, const char *command,
			   const struct finding *findings, size_t n)
{
	_cleanup_(store_findings_free) struct store_findings kept = {};
	for (size_t i = 0; i < n; i++) {
		char *replay = NULL;
		if (!is_of_command(&findings[i], command))
			continue;
		err_ignore(again_text(results, command,
				      finding_test(&findings[i]), &replay));
		TRY(keep(&kept, &findings[i], &replay));
	}
	return store_put_findings(results->store, results->name, command,
				  kept.data, kept.n);
}

void results_put(struct results *results, const char *command,
		 const struct finding *findings, size_t n)
{
	if (is_replay(findings, n)) {
		results_say_changed(results->choice, results->suite,
				    replaying.files);
		return;
	}
	if (!open_store(results, any_of_command(findings, n, command)))
		return;
	struct err *err = put_all(results, command, findings, n);
	if (err)
		say_lost(results, err);
}

static struct err *put_orders(struct results *results,
			      const struct finding *findings, size_t n,
			      const char *const *files, size_t n_files)
{
	_cleanup_(store_findings_free) struct store_findings kept = {};
	for (size_t i = 0; i < n; i++) {
		char *replay = NULL;
		if (!is_of_command(&findings[i], "order"))
			continue;
		err_ignore(order_text(results, &findings[i], files, n_files,
				      &replay));
		TRY(keep(&kept, &findings[i], &replay));
	}
	return store_put_findings(results->store, results->name, "order",
				  kept.data, kept.n);
}

void results_put_order(struct results *results, const struct finding *findings,
		       size_t n, const char *const *files, size_t n_files)
{
	if (is_replay(findings, n) ||
	    !open_store(results, any_of_command(findings, n, "order")))
		return;
	struct err *err = put_orders(results, findings, n, files, n_files);
	if (err)
		say_lost(results, err);
}

static struct err *put_choices(struct results *results,
			       const struct choices_options *options,
			       const struct finding *findings, size_t n)
{
	_cleanup_(store_findings_free) struct store_findings kept = {};
	for (size_t i = 0; i < n; i++) {
		char *replay = NULL;
		if (!is_of_command(&findings[i], "choices"))
			continue;
		err_ignore(
			choice_text(results, options, &findings[i], &replay));
		TRY(keep(&kept, &findings[i], &replay));
	}
	return store_put_findings(results->store, results->name, "choices",
				  kept.data, kept.n);
}

void results_put_choices(struct results *results,
			 const struct choices_options *options,
			 const struct finding *findings, size_t n)
{
	if (is_replay(findings, n) ||
	    !open_store(results, any_of_command(findings, n, "choices")))
		return;
	struct err *err = put_choices(results, options, findings, n);
	if (err)
		say_lost(results, err);
}

/* ---- reading it again ---- */

static struct err *unreadable(const char *what)
{
	return err_hint(err_create(ERR_INTERNAL,
				   "what is kept of this finding cannot be "
				   "read (%s)",
				   what),
			"run the command that found it again");
}

static struct err *read_list(const json_t *record, const char *key, bool needed,
			     struct strv *ret)
{
	_cleanup_(strv_freep) struct strv list = {};
	const json_t *value = json_object_get(record, key);
	if (!json_is_array(value) || json_array_size(value) > LIST_MAX ||
	    (needed && !json_array_size(value)))
		return unreadable(key);
	for (size_t i = 0; i < json_array_size(value); i++) {
		/* Without NUL inside: jansson does not take such by default. */
		const char *text = json_string_value(json_array_get(value, i));
		char *copy = text ? strdup(text) : NULL;
		struct err *err = copy	 ? vec_push(&list, copy)
				  : text ? err_nomem()
					 : unreadable(key);
		if (err) {
			free(copy);
			return err;
		}
	}
	/* They become argument vectors. */
	TRY(vec_push(&list, NULL));
	list.n--;
	*ret = list;
	list = (struct strv){};
	return NULL;
}

static struct err *read_record(const char *text, json_t **ret, char digest[33])
{
	_cleanup_(json_freep) json_t *record = json_loads(text, 0, NULL);
	const json_t *version = json_object_get(record, "version");
	if (!json_is_integer(version) ||
	    json_integer_value(version) != REPLAY_VERSION)
		return unreadable("version");
	const char *files =
		json_string_value(json_object_get(record, "files_digest"));
	digest[0] = '\0';
	if (files && strlen(files) < DIGEST_SIZE)
		snprintf(digest, DIGEST_SIZE, "%s", files);
	*ret = take_ptr(record);
	return NULL;
}

static struct err *read_order(const json_t *record, struct results_order *ret)
{
	TRY(read_list(record, "suite", true, &ret->suite));
	TRY(read_list(record, "failing", true, &ret->failing));
	TRY(read_list(record, "passing", true, &ret->passing));
	TRY(read_list(record, "files", false, &ret->files));
	const char *test = json_string_value(json_object_get(record, "test"));
	if (!test || strcmp(ret->failing.data[ret->failing.n - 1], test) != 0 ||
	    strcmp(ret->passing.data[ret->passing.n - 1], test) != 0)
		return unreadable("test");
	ret->test = strdup(test);
	return ret->test ? NULL : err_nomem();
}

struct err *results_order_parse(const char *text, struct results_order *ret)
{
	_cleanup_(json_freep) json_t *record = NULL;
	_cleanup_(results_order_freep) struct results_order order = {};
	TRY(read_record(text, &record, order.files_digest));
	TRY(read_order(record, &order));
	*ret = order;
	order = (struct results_order){};
	return NULL;
}

static struct err *read_wide(const json_t *object, const char *key,
			     uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text && str_to_u64(text, 16, ret) ? NULL : unreadable(key);
}

static struct err *read_ranges(const json_t *record, struct results_choice *ret)
{
	const json_t *list = json_object_get(record, "ranges");
	if (!json_is_array(list) || json_array_size(list) > WIRE_CHOICE_RANGES)
		return unreadable("ranges");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		struct wire_choice_range range = {};
		TRY(read_wide(entry, "thread", &range.thread));
		TRY(read_wide(entry, "from", &range.from));
		TRY(read_wide(entry, "to", &range.to));
		TRY(read_wide(entry, "phase", &range.phase));
		TRY(vec_push(&ret->ranges, range));
	}
	return NULL;
}

/* May be missing: earlier versions did not have it. */
static struct err *read_forced(const json_t *record, struct results_choice *ret)
{
	const json_t *list = json_object_get(record, "forced");
	if (!list)
		return NULL;
	if (!json_is_array(list) || json_array_size(list) > WIRE_CHOICE_TRACE)
		return unreadable("forced");
	for (size_t i = 0; i < json_array_size(list); i++) {
		uint64_t pick;
		TRY(read_wide(json_array_get(list, i), "pick", &pick));
		TRY(vec_push(&ret->forced, pick));
	}
	return NULL;
}

static struct err *read_choice(const json_t *record, struct results_choice *ret)
{
	const char *test = json_string_value(json_object_get(record, "test"));
	const char *level = json_string_value(json_object_get(record, "level"));
	unsigned at = 0;
	TRY(read_list(record, "suite", true, &ret->suite));
	TRY(read_list(record, "prefix", false, &ret->prefix));
	TRY(read_list(record, "numbered", true, &ret->numbered));
	TRY(read_list(record, "on", true, &ret->on));
	TRY(read_list(record, "models", false, &ret->models));
	TRY(read_wide(record, "seed", &ret->seed));
	TRY(read_ranges(record, ret));
	TRY(read_forced(record, ret));
	while (level && at < WIRE_LEVELS &&
	       strcmp(level, choices_level_name(at)) != 0)
		at++;
	if (!level || at == WIRE_LEVELS)
		return unreadable("level");
	ret->level = (enum wire_level)at;
	ret->startup = json_is_true(json_object_get(record, "startup"));
	if (!test)
		return unreadable("test");
	ret->test = strdup(test);
	return ret->test ? NULL : err_nomem();
}

struct err *results_choice_parse(const char *text, struct results_choice *ret)
{
	_cleanup_(json_freep) json_t *record = NULL;
	_cleanup_(results_choice_freep) struct results_choice choice = {};
	TRY(read_record(text, &record, choice.files_digest));
	TRY(read_choice(record, &choice));
	*ret = choice;
	choice = (struct results_choice){};
	return NULL;
}

void results_choice_free(struct results_choice *choice)
{
	strv_free(&choice->suite);
	strv_free(&choice->prefix);
	strv_free(&choice->numbered);
	strv_free(&choice->on);
	strv_free(&choice->models);
	vec_free(&choice->ranges);
	vec_free(&choice->forced);
	free(take_ptr(choice->test));
}

void results_order_free(struct results_order *order)
{
	strv_free(&order->suite);
	strv_free(&order->failing);
	strv_free(&order->passing);
	strv_free(&order->files);
	free(take_ptr(order->test));
}

struct err *results_again_parse(const char *text, struct results_again *ret)
{
	_cleanup_(json_freep) json_t *record = NULL;
	_cleanup_(results_again_freep) struct results_again again = {};
	TRY(read_record(text, &record, again.files_digest));
	TRY(read_list(record, "alone", true, &again.alone));
	TRY(read_list(record, "whole", true, &again.whole));
	*ret = again;
	again = (struct results_again){};
	return NULL;
}

void results_again_free(struct results_again *again)
{
	strv_free(&again->alone);
	strv_free(&again->whole);
}

void results_replay_begin(const char *id, const char *files)
{
	replaying.id = id;
	replaying.files = files;
	replaying.seen = false;
}

bool results_replay_end(void)
{
	replaying.id = NULL;
	return replaying.seen;
}

void results_say_changed(const struct common_suite *choice,
			 const struct suite *suite, const char *files)
{
	char now[DIGEST_SIZE] = "";
	if (!*files)
		return;
	struct err *err = digest_files(&choice->options, suite, now);
	if (!err && strcmp(now, files) != 0)
		log_warn("'%s' has changed since this was found",
			 choice->options.argv ? choice->command[0]
					      : choice->command[1]);
	err_ignore(err);
}
