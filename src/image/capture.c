/* A boundary: mappings followed, pages read and compared. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/interrupted.h"
#include "base/log.h"
#include "image/image_internal.h"
#include "tracee/memory.h"
#include "wire/heap.h"

/* Pages read with one system call; it takes up to 1,024 places. */
#define BATCH 512
/*
 * How much of a large unmapped area is reported even though it was not written.
 */
#define GONE_MAX 16384
/*
 * From this size on, what was written as a whole may be a huge page with one
 * small change.
 */
#define CROWD_SIZE ((uint64_t)64 * IMAGE_PAGE)
/* Pages of the base that are kept from one boundary to the next. */
#define CACHE_MAX ((uint64_t)64 << 20)
/* Larger reserves are not checked for being empty. */
#define BLANK_MAX ((uint64_t)1 << 30)
/* Mappings of files up to this size are read as a whole when they appear. */
#define FILE_MAX ((uint64_t)4 << 20)

struct work {
	uint64_t address;
	struct page *page; /* NULL: not held */
	const struct piece *now;
	const struct piece *was;
	uint8_t *after;
	uint8_t *before;
	bool crowded; /* one of many in a row: few of them may have changed */
};

struct page *page_held(const struct image *image, uint64_t address)
{
	uint64_t found;
	if (!map_u64_get(&image->pages, address, &found))
		return NULL;
	return (struct page *)(uintptr_t)found;
}

/* One page the slow way; gives the buffer back where it cannot be read. */
static void read_one(struct image *image, struct tracee *from, uint64_t address,
		     uint8_t **buffer)
{
	if (memory_read_some(from, RADDR(address), *buffer, IMAGE_PAGE) <
	    IMAGE_PAGE) {
		pool_put(&image->pool, *buffer);
		*buffer = NULL;
	}
}

struct capture_reading {
	struct iovec local[BATCH];
	struct iovec remote[BATCH];
	uint8_t **buffers[BATCH];
	uint64_t addresses[BATCH];
	size_t n;
};

struct batch {
	struct work works[BATCH];
	struct capture_reading reading;
};

/* Pages that cannot be read become NULL. */
static void read_pages(struct image *image, struct tracee *from,
		       struct capture_reading *reading)
{
	size_t at = 0;
	while (at < reading->n) {
		/* Few are read faster through the mem file. */
		ssize_t got = -1;
		if (reading->n - at > 2) {
			size_t locals = 0, remotes = 0;
			for (size_t i = at; i < reading->n; i++) {
				uint8_t *to = *reading->buffers[i];
				struct iovec *local =
					&reading->local[locals - !!locals];
				if (locals && (uint8_t *)local->iov_base +
							      local->iov_len ==
						      to)
					local->iov_len += IMAGE_PAGE;
				else
					reading->local[locals++] =
						(struct iovec){ to,
								IMAGE_PAGE };
				uint64_t address = reading->addresses[i];
				if (i > at &&
				    reading->addresses[i - 1] + IMAGE_PAGE ==
					    address)
					reading->remote[remotes - 1].iov_len +=
						IMAGE_PAGE;
				else
					reading->remote[remotes++] =
						(struct iovec){
							(void *)(uintptr_t)
								address,
							IMAGE_PAGE
						};
			}
			got = process_vm_readv(tracee_pid(from), reading->local,
					       locals, reading->remote, remotes,
					       0);
		}
		at += got > 0 ? (size_t)got / IMAGE_PAGE : 0;
		if (at < reading->n) {
			read_one(image, from, reading->addresses[at],
				 reading->buffers[at]);
			at++;
		}
	}
}

static struct err *read_add(struct image *image,
			    struct capture_reading *reading, uint64_t address,
			    uint8_t **buffer)
{
	TRY(pool_get(&image->pool, buffer));
	reading->buffers[reading->n] = buffer;
	reading->addresses[reading->n++] = address;
	return NULL;
}

static bool in_ranges(const struct ranges *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->n; i++) {
		if (address < ranges->data[i].start)
			return false;
		if (address < ranges->data[i].end)
			return true;
	}
	return false;
}

/* NULL: out of memory. */
static struct page *capture_hold_page(struct image *image,
				      const struct work *work)
{
	if (work->page)
		return work->page;
	struct page *page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->address = work->address;
	struct err *err =
		map_u64_put(&image->pages, work->address, (uintptr_t)page);
	if (err) {
		err_ignore(err);
		free(page);
		return NULL;
	}
	return page;
}

