#include "watch/roots.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/log.h"
#include "base/str.h"
#include "program/own.h"
#include "tracee/memory.h"

#define HEADERS_MAX 64
#define LINK_MAPS_MAX 4096

/*
 * Variables of the C++ library's headers and of the compiler, by how their names
 * begin. What belongs to test frameworks they say themselves (framework.own).
 */
static const char *const foreign_names[] = {
	"std::", "__gnu_cxx::", "__cxxabiv1::", "__",
	"_IO_",	 "_ZGV",	"_dl_",		"_nl_",
};

/* The same by the source file that a variable is from. */
static const char *const foreign_files[] = {
	"/usr/include/*",
	"/usr/lib/*",
	"/usr/src/*",
};

/* Types of the C library that are never looked into. */
static const char *const foreign_types[] = { "_IO_FILE", "__dirstream" };

struct err *roots_skip_types(const struct framework_own *const *owns,
			     struct container_user_list *list)
{
	struct container_user user = { .shape = "skip" };
	for (size_t i = 0; owns[i]; i++) {
		const char *const *types = owns[i]->types;
		for (size_t j = 0; types && types[j]; j++) {
			user.type = types[j];
			TRY(vec_push(list, user));
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(foreign_types); i++) {
		user.type = foreign_types[i];
		TRY(vec_push(list, user));
	}
	return NULL;
}

struct err *roots_init(struct roots *roots, struct type_pool *pool,
		       const struct framework_own *const *owns,
		       const struct suite_watch *options)
{
	*roots = (struct roots){ .owns = owns,
				 .pool = pool,
				 .cache = options->cache };
	TRY(regexes_add(&roots->include, "--include-roots",
			options->include_roots));
	return regexes_add(&roots->exclude, "--exclude-roots",
			   options->exclude_roots);
}

void roots_free(struct roots *roots)
{
	for (size_t i = 0; i < roots->files.n; i++)
		index_destroy(roots->files.data[i].index);
	vec_free(&roots->files);
	regexes_free(&roots->include);
	regexes_free(&roots->exclude);
	vec_free(&roots->all);
	vec_free(&roots->places);
	vec_free(&roots->vtables);
	map_text_free(&roots->untyped_names);
}

/* ---- thread-locals ---- */

/* Distance from a module's TLS block up to the thread pointer, at start-up. */
static bool tls_of_executable(struct tracee *tracee,
			      const struct module *module, uint64_t *ret)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) headers[HEADERS_MAX];
	if (memory_read_some(tracee, RADDR(module->start), &header,
			     sizeof(header)) != sizeof(header) ||
	    header.e_phentsize != sizeof(headers[0]))
		return false;
	size_t n = MIN((size_t)header.e_phnum, (size_t)HEADERS_MAX);
	size_t got =
		memory_read_some(tracee, RADDR(module->start + header.e_phoff),
				 headers, n * sizeof(headers[0]));
	for (size_t i = 0; i < got / sizeof(headers[0]); i++) {
		if (headers[i].p_type != PT_TLS)
			continue;
		uint64_t align = MAX(headers[i].p_align, (ElfW(Xword))1);
		*ret = (headers[i].p_memsz + align - 1) / align * align;
		return true;
	}
	return false;
}

/*
 * glibc tells debuggers where a link_map has its TLS offset: size, number and
 * position of the member, in three words (nptl_db).
 */
static bool member_position(const struct program *program,
			    struct tracee *tracee, const char *name,
			    uint32_t *ret)
{
	struct raddr at;
	uint32_t words[3];
	if (!program_symbol(program, name, &at) ||
	    memory_read_some(tracee, at, words, sizeof(words)) != sizeof(words))
		return false;
	*ret = words[2];
	return words[2] < 65536;
}

