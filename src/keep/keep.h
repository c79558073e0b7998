/*
 * Files that are restored: what tests leave changed becomes what it was, so
 * that another order of tests begins with the same files.
 *
 * A keeper is given paths. keeper_take() remembers what is there now (nothing,
 * a file with content and attributes, a folder with all that is in it, a link);
 * keeper_put_back() restores it and touches nothing that is unchanged. Any
 * number of states can be taken; contents that are equal are kept once.
 *
 * Invariants:
 *  1. Only the given paths, and what is below them if they are folders, are
 *     ever written, created or removed.
 *  2. Symbolic links are never followed below a given path.
 *  3. Nothing is removed or replaced that is older than the keeper and was not
 *     kept as it began: a file that a test gave another name may be the only
 *     copy of what was too large to be kept.
 *  4. More than KEEP_FILES_MAX files, KEEP_BYTES_MAX bytes (or what leaves
 *     KEEP_BYTES_FREE on the disk where large ones are kept) or KEEP_DEPTH_MAX
 *     nested folders are not kept: such a path is left alone from then on, and
 *     reported (keeper_lost()).
 *  5. A file that has several names, or that the tested program has open, gets
 *     its name back, not a copy: it stays the same file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define KEEP_FILES_MAX ((size_t)500000)
#define KEEP_BYTES_MAX ((uint64_t)64 << 30)
#define KEEP_BYTES_FREE ((uint64_t)1 << 30)
#define KEEP_DEPTH_MAX 500

struct keeper;
struct kept;

/*
 * A path with a slash at its end is a folder of which only its attributes are
 * kept: what is in it is left alone.
 */
struct err *keeper_create(const char *const *paths, size_t n,
			  struct keeper **ret) _must_check_;
void keeper_destroy(struct keeper *keeper); /* restores nothing; NULL is fine */
static inline void keeper_destroyp(struct keeper **keeper)
{
	keeper_destroy(*keeper);
}
struct err *keeper_take(struct keeper *keeper, struct kept **ret) _must_check_;
void kept_destroy(struct kept *kept); /* before its keeper; NULL is fine */
static inline void kept_destroyp(struct kept **kept)
{
	kept_destroy(*kept);
}
struct err *keeper_put_back(struct keeper *keeper,
			    const struct kept *kept) _must_check_;
/* Only the paths of which @which (by keeper_path()) says so; NULL: all. */
struct err *keeper_put_back_some(struct keeper *keeper, const struct kept *kept,
				 const bool *which) _must_check_;
/* Was everything kept? */
bool kept_whole(const struct kept *kept);
/*
 * Was the same at a path in both, apart from times of folders? Also true if not
 * known: it was not kept, or it is in a folder that was.
 */
bool kept_same(const struct kept *a, const struct kept *b, size_t i);
/* What was at a path, in a few words; NULL: out of memory. */
char *kept_text(const struct kept *kept, size_t i);
/* Is a path at or below one of those given? */
bool keeper_has(const struct keeper *keeper, const char *path);
/* The paths as they were given, sorted. */
size_t keeper_count(const struct keeper *keeper);
const char *keeper_path(const struct keeper *keeper, size_t i);
/* Such a path as the name of a root, without a slash; NULL: out of memory. */
char *keeper_root(const struct keeper *keeper, size_t i);
/*
 * Is a root (struct change) a path that can be kept? Names with a part that is
 * generated for each run (XXXXXX, PID, DATE) and whole crowds ("folder/" and a
 * star) cannot.
 */
bool keep_is_exact(const char *root);

/* Paths that cannot be kept or restored, with the reason; NULL at the end. */
const char *keeper_lost(const struct keeper *keeper, size_t i);
