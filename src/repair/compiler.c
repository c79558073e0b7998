/* How a test's file was compiled: what its project says, or its debug data. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "repair/build_command.h"
#include "repair/compile.h"

#define COMMANDS_FILE "compile_commands.json"
#define COMMANDS_BYTES ((size_t)64 << 20)
#define FOLDERS_UP 4
/* So long a build may take up to the test's file. */
#define ASK_NS (120 * NS_PER_S)
#define ASK_PART 3 /* and no more than this part of the time for it */

/* ---- compile_commands.json ---- */

/* Words as a shell divides them, without variables. */
static struct err *split_words(const char *text, struct strv *ret)
{
	while (*text) {
		_cleanup_(str_freep) struct str word = STR_INIT;
		char quote = 0;
		text += strspn(text, " \t\n");
		if (!*text)
			break;
		for (; *text && (quote || !isspace((unsigned char)*text));
		     text++) {
			if (quote ? *text == quote
				  : *text == '"' || *text == '\'') {
				quote = quote ? 0 : *text;
				continue;
			}
			if (*text == '\\' && quote != '\'' && text[1])
				text++;
			TRY(str_append_n(&word, text, 1));
		}
		TRY(strv_take(ret, str_take(&word)));
	}
	return NULL;
}

/* Of the project's own options those that decide what compiles. */
static bool compiler_option_matters(const char *word, bool *ret_next)
{
	static const char *const with_next[] = { "-I",	       "-isystem",
						 "-iquote",    "-D",
						 "-U",	       "-include",
						 "-idirafter", "-imacros" };
	*ret_next = false;
	for (size_t i = 0; i < ARRAY_SIZE(with_next); i++) {
		if (!strcmp(word, with_next[i])) {
			*ret_next = true;
			return true;
		}
		if (str_starts(word, with_next[i]))
			return true;
	}
	if (str_starts(word, "-fsanitize") || str_starts(word, "-flto") ||
	    str_starts(word, "-fprofile") || str_starts(word, "-fvisibility") ||
	    str_starts(word, "-fmax-errors") || str_starts(word, "-fpreproc") ||
	    str_starts(word, "-fdebug") || str_starts(word, "-ffile-prefix") ||
	    str_starts(word, "-fcoverage") || str_starts(word, "-fpie") ||
	    str_starts(word, "-fPIE") || str_starts(word, "-fstack") ||
	    str_starts(word, "-fcf-protection"))
		return false;
	return str_starts(word, "-std=") || !strcmp(word, "-ansi") ||
	       str_starts(word, "-f") || str_starts(word, "-m") ||
	       !strcmp(word, "-pthread") || str_starts(word, "-stdlib=") ||
	       str_starts(word, "--target");
}

static struct err *take_options(char *const *words, size_t n,
				struct compiler *ret)
{
	for (size_t i = 0; i < n; i++) {
		bool next = false;
		if (!compiler_option_matters(words[i], &next))
			continue;
		TRY(strv_add(&ret->command, words[i]));
		if (next && i + 1 < n)
			TRY(strv_add(&ret->command, words[++i]));
	}
	return NULL;
}

static struct err *entry_words(const json_t *entry, struct strv *ret)
{
	const char *command =
		json_string_value(json_object_get(entry, "command"));
	const json_t *arguments = json_object_get(entry, "arguments");
	if (command)
		return split_words(command, ret);
	for (size_t i = 0; i < json_array_size(arguments); i++) {
		const char *word =
			json_string_value(json_array_get(arguments, i));
		if (word)
			TRY(strv_add(ret, word));
	}
	return NULL;
}

static bool is_entry_of(const json_t *entry, const char *path)
{
	const char *file = json_string_value(json_object_get(entry, "file"));
	const char *folder =
		json_string_value(json_object_get(entry, "directory"));
	_cleanup_(freep) char *joined = NULL;
	if (!file)
		return false;
	struct err *err = *file == '/' || !folder
				  ? str_copy(file, &joined)
				  : path_join(folder, file, &joined);
	if (err) {
		err_destroy(err);
		return false;
	}
	_cleanup_(freep) char *resolved = realpath(joined, NULL);
	return resolved && !strcmp(resolved, path);
}

