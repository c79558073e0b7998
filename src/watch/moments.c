#include "watch/moments.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/log.h"
#include "tracee/checkpoint.h"
#include "watch/memory_watch_internal.h"

/* Each is a process, until the end of the test. */
#define MOMENTS_MAX 64
/* Larger variables are not followed in a fork. */
#define MOMENT_SIZE_MAX (UINT64_C(1) << 20)

/* ---- life ---- */

void moments_start(struct moments *moments)
{
	moments->failed = false;
}

void moments_forget_roots(struct moments *moments)
{
	moments_clear(moments);
	state_destroy(moments->state);
	moments->state = NULL;
	map_u64_free(&moments->roots);
}

void moments_clear(struct moments *moments)
{
	for (size_t i = 0; i < moments->all.n; i++) {
		image_moment_destroy(moments->all.data[i].begun);
		image_moment_destroy(moments->all.data[i].ready);
	}
	moments->all.n = 0;
}

void moments_free(struct moments *moments)
{
	moments_forget_roots(moments);
	vec_free(&moments->all);
	vec_free(&moments->pages);
	state_differences_free(&moments->differences);
	moments->failed = false;
}

/* ---- taking them ---- */

/* NULL in *@ret: there is none, and nothing is lost but what it would show. */
static struct err *moments_take(struct memory_watch *watch,
				struct thread *thread,
				struct image_moment **ret)
{
	*ret = NULL;
	if (tracee_threads(watch->tracee) > 1)
		TRY(tracee_stop_all(watch->tracee));
	struct err *err =
		checkpoint_is_filtered(thread)
			? err_create(ERR_INTERNAL,
				     "a test filters system calls")
			: image_moment_take(watch->image, thread, ret);
	if (!err)
		return NULL;
	log_debug(LOG_WATCH,
		  "what tests use first is not compared with how it was made: "
		  "%s",
		  err_message(err));
	watch->moments.failed = true;
	err_destroy(err);
	return NULL;
}

static bool moments_have_room(const struct memory_watch *watch,
			      const struct thread *thread)
{
	const struct moments *moments = &watch->moments;
	return watch->state && thread->tracee == watch->tracee &&
	       !moments->failed && moments->all.n < MOMENTS_MAX;
}

static struct err *moments_load_guards(struct memory_watch *watch)
{
	struct moments *moments = &watch->moments;
	if (moments->roots.map.n)
		return NULL;
	for (size_t i = 0; i < watch->roots.all.n; i++) {
		const struct state_root *root = &watch->roots.all.data[i];
		if (root->guard && root->size <= MOMENT_SIZE_MAX)
			TRY(map_u64_put(&moments->roots, root->guard, i + 1));
	}
	return NULL;
}

struct err *moments_guard(struct memory_watch *watch, struct thread *thread,
			  uint64_t guard)
{
	struct moments *moments = &watch->moments;
	uint64_t root;
	if (!moments_have_room(watch, thread))
		return NULL;
	TRY(moments_load_guards(watch));
	if (!map_u64_get(&moments->roots, guard, &root))
		return NULL;
	struct moment moment = { .root = root - 1 };
	TRY(moments_take(watch, thread, &moment.ready));
	struct err *err = moment.ready ? vec_push(&moments->all, moment) : NULL;
	if (err)
		image_moment_destroy(moment.ready);
	return err;
}

struct err *moments_make(struct memory_watch *watch, struct thread *thread,
			 uint64_t *ret)
{
	struct moments *moments = &watch->moments;
	*ret = 0;
	if (!moments_have_room(watch, thread))
		return NULL;
	struct moment moment = { .root = MOMENT_ANY,
				 .number = moments->made + 1 };
	TRY(moments_take(watch, thread, &moment.begun));
	if (!moment.begun)
		return NULL;
	struct err *err = vec_push(&moments->all, moment);
	if (err)
		image_moment_destroy(moment.begun);
	else
		*ret = ++moments->made;
	return err;
}

struct err *moments_made(struct memory_watch *watch, struct thread *thread,
			 uint64_t number)
{
	struct moments *moments = &watch->moments;
	if (thread->tracee != watch->tracee || moments->failed)
		return NULL;
	for (size_t i = 0; i < moments->all.n; i++) {
		struct moment *moment = &moments->all.data[i];
		if (moment->number == number && moment->begun && !moment->ready)
			return moments_take(watch, thread, &moment->ready);
	}
	return NULL;
}

/* ---- comparing ---- */

static const uint8_t *moment_page(void *data, uint64_t address)
{
	return image_moment_page(data, address);
}

static bool moment_block(void *data, uint64_t address, struct view_block *ret)
{
	struct image_block block;
	if (!image_moment_block(data, address, &block))
		return false;
	*ret = (struct view_block){ block.start, block.size, block.stack,
				    block.exact };
	return true;
}

static struct view moment_view(struct image_moment *moment)
{
	return (struct view){ moment_page, moment_block, moment };
}

static struct err *moments_add_page(struct memory_watch *watch,
				    struct image_moment *ready,
				    uint64_t address)
{
	const struct state_page page = {
		.address = address,
		.before = image_moment_page(ready, address),
		.after = image_page(watch->image, IMAGE_AFTER, address),
	};
	if (page.before == page.after ||
	    (page.before && page.after &&
	     !memcmp(page.before, page.after, IMAGE_PAGE)))
		return NULL;
	return vec_push(&watch->moments.pages, page);
}

/*
 * Pages that differ since @ready. They are among those that differ since the
 * beginning of the test, unless they are again as they were then: the variable's
 * own may be.
 */
