#include "whole/since.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "whole/depends.h"
#include "whole/git.h"

/* Of more files, each counts as a whole. */
#define DIFFS_MAX 200
/* As the files are, whatever the repository's attributes make of them. */
#define GIT_DIFF                                                               \
	"diff", "--no-ext-diff", "--no-textconv", "--no-renames",              \
		"--no-relative", "--ignore-submodules=dirty"

void since_free(struct since *since)
{
	for (size_t i = 0; i < since->sources.n; i++) {
		free(since->sources.data[i].path);
		vec_free(&since->sources.data[i].lines);
	}
	vec_free(&since->sources);
	strv_free(&since->headers);
	map_text_free(&since->listed);
	free(since->why);
	*since = (struct since){};
}

/* ---- what changed ---- */

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

static bool is_header_name(const char *path)
{
	static const char *const endings[] = { ".h",   ".hh",  ".hpp", ".hxx",
					       ".h++", ".inl", ".ipp", ".tcc",
					       ".inc", NULL };
	return has_ending(path, endings);
}

static struct err *since_add_source(struct since *since, const char *path,
				    bool whole)
{
	struct since_source source = { .whole = whole };
	char *real = realpath(path, NULL);
	if (real)
		source.path = real;
	else
		TRY(str_copy(path, &source.path));
	struct err *err = vec_push(&since->sources, source);
	if (err)
		free(source.path);
	return err;
}

static struct err *since_add_everything(struct since *since, const char *why)
{
	if (since->everything)
		return NULL;
	since->everything = true;
	return str_copy(why, &since->why);
}

