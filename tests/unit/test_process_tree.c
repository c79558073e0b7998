/* Trees of orders of processes: what each leaves is put back where orders part. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "process/kinds.h"
#include "process/process.h"
#include "suite/kind.h"

/* The working directory of all tests, and where folders are copied to. */
static char folder[] = "/tmp/polygraph-tree-XXXXXX";
static char elsewhere[] = "/tmp/polygraph-tree-XXXXXX";

#define NODES_MAX 64
#define ROOT SUITE_TREE_ROOT

struct told {
	size_t n;
	enum outcome outcomes[NODES_MAX]; /* by node */
	bool told[NODES_MAX];
	size_t began, interrupt_at;
	struct str limits;
};

static void on_started(void *data, size_t test _unused_)
{
	struct told *told = data;
	if (++told->began == told->interrupt_at)
		suite_interrupt();
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct told *told = data;
	assert_true(result->entry < NODES_MAX);
	assert_false(told->told[result->entry]);
	told->told[result->entry] = true;
	told->outcomes[result->entry] = result->outcome;
	told->n++;
}

static void on_limit(void *data, const char *text)
{
	struct told *told = data;
	assert_ok(str_appendf(&told->limits, "%s\n", text));
}

static struct suite_observer observer_of(struct told *told)
{
	return (struct suite_observer){
		.started = on_started,
		.finished = on_finished,
		.limit = on_limit,
		.data = told,
	};
}

static void shell(const char *fmt, ...) _printf_(1, 2);
static void shell(const char *fmt, ...)
{
	char command[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static struct suite *open_list(const char *const *commands, size_t n,
			       unsigned jobs, bool restores)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/commands", elsewhere);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%s\n", commands[i]);
	fclose(file);
	struct suite_options options = {
		.kind = &commands_suite_kind,
		.source = path,
		.jobs = jobs,
		.restores = restores,
		.timeout_ns = NS_PER_S * 60,
	};
	struct suite *suite = NULL;
	assert_ok(suite_open(&options, &suite));
	assert_int_equal(suite_count(suite), n);
	return suite;
}

static struct suite *open_commands(const char *const *commands, size_t n,
				   unsigned jobs)
{
	return open_list(commands, n, jobs, false);
}

static struct suite *open_restored(const char *const *commands, size_t n)
{
	return open_list(commands, n, 1, true);
}

/* Everything in the folder, with modes and times. */
static char *state_of(const char *path)
{
	char command[1024], *text = NULL;
	size_t n;
	snprintf(command, sizeof(command),
		 "cd %s && find . -printf '%%p %%m %%y %%l %%T@\\n' | sort "
		 ">%s/state && find . -type f | sort | xargs -r cat "
		 ">>%s/state",
		 path, elsewhere, elsewhere);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s/state", elsewhere);
	assert_ok(file_read(command, 1 << 20, &text, &n));
	return text;
}

static void fill_folder(void)
{
	shell("rm -rf %s/* && echo one >log && mkdir kept && "
	      "echo same >kept/file && chmod 600 kept/file",
	      folder);
}

/* ---- the same as from a fresh copy ---- */

static const char *const commands[] = {
	"echo x >a",
	"test ! -e a",
	"echo more >>log; test $(wc -l <log) -lt 4",
	"test -e a && echo z >b",
	"rm -f a b",
	"test ! -e b",
	"mkdir -p d && echo 1 >d/f$(ls d | wc -l)",
	"test ! -e d/f1",
	"echo died >crash; kill -SEGV $$",
	"test ! -e crash",
	"rm -rf kept; test -e a",
	"grep -q same kept/file && ln -sf kept/file link",
	"test ! -L link",
};

static const char *const kept[] = { "a",     "b",    "log", "d",
				    "crash", "kept", "link" };

/* How the last test of the path to @node goes where nothing else ever was. */
static bool passes_fresh(const struct suite_node *nodes, size_t node)
{
	size_t path[NODES_MAX], n = 0;
	for (size_t at = node; at != ROOT; at = nodes[at].parent)
		path[n++] = nodes[at].test;
	shell("rm -rf %s/copy && cp -a %s/start %s/copy", elsewhere, elsewhere,
	      elsewhere);
	int status = 0;
	while (n--) {
		char command[512];
		snprintf(command, sizeof(command),
			 "cd %s/copy && { %s; } >/dev/null 2>&1", elsewhere,
			 commands[path[n]]);
		status = system(command);
	}
	return status == 0;
}

static uint64_t seed;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % n;
}

