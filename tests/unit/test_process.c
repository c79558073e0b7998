/* Suites of processes: what is run, how it is judged, and what is left. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "base/tap.h"
#include "process/capture.h"
#include "process/kinds.h"
#include "process/process.h"
#include "process/process_suite.h"
#include "suite/kind.h"

static char folder[] = "/tmp/polygraph-process-XXXXXX";

static const char *in_folder(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text, size_t n)
{
	FILE *file = fopen(in_folder(name), "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	fclose(file);
}

static char *read_text(const char *name)
{
	char *text = NULL;
	size_t n;
	assert_ok(file_read(in_folder(name), 1 << 20, &text, &n));
	return text;
}

/* ---- what an observer sees ---- */

struct seen {
	size_t started, finished;
	struct suite_result results[256];
	char *limit;
};

static void on_started(void *data, size_t test _unused_)
{
	((struct seen *)data)->started++;
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct seen *seen = data;
	assert_true(seen->finished < ARRAY_SIZE(seen->results));
	struct suite_result *copy = &seen->results[seen->finished++];
	*copy = *result;
	copy->message = result->message ? strdup(result->message) : NULL;
	copy->output = NULL;
	if (result->output) {
		copy->output = malloc(result->output_n + 1);
		memcpy(copy->output, result->output, result->output_n + 1);
	}
	copy->file = NULL;
}

static void on_limit(void *data, const char *text)
{
	struct seen *seen = data;
	free(seen->limit);
	seen->limit = strdup(text);
}

static void seen_free(struct seen *seen)
{
	for (size_t i = 0; i < seen->finished; i++)
		suite_result_free(&seen->results[i]);
	free(seen->limit);
}

static const struct suite_result *result_of(const struct seen *seen,
					    size_t test)
{
	for (size_t i = 0; i < seen->finished; i++) {
		if (seen->results[i].test == test)
			return &seen->results[i];
	}
	fail_msg("test %zu has no result", test);
	return NULL;
}

static struct err *run_order(struct suite *suite, const size_t *order, size_t n,
			     struct seen *seen)
{
	struct suite_observer observer = {
		.started = on_started,
		.finished = on_finished,
		.limit = on_limit,
		.data = seen,
	};
	return suite_run(suite, order, n, 0, &observer);
}

static struct err *run_all(struct suite *suite, struct seen *seen)
{
	size_t order[256];
	size_t n = suite_count(suite);
	assert_true(n <= ARRAY_SIZE(order));
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	return run_order(suite, order, n, seen);
}

static struct suite *open_commands(const char *text, unsigned jobs,
				   uint64_t timeout_ns)
{
	static char path[256];
	write_file("commands", text, strlen(text));
	snprintf(path, sizeof(path), "%s", in_folder("commands"));
	struct suite_options options = {
		.kind = &commands_suite_kind,
		.source = path,
		.jobs = jobs,
		.timeout_ns = timeout_ns,
		.keep_output = true,
	};
	struct suite *suite = NULL;
	assert_ok(suite_open(&options, &suite));
	return suite;
}

static void assert_outcome(const struct seen *seen, size_t test,
			   enum outcome outcome, const char *message)
{
	const struct suite_result *result = result_of(seen, test);
	if (result->outcome != outcome)
		fail_msg("test %zu: %s (%s), not %s", test,
			 outcome_name(result->outcome),
			 result->message ? result->message : "-",
			 outcome_name(outcome));
	if (message && (!result->message || !strstr(result->message, message)))
		fail_msg("test %zu: '%s' does not say '%s'", test,
			 result->message ? result->message : "-", message);
	if (!message)
		assert_null(result->message);
}

static bool is_gone(pid_t pid)
{
	/* It may take a moment to die, and its zombie is init's. */
	for (int i = 0; i < 300; i++) {
		char path[64], state = 0;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		FILE *file = fopen(path, "re");
		if (!file)
			return true;
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 'X';
		fclose(file);
		if (state == 'Z' || state == 'X')
			return true;
		usleep(10000);
	}
	return false;
}

static pid_t read_pid(const char *name)
{
	_cleanup_(freep) char *text = read_text(name);
	return (pid_t)atoi(text);
}

static size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* ---- parts ---- */

static void test_capture(void **state _unused_)
{
	for (size_t step = 1; step < 300; step = step * 2 + 1) {
		struct capture capture;
		capture_init(&capture, 10);
		char text[1000];
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (char)('a' + i % 26);
		for (size_t i = 0; i < sizeof(text); i += step)
			assert_ok(capture_add(&capture, text + i,
					      MIN(step, sizeof(text) - i)));
		_cleanup_(freep) char *kept = NULL;
		size_t n;
		uint64_t dropped;
		assert_ok(capture_text(&capture, &kept, &n, &dropped));
		assert_int_equal(n, 20);
		assert_int_equal(dropped, 980);
		assert_memory_equal(kept, text, 10);
		assert_memory_equal(kept + 10, text + 990, 10);
		capture_shorten(kept, &n, &dropped, 3);
		assert_int_equal(n, 6);
		assert_int_equal(dropped, 994);
		assert_memory_equal(kept, text, 3);
		assert_memory_equal(kept + 3, text + 997, 3);
		capture_free(&capture);
	}
	struct capture empty;
	capture_init(&empty, 10);
	_cleanup_(freep) char *kept = NULL;
	size_t n;
	uint64_t dropped;
	assert_ok(capture_text(&empty, &kept, &n, &dropped));
	assert_int_equal(n + dropped, 0);
	assert_string_equal(kept, "");
}

