#include "dwarf/libraries.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "base/vec.h"

#define LIBRARIES_MAX 1000
#define DYNAMIC_MAX 100000

/* What the dynamic section of one file asks for. */
struct needed_libraries {
	VEC(char *) names;
	char *run_path; /* of DT_RUNPATH, else DT_RPATH */
};

static void needed_libraries_freep(struct needed_libraries *needs)
{
	for (size_t i = 0; i < needs->names.n; i++)
		free(needs->names.data[i]);
	vec_free(&needs->names);
	free(needs->run_path);
}

static void elf_endp(Elf **elf)
{
	elf_end(*elf);
}

static struct err *read_dynamic_section(Elf *elf, Elf_Data *data,
					const GElf_Shdr *header,
					struct needed_libraries *ret)
{
	size_t n =
		header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	for (size_t i = 0; i < MIN(n, (size_t)DYNAMIC_MAX); i++) {
		GElf_Dyn dyn;
		if (!gelf_getdyn(data, (int)i, &dyn) || dyn.d_tag == DT_NULL)
			break;
		bool needed = dyn.d_tag == DT_NEEDED;
		if (!needed && dyn.d_tag != DT_RUNPATH &&
		    (dyn.d_tag != DT_RPATH || ret->run_path))
			continue;
		const char *text =
			elf_strptr(elf, header->sh_link, dyn.d_un.d_val);
		char *copy = text ? strdup(text) : NULL;
		if (text && !copy)
			return err_nomem();
		if (!copy)
			continue;
		if (!needed) {
			free(ret->run_path);
			ret->run_path = copy;
			continue;
		}
		struct err *err = vec_push(&ret->names, copy);
		if (err) {
			free(copy);
			return err;
		}
	}
	return NULL;
}

static struct err *read_needed_libraries(const char *path,
					 struct needed_libraries *ret)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	_cleanup_(elf_endp) Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	for (Elf_Scn *section = NULL;
	     elf && (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_DYNAMIC)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		return data ? read_dynamic_section(elf, data, &header, ret)
			    : NULL;
	}
	return NULL;
}

static bool is_system_library(const char *path)
{
	static const char *const folders[] = { "/lib/", "/lib64/", "/usr/lib/",
					       "/usr/lib64/" };
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (str_starts(path, folders[i]))
			return true;
	}
	return false;
}

/* One of the folders of a path, with $ORIGIN put in; empty is the current one. */
static struct err *append_search_folder(const char *text, size_t n,
					const char *from, struct str *ret)
{
	const char *slash = strrchr(from, '/');
	for (size_t i = 0; i < n;) {
		size_t skip = !strncmp(text + i, "$ORIGIN", 7)	   ? 7
			      : !strncmp(text + i, "${ORIGIN}", 9) ? 9
								   : 0;
		if (skip && skip <= n - i) {
			TRY(slash ? str_append_n(ret, from,
						 (size_t)(slash - from))
				  : str_append(ret, "."));
			i += skip;
		} else {
			TRY(str_append_n(ret, text + i++, 1));
		}
	}
	return ret->n ? NULL : str_append(ret, ".");
}

/* @ret NULL: in none of these folders, so probably the system's. */
static struct err *find_in_folders(const char *name, const char *paths,
				   const char *from, char **ret)
{
	*ret = NULL;
	while (paths && *paths && !*ret) {
		size_t n = strcspn(paths, ":");
		_cleanup_(str_freep) struct str folder = STR_INIT;
		_cleanup_(freep) char *path = NULL;
		TRY(append_search_folder(paths, n, from, &folder));
		TRY(path_join(folder.s, name, &path));
		if (!access(path, R_OK))
			*ret = take_ptr(path);
		paths += n + (paths[n] == ':');
	}
	return NULL;
}

/* Where it is found as ld.so(8) does; NULL: it is the system's, or missing. */
static struct err *find_library(const char *name, const char *run_path,
				const char *from, char **ret)
{
	_cleanup_(freep) char *found = NULL;
	if (strchr(name, '/'))
		TRY(str_copy(name, &found));
	if (!found)
		TRY(find_in_folders(name, run_path, from, &found));
	if (!found)
		TRY(find_in_folders(name, getenv("LD_LIBRARY_PATH"), from,
				    &found));
	*ret = found && !is_system_library(found) ? take_ptr(found) : NULL;
	return NULL;
}

struct err *libraries_find(const char *program, struct strv *ret)
{
	_cleanup_(map_text_freep) struct map_text seen = MAP_INIT;
	TRY(strv_add(ret, program));
	for (size_t i = ret->n - 1; i < ret->n && i < LIBRARIES_MAX; i++) {
		_cleanup_(needed_libraries_freep) struct needed_libraries
			needs = {};
		TRY(read_needed_libraries(ret->data[i], &needs));
		for (size_t j = 0; j < needs.names.n; j++) {
			const char *name = needs.names.data[j];
			char *found = NULL;
			uint64_t known;
			if (map_text_get(&seen, name, &known))
				continue;
			TRY(map_text_put(&seen, name, 1));
			TRY(find_library(name, needs.run_path, ret->data[i],
					 &found));
			if (found)
				TRY(strv_take(ret, found));
		}
	}
	return NULL;
}

struct err *libraries_find_program(const char *name, char **ret)
{
	if (strchr(name, '/') || !access(name, F_OK))
		return str_copy(name, ret);
	return find_in_folders(name, getenv("PATH"), "", ret);
}
