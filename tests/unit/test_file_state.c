#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file_state.h"

static char folder[64];
static int before = -1;

static int make_folder(void **state)
{
	(void)state;
	before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	strcpy(folder, "/tmp/polygraph-unit-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink("file");
	unlink("link");
	unlink("other");
	int status = fchdir(before) == 0 ? rmdir(folder) : -1;
	close(before);
	before = -1;
	memset(folder, 0, sizeof(folder));
	return status;
}

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_take(void **state)
{
	(void)state;
	struct file_state file, link_, again, opened;
	struct stat st;
	write_file("file", "text");
	assert_int_equal(chmod("file", 04640), 0);
	assert_int_equal(symlink("file", "link"), 0);
	assert_true(file_state_take(AT_FDCWD, "file", &file));
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(file.mode, S_IFREG | 04640);
	assert_true(file.ino == st.st_ino && file.dev == st.st_dev);
	assert_true(file.size == 4 && file.nlink == 1 && !file.mount);
	assert_true(file.uid == st.st_uid && file.gid == st.st_gid);
	assert_true(file_time_is_same(file.mtime, st.st_mtim));
	assert_true(file_time_is_same(file.atime, st.st_atim));
	assert_true(file_time_is_same(file.ctime, st.st_ctim));
	/* Never followed; and by descriptor. */
	assert_true(file_state_take(AT_FDCWD, "link", &link_));
	assert_true(S_ISLNK(link_.mode));
	assert_false(file_state_is_same_file(&file, &link_));
	int fd = open("file", O_PATH | O_CLOEXEC);
	assert_true(file_state_take(fd, NULL, &opened));
	close(fd);
	assert_true(file_state_is_same(&file, &opened));
	/* Another name of it: the same file, but not the same state. */
	assert_int_equal(link("file", "other"), 0);
	assert_true(file_state_take(AT_FDCWD, "other", &again));
	assert_true(file_state_is_same_file(&file, &again));
	assert_false(file_state_is_same(&file, &again));
	assert_true(file_state_key(&file) == file_state_key(&again));
	struct file_state untouched = again;
	assert_false(file_state_take(AT_FDCWD, "missing", &again));
	assert_int_equal(errno, ENOENT);
	assert_memory_equal(&untouched, &again, sizeof(again));
	assert_true(file_state_take(AT_FDCWD, "/", &again));
	assert_true(again.mount);
}

/* The same inode on two of many mounts is not the same file. */
static void test_keys(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 2000; i++) {
		const struct file_state a = { .ino = 7, .dev = makedev(0, 45) };
		struct file_state b = { .ino = 7, .dev = makedev(0, 45 + i) };
		assert_true(file_state_key(&a) != file_state_key(&b));
		assert_false(file_state_is_same_file(&a, &b));
	}
}

static void test_racy(void **state)
{
	(void)state;
	struct file_state file;
	write_file("file", "more");
	assert_true(file_state_take(AT_FDCWD, "file", &file));
	int64_t now = file_time_now();
	/* However long this took: just after the change, and long after it. */
	int64_t changed = file_time_ns(file.ctime);
	assert_true(file_time_is_racy(file.ctime, changed + 1));
	assert_false(file_time_is_racy(file.ctime, changed + 1000000000));
	assert_true(now >= changed - 20000000);
}

/* Whatever the file system makes of it is what is taken, in all years. */
static void test_times(void **state)
{
	(void)state;
	const int64_t all[] = { 1000, -1000, INT64_MAX / 1000000000 + 5,
				INT64_MIN / 1000000000 - 5 };
	write_file("file", "x");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					     { all[i], 123456789 } };
		struct file_state file;
		struct stat st;
		assert_int_equal(utimensat(AT_FDCWD, "file", times, 0), 0);
		assert_int_equal(stat("file", &st), 0);
		assert_true(file_state_take(AT_FDCWD, "file", &file));
		assert_true(file_time_is_same(file.mtime, st.st_mtim));
	}
}

static void test_nanoseconds(void **state)
{
	(void)state;
	const int64_t second = 1000000000, most = INT64_MAX / second - 1;
	assert_true(file_time_ns((struct timespec){ 0, 0 }) == 0);
	assert_true(file_time_ns((struct timespec){ 1000, 123456789 }) ==
		    1000123456789);
	assert_true(file_time_ns((struct timespec){ -1, 999999999 }) == -1);
	/* What does not fit is cut off. */
	assert_true(file_time_ns((struct timespec){ most + 5, 7 }) ==
		    most * second + 7);
	assert_true(file_time_ns((struct timespec){ -most - 5, 7 }) ==
		    -most * second + 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_take, make_folder,
						remove_folder),
		cmocka_unit_test(test_keys),
		cmocka_unit_test_setup_teardown(test_racy, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_times, make_folder,
						remove_folder),
		cmocka_unit_test(test_nanoseconds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
