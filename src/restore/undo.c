#include "restore/undo.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "image/asan.h"
#include "program/program.h"
#include "tracee/memory.h"
#include "tracee/remote.h"
#include "watch/memory_watch.h"

/* More freed memory is not kept for one variable. */
#define FREED_MAX ((uint64_t)1 << 20)
/* What others might have written to freed memory: no address, no small number. */
#define FREED_BYTE 0xdb
/* More is not kept for one variable. */
#define BYTES_MAX ((size_t)256 << 20)
/* Equal bytes between two that differ that are written along with them. */
#define GAP 32
#define SHADOW_CHUNK 4096
/* A call of malloc() takes no longer. */
#define CALL_NS (UINT64_C(1000) * 1000 * 1000)

struct undo_finder {
	struct memory_watch *watch;
	struct state *state;
	bool kept;
	bool relocates; /* blocks that are gone can be had elsewhere */
	bool asan;	/* it says itself what was freed */
	VEC(struct state_extent) extents;
};

void undo_free(struct undo *undo)
{
	vec_free(&undo->patches);
	vec_free(&undo->bytes);
	vec_free(&undo->blocks);
	vec_free(&undo->words);
	vec_free(&undo->freed);
}

struct err *undo_finder_create(struct memory_watch *watch, bool kept,
			       struct undo_finder **ret)
{
	_cleanup_(undo_finder_destroyp) struct undo_finder *finder =
		calloc(1, sizeof(*finder));
	if (!finder)
		return err_nomem();
	finder->watch = watch;
	finder->kept = kept;
	struct raddr symbol;
	finder->relocates =
		program_symbol(watch->host.program, "malloc", &symbol);
	finder->asan =
		program_symbol(watch->host.program, "__asan_init", &symbol);
	const struct state_options options = memory_watch_options(watch);
	TRY(state_create(watch->pool, watch->containers, &options,
			 &finder->state));
	*ret = take_ptr(finder);
	return NULL;
}

void undo_finder_destroy(struct undo_finder *finder)
{
	if (!finder)
		return;
	state_destroy(finder->state);
	vec_free(&finder->extents);
	free(finder);
}

static struct err *note_extent(void *data, const struct state_extent *extent)
{
	struct undo_finder *finder = data;
	return vec_push(&finder->extents, *extent);
}

/* ---- in place ---- */

static struct err *add_patch(struct undo *undo, uint64_t address,
			     const uint8_t *bytes, size_t n)
{
	struct undo_patch patch = { address, undo->bytes.n, n };
	TRY(vec_append(&undo->bytes, bytes, n));
	return vec_push(&undo->patches, patch);
}

/* Where bytes @from to @to of a page differ. */
static struct err *compare_page(struct undo *undo,
				const struct image_change *page, size_t from,
				size_t to)
{
	while (from < to) {
		if (page->before[from] == page->after[from]) {
			from++;
			continue;
		}
		size_t end = from + 1;
		for (size_t i = end; i < to && i - end < GAP; i++) {
			if (page->before[i] != page->after[i])
				end = i + 1;
		}
		TRY(add_patch(undo, page->address + from, page->before + from,
			      end - from));
		from = end;
	}
	return NULL;
}

