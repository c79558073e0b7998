#include "cli/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/command.h"

/* ---- words of command lines ---- */

/* Options that say how it is shown, how long it may take, or what is chosen. */
static bool is_detector_option(const char *name)
{
	static const char *const others[] = {
		"tests",	 "ctest",     "meson",
		"commands",	 "jobs",      "format",
		"output",	 "color",     "quiet",
		"verbose",	 "baseline",  "budget",
		"config",	 "help",      "version",
		"order",	 "fresh",     "sandbox",
		"write-through", "fail-on",   "update-baseline",
		"suppress",	 "classpath", "java",
		"test-classes",	 "maven",     "gradle",
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(others[i], name))
			return false;
	}
	return true;
}

static bool is_selection_option(const char *name)
{
	return !strcmp(name, "tests") || !strcmp(name, "order");
}

static bool is_suite_option(const char *name)
{
	return !strcmp(name, "framework") || !strcmp(name, "test-functions") ||
	       !strcmp(name, "timeout");
}

static bool is_model_option(const char *name)
{
	return !strcmp(name, "model");
}

static struct err *add_suite_command(struct strv *words,
				     const struct common_suite *choice)
{
	if (choice->options.argv)
		TRY(strv_add(words, "--"));
	return strv_add_all(words, choice->command);
}

/* A name as a pattern that matches nothing else. */
static struct err *add_test_pattern(struct strv *words, const char *name)
{
	_cleanup_(str_freep) struct str word = STR_INIT;
	TRY(str_append(&word, "--tests="));
	TRY(str_append_pattern(&word, name));
	return strv_take(words, str_take(&word));
}

/* replay_source.command */
static struct err *make_detector_command(void *data, const char *detector,
					 const char *test, struct strv *ret)
{
	const struct records *records = data;
	const struct command *command = command_find(detector);
	const struct option_group *const *known =
		command ? command->groups : NULL;
	TRY(strv_add(ret, detector));
	TRY(options_words(records->options, known, is_detector_option, ret));
	TRY(test ? add_test_pattern(ret, test)
		 : options_words(records->options, known, is_selection_option,
				 ret));
	return add_suite_command(ret, records->choice);
}

static struct err *make_suite_name(const struct common_suite *choice,
				   char **ret)
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

static struct err *make_words(struct records *records)
{
	_cleanup_(strv_freep) struct strv models = {};
	TRY(make_suite_name(records->choice, &records->name));
	TRY(options_words(records->options, NULL, is_suite_option,
			  &records->suite));
	TRY(add_suite_command(&records->suite, records->choice));
	TRY(options_words(records->options, NULL, is_model_option, &models));
	for (size_t i = 0; i < models.n; i++)
		TRY(strv_add(&records->models,
			     models.data[i] + strlen("--model=")));
	return NULL;
}

/* ---- open and close ---- */

/* results_source.describe */
static struct err *describe_finding(void *data, const struct finding *finding,
				    const char *files_digest, char **ret)
{
	struct records *records = data;
	records->source.files_digest = files_digest;
	return replay_describe(finding, &records->source, ret);
}

struct err *records_open(struct records *records, const struct options *options,
			 const struct common_suite *choice,
			 const struct suite *suite, const char *matters)
{
	const struct common_options *common = options->values;
	if (*results_folder() == '/') {
		records->folder = getcwd(NULL, 0);
		if (!records->folder)
			return err_errno(errno, "the working directory has no "
						"name");
	}
	records->options = options;
	records->choice = choice;
	TRY(make_words(records));
	records->source = (struct replay_source){
		.suite = &records->suite,
		.models = &records->models,
		.folder = records->folder,
		.command = make_detector_command,
		.data = records,
	};
	const struct results_source source = {
		.suite = suite,
		.options = &choice->options,
		.name = records->name,
		.matters = matters,
		.describe = describe_finding,
		.data = records,
		.look = common->look,
	};
	return results_open(&source, &records->results);
}

void records_close(struct records *records)
{
	results_close(records->results);
	free(records->name);
	free(records->folder);
	strv_free(&records->suite);
	strv_free(&records->models);
	*records = (struct records){};
}