static void test_tap(void **state _unused_)
{
	static const struct {
		const char *text;
		enum outcome outcome;
	} cases[] = {
		{ "1..2\nok 1\nok 2\n", OUTCOME_PASS },
		{ "ok 1\nok 2\n1..2", OUTCOME_PASS },
		{ "ok\n", OUTCOME_PASS },
		{ "TAP version 13\r\n1..1\r\nok 1 - a\r\n", OUTCOME_PASS },
		{ "1..2\nok 1\nnot ok 2\n", OUTCOME_FAIL },
		{ "1..1\nnot ok 1 # TODO later\n", OUTCOME_PASS },
		{ "1..1\nnot ok 1 - a \\# TODO\n", OUTCOME_FAIL },
		{ "1..1\nok 1 # skip none\n", OUTCOME_SKIP },
		{ "1..2\nok 1 # SKIP\nok 2\n", OUTCOME_PASS },
		{ "1..0 # SKIP not here\n", OUTCOME_SKIP },
		{ "1..1\nok 1\nBail out! no disk\n", OUTCOME_FAIL },
		{ "1..3\nok 1\n", OUTCOME_FAIL },
		{ "1..1\nok 1\nok 2\n", OUTCOME_FAIL },
		{ "1..1\n    not ok 1 - inner\nok 1\n", OUTCOME_PASS },
		{ "okay\nnot okay\n1..0", OUTCOME_SKIP },
		{ "", OUTCOME_FAIL },
		{ "1..99999999999999999999999\nok\n", OUTCOME_PASS },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t step = 1; step < 50; step += 7) {
			struct tap tap = {};
			size_t n = strlen(cases[i].text);
			for (size_t at = 0; at < n; at += step)
				tap_feed(&tap, cases[i].text + at,
					 MIN(step, n - at));
			tap_finish(&tap);
			const char *why;
			enum outcome outcome = tap_outcome(&tap, &why);
			if (outcome != cases[i].outcome)
				fail_msg("'%s' is %s", cases[i].text,
					 outcome_name(outcome));
		}
	}
	struct tap tap = {};
	static char noise[100000];
	memset(noise, 'x', sizeof(noise));
	tap_feed(&tap, noise, sizeof(noise));
	tap_feed(&tap, "\nok 1\n", 6);
	assert_int_equal(tap.points, 1);
}

static void test_tool(void **state _unused_)
{
	char sh[] = "/bin/sh", c[] = "-c";
	char talk[] = "echo out; echo err >&2; pwd; exit 3";
	char *const argv[] = { sh, c, talk, NULL };
	struct process_spec spec = { .argv = argv, .folder = "/" };
	struct process_output output = {};
	assert_ok(process_output(&spec, 1 << 20, NS_PER_S * 10, &output));
	assert_string_equal(output.out, "out\n/\n");
	assert_string_equal(output.err, "err\n");
	assert_int_equal(output.status, 3);
	process_output_free(&output);

	char endless[] = "yes";
	char *const flood[] = { endless, NULL };
	spec = (struct process_spec){ .argv = flood };
	assert_err(process_output(&spec, 1 << 20, NS_PER_S * 10, &output),
		   ERR_SUITE, "too much");
	char sleeper[] = "sleep 100";
	char *const hang[] = { sh, c, sleeper, NULL };
	spec = (struct process_spec){ .argv = hang };
	assert_err(process_output(&spec, 1 << 20, NS_PER_MS * 50, &output),
		   ERR_SUITE, "does not end");
	char nothing[] = "/proc/nonexistent/tool";
	char *const missing[] = { nothing, NULL };
	spec = (struct process_spec){ .argv = missing };
	assert_ok(process_output(&spec, 1 << 20, NS_PER_S, &output));
	assert_non_null(output.why);
	assert_non_null(strstr(output.why, "No such file"));
	process_output_free(&output);
	spec = (struct process_spec){ .argv = argv,
				      .folder = "/proc/nonexistent" };
	assert_ok(process_output(&spec, 1 << 20, NS_PER_S, &output));
	assert_non_null(strstr(output.why, "cannot enter folder"));
	process_output_free(&output);
}

/* ---- commands ---- */

