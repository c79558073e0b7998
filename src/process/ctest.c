/*
 * --ctest DIR: the tests of a CMake build folder, as `ctest --show-only=json-v1`
 * (CMake 3.14) lists them, judged by the rules of cmCTestRunTest::EndTest.
 *
 * Dependencies (DEPENDS, FIXTURES_*) come first in the suite's natural order,
 * as they do in ctest's own.
 */
#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "process/json_read.h"
#include "process/kinds.h"
#include "process/process_run.h"
#include "process/process_suite.h"
#include "suite/declare.h"

#define LIST_MAX ((size_t)512 << 20)
/* A list may run programs, too (gtest_discover_tests): as long as so many tests. */
#define LIST_TIMEOUTS 4

/* ---- rules ---- */

struct ctest_expression {
	regex_t regex;
	char *text;
};

struct ctest_expressions {
	struct ctest_expression *data;
	size_t n;
	size_t cap;
};

struct ctest_rules {
	struct ctest_expressions pass, fail, skip;
	bool will_fail;
	bool has_skip_status;
	int skip_status;
};

static void ctest_expressions_free(struct ctest_expressions *list)
{
	for (size_t i = 0; i < list->n; i++) {
		regfree(&list->data[i].regex);
		free(list->data[i].text);
	}
	vec_free(list);
}

static void ctest_rules_free(void *data)
{
	struct ctest_rules *rules = data;
	if (!rules)
		return;
	ctest_expressions_free(&rules->pass);
	ctest_expressions_free(&rules->fail);
	ctest_expressions_free(&rules->skip);
	free(rules);
}

/*
 * CMake's expressions are POSIX extended ones with two differences: braces
 * mean themselves, and so does any character after a backslash (\w is w).
 */
static struct err *ctest_translate_expression(const char *text, struct str *ret)
{
	for (const char *c = text; *c; c++) {
		if (*c == '[') {
			size_t n = 1;
			n += c[n] == '^';
			n += c[n] == ']'; /* the first one is a member */
			n += strcspn(c + n, "]");
			n += c[n] == ']';
			TRY(str_append_n(ret, c, n));
			c += n - 1;
		} else if (*c == '\\' && c[1]) {
			c++;
			TRY(str_appendf(ret, "%s%c",
					isalnum((unsigned char)*c) ? "" : "\\",
					*c));
		} else if (*c == '{' || *c == '}') {
			TRY(str_appendf(ret, "\\%c", *c));
		} else {
			TRY(str_append_n(ret, c, 1));
		}
	}
	return str_append(ret, "");
}

static struct err *ctest_add_expression(struct ctest_expressions *list,
					const char *text)
{
	_cleanup_(str_freep) struct str posix = STR_INIT;
	TRY(ctest_translate_expression(text, &posix));
	TRY(vec_reserve(list, list->n + 1));
	struct ctest_expression expression = { .text = strdup(text) };
	if (!expression.text)
		return err_nomem();
	int error = regcomp(&expression.regex, posix.s, REG_EXTENDED);
	if (error) {
		char why[128];
		regerror(error, &expression.regex, why, sizeof(why));
		log_warn("regular expression '%s' is left out: %s", text, why);
		free(expression.text);
		return NULL;
	}
	list->data[list->n++] = expression;
	return NULL;
}

static struct err *ctest_add_expressions(struct ctest_expressions *list,
					 const json_t *json)
{
	_cleanup_(strv_freep) struct strv texts = {};
	TRY(json_texts(json, &texts));
	for (size_t i = 0; i < texts.n; i++)
		TRY(ctest_add_expression(list, texts.data[i]));
	return NULL;
}

/* REG_STARTEND (glibc): the output may hold NUL bytes. */
static const struct ctest_expression *
ctest_find_match(const struct ctest_expressions *list,
		 const struct process_end *end)
{
	for (size_t i = 0; i < list->n; i++) {
		regmatch_t match = { .rm_so = 0,
				     .rm_eo = (regoff_t)end->output_n };
		if (!regexec(&list->data[i].regex, end->output, 1, &match,
			     REG_STARTEND))
			return &list->data[i];
	}
	return NULL;
}

