#include "cli/output.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "cli/interrupt.h"
#include "cli/storing.h"
#include "report/verdict.h"
#include "report/width.h"

bool output_is_terminal(int fd)
{
	const char *term = getenv("TERM");
	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool output_color(unsigned color, int fd)
{
	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	/* https://no-color.org: set and not empty. */
	const char *no_color = getenv("NO_COLOR");
	return output_is_terminal(fd) && !(no_color && *no_color);
}

static bool is_list(const char *kind)
{
	return !strcmp(kind, "list") || !strcmp(kind, "models");
}

static struct err *add_format(struct outputs *outputs, const char *name,
			      const char *kind)
{
	const struct report_format *format = report_format_find(name);
	BUG_ON(!format); /* the option has looked at it */
	if (!format->lists && is_list(kind))
		return err_hint(err_create(ERR_USAGE,
					   "the format '%s' is for tests that "
					   "ran; %s runs none",
					   name,
					   strcmp(kind, "list")
						   ? "--list-models"
						   : "'list'"),
				"use text or json");
	if (!strcmp(kind, "repair") && !format->patches)
		return err_hint(err_create(ERR_USAGE,
					   "the format '%s' cannot show "
					   "patches",
					   name),
				"use text or json");
	return vec_push(outputs,
			(struct report_output){ .format = format,
						.place = OUTFILE_PLACE_INIT });
}

/* "report.html" is HTML, "polygraph.xml" JUnit; NULL: the name does not say. */
static const char *format_of_name(const char *path)
{
	static const char *const names[][2] = {
		{ ".html", "html" },   { ".htm", "html" },  { ".json", "json" },
		{ ".sarif", "sarif" }, { ".xml", "junit" }, { ".txt", "text" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_ends(path, names[i][0]))
			return names[i][1];
	}
	return NULL;
}

/*
 * A run of outputs goes to the last of the formats before it; where it is longer
 * (@missing), their names say the format, or it is one of those that follow. So
 * they do where there are formats for all.
 */
static struct err *add_missing_formats(const struct common_options *common,
				       const char *kind, size_t p,
				       size_t missing, size_t *f,
				       struct outputs *outputs)
{
	const struct option_list *formats = &common->formats;
	const struct option_list *paths = &common->outputs;
	for (size_t i = p; i < p + missing; i++) {
		const char *path = paths->data[i].text;
		const char *named = format_of_name(path);
		if (named && (*f == formats->n || formats->n < paths->n))
			TRY(add_format(outputs, named, kind));
		else if (*f < formats->n)
			TRY(add_format(outputs, formats->data[(*f)++].text,
				       kind));
		else if (!formats->n && paths->n == 1)
			TRY(add_format(outputs, "text", kind));
		else
			return err_hint(
				err_create(ERR_USAGE,
					   "--output '%s' has no --format",
					   path),
				"one pair a format: --format json --output "
				"result.json; or a name that says it: .html, "
				".json, .sarif, .xml, .txt");
	}
	return NULL;
}

/* Walks runs of formats and of outputs as they were given. */
static struct err *output_pair_formats(const struct common_options *common,
				       const char *kind,
				       struct outputs *outputs)
{
	const struct option_list *formats = &common->formats;
	const struct option_list *paths = &common->outputs;
	size_t f = 0, p = 0, first = 0;

	if (!formats->n && !paths->n)
		return add_format(outputs, "text", kind);
	while (f < formats->n || p < paths->n) {
		for (; f < formats->n &&
		       (p == paths->n ||
			formats->data[f].rank < paths->data[p].rank);
		     f++)
			TRY(add_format(outputs, formats->data[f].text, kind));
		size_t run = 0;
		while (p + run < paths->n &&
		       (f == formats->n ||
			paths->data[p + run].rank < formats->data[f].rank))
			run++;
		size_t had = MIN(outputs->n - first, run);
		TRY(add_missing_formats(common, kind, p + had, run - had, &f,
					outputs));
		first = outputs->n;
		for (size_t i = first - run; i < first; i++)
			outputs->data[i].path = paths->data[p++].text;
	}
	return NULL;
}

/* Its test executable, most likely: "-o" is also where a linker writes to. */
static bool is_program(const char *path)
{
	char magic[SELFMAG] = "";
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/* A report to a path that cannot be written should not cost a whole run. */
static struct err *check_path(const char *path)
{
	struct stat st;
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return err_create(ERR_USAGE,
					  "--output '%s' is a folder", path);
		if (access(path, W_OK))
			return err_with_kind(
				err_errno(errno, "cannot write --output '%s'",
					  path),
				ERR_USAGE);
		if (!S_ISREG(st.st_mode))
			return NULL;
		if (is_program(path))
			return err_create(ERR_USAGE,
					  "--output '%s' is a program; the "
					  "report would replace it",
					  path);
	}
	_cleanup_(freep) char *copy = strdup(path);
	if (!copy)
		return err_nomem();
	if (!*path || access(dirname(copy), W_OK | X_OK))
		return err_with_kind(err_errno(*path ? errno : ENOENT,
					       "cannot write --output '%s'",
					       path),
				     ERR_USAGE);
	return NULL;
}

/* Of caller_settle(), or given for reading? */
static bool output_is_writable(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	return flags >= 0 && !(flags & O_PATH) &&
	       (flags & O_ACCMODE) != O_RDONLY;
}

static struct err *check_stdout(void)
{
	if (output_is_writable())
		return NULL;
	return err_hint(err_create(ERR_USAGE,
				   "standard output is closed, so the report "
				   "would be lost"),
			"give an --output PATH");
}

static struct err *check_pairs(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->n; i++) {
		const char *path = outputs->data[i].path;
		if (path && !strcmp(path, "-"))
			path = outputs->data[i].path = NULL;
		TRY(path ? check_path(path) : check_stdout());
		if (path)
			TRY(outfile_place_open(path, &outputs->data[i].place));
		for (size_t j = 0; j < i; j++) {
			const char *other = outputs->data[j].path;
			if (!path && !other)
				return err_hint(
					err_create(
						ERR_USAGE,
						"%s and %s cannot both go "
						"to standard output",
						outputs->data[j].format->name,
						outputs->data[i].format->name),
					"give all but one an --output PATH");
			if (path && other && !strcmp(path, other))
				return err_create(
					ERR_USAGE,
					"--output '%s' is given twice", path);
		}
	}
	return NULL;
}

