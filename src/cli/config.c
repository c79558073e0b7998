#include "cli/config.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/suggest.h"
#include "base/trust.h"
#include "cli/toml.h"

#define FILE_LIMIT ((size_t)1 << 20)
/* Folders above the working directory that are looked at. */
#define DEPTH_MAX 64

/* Where a key stands, for messages. */
struct config_place {
	const char *file;
	unsigned line;
};

/* Options whose values are paths: relative to the folder of the file. */
static bool option_is_path(const char *name)
{
	static const char *const paths[] = {
		"baseline", "ctest",	 "meson",	  "commands",
		"order",    "watch-dir", "write-through", "test-classes",
		"maven",    "gradle",
	};
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!strcmp(paths[i], name))
			return true;
	}
	return false;
}

/* "../known.txt" of "known.txt" in "../polygraph.toml"; NULL: as it is. */
static struct err *path_beside(const char *file, const char *path, char **ret)
{
	const char *slash = strrchr(file, '/');
	if (!slash || *path == '/' || !str_starts(file, "../"))
		return NULL;
	return str_format(ret, "%.*s%s", (int)(slash - file) + 1, file, path);
}

static struct err *config_error_at(const struct config_place *place,
				   struct err *err)
{
	return err_prefix(err, "%s:%u", place->file, place->line);
}

/* A plain value as it would stand on the command line. */
static struct err *config_value_text(const struct option *option,
				     const json_t *value, char **ret)
{
	const char *wanted = option->type == OPTION_FLAG     ? "true or false"
			     : option->type == OPTION_NUMBER ? "a number"
			     : option->type == OPTION_DURATION
				     ? "a duration, as \"30s\""
				     : "text in quotes";
	bool number = option->type == OPTION_NUMBER ||
		      option->type == OPTION_DURATION;
	int n = -1;
	if (option->type == OPTION_FLAG && json_is_boolean(value))
		n = asprintf(ret, "%s", json_is_true(value) ? "true" : "false");
	else if (number && json_is_integer(value))
		n = asprintf(ret, "%lld", (long long)json_integer_value(value));
	else if (option->type == OPTION_DURATION && json_is_real(value))
		n = asprintf(ret, "%.9f", json_real_value(value));
	else if (option->type != OPTION_FLAG && option->type != OPTION_NUMBER &&
		 json_is_string(value) &&
		 strlen(json_string_value(value)) == json_string_length(value))
		n = asprintf(ret, "%s", json_string_value(value));
	else
		return err_create(ERR_USAGE, "must be %s", wanted);
	return n < 0 ? err_nomem() : NULL;
}

/* A table in a list of them: "key=value; key=value", as its option takes it. */
static struct err *table_text(json_t *table, char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	const char *key;
	json_t *entry;
	json_object_foreach(table, key, entry)
	{
		const json_t *value = json_object_get(entry, "value");
		TRY(str_appendf(&text, "%s%s=", text.n ? "; " : "", key));
		if (json_is_string(value))
			TRY(str_append(&text, json_string_value(value)));
		else if (json_is_integer(value))
			TRY(str_appendf(&text, "%lld",
					(long long)json_integer_value(value)));
		else
			return err_create(ERR_USAGE,
					  "%s must be a number or text in "
					  "quotes",
					  key);
	}
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

static struct err *apply_plain(struct options *options,
			       const struct option *option, const json_t *value,
			       enum option_source source, const char *file)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char *beside = NULL;
	if (option->tables && json_is_object(value))
		TRY(table_text((json_t *)value, &text));
	else
		TRY(config_value_text(option, value, &text));
	BUG_ON(!text);
	if (option_is_path(option->name))
		TRY(path_beside(file, text, &beside));
	return options_set(options, option, beside ? beside : text, source);
}

static struct err *config_apply_value(struct options *options,
				      const struct option *option,
				      const json_t *value,
				      enum option_source source,
				      const char *file)
{
	if (!json_is_array(value))
		return apply_plain(options, option, value, source, file);
	if (option->type != OPTION_LIST)
		return err_create(ERR_USAGE, "takes one value, not a list");
	/* An empty list at a stronger place takes back a full one. */
	options_clear_weaker(options, option, source);
	for (size_t i = 0; i < json_array_size(value); i++)
		TRY(apply_plain(options, option, json_array_get(value, i),
				source, file));
	return NULL;
}

static struct err *unknown_key(const struct config_place *place,
			       const char *key,
			       const struct suggestion *suggestion)
{
	struct err *err = config_error_at(
		place, err_create(ERR_USAGE, "there is no option '%s'", key));
	if (suggestion->best)
		return err_hint(err, "did you mean '%s'?", suggestion->best);
	return err_hint(err, "'polygraph help COMMAND' lists the options");
}

static void offer_options(struct suggestion *suggestion,
			  const struct command *command)
{
	for (size_t i = 0; command->groups[i]; i++) {
		const struct option *option = command->groups[i]->options;
		for (; option->name; option++) {
			if (!option->no_config)
				suggestion_offer(suggestion, option->name);
		}
	}
}

/* The option of @key in @command, or of any command where that is NULL. */
static const struct option *known_option(const struct command *command,
					 const char *key)
{
	const struct option *option = NULL;
	for (size_t i = 0; commands[i] && !option; i++) {
		if (!command || command == commands[i])
			option = option_find(commands[i]->groups, key);
		if (option && option->no_config)
			option = NULL;
	}
	return option;
}

