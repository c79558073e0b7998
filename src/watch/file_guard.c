#include "watch/file_guard.h"

#include <stdlib.h>

#include "base/log.h"
#include "follow/follow.h"
#include "keep/save.h"

struct file_guard {
	struct follow *follow;
	struct saver *saver;
};

static void file_guard_on_call(void *data, const struct follow_event *event)
{
	struct file_guard *guard = data;
	saver_event(guard->saver, event);
}

struct err *file_guard_attach(struct thread *thread, struct saver *saver,
			      struct file_guard **ret)
{
	struct file_guard *guard = calloc(1, sizeof(*guard));
	if (!guard)
		return err_nomem();
	guard->saver = saver;
	const struct follow_options options = {
		.flags = FOLLOW_FILES,
		.sink = file_guard_on_call,
		.data = guard,
	};
	struct err *err = follow_attach(thread, &options, &guard->follow);
	if (!err) {
		*ret = guard;
		return NULL;
	}
	log_debug(LOG_WATCH, "files are not kept: %s", err_message(err));
	saver_cannot_follow(saver, err_message(err));
	err_destroy(err);
	free(guard);
	*ret = NULL;
	return NULL;
}

void file_guard_destroy(struct file_guard *guard)
{
	if (!guard)
		return;
	follow_destroy(guard->follow);
	free(guard);
}
