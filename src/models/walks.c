/*
 * Models of walks through trees: ftw, nftw. They say nothing about the order of
 * the files of a directory. This is a walk of our own that does what glibc's
 * does (2.36, io/ftw.c) except for that order: each directory is read in full
 * and one choice.
 */
/* Names with and without 64 are both ours. */
#undef _FILE_OFFSET_BITS
#include "models/order_internal.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/syscall.h>

#define PATH_ROOM ((size_t)1 << 20)
#define WALK_FLAGS                                                             \
	(FTW_PHYS | FTW_MOUNT | FTW_CHDIR | FTW_DEPTH | FTW_ACTIONRETVAL)
#define WALK_DEPTH 4096
#define BYTES ((size_t)256 << 20)

typedef int plain_function(const char *, const struct stat *, int);
typedef int new_function(const char *, const struct stat *, int, struct FTW *);

struct known {
	dev_t dev;
	ino_t ino;
};

struct tree_walk {
	enum wire_model model;
	uintptr_t caller;
	plain_function *plain; /* ftw's, or … */
	new_function *new;     /* … nftw's */
	int flags;
	dev_t dev;
	int start; /* the working directory at the beginning */
	char *path;
	size_t length;
	struct FTW ftw;
	struct known *known; /* directories, where links are followed */
	size_t known_n, known_size;
};

static int tree_walk_failed(long error)
{
	errno = (int)-error;
	return -1;
}

static int tree_walk_report(struct tree_walk *walk, const struct stat *st,
			    int flag)
{
	static const int plain_flags[] = {
		[FTW_F] = FTW_F,    [FTW_D] = FTW_D,  [FTW_DNR] = FTW_DNR,
		[FTW_NS] = FTW_NS,  [FTW_SL] = FTW_F, [FTW_DP] = FTW_D,
		[FTW_SLN] = FTW_NS,
	};
	if (walk->plain)
		return walk->plain(walk->path, st, plain_flags[flag]);
	return walk->new (walk->path, st, flag, &walk->ftw);
}

static long tree_walk_stat(const struct tree_walk *walk, struct stat *st,
			   bool link)
{
	return sys_call(SYS_newfstatat, walk->start, (long)walk->path, (long)st,
			link ? AT_SYMLINK_NOFOLLOW : 0, 0, 0);
}

/* -1: no memory; 0: it was there; 1: it is new. */
static int tree_walk_remember(struct tree_walk *walk, const struct stat *st)
{
	for (size_t i = 0; i < walk->known_n; i++) {
		if (walk->known[i].dev == st->st_dev &&
		    walk->known[i].ino == st->st_ino)
			return 0;
	}
	struct known *known = walk->known;
	if (!known) {
		walk->known_size = (size_t)64 << 10;
		known = order_map(walk->known_size);
	} else if ((walk->known_n + 1) * sizeof(*known) > walk->known_size) {
		known = order_grow(known, &walk->known_size);
	}
	if (!known)
		return tree_walk_failed(-ENOMEM);
	walk->known = known;
	known[walk->known_n++] = (struct known){ st->st_dev, st->st_ino };
	return 1;
}

/* Names of a directory, one after the other, without "." and "..". */
struct directory_names {
	char *text;
	size_t size, used;
	uint32_t *order, *offsets;
	size_t order_size;
	uint32_t n;
	uint64_t hash; /* sum */
};

static void names_destroy(struct directory_names *names)
{
	order_unmap(names->text, names->size);
	order_unmap(names->offsets, names->order_size);
}

static bool names_add(struct directory_names *names, const char *name)
{
	size_t n = text_length(name) + 1;
	if (text_is(name, ".") || text_is(name, ".."))
		return true;
	while (names->used + n > names->size) {
		char *more = order_grow(names->text, &names->size);
		if (!more || names->size > BYTES)
			return false;
		names->text = more;
	}
	order_copy(names->text + names->used, name, n);
	names->used += n;
	names->hash += choose_hash_text(name);
	names->n++;
	return true;
}

static long directory_names_read(struct directory_names *names, int fd)
{
	char entries[8192] __attribute__((aligned(8)));
	names->size = 16384;
	names->text = order_map(names->size);
	if (!names->text)
		return -ENOMEM;
	for (;;) {
		long got = sys_call(SYS_getdents64, fd, (long)entries,
				    sizeof(entries), 0, 0, 0);
		if (got <= 0)
			break; /* glibc's walk takes an error for the end */
		for (long at = 0; at < got;) {
			const struct dirent64 *entry =
				(const struct dirent64 *)(entries + at);
			if (!names_add(names, entry->d_name))
				return -ENOMEM;
			at += entry->d_reclen;
		}
	}
	names->order_size = (names->n + 1) * 2 * sizeof(uint32_t);
	names->offsets = order_map(names->order_size);
	if (!names->offsets)
		return -ENOMEM;
	names->order = names->offsets + names->n + 1;
	uint32_t offset = 0;
	for (uint32_t i = 0; i < names->n; i++) {
		names->offsets[i] = offset;
		offset += (uint32_t)text_length(names->text + offset) + 1;
	}
	return 0;
}

