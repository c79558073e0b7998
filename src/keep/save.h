/*
 * Files as they were before tests first touched them: each is kept when a call
 * that is about to change it is reported (follow/follow.h), and can be restored
 * later.
 *
 * Folders are kept with all that is in them only where they are removed or
 * renamed as a whole; else what is touched in them is, and their attributes.
 *
 * saver_event() may come from any thread at any time; all other calls are of
 * one thread, while nothing is followed.
 */
#pragma once

#include "base/err.h"
#include "follow/follow.h"

struct saver;

struct err *saver_create(struct saver **ret) _must_check_;
void saver_destroy(struct saver *saver); /* restores nothing; NULL is fine */
static inline void saver_destroyp(struct saver **saver)
{
	saver_destroy(*saver);
}

void saver_event(struct saver *saver, const struct follow_event *event);
/* The paths of those, one by one, as keepers take them; NULL: no more. */
const char *saver_path(const struct saver *saver, size_t i);
/* Restores @paths and what is below them; the rest is left alone. */
struct err *saver_put_back(struct saver *saver, const char *const *paths,
			   size_t n) _must_check_;
