/* The store: what was put is there again, whatever happens to file and process. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/store.h"

static char top[64];
static char folder[96];

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/polygraph-unit-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(folder, sizeof(folder), "%s/.polygraph", top);
	unsetenv("POLYGRAPH_FAULT_REMOTE");
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
	chmod(folder, 0755);
	int status = nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	memset(top, 0, sizeof(top));
	memset(folder, 0, sizeof(folder));
	return status;
}

static const char *in_folder(const char *name)
{
	static char path[160];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static bool exists(const char *name)
{
	return !access(in_folder(name), F_OK);
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	FILE *file = fopen(in_folder(name), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static struct store *opened(void)
{
	struct store *store = NULL;
	assert_ok(store_open(folder, &store));
	assert_non_null(store);
	return store;
}

static struct store *begun(const char *digest)
{
	struct store *store = opened();
	assert_ok(store_begin(store, "./unit_tests --fast", digest));
	return store;
}

static void put(struct store *store, const char *key, const char *value)
{
	assert_ok(store_put(store, key, value, strlen(value)));
}

/* @value NULL: it must not be known. */
static void has(struct store *store, const char *key, const char *value)
{
	_cleanup_(freep) void *got = NULL;
	size_t n = 0;
	assert_int_equal(store_get(store, key, &got, &n), value != NULL);
	if (!value)
		return;
	assert_int_equal(n, strlen(value));
	assert_memory_equal(got, value, n);
}

/* ---- facts ---- */

static void facts(void)
{
	_cleanup_(store_closep) struct store *store = begun("a");
	has(store, "alone/A", NULL);
	put(store, "alone/A", "pass");
	has(store, "alone/A", "pass");
	put(store, "alone/A", "fail");
	has(store, "alone/A", "fail");
	/* Text of tested programs: quotes, bytes that are no UTF-8. */
	put(store, "it's; DROP TABLE facts; --\xff\x01", "x");
	has(store, "it's; DROP TABLE facts; --\xff\x01", "x");
	put(store, "", "");
	has(store, "", "");
	assert_ok(store_put(store, "bytes", "a\0b", 3));
	void *got = NULL;
	size_t n = 0;
	assert_true(store_get(store, "bytes", &got, &n));
	assert_int_equal(n, 3);
	assert_memory_equal(got, "a\0b", 3);
	free(got);
	assert_ok(store_put(store, "nothing", NULL, 0));
	has(store, "nothing", "");
	store_close(take_ptr(store));

	store = begun("a");
	has(store, "alone/A", "fail");
	has(store, "nothing", "");
	has(store, "alone/a", NULL); /* keys are bytes */
	assert_ok(store_forget(store));
	has(store, "alone/A", NULL);
	put(store, "alone/A", "again");
	has(store, "alone/A", "again");
}

static void test_facts(void **state)
{
	(void)state;
	facts();
}

/* Where another journal is used and facts are gathered. */
static void test_facts_remote(void **state)
{
	(void)state;
	setenv("POLYGRAPH_FAULT_REMOTE", "1", 1);
	facts();
	/* A process that ends without a word loses what it gathered last. */
	pid_t pid = fork();
	if (!pid) {
		struct store *store = begun("a");
		put(store, "first", "1");
		put(store, "second", "2");
		put(store, "second", "3");
		has(store, "second", "3");
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	_cleanup_(store_closep) struct store *store = begun("a");
	has(store, "first", "1");
	has(store, "alone/A", "again");
	/* And a file that the other kind of file system has had is taken. */
	store_close(take_ptr(store));
	unsetenv("POLYGRAPH_FAULT_REMOTE");
	store = begun("a");
	has(store, "first", "1");
	assert_false(exists(STORE_FILE ".old"));
}

static void test_states(void **state)
{
	(void)state;
	_cleanup_(store_closep) struct store *store = begun("a");
	put(store, "k", "1");
	assert_ok(store_begin(store, "./other", "a"));
	has(store, "k", NULL);
	put(store, "k", "2");
	assert_ok(store_begin(store, "./unit_tests --fast", "a"));
	has(store, "k", "1");
	/* The executable was built again: what was known is not true. */
	assert_ok(store_begin(store, "./unit_tests --fast", "b"));
	has(store, "k", NULL);
	assert_ok(store_begin(store, "./unit_tests --fast", "a"));
	has(store, "k", NULL);
	assert_ok(store_begin(store, "./other", "a"));
	has(store, "k", "2");
}

/* One that still runs when the suite was built again must not spoil its facts. */
static void test_outdated(void **state)
{
	(void)state;
	_cleanup_(store_closep) struct store *old = begun("a");
	put(old, "k", "old");
	_cleanup_(store_closep) struct store *new = begun("b");
	put(new, "k", "new");
	put(old, "k", "old");
	put(old, "other", "old");
	has(old, "k", NULL);
	has(new, "k", "new");
	has(new, "other", NULL);
}

static void test_many_suites(void **state)
{
	(void)state;
	_cleanup_(store_closep) struct store *store = opened();
	char name[32];
	for (int i = 0; i < STORE_SUITES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "./suite%d", i);
		assert_ok(store_begin(store, name, "a"));
		put(store, "k", name);
		/* In use all the time: never the oldest. */
		assert_ok(store_begin(store, "./suite0", "a"));
		has(store, "k", "./suite0");
	}
	assert_ok(store_begin(store, name, "a"));
	has(store, "k", name);
	assert_ok(store_begin(store, "./suite1", "a"));
	has(store, "k", NULL);
}