static void test_outcomes(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite = open_commands(
		"\n# a comment\n  true  \r\nfalse\n\nexit 77\nexit 99\n"
		"kill -SEGV $$\nexit 139\nno-such-command\ntrue\n"
		"   # indented\nread x; test -z \"$x\"\necho a; echo b >&2\n"
		"exit 200",
		1, NS_PER_S * 20);
	assert_string_equal(suite_framework(suite), "commands");
	assert_int_equal(suite_count(suite), 11);
	assert_string_equal(suite_test(suite, 0)->name, "true");
	assert_int_equal(suite_test(suite, 0)->line, 3);
	assert_true(str_ends(suite_test(suite, 0)->file, "/commands"));
	assert_string_equal(suite_test(suite, 7)->name, "true#2");
	assert_int_equal(suite_test(suite, 10)->line, 15);
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_all(suite, &seen));
	assert_int_equal(seen.started, 11);
	assert_int_equal(seen.finished, 11);
	for (size_t i = 0; i < 11; i++)
		assert_int_equal(seen.results[i].test, i);
	assert_outcome(&seen, 0, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 1, OUTCOME_FAIL, "exit status 1");
	assert_outcome(&seen, 2, OUTCOME_SKIP, "77");
	assert_outcome(&seen, 3, OUTCOME_FAIL, "hard error");
	assert_outcome(&seen, 4, OUTCOME_CRASH,
		       "killed by SIGSEGV (Segmentation fault)");
	assert_outcome(&seen, 5, OUTCOME_CRASH, "SIGSEGV");
	assert_outcome(&seen, 6, OUTCOME_FAIL, "command not found");
	assert_outcome(&seen, 8, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 9, OUTCOME_PASS, NULL);
	assert_string_equal(result_of(&seen, 9)->output, "a\nb\n");
	assert_outcome(&seen, 10, OUTCOME_FAIL, "exit status 200");
}

static void test_any_order(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite =
		open_commands("true\nfalse\nexit 77\n", 1, NS_PER_S * 20);
	static const size_t order[] = { 2, 0, 0, 1, 2 };
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_order(suite, order, ARRAY_SIZE(order), &seen));
	assert_int_equal(seen.finished, ARRAY_SIZE(order));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(seen.results[i].test, order[i]);
	_cleanup_(seen_free) struct seen none = {};
	assert_ok(run_order(suite, NULL, 0, &none));
	assert_int_equal(none.finished, 0);
}

static void test_timeout(void **state _unused_)
{
	char text[1024];
	snprintf(text, sizeof(text),
		 "sleep 1000 & echo $! > %s; echo on; wait\n"
		 "trap '' TERM INT; while :; do :; done\n"
		 "yes\n"
		 "true\n",
		 in_folder("pid"));
	_cleanup_(suite_closep) struct suite *suite =
		open_commands(text, 4, NS_PER_MS * 300);
	_cleanup_(seen_free) struct seen seen = {};
	uint64_t began = clock_now();
	assert_ok(run_all(suite, &seen));
	assert_true(clock_now() - began < NS_PER_S * 5);
	assert_outcome(&seen, 0, OUTCOME_TIMEOUT, "300.0 ms");
	assert_string_equal(result_of(&seen, 0)->output, "on\n");
	assert_outcome(&seen, 1, OUTCOME_TIMEOUT, "did not end");
	assert_outcome(&seen, 2, OUTCOME_TIMEOUT, "did not end");
	assert_int_equal(result_of(&seen, 2)->output_n, 2 * CAPTURE_KEEP);
	assert_true(result_of(&seen, 2)->output_dropped > 0);
	assert_outcome(&seen, 3, OUTCOME_PASS, NULL);
	assert_true(is_gone(read_pid("pid")));
}

static void test_output(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite = open_commands(
		"printf begin; yes | head -c 1000000; printf end\n"
		"printf 'a\\0b'\n"
		"exec >&- 2>&-; exit 3\n",
		1, NS_PER_S * 20);
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_all(suite, &seen));
	const struct suite_result *big = result_of(&seen, 0);
	assert_int_equal(big->output_n, 2 * CAPTURE_KEEP);
	assert_int_equal(big->output_dropped, 1000000 + 8 - 2 * CAPTURE_KEEP);
	assert_memory_equal(big->output, "beginy\n", 7);
	assert_memory_equal(big->output + big->output_n - 5, "y\nend", 5);
	assert_int_equal(result_of(&seen, 1)->output_n, 3);
	assert_memory_equal(result_of(&seen, 1)->output, "a\0b", 4);
	assert_outcome(&seen, 2, OUTCOME_FAIL, "exit status 3");
}

/* What a test leaves in its group ends with it, what left it with the run. */
static void test_left_behind(void **state _unused_)
{
	char text[2048];
	snprintf(text, sizeof(text),
		 "sleep 1000 & echo $! > %s\n"
		 "p=$(cat %s); kill -0 $p 2>/dev/null && "
		 "grep -q '^State:.[^Z]' /proc/$p/status\n"
		 "setsid sh -c 'echo $$ > %s; exec sleep 1000' & sleep 0.2\n"
		 "setsid sh -c '(sleep 1000 & echo $! > %s)' >/dev/null "
		 "2>&1 & sleep 0.2\n",
		 in_folder("left1"), in_folder("left1"), in_folder("left2"),
		 in_folder("left3"));
	_cleanup_(suite_closep) struct suite *suite =
		open_commands(text, 1, NS_PER_S * 20);
	size_t before = open_descriptors();
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_all(suite, &seen));
	assert_outcome(&seen, 0, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 1, OUTCOME_FAIL, "exit status");
	assert_outcome(&seen, 2, OUTCOME_PASS, NULL);
	assert_true(is_gone(read_pid("left1")));
	assert_true(is_gone(read_pid("left2")));
	assert_true(is_gone(read_pid("left3")));
	assert_int_equal(open_descriptors(), before);
	/* And no child of ours, dead or alive. */
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static int shell(const char *command)
{
	char text[1024];
	snprintf(text, sizeof(text), "cd %s && (%s) </dev/null >log 2>&1",
		 folder, command);
	return system(text);
}

