// Files: every kind of change that a test can leave, each with its twin that puts it back. Each test has files of its own.
//
//@ subject framework=functions lang=c where=file
//@ variant plain quick=gcc-O0,clang-O2
//@ variant static libs=-static builds=gcc-O2 quick=gcc-O2
//@ run default
//@ run walk --file-tracking walk --watch-dir . on=plain-*
//@ run files --only files on=plain-gcc-O0

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

extern char **environ;

// ---- being there ----

TEST(test_creates) //@ pollutes test_creates created.txt created.txt before=absent after="file of 5 bytes" severity=medium effect=settles
{
	write_file("created.txt", "hello");
}

TEST(test_creates_and_removes) //@ clean test_creates_and_removes
{
	write_file("shortly.txt", "hello");
	unlink("shortly.txt");
}

TEST(test_creates_empty) //@ pollutes test_creates_empty empty.txt empty.txt before=absent after="empty file"
{
	write_file("empty.txt", "");
}

TEST(test_deletes) //@ pollutes test_deletes deleted.txt deleted.txt before="file of 4 bytes" after=absent severity=medium
{
	unlink("deleted.txt");
}

TEST(test_deletes_and_puts_back) //@ clean test_deletes_and_puts_back
{
	unlink("put-back.txt");
	write_file("put-back.txt", "old\n");
}

TEST(test_opens_only) //@ clean test_opens_only
{
	close(open("put-back.txt", O_RDWR | O_CLOEXEC));
}

TEST(test_open_fails) //@ clean test_open_fails
{
	(void)!open("put-back.txt", O_WRONLY | O_CREAT | O_EXCL, 0600);
	(void)!open("no/such/folder.txt", O_WRONLY | O_CREAT, 0600);
	unlink("nowhere.txt");
	rmdir("nowhere");
	rename("nowhere.txt", "somewhere.txt");
}

// ---- content ----

TEST(test_same_size) //@ pollutes test_same_size same-size.txt same-size.txt before="\"old\\n\"" after="\"new\\n\"" severity=medium effect=settles
{
	write_file("same-size.txt", "new\n");
}

TEST(test_other_size) //@ pollutes test_other_size other-size.txt other-size.txt before="\"old\\n\"" after="\"longer\\n\""
{
	write_file("other-size.txt", "longer\n");
}

TEST(test_appends) //@ pollutes test_appends appended.txt appended.txt before="\"old\\n\"" after="\"old\\nmore\\n\"" effect=accumulates
{
	append_file("appended.txt", "more\n");
}

TEST(test_fopen_appends) //@ pollutes test_fopen_appends fopened.txt fopened.txt before="\"old\\n\"" effect=accumulates
{
	FILE *file = fopen("fopened.txt", "a");
	if (!file)
		return;
	fprintf(file, "%s\n", "by stdio");
	fclose(file);
}

TEST(test_cuts) //@ pollutes test_cuts cut.txt cut.txt before="\"old\\n\"" after="\"o\""
{
	(void)!truncate("cut.txt", 1);
}

TEST(test_empties) //@ pollutes test_empties emptied.txt emptied.txt before="...old..." after="empty file|\"\""
{
	write_file("emptied.txt", "");
}

TEST(test_rewrites) //@ clean test_rewrites
{
	write_file("rewritten.txt", "old\n");
}

TEST(test_replaces_with_the_same) //@ clean test_replaces_with_the_same
{
	write_file("rewritten.new", "old\n");
	rename("rewritten.new", "rewritten.txt");
}

TEST(test_replaces) //@ pollutes test_replaces replaced.txt replaced.txt before="\"old\\n\"" after="\"new\\n\""
{
	write_file("replaced.new", "new\n");
	rename("replaced.new", "replaced.txt");
}

TEST(test_changes_and_puts_back) //@ clean test_changes_and_puts_back
{
	write_file("rewritten.txt", "something else");
	append_file("rewritten.txt", "and more");
	write_file("rewritten.txt", "old\n");
}

TEST(test_big) //@ pollutes test_big big.bin big.bin before="200000 bytes, hash ..." after="200000 bytes, hash ..."
{
	int fd = open("big.bin", O_WRONLY | O_CLOEXEC);
	(void)!pwrite(fd, "x", 1, 150000);
	close(fd);
}

