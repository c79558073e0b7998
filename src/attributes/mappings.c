/* Files and shared memory that are mapped, locks, and loaded libraries. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "attributes/attributes_internal.h"
#include "base/map.h"
#include "base/path.h"

#define MAPS_MAX ((size_t)8 << 20)
#define LOCKS_MAX ((size_t)1 << 20)
#define LIBRARIES_MAX 4096
#define OLD_MAX 64
#define MAPPED_MAX 256

/* ---- libraries ---- */

static const char *library(const struct attributes *a, size_t index)
{
	if (!a->options.library || index >= LIBRARIES_MAX)
		return NULL;
	return a->options.library(a->options.data, index);
}

static uint64_t folder_digest(int folder, uint64_t seed)
{
	struct stat st;
	if (folder < 0 || fstat(folder, &st) < 0)
		return seed;
	const uint64_t what[] = { (uint64_t)st.st_mtim.tv_sec,
				  (uint64_t)st.st_mtim.tv_nsec,
				  (uint64_t)st.st_size, st.st_ino };
	return digest_of(what, sizeof(what), seed);
}

void files_probe(struct attributes *a, unsigned *ret)
{
	uint64_t digest = 0;
	const char *path;
	for (size_t i = 0; (path = library(a, i)); i++)
		digest = digest_of(path, strlen(path), digest);
	uint64_t folders = folder_digest(a->shm, 0);
	folders = folder_digest(a->queues, folders);
	if (digest != a->libraries) {
		map_text_free(&a->symbols);
		*ret |= SOURCE_MEMORY;
	}
	if (digest != a->libraries || folders != a->folders)
		*ret |= SOURCE_FILES;
	a->libraries = digest;
	a->folders = folders;
}

struct err *read_libraries(struct attributes *a, struct items *items)
{
	const char *path;
	for (size_t i = 0; (path = library(a, i)); i++) {
		if (strstr(path, "libpolygraph-agent"))
			continue;
		struct item *item;
		TRY(items_add(items, path_base(path), &item));
		TRY(item_text(item, NULL, "loaded"));
	}
	return NULL;
}

/* ---- mappings ---- */

struct region {
	unsigned long long start, end;
	char rights[5];
	unsigned long long inode;
	char *name; /* "" where it has none */
};

/* "start-end rights offset major:minor inode   name", and the next line. */
static bool parse_region(char **at, struct region *ret)
{
	char *line = *at;
	if (!*line)
		return false;
	char *end = strchr(line, '\n');
	if (end)
		*end = '\0';
	*at = end ? end + 1 : line + strlen(line);
	int name = 0;
	if (sscanf(line, "%llx-%llx %4s %*x %*x:%*x %llu %n", &ret->start,
		   &ret->end, ret->rights, &ret->inode, &name) < 4)
		return false;
	ret->name = line + name;
	return true;
}

static bool below(const char *path, const char *const *folders, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (str_starts(path, folders[i]))
			return true;
	}
	return false;
}

/* What the system gives to every program: locales, conversions, fonts. */
static bool is_system(const char *path)
{
	static const char *const folders[] = {
		"/usr/",      "/lib/",	     "/lib64/",
		"/etc/",      "/var/cache/", "/var/lib/",
		"/run/nscd/", "/nix/store/", "/gnu/store/",
	};
	return below(path, folders, ARRAY_SIZE(folders));
}

static bool is_wanted(const struct region *region)
{
	const char *name = region->name;
	/* Attached System V memory has a row of its own, semaphores have, too. */
	if ((name[0] == '[' && strstr(name, "polygraph")) ||
	    strstr(name, "/libpolygraph-agent.so") ||
	    !strncmp(name, "/SYSV", 5) || !strncmp(name, "/dev/shm/sem.", 13))
		return false;
	if (name[0] == '/')
		return !is_system(name) && strncmp(name, "/dev/dri", 8) != 0;
	if (!strncmp(name, "anon_inode:", 11))
		return true;
	return !strncmp(name, "[anon_shmem", 11);
}

