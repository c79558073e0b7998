#include "cli/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/suggest.h"
#include "base/vec.h"

#define RANK_COMMAND_LINE 1000U
#define DAY (24 * 60 * 60)

/* Calls for every option of the groups, with its running number. */
#define for_each_option(groups, option, index)                                 \
	for (size_t g_ = (index) = 0; (groups)[g_]; g_++)                      \
		for (const struct option *option = (groups)[g_]->options;      \
		     option->name; option++, (index)++)

static void *option_field(const struct options *options,
			  const struct option *option)
{
	return (char *)options->values + option->offset;
}

struct err *options_create(const struct option_group *const *groups,
			   const void *defaults, size_t values_size,
			   struct options **ret)
{
	_cleanup_(options_destroyp) struct options *options =
		calloc(1, sizeof(*options));
	if (!options)
		return err_nomem();
	size_t n;
	for_each_option(groups, option, n);
	options->groups = groups;
	options->sources = calloc(n + 1, sizeof(*options->sources));
	options->values = malloc(values_size);
	if (!options->sources || !options->values)
		return err_nomem();
	memcpy(options->values, defaults, values_size);
	*ret = take_ptr(options);
	return NULL;
}

static void list_clear(struct option_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->data[i].text);
	vec_free(list);
}

void options_destroy(struct options *options)
{
	if (!options)
		return;
	size_t i;
	for_each_option(options->groups, option, i)
	{
		if (!options->values)
			break;
		if (option->type == OPTION_TEXT)
			free(*(char **)option_field(options, option));
		else if (option->type == OPTION_LIST)
			list_clear(option_field(options, option));
	}
	free(options->values);
	free(options->sources);
	free(options);
}

const struct option *option_find(const struct option_group *const *groups,
				 const char *name)
{
	size_t i;
	for_each_option(groups, option, i)
	{
		if (!strcmp(option->name, name))
			return option;
	}
	return NULL;
}

static const struct option *find_n(const struct option_group *const *groups,
				   const char *name, size_t n)
{
	size_t i;
	for_each_option(groups, option, i)
	{
		if (!strncmp(option->name, name, n) && !option->name[n])
			return option;
	}
	return NULL;
}

static const struct option *
find_letter(const struct option_group *const *groups, char letter)
{
	size_t i;
	for_each_option(groups, option, i)
	{
		if (option->letter == letter)
			return option;
	}
	return NULL;
}

static enum option_source *source_of(const struct options *options,
				     const struct option *wanted)
{
	size_t i;
	for_each_option(options->groups, option, i)
	{
		if (option == wanted)
			return &options->sources[i];
	}
	BUG("option '%s' is not in the table", wanted->name);
}

enum option_source options_source(const struct options *options,
				  const char *name)
{
	const struct option *option = option_find(options->groups, name);
	return option ? *source_of(options, option) : OPTION_DEFAULT;
}

void options_clear_weaker(struct options *options, const struct option *option,
			  enum option_source source)
{
	enum option_source *now = source_of(options, option);
	if (option->type != OPTION_LIST || *now >= source)
		return;
	list_clear(option_field(options, option));
	*now = source;
}

/* Short enough to be typed again, and never 0. */
static struct err *set_random(uint64_t *ret)
{
	uint32_t random;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_errno(errno, "cannot get a random seed");
	*ret = random ? random : 1;
	return NULL;
}

static struct err *set_number(const struct option *option, const char *text,
			      uint64_t *ret)
{
	uint64_t number;
	uint64_t max = option->max ? option->max : UINT64_MAX;
	if (!str_to_u64(text, 10, &number))
		return err_create(ERR_USAGE, "'%s' is not a number", text);
	if (number < option->min && !option->max)
		return err_create(ERR_USAGE,
				  "%s is out of range (at least %llu)", text,
				  (unsigned long long)option->min);
	if (number < option->min || number > max)
		return err_create(ERR_USAGE,
				  "%s is out of range (%llu to %llu)", text,
				  (unsigned long long)option->min,
				  (unsigned long long)max);
	*ret = number;
	return NULL;
}

const char *option_choice(const struct option *option, size_t i)
{
	size_t n = 0;
	if (!option->choices)
		return NULL;
	while (option->choices[n]) {
		if (n++ == i)
			return option->choices[i];
	}
	return option->more_choices ? option->more_choices(i - n) : NULL;
}

