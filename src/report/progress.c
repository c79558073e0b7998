#include "report/progress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "report/width.h"

#define INTERVAL_NS (80 * NS_PER_MS)
/* From then on the line says how long the test has been running. */
#define SLOW_NS (2 * NS_PER_S)
#define RUNNING_MAX 64
/* Without a terminal: a line from time to time. */
#define LINES_NS (30 * NS_PER_S)

#define WIPE "\r\033[K"

struct running {
	const char *name;
	uint64_t since;
};

struct progress {
	int fd;
	size_t total;
	const char *head; /* stands before all else; NULL: nothing */

	pthread_t thread;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t ended;
	bool ending;
	bool drawn;
	size_t done;
	size_t failed;
	/* Oldest first: the one that everybody waits for. */
	struct running running[RUNNING_MAX];
	size_t n_running;
	/* Instead of tests one by one; NULL: not. */
	const char *what;
	uint64_t (*count)(const void *data);
	const void *data;
	uint64_t since;
	/* One of several phases; 0: there is but one. */
	unsigned phase, phases;
	uint64_t began, deadline; /* of all of them; deadline 0: none */
	bool lines;		  /* no terminal */
};

/* The one there is; log hook and signal handlers have no argument for it. */
static struct progress *current;
static atomic_int current_fd = -1;
/* When the next line is due where there is no terminal; 0: none was asked for. */
static uint64_t lines_next;

static void progress_write(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t written = write(fd, text, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		text += written;
		n -= (size_t)written;
	}
}

static void progress_wipe(struct progress *progress)
{
	if (progress->drawn)
		progress_write(progress->fd, WIPE, strlen(WIPE));
	progress->drawn = false;
}

/* "  45 %  at most 33 s left" */
static struct err *append_time_left(const struct progress *progress,
				    struct str *line)
{
	uint64_t now = clock_now(), end = progress->deadline;
	if (end <= progress->began || now < progress->began)
		return NULL;
	uint64_t spent = MIN(now, end) - progress->began;
	return str_appendf(
		line, "  %llu %%  at most %llu s left",
		(unsigned long long)(spent * 100 / (end - progress->began)),
		(unsigned long long)((end - MIN(now, end)) / NS_PER_S));
}

/* "  12/312  1 failed  " */
static struct err *append_head(const struct progress *progress,
			       struct str *line)
{
	if (progress->head)
		TRY(str_appendf(line, "%s  ", progress->head));
	if (progress->phases)
		TRY(str_appendf(line, "[%u/%u] ", progress->phase,
				progress->phases));
	if (progress->what) {
		TRY(str_appendf(
			line, "%s: %llu tests run  %llu s", progress->what,
			(unsigned long long)progress->count(progress->data),
			(unsigned long long)((clock_now() - progress->since) /
					     NS_PER_S)));
		return append_time_left(progress, line);
	}
	char total[24];
	int digits = snprintf(total, sizeof(total), "%zu", progress->total);
	TRY(str_appendf(line, "%*zu/%s", digits, progress->done, total));
	if (progress->phases && progress->total)
		TRY(str_appendf(line, "  %zu %%",
				MIN(progress->done, progress->total) * 100 /
					progress->total));
	if (progress->failed)
		TRY(str_appendf(line, "  %zu failed", progress->failed));
	return NULL;
}

static struct err *append_test(const struct progress *progress, size_t columns,
			       struct str *line)
{
	if (!progress->n_running || progress->what)
		return NULL;
	const struct running *oldest = &progress->running[0];
	_cleanup_(freep) char *name = str_escape(oldest->name);
	_cleanup_(str_freep) struct str tail = STR_INIT;
	if (!name)
		return err_nomem();
	TRY(str_append(&tail, ""));
	uint64_t ns = clock_now() - oldest->since;
	if (progress->n_running > 1)
		TRY(str_appendf(&tail, "  +%zu", progress->n_running - 1));
	if (ns >= SLOW_NS)
		TRY(str_appendf(&tail, "  %llu s",
				(unsigned long long)(ns / NS_PER_S)));

	size_t used = width_of(line->s) + 2 + width_of(tail.s);
	if (used + 8 > columns)
		return NULL;
	size_t room = columns - used;
	if (width_of(name) > room) {
		name[width_fit(name, room - 1)] = '\0';
		TRY(str_appendf(line, "  %s…%s", name, tail.s));
		return NULL;
	}
	return str_appendf(line, "  %s%s", name, tail.s);
}

/*
 * On a terminal one line, whatever its width. The last column stays free: filling
 * it makes some terminals wrap.
 */
static struct err *progress_make_line(const struct progress *progress,
				      struct str *line)
{
	size_t columns = width_terminal(progress->fd);
	size_t room = progress->lines ? SIZE_MAX : (columns ? columns : 80) - 1;
	TRY(str_append(line, progress->lines ? "polygraph: " : ""));
	TRY(append_head(progress, line));
	TRY(append_test(progress, room, line));
	if (width_of(line->s) <= room)
		return NULL;
	line->n = width_fit(line->s, room ? room - 1 : 0);
	line->s[line->n] = '\0';
	return room ? str_append(line, "…") : NULL;
}