static struct err *ctest_judge_test(const struct process_suite *suite _unused_,
				    const struct process_test *test,
				    const struct process_end *end,
				    struct suite_result *result)
{
	const struct ctest_rules *rules = test->rules;
	const struct ctest_expression *skip =
		ctest_find_match(&rules->skip, end);
	if (skip) {
		result->outcome = OUTCOME_SKIP;
		return process_message(result,
				       "the output has '%s' "
				       "(SKIP_REGULAR_EXPRESSION)",
				       skip->text);
	}
	if (rules->has_skip_status && end->status == rules->skip_status) {
		result->outcome = OUTCOME_SKIP;
		return process_message(result,
				       "exit status %d "
				       "(SKIP_RETURN_CODE)",
				       end->status);
	}
	const struct ctest_expression *fail =
		ctest_find_match(&rules->fail, end);
	bool lacking = rules->pass.n && !ctest_find_match(&rules->pass, end);
	bool success = !fail && !lacking && (!end->status || rules->pass.n);
	result->outcome =
		success != rules->will_fail ? OUTCOME_PASS : OUTCOME_FAIL;
	if (result->outcome == OUTCOME_PASS)
		return NULL;
	if (rules->will_fail)
		return process_message(result, "succeeded, but is declared to "
					       "fail (WILL_FAIL)");
	if (fail)
		return process_message(result,
				       "the output has '%s' "
				       "(FAIL_REGULAR_EXPRESSION)",
				       fail->text);
	if (lacking && rules->pass.data)
		return process_message(result,
				       "the output lacks '%s'%s "
				       "(PASS_REGULAR_EXPRESSION)",
				       rules->pass.data[0].text,
				       rules->pass.n > 1 ? " and the like"
							 : "");
	return process_message(result, "exit status %d", end->status);
}

static const struct process_kind kind = {
	.judge = ctest_judge_test,
	.free_rules = ctest_rules_free,
};

/* ---- properties ---- */

/* One test as it was read, before it has its place in the order. */
struct ctest_test {
	const char *name; /* in the JSON */
	const char *file;
	unsigned line;
	bool disabled;
	struct process_test test;
	struct ctest_rules *rules; /* of test */
	struct strv depends, required, sets_up, cleans_up;
	VEC(size_t) after; /* listed tests that come first */
	size_t fixtures;   /* so many first ones of them are set-ups */
	size_t place;	   /* in the suite's order */
	uint8_t mark;	   /* of the sort */
};

/* A fixture and who has to do with it. */
struct ctest_group {
	VEC(size_t) set_ups;
	VEC(size_t) clean_ups;
	VEC(size_t) users;
};

struct ctest_reader {
	struct process_suite *suite;
	const json_t *root;
	VEC(struct ctest_test) tests;
	struct map_text names;	  /* name to index of its first test */
	struct map_text fixtures; /* name to index of groups */
	VEC(struct ctest_group) groups;
};

static bool ctest_is_true(const json_t *value)
{
	return json_is_true(value) ||
	       (json_is_number(value) && json_number_value(value) != 0);
}

static struct err *ctest_set_timeout(struct ctest_test *listed,
				     const json_t *value)
{
	if (!json_is_number(value))
		return NULL;
	double seconds = json_number_value(value);
	/* 0 is ctest's word for none. */
	listed->test.timeout_ns =
		seconds > 0 && seconds < 1e9
			? MAX((uint64_t)(seconds * 1e9), UINT64_C(1))
			: PROCESS_NO_LIMIT;
	return NULL;
}

static struct err *ctest_set_environment(struct ctest_test *listed,
					 const json_t *value)
{
	_cleanup_(strv_freep) struct strv texts = {};
	TRY(json_texts(value, &texts));
	for (size_t i = 0; i < texts.n; i++) {
		const char *text = texts.data[i];
		const char *equals = strchrnul(text, '=');
		TRY(env_changes_add(&listed->test.environment,
				    *equals ? ENV_SET : ENV_UNSET, text,
				    (size_t)(equals - text),
				    *equals ? equals + 1 : NULL));
	}
	return NULL;
}

