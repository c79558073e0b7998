/* Candidates that put process state, files and visible variables back. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/value_kind.h"
#include "repair/candidates.h"

/* Between the brackets of "environment[NAME]"; NULL: it is another root. */
static char *take_bracketed(const char *root, const char *row)
{
	size_t n = strlen(row);
	if (strncmp(root, row, n) != 0 || root[n] != '[')
		return NULL;
	size_t length = strlen(root + n + 1);
	return length && root[n + length] == ']'
		       ? strndup(root + n + 1, length - 1)
		       : NULL;
}

struct state_code {
	struct str code;
	const char *include;
	const char *save, *restore;
};

static struct err *environment_code(const char *name, const char *before,
				    struct state_code *ret)
{
	for (const char *at = name; *at; at++) {
		if (!isalnum((unsigned char)*at) && *at != '_')
			return NULL;
	}
	ret->include = "#include <stdlib.h>";
	if (!strcmp(before, "unset"))
		return str_appendf(&ret->code, "unsetenv(\"%s\");", name);
	/* The value is shown as a text of C, whole or cut. */
	size_t n = strlen(before);
	if (n < 2 || before[0] != '"' || before[n - 1] != '"')
		return NULL;
	return str_appendf(&ret->code, "setenv(\"%s\", %s, 1);", name, before);
}

struct state_row {
	const char *root;
	const char *before; /* NULL: any */
	const char *code;   /* %s: the value before */
	const char *include;
	const char *save, *restore;
};

static const struct state_row rows[] = {
	{ "umask", NULL, "umask(%s);", "#include <sys/stat.h>", NULL, NULL },
	{ "working-directory", NULL, "if (chdir(\"%s\")) _Exit(1);",
	  "#include <unistd.h>", "char *folder_before = getcwd(0, 0);",
	  "if (chdir(folder_before)) return;\nfree(folder_before);" },
	{ "rounding-mode", "to nearest", "fesetround(FE_TONEAREST);",
	  "#include <fenv.h>", NULL, NULL },
	{ "rounding-mode", "upward", "fesetround(FE_UPWARD);",
	  "#include <fenv.h>", NULL, NULL },
	{ "rounding-mode", "downward", "fesetround(FE_DOWNWARD);",
	  "#include <fenv.h>", NULL, NULL },
	{ "rounding-mode", "toward zero", "fesetround(FE_TOWARDZERO);",
	  "#include <fenv.h>", NULL, NULL },
	{ "random", NULL, "srand(1);", "#include <stdlib.h>", NULL, NULL },
	{ "getopt", NULL, "optind = 1;", "#include <unistd.h>", NULL, NULL },
	{ "hsearch", NULL, "hdestroy();", "#include <search.h>", NULL, NULL },
};

static bool is_harmless(const char *text)
{
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("/._-+ ", *text))
			return false;
	}
	return true;
}

static struct err *row_code(const struct state_row *row, const char *before,
			    struct state_code *ret)
{
	const char *value = strstr(row->code, "%s");
	if (value && !is_harmless(before))
		return NULL;
	TRY(str_append_n(&ret->code, row->code,
			 value ? (size_t)(value - row->code)
			       : strlen(row->code)));
	if (value) {
		TRY(str_append(&ret->code, before));
		TRY(str_append(&ret->code, value + 2));
	}
	ret->include = row->include;
	ret->save = row->save;
	ret->restore = row->restore;
	return NULL;
}

static struct err *process_code(const struct change *change,
				struct state_code *ret)
{
	const char *before = change->n ? change->paths[0].before : NULL;
	_cleanup_(freep) char *variable =
		take_bracketed(change->root, "environment");
	_cleanup_(freep) char *category =
		take_bracketed(change->root, "locale");
	_cleanup_(freep) char *handler =
		take_bracketed(change->root, "signal-handler");
	if (!before)
		return NULL;
	if (variable)
		return environment_code(variable, before, ret);
	if (category && is_harmless(before)) {
		ret->include = "#include <locale.h>";
		return str_appendf(&ret->code, "setlocale(LC_ALL, \"%s\");",
				   before);
	}
	if (handler && is_harmless(handler) && !strcmp(before, "default")) {
		ret->include = "#include <signal.h>";
		return str_appendf(&ret->code, "signal(%s, SIG_DFL);", handler);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!strcmp(rows[i].root, change->root) &&
		    (!rows[i].before || !strcmp(rows[i].before, before)))
			return row_code(&rows[i], before, ret);
	}
	return NULL;
}

static struct err *file_code(const struct change *change,
			     struct state_code *ret)
{
	const char *before = change->n ? change->paths[0].before : NULL;
	if (!before || strcmp(before, "absent") != 0 ||
	    !is_harmless(change->root))
		return NULL;
	ret->include = "#include <stdio.h>";
	return str_appendf(&ret->code, "remove(\"%s\");", change->root);
}

/* "level", "config.name", "limits[3]": no pointer is followed. */
static bool is_plain_path(const char *path)
{
	for (; *path; path++) {
		if (!isalnum((unsigned char)*path) && !strchr("_.[]:", *path))
			return false;
	}
	return true;
}

