/*
 * Files as they were before tests first touched them: each is kept when a call
 * that is about to change it is reported (follow/follow.h), and is restored
 * before the next order begins.
 *
 * Folders are kept with all that is in them only where they are removed or
 * renamed as a whole; else what is touched in them is, and their attributes.
 *
 * Invariants:
 *  1. What was kept first is from before all the others: paths are restored in
 *     the reverse sequence, so that a folder that was kept after a file in it
 *     does not bring back what the file was by then.
 *  2. A path that was not touched since saver_put_back() is as it was kept: it
 *     is not looked at. One that the tested program had open at its beginning
 *     may be written without a call that is seen, and always is.
 *  3. Whatever cannot be kept or restored is named (saver_lost()).
 *
 * saver_event() may come from any thread at any time; all other calls are of
 * one thread.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "follow/follow.h"
#include "keep/keep.h"

struct saver;
struct saved;

struct err *saver_create(struct saver **ret) _must_check_;
void saver_destroy(struct saver *saver); /* restores nothing; NULL is fine */
static inline void saver_destroyp(struct saver **saver)
{
	saver_destroy(*saver);
}

void saver_event(struct saver *saver, const struct follow_event *event);
/*
 * @sink is told all of these events from now on, and NULL where one was not
 * seen. It also wants to be told what is read: who follows calls for the saver
 * asks for saver_flags().
 */
void saver_tell(struct saver *saver,
		void (*sink)(void *data, const struct follow_event *event),
		void *data);
unsigned saver_flags(const struct saver *saver); /* enum follow_flags */
/* A call may have been missed, which does not concern files that are kept. */
void saver_missed(struct saver *saver);
/* Does it change a file, or one whose name is not known? */
bool saver_event_counts(const struct follow_event *event);
/* As if a call were about to change it; as keepers take paths. */
struct err *saver_add(struct saver *saver, const char *path) _must_check_;
/* What a process, stopped before its first test, has open or mapped. */
struct err *saver_add_open(struct saver *saver, pid_t pid) _must_check_;
/*
 * Can files be kept at all? Otherwise @why says what prevents calls from being
 * followed.
 */
void saver_cannot_follow(struct saver *saver, const char *why);

/* All as it was. */
struct err *saver_put_back(struct saver *saver) _must_check_;
/*
 * For the end: what the beginning of a program made and another copy of it
 * removed is there only because it was restored. Nobody else would remove it.
 * If it removes what it has open, those files of other starts go, too: no copy
 * of these may have come to its end. @last: also those of the last start.
 */
void saver_remove_made(struct saver *saver, bool last);
/* A file that a process had open (saver_add_open()) could not get its name back. */
bool saver_open_is_gone(const struct saver *saver);

/* As it is now, and that again, any number of times; before its saver goes. */
struct err *saver_take(struct saver *saver, struct saved **ret) _must_check_;
void saved_destroy(struct saved *saved); /* NULL is fine */
static inline void saved_destroyp(struct saved **saved)
{
	saved_destroy(*saved);
}
struct err *saver_put_back_to(struct saver *saver,
			      const struct saved *saved) _must_check_;
/* Of what is as @saved has it, the paths that @which says as it was at first. */
struct err *saver_put_back_some(struct saver *saver, const struct saved *saved,
				const bool *which) _must_check_;

/*
 * The paths one by one, numbered as keepers do: for those who compare the first
 * state with a later one.
 */
const struct keeper *saver_keeper(const struct saver *saver);
const struct kept *saver_first(const struct saver *saver);
const struct kept *saved_kept(const struct saved *saved);
size_t saved_count(const struct saved *saved);
/* The paths that differ from the first state, sorted by name; malloc(3)ed. */
struct err *saved_changed(const struct saver *saver, const struct saved *saved,
			  size_t **ret, size_t *ret_n) _must_check_;
/* Touched so far; NULL: no more. */
const char *saver_path(const struct saver *saver, size_t i);
/* What could not be kept or restored, with the reason; NULL: no more. */
const char *saver_lost(const struct saver *saver, size_t i);
