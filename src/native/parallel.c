#include "native/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native/framework.h"

/* Entries handed out at once: few, so that all workers end together. */
#define CHUNK_MAX 32
#define WORKERS_MAX 256
/* Below that a second start of the program costs more than it saves. */
#define USEFUL_MIN 8
#define TEXT_MAX ((uint64_t)4 << 20)

enum message_kind {
	MESSAGE_STARTED,
	MESSAGE_FINISHED,
	MESSAGE_FAILED,
	MESSAGE_READY
};

/* What a worker says, in host order: both sides are the same program. */
struct message {
	uint32_t kind;
	uint32_t outcome;
	uint64_t test;
	uint64_t ns;
	uint64_t line;
	uint64_t dropped;
	/* Lengths of the texts that follow; UINT64_MAX: NULL. */
	uint64_t message_n, file_n, output_n;
};

struct order_message {
	uint64_t n;
	uint64_t tests[CHUNK_MAX];
};

struct worker {
	pid_t pid;
	int fd;
	size_t outstanding;
	bool done;
};

bool parallel_useful(const struct session *session, size_t n)
{
	return session->suite.options.jobs > 1 && n >= USEFUL_MIN;
}

static bool write_all(int fd, const void *data, size_t n)
{
	while (n) {
		ssize_t done = send(fd, data, n, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		data = (const char *)data + done;
		n -= (size_t)done;
	}
	return true;
}

static bool read_all(int fd, void *data, size_t n)
{
	while (n) {
		ssize_t done = recv(fd, data, n, 0);
		if (done < 0 && errno == EINTR && !suite_interrupted)
			continue;
		if (done <= 0)
			return false;
		data = (char *)data + done;
		n -= (size_t)done;
	}
	return true;
}

/* ---- the worker's side ---- */

static void worker_started(void *data, size_t test)
{
	const int *fd = data;
	struct message message = { .kind = MESSAGE_STARTED, .test = test };
	if (!write_all(*fd, &message, sizeof(message)))
		suite_interrupt();
}

static void worker_finished(void *data, const struct suite_result *result)
{
	const int *fd = data;
	struct message message = {
		.kind = MESSAGE_FINISHED,
		.outcome = (uint32_t)result->outcome,
		.test = result->test,
		.ns = result->ns,
		.line = result->line,
		.dropped = result->output_dropped,
		.message_n =
			result->message ? strlen(result->message) : UINT64_MAX,
		.file_n = result->file ? strlen(result->file) : UINT64_MAX,
		.output_n = result->output ? result->output_n : UINT64_MAX,
	};
	if (!write_all(*fd, &message, sizeof(message)) ||
	    (result->message &&
	     !write_all(*fd, result->message, message.message_n)) ||
	    (result->file && !write_all(*fd, result->file, message.file_n)) ||
	    (result->output &&
	     !write_all(*fd, result->output, message.output_n)))
		suite_interrupt();
}

static struct err *work(const struct suite_options *options, size_t tests,
			int fd)
{
	_cleanup_(suite_closep) struct suite *suite = NULL;
	TRY(native_suite_open(options, &suite));
	if (suite_count(suite) != tests)
		return err_create(ERR_SUITE,
				  "started again, the program has %zu tests "
				  "instead of %zu",
				  suite_count(suite), tests);
	struct suite_observer observer = {
		.started = worker_started,
		.finished = worker_finished,
		.data = &fd,
	};
	struct message ready = { .kind = MESSAGE_READY };
	if (!write_all(fd, &ready, sizeof(ready)))
		return NULL;
	struct order_message order;
	while (read_all(fd, &order, sizeof(order))) {
		size_t chunk[CHUNK_MAX];
		for (size_t i = 0; i < order.n; i++)
			chunk[i] = order.tests[i];
		TRY(suite_run(suite, chunk, order.n, SUITE_ALONE, &observer));
	}
	return NULL;
}

static void _noreturn_ worker_main(const struct session *session, int fd)
{
	struct suite_options options = session->suite.options;
	options.jobs = 1;
	options.framework = session->framework->name;
	struct err *err = work(&options, session->suite.tests.n, fd);
	if (err) {
		const char *text = err_message(err);
		struct message message = {
			.kind = MESSAGE_FAILED,
			.outcome = (uint32_t)err_kind(err),
			.message_n = strlen(text),
			.file_n = UINT64_MAX,
			.output_n = UINT64_MAX,
		};
		if (write_all(fd, &message, sizeof(message)))
			write_all(fd, text, message.message_n);
	}
	_exit(0);
}

/* ---- the controller's side ---- */

static struct err *start_worker(const struct session *session,
				struct worker *worker)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_errno(errno, "cannot make a socket pair");
	pid_t controller = getpid();
	pid_t pid = fork();
	if (pid < 0) {
		int number = errno;
		close(ends[0]);
		close(ends[1]);
		return err_errno(number, "cannot fork");
	}
	if (!pid) {
		close(ends[0]);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != controller)
			_exit(0);
		worker_main(session, ends[1]);
	}
	close(ends[1]);
	*worker = (struct worker){ .pid = pid, .fd = ends[0] };
	return NULL;
}

