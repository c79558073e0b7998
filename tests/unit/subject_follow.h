/*
 * The subject of test_follow.c: what it does, by name, and what is to be told of
 * it, one line an event: "KIND PATH [> PATH2] [~ if relative] [FLAGS [MODE]]", both
 * numbers octal, or "KIND STATES".
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "base/macro.h"

/* A breakpoint is set here by who wants to attach late. */
static void __attribute__((noinline)) here(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Told as "remove /begin" and "remove /end": nothing happens. */
static void mark(const char *name)
{
	syscall(SYS_rmdir, name);
}

static void touch(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
	if (fd >= 0)
		close(fd);
}

static void close_of(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void do_files(void)
{
	close_of(open("a", O_CREAT | O_WRONLY, 0640));
	close_of(open("a", O_RDONLY));
	close_of(open("a", O_RDONLY | O_TRUNC));
	close_of((int)syscall(SYS_open, "b", O_CREAT | O_EXCL | O_RDWR, 0600));
	close_of((int)syscall(SYS_creat, "c", 0644));
	struct open_how how = { .flags = O_CREAT | O_WRONLY, .mode = 0604 };
	close_of((int)syscall(SYS_openat2, AT_FDCWD, "d", &how, sizeof(how)));
	how = (struct open_how){ .flags = O_RDONLY };
	close_of((int)syscall(SYS_openat2, AT_FDCWD, "d", &how, sizeof(how)));
	close_of(open(".", O_TMPFILE | O_RDWR, 0600));
	truncate("a", 5);
	int fd = open("a", O_WRONLY);
	ftruncate(fd, 7);
	posix_fallocate(fd, 0, 9);
	fchmod(fd, 0600);
	fchown(fd, (uid_t)-1, (gid_t)-1);
	futimens(fd, NULL);
	fsetxattr(fd, "user.x", "1", 1, 0);
	fremovexattr(fd, "user.x");
	close(fd);
	mkdir("sub", 0755);
	syscall(SYS_mkdir, "sub/two", 0700);
	mknod("fifo", S_IFIFO | 0600, 0);
	symlink("nowhere", "dangling");
	syscall(SYS_link, "a", "sub/a2");
	linkat(AT_FDCWD, "dangling", AT_FDCWD, "d2", 0);
	chmod("sub/a2", 0644);
	syscall(452 /* fchmodat2 */, AT_FDCWD, "dangling", 0600,
		AT_SYMLINK_NOFOLLOW);
	chown("a", (uid_t)-1, (gid_t)-1);
	lchown("dangling", (uid_t)-1, (gid_t)-1);
	struct utimbuf times = { 1, 2 };
	syscall(SYS_utime, "a", &times);
	utimensat(AT_FDCWD, "dangling", NULL, AT_SYMLINK_NOFOLLOW);
	setxattr("a", "user.y", "1", 1, 0);
	removexattr("a", "user.y");
	lsetxattr("dangling", "user.y", "1", 1, 0);
	rename("b", "sub/b");
	syscall(SYS_renameat2, AT_FDCWD, "c", AT_FDCWD, "d", 2);
	unlink("a");
	unlinkat(AT_FDCWD, "sub/two", AT_REMOVEDIR);
	rmdir("sub/two");
}

#define FILES_TOLD                                                             \
	"open a ~ 101 640\n"                                                   \
	"open a ~ 1000\n"                                                      \
	"open b ~ 302 600\n"                                                   \
	"open c ~ 1101 644\n"                                                  \
	"open d ~ 101 604\n"                                                   \
	"change a ~\n"                                                         \
	"open a ~ 1\n"                                                         \
	"change a\n"                                                           \
	"change a\n"                                                           \
	"mode a 0 600\n"                                                       \
	"owner a\n"                                                            \
	"times a\n"                                                            \
	"xattr a\n"                                                            \
	"xattr a\n"                                                            \
	"create sub ~ 0 755\n"                                                 \
	"create sub/two ~ 0 700\n"                                             \
	"create fifo ~ 0 10600\n"                                              \
	"create dangling ~\n"                                                  \
	"link a > sub/a2 ~\n"                                                  \
	"link dangling > d2 ~\n"                                               \
	"mode sub/a2 ~ 0 644\n"                                                \
	"mode dangling ~ 0 600\n"                                              \
	"owner a ~\n"                                                          \
	"owner dangling ~\n"                                                   \
	"times a ~\n"                                                          \
	"times dangling ~\n"                                                   \
	"xattr a ~\n"                                                          \
	"xattr a ~\n"                                                          \
	"xattr dangling ~\n"                                                   \
	"rename b > sub/b ~\n"                                                 \
	"rename c > d ~ 2\n"                                                   \
	"remove a ~\n"                                                         \
	"remove sub/two ~ 1000\n"                                              \
	"remove sub/two ~\n"

static void do_names(void)
{
	char text[PATH_MAX + 16];
	/* Through links: those in folders always, the last as the call does. */
	touch("linked/x");
	touch("to-linked");
	close_of(open("to-linked", O_CREAT | O_EXCL | O_WRONLY, 0600));
	close_of(open("to-linked", O_WRONLY | O_NOFOLLOW));
	touch("dangling");
	touch("loop");
	unlink("to-linked");
	mkdir("slashes///", 0700);
	rmdir("real/../slashes/.");
	/* Descriptors. */
	int dir = open("linked", O_RDONLY | O_DIRECTORY);
	close_of(openat(dir, "y", O_CREAT | O_WRONLY, 0600));
	mkdirat(dir, "../up", 0700);
	fchownat(dir, "", (uid_t)-1, (gid_t)-1, AT_EMPTY_PATH);
	int fd = open("linked/y", O_RDWR);
	linkat(fd, "", dir, "z", AT_EMPTY_PATH);
	unlink("linked/y");
	fchmod(fd, 0600); /* it has another name, but not that one */
	unlink("linked/z");
	fchmod(fd, 0600);
	close(fd);
	fd = memfd_create("memory", 0);
	ftruncate(fd, 10);
	fchmod(fd, 0600);
	close(fd);
	touch("odd (deleted)");
	fd = open("odd (deleted)", O_RDONLY);
	fchmod(fd, 0600);
	/* What "self" is. */
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	chmod(text, 0600);
	snprintf(text, sizeof(text), "/dev/fd/%d", fd);
	chmod(text, 0640);
	close(fd);
	touch("/proc/self/cwd/own");
	/* After a change of directory. */
	chdir("linked");
	touch("in");
	fchdir(dir);
	touch("./in2");
	chdir("..");
	close(dir);
	/* What cannot be: told all the same, or without a name. */
	touch("absent/folder/../x");
	touch("absent/folder/x");
	touch("real/in/x");
	syscall(SYS_mkdir, NULL, 0700);
	syscall(SYS_mkdir, (char *)1, 0700);
	syscall(SYS_mkdir, (char *)-4096, 0700);
	syscall(SYS_mkdir, "", 0700);
	syscall(SYS_mkdirat, 777, "x", 0700);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	mkdir(text, 0700);
	/* Up to the last byte of a page, with nothing behind. */
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	memcpy(page + 4096 - 5, "edge", 5);
	mkdir(page + 4096 - 5, 0700);
	memcpy(page + 4096 - 4, "edge", 4);
	mkdir(page + 4096 - 4, 0700);
	mkdir("\xff\xfe\n", 0700);
}

#define NAMES_TOLD                                                             \
	"open real/x ~ 2000101 640\n"                                          \
	"open real/file ~ 2000101 640\n"                                       \
	"open to-linked ~ 301 600\n"                                           \
	"open to-linked ~ 400001\n"                                            \
	"open nowhere ~ 2000101 640\n"                                         \
	"open ? ~ 2000101 640\n"                                               \
	"remove to-linked ~\n"                                                 \
	"create slashes ~ 0 700\n"                                             \
	"remove slashes ~\n"                                                   \
	"open real/y 101 600\n"                                                \
	"create up 0 700\n"                                                    \
	"owner real\n"                                                         \
	"open real/y ~ 2\n"                                                    \
	"link real/y > real/z 10000\n"                                         \
	"remove real/y ~\n"                                                    \
	"remove real/z ~\n"                                                    \
	"open odd (deleted) ~ 2000101 640\n"                                   \
	"mode odd (deleted) 0 600\n"                                           \
	"mode odd (deleted) 0 600\n"                                           \
	"mode odd (deleted) 0 640\n"                                           \
	"open own 2000101 640\n"                                               \
	"open real/in ~ 2000101 640\n"                                         \
	"open real/in2 ~ 2000101 640\n"                                        \
	"open ? ~ 2000101 640\n"                                               \
	"open absent/folder/x ~ 2000101 640\n"                                 \
	"open real/in/x ~ 2000101 640\n"                                       \
	"create ? 0 700\n"                                                     \
	"create ? 0 700\n"                                                     \
	"create ? 0 700\n"                                                     \
	"create ? 0 700\n"                                                     \
	"create ? 0 700\n"                                                     \
	"create ? 0 700\n"                                                     \
	"create edge ~ 0 700\n"                                                \
	"create ? 0 700\n"                                                     \
	"create \xff\xfe\n ~ 0 700\n"

static void do_sockets(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	memcpy(address.sun_path, "sock", 5);
	bind(fd, (void *)&address, sizeof(address));
	listen(fd, 1);
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(fd, (void *)&address, sizeof(address));
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(fd, (void *)&address, 2);
	bind(fd, NULL, 20);
	bind(fd, (void *)&address, (socklen_t)-1);
	close(fd);
}

#define SOCKETS_TOLD                                                           \
	"create sock ~\n"                                                      \
	"state 800\n"                                                          \
	"read sock ~\n"                                                        \
	"state 800\n"                                                          \
	"looked 800\n"                                                         \
	"state 800\n"                                                          \
	"looked 800\n"                                                         \
	"create sock ~\n"

static void do_reads(void)
{
	char text[64];
	close_of(open("real/file", O_RDONLY));
	close_of(open("to-linked", O_PATH | O_CREAT, 0));
	struct stat stat_of;
	stat("to-linked", &stat_of);
	lstat("to-linked", &stat_of);
	syscall(SYS_stat, "none", &stat_of);
	struct statx statx_of;
	statx(AT_FDCWD, "real", 0, STATX_INO, &statx_of);
	int fd = open("real", O_RDONLY | O_DIRECTORY);
	fstat(fd, &stat_of);
	syscall(SYS_getdents64, fd, text, sizeof(text));
	close(fd);
	access("real", R_OK);
	syscall(439 /* faccessat2 */, AT_FDCWD, "to-linked", R_OK,
		AT_SYMLINK_NOFOLLOW);
	readlink("to-linked", text, sizeof(text));
	getxattr("real", "user.x", text, sizeof(text));
	syscall(SYS_chdir, "real");
	syscall(SYS_chdir, "..");
	char *argv[] = { "none", NULL };
	execv("none", argv);
}

#define READS_TOLD                                                             \
	"read real/file ~\n"                                                   \
	"read real/file ~ 10000100\n"                                          \
	"look real/file ~\n"                                                   \
	"look to-linked ~\n"                                                   \
	"look none ~\n"                                                        \
	"look real ~\n"                                                        \
	"read real ~ 200000\n"                                                 \
	"list real\n"                                                          \
	"look real ~\n"                                                        \
	"look to-linked ~\n"                                                   \
	"look to-linked ~\n"                                                   \
	"look real ~\n"                                                        \
	"read real ~\n"                                                        \
	"read . ~\n"                                                           \
	"read none ~\n"

static void do_states(void)
{
	struct rlimit limit;
	struct itimerval timer = {};
	stack_t stack;
	char text[4096];
	chdir(".");
	umask(022);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &limit);
	syscall(SYS_prlimit64, 0, RLIMIT_CORE, &limit, NULL);
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0));
	cpu_set_t set;
	sched_getaffinity(0, sizeof(set), &set);
	sched_setaffinity(0, sizeof(set), &set);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	alarm(0);
	syscall(SYS_setuid, syscall(SYS_getuid));
	prctl(PR_SET_NAME, "name");
	prctl(PR_GET_NAME, text);
	void *map =
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(map, 4096);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	munmap(map, 4096);
	int fd = open("real/file", O_RDONLY);
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	munmap(map, 4096);
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_DENYWRITE, fd, 0);
	munmap(map, 4096);
	flock(fd, LOCK_SH);
	struct flock lock = { .l_type = F_RDLCK };
	fcntl(fd, F_SETLK, &lock);
	fcntl(fd, F_GETLK, &lock);
	fcntl(fd, F_GETFL);
	close(fd);
	shmget(IPC_PRIVATE, 0, 0);
	sigaltstack(NULL, &stack);
	sigaltstack(&stack, NULL);
	setpgid(0, 0);
	syscall(SYS_personality, 0xffffffff);
	pid_t pid = fork();
	if (!pid)
		syscall(SYS_exit_group, 0); /* no sanitizer on the way */
	waitpid(pid, NULL, 0);
	syscall(SYS_getcwd, text, sizeof(text));
	syscall(SYS_getppid);
}

