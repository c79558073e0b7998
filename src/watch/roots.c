#include "watch/roots.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "program/own.h"
#include "tracee/memory.h"

#define HEADERS_MAX 64
#define LINK_MAPS_MAX 4096
/* A number, or a text; of what has no type, std::string is the largest. */
#define FLAG_SIZE 64
#define UNTYPED_FLAG_SIZE 32

/*
 * Variables of the C++ library and of the compiler, by how their names begin:
 * where no file of the project's declares them.
 */
static const char *const foreign_names[] = {
	"std::", "__gnu_cxx::", "__cxxabiv1::", "__",
	"_IO_",	 "_ZGV",	"_dl_",		"_nl_",
};

/* Source files that are the system's or the C++ library's. */
static const char *const foreign_files[] = {
	"/usr/include/*",
	"/usr/lib/*",
	"*/include/c++/*",
};

/* Types of the C library that are never looked into. */
static const char *const foreign_types[] = { "_IO_FILE", "__dirstream" };

struct err *roots_skip_types(const struct program *program,
			     struct container_user_list *list)
{
	struct container_user user = { .shape = "skip" };
	for (size_t i = 0; program->owns[i]; i++) {
		const char *const *types = program->owns[i]->types;
		if (!own_is_present(program, program->owns[i]))
			continue;
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
		       const struct suite_watch *options)
{
	*roots = (struct roots){ .pool = pool,
				 .cache = options->cache,
				 .everything = options->everything };
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
	own_present_free(&roots->present);
	vec_free(&roots->left_out);
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

static bool roots_is_foreign_file(const char *file)
{
	for (size_t i = 0; file && i < ARRAY_SIZE(foreign_files); i++) {
		if (str_glob(foreign_files[i], file))
			return true;
	}
	return false;
}

static bool roots_is_foreign_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign_names); i++) {
		if (str_starts(name, foreign_names[i]))
			return true;
	}
	return false;
}

/* Objects of these types are never looked into (roots_skip_types()). */
static const struct framework_own *
roots_owner_of_type(const struct roots *roots, const struct variable *variable)
{
	const char *name = variable->type
				   ? type_get(roots->pool, variable->type)->name
				   : NULL;
	for (size_t i = 0; name && i < roots->present.all.n; i++) {
		const struct framework_own *own =
			roots->present.all.data[i].own;
		for (size_t j = 0; own->types && own->types[j]; j++) {
			if (str_glob(own->types[j], name))
				return own;
		}
	}
	return NULL;
}

/*
 * Of a framework's variables only those that tests may set, such as flags, can be
 * restored: it would lose track of its tests.
 */
static bool roots_is_flag(const struct variable *variable)
{
	return variable->size <= (variable->flags & VARIABLE_UNTYPED
					  ? UNTYPED_FLAG_SIZE
					  : FLAG_SIZE);
}

/* Whose it is, if it is not the program's own. */
static bool roots_is_foreign(const struct roots *roots,
			     const struct variable *variable, const char *unit,
			     struct root_left_out *ret)
{
	const struct own_variable asked = {
		.name = variable->name,
		.file = variable->file,
		.unit = unit,
		.untyped = variable->flags & VARIABLE_UNTYPED,
	};
	if (!variable->file && roots_is_foreign_name(variable->name)) {
		ret->why = "of the compiler or the C++ library";
		return true;
	}
	const struct framework_own *own =
		own_of_variable(&roots->present, &asked);
	if (roots->everything && (!own || roots_is_flag(variable)))
		return false;
	if (own || (own = roots_owner_of_type(roots, variable)))
		ret->owner = own;
	else if (roots_is_foreign_file(variable->file) ||
		 roots_is_foreign_file(unit))
		ret->why = "of system headers";
	return ret->owner || ret->why;
}

static bool roots_is_left_out(const struct roots *roots,
			      const struct variable *variable, const char *unit,
			      struct root_left_out *ret)
{
	if (regexes_match(&roots->exclude, variable->name)) {
		ret->why = "excluded by --exclude-roots";
		return true;
	}
	if (!roots->include.n)
		return roots_is_foreign(roots, variable, unit, ret);
	if (regexes_match(&roots->include, variable->name))
		return false;
	ret->why = "not in --include-roots";
	return true;
}