TEST(test_big_and_back) //@ clean test_big_and_back
{
	char old, x = 'y';
	int fd = open("big.bin", O_RDWR | O_CLOEXEC);
	(void)!pread(fd, &old, 1, 99000);
	(void)!pwrite(fd, &x, 1, 99000);
	(void)!pwrite(fd, &old, 1, 99000);
	close(fd);
}

TEST(test_binary) //@ pollutes test_binary binary.bin binary.bin before="4 bytes, hash ..." after="5 bytes, hash ..."
{
	put("binary.bin", O_TRUNC, "\0\1\2\xff\xfe", 5);
}

// ---- names ----

//@ pollutes test_renames renamed.txt "renamed.txt: name" before=renamed.txt after=new-name.txt in=default,files
//@ pollutes test_renames renamed.txt|new-name.txt in=walk
TEST(test_renames)
{
	rename("renamed.txt", "new-name.txt");
}

TEST(test_renames_back) //@ clean test_renames_back
{
	rename("to-and-fro.txt", "other-name.txt");
	rename("other-name.txt", "to-and-fro.txt");
}

//@ pollutes test_renames_folder folder-old "folder-old: name" before=folder-old after=folder-new in=default,files
//@ pollutes test_renames_folder folder-old|folder-new|folder-old/...|folder-new/... in=walk
TEST(test_renames_folder)
{
	rename("folder-old", "folder-new");
}

TEST(test_renames_folder_back) //@ clean test_renames_folder_back
{
	rename("folder-fro", "folder-to");
	rename("folder-to", "folder-fro");
}

TEST(test_renames_over) //@ pollutes test_renames_over over-from.txt|over-to.txt
{
	rename("over-from.txt", "over-to.txt");
}

//@ pollutes test_exchanges left.txt|right.txt
TEST(test_exchanges)
{
	renameat2(AT_FDCWD, "left.txt", AT_FDCWD, "right.txt", RENAME_EXCHANGE);
}

TEST(test_renames_fresh) //@ pollutes test_renames_fresh fresh-final.txt fresh-final.txt before=absent
{
	write_file("fresh-draft.txt", "draft");
	rename("fresh-draft.txt", "fresh-final.txt");
}

// The new name says it all: that the old one has a link more is not told again.
TEST(test_links) //@ pollutes test_links linked-again.txt linked-again.txt before=absent
{
	(void)!link("linked.txt", "linked-again.txt");
}

//@ pollutes test_links_outside /...linked-outside.txt ... before=absent in=default,files
//@ pollutes test_links_outside linked-out.txt "linked-out.txt: links" before="...1..." after="...2..." may=yes in=walk
TEST(test_links_outside)
{
	(void)!link("linked-out.txt", "../linked-outside.txt");
}

TEST(test_links_and_unlinks) //@ clean test_links_and_unlinks
{
	(void)!link("rewritten.txt", "rewritten-too.txt");
	unlink("rewritten-too.txt");
}

// The other name's content is the same file's.
TEST(test_through_other_name) //@ pollutes test_through_other_name one-name.txt|another-name.txt
{
	write_file("one-name.txt", "new\n");
}

TEST(test_symlinks) //@ pollutes test_symlinks symlink symlink before=absent after="symbolic link to put-back.txt"
{
	(void)!symlink("put-back.txt", "symlink");
}

TEST(test_symlinks_to_nothing) //@ pollutes test_symlinks_to_nothing dangling dangling after="symbolic link to no such file"
{
	(void)!symlink("no such file", "dangling");
}

TEST(test_symlink_and_back) //@ clean test_symlink_and_back
{
	(void)!symlink("put-back.txt", "short-link");
	unlink("short-link");
}

TEST(test_retargets) //@ pollutes test_retargets pointer "pointer: target|pointer" before="...first..." after="...second..."
{
	unlink("pointer");
	(void)!symlink("second", "pointer");
}

TEST(test_retargets_back) //@ clean test_retargets_back
{
	unlink("pointer-kept");
	(void)!symlink("second", "pointer-kept");
	unlink("pointer-kept");
	(void)!symlink("first", "pointer-kept");
}

TEST(test_writes_through_symlink) //@ pollutes test_writes_through_symlink behind.txt behind.txt before="\"old\\n\"" after="\"new\\n\""
{
	write_file("in-front", "new\n");
}