/* A test has what we were started with and nothing of ours. */
static void test_descriptors(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite = open_commands(
		"ls /proc/self/fd\nreadlink /proc/self/fd/0\nsleep 0.3\n", 3,
		NS_PER_S * 20);
	assert_int_equal(shell("ls /proc/self/fd"), 0);
	_cleanup_(freep) char *plain = read_text("log");
	static const size_t order[] = { 2, 0, 1 };
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_order(suite, order, 3, &seen));
	assert_string_equal(result_of(&seen, 0)->output, plain);
	assert_string_equal(result_of(&seen, 1)->output, "/dev/null\n");
}

static void test_side_by_side(void **state _unused_)
{
	struct str text = STR_INIT;
	for (int i = 0; i < 40; i++)
		assert_ok(str_appendf(&text, "sleep 0.1; exit %d\n", i % 3));
	_cleanup_(suite_closep) struct suite *suite =
		open_commands(text.s, 20, NS_PER_S * 20);
	str_free(&text);
	_cleanup_(seen_free) struct seen seen = {};
	uint64_t began = clock_now();
	assert_ok(run_all(suite, &seen));
	assert_true(clock_now() - began < NS_PER_S * 3);
	assert_int_equal(seen.finished, 40);
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(result_of(&seen, i)->outcome,
				 i % 3 ? OUTCOME_FAIL : OUTCOME_PASS);
}

static void interrupt(int number _unused_)
{
	suite_interrupt();
}

static void test_interrupt(void **state _unused_)
{
	char text[512];
	snprintf(text, sizeof(text),
		 "true\nsleep 1000 & echo $! > %s; wait\ntrue\n",
		 in_folder("pid"));
	_cleanup_(suite_closep) struct suite *suite =
		open_commands(text, 1, NS_PER_S * 20);
	signal(SIGALRM, interrupt);
	struct itimerval timer = { .it_value = { .tv_usec = 300000 } };
	setitimer(ITIMER_REAL, &timer, NULL);
	_cleanup_(seen_free) struct seen seen = {};
	assert_err(run_all(suite, &seen), ERR_INTERRUPTED, "interrupted");
	interrupted = 0;
	assert_int_equal(seen.finished, 1);
	assert_true(is_gone(read_pid("pid")));
}

/* Our own sudden death takes everything with it. */
static void test_controller_killed(void **state _unused_)
{
	char text[512];
	unlink(in_folder("pid"));
	snprintf(text, sizeof(text),
		 "sh -c 'sleep 1000; true' & sh -c 'echo $$ > %s.new; mv "
		 "%s.new %s; sleep 1000; true'; true\n",
		 in_folder("pid"), in_folder("pid"), in_folder("pid"));
	_cleanup_(suite_closep) struct suite *suite =
		open_commands(text, 1, NS_PER_S * 100);
	pid_t controller = fork();
	if (!controller) {
		struct suite_observer observer = {};
		size_t order = 0;
		err_destroy(suite_run(suite, &order, 1, 0, &observer));
		_exit(0);
	}
	for (int i = 0; i < 500 && access(in_folder("pid"), F_OK); i++)
		usleep(10000);
	pid_t pid = read_pid("pid");
	assert_int_equal(kill(pid, 0), 0);
	kill(controller, SIGKILL);
	waitpid(controller, NULL, 0);
	assert_true(is_gone(pid));
}

static void test_many(void **state _unused_)
{
	struct str text = STR_INIT;
	for (int i = 0; i < 20000; i++)
		assert_ok(str_append(&text, i % 2 ? "true\n" : ": ü 'x'\n"));
	uint64_t began = clock_now();
	_cleanup_(suite_closep) struct suite *suite =
		open_commands(text.s, 2, NS_PER_S * 20);
	str_free(&text);
	assert_true(clock_now() - began < NS_PER_S * 5);
	assert_int_equal(suite_count(suite), 20000);
	assert_string_equal(suite_test(suite, 19999)->name, "true#10000");
	static const size_t order[] = { 19999, 0, 19998 };
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_order(suite, order, ARRAY_SIZE(order), &seen));
	assert_int_equal(seen.finished, 3);
}

static void assert_refused(struct suite_options options, enum err_kind kind,
			   const char *text)
{
	struct suite *suite = NULL;
	options.jobs = 1;
	options.timeout_ns = NS_PER_S;
	assert_err(suite_open(&options, &suite), kind, text);
	assert_null(suite);
}