static void names_choose(struct directory_names *names,
			 const struct tree_walk *walk, int fd)
{
	uint64_t pick = 0;
	if (names->n > 1 && choose_wanted(walk->model, walk->caller)) {
		pick = choose_pick(walk->model, choose_permutations(names->n),
				   order_directory_keys(fd, names->hash));
		choose_argument("%u files of %s", names->n, walk->path);
		choose_did("files came in another order");
	}
	choose_permutation(pick, names->n, names->order);
}

static int walk_directory(struct tree_walk *walk, const struct stat *st);

/* Follows in the same way as glibc's. */
static int walk_file(struct tree_walk *walk)
{
	struct stat st = {};
	int flag = FTW_F, result = 0;
	long error = tree_walk_stat(walk, &st, walk->flags & FTW_PHYS);
	if (error < 0) {
		if (error != -EACCES && error != -ENOENT)
			return tree_walk_failed(error);
		flag = FTW_NS;
		if (!(walk->flags & FTW_PHYS) &&
		    !tree_walk_stat(walk, &st, true) && S_ISLNK(st.st_mode))
			flag = FTW_SLN;
	} else if (S_ISDIR(st.st_mode)) {
		flag = FTW_D;
	} else if (S_ISLNK(st.st_mode)) {
		flag = FTW_SL;
	}
	if (flag == FTW_NS || !(walk->flags & FTW_MOUNT) ||
	    st.st_dev == walk->dev) {
		if (flag != FTW_D)
			result = tree_walk_report(walk, &st, flag);
		else if (walk->flags & FTW_PHYS)
			result = walk_directory(walk, &st);
		else {
			int is_new = tree_walk_remember(walk, &st);
			result =
				is_new > 0 ? walk_directory(walk, &st) : is_new;
		}
	}
	if (walk->flags & FTW_ACTIONRETVAL && result == FTW_SKIP_SUBTREE)
		result = 0;
	return result;
}

static int walk_names(struct tree_walk *walk,
		      const struct directory_names *names)
{
	size_t length = walk->length;
	int base = walk->ftw.base, result = 0;
	if (length && walk->path[length - 1] != '/')
		walk->path[length++] = '/';
	walk->ftw.base = (int)length;
	walk->ftw.level++;
	for (uint32_t i = 0; i < names->n && !result; i++) {
		const char *name =
			names->text + names->offsets[names->order[i]];
		size_t n = text_length(name);
		if (length + n + 2 > PATH_ROOM) {
			result = tree_walk_failed(-ENAMETOOLONG);
			break;
		}
		order_copy(walk->path + length, name, n + 1);
		walk->length = length + n;
		result = walk_file(walk);
	}
	walk->ftw.level--;
	walk->ftw.base = base;
	if (walk->flags & FTW_ACTIONRETVAL && result == FTW_SKIP_SIBLINGS)
		result = 0;
	return result;
}

/* Back to where the directory itself is. */
static long change_back(const struct tree_walk *walk)
{
	long error = sys_call(SYS_fchdir, walk->start, 0, 0, 0, 0, 0);
	size_t n = (size_t)walk->ftw.base;
	if (error || !n)
		return error;
	char saved = walk->path[n];
	walk->path[n] = '\0';
	error = sys_call(SYS_chdir, (long)walk->path, 0, 0, 0, 0, 0);
	walk->path[n] = saved;
	return error;
}

static int walk_directory(struct tree_walk *walk, const struct stat *st)
{
	struct directory_names names = {};
	size_t length = walk->length;
	long fd = sys_call(SYS_openat, walk->start, (long)walk->path,
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK, 0,
			   0, 0);
	if (fd == -EACCES)
		return tree_walk_report(walk, st, FTW_DNR);
	if (fd < 0)
		return tree_walk_failed(fd);
	int result = 0;
	if (!(walk->flags & FTW_DEPTH))
		result = tree_walk_report(walk, st, FTW_D);
	long error = 0;
	if (!result && walk->flags & FTW_CHDIR)
		error = sys_call(SYS_fchdir, fd, 0, 0, 0, 0, 0);
	if (!result && !error)
		error = directory_names_read(&names, (int)fd);
	if (!result && walk->ftw.level > WALK_DEPTH)
		error = -ENAMETOOLONG; /* the stack is theirs */
	if (!result && !error)
		names_choose(&names, walk, (int)fd);
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (!result && error)
		result = tree_walk_failed(error);
	else if (!result) {
		result = walk_names(walk, &names);
		walk->length = length;
		walk->path[length] = '\0';
		if (!result && walk->flags & FTW_DEPTH)
			result = tree_walk_report(walk, st, FTW_DP);
		if (walk->ftw.level && walk->flags & FTW_CHDIR &&
		    (!result || (walk->flags & FTW_ACTIONRETVAL &&
				 result != -1 && result != FTW_STOP))) {
			error = change_back(walk);
			if (error)
				result = tree_walk_failed(error);
		}
	}
	names_destroy(&names);
	return result;
}