TEST(test_other_type) //@ pollutes test_other_type other-type "other-type: type|other-type" before="file...|...old..." after="folder..."
{
	unlink("other-type");
	mkdir("other-type", 0755);
}

// ---- what is known of a file ----

TEST(test_mode) //@ pollutes test_mode mode.txt "mode.txt: mode" before="...644..." after="...600..." severity=medium effect=settles
{
	chmod("mode.txt", 0600);
}

TEST(test_mode_back) //@ clean test_mode_back
{
	chmod("rewritten.txt", 0600);
	chmod("rewritten.txt", 0644);
}

TEST(test_fchmod_folder) //@ pollutes test_fchmod_folder mode-folder "mode-folder: mode" before="...755..." after="...711..."
{
	int fd = open("mode-folder", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fchmod(fd, 0711);
	close(fd);
}

static void set_time(const char *name, long seconds)
{
	struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	utimensat(AT_FDCWD, name, times, 0);
}

//@ pollutes test_times times.txt "times.txt: times" in=default,files
//@ pollutes test_times times.txt may=yes in=walk
TEST(test_times)
{
	set_time("times.txt", 1000000000);
}

TEST(test_times_back) //@ clean test_times_back
{
	struct stat before;
	if (stat("times-kept.txt", &before))
		return;
	set_time("times-kept.txt", 1000000000);
	struct timespec times[2] = { before.st_atim, before.st_mtim };
	utimensat(AT_FDCWD, "times-kept.txt", times, 0);
}

// ---- other kinds of files ----

TEST(test_fifo) //@ pollutes test_fifo fifo fifo before=absent after=FIFO
{
	mkfifo("fifo", 0600);
}

TEST(test_fifo_and_back) //@ clean test_fifo_and_back
{
	mkfifo("short-fifo", 0600);
	unlink("short-fifo");
}

static void bind_file(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)!bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
}

TEST(test_socket) //@ pollutes test_socket socket socket before=absent after=socket
{
	bind_file("socket");
}

TEST(test_socket_and_back) //@ clean test_socket_and_back
{
	bind_file("short-socket");
	unlink("short-socket");
}

// ---- folders ----

TEST(test_folder) //@ pollutes test_folder folder folder before=absent after=folder
{
	mkdir("folder", 0755);
}

TEST(test_folder_and_back) //@ clean test_folder_and_back
{
	mkdir("short-folder", 0755);
	write_file("short-folder/a.txt", "a");
	unlink("short-folder/a.txt");
	rmdir("short-folder");
}

TEST(test_removes_folder) //@ pollutes test_removes_folder removed-folder removed-folder before=folder after=absent
{
	rmdir("removed-folder");
}

TEST(test_removes_folder_and_puts_back) //@ clean test_removes_folder_and_puts_back
{
	rmdir("kept-folder");
	mkdir("kept-folder", 0755);
}

TEST(test_tree) //@ pollutes test_tree tree|tree/... tree before=absent after=folder... at-most=5
{
	mkdir("tree", 0755);
	mkdir("tree/a", 0755);
	mkdir("tree/a/b", 0755);
	write_file("tree/a/b/leaf.txt", "leaf");
	write_file("tree/a/other.txt", "other");
}

TEST(test_removes_tree) //@ pollutes test_removes_tree removed-tree|removed-tree/... removed-tree after=absent at-most=3
{
	unlink("removed-tree/a/leaf.txt");
	rmdir("removed-tree/a");
	rmdir("removed-tree");
}

TEST(test_file_in_folder) //@ pollutes test_file_in_folder kept-folder/inside.txt kept-folder/inside.txt before=absent
{
	write_file("kept-folder/inside.txt", "inside");
}

// ---- ways to write ----