static void test_too_large(void **state)
{
	(void)state;
	_cleanup_(store_closep) struct store *store = begun("a");
	size_t n = STORE_VALUE_MAX / 2;
	_cleanup_(freep) char *value = calloc(1, n + 1);
	assert_non_null(value);
	assert_ok(store_put(store, "large", value, n));
	assert_err(store_put(store, "larger", value, n + 1), ERR_INTERNAL,
		   "too much to keep");
}

/* Puts until there is no more room; how many. */
static int fill(struct store *store)
{
	static char value[10000];
	struct err *err = NULL;
	int i = 0;
	for (; !err && i < 1000; i++) {
		char key[16];
		snprintf(key, sizeof(key), "%d", i);
		err = store_put(store, key, value, sizeof(value));
	}
	assert_non_null(err);
	assert_non_null(strstr(err_message(err), "full"));
	err_destroy(err);
	return i;
}

static void test_full(void **state)
{
	(void)state;
	setenv("POLYGRAPH_FAULT_STORE_BYTES", "1000000", 1);
	_cleanup_(store_closep) struct store *store = begun("a");
	unsetenv("POLYGRAPH_FAULT_STORE_BYTES");
	int n = fill(store);
	assert_in_range(n, 50, 100);
	_cleanup_(freep) void *first = NULL;
	size_t first_n = 0;
	assert_true(store_get(store, "0", &first, &first_n));
	assert_int_equal(first_n, 10000);
	/* Another suite has room for itself, and then it is the same. */
	assert_ok(store_begin(store, "./other", "a"));
	has(store, "0", NULL);
	assert_in_range(fill(store), n / 2, n);
	/* Findings have room in any case. */
	struct store_finding finding = { .id = "order-1", .json = "{}" };
	for (int i = 0; i < 100; i++) {
		char name[16];
		snprintf(name, sizeof(name), "./%d", i);
		assert_ok(
			store_put_findings(store, name, "order", &finding, 1));
	}
	assert_ok(store_get_finding(store, "order-1", &finding));
	store_finding_free(&finding);
	store_close(take_ptr(store));
	struct stat st;
	assert_int_equal(stat(in_folder(STORE_FILE), &st), 0);
	assert_true(st.st_size <= 1000000);
}

/* ---- findings ---- */

static void finding_is(struct store *store, const char *id, const char *command,
		       const char *json, const char *suite)
{
	struct store_finding finding = {};
	assert_ok(store_get_finding(store, id, &finding));
	assert_string_equal(finding.command, command);
	assert_string_equal(finding.json, json);
	assert_string_equal(finding.suite, suite);
	store_finding_free(&finding);
}

