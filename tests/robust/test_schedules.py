#!/usr/bin/env python3
"""The controller of `polygraph schedules` never hangs, whatever tests do with processes, signals and threads.

usage: test_schedules.py --polygraph PATH [-v] [TEST…]

Each test of the suite makes children in another way, beside a thread; the children outlive nothing, and nothing is
reported. POLYGRAPH_TEST_RUNS=1000 makes so many runs of tests under schedules (default: 100). The one command that runs
a failing test again is this one with its name, e.g. Schedules.test_children.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import runner

POLYGRAPH = None
FOLDER = None
RUNS = int(os.environ.get("POLYGRAPH_TEST_RUNS", "100"))
ONE_CALL = 120  # seconds; about 60 runs of tests

SUITE = r"""
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static atomic_int done;
static atomic_int signals;
static void *work(void *data)
{
	usleep(500);
	done = 1;
	return data;
}
static pthread_t start(void)
{
	pthread_t thread;
	done = 0;
	pthread_create(&thread, NULL, work, NULL);
	return thread;
}
static void finish(pthread_t thread)
{
	pthread_join(thread, NULL);
	assert(done);
}
static void await(pid_t child, int wanted)
{
	int status;
	assert(child > 0);
	assert(waitpid(child, &status, 0) == child);
	assert((WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)) == wanted);
}
__attribute__((noinline)) void test_fork(void)
{
	pthread_t thread = start();
	pid_t child = fork();
	if (!child)
		_exit(3);
	await(child, 3);
	finish(thread);
}
__attribute__((noinline)) void test_vfork(void)
{
	pthread_t thread = start();
	pid_t child = vfork();
	if (!child) {
		execlp("true", "true", NULL);
		_exit(127);
	}
	await(child, 0);
	finish(thread);
}
__attribute__((noinline)) void test_vfork_exits(void)
{
	pthread_t thread = start();
	pid_t child = vfork();
	if (!child)
		_exit(4);
	await(child, 4);
	finish(thread);
}
__attribute__((noinline)) void test_spawn(void)
{
	char *words[] = { "sh", "-c", "exit 5", NULL };
	pid_t child = 0;
	pthread_t thread = start();
	assert(posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0);
	await(child, 5);
	finish(thread);
}
__attribute__((noinline)) void test_system(void)
{
	pthread_t thread = start();
	assert(system("sleep 0.02") == 0);
	finish(thread);
}
__attribute__((noinline)) void test_death(void)
{
	pthread_t thread = start();
	pid_t child = fork();
	if (!child)
		abort();
	await(child, SIGABRT);
	finish(thread);
}
static void *fork_there(void *data)
{
	pid_t child = fork();
	if (!child)
		_exit(6);
	await(child, 6);
	return data;
}
__attribute__((noinline)) void test_fork_in_a_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, fork_there, NULL);
	pthread_join(thread, NULL);
}
static void count(int number)
{
	(void)number;
	signals++;
}
__attribute__((noinline)) void test_signals(void)
{
	pthread_t thread = start();
	signals = 0;
	signal(SIGUSR1, count);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	finish(thread);
	assert(signals == 20);
	signal(SIGUSR1, SIG_DFL);
}
__attribute__((noinline)) void test_child_with_a_thread(void)
{
	pid_t child = fork();
	if (!child) {
		finish(start());
		_exit(7);
	}
	pthread_t thread = start();
	await(child, 7);
	finish(thread);
}
__attribute__((noinline)) void test_many_threads(void)
{
	pthread_t threads[8];
	for (int i = 0; i < 8; i++)
		threads[i] = start();
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	assert(done);
}
static void *never_ends(void *data)
{
	for (;;)
		pause();
	return data;
}
__attribute__((noinline)) void test_leaves_a_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, never_ends, NULL);
	pthread_detach(thread);
	finish(start());
}
int main(void)
{
	test_fork();
	test_vfork();
	test_vfork_exits();
	test_spawn();
	test_system();
	test_death();
	test_fork_in_a_thread();
	test_signals();
	test_child_with_a_thread();
	test_many_threads();
	test_leaves_a_thread();
	return 0;
}
"""


SLEEPS = r"""
#include <glib.h>
static int done;
static gpointer work(gpointer data)
{
	g_atomic_int_set(&done, 1);
	return data;
}
static void test_sleeps(void)
{
	GThread *thread = g_thread_new("worker", work, NULL);
	g_usleep(20000);
	g_assert_cmpint(g_atomic_int_get(&done), ==, 1);
	g_thread_join(thread);
}
static void test_fine(void)
{
	g_assert_true(sizeof(int) > 1);
}
int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/async/sleeps", test_sleeps);
	g_test_add_func("/async/fine", test_fine);
	return g_test_run();
}
"""


def build(name="children", text=SUITE, flags=()):
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        subprocess.run(["cc", "-g", "-O1", "-x", "c", "-", "-o", path, "-pthread", *flags], input=text.encode(), check=True)
    return path


POLLING = r"""
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
static atomic_int ready;
static void *work(void *data)
{
	usleep(5000);
	ready = 1;
	return data;
}
static double now(void)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}
static void await_work(double limit, int times)
{
	pthread_t thread;
	ready = 0;
	pthread_create(&thread, NULL, work, NULL);
	double end = now() + limit;
	for (int i = 0; i < times && !ready && now() < end; i++)
		usleep(1000);
	assert(ready);
	pthread_join(thread, NULL);
}
__attribute__((noinline)) void test_ten_seconds(void) { await_work(10, 1000000); }
__attribute__((noinline)) void test_two_seconds(void) { await_work(2, 1000000); }
__attribute__((noinline)) void test_gives_up_too_soon(void) { await_work(0.06, 1000000); }
__attribute__((noinline)) void test_counts_too_little(void) { await_work(10, 60); }
int main(void)
{
	test_ten_seconds();
	test_two_seconds();
	test_gives_up_too_soon();
	test_counts_too_little();
	return 0;
}
"""


class Schedules(unittest.TestCase):
    maxDiff = None

    def call(self, *words, program=None):
        done = subprocess.run([POLYGRAPH, "schedules", "--format", "json", *words, program or build()], cwd=FOLDER, timeout=ONE_CALL,
                              capture_output=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr.decode(errors="replace"))
        return json.loads(done.stdout)

    def test_children(self):
        """A run that hangs does not come to its end in time; one that loses a child fails its test."""
        runs = 0
        for strategy in ["delay", "pct", "random"] * RUNS:
            report = self.call("--strategy", strategy, "--runs", "3", "--budget", "20s")
            self.assertEqual(report["findings"], [])
            self.assertEqual({test["outcome"] for test in report["tests"]}, {"pass"})
            self.assertGreater(report["schedules"]["runs"], 0)
            runs += report["schedules"]["runs"]
            if runs >= RUNS:
                break
        self.assertGreaterEqual(runs, RUNS)

    def test_time_limit_is_no_finding(self):
        """What ends a test that is held is never our own limit."""
        report = self.call("--timeout", "200ms", "--tests", "test_system", "--tests", "test_fork")
        self.assertEqual(report["findings"], [])


    def test_two_programs(self):
        """The same test of two programs: each finding's command replays that of its own program."""
        glib = subprocess.run(["pkg-config", "--cflags", "--libs", "glib-2.0"], capture_output=True, text=True, check=False)
        if glib.returncode:
            self.skipTest("GLib is not installed")
        folder = os.path.join(FOLDER, "two")
        os.makedirs(folder, exist_ok=True)
        for name in ("one", "other"):
            shutil.copy(build("sleeps", SLEEPS, glib.stdout.split()), os.path.join(folder, name))
        done = subprocess.run([POLYGRAPH, "check", "--format", "json", "--program", "./one", "--program", "./other"], cwd=folder,
                              timeout=ONE_CALL, capture_output=True, check=False)
        found = [f for f in json.loads(done.stdout)["findings"] if f["kind"] == "schedule"]
        self.assertEqual(len(found), 2, done.stderr.decode(errors="replace"))
        self.assertEqual(found[0]["id"], found[1]["id"])
        environment = {**os.environ, "PATH": os.path.dirname(POLYGRAPH) + os.pathsep + os.environ["PATH"]}
        os.remove(os.path.join(folder, "other"))
        for finding in found:
            again = subprocess.run(["sh", "-c", finding["replay"]], cwd=folder, env=environment, timeout=ONE_CALL,
                                   capture_output=True, check=False)
            self.assertEqual(again.returncode, 1 if finding["suite"].endswith("one") else 2, finding["replay"])


    def test_polling(self):
        """Waiting up to ten seconds costs a second of the test's own time, and that is no real one."""
        report = self.call(program=build("polling", POLLING))
        findings = {finding["test"]: finding for finding in report["findings"]}
        self.assertEqual(set(findings), {"test_gives_up_too_soon", "test_counts_too_little"})
        self.assertEqual({finding["direction"] for finding in findings.values()}, {"late"})
        self.assertLessEqual(abs(findings["test_gives_up_too_soon"]["margin"] - 0.06), 0.03)
        self.assertLessEqual(report["schedules"]["runs"], 100)
        self.assertFalse([limit for limit in report["limits"] if "ran out" in limit], report["limits"])


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    return None if shutil.which("cc") else "no compiler"


if __name__ == "__main__":
    sys.exit(runner.main("schedules", prepare))
