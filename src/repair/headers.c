#include "repair/headers.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"

#define HEADER_BYTES ((size_t)1 << 20)
#define HEADERS_MAX 1000

static bool is_header(const char *name)
{
	return str_ends(name, ".h") || str_ends(name, ".hpp") ||
	       str_ends(name, ".hh") || str_ends(name, ".hxx");
}

/* "name (" as a word of its own. */
static bool header_declares(const char *path, const char *name)
{
	_cleanup_(freep) char *text = NULL;
	size_t n = strlen(name);
	struct err *err = file_read(path, HEADER_BYTES, &text, NULL);
	if (err) {
		err_ignore(err);
		return false;
	}
	for (const char *at = text; (at = strstr(at, name)); at += n) {
		char before = at > text ? at[-1] : ' ';
		const char *behind = at + n + strspn(at + n, " \t");
		if (!isalnum((unsigned char)before) && before != '_' &&
		    *behind == '(')
			return true;
	}
	return false;
}

static struct err *search_folder(const char *folder, const char *name,
				 size_t *left, char **ret)
{
	DIR *dir = opendir(folder);
	struct err *err = NULL;
	if (!dir)
		return NULL;
	for (const struct dirent *entry;
	     !err && !*ret && *left && (entry = readdir(dir));) {
		_cleanup_(freep) char *path = NULL;
		if (!is_header(entry->d_name))
			continue;
		--*left;
		err = path_join(folder, entry->d_name, &path);
		if (!err && header_declares(path, name))
			*ret = take_ptr(path);
	}
	closedir(dir);
	return err;
}

/* Next to the source, in "include" near it, and where the test's headers are. */
static struct err *search_header(const struct compiler *compiler,
				 const char *file, const char *name, char **ret)
{
	static const char *const near[] = { "", "/include", "/../include",
					    "/../inc", "/.." };
	_cleanup_(freep) char *folder = strdup(file);
	size_t left = HEADERS_MAX;
	if (!folder)
		return err_nomem();
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && i < ARRAY_SIZE(near) && !*ret; i++) {
		_cleanup_(freep) char *at = NULL;
		TRY(str_format(&at, "%s%s", folder, near[i]));
		TRY(search_folder(at, name, &left, ret));
	}
	for (size_t i = 0; i < compiler->folders.n && !*ret; i++)
		TRY(search_folder(compiler->folders.data[i], name, &left, ret));
	return NULL;
}

/* From the folder of @from to @to, both absolute and without links. */
static struct err *relative_path(const char *from, const char *to, char **ret)
{
	_cleanup_(str_freep) struct str path = STR_INIT;
	size_t common = 0;
	for (size_t i = 0; from[i] && from[i] == to[i]; i++) {
		if (from[i] == '/')
			common = i + 1;
	}
	for (const char *at = from + common; (at = strchr(at, '/')); at++)
		TRY(str_append(&path, "../"));
	TRY(str_append(&path, to + common));
	*ret = str_take(&path);
	return *ret ? NULL : err_nomem();
}

/* Below a folder that the compiler is given with -I, the shortest way. */
static const char *below_folder(const struct compiler *compiler,
				const char *header)
{
	const char *best = NULL;
	for (size_t i = 0; i < compiler->command.n; i++) {
		const char *word = compiler->command.data[i];
		if (!str_starts(word, "-I"))
			continue;
		const char *given = word[2] ? word + 2
				    : i + 1 < compiler->command.n
					    ? compiler->command.data[i + 1]
					    : "";
		_cleanup_(freep) char *joined = NULL;
		struct err *err = *given == '/' ? str_copy(given, &joined)
						: path_join(compiler->folder,
							    given, &joined);
		if (err) {
			err_destroy(err);
			return NULL;
		}
		_cleanup_(freep) char *folder = realpath(joined, NULL);
		if (!folder || !path_is_below(header, folder))
			continue;
		const char *rest = header + strlen(folder) + 1;
		if (!best || strlen(rest) < strlen(best))
			best = rest;
	}
	return best;
}

struct err *headers_find(const struct compiler *compiler,
			 const struct source_file *source,
			 const struct routine *routine, char **ret)
{
	_cleanup_(freep) char *found = NULL;
	_cleanup_(freep) char *way = NULL;
	const char *name = routine->name;
	for (const char *at = name; (at = strstr(at, "::"));)
		name = at += 2;
	if (!routine->file)
		return NULL;
	if (is_header(routine->file))
		TRY(str_copy(routine->file, &found));
	else
		TRY(search_header(compiler, routine->file, name, &found));
	if (!found)
		return NULL;
	_cleanup_(freep) char *header = realpath(found, NULL);
	if (!header || source_includes(source, path_base(header)))
		return NULL;
	const char *below = below_folder(compiler, header);
	if (below)
		TRY(str_copy(below, &way));
	else
		TRY(relative_path(source->path, header, &way));
	return str_format(ret, "#include \"%s\"", way);
}