/* One key, at the top (@table NULL) or in the table of a command. */
static struct err *apply_key(const struct config_place *place,
			     const struct command *table, const char *key,
			     const json_t *value, const struct command *command,
			     struct options *options)
{
	if (!known_option(table, key)) {
		struct suggestion suggestion;
		suggestion_init(&suggestion, key);
		for (size_t i = 0; commands[i]; i++) {
			if (!table || table == commands[i])
				offer_options(&suggestion, commands[i]);
		}
		return unknown_key(place, key, &suggestion);
	}
	const struct option *option = known_option(command, key);
	if (!option || (table && table != command))
		return NULL; /* for another command */
	return config_error_at(
		place, err_prefix(config_apply_value(options, option, value,
						     table ? OPTION_CONFIG_TABLE
							   : OPTION_CONFIG,
						     place->file),
				  "%s", key));
}

static struct err *apply_table(const struct config_place *place,
			       const char *name, json_t *entries,
			       const struct command *command,
			       struct options *options)
{
	const struct command *table = command_find(name);
	if (!table || table->hidden) {
		struct suggestion suggestion;
		suggestion_init(&suggestion, name);
		for (size_t i = 0; commands[i]; i++)
			suggestion_offer(&suggestion, commands[i]->name);
		struct err *err = config_error_at(
			place, err_create(ERR_USAGE, "there is no command '%s'",
					  name));
		if (suggestion.best)
			return err_hint(err, "did you mean '[%s]'?",
					suggestion.best);
		return err;
	}
	const char *key;
	json_t *entry;
	json_object_foreach(entries, key, entry)
	{
		struct config_place inner = {
			.file = place->file,
			.line = (unsigned)json_integer_value(
				json_object_get(entry, "line")),
		};
		TRY(apply_key(&inner, table, key,
			      json_object_get(entry, "value"), command,
			      options));
	}
	return NULL;
}

static struct err *apply_root(json_t *root, const char *name,
			      const struct command *command,
			      struct options *options)
{
	const char *key;
	json_t *entry;
	json_object_foreach(root, key, entry)
	{
		json_t *value = json_object_get(entry, "value");
		struct config_place place = {
			.file = name,
			.line = (unsigned)json_integer_value(
				json_object_get(entry, "line")),
		};
		if (json_is_object(value))
			TRY(apply_table(&place, key, value, command, options));
		else
			TRY(apply_key(&place, NULL, key, value, command,
				      options));
	}
	return NULL;
}

/* Before toml++ sees it, whose words for such bytes differ from place to place. */
static struct err *check_utf8(const char *text, size_t n, const char *name)
{
	unsigned line = 1;
	for (size_t i = 0; i < n;) {
		size_t length = str_utf8_length(text + i, n - i);
		if (!length || !text[i])
			return err_create(ERR_USAGE,
					  "%s:%u: a byte that is not UTF-8",
					  name, line);
		line += text[i] == '\n';
		i += length;
	}
	return NULL;
}

struct err *config_parse(const char *text, size_t n, const char *name,
			 const struct command *command, struct options *options)
{
	unsigned line;
	_cleanup_(freep) char *message = NULL;
	TRY(check_utf8(text, n, name));
	_cleanup_(json_freep) json_t *root =
		toml_to_json(text, n, &line, &message);
	if (root)
		return apply_root(root, name, command, options);
	if (!message)
		return err_nomem();
	if (!line)
		return err_create(ERR_USAGE, "%s: %s", name, message);
	return err_create(ERR_USAGE, "%s:%u: %s", name, line, message);
}

/*
 * "polygraph.toml", "../polygraph.toml", …: the nearest that there is. Folders
 * are the same where one is its own parent.
 */
static struct err *find_upwards(char **ret)
{
	_cleanup_(str_freep) struct str path = STR_INIT;
	struct stat here, above;
	*ret = NULL;
	for (size_t depth = 0; depth < DEPTH_MAX; depth++) {
		_cleanup_(freep) char *file = NULL;
		const char *folder = path.n ? path.s : ".";
		TRY(path_join(folder, CONFIG_FILE, &file));
		if (!access(file, F_OK)) {
			*ret = strdup(path.n ? file : CONFIG_FILE);
			return *ret ? NULL : err_nomem();
		}
		_cleanup_(freep) char *parent = NULL;
		TRY(path_join(folder, "..", &parent));
		if (stat(folder, &here) || stat(parent, &above) ||
		    (here.st_dev == above.st_dev &&
		     here.st_ino == above.st_ino))
			return NULL;
		TRY(str_append(&path, path.n ? "/.." : ".."));
	}
	return NULL;
}

struct err *config_find(const char *path, char **ret)
{
	return path ? str_copy(path, ret) : find_upwards(ret);
}

/*
 * One that is named is wanted, whoever wrote it. One above the working directory
 * that is not to be trusted is no reason to stop.
 */
static struct err *config_read_found(const char *path, char **ret,
				     size_t *ret_n)
{
	struct err *err = trust_read_file(path, FILE_LIMIT, ret, ret_n);
	if (!err || err_number(err))
		return err;
	if (strcmp(path, CONFIG_FILE) != 0) {
		log_warn("%s", err_message(err));
		err_destroy(err);
		return NULL;
	}
	return err_hint(err, "if you trust it, name it: --config " CONFIG_FILE);
}

struct err *config_read(const char *path, const struct command *command,
			struct options *options)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char *found = NULL;
	size_t n = 0;
	if (!path)
		TRY(config_find(NULL, &found));
	if (!path && !found)
		return NULL;
	struct err *err = path ? file_read(path, FILE_LIMIT, &text, &n)
			       : config_read_found(found, &text, &n);
	if (err)
		return err_with_kind(err, ERR_USAGE);
	if (!text)
		return NULL;
	return config_parse(text, n, path ? path : found, command, options);
}
