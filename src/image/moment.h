/*
 * The memory of a tracee at a moment between two boundaries: a fork that never
 * runs. It costs what a fork does, and what is then written once more.
 *
 * Invariant: pages and blocks stay valid until it is destroyed.
 *
 * What it does not do: say what was written before or after it.
 */
#pragma once

#include "image/image.h"

struct image_moment;

/*
 * Takes one of @image's tracee, of which @thread is a stopped thread. There is
 * none for IMAGE_FORK, which another fork would confuse.
 */
struct err *image_moment_take(struct image *image, struct thread *thread,
			      struct image_moment **ret) _must_check_;
void image_moment_destroy(struct image_moment *moment); /* NULL is fine */
static inline void image_moment_destroyp(struct image_moment **moment)
{
	image_moment_destroy(*moment);
}
/* As image_page() and image_block(). */
const uint8_t *image_moment_page(struct image_moment *moment, uint64_t address);
bool image_moment_block(struct image_moment *moment, uint64_t address,
			struct image_block *ret);