static struct err *roots_leave_out(struct roots *roots,
				   const struct root_left_out *left)
{
	log_debug(LOG_WATCH, "root '%s' left out: %s%s", left->name,
		  left->owner ? "of " : left->why,
		  left->owner ? left->owner->title : "");
	return vec_push(&roots->left_out, *left);
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

/* What is known of it; NULL: it is left out, @left says why. */
static const struct variable *roots_choose(const struct roots *roots,
					   const struct index_variables *index,
					   const struct variable *variable,
					   struct root_left_out *left)
{
	bool untyped = variable->flags & VARIABLE_UNTYPED;
	const struct variable *known = NULL;
	if (untyped && !roots_is_foreign_name(variable->name))
		known = roots_find_original(roots, index, variable);
	bool copy = known;
	if (!known)
		known = variable;
	const char *unit = !copy && variable->unit < index->units.n
				   ? index->units.data[variable->unit]
				   : NULL;
	if (roots_is_left_out(roots, known, unit, left))
		return NULL;
	/*
	 * Where there is debug information, what it does not know is not the
	 * project's: parts of the C library, say.
	 */
	if (untyped && !copy && !roots->everything &&
	    (index->debug || !roots->dynamic)) {
		left->why = "without debug information";
		return NULL;
	}
	return known;
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
		struct root_left_out left = { .name = variable->name };
		bool local = variable->flags & VARIABLE_TLS;
		if (!variable->size || is_copied(roots, index, variable))
			continue;
		const struct variable *known =
			roots_choose(roots, index, variable, &left);
		if (known && local && !has_tls)
			left.why = "thread-locals of unknown place";
		if (!local || has_tls) {
			left.address = variable->address +
				       (local ? tls : module->bias);
			left.size = variable->size;
		}
		if (!known || left.why) {
			TRY(roots_leave_out(roots, &left));
			continue;
		}
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

/* A framework's, wherever it is installed. */
static bool roots_is_framework_library(const struct roots *roots,
				       const struct module *module)
{
	for (size_t i = 0; i < roots->present.all.n; i++) {
		const char *const *names =
			roots->present.all.data[i].own->libraries;
		for (; names && *names; names++) {
			if (str_starts(path_base(module->path), *names))
				return true;
		}
	}
	return false;
}

static bool roots_has_module(const struct roots *roots,
			     const struct module *module)
{
	return module->object && module->end &&
	       (!module->system || (roots->everything &&
				    roots_is_framework_library(roots, module)));
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

static void roots_sort_left_out(struct roots *roots)
{
	uint64_t reach = 0;
	if (roots->left_out.n)
		qsort(roots->left_out.data, roots->left_out.n,
		      sizeof(struct root_left_out), compare_as_u64);
	for (size_t i = 0; i < roots->left_out.n; i++) {
		struct root_left_out *left = &roots->left_out.data[i];
		reach = MAX(reach, left->address + left->size);
		left->reach = reach;
	}
}

struct err *roots_load(struct roots *roots, const struct program *program,
		       struct thread *thread)
{
	roots->all.n = roots->places.n = roots->vtables.n = 0;
	roots->left_out.n = 0;
	TRY(own_find(program, &roots->present));
	roots->untyped = 0;
	roots->stripped = NULL;
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		struct index_variables *index = NULL;
		if (!roots_has_module(roots, module))
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
		if (!roots_has_module(roots, module))
			continue;
		TRY(file_index(roots, module, &index));
		TRY(add_variables(roots, program, thread, module, index));
	}
	roots_sort_left_out(roots);
	if (roots->vtables.n)
		qsort(roots->vtables.data, roots->vtables.n,
		      sizeof(struct state_vtable), compare_as_u64);
	log_debug(LOG_WATCH, "%zu roots in %zu files, %zu variables left out",
		  roots->all.n, roots->files.n, roots->left_out.n);
	return NULL;
}