static struct err *moments_find_pages(struct memory_watch *watch,
				      struct image_moment *ready,
				      const struct state_root *root)
{
	size_t n;
	const struct image_change *changes = image_changes(watch->image, &n);
	uint64_t first = root->address & ~(uint64_t)(IMAGE_PAGE - 1);
	uint64_t end = root->address + root->size;
	watch->moments.pages.n = 0;
	for (size_t i = 0; i < n; i++) {
		if (changes[i].address < first || changes[i].address >= end)
			TRY(moments_add_page(watch, ready, changes[i].address));
	}
	for (uint64_t at = first; at < end; at += IMAGE_PAGE)
		TRY(moments_add_page(watch, ready, at));
	if (watch->moments.pages.n)
		qsort(watch->moments.pages.data, watch->moments.pages.n,
		      sizeof(struct state_page), compare_as_u64);
	return NULL;
}

static struct err *moments_compare(struct memory_watch *watch,
				   struct image_moment *ready, size_t root)
{
	struct moments *moments = &watch->moments;
	const struct view before = moment_view(ready);
	state_differences_clear(&moments->differences);
	TRY(moments_find_pages(watch, ready, &watch->roots.all.data[root]));
	if (!moments->pages.n)
		return NULL;
	if (!moments->state) {
		const struct state_options options =
			memory_watch_options(watch);
		TRY(state_create(watch->pool, watch->containers, &options,
				 &moments->state));
	}
	TRY(state_index_root(moments->state, &before, root));
	return state_compare(moments->state, &before, &watch->after,
			     moments->pages.data, moments->pages.n,
			     &moments->differences);
}

static struct change *moments_find_change(struct changes *changes, size_t root)
{
	for (size_t i = 0; i < changes->n; i++) {
		if (changes->data[i].where == CHANGE_MEMORY &&
		    changes->data[i].root_number == root)
			return &changes->data[i];
	}
	return NULL;
}

/* What was done to it since @ready; nothing: it was made, and that is all. */
static struct err *moments_judge_root(struct memory_watch *watch,
				      struct image_moment *ready, size_t root,
				      struct changes *changes)
{
	struct moments *moments = &watch->moments;
	struct change *change = moments_find_change(changes, root);
	TRY(moments_compare(watch, ready, root));
	if (change) {
		change_forget_paths(change);
		change->weight = WEIGHT_PLAIN;
		change->first = true;
	}
	const struct view before = moment_view(ready);
	for (size_t i = 0; i < moments->differences.n; i++) {
		const struct state_difference *difference =
			&moments->differences.data[i];
		if (difference->root != root ||
		    memory_watch_leaves_out(watch, difference))
			continue;
		if (!change)
			TRY(memory_watch_add_change(watch, root, changes,
						    &change));
		change->first = false;
		TRY(memory_watch_add_path(watch, difference, change));
		if (difference->dead)
			change->weight = WEIGHT_HIGH;
	}
	if (!change || change->first)
		return NULL;
	change->more = state_more(moments->state, root);
	change->kinds = state_kinds(moments->state, root);
	change->digest_before = state_digest(moments->state, &before, root);
	return watch->options->detail
		       ? memory_watch_add_detail(watch, &before, root, change)
		       : NULL;
}

/* Are the variable's own bytes the same at both moments? */
static bool moments_same_bytes(const struct state_root *root,
			       const struct view *a, const struct view *b)
{
	uint8_t was[64], is[64];
	for (uint64_t at = 0; at < root->size; at += sizeof(was)) {
		size_t n = MIN(sizeof(was), (size_t)(root->size - at));
		if (!view_read(a, root->address + at, was, n) ||
		    !view_read(b, root->address + at, is, n) ||
		    memcmp(was, is, n) != 0)
			return false;
	}
	return true;
}

/*
 * The last of those in which the variable was written; NULL: none, or the test
 * had written it before, so that it is not clear who made what.
 */
static struct image_moment *moments_of_change(const struct memory_watch *watch,
					      const struct state_root *root)
{
	const struct moments *moments = &watch->moments;
	struct image_moment *ready = NULL;
	bool first = true;
	for (size_t i = 0; i < moments->all.n; i++) {
		const struct moment *moment = &moments->all.data[i];
		if (!moment->begun || !moment->ready)
			continue;
		const struct view begun = moment_view(moment->begun);
		const struct view made = moment_view(moment->ready);
		if (moments_same_bytes(root, &begun, &made))
			continue;
		if (first && !moments_same_bytes(root, &watch->before, &begun))
			return NULL;
		first = false;
		ready = moment->ready;
	}
	return ready;
}

struct err *moments_judge(struct memory_watch *watch, struct changes *changes)
{
	const struct moments *moments = &watch->moments;
	size_t n = changes->n;
	for (size_t i = 0; i < moments->all.n; i++) {
		const struct moment *moment = &moments->all.data[i];
		if (moment->root != MOMENT_ANY)
			TRY(moments_judge_root(watch, moment->ready,
					       moment->root, changes));
	}
	for (size_t i = 0; moments->all.n && i < n; i++) {
		const struct change *change = &changes->data[i];
		size_t number = change->root_number;
		if (change->where != CHANGE_MEMORY || change->first)
			continue;
		const struct state_root *root = &watch->roots.all.data[number];
		struct image_moment *ready =
			root->guard || root->size > MOMENT_SIZE_MAX
				? NULL
				: moments_of_change(watch, root);
		if (ready)
			TRY(moments_judge_root(watch, ready, number, changes));
	}
	return NULL;
}