static bool tls_of_library(const struct program *program, struct tracee *tracee,
			   const struct module *module, uint64_t *ret)
{
	uint32_t position;
	struct raddr debug;
	uint64_t map, offset;
	if (!member_position(program, tracee,
			     "_thread_db_link_map_l_tls_offset", &position) ||
	    !program_symbol(program, "_r_debug", &debug) ||
	    memory_read_some(tracee, raddr_add(debug, 8), &map, 8) != 8)
		return false;
	for (size_t i = 0; map && i < LINK_MAPS_MAX; i++) {
		/* l_addr, l_name, l_ld, l_next */
		uint64_t link[4];
		if (memory_read_some(tracee, RADDR(map), link, sizeof(link)) !=
		    sizeof(link))
			return false;
		if (link[0] == module->bias) {
			if (memory_read_some(tracee, RADDR(map + position),
					     &offset, 8) != 8 ||
			    offset + 1 <= 1)
				return false; /* not there at start-up */
			*ret = offset;
			return true;
		}
		map = link[3];
	}
	return false;
}

static bool tls_block(const struct program *program, struct thread *thread,
		      const struct module *module, uint64_t *ret)
{
	uint64_t pointer = regs_thread_pointer(&thread->regs).v, distance;
	bool found =
		module == &program->modules.data[0]
			? tls_of_executable(thread->tracee, module, &distance)
			: tls_of_library(program, thread->tracee, module,
					 &distance);
	if (!found || !pointer)
		return false;
	*ret = pointer - distance;
	return true;
}

/* ---- choosing ---- */

/* Whose it is, for the log; NULL: the program's own. */
static const char *roots_foreign_owner(const struct roots *roots,
				       const struct variable *variable,
				       const char *unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign_names); i++) {
		if (str_starts(variable->name, foreign_names[i]))
			return "the compiler or the C++ library";
	}
	for (size_t i = 0; i < ARRAY_SIZE(foreign_files); i++) {
		if ((variable->file &&
		     str_glob(foreign_files[i], variable->file)) ||
		    (unit && str_glob(foreign_files[i], unit)))
			return "the system";
	}
	const struct framework_own *own = own_of_variable(
		roots->owns, variable->name, variable->file, unit);
	return own ? own->title : NULL;
}

static bool roots_want_variable(const struct roots *roots,
				const struct variable *variable,
				const char *unit)
{
	if (regexes_match(&roots->exclude, variable->name)) {
		log_debug(LOG_WATCH, "root '%s' left out: --exclude-roots",
			  variable->name);
		return false;
	}
	if (roots->include.n)
		return regexes_match(&roots->include, variable->name);
	const char *owner = roots_foreign_owner(roots, variable, unit);
	if (owner)
		log_debug(LOG_WATCH, "root '%s' left out: it belongs to %s",
			  variable->name, owner);
	return !owner;
}

/*
 * A variable of a library that the executable refers to directly lies in the
 * executable (copy relocation), which knows nothing but its name and size; the
 * library's own is dead.
 */
static const struct variable *
roots_find_original(const struct roots *roots,
		    const struct index_variables *own,
		    const struct variable *copy)
{
	for (size_t i = 0; i < roots->files.n; i++) {
		const struct index_variables *index =
			roots->files.data[i].index;
		if (index == own)
			continue;
		for (size_t j = 0; j < index->variables.n; j++) {
			const struct variable *variable =
				&index->variables.data[j];
			if (!(variable->flags & (VARIABLE_LOCAL | VARIABLE_TLS |
						 VARIABLE_UNTYPED)) &&
			    !strcmp(variable->name, copy->name))
				return variable;
		}
	}
	return NULL;
}

/* Is this the dead one? */
static bool is_copied(const struct roots *roots,
		      const struct index_variables *own,
		      const struct variable *variable)
{
	const struct index_variables *executable = roots->files.data[0].index;
	if (own == executable ||
	    variable->flags & (VARIABLE_LOCAL | VARIABLE_TLS))
		return false;
	uint64_t known;
	return map_text_get(&roots->untyped_names, variable->name, &known);
}

/* The executable's variables of which only the name is known. */
static struct err *note_untyped(struct roots *roots)
{
	map_text_free(&roots->untyped_names);
	if (!roots->files.n)
		return NULL;
	const struct index_variables *executable = roots->files.data[0].index;
	for (size_t i = 0; i < executable->variables.n; i++) {
		const struct variable *variable =
			&executable->variables.data[i];
		if (variable->flags & VARIABLE_UNTYPED)
			TRY(map_text_put(&roots->untyped_names, variable->name,
					 1));
	}
	return NULL;
}

