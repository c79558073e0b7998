/* Suites of processes, watched: what a command leaves for the next, who reads it. */
#include "unit.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "process/kinds.h"
#include "process/process.h"
#include "process/process_suite.h"
#include "suite/kind.h"

/* The working directory of all tests; names are shown relative to it. */
static char folder[] = "/tmp/polygraph-watch-XXXXXX";
static char elsewhere[] = "/var/tmp/polygraph-watch-XXXXXX";
static char self[4096];

/* ---- what an observer is told ---- */

struct told {
	struct str text; /* a line each, in their order */
	struct str limits;
	size_t finished;
	enum outcome outcomes[64];
};

static void on_finished(void *data, const struct suite_result *result)
{
	struct told *told = data;
	told->finished++;
	assert_true(result->test < ARRAY_SIZE(told->outcomes));
	told->outcomes[result->test] = result->outcome;
}

static void on_changed(void *data, size_t entry, size_t test,
		       const struct change *changes, size_t n)
{
	struct told *told = data;
	assert_true(entry < told->finished);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		const struct change *change = &changes[i];
		assert_true(change->n > 0);
		assert_ok(str_appendf(&told->text, "%zu %zu %s: %s -> %s\n",
				      entry, test, change->paths[0].path,
				      change->paths[0].before,
				      change->paths[0].after));
	}
}

static void on_read(void *data, size_t test, size_t place, bool fills)
{
	struct told *told = data;
	assert_false(fills);
	assert_ok(str_appendf(&told->text, "%zu reads %zu\n", test, place));
}

static void on_limit(void *data, const char *text)
{
	struct told *told = data;
	assert_ok(str_appendf(&told->limits, "%s\n", text));
}

static void told_free(struct told *told)
{
	str_free(&told->text);
	str_free(&told->limits);
}

static struct suite_observer observer_of(struct told *told)
{
	*told = (struct told){ .text = STR_INIT, .limits = STR_INIT };
	assert_ok(str_append(&told->text, ""));
	assert_ok(str_append(&told->limits, ""));
	return (struct suite_observer){
		.finished = on_finished,
		.changed = on_changed,
		.read = on_read,
		.limit = on_limit,
		.data = told,
	};
}

static const char *const watched_dirs[] = { folder, NULL };
static const char *const own_files[] = { NULL };

static struct suite_watch watch_of(const char *method, unsigned what)
{
	return (struct suite_watch){
		.what = what,
		.from = SUITE_BEFORE_SETUP,
		.to = SUITE_AFTER_TEARDOWN,
		.dirs = watched_dirs,
		.own_files = own_files,
		.file_method = method,
		.paths = 3,
	};
}

static void empty_folder(void)
{
	char command[256];
	snprintf(command, sizeof(command), "rm -rf %s/* %s/*", folder,
		 elsewhere);
	assert_int_equal(system(command), 0);
}

static struct suite *open_commands(const char *text, unsigned jobs)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s.commands", elsewhere);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	fclose(file);
	struct suite_options options = {
		.kind = &commands_suite_kind,
		.source = path,
		.jobs = jobs,
		.timeout_ns = NS_PER_S * 60,
	};
	struct suite *suite = NULL;
	assert_ok(suite_open(&options, &suite));
	unlink(path);
	return suite;
}

/* Watched, in the natural order. */
static struct told run_watched(struct suite *suite, const char *method,
			       unsigned what)
{
	struct told told;
	struct suite_observer observer = observer_of(&told);
	struct suite_watch watch = watch_of(method, what);
	size_t order[64];
	size_t n = suite_count(suite);
	assert_true(n <= ARRAY_SIZE(order));
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	assert_ok(suite_watch(suite, &watch));
	assert_ok(suite_run(suite, order, n, 0, &observer));
	assert_ok(suite_watch(suite, NULL));
	assert_int_equal(told.finished, n);
	return told;
}

static struct told run_commands(const char *text, const char *method,
				unsigned what)
{
	empty_folder();
	_cleanup_(suite_closep) struct suite *suite = open_commands(text, 1);
	return run_watched(suite, method, what);
}

static bool can_follow(void)
{
	struct err *err = process_try_follow();
	if (err)
		print_message("cannot follow here: %s\n", err_message(err));
	err_destroy(err);
	return !err;
}

#define FOLLOW_OR_SKIP()                                                       \
	do {                                                                   \
		if (!can_follow())                                             \
			skip();                                                \
	} while (0)

static size_t count_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* ---- files ---- */

static const char file_commands[] = "echo a > made\n"
				    "true\n"
				    "echo a > made\n"
				    "cat made\n"
				    "mkdir -p in/side; echo > in/side/x\n"
				    "echo b >> made; exit 3\n"
				    "echo c > gone; rm gone\n"
				    "kill -SEGV $$\n"
				    "chmod 600 made\n"
				    "rm made\n";

