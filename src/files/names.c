#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/masked.h"
#include "base/path.h"
#include "files/files_internal.h"

#define NEAR 31 /* days from today that a name may be made of */
#define SECONDS_A_DAY 86400
#define MASKS_MAX 65536
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define ALNUM LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS

/* File systems that hold no files, by statfs(2). */
static const long pseudo_types[] = {
	PROC_SUPER_MAGIC,    SYSFS_MAGIC,	  DEVPTS_SUPER_MAGIC,
	CGROUP_SUPER_MAGIC,  CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC,
	TRACEFS_MAGIC,	     SECURITYFS_MAGIC,	  SELINUX_MAGIC,
	BPF_FS_MAGIC,	     PSTOREFS_MAGIC,	  EFIVARFS_MAGIC,
	NSFS_MAGIC,	     PIPEFS_MAGIC,	  SOCKFS_MAGIC,
	ANON_INODE_FS_MAGIC, 0x19800202, /* mqueue: process state */
	0x62656570,			 /* configfs */
};

struct err *names_real(const char *path, char **ret)
{
	char *real = realpath(path, NULL);
	BUG_ON(!ret);
	if (real) {
		*ret = real;
		return NULL;
	}
	/* Not there (yet): its folder may be. */
	_cleanup_(freep) char *copy = strdup(path);
	if (!copy)
		return err_nomem();
	char *slash = strrchr(copy, '/');
	if (slash && slash != copy && slash[1]) {
		*slash = '\0';
		_cleanup_(freep) char *folder = realpath(copy, NULL);
		if (folder)
			return path_join(folder, slash + 1, ret);
		*slash = '/';
	}
	*ret = take_ptr(copy);
	return NULL;
}

struct err *names_create(const struct files_options *options,
			 struct files_names *ret)
{
	struct files_names names = { .walking = options->walk };
	size_t n = 0;
	while (options->exclude && options->exclude[n])
		n++;
	names.exclude = calloc(n + 1, sizeof(*names.exclude));
	struct err *err = names.exclude ? NULL : err_nomem();
	for (size_t i = 0; i < n && !err; i++)
		err = names_real(options->exclude[i], &names.exclude[i]);
	if (!err)
		err = names_real(options->directory ?: ".", &names.directory);
	if (err) {
		names_free(&names);
		return err;
	}
	*ret = names;
	return NULL;
}

void names_free(struct files_names *names)
{
	for (size_t i = 0; names->exclude && names->exclude[i]; i++)
		free(names->exclude[i]);
	free(names->exclude);
	free(names->directory);
	free(names->last_folder);
	map_u64_free(&names->pseudo);
	map_text_free(&names->masks);
	for (size_t i = 0; i < names->shown.n; i++)
		free(names->shown.data[i]);
	vec_free(&names->shown);
	*names = (struct files_names){};
}

bool names_is_shm(const char *path)
{
	return str_starts(path, "/dev/shm/") && !strchr(path + 9, '/');
}

bool names_counts_text(const struct files_names *names, const char *path)
{
	const char *why = NULL;
	if (str_starts(path, "/proc/") || str_starts(path, "/sys/"))
		why = "the kernel's";
	else if (str_starts(path, "/dev/") && !str_starts(path, "/dev/shm/"))
		why = "a device";
	else if (path_is_coverage(path))
		why = "coverage data";
	for (size_t i = 0; names->exclude[i] && !why; i++) {
		if (!strcmp(path, names->exclude[i]) ||
		    path_is_below(path, names->exclude[i]))
			why = "excluded";
	}
	if (why)
		log_debug(LOG_FILES, "%s does not count: %s", path, why);
	return !why;
}