/* The same from checkout to checkout, where it lies below. */
static const char *shown(const struct attributes *a, const char *path)
{
	const char *directory = a->options.directory;
	size_t n = directory ? strlen(directory) : 0;
	return n > 1 && !strncmp(path, directory, n) && path[n] == '/' &&
			       path[n + 1]
		       ? path + n + 1
		       : path;
}

/* How it is called, whoever has made it. */
static void region_key(const struct attributes *a, const struct region *region,
		       char *out, size_t n)
{
	const char *name = region->name;
	if (!strcmp(name, "/dev/zero (deleted)") || name[0] == '[')
		snprintf(out, n, "shared anonymous memory");
	else if (!strncmp(name, "/memfd:", 7))
		snprintf(out, n, "%.*s", (int)strcspn(name + 1, " "), name + 1);
	else
		snprintf(out, n, "%.1000s", shown(a, name));
}

static const char *rights_text(const char *rights)
{
	bool shared = rights[3] == 's', write = rights[1] == 'w';
	bool read = rights[0] == 'r';
	if (!read && !write)
		return shared ? "no access, shared" : "no access, private";
	if (shared)
		return write ? "read and write, shared" : "read, shared";
	return write ? "read and write, private" : "read, private";
}

static struct err *add_region(const struct region *region, const char *key,
			      uint64_t bytes, struct items *items)
{
	struct item *item;
	TRY(items_add(items, key, &item));
	return item_textf(item, NULL, "%llu bytes, %s",
			  (unsigned long long)bytes,
			  rights_text(region->rights));
}

/* Files of which code is mapped are programs and libraries. */
static struct err *note_code(char *text, struct map_text *code)
{
	struct region region;
	_cleanup_(freep) char *copy = strdup(text);
	if (!copy)
		return err_nomem();
	char *at = copy;
	while (parse_region(&at, &region)) {
		if (region.rights[2] == 'x' && region.name[0] == '/')
			TRY(map_text_put(code, region.name, 1));
	}
	return NULL;
}

/* Memory that a copy of the process would share, without a name. */
static bool is_shared(const struct region *region)
{
	return !strcmp(region->name, "/dev/zero (deleted)");
}

static bool is_old(struct attributes *a, const struct region *region)
{
	if (!is_shared(region))
		return false;
	if (!a->captured && a->old_shared.n < OLD_MAX)
		err_ignore(vec_push(&a->old_shared, region->inode));
	for (size_t i = 0; i < a->old_shared.n; i++) {
		if (a->old_shared.data[i] == region->inode)
			return true;
	}
	return false;
}

void mapped_clear(struct attributes *a)
{
	for (size_t i = 0; i < a->mapped.n; i++)
		free((char *)a->mapped.data[i].path);
	a->mapped.n = 0;
}

/* What is written there is written to the file, by no call. */
static struct err *note_mapped(struct attributes *a,
			       const struct region *region)
{
	struct stat st;
	const struct attributes_file *last =
		a->mapped.n ? &a->mapped.data[a->mapped.n - 1] : NULL;
	if (region->rights[1] != 'w' || region->rights[3] != 's' ||
	    region->name[0] != '/' || a->mapped.n >= MAPPED_MAX ||
	    (last && !strcmp(last->path, region->name)) ||
	    stat(region->name, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_ino != region->inode)
		return NULL;
	char *path = strdup(region->name);
	struct attributes_file file = { path, st.st_dev, st.st_ino };
	struct err *err = path ? vec_push(&a->mapped, file) : err_nomem();
	if (err)
		free(path);
	return err;
}

static struct err *add_regions(struct attributes *a, char *text,
			       const struct map_text *code, struct items *items)
{
	struct region region, last = {};
	char key[1024], last_key[1024] = "";
	uint64_t bytes = 0, value;
	char *at = text;
	while (parse_region(&at, &region)) {
		TRY(note_mapped(a, &region));
		if (!is_wanted(&region) || is_old(a, &region) ||
		    map_text_get(code, region.name, &value))
			continue;
		region_key(a, &region, key, sizeof(key));
		/* One behind the other: parts of one, with other rights. */
		if (bytes && region.start == last.end &&
		    region.inode == last.inode && !strcmp(key, last_key)) {
			bytes += region.end - region.start;
			last.end = region.end;
			continue;
		}
		if (bytes)
			TRY(add_region(&last, last_key, bytes, items));
		last = region;
		bytes = region.end - region.start;
		memcpy(last_key, key, sizeof(key));
	}
	return bytes ? add_region(&last, last_key, bytes, items) : NULL;
}

struct err *read_mappings(struct attributes *a, struct items *items)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", a->pid);
	_cleanup_(freep) char *text = NULL;
	_cleanup_(map_text_freep) struct map_text code = MAP_INIT;
	size_t n;
	struct err *err = file_read(path, MAPS_MAX, &text, &n);
	if (err) {
		err_ignore(err);
		items->unknown = true;
		return NULL;
	}
	mapped_clear(a);
	TRY(note_code(text, &code));
	if (!a->captured)
		a->old_shared.n = 0;
	return add_regions(a, text, &code, items);
}