static void check_files(const char *method)
{
	_cleanup_(told_free) struct told told =
		run_commands(file_commands, method, SUITE_FILES);
	assert_string_equal(told.text.s,
			    "0 0 made: absent -> file of 2 bytes\n"
			    "4 4 in: absent -> folder with 2 entries\n"
			    "5 5 made: \"a\\n\" -> \"a\\nb\\n\"\n"
			    "8 8 made: mode: 0644 -> 0600\n"
			    "9 9 made: file of 4 bytes -> absent\n");
	assert_int_equal(told.outcomes[5], OUTCOME_FAIL);
	assert_int_equal(told.outcomes[7], OUTCOME_CRASH);
}

static void test_followed_files(void **state _unused_)
{
	FOLLOW_OR_SKIP();
	check_files("follow");
	check_files(NULL);
}

static void test_walked_files(void **state _unused_)
{
	check_files("walk");
}

/* What children do is the test's, wherever it is. */
static void test_far_files(void **state _unused_)
{
	FOLLOW_OR_SKIP();
	char text[1024], expected[1024];
	snprintf(text, sizeof(text),
		 "(sh -c 'echo > %s/deep' & wait)\n"
		 "cd %s && rm deep\n"
		 "cd %s && echo > here\n",
		 elsewhere, elsewhere, folder);
	_cleanup_(told_free) struct told told =
		run_commands(text, "follow", SUITE_FILES);
	snprintf(expected, sizeof(expected),
		 "0 0 %s/deep: absent -> file of 1 byte\n"
		 "1 1 %s/deep: file of 1 byte -> absent\n"
		 "2 2 here: absent -> file of 1 byte\n",
		 elsewhere, elsewhere);
	assert_string_equal(told.text.s, expected);
}

/* A file that another process writes meanwhile is not the test's. */
static void test_foreign_files(void **state _unused_)
{
	FOLLOW_OR_SKIP();
	empty_folder();
	assert_int_equal(mkfifo("ask", 0600), 0);
	pid_t other = fork();
	if (!other) {
		FILE *ask = fopen("ask", "re");
		FILE *file = ask ? fopen("foreign", "we") : NULL;
		_exit(!file || fclose(file));
	}
	_cleanup_(suite_closep) struct suite *suite = open_commands(
		"echo > ask; until test -e foreign; do sleep 0.01; done\n", 1);
	_cleanup_(told_free) struct told told =
		run_watched(suite, "follow", SUITE_FILES);
	int status = 1;
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	assert_string_equal(told.text.s, "");
}

/* One at a time and in the order given, whatever --jobs says. */
static void test_order(void **state _unused_)
{
	empty_folder();
	_cleanup_(suite_closep) struct suite *suite =
		open_commands("echo 0 >> log\necho 1 >> log\nsleep 0.1; "
			      "echo 2 >> log\n",
			      8);
	_cleanup_(told_free) struct told told = {}, none = {};
	struct suite_observer observer = observer_of(&told);
	struct suite_watch watch = watch_of(NULL, SUITE_ALL);
	static const size_t order[] = { 2, 0, 1, 0 };
	assert_ok(suite_watch(suite, &watch));
	assert_ok(suite_run(suite, order, 4, 0, &observer));
	assert_string_equal(
		told.text.s,
		"0 2 log: absent -> file of 2 bytes\n"
		"1 0 log: \"2\\n\" -> \"2\\n0\\n\"\n"
		"2 1 log: \"2\\n0\\n\" -> \"2\\n0\\n1\\n\"\n"
		"3 0 log: \"2\\n0\\n1\\n\" -> \"2\\n0\\n1\\n0\\n\"\n");

	/* And unwatched again it is as before. */
	observer = observer_of(&none);
	assert_ok(suite_watch(suite, NULL));
	assert_ok(suite_run(suite, order, 4, 0, &observer));
	assert_int_equal(none.finished, 4);
	assert_string_equal(none.text.s, "");
}

static void test_not_started(void **state _unused_)
{
	empty_folder();
	struct suite_options options = { .kind = &ctest_suite_kind,
					 .source = "b",
					 .jobs = 1 };
	static const char list[] =
		"{\"tests\": ["
		"{\"name\": \"a\", \"command\": [\"/proc/nonexistent/x\"]},"
		"{\"name\": \"b\"},"
		"{\"name\": \"c\", \"command\": [\"/bin/true\"], "
		"\"properties\": [{\"name\": \"WORKING_DIRECTORY\", "
		"\"value\": \"/proc/nonexistent\"}]},"
		"{\"name\": \"d\", \"command\": [\"/bin/sh\", \"-c\", "
		"\"echo > d\"]}]}";
	_cleanup_(suite_closep) struct suite *suite = NULL;
	assert_ok(ctest_suite_parse(&options, list, sizeof(list) - 1, &suite));
	_cleanup_(told_free) struct told told =
		run_watched(suite, NULL, SUITE_ALL);
	assert_string_equal(told.text.s, "3 3 d: absent -> file of 1 byte\n");
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(told.outcomes[i],
				 i < 3 ? OUTCOME_FAIL : OUTCOME_PASS);
}

