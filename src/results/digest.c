#include "results/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/strv.h"
#include "dwarf/libraries.h"

#define CHUNK ((size_t)1 << 20)
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

/* ---- test executables ---- */

static struct err *digest_add_program(XXH3_state_t *state, const char *path)
{
	_cleanup_(strv_freep) struct strv files = {};
	TRY(libraries_find(path, &files));
	for (size_t i = 0; i < files.n; i++)
		TRY(digest_add_content(state, files.data[i]));
	return NULL;
}

static struct err *digest_add_executable(XXH3_state_t *state, const char *name)
{
	_cleanup_(freep) char *found = NULL;
	TRY(libraries_find_program(name, &found));
	return found ? digest_add_program(state, found) : NULL;
}

/* ---- suites of processes ---- */

/* nftw() hands nothing through. */
static struct {
	XXH128_hash_t sum;
	size_t n;
} walked_build;

static bool is_java_file(const char *path)
{
	return str_ends(path, ".class") || str_ends(path, ".jar");
}

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
	    (!(status->st_mode & 0111) && !is_java_file(path)))
		return FTW_CONTINUE;
	XXH3_state_t state;
	XXH3_128bits_reset(&state);
	digest_add_status(&state, path, status);
	XXH128_hash_t hash = XXH3_128bits_digest(&state);
	walked_build.sum.low64 += hash.low64;
	walked_build.sum.high64 += hash.high64;
	return FTW_CONTINUE;
}

static void digest_add_folder(XXH3_state_t *state, const char *folder)
{
	walked_build.sum = (XXH128_hash_t){};
	walked_build.n = 0;
	nftw(folder, digest_walk_entry, 16, FTW_PHYS | FTW_ACTIONRETVAL);
	XXH3_128bits_update(state, &walked_build.sum, sizeof(walked_build.sum));
}

static struct err *digest_add_build(XXH3_state_t *state, const char *folder,
				    const char *list)
{
	_cleanup_(freep) char *path = NULL;
	TRY(path_join(folder, list, &path));
	TRY(digest_add_content(state, path));
	digest_add_folder(state, folder);
	return NULL;
}

/* Folders and jars with ':' between; NULL: none. */
static struct err *digest_add_class_path(XXH3_state_t *state, const char *path)
{
	_cleanup_(freep) char *all = NULL;
	TRY(str_copy(path, &all));
	char *rest = all;
	for (char *one; rest && (one = strsep(&rest, ":"));)
		digest_add_folder(state, one);
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
	else if (options->kind->takes_words)
		TRY(digest_add_class_path(&state, options->source));
	else if (options->kind->list_file)
		TRY(digest_add_build(&state, options->source,
				     options->kind->list_file));
	else
		TRY(digest_add_commands(&state, options->source));
	TRY(digest_add_class_path(&state, options->class_path));
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
