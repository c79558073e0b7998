/* polygraph init: looks at a build folder and writes a first polygraph.toml. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/caller.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/config.h"

struct init_values {
	struct common_options common;
	bool force;
};

static const struct init_values defaults = { .common = COMMON_DEFAULTS };

#define FIELD(member) .offset = offsetof(struct init_values, member)

/* clang-format off */
static const struct option init_options[] = {
	{ "force", 0, OPTION_FLAG, FIELD(force), .no_config = true,
	  .help = "replace a " CONFIG_FILE " that is there" },
	{}
};
/* clang-format on */

static const struct option_group init_group = { "Init", init_options };

/* What tells a build folder, and the option that takes it. */
static const struct {
	const char *file;
	const char *option;
	const char *what;
} builds[] = {
	{ "CTestTestfile.cmake", "ctest", "CMake" },
	{ "meson-info/intro-tests.json", "meson", "Meson" },
};

/* Where build folders usually are. */
static const char *const usual[] = { ".",	   "build", "builddir",
				     "_build",	   "out",   "cmake-build-debug",
				     "build-debug" };

static struct err *has_file(const char *folder, const char *file, bool *ret)
{
	_cleanup_(freep) char *path = NULL;
	TRY(path_join(folder, file, &path));
	*ret = !access(path, R_OK);
	return NULL;
}

/* *@ret: which of builds it is; none: ARRAY_SIZE(builds). */
static struct err *look_at(const char *folder, size_t *ret)
{
	for (*ret = 0; *ret < ARRAY_SIZE(builds); ++*ret) {
		bool is = false;
		TRY(has_file(folder, builds[*ret].file, &is));
		if (is)
			break;
	}
	return NULL;
}

/* As a text of TOML. */
static struct err *append_quoted(struct str *str, const char *text)
{
	TRY(str_append(str, "\""));
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			TRY(str_append(str, "\\"));
		if ((unsigned char)*text < ' ')
			return err_create(ERR_USAGE,
					  "the name of the folder has a "
					  "control character");
		TRY(str_append_n(str, text, 1));
	}
	return str_append(str, "\"");
}

static struct err *make_text(const char *folder, size_t build, struct str *text)
{
	TRY(str_append(text,
		       "# Options of polygraph, by their long names; "
		       "'polygraph help check' lists them,\n"
		       "# 'polygraph config' shows what is in force. Paths are "
		       "relative to this file.\n\n"));
	if (build < ARRAY_SIZE(builds)) {
		TRY(str_appendf(text, "# The tests of this %s build.\n%s = ",
				builds[build].what, builds[build].option));
		TRY(append_quoted(text, folder));
		TRY(str_append(text, "\n"));
	} else {
		TRY(str_append(text,
			       "# No CMake or Meson build was found: name the "
			       "test executable on the command line.\n"));
	}
	return str_append(
		text,
		"\n# Known findings: 'polygraph --update-baseline' writes "
		"them.\n"
		"# baseline = \"polygraph-baseline.txt\"\n"
		"\n# From which severity on findings fail a run: low, medium "
		"or high.\n"
		"# fail-on = \"medium\"\n"
		"\n[check]\n"
		"# How long it may look; the default is 60s, or ten times as "
		"long as the suite takes.\n"
		"# budget = \"5m\"\n"
		"\n# [[suppress]]\n"
		"# test = \"Cache.*\"\n"
		"# reason = \"why it is left as it is\"\n"
		"# expires = \"2030-12-31\"\n");
}

static struct err *write_config(const char *text)
{
	_cleanup_(outfile_discard) struct outfile outfile = {};
	struct outfile_place place = OUTFILE_PLACE_INIT;
	TRY(outfile_place_open(CONFIG_FILE, &place));
	struct err *err = outfile_open(&place, &outfile);
	if (!err) {
		fputs(text, outfile.file);
		err = outfile_commit(&outfile);
	}
	outfile_place_close(&place);
	return err;
}

static struct err *init_run(const struct options *options, int argc,
			    char **argv, enum status *ret)
{
	const struct init_values *values = options->values;
	_cleanup_(str_freep) struct str text = STR_INIT;
	const char *folder = argc ? argv[0] : NULL;
	size_t build = ARRAY_SIZE(builds);
	*ret = STATUS_OK;
	if (argc > 1)
		return err_create(ERR_USAGE,
				  "one build folder at a time, not also '%s'",
				  argv[1]);
	if (!values->force && !access(CONFIG_FILE, F_OK))
		return err_hint(err_create(ERR_USAGE, "there is a " CONFIG_FILE
						      " already"),
				"--force replaces it");
	struct stat status;
	TRY(caller_check_folder());
	if (folder && stat(folder, &status) < 0)
		return err_with_kind(
			err_errno(errno, "cannot read '%s'", folder),
			ERR_USAGE);
	if (folder && !S_ISDIR(status.st_mode))
		return err_create(ERR_USAGE, "'%s' is not a folder", folder);
	if (folder)
		TRY(look_at(folder, &build));
	for (size_t i = 0; !folder && i < ARRAY_SIZE(usual); i++) {
		TRY(look_at(usual[i], &build));
		if (build < ARRAY_SIZE(builds))
			folder = usual[i];
	}
	if (argc && build == ARRAY_SIZE(builds))
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is no build folder of CMake "
					   "or Meson with tests",
					   folder),
				"for CMake, enable_testing() makes "
				"CTestTestfile.cmake");
	TRY(make_text(folder, build, &text));
	TRY(write_config(text.s));
	if (build < ARRAY_SIZE(builds))
		printf("wrote " CONFIG_FILE ": the tests of the %s build in "
		       "%s; next: polygraph\n",
		       builds[build].what, folder);
	else
		printf("wrote " CONFIG_FILE "; next: polygraph "
		       "./TEST-EXECUTABLE\n");
	return NULL;
}

const struct command command_init = {
	.name = "init",
	.summary = "looks at a build folder and writes a first polygraph.toml",
	.synopsis = (const char *const[]){ "[--force] [BUILD-DIR]", NULL },
	.description =
		(const char *const[]){
			"Writes a " CONFIG_FILE
			" in the working directory for the tests of a CMake "
			"or Meson build. Without BUILD-DIR, it is searched for "
			"where builds usually are (build, builddir and so "
			"on).",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph init", "find the build folder" },
			{ "polygraph init build-debug", "this one" },
			{} },
	.groups = (const struct option_group *const[]){ &init_group,
							&common_bare_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.word_first = true,
	.run = init_run,
};