static void test_refused(void **state _unused_)
{
	char path[256];
	snprintf(path, sizeof(path), "%s", in_folder("input"));
	assert_refused((struct suite_options){ .kind = &commands_suite_kind,
					       .source = "/proc/nonexistent" },
		       ERR_USAGE, "No such file");
	assert_refused((struct suite_options){ .kind = &commands_suite_kind,
					       .source = "/tmp" },
		       ERR_USAGE, "/tmp");
	write_file("input", "# nothing\n\n", 11);
	assert_refused((struct suite_options){ .kind = &commands_suite_kind,
					       .source = path },
		       ERR_SUITE, "no commands");
	write_file("input", "\177ELF\0\0\0", 7);
	assert_refused((struct suite_options){ .kind = &commands_suite_kind,
					       .source = path },
		       ERR_USAGE, "not a text file");

	assert_refused((struct suite_options){ .kind = &ctest_suite_kind,
					       .source = "/proc/nonexistent" },
		       ERR_USAGE, "No such file");
	assert_refused((struct suite_options){ .kind = &ctest_suite_kind,
					       .source = path },
		       ERR_USAGE, "not a folder");
	assert_refused((struct suite_options){ .kind = &ctest_suite_kind,
					       .source = folder },
		       ERR_USAGE, "not a build folder");
	assert_refused((struct suite_options){ .kind = &meson_suite_kind,
					       .source = "/proc/nonexistent" },
		       ERR_USAGE, "No such file");
	assert_refused((struct suite_options){ .kind = &meson_suite_kind,
					       .source = folder },
		       ERR_USAGE, "not a build folder");

	/* Tools that are not there, and lists that are none. */
	const char *before = getenv("PATH");
	_cleanup_(freep) char *saved = strdup(before ? before : "");
	char build[512], tool[512];
	snprintf(build, sizeof(build), "%s/build", folder);
	mkdir(build, 0700);
	mkdir(in_folder("build/meson-private"), 0700);
	write_file("build/CTestTestfile.cmake", "", 0);
	setenv("PATH", folder, 1);
	assert_refused((struct suite_options){ .kind = &ctest_suite_kind,
					       .source = build },
		       ERR_SUITE, "cannot start 'ctest'");
	assert_refused((struct suite_options){ .kind = &meson_suite_kind,
					       .source = build },
		       ERR_SUITE, "cannot start 'meson'");
	static const struct {
		const char *script, *message;
	} ctests[] = {
		{ "#!/bin/sh\necho 'no luck' >&2; exit 1\n", "no luck" },
		{ "#!/bin/sh\nexit 1\n", "cannot list" },
		{ "#!/bin/sh\necho '{'\n", "cannot be read" },
		{ "#!/bin/sh\necho '{}'\n", "has no tests in it" },
		{ "#!/bin/sh\necho '{\"tests\": []}'\n", "has no tests" },
		{ "#!/bin/sh\necho '{\"tests\": [3]}'\n", "without name" },
		{ "#!/bin/sh\n", "cannot be read" },
	};
	snprintf(tool, sizeof(tool), "%s", in_folder("ctest"));
	for (size_t i = 0; i < ARRAY_SIZE(ctests); i++) {
		write_file("ctest", ctests[i].script, strlen(ctests[i].script));
		chmod(tool, 0700);
		assert_refused(
			(struct suite_options){ .kind = &ctest_suite_kind,
						.source = build },
			ERR_SUITE, ctests[i].message);
	}
	mkdir(in_folder("build/meson-info"), 0700);
	write_file("build/meson-info/intro-tests.json", "{}", 2);
	assert_refused((struct suite_options){ .kind = &meson_suite_kind,
					       .source = build },
		       ERR_SUITE, "cannot be read");
	write_file("build/meson-info/intro-tests.json", "[]", 2);
	assert_refused((struct suite_options){ .kind = &meson_suite_kind,
					       .source = build },
		       ERR_SUITE, "has no tests");
	setenv("PATH", saved, 1);
}

/* ---- ctest ---- */

static struct suite *parse_ctest(const char *tests, unsigned jobs)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	/* Single quotes for double ones: easier to read here. */
	assert_ok(str_appendf(&text,
			      "{'backtraceGraph': {'files': ['/src/C.txt'], "
			      "'nodes': [{'file': 0}, {'file': 0, 'line': 7, "
			      "'parent': 0}]}, 'tests': [%s]}",
			      tests));
	for (size_t i = 0; i < text.n; i++) {
		if (text.s[i] == '\'')
			text.s[i] = '"';
	}
	struct suite_options options = {
		.kind = &ctest_suite_kind,
		.source = "build",
		.jobs = jobs,
		.timeout_ns = NS_PER_S * 20,
		.keep_output = true,
	};
	struct suite *suite = NULL;
	assert_ok(ctest_suite_parse(&options, text.s, text.n, &suite));
	return suite;
}

#define CTEST(name, command, properties)                                       \
	"{'name': '" name "', 'command': ['/bin/sh', '-c', '" command          \
	"'], 'backtrace': 1, 'properties': [" properties "]}"
#define PROPERTY(name, value) "{'name': '" name "', 'value': " value "}"

