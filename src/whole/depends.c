#include "whole/depends.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "process/process.h"

#define RECORD_MAX ((size_t)256 << 20)
#define RECORD_TIMEOUT (120 * NS_PER_S)
#define RULES_FILES_MAX 100000
#define RULES_FILE_MAX ((size_t)16 << 20)

struct depends {
	const char *build;
	struct map_text headers; /* resolved */
	struct map_text *listed;
	struct err *(*add)(void *data, const char *unit);
	void *data;
	/* Of the rule that is being read: */
	char *unit; /* its first file; NULL: none yet */
	bool hit;
	size_t rules;
};

static struct err *depends_end_rule(struct depends *depends)
{
	struct err *err = NULL;
	if (depends->unit) {
		depends->rules++;
		err = map_text_put(depends->listed, depends->unit, 1);
		if (!err && depends->hit)
			err = depends->add(depends->data, depends->unit);
	}
	free(depends->unit);
	depends->unit = NULL;
	depends->hit = false;
	return err;
}

static struct err *depends_add_file(struct depends *depends, const char *name)
{
	_cleanup_(freep) char *path = NULL;
	uint64_t known;
	TRY(path_join(depends->build, name, &path));
	_cleanup_(freep) char *real = realpath(path, NULL);
	const char *file = real ? real : path;
	depends->hit |= map_text_get(&depends->headers, file, &known);
	return depends->unit ? NULL : str_copy(file, &depends->unit);
}

/* "object: #deps N, …", then indented a file a line, then a blank line. */
static struct err *read_ninja(struct depends *depends, char *text)
{
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		size_t blank = strspn(line, " ");
		if (!blank || !line[blank])
			TRY(depends_end_rule(depends));
		else
			TRY(depends_add_file(depends, line + blank));
	}
	return depends_end_rule(depends);
}

/* "object: unit header \\": blanks in names are escaped. */
static struct err *read_rules(struct depends *depends, const char *text)
{
	const char *at = strstr(text, ": ");
	_cleanup_(str_freep) struct str name = STR_INIT;
	for (at = at ? at + 2 : ""; *at; at++) {
		bool escapes = *at == '\\' && at[1];
		if (escapes && at[1] == '\n') {
			at++;
		} else if (escapes || (*at != ' ' && *at != '\n')) {
			at += escapes;
			TRY(str_append_n(&name, at, 1));
			continue;
		}
		if (name.n)
			TRY(depends_add_file(depends, name.s));
		bool ends = *at == '\n' && at[-1] != '\\';
		str_free(&name);
		if (ends)
			break;
	}
	return depends_end_rule(depends);
}

static struct err *ask_ninja(struct depends *depends)
{
	char *argv[] = { (char *)"ninja",	 (char *)"-C",
			 (char *)depends->build, (char *)"-t",
			 (char *)"deps",	 NULL };
	const struct process_spec spec = { .argv = argv };
	struct process_output output = {};
	TRY(process_output(&spec, RECORD_MAX, RECORD_TIMEOUT, &output));
	struct err *err = NULL;
	if (!output.why && !output.status)
		err = read_ninja(depends, output.out);
	process_output_free(&output);
	return err;
}

/* nftw() hands nothing through. */
static struct {
	struct depends *depends;
	struct err *err;
	size_t files;
} walked_rules;

static int take_rules_file(const char *path, const struct stat *status,
			   int type, struct FTW *ftw _unused_)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;
	if (type != FTW_F || !S_ISREG(status->st_mode) || !str_ends(path, ".d"))
		return FTW_CONTINUE;
	if (++walked_rules.files > RULES_FILES_MAX)
		return FTW_STOP;
	err_ignore(file_read(path, RULES_FILE_MAX, &text, &n));
	if (text)
		walked_rules.err = read_rules(walked_rules.depends, text);
	return walked_rules.err ? FTW_STOP : FTW_CONTINUE;
}

static struct err *depends_read_all(struct depends *depends)
{
	_cleanup_(freep) char *list = NULL;
	TRY(path_join(depends->build, "build.ninja", &list));
	if (!access(list, F_OK))
		return ask_ninja(depends);
	walked_rules.depends = depends;
	walked_rules.err = NULL;
	walked_rules.files = 0;
	nftw(depends->build, take_rules_file, 16, FTW_PHYS | FTW_ACTIONRETVAL);
	if (walked_rules.files > RULES_FILES_MAX)
		depends->rules = 0;
	return walked_rules.err;
}

struct err *depends_read(const char *build, const struct strv *headers,
			 struct map_text *listed,
			 struct err *(*add)(void *data, const char *unit),
			 void *data, bool *ret_known)
{
	struct depends depends = {
		.build = build,
		.listed = listed,
		.add = add,
		.data = data,
	};
	struct err *err = NULL;
	for (size_t i = 0; !err && i < headers->n; i++) {
		char *real = realpath(headers->data[i], NULL);
		err = map_text_put(&depends.headers,
				   real ? real : headers->data[i], 1);
		free(real);
	}
	if (!err)
		err = depends_read_all(&depends);
	map_text_free(&depends.headers);
	free(depends.unit);
	log_debug(LOG_WHOLE, "'%s': dependencies of %zu units", build,
		  depends.rules);
	if (!err)
		*ret_known = depends.rules;
	return err;
}