#define STATES_TOLD                                                            \
	"state 1\n"                                                            \
	"state 4\n"                                                            \
	"state 8\n"                                                            \
	"state 10\n"                                                           \
	"state 20\n"                                                           \
	"state 40\n"                                                           \
	"state 40\n"                                                           \
	"state 80\n"                                                           \
	"state 100\n"                                                          \
	"state 200\n"                                                          \
	"state 200\n"                                                          \
	"state 1000\n"                                                         \
	"state 1000\n"                                                         \
	"state 400\n"                                                          \
	"state 4000\n"                                                         \
	"state 8000\n"                                                         \
	"state 2000\n"

#define LOOKS_TOLD                                                             \
	"state 1\n"                                                            \
	"state 4\n"                                                            \
	"looked 4\n"                                                           \
	"looked 8\n"                                                           \
	"state 8\n"                                                            \
	"looked 10\n"                                                          \
	"state 10\n"                                                           \
	"looked 20\n"                                                          \
	"state 20\n"                                                           \
	"state 40\n"                                                           \
	"state 40\n"                                                           \
	"looked 40\n"                                                          \
	"looked 80\n"                                                          \
	"state 80\n"                                                           \
	"state 100\n"                                                          \
	"looked 100\n"                                                         \
	"state 200\n"                                                          \
	"state 200\n"                                                          \
	"state 1000\n"                                                         \
	"looked 1000\n"                                                        \
	"state 1000\n"                                                         \
	"looked 1000\n"                                                        \
	"looked 1000\n"                                                        \
	"state 400\n"                                                          \
	"looked 400\n"                                                         \
	"looked 4000\n"                                                        \
	"state 4000\n"                                                         \
	"state 8000\n"                                                         \
	"looked 8000\n"                                                        \
	"looked 10000\n"                                                       \
	"state 2000\n"                                                         \
	"looked 2000\n"                                                        \
	"looked 1\n"