/* "NAME=operation:value" */
static struct err *ctest_modify_environment(struct env_changes *changes,
					    const char *text)
{
	static const struct {
		const char *name;
		enum env_operation operation;
	} operations[] = {
		{ "reset", ENV_RESET },
		{ "set", ENV_SET },
		{ "unset", ENV_UNSET },
		{ "string_append", ENV_APPEND },
		{ "string_prepend", ENV_PREPEND },
		{ "path_list_append", ENV_PATH_APPEND },
		{ "path_list_prepend", ENV_PATH_PREPEND },
		{ "cmake_list_append", ENV_LIST_APPEND },
		{ "cmake_list_prepend", ENV_LIST_PREPEND },
	};
	const char *equals = strchr(text, '=');
	const char *colon = equals ? strchr(equals, ':') : NULL;
	size_t n = colon ? (size_t)(colon - equals - 1) : 0;
	for (size_t i = 0; colon && i < ARRAY_SIZE(operations); i++) {
		const char *name = operations[i].name;
		if (strlen(name) == n && !strncmp(name, equals + 1, n))
			return env_changes_add(changes, operations[i].operation,
					       text, (size_t)(equals - text),
					       colon + 1);
	}
	log_warn("ENVIRONMENT_MODIFICATION '%s' is left out", text);
	return NULL;
}

static struct err *ctest_set_modifications(struct ctest_test *listed,
					   const json_t *value)
{
	_cleanup_(strv_freep) struct strv texts = {};
	TRY(json_texts(value, &texts));
	for (size_t i = 0; i < texts.n; i++)
		TRY(ctest_modify_environment(&listed->test.environment,
					     texts.data[i]));
	return NULL;
}

static struct err *ctest_set_folder(struct ctest_test *listed,
				    const json_t *value)
{
	const char *folder = json_string_value(value);
	if (!folder || !*folder)
		return NULL;
	free(listed->test.folder);
	listed->test.folder = strdup(folder);
	return listed->test.folder ? NULL : err_nomem();
}

static struct err *ctest_set_processors(struct ctest_test *listed,
					const json_t *value)
{
	json_int_t n = json_integer_value(value);
	listed->test.weight = n > 1 ? (unsigned)MIN(n, (json_int_t)4096) : 1;
	return NULL;
}

static struct err *ctest_set_skip_status(struct ctest_test *listed,
					 const json_t *value)
{
	listed->rules->has_skip_status = json_is_integer(value);
	listed->rules->skip_status = (int)json_integer_value(value);
	return NULL;
}

static struct err *ctest_set_will_fail(struct ctest_test *listed,
				       const json_t *value)
{
	listed->rules->will_fail = ctest_is_true(value);
	return NULL;
}

static struct err *ctest_set_serial(struct ctest_test *listed,
				    const json_t *value)
{
	listed->test.serial = ctest_is_true(value);
	return NULL;
}

static struct err *ctest_set_disabled(struct ctest_test *listed,
				      const json_t *value)
{
	listed->disabled = ctest_is_true(value);
	return NULL;
}

static struct err *ctest_set_pass(struct ctest_test *listed,
				  const json_t *value)
{
	listed->test.search = true;
	return ctest_add_expressions(&listed->rules->pass, value);
}

static struct err *ctest_set_fail(struct ctest_test *listed,
				  const json_t *value)
{
	listed->test.search = true;
	return ctest_add_expressions(&listed->rules->fail, value);
}

static struct err *ctest_set_skip(struct ctest_test *listed,
				  const json_t *value)
{
	listed->test.search = true;
	return ctest_add_expressions(&listed->rules->skip, value);
}

static struct err *ctest_set_files(struct ctest_test *listed,
				   const json_t *value)
{
	return json_texts(value, &listed->test.files);
}

static struct err *ctest_set_depends(struct ctest_test *listed,
				     const json_t *value)
{
	return json_texts(value, &listed->depends);
}

static struct err *ctest_set_required(struct ctest_test *listed,
				      const json_t *value)
{
	return json_texts(value, &listed->required);
}

static struct err *ctest_set_sets_up(struct ctest_test *listed,
				     const json_t *value)
{
	return json_texts(value, &listed->sets_up);
}

