/* Files and shared memory that are mapped, locks, and loaded libraries. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "attributes/attributes_internal.h"
#include "base/map.h"
#include "base/path.h"
#include "base/proc.h"

#define LOCKS_MAX ((size_t)1 << 20)
#define LIBRARIES_MAX 4096
#define OLD_MAX 64
#define MAPPED_MAX 256

/* ---- libraries ---- */

static const char *mapping_library_path(const struct attributes *a,
					size_t index)
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
	for (size_t i = 0; (path = mapping_library_path(a, i)); i++)
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
	for (size_t i = 0; (path = mapping_library_path(a, i)); i++) {
		if (strstr(path, "libpolygraph-agent"))
			continue;
		struct item *item;
		TRY(items_add(items, path_base(path), &item));
		TRY(item_text(item, NULL, "loaded"));
	}
	return NULL;
}

/* ---- mappings ---- */

static bool path_is_below_any(const char *path, const char *const *folders,
			      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (str_starts(path, folders[i]))
			return true;
	}
	return false;
}

/* What the system gives to every program: locales, conversions, fonts. */
static bool mapping_is_system(const char *path)
{
	static const char *const folders[] = {
		"/usr/",      "/lib/",	     "/lib64/",
		"/etc/",      "/var/cache/", "/var/lib/",
		"/run/nscd/", "/nix/store/", "/gnu/store/",
	};
	return path_is_below_any(path, folders, ARRAY_SIZE(folders));
}

static bool mapping_is_wanted(const struct proc_mapping *mapping)
{
	const char *name = mapping->path;
	/* Attached System V memory has a row of its own, semaphores have, too. */
	if ((name[0] == '[' && strstr(name, "polygraph")) ||
	    strstr(name, "/libpolygraph-agent.so") ||
	    !strncmp(name, "/SYSV", 5) || !strncmp(name, "/dev/shm/sem.", 13))
		return false;
	if (name[0] == '/')
		return !mapping_is_system(name) &&
		       strncmp(name, "/dev/dri", 8) != 0;
	if (!strncmp(name, "anon_inode:", 11))
		return true;
	return !strncmp(name, "[anon_shmem", 11);
}

const char *attributes_shown_path(const struct attributes *a, const char *path)
{
	const char *directory = a->options.directory;
	size_t n = directory ? strlen(directory) : 0;
	return n > 1 && !strncmp(path, directory, n) && path[n] == '/' &&
			       path[n + 1]
		       ? path + n + 1
		       : path;
}

/* Its name in reports, no matter who made it. */
static void mapping_key(const struct attributes *a,
			const struct proc_mapping *mapping, char *out, size_t n)
{
	const char *name = mapping->path;
	if (!strcmp(name, "/dev/zero" PROC_DELETED) || name[0] == '[')
		snprintf(out, n, "shared anonymous memory");
	else if (!strncmp(name, "/memfd:", 7))
		snprintf(out, n, "%.*s", (int)strcspn(name + 1, " "), name + 1);
	else
		snprintf(out, n, "%.1000s", attributes_shown_path(a, name));
}

static const char *rights_text(const struct proc_mapping *mapping)
{
	bool shared = mapping->shared, write = mapping->writable;
	if (!mapping->readable && !write)
		return shared ? "no access, shared" : "no access, private";
	if (shared)
		return write ? "read and write, shared" : "read, shared";
	return write ? "read and write, private" : "read, private";
}

static struct err *mappings_add_item(const struct proc_mapping *mapping,
				     const char *key, uint64_t bytes,
				     struct items *items)
{
	struct item *item;
	TRY(items_add(items, key, &item));
	return item_textf(item, NULL, "%llu bytes, %s",
			  (unsigned long long)bytes, rights_text(mapping));
}

/* Files of which code is mapped are programs and libraries. */
static struct err *mappings_note_code(const struct proc_maps *maps,
				      struct map_text *code)
{
	for (size_t i = 0; i < maps->n; i++) {
		const struct proc_mapping *mapping = &maps->data[i];
		if (mapping->executable && mapping->path[0] == '/')
			TRY(map_text_put(code, mapping->path, 1));
	}
	return NULL;
}

/* Memory that a copy of the process would share, without a name. */
static bool is_shared(const struct proc_mapping *mapping)
{
	return !strcmp(mapping->path, "/dev/zero" PROC_DELETED);
}

static bool is_old(struct attributes *a, const struct proc_mapping *mapping)
{
	if (!is_shared(mapping))
		return false;
	if (!a->captured && a->old_shared.n < OLD_MAX)
		err_ignore(vec_push(&a->old_shared, mapping->inode));
	for (size_t i = 0; i < a->old_shared.n; i++) {
		if (a->old_shared.data[i] == mapping->inode)
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
			       const struct proc_mapping *mapping)
{
	struct stat st;
	size_t n = a->mapped.n;
	if (!mapping->writable || !mapping->shared || mapping->path[0] != '/' ||
	    n >= MAPPED_MAX ||
	    (n && !strcmp(a->mapped.data[n - 1].path, mapping->path)) ||
	    stat(mapping->path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_ino != mapping->inode)
		return NULL;
	char *path = strdup(mapping->path);
	struct attributes_file file = { path, st.st_dev, st.st_ino };
	struct err *err = path ? vec_push(&a->mapped, file) : err_nomem();
	if (err)
		free(path);
	return err;
}

static struct err *add_mappings(struct attributes *a,
				const struct proc_maps *maps,
				const struct map_text *code,
				struct items *items)
{
	struct proc_mapping last = {};
	char key[1024], last_key[1024] = "";
	uint64_t bytes = 0, value;
	for (size_t i = 0; i < maps->n; i++) {
		const struct proc_mapping *mapping = &maps->data[i];
		TRY(note_mapped(a, mapping));
		if (!mapping_is_wanted(mapping) || is_old(a, mapping) ||
		    (a->options.ignores &&
		     a->options.ignores(a->options.data, mapping->path,
					mapping->shared &&
						mapping->writable)) ||
		    map_text_get(code, mapping->path, &value))
			continue;
		mapping_key(a, mapping, key, sizeof(key));
		/* One after the other: parts of one, with other rights. */
		if (bytes && mapping->start == last.end &&
		    mapping->inode == last.inode && !strcmp(key, last_key)) {
			bytes += mapping->end - mapping->start;
			last.end = mapping->end;
			continue;
		}
		if (bytes)
			TRY(mappings_add_item(&last, last_key, bytes, items));
		last = *mapping;
		bytes = mapping->end - mapping->start;
		memcpy(last_key, key, sizeof(key));
	}
	return bytes ? mappings_add_item(&last, last_key, bytes, items) : NULL;
}

struct err *read_mappings(struct attributes *a, struct items *items)
{
	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	_cleanup_(map_text_freep) struct map_text code = MAP_INIT;
	struct err *err = proc_read_maps(a->pid, &maps);
	if (err) {
		err_ignore(err);
		items->unknown = true;
		return NULL;
	}
	mapped_clear(a);
	TRY(mappings_note_code(&maps, &code));
	if (!a->captured)
		a->old_shared.n = 0;
	return add_mappings(a, &maps, &code, items);
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
		snprintf(key, sizeof(key), "%.1000s",
			 attributes_shown_path(a, path));
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
 * for only then: the kernel takes 10 ms and more for it, no matter who has them.
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