/* ---- processes, ports, IPC ---- */

#define DAEMON " >/dev/null 2>&1 & echo $! > pid; "

static void test_left_processes(void **state _unused_)
{
	_cleanup_(told_free) struct told told =
		run_commands("true\n"
			     "setsid sleep 1000" DAEMON "true\n"
			     "true\n"
			     "sleep 2000 &\n"
			     "(true &)\n"
			     "sleep 0.01 & wait\n"
			     "kill $(cat pid)\n"
			     "true\n",
			     NULL, SUITE_PROCESS);
	assert_string_equal(told.text.s,
			    "1 1 child[sleep]: absent -> running\n"
			    "3 3 child[sleep]: absent -> running\n");
	/* And no child of ours, dead or alive. */
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* What a left process does to files is of the test that left it. */
static void test_late_files(void **state _unused_)
{
	FOLLOW_OR_SKIP();
	size_t descriptors = count_entries("/proc/self/fd");
	size_t threads = count_entries("/proc/self/task");
	_cleanup_(told_free) struct told told = run_commands(
		"setsid sh -c 'until test -e go; do sleep 0.01; done; echo x > "
		"late; exec sleep 1000' >/dev/null 2>&1 &\n"
		"true\n"
		"echo > go; until test -s late; do sleep 0.01; done\n"
		"true\n",
		"follow", SUITE_FILES);
	assert_string_equal(told.text.s,
			    "2 2 go: absent -> file of 1 byte\n"
			    "0 0 late: absent -> file of 2 bytes\n");
	assert_int_equal(count_entries("/proc/self/fd"), descriptors);
	assert_int_equal(count_entries("/proc/self/task"), threads);
}

/* Listens on a port and stays in the background until "stop" is there. */
static int serve(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, 1))
		return 1;
	pid_t pid = fork();
	if (pid)
		return pid < 0;
	setsid();
	close(0), close(1), close(2);
	while (access("stop", F_OK))
		usleep(10000);
	return 0;
}

static int leave_memory(void)
{
	return shmget(0x706f6c79, 4096, IPC_CREAT | 0600) < 0;
}

static int remove_memory(void)
{
	int id = shmget(0x706f6c79, 0, 0);
	return id < 0 || shmctl(id, IPC_RMID, NULL);
}

static void test_ports_and_memory(void **state _unused_)
{
	char text[4 * sizeof(self) + 64];
	snprintf(text, sizeof(text),
		 "%s serve\ntrue\n%s leave\ntrue\n%s remove\ntrue\n", self,
		 self, self);
	remove_memory();
	_cleanup_(told_free) struct told told =
		run_commands(text, NULL, SUITE_PROCESS);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(told.outcomes[i], OUTCOME_PASS);
	assert_non_null(strstr(told.text.s, "0 0 port[tcp 127.0.0.1:"));
	assert_non_null(strstr(told.text.s, "0 0 child["));
	assert_non_null(strstr(told.text.s, "2 2 shared-memory["));
	assert_non_null(strstr(told.text.s, "4 4 shared-memory["));
	assert_null(strstr(told.text.s, "\n1 1 "));
	assert_null(strstr(told.text.s, "\n3 3 "));
	assert_null(strstr(told.text.s, "\n5 5 "));
}