static void test_findings(void **state)
{
	(void)state;
	_cleanup_(store_closep) struct store *store = opened();
	const struct store_finding order[] = {
		{ .id = "order-0123", .json = "{1}", .replay = "{r}" },
		{ .id = "order-0145", .json = "{2}" },
	};
	const struct store_finding pollution = { .id = "pollution-01",
						 .json = "{3}" };
	assert_ok(store_put_findings(store, "./a", "order", order, 2));
	assert_ok(store_put_findings(store, "./a", "pollution", &pollution, 1));
	store_close(take_ptr(store));

	store = opened();
	finding_is(store, "order-0123", "order", "{1}", "./a");
	finding_is(store, "order-014", "order", "{2}", "./a");
	finding_is(store, "p", "pollution", "{3}", "./a");
	struct store_finding finding = {};
	assert_err(store_get_finding(store, "order-01", &finding), ERR_USAGE,
		   "more than one");
	assert_err(store_get_finding(store, "order-02", &finding), ERR_USAGE,
		   "no finding 'order-02'");
	assert_err(store_get_finding(store, "", &finding), ERR_USAGE,
		   "no finding");
	assert_err(store_get_finding(store, "order-%", &finding), ERR_USAGE,
		   "no finding");
	assert_null(finding.id);
	assert_ok(store_get_finding(store, "order-0123", &finding));
	assert_string_equal(finding.replay, "{r}");
	store_finding_free(&finding);

	struct store_findings all = {};
	assert_ok(store_list_findings(store, &all));
	assert_int_equal(all.n, 3);
	assert_string_equal(all.data[0].id, "pollution-01");
	assert_string_equal(all.data[1].id, "order-0123");
	assert_string_equal(all.data[2].id, "order-0145");
	assert_null(all.data[2].replay);
	store_findings_free(&all);
}

static void test_findings_replaced(void **state)
{
	(void)state;
	_cleanup_(store_closep) struct store *store = opened();
	const struct store_finding one = { .id = "order-1", .json = "{1}" };
	const struct store_finding two = { .id = "order-2", .json = "{2}" };
	const struct store_finding same = { .id = "order-1", .json = "{3}" };
	struct store_finding finding = {};
	assert_ok(store_put_findings(store, "./a", "order", &one, 1));
	assert_ok(store_put_findings(store, "./b", "order", &same, 1));
	/* The same id in two suites: the latest. */
	finding_is(store, "order-1", "order", "{3}", "./b");
	finding_is(store, "order", "order", "{3}", "./b");
	assert_ok(store_put_findings(store, "./b", "order", &two, 1));
	finding_is(store, "order-1", "order", "{1}", "./a");
	assert_ok(store_put_findings(store, "./a", "order", NULL, 0));
	assert_err(store_get_finding(store, "order-1", &finding), ERR_USAGE,
		   "no finding");
	finding_is(store, "order-2", "order", "{2}", "./b");
	/* Runs of very many suites: the oldest go. */
	for (int i = 0; i < STORE_RUNS_MAX; i++) {
		char name[32];
		snprintf(name, sizeof(name), "./suite%d", i);
		assert_ok(store_put_findings(store, name, "order", &one, 1));
	}
	assert_err(store_get_finding(store, "order-2", &finding), ERR_USAGE,
		   "no finding");
	struct store_findings all = {};
	assert_ok(store_list_findings(store, &all));
	assert_int_equal(all.n, STORE_RUNS_MAX);
	store_findings_free(&all);
}

/* ---- the folder and the file ---- */

static void test_folder(void **state)
{
	(void)state;
	store_close(NULL);
	store_close(opened());
	assert_true(exists(STORE_FILE));
	/* Nothing of it is left beside the file. */
	assert_false(exists(STORE_FILE "-wal"));
	assert_false(exists(STORE_FILE "-journal"));
	FILE *file = fopen(in_folder(".gitignore"), "r");
	assert_non_null(file);
	char line[8] = "";
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	assert_string_equal(line, "*\n");
	/* A folder that is there is the user's. */
	assert_int_equal(unlink(in_folder(".gitignore")), 0);
	store_close(opened());
	assert_false(exists(".gitignore"));
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(in_folder(name), &st), 0);
	return st.st_mode & 07777;
}

/* Whatever the umask, and whatever an older version left. */
static void test_private(void **state)
{
	(void)state;
	mode_t mask = umask(0);
	for (int round = 0; round < 3; round++) {
		struct store *store = begun("a");
		put(store, "k", "v");
		assert_int_equal(mode_of("."), 0700);
		assert_int_equal(mode_of(STORE_FILE), 0600);
		assert_int_equal(mode_of(STORE_FILE "-wal"), 0600);
		assert_int_equal(mode_of(STORE_FILE "-shm"), 0600);
		store_close(store);
		assert_int_equal(chmod(folder, 0755), 0);
		assert_int_equal(chmod(in_folder(STORE_FILE), 0644), 0);
		if (round == 1) /* is moved aside, and made anew */
			write_file(STORE_FILE, "no database at all", 18);
	}
	umask(mask);
}