static void random_tree(struct suite *suite, unsigned flags)
{
	struct suite_node nodes[24];
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		nodes[i] = (struct suite_node){
			.parent = i && pick(4) ? pick((unsigned)i) : ROOT,
			.test = pick(ARRAY_SIZE(commands)),
		};
	struct told told = {};
	const struct suite_observer observer = observer_of(&told);
	assert_ok(suite_run_tree(suite, nodes, ARRAY_SIZE(nodes), flags,
				 &observer));
	assert_int_equal(told.n, ARRAY_SIZE(nodes));
	assert_null(told.limits.s);
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		bool good = passes_fresh(nodes, i);
		if (good != (told.outcomes[i] == OUTCOME_PASS))
			print_error("node %zu, test %zu: %d\n", i,
				    nodes[i].test, told.outcomes[i]);
		assert_int_equal(good, told.outcomes[i] == OUTCOME_PASS);
	}
}

static void test_as_fresh(void **state _unused_)
{
	fill_folder();
	shell("rm -rf %s/start && cp -a %s %s/start", elsewhere, folder,
	      elsewhere);
	_cleanup_(freep) char *before = state_of(folder);
	struct suite *suite = open_commands(commands, ARRAY_SIZE(commands), 2);
	assert_ok(suite_keep_files(suite, kept, ARRAY_SIZE(kept)));
	for (unsigned i = 0; i < 6; i++) {
		seed = i + 1;
		random_tree(suite, i % 2 ? SUITE_SERIAL : 0);
		/* The folder's own time apart, all is as it was. */
		_cleanup_(freep) char *after = state_of(folder);
		assert_string_equal(strchr(before, '\n'), strchr(after, '\n'));
	}
	suite_close(suite);
}

/* ---- how often ---- */

static void test_once(void **state _unused_)
{
	const char *const list[] = {
		"echo x >a",
		"test -e a",
		"echo x >b",
		"echo x >not-kept",
	};
	const char *const files[] = { "a", "b" };
	/* 0 → 2 → {1, 1, 2 → {1, 1}}, and 1 alone. */
	const struct suite_node nodes[] = {
		{ ROOT, 0 }, { 0, 2 }, { 1, 1 }, { 1, 1 },
		{ 1, 2 },    { 4, 1 }, { 4, 1 }, { ROOT, 1 },
	};
	fill_folder();
	struct err *unfollowed = process_try_follow();
	bool follows = !unfollowed;
	err_destroy(unfollowed);
	struct suite *suite = open_commands(list, ARRAY_SIZE(list), 1);
	assert_ok(suite_keep_files(suite, files, ARRAY_SIZE(files)));
	struct told told = {};
	const struct suite_observer observer = observer_of(&told);
	assert_ok(
		suite_run_tree(suite, nodes, ARRAY_SIZE(nodes), 0, &observer));
	assert_int_equal(told.n, ARRAY_SIZE(nodes));
	assert_int_equal(told.began, ARRAY_SIZE(nodes));
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(told.outcomes[i], OUTCOME_PASS);
	assert_int_equal(told.outcomes[7], OUTCOME_FAIL);
	if (follows)
		assert_int_equal(suite_executions(suite), ARRAY_SIZE(nodes));
	assert_int_not_equal(access("a", F_OK), 0);

	/*
	 * What was not known to be touched is kept when it is. Where that
	 * cannot be seen, it is run again.
	 */
	const struct suite_node other[] = {
		{ ROOT, 3 },
		{ 0, 1 },
		{ 0, 1 },
	};
	uint64_t begun = suite_executions(suite);
	told = (struct told){};
	assert_ok(
		suite_run_tree(suite, other, ARRAY_SIZE(other), 0, &observer));
	assert_int_equal(told.n, ARRAY_SIZE(other));
	assert_int_equal(told.began, ARRAY_SIZE(other));
	assert_int_equal(suite_executions(suite) - begun, follows ? 3 : 5);
	assert_int_equal(access("not-kept", F_OK), follows ? -1 : 0);
	suite_close(suite);
}

/* Processes end with the order that they belong to, and are there in it. */
static void test_processes(void **state _unused_)
{
	const char *const list[] = {
		/* It says itself that it is in a group of its own by now. */
		"setsid sh -c 'echo $$ >pid; exec sleep 100' >/dev/null 2>&1 & "
		"while ! test -s pid; do sleep 0.01; done",
		"kill -0 $(cat pid)",
	};
	const char *const files[] = { "pid" };
	const struct suite_node nodes[] = {
		{ ROOT, 0 },
		{ 0, 1 },
		{ 0, 1 },
		{ ROOT, 1 },
	};
	fill_folder();
	struct suite *suite = open_commands(list, ARRAY_SIZE(list), 1);
	assert_ok(suite_keep_files(suite, files, ARRAY_SIZE(files)));
	struct told told = {};
	const struct suite_observer observer = observer_of(&told);
	assert_ok(
		suite_run_tree(suite, nodes, ARRAY_SIZE(nodes), 0, &observer));
	assert_int_equal(told.outcomes[1], OUTCOME_PASS);
	assert_int_equal(told.outcomes[2], OUTCOME_PASS);
	assert_int_equal(told.outcomes[3], OUTCOME_FAIL);
	suite_close(suite);
}