static void test_ctest_rules(void **state _unused_)
{
	setenv("POLYGRAPH_A", "a", 1);
	setenv("POLYGRAPH_B", "b", 1);
	_cleanup_(suite_closep) struct suite *suite = parse_ctest(
		/* clang-format off */
		CTEST("pass", "exit 0", "") ","
		CTEST("fail", "exit 77", "") ","
		CTEST("will fail", "exit 3", PROPERTY("WILL_FAIL", "true")) ","
		CTEST("will not", "exit 0", PROPERTY("WILL_FAIL", "true")) ","
		CTEST("crash", "kill -ABRT $$", PROPERTY("WILL_FAIL", "true")) ","
		CTEST("skip", "exit 5", PROPERTY("SKIP_RETURN_CODE", "5")) ","
		CTEST("match", "echo a{1}; exit 4",
		      PROPERTY("PASS_REGULAR_EXPRESSION", "['x+y', 'a{[0-9]}']")) ","
		CTEST("no match", "echo abc",
		      PROPERTY("PASS_REGULAR_EXPRESSION", "['^b', 'a\\\\.c']")) ","
		CTEST("bad word", "echo fine; echo ERROR: 3",
		      PROPERTY("FAIL_REGULAR_EXPRESSION", "['ERR(OR|NO): [0-9]+']")) ","
		CTEST("skip word", "echo no device; exit 1",
		      PROPERTY("SKIP_REGULAR_EXPRESSION", "['no device']")) ","
		CTEST("disabled", "exit 1", PROPERTY("DISABLED", "true")) ","
		"{'name': 'not built', 'properties': []},"
		CTEST("late", "sleep 100", PROPERTY("TIMEOUT", "0.2")) ","
		CTEST("where", "pwd; echo $V-$POLYGRAPH_A-$POLYGRAPH_B-$L-${HOME-none}",
		      PROPERTY("WORKING_DIRECTORY", "'/'") ","
		      PROPERTY("ENVIRONMENT_MODIFICATION",
			       "['V=path_list_append:/x', 'POLYGRAPH_A=string_prepend:1',"
			       "'POLYGRAPH_B=reset:', 'L=cmake_list_append:q', 'L=cmake_list_prepend:p',"
			       "'HOME=unset:', 'nonsense']") ","
		      PROPERTY("ENVIRONMENT", "['V=1', 'POLYGRAPH_B=zzz']")) ","
		CTEST("files", "exit 0", PROPERTY("REQUIRED_FILES", "['/', '/proc/nonexistent']")) ","
		CTEST("pass", "exit 0", "") ","
		CTEST("bad expression", "echo x", PROPERTY("FAIL_REGULAR_EXPRESSION", "['(']"))
		/* clang-format on */
		,
		3);
	assert_string_equal(suite_framework(suite), "ctest");
	assert_string_equal(suite_test(suite, 0)->file, "/src/C.txt");
	assert_int_equal(suite_test(suite, 0)->line, 7);
	assert_true(suite_test(suite, 10)->disabled);
	assert_null(suite_test(suite, 11)->file);
	assert_string_equal(suite_test(suite, 15)->name, "pass#2");
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_all(suite, &seen));
	assert_outcome(&seen, 0, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 1, OUTCOME_FAIL, "exit status 77");
	assert_outcome(&seen, 2, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 3, OUTCOME_FAIL, "WILL_FAIL");
	assert_outcome(&seen, 4, OUTCOME_CRASH, "SIGABRT");
	assert_outcome(&seen, 5, OUTCOME_SKIP, "SKIP_RETURN_CODE");
	assert_outcome(&seen, 6, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 7, OUTCOME_FAIL, "lacks '^b'");
	assert_outcome(&seen, 8, OUTCOME_FAIL, "FAIL_REGULAR_EXPRESSION");
	assert_outcome(&seen, 9, OUTCOME_SKIP, "no device");
	assert_outcome(&seen, 10, OUTCOME_SKIP, "disabled");
	assert_outcome(&seen, 11, OUTCOME_FAIL, "build");
	assert_outcome(&seen, 12, OUTCOME_TIMEOUT, "200.0 ms");
	assert_outcome(&seen, 13, OUTCOME_PASS, NULL);
	assert_string_equal(result_of(&seen, 13)->output,
			    "/\n1:/x-1a-b-p;q-none\n");
	assert_outcome(&seen, 14, OUTCOME_FAIL, "/proc/nonexistent");
	assert_outcome(&seen, 16, OUTCOME_PASS, NULL);
}

/* Positions of two words in the journal that the tests write. */
static void assert_before(const char *journal, const char *first,
			  const char *second)
{
	const char *a = strstr(journal, first), *b = strstr(journal, second);
	if (!a || !b || a > b)
		fail_msg("'%s' is not before '%s' in: %s", first, second,
			 journal);
}