static void refuses(const char *words)
{
	struct store *store = NULL;
	assert_err(store_open(folder, &store), ERR_USAGE, words);
	assert_null(store);
}

/* What others can have put there is neither read nor written. */
static void test_distrust(void **state)
{
	(void)state;
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	refuses("can be written by every user");
	assert_int_equal(chmod(folder, 0755), 0);
	/* A link, also one of ours, leads to files that are not results. */
	assert_int_equal(symlink("/etc/passwd", in_folder(STORE_FILE)), 0);
	refuses("is not a regular file");
	assert_int_equal(unlink(in_folder(STORE_FILE)), 0);
	assert_int_equal(symlink("nothing", in_folder(STORE_FILE "-wal")), 0);
	refuses("is not a regular file");
	assert_false(exists("nothing"));
	assert_int_equal(unlink(in_folder(STORE_FILE "-wal")), 0);
	assert_int_equal(mkfifo(in_folder(STORE_FILE "-journal"), 0600), 0);
	refuses("is not a regular file");
	assert_int_equal(unlink(in_folder(STORE_FILE "-journal")), 0);
	store_close(opened());
	assert_int_equal(chmod(in_folder(STORE_FILE), 0666), 0);
	refuses("can be written by every user");
	assert_int_equal(chmod(in_folder(STORE_FILE), 0600), 0);
	store_close(opened());
}

/* Root in the folder of another user. */
static void test_distrust_owner(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	store_close(opened());
	assert_int_equal(chown(in_folder(STORE_FILE), 65534, 65534), 0);
	refuses("belongs to another user");
	assert_int_equal(chown(folder, 65534, 65534), 0);
	refuses("belongs to another user");
	/* The user who called sudo may. */
	setenv("SUDO_UID", "65534", 1);
	store_close(opened());
	assert_int_equal(unlink(in_folder(STORE_FILE)), 0);
	store_close(opened());
	struct stat st;
	assert_int_equal(stat(in_folder(STORE_FILE), &st), 0);
	assert_int_equal(st.st_uid, 65534);
	setenv("SUDO_UID", "65533", 1);
	refuses("belongs to another user");
	unsetenv("SUDO_UID");
	/* A link of another user to a folder of root's. */
	char moved[128];
	snprintf(moved, sizeof(moved), "%s.moved", folder);
	assert_int_equal(chown(folder, 0, 0), 0);
	assert_int_equal(chown(in_folder(STORE_FILE), 0, 0), 0);
	assert_int_equal(rename(folder, moved), 0);
	assert_int_equal(symlink(moved, folder), 0);
	store_close(opened());
	assert_int_equal(lchown(folder, 65534, 65534), 0);
	refuses("belongs to another user");
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(rename(moved, folder), 0);
}

static void starts_anew(void)
{
	struct store *store = begun("a");
	has(store, "k", NULL);
	put(store, "k", "new");
	store_close(store);
	assert_true(exists(STORE_FILE ".old"));
	store = begun("a");
	has(store, "k", "new");
	store_close(store);
}

static void test_foreign(void **state)
{
	(void)state;
	char noise[8192];
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 7 + i / 256);
	assert_int_equal(mkdir(folder, 0755), 0);
	write_file(STORE_FILE, noise, sizeof(noise));
	starts_anew();
	/* Again: the older one makes place. */
	write_file(STORE_FILE, "short", 5);
	starts_anew();
	struct stat st;
	assert_int_equal(stat(in_folder(STORE_FILE ".old"), &st), 0);
	assert_int_equal(st.st_size, 5);
	/* An empty file is one that was never begun. */
	assert_int_equal(unlink(in_folder(STORE_FILE ".old")), 0);
	write_file(STORE_FILE, "", 0);
	store_close(begun("a"));
	assert_false(exists(STORE_FILE ".old"));
}

static void execute(const char *sql)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(in_folder(STORE_FILE), &db), SQLITE_OK);
	char *message = NULL;
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
	sqlite3_close(db);
}

