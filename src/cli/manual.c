/* Manual pages: troff source for man(7), from the same tables as --help. */
#include <ctype.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/version.h"
#include "cli/help.h"

/* Quotes troff's own characters: a leading dot, backslashes, minus signs. */
static void manual_put_text(const char *text, FILE *out)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (const char *p = text; *p; p++) {
		if (*p == '\\')
			fputs("\\e", out);
		else if (*p == '-')
			fputs("\\-", out);
		else if (*p == '\'')
			fputs("\\(aq", out);
		else if (*p == '`')
			fputs("\\(ga", out);
		else if (*p == '~')
			fputs("\\(ti", out);
		else if (*p == '^')
			fputs("\\(ha", out);
		else if (!strncmp(p, "…", strlen("…"))) {
			fputs("\\&...", out);
			p += strlen("…") - 1;
		} else
			fputc(*p, out);
	}
}

static void manual_put_line(const char *text, FILE *out)
{
	manual_put_text(text, out);
	fputc('\n', out);
}

static void manual_put_term(const char *text, const char *explanation,
			    FILE *out)
{
	fputs(".TP\n.B ", out);
	manual_put_line(text, out);
	manual_put_line(explanation, out);
}

static struct err *manual_write_option(const struct option *option, FILE *out)
{
	_cleanup_(str_freep) struct str help = STR_INIT;
	TRY(option_help(option, &help));
	fputs(".TP\n", out);
	if (option->letter) {
		fprintf(out, "\\fB\\-%c\\fR", option->letter);
		if (option->value)
			fprintf(out, " \\fI%s\\fR", option->value);
		fputs(", ", out);
	}
	fputs("\\fB\\-\\-", out);
	manual_put_text(option->name, out);
	fputs("\\fR", out);
	if (option->value) {
		fputs(" \\fI", out);
		manual_put_text(option->value, out);
		fputs("\\fR", out);
	}
	fputc('\n', out);
	manual_put_text(help.s, out);
	fputs(".\n", out);
	return NULL;
}

static struct err *write_title(const struct command *command,
			       const char *summary, FILE *out)
{
	_cleanup_(str_freep) struct str name = STR_INIT;
	TRY(str_append(&name, "polygraph"));
	if (command)
		TRY(str_appendf(&name, "-%s", command->name));
	fputs(".TH ", out);
	for (const char *p = name.s; *p; p++)
		fputc(toupper((unsigned char)*p), out);
	fprintf(out, " 1 \"\" \"polygraph %s\" \"polygraph manual\"\n",
		POLYGRAPH_VERSION);
	fputs(".nh\n.ad l\n.SH NAME\n", out);
	manual_put_text(name.s, out);
	fputs(" \\- ", out);
	manual_put_line(summary, out);
	return NULL;
}

static void write_synopsis(const char *name, const char *const *synopsis,
			   FILE *out)
{
	fputs(".SH SYNOPSIS\n", out);
	for (size_t i = 0; synopsis[i]; i++) {
		fprintf(out, "%s.B polygraph%s%s\n", i ? ".br\n" : "",
			*name ? " " : "", name);
		manual_put_line(synopsis[i], out);
	}
}

static void write_end(const struct command *command, FILE *out)
{
	fputs(".SH EXIT STATUS\n", out);
	for (size_t i = 0; help_statuses[i]; i += 2)
		manual_put_term(help_statuses[i], help_statuses[i + 1], out);
	fputs(".SH ENVIRONMENT\n", out);
	manual_put_term(
		"NO_COLOR",
		"If set and not empty, output is not coloured unless --color "
		"always asks for it.",
		out);
	manual_put_term(
		"POLYGRAPH_LOG",
		"Parts of the program whose decisions are logged to standard "
		"error, separated by commas: "
#define X(channel, name) name ", "
		LOG_CHANNELS(X)
#undef X
			"or all.",
		out);
	fputs(".SH SEE ALSO\n", out);
	bool first = true;
	if (command) {
		fputs(".BR polygraph (1)", out);
		first = false;
	}
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i] == command || commands[i]->hidden ||
		    !commands[i]->examples)
			continue;
		fprintf(out, "%s.BR polygraph\\-%s (1)", first ? "" : ",\n",
			commands[i]->name);
		first = false;
	}
	fputc('\n', out);
}