/* A page was written, or is read every time: is it to be, or still? */
static struct err *note_heat(struct image *image, struct page *page,
			     bool changed)
{
	uint64_t now = image->counts.captures;
	if (page->hot) {
		page->idle = changed ? 0 : page->idle + 1;
		image->hot_idle |= page->idle == HOT_UNTIL;
		return NULL;
	}
	page->streak = page->last == now - 1 ? page->streak + 1 : 1;
	page->last = now;
	if (page->streak < HOT_AFTER ||
	    image->hot.n + image->hot_new.n >= HOT_MAX)
		return NULL;
	page->hot = true;
	page->idle = page->streak = 0;
	return vec_push(&image->hot_new, page->address);
}

/*
 * A page of a new mapping that nobody wrote to: it came with a huge page, or
 * was read.
 */
static bool is_still_blank(const struct work *work)
{
	return work->now && work->now->content == CONTENT_ZERO &&
	       !memcmp(work->after, zero_page, IMAGE_PAGE);
}

/* Takes over the copies that are kept; the others stay in @work. */
static struct err *capture_settle_pages(struct image *image, struct work *work)
{
	bool was_held = work->page;
	const uint8_t *old = was_held ? work->page->now : work->before;
	/* Nothing was there before, and nothing is there now. */
	if (!work->after && (!old || old == zero_page))
		return NULL;
	if (!was_held && !old && is_still_blank(work))
		return NULL;
	bool same = old && work->after && !memcmp(old, work->after, IMAGE_PAGE);
	if (was_held && work->now && work->now->tracked)
		TRY(note_heat(image, work->page, !same));
	/* What is as it was is held, too: the next time is cheaper. */
	if (same && (was_held || old == zero_page || work->crowded))
		return NULL;
	TRY(vec_reserve(&image->touched, image->touched.n + 1));
	TRY(vec_reserve(&image->changes, image->changes.n + 1));
	struct page *page = capture_hold_page(image, work);
	if (!page)
		return err_nomem();
	if (!same) {
		page->before = was_held ? page->now : take_ptr(work->before);
		page->changed = true;
		image->touched.data[image->touched.n++] = page;
	}
	page->now = take_ptr(work->after);
	if (!same && !in_ranges(&image->own, page->address) &&
	    !image_is_shadow(image, page->address))
		image->changes.data[image->changes.n++] =
			(struct image_change){ page->address, page->before,
					       page->now };
	return NULL;
}

struct err *image_hold(struct image *image, uint64_t address)
{
	struct work work = { .address = address,
			     .page = page_held(image, address) };
	if (work.page)
		return NULL;
	TRY(pool_get(&image->pool, &work.after));
	read_one(image, image->tracee, address, &work.after);
	if (!work.after)
		return NULL;
	struct page *page = capture_hold_page(image, &work);
	if (!page) {
		pool_put(&image->pool, work.after);
		return err_nomem();
	}
	page->now = work.after;
	return NULL;
}

static struct err *work_off(struct image *image, size_t n)
{
	struct work *works = image->batch->works;
	struct capture_reading *reading = &image->batch->reading;
	struct err *err = NULL;
	if (interrupted)
		return err_create(ERR_INTERRUPTED, "interrupted");
	reading->n = 0;
	for (size_t i = 0; i < n && !err; i++) {
		if (works[i].now)
			err = read_add(image, reading, works[i].address,
				       &works[i].after);
	}
	if (!err)
		read_pages(image, image->tracee, reading);
	reading->n = 0;
	for (size_t i = 0; i < n && !err; i++) {
		struct work *work = &works[i];
		if (work->page || !work->was)
			continue;
		if (work->was->content == CONTENT_BASE)
			err = read_add(image, reading, work->address,
				       &work->before);
		else if (work->was->content == CONTENT_ZERO)
			work->before = (uint8_t *)zero_page;
	}
	if (!err && reading->n)
		read_pages(image, image->base, reading);
	for (size_t i = 0; i < n; i++) {
		if (!err)
			err = capture_settle_pages(image, &works[i]);
		pool_put(&image->pool, works[i].after);
		pool_put(&image->pool, works[i].before);
	}
	return err;
}

