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

#include "base/interrupted.h"
#include "native/framework.h"
#include "native/saving.h"
#include "native/split.h"
#include "native/tree.h"
#include "nest/descendants.h"

#define WORKERS_MAX 256
/* Below that a second start of the program costs more than it saves. */
#define USEFUL_MIN 8
/* Parts for each worker: several, so that all end together. */
#define PARTS 4
#define PART_MAX ((size_t)512)
#define TEXT_MAX ((uint64_t)4 << 20)

enum message_kind {
	MESSAGE_STARTED,
	MESSAGE_FINISHED,
	MESSAGE_FAILED,
	MESSAGE_DONE
};

/* What a worker says, in host order: both sides are the same program. */
struct worker_message {
	uint32_t kind;
	uint32_t outcome;
	/* When done: some files were, so far. */
	bool touched, unrestored;
	uint64_t entry;
	uint64_t test; /* when done: tests begun in the meantime */
	uint64_t ns;
	uint64_t line;
	uint64_t dropped;
	/* Lengths of the texts that follow; UINT64_MAX: NULL. */
	uint64_t message_n, file_n, output_n;
};

struct worker {
	pid_t pid;
	int fd;
	const struct part *part; /* being run; NULL: it waits */
	size_t *nodes;		 /* of the part, by its entries there */
};

struct workers {
	struct worker all[WORKERS_MAX];
	size_t n;
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
		if (done < 0 && errno == EINTR && !interrupted)
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
	struct worker_message message = { .kind = MESSAGE_STARTED,
					  .test = test };
	if (!write_all(*fd, &message, sizeof(message)))
		suite_interrupt();
}