static void write_configuration(FILE *out)
{
	fputs(".SH CONFIGURATION\n", out);
	manual_put_line(
		"The file polygraph.toml in the working directory, or the file "
		"given with --config, sets options under their long names. "
		"Options "
		"in a table named after a command apply to that command only "
		"and "
		"override those at the top; the command line overrides both. "
		"Flags are true or false; repeatable options are lists. A "
		"polygraph.toml that belongs to another user, or that every "
		"user can write to, is refused unless --config names it.",
		out);
	fputs(".PP\n.nf\n.RS\n", out);
	manual_put_line("timeout = \"10s\"", out);
	manual_put_line("tests = [\"!Slow.*\"]", out);
	fputs(".PP\n", out);
	manual_put_line("[run]", out);
	manual_put_line("format = [\"text\", \"junit\"]", out);
	manual_put_line("output = [\"-\", \"result.xml\"]", out);
	fputs(".RE\n.fi\n", out);
}

static void write_examples(const struct command *command, FILE *out)
{
	fputs(".SH EXAMPLES\n", out);
	for (size_t i = 0; command->examples[i].command; i++) {
		fputs(".TP\n.B ", out);
		manual_put_line(command->examples[i].command, out);
		manual_put_line(command->examples[i].what, out);
	}
}

static struct err *manual_write_command(const struct command *command,
					FILE *out)
{
	TRY(write_title(command, command->summary, out));
	write_synopsis(command->name, command->synopsis, out);
	fputs(".SH DESCRIPTION\n", out);
	for (size_t i = 0; command->description[i]; i++) {
		if (i)
			fputs(".PP\n", out);
		manual_put_line(command->description[i], out);
	}
	fputs(".SH OPTIONS\n", out);
	for (size_t i = 0; command->groups[i]; i++) {
		fputs(".SS ", out);
		manual_put_line(command->groups[i]->title, out);
		const struct option *option = command->groups[i]->options;
		for (; option->name; option++)
			TRY(manual_write_option(option, out));
	}
	if (command->examples)
		write_examples(command, out);
	write_configuration(out);
	write_end(command, out);
	return NULL;
}

static struct err *manual_write_main(FILE *out)
{
	static const char *const synopsis[] = {
		"[COMMAND] [OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
		"[COMMAND] [OPTIONS] --ctest BUILD-DIR | --meson BUILD-DIR | "
		"--commands FILE",
		"[COMMAND] [OPTIONS] --test-classes DIR | --maven DIR | "
		"--gradle DIR [-- VM-OPTIONS]",
		"help [COMMAND]",
		NULL,
	};
	TRY(write_title(NULL, "a lie detector for C and C++ test suites", out));
	write_synopsis("", synopsis, out);
	fputs(".SH DESCRIPTION\n", out);
	manual_put_line("Finds the tests of a C or C++ test suite that cannot "
			"be trusted. "
			"The test executable runs as it is: no recompiling, no "
			"macros, no "
			"change to its framework. It needs symbols and debug "
			"information "
			"(-g).",
			out);
	fputs(".PP\n", out);
	manual_put_line("Options come before the test executable; everything "
			"after it is "
			"passed to it. With --ctest, --meson or --commands "
			"each test is a "
			"separate process. With --test-classes, --maven or "
			"--gradle the tests "
			"are Java tests (JUnit, TestNG) and run in a Java VM.",
			out);
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			manual_put_term(commands[i]->name, commands[i]->summary,
					out);
	}
	write_configuration(out);
	write_end(NULL, out);
	return NULL;
}

struct err *manual_write(const struct command *command, FILE *out)
{
	return command ? manual_write_command(command, out)
		       : manual_write_main(out);
}
