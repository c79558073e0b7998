// libevent: a thread that activates an event, and a loop that a time-out ends.
//
//@ subject framework=functions lang=c header=event2/event.h packages="libevent-dev"
//@ variant plain libs="-levent -levent_pthreads -pthread" quick=gcc-O0

#include "../runner.h"

#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>

static struct event_base *base;
static struct event *event;
static int arrived;

static void arrive(evutil_socket_t fd, short what, void *ends_loop)
{
	(void)fd;
	(void)what;
	arrived = 1;
	if (ends_loop)
		event_base_loopbreak(base);
}

static void *activate(void *argument)
{
	event_active(event, EV_READ, 0);
	return argument;
}

static void run_loop(const struct timeval *limit)
{
	pthread_t thread;
	arrived = 0;
	evthread_use_pthreads();
	base = event_base_new();
	event = event_new(base, -1, EV_PERSIST, arrive, limit ? NULL : base);
	event_add(event, NULL);
	if (limit)
		event_base_loopexit(base, limit);
	pthread_create(&thread, NULL, activate, NULL);
	event_base_loop(base, limit ? 0 : EVLOOP_NO_EXIT_ON_EMPTY);
	pthread_join(thread, NULL);
}

static void end_loop(void)
{
	event_free(event);
	event_base_free(base);
}

TEST(test_runs_for_a_while)
{
	const struct timeval limit = { 0, 30000 };
	run_loop(&limit);
	assert(arrived); //@ late test_runs_for_a_while
	end_loop();
}

TEST(test_runs_until_it_comes)
{
	run_loop(NULL);
	assert(arrived);
	end_loop();
}

RUNNER_MAIN()