static void test_ctest_order(void **state _unused_)
{
	setenv("JOURNAL", in_folder("journal"), 1);
	write_file("journal", "", 0);
#define WRITES(name)                                                           \
	"echo +" name ". >> $JOURNAL; sleep 0.05; echo -" name ". >> $JOURNAL"
/* It ends when the other has begun, or when that takes too long to be true. */
#define WRITES_BESIDE(name, other)                                             \
	"echo +" name ". >> $JOURNAL; n=0; "                                   \
	"until grep -q +" other ". $JOURNAL || [ $n -gt 1000 ]; "              \
	"do sleep 0.02; n=$((n+1)); done; echo -" name ". >> $JOURNAL"
	_cleanup_(suite_closep) struct suite *suite =
		parse_ctest(
			/* clang-format off */
		CTEST("clean", WRITES("clean"), PROPERTY("FIXTURES_CLEANUP", "['db']")) ","
		CTEST("last", WRITES("last"), PROPERTY("DEPENDS", "['user1', 'gone', 'last']")) ","
		CTEST("user1", WRITES_BESIDE("user1", "user2"), PROPERTY("FIXTURES_REQUIRED", "['db']")) ","
		CTEST("user2", WRITES_BESIDE("user2", "user1"), PROPERTY("FIXTURES_REQUIRED", "['db']")) ","
		CTEST("setup", WRITES("setup"), PROPERTY("FIXTURES_SETUP", "['db']")) ","
		CTEST("alone", WRITES("alone"), PROPERTY("RUN_SERIAL", "true")) ","
		CTEST("lock1", WRITES("lock1"), PROPERTY("RESOURCE_LOCK", "['a', 'b']")) ","
		CTEST("lock2", WRITES("lock2"), PROPERTY("RESOURCE_LOCK", "['b']")) ","
		CTEST("wide", WRITES("wide"), PROPERTY("PROCESSORS", "99"))
			/* clang-format on */
			,
			8);
	static const char *const natural[] = { "setup", "user1", "user2",
					       "clean", "last" };
	for (size_t i = 0; i < ARRAY_SIZE(natural); i++)
		assert_string_equal(suite_test(suite, i)->name, natural[i]);
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_all(suite, &seen));
	assert_int_equal(seen.finished, 9);
	assert_null(seen.limit);
	_cleanup_(freep) char *journal = read_text("journal");
	assert_before(journal, "-setup.", "+user1.");
	assert_before(journal, "-setup.", "+user2.");
	assert_before(journal, "-user1.", "+clean.");
	assert_before(journal, "-user2.", "+clean.");
	assert_before(journal, "-user1.", "+last.");
	assert_before(journal, "+alone.\n-alone.", "+lock1.");
	assert_before(journal, "-lock1.", "+lock2.");
	assert_before(journal, "-lock2.", "+wide.");
	assert_non_null(strstr(journal, "+wide.\n-wide."));
	/* The two users ran side by side. */
	assert_before(journal, "+user1.", "-user2.");
	assert_before(journal, "+user2.", "-user1.");

	/* Without its fixture a test runs, and that is said. */
	static const size_t only[] = { 1, 1 };
	_cleanup_(seen_free) struct seen lacking = {};
	assert_ok(run_order(suite, only, 2, &lacking));
	assert_int_equal(lacking.finished, 2);
	assert_non_null(strstr(lacking.limit, "user1 without setup"));
}

/* A server that a set-up starts lives until the run ends. */
static void test_ctest_fixture_process(void **state _unused_)
{
	setenv("SERVER", in_folder("server"), 1);
	_cleanup_(suite_closep) struct suite *suite = parse_ctest(
		/* clang-format off */
		CTEST("setup", "sleep 1000 & echo $! > $SERVER",
		      PROPERTY("FIXTURES_SETUP", "['db']")) ","
		CTEST("user", "kill -0 $(cat $SERVER)",
		      PROPERTY("FIXTURES_REQUIRED", "['db']"))
		/* clang-format on */
		,
		1);
	_cleanup_(seen_free) struct seen seen = {};
	size_t before = open_descriptors();
	assert_ok(run_all(suite, &seen));
	assert_outcome(&seen, 0, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 1, OUTCOME_PASS, NULL);
	assert_true(is_gone(read_pid("server")));
	assert_int_equal(open_descriptors(), before);
}

static void test_ctest_large(void **state _unused_)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	/* Each depends on the next: the natural order is all turned round. */
	assert_ok(str_append(&text, "{\"tests\": ["));
	for (int i = 0; i < 20000; i++)
		assert_ok(str_appendf(
			&text,
			"%s{\"name\": \"t%d\", \"command\": [\"true\"], "
			"\"properties\": [{\"name\": \"DEPENDS\", \"value\": "
			"[\"t%d\"]}, {\"name\": \"FIXTURES_REQUIRED\", "
			"\"value\": [\"f\"]}]}",
			i ? "," : "", i, i + 1));
	assert_ok(str_append(
		&text, ",{\"name\": \"end\", \"command\": [\"true\"], "
		       "\"properties\": [{\"name\": \"FIXTURES_CLEANUP\", "
		       "\"value\": [\"f\"]}]}]}"));
	struct suite_options options = {
		.kind = &ctest_suite_kind,
		.source = "build",
		.jobs = 1,
		.timeout_ns = NS_PER_S,
	};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	uint64_t began = clock_now();
	assert_ok(ctest_suite_parse(&options, text.s, text.n, &suite));
	assert_true(clock_now() - began < NS_PER_S * 5);
	assert_string_equal(suite_test(suite, 0)->name, "t19999");
	assert_string_equal(suite_test(suite, 19999)->name, "t0");
	assert_string_equal(suite_test(suite, 20000)->name, "end");
}

static void test_ctest_itself(void **state _unused_)
{
	if (shell("command -v ctest && command -v cmake") != 0) {
		print_message("ctest is not installed\n");
		skip();
	}
	static const char lists[] =
		"cmake_minimum_required(VERSION 3.20)\n"
		"project(x NONE)\n"
		"enable_testing()\n"
		"add_test(NAME \"with space\" COMMAND sh -c \"exit 0\")\n"
		"add_test(NAME fails COMMAND sh -c \"exit 1\")\n"
		"set_tests_properties(fails PROPERTIES DEPENDS gone "
		"TIMEOUT 7)\n";
	mkdir(in_folder("cm"), 0700);
	write_file("cm/CMakeLists.txt", lists, sizeof(lists) - 1);
	assert_int_equal(shell("cmake -S cm -B cm/b"), 0);
	struct suite_options options = {
		.kind = &ctest_suite_kind,
		.source = in_folder("cm/b"),
		.jobs = 2,
		.timeout_ns = NS_PER_S * 20,
	};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	assert_ok(suite_open(&options, &suite));
	assert_int_equal(suite_count(suite), 2);
	assert_string_equal(suite_test(suite, 0)->name, "with space");
	assert_true(str_ends(suite_test(suite, 0)->file, "cm/CMakeLists.txt"));
	assert_int_equal(suite_test(suite, 1)->line, 5);
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_all(suite, &seen));
	assert_outcome(&seen, 0, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 1, OUTCOME_FAIL, "exit status 1");
}