static void test_other_database(void **state)
{
	(void)state;
	assert_int_equal(mkdir(folder, 0755), 0);
	execute("CREATE TABLE facts (a, b)");
	starts_anew();
	execute("PRAGMA user_version = 999");
	starts_anew();
	execute("PRAGMA application_id = 1");
	starts_anew();
	/* Ours by its numbers, and yet not. */
	execute("DROP TABLE facts; CREATE VIEW facts AS SELECT 1");
	starts_anew();
	execute("ALTER TABLE findings RENAME COLUMN json TO jsen");
	starts_anew();
	/* What somebody hung into it is not run. */
	execute("CREATE TRIGGER wipe AFTER INSERT ON facts BEGIN"
		" DELETE FROM facts; END");
	struct store *store = begun("a");
	put(store, "l", "there");
	has(store, "l", "there");
	has(store, "k", "new");
	store_close(store);
}

static void test_truncated(void **state)
{
	(void)state;
	struct store *store = begun("a");
	char key[32];
	for (int i = 0; i < 2000; i++) {
		snprintf(key, sizeof(key), "key %d", i);
		put(store, key, "0123456789012345678901234567890123456789");
	}
	store_close(store);
	struct stat st;
	assert_int_equal(stat(in_folder(STORE_FILE), &st), 0);
	assert_true(st.st_size > 5 * 4096);
	assert_int_equal(truncate(in_folder(STORE_FILE), st.st_size / 2), 0);
	/* Seen at once or at the first access; the next call starts anew. */
	store = NULL;
	assert_ok(store_open(folder, &store));
	err_ignore(store_begin(store, "./unit_tests --fast", "a"));
	for (int i = 0; i < 2000; i++) {
		void *value = NULL;
		size_t n;
		snprintf(key, sizeof(key), "key %d", i);
		if (store_get(store, key, &value, &n))
			free(value);
	}
	store_close(store);
	starts_anew();
}

/* Bytes changed anywhere: no crash, no hang, and a store that works. */
static void test_damaged(void **state)
{
	(void)state;
	struct store *store = begun("a");
	char key[32];
	for (int i = 0; i < 300; i++) {
		snprintf(key, sizeof(key), "key %d", i);
		put(store, key, "0123456789012345678901234567890123456789");
	}
	const struct store_finding finding = { .id = "order-1", .json = "{}" };
	assert_ok(store_put_findings(store, "s", "order", &finding, 1));
	store_close(store);
	static char good[1 << 20];
	FILE *file = fopen(in_folder(STORE_FILE), "r");
	assert_non_null(file);
	size_t size = fread(good, 1, sizeof(good), file);
	fclose(file);
	assert_true(size > 4096 && size < sizeof(good));

	log_level_set(LOG_LEVEL_QUIET);
	uint64_t seed = 1;
	for (int round = 0; round < 300; round++) {
		static char bad[sizeof(good)];
		memcpy(bad, good, size);
		for (int i = 0; i < 20; i++) {
			seed = seed * 6364136223846793005u + 1;
			/* Half of them where the tables are described. */
			size_t at = (seed >> 33) % (i % 2 ? size : 4096);
			bad[at] = (char)(seed >> 25);
		}
		write_file(STORE_FILE, bad, size);
		struct store_findings all = {};
		assert_ok(store_open(folder, &store));
		err_ignore(store_begin(store, "./unit_tests --fast", "a"));
		err_ignore(store_put(store, "key 5", "x", 1));
		for (int i = 0; i < 300; i += 7) {
			void *value = NULL;
			size_t n;
			snprintf(key, sizeof(key), "key %d", i);
			if (store_get(store, key, &value, &n))
				free(value);
		}
		err_ignore(store_list_findings(store, &all));
		store_findings_free(&all);
		store_close(store);
	}
	log_level_set(LOG_LEVEL_WARN);
	unlink(in_folder(STORE_FILE));
	store_close(begun("a"));
}

