/* Files that are kept and put back. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "keep/keep.h"

#define NOBODY 65534

/* A folder "in" that is kept and one beside it, "out", that is not. */
static char box[64];

static char *at(const char *name)
{
	static char paths[8][8192];
	static unsigned turn;
	char *path = paths[turn++ % ARRAY_SIZE(paths)];
	snprintf(path, sizeof(paths[0]), "%s/%s", box, name);
	return path;
}

static int set_up(void **state _unused_)
{
	strcpy(box, "/tmp/polygraph-keep-XXXXXX");
	assert_non_null(mkdtemp(box));
	assert_int_equal(mkdir(at("in"), 0755), 0);
	assert_int_equal(mkdir(at("out"), 0755), 0);
	return 0;
}

static int tear_down(void **state _unused_)
{
	char command[256];
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", box,
		 box);
	return system(command);
}

static void write_n(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
}

static void write_text(const char *path, const char *text)
{
	write_n(path, text, strlen(text));
}

static void assert_text(const char *path, const char *text)
{
	_cleanup_(freep) char *now = NULL;
	assert_ok(file_read(path, 1 << 20, &now, NULL));
	assert_string_equal(now, text);
}

static bool is_there(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

/* ---- everything below a path, as text ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void dump(const char *path, struct str *ret)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	assert_ok(str_appendf(ret, "%s %o %u:%u %lld.%09ld", path, st.st_mode,
			      st.st_uid, st.st_gid, (long long)st.st_mtime,
			      st.st_mtim.tv_nsec));
	char text[4096] = "";
	if (S_ISLNK(st.st_mode)) {
		assert_true(readlink(path, text, sizeof(text) - 1) >= 0);
		assert_ok(str_appendf(ret, " -> %s\n", text));
		return;
	}
	ssize_t n = getxattr(path, "user.kept", text, sizeof(text) - 1);
	if (n >= 0)
		assert_ok(str_appendf(ret, " xattr %.*s", (int)n, text));
	bool shut = geteuid() != 0 && (st.st_mode & 0500) != 0500;
	if (shut && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		assert_int_equal(chmod(path, st.st_mode | 0700), 0);
	if (S_ISREG(st.st_mode)) {
		_cleanup_(freep) char *content = NULL;
		size_t size;
		assert_ok(file_read(path, 1 << 26, &content, &size));
		assert_ok(str_appendf(ret, " links %zu size %zu: ",
				      (size_t)st.st_nlink, size));
		assert_ok(str_append_n(ret, content, size));
	}
	assert_ok(str_append(ret, "\n"));
	if (S_ISDIR(st.st_mode)) {
		char *names[512];
		size_t count = 0;
		DIR *dir = opendir(path);
		assert_non_null(dir);
		for (struct dirent *entry; (entry = readdir(dir));) {
			if (!strcmp(entry->d_name, ".") ||
			    !strcmp(entry->d_name, ".."))
				continue;
			assert_true(count < ARRAY_SIZE(names));
			names[count++] = strdup(entry->d_name);
		}
		closedir(dir);
		qsort(names, count, sizeof(*names), by_name);
		for (size_t i = 0; i < count; i++) {
			char below[8192];
			snprintf(below, sizeof(below), "%s/%s", path, names[i]);
			dump(below, ret);
			free(names[i]);
		}
	}
	if (shut && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		assert_int_equal(chmod(path, st.st_mode & 07777), 0);
}

static char *dumped(const char *path)
{
	struct str text = STR_INIT;
	if (is_there(path))
		dump(path, &text);
	else
		assert_ok(str_append(&text, "absent\n"));
	char *s = str_take(&text);
	assert_non_null(s);
	return s;
}

static void assert_dump(const char *path, const char *expected)
{
	_cleanup_(freep) char *now = dumped(path);
	if (strcmp(now, expected))
		print_error("expected:\n%s\nbut it is:\n%s\n", expected, now);
	assert_string_equal(now, expected);
}

/* ---- one thing each ---- */

static void assert_none_lost(const struct keeper *keeper)
{
	const char *lost = keeper_lost(keeper, 0);
	if (lost)
		print_error("lost: %s\n", lost);
	assert_null(lost);
}

/* The whole folder "in" is kept, @change is done to it, and it is put back. */
static void keep_and(void (*change)(void))
{
	const char *paths[] = { at("in") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	_cleanup_(freep) char *before = dumped(at("in"));
	_cleanup_(freep) char *beside = dumped(at("out"));
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_true(kept_whole(kept));
	for (int i = 0; i < 2; i++) {
		change();
		assert_ok(keeper_put_back(keeper, kept));
		assert_none_lost(keeper);
		assert_dump(at("in"), before);
		assert_dump(at("out"), beside);
	}
	kept_destroy(kept);
	keeper_destroy(keeper);
}

static void rewrite(void)
{
	write_text(at("in/file"), "other text, longer");
}

static void shorten(void)
{
	assert_int_equal(truncate(at("in/file"), 1), 0);
}

static void drop(void)
{
	assert_int_equal(unlink(at("in/file")), 0);
	assert_int_equal(unlink(at("in/fifo")), 0);
	assert_int_equal(unlink(at("in/socket")), 0);
	assert_int_equal(unlink(at("in/link")), 0);
	assert_int_equal(unlink(at("in/folder/below")), 0);
	assert_int_equal(rmdir(at("in/folder")), 0);
}

static void add(void)
{
	assert_int_equal(mkdir(at("in/more"), 0700), 0);
	assert_int_equal(mkdir(at("in/more/yet"), 0700), 0);
	write_text(at("in/more/yet/file"), "new");
	assert_int_equal(symlink("/etc/passwd", at("in/more/link")), 0);
	assert_int_equal(symlink("../../out", at("in/more/beside")), 0);
	assert_int_equal(chmod(at("in/more/yet"), 0), 0);
}

static void modes(void)
{
	struct timespec times[2] = { { .tv_sec = 5 }, { .tv_sec = 5 } };
	assert_int_equal(chmod(at("in/file"), 04711), 0);
	assert_int_equal(chmod(at("in/folder"), 0), 0);
	assert_int_equal(
		utimensat(AT_FDCWD, at("in/link"), times, AT_SYMLINK_NOFOLLOW),
		0);
	assert_int_equal(utimensat(AT_FDCWD, at("in/fifo"), times, 0), 0);
	setxattr(at("in/file"), "user.kept", "no", 2, 0);
	setxattr(at("in/folder"), "user.kept", "no", 2, 0);
}

static void swap_types(void)
{
	drop();
	assert_int_equal(mkdir(at("in/file"), 0755), 0);
	write_text(at("in/file/in"), "inside");
	write_text(at("in/link"), "no link");
	write_text(at("in/folder"), "no folder");
	write_text(at("in/fifo"), "no FIFO");
}

/* What was a folder leads elsewhere now: nothing there may be touched. */
static void lead_away(void)
{
	assert_int_equal(unlink(at("in/folder/below")), 0);
	assert_int_equal(rmdir(at("in/folder")), 0);
	assert_int_equal(symlink(at("out"), at("in/folder")), 0);
	assert_int_equal(unlink(at("in/file")), 0);
	assert_int_equal(symlink(at("out/file"), at("in/file")), 0);
}

/* The other name of a file outside: what is written to it is written there. */
static void link_away(void)
{
	assert_int_equal(unlink(at("in/file")), 0);
	assert_int_equal(link(at("out/file"), at("in/file")), 0);
}

static void test_changes(void **state _unused_)
{
	void (*const all[])(void) = { rewrite, shorten,	   drop,     add,
				      modes,   swap_types, lead_away };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	write_text(at("in/file"), "text");
	assert_int_equal(setxattr(at("in/file"), "user.kept", "yes", 3, 0), 0);
	assert_int_equal(symlink("nowhere", at("in/link")), 0);
	assert_int_equal(mkdir(at("in/folder"), 0755), 0);
	write_text(at("in/folder/below"), "below");
	write_text(at("out/file"), "beside");
	write_text(at("out/below"), "beside, too");
	assert_int_equal(mkfifo(at("in/fifo"), 0640), 0);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(name.sun_path, at("in/socket"));
	assert_int_equal(bind(fd, (void *)&name, sizeof(name)), 0);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		keep_and(all[i]);
}

static void test_link_away(void **state _unused_)
{
	const char *paths[] = { at("in/file") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	struct stat st;
	write_text(at("in/file"), "text");
	write_text(at("out/file"), "beside");
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	link_away();
	assert_ok(keeper_put_back(keeper, kept));
	assert_text(at("in/file"), "text");
	assert_text(at("out/file"), "beside");
	assert_int_equal(stat(at("out/file"), &st), 0);
	assert_int_equal(st.st_nlink, 1);
	/* Also where its content is the same. */
	write_text(at("out/file"), "text");
	link_away();
	assert_ok(keeper_put_back(keeper, kept));
	assert_int_equal(stat(at("out/file"), &st), 0);
	assert_int_equal(st.st_nlink, 1);
	assert_none_lost(keeper);
	kept_destroy(kept);
	keeper_destroy(keeper);
}

/* Who has the file open or mapped sees it put back. */
static void test_in_place(void **state _unused_)
{
	const char *paths[] = { at("in/file") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	struct stat before, after;
	write_text(at("in/file"), "0123456789");
	int fd = open(at("in/file"), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(fstat(fd, &before), 0);
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	memcpy(map, "abc", 3);
	msync(map, 4096, MS_SYNC);
	assert_ok(keeper_put_back(keeper, kept));
	assert_memory_equal(map, "0123456789", 10);
	assert_int_equal(write(fd, "xx", 2), 2);
	assert_ok(keeper_put_back(keeper, kept));
	assert_memory_equal(map, "0123456789", 10);
	assert_int_equal(stat(at("in/file"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_none_lost(keeper);
	munmap(map, 4096);
	close(fd);
	kept_destroy(kept);
	keeper_destroy(keeper);
}

/* What is as it was is not touched: not even its times. */
static void test_untouched(void **state _unused_)
{
	const char *paths[] = { at("in") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL, *again = NULL;
	struct stat before, after;
	write_text(at("in/file"), "text");
	assert_int_equal(mkdir(at("in/shut"), 0555), 0);
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	const char *names[] = { "in", "in/file", "in/shut" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(lstat(at(names[i]), &before), 0);
		assert_ok(keeper_put_back(keeper, kept));
		assert_int_equal(lstat(at(names[i]), &after), 0);
		assert_memory_equal(&before.st_ctim, &after.st_ctim,
				    sizeof(before.st_ctim));
		assert_int_equal(before.st_ino, after.st_ino);
	}
	assert_ok(keeper_take(keeper, &again));
	assert_true(kept_same(kept, again, 0));
	kept_destroy(again);
	write_text(at("in/file"), "texT");
	assert_ok(keeper_take(keeper, &again));
	assert_false(kept_same(kept, again, 0));
	kept_destroy(again);
	kept_destroy(kept);
	keeper_destroy(keeper);
}

/* Paths that were not there, below folders that were not there. */
/* Times that do not fit in 64 bits of nanoseconds: the years 2300 and 1600. */
static void test_far_times(void **state _unused_)
{
	const int64_t far[] = { 10413792000, -11676096000 };
	const char *names[] = { "in/file", "in/link", "in/folder" };
	write_text(at("in/file"), "text");
	assert_int_equal(symlink("file", at("in/link")), 0);
	assert_int_equal(mkdir(at("in/folder"), 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(far); i++) {
		struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					     { far[i], 123456789 } };
		struct stat before[ARRAY_SIZE(names)], after;
		struct keeper *keeper = NULL;
		struct kept *kept = NULL;
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			assert_int_equal(utimensat(AT_FDCWD, at(names[k]),
						   times, AT_SYMLINK_NOFOLLOW),
					 0);
			/* A file system may be able to store less. */
			assert_int_equal(lstat(at(names[k]), &before[k]), 0);
		}
		const char *path = at("in");
		assert_ok(keeper_create(&path, 1, &keeper));
		assert_ok(keeper_take(keeper, &kept));
		write_text(at("in/file"), "other");
		assert_int_equal(unlink(at("in/link")), 0);
		assert_int_equal(rmdir(at("in/folder")), 0);
		assert_ok(keeper_put_back(keeper, kept));
		assert_none_lost(keeper);
		assert_text(at("in/file"), "text");
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			assert_int_equal(lstat(at(names[k]), &after), 0);
			assert_int_equal(after.st_mtim.tv_sec,
					 before[k].st_mtim.tv_sec);
			assert_int_equal(after.st_mtim.tv_nsec,
					 before[k].st_mtim.tv_nsec);
		}
		kept_destroy(kept);
		keeper_destroy(keeper);
	}
}

static void test_missing(void **state _unused_)
{
	const char *paths[] = { at("in/a/b/c"), at("in/a/d"), at("in/e") };
	struct keeper *keeper = NULL;
	struct kept *before = NULL, *after = NULL;
	assert_ok(keeper_create(paths, 3, &keeper));
	assert_ok(keeper_take(keeper, &before));
	assert_int_equal(mkdir(at("in/a"), 0755), 0);
	assert_int_equal(mkdir(at("in/a/b"), 0750), 0);
	write_text(at("in/a/b/c"), "c");
	write_text(at("in/a/d"), "d");
	write_text(at("in/a/not told"), "stays");
	assert_int_equal(mkdir(at("in/e"), 0700), 0);
	write_text(at("in/e/f"), "f");
	assert_ok(keeper_take(keeper, &after));
	_cleanup_(freep) char *told = dumped(at("in/e"));
	assert_ok(keeper_put_back(keeper, before));
	assert_false(is_there(at("in/a/b/c")));
	assert_false(is_there(at("in/a/d")));
	assert_false(is_there(at("in/e")));
	assert_text(at("in/a/not told"), "stays");
	/* The folder on the way goes, and the file is wanted. */
	assert_int_equal(rmdir(at("in/a/b")), 0);
	assert_ok(keeper_put_back(keeper, after));
	assert_text(at("in/a/b/c"), "c");
	assert_text(at("in/a/d"), "d");
	assert_dump(at("in/e"), told);
	/* Some of them. Sorted: a/b/c, a/d, e. */
	const bool which[] = { true, false, true };
	assert_string_equal(keeper_path(keeper, 1), paths[1]);
	assert_ok(keeper_put_back_some(keeper, before, which));
	assert_false(is_there(at("in/a/b/c")));
	assert_text(at("in/a/d"), "d");
	assert_false(is_there(at("in/e")));
	assert_none_lost(keeper);
	kept_destroy(before);
	kept_destroy(after);
	keeper_destroy(keeper);
}

static void test_hard_links(void **state _unused_)
{
	struct stat a, b, c;
	const char *paths[] = { at("in") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	write_text(at("in/a"), "one");
	assert_int_equal(link(at("in/a"), at("in/b")), 0);
	write_text(at("in/c"), "two");
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_int_equal(unlink(at("in/a")), 0);
	assert_int_equal(unlink(at("in/b")), 0);
	write_text(at("in/b"), "three");
	assert_int_equal(unlink(at("in/c")), 0);
	assert_int_equal(link(at("in/b"), at("in/c")), 0);
	assert_ok(keeper_put_back(keeper, kept));
	assert_int_equal(stat(at("in/a"), &a), 0);
	assert_int_equal(stat(at("in/b"), &b), 0);
	assert_int_equal(stat(at("in/c"), &c), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	assert_int_equal(a.st_nlink, 2);
	assert_int_not_equal(a.st_ino, c.st_ino);
	assert_int_equal(c.st_nlink, 1);
	assert_text(at("in/a"), "one");
	assert_text(at("in/c"), "two");
	assert_none_lost(keeper);
	kept_destroy(kept);
	keeper_destroy(keeper);
}

/* The working directory and what surrounds it stay, whatever happens in it. */
static void test_working_directory(void **state _unused_)
{
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	struct stat before, after;
	assert_int_equal(mkdir(at("in/here"), 0755), 0);
	assert_int_equal(chdir(at("in/here")), 0);
	write_text("file", "text");
	const char *paths[] = { "." };
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	write_text("file", "other");
	write_text("more", "more");
	assert_int_equal(mkdir(".polygraph", 0755), 0);
	write_text(".polygraph/own", "own");
	assert_int_equal(stat(".", &before), 0);
	assert_ok(keeper_put_back(keeper, kept));
	assert_int_equal(stat(".", &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_text("file", "text");
	assert_false(is_there("more"));
	assert_text(".polygraph/own", "own");
	assert_none_lost(keeper);
	kept_destroy(kept);
	keeper_destroy(keeper);

	/* It lies in a folder that was not there: it is not removed. */
	const char *above[] = { at("in/new") };
	assert_ok(keeper_create(above, 1, &keeper));
	keeper_destroy(keeper);
	assert_int_equal(mkdir(at("out/new"), 0755), 0);
	assert_int_equal(rename(at("in/here"), at("out/new/here")), 0);
	assert_ok(keeper_create(above, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_int_equal(rename(at("out/new"), at("in/new")), 0);
	assert_ok(keeper_put_back(keeper, kept));
	assert_non_null(keeper_lost(keeper, 0));
	assert_text(at("in/new/here/file"), "text");
	kept_destroy(kept);
	keeper_destroy(keeper);
	assert_int_equal(chdir(cwd), 0);
}

static void test_names(void **state _unused_)
{
	assert_true(keep_is_exact("in/file"));
	assert_true(keep_is_exact("/tmp/log"));
	assert_false(keep_is_exact("/tmp/fileXXXXXX"));
	assert_false(keep_is_exact("run-PID.lock"));
	assert_false(keep_is_exact("log-DATE.txt"));
	assert_false(keep_is_exact("out/*"));
	assert_false(keep_is_exact("*"));
	assert_false(keep_is_exact(""));
	write_text(at("in/RAPID"), "it is there: no mask");
	assert_true(keep_is_exact(at("in/RAPID")));

	write_text(at("in/\xff\xfe\n name"), "not UTF-8");
	keep_and(rewrite);
	assert_text(at("in/\xff\xfe\n name"), "not UTF-8");
}

/* Large ones lie outside of memory; holes stay holes, about. */
static void test_large(void **state _unused_)
{
	const char *paths[] = { at("in") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	size_t n = (size_t)3 << 20;
	_cleanup_(freep) char *data = malloc(n);
	assert_non_null(data);
	for (size_t i = 0; i < n; i++)
		data[i] = (char)('a' + i * i % 23);
	write_n(at("in/large"), data, n);
	write_n(at("in/twin"), data, n);
	write_text(at("in/sparse"), "x");
	assert_int_equal(truncate(at("in/sparse"), 64 << 20), 0);
	_cleanup_(freep) char *before = dumped(at("in"));
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_none_lost(keeper);
	int fd = open(at("in/large"), O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "?", 1, n / 2), 1);
	close(fd);
	assert_int_equal(unlink(at("in/twin")), 0);
	assert_int_equal(unlink(at("in/sparse")), 0);
	assert_ok(keeper_put_back(keeper, kept));
	assert_none_lost(keeper);
	assert_dump(at("in"), before);
	struct stat st;
	assert_int_equal(stat(at("in/sparse"), &st), 0);
	assert_true(st.st_blocks < 4096);
	kept_destroy(kept);
	keeper_destroy(keeper);
}

/* Too large: said, and left alone; what lies beside it is kept. */
static void test_too_large(void **state _unused_)
{
	const char *paths[] = { at("in/huge"), at("in/small") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	write_text(at("in/huge"), "x");
	write_text(at("in/small"), "small");
	assert_int_equal(truncate(at("in/huge"), KEEP_BYTES_MAX + 1), 0);
	assert_ok(keeper_create(paths, 2, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_non_null(strstr(keeper_lost(keeper, 0), "in/huge: there is"));
	assert_null(keeper_lost(keeper, 1));
	assert_false(kept_whole(kept));
	write_text(at("in/huge"), "y");
	write_text(at("in/small"), "other");
	assert_ok(keeper_put_back(keeper, kept));
	assert_text(at("in/huge"), "y");
	assert_text(at("in/small"), "small");
	kept_destroy(kept);
	keeper_destroy(keeper);
}

/* ---- as an ordinary user ---- */

/* In a child that gave up its rights, where it has any. */
static void as_nobody(void (*what)(void))
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (geteuid() == 0 &&
		    (chown(box, NOBODY, NOBODY) < 0 ||
		     chown(at("in"), NOBODY, NOBODY) < 0 ||
		     setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
			_exit(77);
		what();
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void shut_folders(void)
{
	const char *paths[] = { at("in") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	assert_int_equal(mkdir(at("in/shut"), 0755), 0);
	write_text(at("in/shut/file"), "text");
	assert_int_equal(chmod(at("in/shut/file"), 0), 0);
	assert_int_equal(chmod(at("in/shut"), 0), 0);
	assert_int_equal(mkdir(at("in/read"), 0755), 0);
	write_text(at("in/read/file"), "text");
	assert_int_equal(chmod(at("in/read"), 0555), 0);
	_cleanup_(freep) char *before = dumped(at("in"));
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_none_lost(keeper);
	assert_dump(at("in"), before);
	assert_int_equal(chmod(at("in/shut"), 0700), 0);
	assert_int_equal(unlink(at("in/shut/file")), 0);
	assert_int_equal(chmod(at("in/shut"), 0), 0);
	assert_int_equal(chmod(at("in/read"), 0700), 0);
	write_text(at("in/read/file"), "other");
	write_text(at("in/read/more"), "more");
	assert_int_equal(chmod(at("in/read"), 0500), 0);
	assert_ok(keeper_put_back(keeper, kept));
	assert_none_lost(keeper);
	assert_dump(at("in"), before);
	kept_destroy(kept);
	keeper_destroy(keeper);
}

static void test_shut_folders(void **state _unused_)
{
	as_nobody(shut_folders);
}

static void others_file(void)
{
	const char *paths[] = { at("out/file") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_non_null(strstr(keeper_lost(keeper, 0), "Permission denied"));
	assert_ok(keeper_put_back(keeper, kept));
	kept_destroy(kept);
	keeper_destroy(keeper);
}

static void test_others_file(void **state _unused_)
{
	if (geteuid() != 0)
		skip();
	write_text(at("out/file"), "not yours");
	assert_int_equal(chmod(at("out/file"), 0600), 0);
	as_nobody(others_file);
	assert_text(at("out/file"), "not yours");
}

/* ---- no room ---- */

static void test_no_room(void **state _unused_)
{
	if (geteuid() != 0 ||
	    mount("none", at("in"), "tmpfs", 0, "size=1m") < 0)
		skip();
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	const char *paths[] = { at("in/file"), at("in/grown") };
	_cleanup_(freep) char *data = calloc(1, 400 << 10);
	assert_non_null(data);
	memset(data, 'x', 400 << 10);
	write_n(at("in/file"), data, 400 << 10);
	write_n(at("in/grown"), data, 300 << 10);
	assert_ok(keeper_create(paths, 2, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_int_equal(unlink(at("in/file")), 0);
	write_text(at("in/grown"), "short");
	/* Not told, so it stays, and there is no room for both any more. */
	write_n(at("in/filler"), data, 400 << 10);
	int fd = open(at("in/filler2"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, data, 4096) == 4096)
		;
	close(fd);
	assert_ok(keeper_put_back(keeper, kept));
	bool lost = false;
	for (size_t i = 0; keeper_lost(keeper, i); i++)
		lost |= strstr(keeper_lost(keeper, i), "No space") != NULL;
	/* All of it, or as it was: nothing in between. */
	assert_true(lost);
	assert_false(is_there(at("in/file")));
	assert_text(at("in/grown"), "short");
	assert_int_equal(unlink(at("in/filler")), 0);
	assert_int_equal(unlink(at("in/filler2")), 0);
	assert_ok(keeper_put_back(keeper, kept));
	struct stat st;
	assert_int_equal(stat(at("in/file"), &st), 0);
	assert_int_equal(st.st_size, 400 << 10);
	assert_int_equal(stat(at("in/grown"), &st), 0);
	assert_int_equal(st.st_size, 300 << 10);
	kept_destroy(kept);
	keeper_destroy(keeper);

	/* The mount point itself stays; what is in it is put back. */
	const char *whole[] = { at("in") };
	assert_ok(keeper_create(whole, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_int_equal(unlink(at("in/file")), 0);
	assert_ok(keeper_put_back(keeper, kept));
	assert_none_lost(keeper);
	assert_int_equal(stat(at("in/file"), &st), 0);
	kept_destroy(kept);
	keeper_destroy(keeper);
	assert_int_equal(umount(at("in")), 0);

	/* And one below what was kept is not looked into. */
	const char *around[] = { box };
	assert_int_equal(mkdir(at("in/mounted"), 0755), 0);
	assert_ok(keeper_create(around, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_int_equal(mount("none", at("in/mounted"), "tmpfs", 0, NULL), 0);
	write_text(at("in/mounted/file"), "mounted");
	assert_ok(keeper_put_back(keeper, kept));
	assert_non_null(keeper_lost(keeper, 0));
	assert_text(at("in/mounted/file"), "mounted");
	kept_destroy(kept);
	keeper_destroy(keeper);
	assert_int_equal(umount(at("in/mounted")), 0);
}

/* ---- anything ---- */

static uint64_t seed;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % n;
}

static const char *const tree[] = {
	"in/a",	    "in/b",	 "in/c",     "in/d",	 "in/d/a",
	"in/d/b",   "in/d/e",	 "in/d/e/a", "in/d/e/b", "in/d/e/f",
	"in/d/e/f", "in/\xff g", "in/g",     "in/g/h",	 "in/g/h/i",
};

static void open_up(const char *path)
{
	char folder[8192];
	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash; (slash = strrchr(folder, '/'));) {
		*slash = '\0';
		if (!strcmp(folder, box))
			return;
		struct stat st;
		if (lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && pick(2))
			(void)!chmod(folder, 0700 | (st.st_mode & 077));
	}
}

static void random_content(const char *path)
{
	char text[300];
	size_t n = pick(sizeof(text));
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + pick(4));
	int flags = pick(2) ? O_TRUNC : pick(2) ? O_APPEND : 0;
	int fd = open(path,
		      O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC |
			      flags,
		      0600 | pick(0100));
	if (fd >= 0)
		(void)!write(fd, text, n);
	closep(&fd);
}

/* Does no link lead elsewhere on the way? */
static bool is_inside(const char *path)
{
	char folder[256];
	snprintf(folder, sizeof(folder), "%s", path);
	char *slash = strrchr(folder, '/');
	assert_non_null(slash);
	*slash = '\0';
	_cleanup_(freep) char *real = realpath(folder, NULL);
	return real && !strcmp(real, folder);
}

/* Whatever it is, as far as it is possible; failing is fine. */
static void random_act(void)
{
	static const unsigned ms[] = { 0,    0400, 0500, 0555, 0600,
				       0644, 0700, 0755, 02755 };
	char path[256], other[256];
	snprintf(path, sizeof(path), "%s", at(tree[pick(ARRAY_SIZE(tree))]));
	snprintf(other, sizeof(other), "%s", at(tree[pick(ARRAY_SIZE(tree))]));
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
				     { .tv_sec = pick(1000) } };
	open_up(path);
	if (!is_inside(path) || !is_inside(other))
		return;
	switch (pick(14)) {
	case 0:
	case 1:
	case 2:
		random_content(path);
		break;
	case 3:
		(void)!unlink(path);
		break;
	case 4:
	case 5:
		(void)!mkdir(path, ms[pick(ARRAY_SIZE(ms))] | 0700);
		break;
	case 6:
		(void)!rmdir(path);
		break;
	case 7:
		(void)!rename(path, other);
		break;
	case 8:
		(void)!fchmodat(AT_FDCWD, path, ms[pick(ARRAY_SIZE(ms))],
				AT_SYMLINK_NOFOLLOW);
		break;
	case 9:
		(void)!symlink(pick(2) ? at("out") : other, path);
		break;
	case 10:
		(void)!link(other, path);
		break;
	case 11:
		(void)!mkfifo(path, 0644);
		break;
	case 12:
		(void)!utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
		break;
	default:
		if (pick(2))
			(void)!lsetxattr(path, "user.kept", "yes", pick(4), 0);
		else
			(void)!lremovexattr(path, "user.kept");
		break;
	}
}

#define STATES 4

static void random_round(unsigned number)
{
	const char *whole[] = { at("in"), at("in/d/e") };
	struct keeper *keeper = NULL;
	struct kept *kept[STATES] = {};
	char *dumps[STATES] = {};
	assert_ok(keeper_create(whole, 2, &keeper));
	for (int i = 0; i < 20; i++) {
		unsigned which = pick(STATES);
		if (!kept[which] || !pick(3)) {
			kept_destroy(kept[which]);
			free(dumps[which]);
			dumps[which] = dumped(at("in"));
			kept[which] = NULL;
			assert_ok(keeper_take(keeper, &kept[which]));
			assert_none_lost(keeper);
			assert_dump(at("in"), dumps[which]);
		}
		for (unsigned k = pick(12); k > 0; k--)
			random_act();
		which = pick(STATES);
		if (!kept[which])
			continue;
		_cleanup_(freep) char *beside = dumped(at("out"));
		assert_ok(keeper_put_back(keeper, kept[which]));
		assert_none_lost(keeper);
		assert_dump(at("out"), beside);
		_cleanup_(freep) char *now = dumped(at("in"));
		if (strcmp(now, dumps[which]))
			print_error("round %u, step %d:\nwas\n%s\nis\n%s\n",
				    number, i, dumps[which], now);
		assert_string_equal(now, dumps[which]);
	}
	for (size_t i = 0; i < STATES; i++) {
		kept_destroy(kept[i]);
		free(dumps[i]);
	}
	keeper_destroy(keeper);
}

static void random_rounds(void)
{
	for (unsigned i = 0; i < 60; i++) {
		seed = i * 7919 + 1;
		random_round(i);
	}
}

static void test_random(void **state _unused_)
{
	random_rounds();
}

static void test_random_user(void **state _unused_)
{
	as_nobody(random_rounds);
}

/* Stamps of files move every few milliseconds. */
static void let_time_pass(void)
{
	usleep(50 * 1000);
}

/* Where a name was not, there may be the only copy of something now. */
static void test_moved_here(void **state _unused_)
{
	struct statx old;
	write_text(at("out/old"), "not kept");
	assert_int_equal(statx(AT_FDCWD, at("out/old"), 0, STATX_BTIME, &old),
			 0);
	if (!(old.stx_mask & STATX_BTIME))
		skip(); /* nothing tells how old a file is */
	write_text(at("out/other"), "not kept either");
	write_text(at("in/kept"), "kept");
	write_text(at("in/renamed"), "kept, too");
	let_time_pass();
	const char *paths[] = { at("in/absent"), at("in/kept"),
				at("in/renamed"), at("in/new"),
				at("in/folder") };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	assert_ok(keeper_create(paths, ARRAY_SIZE(paths), &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_int_equal(mkdir(at("in/folder"), 0755), 0);
	assert_int_equal(rename(at("out/old"), at("in/absent")), 0);
	assert_int_equal(rename(at("in/renamed"), at("in/folder/renamed")), 0);
	assert_int_equal(rename(at("out/other"), at("in/kept")), 0);
	write_text(at("in/new"), "made");
	assert_ok(keeper_put_back(keeper, kept));
	assert_text(at("in/absent"), "not kept");
	assert_text(at("in/kept"), "not kept either");
	assert_text(at("in/renamed"), "kept, too");
	assert_false(is_there(at("in/new")));
	assert_false(is_there(at("in/folder")));
	assert_non_null(keeper_lost(keeper, 0));
	assert_non_null(keeper_lost(keeper, 1));
	assert_null(keeper_lost(keeper, 2));
	/* A state that was taken later makes nobody's file a test's. */
	struct kept *later = NULL;
	assert_ok(keeper_take(keeper, &later));
	assert_ok(keeper_put_back(keeper, kept));
	assert_text(at("in/absent"), "not kept");
	kept_destroy(later);
	kept_destroy(kept);
	keeper_destroy(keeper);
}

/* A folder of which only the attributes are kept. */
static void test_folder_itself(void **state _unused_)
{
	write_text(at("in/file"), "before");
	char path[256];
	snprintf(path, sizeof(path), "%s/", at("in"));
	const char *paths[] = { path };
	struct keeper *keeper = NULL;
	struct kept *kept = NULL;
	assert_ok(keeper_create(paths, 1, &keeper));
	assert_ok(keeper_take(keeper, &kept));
	assert_true(keeper_has(keeper, at("in")));
	assert_false(keeper_has(keeper, at("in/file")));
	_cleanup_(freep) char *root = keeper_root(keeper, 0);
	assert_string_equal(root, at("in"));
	write_text(at("in/file"), "after");
	write_text(at("in/more"), "new");
	assert_int_equal(chmod(at("in"), 0700), 0);
	assert_ok(keeper_put_back(keeper, kept));
	struct stat st;
	assert_int_equal(stat(at("in"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_text(at("in/file"), "after");
	assert_text(at("in/more"), "new");
	assert_null(keeper_lost(keeper, 0));
	kept_destroy(kept);
	keeper_destroy(keeper);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	umask(022);
	const struct CMUnitTest tests[] = {
		TEST(test_changes),	TEST(test_link_away),
		TEST(test_in_place),	TEST(test_untouched),
		TEST(test_far_times),	TEST(test_missing),
		TEST(test_hard_links),	TEST(test_working_directory),
		TEST(test_names),	TEST(test_large),
		TEST(test_too_large),	TEST(test_shut_folders),
		TEST(test_others_file), TEST(test_no_room),
		TEST(test_moved_here),	TEST(test_folder_itself),
		TEST(test_random),	TEST(test_random_user),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