static struct err *add_variables(struct roots *roots,
				 const struct program *program,
				 struct thread *thread,
				 const struct module *module,
				 const struct index_variables *index)
{
	uint64_t tls = 0;
	bool has_tls = tls_block(program, thread, module, &tls);
	for (size_t i = 0; i < index->variables.n; i++) {
		const struct variable *variable = &index->variables.data[i];
		const char *unit = variable->unit < index->units.n
					   ? index->units.data[variable->unit]
					   : NULL;
		if (!variable->size ||
		    !roots_want_variable(roots, variable, unit) ||
		    is_copied(roots, index, variable))
			continue;
		const struct variable *known = variable;
		/*
		 * Where there is debug information, what it does not know is
		 * not the project's: parts of the C library, say.
		 */
		if (variable->flags & VARIABLE_UNTYPED) {
			known = roots_find_original(roots, index, variable);
			if (!known && (index->debug || !roots->dynamic))
				continue;
			if (!known)
				known = variable;
		}
		bool local = variable->flags & VARIABLE_TLS;
		if (local && !has_tls)
			continue;
		struct state_root root = {
			.name = variable->name,
			.address = variable->address +
				   (local ? tls : module->bias),
			.size = variable->size,
			.type = known->type,
			.module = module->bias,
		};
		if (variable->guard)
			root.guard = variable->guard +
				     (local ? tls - 1 : module->bias);
		struct root_place place = { known->file, known->line };
		TRY(vec_push(&roots->all, root));
		TRY(vec_push(&roots->places, place));
	}
	for (size_t i = 0; i < index->vtables.n; i++) {
		const struct vtable *vtable = &index->vtables.data[i];
		struct state_vtable loaded = {
			.start = vtable->address + module->bias,
			.end = vtable->address + vtable->size + module->bias,
			.type = vtable->type,
		};
		TRY(vec_push(&roots->vtables, loaded));
	}
	return NULL;
}

static bool is_project(const struct module *module)
{
	return !module->system && module->object && module->end;
}

static struct err *file_index(struct roots *roots, const struct module *module,
			      struct index_variables **ret)
{
	for (size_t i = 0; i < roots->files.n; i++) {
		if (roots->files.data[i].object == module->object) {
			*ret = roots->files.data[i].index;
			return NULL;
		}
	}
	struct roots_file file = { .object = module->object };
	TRY(index_load(module->object, roots->cache, roots->pool, &file.index));
	struct err *err = vec_push(&roots->files, file);
	if (err) {
		index_destroy(file.index);
		return err;
	}
	*ret = file.index;
	return NULL;
}

struct err *roots_load(struct roots *roots, const struct program *program,
		       struct thread *thread)
{
	roots->all.n = roots->places.n = roots->vtables.n = 0;
	roots->untyped = 0;
	roots->stripped = NULL;
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		struct index_variables *index = NULL;
		if (!is_project(module))
			continue;
		TRY(err_prefix(file_index(roots, module, &index), "'%s'",
			       module->path));
		BUG_ON(!index);
		bool named = object_facts(module->object)->symtab;
		roots->untyped += !index->debug && named;
		if (!index->debug && !named && !roots->stripped)
			roots->stripped = module;
	}
	TRY(note_untyped(roots));
	roots->dynamic = program->modules.n &&
			 program->modules.data[0].object &&
			 object_facts(program->modules.data[0].object)->dynamic;
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		struct index_variables *index = NULL;
		if (!is_project(module))
			continue;
		TRY(file_index(roots, module, &index));
		TRY(add_variables(roots, program, thread, module, index));
	}
	if (roots->vtables.n)
		qsort(roots->vtables.data, roots->vtables.n,
		      sizeof(struct state_vtable), compare_as_u64);
	log_info("%zu roots in %zu files", roots->all.n, roots->files.n);
	return NULL;
}