/* ---- Meson ---- */

static void test_meson_rules(void **state _unused_)
{
	char text[] =
		"[{'name': 'a', 'cmd': ['/bin/sh', '-c', 'echo $X; pwd'], "
		"'env': {'X': 'b c'}, 'workdir': null, 'timeout': 30, "
		"'priority': 0, 'is_parallel': true, 'protocol': 'exitcode'},"
		"{'name': 'first', 'cmd': ['/bin/sh', '-c', 'exit 77'], "
		"'env': {}, 'workdir': '/', 'timeout': 0, 'priority': 5, "
		"'is_parallel': false, 'protocol': 'exitcode'},"
		"{'name': 'tap', 'cmd': ['/bin/sh', '-c', 'echo not ok >&2; "
		"echo 1..1; echo ok 1'], 'protocol': 'tap'},"
		"{'name': 'tap', 'cmd': ['/bin/sh', '-c', 'echo 1..1; echo "
		"not ok 1 - it'], 'protocol': 'tap'},"
		"{'name': 'status', 'cmd': ['/bin/sh', '-c', 'echo 1..1; echo "
		"ok 1; exit 4'], 'protocol': 'tap'},"
		"{'name': 'error', 'cmd': ['/bin/sh', '-c', 'exit 99']},"
		"{'name': 'none'}]";
	for (char *c = text; *c; c++) {
		if (*c == '\'')
			*c = '"';
	}
	struct suite_options options = {
		.kind = &meson_suite_kind,
		.source = "build",
		.jobs = 2,
		.timeout_ns = NS_PER_S * 20,
		.keep_output = true,
	};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	assert_ok(meson_suite_parse(&options, folder, text, strlen(text), false,
				    &suite));
	assert_int_equal(suite_count(suite), 7);
	assert_string_equal(suite_framework(suite), "meson");
	assert_string_equal(suite_test(suite, 0)->name, "first");
	assert_string_equal(suite_test(suite, 3)->name, "tap#2");
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_all(suite, &seen));
	assert_outcome(&seen, 0, OUTCOME_SKIP, "77");
	assert_outcome(&seen, 1, OUTCOME_PASS, NULL);
	assert_true(str_starts(result_of(&seen, 1)->output, "b c\n/tmp/"));
	assert_outcome(&seen, 2, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 3, OUTCOME_FAIL, "not ok 1 - it");
	assert_outcome(&seen, 4, OUTCOME_FAIL, "exit status 4");
	assert_outcome(&seen, 5, OUTCOME_FAIL, "hard error");
	assert_outcome(&seen, 6, OUTCOME_FAIL, "no command");
}

static void test_meson_itself(void **state _unused_)
{
	if (shell("command -v meson") != 0) {
		print_message("meson is not installed\n");
		skip();
	}
	static const char build[] =
		"project('x')\n"
		"sh = find_program('sh')\n"
		"test('a', sh, args: ['-c', 'exit 0'])\n"
		"test('expected', sh, args: ['-c', 'exit 1'], "
		"should_fail: true)\n"
		"test('unexpected', sh, args: ['-c', 'exit 0'], "
		"should_fail: true, priority: 1)\n";
	mkdir(in_folder("me"), 0700);
	write_file("me/meson.build", build, sizeof(build) - 1);
	if (shell("meson setup me/b me") != 0) {
		print_message("meson does not work here\n");
		skip();
	}
	struct suite_options options = {
		.kind = &meson_suite_kind,
		.source = in_folder("me/b"),
		.jobs = 2,
		.timeout_ns = NS_PER_S * 20,
	};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	assert_ok(suite_open(&options, &suite));
	assert_int_equal(suite_count(suite), 3);
	assert_string_equal(suite_test(suite, 0)->name, "unexpected");
	_cleanup_(seen_free) struct seen seen = {};
	assert_ok(run_all(suite, &seen));
	assert_outcome(&seen, 0, OUTCOME_FAIL, "should_fail");
	assert_outcome(&seen, 1, OUTCOME_PASS, NULL);
	assert_outcome(&seen, 2, OUTCOME_PASS, NULL);
}

/* ---- */

static int setup(void **state _unused_)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state _unused_)
{
	char command[512];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_tap),
		cmocka_unit_test(test_tool),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_controller_killed),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_ctest_rules),
		cmocka_unit_test(test_ctest_order),
		cmocka_unit_test(test_ctest_fixture_process),
		cmocka_unit_test(test_ctest_large),
		cmocka_unit_test(test_ctest_itself),
		cmocka_unit_test(test_meson_rules),
		cmocka_unit_test(test_meson_itself),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
