/* Files that do not hold still, that may not be read, that others change. */
#include "files_unit.h"

#include <grp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "files/snapshot_internal.h"

static void capture_open(struct box *box, const struct files_open *open,
			 size_t n)
{
	changes_clear(&box->changes);
	assert_ok(files_capture(box->files, 0, open, n, &box->changes));
}

/* Equal sizes, and time stamps as coarse as they may be. */
static void test_racy(void **state)
{
	(void)state;
	for (int walk = 0; walk < 2; walk++) {
		struct box box;
		box_open(&box, walk);
		op_write(&box, "a", "text 0");
		box_files(&box);
		for (int i = 1; i < 100; i++) {
			char text[16];
			snprintf(text, sizeof(text), "text %d", i % 10);
			op_write(&box, "a", text);
			capture(&box);
			assert_int_equal(box.changes.n, 1);
			snprintf(text, sizeof(text), "\"text %d\"", i % 10);
			assert_string_equal(box.changes.data[0].paths[0].after,
					    text);
		}
		box_close(&box);
	}
}

static void test_racy_snapshot(void **state)
{
	(void)state;
	struct box box;
	struct snap_limits limits = { .text = 100 };
	struct snap snap, later, shared;
	struct stat st;
	box_open(&box, false);
	op_write(&box, "a", "text");
	snap_take(AT_FDCWD, at(&box, "a"), NULL, &limits, &snap);
	assert_true(snap.flags & SNAP_RACY);
	usleep(50000);
	snap_take(AT_FDCWD, at(&box, "a"), &snap, &limits, &later);
	assert_false(later.flags & SNAP_RACY);
	/* It was read again, and the next time it need not be. */
	assert_ptr_not_equal(later.extra, snap.extra);
	snap_take(AT_FDCWD, at(&box, "a"), &later, &limits, &shared);
	assert_ptr_equal(later.extra, shared.extra);
	assert_int_equal(lstat(at(&box, "a"), &st), 0);
	assert_int_equal(shared.stat.ino, st.st_ino);
	assert_int_equal(shared.stat.dev, st.st_dev);
	assert_int_equal(snap_digest(&snap), snap_digest(&shared));
	snap_free(&snap);
	snap_free(&later);
	snap_free(&shared);
	box_close(&box);
}

static atomic_bool stop;

static void *write_on(void *data)
{
	int fd = open(data, O_WRONLY | O_CLOEXEC);
	unsigned n = 0;
	while (fd >= 0 && !stop) {
		n++;
		if (pwrite(fd, &n, sizeof(n), n % 1000) < 0)
			break;
	}
	close(fd);
	return NULL;
}

static void test_changing(void **state)
{
	(void)state;
	struct box box;
	box_open(&box, false);
	op_write(&box, "a", "");
	assert_int_equal(truncate(at(&box, "a"), 32 << 20), 0);
	box_files(&box);
	event(&box, FOLLOW_OPEN, "a", NULL, O_WRONLY, 0);
	char path[128];
	snprintf(path, sizeof(path), "%s", at(&box, "a"));
	pthread_t thread;
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, write_on, path), 0);
	struct stat st;
	do { /* until it writes */
		assert_int_equal(lstat(path, &st), 0);
	} while (!st.st_blocks);
	capture(&box);
	assert_int_equal(box.changes.n, 1);
	assert_string_equal(box.changes.data[0].paths[0].path, "a");
	assert_true(strstr(box.changes.data[0].paths[0].after, "changing") ||
		    strstr(box.changes.data[0].paths[0].after, "hash"));
	stop = true;
	pthread_join(thread, NULL);
	box_close(&box);
}

static void test_huge(void **state)
{
	(void)state;
	struct box box;
	box_open(&box, false);
	op_write(&box, "a", "");
	assert_int_equal(truncate(at(&box, "a"), 300LL << 20), 0);
	op_times(&box, "a", 1000000000);
	box_files(&box);
	int fd = op_open(&box, "a", O_WRONLY, 0);
	uint64_t hashed = files_counts(box.files).hashed_bytes;
	assert_true(hashed <= 2 << 20);
	assert_shown(&box, "");
	/* In the middle, which is not read: the time tells. */
	op_open(&box, "a", O_WRONLY, 0);
	assert_int_equal(pwrite(fd, "x", 1, 150 << 20), 1);
	capture(&box);
	assert_int_equal(box.changes.n, 1);
	close(fd);
	box_close(&box);
}