static struct err *ctest_set_cleans_up(struct ctest_test *listed,
				       const json_t *value)
{
	return json_texts(value, &listed->cleans_up);
}

/* To support another property of tests: a row here and its function above. */
static const struct property {
	const char *name;
	struct err *(*set)(struct ctest_test *listed, const json_t *value);
} properties[] = {
	{ "WORKING_DIRECTORY", ctest_set_folder },
	{ "TIMEOUT", ctest_set_timeout },
	/* ENVIRONMENT_MODIFICATION comes after it in ctest's own list, too. */
	{ "ENVIRONMENT", ctest_set_environment },
	{ "ENVIRONMENT_MODIFICATION", ctest_set_modifications },
	{ "WILL_FAIL", ctest_set_will_fail },
	{ "PASS_REGULAR_EXPRESSION", ctest_set_pass },
	{ "FAIL_REGULAR_EXPRESSION", ctest_set_fail },
	{ "SKIP_REGULAR_EXPRESSION", ctest_set_skip },
	{ "SKIP_RETURN_CODE", ctest_set_skip_status },
	{ "DISABLED", ctest_set_disabled },
	{ "RUN_SERIAL", ctest_set_serial },
	{ "PROCESSORS", ctest_set_processors },
	{ "REQUIRED_FILES", ctest_set_files },
	{ "DEPENDS", ctest_set_depends },
	{ "FIXTURES_REQUIRED", ctest_set_required },
	{ "FIXTURES_SETUP", ctest_set_sets_up },
	{ "FIXTURES_CLEANUP", ctest_set_cleans_up },
};

static struct err *ctest_read_locks(struct ctest_reader *reader,
				    struct ctest_test *listed,
				    const json_t *value)
{
	_cleanup_(strv_freep) struct strv names = {};
	TRY(json_texts(value, &names));
	for (size_t i = 0; i < names.n; i++) {
		uint32_t number;
		TRY(process_suite_lock(reader->suite, names.data[i], &number));
		TRY(vec_push(&listed->test.locks, number));
	}
	return NULL;
}

/* In the order of the table, so that one may build on another. */
static struct err *ctest_read_properties(struct ctest_reader *reader,
					 struct ctest_test *listed,
					 const json_t *list)
{
	for (size_t p = 0; p <= ARRAY_SIZE(properties); p++) {
		bool locks = p == ARRAY_SIZE(properties);
		const char *wanted =
			locks ? "RESOURCE_LOCK" : properties[p].name;
		for (size_t i = 0; i < json_array_size(list); i++) {
			const json_t *property = json_array_get(list, i);
			const char *name = json_string_value(
				json_object_get(property, "name"));
			const json_t *value =
				json_object_get(property, "value");
			if (!name || !value || strcmp(name, wanted))
				continue;
			TRY(locks ? ctest_read_locks(reader, listed, value)
				  : properties[p].set(listed, value));
		}
	}
	listed->test.provides = listed->sets_up.n;
	listed->test.cleans = listed->cleans_up.n;
	return NULL;
}

/* Where add_test() was called; tests of included files have no trace. */
static void ctest_read_place(const struct ctest_reader *reader,
			     struct ctest_test *listed, const json_t *trace)
{
	const json_t *graph = json_object_get(reader->root, "backtraceGraph");
	if (!json_is_integer(trace) || json_integer_value(trace) < 0)
		return;
	const json_t *node = json_array_get(json_object_get(graph, "nodes"),
					    (size_t)json_integer_value(trace));
	json_int_t file = json_integer_value(json_object_get(node, "file"));
	json_int_t line = json_integer_value(json_object_get(node, "line"));
	const char *name = json_string_value(
		json_array_get(json_object_get(graph, "files"), (size_t)file));
	if (file < 0 || line <= 0 || line > INT32_MAX || !name)
		return;
	listed->file = name;
	listed->line = (unsigned)line;
}

static void ctest_test_free(struct ctest_test *listed)
{
	process_test_free(&listed->test, &kind);
	strv_free(&listed->depends);
	strv_free(&listed->required);
	strv_free(&listed->sets_up);
	strv_free(&listed->cleans_up);
	vec_free(&listed->after);
}

