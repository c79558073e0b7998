#include "image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "image/blocks.h"
#include "image/image_internal.h"
#include "tracee/memory.h"

/* In the order in which they are tried. */
static const struct method *const methods[] = {
	&method_scan,
	&method_soft_dirty,
	&method_fork,
	&method_compare,
};

enum image_method image_method(const struct image *image)
{
	return image->method->kind;
}

const char *image_method_name(enum image_method method)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		if (methods[i]->kind == method)
			return methods[i]->name;
	}
	return "auto";
}

bool image_method_by_name(const char *name, enum image_method *ret)
{
	bool known = !strcmp(name, "auto");
	enum image_method method = IMAGE_AUTO;
	for (size_t i = 0; i < ARRAY_SIZE(methods) && !known; i++) {
		known = !strcmp(name, methods[i]->name);
		method = methods[i]->kind;
	}
	if (known)
		*ret = method;
	return known;
}

/* A method is tried before it is trusted: it must see a write of ours. */
static struct err *image_probe_method(struct image *image,
				      struct thread *thread)
{
	const struct piece *piece = NULL;
	for (size_t i = 0; i < image->pieces.n && !piece; i++) {
		if (image->pieces.data[i].tracked &&
		    image->pieces.data[i].writable)
			piece = &image->pieces.data[i];
	}
	if (!piece)
		return NULL;
	uint8_t byte;
	bool stale, found = false;
	struct raddr at = RADDR(piece->start);
	TRY(memory_read(image->tracee, at, &byte, 1));
	TRY(memory_write(image->tracee, at, &byte, 1));
	image->written.n = 0;
	TRY(image->method->collect(image, thread, &stale));
	for (size_t i = 0; i < image->written.n && !found; i++)
		found = image->written.data[i].start <= at.v &&
			image->written.data[i].end > at.v;
	if (!found)
		return err_create(ERR_INTERNAL, "it does not see a write");
	/* And what was seen is not seen again. */
	if (image->method == &method_compare)
		return NULL;
	image->written.n = 0;
	TRY(image->method->collect(image, thread, &stale));
	for (size_t i = 0; i < image->written.n; i++) {
		if (image->written.data[i].start <= at.v &&
		    image->written.data[i].end > at.v)
			return err_create(ERR_INTERNAL,
					  "it sees writes that are not there");
	}
	return NULL;
}

static struct err *image_start_method(struct image *image,
				      struct thread *thread,
				      const struct method *method)
{
	image->method = method;
	struct err *err = method->start(image, thread);
	if (!err)
		err = image_probe_method(image, thread);
	if (err)
		method->stop(image);
	image->written.n = 0;
	return err;
}

/* The methods from @first on, until one works. */
static struct err *start_any(struct image *image, struct thread *thread,
			     size_t first)
{
	for (size_t i = first;; i++) {
		struct err *err = image_start_method(image, thread, methods[i]);
		if (!err) {
			log_debug(LOG_IMAGE, "written pages are found by: %s",
				  methods[i]->name);
			return NULL;
		}
		if (i + 1 == ARRAY_SIZE(methods))
			return err;
		log_debug(LOG_IMAGE, "written pages cannot be found by %s: %s",
			  methods[i]->name, err_message(err));
		err_destroy(err);
	}
}

static struct err *create_blocks(struct image *image);
static void reset_blocks(struct image *image);

static struct err *open_proc(pid_t pid, const char *name, int *ret)
{
	*ret = proc_open(pid, 0, name, O_RDONLY);
	if (*ret < 0)
		return err_with_kind(err_errno(errno,
					       "cannot open '/proc/%d/%s'", pid,
					       name),
				     ERR_SUITE);
	return NULL;
}

struct err *image_create(struct thread *thread, struct tracee *base,
			 enum image_method method, uint64_t agent,
			 struct image **ret)
{
	_cleanup_(image_destroyp) struct image *image =
		calloc(1, sizeof(*image));
	if (!image)
		return err_nomem();
	image->tracee = thread->tracee;
	image->pid = tracee_pid(thread->tracee);
	image->base = base;
	image->agent = agent;
	image->uffd = image->maps_fd = image->pagemap_fd = image->statm_fd = -1;
	image->base_pagemap_fd = image->stat_fd = -1;
	TRY(open_proc(image->pid, "maps", &image->maps_fd));
	TRY(open_proc(image->pid, "pagemap", &image->pagemap_fd));
	TRY(open_proc(image->pid, "statm", &image->statm_fd));
	if (base)
		TRY(open_proc(tracee_pid(base), "pagemap",
			      &image->base_pagemap_fd));
	TRY(image_begin(image));
	if (method == IMAGE_AUTO) {
		TRY(start_any(image, thread, 0));
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
			if (methods[i]->kind == method)
				TRY(image_start_method(image, thread,
						       methods[i]));
		}
		BUG_ON(!image->method);
	}
	if (!base)
		TRY(image_copy_all(image));
	TRY(create_blocks(image));
	image->counts = (struct image_counts){};
	*ret = take_ptr(image);
	return NULL;
}

