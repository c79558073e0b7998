/* polygraph help, version, man: what the program says of itself. */
#include <stdio.h>

#include <string.h>

#include "base/version.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/help.h"

static const struct common_options defaults = COMMON_DEFAULTS;
static const struct option_group *const groups[] = { &common_bare_group, NULL };

/* The command that @argv asks about; NULL: polygraph itself. */
static struct err *help_find_subject(int argc, char **argv,
				     const struct command **ret)
{
	*ret = NULL;
	if (!argc)
		return NULL;
	if (argc > 1)
		return err_create(
			ERR_USAGE,
			"help takes one command; '%s' is a second one",
			argv[1]);
	if (!strcmp(argv[0], "polygraph")) {
		*ret = NULL;
		return NULL;
	}
	*ret = command_find(argv[0]);
	return *ret ? NULL : command_unknown(argv[0]);
}

static struct err *help_run(const struct options *options _unused_, int argc,
			    char **argv, enum status *ret)
{
	const struct command *command;
	TRY(help_find_subject(argc, argv, &command));
	*ret = STATUS_OK;
	return help_write(command, false, 0, stdout);
}

const struct command command_help = {
	.name = "help",
	.summary = "explains how to use a command",
	.synopsis = (const char *const[]){ "[COMMAND]", NULL },
	.description =
		(const char *const[]){ "Explains how to use a command.", NULL },
	.groups = groups,
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.run = help_run,
};

static struct err *version_run(const struct options *options _unused_, int argc,
			       char **argv, enum status *ret)
{
	if (argc)
		return err_create(ERR_USAGE,
				  "'version' takes no argument, not '%s'",
				  argv[0]);
	*ret = STATUS_OK;
	printf("polygraph " POLYGRAPH_VERSION " (commit %s)\n",
	       polygraph_commit);
	return NULL;
}

const struct command command_version = {
	.name = "version",
	.summary = "prints the version",
	.synopsis = (const char *const[]){ "", NULL },
	.description = (const char *const[]){ "Prints the version.", NULL },
	.groups = groups,
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.run = version_run,
};

static struct err *man_run(const struct options *options _unused_, int argc,
			   char **argv, enum status *ret)
{
	const struct command *command;
	TRY(help_find_subject(argc, argv, &command));
	*ret = STATUS_OK;
	return manual_write(command, stdout);
}

/* For the build: `polygraph man run >polygraph-run.1`. */
const struct command command_man = {
	.name = "man",
	.summary = "prints a manual page",
	.synopsis = (const char *const[]){ "[COMMAND]", NULL },
	.description =
		(const char *const[]){ "Prints the manual page of a command, "
				       "or of polygraph itself, "
				       "as troff source.",
				       NULL },
	.groups = groups,
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.hidden = true,
	.run = man_run,
};
