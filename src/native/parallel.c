#include "native/parallel.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/log.h"
#include "base/stream.h"
#include "native/again.h"
#include "native/saving.h"
#include "native/split.h"
#include "native/tree.h"
#include "watch/file_guard.h"

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
	uint64_t entry;
	uint64_t test; /* when done: tests begun in the meantime */
	uint64_t ns;
	uint64_t line;
	uint64_t dropped;
	/* Lengths of the texts that follow; UINT64_MAX: NULL. */
	uint64_t message_n, file_n, output_n;
};

struct worker {
	struct again again;
	const struct part *part; /* being run; NULL: it waits */
	size_t *nodes;		 /* of the part, by its entries there */
};

struct workers {
	struct worker all[WORKERS_MAX];
	size_t n;
	/* Some program was about to change files; shared with the workers. */
	atomic_bool *refused;
};

bool parallel_useful(const struct session *session, size_t n)
{
	return session->suite.options.jobs > 1 && n >= USEFUL_MIN;
}

/* ---- the worker's side ---- */

struct worker_self {
	const struct workers *workers;
	int fd;
	atomic_bool refused; /* it was this one */
};

/* What it runs now is run again elsewhere, when it is the only one. */
static void worker_refused(void *data)
{
	struct worker_self *self = data;
	atomic_store(&self->refused, true);
	atomic_store(self->workers->refused, true);
	suite_interrupt();
}

static void worker_started(void *data, size_t test)
{
	const struct worker_self *self = data;
	struct worker_message message = { .kind = MESSAGE_STARTED,
					  .test = test };
	if (!stream_write(self->fd, &message, sizeof(message)))
		suite_interrupt();
}

static void worker_finished(void *data, const struct suite_result *result)
{
	struct worker_self *self = data;
	int fd = self->fd;
	/* A thread or child of the test may wait for a call in vain. */
	if (atomic_load(&self->refused))
		return;
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
	if (!stream_write(fd, &message, sizeof(message)) ||
	    (result->message &&
	     !stream_write(fd, result->message, message.message_n)) ||
	    (result->file && !stream_write(fd, result->file, message.file_n)) ||
	    (result->output &&
	     !stream_write(fd, result->output, message.output_n)))
		suite_interrupt();
}

static struct err *worker_run_tests(const struct session *session, int fd)
{
	struct worker_self self = { .workers = session->workers, .fd = fd };
	const struct file_guard_refusal refusal = { worker_refused, &self };
	_cleanup_(suite_closep) struct suite *suite = NULL;
	TRY(again_open(session, &refusal, &suite));
	if (!suite) {
		worker_refused(&self);
		return NULL;
	}
	struct suite_observer observer = {
		.started = worker_started,
		.finished = worker_finished,
		.data = &self,
	};
	size_t n;
	while (stream_read(fd, &n, sizeof(n))) {
		_cleanup_(freep) struct suite_node *nodes =
			calloc(n, sizeof(*nodes));
		if (!nodes)
			return err_nomem();
		if (!stream_read(fd, nodes, n * sizeof(*nodes)))
			return NULL;
		uint64_t before = suite_executions(suite);
		TRY(suite_run_tree(suite, nodes, n, SUITE_SERIAL, &observer));
		struct worker_message done = {
			.kind = MESSAGE_DONE,
			.test = suite_executions(suite) - before,
		};
		if (!stream_write(fd, &done, sizeof(done)))
			return NULL;
	}
	return NULL;
}

static void _noreturn_ worker_main(const struct session *session, int fd)
{
	struct err *err = worker_run_tests(session, fd);
	if (err && !atomic_load(session->workers->refused)) {
		const char *text = err_message(err);
		struct worker_message message = {
			.kind = MESSAGE_FAILED,
			.outcome = (uint32_t)err_kind(err),
			.message_n = strlen(text),
			.file_n = UINT64_MAX,
			.output_n = UINT64_MAX,
		};
		if (stream_write(fd, &message, sizeof(message)))
			stream_write(fd, text, message.message_n);
	}
	_exit(0);
}

/* ---- the controller's side ---- */

static struct err *start_worker(struct session *session)
{
	struct workers *workers = session->workers;
	struct again again;
	bool new;
	TRY(again_fork(session, &again, &new));
	if (new)
		worker_main(session, again.fd);
	workers->all[workers->n++] = (struct worker){ .again = again };
	return NULL;
}

void parallel_close(struct session *session)
{
	const struct workers *workers = session->workers;
	for (size_t i = 0; workers && i < workers->n; i++)
		close(workers->all[i].again.fd);
}

