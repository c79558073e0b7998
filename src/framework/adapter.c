#include "framework/adapter.h"

#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "native/framework.h"
#include "native/session.h"
#include "program/place.h"

static const char *adapter_title(const struct run *run)
{
	return run->framework->own.title;
}

static uint64_t adapter_find_member(const struct run *run,
				    const struct adapter_member *row)
{
	uint64_t at = row->member ? program_member(run->program, row->type,
						   row->member, row->known)
				  : program_type_size(run->program, row->type,
						      row->known);
	if (at != row->known)
		log_debug(LOG_FRAMEWORK, "%s: %s of %s is %llu here, not %llu",
			  adapter_title(run),
			  row->member ? row->member : "size", row->type,
			  (unsigned long long)at,
			  (unsigned long long)row->known);
	return at;
}

bool adapter_find_members(const struct run *run,
			  const struct adapter_member *rows, size_t n)
{
	size_t elsewhere = 0;
	for (size_t i = 0; i < n; i++) {
		*rows[i].at = adapter_find_member(run, &rows[i]);
		elsewhere += *rows[i].at != rows[i].known;
		if (*rows[i].at < rows[i].end)
			continue;
		adapter_reset_members(run, rows, n);
		return false;
	}
	log_debug(LOG_FRAMEWORK,
		  "%s: %zu of %zu members are elsewhere than known",
		  adapter_title(run), elsewhere, n);
	return true;
}

void adapter_reset_members(const struct run *run,
			   const struct adapter_member *rows, size_t n)
{
	log_debug(LOG_FRAMEWORK,
		  "%s: debug information makes no sense and is not used",
		  adapter_title(run));
	for (size_t i = 0; i < n; i++)
		*rows[i].at = rows[i].known;
}

struct adapter_part_search {
	struct run *run;
	const char *const *symbols;
	size_t n;
	run_hook *hook;
	uint64_t bias;
	size_t found;
	struct err *err;
};

static bool adapter_is_part(const char *rest)
{
	static const char *const kinds[] = { ".part.", ".isra.", ".constprop.",
					     ".lto_priv." };
	if (!*rest)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (str_starts(rest, kinds[i]))
			return !strstr(rest, ".cold");
	}
	return false;
}

static bool adapter_visit_part(void *data, const struct object_symbol *symbol)
{
	struct adapter_part_search *search = data;
	for (size_t i = 0; symbol->function && i < search->n; i++) {
		if (!str_starts(symbol->name, search->symbols[i]) ||
		    !adapter_is_part(symbol->name + strlen(search->symbols[i])))
			continue;
		search->found++;
		search->err = run_break(search->run,
					RADDR(symbol->value + search->bias),
					search->hook, 0);
	}
	return !search->err;
}

struct err *adapter_break_parts(struct run *run, const char *const *symbols,
				size_t n, run_hook *hook, size_t *ret_found)
{
	struct adapter_part_search search = {
		.run = run, .symbols = symbols, .n = n, .hook = hook
	};
	for (size_t i = 0; i < run->program->modules.n; i++) {
		const struct module *module = &run->program->modules.data[i];
		if (!module->end || !module->object)
			continue;
		search.bias = module->bias;
		object_each_symbol(module->object, adapter_visit_part, &search);
		TRY(search.err);
	}
	if (ret_found)
		*ret_found = search.found;
	return NULL;
}

struct err *adapter_unknown_version(const struct run *run, const char *what)
{
	log_debug(LOG_FRAMEWORK, "%s: %s", adapter_title(run), what);
	return err_create(ERR_SUITE, "unsupported version of %s",
			  adapter_title(run));
}

struct err *adapter_function_missing(const struct run *run, const char *symbol,
				     const char *hint)
{
	log_debug(LOG_FRAMEWORK, "%s: the program has no %s",
		  adapter_title(run), symbol);
	return err_hint(err_create(ERR_SUITE,
				   "%s's own functions are missing from the "
				   "program",
				   adapter_title(run)),
			"%s", hint);
}

bool adapter_runs_naturally(const struct run *run)
{
	if (!run_in_sequence(run))
		return false;
	size_t at = RUN_NONE, n = run_tests(run);
	for (size_t i = 0; i < run->n; i++) {
		size_t test = run->order[i];
		if (run_disabled(run, test))
			continue;
		if (at == RUN_NONE)
			at = test;
		while (at < n && run_disabled(run, at))
			at++;
		if (test != at)
			return false;
		at++;
	}
	while (at < n && run_disabled(run, at))
		at++;
	return at == n;
}

bool adapter_has_argument(const struct run *run, const char *argument)
{
	char *const *argv = run->session->suite.options.argv;
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		if (!strcmp(argv[i], argument))
			return true;
	}
	return false;
}

struct err *adapter_find_place(struct run *run, struct thread *thread,
			       char **ret_file, unsigned *ret_line)
{
	_cleanup_(freep) char *function = NULL;
	TRY(thread_store(thread)); /* the stack is read from the process */
	return place_find(run->program, run->tracee, thread->tid, ret_file,
			  ret_line, &function);
}
