/*
 * Commands: `polygraph NAME …`.
 *
 * To add a command: write cli/cmd_NAME.c with one `const struct command`,
 * declare it below, list it in cli/command.c. Parser, --help, the manual page
 * and the configuration file follow from its table of options.
 *
 * The values of every command begin with struct common_options (common.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/option.h"

/* Promised to scripts; see the contract. */
enum status {
	STATUS_OK = 0,
	STATUS_FINDINGS = 1,
	STATUS_USAGE = 2,
	STATUS_SUITE = 3,
	STATUS_INTERNAL = 4,
	STATUS_INTERRUPTED = 130,
};

struct command_example {
	const char *command;
	const char *what;
};

struct command {
	const char *name;
	const char *summary;	     /* for the list of commands */
	const char *const *synopsis; /* what follows the name; ends with NULL */
	const char *const *description;		/* paragraphs; ends with NULL */
	const struct command_example *examples; /* ends with command NULL */
	const struct option_group *const *groups;
	const void *defaults; /* of the values */
	size_t values_size;
	bool hidden;	 /* neither in --help nor in the manual */
	bool word_first; /* options may also come after its words */
	bool takes_ids;	 /* its first word is the id of a finding */
	bool guarded;	 /* runs tested programs: see guard.h */
	/* @argv: what follows the options; @argv[argc] is NULL. */
	struct err *(*run)(const struct options *options, int argc, char **argv,
			   enum status *ret);
};

extern const struct command command_check;
extern const struct command command_list;
extern const struct command command_run;
extern const struct command command_pollution;
extern const struct command command_order;
extern const struct command command_schedules;
extern const struct command command_choices;
extern const struct command command_repair;
extern const struct command command_replay;
extern const struct command command_baseline;
extern const struct command command_report;
extern const struct command command_config;
extern const struct command command_merge;
extern const struct command command_history;
extern const struct command command_completion;
extern const struct command command_help;
extern const struct command command_init;
extern const struct command command_version;
extern const struct command command_man;

/* All of them; ends with NULL. */
extern const struct command *const commands[];

const struct command *command_find(const char *name);
/* The exit status that an error means. */
enum status command_status(const struct err *err);
/* For a name that is none: what was meant, or which there are. */
struct err *command_unknown(const char *name) _must_check_;