static struct err *ctest_read_test(struct ctest_reader *reader,
				   const json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "name"));
	if (!name)
		return err_create(ERR_SUITE, "ctest lists a test without name");
	TRY(vec_push(&reader->tests, (struct ctest_test){}));
	struct ctest_test *listed = &reader->tests.data[reader->tests.n - 1];
	listed->name = name;
	listed->rules = calloc(1, sizeof(*listed->rules));
	if (!listed->rules)
		return err_nomem();
	listed->test.rules = listed->rules;
	TRY(json_texts(json_object_get(json, "command"), &listed->test.argv));
	if (!listed->test.argv.n) {
		listed->test.why = strdup("its executable was not found; build "
					  "the project first");
		if (!listed->test.why)
			return err_nomem();
	}
	ctest_read_place(reader, listed, json_object_get(json, "backtrace"));
	TRY(ctest_read_properties(reader, listed,
				  json_object_get(json, "properties")));
	uint64_t known;
	if (!map_text_get(&reader->names, name, &known))
		TRY(map_text_put(&reader->names, name, reader->tests.n - 1));
	return NULL;
}

/* ---- order ---- */

static struct err *ctest_find_group(struct ctest_reader *reader,
				    const char *name, struct ctest_group **ret)
{
	uint64_t index = reader->groups.n;
	if (!map_text_get(&reader->fixtures, name, &index)) {
		TRY(vec_push(&reader->groups, (struct ctest_group){}));
		TRY(map_text_put(&reader->fixtures, name, index));
	}
	*ret = &reader->groups.data[index];
	return NULL;
}

static struct err *ctest_join_groups(struct ctest_reader *reader)
{
	for (size_t i = 0; i < reader->tests.n; i++) {
		const struct ctest_test *listed = &reader->tests.data[i];
		struct ctest_group *group;
		for (size_t j = 0; j < listed->sets_up.n; j++) {
			TRY(ctest_find_group(reader, listed->sets_up.data[j],
					     &group));
			TRY(vec_push(&group->set_ups, i));
		}
		for (size_t j = 0; j < listed->cleans_up.n; j++) {
			TRY(ctest_find_group(reader, listed->cleans_up.data[j],
					     &group));
			TRY(vec_push(&group->clean_ups, i));
		}
		for (size_t j = 0; j < listed->required.n; j++) {
			TRY(ctest_find_group(reader, listed->required.data[j],
					     &group));
			TRY(vec_push(&group->users, i));
		}
	}
	return NULL;
}

static struct err *ctest_find_after(struct ctest_reader *reader, size_t index)
{
	struct ctest_test *listed = &reader->tests.data[index];
	struct ctest_group *group;
	for (size_t i = 0; i < listed->required.n; i++) {
		TRY(ctest_find_group(reader, listed->required.data[i], &group));
		TRY(vec_append(&listed->after, group->set_ups.data,
			       group->set_ups.n));
	}
	listed->fixtures = listed->after.n;
	for (size_t i = 0; i < listed->cleans_up.n; i++) {
		TRY(ctest_find_group(reader, listed->cleans_up.data[i],
				     &group));
		TRY(vec_append(&listed->after, group->set_ups.data,
			       group->set_ups.n));
		TRY(vec_append(&listed->after, group->users.data,
			       group->users.n));
	}
	for (size_t i = 0; i < listed->depends.n; i++) {
		uint64_t other;
		if (map_text_get(&reader->names, listed->depends.data[i],
				 &other))
			TRY(vec_push(&listed->after, other));
	}
	return NULL;
}

/*
 * Dependencies first, otherwise as listed: depth first with a stack of our
 * own. A test on the stack is not gone into again, which ends circles (ctest
 * refuses them).
 */
