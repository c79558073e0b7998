#include "whole/since.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "process/process.h"

#define TOOL_MAX ((size_t)64 << 20)
#define TOOL_TIMEOUT (120 * NS_PER_S)
#define LOADER "/lib64/ld-linux-x86-64.so.2"

void since_free(struct since *since)
{
	strv_free(&since->sources);
	free(since->why);
	*since = (struct since){};
}

/* ---- what changed ---- */

static struct err *since_run_tool(char *const *argv, struct process_output *ret)
{
	const struct process_spec spec = { .argv = argv };
	TRY(process_output(&spec, TOOL_MAX, TOOL_TIMEOUT, ret));
	if (!ret->why && !ret->status)
		return NULL;
	const char *said = ret->err && *ret->err ? ret->err
			   : ret->why		 ? ret->why
						 : "it failed";
	return err_create(ERR_USAGE, "--since: %s: %.*s", argv[0],
			  (int)strcspn(said, "\n"), said);
}

static bool has_ending(const char *path, const char *const *endings)
{
	for (; *endings; endings++) {
		if (str_ends(path, *endings))
			return true;
	}
	return false;
}

static bool is_document(const char *path)
{
	static const char *const endings[] = {
		".md",
		".rst",
		".adoc",
		"LICENSE",
		"COPYING",
		".gitignore",
		".gitattributes",
		".editorconfig",
		"AUTHORS",
		".clang-format",
		NULL,
	};
	return has_ending(path, endings);
}

static bool is_source(const char *path)
{
	static const char *const endings[] = { ".c",   ".cc", ".cpp", ".cxx",
					       ".c++", ".C",  NULL };
	return has_ending(path, endings);
}

static struct err *since_add(struct since *since, const char *top, char status,
			     const char *path)
{
	if (is_document(path))
		return NULL;
	if (is_source(path) && status != 'D') {
		_cleanup_(freep) char *whole = NULL;
		TRY(path_join(top, path, &whole));
		return strv_take(&since->sources, take_ptr(whole));
	}
	if (since->everything)
		return NULL;
	since->everything = true;
	return str_copy(path, &since->why);
}

/* NUL-separated: status and path in turn, or paths alone. */
static struct err *read_changes(struct since *since, const char *top,
				const struct process_output *output,
				bool statuses)
{
	const char *at = output->out;
	const char *end = at + output->out_n;
	while (at < end) {
		char status = 'A';
		if (statuses) {
			status = *at;
			at += strlen(at) + 1;
		}
		if (at >= end)
			break;
		TRY(since_add(since, top, status, at));
		at += strlen(at) + 1;
	}
	return NULL;
}

static struct err *read_from_git(struct since *since, const char *top,
				 char *const *argv, bool statuses)
{
	struct process_output output = {};
	struct err *err = since_run_tool(argv, &output);
	if (!err)
		err = read_changes(since, top, &output, statuses);
	process_output_free(&output);
	return err;
}

struct err *since_read(const char *revision, struct since *ret)
{
	char *top_argv[] = { (char *)"git", (char *)"rev-parse",
			     (char *)"--show-toplevel", NULL };
	struct process_output output = {};
	if (*revision == '-' || !*revision)
		return err_create(ERR_USAGE, "--since '%s' is not a revision",
				  revision);
	struct err *err = since_run_tool(top_argv, &output);
	_cleanup_(freep) char *top =
		err ? NULL : strndup(output.out, strcspn(output.out, "\n"));
	process_output_free(&output);
	TRY(err);
	if (!top)
		return err_nomem();
	char *diff_argv[] = { (char *)"git",
			      (char *)"-C",
			      top,
			      (char *)"diff",
			      (char *)"--name-status",
			      (char *)"--no-renames",
			      (char *)"-z",
			      (char *)revision,
			      (char *)"--",
			      NULL };
	char *new_argv[] = { (char *)"git",
			     (char *)"-C",
			     top,
			     (char *)"ls-files",
			     (char *)"--others",
			     (char *)"--exclude-standard",
			     (char *)"-z",
			     NULL };
	struct since since = {};
	err = read_from_git(&since, top, diff_argv, true);
	/* What is new and not added may be compiled, too; data is not counted. */
	struct since added = {};
	if (!err)
		err = read_from_git(&added, top, new_argv, false);
	for (size_t i = 0; !err && i < added.sources.n; i++)
		err = strv_add(&since.sources, added.sources.data[i]);
	since_free(&added);
	if (err) {
		since_free(&since);
		return err;
	}
	log_debug(LOG_WHOLE, "since %s: %zu sources%s%s", revision,
		  since.sources.n, since.everything ? ", everything: " : "",
		  since.why ? since.why : "");
	*ret = since;
	return NULL;
}

/* ---- what a program is made of ---- */

static bool same_source(const struct since *since, const char *file)
{
	_cleanup_(freep) char *real = realpath(file, NULL);
	for (size_t i = 0; i < since->sources.n; i++) {
		const char *source = since->sources.data[i];
		_cleanup_(freep) char *other = realpath(source, NULL);
		if (!strcmp(file, source) ||
		    (real && other && !strcmp(real, other)))
			return true;
		/* Paths that the compiler was told to write otherwise. */
		if (!real && !strcmp(path_base(file), path_base(source)))
			return true;
	}
	return false;
}

/* Any of the files that the unit's code came from. */
static bool unit_reaches(const struct since *since, Dwarf_Die *unit)
{
	Dwarf_Files *files;
	Dwarf_Attribute attribute;
	size_t n;
	const char *folder =
		dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (dwarf_getsrcfiles(unit, &files, &n))
		return true; /* nobody knows */
	for (size_t i = 0; i < n; i++) {
		const char *file = dwarf_filesrc(files, i, NULL, NULL);
		_cleanup_(freep) char *joined = NULL;
		if (!file)
			continue;
		if (*file != '/' && folder) {
			err_ignore(path_join(folder, file, &joined));
			file = joined ? joined : file;
		}
		if (same_source(since, file))
			return true;
	}
	return false;
}

static bool object_reaches(const struct since *since, const char *path)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	bool reached = false;
	size_t units = 0;
	while (dwarf && !reached &&
	       !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		units++;
		reached = unit_reaches(since, &die);
	}
	dwarf_end(dwarf);
	return reached || !units;
}

static bool is_of_distribution(const char *path)
{
	return str_starts(path, "/lib/") || str_starts(path, "/lib64/") ||
	       (str_starts(path, "/usr/") && !str_starts(path, "/usr/local/"));
}

/* "	libx.so => /path/libx.so (0x…)" */
static bool libraries_reach(const struct since *since, char *list)
{
	char *rest = NULL;
	for (char *line = strtok_r(list, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *path = strstr(line, "=> /");
		char *end = path ? strstr(path, " (0x") : NULL;
		if (!path || !end)
			continue;
		*end = '\0';
		if (!is_of_distribution(path + 3) &&
		    object_reaches(since, path + 3))
			return true;
	}
	return false;
}

struct err *since_reaches(const struct since *since, const char *program,
			  bool *ret)
{
	char *argv[] = { (char *)LOADER, (char *)"--list", (char *)program,
			 NULL };
	struct process_output output = {};
	*ret = true;
	if (since->everything)
		return NULL;
	*ret = false;
	if (!since->sources.n)
		return NULL;
	if (object_reaches(since, program)) {
		*ret = true;
		return NULL;
	}
	/* Statically linked ones have none; the loader says so and fails. */
	struct err *err = since_run_tool(argv, &output);
	if (!err)
		*ret = libraries_reach(since, output.out);
	err_ignore(err);
	process_output_free(&output);
	return NULL;
}
