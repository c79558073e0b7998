/*
 * How a variable is restored: the bytes to be written, found by comparing the
 * memory before and after (memory_watch.c).
 *
 * They are those of the variable, of its guard if it was constructed in the
 * meantime, and of all that could be reached from it before. A block that more
 * than one variable leads to is written with each of them: it is part of the
 * content of each, and a variable must not be half restored. So restoring one
 * may restore part of another, and where two variables share the block that
 * matters, each of them alone turns the outcome.
 *
 * Blocks are written in place. Where the agent keeps freed blocks back
 * (wire/heap.h, quarantine) they are all still there. Elsewhere those that are
 * gone get another place, from the program's own malloc(), and words that led
 * to them lead there.
 */
#pragma once

#include "base/vec.h"
#include "watch/memory_watch.h"

struct undo_patch {
	uint64_t address;
	size_t at; /* in undo.bytes */
	size_t n;
};

/* A block that is gone: [start, start + size) before. */
struct undo_block {
	uint64_t start;
	uint64_t size;
	size_t at; /* in undo.bytes */
};

/* A word that leads into a block that is gone. */
struct undo_word {
	size_t in;	/* block that the word is in; UNDO_IN_PLACE: none */
	uint64_t where; /* offset in it, or address */
	size_t block;
	uint64_t offset;
};
#define UNDO_IN_PLACE ((size_t)-1)

struct undo {
	VEC(struct undo_patch) patches;
	VEC(uint8_t) bytes;
	VEC(struct undo_block) blocks;
	VEC(struct undo_word) words;
	/*
	 * Blocks that were freed and are kept back, with what they held: so they
	 * are as if they had not been freed.
	 */
	VEC(struct undo_patch) freed;
};
void undo_free(struct undo *undo);

struct undo_finder;
/* @watch has looked at a process twice. @kept: freed blocks were kept back. */
struct err *undo_finder_create(struct memory_watch *watch, bool kept,
			       struct undo_finder **ret) _must_check_;
void undo_finder_destroy(struct undo_finder *finder); /* NULL is fine */
static inline void undo_finder_destroyp(struct undo_finder **finder)
{
	undo_finder_destroy(*finder);
}
/* *@ret_possible: false if some of it is gone. */
struct err *undo_find(struct undo_finder *finder, size_t root, struct undo *ret,
		      bool *ret_possible) _must_check_;
/*
 * Leaves out what differs between two processes: bytes that were written between
 * @then and @now, and are meant to be as they are now.
 */
struct err *undo_spare(struct undo *undo, struct tracee *then,
		       struct tracee *now) _must_check_;
static inline bool undo_is_empty(const struct undo *undo)
{
	return !undo->patches.n && !undo->words.n && !undo->freed.n;
}

/*
 * Freed memory, in a copy: as if others used it by now, at most so many bytes of
 * each block; or as it was again.
 */
struct err *undo_overwrite_freed(const struct undo *undo, size_t most,
				 struct tracee *tracee) _must_check_;
struct err *undo_restore_freed(const struct undo *undo,
			       struct tracee *tracee) _must_check_;
/* Into a copy of the process, as it was examined the second time. */
struct err *undo_apply(const struct undo *undo, const struct program *program,
		       struct tracee *tracee) _must_check_;
