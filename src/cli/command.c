#include "cli/command.h"

#include <string.h>

#include "base/str.h"
#include "base/suggest.h"

/* clang-format off */
const struct command *const commands[] = {
	&command_check,
	&command_list,
	&command_run,
	&command_pollution,
	&command_order,
	&command_schedules,
	&command_choices,
	&command_repair,
	&command_replay,
	&command_baseline,
	&command_report,
	&command_config,
	&command_init,
	&command_completion,
	&command_merge,
	&command_history,
	&command_help,
	&command_version,
	&command_man,
	NULL,
};
/* clang-format on */

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

/* "list, run, help and version" */
static struct err *append_names(struct str *str)
{
	size_t n = 0, i = 0;
	for (size_t j = 0; commands[j]; j++)
		n += !commands[j]->hidden;
	for (size_t j = 0; commands[j]; j++) {
		if (commands[j]->hidden)
			continue;
		i++;
		TRY(str_appendf(str, "%s%s", commands[j]->name,
				i == n	     ? ""
				: i == n - 1 ? " and "
					     : ", "));
	}
	return NULL;
}

struct err *command_unknown(const char *name)
{
	struct suggestion suggestion;
	suggestion_init(&suggestion, name);
	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			suggestion_offer(&suggestion, commands[i]->name);
	}
	_cleanup_(str_freep) struct str names = STR_INIT;
	TRY(append_names(&names));
	struct err *err = err_create(
		ERR_USAGE, "'%s' is neither a command nor a file", name);
	if (suggestion.best)
		return err_hint(err,
				"did you mean '%s'? the commands are: "
				"%s",
				suggestion.best, names.s);
	return err_hint(err, "the commands are: %s", names.s);
}

enum status command_status(const struct err *err)
{
	switch (err_kind(err)) {
	case ERR_USAGE:
		return STATUS_USAGE;
	case ERR_SUITE:
		return STATUS_SUITE;
	case ERR_INTERRUPTED:
		return STATUS_INTERRUPTED;
	case ERR_INTERNAL:
		break;
	}
	return STATUS_INTERNAL;
}
