/* Every kind of change, both ways of finding it, with its negative twin. */
#include "files_unit.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>

static void each_way(void (*scenario)(struct box *))
{
	for (int walk = 0; walk < 2; walk++) {
		struct box box;
		box_open(&box, walk);
		scenario(&box);
		box_close(&box);
	}
}

#define SCENARIO(name)                                                         \
	static void name##_on(struct box *box);                                \
	static void name(void **state)                                         \
	{                                                                      \
		(void)state;                                                   \
		each_way(name##_on);                                           \
	}                                                                      \
	static void name##_on(struct box *box)

SCENARIO(test_created)
{
	box_files(box);
	assert_shown(box, "");
	op_write(box, "a", "twelve bytes");
	op_write(box, "b", "");
	op_write(box, "c", "1");
	assert_shown(box, "a|absent|file of 12 bytes\n"
			  "b|absent|empty file\n"
			  "c|absent|file of 1 byte\n");
	assert_int_equal(box->changes.data[0].weight, WEIGHT_MEDIUM);
	assert_int_not_equal(box->changes.data[0].digest,
			     box->changes.data[0].digest_before);
	assert_shown(box, "");
	/* Created and removed: nothing. */
	op_write(box, "d", "x");
	op_unlink(box, "d");
	assert_shown(box, "");
}

SCENARIO(test_removed)
{
	op_write(box, "a", "twelve bytes");
	op_write(box, "b", "stays");
	box_files(box);
	op_unlink(box, "a");
	op_unlink(box, "b");
	op_write(box, "b", "stays");
	assert_shown(box, "a|file of 12 bytes|absent\n");
	assert_shown(box, "");
}

SCENARIO(test_content)
{
	op_write(box, "a", "a=1\n");
	op_write(box, "b", "b=1\n");
	op_write(box, "c", "same");
	op_write(box, "binary", "\x01\x02");
	op_write(box, "full", "full");
	box_files(box);
	op_write(box, "a", "a=2\n");
	op_write(box, "b", "b=2\n");
	op_write(box, "b", "b=1\n");
	op_write(box, "c", "same");
	op_write(box, "binary", "\x01\x03");
	op_write(box, "full", "");
	assert_true(op_open(box, "c", O_RDWR, 0) >= 0);
	capture(box);
	assert_int_equal(box->changes.n, 3);
	assert_string_equal(box->changes.data[0].root, "a");
	assert_string_equal(box->changes.data[0].paths[0].path, "a");
	assert_string_equal(box->changes.data[0].paths[0].before, "\"a=1\\n\"");
	assert_string_equal(box->changes.data[0].paths[0].after, "\"a=2\\n\"");
	assert_string_equal(box->changes.data[1].root, "binary");
	assert_true(!strncmp(box->changes.data[1].paths[0].before,
			     "2 bytes, hash ", 14));
	assert_string_equal(box->changes.data[2].paths[0].after, "empty file");
}

SCENARIO(test_atomic_rewrite)
{
	op_write(box, "a", "one");
	op_write(box, "b", "two");
	box_files(box);
	op_write(box, "a.new", "one");
	assert_int_equal(op_rename(box, "a.new", "a"), 0);
	assert_shown(box, "");
	op_write(box, "b.new", "2!");
	assert_int_equal(op_rename(box, "b.new", "b"), 0);
	assert_shown(box, "b|\"two\"|\"2!\"\n");
}

SCENARIO(test_long_text_from_the_difference)
{
	char text[512];
	memset(text, 'x', sizeof(text));
	text[250] = '\0';
	op_write(box, "a", text);
	box_files(box);
	text[200] = 'y';
	op_write(box, "a", text);
	capture(box);
	assert_int_equal(box->changes.n, 1);
	const struct change_path *path = &box->changes.data[0].paths[0];
	assert_string_not_equal(path->before, path->after);
	assert_non_null(strstr(path->after, "y"));
	assert_true(strlen(path->after) < 80);
}

SCENARIO(test_mode_owner_times)
{
	op_write(box, "a", "a");
	op_write(box, "b", "b");
	op_write(box, "c", "c");
	op_times(box, "c", 1000000000);
	box_files(box);
	op_chmod(box, "a", 0600);
	op_chmod(box, "b", 0600);
	op_chmod(box, "b", 0644);
	op_times(box, "c", 1100000000);
	assert_shown(box, "a: mode|0644|0600\n"
			  "low c: times|2001-09-09 01:46:40.000000|"
			  "2004-11-09 11:33:20.000000\n");
	op_times(box, "c", 1200000000);
	op_times(box, "c", 1100000000);
	assert_shown(box, "");
	if (geteuid() != 0)
		return;
	event(box, FOLLOW_OWNER, "a", NULL, 0, 0);
	assert_int_equal(chown(at(box, "a"), 1, 2), 0);
	assert_shown(box, "a: owner|0:0|1:2\n");
}

SCENARIO(test_xattrs)
{
	op_write(box, "a", "a");
	if (setxattr(at(box, "a"), "user.kept", "1", 1, 0) < 0) {
		print_message("no extended attributes here: not tested\n");
		return;
	}
	box_files(box);
	event(box, FOLLOW_XATTR, "a", NULL, 0, 0);
	setxattr(at(box, "a"), "user.foo", "bar", 3, 0);
	capture(box);
	assert_int_equal(box->changes.n, 1);
	assert_string_equal(box->changes.data[0].paths[0].path,
			    "a: xattr user.foo");
	assert_string_equal(box->changes.data[0].paths[0].before, "absent");
	assert_false(files_undone(box->files, &box->changes.data[0]));
	event(box, FOLLOW_XATTR, "a", NULL, 0, 0);
	removexattr(at(box, "a"), "user.foo");
	assert_true(files_undone(box->files, &box->changes.data[0]));
	capture(box);
	assert_int_equal(box->changes.n, 1);
	assert_string_equal(box->changes.data[0].paths[0].after, "absent");
}

SCENARIO(test_symbolic_links)
{
	op_write(box, "file", "file");
	op_symlink(box, "file", "link");
	op_symlink(box, "file", "kept");
	box_files(box);
	op_unlink(box, "link");
	op_symlink(box, "nowhere", "link");
	op_unlink(box, "kept");
	op_symlink(box, "file", "kept");
	op_symlink(box, "loop", "loop");
	assert_shown(box, "link: target|file|nowhere\n"
			  "loop|absent|symbolic link to loop\n");
	/* What it points to is another name's business. */
	op_write(box, "file", "more");
	assert_shown(box, "file|\"file\"|\"more\"\n");
}

SCENARIO(test_types)
{
	op_write(box, "a", "four");
	op_write(box, "fifo-to-be", "x");
	box_files(box);
	op_unlink(box, "a");
	op_mkdir(box, "a", 0755);
	op_write(box, "a/in", "x");
	op_unlink(box, "fifo-to-be");
	event(box, FOLLOW_CREATE, "fifo-to-be", NULL, 0, 0);
	assert_int_equal(mkfifo(at(box, "fifo-to-be"), 0644), 0);
	event(box, FOLLOW_CREATE, "pipe", NULL, 0, 0);
	assert_int_equal(mkfifo(at(box, "pipe"), 0644), 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", box->dir);
	event(box, FOLLOW_CREATE, "s", NULL, 0, 0);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	close(fd);
	assert_shown(box, "a: type|file of 4 bytes|folder with 1 entry\n"
			  "fifo-to-be: type|file of 1 byte|FIFO\n"
			  "pipe|absent|FIFO\n"
			  "s|absent|socket\n");
	assert_shown(box, "");
}

SCENARIO(test_renames)
{
	op_write(box, "a", "text");
	op_write(box, "b", "other");
	op_write(box, "there", "and back");
	box_files(box);
	assert_int_equal(op_rename(box, "a", "new"), 0);
	assert_int_equal(op_rename(box, "b", "changed"), 0);
	op_write(box, "changed", "OTHER");
	assert_int_equal(op_rename(box, "there", "x"), 0);
	assert_int_equal(op_rename(box, "x", "there"), 0);
	assert_shown(box, "a: name|a|new\n"
			  "b: name|b|changed\n"
			  "b|\"other\"|\"OTHER\"\n");
	assert_false(files_undone(box->files, &box->changes.data[0]));
	assert_int_equal(rename(at(box, "new"), at(box, "a")), 0);
	assert_true(files_undone(box->files, &box->changes.data[0]));
}

/* A number used again is no renaming. */
SCENARIO(test_inode_used_again)
{
	op_write(box, "a", "text");
	usleep(30000);
	box_files(box);
	op_unlink(box, "a");
	op_write(box, "b", "text");
	assert_shown(box, "a|file of 4 bytes|absent\n"
			  "b|absent|file of 4 bytes\n");
}

SCENARIO(test_renamed_over)
{
	op_write(box, "a", "text");
	op_write(box, "b", "other");
	box_files(box);
	assert_int_equal(op_rename(box, "a", "b"), 0);
	assert_shown(box, "a: name|a|b\n"
			  "b|\"other\"|\"text\"\n");
}

SCENARIO(test_exchanged)
{
	op_write(box, "a", "text");
	op_write(box, "b", "other");
	box_files(box);
	event(box, FOLLOW_RENAME, "a", "b", 2, 0);
	if (syscall(SYS_renameat2, AT_FDCWD, at(box, "a"), AT_FDCWD,
		    at(box, "b"), 2) < 0)
		return; /* not every file system can */
	assert_shown(box, "a: name|a|b\n"
			  "b: name|b|a\n");
}

SCENARIO(test_folders)
{
	op_mkdir(box, "old", 0755);
	op_mkdir(box, "old/sub", 0755);
	op_write(box, "old/sub/x", "x");
	op_write(box, "old/y", "y");
	op_mkdir(box, "kept", 0755);
	op_write(box, "kept/z", "z");
	box_files(box);
	op_mkdir(box, "new", 0755);
	op_mkdir(box, "new/sub", 0755);
	op_write(box, "new/sub/x", "x");
	op_write(box, "new/y", "y");
	op_mkdir(box, "empty", 0755);
	op_unlink(box, "old/sub/x");
	op_rmdir(box, "old/sub");
	op_unlink(box, "old/y");
	op_rmdir(box, "old");
	op_unlink(box, "kept/z");
	op_rmdir(box, "kept");
	op_mkdir(box, "kept", 0755);
	op_write(box, "kept/z", "z");
	assert_shown(box, "empty|absent|folder\n"
			  "new|absent|folder with 3 entries\n"
			  "old|folder with 3 entries|absent\n");
	const struct change *old = &box->changes.data[2];
	assert_false(files_undone(box->files, old));
	assert_int_equal(mkdir(at(box, "old"), 0755), 0);
	assert_false(files_undone(box->files, old));
	assert_int_equal(mkdir(at(box, "old/sub"), 0755), 0);
	struct files *files = take_ptr(box->files);
	op_write(box, "old/sub/x", "x");
	op_write(box, "old/y", "y");
	box->files = files;
	assert_true(files_undone(box->files, old));
	assert_false(files_undone(box->files, &box->changes.data[1]));
}

SCENARIO(test_renamed_folder)
{
	op_mkdir(box, "a", 0755);
	op_mkdir(box, "a/sub", 0755);
	op_write(box, "a/sub/x", "x");
	op_write(box, "a/y", "y");
	op_write(box, "a/gone", "gone");
	op_write(box, "a/out", "out");
	box_files(box);
	op_write(box, "a/sub/x", "changed before");
	assert_int_equal(op_rename(box, "a", "b"), 0);
	op_write(box, "b/y", "changed after");
	op_write(box, "b/more", "more");
	op_unlink(box, "b/gone");
	assert_int_equal(op_rename(box, "b/out", "out"), 0);
	assert_shown(box, "a: name|a|b\n"
			  "a/gone|file of 4 bytes|absent\n"
			  "a/out: name|a/out|out\n"
			  "a/sub/x|\"x\"|\"changed before\"\n"
			  "a/y|\"y\"|\"changed after\"\n"
			  "b/more|absent|file of 4 bytes\n");
	/* There and back. */
	assert_int_equal(op_rename(box, "b", "c"), 0);
	op_write(box, "c/y", "changed after");
	assert_int_equal(op_rename(box, "c", "b"), 0);
	assert_shown(box, "");
	/* A renaming that fails is none. */
	op_mkdir(box, "d", 0755);
	op_write(box, "d/x", "x");
	capture(box);
	assert_true(op_rename(box, "b", "d") < 0);
	op_write(box, "d/x", "y");
	assert_shown(box, "d/x|\"x\"|\"y\"\n");
}

SCENARIO(test_made_elsewhere_and_moved)
{
	box_files(box);
	op_mkdir(box, "t", 0755);
	op_write(box, "t/x", "x");
	op_write(box, "t/y", "y");
	assert_int_equal(op_rename(box, "t", "final"), 0);
	assert_shown(box, "final|absent|folder with 2 entries\n");
	op_unlink(box, "final/x");
	op_write(box, "final/x", "z");
	assert_shown(box, "final/x|\"x\"|\"z\"\n");
}

SCENARIO(test_hard_links)
{
	op_write(box, "a", "text");
	op_write(box, "p", "pair");
	op_link(box, "p", "q");
	box_files(box);
	op_link(box, "a", "b");
	assert_shown(box, "b|absent|file of 4 bytes\n");
	op_write(box, "a", "changed");
	assert_shown(box, "a|\"text\"|\"changed\"\n");
	op_unlink(box, "b");
	assert_shown(box, "b|file of 7 bytes|absent\n");
	op_write(box, "p", "PAIR");
	op_chmod(box, "q", 0600);
	capture(box);
	assert_int_equal(box->changes.n, 1);
	assert_string_equal(box->changes.data[0].root, "p");
}

/* A name that nobody counts is one all the same. */
SCENARIO(test_links_elsewhere)
{
	op_write(box, "a", "text");
	box_files(box);
	event(box, FOLLOW_LINK, "a", "excluded", 0, 0);
	assert_int_equal(link(at(box, "a"), at(box, "excluded")), 0);
	assert_shown(box, "a: links|1|2\n");
}

SCENARIO(test_does_not_count)
{
	box_files(box);
	op_write(box, "x.gcda", "x");
	op_write(box, "x.gcno", "x");
	op_write(box, "default.profraw", "x");
	op_mkdir(box, "excluded", 0755);
	op_write(box, "excluded/x", "x");
	op_write(box, "excluded-not", "x");
	assert_shown(box, "excluded-not|absent|file of 1 byte\n");
}

SCENARIO(test_strange_names)
{
	op_write(box, "new\nline", "1");
	op_write(box, "not-utf8-\xff\xfe", "1");
	box_files(box);
	op_write(box, "new\nline", "2");
	op_write(box, "not-utf8-\xff\xfe", "2");
	op_write(box, "\xc3", "");
	assert_shown(box, "new\nline|\"1\"|\"2\"\n"
			  "not-utf8-\xff\xfe|\"1\"|\"2\"\n"
			  "\xc3|absent|empty file\n");
}

SCENARIO(test_fresh_names)
{
	box_files(box);
	int fd = op_open(box, "x.aB3dE9", O_RDWR | O_CREAT | O_EXCL, 0600);
	close(fd);
	close(op_open(box, "x.Zz4400", O_RDWR | O_CREAT | O_EXCL, 0600));
	close(op_open(box, "noseparatorQ1w2E3.txt", O_RDWR | O_CREAT | O_EXCL,
		      0600));
	close(op_open(box, "plain.aB3dE9", O_RDWR | O_CREAT, 0644));
	op_mkdir(box, "dir-Ab12Cd", 0700);
	op_write(box, "dir-Ab12Cd/in", "x");
	op_write(box, "log.31337", "x");
	op_write(box, "log.313370", "x");
	assert_shown(box, "low dir-XXXXXX|absent|folder with 1 entry\n"
			  "low log.PID|absent|file of 1 byte\n"
			  "log.313370|absent|file of 1 byte\n"
			  "low noseparatorXXXXXX.txt|absent|empty file\n"
			  "plain.aB3dE9|absent|empty file\n"
			  "low x.XXXXXX|absent|empty file\n"
			  "low x.XXXXXX|absent|empty file\n");
	assert_int_equal(box->changes.n, 6);
	/* Later on, too. */
	op_write(box, "dir-Ab12Cd/more", "more");
	op_unlink(box, "x.aB3dE9");
	assert_shown(box, "dir-XXXXXX/more|absent|file of 4 bytes\n"
			  "x.XXXXXX|empty file|absent\n");
}

static const char *dated(const char *format)
{
	static char names[8][64];
	static unsigned next;
	char *name = names[next++ % ARRAY_SIZE(names)];
	time_t now = time(NULL);
	struct tm tm;
	assert_non_null(gmtime_r(&now, &tm));
	assert_true(strftime(name, sizeof(names[0]), format, &tm) > 0);
	return name;
}

/* Today's date is another one tomorrow. */
SCENARIO(test_dates)
{
	op_write(box, dated("old-%Y-%m-%d"), "1");
	op_write(box, dated("moved-%Y-%m-%d"), "1");
	box_files(box);
	op_write(box, dated("%Y-%m-%d"), "x");
	op_write(box, dated("dateonly%Y%m%d"), "x");
	op_write(box, dated("under_%Y_%m_%d.txt"), "x");
	op_write(box, dated("points.%Y.%m.%d-31337"), "x");
	op_write(box, dated("longer-%Y%m%d1"), "x");
	op_write(box, "release-2001-02-03", "x");
	op_write(box, dated("old-%Y-%m-%d"), "2");
	op_rename(box, dated("moved-%Y-%m-%d"), "kept");
	/* No mkstemp() made that up. */
	close(op_open(box, dated("log-%Y%m%d"), O_RDWR | O_CREAT | O_EXCL,
		      0600));
	op_mkdir(box, dated("folder-%Y-%m-%d"), 0755);
	char wanted[1024];
	snprintf(wanted, sizeof(wanted),
		 "DATE|absent|file of 1 byte\n"
		 "dateonlyDATE|absent|file of 1 byte\n"
		 "folder-DATE|absent|folder\n"
		 "log-DATE|absent|empty file\n"
		 "%s|absent|file of 1 byte\n"
		 "moved-DATE: name|%s|kept\n"
		 "old-DATE|\"1\"|\"2\"\n"
		 "low points.DATE-PID|absent|file of 1 byte\n"
		 "release-2001-02-03|absent|file of 1 byte\n"
		 "under_DATE.txt|absent|file of 1 byte\n",
		 dated("longer-%Y%m%d1"), dated("moved-%Y-%m-%d"));
	assert_shown(box, wanted);
	op_write(box, dated("folder-%Y-%m-%d/in-%Y%m%d"), "x");
	assert_shown(box, "folder-DATE/in-DATE|absent|file of 1 byte\n");
}

SCENARIO(test_undone)
{
	op_write(box, "a", "one");
	box_files(box);
	op_write(box, "a", "two");
	op_write(box, "b", "new");
	capture(box);
	assert_int_equal(box->changes.n, 2);
	struct change copy;
	assert_ok(change_copy(&box->changes.data[1], &copy));
	assert_false(files_undone(box->files, &box->changes.data[0]));
	assert_false(files_undone(box->files, &copy));
	op_write(box, "a", "one");
	op_unlink(box, "b");
	assert_true(files_undone(box->files, &box->changes.data[0]));
	assert_true(files_undone(box->files, &copy));
	copy.where = CHANGE_PROCESS;
	assert_false(files_undone(box->files, &copy));
	change_free(&copy);
	/* Forgotten: the state now is what counts. */
	assert_ok(files_capture(box->files, 0, NULL, 0, NULL));
	assert_shown(box, "");
}

SCENARIO(test_many_paths)
{
	box_files(box);
	char name[32];
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "x.aB%04d", i);
		close(op_open(box, name, O_RDWR | O_CREAT | O_EXCL, 0600));
	}
	capture(box);
	assert_int_equal(box->changes.n, 1);
	assert_int_equal(box->changes.data[0].n, 8);
	assert_int_equal(box->changes.data[0].more, 12);
}

SCENARIO(test_forgotten_where_nobody_asks)
{
	box_files(box);
	op_write(box, "a", "x");
	assert_ok(files_capture(box->files, 0, NULL, 0, NULL));
	assert_shown(box, "");
	op_write(box, "a", "y");
	assert_shown(box, "a|\"x\"|\"y\"\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_created),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_atomic_rewrite),
		cmocka_unit_test(test_long_text_from_the_difference),
		cmocka_unit_test(test_mode_owner_times),
		cmocka_unit_test(test_xattrs),
		cmocka_unit_test(test_symbolic_links),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_renames),
		cmocka_unit_test(test_inode_used_again),
		cmocka_unit_test(test_renamed_over),
		cmocka_unit_test(test_exchanged),
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_renamed_folder),
		cmocka_unit_test(test_made_elsewhere_and_moved),
		cmocka_unit_test(test_hard_links),
		cmocka_unit_test(test_links_elsewhere),
		cmocka_unit_test(test_does_not_count),
		cmocka_unit_test(test_strange_names),
		cmocka_unit_test(test_fresh_names),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_undone),
		cmocka_unit_test(test_many_paths),
		cmocka_unit_test(test_forgotten_where_nobody_asks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
