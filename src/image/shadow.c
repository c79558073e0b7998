/*
 * The shadow of AddressSanitizer is terabytes of which few pages are there, so it
 * is not tracked. It changes with the headers of blocks, which are in front of
 * them: where memory was written, the shadow of what may be a block there is read.
 */
#include "image/asan.h"
#include "image/image_internal.h"

/* Of the shadow of one large block more is not read. */
#define SHADOW_MAX (UINT64_C(16) << 20)

/* Can blocks of the heap be there? */
static bool piece_has_blocks(const struct piece *piece)
{
	return piece_anonymous(piece) && piece->tracked && piece->writable;
}

static struct memory_range shadow_of(uint64_t start, uint64_t end)
{
	struct memory_range range = {
		ASAN_SHADOW(start) & ~(uint64_t)(IMAGE_PAGE - 1),
		(ASAN_SHADOW(end - 1) + IMAGE_PAGE) &
			~(uint64_t)(IMAGE_PAGE - 1),
	};
	range.end = MIN(range.end, range.start + SHADOW_MAX);
	return range;
}

bool image_is_shadow(const struct image *image, uint64_t address)
{
	const struct ranges *ranges = &image->shadows;
	size_t low = 0, high = ranges->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges->data[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->n && ranges->data[low].start <= address;
}

/* With a base, that has them; else they are copied, as far as there are any. */
struct err *image_begin_shadows(struct image *image)
{
	_cleanup_(ranges_freep) struct ranges there = VEC_INIT;
	for (size_t i = 0; i < image->pieces.n; i++) {
		struct piece *piece = &image->pieces.data[i];
		if (piece->huge && piece->readable && image->base)
			piece->content = CONTENT_BASE;
		if (image->base || !piece_has_blocks(piece))
			continue;
		struct memory_range range = shadow_of(piece->start, piece->end);
		struct piece shadow = { .start = range.start,
					.end = range.end };
		TRY(pagemap_collect(image->pagemap_fd, &shadow, 0, false,
				    &there));
	}
	ranges_tidy(&there);
	for (size_t i = 0; i < there.n; i++) {
		for (uint64_t at = there.data[i].start; at < there.data[i].end;
		     at += IMAGE_PAGE)
			TRY(image_hold(image, at));
	}
	return NULL;
}

/* A block begins behind its header, and ends in the same piece. */
static struct err *shadow_add_written(struct image *image,
				      const struct piece *piece,
				      const struct memory_range *written)
{
	uint64_t start = MAX(piece->start, written->start);
	uint64_t end = MIN(piece->end, written->end);
	if (start >= end)
		return NULL;
	end = asan_is_heap(start) ? MIN(piece->end, end + ASAN_BLOCK_MAX)
				  : piece->end;
	return vec_push(&image->shadows, shadow_of(start, end));
}

struct err *image_add_shadows(struct image *image)
{
	image->shadows.n = 0;
	if (!image->asan)
		return NULL;
	ranges_tidy(&image->written);
	for (size_t i = 0; i < image->written.n; i++) {
		const struct memory_range *written = &image->written.data[i];
		size_t at = pieces_after(&image->pieces, written->start);
		for (; at < image->pieces.n &&
		       image->pieces.data[at].start < written->end;
		     at++) {
			const struct piece *piece = &image->pieces.data[at];
			if (piece_has_blocks(piece))
				TRY(shadow_add_written(image, piece, written));
		}
	}
	ranges_tidy(&image->shadows);
	return vec_append(&image->written, image->shadows.data,
			  image->shadows.n);
}
