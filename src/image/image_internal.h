/* Internals of images; for image/ only. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "image/image.h"

/* What is left out as too large to be a program's state: sanitizers' shadows. */
#define MAPPING_MAX (UINT64_C(64) << 30)

struct memory_range {
	uint64_t start;
	uint64_t end;
};

DEFINE_VEC(ranges, struct memory_range)

/* Sorts, and joins what touches or overlaps. */
void ranges_tidy(struct ranges *ranges);

/* What the pages are that are not held. */
enum piece_content {
	CONTENT_LIVE, /* not known how they were: as they are in the tracee */
	CONTENT_BASE, /* as in the base */
	CONTENT_ZERO, /* never touched */
};

/*
 * A piece of the address space of one nature. The kernel's mapping may be
 * larger: where one grew, the old part and the new are two pieces.
 */
struct piece {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file */
	uint64_t inode;
	uint32_t device;
	bool readable;
	bool writable;
	bool executable;
	bool shared;
	bool stack;   /* of a thread, or the like: not followed; sticks */
	bool grows;   /* the first thread's: downwards */
	bool heap;    /* of brk() */
	bool special; /* the kernel's or a device's */
	bool huge;    /* too large to compare */
	bool tracked; /* its pages are compared */
	bool fresh;   /* was not there at the capture before */
	bool same;    /* while mappings are examined: not a new one */
	enum piece_content content;
	/* IMAGE_SCAN */
	bool registered;
	bool dense;  /* most of it is there: the quick scan */
	bool sparse; /* the careful one */
	/* IMAGE_SOFT_DIRTY, IMAGE_FORK, IMAGE_COMPARE: was there, bit a page. */
	uint8_t *present;
};

static inline bool piece_anonymous(const struct piece *piece)
{
	return !piece->inode;
}

struct pieces {
	struct piece *data;
	size_t n;
	size_t cap;
};

void pieces_free(struct pieces *pieces);
static inline void pieces_freep(struct pieces *pieces)
{
	pieces_free(pieces);
}
/* NULL where there is none. */
struct piece *pieces_find(const struct pieces *pieces, uint64_t address);
/* The index of the first that ends after @address. */
size_t pieces_after(const struct pieces *pieces, uint64_t address);
/* From /proc/PID/maps. */
struct err *pieces_read(int maps_fd, struct pieces *ret) _must_check_;
/* Logs which writable memory is not compared, and why. */
void pieces_log(const struct pieces *pieces);

/* Buffers of one page each. */
struct page_pool {
	VEC(uint8_t *) slabs;
	VEC(uint8_t *) unused;
	size_t trimmed; /* how many of @unused were given back to the system */
};
struct err *pool_get(struct page_pool *pool, uint8_t **ret) _must_check_;
void pool_put(struct page_pool *pool,
	      uint8_t *page); /* NULL, zero page: fine */
/* Gives memory back if much is unused. */
void pool_trim(struct page_pool *pool);
uint64_t pool_bytes(const struct page_pool *pool);
void pool_free(struct page_pool *pool);
extern const uint8_t zero_page[IMAGE_PAGE];

/* A page that was written at some time. */
struct page {
	uint64_t address;
	uint8_t *now; /* NULL: not there */
	uint8_t *before;
	bool changed;	/* @before counts */
	bool hot;	/* in image->hot */
	uint8_t streak; /* captures in a row in which it was written */
	uint8_t idle;	/* hot: captures in which it did not change */
	uint64_t last;	/* capture in which it was written */
};

struct image;
/* capture.c: the copy that is held of a page; NULL: none. */
struct page *page_held(const struct image *image, uint64_t address);
#define HOT_AFTER 3  /* captures in a row that it was written */
#define HOT_UNTIL 12 /* captures without a change */
#define HOT_MAX 256

/*
 * Pages read on demand, in larger pieces; they live until the cache is emptied.
 */
struct cache {
	struct map_u64 chunks; /* address → struct chunk * */
	uint64_t bytes;
};
const uint8_t *cache_page(struct cache *cache, struct tracee *tracee,
			  const struct piece *piece, uint64_t address);
void cache_empty(struct cache *cache);

/*
 * Which pages of the base are there: never touched ones are zeros, and reading
 * them would take memory, ours and the kernel's. It never changes.
 */
struct base_pages {
	struct map_u64 windows; /* address → uint64_t[], bit a page */
};
bool base_page_is_there(struct base_pages *pages, int pagemap_fd,
			uint64_t address);
void base_pages_free(struct base_pages *pages);

/* Part of a large run. */
struct scan_unit {
	uint64_t start;
	uint64_t end;
	uint64_t hot; /* written to at this scan */
};

DEFINE_VEC(units, struct scan_unit)