struct err *option_help(const struct option *option, struct str *out)
{
	const char *choice;
	TRY(str_append(out, option->help));
	for (size_t i = 0;
	     option->more_choices && (choice = option->more_choices(i)); i++)
		TRY(str_appendf(out, ", %s", choice));
	return NULL;
}

static struct err *set_choice(const struct option *option, const char *text,
			      unsigned *ret)
{
	_cleanup_(str_freep) struct str all = STR_INIT;
	struct suggestion suggestion;
	suggestion_init(&suggestion, text);
	const char *choice;
	for (unsigned i = 0; (choice = option_choice(option, i)); i++) {
		if (!strcmp(choice, text)) {
			if (ret)
				*ret = i;
			return NULL;
		}
		suggestion_offer(&suggestion, choice);
		TRY(str_appendf(&all, "%s%s", i ? ", " : "", choice));
	}
	struct err *err = err_create(ERR_USAGE, "there is no '%s'", text);
	if (suggestion.best)
		return err_hint(err, "did you mean '%s'? possible values: %s",
				suggestion.best, all.s);
	return err_hint(err, "possible values: %s", all.s);
}

static struct err *set_flag(const char *text, bool *ret)
{
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return err_create(ERR_USAGE, "'%s' is neither true nor false",
				  text);
	*ret = *text == 't';
	return NULL;
}

static struct err *set_text(const char *text, char **ret)
{
	char *copy = strdup(text);
	if (!copy)
		return err_nomem();
	free(*ret);
	*ret = copy;
	return NULL;
}

static struct err *add_text(const char *text, unsigned rank,
			    struct option_list *list)
{
	_cleanup_(freep) char *copy = strdup(text);
	if (!copy)
		return err_nomem();
	TRY(vec_push(list, (struct option_item){ copy, rank }));
	copy = NULL;
	return NULL;
}

static struct err *set_value(struct options *options,
			     const struct option *option, const char *text,
			     unsigned rank)
{
	void *value = option_field(options, option);
	switch (option->type) {
	case OPTION_FLAG:
		return set_flag(text, value);
	case OPTION_TEXT:
		if (option->choices)
			TRY(set_choice(option, text, NULL));
		return set_text(text, value);
	case OPTION_LIST:
		if (option->choices)
			TRY(set_choice(option, text, NULL));
		return add_text(text, rank, value);
	case OPTION_NUMBER:
		if (option->random && !strcmp(text, "random"))
			return set_random(value);
		if (option->random && !strcmp(text, "daily")) {
			*(uint64_t *)value = (uint64_t)time(NULL) / DAY;
			return NULL;
		}
		return set_number(option, text, value);
	case OPTION_DURATION:
		return duration_parse(text, value);
	case OPTION_CHOICE:
		return set_choice(option, text, value);
	}
	BUG("option '%s' has no type", option->name);
}

struct err *options_set(struct options *options, const struct option *option,
			const char *text, enum option_source source)
{
	enum option_source *now = source_of(options, option);
	if (*now > source)
		return NULL;
	options_clear_weaker(options, option, source);
	/* The order of keys in a file means nothing: that of the table counts. */
	unsigned rank = source == OPTION_COMMAND_LINE
				? RANK_COMMAND_LINE + options->rank++
				: (unsigned)(now - options->sources);
	TRY(set_value(options, option, text, rank));
	*now = source;
	return NULL;
}

static struct err *unknown_option(const struct options *options,
				  const char *word, size_t n)
{
	_cleanup_(freep) char *name = strndup(word, n);
	if (!name)
		return err_nomem();
	struct suggestion suggestion;
	suggestion_init(&suggestion, name + 2);
	size_t i;
	for_each_option(options->groups, option, i)
		suggestion_offer(&suggestion, option->name);

	struct err *err = err_create(ERR_USAGE, "unknown option '%s'", name);
	if (suggestion.best)
		return err_hint(err, "did you mean '--%s'?", suggestion.best);
	return err;
}

