#include "results/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "base/vec.h"

#define CHUNK ((size_t)1 << 20)
#define LIBRARIES_MAX 1000
#define DYNAMIC_MAX 100000
/* Of a build folder: what comes after is not read. */
#define ENTRIES_MAX 200000
#define COMMAND_WORDS 64
/* Of a file that lists commands. */
#define LIST_LIMIT ((size_t)64 << 20)

static void digest_add_text(XXH3_state_t *state, const char *text)
{
	XXH3_128bits_update(state, text, strlen(text) + 1);
}

static void digest_write(const XXH3_state_t *state, char ret[DIGEST_SIZE])
{
	XXH128_hash_t hash = XXH3_128bits_digest(state);
	snprintf(ret, DIGEST_SIZE, "%016llx%016llx",
		 (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
}

/* Also of a file that ends early or cannot be read: then it is what was read. */
static struct err *digest_add_content(XXH3_state_t *state, const char *path)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_cleanup_(freep) char *chunk = malloc(CHUNK);
	uint64_t size = 0;
	struct stat status;
	if (!chunk)
		return err_nomem();
	/* A pipe or a device has no content. */
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		log_debug(LOG_RESULTS, "no digest of '%s'", path);
		return NULL;
	}
	for (;;) {
		ssize_t n = read(fd, chunk, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		XXH3_128bits_update(state, chunk, (size_t)n);
		size += (uint64_t)n;
	}
	XXH3_128bits_update(state, &size, sizeof(size));
	return NULL;
}

static void digest_add_status(XXH3_state_t *state, const char *path,
			      const struct stat *status)
{
	const int64_t numbers[] = { status->st_size, status->st_mtim.tv_sec,
				    status->st_mtim.tv_nsec };
	digest_add_text(state, path);
	XXH3_128bits_update(state, numbers, sizeof(numbers));
}

/* ---- shared libraries ---- */

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

struct program_files {
	char **data;
	size_t n;
	size_t cap;
};

static void program_files_freep(struct program_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->data[i]);
	vec_free(files);
}

/* The program and, one after the other, what they need: each once. */
static struct err *digest_add_program(XXH3_state_t *state, const char *path)
{
	_cleanup_(program_files_freep) struct program_files files = {};
	_cleanup_(map_text_freep) struct map_text seen = MAP_INIT;
	_cleanup_(freep) char *first = strdup(path);
	if (!first)
		return err_nomem();
	TRY(vec_push(&files, first));
	take_ptr(first);
	for (size_t i = 0; i < files.n && i < LIBRARIES_MAX; i++) {
		_cleanup_(needed_libraries_freep) struct needed_libraries
			needs = {};
		TRY(digest_add_content(state, files.data[i]));
		TRY(read_needed_libraries(files.data[i], &needs));
		for (size_t j = 0; j < needs.names.n; j++) {
			const char *name = needs.names.data[j];
			_cleanup_(freep) char *found = NULL;
			uint64_t known;
			if (map_text_get(&seen, name, &known))
				continue;
			TRY(map_text_put(&seen, name, 1));
			if (strchr(name, '/')) {
				found = strdup(name);
				if (!found)
					return err_nomem();
			}
			if (!found)
				TRY(find_in_folders(name, needs.run_path,
						    files.data[i], &found));
			if (!found)
				TRY(find_in_folders(name,
						    getenv("LD_LIBRARY_PATH"),
						    files.data[i], &found));
			if (!found || is_system_library(found))
				continue;
			TRY(vec_push(&files, found));
			take_ptr(found);
		}
	}
	return NULL;
}

static struct err *digest_add_executable(XXH3_state_t *state, const char *name)
{
	if (strchr(name, '/') || !access(name, F_OK))
		return digest_add_program(state, name);
	_cleanup_(freep) char *found = NULL;
	TRY(find_in_folders(name, getenv("PATH"), "", &found));
	return found ? digest_add_program(state, found) : NULL;
}

/* ---- suites of processes ---- */

/* nftw() hands nothing through. */
static struct {
	XXH128_hash_t sum;
	size_t n;
} walked_build;

