#include "program/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/str.h"
#include "tracee/memory.h"
#include "wire/heap.h"

#define MODULES_MAX 4096
#define HEADERS_MAX 64
#define DYNAMIC_MAX 512

struct err *program_create(const struct framework_own *const *owns,
			   struct program **ret)
{
	struct program *program = calloc(1, sizeof(*program));
	if (!program)
		return err_nomem();
	program->owns = owns;
	*ret = program;
	return NULL;
}

void program_destroy(struct program *program)
{
	if (!program)
		return;
	for (size_t i = 0; i < program->modules.n; i++) {
		object_close(program->modules.data[i].object);
		free(program->modules.data[i].path);
	}
	vec_free(&program->modules);
	vec_free(&program->runner_spans);
	free(program);
}

bool program_is_runners(const struct program *program, uint64_t address,
			uint64_t size)
{
	for (size_t i = 0; i < program->runner_spans.n; i++) {
		const struct program_span *span =
			&program->runner_spans.data[i];
		if (size && address >= span->start && address < span->end &&
		    size <= span->end - address)
			return true;
	}
	return false;
}

/* Folders where distributions put what is not the user's own; our agents. */
static bool is_system_path(const char *path)
{
	static const char *const folders[] = {
		"/lib/",       "/lib64/",	"/usr/lib/",
		"/usr/lib64/", "/usr/libexec/", "[",
	};
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (str_starts(path, folders[i]))
			return true;
	}
	return str_ends(path, "/libpolygraph-agent.so") ||
	       str_ends(path, "/libpolygraph-choices.so");
}

/* The mapping of a file's beginning: its headers tell the bias. */
static bool find_bias(struct tracee *tracee, uint64_t start, uint64_t *ret)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) headers[HEADERS_MAX];
	if (memory_read_some(tracee, RADDR(start), &header, sizeof(header)) !=
		    sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_phentsize != sizeof(headers[0]))
		return false;
	size_t n = MIN((size_t)header.e_phnum, (size_t)HEADERS_MAX);
	size_t got = memory_read_some(tracee, RADDR(start + header.e_phoff),
				      headers, n * sizeof(headers[0]));
	for (size_t i = 0; i < got / sizeof(headers[0]); i++) {
		if (headers[i].p_type == PT_LOAD) {
			*ret = start - (headers[i].p_vaddr & ~(uint64_t)4095) +
			       (headers[i].p_offset & ~(uint64_t)4095);
			return true;
		}
	}
	return false;
}

static struct err *add_module(struct program *program, const char *path,
			      struct tracee *tracee, uint64_t start,
			      uint64_t end)
{
	for (size_t i = 0; i < program->modules.n; i++) {
		struct module *known = &program->modules.data[i];
		if (strcmp(known->path, path) != 0)
			continue;
		if (!known->end) {
			known->start = start;
			if (!find_bias(tracee, start, &known->bias))
				known->bias = start;
		}
		known->end = end;
		return NULL;
	}
	uint64_t bias;
	if (program->modules.n >= MODULES_MAX ||
	    !find_bias(tracee, start, &bias))
		return NULL;
	struct module module = {
		.bias = bias,
		.start = start,
		.end = end,
		.system = is_system_path(path),
	};
	module.path = strdup(path);
	if (!module.path)
		return err_nomem();
	struct err *err = vec_push(&program->modules, module);
	if (err) {
		free(module.path);
		return err;
	}
	struct module *added = &program->modules.data[program->modules.n - 1];
	log_debug(LOG_PROGRAM, "%s at 0x%llx%s", path, (unsigned long long)bias,
		  added->system ? " (system)" : "");
	err_ignore(added->system ? object_open_exported(path, &added->object)
				 : object_open(path, &added->object));
	return NULL;
}

struct err *program_load(struct program *program, struct tracee *tracee)
{
	char path[64];
	for (size_t i = 0; i < program->modules.n; i++)
		program->modules.data[i].end = 0;

	/* The executable comes first, whatever is below it in memory. */
	char executable[4096];
	snprintf(path, sizeof(path), "/proc/%d/exe", tracee_pid(tracee));
	ssize_t n = readlink(path, executable, sizeof(executable) - 1);
	executable[n > 0 ? n : 0] = '\0';

	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	TRY(proc_read_maps(tracee_pid(tracee), &maps));
	for (int others = 0; others < 2; others++) {
		for (size_t i = 0; i < maps.n; i++) {
			const struct proc_mapping *mapping = &maps.data[i];
			bool other = strcmp(mapping->path, executable) != 0;
			if (mapping->path[0] == '/' && other == others)
				TRY(add_module(program, mapping->path, tracee,
					       mapping->start, mapping->end));
		}
	}
	return NULL;
}

bool program_symbol_in(const struct program *program, const char *name,
		       struct raddr *ret, const struct module **ret_module)
{
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		struct object_symbol symbol;
		if (!module->end || !module->object ||
		    !object_symbol(module->object, name, &symbol))
			continue;
		*ret = RADDR(symbol.value + module->bias);
		if (ret_module)
			*ret_module = module;
		return true;
	}
	return false;
}

bool program_symbol(const struct program *program, const char *name,
		    struct raddr *ret)
{
	return program_symbol_in(program, name, ret, NULL);
}

struct prefix_search {
	const char *prefix;
	bool found;
	struct object_symbol symbol;
};

static bool visit_prefix(void *data, const struct object_symbol *symbol)
{
	struct prefix_search *search = data;
	if (!symbol->function || !str_starts(symbol->name, search->prefix) ||
	    strchr(symbol->name, '.'))
		return true;
	search->symbol = *symbol;
	search->found = true;
	return false;
}