void image_destroy(struct image *image)
{
	if (!image)
		return;
	if (image->method)
		image->method->stop(image);
	closep(&image->maps_fd);
	closep(&image->pagemap_fd);
	closep(&image->statm_fd);
	closep(&image->base_pagemap_fd);
	pieces_free(&image->pieces);
	pieces_free(&image->before);
	for (size_t i = 0; i < image->pages.map.cap; i++) {
		if (image->pages.map.slots[i].hash)
			free((struct page *)(uintptr_t)image->pages.map.slots[i]
				     .value);
	}
	map_u64_free(&image->pages);
	ranges_freep(&image->written);
	ranges_freep(&image->own);
	vec_free(&image->touched);
	vec_free(&image->hot);
	vec_free(&image->hot_new);
	vec_free(&image->followed);
	ranges_freep(&image->shadows);
	vec_free(&image->changes);
	cache_empty(&image->base_cache);
	base_pages_free(&image->base_pages);
	cache_empty(&image->fixed_cache);
	cache_empty(&image->live_cache);
	pool_free(&image->pool);
	free(image->batch);
	blocks_destroy(image->blocks[IMAGE_BEFORE]);
	blocks_destroy(image->blocks[IMAGE_AFTER]);
	free(image);
}

static struct err *find_written(struct image *image, struct thread *thread)
{
	bool moved, stale;
	TRY(image->method->moved(image, &moved));
	if (moved)
		TRY(image_refresh(image));
	TRY(image->method->collect(image, thread, &stale));
	return stale ? image_refresh(image) : NULL;
}

/*
 * The method has failed, so what was written is not known: everything is
 * compared once.
 */
static struct err *find_otherwise(struct image *image)
{
	image->method->stop(image);
	image->method = &method_compare;
	TRY(image_refresh(image));
	for (size_t i = 0; i < image->pieces.n; i++) {
		struct piece *piece = &image->pieces.data[i];
		if (!piece->tracked)
			continue;
		TRY(pagemap_collect(image->pagemap_fd, piece, 0, true,
				    &image->written));
		/* And what is gone. */
		TRY(image_add_known(image, piece));
	}
	return NULL;
}

static struct err *image_capture_pages(struct image *image,
				       struct thread *thread)
{
	struct err *err = find_written(image, thread);
	size_t next = 0;
	if (err) {
		while (methods[next++] != image->method)
			;
		if (next == ARRAY_SIZE(methods))
			return err;
		log_debug(LOG_IMAGE,
			  "written pages are no longer found by %s: %s",
			  image->method->name, err_message(err));
		err_destroy(err);
		TRY(find_otherwise(image));
	}
	TRY(image_add_shadows(image));
	TRY(image_evaluate(image));
	image->counts.captures++;
	log_debug(LOG_IMAGE,
		  "capture %llu of process %d: %zu pages changed, %zu copied "
		  "so far",
		  (unsigned long long)image->counts.captures, image->pid,
		  image->changes.n, image->pages.map.n);
	return next ? start_any(image, thread, next) : NULL;
}

struct err *image_follow(struct image *image, uint64_t address, uint64_t size)
{
	struct memory_range range = {
		address & ~(uint64_t)(IMAGE_PAGE - 1),
		(address + size + IMAGE_PAGE - 1) & ~(uint64_t)(IMAGE_PAGE - 1),
	};
	for (uint64_t at = range.start; at < range.end; at += IMAGE_PAGE)
		TRY(image_hold(image, at));
	TRY(vec_push(&image->followed, range));
	ranges_tidy(&image->followed);
	return NULL;
}

struct err *image_capture(struct image *image, struct thread *thread)
{
	image_age(image);
	struct err *err = image_capture_pages(image, thread);
	reset_blocks(image);
	return err;
}

const struct image_change *image_changes(const struct image *image,
					 size_t *ret_n)
{
	*ret_n = image->changes.n;
	return image->changes.data;
}

static const struct pieces *pieces_of(const struct image *image,
				      enum image_side side)
{
	return side == IMAGE_BEFORE && image->pieces_changed ? &image->before
							     : &image->pieces;
}