/* A way to find out what was written. */
struct method {
	enum image_method kind;
	const char *name;
	/* Everything is in image->pieces; what is written from now on counts. */
	struct err *(*start)(struct image *image, struct thread *thread);
	/*
	 * Pages written since the last time, into image->written; *@ret_stale
	 * where some are not where they can be.
	 */
	struct err *(*collect)(struct image *image, struct thread *thread,
			       bool *ret_stale);
	/* Have mappings come or gone, or may they have? */
	struct err *(*moved)(struct image *image, bool *ret);
	/*
	 * Sets @same of pieces that are, for all the method knows, (part of)
	 * what was there before; NULL: all may be.
	 */
	void (*mark_same)(struct image *image, struct pieces *pieces);
	/* A new piece: what of it is there counts as written. */
	struct err *(*adopt)(struct image *image, struct piece *piece);
	/* The pieces are others now. */
	struct err *(*arrange)(struct image *image);
	void (*stop)(struct image *image);
};
extern const struct method method_scan;
extern const struct method method_soft_dirty;
extern const struct method method_fork;
extern const struct method method_compare;

struct blocks;
struct blocks_glibc;
struct batch;

struct image {
	struct tracee *tracee;
	pid_t pid;
	struct tracee *base;
	uint64_t agent;
	uint64_t main_arena;
	const struct method *method;
	bool automatic; /* another method may be taken */

	int maps_fd;
	int pagemap_fd;
	int statm_fd;
	int base_pagemap_fd; /* -1: no base */
	uint64_t size;	     /* of all mappings and of writable ones (statm) */

	struct pieces pieces;
	struct pieces before; /* where they changed in the last interval */
	bool pieces_changed;
	struct ranges written;
	struct ranges own;	/* the agent's memory */
	struct ranges followed; /* parts of stacks: image_follow() */
	bool asan;		/* blocks come from a shadow, … */
	struct ranges shadows;	/* … of which these pages were written */

	struct batch *batch; /* capture.c */
	struct page_pool pool;
	struct map_u64 pages;	    /* address → struct page * */
	VEC(struct page *) touched; /* with a BEFORE copy, or gone */
	/*
	 * Pages that are written every time: reading them anyway costs less than
	 * the fault by which the kernel notices the first write. By address.
	 */
	VEC(uint64_t) hot;
	VEC(uint64_t) hot_new; /* to be taken in */
	bool hot_idle;	       /* some no longer are */
	VEC(struct image_change) changes;
	struct cache base_cache;
	struct base_pages base_pages;
	struct cache fixed_cache; /* what cannot be written */
	struct cache live_cache;  /* what is not followed: stacks */
	struct image_counts counts;
	struct blocks *blocks[2]; /* by side */

	/* IMAGE_SCAN */
	int uffd;
	struct ranges checks; /* everything in them is registered */
	struct ranges runs;   /* dense pieces, and little else */
	struct units units;   /* the same, to be examined one by one */
	uint64_t dense_pages;
	int stat_fd;
	uint64_t scans;
	uint64_t faults; /* of the tracee, at the last scan, if @counted */
	bool counted;
	uint64_t cold_at; /* where something was found last that was not hot */
	/* Pages of sparse pieces that are there, now and at the last scan. */
	struct ranges there;
	struct ranges there_before;
	/* IMAGE_FORK */
	struct tracee *fork;
	/* The others: the text of maps as it was. */
	char *maps_text;
	size_t maps_n;
};

/* shadow.c: how shadows are now is known from here on. */
struct err *image_begin_shadows(struct image *image) _must_check_;
/* What was written has a shadow, which is read and compared, too. */
struct err *image_add_shadows(struct image *image) _must_check_;
bool image_is_shadow(const struct image *image, uint64_t address);
/* image.c: without the agent the allocator's own headers help. */
struct blocks_glibc image_heap(const struct image *image, enum image_side side);
/* capture.c: the pieces for the first time. */
struct err *image_begin(struct image *image) _must_check_;
/* Updates image->pieces; what came or went is in image->written. */
struct err *image_refresh(struct image *image) _must_check_;
/* Into image->written: pages of @piece whose content we know. */
struct err *image_add_known(struct image *image,
			    const struct piece *piece) _must_check_;
/* A new boundary: what was BEFORE is forgotten. */
void image_age(struct image *image);
/* Reads image->written and image->followed and compares. */
struct err *image_evaluate(struct image *image) _must_check_;
/* Holds the page as it is now. */
struct err *image_hold(struct image *image, uint64_t address) _must_check_;
struct err *image_copy_all(struct image *image) _must_check_;

/* pagemap.c */
enum pagemap_bit {
	PAGEMAP_SOFT_DIRTY = 55,
	PAGEMAP_EXCLUSIVE = 56,
	PAGEMAP_SWAPPED = 62,
	PAGEMAP_PRESENT = 63,
};
/*
 * Adds to @ret the pages of @piece that are there and have @bit (0: any). With
 * @remember those, too, that were there the last time and are not now.
 */
struct err *pagemap_collect(int fd, struct piece *piece, unsigned bit,
			    bool remember, struct ranges *ret) _must_check_;
