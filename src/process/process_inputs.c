#include "process/process_inputs.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/macro.h"
#include "files/inputs.h"
#include "follow/follow.h"
#include "keep/save.h"
#include "process/process.h"
#include "process/process_ipc.h"

#define WAIT_MS 50

struct learning {
	struct inputs *inputs;
	struct saver *saver;
	struct follow *follow;
	struct process process;
};

static void learning_freep(struct learning *learning)
{
	process_reap(&learning->process);
	follow_destroy(learning->follow);
	saver_destroy(learning->saver);
}

static void learning_on_call(void *data, const struct follow_event *event)
{
	struct learning *learning = data;
	saver_event(learning->saver, event);
	inputs_sink(learning->inputs, event);
}

/* Both outputs come through one pipe, and nobody wants them. */
static void drop_output(int fd)
{
	char buffer[1 << 16];
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
}

/* Did it end by itself? */
static bool wait_for_end(struct process *process, uint64_t deadline)
{
	while (!process_ended(process)) {
		struct pollfd fds[] = {
			{ .fd = process->out, .events = POLLIN },
			{ .fd = process->pidfd, .events = POLLIN },
		};
		if (interrupted || clock_now() > deadline)
			return false;
		poll(fds, ARRAY_SIZE(fds), WAIT_MS);
		if (fds[0].revents & POLLIN)
			drop_output(process->out);
		else if (fds[0].revents)
			close(take_fd(process->out));
	}
	return !process->signal;
}

static struct err *run_to_end(struct learning *learning, char *const *argv,
			      uint64_t limit_ns)
{
	const struct process_spec spec = { .argv = argv,
					   .follow = learning->follow };
	_cleanup_(freep) char *why = NULL;
	TRY(process_start(&spec, &learning->process, &why));
	bool ended = !why && !learning->process.unfollowed &&
		     wait_for_end(&learning->process, clock_now() + limit_ns);
	process_end(&learning->process);
	if (ended && !follow_unseen(learning->follow))
		return NULL;
	log_debug(LOG_PROCESS, "what '%s' reads is not known: %s", argv[0],
		  why	  ? why
		  : ended ? "not all of its calls are seen"
			  : "it did not end by itself, or was not followed");
	inputs_lose(learning->inputs);
	return NULL;
}

struct err *process_learn_inputs(char *const *argv, uint64_t limit_ns,
				 struct inputs *inputs)
{
	_cleanup_(learning_freep) struct learning learning = {
		.inputs = inputs,
		.process = PROCESS_INIT,
	};
	_cleanup_(ipc_span_free) struct ipc_span span = IPC_SPAN_INIT;
	const struct follow_options options = {
		.flags = FOLLOW_FILES | FOLLOW_READS,
		.sink = learning_on_call,
		.data = &learning,
	};
	struct err *err = follow_prepare(&options, &learning.follow);
	if (err) {
		log_debug(LOG_PROCESS, "inputs: %s", err_message(err));
		err_ignore(err);
		inputs_lose(inputs);
		return NULL;
	}
	TRY(saver_create(&learning.saver));
	TRY(ipc_span_begin(&span));
	inputs_begin(inputs);
	err = run_to_end(&learning, argv, limit_ns);
	ipc_span_end(&span);
	if (!err)
		err = saver_put_back(learning.saver);
	saver_remove_made(learning.saver, true);
	if (saver_lost(learning.saver, 0))
		inputs_lose(inputs);
	return err;
}
