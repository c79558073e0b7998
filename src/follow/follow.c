/*
 * The follower's thread.
 *
 * It waits in the ioctl that receives the next call: poll(2) in front of it
 * costs more (measured: 6.0 instead of 5.3 µs a call), and prolongs the time in
 * which a signal can still make the kernel take the call back. To end it, it
 * is sent a signal that interrupts the ioctl, again and again until it has
 * noticed: the first one may come just before the ioctl.
 */
#include "follow/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "follow/follow_internal.h"

#define END_SIGNAL (SIGRTMIN + 7)
#define END_PAUSE_NS (200 * NS_PER_US)

static void on_end(int number)
{
	(void)number;
}

struct err *follow_create(const struct follow_options *options,
			  struct follow **ret)
{
	struct seccomp_notif_sizes sizes;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return err_errno(errno, "system calls cannot be followed");
	/* Letting a call go on came with 5.5, this one with 5.6. */
	if (syscall(SYS_pidfd_getfd, -1, 0, 0) < 0 && errno == ENOSYS)
		return err_errno(errno, "system calls cannot be followed");
	_cleanup_(follow_destroyp) struct follow *follow =
		calloc(1, sizeof(*follow));
	if (!follow)
		return err_nomem();
	follow->options = *options;
	follow->listener = follow->ends[0] = follow->ends[1] = -1;
	sem_init(&follow->go, 0, 0);
	TRY(names_open(&follow->names));
	if (sched_getaffinity(0, sizeof(follow->all), &follow->all) < 0)
		return err_errno(errno, "cannot ask for our processors");
	/* A newer kernel may have more to say than our headers know. */
	follow->notif_size = MAX(sizes.seccomp_notif, sizeof(*follow->notif));
	follow->response_size = MAX((size_t)sizes.seccomp_notif_resp,
				    sizeof(*follow->response));
	follow->notif = calloc(1, follow->notif_size);
	follow->response = calloc(1, follow->response_size);
	if (!follow->notif || !follow->response)
		return err_nomem();
	for (size_t i = 0; i < follow_calls_n; i++) {
		const struct call *call = &follow_calls[i];
		BUG_ON(call->number >= ARRAY_SIZE(follow->calls));
		follow->calls[call->number] = call;
	}
	filter_build(&follow->filter, options->flags);
	*ret = take_ptr(follow);
	return NULL;
}

static void end_thread(struct follow *follow)
{
	if (!follow->started)
		return;
	atomic_store(&follow->end, true);
	sem_post(&follow->go);
	const struct timespec pause = { .tv_nsec = END_PAUSE_NS };
	while (!atomic_load(&follow->ended)) {
		pthread_kill(follow->thread, END_SIGNAL);
		nanosleep(&pause, NULL);
	}
	pthread_join(follow->thread, NULL);
}

/* ---- processes that outlive their follower ---- */

/* A listener, and room for what it says. */
struct passing {
	int listener;
	size_t notif_size, response_size;
	struct seccomp_notif *notif;
	struct seccomp_notif_resp *response;
};

static void passing_destroy(struct passing *passing)
{
	closep(&passing->listener);
	free(passing->notif);
	free(passing->response);
	free(passing);
}

/* False: no process is left. Before Linux 6.11 only poll(2) notices that. */
static bool pass_next(struct passing *passing, int timeout)
{
	struct pollfd poll_fd = { .fd = passing->listener, .events = POLLIN };
	if (poll(&poll_fd, 1, timeout) < 0)
		return errno == EINTR;
	if (!(poll_fd.revents & POLLIN))
		return !(poll_fd.revents & (POLLHUP | POLLERR | POLLNVAL));
	memset(passing->notif, 0, passing->notif_size);
	if (ioctl(passing->listener, SECCOMP_IOCTL_NOTIF_RECV, passing->notif) <
	    0)
		return true;
	memset(passing->response, 0, passing->response_size);
	passing->response->id = passing->notif->id;
	passing->response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	(void)ioctl(passing->listener, SECCOMP_IOCTL_NOTIF_SEND,
		    passing->response);
	return true;
}

static void *pass_all(void *data)
{
	struct passing *passing = data;
	while (pass_next(passing, -1))
		;
	passing_destroy(passing);
	return NULL;
}