static struct err *ctest_sort_from(struct ctest_reader *reader, size_t first,
				   size_t *places)
{
	enum { FRESH, OPEN, DONE };
	struct ctest_frame {
		size_t test, next;
	};
	VEC(struct ctest_frame) stack = VEC_INIT;
	struct ctest_test *tests = reader->tests.data;
	if (tests[first].mark != FRESH)
		return NULL;
	tests[first].mark = OPEN;
	struct err *err = vec_push(&stack, (struct ctest_frame){ first, 0 });
	while (stack.n && !err) {
		struct ctest_test *listed =
			&tests[stack.data[stack.n - 1].test];
		size_t next = stack.data[stack.n - 1].next++;
		if (next == listed->after.n) {
			listed->mark = DONE;
			listed->place = (*places)++;
			stack.n--;
			continue;
		}
		size_t other = listed->after.data[next];
		if (tests[other].mark != FRESH)
			continue;
		tests[other].mark = OPEN;
		err = vec_push(&stack, (struct ctest_frame){ other, 0 });
	}
	vec_free(&stack);
	return err;
}

static struct err *ctest_add_tests(struct ctest_reader *reader)
{
	size_t n = reader->tests.n;
	_cleanup_(freep) size_t *by_place = calloc(n + 1, sizeof(*by_place));
	if (!by_place)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		by_place[reader->tests.data[i].place] = i;
	for (size_t i = 0; i < n; i++) {
		struct ctest_test *listed = &reader->tests.data[by_place[i]];
		struct process_test *test = &listed->test;
		for (size_t j = 0; j < listed->after.n; j++) {
			size_t other = listed->after.data[j];
			TRY(vec_push(&test->after,
				     reader->tests.data[other].place));
		}
		test->fixtures = listed->fixtures;
		TRY(process_suite_add(reader->suite, listed->name, listed->file,
				      listed->line, listed->disabled, test));
	}
	return NULL;
}

/* A disabled test will not run: nothing needs it. */
static struct err *ctest_declare_test(const struct ctest_reader *reader,
				      const struct ctest_test *listed)
{
	struct suite *suite = &reader->suite->suite;
	for (size_t i = 0; i < listed->after.n; i++) {
		const struct ctest_test *other =
			&reader->tests.data[listed->after.data[i]];
		bool needed = i < listed->fixtures && !other->disabled;
		TRY((needed ? declare_needs : declare_after)(
			suite, listed->place, other->place));
	}
	return NULL;
}

/* Who requires a fixture brings what cleans it up along, as with ctest -R. */
static struct err *ctest_declare_order(const struct ctest_reader *reader)
{
	const struct ctest_test *tests = reader->tests.data;
	struct suite *suite = &reader->suite->suite;
	for (size_t i = 0; i < reader->tests.n; i++)
		TRY(ctest_declare_test(reader, &tests[i]));
	for (size_t i = 0; i < reader->groups.n; i++) {
		const struct ctest_group *group = &reader->groups.data[i];
		for (size_t j = 0; j < group->clean_ups.n; j++) {
			const struct ctest_test *cleanup =
				&tests[group->clean_ups.data[j]];
			for (size_t k = 0;
			     !cleanup->disabled && k < group->users.n; k++)
				TRY(declare_cleanup(
					suite,
					tests[group->users.data[k]].place,
					cleanup->place));
		}
	}
	return NULL;
}

static void ctest_reader_freep(struct ctest_reader *reader)
{
	for (size_t i = 0; i < reader->tests.n; i++)
		ctest_test_free(&reader->tests.data[i]);
	vec_free(&reader->tests);
	for (size_t i = 0; i < reader->groups.n; i++) {
		vec_free(&reader->groups.data[i].set_ups);
		vec_free(&reader->groups.data[i].clean_ups);
		vec_free(&reader->groups.data[i].users);
	}
	vec_free(&reader->groups);
	map_text_free(&reader->names);
	map_text_free(&reader->fixtures);
}

static struct err *ctest_read_list(struct process_suite *suite,
				   const json_t *root)
{
	_cleanup_(ctest_reader_freep) struct ctest_reader reader = {
		.suite = suite,
		.root = root,
	};
	const json_t *tests = json_object_get(root, "tests");
	if (!json_is_array(tests))
		return err_create(ERR_SUITE, "ctest's list has no tests in it");
	for (size_t i = 0; i < json_array_size(tests); i++)
		TRY(ctest_read_test(&reader, json_array_get(tests, i)));
	TRY(ctest_join_groups(&reader));
	for (size_t i = 0; i < reader.tests.n; i++)
		TRY(ctest_find_after(&reader, i));
	size_t places = 0;
	for (size_t i = 0; i < reader.tests.n; i++)
		TRY(ctest_sort_from(&reader, i, &places));
	TRY(ctest_add_tests(&reader));
	return ctest_declare_order(&reader);
}