/* ---- locks ---- */

static const char *locked_path(const struct attributes *a, unsigned major_,
			       unsigned minor_, uint64_t inode)
{
	const char *found = NULL;
	for (size_t i = 0; i < a->descriptors.n; i++) {
		const struct descriptor *d = &a->descriptors.data[i];
		if (d->inode != inode || !d->path)
			continue;
		if (d->device == makedev(major_, minor_))
			return d->path;
		found = d->path; /* some file systems show another device */
	}
	return found;
}

/* "1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF" */
static struct err *add_lock(const struct attributes *a, const char *line,
			    struct items *items)
{
	char kind[16], strictness[16], what[16], start[24], end[24], key[1024];
	int pid;
	unsigned major_, minor_;
	unsigned long long inode;
	if (sscanf(line, "%*u: %15s %15s %15s %d %x:%x:%llu %23s %23s", kind,
		   strictness, what, &pid, &major_, &minor_, &inode, start,
		   end) != 9)
		return NULL;
	const char *path = locked_path(a, major_, minor_, inode);
	/* Those of an open file description name no process. */
	if (pid != a->pid && !(pid == -1 && path))
		return NULL;
	if (path)
		snprintf(key, sizeof(key), "%.1000s", shown(a, path));
	else
		snprintf(key, sizeof(key), "device %02x:%02x, inode %llu",
			 major_, minor_, inode);
	struct item *item;
	TRY(items_add(items, key, &item));
	items->live = true; /* closing the file ends it, silently */
	bool whole = !strcmp(start, "0") && !strcmp(end, "EOF");
	return item_textf(item, NULL, "%s, %s%s%s%s%s",
			  !strcmp(what, "WRITE")  ? "exclusive"
			  : !strcmp(what, "READ") ? "shared"
						  : what,
			  !strcmp(kind, "FLOCK")    ? "flock"
			  : !strcmp(kind, "POSIX")  ? "fcntl"
			  : !strcmp(kind, "OFDLCK") ? "fcntl of the open file"
						    : kind,
			  whole ? "" : ", bytes ", whole ? "" : start,
			  whole ? "" : " to ", whole ? "" : end);
}

/*
 * Does any descriptor say that it has a lock? The list of all locks is asked
 * for only then: the kernel waits 10 ms and more for it, whoever has them.
 */
static bool has_locks(const struct attributes *a)
{
	for (size_t i = 0; i < a->descriptors.n; i++) {
		const struct descriptor *d = &a->descriptors.data[i];
		char name[32], text[1024];
		if (d->type != S_IFREG && d->type != S_IFDIR)
			continue;
		snprintf(name, sizeof(name), "fdinfo/%d", d->number);
		_cleanup_(closep) int fd =
			openat(a->proc, name, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (n < 0)
			return true;
		text[n] = '\0';
		if (strstr(text, "lock:"))
			return true;
	}
	return false;
}

struct err *read_locks(struct attributes *a, struct items *items)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;
	if (!has_locks(a))
		return NULL;
	struct err *err = file_read("/proc/locks", LOCKS_MAX, &text, &n);
	if (err) {
		err_ignore(err);
		items->unknown = true;
		return NULL;
	}
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		TRY(add_lock(a, line, items));
	}
	return NULL;
}
