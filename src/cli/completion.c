#include "cli/completion.h"

#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "cli/command.h"

const char *const completion_shells[] = { "bash", "zsh", "fish", NULL };

/* ---- what the shells share ---- */

/* Calls for every option of a command. */
#define for_each_row(command, row)                                             \
	for (size_t g_ = 0; (command)->groups[g_]; g_++)                       \
		for (const struct option *row =                                \
			     (command)->groups[g_]->options;                   \
		     row->name; row++)

static bool takes_value(const struct option *option)
{
	return option->type != OPTION_FLAG;
}

/* What the value is, where no list of choices says so. */
static bool takes_folder(const struct option *option)
{
	return option->value && (!strcmp(option->value, "DIR") ||
				 !strcmp(option->value, "BUILD-DIR"));
}

static bool takes_file(const struct option *option)
{
	return option->value && (!strcmp(option->value, "FILE") ||
				 !strcmp(option->value, "PATH"));
}

/* "auto always never"; "" where there are no choices. */
static struct err *append_choices(const struct option *option, struct str *str)
{
	const char *choice;
	TRY(str_append(str, ""));
	for (size_t i = 0; (choice = option_choice(option, i)); i++)
		TRY(str_appendf(str, "%s%s", i ? " " : "", choice));
	return NULL;
}

/* A text in single quotes; @also are characters with a backslash before. */
static void put_quoted(const char *text, const char *also, bool fish, FILE *out)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			fputs(fish ? "\\'" : "'\\''", out);
		else if (*p == '\\')
			fputs("\\\\", out);
		else if (strchr(also, *p))
			fprintf(out, "\\%c", *p);
		else
			fputc(*p, out);
	}
}

/* " replay repair " */
static void put_names_if(bool (*wanted)(const struct command *), FILE *out)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->hidden && wanted(commands[i]))
			fprintf(out, " %s", commands[i]->name);
	}
	fputc(' ', out);
}

static bool is_any(const struct command *command _unused_)
{
	return true;
}

static bool takes_ids(const struct command *command)
{
	return command->takes_ids;
}

static bool takes_late_options(const struct command *command)
{
	return command->word_first;
}

/* ---- bash ---- */

static void bash_write_options(const struct command *command, FILE *out)
{
	fprintf(out, "\t%s)\n\t\toptions='", command->name);
	for_each_row(command, flag) fprintf(out, " --%s", flag->name);
	fputs("'\n\t\tvalued='", out);
	for_each_row(command, option)
	{
		if (!takes_value(option))
			continue;
		fprintf(out, " --%s", option->name);
		if (option->letter)
			fprintf(out, " -%c", option->letter);
	}
	fputs(" '\n\t\t;;\n", out);
}

static void bash_write_pattern(const struct command *command,
			       const struct option *option, FILE *out)
{
	fprintf(out, "\t%s:--%s", command->name, option->name);
	if (option->letter)
		fprintf(out, " | %s:-%c", command->name, option->letter);
	fputs(")\n", out);
}

static struct err *bash_write_values(const struct command *command, FILE *out)
{
	for_each_row(command, option)
	{
		if (!takes_value(option))
			continue;
		_cleanup_(str_freep) struct str choices = STR_INIT;
		TRY(append_choices(option, &choices));
		bash_write_pattern(command, option, out);
		if (choices.n)
			fprintf(out,
				"\t\tmapfile -t COMPREPLY < <(compgen -W '%s' "
				"-- \"$cur\")\n",
				choices.s);
		else if (takes_file(option) || takes_folder(option))
			fprintf(out, "\t\t_polygraph_files -%c\n",
				takes_folder(option) ? 'd' : 'f');
		fputs("\t\treturn\n\t\t;;\n", out);
	}
	return NULL;
}

