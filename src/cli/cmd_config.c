/* polygraph config: what is in force, and from where; a schema for editors. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/config.h"

struct config_values {
	struct common_options common;
	bool schema;
};

static const struct config_values defaults = { .common = COMMON_DEFAULTS };

#define FIELD(member) .offset = offsetof(struct config_values, member)

/* clang-format off */
static const struct option config_options[] = {
	{ "schema", 0, OPTION_FLAG, FIELD(schema), .no_config = true,
	  .help = "print a JSON schema of " CONFIG_FILE ", for editors" },
	{ "config", 0, OPTION_TEXT, FIELD(common.config), .value = "FILE",
	  .no_config = true,
	  .help = "show this file (default: " CONFIG_FILE " in the working "
		  "directory, or in the nearest folder above that has one)" },
	{}
};
/* clang-format on */

static const struct option_group config_group = { "Configuration",
						  config_options };

/* ---- what is in force ---- */

static struct err *show_command(const struct command *command, const char *path)
{
	_cleanup_(options_destroyp) struct options *options = NULL;
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(freep) char *file = NULL;
	TRY(options_create(command->groups, command->defaults,
			   command->values_size, &options));
	TRY(config_find(path, &file));
	TRY(config_read(path, command, options));
	TRY(options_words(options, NULL, NULL, &words));
	if (!file)
		printf("there is no " CONFIG_FILE " here or above; '%s' has "
		       "its defaults\n",
		       command->name);
	else
		printf("# options of '%s' from %s\n", command->name, file);
	for (size_t i = 0; i < words.n; i++) {
		/* "--name=value", "--name", "--no-name" */
		const char *word = words.data[i] + strlen("--");
		size_t n = strcspn(word, "=");
		_cleanup_(freep) char *name = strndup(word, n);
		_cleanup_(str_freep) struct str shown = STR_INIT;
		if (!name)
			return err_nomem();
		bool off = !option_find(command->groups, name) &&
			   str_starts(name, "no-");
		const char *plain = off ? name + strlen("no-") : name;
		bool table =
			options_source(options, plain) == OPTION_CONFIG_TABLE;
		TRY(str_append_escaped(&shown, word, strlen(word)));
		printf("--%-40s # %s%s%s%s\n", shown.s, file ? file : "",
		       table ? " [" : "", table ? command->name : "",
		       table ? "]" : "");
	}
	return NULL;
}

/* ---- the schema ---- */

static json_t *describe_plain(const struct option *option)
{
	json_t *choices = json_array();
	for (size_t i = 0; option->choices && option->choices[i]; i++)
		json_array_append_new(choices, json_string(option->choices[i]));
	for (size_t i = 0; option->more_choices && option->more_choices(i); i++)
		json_array_append_new(choices,
				      json_string(option->more_choices(i)));
	bool chosen = json_array_size(choices);
	json_t *schema = NULL;
	switch (option->type) {
	case OPTION_FLAG:
		schema = json_pack("{s:s}", "type", "boolean");
		break;
	case OPTION_NUMBER:
		schema = option->random ? json_pack("{s:[s, s]}", "type",
						    "integer", "string")
					: json_pack("{s:s, s:I}", "type",
						    "integer", "minimum",
						    (json_int_t)option->min);
		break;
	case OPTION_DURATION:
		schema = json_pack("{s:[s, s]}", "type", "string", "number");
		break;
	case OPTION_TEXT:
	case OPTION_LIST:
	case OPTION_CHOICE:
		schema = chosen ? json_pack("{s:s, s:O}", "type", "string",
					    "enum", choices)
				: json_pack("{s:s}", "type", "string");
		break;
	}
	json_decref(choices);
	return schema;
}

static struct err *describe_option(const struct option *option, json_t **ret)
{
	_cleanup_(str_freep) struct str help = STR_INIT;
	json_t *schema = describe_plain(option);
	if (option->type == OPTION_LIST && option->tables)
		schema = json_pack("{s:[o, {s:s}]}", "anyOf", schema, "type",
				   "object");
	if (option->type == OPTION_LIST)
		schema = json_pack("{s:s, s:o}", "type", "array", "items",
				   schema);
	TRY(option_help(option, &help));
	if (json_object_set_new(schema, "description",
				json_string(help.s ? help.s : "")))
		return err_nomem();
	*ret = schema;
	return NULL;
}

static struct err *describe_options(const struct command *command,
				    json_t *properties)
{
	for (size_t i = 0; command->groups[i]; i++) {
		const struct option *option = command->groups[i]->options;
		for (; option->name; option++) {
			json_t *schema = NULL;
			if (option->no_config ||
			    json_object_get(properties, option->name))
				continue;
			TRY(describe_option(option, &schema));
			if (json_object_set_new(properties, option->name,
						schema))
				return err_nomem();
		}
	}
	return NULL;
}

static struct err *write_schema(void)
{
	_cleanup_(json_freep) json_t *all = json_object();
	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			TRY(describe_options(commands[i], all));
	}
	for (size_t i = 0; commands[i]; i++) {
		json_t *own = json_object();
		if (commands[i]->hidden || !own) {
			json_decref(own);
			continue;
		}
		struct err *err = describe_options(commands[i], own);
		/* A command and an option of one name: a table, or a value. */
		if (err || !json_object_size(own) ||
		    json_object_get(all, commands[i]->name)) {
			json_decref(own);
			TRY(err);
			continue;
		}
		json_object_set_new(all, commands[i]->name,
				    json_pack("{s:s, s:b, s:o}", "type",
					      "object", "additionalProperties",
					      0, "properties", own));
	}
	_cleanup_(json_freep) json_t *schema = json_pack(
		"{s:s, s:s, s:s, s:b, s:O}", "$schema",
		"http://json-schema.org/draft-07/schema#", "title", CONFIG_FILE,
		"type", "object", "additionalProperties", 0, "properties", all);
	if (!schema)
		return err_nomem();
	TRY(json_write_to(schema, JSON_INDENT(2), stdout));
	fputs("\n", stdout);
	return NULL;
}

static struct err *config_command(const struct options *options, int argc,
				  char **argv, enum status *ret)
{
	const struct config_values *values = options->values;
	const struct command *command =
		argc ? command_find(argv[0]) : &command_check;
	*ret = STATUS_OK;
	if (argc > 1)
		return err_create(ERR_USAGE,
				  "one command at a time, not also '%s'",
				  argv[1]);
	if (!command || command->hidden)
		return command_unknown(argv[0]);
	return values->schema ? write_schema()
			      : show_command(command, values->common.config);
}

const struct command command_config = {
	.name = "config",
	.summary = "shows which options are in force, and from where",
	.synopsis = (const char *const[]){ "[COMMAND]", "--schema", NULL },
	.description =
		(const char *const[]){
			CONFIG_FILE
			" is read from the working directory, or from the "
			"nearest folder above that has one. Paths in it are "
			"relative to its folder. This command shows what it "
			"sets for COMMAND (default: check), as options of a "
			"command line, and whether that comes from the top of "
			"the file or from the command's own table.",
			"With --schema it prints a JSON schema that editors "
			"use to complete and check the file.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph config", "what 'check' would use" },
			{ "polygraph config order", "what 'order' would use" },
			{ "polygraph config --schema >polygraph.schema.json",
			  "for an editor" },
			{} },
	.groups = (const struct option_group *const[]){ &config_group,
							&common_bare_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.word_first = true,
	.run = config_command,
};
