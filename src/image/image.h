/*
 * The memory of a tracee at one boundary and at the one before: what was
 * written between them, and the heap's blocks on both sides.
 *
 * Pages that were never written since the beginning are not copied: they are
 * read, when asked for, from a process stopped at the beginning (the base, a
 * fork that never runs) or, without one, copied once. So the cost of a boundary
 * grows with what was written, not with what there is.
 *
 * Which pages were written is found in one of several ways (image_method); the
 * best that works here is chosen by trying it on the tracee.
 *
 * Invariants:
 *  1. The tracee is stopped, all of its threads, during every call here.
 *  2. After image_capture(), IMAGE_AFTER is the memory as it is, IMAGE_BEFORE
 *     as it was at the capture before; returned pages stay valid until the
 *     next.
 *  3. Memory of our own in the tracee (breakpoint slots, the agent's tables)
 *     and stacks are never in image_changes(), but what image_follow() names.
 *
 * What it does not do: know of types, variables or tests.
 */
#pragma once

#include "base/err.h"
#include "tracee/tracee.h"

#define IMAGE_PAGE 4096

struct image;

enum image_method {
	IMAGE_AUTO,
	IMAGE_SCAN,	  /* PAGEMAP_SCAN, asynchronous write protection */
	IMAGE_SOFT_DIRTY, /* clear_refs, pagemap bit 55 */
	IMAGE_FORK,	  /* a fork at each boundary, pagemap bit 56 */
	IMAGE_COMPARE,	  /* read and compare everything */
};

enum image_side { IMAGE_BEFORE, IMAGE_AFTER };

struct image_change {
	uint64_t address;      /* of the page */
	const uint8_t *before; /* NULL: was not there */
	const uint8_t *after;  /* NULL: it is gone */
};

struct image_block {
	uint64_t start;
	uint64_t size;
	uint32_t stack; /* for image_stack(); 0: not known */
	bool exact;	/* size is as requested; else what the allocator gave */
};

/*
 * Begins to watch @tracee, of which @thread is a stopped thread. @base: a copy
 * of it that never runs and outlives the image, or NULL. @agent: address of the
 * agent's struct wire_heap in the tracee; 0: there is no agent.
 */
struct err *image_create(struct thread *thread, struct tracee *base,
			 enum image_method method, uint64_t agent,
			 struct image **ret) _must_check_;
void image_destroy(struct image *image); /* NULL is fine; touches no tracee */
static inline void image_destroyp(struct image **image)
{
	image_destroy(*image);
}
enum image_method image_method(const struct image *image);
const char *image_method_name(enum image_method method);
/* NULL where there is none of that name. */
bool image_method_by_name(const char *name, enum image_method *ret);

/*
 * From now on pages of these bytes are compared although they are on a stack.
 * They count as they are now: at the last capture.
 */
struct err *image_follow(struct image *image, uint64_t address,
			 uint64_t size) _must_check_;
/* A boundary: what is now becomes AFTER, what was AFTER becomes BEFORE. */
struct err *image_capture(struct image *image,
			  struct thread *thread) _must_check_;
/* Pages whose content differs between the two sides, by address. */
const struct image_change *image_changes(const struct image *image,
					 size_t *ret_n);
/* NULL: nothing is mapped there, or it cannot be read. */
const uint8_t *image_page(struct image *image, enum image_side side,
			  uint64_t address);

/*
 * Without the agent: where glibc's main_arena is, so that all freed blocks can
 * be recognised.
 */
void image_set_arena(struct image *image, uint64_t main_arena);
/*
 * Without the agent, right after image_create(): the tracee has AddressSanitizer,
 * whose shadow says where blocks are.
 */
struct err *image_set_asan(struct image *image) _must_check_;
/* Is anything known of heap blocks? Why not, for the user, else NULL. */
const char *image_blocks_missing(const struct image *image);
/* As struct view's block(). */
bool image_block(struct image *image, enum image_side side, uint64_t address,
		 struct image_block *ret);
/* Return addresses of an allocation, innermost first; how many. */
size_t image_stack(struct image *image, uint32_t stack, uint64_t *out,
		   size_t max);

struct image_counts {
	uint64_t captures;
	uint64_t written; /* pages */
	uint64_t copied;  /* pages held */
	uint64_t bytes;	  /* memory of the image itself */
	uint64_t moved;	  /* captures that found other mappings */
	uint64_t hot;	  /* pages that are read every time */
};
struct image_counts image_counts(const struct image *image);
