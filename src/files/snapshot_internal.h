/*
 * What one name is at one moment: whether it is there, its type, content (by
 * hash), mode, owner, links, extended attributes.
 *
 * Nothing here fails: an error of the file system is an answer, too. Symbolic
 * links are never followed, and only regular files are opened: opening a FIFO or
 * a device would do something.
 *
 * Invariant: a snapshot whose stat data are those of now describes the file as
 * it is now, unless SNAP_RACY (file_time_is_racy()).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_state.h"
#include "base/macro.h"

enum snap_type {
	SNAP_ABSENT,
	SNAP_FILE,
	SNAP_FOLDER,
	SNAP_LINK,
	SNAP_SOCKET,
	SNAP_FIFO,
	SNAP_DEVICE,
	SNAP_UNKNOWN, /* we may not look at it */
};

enum snap_flags {
	SNAP_HASHED = 1 << 0,
	SNAP_PARTIAL = 1 << 1,	/* huge: only ends and mtime are in the hash */
	SNAP_CHANGING = 1 << 2, /* changed whenever it was read */
	SNAP_RACY = 1 << 3,
};

struct snap_xattr {
	char *name;
	uint64_t size, hash;
};

/* What only few snapshots have; shared by their copies. */
struct snap_extra {
	atomic_uint refs;
	uint32_t n_text;
	uint32_t n_xattrs;
	bool has_text;		   /* else content is known by its hash only */
	struct snap_xattr *xattrs; /* sorted by name */
	char text[]; /* content or target, n_text bytes and a NUL */
};

/* In the order of use by a walk. */
struct snap {
	uint8_t type, flags;
	struct file_state stat;
	uint64_t hash;
	struct snap_extra *extra; /* NULL: nothing */
};

static inline unsigned snap_permissions(const struct snap *snap)
{
	return snap->stat.mode & 07777;
}

/* In nanoseconds. */
static inline int64_t snap_mtime(const struct snap *snap)
{
	return file_time_ns(snap->stat.mtime);
}

struct snap_limits {
	uint64_t file; /* larger ones are not hashed at all; 0: no such limit */
	uint32_t text; /* content up to this size is kept */
	atomic_uint_least64_t *budget; /* bytes left to hash; NULL: no limit */
	atomic_uint_least64_t *hashed; /* counts bytes; NULL: nobody asks */
};

/*
 * @name below the open folder @dir, or AT_FDCWD. @prior: a former snapshot of
 * the same name that is taken where it still holds; NULL: none. @ret must not
 * hold anything.
 */
void snap_take(int dir, const char *name, const struct snap *prior,
	       const struct snap_limits *limits, struct snap *ret);
/* The same where stat data are at hand already. */
void snap_take_stat(int dir, const char *name, const struct file_state *stat,
		    const struct snap *prior, const struct snap_limits *limits,
		    struct snap *ret);
/* Do stat data say that @snap still holds? */
bool snap_holds(const struct snap *snap, const struct file_state *stat);
void snap_absent(struct snap *ret);
void snap_share(const struct snap *snap, struct snap *ret);
void snap_free(struct snap *snap);
static inline bool snap_exists(const struct snap *snap)
{
	return snap->type != SNAP_ABSENT && snap->type != SNAP_UNKNOWN;
}
/* The same thing, whatever its content by now? */
bool snap_same_inode(const struct snap *a, const struct snap *b);

enum snap_diff {
	DIFF_EXISTS = 1 << 0,
	DIFF_TYPE = 1 << 1,
	DIFF_CONTENT = 1 << 2,
	DIFF_TARGET = 1 << 3,
	DIFF_MODE = 1 << 4,
	DIFF_OWNER = 1 << 5,
	DIFF_XATTRS = 1 << 6,
	DIFF_LINKS = 1 << 7,
	DIFF_TIMES = 1 << 8, /* never by snap_differ() */
};
unsigned snap_differ(const struct snap *before, const struct snap *after);
uint64_t snap_digest(const struct snap *snap);