/* System V objects that tests left go; those of others stay. POSIX ones are files. */
static void test_objects(void **state _unused_)
{
	const char *const list[] = {
		"ipcmk -M 4096 >id",
		"test -e id && ipcs -m -i $(tr -dc 0-9 <id) | grep -q shmid=",
		"echo x >/dev/shm/polygraph-tree-test",
		"test -e /dev/shm/polygraph-tree-test",
	};
	const char *const files[] = { "id", "/dev/shm/polygraph-tree-test" };
	const struct suite_node nodes[] = {
		{ ROOT, 0 }, { 0, 1 }, { 0, 1 }, { ROOT, 1 },
		{ ROOT, 2 }, { 4, 3 }, { 4, 3 }, { ROOT, 3 },
	};
	if (system("ipcmk --help >/dev/null 2>&1") != 0)
		skip();
	fill_folder();
	int own = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	assert_true(own >= 0);
	struct suite *suite = open_commands(list, ARRAY_SIZE(list), 1);
	assert_ok(suite_keep_files(suite, files, ARRAY_SIZE(files)));
	struct told told = {};
	const struct suite_observer observer = observer_of(&told);
	assert_ok(
		suite_run_tree(suite, nodes, ARRAY_SIZE(nodes), 0, &observer));
	static const enum outcome expected[] = {
		OUTCOME_PASS, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_FAIL,
		OUTCOME_PASS, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_FAIL,
	};
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		assert_int_equal(told.outcomes[i], expected[i]);
	assert_int_not_equal(access("/dev/shm/polygraph-tree-test", F_OK), 0);
	struct shmid_ds ds;
	assert_int_equal(shmctl(own, IPC_STAT, &ds), 0);
	assert_int_equal(shmctl(own, IPC_RMID, NULL), 0);
	suite_close(suite);
}

static void test_interrupted(void **state _unused_)
{
	const struct suite_node nodes[] = {
		{ ROOT, 0 }, { 0, 2 }, { 1, 6 }, { 1, 8 }, { 0, 10 },
	};
	fill_folder();
	_cleanup_(freep) char *before = state_of(folder);
	for (size_t i = 1; i <= ARRAY_SIZE(nodes); i++) {
		struct suite *suite =
			open_commands(commands, ARRAY_SIZE(commands), 1);
		assert_ok(suite_keep_files(suite, kept, ARRAY_SIZE(kept)));
		struct told told = { .interrupt_at = i };
		const struct suite_observer observer = observer_of(&told);
		assert_err(suite_run_tree(suite, nodes, ARRAY_SIZE(nodes), 0,
					  &observer),
			   ERR_INTERRUPTED, "interrupted");
		interrupted = 0;
		assert_true(told.began <= i);
		_cleanup_(freep) char *after = state_of(folder);
		assert_string_equal(strchr(before, '\n'), strchr(after, '\n'));
		suite_close(suite);
	}
}

/*
 * What a watched run changed is put back after it: orders begin where that one
 * did.
 */
static void test_saved(void **state _unused_)
{
	const char *const list[] = {
		"echo more >>log; echo x >a; mkdir d; echo x >d/new",
		"rm kept/file; rmdir kept; mkdir kept; echo y >kept/other",
		"mv log moved; ln -s log link; chmod 400 moved; echo z >b",
		"echo mine >stays",
	};
	const size_t order[] = { 0, 1, 2, 3 };
	static const char *const none[] = { NULL };
	const struct suite_watch watch = {
		.what = SUITE_FILES | SUITE_PROCESS,
		.to = SUITE_AFTER_TEARDOWN,
		.dirs = none,
		.own_files = none,
		.file_method = "follow",
		.paths = 3,
	};
	struct err *unfollowed = process_try_follow();
	if (unfollowed) {
		err_destroy(unfollowed);
		skip();
	}
	fill_folder();
	shell("touch -d @5 kept"); /* times of folders are nobody's */
	_cleanup_(freep) char *before = state_of(folder);
	struct suite *suite = open_restored(list, ARRAY_SIZE(list));
	struct told told = {};
	const struct suite_observer observer = observer_of(&told);
	assert_ok(suite_watch(suite, &watch));
	assert_ok(suite_run(suite, order, ARRAY_SIZE(order), 0, &observer));
	assert_int_equal(told.n, ARRAY_SIZE(order));
	for (size_t i = 0; i < told.n; i++)
		assert_int_equal(told.outcomes[i], OUTCOME_PASS);
	assert_ok(suite_watch(suite, NULL));
	assert_null(suite_unrestored(suite, 0));
	shell("touch -d @5 kept");
	_cleanup_(freep) char *after = state_of(folder);
	assert_string_equal(strchr(before, '\n'), strchr(after, '\n'));
	suite_close(suite);
}

