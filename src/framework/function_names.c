#include "framework/function_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/globs.h"
#include "base/log.h"
#include "base/str.h"
#include "native/session.h"

/*
 * Compilers make "test_parse.constprop.0", the whole function for certain
 * arguments. "test_parse.part.0" and "test_parse.cold" are parts of functions,
 * and in "test_parse.isra.0" the result may be missing.
 */
static bool function_names_is_whole(const char *suffix)
{
	static const char *const whole[] = { ".constprop.", ".specialized.",
					     ".lto_priv.", ".llvm." };
	while (*suffix) {
		size_t i = 0, n = 0;
		while (i < ARRAY_SIZE(whole) && !str_starts(suffix, whole[i]))
			i++;
		if (i == ARRAY_SIZE(whole))
			return false;
		suffix += strlen(whole[i]);
		while (suffix[n] >= '0' && suffix[n] <= '9')
			n++;
		if (!n)
			return false;
		suffix += n;
	}
	return true;
}

bool function_names_plain(const char *name, char ret[FUNCTION_NAME_MAX])
{
	size_t n = strcspn(name, ".");
	if (n >= FUNCTION_NAME_MAX || !function_names_is_whole(name + n))
		return false;
	memcpy(ret, name, n);
	ret[n] = '\0';
	return true;
}