/* *@ret_known: there is an entry for it, though it may say nothing. */
static struct err *read_commands(const char *file, const char *path,
				 struct compiler *ret, bool *ret_found,
				 bool *ret_known)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(strv_freep) struct strv words = {};
	TRY(file_read(file, COMMANDS_BYTES, &text, NULL));
	_cleanup_(json_freep) json_t *all = json_loads(text, 0, NULL);
	for (size_t i = 0; i < json_array_size(all) && !*ret_found; i++) {
		const json_t *entry = json_array_get(all, i);
		if (!is_entry_of(entry, path))
			continue;
		*ret_known = true;
		const char *folder =
			json_string_value(json_object_get(entry, "directory"));
		TRY(entry_words(entry, &words));
		size_t first = 0;
		/* "ccache gcc …" */
		if (words.n > 1 && str_ends(words.data[0], "ccache"))
			first = 1;
		if (words.n <= first)
			break;
		*ret_found = true;
		TRY(strv_add(&ret->command, words.data[first]));
		TRY(take_options(words.data + first + 1, words.n - first - 1,
				 ret));
		for (size_t j = first; j < words.n; j++)
			ret->old_c |= !strcmp(words.data[j],
					      "-Wdeclaration-after-statement");
		TRY(str_copy(folder ? folder : ".", &ret->folder));
		log_debug(LOG_REPAIR, "%s says how to compile %s", file, path);
	}
	return NULL;
}

/* In a folder, those above it, and "build" in each of them. */
static struct err *search_commands(const char *folder, const char *path,
				   struct compiler *ret, bool *ret_found)
{
	static const char *const below[] = { "", "/build", "/out",
					     "/builddir" };
	_cleanup_(freep) char *at = realpath(folder, NULL);
	bool known;
	for (int up = 0; at && up < FOLDERS_UP && !*ret_found; up++) {
		for (size_t i = 0; i < ARRAY_SIZE(below) && !*ret_found; i++) {
			_cleanup_(freep) char *file = NULL;
			TRY(str_format(&file, "%s%s/" COMMANDS_FILE, at,
				       below[i]));
			if (!access(file, R_OK))
				TRY(read_commands(file, path, ret, ret_found,
						  &known));
		}
		char *slash = strrchr(at, '/');
		if (!slash || slash == at)
			break;
		*slash = '\0';
	}
	return NULL;
}

/* The debug information may know it, too: most of the time is for the search. */
static uint64_t ask_limit(const struct compiler *compiler)
{
	uint64_t now = clock_now();
	if (!compiler->deadline)
		return ASK_NS;
	return compiler->deadline > now
		       ? MIN((compiler->deadline - now) / ASK_PART, ASK_NS)
		       : 0;
}

/* What the project's build says; it is asked once for each file. */
static struct err *ask_build(const char *build, const char *work,
			     const char *path, struct compiler *ret,
			     bool *ret_found)
{
	_cleanup_(freep) char *file = NULL;
	bool known = false;
	TRY(path_join(work, COMMANDS_FILE, &file));
	if (!access(file, R_OK))
		TRY(read_commands(file, path, ret, ret_found, &known));
	if (known)
		return NULL;
	TRY(build_command_ask(build, path, file, ask_limit(ret)));
	return access(file, R_OK)
		       ? NULL
		       : read_commands(file, path, ret, ret_found, &known);
}

/* ---- debug information ---- */

