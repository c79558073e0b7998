#include "program/own.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "program/program.h"

bool own_is_present(const struct program *program,
		    const struct framework_own *own)
{
	struct raddr at;
	for (size_t i = 0; own->symbols && own->symbols[i]; i++) {
		if (program_symbol(program, own->symbols[i], &at))
			return true;
	}
	return false;
}

/* ---- source files ---- */

static struct err *own_add_file(struct own_found *found, const char *file)
{
	for (size_t i = 0; i < found->files.n; i++) {
		if (!strcmp(found->files.data[i], file))
			return NULL;
	}
	return vec_push(&found->files, file);
}

/* Where the project's own files define the framework. */
static struct err *own_find_files(const struct program *program,
				  const char *symbol, struct own_found *found)
{
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		struct object_symbol defined;
		const char *file;
		unsigned line;
		if (module->system || !module->end || !module->object ||
		    !object_symbol(module->object, symbol, &defined))
			continue;
		if (object_function_place(module->object, defined.value, &file,
					  &line))
			TRY(own_add_file(found, file));
	}
	return NULL;
}

static struct err *own_find_one(const struct program *program,
				const struct framework_own *own,
				struct own_present *present)
{
	struct own_found found = { .own = own };
	struct err *err = NULL;
	for (size_t i = 0; !err && own->symbols[i]; i++)
		err = own_find_files(program, own->symbols[i], &found);
	if (!err)
		err = vec_push(&present->all, found);
	if (err)
		vec_free(&found.files);
	return err;
}

struct err *own_find(const struct program *program, struct own_present *ret)
{
	own_present_free(ret);
	for (size_t i = 0; program->owns[i]; i++) {
		if (own_is_present(program, program->owns[i]))
			TRY(own_find_one(program, program->owns[i], ret));
	}
	return NULL;
}

void own_present_free(struct own_present *present)
{
	for (size_t i = 0; i < present->all.n; i++)
		vec_free(&present->all.data[i].files);
	vec_free(&present->all);
}

/* ---- variables ---- */

static bool own_entry_fits(const char *entry,
			   const struct own_variable *variable)
{
	size_t n = strlen(entry);
	if (*entry == '*')
		return str_ends(variable->name, entry + 1);
	if (n && entry[n - 1] == '$')
		return strlen(variable->name) == n - 1 &&
		       !strncmp(variable->name, entry, n - 1);
	return (variable->untyped || strstr(entry, "::")) &&
	       str_starts(variable->name, entry);
}

static bool own_has_name(const struct framework_own *own,
			 const struct own_variable *variable)
{
	const char *const *entries = own->variables;
	for (; entries && *entries; entries++) {
		if (own_entry_fits(*entries, variable))
			return true;
	}
	return false;
}

bool own_is_made(const struct framework_own *own, const char *name)
{
	const char *const *entries = own->variables;
	for (; entries && *entries; entries++) {
		if (**entries == '*' && str_ends(name, *entries + 1))
			return true;
	}
	return false;
}

static bool own_is_beside(const struct framework_own *own, const char *known,
			  const char *file)
{
	const char *name = path_base(file);
	size_t folder = (size_t)(name - file);
	if ((size_t)(path_base(known) - known) != folder ||
	    strncmp(known, file, folder) != 0)
		return false;
	for (size_t i = 0; own->beside && own->beside[i]; i++) {
		if (str_glob(own->beside[i], name))
			return true;
	}
	return false;
}

static bool own_has_file(const struct own_found *found, const char *file)
{
	for (size_t i = 0; file && i < found->files.n; i++) {
		const char *known = found->files.data[i];
		if (!strcmp(known, file) ||
		    own_is_beside(found->own, known, file))
			return true;
	}
	return false;
}

const struct framework_own *own_of_variable(const struct own_present *present,
					    const struct own_variable *variable)
{
	for (size_t i = 0; i < present->all.n; i++) {
		const struct own_found *found = &present->all.data[i];
		if (own_has_name(found->own, variable) ||
		    own_has_file(found, variable->file) ||
		    own_has_file(found, variable->unit))
			return found->own;
	}
	return NULL;
}