/* In any order: a folder is read as it comes. */
static int digest_walk_entry(const char *path, const struct stat *status,
			     int type, struct FTW *ftw)
{
	if (++walked_build.n > ENTRIES_MAX)
		return FTW_STOP;
	/* What versions are kept in, and what we keep ourselves. */
	if (type == FTW_D && ftw->level && path[ftw->base] == '.')
		return FTW_SKIP_SUBTREE;
	if (type != FTW_F || !S_ISREG(status->st_mode) ||
	    !(status->st_mode & 0111))
		return FTW_CONTINUE;
	XXH3_state_t state;
	XXH3_128bits_reset(&state);
	digest_add_status(&state, path, status);
	XXH128_hash_t hash = XXH3_128bits_digest(&state);
	walked_build.sum.low64 += hash.low64;
	walked_build.sum.high64 += hash.high64;
	return FTW_CONTINUE;
}

static struct err *digest_add_build(XXH3_state_t *state, const char *folder,
				    const char *list)
{
	_cleanup_(freep) char *path = NULL;
	TRY(path_join(folder, list, &path));
	TRY(digest_add_content(state, path));
	walked_build.sum = (XXH128_hash_t){};
	walked_build.n = 0;
	nftw(folder, digest_walk_entry, 16, FTW_PHYS | FTW_ACTIONRETVAL);
	XXH3_128bits_update(state, &walked_build.sum, sizeof(walked_build.sum));
	return NULL;
}

/*
 * Programs that a line names: its first word, the first after it that is not an
 * option (the script of an interpreter), and whatever may be executed. Other
 * files may well be such as tests write.
 */
static struct err *digest_add_command(XXH3_state_t *state, const char *line)
{
	_cleanup_(freep) char *copy = strdup(line);
	if (!copy)
		return err_nomem();
	size_t n = 0, plain = 0;
	char *save = NULL;
	for (char *word = strtok_r(copy, " \t'\";&|()<>", &save);
	     word && n < COMMAND_WORDS;
	     word = strtok_r(NULL, " \t'\";&|()<>", &save), n++) {
		struct stat status;
		plain += word[0] != '-';
		if (stat(word, &status) < 0 || !S_ISREG(status.st_mode))
			continue;
		if ((status.st_mode & 0111) || (word[0] != '-' && plain <= 2))
			TRY(digest_add_content(state, word));
	}
	return NULL;
}

static struct err *digest_add_commands(XXH3_state_t *state, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	struct stat status;
	size_t n = 0;
	/* A pipe has been read, and would be waited for. */
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return NULL;
	TRY(digest_add_content(state, path));
	_cleanup_(err_destroyp) struct err *unread =
		file_read(path, LIST_LIMIT, &text, &n);
	char *rest = text;
	for (char *line; !unread && (line = strsep(&rest, "\n"));) {
		if (line[strspn(line, " \t\r")] != '#')
			TRY(digest_add_command(state, line));
	}
	return NULL;
}

struct err *digest_files(const struct suite_options *options,
			 char ret[DIGEST_SIZE])
{
	XXH3_state_t state;
	XXH3_128bits_reset(&state);
	if (options->argv)
		TRY(digest_add_executable(&state, options->argv[0]));
	else if (options->kind->list_file)
		TRY(digest_add_build(&state, options->source,
				     options->kind->list_file));
	else
		TRY(digest_add_commands(&state, options->source));
	digest_write(&state, ret);
	return NULL;
}

void digest_suite(const struct suite *suite, const char *files,
		  const char *const *words, char ret[DIGEST_SIZE])
{
	XXH3_state_t state;
	XXH3_128bits_reset(&state);
	digest_add_text(&state, files);
	for (size_t i = 0; words[i]; i++)
		digest_add_text(&state, words[i]);
	digest_add_text(&state, suite_framework(suite));
	for (size_t i = 0; i < suite_count(suite); i++)
		digest_add_text(&state, suite_test(suite, i)->name);
	digest_write(&state, ret);
}