static struct err *create_workers(struct workers **ret)
{
	_cleanup_(freep) struct workers *workers = calloc(1, sizeof(*workers));
	if (!workers)
		return err_nomem();
	void *shared =
		mmap(NULL, sizeof(*workers->refused), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return err_errno(errno, "cannot share memory with workers");
	workers->refused = shared;
	*ret = take_ptr(workers);
	return NULL;
}

static struct err *start_workers(struct session *session, size_t n)
{
	if (!session->workers)
		TRY(create_workers(&session->workers));
	BUG_ON(!session->workers);
	n = MIN(n, (size_t)session->suite.options.jobs);
	n = MIN(n, (size_t)WORKERS_MAX);
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
		again_stop(&workers->all[i].again);
		free(workers->all[i].nodes);
	}
	for (size_t i = 0; i < workers->n; i++)
		again_reap(&workers->all[i].again);
	munmap((void *)workers->refused, sizeof(*workers->refused));
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
	if (!*ret || !stream_read(fd, *ret, n))
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
	if (!worker_read_text(worker->again.fd, message->message_n,
			      &result.message) ||
	    !worker_read_text(worker->again.fd, message->file_n,
			      &result.file) ||
	    !worker_read_text(worker->again.fd, message->output_n,
			      &result.output))
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
	if (!stream_read(worker->again.fd, &message, sizeof(message)))
		return worker_report_lost();
	switch ((enum message_kind)message.kind) {
	case MESSAGE_STARTED:
		if (observer && observer->started)
			observer->started(observer->data, message.test);
		return NULL;
	case MESSAGE_DONE:
		job->session->suite.executions += message.test;
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
		if (!stream_write(worker->again.fd, &n, sizeof(n)) ||
		    !stream_write(worker->again.fd, nodes, n * sizeof(*nodes)))
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
			polls[i] = (struct pollfd){ worker->again.fd, 0, 0 };
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

/* ---- the rest, one at a time ---- */

struct job_rest {
	struct job *job;
	size_t *back; /* its entries, in the job */
};

static void rest_on_started(void *data, size_t test)
{
	const struct suite_observer *observer =
		((const struct job_rest *)data)->job->observer;
	if (observer && observer->started)
		observer->started(observer->data, test);
}

static void rest_on_finished(void *data, const struct suite_result *result)
{
	const struct job_rest *rest = data;
	struct suite_result record = *result;
	record.entry = rest->back[result->entry];
	job_report_result(rest->job, &record);
}

static void rest_on_limit(void *data, const char *text)
{
	const struct suite_observer *observer =
		((const struct job_rest *)data)->job->observer;
	if (observer && observer->limit)
		observer->limit(observer->data, text);
}

/* What was not reported, and what leads there. */
static struct err *find_rest(const struct job *job, struct part *ret)
{
	_cleanup_(freep) bool *wanted = calloc(job->n, sizeof(*wanted));
	if (!wanted)
		return err_nomem();
	for (size_t i = job->n; i-- > 0;) {
		size_t parent = job->nodes[i].parent;
		wanted[i] |= !job->told[i];
		if (wanted[i] && parent != SUITE_TREE_ROOT)
			wanted[parent] = true;
	}
	for (size_t i = 0; i < job->n; i++) {
		if (wanted[i])
			TRY(vec_push(ret, i));
	}
	return NULL;
}

static struct err *job_run_rest(struct job *job)
{
	struct session *session = job->session;
	const struct suite_observer *before = session->observer;
	_cleanup_(part_freep) struct part part = {};
	TRY(find_rest(job, &part));
	_cleanup_(freep) struct suite_node *nodes =
		calloc(part.n + 1, sizeof(*nodes));
	_cleanup_(freep) size_t *back = calloc(part.n + 1, sizeof(*back));
	_cleanup_(freep) size_t *entries = calloc(job->n, sizeof(*entries));
	if (!nodes || !back || !entries)
		return err_nomem();
	size_t n = fill_part(job, &part, nodes, back, entries);
	struct job_rest rest = { job, back };
	const struct suite_observer observer = {
		.started = rest_on_started,
		.finished = rest_on_finished,
		.limit = rest_on_limit,
		.data = &rest,
	};
	log_debug(LOG_NATIVE,
		  "tests change files: they run one at a time, %zu of %zu "
		  "again",
		  n, job->n);
	struct err *err = n ? tree_run(session, nodes, n, &observer) : NULL;
	session->observer = before;
	return err;
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
	bool refused = session->workers && !interrupted &&
		       atomic_load(session->workers->refused);
	/* Some may be in the middle of something. */
	if (err || refused)
		parallel_stop(session);
	if (!refused)
		return err;
	err_ignore(err); /* a worker that refused is gone */
	saving_hear(session);
	return job_run_rest(&job);
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