struct err *outputs_choose(const struct common_options *common,
			   const char *kind, struct outputs *ret)
{
	_cleanup_(outputs_freep) struct outputs outputs = {
		.style = { .all = common->all,
			   .verbose = common->verbose,
			   .quiet = common->quiet },
		.color = common->color,
	};
	TRY(output_pair_formats(common, kind, &outputs));
	TRY(check_pairs(&outputs));
	*ret = outputs;
	outputs = (struct outputs){};
	return NULL;
}

void outputs_free(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->n; i++)
		outfile_place_close(&outputs->data[i].place);
	vec_free(outputs);
}

/* What is to be written, and by whom. */
struct output_content {
	output_writer *writer;
	const void *data;
};

static struct err *write_to(const struct outputs *outputs,
			    const struct report_output *output,
			    const struct output_content *content, FILE *file)
{
	struct report_style style = outputs->style;
	style.color = output_color(outputs->color, fileno(file));
	style.columns = width_terminal(fileno(file));
	return content->writer(content->data, output->format, &style, file);
}

static struct err *write_file(const struct outputs *outputs,
			      const struct report_output *output,
			      const struct output_content *content)
{
	_cleanup_(outfile_discard) struct outfile outfile = {};
	TRY(outfile_open(&output->place, &outfile));
	TRY(write_to(outputs, output, content, outfile.file));
	return outfile_commit(&outfile);
}

static bool reader_left;

bool output_reader_left(void)
{
	return reader_left;
}

/*
 * What did not fit into the buffer was written before, so the error may be an
 * old one, whose number is gone; a broken pipe tells again when asked.
 */
struct err *output_flush_stdout(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return NULL;
	int number = errno;
	if (!number && write(STDOUT_FILENO, "", 0) < 0)
		number = errno;
	reader_left = number == EPIPE;
	return err_errno(number ? number : EIO,
			 "cannot write to standard output");
}

/* Where all else went to files. Nobody may be there to read it. */
static struct err *output_write_verdict(const struct outputs *outputs,
					const struct output_content *content)
{
	struct report_style style = outputs->style;
	style.color = output_color(outputs->color, STDOUT_FILENO);
	if (style.quiet || !output_is_writable())
		return NULL;
	TRY(content->writer(content->data, NULL, &style, stdout));
	return output_flush_stdout();
}

/* For the history: the same as JSON. */
static struct err *output_store(const struct output_content *content)
{
	const struct report_style style = {};
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;
	if (!storing_is_begun())
		return NULL;
	FILE *file = open_memstream(&text, &n);
	if (!file)
		return err_nomem();
	struct err *err =
		content->writer(content->data, &report_json, &style, file);
	if (fclose(file) && !err)
		err = err_nomem();
	if (!err)
		storing_add(text);
	return err;
}

/* Files first: a reader who left standard output does not cost them. */
struct err *outputs_write_by(const struct outputs *outputs,
			     output_writer *writer, const void *data)
{
	const struct output_content content = { writer, data };
	struct err *first = NULL;
	bool shown = false;
	interrupt_settle();
	TRY(output_store(&content));
	for (size_t i = 0; i < outputs->n; i++) {
		if (!outputs->data[i].path)
			continue;
		struct err *err =
			write_file(outputs, &outputs->data[i], &content);
		if (!first)
			first = err;
		else
			err_ignore(err);
	}
	for (size_t i = 0; i < outputs->n && !first; i++) {
		if (outputs->data[i].path)
			continue;
		shown = true;
		TRY(write_to(outputs, &outputs->data[i], &content, stdout));
		TRY(output_flush_stdout());
	}
	return first || shown ? first : output_write_verdict(outputs, &content);
}

static struct err *output_write_report(const void *data,
				       const struct report_format *format,
				       const struct report_style *style,
				       FILE *out)
{
	return format ? format->write(data, style, out)
		      : verdict_write_alone(data, style, out);
}

struct err *outputs_write(const struct outputs *outputs,
			  const struct report *report)
{
	return outputs_write_by(outputs, output_write_report, report);
}