static void worker_finished(void *data, const struct suite_result *result)
{
	const int *fd = data;
	struct worker_message message = {
		.kind = MESSAGE_FINISHED,
		.outcome = (uint32_t)result->outcome,
		.entry = result->entry,
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

static struct err *worker_run_tests(const struct session *session,
				    const struct suite_options *options, int fd)
{
	_cleanup_(suite_closep) struct suite *suite = NULL;
	size_t tests = session->suite.tests.n;
	TRY(native_suite_open(options, session->frameworks, &suite));
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
	size_t n;
	while (read_all(fd, &n, sizeof(n))) {
		_cleanup_(freep) struct suite_node *nodes =
			calloc(n, sizeof(*nodes));
		if (!nodes)
			return err_nomem();
		if (!read_all(fd, nodes, n * sizeof(*nodes)))
			return NULL;
		uint64_t before = suite_executions(suite);
		TRY(suite_run_tree(suite, nodes, n, SUITE_SERIAL, &observer));
		struct worker_message done = {
			.kind = MESSAGE_DONE,
			.touched = suite_touched_file(suite, 0),
			.unrestored = suite_unrestored(suite, 0),
			.test = suite_executions(suite) - before,
		};
		if (!write_all(fd, &done, sizeof(done)))
			return NULL;
	}
	return NULL;
}

static void _noreturn_ worker_main(const struct session *session, int fd)
{
	struct suite_options options = session->suite.options;
	options.jobs = 1;
	options.framework = session->framework->name;
	struct err *err = worker_run_tests(session, &options, fd);
	if (err) {
		const char *text = err_message(err);
		struct worker_message message = {
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

static struct err *start_worker(struct session *session)
{
	struct workers *workers = session->workers;
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
		/* They are to notice when the controller is gone. */
		for (size_t i = 0; i < workers->n; i++)
			close(workers->all[i].fd);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != controller)
			_exit(0);
		worker_main(session, ends[1]);
	}
	close(ends[1]);
	descendants_spare_child(pid);
	workers->all[workers->n++] = (struct worker){
		.pid = pid,
		.fd = ends[0],
	};
	return NULL;
}

static struct err *start_workers(struct session *session, size_t n)
{
	if (!session->workers)
		session->workers = calloc(1, sizeof(*session->workers));
	if (!session->workers)
		return err_nomem();
	n = MIN(n, (size_t)session->suite.options.jobs);
	n = MIN(n, (size_t)WORKERS_MAX);
	if (session->workers->n < n)
		tracer_unpin(session->tracer); /* they inherit processors */
	while (session->workers->n < n)
		TRY(start_worker(session));
	return NULL;
}

void parallel_stop(struct session *session)
{
	struct workers *workers = session->workers;
	if (!workers)
		return;
	for (size_t i = 0; i < workers->n; i++) {
		struct worker *worker = &workers->all[i];
		closep(&worker->fd);
		free(worker->nodes);
		/* Unless it was reaped already. */
		if (waitpid(worker->pid, NULL, __WALL | WNOHANG))
			worker->pid = 0;
		else
			kill(worker->pid, SIGTERM);
	}
	for (size_t i = 0; i < workers->n; i++) {
		while (workers->all[i].pid &&
		       waitpid(workers->all[i].pid, NULL, __WALL) < 0 &&
		       errno == EINTR)
			;
	}
	free(workers);
	session->workers = NULL;
}

static bool worker_read_text(int fd, uint64_t n, char **ret)
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

static struct err *worker_report_lost(void)
{
	return interrupted
		       ? err_create(ERR_INTERRUPTED, "interrupted")
		       : err_create(ERR_INTERNAL, "a worker process is gone");
}

/* A tree on its way through the workers. */
struct job {
	struct session *session;
	const struct suite_node *nodes;
	size_t n;
	const struct suite_observer *observer;
	struct split split;
	size_t next; /* part */
	uint8_t *told;
	uint8_t *gone; /* those below it did not run */
};

static void job_free(struct job *job)
{
	split_free(&job->split);
	free(job->told);
	free(job->gone);
}

static void job_report_result(struct job *job,
			      const struct suite_result *result)
{
	size_t parent = job->nodes[result->entry].parent;
	if (job->told[result->entry])
		return;
	job->told[result->entry] = 1;
	if (result->outcome == OUTCOME_NONE && parent != SUITE_TREE_ROOT)
		job->gone[parent] = 1;
	if (job->observer && job->observer->finished)
		job->observer->finished(job->observer->data, result);
}

static struct err *hear_result(struct job *job, struct worker *worker,
			       const struct worker_message *message)
{
	_cleanup_(suite_result_free) struct suite_result result = {
		.test = message->test,
		.outcome = (enum outcome)message->outcome,
		.ns = message->ns,
		.line = (unsigned)message->line,
		.output_dropped = message->dropped,
	};
	if (!worker_read_text(worker->fd, message->message_n,
			      &result.message) ||
	    !worker_read_text(worker->fd, message->file_n, &result.file) ||
	    !worker_read_text(worker->fd, message->output_n, &result.output))
		return worker_report_lost();
	result.output_n = result.output ? message->output_n : 0;
	if (message->kind == MESSAGE_FAILED)
		return err_create((enum err_kind)message->outcome, "%s",
				  result.message ? result.message : "");
	if (!worker->part || message->entry >= worker->part->n)
		return worker_report_lost();
	result.entry = worker->nodes[message->entry];
	job_report_result(job, &result);
	return NULL;
}

/* One message of a worker. */
static struct err *job_read_message(struct job *job, struct worker *worker)
{
	const struct suite_observer *observer = job->observer;
	struct worker_message message;
	if (!read_all(worker->fd, &message, sizeof(message)))
		return worker_report_lost();
	switch ((enum message_kind)message.kind) {
	case MESSAGE_STARTED:
		if (observer && observer->started)
			observer->started(observer->data, message.test);
		return NULL;
	case MESSAGE_DONE:
		job->session->suite.executions += message.test;
		saving_hear(job->session, message.touched, message.unrestored);
		worker->part = NULL;
		return NULL;
	default:
		return hear_result(job, worker, &message);
	}
}

/*
 * The nodes of a part that are still to be run, as a tree of their own. What
 * another part found to have no process left is not tried again.
 */
static size_t fill_part(struct job *job, const struct part *part,
			struct suite_node *nodes, size_t *back, size_t *entries)
{
	size_t n = 0;
	for (size_t i = 0; i < part->n; i++) {
		size_t node = part->data[i], parent = job->nodes[node].parent;
		if (parent != SUITE_TREE_ROOT && job->gone[parent]) {
			job->gone[node] = 1;
			job_report_result(job,
					  &(struct suite_result){
						  .test = job->nodes[node].test,
						  .entry = node,
					  });
			continue;
		}
		if (parent != SUITE_TREE_ROOT)
			parent = entries[parent];
		entries[node] = n;
		back[n] = node;
		nodes[n++] =
			(struct suite_node){ parent, job->nodes[node].test };
	}
	return n;
}

static struct err *hand_out(struct job *job, struct worker *worker)
{
	_cleanup_(freep) size_t *entries = NULL;
	_cleanup_(freep) struct suite_node *nodes = NULL;
	entries = calloc(job->n, sizeof(*entries));
	if (!entries)
		return err_nomem();
	while (!worker->part && job->next < job->split.n) {
		const struct part *part = &job->split.parts[job->next++];
		free(take_ptr(nodes));
		free(take_ptr(worker->nodes));
		nodes = calloc(part->n, sizeof(*nodes));
		worker->nodes = calloc(part->n, sizeof(*worker->nodes));
		if (!nodes || !worker->nodes)
			return err_nomem();
		size_t n = fill_part(job, part, nodes, worker->nodes, entries);
		bool news = false; /* not reported by other parts */
		for (size_t i = 0; i < n && !news; i++)
			news = !job->told[worker->nodes[i]];
		if (!news)
			continue;
		worker->part = part;
		if (!write_all(worker->fd, &n, sizeof(n)) ||
		    !write_all(worker->fd, nodes, n * sizeof(*nodes)))
			return worker_report_lost();
	}
	return NULL;
}

static struct err *job_supervise_workers(struct job *job)
{
	struct workers *workers = job->session->workers;
	BUG_ON(!workers);
	struct pollfd polls[WORKERS_MAX];
	for (;;) {
		size_t busy = 0;
		for (size_t i = 0; i < workers->n; i++) {
			struct worker *worker = &workers->all[i];
			if (!worker->part)
				TRY(hand_out(job, worker));
			busy += worker->part != NULL;
			polls[i] = (struct pollfd){ worker->fd, 0, 0 };
			polls[i].events = worker->part ? POLLIN : 0;
		}
		if (!busy)
			return NULL;
		int ready = poll(polls, workers->n, 1000);
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (ready < 0 && errno != EINTR)
			return err_errno(errno, "cannot wait for workers");
		for (size_t i = 0; ready > 0 && i < workers->n; i++) {
			if (polls[i].revents && workers->all[i].part)
				TRY(job_read_message(job, &workers->all[i]));
		}
	}
}

struct err *parallel_run_tree(struct session *session,
			      const struct suite_node *nodes, size_t n,
			      const struct suite_observer *observer)
{
	_cleanup_(job_free) struct job job = {
		.session = session,
		.nodes = nodes,
		.n = n,
		.observer = observer,
		.told = calloc(n, 1),
		.gone = calloc(n, 1),
	};
	if (!job.told || !job.gone)
		return err_nomem();
	size_t wanted = n / ((size_t)session->suite.options.jobs * PARTS);
	TRY(split_tree(nodes, n, MIN(wanted, PART_MAX), &job.split));
	if (job.split.n < 2)
		return tree_run(session, nodes, n, observer);
	struct err *err = start_workers(session, job.split.n);
	if (!err)
		err = job_supervise_workers(&job);
	/* Some may be in the middle of something. */
	if (err)
		parallel_stop(session);
	return err;
}

struct err *parallel_run_alone(struct session *session, const size_t *order,
			       size_t n)
{
	_cleanup_(freep) struct suite_node *nodes = calloc(n, sizeof(*nodes));
	if (!nodes)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		nodes[i] = (struct suite_node){ SUITE_TREE_ROOT, order[i] };
	return parallel_run_tree(session, nodes, n, session->observer);
}