static void test_not_writable(void **state)
{
	(void)state;
	struct store *store = NULL;
	assert_err(store_open("/proc/self/.polygraph", &store), ERR_INTERNAL,
		   "/proc/self/.polygraph");
	assert_err(store_open("/no/such/folder", &store), ERR_INTERNAL,
		   "No such file");
	/* A file where the folder should be. */
	FILE *file = fopen(folder, "w");
	assert_non_null(file);
	fclose(file);
	assert_err(store_open(folder, &store), ERR_INTERNAL, "Not a directory");
	assert_int_equal(unlink(folder), 0);
	/* And one that nobody may write to, for who is not root. */
	assert_int_equal(mkdir(folder, 0555), 0);
	assert_int_equal(chmod(top, 0755), 0);
	pid_t pid = fork();
	if (!pid) {
		if (!getuid() && setuid(65534))
			_exit(77);
		struct err *err = store_open(folder, &store);
		_exit(err && err_kind(err) == ERR_INTERNAL ? 0 : 1);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(!WEXITSTATUS(status) || WEXITSTATUS(status) == 77);
	assert_null(store);
}

static void test_disk_full(void **state)
{
	(void)state;
	struct store *store = begun("a");
	put(store, "before", "1");
	store_close(store);
	pid_t pid = fork();
	if (!pid) {
		signal(SIGXFSZ, SIG_IGN);
		store = begun("a");
		struct stat st;
		stat(in_folder(STORE_FILE), &st);
		struct rlimit limit = { (rlim_t)st.st_size + 20000,
					(rlim_t)st.st_size + 20000 };
		if (setrlimit(RLIMIT_FSIZE, &limit))
			_exit(2);
		struct err *err = NULL;
		char key[32];
		for (int i = 0; i < 10000 && !err; i++) {
			snprintf(key, sizeof(key), "key %d", i);
			err = store_put(store, key, key, strlen(key));
		}
		if (!err)
			_exit(3);
		err_destroy(err);
		has(store, "before", "1");
		const struct store_finding finding = { .id = "order-1",
						       .json = key };
		err_ignore(
			store_put_findings(store, "s", "order", &finding, 1));
		store_close(store);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	store = begun("a");
	has(store, "before", "1");
	has(store, "key 0", "key 0");
	assert_false(exists(STORE_FILE ".old"));
	put(store, "after", "1");
	store_close(store);
}

/* ---- processes ---- */

/* What a writer told to have put is there, wherever it is killed. */
static void test_killed(void **state)
{
	(void)state;
	for (int round = 0; round < 15; round++) {
		int ends[2];
		assert_int_equal(pipe(ends), 0);
		pid_t pid = fork();
		if (!pid) {
			struct store *store = begun("a");
			for (int i = 0;; i++) {
				char key[32];
				snprintf(key, sizeof(key), "%d/%d", round, i);
				if (store_put(store, key, key, strlen(key)) ||
				    write(ends[1], &i, sizeof(i)) < 0)
					_exit(1);
			}
		}
		close(ends[1]);
		int last = -1, told;
		/* Each round somewhere else; the pipe may be ahead of us. */
		while (last < 3 + round * 40 &&
		       read(ends[0], &told, sizeof(told)) == sizeof(told))
			last = told;
		kill(pid, SIGKILL);
		int status = 0;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		while (read(ends[0], &told, sizeof(told)) == sizeof(told))
			last = told;
		close(ends[0]);
		assert_true(last >= 3);
		struct store *store = begun("a");
		assert_false(exists(STORE_FILE ".old"));
		for (int i = 0; i <= last; i++) {
			char key[32];
			snprintf(key, sizeof(key), "%d/%d", round, i);
			has(store, key, key);
		}
		store_close(store);
	}
}

/* In the middle of replacing findings: the old ones or the new ones. */
static void test_killed_findings(void **state)
{
	(void)state;
	enum { N = 40 };
	for (int round = 0; round < 15; round++) {
		pid_t pid = fork();
		if (!pid) {
			struct store *store = opened();
			for (int i = 0;; i++) {
				struct store_finding all[N];
				char json[32];
				snprintf(json, sizeof(json), "%d", i);
				for (int j = 0; j < N; j++)
					all[j] = (struct store_finding){
						.id = "order-1", .json = json
					};
				if (store_put_findings(store, "s", "order", all,
						       N))
					_exit(1);
			}
		}
		usleep(20000 + (useconds_t)round * 1700);
		kill(pid, SIGKILL);
		int status = 0;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		_cleanup_(store_closep) struct store *store = opened();
		struct store_findings all = {};
		assert_ok(store_list_findings(store, &all));
		assert_true(!all.n || all.n == N);
		for (size_t i = 0; i < all.n; i++)
			assert_string_equal(all.data[i].json, all.data[0].json);
		store_findings_free(&all);
	}
}

static void test_two_at_once(void **state)
{
	(void)state;
	enum { CALLS = 4, FACTS = 500 };
	pid_t pids[CALLS];
	for (int p = 0; p < CALLS; p++) {
		pids[p] = fork();
		if (pids[p])
			continue;
		/* They race for the folder and the file, too. */
		struct store *store = begun("a");
		for (int i = 0; i < FACTS; i++) {
			char key[32];
			snprintf(key, sizeof(key), "%d/%d", p, i);
			put(store, key, key);
			put(store, "shared", key);
		}
		char id[32], suite[32];
		snprintf(id, sizeof(id), "order-%d", p);
		snprintf(suite, sizeof(suite), "./%d", p);
		const struct store_finding finding = { .id = id, .json = "{}" };
		assert_ok(
			store_put_findings(store, suite, "order", &finding, 1));
		store_close(store);
		_exit(0);
	}
	for (int p = 0; p < CALLS; p++) {
		int status = 0;
		assert_int_equal(waitpid(pids[p], &status, 0), pids[p]);
		assert_int_equal(status, 0);
	}
	_cleanup_(store_closep) struct store *store = begun("a");
	assert_false(exists(STORE_FILE ".old"));
	for (int p = 0; p < CALLS; p++) {
		char key[32];
		for (int i = 0; i < FACTS; i++) {
			snprintf(key, sizeof(key), "%d/%d", p, i);
			has(store, key, key);
		}
	}
	struct store_findings all = {};
	assert_ok(store_list_findings(store, &all));
	assert_int_equal(all.n, CALLS);
	store_findings_free(&all);
}

/* One that keeps it for long: the other goes without, and then on. */
static void test_waits(void **state)
{
	(void)state;
	_cleanup_(store_closep) struct store *store = begun("a");
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(in_folder(STORE_FILE), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_err(store_put(store, "k", "1", 1), ERR_INTERNAL,
		   "another call is using it");
	has(store, "k", NULL);
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(db);
	put(store, "k", "2");
	has(store, "k", "2");
}

static void test_fork(void **state)
{
	(void)state;
	_cleanup_(store_closep) struct store *store = begun("a");
	put(store, "k", "1");
	pid_t pid = fork();
	if (!pid) {
		has(store, "k", NULL);
		assert_ok(store_put(store, "k", "2", 1));
		store_close(store);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	has(store, "k", "1");
	put(store, "l", "1");
	has(store, "l", "1");
}

/* Not a measurement: a bound that only a mistake of kind can break. */
static void test_speed(void **state)
{
	(void)state;
	enum { N = 100000 };
	struct store *store = begun("a");
	char key[48];
	uint64_t start = clock_now();
	for (int i = 0; i < N; i++) {
		snprintf(key, sizeof(key), "pair/%d/%d", i / 300, i % 300);
		assert_ok(store_put(store, key, &i, sizeof(i)));
	}
	uint64_t put_ns = clock_now() - start;
	store_close(store);
	store = begun("a");
	start = clock_now();
	for (int i = 0; i < N; i++) {
		void *got = NULL;
		size_t n = 0;
		snprintf(key, sizeof(key), "pair/%d/%d", i / 300, i % 300);
		assert_true(store_get(store, key, &got, &n));
		assert_int_equal(n, sizeof(i));
		assert_memory_equal(got, &i, n);
		free(got);
	}
	uint64_t get_ns = clock_now() - start;
	start = clock_now();
	assert_ok(store_begin(store, "./unit_tests --fast", "b"));
	uint64_t drop_ns = clock_now() - start;
	store_close(store);
	print_message("%d facts: put %.1f µs each, got %.1f µs each; all "
		      "dropped in %.1f ms\n",
		      N, (double)put_ns / N / 1e3, (double)get_ns / N / 1e3,
		      (double)drop_ns / 1e6);
	assert_true(put_ns < 60 * NS_PER_S);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_facts),
		TEST(test_facts_remote),
		TEST(test_states),
		TEST(test_outdated),
		TEST(test_many_suites),
		TEST(test_too_large),
		TEST(test_full),
		TEST(test_findings),
		TEST(test_findings_replaced),
		TEST(test_folder),
		TEST(test_private),
		TEST(test_distrust),
		TEST(test_distrust_owner),
		TEST(test_foreign),
		TEST(test_other_database),
		TEST(test_truncated),
		TEST(test_damaged),
		TEST(test_not_writable),
		TEST(test_disk_full),
		TEST(test_killed),
		TEST(test_killed_findings),
		TEST(test_two_at_once),
		TEST(test_waits),
		TEST(test_fork),
		TEST(test_speed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
