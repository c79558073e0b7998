/* Models of lists of files that the library makes: scandir, glob, fts. */
/* Names with and without 64 are both ours. */
#undef _FILE_OFFSET_BITS
#include "models/order_internal.h"

#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <stdlib.h>

/* ---- scandir ---- */

/* The filter sees what the list will say. */
static __thread struct listing_filter {
	int (*filter)(const struct dirent64 *);
	bool unknown;
} filter_now __attribute__((tls_model("initial-exec")));

static int filter_entry(const struct dirent64 *entry)
{
	/* glibc's memory, which it copies from after this. */
	if (filter_now.unknown)
		((struct dirent64 *)(uintptr_t)entry)->d_type = DT_UNKNOWN;
	return filter_now.filter ? filter_now.filter(entry) : 1;
}

typedef int scan_compare(const struct dirent64 **, const struct dirent64 **);
typedef int scan_function(int, const char *, struct dirent64 ***,
			  int (*)(const struct dirent64 *), scan_compare *);

static int compare_entries(const void *a, const void *b, void *argument)
{
	scan_compare *const *compare = argument;
	return (*compare)((const struct dirent64 **)(uintptr_t)a,
			  (const struct dirent64 **)(uintptr_t)b);
}

static void sort_entries(struct dirent64 **list, size_t n,
			 scan_compare *compare)
{
	CHOOSE_NEXT(qsort_r, )
	next(list, n, sizeof(*list), compare_entries, &compare);
}

struct listing_scan {
	enum wire_model model;
	int at;
	const char *path;
	int (*filter)(const struct dirent64 *);
	scan_compare *compare;
	uintptr_t caller;
};

/* The list without order, then sorted as the library would have done it. */
static int scan_directory(const struct listing_scan *scan, scan_function *next,
			  struct dirent64 ***ret)
{
	bool types = choose_wanted(WIRE_MODEL_readdir_type, scan->caller);
	if (!types && !choose_wanted(scan->model, scan->caller))
		return next(scan->at, scan->path, ret, scan->filter,
			    scan->compare);
	struct listing_filter before = filter_now;
	filter_now = (struct listing_filter){ scan->filter, false };
	if (types) {
		filter_now.unknown = choose_pick(
			WIRE_MODEL_readdir_type, 2,
			order_path_keys(scan->at, scan->path,
					choose_hash_text(scan->path)));
		choose_argument("entries of %s", scan->path);
		choose_did("their types were DT_UNKNOWN");
	}
	int n = next(scan->at, scan->path, ret, filter_entry, NULL);
	filter_now = before;
	if (n < 2)
		return n;
	struct dirent64 **list = *ret;
	if (scan->compare) {
		sort_entries(list, (size_t)n, scan->compare);
		scan_compare *compare = scan->compare;
		if (choose_wanted(scan->model, scan->caller))
			order_ties(scan->model, list, (size_t)n, sizeof(*list),
				   compare_entries, &compare);
		return n;
	}
	if (!choose_wanted(scan->model, scan->caller))
		return n;
	uint64_t names = 0;
	for (int i = 0; i < n; i++)
		names += choose_hash_text(list[i]->d_name);
	uint64_t pick =
		choose_pick(scan->model, choose_permutations((size_t)n),
			    order_path_keys(scan->at, scan->path, names));
	choose_argument("%d entries of %s", n, scan->path);
	choose_did("entries came in another order");
	choose_permute(pick, list, (size_t)n, sizeof(*list));
	return n;
}

static int scan_plain(int at, const char *path, struct dirent64 ***ret,
		      int (*filter)(const struct dirent64 *),
		      scan_compare *compare)
{
	(void)at;
	CHOOSE_NEXT(scandir64, -1)
	return next(path, ret, filter, compare);
}

static int scan_at(int at, const char *path, struct dirent64 ***ret,
		   int (*filter)(const struct dirent64 *),
		   scan_compare *compare)
{
	CHOOSE_NEXT(scandirat64, -1)
	return next(at, path, ret, filter, compare);
}