/* What a run changed is put back when it ends. */
static void test_close(void **state _unused_)
{
	const size_t order[] = { 0, 2 };
	fill_folder();
	_cleanup_(freep) char *before = state_of(folder);
	struct suite *suite = open_commands(commands, ARRAY_SIZE(commands), 1);
	assert_ok(suite_keep_files(suite, kept, ARRAY_SIZE(kept)));
	struct told told = {};
	const struct suite_observer observer = observer_of(&told);
	assert_ok(suite_run(suite, order, ARRAY_SIZE(order), 0, &observer));
	assert_int_equal(access("a", F_OK), -1);
	_cleanup_(freep) char *after = state_of(folder);
	assert_string_equal(strchr(before, '\n'), strchr(after, '\n'));
	suite_close(suite);
}

/* One at a time, in the order given, whatever the jobs. */
static void test_serial(void **state _unused_)
{
	const char *const list[] = {
		"sleep 0.2; echo 0 >>order",
		"sleep 0.1; echo 1 >>order",
		"echo 2 >>order",
	};
	const size_t order[] = { 1, 0, 2, 0 };
	fill_folder();
	struct suite *suite = open_commands(list, ARRAY_SIZE(list), 4);
	struct told told = {};
	const struct suite_observer observer = observer_of(&told);
	assert_ok(suite_run(suite, order, ARRAY_SIZE(order), SUITE_SERIAL,
			    &observer));
	_cleanup_(freep) char *text = NULL;
	assert_ok(file_read("order", 100, &text, NULL));
	assert_string_equal(text, "1\n0\n2\n0\n");
	suite_close(suite);
}

/* ---- roots ---- */

struct judged {
	size_t calls;
	enum outcome none, all;
	struct str turning; /* roots that turn the outcome by themselves */
	struct str roots;
};

static struct err *judge(void *data, const struct change *roots, size_t n,
			 suite_try *try, void *context)
{
	struct judged *judged = data;
	bool put_back[16] = {};
	enum outcome outcome;
	judged->calls++;
	assert_true(n <= ARRAY_SIZE(put_back));
	TRY(try(context, put_back, &judged->none));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(roots[i].where, CHANGE_FILE);
		TRY(str_appendf(&judged->roots, "%s|%s|%s\n", roots[i].root,
				roots[i].paths[0].before,
				roots[i].paths[0].after));
		put_back[i] = true;
		TRY(try(context, put_back, &outcome));
		put_back[i] = false;
		if (outcome != judged->none)
			TRY(str_appendf(&judged->turning, "%s\n",
					roots[i].root));
	}
	memset(put_back, true, sizeof(put_back));
	return try(context, put_back, &judged->all);
}

static void test_roots(void **state _unused_)
{
	const char *const list[] = {
		"echo x >a; echo y >>log; mkdir d; rm -rf kept",
		"test ! -d d; r=$?; rm -rf d a; exit $r",
	};
	const size_t prefix[] = { 0 };
	fill_folder();
	_cleanup_(freep) char *before = state_of(folder);
	struct suite *suite = open_commands(list, ARRAY_SIZE(list), 1);
	assert_ok(suite_keep_files(suite, kept, ARRAY_SIZE(kept)));
	struct told told = {};
	const struct suite_observer observer = observer_of(&told);
	struct judged judged = {};
	assert_ok(suite_try_roots(suite, NULL, prefix, 1, 1, judge, &judged,
				  &observer));
	assert_int_equal(judged.calls, 1);
	assert_int_equal(judged.none, OUTCOME_FAIL);
	assert_int_equal(judged.all, OUTCOME_PASS);
	assert_string_equal(judged.turning.s, "d\n");
	assert_string_equal(
		judged.roots.s,
		"a|absent|2 bytes: \"x\\n\"\n"
		"d|absent|folder of 0\n"
		"kept|folder of 1|absent\n"
		"log|4 bytes: \"one\\n\"|6 bytes: \"one\\ny\\n\"\n");
	_cleanup_(freep) char *after = state_of(folder);
	assert_string_equal(strchr(before, '\n'), strchr(after, '\n'));
	/* Control, four roots, all; and the prefix once. */
	assert_int_equal(suite_executions(suite), 7);
	str_free(&judged.turning);
	str_free(&judged.roots);
	suite_close(suite);
}

static int leave(void **state _unused_)
{
	assert_int_equal(chdir("/"), 0);
	shell("rm -rf %s %s", folder, elsewhere);
	return 0;
}

int main(void)
{
	umask(022);
	if (!mkdtemp(folder) || !mkdtemp(elsewhere) || chdir(folder) < 0)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_fresh),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_serial),
		cmocka_unit_test(test_roots),
	};
	return cmocka_run_group_tests(tests, NULL, leave);
}
