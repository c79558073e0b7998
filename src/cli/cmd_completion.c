/* polygraph completion: what a shell needs to complete command lines. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/common.h"
#include "cli/completion.h"

static const struct common_options defaults = COMMON_DEFAULTS;

static struct err *completion_run(const struct options *options _unused_,
				  int argc, char **argv, enum status *ret)
{
	if (argc != 1)
		return err_hint(
			err_create(ERR_USAGE, argc ? "'completion' takes one "
						     "shell"
						   : "which shell?"),
			"give one of: bash, zsh and fish");
	*ret = STATUS_OK;
	return completion_write(argv[0], stdout);
}

const struct command command_completion = {
	.name = "completion",
	.summary = "prints a script that completes command lines in a shell",
	.synopsis = (const char *const[]){ "bash | zsh | fish", NULL },
	.description =
		(const char *const[]){
			"Prints a script that lets a shell complete commands, "
			"options and their values. The Debian package installs "
			"these scripts; otherwise evaluate or store it as the "
			"examples show.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "eval \"$(polygraph completion bash)\"",
			  "in ~/.bashrc" },
			{ "polygraph completion zsh >~/.zfunc/_polygraph",
			  "a folder of fpath" },
			{ "polygraph completion fish | source",
			  "in ~/.config/fish/config.fish" },
			{} },
	.groups = (const struct option_group *const[]){ &common_bare_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.run = completion_run,
};
