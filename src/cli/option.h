/*
 * Options: one table per command feeds the parser, --help, the manual page and
 * the configuration file.
 *
 * A command has groups of options; each option says which member of the
 * command's values it fills (offset). `struct options` is one reading of them:
 * the values, and for each option where its value came from.
 *
 * Invariants:
 *  1. A value from the command line is never replaced by one from the
 *     configuration, whichever is read first.
 *  2. Texts and lists among the values are copies that `struct options` owns;
 *     defaults hold none.
 *  3. The first word that is not an option ends the options: it and everything
 *     after it belong to the tested program.
 *
 * What it does not do: judge how options go together. That is the commands'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/strv.h"

enum option_type {
	OPTION_FLAG,	 /* bool; --no-NAME takes it back */
	OPTION_TEXT,	 /* char * */
	OPTION_LIST,	 /* struct option_list; repeatable */
	OPTION_NUMBER,	 /* uint64_t, from min to max */
	OPTION_DURATION, /* uint64_t, nanoseconds */
	OPTION_CHOICE,	 /* unsigned, index into choices */
};

struct option {
	const char *name; /* without the dashes; NULL ends the table */
	char letter;	  /* 0: none */
	enum option_type type;
	size_t offset;	   /* into the command's values */
	const char *value; /* what --help calls it: "FILE"; NULL for flags */
	const char *const *choices; /* ends with NULL */
	/* Further ones, until NULL; --help has them after its text. */
	const char *(*more_choices)(size_t i);
	uint64_t min, max; /* max 0: no limit */
	bool random;	   /* of numbers: also "random" and "daily" */
	bool no_config;	   /* makes no sense in polygraph.toml */
	bool often;	   /* also in the short help (-h) */
	bool tables; /* of lists: there also [[tables]], as "key=value; …" */
	const char *help; /* one paragraph; the default in it */
};

/* One of the choices; NULL: there are no more, or no choices at all. */
const char *option_choice(const struct option *option, size_t i);

/* What --help and the manual say of it. */
struct err *option_help(const struct option *option,
			struct str *out) _must_check_;

struct option_group {
	const char *title;
	const struct option *options;
};

/* Where lists are joined with others (--format, --output) the order counts. */
struct option_item {
	char *text;
	unsigned rank; /* grows over the options of a command line */
};

struct option_list {
	struct option_item *data;
	size_t n;
	size_t cap;
};

enum option_source {
	OPTION_DEFAULT,
	OPTION_CONFIG,	     /* top of polygraph.toml */
	OPTION_CONFIG_TABLE, /* the command's own table there */
	OPTION_COMMAND_LINE,
};

struct options {
	const struct option_group *const *groups; /* ends with NULL */
	void *values;
	enum option_source *sources; /* in the order of the tables */
	unsigned rank;
	bool ended; /* "--" stood at their end */
};

/* @values_size bytes of @defaults are copied. */
struct err *options_create(const struct option_group *const *groups,
			   const void *defaults, size_t values_size,
			   struct options **ret) _must_check_;
void options_destroy(struct options *options); /* NULL is fine */
static inline void options_destroyp(struct options **options)
{
	options_destroy(*options);
}

/*
 * Reads the options at the start of @argv. @ret_used: how many words they took,
 * "--" included.
 */
struct err *options_parse(struct options *options, int argc, char **argv,
			  int *ret_used) _must_check_;

/* One value, as text; an option that a stronger source gave is left alone. */
struct err *options_set(struct options *options, const struct option *option,
			const char *text,
			enum option_source source) _must_check_;
/* Before the values of a list from @source: those of weaker ones go. */
void options_clear_weaker(struct options *options, const struct option *option,
			  enum option_source source);

/*
 * What was given, by whichever source, as words of a command line that gives it
 * again: "--name=value". Only options that are in @known, too (NULL: all), and
 * for which @wanted says so (NULL: all).
 */
struct err *options_words(const struct options *options,
			  const struct option_group *const *known,
			  bool (*wanted)(const char *name),
			  struct strv *ret) _must_check_;

/* NULL where there is none. */
const struct option *option_find(const struct option_group *const *groups,
				 const char *name);
enum option_source options_source(const struct options *options,
				  const char *name);