struct err *image_evaluate(struct image *image)
{
	const struct pieces *then =
		image->pieces_changed ? &image->before : &image->pieces;
	if (!image->batch)
		image->batch = malloc(sizeof(*image->batch));
	if (!image->batch)
		return err_nomem();
	size_t n = 0;
	size_t now_at = 0, then_at = 0;
	TRY(vec_append(&image->written, image->followed.data,
		       image->followed.n));
	ranges_tidy(&image->written);
	for (size_t i = 0; i < image->written.n; i++) {
		struct memory_range range = image->written.data[i];
		bool crowded = image->method != &method_compare &&
			       range.end - range.start > CROWD_SIZE;
		for (uint64_t at = range.start; at < range.end;
		     at += IMAGE_PAGE) {
			while (now_at < image->pieces.n &&
			       image->pieces.data[now_at].end <= at)
				now_at++;
			while (then_at < then->n &&
			       then->data[then_at].end <= at)
				then_at++;
			const struct piece *now = NULL, *was = NULL;
			if (now_at < image->pieces.n &&
			    image->pieces.data[now_at].start <= at)
				now = &image->pieces.data[now_at];
			if (then_at < then->n &&
			    then->data[then_at].start <= at)
				was = &then->data[then_at];
			if (!(now && now->tracked) && !(was && was->tracked) &&
			    !in_ranges(&image->followed, at) &&
			    !image_is_shadow(image, at))
				continue;
			image->counts.written++;
			image->batch->works[n++] =
				(struct work){ .address = at,
					       .page = page_held(image, at),
					       .now = now,
					       .was = was,
					       .crowded = crowded };
			if (n == BATCH) {
				TRY(work_off(image, n));
				n = 0;
			}
		}
	}
	return n ? work_off(image, n) : NULL;
}

/* The agent says which memory is its own; it may say anything. */
static void read_own(struct image *image)
{
	struct wire_heap heap;
	image->own.n = 0;
	if (!image->agent)
		return;
	if (memory_read_some(image->tracee, RADDR(image->agent), &heap,
			     sizeof(heap)) < sizeof(heap) ||
	    heap.magic != WIRE_HEAP_MAGIC ||
	    heap.version != WIRE_HEAP_VERSION) {
		log_debug(LOG_AGENT, "the agent does not say which memory is "
				     "its own: all of it is compared");
		return;
	}
	for (size_t i = 0; i < WIRE_REGIONS && i < heap.regions_n; i++) {
		uint64_t start = heap.regions[i].address & ~(IMAGE_PAGE - 1ULL);
		uint64_t end = heap.regions[i].address + heap.regions[i].size +
			       IMAGE_PAGE - 1;
		end &= ~(IMAGE_PAGE - 1ULL);
		if (start >= end)
			continue;
		err_ignore(vec_push(&image->own,
				    (struct memory_range){ start, end }));
	}
	ranges_tidy(&image->own);
}

/*
 * Stacks of threads. A program may also run on memory of its heap or its
 * variables, which stay.
 */
static void find_stacks(const struct image *image, struct pieces *pieces)
{
	for (size_t i = 0; i < tracee_threads(image->tracee); i++) {
		const struct thread *thread = tracee_thread(image->tracee, i);
		struct piece *piece =
			pieces_find(pieces, regs_sp(&thread->regs).v);
		if (!thread->stopped || !piece || piece->inode || piece->heap ||
		    piece->shared)
			continue;
		const struct piece *below = piece - 1;
		if (piece > pieces->data && below->end == piece->start &&
		    below->inode && below->writable)
			continue; /* .bss */
		piece->stack = true;
		piece->tracked = false;
	}
}

/* The part of the old page's bits that belongs to @part. */
static struct err *inherit_present(const struct piece *old, struct piece *part)
{
	if (!old->present)
		return NULL;
	uint64_t pages = (part->end - part->start) / IMAGE_PAGE;
	uint64_t skip = (part->start - old->start) / IMAGE_PAGE;
	part->present = calloc(1, pages / 8 + 1);
	if (!part->present)
		return err_nomem();
	for (uint64_t i = 0; i < pages; i++) {
		if (old->present[(skip + i) / 8] >> ((skip + i) % 8) & 1)
			part->present[i / 8] |= (uint8_t)(1 << i % 8);
	}
	return NULL;
}

static bool pieces_are_compatible(const struct piece *old,
				  const struct piece *new)
{
	return old->shared == new->shared && old->inode == new->inode &&
	       old->device == new->device && old->special == new->special &&
	       (!old->inode ||
		old->start - old->offset == new->start - new->offset);
}

/* Reserved memory: zeros, as long as it was not writable. */
static bool piece_is_blank(struct image *image, const struct piece *piece)
{
	_cleanup_(ranges_freep) struct ranges there = VEC_INIT;
	struct piece some = *piece;
	some.present = NULL;
	if (!piece_anonymous(piece) || piece->shared || piece->special ||
	    piece->readable || piece->writable || piece->executable ||
	    piece->end - piece->start > BLANK_MAX)
		return false;
	struct err *err =
		pagemap_collect(image->pagemap_fd, &some, 0, false, &there);
	bool blank = !err && !there.n;
	err_ignore(err);
	return blank;
}