/* Writing to a descriptor from before is not told by any call. */
static void test_open_across(void **state)
{
	(void)state;
	struct box box;
	box_open(&box, false);
	box_files(&box);
	int fd = op_open(&box, "log", O_WRONLY | O_CREAT, 0644);
	assert_int_equal(write(fd, "one", 3), 3);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	char path[128];
	snprintf(path, sizeof(path), "%s", at(&box, "log"));
	struct files_open open = { path, st.st_dev, st.st_ino, false };
	capture_open(&box, &open, 1);
	assert_string_equal(shown(&box), "log|absent|file of 3 bytes\n");
	capture_open(&box, &open, 1);
	assert_string_equal(shown(&box), "");
	assert_int_equal(write(fd, "two", 3), 3);
	capture_open(&box, &open, 1);
	assert_string_equal(shown(&box), "log|\"one\"|\"onetwo\"\n");
	/* Written once more and closed before the next point. */
	assert_int_equal(write(fd, "!", 1), 1);
	close(fd);
	capture_open(&box, NULL, 0);
	assert_string_equal(shown(&box), "log|\"onetwo\"|\"onetwo!\"\n");
	capture_open(&box, NULL, 0);
	assert_string_equal(shown(&box), "");
	/* Another file by that name is not the one that is open. */
	open.inode++;
	capture_open(&box, &open, 1);
	event(&box, FOLLOW_OPEN, NULL, NULL, 0, 0);
	box_close(&box);
}

static void test_unlinked_while_open(void **state)
{
	(void)state;
	struct box box;
	box_open(&box, false);
	box_files(&box);
	int fd = op_open(&box, "gone", O_RDWR | O_CREAT, 0644);
	op_unlink(&box, "gone");
	assert_int_equal(write(fd, "one", 3), 3);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	char path[128];
	snprintf(path, sizeof(path), "%s (deleted)", at(&box, "gone"));
	struct files_open open = { path, st.st_dev, st.st_ino, false };
	capture_open(&box, &open, 1);
	assert_int_equal(box.changes.n, 0);
	assert_int_equal(write(fd, "two", 3), 3);
	capture_open(&box, &open, 1);
	assert_int_equal(box.changes.n, 0);
	close(fd);
	box_close(&box);
}

/* What somebody else did between two tests is not the next one's. */
static void test_others(void **state)
{
	(void)state;
	struct box box;
	box_open(&box, false);
	op_write(&box, "a", "one");
	box_files(&box);
	op_write(&box, "a", "two");
	assert_shown(&box, "a|\"one\"|\"two\"\n");
	struct files *files = take_ptr(box.files);
	op_write(&box, "a", "others");
	op_write(&box, "b", "others");
	box.files = files;
	op_write(&box, "a", "others");
	assert_shown(&box, "");
	op_write(&box, "a", "mine");
	op_write(&box, "b", "mine");
	assert_shown(&box, "a|\"others\"|\"mine\"\n"
			   "b|\"others\"|\"mine\"\n");
	box_close(&box);
}

static void test_events_of_all_kinds(void **state)
{
	(void)state;
	struct box box;
	box_open(&box, false);
	box_files(&box);
	static char too_long[8192];
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[0] = '/';
	const char *paths[] = { NULL,
				"relative",
				"",
				"/",
				"//",
				"/../..",
				"/proc/self/comm",
				"/sys/kernel/notes",
				"/dev/null",
				"/dev/shm/polygraph-test",
				"/nowhere/at/all",
				too_long };
	for (int kind = FOLLOW_OPEN; kind <= FOLLOW_STATE; kind++) {
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
			struct follow_event event = {
				.kind = (enum follow_kind)kind,
				.path = paths[i],
				.path2 = paths[ARRAY_SIZE(paths) - 1 - i],
				.flags = O_RDWR,
			};
			files_sink(box.files, &event);
		}
	}
	assert_shown(&box, "");
	/* Paths that say the same otherwise. */
	char path[128];
	snprintf(path, sizeof(path), "%s//x/..//./a", box.dir);
	struct follow_event event = { .kind = FOLLOW_OPEN, .path = path };
	files_event(box.files, &event);
	op_write(&box, "a", "1");
	assert_shown(&box, "a|absent|file of 1 byte\n");
	box_close(&box);
}

/* Whoever waits at a FIFO goes on when somebody opens its other end. */
static void test_fifo_stays_closed(void **state)
{
	(void)state;
	for (int walk = 0; walk < 2; walk++) {
		struct box box;
		box_open(&box, walk);
		assert_int_equal(mkfifo(at(&box, "fifo"), 0600), 0);
		pid_t child = fork();
		if (!child) {
			int fd = open(at(&box, "fifo"), O_WRONLY);
			_exit(fd >= 0);
		}
		usleep(20000);
		box_files(&box);
		op_chmod(&box, "fifo", 0644);
		assert_shown(&box, "fifo: mode|0600|0644\n");
		usleep(20000);
		assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		box_close(&box);
	}
}

/* In a process of an ordinary user; true: as it should be. */
static bool without_permission(struct box *box)
{
	box_files(box);
	op_write(box, "shut/in", "x"); /* told before the folder is shut */
	op_chmod(box, "unreadable", 0000);
	event(box, FOLLOW_MODE, "shut", NULL, 0, 0);
	chmod(at(box, "shut"), 0000);
	capture(box);
	const char *text = shown(box);
	bool good = strstr(text, "shut: mode|0755|0000\n") &&
		    strstr(text, "unreadable: mode|0644|0000\n");
	/* Not readable, but for its size and time. */
	event(box, FOLLOW_OPEN, "unreadable", NULL, O_WRONLY, 0);
	chmod(at(box, "unreadable"), 0200);
	int fd = open(at(box, "unreadable"), O_WRONLY | O_APPEND);
	if (write(fd, "more", 4) != 4)
		good = false;
	close(fd);
	chmod(at(box, "unreadable"), 0000);
	capture(box);
	text = shown(box);
	good &= strstr(text, "unreadable|") != NULL;
	if (!good)
		print_error("%s", text);
	return good;
}