static bool program_exists(const char *name)
{
	const char *path = getenv("PATH");
	while (path && *path) {
		size_t n = strcspn(path, ":");
		_cleanup_(freep) char *file = NULL;
		if (asprintf(&file, "%.*s/%s", (int)n, path, name) > 0 &&
		    !access(file, X_OK))
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

static struct err *choose_program(const char *producer, bool cxx,
				  struct compiler *ret)
{
	bool clang = strstr(producer, "clang");
	const char *const names[] = {
		clang ? (cxx ? "clang++" : "clang") : (cxx ? "g++" : "gcc"),
		cxx ? "c++" : "cc",
		cxx ? "g++" : "gcc",
		cxx ? "clang++" : "clang",
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (program_exists(names[i]))
			return strv_add(&ret->command, names[i]);
	}
	return err_hint(err_create(ERR_SUITE, "there is no %s compiler",
				   cxx ? "C++" : "C"),
			"install the one that the project is built with");
}

static bool is_system_folder(const char *folder)
{
	return str_starts(folder, "/usr/include") ||
	       str_starts(folder, "/usr/lib/") ||
	       str_starts(folder, "/usr/local/include/c++");
}

static struct err *compiler_add_folder(struct compiler *compiler,
				       const char *folder)
{
	_cleanup_(freep) char *joined = NULL;
	TRY(*folder == '/' ? str_copy(folder, &joined)
			   : path_join(compiler->folder, folder, &joined));
	if (!is_system_folder(joined))
		TRY(strv_take(&compiler->folders, take_ptr(joined)));
	return NULL;
}

/* Headers that are included as "a/b.h" lie below the folder that is meant. */
static struct err *add_folders_of(const struct suite_code *code,
				  struct compiler *ret)
{
	for (size_t i = 0; i < code->folders.n && i < 200; i++) {
		_cleanup_(freep) char *above = strdup(code->folders.data[i]);
		if (!above)
			return err_nomem();
		TRY(compiler_add_folder(ret, above));
		char *slash = strrchr(above, '/');
		if (slash && slash != above) {
			*slash = '\0';
			TRY(compiler_add_folder(ret, above));
		}
	}
	return NULL;
}

static struct err *from_debug(const struct suite_code *code,
			      struct compiler *ret)
{
	_cleanup_(strv_freep) struct strv words = {};
	const char *producer = code->producer ? code->producer : "";
	TRY(choose_program(producer, ret->cxx, ret));
	TRY(split_words(producer, &words));
	TRY(take_options(words.data, words.n, ret));
	TRY(str_copy(code->folder ? code->folder : ".", &ret->folder));
	return add_folders_of(code, ret);
}

/* ---- either ---- */

static bool is_old_c(const struct compiler *compiler)
{
	static const char *const old[] = { "-std=c89",		"-std=gnu89",
					   "-std=c90",		"-std=gnu90",
					   "-std=iso9899:1990", "-ansi" };
	for (size_t i = 0; i < compiler->command.n; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(old); j++) {
			if (!strcmp(compiler->command.data[i], old[j]))
				return !compiler->cxx;
		}
	}
	return false;
}

struct err *compiler_find(const struct source_file *source,
			  const struct suite_code *code, const char *work,
			  const char *build, uint64_t deadline,
			  struct compiler *ret)
{
	_cleanup_(compiler_freep) struct compiler compiler = {
		.cxx = source->cxx,
		.deadline = deadline,
	};
	_cleanup_(freep) char *path = realpath(source->path, NULL);
	_cleanup_(freep) char *folder = NULL;
	bool found = false;
	struct stat status;
	if (!path)
		return err_create(ERR_SUITE, "'%s' does not exist any more",
				  source->path);
	TRY(search_commands(".", path, &compiler, &found));
	if (!found && code->folder)
		TRY(search_commands(code->folder, path, &compiler, &found));
	if (!found && build)
		TRY(ask_build(build, work, path, &compiler, &found));
	if (!found)
		TRY(from_debug(code, &compiler));
	/* A build tree that was moved or removed. */
	if (stat(compiler.folder, &status) < 0) {
		free(compiler.folder);
		compiler.folder = NULL;
		TRY(str_copy(".", &compiler.folder));
	}
	TRY(str_copy(path, &folder));
	*strrchr(folder, '/') = '\0';
	TRY(strv_addf(&compiler.command, "-iquote%s/", folder));
	TRY(strv_take(&compiler.folders, take_ptr(folder)));
	TRY(str_copy(work, &compiler.work));
	compiler.old_c |= is_old_c(&compiler);
	*ret = compiler;
	compiler = (struct compiler){};
	return NULL;
}
