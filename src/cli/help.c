#include "cli/help.h"

#include <string.h>

#include "base/str.h"
#include "cli/common.h"
#include "cli/output.h"
#include "report/width.h"

#define HELP_COLUMN 29
/* Wider lines are hard to read, narrower ones hard to wrap. */
#define WIDEST 100
#define NARROWEST 24
/* Of a command with no more options than that, the short help has all. */
#define BRIEF_MAX 20

const char *const help_statuses[] = {
	"0",   "no findings, no failing tests",
	"1",   "findings",
	"2",   "usage error",
	"3",   "the suite could not be run, or tests fail on their own",
	"4",   "internal error",
	"130", "interrupted; results so far are written",
	NULL,
};

struct help_page {
	FILE *out;
	size_t columns;
	bool color;
};

static void help_write_heading(const struct help_page *page, const char *text)
{
	fprintf(page->out, "\n%s%s:%s\n", page->color ? "\033[1m" : "", text,
		page->color ? "\033[0m" : "");
}

/* Words of @text from column @at on, in lines indented by @indent. */
static void help_write_wrapped(const struct help_page *page, const char *text,
			       size_t indent, size_t at)
{
	_cleanup_(str_freep) struct str lines = STR_INIT;
	struct err *err =
		width_append_wrapped(&lines, text, at, indent, page->columns);
	fprintf(page->out, "%s\n", err ? text : lines.s);
	err_ignore(err);
}

/* A term in the left column, its explanation in the right one. */
static void help_write_entry(const struct help_page *page, const char *term,
			     const char *text, size_t column)
{
	size_t width = width_of(term);
	if (page->columns < 60)
		column = 8;
	fprintf(page->out, "%s", term);
	if (width + 2 > column)
		fprintf(page->out, "\n%*s", (int)column, "");
	else
		fprintf(page->out, "%*s", (int)(column - width), "");
	help_write_wrapped(page, text, column, column);
}

static struct err *help_write_option(const struct help_page *page,
				     const struct option *option)
{
	_cleanup_(str_freep) struct str term = STR_INIT, help = STR_INIT;
	if (option->letter)
		TRY(str_appendf(&term, "  -%c, ", option->letter));
	else
		TRY(str_append(&term, "      "));
	TRY(str_appendf(&term, "--%s", option->name));
	if (option->value)
		TRY(str_appendf(&term, " %s", option->value));
	TRY(option_help(option, &help));
	help_write_entry(page, term.s, help.s, HELP_COLUMN);
	return NULL;
}

static struct err *write_usage(const struct help_page *page, const char *name,
			       const char *const *synopsis)
{
	for (size_t i = 0; synopsis[i]; i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(str_appendf(&line, "polygraph %s%s%s", name,
				*name ? " " : "", synopsis[i]));
		fputs(i ? "       " : "Usage: ", page->out);
		help_write_wrapped(page, line.s, 11, 7);
	}
	return NULL;
}

static size_t count_options(const struct command *command)
{
	size_t n = 0;
	for (size_t i = 0; command->groups[i]; i++) {
		const struct option *option = command->groups[i]->options;
		for (; option->name; option++)
			n++;
	}
	return n;
}

static struct err *help_write_options(const struct help_page *page,
				      const struct option_group *group,
				      bool brief)
{
	bool any = false;
	for (const struct option *o = group->options; o->name; o++) {
		if (brief && !o->often)
			continue;
		if (!any)
			help_write_heading(page, group->title);
		any = true;
		TRY(help_write_option(page, o));
	}
	return NULL;
}

static void help_write_examples(const struct help_page *page,
				const struct command *command)
{
	if (!command->examples)
		return;
	help_write_heading(page, "Examples");
	for (size_t i = 0; command->examples[i].command; i++) {
		fprintf(page->out, "  %s\n      ",
			command->examples[i].command);
		help_write_wrapped(page, command->examples[i].what, 6, 6);
	}
}

/* @brief: what fits on a screen, where there is more. */
static struct err *help_write_command(const struct help_page *page,
				      const struct command *command, bool brief)
{
	size_t n = count_options(command);
	brief = brief && n > BRIEF_MAX;
	TRY(write_usage(page, command->name, command->synopsis));
	for (size_t i = 0; command->description[i] && !(brief && i); i++) {
		fputc('\n', page->out);
		help_write_wrapped(page, command->description[i], 0, 0);
	}
	for (size_t i = 0; command->groups[i]; i++)
		TRY(help_write_options(page, command->groups[i], brief));
	if (!brief) {
		help_write_examples(page, command);
		return NULL;
	}
	_cleanup_(str_freep) struct str more = STR_INIT;
	TRY(str_appendf(&more,
			"'polygraph help %s' explains all %zu options and has "
			"examples.",
			command->name, n));
	fputc('\n', page->out);
	help_write_wrapped(page, more.s, 0, 0);
	return NULL;
}

static const char *const main_synopsis[] = {
	"[COMMAND] [OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
	"[COMMAND] [OPTIONS] --ctest BUILD-DIR | --meson BUILD-DIR | "
	"--commands FILE",
	"[COMMAND] [OPTIONS] --test-classes DIR | --maven DIR | --gradle DIR "
	"[-- VM-OPTIONS]",
	NULL,
};

static struct err *help_write_main(const struct help_page *page)
{
	TRY(write_usage(page, "", main_synopsis));
	fputc('\n', page->out);
	help_write_wrapped(page,
			   "Finds the tests of a C or C++ test suite that "
			   "cannot be trusted. "
			   "The test executable runs as it is: no recompiling, "
			   "no macros, no "
			   "change to its framework.",
			   0, 0);
	help_write_heading(page, "Commands");
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		_cleanup_(str_freep) struct str term = STR_INIT;
		TRY(str_appendf(&term, "  %s", commands[i]->name));
		help_write_entry(page, term.s, commands[i]->summary, 12);
	}
	help_write_heading(page, "Options");
	for (const struct option *o = common_bare_group.options; o->name; o++)
		TRY(help_write_option(page, o));
	help_write_heading(page, "Exit status");
	for (size_t i = 0; help_statuses[i]; i += 2) {
		_cleanup_(str_freep) struct str term = STR_INIT;
		TRY(str_appendf(&term, "  %s", help_statuses[i]));
		help_write_entry(page, term.s, help_statuses[i + 1], 12);
	}
	fputc('\n', page->out);
	help_write_wrapped(page,
			   "'polygraph help COMMAND' explains a command. "
			   "Options can also be "
			   "set in polygraph.toml, under their long names.",
			   0, 0);
	return NULL;
}

struct err *help_write(const struct command *command, bool brief,
		       size_t columns, FILE *out)
{
	uint64_t from_environment;
	const char *text = getenv("COLUMNS");
	if (!columns)
		columns = width_terminal(fileno(out));
	if (!columns && text && str_to_u64(text, 10, &from_environment))
		columns = from_environment;
	if (!columns)
		columns = 80;
	struct help_page page = {
		.out = out,
		.columns = MIN(MAX(columns, (size_t)NARROWEST), (size_t)WIDEST),
		.color = output_color(COLOR_AUTO, fileno(out)),
	};
	return command ? help_write_command(&page, command, brief)
		       : help_write_main(&page);
}