static int walk_first(struct tree_walk *walk)
{
	struct stat st = {};
	if (walk->flags & FTW_CHDIR && walk->ftw.base) {
		long error = change_back(walk);
		if (error)
			return tree_walk_failed(error);
	}
	long error = tree_walk_stat(walk, &st, walk->flags & FTW_PHYS);
	if (error < 0) {
		if (!(walk->flags & FTW_PHYS) && error == -ENOENT &&
		    !tree_walk_stat(walk, &st, true) && S_ISLNK(st.st_mode))
			return tree_walk_report(walk, &st, FTW_SLN);
		return tree_walk_failed(error);
	}
	if (!S_ISDIR(st.st_mode))
		return tree_walk_report(walk, &st,
					S_ISLNK(st.st_mode) ? FTW_SL : FTW_F);
	walk->dev = st.st_dev;
	if (!(walk->flags & FTW_PHYS) && tree_walk_remember(walk, &st) < 0)
		return -1;
	return walk_directory(walk, &st);
}

/* Its path as glibc has it: without slashes at the end. */
static bool tree_walk_begin(struct tree_walk *walk, const char *path)
{
	size_t n = text_length(path);
	if (!n || n + 2 > PATH_MAX)
		return false;
	while (n > 1 && path[n - 1] == '/')
		n--;
	walk->path = order_map(PATH_ROOM);
	if (!walk->path)
		return false;
	order_copy(walk->path, path, n);
	walk->path[n] = '\0';
	walk->length = n;
	while (n && walk->path[n - 1] != '/')
		n--;
	walk->ftw = (struct FTW){ .base = (int)n, .level = 0 };
	long fd = sys_call(SYS_openat, AT_FDCWD, (long)".",
			   O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	walk->start = (int)fd;
	if (fd < 0)
		order_unmap(walk->path, PATH_ROOM);
	return fd >= 0;
}

static int tree_walk_all(struct tree_walk *walk)
{
	int result = walk_first(walk);
	int error = errno;
	if (walk->flags & FTW_ACTIONRETVAL &&
	    (result == FTW_SKIP_SUBTREE || result == FTW_SKIP_SIBLINGS))
		result = 0;
	if (walk->flags & FTW_CHDIR)
		sys_call(SYS_fchdir, walk->start, 0, 0, 0, 0, 0);
	sys_call(SYS_close, walk->start, 0, 0, 0, 0, 0);
	order_unmap(walk->path, PATH_ROOM);
	order_unmap(walk->known, walk->known_size);
	errno = error;
	return result;
}

/* struct stat64 is struct stat on x86-64. */
#define FTW_FUNCTION(name, type)                                               \
	_export_ int name(const char *path, type function, int descriptors)    \
	{                                                                      \
		CHOOSE_NEXT(name, -1)                                          \
		struct tree_walk walk = {                                      \
			.model = WIRE_MODEL_ftw,                               \
			.caller = CHOOSE_CALLER(),                             \
			.plain = (plain_function *)(void *)function,           \
		};                                                             \
		if (!choose_wanted(walk.model, walk.caller) ||                 \
		    !tree_walk_begin(&walk, path))                             \
			return next(path, function, descriptors);              \
		return tree_walk_all(&walk);                                   \
	}

#define NFTW_FUNCTION(name, type)                                              \
	_export_ int name(const char *path, type function, int descriptors,    \
			  int flags)                                           \
	{                                                                      \
		CHOOSE_NEXT(name, -1)                                          \
		struct tree_walk walk = {                                      \
			.model = WIRE_MODEL_nftw,                              \
			.caller = CHOOSE_CALLER(),                             \
			.new = (new_function *)(void *)function,               \
			.flags = flags,                                        \
		};                                                             \
		if (flags & ~WALK_FLAGS ||                                     \
		    !choose_wanted(walk.model, walk.caller) ||                 \
		    !tree_walk_begin(&walk, path))                             \
			return next(path, function, descriptors, flags);       \
		return tree_walk_all(&walk);                                   \
	}

FTW_FUNCTION(ftw, __ftw_func_t)
FTW_FUNCTION(ftw64, __ftw64_func_t)
NFTW_FUNCTION(nftw, __nftw_func_t)
NFTW_FUNCTION(nftw64, __nftw64_func_t)