/* "--name", "--name=value", "--no-name"; @i is the word looked at. */
static struct err *parse_long(struct options *options, int argc, char **argv,
			      int *i)
{
	const char *word = argv[*i];
	size_t n = strcspn(word, "=");
	const char *text = word[n] ? word + n + 1 : NULL;
	const struct option *option = find_n(options->groups, word + 2, n - 2);

	if (!option && str_starts(word, "--no-") && !text) {
		option = find_n(options->groups, word + 5, n - 5);
		if (option && option->type == OPTION_FLAG)
			return options_set(options, option, "false",
					   OPTION_COMMAND_LINE);
		option = NULL;
	}
	if (!option)
		return unknown_option(options, word, n);
	if (option->type == OPTION_FLAG) {
		if (text)
			return err_create(ERR_USAGE,
					  "option '--%s' takes no value",
					  option->name);
		text = "true";
	} else if (!text) {
		if (*i + 1 >= argc)
			return err_create(ERR_USAGE,
					  "option '--%s' needs a value (%s)",
					  option->name, option->value);
		text = argv[++*i];
	}
	return err_prefix(
		options_set(options, option, text, OPTION_COMMAND_LINE), "--%s",
		option->name);
}

static struct err *unknown_letter(const struct options *options,
				  const char *word, char letter)
{
	struct err *err = err_create(ERR_USAGE, "unknown option '-%c'", letter);
	size_t n = strcspn(word, "=");
	if (find_n(options->groups, word + 1, n - 1))
		return err_hint(err, "did you mean '-%.*s'?", (int)n, word);
	return err;
}

/* "-q", "-qv", "-j4", "-j 4", "-o=x" is the file "=x" as with getopt(3). */
static struct err *parse_short(struct options *options, int argc, char **argv,
			       int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct option *option = find_letter(options->groups, *p);
		if (!option)
			return unknown_letter(options, argv[*i], *p);
		if (option->type == OPTION_FLAG) {
			TRY(options_set(options, option, "true",
					OPTION_COMMAND_LINE));
			continue;
		}
		const char *text = p[1] ? p + 1 : NULL;
		if (!text && *i + 1 >= argc)
			return err_create(ERR_USAGE,
					  "option '-%c' needs a value (%s)", *p,
					  option->value);
		if (!text)
			text = argv[++*i];
		return err_prefix(
			options_set(options, option, text, OPTION_COMMAND_LINE),
			"-%c", *p);
	}
	return NULL;
}

struct err *options_parse(struct options *options, int argc, char **argv,
			  int *ret_used)
{
	int i = 0;
	for (; i < argc && !options->ended; i++) {
		const char *word = argv[i];
		if (word[0] != '-' || !word[1])
			break;
		if (!strcmp(word, "--"))
			options->ended = true;
		else if (word[1] == '-')
			TRY(parse_long(options, argc, argv, &i));
		else
			TRY(parse_short(options, argc, argv, &i));
	}
	*ret_used = i;
	return NULL;
}

static struct err *add_option_words(const struct options *options,
				    const struct option *option,
				    struct strv *ret)
{
	const void *value = option_field(options, option);
	const struct option_list *list = value;
	const char *name = option->name;
	switch (option->type) {
	case OPTION_FLAG:
		return strv_addf(ret, "--%s%s",
				 *(const bool *)value ? "" : "no-", name);
	case OPTION_TEXT:
		return strv_addf(ret, "--%s=%s", name, *(char *const *)value);
	case OPTION_LIST:
		for (size_t i = 0; i < list->n; i++)
			TRY(strv_addf(ret, "--%s=%s", name,
				      list->data[i].text));
		return NULL;
	case OPTION_NUMBER:
		return strv_addf(ret, "--%s=%llu", name,
				 (unsigned long long)*(const uint64_t *)value);
	case OPTION_DURATION:
		/* Whole microseconds, the smallest unit there is. */
		return strv_addf(ret, "--%s=%lluus", name,
				 (unsigned long long)(*(const uint64_t *)value /
						      NS_PER_US));
	case OPTION_CHOICE:
		return strv_addf(ret, "--%s=%s", name,
				 option->choices[*(const unsigned *)value]);
	}
	BUG("option '%s' has no type", name);
}

struct err *options_words(const struct options *options,
			  const struct option_group *const *known,
			  bool (*wanted)(const char *name), struct strv *ret)
{
	size_t i;
	for_each_option(options->groups, option, i)
	{
		if (options->sources[i] == OPTION_DEFAULT ||
		    (known && !option_find(known, option->name)) ||
		    (wanted && !wanted(option->name)))
			continue;
		TRY(add_option_words(options, option, ret));
	}
	return NULL;
}
