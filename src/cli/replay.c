#include "cli/replay.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "base/version.h"

static void json_freep(json_t **json)
{
	json_decref(*json);
}

struct err *replay_open(const struct strv *words,
			const struct suite_options *how,
			struct options **ret_options,
			struct common_suite *ret_choice, struct suite **ret)
{
	static const struct option_group *const groups[] = {
		&common_suite_group, NULL
	};
	static const struct common_options none = COMMON_DEFAULTS;
	int used = 0, n = (int)words->n;
	TRY(options_create(groups, &none, sizeof(none), ret_options));
	TRY(options_parse(*ret_options, n, words->data, &used));
	TRY(common_suite_choose(*ret_options, n - used, words->data + used,
				ret_choice));
	ret_choice->options.keep_output = how->keep_output;
	ret_choice->options.jobs = 1;
	ret_choice->options.agent = how->agent;
	ret_choice->options.user_models = how->user_models;
	ret_choice->options.n_user_models = how->n_user_models;
	return common_suite_open(ret_choice, ret);
}

struct err *replay_number_tests(const struct suite *suite,
				struct map_text *numbers)
{
	for (size_t i = 0; i < suite_count(suite); i++) {
		const char *name = suite_test(suite, i)->name;
		_cleanup_(freep) char *text = str_utf8(name, strlen(name));
		if (!text)
			return err_nomem();
		TRY(map_text_put(numbers, text, i));
	}
	return NULL;
}

static struct err *show_output(const struct suite_result *result)
{
	_cleanup_(str_freep) struct str output = STR_INIT;
	const char *rest = result->output, *end = rest + result->output_n;
	while (rest < end) {
		const char *stop = memchr(rest, '\n', (size_t)(end - rest));
		size_t n = (size_t)((stop ? stop : end) - rest);
		TRY(str_append(&output, "    "));
		TRY(str_append_escaped(&output, rest, n));
		TRY(str_append(&output, "\n"));
		rest += n + 1;
	}
	fputs(output.s, stdout);
	return NULL;
}

struct err *replay_show(const char *head, const char *what,
			const struct suite_result *result, bool good,
			bool color, bool verbose)
{
	bool as_found = result->outcome != OUTCOME_NONE &&
			replay_is_good(result->outcome) == good;
	_cleanup_(str_freep) struct str line = STR_INIT;
	TRY(str_append(&line, what));
	if (result->outcome == OUTCOME_NONE)
		TRY(str_append(&line, ": an earlier test ended the process"));
	if (result->message) {
		TRY(str_append(&line, ": "));
		TRY(str_append_escaped(&line, result->message,
				       strlen(result->message)));
	}
	if (result->file) {
		_cleanup_(freep) char *place = NULL;
		TRY(path_display(NULL, result->file, &place));
		TRY(str_append(&line, " ("));
		TRY(str_append_escaped(&line, place, strlen(place)));
		TRY(result->line ? str_appendf(&line, ":%u)", result->line)
				 : str_append(&line, ")"));
	}
	printf("%s: %s%s%s: %s\n", head,
	       color ? as_found ? "\033[32m" : "\033[1;31m" : "",
	       result->outcome == OUTCOME_NONE ? "none"
					       : outcome_name(result->outcome),
	       color ? "\033[0m" : "", line.s);
	return verbose && result->output_n ? show_output(result) : NULL;
}

struct err *replay_set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) ? err_nomem() : NULL;
}

static struct err *set_text(json_t *object, const char *key, const char *text)
{
	_cleanup_(freep) char *clean =
		text ? str_utf8(text, strlen(text)) : NULL;
	if (text && !clean)
		return err_nomem();
	return replay_set(object, key,
			  clean ? json_string(clean) : json_null());
}

struct err *replay_result_json(const struct suite_result *result, json_t **ret)
{
	_cleanup_(json_freep) json_t *record = json_object();
	_cleanup_(freep) char *place = NULL;
	if (result->file)
		TRY(path_display(NULL, result->file, &place));
	TRY(set_text(record, "outcome",
		     result->outcome == OUTCOME_NONE
			     ? NULL
			     : outcome_name(result->outcome)));
	TRY(set_text(record, "message", result->message));
	TRY(set_text(record, "file", place));
	TRY(replay_set(record, "line",
		       place && result->line ? json_integer(result->line)
					     : json_null()));
	*ret = take_ptr(record);
	return NULL;
}

struct err *replay_json(const char *id, const char *test, bool again,
			json_t **ret)
{
	_cleanup_(json_freep) json_t *object = json_object();
	TRY(replay_set(object, "schema", json_integer(1)));
	TRY(set_text(object, "polygraph", POLYGRAPH_VERSION));
	TRY(set_text(object, "id", id));
	TRY(set_text(object, "test", test));
	TRY(replay_set(object, "reproduced", json_boolean(again)));
	*ret = take_ptr(object);
	return NULL;
}

struct err *replay_print(const json_t *object)
{
	_cleanup_(freep) char *text = json_dumps(object, JSON_INDENT(2));
	if (!text)
		return err_nomem();
	puts(text);
	return NULL;
}