bool names_pseudo(struct files_names *names, uint64_t dev, const char *folder)
{
	uint64_t known;
	if (map_u64_get(&names->pseudo, dev, &known))
		return known;
	struct statfs fs;
	bool pseudo = false;
	if (statfs(folder, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(pseudo_types) && !pseudo; i++)
		pseudo = (long)fs.f_type == pseudo_types[i];
	if (pseudo)
		log_debug(LOG_FILES,
			  "%s does not count: its file system has no files of "
			  "its own",
			  folder);
	struct err *err = map_u64_put(&names->pseudo, dev, pseudo);
	if (err)
		err_ignore(err);
	return pseudo;
}

bool names_counts(struct files_names *names, const char *path)
{
	if (!names_counts_text(names, path))
		return false;
	const char *slash = strrchr(path, '/');
	size_t n = slash && slash != path ? (size_t)(slash - path) : 1;
	if (names->last_folder && !strncmp(names->last_folder, path, n) &&
	    !names->last_folder[n])
		return true;
	char *folder = strndup(path, n);
	if (!folder)
		return true;
	struct stat st;
	bool counts = stat(folder, &st) < 0 ||
		      !names_pseudo(names, st.st_dev, folder);
	if (counts) {
		free(names->last_folder);
		names->last_folder = folder;
	} else {
		free(folder);
	}
	return counts;
}

/*
 * The next date in @text that is about today's: names that are made of the date
 * are others each day. Programs make them of days to come, too (logs that are
 * rotated); what is further away is part of the name.
 */
static const char *next_date(const char *text, const char *from, size_t *ret_n)
{
	int64_t today = time(NULL) / SECONDS_A_DAY, day = 0;
	for (const char *at = from; *at; at++) {
		if (!isdigit((unsigned char)*at) ||
		    (at > text && isdigit((unsigned char)at[-1])))
			continue;
		*ret_n = masked_date(at, &day);
		if (*ret_n && llabs(day - today) <= NEAR)
			return at;
	}
	return NULL;
}

static struct err *mask_dates(const char *text, char **ret)
{
	_cleanup_(str_freep) struct str masked = STR_INIT;
	const char *done = text, *date;
	size_t n;
	while ((date = next_date(text, done, &n))) {
		TRY(str_append_n(&masked, done, (size_t)(date - done)));
		TRY(str_append(&masked, MASK_DATE));
		done = date + n;
	}
	TRY(str_append(&masked, done));
	*ret = strdup(masked.s ? masked.s : "");
	return *ret ? NULL : err_nomem();
}

struct err *names_root(const struct files_names *names, const char *path,
		       char **ret)
{
	_cleanup_(freep) char *shown = NULL;
	TRY(names_shown(names, path, &shown));
	return mask_dates(shown, ret);
}

struct err *names_shown(const struct files_names *names, const char *path,
			char **ret)
{
	/* The nearest folder with a masked name, or the name itself. */
	for (size_t n = names->shown.n ? strlen(path) : 0; n > 0; n--) {
		if (path[n] && path[n] != '/')
			continue;
		_cleanup_(freep) char *part = strndup(path, n);
		if (!part)
			return err_nomem();
		uint64_t at;
		if (!map_text_get(&names->masks, part, &at))
			continue;
		if (asprintf(ret, "%s%s", names->shown.data[at], path + n) < 0)
			return err_nomem();
		return NULL;
	}
	const char *shown = path;
	if (!strcmp(path, names->directory))
		shown = ".";
	else if (path_is_below(path, names->directory))
		shown += strlen(names->directory) +
			 (names->directory[1] != '\0');
	*ret = strdup(shown);
	return *ret ? NULL : err_nomem();
}

/*
 * mkdir(…, 0700) is not mkdtemp()'s alone, and people write small letters; of six
 * that were drawn one in two hundred has nothing else, and of those half cannot be
 * pronounced.
 */
static bool is_word(const char *text)
{
	size_t consonants = 0, most = 0;
	for (size_t i = 0; i < MADE_UP; i++) {
		consonants = strchr("aeiouy", text[i]) ? 0 : consonants + 1;
		most = MAX(most, consonants);
	}
	return strspn(text, LOWER) >= MADE_UP && most < 4;
}

/*
 * Where in @name the made-up part lies: six characters of letters and digits
 * that end a run of such; the last such run that looks random, else the one at
 * the end (where a call shows that there must be one). mktemp(1) and Python's
 * tempfile make up more.
 */
static bool names_random_part(const char *name, bool sure, size_t *ret_at,
			      size_t *ret_n)
{
	size_t n = strlen(name), last = SIZE_MAX, end = 0;
	if (str_starts(name, "tmp.") &&
	    strspn(name + 4, ALNUM) == MASK_RANDOM_MKTEMP) {
		*ret_at = 4;
		*ret_n = MASK_RANDOM_MKTEMP;
		return true;
	}
	if (str_starts(name, "tmp") &&
	    strspn(name + 3, LOWER DIGITS "_") == 8) {
		*ret_at = 3;
		*ret_n = 8;
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)name[i]))
			continue;
		end = i;
		while (isalnum((unsigned char)name[end]))
			end++;
		if (end - i >= MADE_UP && str_made_up(name + end - MADE_UP))
			last = end - MADE_UP;
		else if (end - i >= MADE_UP && end == n && sure &&
			 last == SIZE_MAX && !is_word(name + end - MADE_UP))
			last = end - MADE_UP;
		i = end;
	}
	if (last == SIZE_MAX)
		return false;
	*ret_at = last;
	*ret_n = MADE_UP;
	return true;
}