static void *thread_chdir(void *arg)
{
	chdir(arg);
	return NULL;
}

static void chdir_elsewhere(char *path)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, thread_chdir, path) == 0)
		pthread_join(thread, NULL);
}

/* Names that mean something else than a moment ago. */
static void do_moves(void)
{
	mkdir("m", 0700);
	mkdir("m/s", 0700);
	touch("m/s/1");
	touch("m/s/1");
	rename("m", "n");
	symlink("n", "m");
	touch("m/s/2");
	unlink("m");
	mkdir("o", 0700);
	rename("n/s", "o/s");
	symlink("o", "m");
	touch("m/s/3");
	/* The inode's number may be given to the next folder. */
	mkdir("k", 0700);
	touch("k/1");
	unlink("k/1");
	rmdir("k");
	mkdir("l", 0700);
	symlink("l", "k");
	touch("k/2");
	touch("w");
	chdir_elsewhere("real");
	touch("w");
	chdir_elsewhere("..");
	touch("w");
	rename("real", "real2");
	touch("real2/file");
}

#define MOVES_TOLD                                                             \
	"create m ~ 0 700\n"                                                   \
	"create m/s ~ 0 700\n"                                                 \
	"open m/s/1 ~ 2000101 640\n"                                           \
	"open m/s/1 ~ 2000101 640\n"                                           \
	"rename m > n ~\n"                                                     \
	"create m ~\n"                                                         \
	"open n/s/2 ~ 2000101 640\n"                                           \
	"remove m ~\n"                                                         \
	"create o ~ 0 700\n"                                                   \
	"rename n/s > o/s ~\n"                                                 \
	"create m ~\n"                                                         \
	"open o/s/3 ~ 2000101 640\n"                                           \
	"create k ~ 0 700\n"                                                   \
	"open k/1 ~ 2000101 640\n"                                             \
	"remove k/1 ~\n"                                                       \
	"remove k ~\n"                                                         \
	"create l ~ 0 700\n"                                                   \
	"create k ~\n"                                                         \
	"open l/2 ~ 2000101 640\n"                                             \
	"open w ~ 2000101 640\n"                                               \
	"open real/w ~ 2000101 640\n"                                          \
	"open w ~ 2000101 640\n"                                               \
	"rename real > real2 ~\n"                                              \
	"open real2/file ~ 2000101 640\n"

