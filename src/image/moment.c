#include "image/moment.h"

#include "base/log.h"
#include "image/blocks.h"
#include "image/image_internal.h"
#include "tracee/checkpoint.h"

/* Pages are read in pieces of this size, a multiple of that of the cache. */
#define MOMENT_WINDOW (UINT64_C(64) << 10)

struct image_moment {
	struct tracee *copy;
	struct cache cache;
	uint64_t agent;
	bool asan;
	struct blocks_glibc where; /* without the agent */
	struct blocks *blocks;	   /* NULL: nobody asked yet */
};

struct err *image_moment_take(struct image *image, struct thread *thread,
			      struct image_moment **ret)
{
	if (image->method == &method_fork)
		return err_create(ERR_INTERNAL, "forks track its pages");
	_cleanup_(image_moment_destroyp) struct image_moment *moment =
		calloc(1, sizeof(*moment));
	if (!moment)
		return err_nomem();
	moment->agent = image->agent;
	moment->asan = image->asan;
	moment->where = image_heap(image, IMAGE_AFTER);
	TRY(checkpoint_hold(thread, &moment->copy));
	log_debug(LOG_IMAGE, "process %d holds the memory of process %d",
		  (int)tracee_pid(moment->copy), image->pid);
	*ret = take_ptr(moment);
	return NULL;
}

void image_moment_destroy(struct image_moment *moment)
{
	if (!moment)
		return;
	tracee_destroy(moment->copy);
	cache_empty(&moment->cache);
	blocks_destroy(moment->blocks);
	free(moment);
}

const uint8_t *image_moment_page(struct image_moment *moment, uint64_t address)
{
	uint64_t start = address & ~(MOMENT_WINDOW - 1);
	if (start > UINT64_MAX - MOMENT_WINDOW)
		return NULL;
	const struct piece window = { .start = start,
				      .end = start + MOMENT_WINDOW };
	return cache_page(&moment->cache, moment->copy, &window,
			  address & ~(uint64_t)(IMAGE_PAGE - 1));
}

static const uint8_t *moment_page_of(void *data, uint64_t address)
{
	return image_moment_page(data, address);
}

static struct err *moment_create_blocks(struct image_moment *moment)
{
	if (moment->agent)
		return blocks_create(moment_page_of, moment, moment->agent,
				     &moment->blocks);
	if (moment->asan)
		return blocks_create_asan(moment_page_of, moment,
					  &moment->blocks);
	return blocks_create_glibc(moment_page_of, moment, &moment->where,
				   &moment->blocks);
}

bool image_moment_block(struct image_moment *moment, uint64_t address,
			struct image_block *ret)
{
	if (!moment->blocks) {
		struct err *err = moment_create_blocks(moment);
		if (err) {
			err_ignore(err);
			return false;
		}
	}
	return blocks_find(moment->blocks, address, ret);
}