bool program_function_starting(const struct program *program,
			       const char *prefix, struct raddr *ret,
			       const char **ret_name)
{
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		struct prefix_search search = { .prefix = prefix };
		if (!module->end || !module->object)
			continue;
		object_each_symbol(module->object, visit_prefix, &search);
		if (!search.found)
			continue;
		*ret = RADDR(search.symbol.value + module->bias);
		if (ret_name)
			*ret_name = search.symbol.name;
		return true;
	}
	return false;
}

bool program_uses(const struct program *program, const char *name)
{
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		struct object_symbol symbol;
		if (!module->end || !module->object || module->system)
			continue;
		if (object_symbol(module->object, name, &symbol) ||
		    object_imports(module->object, name))
			return true;
	}
	return false;
}

bool program_uses_any(const struct program *program, const char *const *names,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (program_uses(program, names[i]))
			return true;
	}
	return false;
}

uint64_t program_agent_heap(const struct program *program)
{
	struct raddr heap;
	return program_symbol(program, WIRE_HEAP_SYMBOL, &heap) ? heap.v : 0;
}

const struct module *program_module(const struct program *program,
				    struct raddr address)
{
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		if (address.v >= module->start && address.v < module->end)
			return module;
	}
	return NULL;
}

bool program_name_at(const struct program *program, struct raddr address,
		     char *out, size_t n)
{
	const struct module *module = program_module(program, address);
	struct object_symbol symbol;
	if (!module || !module->object ||
	    !object_symbol_at(module->object, address.v - module->bias,
			      &symbol))
		return false;
	_cleanup_(freep) char *plain = object_plain_name(symbol.name);
	uint64_t more = address.v - module->bias - symbol.value;
	if (more)
		snprintf(out, n, "%s+%llu", plain ? plain : symbol.name,
			 (unsigned long long)more);
	else
		snprintf(out, n, "%s", plain ? plain : symbol.name);
	return true;
}

bool program_function_place(const struct program *program, struct raddr address,
			    const char **ret_file, unsigned *ret_line)
{
	const struct module *module = program_module(program, address);
	return module && module->object &&
	       object_function_place(module->object, address.v - module->bias,
				     ret_file, ret_line);
}

bool program_line(const struct program *program, struct raddr address,
		  const char **ret_file, unsigned *ret_line)
{
	const struct module *module = program_module(program, address);
	return module && module->object &&
	       object_line(module->object, address.v - module->bias, ret_file,
			   ret_line);
}

uint64_t program_member(const struct program *program, const char *type,
			const char *member, uint64_t fallback)
{
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		uint64_t offset;
		if (module->end && module->object && !module->system &&
		    object_member_offset(module->object, type, member, &offset))
			return offset;
	}
	return fallback;
}

uint64_t program_type_size(const struct program *program, const char *type,
			   uint64_t fallback)
{
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		uint64_t size;
		if (module->end && module->object && !module->system &&
		    object_type_size(module->object, type, &size))
			return size;
	}
	return fallback;
}

static bool program_auxiliary_value(struct tracee *tracee, uint64_t type,
				    uint64_t *ret)
{
	_cleanup_(closep) int fd =
		proc_open(tracee_pid(tracee), 0, "auxv", O_RDONLY);
	Elf64_auxv_t entries[64];
	ssize_t n = fd < 0 ? -1 : read(fd, entries, sizeof(entries));
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(entries[0]); i++) {
		if (entries[i].a_type == type) {
			*ret = entries[i].a_un.a_val;
			return true;
		}
	}
	return false;
}

struct err *program_entry(struct tracee *tracee, struct raddr *ret)
{
	if (!program_auxiliary_value(tracee, AT_ENTRY, &ret->v))
		return err_create(ERR_INTERNAL,
				  "cannot find the program's entry point");
	return NULL;
}

/* Executable → PT_DYNAMIC → DT_DEBUG → struct r_debug → r_brk. */
struct raddr program_loader_hook(const struct program *program,
				 struct tracee *tracee, struct raddr *ret_state)
{
	struct raddr none = RADDR(0);
	uint64_t at, n;
	ElfW(Phdr) headers[HEADERS_MAX];
	if (!program->modules.n ||
	    !program_auxiliary_value(tracee, AT_PHDR, &at) ||
	    !program_auxiliary_value(tracee, AT_PHNUM, &n))
		return none;
	n = MIN(n, (uint64_t)HEADERS_MAX);
	if (memory_read_some(tracee, RADDR(at), headers,
			     n * sizeof(headers[0])) != n * sizeof(headers[0]))
		return none;
	uint64_t bias = program->modules.data[0].bias;
	for (size_t i = 0; i < n; i++) {
		if (headers[i].p_type != PT_DYNAMIC)
			continue;
		ElfW(Dyn) entries[DYNAMIC_MAX];
		size_t size = MIN(headers[i].p_memsz, sizeof(entries));
		size = memory_read_some(tracee,
					RADDR(bias + headers[i].p_vaddr),
					entries, size);
		for (size_t j = 0; j < size / sizeof(entries[0]); j++) {
			struct r_debug debug;
			struct raddr where = RADDR(entries[j].d_un.d_ptr);
			if (entries[j].d_tag != DT_DEBUG ||
			    memory_read_some(tracee, where, &debug,
					     sizeof(debug)) != sizeof(debug))
				continue;
			*ret_state = raddr_add(
				where, offsetof(struct r_debug, r_state));
			return RADDR(debug.r_brk);
		}
	}
	return none;
}
