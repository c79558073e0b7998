#include "process/process_saving.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/macro.h"
#include "follow/follow.h"
#include "keep/save.h"

struct process_saving {
	struct saver *saver;
	VEC(struct follow *) followers;
};

static void process_saving_on_call(void *data, const struct follow_event *event)
{
	struct process_saving *saving = data;
	saver_event(saving->saver, event);
}

struct err *process_saving_create(struct saver *saver,
				  struct process_saving **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return err_nomem();
	(*ret)->saver = saver;
	return NULL;
}

void process_saving_destroy(struct process_saving *saving)
{
	if (!saving)
		return;
	for (size_t i = 0; i < saving->followers.n; i++)
		follow_destroy(saving->followers.data[i]);
	vec_free(&saving->followers);
	free(saving);
}

/* A command that cannot be followed runs nevertheless. */
static struct err *process_saving_do_without(struct process_saving *saving,
					     struct err *err)
{
	log_debug(LOG_PROCESS, "files are not kept: %s", err_message(err));
	saver_cannot_follow(saving->saver, err_message(err));
	err_destroy(err);
	return NULL;
}

struct err *process_saving_begin(struct process_saving *saving,
				 struct follow **ret)
{
	const struct follow_options options = {
		.flags = saver_flags(saving->saver),
		.sink = process_saving_on_call,
		.data = saving,
	};
	struct follow *follow = NULL;
	*ret = NULL;
	struct err *err = follow_prepare(&options, &follow);
	if (err)
		return process_saving_do_without(saving, err);
	err = vec_push(&saving->followers, follow);
	if (err) {
		follow_destroy(follow);
		return err;
	}
	*ret = follow;
	return NULL;
}

void process_saving_started(struct process_saving *saving,
			    struct err *unfollowed)
{
	if (unfollowed)
		err_ignore(process_saving_do_without(saving, unfollowed));
}

void process_saving_settle(struct process_saving *saving)
{
	size_t n = 0;
	for (size_t i = 0; i < saving->followers.n; i++) {
		struct follow *follow = saving->followers.data[i];
		if (follow_is_alone(follow))
			follow_destroy(follow);
		else
			saving->followers.data[n++] = follow;
	}
	saving->followers.n = n;
}