static struct err *bash_write(FILE *out)
{
	fputs("# Completion of polygraph for bash, made by 'polygraph "
	      "completion bash'.\n"
	      "_polygraph_files()\n{\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	      "}\n\n_polygraph()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=\n"
	      "\tlocal commands='",
	      out);
	put_names_if(is_any, out);
	fputs("'\n\tlocal ids='", out);
	put_names_if(takes_ids, out);
	fputs("' late='", out);
	put_names_if(takes_late_options, out);
	/* '=' is a word of its own there: "--color", "=", "al". */
	fputs("'\n"
	      "\tlocal command=check options= valued= first=1 i word\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -gt 1 ] &&\n"
	      "\t\t[[ $commands == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
	      "\t\tcommand=${COMP_WORDS[1]} first=2\n"
	      "\tfi\n"
	      "\tcase $command in\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			bash_write_options(commands[i], out);
	}
	fputs("\tesac\n"
	      "\t# Options end at the first word that is none, mostly.\n"
	      "\tfor ((i = first; i < COMP_CWORD; i++)); do\n"
	      "\t\tword=${COMP_WORDS[i]}\n"
	      "\t\tif [[ $word != -* && $late == *\" $command \"* ]]; then\n"
	      "\t\t\tcontinue\n"
	      "\t\tfi\n"
	      "\t\tif [ \"$word\" = -- ] || [[ $word != -* ]]; then\n"
	      "\t\t\t_polygraph_files -f\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\t\tif [[ $valued == *\" $word \"* ]]; then\n"
	      "\t\t\t[ \"${COMP_WORDS[i + 1]}\" != = ] || i=$((i + 1))\n"
	      "\t\t\ti=$((i + 1))\n"
	      "\t\t\t[ $i -lt \"$COMP_CWORD\" ] || prev=$word\n"
	      "\t\tfi\n"
	      "\tdone\n"
	      "\t[ \"$cur\" != = ] || cur=\n"
	      "\tcase $command:$prev in\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			TRY(bash_write_values(commands[i], out));
	}
	fputs("\tesac\n"
	      "\tif [[ $cur == -* ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- "
	      "\"$cur\")\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif [[ $ids == *\" $command \"* ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \\\n"
	      "\t\t\t\"$(\"${COMP_WORDS[0]}\" replay --list --quiet "
	      "2>/dev/null)\" -- \"$cur\")\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\t_polygraph_files -f\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < \\\n"
	      "\t\t\t<(compgen -W \"$commands\" -- \"$cur\")\n"
	      "\tfi\n"
	      "}\ncomplete -F _polygraph polygraph\n",
	      out);
	return NULL;
}

/* ---- zsh ---- */

static struct err *zsh_write_option(const struct option *option, FILE *out)
{
	_cleanup_(str_freep) struct str help = STR_INIT;
	_cleanup_(str_freep) struct str choices = STR_INIT;
	TRY(option_help(option, &help));
	TRY(append_choices(option, &choices));
	bool again = option->type == OPTION_LIST;
	for (int letter = 0; letter <= (option->letter != 0); letter++) {
		fprintf(out, " \\\n\t\t\t'%s", again ? "*" : "");
		if (letter)
			fprintf(out, "-%c%s", option->letter,
				takes_value(option) ? "+" : "");
		else
			fprintf(out, "--%s%s", option->name,
				takes_value(option) ? "=" : "");
		fputc('[', out);
		put_quoted(help.s, "[]:", false, out);
		fputc(']', out);
		if (takes_value(option)) {
			fputc(':', out);
			put_quoted(option->value ? option->value : "VALUE", ":",
				   false, out);
			fputc(':', out);
		}
		if (choices.n)
			fprintf(out, "(%s)", choices.s);
		else if (takes_folder(option))
			fputs("_files -/", out);
		else if (takes_file(option))
			fputs("_files", out);
		fputc('\'', out);
	}
	return NULL;
}

