/* Candidates that put process state, files and visible variables back. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/value_kind.h"
#include "finding/statement.h"
#include "repair/candidates.h"

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
				 struct statement_code *ret)
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

static struct err *add_statement(const struct change *change,
				 struct statement_code *statement,
				 struct candidate_list *ret)
{
	/* A reset function is the better way to put a variable back. */
	struct repair_candidate candidate = {
		.template = true,
		.score = change->where == CHANGE_MEMORY ? 30 : 0,
		.code = str_take(&statement->code),
	};
	struct err *err = candidate.code ? NULL : err_nomem();
	if (!err)
		err = str_copy(statement->include, &candidate.include);
	if (!err)
		err = str_copy(statement->save, &candidate.save);
	if (!err)
		err = str_copy(statement->restore, &candidate.restore);
	if (!err)
		err = str_copy(statement->release, &candidate.release);
	if (!err)
		err = vec_push(ret, candidate);
	if (err)
		candidate_free(&candidate);
	return err;
}

struct err *candidates_from_state(const struct candidate_input *input,
				  struct candidate_list *ret)
{
	for (size_t i = 0; i < input->bench->n; i++) {
		const struct change *change = &input->bench->roots[i];
		_cleanup_(statement_freep) struct statement_code statement = {};
		bool memory = change->where == CHANGE_MEMORY;
		if (!input->polluted[i])
			continue;
		TRY(memory ? variable_code(change, &statement)
			   : statement_of(change, &statement));
		if (memory && statement.code.n && change->n >= KEPT_FROM)
			TRY(add_kept_variable(input, change, statement.code.s,
					      ret));
		if (statement.code.n)
			TRY(add_statement(change, &statement, ret));
	}
	return NULL;
}