static void test_permission(void **state)
{
	(void)state;
	for (int walk = 0; walk < 2; walk++) {
		struct box box;
		box_open(&box, walk);
		op_write(&box, "unreadable", "text");
		assert_int_equal(mkdir(at(&box, "shut"), 0755), 0);
		if (geteuid() == 0) {
			assert_int_equal(chown(box.dir, 65534, 65534), 0);
			assert_int_equal(
				chown(at(&box, "unreadable"), 65534, 65534), 0);
			assert_int_equal(chown(at(&box, "shut"), 65534, 65534),
					 0);
		}
		pid_t child = fork();
		if (!child) {
			if (geteuid() == 0 &&
			    (setgroups(0, NULL) < 0 || setgid(65534) < 0 ||
			     setuid(65534) < 0))
				_exit(2);
			_exit(!without_permission(&box));
		}
		int status;
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
			print_message("cannot become another user: skipped\n");
		else
			assert_int_equal(status, 0);
		box_close(&box);
	}
}

/* Writing through memory that stays mapped. */
static void test_mapped(void **state)
{
	(void)state;
	struct box box;
	box_open(&box, true);
	char text[4096];
	memset(text, 'a', sizeof(text));
	op_write_n(&box, "a", text, sizeof(text));
	box_files(&box);
	int fd = open(at(&box, "a"), O_RDWR);
	char *memory = mmap(NULL, sizeof(text), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	close(fd);
	assert_shown(&box, "");
	memory[0] = 'b';
	capture(&box);
	assert_int_equal(box.changes.n, 1);
	munmap(memory, sizeof(text));
	box_close(&box);
}

static void test_big_tree(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		struct box box;
		char name[64];
		if (way)
			setenv("POLYGRAPH_FAULT_INOTIFY", "1", 1);
		box_open(&box, true);
		for (int i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), "d%02d", i);
			assert_int_equal(mkdir(at(&box, name), 0755), 0);
			for (int j = 0; j < 100; j++) {
				snprintf(name, sizeof(name), "d%02d/f%02d", i,
					 j);
				op_write(&box, name, name);
			}
		}
		box_files(&box);
		assert_shown(&box, "");
		uint64_t walked = files_counts(box.files).walked;
		assert_shown(&box, "");
		walked = files_counts(box.files).walked - walked;
		assert_true(way ? walked >= 10101 : walked < 10101);
		op_write(&box, "d50/f50", "changed");
		op_write(&box, "d99/new", "new");
		op_unlink(&box, "d00/f00");
		assert_shown(&box, "d00/f00|file of 7 bytes|absent\n"
				   "d50/f50|\"d50/f50\"|\"changed\"\n"
				   "d99/new|absent|file of 3 bytes\n");
		assert_int_equal(op_rename(&box, "d10", "d99/d10"), 0);
		assert_shown(&box, "d10: name|d10|d99/d10\n");
		char command[256];
		snprintf(command, sizeof(command), "rm -rf %s/d*", box.dir);
		assert_int_equal(system(command), 0);
		capture(&box);
		/* So many at once are one change. */
		assert_int_equal(box.changes.n, 1);
		assert_string_equal(box.changes.data[0].root, "*");
		assert_string_equal(box.changes.data[0].paths[0].before,
				    "folder with 99 entries");
		assert_int_equal(
			box.changes.data[0].n + box.changes.data[0].more, 99);
		assert_shown(&box, "");
		unsetenv("POLYGRAPH_FAULT_INOTIFY");
		box_close(&box);
	}
}

/* Too many events to be told: everything is looked at. */
static void test_events_lost(void **state)
{
	(void)state;
	struct box box;
	box_open(&box, true);
	op_write(&box, "a", "1");
	op_write(&box, "b", "1");
	box_files(&box);
	for (int i = 0; i < 20000; i++) {
		op_chmod(&box, i % 2 ? "a" : "b", 0600 + (i / 2) % 2);
		if (i == 19990)
			op_write(&box, "new", "new");
	}
	assert_shown(&box, "a: mode|0644|0601\n"
			   "b: mode|0644|0601\n"
			   "new|absent|file of 3 bytes\n");
	op_write(&box, "new", "NEW");
	assert_shown(&box, "new|\"new\"|\"NEW\"\n");
	box_close(&box);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_racy),
		cmocka_unit_test(test_racy_snapshot),
		cmocka_unit_test(test_changing),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_open_across),
		cmocka_unit_test(test_unlinked_while_open),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_events_of_all_kinds),
		cmocka_unit_test(test_fifo_stays_closed),
		cmocka_unit_test(test_permission),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_big_tree),
		cmocka_unit_test(test_events_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