static int follow_start_thread(void *(*body)(void *), void *data,
			       pthread_t *ret)
{
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, END_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(ret, NULL, body, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

/*
 * Servers that a test left, or a process that nobody watches any more: without
 * a listener their calls would fail. They go on, unreported, as long as any of
 * these processes and this one live.
 */
static void follow_pass_calls_on(struct follow *follow)
{
	struct passing *passing = calloc(1, sizeof(*passing));
	if (!passing)
		return;
	*passing = (struct passing){
		.listener = take_fd(follow->listener),
		.notif_size = follow->notif_size,
		.response_size = follow->response_size,
		.notif = take_ptr(follow->notif),
		.response = take_ptr(follow->response),
	};
	pthread_t thread;
	if (!pass_next(passing, 0) ||
	    follow_start_thread(pass_all, passing, &thread) != 0) {
		passing_destroy(passing);
		return;
	}
	log_debug(LOG_FOLLOW, "processes outlive their follower: their calls "
			      "go on unreported");
	pthread_setname_np(thread, "pg-pass");
	pthread_detach(thread);
}

void follow_destroy(struct follow *follow)
{
	if (!follow)
		return;
	end_thread(follow);
	if (follow->listener >= 0)
		follow_pass_calls_on(follow);
	closep(&follow->listener);
	closep(&follow->ends[0]);
	closep(&follow->ends[1]);
	names_close(&follow->names);
	sem_destroy(&follow->go);
	free(follow->notif);
	free(follow->response);
	free(follow);
}

/* ---- the thread ---- */

/*
 * A hand-over on one processor costs a fraction of one between two, so where
 * the caller may run on one only (tracee/processors.c), we go there.
 */
static void go_where(struct follow *follow, pid_t tid)
{
	cpu_set_t there;
	if (sched_getaffinity(tid, sizeof(there), &there) < 0)
		return;
	if (CPU_COUNT(&there) != 1)
		there = follow->all;
	if (!CPU_EQUAL(&there, &follow->now) &&
	    sched_setaffinity(0, sizeof(there), &there) == 0)
		follow->now = there;
}

/* False: no process is left that could make a call. */
static bool follow_receive_call(struct follow *follow)
{
	memset(follow->notif, 0, follow->notif_size);
	if (ioctl(follow->listener, SECCOMP_IOCTL_NOTIF_RECV, follow->notif) ==
	    0) {
		uint64_t start = clock_now();
		atomic_fetch_add(&follow->told, 1);
		go_where(follow, (pid_t)follow->notif->pid);
		follow_tell(follow, follow->notif);
		memset(follow->response, 0, follow->response_size);
		follow->response->id = follow->notif->id;
		follow->response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		atomic_fetch_add(&follow->ns, clock_now() - start);
		/* ENOENT: it was killed, or a signal made it call again. */
		if (ioctl(follow->listener, SECCOMP_IOCTL_NOTIF_SEND,
			  follow->response) < 0 &&
		    errno != ENOENT)
			log_debug(LOG_FOLLOW, "cannot answer a call: %s",
				  strerror(errno));
		return true;
	}
	/* ENOENT: the same while we were on our way, or there is nobody. */
	if (errno == EINTR)
		return true;
	if (errno != ENOENT) {
		log_debug(LOG_FOLLOW, "cannot receive a call: %s",
			  strerror(errno));
		return false;
	}
	struct pollfd poll_fd = { .fd = follow->listener, .events = POLLIN };
	return poll(&poll_fd, 1, 0) <= 0 || !(poll_fd.revents & POLLHUP);
}

static void *follow_run_thread(void *data)
{
	struct follow *follow = data;
	while (sem_wait(&follow->go) < 0)
		;
	if (sched_getaffinity(0, sizeof(follow->now), &follow->now) < 0)
		follow->now = follow->all;
	while (!atomic_load(&follow->end) && follow_receive_call(follow))
		;
	atomic_store(&follow->ended, true);
	return NULL;
}

struct err *follow_start(struct follow *follow)
{
	struct sigaction action = { .sa_handler = on_end };
	sigaction(END_SIGNAL, &action, NULL);
	int failed =
		follow_start_thread(follow_run_thread, follow, &follow->thread);
	if (failed)
		return err_errno(failed, "cannot start the follower's thread");
	follow->started = true;
	pthread_setname_np(follow->thread, "pg-follow");
	return NULL;
}

void follow_go(struct follow *follow, int listener)
{
	follow->listener = listener;
	/* Since Linux 6.6: the one waiting runs where the other one just did. */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
		  SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) < 0)
		log_debug(LOG_FOLLOW,
			  "wake-ups are not synchronous (before Linux 6.6)");
	sem_post(&follow->go);
}

bool follow_is_alone(const struct follow *follow)
{
	struct pollfd poll_fd = { .fd = follow->listener, .events = POLLIN };
	return follow->listener < 0 ||
	       (poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & POLLHUP);
}

struct err *follow_impossible(const struct err *why)
{
	return err_hint(err_create(ERR_SUITE,
				   "system calls cannot be followed: %s",
				   err_message(why)),
			"--file-tracking walk compares the watched folders "
			"instead");
}

unsigned follow_unseen(const struct follow *follow)
{
	return atomic_load(&follow->unseen);
}

const char *follow_unseen_text(enum follow_unseen what)
{
	return what == FOLLOW_RINGS
		       ? "tests used io_uring: files that were changed through "
			 "it are neither reported nor restored"
		       : "32-bit programs changed files: these files are "
			 "neither reported nor restored";
}

struct follow_counts follow_counts(const struct follow *follow)
{
	return (struct follow_counts){
		.told = atomic_load(&follow->told),
		.ns = atomic_load(&follow->ns),
	};
}