static struct err *since_add(struct since *since, const char *top, char status,
			     const char *path)
{
	_cleanup_(freep) char *whole = NULL;
	if (is_document(path))
		return NULL;
	TRY(path_join(top, path, &whole));
	if (is_source(path) && status != 'D')
		return since_add_source(since, whole, status != 'M');
	if (is_header_name(path) && status != 'D')
		return strv_take(&since->headers, take_ptr(whole));
	return since_add_everything(since, path);
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

static struct err *read_from_git(struct since *since, const struct git *git,
				 const char *const *words, bool statuses)
{
	struct process_output output = {};
	struct err *err = git_ask(git, words, &output);
	if (!err)
		err = read_changes(since, git->top, &output, statuses);
	process_output_free(&output);
	return err;
}

/* ---- which lines ---- */

/* "@@ -3,2 +5 @@ …": the lines as they are now; of none, those around. */
static bool parse_hunk(const char *line, struct makeup_lines *ret)
{
	const char *at = strstr(line, " +");
	char *end;
	if (!str_starts(line, "@@ -") || !at)
		return false;
	unsigned long first = strtoul(at + 2, &end, 10), n = 1;
	if (*end == ',')
		n = strtoul(end + 1, &end, 10);
	if (*end != ' ' || first > UINT32_MAX / 2 || n > UINT32_MAX / 2)
		return false;
	ret->first = (unsigned)first;
	ret->last = (unsigned)(n ? first + n - 1 : first + 1);
	return true;
}

/* What the preprocessor is told may change what comes after. */
static bool is_directive(const char *line)
{
	line++;
	line += strspn(line, " \t");
	size_t n = strlen(line);
	return *line == '#' || str_starts(line, "%:") ||
	       (n && line[n - 1] == '\\');
}

static struct err *read_hunks(struct since_source *source, char *diff)
{
	char *rest = diff;
	bool inside = false;
	for (char *line; (line = strsep(&rest, "\n"));) {
		struct makeup_lines lines;
		if (parse_hunk(line, &lines)) {
			TRY(vec_push(&source->lines, lines));
			inside = true;
		} else if (inside && (*line == '+' || *line == '-')) {
			source->whole |= is_directive(line);
		}
	}
	source->whole |= !source->lines.n;
	return NULL;
}

static struct err *since_read_lines(struct since *since, const struct git *git,
				    const char *revision)
{
	for (size_t i = 0; i < since->sources.n; i++) {
		struct since_source *source = &since->sources.data[i];
		const char *const words[] = {
			GIT_DIFF,     "-U0",	"--inter-hunk-context=0",
			"--no-color", revision, "--",
			source->path, NULL,
		};
		struct process_output output = {};
		source->whole |= i >= DIFFS_MAX;
		if (source->whole)
			continue;
		struct err *err = git_ask(git, words, &output);
		if (!err)
			err = read_hunks(source, output.out);
		process_output_free(&output);
		TRY(err);
	}
	return NULL;
}

/* ---- all ---- */

static struct err *add_unit(void *data, const char *unit)
{
	return since_add_source(data, unit, true);
}

static struct err *since_read_all(struct since *since, const char *revision,
				  const char *build)
{
	_cleanup_(git_closep) struct git git = {};
	TRY(git_open(&git));
	const char *const changed[] = { GIT_DIFF, "--name-status",
					"-z",	  revision,
					"--",	  NULL };
	const char *const new[] = { "ls-files", "--others",
				    "--exclude-standard", "-z", NULL };
	TRY(read_from_git(since, &git, changed, true));
	/* What is new and not added may be compiled, too; data is not counted. */
	struct since added = {};
	struct err *err = read_from_git(&added, &git, new, false);
	for (size_t i = 0; !err && i < added.sources.n; i++)
		err = since_add_source(since, added.sources.data[i].path, true);
	for (size_t i = 0; !err && i < added.headers.n; i++)
		err = strv_add(&since->headers, added.headers.data[i]);
	since_free(&added);
	TRY(err);
	if (since->headers.n && !since->everything) {
		bool known = false;
		if (build)
			TRY(depends_read(build, &since->headers, &since->listed,
					 add_unit, since, &known));
		if (!known)
			TRY(since_add_everything(since,
						 since->headers.data[0]));
	}
	return since->everything ? NULL
				 : since_read_lines(since, &git, revision);
}

struct err *since_read(const char *revision, const char *build,
		       struct since *ret)
{
	struct since since = {};
	if (*revision == '-' || !*revision)
		return err_create(ERR_USAGE, "--since '%s' is not a revision",
				  revision);
	struct err *err = since_read_all(&since, revision, build);
	if (err) {
		since_free(&since);
		return err;
	}
	log_debug(LOG_WHOLE, "since %s: %zu sources, %zu headers%s%s", revision,
		  since.sources.n, since.headers.n,
		  since.everything ? ", everything: " : "",
		  since.why ? since.why : "");
	*ret = since;
	return NULL;
}

/* ---- what it reaches ---- */

static struct err *reach_by_makeup(const struct since *since,
				   struct makeup *makeup, bool *ret_known)
{
	size_t n = since->sources.n;
	_cleanup_(freep) struct makeup_source *sources =
		calloc(n + 1, sizeof(*sources));
	if (!sources)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		const struct since_source *source = &since->sources.data[i];
		sources[i] = (struct makeup_source){
			.path = source->path,
			.lines = source->lines.data,
			.n_lines = source->whole ? 0 : source->lines.n,
		};
	}
	TRY(makeup_mark(makeup, sources, n,
			since->headers.n ? &since->listed : NULL, ret_known));
	makeup_reach(makeup);
	return NULL;
}

struct err *since_reaches(const struct since *since, const char *program,
			  const struct framework_own *(*own)(size_t i),
			  const struct makeup_test *tests, size_t n, bool *ret)
{
	_cleanup_(makeup_destroyp) struct makeup *makeup = NULL;
	bool known = false;
	for (size_t i = 0; i < n; i++)
		ret[i] = since->everything;
	if (since->everything || (!since->sources.n && !since->headers.n))
		return NULL;
	TRY(makeup_read(program, own, tests, n, &makeup));
	TRY(reach_by_makeup(since, makeup, &known));
	for (size_t i = 0; i < n; i++)
		ret[i] = !known || makeup_reached(makeup, i);
	return NULL;
}