/* The first changed page that ends after @address. */
static size_t first_page(const struct image_change *pages, size_t n,
			 uint64_t address)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (pages[mid].address + IMAGE_PAGE <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct err *put_in_place(const struct undo_finder *finder,
				uint64_t start, uint64_t size,
				struct undo *undo, bool *possible)
{
	size_t n;
	const struct image_change *pages =
		image_changes(finder->watch->image, &n);
	uint64_t end = start + size;
	for (size_t i = first_page(pages, n, start);
	     i < n && pages[i].address < end; i++) {
		const struct image_change *page = &pages[i];
		if (!page->before || !page->after) {
			*possible = false;
			return NULL;
		}
		TRY(compare_page(
			undo, page,
			start > page->address ? start - page->address : 0,
			MIN(end - page->address, (uint64_t)IMAGE_PAGE)));
		if (undo->bytes.n > BYTES_MAX)
			*possible = false;
	}
	return NULL;
}

/*
 * Where blocks are not known: is some of it freed by now? What it was can be
 * written there, but AddressSanitizer ends code that reads it.
 */
static bool is_poisoned(const struct undo_finder *finder,
			const struct state_extent *extent)
{
	uint8_t shadow[SHADOW_CHUNK];
	uint64_t at = ASAN_SHADOW(extent->address);
	uint64_t end = ASAN_SHADOW(extent->address + extent->size - 1) + 1;
	if (!finder->asan || !extent->size)
		return false;
	while (at < end) {
		size_t n = MIN(end - at, (uint64_t)sizeof(shadow));
		if (memory_read_some(finder->watch->tracee, RADDR(at), shadow,
				     n) != n)
			return false;
		if (memchr(shadow, ASAN_FREED, n))
			return true;
		at += n;
	}
	return false;
}

/* ---- elsewhere ---- */

/* Is it still the block that it was? */
static bool undo_block_is_there(const struct undo_finder *finder,
				const struct state_extent *extent)
{
	struct image_block block;
	return finder->kept || !extent->block ||
	       (image_block(finder->watch->image, IMAGE_AFTER, extent->address,
			    &block) &&
		block.start == extent->address && block.size == extent->size);
}

static struct err *keep_block(const struct undo_finder *finder,
			      const struct state_extent *extent,
			      struct undo *undo, bool *possible)
{
	struct undo_block block = { extent->address, extent->size,
				    undo->bytes.n };
	if (!finder->relocates || extent->size > BYTES_MAX - undo->bytes.n) {
		*possible = false;
		return NULL;
	}
	TRY(vec_reserve(&undo->bytes, undo->bytes.n + extent->size));
	if (!view_read(&finder->watch->before, extent->address,
		       undo->bytes.data + undo->bytes.n, extent->size)) {
		*possible = false;
		return NULL;
	}
	undo->bytes.n += extent->size;
	return vec_push(&undo->blocks, block);
}

static struct err *keep_freed(const struct undo_finder *finder,
			      const struct state_extent *extent,
			      struct undo *undo)
{
	struct undo_patch freed = { extent->address, undo->bytes.n,
				    extent->size };
	struct image_block block;
	if (!finder->kept || !extent->block || extent->size > FREED_MAX ||
	    undo->bytes.n > FREED_MAX ||
	    image_block(finder->watch->image, IMAGE_AFTER, extent->address,
			&block))
		return NULL;
	TRY(vec_reserve(&undo->bytes, undo->bytes.n + extent->size));
	if (!view_read(&finder->watch->before, extent->address,
		       undo->bytes.data + undo->bytes.n, extent->size))
		return NULL;
	undo->bytes.n += extent->size;
	return vec_push(&undo->freed, freed);
}

/* The block that is gone and contained @address or ended there. */
static bool find_block(const struct undo *undo, uint64_t address, size_t *ret)
{
	size_t low = 0, high = undo->blocks.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (undo->blocks.data[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	const struct undo_block *block = &undo->blocks.data[low - 1];
	*ret = low - 1;
	return address - block->start <= block->size;
}

static struct err *undo_translate_pointers(const struct undo_finder *finder,
					   uint64_t start, uint64_t size,
					   size_t in, struct undo *undo)
{
	const struct view *before = &finder->watch->before;
	uint64_t end = start + size;
	for (uint64_t at = (start + 7) & ~(uint64_t)7; at + 8 <= end; at += 8) {
		uint64_t value;
		struct undo_word word = { .in = in };
		if (!view_read(before, at, &value, sizeof(value)) ||
		    !find_block(undo, value, &word.block))
			continue;
		word.where = in == UNDO_IN_PLACE ? at : at - start;
		word.offset = value - undo->blocks.data[word.block].start;
		TRY(vec_push(&undo->words, word));
	}
	return NULL;
}

static struct err *translate_all(const struct undo_finder *finder,
				 struct undo *undo)
{
	qsort(undo->blocks.data, undo->blocks.n, sizeof(struct undo_block),
	      compare_as_u64);
	for (size_t i = 0; i < undo->blocks.n; i++) {
		const struct undo_block *block = &undo->blocks.data[i];
		TRY(undo_translate_pointers(finder, block->start, block->size,
					    i, undo));
	}
	for (size_t i = 0; i < finder->extents.n; i++) {
		const struct state_extent *extent = &finder->extents.data[i];
		if (undo_block_is_there(finder, extent))
			TRY(undo_translate_pointers(finder, extent->address,
						    extent->size, UNDO_IN_PLACE,
						    undo));
	}
	return NULL;
}

/* ---- both ---- */

/*
 * What was not constructed yet is all zero. It is constructed again, then: of a
 * guard the first byte says so (Itanium C++ ABI 3.3.2). Thread-locals of one
 * source file have one guard together, and so come into being together.
 */
static bool was_blank(const struct undo_finder *finder, size_t number)
{
	const struct state_root *root = &finder->watch->roots.all.data[number];
	for (uint64_t at = 0; at < root->size; at++) {
		uint8_t byte;
		if (!view_read(&finder->watch->before, root->address + at,
			       &byte, 1) ||
		    byte)
			return false;
	}
	return true;
}

struct err *undo_find(struct undo_finder *finder, size_t root, struct undo *ret,
		      bool *ret_possible)
{
	const struct memory_watch *watch = finder->watch;
	uint64_t guard = watch->roots.all.data[root].guard;
	*ret_possible = true;
	finder->extents.n = 0;
	TRY(state_reach(finder->state, &watch->before, root, note_extent,
			finder));
	for (size_t i = 0; i < finder->extents.n && *ret_possible; i++) {
		const struct state_extent *extent = &finder->extents.data[i];
		if (is_poisoned(finder, extent))
			*ret_possible = false;
		else if (undo_block_is_there(finder, extent))
			TRY(put_in_place(finder, extent->address, extent->size,
					 ret, ret_possible));
		else
			TRY(keep_block(finder, extent, ret, ret_possible));
		TRY(keep_freed(finder, extent, ret));
	}
	if (guard && *ret_possible && was_blank(finder, root))
		TRY(put_in_place(finder, guard, 1, ret, ret_possible));
	if (ret->blocks.n && *ret_possible)
		TRY(translate_all(finder, ret));
	return NULL;
}

/* Adds the parts of a patch for which both are the same. */
static struct err *spare_patch(struct undo *undo,
			       const struct undo_patch *patch,
			       const uint8_t *then, const uint8_t *now)
{
	size_t at = 0;
	while (at < patch->n) {
		size_t end = at;
		while (end < patch->n && then[end] == now[end])
			end++;
		struct undo_patch part = { patch->address + at, patch->at + at,
					   end - at };
		if (part.n)
			TRY(vec_push(&undo->patches, part));
		at = end;
		while (at < patch->n && then[at] != now[at])
			at++;
	}
	return NULL;
}

struct err *undo_spare(struct undo *undo, struct tracee *then,
		       struct tracee *now)
{
	_cleanup_(freep) uint8_t *buffer = NULL;
	size_t n = undo->patches.n, longest = 0;
	for (size_t i = 0; i < n; i++)
		longest = MAX(longest, undo->patches.data[i].n);
	buffer = malloc(2 * longest + 1);
	if (!buffer)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		const struct undo_patch patch = undo->patches.data[i];
		struct raddr at = RADDR(patch.address);
		if (memory_read_some(then, at, buffer, patch.n) != patch.n)
			memset(buffer, 0, patch.n);
		TRY(memory_read(now, at, buffer + longest, patch.n));
		TRY(spare_patch(undo, &patch, buffer, buffer + longest));
	}
	/* The new ones are after the old ones. */
	memmove(undo->patches.data, undo->patches.data + n,
		(undo->patches.n - n) * sizeof(*undo->patches.data));
	undo->patches.n -= n;
	return NULL;
}

/* @places: where each of the blocks is now. */
static struct err *make_blocks(const struct undo *undo,
			       const struct program *program,
			       struct tracee *tracee, uint64_t *places)
{
	struct raddr function;
	if (!program_symbol(program, "malloc", &function))
		return err_create(ERR_INTERNAL, "there is no malloc()");
	struct thread *thread = tracee_thread(tracee, 0);
	for (size_t i = 0; i < undo->blocks.n; i++) {
		const struct undo_block *block = &undo->blocks.data[i];
		TRY(remote_call(thread, function, &block->size, 1, CALL_NS,
				&places[i]));
		if (!places[i])
			return err_create(ERR_INTERNAL, "out of memory");
		TRY(memory_write(tracee, RADDR(places[i]),
				 undo->bytes.data + block->at, block->size));
	}
	return NULL;
}

struct err *undo_overwrite_freed(const struct undo *undo, size_t most,
				 struct tracee *tracee)
{
	for (size_t i = 0; i < undo->freed.n; i++) {
		const struct undo_patch *freed = &undo->freed.data[i];
		size_t n = MIN(most, freed->n);
		_cleanup_(freep) uint8_t *bytes = malloc(n + 1);
		if (!bytes)
			return err_nomem();
		memset(bytes, FREED_BYTE, n);
		TRY(memory_write(tracee, RADDR(freed->address), bytes, n));
	}
	return NULL;
}

struct err *undo_restore_freed(const struct undo *undo, struct tracee *tracee)
{
	for (size_t i = 0; i < undo->freed.n; i++) {
		const struct undo_patch *freed = &undo->freed.data[i];
		TRY(memory_write(tracee, RADDR(freed->address),
				 undo->bytes.data + freed->at, freed->n));
	}
	return NULL;
}

struct err *undo_apply(const struct undo *undo, const struct program *program,
		       struct tracee *tracee)
{
	_cleanup_(freep) uint64_t *places = NULL;
	if (undo->blocks.n) {
		places = calloc(undo->blocks.n, sizeof(*places));
		if (!places)
			return err_nomem();
		TRY(make_blocks(undo, program, tracee, places));
	}
	for (size_t i = 0; i < undo->patches.n; i++) {
		const struct undo_patch *patch = &undo->patches.data[i];
		TRY(memory_write(tracee, RADDR(patch->address),
				 undo->bytes.data + patch->at, patch->n));
	}
	for (size_t i = 0; i < undo->words.n; i++) {
		const struct undo_word *word = &undo->words.data[i];
		uint64_t where = word->where;
		BUG_ON(!places);
		if (word->in != UNDO_IN_PLACE)
			where += places[word->in];
		TRY(memory_write_u64(tracee, RADDR(where),
				     places[word->block] + word->offset));
	}
	return NULL;
}