static const uint8_t *read_live(struct image *image, const struct piece *piece,
				uint64_t address)
{
	/* What is mapped there now may be something else. */
	const struct piece *now = pieces_find(&image->pieces, address);
	if (!now || (now != piece && now->fresh))
		return NULL;
	struct cache *cache = now->writable || now->stack ? &image->live_cache
							  : &image->fixed_cache;
	return cache_page(cache, image->tracee, now, address);
}

const uint8_t *image_page(struct image *image, enum image_side side,
			  uint64_t address)
{
	address &= ~(uint64_t)(IMAGE_PAGE - 1);
	uint64_t found;
	if (map_u64_get(&image->pages, address, &found)) {
		const struct page *page = (const struct page *)(uintptr_t)found;
		return side == IMAGE_BEFORE && page->changed ? page->before
							     : page->now;
	}
	const struct piece *piece =
		pieces_find(pieces_of(image, side), address);
	if (!piece || piece->special)
		return NULL;
	switch (piece->content) {
	case CONTENT_BASE:
		if (piece_anonymous(piece) && !piece->shared &&
		    !base_page_is_there(&image->base_pages,
					image->base_pagemap_fd, address))
			return zero_page;
		return cache_page(&image->base_cache, image->base, piece,
				  address);
	case CONTENT_ZERO:
		return zero_page;
	case CONTENT_LIVE:
		break;
	}
	return read_live(image, piece, address);
}

static const uint8_t *image_page_before(void *data, uint64_t address)
{
	return image_page(data, IMAGE_BEFORE, address);
}

static const uint8_t *image_page_after(void *data, uint64_t address)
{
	return image_page(data, IMAGE_AFTER, address);
}

struct blocks_glibc image_heap(const struct image *image, enum image_side side)
{
	const struct pieces *pieces = pieces_of(image, side);
	struct blocks_glibc where = { .main_arena = image->main_arena };
	for (size_t i = 0; i < pieces->n; i++) {
		if (!pieces->data[i].heap)
			continue;
		if (!where.heap_start)
			where.heap_start = pieces->data[i].start;
		where.heap_end = pieces->data[i].end;
	}
	return where;
}

static struct err *create_blocks(struct image *image)
{
	static blocks_page *const page[] = { image_page_before,
					     image_page_after };
	for (int side = IMAGE_BEFORE; side <= IMAGE_AFTER; side++) {
		if (image->agent) {
			TRY(blocks_create(page[side], image, image->agent,
					  &image->blocks[side]));
			continue;
		}
		if (image->asan) {
			TRY(blocks_create_asan(page[side], image,
					       &image->blocks[side]));
			continue;
		}
		struct blocks_glibc where =
			image_heap(image, (enum image_side)side);
		TRY(blocks_create_glibc(page[side], image, &where,
					&image->blocks[side]));
	}
	return NULL;
}

static void reset_blocks(struct image *image)
{
	for (int side = IMAGE_BEFORE; side <= IMAGE_AFTER; side++) {
		if (image->agent || image->asan) {
			blocks_reset(image->blocks[side]);
			continue;
		}
		struct blocks_glibc where =
			image_heap(image, (enum image_side)side);
		blocks_reset_glibc(image->blocks[side], &where);
	}
}

void image_set_arena(struct image *image, uint64_t main_arena)
{
	image->main_arena = main_arena;
	if (!image->agent)
		reset_blocks(image);
}

struct err *image_set_asan(struct image *image)
{
	BUG_ON(image->agent || image->counts.captures);
	image->asan = true;
	for (int side = IMAGE_BEFORE; side <= IMAGE_AFTER; side++)
		blocks_destroy(take_ptr(image->blocks[side]));
	TRY(image_begin_shadows(image));
	return create_blocks(image);
}

const char *image_blocks_missing(const struct image *image)
{
	return blocks_missing(image->blocks[IMAGE_AFTER]);
}

bool image_block(struct image *image, enum image_side side, uint64_t address,
		 struct image_block *ret)
{
	return blocks_find(image->blocks[side], address, ret);
}

/* The table of stacks only grows: the later side knows both. */
size_t image_stack(struct image *image, uint32_t stack, uint64_t *out,
		   size_t max)
{
	return blocks_stack(image->blocks[IMAGE_AFTER], stack, out, max);
}

struct image_counts image_counts(const struct image *image)
{
	struct image_counts counts = image->counts;
	counts.copied = image->pages.map.n;
	counts.hot = image->hot.n;
	counts.bytes = pool_bytes(&image->pool) + image->base_cache.bytes +
		       image->fixed_cache.bytes + image->live_cache.bytes +
		       image->pages.map.cap * sizeof(struct map_slot) +
		       image->pages.map.n * sizeof(struct page);
	return counts;
}
