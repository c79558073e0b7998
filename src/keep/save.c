#include "keep/save.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "keep/keep_internal.h"

struct saver {
	pthread_mutex_t mutex;
	struct keeper *keeper;
	struct kept *kept; /* as many paths as the keeper was given */
	struct map_text known;
};

struct err *saver_create(struct saver **ret)
{
	_cleanup_(saver_destroyp) struct saver *saver =
		calloc(1, sizeof(*saver));
	if (!saver)
		return err_nomem();
	pthread_mutex_init(&saver->mutex, NULL);
	TRY(keeper_create(NULL, 0, &saver->keeper));
	TRY(keeper_take(saver->keeper, &saver->kept));
	*ret = take_ptr(saver);
	return NULL;
}

void saver_destroy(struct saver *saver)
{
	if (!saver)
		return;
	kept_destroy(saver->kept);
	keeper_destroy(saver->keeper);
	map_text_free(&saver->known);
	pthread_mutex_destroy(&saver->mutex);
	free(saver);
}

/* In saver.known: only what the folder itself is, not what is in it. */
#define SHALLOW 2
#define WHOLE 1

/* Is it, or a folder that contains it, kept already? */
static struct err *saver_is_kept(const struct saver *saver, const char *path,
				 bool shallow, bool *ret)
{
	_cleanup_(freep) char *folder = strdup(path);
	if (!folder)
		return err_nomem();
	*ret = false;
	for (char *slash = folder + strlen(folder); slash && slash != folder;
	     slash = strrchr(folder, '/')) {
		uint64_t known;
		bool itself = !*slash;
		*slash = '\0';
		*ret = map_text_get(&saver->known, folder, &known) &&
		       (known == WHOLE || (itself && shallow));
		if (*ret)
			break;
	}
	return NULL;
}

static struct err *saver_note_path(struct saver *saver, const char *path,
				   bool shallow)
{
	_cleanup_(freep) char *folder = NULL;
	if (!shallow)
		return keeper_add(saver->keeper, path);
	if (asprintf(&folder, "%s/", path) < 0)
		return err_nomem();
	return keeper_add(saver->keeper, folder);
}

static struct err *saver_save_path(struct saver *saver, const char *path,
				   bool shallow)
{
	bool known = false;
	TRY(saver_is_kept(saver, path, shallow, &known));
	if (known || saver->kept->n >= KEEP_FILES_MAX)
		return NULL;
	TRY(map_text_put(&saver->known, path, shallow ? SHALLOW : WHOLE));
	size_t n = saver->kept->n;
	struct kept *grown =
		realloc(saver->kept,
			sizeof(*grown) + (n + 1) * sizeof(grown->paths[0]));
	if (!grown)
		return err_nomem();
	saver->kept = grown;
	grown->paths[n] = (struct kept_path){ .lost = true };
	TRY(saver_note_path(saver, path, shallow));
	grown->n++;
	struct err *err = keeper_take_one(saver->keeper, n, &grown->paths[n]);
	grown->paths[n].lost |= err != NULL;
	return err;
}

static bool saver_is_folder(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Devices, and what tools write beside the program at its end, do not count. */
static bool saver_path_counts(const char *path)
{
	return path && path[0] == '/' && path[1] && strlen(path) < PATH_MAX &&
	       !str_starts(path, "/proc/") && !str_starts(path, "/sys/") &&
	       (!str_starts(path, "/dev/") || str_starts(path, "/dev/shm/")) &&
	       !path_is_coverage(path);
}

void saver_event(struct saver *saver, const struct follow_event *event)
{
	bool whole =
		event->kind == FOLLOW_REMOVE || event->kind == FOLLOW_RENAME;
	const char *paths[] = {
		event->kind == FOLLOW_LINK ? NULL : event->path,
		event->path2,
	};
	if (event->kind > FOLLOW_XATTR)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		bool folder = saver_path_counts(paths[i]) && !whole &&
			      saver_is_folder(paths[i]);
		/* Opened, or there already: it stays what it is. */
		if (!saver_path_counts(paths[i]) ||
		    (folder && event->kind < FOLLOW_MODE))
			continue;
		pthread_mutex_lock(&saver->mutex);
		struct err *err = saver_save_path(saver, paths[i], folder);
		pthread_mutex_unlock(&saver->mutex);
		err_ignore(err);
	}
}

struct err *saver_put_back(struct saver *saver, const char *const *paths,
			   size_t n)
{
	struct keeper *wanted = NULL;
	struct err *err = keeper_create(paths, n, &wanted);
	/* Backwards: what was kept first is from before all the others. */
	for (size_t i = saver->kept->n; i-- > 0 && !err;) {
		if (keeper_has(wanted, saver->keeper->told.data[i].path))
			err = keeper_put_back_one(saver->keeper, saver->kept,
						  i);
	}
	keeper_destroy(wanted);
	return err;
}

const char *saver_path(const struct saver *saver, size_t i)
{
	return i < keeper_count(saver->keeper) ? keeper_path(saver->keeper, i)
					       : NULL;
}