static void progress_draw(struct progress *progress)
{
	_cleanup_(str_freep) struct str line = STR_INIT, text = STR_INIT;
	struct err *err = progress_make_line(progress, &line);
	if (!err)
		err = str_appendf(&text, "%s%s%s", progress->lines ? "" : WIPE,
				  line.s, progress->lines ? "\n" : "");
	if (err) {
		err_destroy(err);
		return;
	}
	progress_write(progress->fd, text.s, text.n);
	progress->drawn = !progress->lines;
}

static void *draw_loop(void *data)
{
	struct progress *progress = data;
	pthread_mutex_lock(&progress->lock);
	/* Also of a phase that is shorter than that. */
	uint64_t next = progress->lines ? lines_next : 0;
	while (!progress->ending) {
		struct timespec until;
		uint64_t at = MAX(clock_now() + INTERVAL_NS, next);
		until.tv_sec = (time_t)(at / NS_PER_S);
		until.tv_nsec = (long)(at % NS_PER_S);
		pthread_cond_timedwait(&progress->ended, &progress->lock,
				       &until);
		if (progress->ending || clock_now() < next)
			continue;
		progress_draw(progress);
		if (progress->lines)
			next = lines_next = clock_now() + LINES_NS;
	}
	pthread_mutex_unlock(&progress->lock);
	return NULL;
}

static void step_aside(bool before)
{
	if (before) {
		pthread_mutex_lock(&current->lock);
		progress_wipe(current);
	} else {
		pthread_mutex_unlock(&current->lock);
	}
}

/* Signals are for the thread that waits for the tested program. */
static int start_thread(struct progress *progress)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int number =
		pthread_create(&progress->thread, NULL, draw_loop, progress);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return number;
}

static struct err *create_progress(int fd, size_t total, bool lines,
				   struct progress **ret)
{
	BUG_ON(current);
	_cleanup_(freep) struct progress *progress =
		calloc(1, sizeof(*progress));
	if (!progress)
		return err_nomem();
	progress->fd = fd;
	progress->total = total;
	progress->lines = lines;
	if (lines && !lines_next)
		lines_next = clock_now() + LINES_NS;
	pthread_mutex_init(&progress->lock, NULL);
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->ended, &monotonic);
	pthread_condattr_destroy(&monotonic);

	int number = start_thread(progress);
	if (number)
		return err_errno(number, "cannot start the progress line");
	current = progress;
	current_fd = lines ? -1 : fd;
	log_hook_set(step_aside);
	*ret = take_ptr(progress);
	return NULL;
}

struct err *progress_create(int fd, size_t total, struct progress **ret)
{
	return create_progress(fd, total, false, ret);
}

struct err *progress_create_lines(int fd, size_t total, struct progress **ret)
{
	return create_progress(fd, total, true, ret);
}

void progress_destroy(struct progress *progress)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->ending = true;
	pthread_cond_signal(&progress->ended);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);

	log_hook_set(NULL);
	current = NULL;
	current_fd = -1;
	progress_wipe(progress);
	pthread_cond_destroy(&progress->ended);
	pthread_mutex_destroy(&progress->lock);
	free(progress);
}

void progress_started(struct progress *progress, const char *name)
{
	if (!progress)
		return;
	uint64_t now = clock_now();
	pthread_mutex_lock(&progress->lock);
	if (progress->n_running < RUNNING_MAX)
		progress->running[progress->n_running++] =
			(struct running){ name, now };
	pthread_mutex_unlock(&progress->lock);
}

void progress_finished(struct progress *progress, const char *name,
		       enum outcome outcome)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->done++;
	if (outcome != OUTCOME_PASS && outcome != OUTCOME_SKIP)
		progress->failed++;
	for (size_t i = 0; i < progress->n_running; i++) {
		if (progress->running[i].name != name)
			continue;
		progress->n_running--;
		memmove(&progress->running[i], &progress->running[i + 1],
			(progress->n_running - i) *
				sizeof(progress->running[0]));
		break;
	}
	pthread_mutex_unlock(&progress->lock);
}

void progress_count(struct progress *progress, const char *what,
		    uint64_t (*count)(const void *data), const void *data)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->what = what;
	progress->count = count;
	progress->data = data;
	progress->since = clock_now();
	pthread_mutex_unlock(&progress->lock);
}

void progress_head(struct progress *progress, const char *head)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->head = head;
	pthread_mutex_unlock(&progress->lock);
}

void progress_phase(struct progress *progress, unsigned phase, unsigned phases,
		    uint64_t began, uint64_t deadline)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->phase = phase;
	progress->phases = phases;
	progress->began = began;
	progress->deadline = deadline;
	pthread_mutex_unlock(&progress->lock);
}

void progress_abandon(void)
{
	int fd = current_fd;
	if (fd >= 0)
		progress_write(fd, WIPE, strlen(WIPE));
}
