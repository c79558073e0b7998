/*
 * Kinds of change to files, for test_keeps.py. Arguments: "make FOLDER" fills a
 * folder; "list" names the kinds; KIND runs the tests, KIND and the name of a
 * test one of them.
 *
 * test_needs passes only where everything in the folder "data" is as it was
 * made. test_does changes something there in the way that KIND names. test_twin
 * does the very same to files of its own, and removes them.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__,    \
				__LINE__, #cond, errno);                       \
			abort();                                               \
		}                                                              \
	} while (0)

#define SINCE 1000000000 /* when everything there was changed */

/* ---- the folder ---- */

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK(fchmod(fd, 0640) == 0);
	close(fd);
}

static void set_time(const char *path)
{
	struct timespec times[2] = { { .tv_sec = SINCE }, { .tv_sec = SINCE } };
	CHECK(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) == 0);
}

static const char *const files[] = {
	"a", "b", "d1/f", "d1/in/g", "d2/f", "h1"
};
static const char *const others[] = { "h2", "link", "d1/in", "d1", "d2", "." };

/* In the working directory, as everything below. */
static void make(void)
{
	CHECK(mkdir("d1", 0750) == 0 && mkdir("d1/in", 0750) == 0 &&
	      mkdir("d2", 0750) == 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put(files[i], files[i]);
	setxattr("a", "user.k", "v", 1, 0);
	CHECK(link("h1", "h2") == 0 && symlink("a", "link") == 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		set_time(files[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		set_time(others[i]);
}

static int count_names(const char *path)
{
	int n = 0;
	DIR *dir = opendir(path);
	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static int is_as_made(void)
{
	struct stat st, other;
	char text[64], target[8] = "";
	int same = 1;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int fd = open(files[i], O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
		if (fd < 0 || fstat(fd, &st) ||
		    n != (ssize_t)strlen(files[i]) ||
		    memcmp(text, files[i], (size_t)n) ||
		    st.st_mode != (S_IFREG | 0640) || st.st_mtime != SINCE ||
		    st.st_uid != geteuid())
			same = 0;
		if (fd >= 0)
			close(fd);
	}
	if (setxattr("d2/f", "user.x", "", 0, 0) == 0) {
		removexattr("d2/f", "user.x");
		same = same && getxattr("a", "user.k", text, 2) == 1 &&
		       text[0] == 'v';
	}
	same = same && !stat("d1", &st) && st.st_mode == (S_IFDIR | 0750);
	same = same && readlink("link", target, 7) == 1 && target[0] == 'a';
	same = same && !stat("h1", &st) && !stat("h2", &other) &&
	       st.st_ino == other.st_ino;
	return same && count_names(".") == 7 && count_names("d1") == 2 &&
	       count_names("d2") == 1 && count_names("d1/in") == 1;
}

static void clear(const char *path)
{
	char command[256];
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", path,
		 path);
	CHECK(system(command) == 0);
}

/* ---- kinds ---- */

static int opened = -1; /* on "b", before the first test */
static char *mapped;	/* "a", likewise */

static int writable(const char *path)
{
	int fd = open(path, O_RDWR);
	CHECK(fd >= 0);
	return fd;
}

static void does_unlink(void)
{
	CHECK(unlink("a") == 0);
}
static void does_truncate(void)
{
	CHECK(truncate("a", 0) == 0);
}
static void does_ftruncate(void)
{
	int fd = writable("a");
	CHECK(ftruncate(fd, 9) == 0);
	close(fd);
}
static void does_append(void)
{
	FILE *f = fopen("a", "a");
	CHECK(f && fputs("x", f) >= 0 && !fclose(f));
}
static void does_create(void)
{
	put("new", "x");
}
static void does_rename_over(void)
{
	CHECK(rename("a", "b") == 0);
}
static void does_rename_away(void)
{
	CHECK(rename("a", "d1/a") == 0);
}
static void does_rename_folder(void)
{
	CHECK(rename("d1", "d3") == 0);
}
static void does_exchange_files(void)
{
	CHECK(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b",
		      RENAME_EXCHANGE) == 0);
}
static void does_exchange_folders(void)
{
	CHECK(syscall(SYS_renameat2, AT_FDCWD, "d1", AT_FDCWD, "d2",
		      RENAME_EXCHANGE) == 0);
}
static void does_link(void)
{
	CHECK(link("a", "l") == 0);
}

static void does_write_new_link(void)
{
	CHECK(link("a", "l") == 0);
	put("l", "x");
	CHECK(unlink("l") == 0);
}

static void does_write_old_link(void)
{
	put("h2", "x");
}

static void does_replace_link(void)
{
	put("h1", "x");
	CHECK(unlink("h1") == 0);
	put("h1", "y");
}

static void does_unlink_both_links(void)
{
	CHECK(unlink("h1") == 0 && unlink("h2") == 0);
}

static void does_tmpfile(void)
{
	char path[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);
	CHECK(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW) ==
	      0);
	close(fd);
}

static void does_symlink(void)
{
	CHECK(unlink("link") == 0 && symlink("b", "link") == 0);
}
static void does_write_by_symlink(void)
{
	put("link", "x");
}
static void does_mkdir(void)
{
	CHECK(mkdir("t", 0700) == 0 && mkdir("t/u", 0700) == 0);
	put("t/u/v", "x");
}
static void does_rmtree(void)
{
	CHECK(unlink("d2/f") == 0 && rmdir("d2") == 0);
}
static void does_fifo(void)
{
	CHECK(mkfifo("fifo", 0600) == 0);
}
static void does_file_for_folder(void)
{
	does_rmtree();
	put("d2", "x");
}

static void does_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
				       .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(fd >= 0 &&
	      bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	close(fd);
}

static int readable(const char *path)
{
	int fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	return fd;
}

static void does_chmod(void)
{
	CHECK(chmod("a", 0600) == 0);
}
static void does_fchmod(void)
{
	int fd = readable("a");
	CHECK(fchmod(fd, 0600) == 0);
	close(fd);
}
static void does_shut(void)
{
	CHECK(chmod("d1", 0) == 0);
}
static void does_chown(void)
{
	int fd = readable("a");
	CHECK(fchown(fd, 12345, 12345) == 0);
	close(fd);
}

static void does_utimes(void)
{
	struct timespec times[2] = { { .tv_sec = 5 }, { .tv_sec = 5 } };
	int fd = readable("a");
	CHECK(futimens(fd, times) == 0);
	close(fd);
}

static void does_xattr(void)
{
	int fd = readable("a");
	CHECK(fsetxattr(fd, "user.k", "w", 1, 0) == 0);
	close(fd);
}
static void does_fallocate(void)
{
	int fd = writable("a");
	CHECK(fallocate(fd, 0, 0, 9000) == 0);
	close(fd);
}
static void does_punch_hole(void)
{
	int fd = writable("b");
	CHECK(pwrite(fd, "\0", 1, 0) == 1);
	close(fd);
}

static void does_copy_range(void)
{
	int from = readable("d1/f"), to = writable("a");
	CHECK(copy_file_range(from, NULL, to, NULL, 4, 0) > 0);
	close(from);
	close(to);
}

static void does_sendfile(void)
{
	int from = readable("d1/f"), to = writable("a");
	CHECK(sendfile(to, from, NULL, 4) > 0);
	close(from);
	close(to);
}

static void does_splice(void)
{
	int pipes[2], to = writable("a");
	CHECK(pipe(pipes) == 0 && write(pipes[1], "xyz", 3) == 3);
	CHECK(splice(pipes[0], NULL, to, NULL, 3, 0) == 3);
	close(pipes[0]);
	close(pipes[1]);
	close(to);
}

static void does_mmap(void)
{
	int fd = writable("a");
	char *at = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED);
	close(fd);
	*at = 'x';
	CHECK(munmap(at, 1) == 0);
}

static void does_write_open(void)
{
	CHECK(pwrite(opened, "x", 1, 0) == 1);
}
static void does_write_mapped(void)
{
	*mapped = 'x';
}

static void does_write_dup(void)
{
	int fd = dup(opened);
	CHECK(fd >= 0 && pwrite(fd, "y", 1, 0) == 1);
	close(fd);
}

static void does_rename_open(void)
{
	CHECK(pwrite(opened, "z", 1, 0) == 1 && rename("b", "c") == 0);
}
static void does_unlink_open(void)
{
	CHECK(pwrite(opened, "z", 1, 0) == 1 && unlink("b") == 0);
}

static void does_unlink_written(void)
{
	int fd = writable("a");
	CHECK(unlink("a") == 0 && write(fd, "x", 1) == 1);
	close(fd);
}

static void does_openat(void)
{
	int folder = open("d1", O_PATH | O_DIRECTORY);
	int fd = openat(folder, "in/../f", O_WRONLY | O_TRUNC);
	CHECK(folder >= 0 && fd >= 0);
	close(fd);
	close(folder);
}

static void does_proc_fd(void)
{
	char path[64];
	int fd = readable("a");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	put(path, "x");
	close(fd);
}

static void does_child(void)
{
	int status;
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		unlink("a");
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void does_shell(void)
{
	CHECK(system("echo x >>a; mv b c; rm -r d1; ln -sf b link") == 0);
}

static void does_mkstemp(void)
{
	char path[] = "tmpXXXXXX";
	int fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
}

static void does_then_dies(void)
{
	does_shell();
	abort();
}

struct kind {
	const char *name;
	void (*does)(void);
	int own; /* of the program: there is no twin */
	int root;
	int ends; /* the process */
};

static const struct kind kinds[] = {
	{ "unlink", does_unlink, 0, 0, 0 },
	{ "truncate", does_truncate, 0, 0, 0 },
	{ "ftruncate", does_ftruncate, 0, 0, 0 },
	{ "append", does_append, 0, 0, 0 },
	{ "create", does_create, 0, 0, 0 },
	{ "rename-over", does_rename_over, 0, 0, 0 },
	{ "rename-away", does_rename_away, 0, 0, 0 },
	{ "rename-folder", does_rename_folder, 0, 0, 0 },
	{ "exchange-files", does_exchange_files, 0, 0, 0 },
	{ "exchange-folders", does_exchange_folders, 0, 0, 0 },
	{ "link", does_link, 0, 0, 0 },
	{ "write-new-link", does_write_new_link, 0, 0, 0 },
	{ "write-old-link", does_write_old_link, 0, 0, 0 },
	{ "replace-link", does_replace_link, 0, 0, 0 },
	{ "unlink-both-links", does_unlink_both_links, 0, 0, 0 },
	{ "tmpfile", does_tmpfile, 0, 0, 0 },
	{ "symlink", does_symlink, 0, 0, 0 },
	{ "write-by-symlink", does_write_by_symlink, 0, 0, 0 },
	{ "mkdir", does_mkdir, 0, 0, 0 },
	{ "rmtree", does_rmtree, 0, 0, 0 },
	{ "fifo", does_fifo, 0, 0, 0 },
	{ "file-for-folder", does_file_for_folder, 0, 0, 0 },
	{ "socket", does_socket, 0, 0, 0 },
	{ "chmod", does_chmod, 0, 0, 0 },
	{ "fchmod", does_fchmod, 0, 0, 0 },
	{ "shut", does_shut, 0, 0, 0 },
	{ "chown", does_chown, 0, 1, 0 },
	{ "utimes", does_utimes, 0, 0, 0 },
	{ "xattr", does_xattr, 0, 0, 0 },
	{ "fallocate", does_fallocate, 0, 0, 0 },
	{ "write-zeros", does_punch_hole, 0, 0, 0 },
	{ "copy-range", does_copy_range, 0, 0, 0 },
	{ "sendfile", does_sendfile, 0, 0, 0 },
	{ "splice", does_splice, 0, 0, 0 },
	{ "mmap", does_mmap, 0, 0, 0 },
	{ "write-open", does_write_open, 1, 0, 0 },
	{ "write-mapped", does_write_mapped, 1, 0, 0 },
	{ "write-dup", does_write_dup, 1, 0, 0 },
	{ "rename-open", does_rename_open, 1, 0, 0 },
	{ "unlink-open", does_unlink_open, 1, 0, 0 },
	{ "unlink-written", does_unlink_written, 0, 0, 0 },
	{ "openat", does_openat, 0, 0, 0 },
	{ "proc-fd", does_proc_fd, 0, 0, 0 },
	{ "child", does_child, 0, 0, 0 },
	{ "shell", does_shell, 0, 0, 0 },
	{ "mkstemp", does_mkstemp, 0, 0, 0 },
	{ "then-dies", does_then_dies, 0, 0, 1 },
};

/* ---- tests ---- */

static const struct kind *kind;

static void do_in(const char *folder, const struct kind *what)
{
	CHECK(chdir(folder) == 0);
	what->does();
	CHECK(chdir("..") == 0);
}

__attribute__((noinline)) void test_needs(void)
{
	CHECK(chdir("data") == 0);
	int same = is_as_made();
	CHECK(chdir("..") == 0);
	assert(same);
}

__attribute__((noinline)) void test_does(void)
{
	do_in("data", kind);
}

__attribute__((noinline)) void test_twin(void)
{
	if (kind->own || kind->ends)
		return;
	CHECK(mkdir("own", 0700) == 0 && chdir("own") == 0);
	make();
	CHECK(chdir("..") == 0);
	do_in("own", kind);
	clear("own");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
			if (!kinds[i].root || geteuid() == 0)
				puts(kinds[i].name);
		}
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "make")) {
		CHECK(mkdir(argv[2], 0750) == 0 && chdir(argv[2]) == 0);
		make();
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds);
	     i++) {
		if (!strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	}
	CHECK(kind);
	if (kind->own) {
		opened = open("data/b", O_RDWR | O_CLOEXEC);
		int fd = open("data/a", O_RDWR);
		CHECK(opened >= 0 && fd >= 0);
		mapped = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			      0);
		CHECK(mapped != MAP_FAILED);
		close(fd);
	}
	const char *only = argc > 2 ? argv[2] : NULL;
	if (!only || !strcmp(only, "needs"))
		test_needs();
	if (!only || !strcmp(only, "twin"))
		test_twin();
	if (!only || !strcmp(only, "does"))
		test_does();
	return 0;
}