/* In another root, and in one where the same name is another file. */
static void do_roots(void)
{
	pid_t pid = fork();
	if (!pid) {
		mkdir("real/deep", 0755);
		if (chroot("real") < 0 || chdir("/deep") < 0)
			_exit(1);
		mkdir("/in-root", 0755);
		touch("../../../up");
		symlink("/target", "ln");
		touch("ln");
		symlink("../beside", "ln2");
		touch("ln2");
		touch("/absent/x");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	touch("outside");
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", "real", "tmpfs", 0, NULL) < 0)
			_exit(1);
		touch("seen");
		touch("real/unseen");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	touch("real/file");
}

#define ROOTS_TOLD                                                             \
	"create real/deep ~ 0 755\n"                                           \
	"create real/in-root 0 755\n"                                          \
	"open real/up ~ 2000101 640\n"                                         \
	"create real/deep/ln ~\n"                                              \
	"open real/target ~ 2000101 640\n"                                     \
	"create real/deep/ln2 ~\n"                                             \
	"open real/beside ~ 2000101 640\n"                                     \
	"open real/absent/x 2000101 640\n"                                     \
	"open outside ~ 2000101 640\n"                                         \
	"open seen ~ 2000101 640\n"                                            \
	"open ? ~ 2000101 640\n"                                               \
	"open real/file ~ 2000101 640\n"

/* Short-lived processes, more than are remembered. */
#define MANY 60
static int subject_many(void)
{
	char name[32];
	here();
	for (int i = 0; i < MANY; i++) {
		pid_t pid = fork();
		if (!pid) {
			snprintf(name, sizeof(name), "m%d", i);
			touch(name);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static void run_child(char *const argv[])
{
	pid_t pid = vfork();
	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static void do_children(void)
{
	pid_t pid = fork();
	if (!pid) {
		chdir("real");
		touch("child");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	touch("parent");
	run_child((char *[]){ "/proc/self/exe", "subject", "touch", NULL });
	run_child((char *[]){ "./static", NULL });
}

#define CHILDREN_TOLD                                                          \
	"open real/child ~ 2000101 640\n"                                      \
	"open parent ~ 2000101 640\n"                                          \
	"open executed ~ 2000101 640\n"                                        \
	"create static-made ~ 0 755\n"

#define THREADS 4
#define PER_THREAD 50
static pthread_barrier_t barrier;

static void *thread_touches(void *arg)
{
	char name[32];
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < PER_THREAD; i++) {
		snprintf(name, sizeof(name), "t%d-%d", *(int *)arg, i);
		touch(name);
	}
	return NULL;
}

static int subject_threads(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, thread_touches,
				   &numbers[i]))
			_exit(1);
	}
	here();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

#define STORM 2000
static void on_alarm(int number)
{
	(void)number;
}

/* The exit status says what a signal did to calls it cannot interrupt. */
static int subject_storm(bool restart)
{
	struct sigaction action = { .sa_handler = on_alarm,
				    .sa_flags = restart ? SA_RESTART : 0 };
	sigaction(SIGALRM, &action, NULL);
	here();
	struct itimerval timer = { { 0, 150 }, { 0, 150 } };
	setitimer(ITIMER_REAL, &timer, NULL);
	char name[32];
	for (int i = 0; i < STORM; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0)
			_exit(errno == EINTR ? 2 : 3);
		close(fd);
		if (unlink(name) < 0)
			_exit(errno == EINTR ? 2 : 4);
	}
	_exit(0);
}

/* A call that does wait: signals have to interrupt it as ever. */
static int subject_fifo(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	sigaction(SIGALRM, &action, NULL);
	mkfifo("queue", 0600);
	here();
	struct itimerval timer = { { 0, 20000 }, { 0, 20000 } };
	setitimer(ITIMER_REAL, &timer, NULL);
	_exit(open("queue", O_WRONLY) < 0 && errno == EINTR ? 0 : 1);
}

/* Refuses seccomp(2) from now on, as a container may. */
static void refuse_filters(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static int subject_refused(void)
{
	refuse_filters();
	here();
	_exit(mkdir("made", 0700) == 0 ? 0 : 1);
}

/* A daemon that goes on: it writes what a call gave when it is told to. */
static int subject_daemon(void)
{
	if (fork() != 0)
		_exit(0);
	char byte;
	int number = 0;
	if (read(STDIN_FILENO, &byte, 1) == 1) {
		number = mkdir("daemon", 0700) == 0 ? 0 : errno;
		if (write(STDOUT_FILENO, &number, sizeof(number)) < 0)
			_exit(1);
	}
	_exit(0);
}

/* Calls on end, for figures and for being ended in the middle. */
static int subject_busy(int times)
{
	here();
	for (int i = 0; times < 0 || i < times; i++)
		chmod("real/file", 0600);
	_exit(0);
}

static int subject(char **argv)
{
	static const struct {
		const char *name;
		void (*act)(void);
	} acts[] = {
		{ "files", do_files },	   { "names", do_names },
		{ "sockets", do_sockets }, { "reads", do_reads },
		{ "states", do_states },   { "children", do_children },
		{ "moves", do_moves },	   { "roots", do_roots },
	};
	const char *what = argv[2];
	umask(022);
	if (!strcmp(what, "touch")) {
		touch("executed");
		_exit(0);
	}
	if (!strcmp(what, "threads"))
		return subject_threads();
	if (!strcmp(what, "storm"))
		return subject_storm(true);
	if (!strcmp(what, "storm-plain"))
		return subject_storm(false);
	if (!strcmp(what, "fifo"))
		return subject_fifo();
	if (!strcmp(what, "many"))
		return subject_many();
	if (!strcmp(what, "refused"))
		return subject_refused();
	if (!strcmp(what, "daemon"))
		return subject_daemon();
	if (!strcmp(what, "busy"))
		return subject_busy(atoi(argv[3]));
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++) {
		if (strcmp(what, acts[i].name) != 0)
			continue;
		here();
		mark("/begin");
		acts[i].act();
		mark("/end");
		_exit(0);
	}
	_exit(1);
}