_export_ int scandir64(const char *path, struct dirent64 ***ret,
		       int (*filter)(const struct dirent64 *),
		       scan_compare *compare)
{
	struct listing_scan scan = {
		WIRE_MODEL_scandir, AT_FDCWD, path, filter, compare,
		CHOOSE_CALLER()
	};
	return scan_directory(&scan, scan_plain, ret);
}

/* On x86-64 entries are the same with and without 64. */
_export_ int scandir(const char *path, struct dirent ***ret,
		     int (*filter)(const struct dirent *),
		     int (*compare)(const struct dirent **,
				    const struct dirent **))
{
	struct listing_scan scan = {
		.model = WIRE_MODEL_scandir,
		.at = AT_FDCWD,
		.path = path,
		.filter = (int (*)(const struct dirent64 *))(void *)filter,
		.compare = (scan_compare *)(void *)compare,
		.caller = CHOOSE_CALLER(),
	};
	return scan_directory(&scan, scan_plain, (struct dirent64 ***)ret);
}

_export_ int scandirat64(int at, const char *path, struct dirent64 ***ret,
			 int (*filter)(const struct dirent64 *),
			 scan_compare *compare)
{
	struct listing_scan scan = {
		WIRE_MODEL_scandirat, at, path, filter, compare, CHOOSE_CALLER()
	};
	return scan_directory(&scan, scan_at, ret);
}

_export_ int scandirat(int at, const char *path, struct dirent ***ret,
		       int (*filter)(const struct dirent *),
		       int (*compare)(const struct dirent **,
				      const struct dirent **))
{
	struct listing_scan scan = {
		.model = WIRE_MODEL_scandirat,
		.at = at,
		.path = path,
		.filter = (int (*)(const struct dirent64 *))(void *)filter,
		.compare = (scan_compare *)(void *)compare,
		.caller = CHOOSE_CALLER(),
	};
	return scan_directory(&scan, scan_at, (struct dirent64 ***)ret);
}

/* ---- glob ---- */

/* Of what this call added: paths from @from on. */
static void permute_paths(const char *pattern, char **paths, size_t n)
{
	uint64_t names = 0;
	if (n < 2 || n > CHOOSE_ELEMENTS)
		return;
	for (size_t i = 0; i < n; i++)
		names += choose_hash_text(paths[i]);
	uint64_t pick = choose_pick(WIRE_MODEL_glob, choose_permutations(n),
				    order_path_keys(AT_FDCWD, ".", names));
	choose_argument("%zu paths that match %s, GLOB_NOSORT", n, pattern);
	choose_did("paths came in another order");
	choose_permute(pick, paths, n, sizeof(*paths));
}

_export_ int glob64(const char *pattern, int flags,
		    int (*failed)(const char *, int), glob64_t *ret)
{
	CHOOSE_NEXT(glob64, GLOB_ABORTED)
	size_t before = flags & GLOB_APPEND ? ret->gl_pathc : 0;
	size_t skip = flags & GLOB_DOOFFS ? ret->gl_offs : 0;
	int result = next(pattern, flags, failed, ret);
	if (!result && flags & GLOB_NOSORT && ret->gl_pathc > before &&
	    choose_wanted(WIRE_MODEL_glob, CHOOSE_CALLER()))
		permute_paths(pattern, ret->gl_pathv + skip + before,
			      ret->gl_pathc - before);
	return result;
}

_export_ int glob(const char *pattern, int flags,
		  int (*failed)(const char *, int), glob_t *ret)
{
	CHOOSE_NEXT(glob, GLOB_ABORTED)
	size_t before = flags & GLOB_APPEND ? ret->gl_pathc : 0;
	size_t skip = flags & GLOB_DOOFFS ? ret->gl_offs : 0;
	int result = next(pattern, flags, failed, ret);
	if (!result && flags & GLOB_NOSORT && ret->gl_pathc > before &&
	    choose_wanted(WIRE_MODEL_glob, CHOOSE_CALLER()))
		permute_paths(pattern, ret->gl_pathv + skip + before,
			      ret->gl_pathc - before);
	return result;
}

