#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/str.h"

/* How long a pipe may say nothing. */
#define FILE_SILENCE_MS 10000
#define FILE_STEP_MS 100

struct err *path_join(const char *folder, const char *name, char **ret)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	if (name[0] != '/') {
		TRY(str_append(&str, folder));
		if (!str_ends(folder, "/"))
			TRY(str_append(&str, "/"));
	}
	TRY(str_append(&str, name));
	char *joined = str_take(&str);
	if (!joined)
		return err_nomem();
	*ret = joined;
	return NULL;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Appends the components of @path to an absolute @str, resolving dots. */
static struct err *append_components(struct str *str, const char *path)
{
	while (*path) {
		path += strspn(path, "/");
		size_t n = strcspn(path, "/");
		if (n == 2 && !strncmp(path, "..", 2)) {
			char *slash = str->n ? strrchr(str->s, '/') : NULL;
			if (slash) {
				*slash = '\0';
				str->n = (size_t)(slash - str->s);
			}
		} else if (n && !(n == 1 && *path == '.')) {
			TRY(str_append(str, "/"));
			TRY(str_append_n(str, path, n));
		}
		path += n;
	}
	return NULL;
}

struct err *path_display(const char *folder, const char *path, char **ret)
{
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	_cleanup_(str_freep) struct str str = STR_INIT;

	TRY(str_append(&str, ""));
	if (path[0] != '/') {
		if (!folder || folder[0] != '/')
			TRY(append_components(&str, cwd ? cwd : ""));
		if (folder)
			TRY(append_components(&str, folder));
	}
	TRY(append_components(&str, path));
	if (!str.n)
		TRY(str_append(&str, "/"));

	size_t n = cwd ? strlen(cwd) : 0;
	const char *shown = str.s;
	if (n > 1 && !strncmp(shown, cwd, n) && shown[n] == '/')
		shown += n + 1;
	char *copy = strdup(shown);
	if (!copy)
		return err_nomem();
	*ret = copy;
	return NULL;
}

/* How many bytes of both are the same folders, the slash before the next one not. */
static size_t common_folders(const char *a, const char *b)
{
	size_t last = 0, n = 0;
	for (; a[n] && a[n] == b[n]; n++) {
		if (a[n] == '/')
			last = n;
	}
	return !a[n] && b[n] == '/' ? n : last;
}

/* Where the user is who reads it; NULL: in the working directory. */
static char *shown_from;

struct err *path_show_from(const char *folder)
{
	free(shown_from);
	shown_from = folder ? strdup(folder) : NULL;
	return folder && !shown_from ? err_nomem() : NULL;
}

/* As path_display(), as seen from @cwd. */
static struct err *path_display_from(const char *cwd, const char *path,
				     char **ret)
{
	_cleanup_(freep) char *shown = NULL, *real = getcwd(NULL, 0);
	_cleanup_(freep) char *all = NULL;
	TRY(path_display(NULL, path, &shown));
	BUG_ON(!shown);
	if (!cwd || !real || !strcmp(cwd, real)) {
		*ret = take_ptr(shown);
		return NULL;
	}
	TRY(path_join(real, shown, &all));
	BUG_ON(!all);
	bool below = path_is_below(all, cwd) && strlen(cwd) > 1;
	*ret = below ? strdup(all + strlen(cwd) + 1) : take_ptr(all);
	return *ret ? NULL : err_nomem();
}

struct err *path_display_short(const char *path, char **ret)
{
	_cleanup_(freep) char *cwd =
		shown_from ? strdup(shown_from) : getcwd(NULL, 0);
	_cleanup_(freep) char *shown = NULL;
	_cleanup_(str_freep) struct str above = STR_INIT;
	TRY(path_display_from(cwd, path, &shown));
	BUG_ON(!shown);
	size_t common = cwd && shown[0] == '/' ? common_folders(cwd, shown) : 0;
	/* From below "/" alone, nothing is nearer than the root. */
	if (common) {
		for (const char *c = cwd + common; *c; c++) {
			if (*c == '/')
				TRY(str_append(&above, "../"));
		}
		TRY(str_append(&above, shown + common + 1));
	}
	*ret = above.n && above.n < strlen(shown) ? str_take(&above)
						  : take_ptr(shown);
	return NULL;
}

/*
 * Waits for more. A pipe that stays silent may be a FIFO that nobody writes to;
 * a person at a terminal may take their time.
 */
static struct err *file_wait(int fd, const char *path)
{
	struct stat status;
	bool pipe = !fstat(fd, &status) && S_ISFIFO(status.st_mode);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	/* In small steps, since a signal may come between two lines. */
	int ready = 0;
	for (int waited = 0; !ready && !(pipe && waited >= FILE_SILENCE_MS);
	     waited = pipe ? waited + FILE_STEP_MS : 0) {
		ready = poll(&poll_fd, 1, FILE_STEP_MS);
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (ready < 0 && errno != EINTR)
			return err_errno(errno, "cannot read '%s'", path);
		ready = MAX(ready, 0);
	}
	if (!ready)
		return err_hint(
			err_create(ERR_USAGE,
				   "'%s' is a pipe, and nothing came through "
				   "it for %d seconds",
				   path, FILE_SILENCE_MS / 1000),
			"write to it, or give a file");
	return NULL;
}

struct err *file_read_fd(int fd, const char *path, size_t limit, char **ret,
			 size_t *ret_n)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	char chunk[16384];
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			TRY(file_wait(fd, path));
			continue;
		}
		if (n < 0)
			return err_errno(errno, "cannot read '%s'", path);
		if (!n)
			break;
		if (str.n + (size_t)n > limit)
			return err_create(ERR_INTERNAL,
					  "'%s' is larger than %zu bytes", path,
					  limit);
		TRY(str_append_n(&str, chunk, (size_t)n));
	}
	size_t n = str.n;
	char *text = str_take(&str);
	if (!text)
		return err_nomem();
	*ret = text;
	if (ret_n)
		*ret_n = n;
	return NULL;
}

struct err *file_read(const char *path, size_t limit, char **ret, size_t *ret_n)
{
	struct stat status;
	_cleanup_(closep) int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_errno(errno, "cannot open '%s'", path);
	/* Without a writer there is nothing to read yet, which is not the end. */
	if (!fstat(fd, &status) && S_ISFIFO(status.st_mode))
		TRY(file_wait(fd, path));
	return file_read_fd(fd, path, limit, ret, ret_n);
}

bool path_is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	if (n == 1) /* "/" */
		return path[1] != '\0';
	return !strncmp(path, folder, n) && path[n] == '/';
}

int path_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	int x = *a == '/' ? 1 : *a ? (unsigned char)*a + 1 : 0;
	int y = *b == '/' ? 1 : *b ? (unsigned char)*b + 1 : 0;
	return x - y;
}

/* What compilers' run-time libraries leave at a program's end. */
static const char *const coverage_suffixes[] = { ".gcda", ".gcno", ".profraw" };

bool path_is_coverage(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(coverage_suffixes); i++) {
		if (str_ends(path, coverage_suffixes[i]))
			return true;
	}
	return false;
}

void path_cut_to_common(char *path, const char *other)
{
	size_t n = 0, last = 0;
	for (; path[n] && path[n] == other[n]; n++) {
		if (path[n] == '/')
			last = n;
	}
	if (!path[n] && (other[n] == '/' || !other[n]))
		return;
	path[MAX(last, (size_t)1)] = '\0';
}