TEST(test_forks) //@ pollutes test_forks by-fork.txt by-fork.txt before=absent after="file of 5 bytes"
{
	pid_t pid = fork();
	if (pid == 0) {
		write_file("by-fork.txt", "child");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

TEST(test_forks_and_back) //@ clean test_forks_and_back
{
	pid_t pid = fork();
	if (pid == 0) {
		write_file("short-by-fork.txt", "child");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	unlink("short-by-fork.txt");
}

TEST(test_shell) //@ pollutes test_shell by-shell.txt by-shell.txt before=absent after="file of 3 bytes"
{
	(void)!system("echo hi > by-shell.txt");
}

TEST(test_shell_and_back) //@ clean test_shell_and_back
{
	(void)!system("touch short-by-shell.txt; rm short-by-shell.txt");
}

// The child is this program: a static one in the static variant.
TEST(test_spawns) //@ pollutes test_spawns by-spawn.txt by-spawn.txt before=absent after="file of 7 bytes"
{
	char *argv[] = { "child", "by-spawn.txt", NULL };
	pid_t pid;
	if (!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ))
		waitpid(pid, NULL, 0);
}

TEST(test_maps) //@ pollutes test_maps mapped.bin mapped.bin before="..., hash ..." after="..., hash ..."
{
	int fd = open("mapped.bin", O_RDWR | O_CLOEXEC);
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return;
	at[100] = 'x';
	munmap(at, 4096);
}

TEST(test_maps_privately) //@ clean test_maps_privately
{
	int fd = open("mapped.bin", O_RDWR | O_CLOEXEC);
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return;
	at[200] = 'x';
	munmap(at, 4096);
}

static int early_fd;
static char *early_map;

// Opened before the first test: only the write is the test's.
TEST(test_early_descriptor) //@ pollutes test_early_descriptor early.txt early.txt before="\"old\\n\"" after="\"new\\n\""
{
	(void)!pwrite(early_fd, "new\n", 4, 0);
}

TEST(test_early_descriptor_unused) //@ clean test_early_descriptor_unused
{
	char text[8];
	(void)!pread(early_fd, text, sizeof(text), 0);
}

// Mapped before the first test: not even a system call. Nobody tells who walks of it.
//@ pollutes test_early_mapping early-map.bin early-map.bin before="..., hash ..." after="..., hash ..." in=default,files
//@ pollutes test_early_mapping early-map.bin ... may=yes in=walk
TEST(test_early_mapping)
{
	if (early_map)
		*(volatile char *)(early_map + 50) = 'n';
}

TEST(test_early_mapping_unused) //@ clean test_early_mapping_unused
{
	if (early_map)
		TOUCH(early_map);
}

// Removing what another test left makes it as it was at first.
TEST(test_removes_of_another) //@ clean test_removes_of_another
{
	unlink("created.txt");
}

TEST(test_reads_everything) //@ clean test_reads_everything
{
	char text[64];
	read_file("put-back.txt", text, sizeof(text));
	read_file("rewritten.txt", text, sizeof(text));
	struct stat st;
	(void)!stat("kept-folder", &st);
	(void)!access("times-kept.txt", R_OK);
}

static void prepare(void)
{
	static const char *const names[] = {
		"deleted.txt",	"put-back.txt", "same-size.txt",  "other-size.txt", "appended.txt", "fopened.txt",
		"cut.txt",	"emptied.txt",	"rewritten.txt",  "replaced.txt",   "renamed.txt",  "to-and-fro.txt",
		"over-to.txt",	"left.txt",	"linked.txt", "linked-out.txt",	  "one-name.txt",   "behind.txt",   "other-type",
		"mode.txt",	"times.txt",	"times-kept.txt", "early.txt",
	};
	static char data[200000];
	umask(022);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		write_file(names[i], "old\n");
	write_file("over-from.txt", "from");
	write_file("right.txt", "right");
	put("big.bin", O_TRUNC, data, sizeof(data));
	put("binary.bin", O_TRUNC, "\0\1\2\xff", 4);
	put("mapped.bin", O_TRUNC, data, 4096);
	put("early-map.bin", O_TRUNC, data, 4096);
	(void)!link("one-name.txt", "another-name.txt");
	(void)!symlink("first", "pointer");
	(void)!symlink("first", "pointer-kept");
	(void)!symlink("behind.txt", "in-front");
	static const char *const folders[] = { "folder-old",   "folder-fro",  "mode-folder", "removed-folder",
					       "removed-tree", "kept-folder", "removed-tree/a" };
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		mkdir(folders[i], 0755);
	write_file("folder-old/in.txt", "in");
	write_file("folder-fro/in.txt", "in");
	write_file("removed-tree/a/leaf.txt", "leaf");
	early_fd = open("early.txt", O_RDWR | O_CLOEXEC);
	int fd = open("early-map.bin", O_RDWR | O_CLOEXEC);
	early_map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (early_map == MAP_FAILED)
		early_map = NULL;
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		write_file(argv[1], "spawned");
		return 0;
	}
	prepare();
	return runner_main();
}
