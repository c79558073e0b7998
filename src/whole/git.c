#include "whole/git.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/str.h"

#define GIT_OUTPUT_MAX ((size_t)64 << 20)
#define GIT_TIMEOUT (120 * NS_PER_S)

void git_close(struct git *git)
{
	strv_free(&git->words);
	strv_free(&git->environ);
	free(git->top);
	*git = (struct git){};
}

struct err *git_ask(const struct git *git, const char *const *words,
		    struct process_output *ret)
{
	_cleanup_(strv_freep) struct strv argv = {};
	TRY(strv_add_all(&argv, git->words.data));
	for (; *words; words++)
		TRY(strv_add(&argv, *words));
	const struct process_spec spec = {
		.argv = argv.data,
		.environment = git->environ.data,
		.folder = git->top,
	};
	TRY(process_output(&spec, GIT_OUTPUT_MAX, GIT_TIMEOUT, ret));
	if (!ret->why && !ret->status)
		return NULL;
	const char *said = ret->err && *ret->err ? ret->err
			   : ret->why		 ? ret->why
						 : "it failed";
	return err_create(ERR_USAGE, "--since: git: %.*s",
			  (int)strcspn(said, "\n"), said);
}

/*
 * What a partial clone lacks is not fetched: the programs that would do so are
 * named by the repository.
 */
static struct err *git_add_environ(struct strv *environ_words)
{
	for (char **variable = environ; *variable; variable++) {
		if (!str_starts(*variable, "GIT_ALLOW_PROTOCOL=") &&
		    !str_starts(*variable, "GIT_EXTERNAL_DIFF="))
			TRY(strv_add(environ_words, *variable));
	}
	TRY(strv_add(environ_words, "GIT_ALLOW_PROTOCOL="));
	return strv_add(environ_words, "GIT_NO_LAZY_FETCH=1");
}

/* "filter.NAME.clean": filters are only known by their names. */
static struct err *git_disable_filter(struct git *git, const char *key)
{
	const char *end = strrchr(key, '.');
	if (!str_starts(key, "filter.") || end < key + strlen("filter."))
		return NULL;
	if (strchr(key, '='))
		return err_create(ERR_USAGE,
				  "--since: the filter '%.*s' of this "
				  "repository cannot be switched off",
				  (int)(end - key), key);
	int n = (int)(end - key);
	TRY(strv_add(&git->words, "-c"));
	if (!strcmp(end, ".required"))
		return strv_addf(&git->words, "%.*s.required=false", n, key);
	return strv_addf(&git->words, "%s=", key);
}

static struct err *git_disable_filters(struct git *git)
{
	const char *const list[] = { "config", "--list", "--name-only", "-z",
				     NULL };
	struct process_output output = {};
	struct err *err = git_ask(git, list, &output);
	for (const char *key = output.out;
	     !err && key < output.out + output.out_n; key += strlen(key) + 1)
		err = git_disable_filter(git, key);
	process_output_free(&output);
	return err;
}

static struct err *git_find_top(struct git *git)
{
	const char *const where[] = { "rev-parse", "--show-toplevel", NULL };
	struct process_output output = {};
	struct err *err = git_ask(git, where, &output);
	if (!err) {
		size_t n = output.out_n;
		git->top = strndup(output.out, n ? n - 1 : 0);
	}
	process_output_free(&output);
	TRY(err);
	return git->top ? NULL : err_nomem();
}

struct err *git_open(struct git *ret)
{
	static const char *const words[] = {
		"git",
		"--no-pager",
		"--no-optional-locks",
		"--literal-pathspecs",
		"-c",
		"core.fsmonitor=false",
		"-c",
		"core.hooksPath=/dev/null",
	};
	_cleanup_(git_closep) struct git git = {};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		TRY(strv_add(&git.words, words[i]));
	TRY(git_add_environ(&git.environ));
	TRY(git_find_top(&git));
	TRY(git_disable_filters(&git));
	*ret = git;
	git = (struct git){};
	return NULL;
}