/* ---- opening ---- */

static struct err *ctest_check_folder(const char *folder)
{
	struct stat st;
	if (stat(folder, &st) < 0)
		return err_hint(
			err_with_kind(err_errno(errno, "--ctest '%s'", folder),
				      ERR_USAGE),
			"give the build folder, the one with "
			"CTestTestfile.cmake in it");
	if (!S_ISDIR(st.st_mode))
		return err_hint(err_create(ERR_USAGE,
					   "--ctest '%s': not a folder",
					   folder),
				"give the build folder, the one with "
				"CTestTestfile.cmake in it");
	_cleanup_(freep) char *file = NULL;
	TRY(path_join(folder, "CTestTestfile.cmake", &file));
	if (stat(file, &st) == 0)
		return NULL;
	_cleanup_(freep) char *cache = NULL;
	TRY(path_join(folder, "CMakeCache.txt", &cache));
	bool built = stat(cache, &st) == 0;
	return err_hint(err_create(ERR_USAGE,
				   "'%s' is not a build folder with tests: no "
				   "CTestTestfile.cmake in it",
				   folder),
			built ? "call enable_testing() in CMakeLists.txt and "
				"configure again"
			      : "configure it first: cmake -S SOURCE -B BUILD");
}

/* What ctest says when it fails is the best there is to say. */
static struct err *ctest_explain_failure(const char *folder,
					 const struct process_output *output)
{
	const char *text = *output->err ? output->err : output->out;
	text += strspn(text, " \t\r\n");
	size_t n = strcspn(text, "\r\n");
	if (!n)
		return err_create(ERR_SUITE,
				  "ctest cannot list the tests of '%s'",
				  folder);
	return err_create(ERR_SUITE,
			  "ctest cannot list the tests of '%s': %.*s", folder,
			  (int)MIN(n, (size_t)400), text);
}

struct err *ctest_suite_parse(const struct suite_options *options,
			      const char *text, size_t n, struct suite **ret)
{
	json_error_t error;
	_cleanup_(json_freep) json_t *root = json_loadb(text, n, 0, &error);
	if (!root)
		return err_hint(err_create(ERR_SUITE,
					   "ctest's list of tests cannot be "
					   "read: line %d: %s",
					   error.line, error.text),
				"CMake 3.14 or newer is needed");
	_cleanup_(process_suite_destroyp) struct process_suite *suite = NULL;
	TRY(process_suite_create(options, "ctest", &kind, &suite));
	TRY(ctest_read_list(suite, root));
	if (!suite->tests.n)
		return err_hint(err_create(ERR_SUITE, "'%s' has no tests",
					   options->source),
				"add some with add_test() and configure "
				"again");
	*ret = &take_ptr(suite)->suite;
	return NULL;
}

static struct err *ctest_suite_open(const struct suite_options *options,
				    struct suite **ret)
{
	const char *folder = options->source;
	TRY(ctest_check_folder(folder));
	char program[] = "ctest", list[] = "--show-only=json-v1";
	char *const argv[] = { program, list, NULL };
	struct process_spec spec = { .argv = argv, .folder = folder };
	_cleanup_(process_output_free) struct process_output output = {};
	struct err *err = process_output(
		&spec, LIST_MAX, LIST_TIMEOUTS * options->timeout_ns, &output);
	if (err && err_kind(err) != ERR_INTERRUPTED)
		return err_hint(err,
				"see: ctest --show-only in '%s'; a longer "
				"--timeout gives it more time",
				folder);
	TRY(err);
	if (output.why)
		return err_hint(err_create(ERR_SUITE, "%s", output.why),
				"install CMake, which ctest is part of");
	if (output.status)
		return ctest_explain_failure(folder, &output);

	return ctest_suite_parse(options, output.out, output.out_n, ret);
}

const struct suite_kind ctest_suite_kind = {
	.open = ctest_suite_open,
	.signal = process_run_signal,
	.list_file = "CTestTestfile.cmake",
};
