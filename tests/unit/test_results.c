/* Results of the commands: what is kept of a suite, and for how long it holds. */
#include "unit.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/results.h"
#include "results/digest.h"
#include "store/store.h"
#include "suite/kind.h"

static char top[64];
static struct suite *suite;
static struct options *options;
static struct common_suite choice;
static char *command[] = { "./program", "--level", "3", NULL };

static struct err *no_run(struct suite *s _unused_,
			  const size_t *order _unused_, size_t n _unused_,
			  unsigned flags _unused_,
			  const struct suite_observer *observer _unused_)
{
	return err_create(ERR_SUITE, "it is made of paper");
}

static void close_suite(struct suite *s)
{
	suite_free_tests(s);
	free(s);
}

static const struct suite_ops ops = { .run = no_run, .close = close_suite };

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void make_suite(const char *const *names)
{
	suite_close(suite);
	suite = calloc(1, sizeof(*suite));
	assert_non_null(suite);
	suite->ops = &ops;
	suite->framework = "paper";
	for (size_t i = 0; names[i]; i++)
		assert_ok(suite_add_test(suite, names[i], NULL, 0, false));
}

static const char *const names[] = { "A", "B", "C\xff", NULL };

static int set_up(void **state)
{
	(void)state;
	static const struct option_group *const groups[] = {
		&common_suite_group, NULL
	};
	static const struct common_options none = COMMON_DEFAULTS;
	static char *given[] = { "--timeout=1.5s", "--framework=gtest",
				 "--tests=A*" };
	int used = 0;
	strcpy(top, "/tmp/polygraph-unit-XXXXXX");
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	write_file("program", "one");
	make_suite(names);
	assert_ok(options_create(groups, &none, sizeof(none), &options));
	assert_ok(options_parse(options, 3, given, &used));
	assert_int_equal(used, 3);
	choice = (struct common_suite){
		.options = { .argv = command, .timeout_ns = 1, .jobs = 1 },
		.command = command,
	};
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	suite_close(suite);
	suite = NULL;
	options_destroy(options);
	assert_int_equal(chdir("/"), 0);
	return nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The suite's tests, and one that it does not have. */
static struct roster_test roster_tests[] = {
	{ .name = "A" },
	{ .name = "B" },
	{ .name = "C\xff" },
	{ .name = "A[*]" },
};
static const struct roster roster = { roster_tests, ARRAY_SIZE(roster_tests) };

static struct finding made_finding(char *id, size_t test)
{
	static struct change_path path = { .path = "x" };
	static struct leftover leftover = {
		.change = { .root = "x", .paths = &path, .n = 1 },
	};
	return (struct finding){ .id = id,
				 .kind = &leftover_kind,
				 .tests = &roster,
				 .test = test,
				 .evidence = &leftover };
}

static struct results *opened(const char *matters)
{
	struct results *results = NULL;
	assert_ok(results_open(options, &choice, suite, matters, &results));
	return results;
}

/* ---- facts ---- */

static void put(const char *matters, const char *key, const char *value)
{
	_cleanup_(results_closep) struct results *results = opened(matters);
	const struct order_memory *memory = results_memory(results);
	memory->put(memory->data, key, value, strlen(value));
}

static bool known(const char *matters, const char *key)
{
	_cleanup_(results_closep) struct results *results = opened(matters);
	const struct order_memory *memory = results_memory(results);
	_cleanup_(freep) void *value = NULL;
	size_t n;
	return memory->get(memory->data, key, &value, &n);
}

static void test_memory(void **state)
{
	(void)state;
	assert_false(known(NULL, "k"));
	assert_int_equal(access(RESULTS_FOLDER, F_OK), -1);
	put(NULL, "k", "1");
	assert_int_equal(access(RESULTS_FOLDER, F_OK), 0);
	assert_true(known(NULL, "k"));
	assert_false(known(NULL, "l"));
	/* The same bytes, written again: still the same suite. */
	write_file("program", "one");
	assert_true(known(NULL, "k"));
	_cleanup_(results_closep) struct results *results = opened(NULL);
	results_forget(results);
	assert_false(known(NULL, "k"));
}

static void test_memory_of_state(void **state)
{
	(void)state;
	put(NULL, "k", "1");
	write_file("program", "two");
	assert_false(known(NULL, "k"));
	put(NULL, "k", "1");
	assert_false(known("any-order", "k"));
	put(NULL, "k", "1");
	static const char *const other[] = { "B", "A", "C\xff", NULL };
	make_suite(other);
	assert_false(known(NULL, "k"));
	make_suite(names);
	put(NULL, "k", "1");
	choice.options.timeout_ns = 2;
	assert_false(known(NULL, "k"));
	put(NULL, "k", "1");
	assert_true(known(NULL, "k"));
	/* Another command line is another suite: both are kept. */
	static char *other_command[] = { "./program", NULL };
	choice.command = choice.options.argv = other_command;
	assert_false(known(NULL, "k"));
	choice.command = choice.options.argv = command;
	assert_true(known(NULL, "k"));
}

static void test_memory_lost(void **state)
{
	(void)state;
	write_file(RESULTS_FOLDER, "in the way");
	log_level_set(LOG_LEVEL_QUIET);
	put(NULL, "k", "1");
	assert_false(known(NULL, "k"));
	_cleanup_(results_closep) struct results *results = opened(NULL);
	const struct finding finding = made_finding("pollution-1", 0);
	results_forget(results);
	results_put(results, "pollution", &finding, 1);
	log_level_set(LOG_LEVEL_WARN);
}

/* ---- findings ---- */

static void test_order(void **state)
{
	(void)state;
	size_t failing[] = { 2, 1, 0 }, passing[] = { 0 };
	struct dependence victim = {
		.failing = { failing, 3, 3 },
		.passing = { passing, 1, 1 },
	};
	const struct finding finding = { .id = "order-0123",
					 .kind = &dependence_kind,
					 .tests = &roster,
					 .test = 0,
					 .severity = FINDING_HIGH,
					 .message = "A fails after C",
					 .evidence = &victim };
	/* A report of `check` has findings of more than one detector. */
	const struct finding all[] = {
		made_finding("pollution-1", 0),
		finding,
	};
	const char *const files[] = { "a.txt", "/tmp/b" };
	struct results *results = opened(NULL);
	results_put_order(results, all, 1, files, 2);
	assert_int_equal(access(RESULTS_FOLDER, F_OK), -1);
	results_put(results, "pollution", all, 2);
	results_put_order(results, all, 2, files, 2);
	results_close(results);

	struct store *store = NULL;
	struct store_finding kept = {};
	_cleanup_(results_order_freep) struct results_order order = {};
	assert_ok(store_open(RESULTS_FOLDER, &store));
	assert_ok(store_get_finding(store, "order-0123", &kept));
	assert_string_equal(kept.command, "order");
	assert_string_equal(kept.suite, "./program --level 3");
	assert_non_null(strstr(kept.json, "\"message\": \"A fails after C\""));
	assert_ok(results_order_parse(kept.replay, &order));
	store_finding_free(&kept);
	assert_ok(store_get_finding(store, "pollution-1", &kept));
	assert_string_equal(kept.command, "pollution");
	store_finding_free(&kept);
	struct store_findings list = {};
	assert_ok(store_list_findings(store, &list));
	assert_int_equal(list.n, 2);
	store_findings_free(&list);
	store_close(store);

	/* What opens the suite again, and not what chose tests of it. */
	static const char *const words[] = { "--framework=gtest",
					     "--timeout=1500000us",
					     "--",
					     "./program",
					     "--level",
					     "3" };
	assert_int_equal(order.suite.n, ARRAY_SIZE(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		assert_string_equal(order.suite.data[i], words[i]);
	assert_null(order.suite.data[order.suite.n]);
	assert_string_equal(order.test, "A");
	assert_int_equal(order.failing.n, 3);
	assert_string_equal(order.failing.data[0], "C\\xff");
	assert_string_equal(order.failing.data[1], "B");
	assert_string_equal(order.failing.data[2], "A");
	assert_int_equal(order.passing.n, 1);
	assert_int_equal(order.files.n, 2);
	assert_string_equal(order.files.data[1], "/tmp/b");
	char digest[DIGEST_SIZE];
	assert_ok(digest_files(&choice.options, suite, digest));
	assert_string_equal(order.files_digest, digest);
}

static void again_words(const char *id, struct results_again *ret)
{
	struct store *store = NULL;
	struct store_finding kept = {};
	assert_ok(store_open(RESULTS_FOLDER, &store));
	assert_ok(store_get_finding(store, id, &kept));
	if (kept.replay)
		assert_ok(results_again_parse(kept.replay, ret));
	store_finding_free(&kept);
	store_close(store);
}

static void test_again(void **state)
{
	(void)state;
	const struct finding findings[] = {
		made_finding("pollution-1", 3),
		made_finding("pollution-2", 2),
	};
	struct results *results = opened(NULL);
	results_put(results, "pollution", findings, 2);
	results_close(results);
	_cleanup_(results_again_freep) struct results_again again = {};
	again_words("pollution-1", &again);
	assert_int_equal(again.alone.n, 8);
	assert_string_equal(again.alone.data[0], "pollution");
	assert_string_equal(again.alone.data[1], "--framework=gtest");
	assert_string_equal(again.alone.data[3], "--tests=A\\[\\*\\]");
	assert_string_equal(again.alone.data[4], "--");
	assert_string_equal(again.alone.data[7], "3");
	assert_string_equal(again.whole.data[3], "--tests=A*");
	/* A name that cannot be said: found, but not to be made again. */
	struct results_again none = {};
	again_words("pollution-2", &none);
	assert_null(none.alone.data);
}

static void test_replaying(void **state)
{
	(void)state;
	const struct finding finding = made_finding("pollution-1", 0);
	_cleanup_(results_closep) struct results *results = opened(NULL);
	results_replay_begin("pollution-2", "");
	results_put(results, "pollution", &finding, 1);
	assert_false(results_replay_end());
	results_replay_begin("pollution-1", "");
	results_put(results, "pollution", &finding, 1);
	results_put(results, "pollution", NULL, 0);
	assert_true(results_replay_end());
	/* And nothing was kept. */
	assert_int_equal(access(RESULTS_FOLDER, F_OK), -1);
	results_put(results, "pollution", &finding, 1);
	assert_int_equal(access(RESULTS_FOLDER "/" STORE_FILE, F_OK), 0);
}

static void test_foreign(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"[]",
		"{",
		"3",
		"null",
		"{\"version\": \"1\"}",
		"{\"version\": 1}",
		"{\"version\": 1, \"suite\": [\"x\"], \"failing\": [\"A\"],"
		" \"passing\": [\"B\"], \"files\": [], \"test\": \"A\"}",
		"{\"version\": 1, \"suite\": [\"x\"], \"failing\": [\"A\"],"
		" \"passing\": [\"A\"], \"files\": [[]], \"test\": \"A\"}",
		"{\"version\": 1, \"suite\": [\"x\\u0000\"], \"failing\":"
		" [\"A\"], \"passing\": [\"A\"], \"files\": [],"
		" \"test\": \"A\"}",
		"{\"version\": 1, \"alone\": [\"x\"], \"whole\": []}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct results_order order = {};
		struct results_again again = {};
		assert_err(results_order_parse(texts[i], &order), ERR_INTERNAL,
			   "cannot be read");
		assert_err(results_again_parse(texts[i], &again), ERR_INTERNAL,
			   "cannot be read");
		assert_null(order.suite.data);
		assert_null(again.alone.data);
	}
}

/* ---- digests ---- */

static void files_digest(char ret[DIGEST_SIZE])
{
	assert_ok(digest_files(&choice.options, suite, ret));
	assert_int_equal(strlen(ret), DIGEST_SIZE - 1);
}

#define assert_same(a, b) assert_string_equal(a, b)
#define assert_other(a, b) assert_string_not_equal(a, b)

static void test_digest_library(void **state)
{
	(void)state;
	char one[DIGEST_SIZE], two[DIGEST_SIZE];
	static char *self[] = { "/proc/self/exe", NULL };
	choice.command = choice.options.argv = self;
	files_digest(one);
	files_digest(two);
	assert_same(one, two);
	/* Of the system's libraries it is not asked what is in them, … */
	setenv("LD_LIBRARY_PATH", "/usr/lib:/nowhere", 1);
	files_digest(two);
	assert_same(one, two);
	/* … but of one that comes before them it is. */
	setenv("LD_LIBRARY_PATH", top, 1);
	write_file("libc.so.6", "mine");
	files_digest(one);
	assert_other(one, two);
	write_file("libc.so.6", "mine, too");
	files_digest(two);
	assert_other(one, two);
	unsetenv("LD_LIBRARY_PATH");
	/* Nothing there, or nothing that is a program. */
	static char *none[] = { "./no-such-file", NULL };
	choice.command = choice.options.argv = none;
	files_digest(one);
	choice.options.argv = command;
	files_digest(two);
	assert_other(one, two);
}

static void test_digest_processes(void **state)
{
	(void)state;
	char one[DIGEST_SIZE], two[DIGEST_SIZE];
	choice.options.argv = NULL;
	static const struct suite_kind folder = {
		.list_file = "CTestTestfile.cmake",
	};
	static const struct suite_kind file;
	choice.options.kind = &folder;
	choice.options.source = "build";
	assert_int_equal(mkdir("build", 0755), 0);
	assert_int_equal(mkdir("build/.git", 0755), 0);
	write_file("build/CTestTestfile.cmake", "add_test()");
	write_file("build/test", "a");
	assert_int_equal(chmod("build/test", 0755), 0);
	files_digest(one);
	write_file("build/output.txt", "what a test leaves");
	write_file("build/.git/hook", "a");
	assert_int_equal(chmod("build/.git/hook", 0755), 0);
	files_digest(two);
	assert_same(one, two);
	write_file("build/test", "longer");
	files_digest(two);
	assert_other(one, two);
	write_file("build/CTestTestfile.cmake", "add_test() add_test()");
	files_digest(one);
	assert_other(one, two);

	choice.options.kind = &file;
	choice.options.source = "list";
	static const char *const lines[] = { "sh check.sh out.txt",
					     "'./program' --fast", NULL };
	make_suite(lines);
	write_file("list", "sh check.sh out.txt\n./program --fast\n");
	write_file("check.sh", "true");
	files_digest(one);
	write_file("out.txt", "what a test leaves");
	files_digest(two);
	assert_same(one, two);
	write_file("check.sh", "false");
	files_digest(two);
	assert_other(one, two);
	write_file("program", "two");
	files_digest(one);
	assert_other(one, two);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_memory),
		TEST(test_memory_of_state),
		TEST(test_memory_lost),
		TEST(test_order),
		TEST(test_again),
		TEST(test_replaying),
		TEST(test_foreign),
		TEST(test_digest_library),
		TEST(test_digest_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
