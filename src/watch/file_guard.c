#include "watch/file_guard.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "follow/follow.h"
#include "keep/save.h"

struct file_guard {
	struct follow *follow;
	struct saver *saver;
	struct file_guard_refusal refusal; /* .refused NULL: it keeps files */
	atomic_bool holds;		   /* a call, for good */
};

static void file_guard_on_call(void *data, const struct follow_event *event)
{
	struct file_guard *guard = data;
	if (!guard->refusal.refused) {
		saver_event(guard->saver, event);
		return;
	}
	if (!saver_event_counts(event))
		return;
	log_debug(LOG_WATCH, "a call that changes files is held back");
	atomic_store(&guard->holds, true);
	guard->refusal.refused(guard->refusal.data);
	for (;;)
		pause();
}

static struct err *guard_files(struct thread *thread, struct saver *saver,
			       struct file_guard_refusal refusal,
			       struct file_guard **ret)
{
	struct file_guard *guard = calloc(1, sizeof(*guard));
	if (!guard)
		return err_nomem();
	guard->saver = saver;
	guard->refusal = refusal;
	const struct follow_options options = {
		.flags = saver_flags(saver),
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

struct err *file_guard_attach(struct thread *thread, struct saver *saver,
			      struct file_guard **ret)
{
	return guard_files(thread, saver, (struct file_guard_refusal){}, ret);
}

struct err *file_guard_attach_refusing(struct thread *thread,
				       struct saver *saver,
				       const struct file_guard_refusal *refusal,
				       struct file_guard **ret)
{
	return guard_files(thread, saver, *refusal, ret);
}

void file_guard_destroy(struct file_guard *guard)
{
	/* Its thread does not come back; a child may still wait for an answer. */
	if (!guard || atomic_load(&guard->holds))
		return;
	if (follow_unseen(guard->follow))
		saver_missed(guard->saver);
	follow_destroy(guard->follow);
	free(guard);
}
