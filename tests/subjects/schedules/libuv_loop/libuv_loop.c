// libuv: work of its pool, and a loop that a timer ends.
//
//@ subject framework=functions lang=c header=uv.h packages="libuv1-dev"
//@ variant plain pkg=libuv quick=gcc-O0

#include "../runner.h"

#include <uv.h>

static uv_loop_t loop;
static uv_work_t request;
static uv_timer_t timer;
static int worked, finished;

static void work(uv_work_t *of)
{
	(void)of;
	worked = 1;
}

static void finish(uv_work_t *of, int status)
{
	(void)of;
	(void)status;
	finished = 1;
}

static void give_up(uv_timer_t *of)
{
	uv_stop(of->loop);
}

TEST(test_runs_for_a_while)
{
	worked = finished = 0;
	uv_loop_init(&loop);
	uv_timer_init(&loop, &timer);
	uv_timer_start(&timer, give_up, 30, 0);
	uv_queue_work(&loop, &request, work, finish);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert(finished); //@ late test_runs_for_a_while
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert(uv_loop_close(&loop) == 0);
}

TEST(test_runs_until_done)
{
	worked = finished = 0;
	uv_loop_init(&loop);
	uv_queue_work(&loop, &request, work, finish);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert(worked && finished);
	assert(uv_loop_close(&loop) == 0);
}

RUNNER_MAIN()