static void set_content(struct image *image, struct piece *piece)
{
	bool zero = (piece->tracked && piece_anonymous(piece)) ||
		    piece_is_blank(image, piece);
	piece->content = zero ? CONTENT_ZERO : CONTENT_LIVE;
}

/*
 * The kernel joins a thread's stack with the memory above it: what was followed
 * before is not the stack.
 */
static bool has_stack_below(const struct piece *piece, const struct piece *from)
{
	return from->tracked && piece->start < from->start;
}

/* Splits @piece into what continues from @old and what is new. */
static struct err *pieces_carve_new(struct image *image,
				    const struct pieces *old,
				    const struct piece *piece,
				    struct pieces *ret)
{
	/* Of what is too large nothing is registered: methods do not know it. */
	bool same = piece->same || piece->huge;
	uint64_t at = piece->start;
	size_t i = pieces_after(old, at);
	while (at < piece->end) {
		struct piece part = *piece;
		part.start = at;
		part.offset += at - piece->start;
		while (i < old->n && old->data[i].end <= at)
			i++;
		bool covered = same && i < old->n && old->data[i].start <= at &&
			       pieces_are_compatible(&old->data[i], piece);
		if (covered) {
			const struct piece *from = &old->data[i];
			part.end = MIN(piece->end, from->end);
			part.content = from->content;
			part.stack =
				from->stack ||
				(part.stack && !has_stack_below(piece, from));
			part.tracked |= from->tracked;
			part.tracked &= !part.stack;
			part.fresh = from->fresh;
			part.registered = from->registered;
			part.dense = from->dense;
			part.sparse = from->sparse;
			TRY(inherit_present(from, &part));
			if (part.tracked && !from->tracked) {
				if (part.content == CONTENT_LIVE)
					covered = false;
				else
					TRY(image->method->adopt(image, &part));
			}
		} else if (same && i < old->n) {
			/* Up to where the next one begins, or over it. */
			uint64_t end = old->data[i].start > at
					       ? old->data[i].start
					       : old->data[i].end;
			part.end = MIN(piece->end, end);
		}
		if (!covered) {
			part.fresh = true;
			set_content(image, &part);
			TRY(image->method->adopt(image, &part));
			if (part.tracked && part.inode &&
			    part.end - part.start <= FILE_MAX)
				TRY(vec_push(&image->written,
					     (struct memory_range){
						     part.start, part.end }));
		}
		struct err *err = vec_push(ret, part);
		if (err) {
			free(part.present);
			return err;
		}
		at = part.end;
	}
	return NULL;
}

/* Parts that are of one nature become one again: brk() grows often. */
static void pieces_join_alike(struct pieces *pieces)
{
	size_t n = 0;
	for (size_t i = 0; i < pieces->n; i++) {
		struct piece *next = &pieces->data[i];
		struct piece *last = n ? &pieces->data[n - 1] : NULL;
		if (last && last->end == next->start && !last->present &&
		    !next->present && pieces_are_compatible(last, next) &&
		    last->content == next->content &&
		    last->readable == next->readable &&
		    last->writable == next->writable &&
		    last->executable == next->executable &&
		    last->tracked == next->tracked &&
		    last->stack == next->stack && last->heap == next->heap &&
		    last->huge == next->huge && last->fresh == next->fresh &&
		    last->registered == next->registered &&
		    last->dense == next->dense && last->sparse == next->sparse)
			last->end = next->end;
		else
			pieces->data[n++] = *next;
	}
	pieces->n = n;
}

struct err *image_add_known(struct image *image, const struct piece *piece)
{
	uint64_t pages = (piece->end - piece->start) / IMAGE_PAGE;
	if (pages < image->pages.map.n) {
		for (uint64_t at = piece->start; at < piece->end;
		     at += IMAGE_PAGE) {
			if (page_held(image, at))
				TRY(vec_push(&image->written,
					     (struct memory_range){
						     at, at + IMAGE_PAGE }));
		}
	} else {
		for (size_t i = 0; i < image->pages.map.cap; i++) {
			const struct map_slot *slot =
				&image->pages.map.slots[i];
			uint64_t at = slot->key.number;
			if (slot->hash && at >= piece->start && at < piece->end)
				TRY(vec_push(&image->written,
					     (struct memory_range){
						     at, at + IMAGE_PAGE }));
		}
	}
	if (piece->content != CONTENT_BASE || image->base_pagemap_fd < 0)
		return NULL;
	struct piece some = *piece;
	some.present = NULL;
	some.end = MIN(some.end, some.start + (uint64_t)GONE_MAX * IMAGE_PAGE);
	return pagemap_collect(image->base_pagemap_fd, &some, 0, false,
			       &image->written);
}