/* What looks like something else may be part of a date. */
static bool in_date(const char *name, size_t at, size_t length)
{
	const char *date = name;
	size_t n = 0;
	while ((date = next_date(name, date + n, &n))) {
		size_t start = (size_t)(date - name);
		if (at + length > start && at < start + n)
			return true;
	}
	return false;
}

/* Digits in @name that are the number of a process. */
static bool pid_part(const char *name, pid_t pid, size_t *ret_at, size_t *ret_n)
{
	char digits[16];
	if (pid <= 1)
		return false;
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%d", (int)pid);
	const char *at = name;
	while ((at = strstr(at, digits))) {
		if ((at == name || !isdigit((unsigned char)at[-1])) &&
		    !isdigit((unsigned char)at[n]) &&
		    !in_date(name, (size_t)(at - name), n)) {
			*ret_at = (size_t)(at - name);
			*ret_n = n;
			return true;
		}
		at++;
	}
	return false;
}

/* Without system calls to go by, mode and form of the name have to do. */
static bool made_fresh(const struct delta *delta, bool walking)
{
	if (!walking)
		return delta->marks & TOUCH_FRESH;
	const struct snap *snap = delta->after;
	return (snap->type == SNAP_FILE && snap_permissions(snap) == 0600) ||
	       (snap->type == SNAP_FOLDER && snap_permissions(snap) == 0700);
}

/* @n bytes from @at on in @path are shown as @mask. */
static struct err *names_put_mask(struct files_names *names, const char *path,
				  size_t at, size_t n, const char *mask)
{
	_cleanup_(freep) char *masked = NULL, *shown = NULL;
	if (asprintf(&masked, "%.*s%s%s", (int)at, path, mask, path + at + n) <
	    0) {
		masked = NULL;
		return err_nomem();
	}
	TRY(names_shown(names, masked, &shown));
	TRY(map_text_put(&names->masks, path, names->shown.n));
	TRY(vec_push(&names->shown, shown));
	shown = NULL;
	return NULL;
}

/* Folders above it that a fixture made, which is no test's doing. *@ret: any. */
static struct err *mask_folders(struct files_names *names, const char *path,
				bool *ret)
{
	*ret = false;
	for (const char *end = strchr(path + 1, '/'); end;
	     end = strchr(end + 1, '/')) {
		_cleanup_(freep) char *folder =
			strndup(path, (size_t)(end - path));
		uint64_t known;
		size_t n = 0;
		if (!folder)
			return err_nomem();
		const char *number = masked_long_number(path_base(folder), &n);
		if (!number || names->shown.n >= MASKS_MAX ||
		    !strcmp(folder, names->directory) ||
		    path_is_below(names->directory, folder))
			continue;
		*ret = true;
		if (map_text_get(&names->masks, folder, &known))
			continue;
		TRY(names_put_mask(names, folder, (size_t)(number - folder), n,
				   MADE_UP_SHOWN));
	}
	return NULL;
}

struct err *names_mask(struct files_names *names, const struct delta *delta,
		       pid_t pid, bool *ret)
{
	const char *path = delta->path, *name = path_base(path);
	const char *mask = NULL;
	size_t at = 0, n = 0;
	bool sure = delta->marks & TOUCH_FRESH;
	const char *number = masked_long_number(name, &n);
	TRY(mask_folders(names, path, ret));
	if (number)
		at = (size_t)(number - name);
	if (pid_part(name, pid, &at, &n) ||
	    pid_part(name, delta->creator, &at, &n))
		mask = MASK_PID;
	else if (number || (made_fresh(delta, names->walking) &&
			    names_random_part(name, sure, &at, &n) &&
			    !in_date(name, at, n)))
		mask = MADE_UP_SHOWN;
	if (!mask || names->shown.n >= MASKS_MAX)
		return NULL;

	TRY(names_put_mask(names, path, (size_t)(name - path) + at, n, mask));
	*ret = true;
	return NULL;
}