/* Of the compiler, of the C library and of clar's modules: never tests. */
static bool function_names_is_never(const char *name)
{
	static const char *const names[] = {
		"main",
		"_start",
		"_init",
		"_fini",
		"frame_dummy",
		"register_tm_clones",
		"deregister_tm_clones",
		"__do_global_dtors_aux",
		"__libc_csu_init",
		"__libc_csu_fini",
		"_dl_relocate_static_pie",
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return str_ends(name, "__initialize") || str_ends(name, "__cleanup");
}

/* "test_setup" is no test where there is a "test_teardown", and so on. */
static bool function_names_is_paired(const struct module *module,
				     const char *name)
{
	static const char *const pairs[][2] = {
		{ "setup", "teardown" },
		{ "teardown", "setup" },
		{ "set_up", "tear_down" },
		{ "tear_down", "set_up" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		char other[FUNCTION_NAME_MAX + 16];
		struct object_symbol symbol;
		if (!str_ends(name, pairs[i][0]))
			continue;
		size_t n = strlen(name) - strlen(pairs[i][0]);
		snprintf(other, sizeof(other), "%.*s%s", (int)n, name,
			 pairs[i][1]);
		if (object_symbol(module->object, other, &symbol) &&
		    symbol.function)
			return true;
	}
	return false;
}

/*
 * Is all that a C++ name needs to match this glob in the symbol? Only such
 * names are taken apart: programs have many. What is certainly in the symbol are
 * the letters of the last identifier before the parameters.
 */
static bool function_names_may_match(const char *glob, const char *symbol)
{
	size_t n = strcspn(glob, "(<"), best = 0, best_n = 0;
	for (size_t i = 0; i < n;) {
		size_t length = 0;
		if (glob[i] == ':')
			best_n = 0;
		if (glob[i] == '[')
			i += strcspn(glob + i, "]");
		while (i + length < n &&
		       (isalnum((unsigned char)glob[i + length]) ||
			glob[i + length] == '_'))
			length++;
		if (length > best_n) {
			best = i;
			best_n = length;
		}
		i += MAX(length, (size_t)1);
	}
	return memmem(symbol, strlen(symbol), glob + best, best_n);
}

static bool function_names_match_cpp(const char *const *globs,
				     const char *symbol)
{
	bool possible = false;
	for (size_t i = 0; globs[i] && !possible; i++)
		possible = globs[i][0] != '!' &&
			   function_names_may_match(globs[i], symbol);
	if (!possible)
		return false;
	_cleanup_(freep) char *name = object_function_name(symbol);
	_cleanup_(freep) char *call = object_function_call(symbol);
	return name && call &&
	       (globs_include(globs, symbol) || globs_include(globs, name) ||
		globs_include(globs, call)) &&
	       !globs_exclude(globs, symbol) && !globs_exclude(globs, name) &&
	       !globs_exclude(globs, call);
}

static bool function_names_match(const char *const *globs,
				 const struct module *module,
				 const struct object_symbol *symbol)
{
	char name[FUNCTION_NAME_MAX];
	if (!symbol->function || symbol->ifunc || !symbol->value ||
	    !function_names_plain(symbol->name, name))
		return false;
	if (str_starts(name, "_Z"))
		return function_names_match_cpp(globs, name);
	return globs_match(globs, name) && !function_names_is_never(name) &&
	       !function_names_is_paired(module, name);
}

static bool function_names_is_searched(const struct module *module)
{
	return module->object && !module->system && module->end;
}

struct function_names_counting {
	const struct module *module;
	const char *const *globs;
	size_t n;
};

static bool function_names_count_symbol(void *data,
					const struct object_symbol *symbol)
{
	struct function_names_counting *counting = data;
	if (function_names_match(counting->globs, counting->module, symbol))
		counting->n++;
	return true;
}

size_t function_names_count(const struct program *program)
{
	struct function_names_counting counting = {
		.globs = session_test_functions(NULL)
	};
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		counting.module = module;
		if (function_names_is_searched(module))
			object_each_symbol(module->object,
					   function_names_count_symbol,
					   &counting);
	}
	return counting.n;
}

bool function_names_is_given(const struct run *run, const char *symbol)
{
	const char *const *globs = session_test_functions(run->session);
	_cleanup_(freep) char *name = object_function_name(symbol);
	for (size_t i = 0; name && globs[i]; i++) {
		if (!strcmp(globs[i], name) || !strcmp(globs[i], symbol))
			return true;
	}
	return false;
}

/*
 * "const char *test_status_name(int)" turns a value into a text. Tests that return
 * their message have no parameters, or get the address of something.
 */
static bool function_names_is_helper(const struct module *module,
				     const struct object_symbol *symbol)
{
	struct object_signature signature;
	if (!object_function_signature(module->object, symbol->value,
				       &signature) ||
	    !signature.returns_pointer || !signature.parameters)
		return false;
	for (unsigned i = 0; i < OBJECT_POINTEES; i++) {
		if (signature.pointees[i])
			return false;
	}
	return true;
}

struct function_names_search {
	struct run *run;
	const struct module *module;
	const char *const *globs;
	function_names_found *found;
	void *data;
	size_t n;
	struct err *err;
};

static bool function_names_visit_symbol(void *data,
					const struct object_symbol *symbol)
{
	struct function_names_search *search = data;
	uint64_t suite;
	if (!function_names_match(search->globs, search->module, symbol) ||
	    map_u64_get(&search->run->session->suites,
			symbol->value + search->module->bias, &suite))
		return true;
	if (function_names_is_helper(search->module, symbol) &&
	    !function_names_is_given(search->run, symbol->name)) {
		log_info("'%s' does not count as a test: it makes a text of "
			 "values",
			 symbol->name);
		return true;
	}
	search->err = search->found(search->data, search->run, search->module,
				    symbol);
	return !search->err && ++search->n < FUNCTION_NAMES_MAX;
}

struct err *function_names_each(struct run *run, function_names_found *found,
				void *data, size_t *ret_n)
{
	struct function_names_search search = {
		.run = run,
		.globs = session_test_functions(run->session),
		.found = found,
		.data = data,
	};
	for (size_t i = 0; i < run->program->modules.n && !search.err; i++) {
		search.module = &run->program->modules.data[i];
		if (function_names_is_searched(search.module))
			object_each_symbol(search.module->object,
					   function_names_visit_symbol,
					   &search);
	}
	*ret_n = search.n;
	return search.err;
}