/* Without the namespaces that have no name: no source can say them. */
static char *visible_path(const char *path)
{
	static const char unnamed[] = "(anonymous namespace)::";
	char *name = strdup(path);
	for (char *at = name; at && (at = strstr(at, unnamed));)
		memmove(at, at + strlen(unnamed),
			strlen(at + strlen(unnamed)) + 1);
	return name;
}

/* A text that is shown whole. */
static bool is_whole_text(const char *value)
{
	size_t n = strlen(value);
	return n >= 2 && value[0] == '"' && value[n - 1] == '"' &&
	       !memchr(value + 1, '"', n - 2) && !memchr(value, '\\', n);
}

/* A value as C has it. */
static bool is_plain_value(const char *value)
{
	const char *at = value + (*value == '-');
	bool digit = isdigit((unsigned char)*at);
	for (; *at; at++) {
		if (!isalnum((unsigned char)*at) && *at != '.' && *at != '_')
			return false;
	}
	return digit || !strcmp(value, "true") || !strcmp(value, "false") ||
	       !strcmp(value, "NULL") || isupper((unsigned char)*value);
}

/*
 * Sound only if all that differs is assigned, and no block behind it is left
 * over.
 */
static struct err *variable_code(const struct change *change,
				 struct state_code *ret)
{
	if (change->more || !change->n)
		return NULL;
	for (size_t i = 0; i < change->n; i++) {
		const struct change_path *path = &change->paths[i];
		_cleanup_(freep) char *name = visible_path(path->path);
		if (!name)
			return err_nomem();
		bool text = is_whole_text(path->before);
		if (path->depth || !is_plain_path(name) ||
		    (!text && !is_plain_value(path->before))) {
			str_free(&ret->code);
			ret->code = (struct str)STR_INIT;
			return NULL;
		}
		const char *line = i ? "\n" : "";
		if (text) {
			ret->include = "#include <string.h>";
			TRY(str_appendf(&ret->code, "%sstrcpy(%s, %s);", line,
					name, path->before));
		} else {
			TRY(str_appendf(&ret->code, "%s%s = %s;", line, name,
					path->before));
		}
	}
	return NULL;
}

/* ---- a variable as a whole ---- */

/* Fewer are assigned one by one. */
#define KEPT_FROM 3

/*
 * What tests may name, and holds no more than itself: the polluter keeps it and
 * puts it back. Two ways to name its type are tried; the compiler knows.
 */
static struct err *add_kept_variable(const struct candidate_input *input,
				     const struct change *change,
				     const char *code,
				     struct candidate_list *ret)
{
	const struct routines *all = &input->code->routines;
	const struct routine_variable *variable = NULL;
	for (size_t i = 0; i < all->variables.n && !variable; i++) {
		const struct routine_variable *other = &all->variables.data[i];
		if (other->value.kind == ROUTINE_OBJECT &&
		    !other->value.reference && !strchr(other->name, ':') &&
		    !strcmp(other->name, change->root) &&
		    (!other->local ||
		     (other->file &&
		      !strcmp(other->file, input->source->path))))
			variable = other;
	}
	for (int form = 0; variable && form < 2; form++) {
		struct repair_candidate candidate = { .template = true,
						      .score = 29 };
		struct err *err =
			str_format(&candidate.save, "%s%s %s_before = %s;",
				   form ? "struct " : "", variable->value.type,
				   variable->name, variable->name);
		if (!err)
			err = str_format(&candidate.restore, "%s = %s_before;",
					 variable->name, variable->name);
		if (!err)
			err = str_format(&candidate.code,
					 "{ %s (void)%s_before; }\n%s",
					 candidate.save, variable->name, code);
		if (!err)
			err = vec_push(ret, candidate);
		if (err) {
			free(candidate.save);
			free(candidate.restore);
			free(candidate.code);
			return err;
		}
	}
	return NULL;
}

struct err *candidates_from_state(const struct candidate_input *input,
				  struct candidate_list *ret)
{
	for (size_t i = 0; i < input->bench->n; i++) {
		const struct change *change = &input->bench->roots[i];
		struct state_code code = {};
		struct repair_candidate candidate = { .template = true };
		struct err *err = NULL;
		if (!input->polluted[i])
			continue;
		if (change->where == CHANGE_PROCESS)
			err = process_code(change, &code);
		else if (change->where == CHANGE_FILE)
			err = file_code(change, &code);
		else
			err = variable_code(change, &code);
		if (!err && change->where == CHANGE_MEMORY && code.code.n &&
		    change->n >= KEPT_FROM)
			err = add_kept_variable(input, change, code.code.s,
						ret);
		/* A reset function is the better way to put a variable back. */
		candidate.score = change->where == CHANGE_MEMORY ? 30 : 0;
		if (!err && code.code.n) {
			candidate.code = str_take(&code.code);
			err = str_copy(code.include, &candidate.include);
			if (!err)
				err = str_copy(code.save, &candidate.save);
			if (!err)
				err = str_copy(code.restore,
					       &candidate.restore);
			if (!err)
				err = vec_push(ret, candidate);
		}
		str_free(&code.code);
		TRY(err);
	}
	return NULL;
}