/* ---- fts ---- */

/*
 * Without a comparison fts hands out files as the directory lists them. Here it
 * gets one: by a hash of the name that depends on the pick; with pick 0, and for
 * the paths it was called with, all are equal, and glibc's sort leaves them
 * where they are. It is called for directories of two files or more only.
 */
static __thread struct {
	uintptr_t caller; /* of the function of fts that runs; 0: none */
	const FTSENT *parent;
	uint64_t pick;
} fts_now __attribute__((tls_model("initial-exec")));

static uint64_t fts_pick(const FTSENT *parent)
{
	if (fts_now.parent == parent)
		return fts_now.pick;
	fts_now.parent = parent;
	fts_now.pick = 0;
	if (!fts_now.caller ||
	    !choose_wanted(WIRE_MODEL_fts_read, fts_now.caller))
		return 0;
	uint64_t id = choose_mix(parent->fts_dev, parent->fts_ino);
	struct choose_keys keys = {
		.equal = 0, /* the same names: the same order */
		.object = choose_object((const void *)(uintptr_t)id),
	};
	fts_now.pick = choose_pick(WIRE_MODEL_fts_read, WIRE_MANY, keys);
	choose_argument("files of %s", parent->fts_path);
	choose_did("files came in another order");
	return fts_now.pick;
}

static int compare_files(const FTSENT **x, const FTSENT **y)
{
	const FTSENT *a = *x, *b = *y;
	if (a->fts_level <= FTS_ROOTLEVEL || !a->fts_parent)
		return 0;
	uint64_t pick = fts_pick(a->fts_parent);
	if (!pick)
		return 0;
	uint64_t first = choose_mix(pick, choose_hash_text(a->fts_name));
	uint64_t second = choose_mix(pick, choose_hash_text(b->fts_name));
	return (first > second) - (first < second);
}

static uintptr_t fts_enter(uintptr_t caller)
{
	uintptr_t before = fts_now.caller;
	fts_now.caller = caller;
	fts_now.parent = NULL;
	return before;
}

/* FTSENT64 is FTSENT on x86-64. */
#define FTS_OPEN(name, type, file)                                             \
	_export_ type *name(char *const *paths, int options,                   \
			    int (*compare)(const file **, const file **))      \
	{                                                                      \
		CHOOSE_NEXT(name, NULL)                                        \
		if (!compare &&                                                \
		    choose_wanted(WIRE_MODEL_fts_read, CHOOSE_CALLER()))       \
			compare = (int (*)(const file **, const file **))(     \
				void *)compare_files;                          \
		return next(paths, options, compare);                          \
	}

#define FTS_READ(name, type, file)                                             \
	_export_ file *name(type *fts)                                         \
	{                                                                      \
		CHOOSE_NEXT(name, NULL)                                        \
		uintptr_t before = fts_enter(CHOOSE_CALLER());                 \
		file *found = next(fts);                                       \
		fts_now.caller = before;                                       \
		return found;                                                  \
	}

#define FTS_CHILDREN(name, type, file)                                         \
	_export_ file *name(type *fts, int options)                            \
	{                                                                      \
		CHOOSE_NEXT(name, NULL)                                        \
		uintptr_t before = fts_enter(CHOOSE_CALLER());                 \
		file *found = next(fts, options);                              \
		fts_now.caller = before;                                       \
		return found;                                                  \
	}

FTS_OPEN(fts_open, FTS, FTSENT)
FTS_OPEN(fts64_open, FTS64, FTSENT64)
FTS_READ(fts_read, FTS, FTSENT)
FTS_READ(fts64_read, FTS64, FTSENT64)
FTS_CHILDREN(fts_children, FTS, FTSENT)
FTS_CHILDREN(fts64_children, FTS64, FTSENT64)
