#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "files/files_internal.h"

#define TEXT_FOLLOWED 4096 /* content up to this size is kept, for reports */
#define TEXT_WALKED 256
#define TOLD_CAPTURES 16 /* points whose changes can still be undone */
#define TOLD_MAX 10000

struct err *files_create(const struct files_options *options,
			 struct files **ret)
{
	_cleanup_(files_destroyp) struct files *files =
		calloc(1, sizeof(*files));
	if (!files)
		return err_nomem();
	pthread_mutex_init(&files->lock, NULL);
	files->paths = options->paths ?: 16;
	files->walking = options->walk;
	files->left_over = options->left_over;
	files->data = options->data;
	files->limits = (struct snap_limits){
		.text = options->walk ? TEXT_WALKED : TEXT_FOLLOWED,
		.hashed = &files->hashed,
	};
	files->point = file_time_now();
	TRY(names_create(options, &files->names));
	if (options->walk)
		TRY(walk_create(files, options->dirs, &files->walk));
	*ret = take_ptr(files);
	return NULL;
}

void files_destroy(struct files *files)
{
	if (!files)
		return;
	walk_destroy(files->walk);
	following_free(files);
	names_free(&files->names);
	for (size_t i = 0; i < files->told.n; i++)
		told_clear(&files->told.data[i]);
	vec_free(&files->told);
	pthread_mutex_destroy(&files->lock);
	free(files);
}

static void files_unlockp(struct files **files)
{
	pthread_mutex_unlock(&(*files)->lock);
}

void files_event(struct files *files, const struct follow_event *event)
{
	if (files->walking || event->kind > FOLLOW_XATTR)
		return;
	pthread_mutex_lock(&files->lock);
	following_event(files, event);
	pthread_mutex_unlock(&files->lock);
}

void files_sink(void *data, const struct follow_event *event)
{
	files_event(data, event);
}

/* Nobody asks whether older changes were undone. */
static void forget_told(struct files *files)
{
	size_t n = 0;
	while (n < files->told.n &&
	       (files->told.n - n > TOLD_MAX ||
		files->told.data[n].capture + TOLD_CAPTURES <=
			files->counts.captures))
		told_clear(&files->told.data[n++]);
	if (!n)
		return;
	files->told.n -= n;
	memmove(files->told.data, files->told.data + n,
		files->told.n * sizeof(*files->told.data));
}

static struct err *capture_followed(struct files *files, pid_t pid,
				    struct changes *ret)
{
	_cleanup_(deltas_freep) struct deltas deltas = {};
	if (!files->touched.n && !files->open.n)
		return NULL;
	if (!ret) {
		following_commit(files, false);
		return NULL;
	}
	struct err *err = following_deltas(files, &deltas);
	if (!err)
		err = compare_tell(files, &deltas, pid, ret);
	following_commit(files, !err);
	return err;
}

static struct err *capture_walked(struct files *files, pid_t pid,
				  struct changes *ret)
{
	_cleanup_(deltas_freep) struct deltas deltas = {};
	struct err *err = walk_deltas(files->walk, &deltas);
	if (!err && ret)
		err = compare_tell(files, &deltas, pid, ret);
	walk_commit(files->walk);
	files->counts.walked += walk_entries(files->walk);
	return err;
}

struct err *files_capture(struct files *files, pid_t pid,
			  const struct files_open *open, size_t n_open,
			  struct changes *ret)
{
	pthread_mutex_lock(&files->lock);
	_cleanup_(files_unlockp) struct files *locked _unused_ = files;
	files->counts.captures++;
	if (files->told.n)
		forget_told(files);
	files->begin = file_time_now();
	if (files->walking) {
		TRY(capture_walked(files, pid, ret));
	} else {
		TRY(capture_followed(files, pid, ret));
		if (n_open || files->open.n)
			TRY(following_open(files, open, n_open));
	}
	files->point = files->begin;
	return NULL;
}

bool files_undone(struct files *files, const struct change *change)
{
	if (change->where != CHANGE_FILE)
		return false;
	pthread_mutex_lock(&files->lock);
	_cleanup_(files_unlockp) struct files *locked _unused_ = files;
	for (size_t i = files->told.n; i-- > 0;) {
		if (files->told.data[i].id == change->root_number)
			return told_undone(files, &files->told.data[i]);
	}
	return false;
}

struct files_counts files_counts(const struct files *files)
{
	struct files_counts counts = files->counts;
	counts.hashed_bytes = atomic_load(&files->hashed);
	return counts;
}

const char *files_limit(const struct files *files)
{
	return files->limit;
}
