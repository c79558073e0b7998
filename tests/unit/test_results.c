/* Results: what is kept of a suite, and for how long it holds. */
#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "finding/dependence.h"
#include "finding/leftover.h"
#include "results/digest.h"
#include "results/results.h"
#include "store/store.h"
#include "suite/kind.h"

static char top[64];
static int before = -1; /* the working directory */
static struct suite *suite;
static struct suite_options options;
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

static struct results_source source;

/* Of the test "B" nothing can be said. */
static struct err *describe_finding(void *data _unused_,
				    const struct finding *finding,
				    const char *files_digest, char **ret)
{
	if (!strcmp(finding_test(finding), "B"))
		return err_create(ERR_INTERNAL, "cannot be said");
	return asprintf(ret, "%s in %s", finding->id, files_digest) < 0
		       ? err_nomem()
		       : NULL;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/polygraph-unit-XXXXXX");
	assert_non_null(mkdtemp(top));
	before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(before >= 0);
	assert_int_equal(chdir(top), 0);
	write_file("program", "one");
	make_suite(names);
	options = (struct suite_options){
		.argv = command,
		.timeout_ns = 1,
		.jobs = 1,
	};
	source = (struct results_source){
		.suite = suite,
		.options = &options,
		.name = "./program --level 3",
		.describe = describe_finding,
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
	source = (struct results_source){};
	options = (struct suite_options){};
	assert_int_equal(fchdir(before), 0);
	close(before);
	before = -1;
	int status = nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	memset(top, 0, sizeof(top));
	return status;
}

static struct roster_test roster_tests[] = {
	{ .name = "A" },
	{ .name = "B" },
	{ .name = "C\xff" },
};
static const struct roster roster = { roster_tests, ARRAY_SIZE(roster_tests) };

static struct finding made_finding(char *id, size_t test)
{
	static struct change_path path = { .path = "x",
					   .before = "1",
					   .after = "2" };
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
	source.suite = suite;
	source.matters = matters;
	assert_ok(results_open(&source, &results));
	return results;
}

/* ---- facts ---- */

static void put(const char *matters, const char *key, const char *value)
{
	_cleanup_(results_closep) struct results *results = opened(matters);
	results_put_fact(results, key, value, strlen(value));
}

static bool known(const char *matters, const char *key)
{
	_cleanup_(results_closep) struct results *results = opened(matters);
	_cleanup_(freep) void *value = NULL;
	size_t n;
	return results_get_fact(results, key, &value, &n);
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
	results_forget_facts(results);
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
	options.timeout_ns = 2;
	assert_false(known(NULL, "k"));
	put(NULL, "k", "1");
	assert_true(known(NULL, "k"));
	/* Another command line is another suite: both are kept. */
	source.name = "./program";
	assert_false(known(NULL, "k"));
	source.name = "./program --level 3";
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
	results_forget_facts(results);
	results_put(results, "pollution", &finding, 1);
	log_level_set(LOG_LEVEL_WARN);
}

/* ---- findings ---- */

static void get_kept(const char *id, struct store_finding *ret)
{
	struct store *store = NULL;
	assert_ok(store_open(RESULTS_FOLDER, &store));
	assert_ok(store_get_finding(store, id, ret));
	store_close(store);
}

static void test_findings(void **state)
{
	(void)state;
	struct dependence victim = {};
	/* A report of `check` has findings of more than one detector. */
	const struct finding all[] = {
		made_finding("pollution-1", 0),
		made_finding("pollution-2", 1),
		{ .id = "order-0123",
		  .kind = &dependence_kind,
		  .tests = &roster,
		  .severity = FINDING_HIGH,
		  .message = "A fails after C",
		  .evidence = &victim },
	};
	struct results *results = opened(NULL);
	results_put(results, "order", all, 2);
	assert_int_equal(access(RESULTS_FOLDER, F_OK), -1);
	results_put(results, "pollution", all, 3);
	results_put(results, "order", all, 3);
	results_close(results);

	struct store_finding kept = {};
	char digest[DIGEST_SIZE], text[64];
	assert_ok(digest_files(&options, digest));
	snprintf(text, sizeof(text), "order-0123 in %s", digest);
	get_kept("order-0123", &kept);
	assert_string_equal(kept.command, "order");
	assert_string_equal(kept.suite, "./program --level 3");
	assert_non_null(strstr(kept.json, "\"message\": \"A fails after C\""));
	assert_string_equal(kept.replay, text);
	store_finding_free(&kept);
	get_kept("pollution-1", &kept);
	assert_string_equal(kept.command, "pollution");
	store_finding_free(&kept);
	/* What cannot be reproduced is kept all the same. */
	get_kept("pollution-2", &kept);
	assert_null(kept.replay);
	store_finding_free(&kept);
}

static void test_look(void **state)
{
	(void)state;
	const struct finding finding = made_finding("pollution-1", 0);
	struct results_look look = { .id = "pollution-2" };
	source.look = &look;
	struct results *results = opened(NULL);
	results_put(results, "pollution", &finding, 1);
	assert_false(look.found);
	look.id = "pollution-1";
	results_put(results, "pollution", &finding, 1);
	results_put(results, "pollution", NULL, 0);
	assert_true(look.found);
	/* And nothing was kept. */
	results_put_fact(results, "k", "1", 1);
	results_close(results);
	assert_int_equal(access(RESULTS_FOLDER, F_OK), -1);
}

/* ---- digests ---- */

static void files_digest(char ret[DIGEST_SIZE])
{
	assert_ok(digest_files(&options, ret));
	assert_int_equal(strlen(ret), DIGEST_SIZE - 1);
}

#define assert_same(a, b) assert_string_equal(a, b)
#define assert_other(a, b) assert_string_not_equal(a, b)

static void test_digest_library(void **state)
{
	(void)state;
	char one[DIGEST_SIZE], two[DIGEST_SIZE];
	static char *self[] = { "/proc/self/exe", NULL };
	options.argv = self;
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
	options.argv = none;
	files_digest(one);
	options.argv = command;
	files_digest(two);
	assert_other(one, two);
}

static void test_digest_processes(void **state)
{
	(void)state;
	char one[DIGEST_SIZE], two[DIGEST_SIZE];
	options.argv = NULL;
	static const struct suite_kind folder = {
		.list_file = "CTestTestfile.cmake",
	};
	static const struct suite_kind file;
	options.kind = &folder;
	options.source = "build";
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

	options.kind = &file;
	options.source = "list";
	write_file("list", "# ignored.sh\nsh check.sh out.txt\n\n"
			   "'./program' --fast\n");
	write_file("ignored.sh", "a");
	write_file("check.sh", "true");
	files_digest(one);
	write_file("out.txt", "what a test leaves");
	write_file("ignored.sh", "b");
	files_digest(two);
	assert_same(one, two);
	write_file("check.sh", "false");
	files_digest(two);
	assert_other(one, two);
	write_file("program", "two");
	files_digest(one);
	assert_other(one, two);
	/* A list that came through a pipe is not waited for. */
	assert_int_equal(mkfifo("pipe", 0600), 0);
	options.source = "pipe";
	files_digest(one);
	files_digest(two);
	assert_same(one, two);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_memory),
		TEST(test_memory_of_state),
		TEST(test_memory_lost),
		TEST(test_findings),
		TEST(test_look),
		TEST(test_digest_library),
		TEST(test_digest_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