/* Objects of other processes come and go, too. */
static void test_shared_objects(void **state _unused_)
{
	FOLLOW_OR_SKIP();
	empty_folder();
	char mine[64], other[64], text[1024], expected[512];
	snprintf(mine, sizeof(mine), "polygraph-mine-%d", getpid());
	snprintf(other, sizeof(other), "polygraph-other-%d", getpid());
	assert_int_equal(mkfifo("ask", 0600), 0);
	pid_t pid = fork();
	if (!pid) {
		FILE *ask = fopen("ask", "re");
		char path[128];
		snprintf(path, sizeof(path), "/dev/shm/%s", other);
		FILE *file = ask ? fopen(path, "we") : NULL;
		_exit(!file || fclose(file));
	}
	snprintf(text, sizeof(text),
		 "echo > ask; until test -e /dev/shm/%s; do sleep 0.01; done\n"
		 "echo > /dev/shm/%s; echo > /dev/shm/sem.%s\n"
		 "rm /dev/shm/%s /dev/shm/sem.%s\n",
		 other, mine, mine, mine, mine);
	_cleanup_(suite_closep) struct suite *suite = open_commands(text, 1);
	_cleanup_(told_free) struct told told =
		run_watched(suite, NULL, SUITE_ALL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(text, sizeof(text), "/dev/shm/%s", other);
	assert_int_equal(unlink(text), 0);
	snprintf(expected, sizeof(expected),
		 "1 1 shared-memory[/%s]: absent -> 1 bytes\n"
		 "1 1 semaphore[/%s]: absent -> present\n"
		 "2 2 shared-memory[/%s]: 1 bytes -> absent\n"
		 "2 2 semaphore[/%s]: present -> absent\n",
		 mine, mine, mine, mine);
	assert_string_equal(told.text.s, expected);
}

/* ---- fixtures ---- */

#define CTEST(name, command, properties)                                       \
	"{\"name\": \"" name "\", \"command\": [\"/bin/sh\", \"-c\", "         \
	"\"" command "\"], \"properties\": [" properties "]}"
#define FIXTURE(kind) "{\"name\": \"FIXTURES_" kind "\", \"value\": [\"db\"]}"

static void check_fixtures(const char *method)
{
	/* clang-format off */
	static const char list[] = "{\"tests\": ["
		CTEST("setup",
		      "mkdir db; echo 1 > db/a; echo 1 > b; "
		      "sleep 1000 > /dev/null 2>&1 & echo $! > pid",
		      FIXTURE("SETUP")) ","
		CTEST("user", "kill -0 $(cat pid) && echo > db/user",
		      FIXTURE("REQUIRED")) ","
		CTEST("clean",
		      "kill $(cat pid); rm -r db pid; echo 2 > b; echo > mine",
		      FIXTURE("CLEANUP")) ","
		CTEST("after", "true", "") "]}";
	/* clang-format on */
	empty_folder();
	struct suite_options options = { .kind = &ctest_suite_kind,
					 .source = "b",
					 .jobs = 1 };
	_cleanup_(suite_closep) struct suite *suite = NULL;
	assert_ok(ctest_suite_parse(&options, list, sizeof(list) - 1, &suite));
	_cleanup_(told_free) struct told told =
		run_watched(suite, method, SUITE_ALL);
	assert_string_equal(told.text.s,
			    "1 1 db/user: absent -> file of 1 byte\n"
			    "2 2 mine: absent -> file of 1 byte\n");
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(told.outcomes[i], OUTCOME_PASS);
}

static void test_fixtures(void **state _unused_)
{
	check_fixtures(NULL);
	check_fixtures("walk");
}

/* ---- readers ---- */

static void test_readers(void **state _unused_)
{
	FOLLOW_OR_SKIP();
	empty_folder();
	_cleanup_(suite_closep) struct suite *suite =
		open_commands("echo a > one; echo a > two\n"
			      "cat one\n"
			      "true\n"
			      "test -e one\n"
			      "sh -c 'cat two' & wait\n"
			      "echo b > two; cat two\n"
			      "ls in\n",
			      4);
	static const struct suite_place places[] = {
		{ .where = CHANGE_FILE, .root = "one" },
		{ .where = CHANGE_FILE, .root = "two" },
		{ .where = CHANGE_FILE, .root = "three" },
	};
	static const size_t order[] = { 0, 1, 2, 3, 4, 5, 6 };
	_cleanup_(told_free) struct told told = {};
	struct suite_observer observer = observer_of(&told);
	assert_ok(suite_run_places(suite, order, ARRAY_SIZE(order), places,
				   ARRAY_SIZE(places), &observer));
	assert_int_equal(told.finished, ARRAY_SIZE(order));
	assert_string_equal(told.text.s, "1 reads 0\n3 reads 0\n4 reads 1\n");
}

/* ---- */

static void test_memory_only(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite = open_commands("true", 1);
	struct suite_watch watch = watch_of(NULL, SUITE_MEMORY);
	assert_err(suite_watch(suite, &watch), ERR_USAGE, "memory");
	assert_int_equal(suite_places_max(suite), 0);
}

static int setup(void **state _unused_)
{
	umask(022);
	return mkdtemp(folder) && mkdtemp(elsewhere) ? chdir(folder) : -1;
}

static int teardown(void **state _unused_)
{
	char command[512];
	snprintf(command, sizeof(command), "rm -rf %s %s", folder, elsewhere);
	return chdir("/") || system(command);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "serve"))
		return serve();
	if (argc > 1 && !strcmp(argv[1], "leave"))
		return leave_memory();
	if (argc > 1 && !strcmp(argv[1], "remove"))
		return remove_memory();
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_followed_files),
		cmocka_unit_test(test_walked_files),
		cmocka_unit_test(test_far_files),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_not_started),
		cmocka_unit_test(test_left_processes),
		cmocka_unit_test(test_late_files),
		cmocka_unit_test(test_ports_and_memory),
		cmocka_unit_test(test_shared_objects),
		cmocka_unit_test(test_fixtures),
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_memory_only),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
