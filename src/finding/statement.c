#include "finding/statement.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void statement_free(struct statement_code *statement)
{
	str_free(&statement->code);
	*statement = (struct statement_code){};
}

/* Between the brackets of "environment[NAME]"; NULL: it is another root. */
static char *statement_bracketed(const char *root, const char *row)
{
	size_t n = strlen(row);
	if (strncmp(root, row, n) != 0 || root[n] != '[')
		return NULL;
	size_t length = strlen(root + n + 1);
	return length && root[n + length] == ']'
		       ? strndup(root + n + 1, length - 1)
		       : NULL;
}

/* A value that is shown whole, with nothing in it that C writes otherwise. */
static bool statement_is_literal(const char *value)
{
	size_t n = strlen(value);
	return n >= 2 && value[0] == '"' && value[n - 1] == '"' &&
	       !memchr(value + 1, '"', n - 2) && !memchr(value, '\\', n) &&
	       !strstr(value, "…");
}

static struct err *statement_of_variable(const char *name, const char *before,
					 struct statement_code *ret)
{
	for (const char *at = name; *at; at++) {
		if (!isalnum((unsigned char)*at) && *at != '_')
			return NULL;
	}
	if (strcmp(before, "unset") != 0 && !statement_is_literal(before))
		return NULL;
	ret->include = "#include <stdlib.h>";
	return !strcmp(before, "unset")
		       ? str_appendf(&ret->code, "unsetenv(\"%s\");", name)
		       : str_appendf(&ret->code, "setenv(\"%s\", %s, 1);", name,
				     before);
}

struct statement_row {
	const char *root;
	const char *before; /* NULL: any */
	const char *code;   /* %s: the value before */
	const char *include;
	const char *save, *restore, *release;
};

/* clang-format off */
static const struct statement_row rows[] = {
	{ "umask", NULL, "umask(%s);", "#include <sys/stat.h>",
	  NULL, NULL, NULL },
	{ "working-directory", NULL, "if (chdir(\"%s\")) _Exit(1);",
	  "#include <stdlib.h>\n#include <unistd.h>",
	  "char *folder_before = getcwd(NULL, 0);",
	  "chdir(folder_before)", "free(folder_before);" },
	{ "rounding-mode", "to nearest", "fesetround(FE_TONEAREST);",
	  "#include <fenv.h>", NULL, NULL, NULL },
	{ "rounding-mode", "upward", "fesetround(FE_UPWARD);",
	  "#include <fenv.h>", NULL, NULL, NULL },
	{ "rounding-mode", "downward", "fesetround(FE_DOWNWARD);",
	  "#include <fenv.h>", NULL, NULL, NULL },
	{ "rounding-mode", "toward zero", "fesetround(FE_TOWARDZERO);",
	  "#include <fenv.h>", NULL, NULL, NULL },
	{ "random", NULL, "srand(1);", "#include <stdlib.h>",
	  NULL, NULL, NULL },
	{ "getopt", NULL, "optind = 1;", "#include <unistd.h>",
	  NULL, NULL, NULL },
	{ "hsearch", NULL, "hdestroy();", "#include <search.h>",
	  NULL, NULL, NULL },
};
/* clang-format on */

static bool is_harmless(const char *text)
{
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("/._-+ ", *text))
			return false;
	}
	return true;
}

static struct err *statement_of_row(const struct statement_row *row,
				    const char *before,
				    struct statement_code *ret)
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
	ret->release = row->release;
	return NULL;
}

static struct err *statement_of_process(const struct change *change,
					const char *before,
					struct statement_code *ret)
{
	_cleanup_(freep) char *variable =
		statement_bracketed(change->root, "environment");
	_cleanup_(freep) char *category =
		statement_bracketed(change->root, "locale");
	_cleanup_(freep) char *handler =
		statement_bracketed(change->root, "signal-handler");
	if (variable)
		return statement_of_variable(variable, before, ret);
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
			return statement_of_row(&rows[i], before, ret);
	}
	return NULL;
}

static struct err *statement_of_file(const struct change *change,
				     const char *before,
				     struct statement_code *ret)
{
	if (strcmp(before, "absent") != 0 || !is_harmless(change->root))
		return NULL;
	ret->include = "#include <stdio.h>";
	return str_appendf(&ret->code, "remove(\"%s\");", change->root);
}

struct err *statement_of(const struct change *change,
			 struct statement_code *ret)
{
	const char *before = change->n ? change->paths[0].before : NULL;
	if (!before || change->where == CHANGE_MEMORY)
		return NULL;
	return change->where == CHANGE_FILE
		       ? statement_of_file(change, before, ret)
		       : statement_of_process(change, before, ret);
}
