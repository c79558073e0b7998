/*
 * The methods without write protection: IMAGE_SOFT_DIRTY, IMAGE_FORK and
 * IMAGE_COMPARE. All go through the page map; they differ in which of the pages
 * that are there are worth reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "image/image_internal.h"
#include "tracee/checkpoint.h"

static struct err *collect_bit(struct image *image, unsigned bit)
{
	for (size_t i = 0; i < image->pieces.n; i++) {
		struct piece *piece = &image->pieces.data[i];
		if (!piece->tracked)
			continue;
		/* Others may write to it, which no bit of ours shows. */
		TRY(pagemap_collect(image->pagemap_fd, piece,
				    piece->shared ? 0 : bit, true,
				    &image->written));
	}
	return NULL;
}

/* By the text of maps; what is replaced by its like shows in the pages. */
static struct err *maps_moved(struct image *image, bool *ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	struct err *err = proc_read_fd(image->maps_fd, &text);
	if (!err && !text.n)
		err = err_create(ERR_SUITE, "the tested program is gone");
	if (err)
		return err_with_kind(
			err_prefix(err, "mappings of the tested program"),
			ERR_SUITE);
	*ret = text.n != image->maps_n ||
	       memcmp(text.s, image->maps_text, text.n) != 0;
	if (*ret) {
		free(image->maps_text);
		image->maps_n = text.n;
		image->maps_text = str_take(&text);
		if (!image->maps_text)
			image->maps_n = 0;
	}
	return NULL;
}

static struct err *maps_adopt(struct image *image, struct piece *piece)
{
	if (!piece->tracked)
		return NULL;
	return pagemap_collect(image->pagemap_fd, piece, 0, true,
			       &image->written);
}

static struct err *compare_collect(struct image *image, struct thread *thread,
				   bool *ret_stale)
{
	(void)thread;
	*ret_stale = false;
	return collect_bit(image, 0);
}

/* Which pages are there is remembered from here on. */
static struct err *compare_tracking_begin(struct image *image)
{
	bool moved;
	TRY(maps_moved(image, &moved));
	TRY(collect_bit(image, 0));
	image->written.n = 0;
	return NULL;
}

static struct err *compare_start(struct image *image, struct thread *thread)
{
	(void)thread;
	return compare_tracking_begin(image);
}

static void compare_stop(struct image *image)
{
	free(take_ptr(image->maps_text));
	image->maps_n = 0;
}

const struct method method_compare = {
	.kind = IMAGE_COMPARE,
	.name = "compare",
	.start = compare_start,
	.collect = compare_collect,
	.moved = maps_moved,
	.adopt = maps_adopt,
	.stop = compare_stop,
};

static struct err *clear_soft_dirty(struct image *image)
{
	_cleanup_(closep) int fd =
		proc_open(image->pid, 0, "clear_refs", O_WRONLY);
	if (fd < 0 || write(fd, "4", 1) != 1)
		return err_errno(errno, "soft-dirty bits cannot be cleared");
	return NULL;
}

static struct err *soft_start(struct image *image, struct thread *thread)
{
	(void)thread;
	TRY(clear_soft_dirty(image));
	return compare_tracking_begin(image);
}

static struct err *soft_collect(struct image *image, struct thread *thread,
				bool *ret_stale)
{
	(void)thread;
	*ret_stale = false;
	TRY(collect_bit(image, PAGEMAP_SOFT_DIRTY));
	return clear_soft_dirty(image);
}

const struct method method_soft_dirty = {
	.kind = IMAGE_SOFT_DIRTY,
	.name = "soft-dirty",
	.start = soft_start,
	.collect = soft_collect,
	.moved = maps_moved,
	.adopt = maps_adopt,
	.stop = compare_stop,
};

/*
 * After a fork every private page has two owners; one that was written has one
 * again, as long as the fork lives. The new fork comes before the old one goes.
 */
static struct err *fork_again(struct image *image, struct thread *thread)
{
	if (tracee_threads(image->tracee) != 1)
		return err_create(ERR_SUITE, "it has several threads");
	struct tracee *copy;
	TRY(checkpoint_fork(thread, &copy));
	tracee_destroy(image->fork);
	image->fork = copy;
	return NULL;
}

static struct err *fork_start(struct image *image, struct thread *thread)
{
	const char *obstacle = checkpoint_obstacle(image->tracee);
	if (obstacle)
		return err_create(ERR_SUITE, "%s", obstacle);
	TRY(fork_again(image, thread));
	return compare_tracking_begin(image);
}

static struct err *fork_collect(struct image *image, struct thread *thread,
				bool *ret_stale)
{
	*ret_stale = false;
	TRY(collect_bit(image, PAGEMAP_EXCLUSIVE));
	return fork_again(image, thread);
}

static void fork_stop(struct image *image)
{
	tracee_destroy(take_ptr(image->fork));
	compare_stop(image);
}

const struct method method_fork = {
	.kind = IMAGE_FORK,
	.name = "fork",
	.start = fork_start,
	.collect = fork_collect,
	.moved = maps_moved,
	.adopt = maps_adopt,
	.stop = fork_stop,
};