/* Parts of the old pieces that do not go on. */
static struct err *find_gone(struct image *image)
{
	for (size_t i = 0; i < image->before.n; i++) {
		const struct piece *old = &image->before.data[i];
		if (!old->tracked)
			continue;
		uint64_t at = old->start;
		while (at < old->end) {
			struct piece part = *old;
			part.start = at;
			size_t j = pieces_after(&image->pieces, at);
			const struct piece *now =
				j < image->pieces.n ? &image->pieces.data[j]
						    : NULL;
			bool there = now && now->start <= at;
			if (there)
				part.end = MIN(old->end, now->end);
			else if (now)
				part.end = MIN(old->end, now->start);
			if (!there || now->fresh)
				TRY(image_add_known(image, &part));
			at = part.end;
		}
	}
	return NULL;
}

struct err *image_refresh(struct image *image)
{
	_cleanup_(pieces_freep) struct pieces read = VEC_INIT;
	_cleanup_(pieces_freep) struct pieces pieces = VEC_INIT;
	TRY(pieces_read(image->maps_fd, &read));
	find_stacks(image, &read);
	for (size_t i = 0; i < read.n; i++)
		read.data[i].same = !image->method->mark_same;
	if (image->method->mark_same)
		image->method->mark_same(image, &read);
	for (size_t i = 0; i < read.n; i++)
		TRY(pieces_carve_new(image, &image->pieces, &read.data[i],
				     &pieces));
	pieces_join_alike(&pieces);
	/* Once more in one capture: BEFORE stays as it is. */
	if (image->pieces_changed)
		pieces_free(&image->pieces);
	else
		image->before = image->pieces;
	image->pieces_changed = true;
	image->counts.moved++;
	image->pieces = pieces;
	pieces = (struct pieces)VEC_INIT;
	cache_empty(&image->fixed_cache);
	read_own(image);
	TRY(find_gone(image));
	return image->method->arrange ? image->method->arrange(image) : NULL;
}

void image_age(struct image *image)
{
	for (size_t i = 0; i < image->touched.n; i++) {
		struct page *page = image->touched.data[i];
		pool_put(&image->pool, page->before);
		page->before = NULL;
		page->changed = false;
		if (!page->now) {
			map_u64_remove(&image->pages, page->address);
			free(page);
		}
	}
	image->touched.n = 0;
	image->changes.n = 0;
	image->written.n = 0;
	if (image->pieces_changed) {
		pieces_free(&image->before);
		image->pieces_changed = false;
		for (size_t i = 0; i < image->pieces.n; i++)
			image->pieces.data[i].fresh = false;
	}
	pool_trim(&image->pool);
	cache_empty(&image->live_cache);
	if (image->base_cache.bytes > CACHE_MAX)
		cache_empty(&image->base_cache);
}

struct err *image_begin(struct image *image)
{
	_cleanup_(pieces_freep) struct pieces read = VEC_INIT;
	TRY(pieces_read(image->maps_fd, &read));
	find_stacks(image, &read);
	for (size_t i = 0; i < read.n; i++) {
		struct piece *piece = &read.data[i];
		if (image->base && !piece->stack && !piece->special &&
		    !piece->huge)
			piece->content = CONTENT_BASE;
		else
			set_content(image, piece);
	}
	pieces_free(&image->pieces);
	image->pieces = read;
	read = (struct pieces)VEC_INIT;
	if (log_enabled(LOG_IMAGE))
		pieces_log(&image->pieces);
	read_own(image);
	return NULL;
}

/* Without a base there is no other copy of the current content. */
struct err *image_copy_all(struct image *image)
{
	image->written.n = 0;
	for (size_t i = 0; i < image->pieces.n; i++) {
		struct piece *piece = &image->pieces.data[i];
		if (!piece->tracked)
			continue;
		if (piece->inode && piece->end - piece->start <= FILE_MAX) {
			TRY(vec_push(&image->written,
				     (struct memory_range){ piece->start,
							    piece->end }));
			continue;
		}
		struct piece some = *piece;
		some.present = NULL;
		TRY(pagemap_collect(image->pagemap_fd, &some, 0, false,
				    &image->written));
	}
	TRY(image_evaluate(image));
	image_age(image);
	return NULL;
}