static void stop_workers(struct worker *workers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		closep(&workers[i].fd);
		kill(workers[i].pid, SIGTERM);
	}
	for (size_t i = 0; i < n; i++) {
		while (waitpid(workers[i].pid, NULL, __WALL) < 0 &&
		       errno == EINTR)
			;
	}
}

static bool read_text(int fd, uint64_t n, char **ret)
{
	if (n == UINT64_MAX)
		return true;
	if (n > TEXT_MAX)
		return false;
	*ret = malloc(n + 1);
	if (!*ret || !read_all(fd, *ret, n))
		return false;
	(*ret)[n] = '\0';
	return true;
}

static struct err *lost(void)
{
	return suite_interrupted
		       ? err_create(ERR_INTERRUPTED, "interrupted")
		       : err_create(ERR_INTERNAL, "a worker process is gone");
}

/* One message of a worker. */
static struct err *hear(struct session *session, struct worker *worker)
{
	const struct suite_observer *observer = session->observer;
	struct message message;
	if (!read_all(worker->fd, &message, sizeof(message)))
		return lost();
	if (message.kind == MESSAGE_READY)
		return NULL;
	if (message.kind == MESSAGE_STARTED) {
		if (observer && observer->started)
			observer->started(observer->data, message.test);
		return NULL;
	}
	struct suite_result result = {
		.test = message.test,
		.outcome = (enum outcome)message.outcome,
		.ns = message.ns,
		.line = (unsigned)message.line,
		.output_dropped = message.dropped,
	};
	bool whole =
		read_text(worker->fd, message.message_n, &result.message) &&
		read_text(worker->fd, message.file_n, &result.file) &&
		read_text(worker->fd, message.output_n, &result.output);
	result.output_n = result.output ? message.output_n : 0;
	struct err *err = NULL;
	if (!whole)
		err = lost();
	else if (message.kind == MESSAGE_FAILED)
		err = err_create((enum err_kind)message.outcome, "%s",
				 result.message);
	else if (observer && observer->finished)
		observer->finished(observer->data, &result);
	worker->outstanding--;
	suite_result_free(&result);
	return err;
}

static struct err *hand_out(struct worker *worker, const size_t *order,
			    size_t n, size_t chunk, size_t *at)
{
	struct order_message message = {};
	while (*at < n && message.n < chunk)
		message.tests[message.n++] = order[(*at)++];
	if (!message.n) {
		worker->done = true;
		return NULL;
	}
	worker->outstanding = message.n;
	return write_all(worker->fd, &message, sizeof(message)) ? NULL : lost();
}

static struct err *supervise(struct session *session, struct worker *workers,
			     size_t count, const size_t *order, size_t n)
{
	BUG_ON(!count);
	size_t at = 0, chunk = n / (count * 8);
	chunk = MAX(MIN(chunk, (size_t)CHUNK_MAX), (size_t)1);
	struct pollfd polls[WORKERS_MAX];
	for (size_t i = 0; i < count; i++)
		polls[i] = (struct pollfd){ workers[i].fd, POLLIN, 0 };
	for (;;) {
		size_t busy = 0;
		for (size_t i = 0; i < count; i++) {
			if (!workers[i].done && !workers[i].outstanding)
				TRY(hand_out(&workers[i], order, n, chunk,
					     &at));
			busy += workers[i].outstanding > 0;
			polls[i].events = workers[i].outstanding ? POLLIN : 0;
		}
		if (!busy)
			return NULL;
		int ready = poll(polls, count, 1000);
		if (suite_interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (ready < 0 && errno != EINTR)
			return err_errno(errno, "cannot wait for workers");
		for (size_t i = 0; ready > 0 && i < count; i++) {
			if (polls[i].revents && workers[i].outstanding)
				TRY(hear(session, &workers[i]));
		}
	}
}

struct err *parallel_run_alone(struct session *session, const size_t *order,
			       size_t n)
{
	struct worker workers[WORKERS_MAX];
	size_t want = MIN((size_t)session->suite.options.jobs, n);
	want = MIN(want, (size_t)WORKERS_MAX);
	size_t count = 0;
	struct err *err = NULL;
	tracer_unpin(session->tracer); /* workers inherit our processors */
	while (!err && count < want) {
		err = start_worker(session, &workers[count]);
		count += !err;
	}
	if (!err)
		err = supervise(session, workers, count, order, n);
	stop_workers(workers, count);
	return err;
}