static struct err *zsh_write(FILE *out)
{
	fputs("#compdef polygraph\n"
	      "# Completion of polygraph for zsh, made by 'polygraph "
	      "completion zsh'.\n"
	      "_polygraph_ids()\n{\n"
	      "\tlocal -a ids\n"
	      "\tids=(${(f)\"$($program replay --list --quiet "
	      "2>/dev/null)\"})\n"
	      "\tcompadd -a ids\n}\n\n"
	      "_polygraph()\n{\n"
	      "\tlocal command=check program=$words[1]\n"
	      "\tlocal -a names\n"
	      "\tnames=(\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		fprintf(out, "\t\t'%s:", commands[i]->name);
		put_quoted(commands[i]->summary, ":", false, out);
		fputs("'\n", out);
	}
	fputs("\t)\n"
	      "\tif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
	      "\t\t_describe command names\n"
	      "\t\t_files\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif (( ${names[(I)${(b)words[2]}:*]} )); then\n"
	      "\t\tcommand=$words[2]\n"
	      "\t\tshift words\n"
	      "\t\t(( CURRENT-- ))\n"
	      "\tfi\n"
	      "\tcase $command in\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		const struct command *command = commands[i];
		if (command->hidden)
			continue;
		fprintf(out, "\t(%s)\n\t\t_arguments -s -S%s", command->name,
			command->word_first ? "" : " -A '-*'");
		for_each_row(command, option)
			TRY(zsh_write_option(option, out));
		fprintf(out, " \\\n\t\t\t'*:%s'\n\t\t;;\n",
			command->takes_ids ? "finding:_polygraph_ids"
					   : "file:_files");
	}
	fputs("\tesac\n}\n_polygraph \"$@\"\n", out);
	return NULL;
}

/* ---- fish ---- */

static struct err *fish_write_option(const struct command *command,
				     const struct option *option, FILE *out)
{
	_cleanup_(str_freep) struct str help = STR_INIT;
	_cleanup_(str_freep) struct str choices = STR_INIT;
	TRY(option_help(option, &help));
	TRY(append_choices(option, &choices));
	fprintf(out, "complete -c polygraph -n '__polygraph_is %s' -l %s",
		command->name, option->name);
	if (option->letter)
		fprintf(out, " -s %c", option->letter);
	if (choices.n)
		fprintf(out, " -x -a '%s'", choices.s);
	else if (takes_folder(option))
		fputs(" -x -a '(__fish_complete_directories)'", out);
	else if (takes_file(option))
		fputs(" -r", out);
	else if (takes_value(option))
		fputs(" -x", out);
	fputs(" -d '", out);
	put_quoted(help.s, "", true, out);
	fputs("'\n", out);
	return NULL;
}

static struct err *fish_write(FILE *out)
{
	fputs("# Completion of polygraph for fish, made by 'polygraph "
	      "completion fish'.\n"
	      "function __polygraph_ids\n"
	      "\tset -l words (commandline -opc)\n"
	      "\t$words[1] replay --list --quiet 2>/dev/null\n"
	      "end\n"
	      "function __polygraph_is\n"
	      "\tset -l words (commandline -opc)\n"
	      "\tset -l given check\n"
	      "\tif set -q words[2]; and contains -- $words[2]",
	      out);
	put_names_if(is_any, out);
	fputs("\n\t\tset given $words[2]\n"
	      "\tend\n"
	      "\ttest $given = $argv[1]\n"
	      "end\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		const struct command *command = commands[i];
		if (command->hidden)
			continue;
		fprintf(out,
			"complete -c polygraph -n 'test (count (commandline "
			"-opc)) -eq 1' -a %s -d '",
			command->name);
		put_quoted(command->summary, "", true, out);
		fputs("'\n", out);
		if (command->takes_ids)
			fprintf(out,
				"complete -c polygraph -n '__polygraph_is %s' "
				"-f -a '(__polygraph_ids)'\n",
				command->name);
		for_each_row(command, option)
			TRY(fish_write_option(command, option, out));
	}
	return NULL;
}

struct err *completion_write(const char *shell, FILE *out)
{
	static struct err *(*const writers[])(FILE * out) = {
		bash_write,
		zsh_write,
		fish_write,
	};
	for (size_t i = 0; completion_shells[i]; i++) {
		if (!strcmp(completion_shells[i], shell))
			return writers[i](out);
	}
	return err_hint(
		err_create(ERR_USAGE, "there is no completion for '%s'", shell),
		"the shells are: bash, zsh and fish");
}
