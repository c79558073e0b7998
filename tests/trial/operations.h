/*
 * What tests do to files, one function for each way. functions.c, gtest.cc and step.c make a test of each.
 *
 * test_trial.py makes the files (stock.py): each operation has a folder of its own, TRIAL_TREE/NAME, in which everything
 * that it needs is there, and other places have a folder TRIAL_PLACE/NAME. An operation does its worst and ignores errors:
 * it may run many times, in any order, with what it removed put back or not. That it changes something, and that the
 * comparison sees this, is checked without the tool. It keeps nothing in memory.
 *
 * The last of those that run together removes the program that a suite of processes needs.
 *
 * OPERATIONS lists them as X(NAME, GROUP, WHO): WHO is `anyone` or `root`. GROUP is a row of the table in docs/testing.md;
 * the groups `many` and `large` need tens of thousands of files and hundreds of megabytes, and run on their own.
 */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define OPERATIONS(X)                                                                                                  \
	X(write, content, anyone)                                                                                      \
	X(append, content, anyone)                                                                                     \
	X(truncate, content, anyone)                                                                                   \
	X(ftruncate, content, anyone)                                                                                  \
	X(grow_sparse, content, anyone)                                                                                \
	X(open_trunc, content, anyone)                                                                                 \
	X(stdio, content, anyone)                                                                                      \
	X(writev, content, anyone)                                                                                     \
	X(same_size_same_time, content, anyone)                                                                        \
	X(fallocate, content, anyone)                                                                                  \
	X(punch_hole, content, anyone)                                                                                 \
	X(copy_file_range, content, anyone)                                                                            \
	X(sendfile, content, anyone)                                                                                   \
	X(splice, content, anyone)                                                                                     \
	X(mmap_shared, content, anyone)                                                                                \
	X(mremap_shared, content, anyone)                                                                              \
	X(direct, content, anyone)                                                                                     \
	X(aio, content, anyone)                                                                                        \
	X(io_uring, content, anyone)                                                                                   \
	X(create, names, anyone)                                                                                       \
	X(unlink, names, anyone)                                                                                       \
	X(rename_over, names, anyone)                                                                                  \
	X(rename_away, names, anyone)                                                                                  \
	X(rename_onto, names, anyone)                                                                                  \
	X(rename_out, names, anyone)                                                                                   \
	X(exchange_files, names, anyone)                                                                               \
	X(exchange_folders, names, anyone)                                                                             \
	X(rename_folder, names, anyone)                                                                                \
	X(tmpfile_linkat, names, anyone)                                                                               \
	X(tmpfile_replaces, names, anyone)                                                                             \
	X(mkdir_tree, names, anyone)                                                                                   \
	X(rmdir_tree, names, anyone)                                                                                   \
	X(remove_and_make_again, names, anyone)                                                                        \
	X(mkfifo, names, anyone)                                                                                       \
	X(socket, names, anyone)                                                                                       \
	X(device, names, root)                                                                                         \
	X(link_made, links, anyone)                                                                                    \
	X(link_written, links, anyone)                                                                                 \
	X(link_removed, links, anyone)                                                                                 \
	X(link_broken, links, anyone)                                                                                  \
	X(symlink_made, links, anyone)                                                                                 \
	X(symlink_replaced, links, anyone)                                                                             \
	X(symlink_removed, links, anyone)                                                                              \
	X(through_symlink, links, anyone)                                                                              \
	X(through_folder_link, links, anyone)                                                                          \
	X(chmod, attributes, anyone)                                                                                   \
	X(fchmod, attributes, anyone)                                                                                  \
	X(chmod_folder, attributes, anyone)                                                                            \
	X(chown, attributes, root)                                                                                     \
	X(lchown, attributes, root)                                                                                    \
	X(utimensat, attributes, anyone)                                                                               \
	X(touch_folder, attributes, anyone)                                                                            \
	X(touch_symlink, attributes, anyone)                                                                           \
	X(setxattr, attributes, anyone)                                                                                \
	X(removexattr, attributes, anyone)                                                                             \
	X(setxattr_folder, attributes, anyone)                                                                         \
	X(trusted_xattr, attributes, root)                                                                             \
	X(capability, attributes, root)                                                                                \
	X(acl, attributes, anyone)                                                                                     \
	X(flags, attributes, anyone)                                                                                   \
	X(opened_before, writers, anyone)                                                                              \
	X(mapped_before, writers, anyone)                                                                              \
	X(folder_opened_before, writers, anyone)                                                                       \
	X(child, writers, anyone)                                                                                      \
	X(shell, writers, anyone)                                                                                      \
	X(spawn, writers, anyone)                                                                                      \
	X(daemon, writers, anyone)                                                                                     \
	X(stubborn_child, writers, anyone)                                                                             \
	X(thread, writers, anyone)                                                                                     \
	X(flocked, writers, anyone)                                                                                    \
	X(proc_self_fd, paths, anyone)                                                                                 \
	X(proc_self_cwd, paths, anyone)                                                                                \
	X(proc_self_root, paths, anyone)                                                                               \
	X(openat, paths, anyone)                                                                                       \
	X(chdir_relative, paths, anyone)                                                                               \
	X(fchdir_relative, paths, anyone)                                                                              \
	X(deep, paths, anyone)                                                                                         \
	X(rmdir_deep, paths, anyone)                                                                                   \
	X(long_name, paths, anyone)                                                                                    \
	X(mount_over, mounts, root)                                                                                    \
	X(mount_bind, mounts, root)                                                                                    \
	X(in_tmp, places, anyone)                                                                                      \
	X(in_var_tmp, places, anyone)                                                                                  \
	X(in_home, places, anyone)                                                                                     \
	X(in_shm, places, anyone)                                                                                      \
	X(in_build, places, anyone)                                                                                    \
	X(in_git, places, anyone)                                                                                      \
	X(beside_the_project, places, anyone)                                                                          \
	X(own_data, places, anyone)                                                                                    \
	X(own_executable, places, anyone)                                                                              \
	X(many_removed, many, anyone)                                                                                  \
	X(many_written, many, anyone)                                                                                  \
	X(many_made, many, anyone)                                                                                     \
	X(large_removed, large, anyone)                                                                                \
	X(large_cut, large, anyone)                                                                                    \
	X(large_written, large, anyone)

/* A path, by value: there is no memory of it afterwards. */
struct path {
	char text[1024];
};

static inline struct path join(const char *folder, const char *name)
{
	struct path path;
	/* A path that is cut names nothing that is there. */
	if (snprintf(path.text, sizeof(path.text), "%s/%s", folder, name) >= (int)sizeof(path.text))
		path.text[0] = 0;
	return path;
}

static inline const char *setting(const char *name)
{
	const char *value = getenv(name);
	return value ? value : "/proc/missing";
}

/* A file of the operation: at("write", "a"). */
static inline struct path at(const char *operation, const char *name)
{
	return join(join(setting("TRIAL_TREE"), operation).text, name);
}

#define AT(operation, name) at(operation, name).text
#define TEXT "written by a test\n"

static inline void ignore_result(long result)
{
	(void)result;
}

static inline void write_to(int fd)
{
	if (fd < 0)
		return;
	ignore_result(write(fd, TEXT, strlen(TEXT)));
	close(fd);
}

static inline void write_file(const char *path)
{
	write_to(open(path, O_WRONLY | O_CREAT, 0600));
}

static inline void append_file(const char *path)
{
	write_to(open(path, O_WRONLY | O_CREAT | O_APPEND, 0600));
}

static inline int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	remove(path);
	return 0;
}

static inline void remove_tree(const char *path)
{
	nftw(path, remove_entry, 20, FTW_DEPTH | FTW_PHYS);
}

static inline void change_names(const char *from, const char *to, unsigned flags)
{
	syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

/* What is open and mapped before the first test; start_trial() makes it. Numbers, so that the memory is not followed. */
static int opened_before = -1;
static int folder_before = -1;
static uintptr_t mapped_before;

static inline void start_trial(void)
{
	opened_before = open(AT("opened_before", "a"), O_RDWR);
	folder_before = open(AT("folder_opened_before", "sub"), O_RDONLY | O_DIRECTORY);
	int fd = open(AT("mapped_before", "big"), O_RDWR);
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		mapped_before = (uintptr_t)map;
	if (fd >= 0)
		close(fd);
}

/* Tells the trial that the operation begins, over an abstract socket: the only thing that gets out. */
static inline void note(const char *operation)
{
	struct sockaddr_un address;
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	const char *name = setting("TRIAL_NOTES");
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s", name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
	/* Not a problem where nobody listens, or does not keep up. */
	struct timeval patience = { 0, 200000 };
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	ignore_result(sendto(fd, operation, strlen(operation), 0, (struct sockaddr *)&address, size));
	close(fd);
}

/* Content */

static inline void do_write(void)
{
	write_file(AT("write", "a"));
}

static inline void do_append(void)
{
	append_file(AT("append", "a"));
}

static inline void do_truncate(void)
{
	ignore_result(truncate(AT("truncate", "a"), 7));
}

static inline void do_ftruncate(void)
{
	int fd = open(AT("ftruncate", "a"), O_RDWR);
	ignore_result(ftruncate(fd, 0));
	close(fd);
}

static inline void do_grow_sparse(void)
{
	int fd = open(AT("grow_sparse", "a"), O_RDWR);
	ignore_result(pwrite(fd, TEXT, 4, 1 << 24));
	close(fd);
}

static inline void do_open_trunc(void)
{
	close(open(AT("open_trunc", "a"), O_WRONLY | O_TRUNC));
}

static inline void do_stdio(void)
{
	FILE *file = fopen(AT("stdio", "a"), "w");
	if (file) {
		fputs(TEXT, file);
		fclose(file);
	}
}

static inline void do_writev(void)
{
	char one[] = "one ", two[] = "two\n";
	struct iovec parts[] = { { one, 4 }, { two, 4 } };
	int fd = open(AT("writev", "a"), O_WRONLY);
	ignore_result(pwritev(fd, parts, 2, 3));
	close(fd);
}

/* Only the content and the time of the last change of the inode tell. */
static inline void do_same_size_same_time(void)
{
	struct stat st;
	int fd = open(AT("same_size_same_time", "a"), O_RDWR);
	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	ignore_result(pwrite(fd, "#", 1, 5));
	struct timespec times[] = { st.st_atim, st.st_mtim };
	futimens(fd, times);
	close(fd);
}

static inline void do_fallocate(void)
{
	int fd = open(AT("fallocate", "a"), O_RDWR);
	ignore_result(fallocate(fd, 0, 0, 1 << 20));
	close(fd);
}

static inline void do_punch_hole(void)
{
	int fd = open(AT("punch_hole", "big"), O_RDWR);
	ignore_result(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 65536));
	close(fd);
}

static inline void do_copy_file_range(void)
{
	int from = open(AT("copy_file_range", "b"), O_RDONLY), to = open(AT("copy_file_range", "a"), O_RDWR);
	ignore_result(copy_file_range(from, NULL, to, NULL, 1000, 0));
	close(from);
	close(to);
}

static inline void do_sendfile(void)
{
	int from = open(AT("sendfile", "b"), O_RDONLY), to = open(AT("sendfile", "a"), O_RDWR);
	ignore_result(sendfile(to, from, NULL, 1000));
	close(from);
	close(to);
}

static inline void do_splice(void)
{
	int pipes[2], to = open(AT("splice", "a"), O_RDWR);
	if (pipe(pipes) != 0)
		return;
	ignore_result(write(pipes[1], TEXT, strlen(TEXT)));
	ignore_result(splice(pipes[0], NULL, to, NULL, strlen(TEXT), 0));
	close(pipes[0]);
	close(pipes[1]);
	close(to);
}

static inline void write_mapped(const char *path, int move)
{
	int fd = open(path, O_RDWR);
	char *map = (char *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (move && map != MAP_FAILED)
		map = (char *)mremap(map, 65536, 131072, MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return;
	memset(map + 5000, '#', 100);
	munmap(map, move ? 131072 : 65536);
}

static inline void do_mmap_shared(void)
{
	write_mapped(AT("mmap_shared", "big"), 0);
}

static inline void do_mremap_shared(void)
{
	write_mapped(AT("mremap_shared", "big"), 1);
}

static inline void do_direct(void)
{
	int fd = open(AT("direct", "big"), O_RDWR | O_DIRECT);
	if (fd < 0) /* a file system without it */
		fd = open(AT("direct", "big"), O_RDWR);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(page, '#', 4096);
	ignore_result(pwrite(fd, page, 4096, 4096));
	munmap(page, 4096);
	close(fd);
}

static inline void do_aio(void)
{
	aio_context_t context = 0;
	struct iocb request, *requests[] = { &request };
	struct io_event event;
	int fd = open(AT("aio", "a"), O_RDWR);
	if (fd < 0 || syscall(SYS_io_setup, 1, &context) != 0)
		return;
	memset(&request, 0, sizeof(request));
	request.aio_lio_opcode = IOCB_CMD_PWRITE;
	request.aio_fildes = (uint32_t)fd;
	request.aio_buf = (uintptr_t)TEXT;
	request.aio_nbytes = strlen(TEXT);
	if (syscall(SYS_io_submit, context, 1, requests) == 1)
		syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
	syscall(SYS_io_destroy, context);
	close(fd);
}

static inline void do_io_uring(void)
{
	struct io_uring_params params;
	memset(&params, 0, sizeof(params));
	int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
	if (ring < 0) { /* forbidden here */
		write_file(AT("io_uring", "a"));
		return;
	}
	size_t size = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	size_t entries = params.sq_entries * sizeof(struct io_uring_sqe);
	char *queue = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entry =
		(struct io_uring_sqe *)mmap(NULL, entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	int fd = open(AT("io_uring", "a"), O_RDWR);
	memset(entry, 0, sizeof(*entry));
	entry->opcode = IORING_OP_WRITE;
	entry->fd = fd;
	entry->addr = (uintptr_t)TEXT;
	entry->len = (uint32_t)strlen(TEXT);
	unsigned *tail = (unsigned *)(queue + params.sq_off.tail);
	unsigned mask = *(unsigned *)(queue + params.sq_off.ring_mask);
	((unsigned *)(queue + params.sq_off.array))[*tail & mask] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	munmap(entry, entries);
	munmap(queue, size);
	close(fd);
	close(ring);
}

/* Names */

static inline void do_create(void)
{
	write_file(AT("create", "new"));
}

static inline void do_unlink(void)
{
	unlink(AT("unlink", "a"));
}

static inline void do_rename_over(void)
{
	write_file(AT("rename_over", "new"));
	rename(AT("rename_over", "new"), AT("rename_over", "a"));
}

static inline void do_rename_away(void)
{
	rename(AT("rename_away", "a"), AT("rename_away", "moved"));
}

static inline void do_rename_onto(void)
{
	rename(AT("rename_onto", "b"), AT("rename_onto", "a"));
}

static inline void do_rename_out(void)
{
	rename(AT("rename_out", "sub/c"), AT("rename_out", "other/c"));
}

static inline void do_exchange_files(void)
{
	change_names(AT("exchange_files", "a"), AT("exchange_files", "b"), RENAME_EXCHANGE);
}

static inline void do_exchange_folders(void)
{
	change_names(AT("exchange_folders", "sub"), AT("exchange_folders", "other"), RENAME_EXCHANGE);
	append_file(AT("exchange_folders", "sub/f"));
}

static inline void do_rename_folder(void)
{
	rename(AT("rename_folder", "sub"), AT("rename_folder", "renamed"));
	append_file(AT("rename_folder", "renamed/c"));
}

static inline void link_tmpfile(const char *folder, const char *path)
{
	char name[64];
	int fd = open(folder, O_TMPFILE | O_RDWR, 0600);
	ignore_result(write(fd, TEXT, strlen(TEXT)));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
	close(fd);
}

static inline void do_tmpfile_linkat(void)
{
	link_tmpfile(AT("tmpfile_linkat", "sub"), AT("tmpfile_linkat", "sub/linked"));
}

static inline void do_tmpfile_replaces(void)
{
	unlink(AT("tmpfile_replaces", "a"));
	link_tmpfile(AT("tmpfile_replaces", "sub"), AT("tmpfile_replaces", "a"));
}

static inline void do_mkdir_tree(void)
{
	mkdir(AT("mkdir_tree", "new"), 0700);
	mkdir(AT("mkdir_tree", "new/deeper"), 0755);
	write_file(AT("mkdir_tree", "new/deeper/file"));
}

static inline void do_rmdir_tree(void)
{
	remove_tree(AT("rmdir_tree", "sub"));
}

static inline void do_remove_and_make_again(void)
{
	remove_tree(AT("remove_and_make_again", "sub"));
	mkdir(AT("remove_and_make_again", "sub"), 0700);
	write_file(AT("remove_and_make_again", "sub/c"));
}

static inline void do_mkfifo(void)
{
	unlink(AT("mkfifo", "b"));
	mkfifo(AT("mkfifo", "b"), 0600);
}

static inline void do_socket(void)
{
	struct sockaddr_un address;
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	/* The whole path may be too long for a socket. */
	int folder = open(AT("socket", "sub"), O_RDONLY | O_DIRECTORY);
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket", folder);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ignore_result(bind(fd, (struct sockaddr *)&address, sizeof(address)));
	close(fd);
	close(folder);
}

static inline void do_device(void)
{
	mknod(AT("device", "null"), S_IFCHR | 0666, makedev(1, 3));
	unlink(AT("device", "a"));
	/* What a layer of an overlay uses to say that a name is gone. */
	mknod(AT("device", "a"), S_IFCHR, makedev(0, 0));
}

/* Links */

static inline void do_link_made(void)
{
	ignore_result(link(AT("link_made", "a"), AT("link_made", "another")));
}

static inline void do_link_written(void)
{
	append_file(AT("link_written", "two"));
}

static inline void do_link_removed(void)
{
	unlink(AT("link_removed", "two"));
}

/* As editors do: the name becomes another file with the same content. */
static inline void do_link_broken(void)
{
	unlink(AT("link_broken", "new"));
	ignore_result(link(AT("link_broken", "b"), AT("link_broken", "new")));
	rename(AT("link_broken", "new"), AT("link_broken", "two"));
}

static inline void do_symlink_made(void)
{
	ignore_result(symlink("a", AT("symlink_made", "new")));
}

static inline void do_symlink_replaced(void)
{
	unlink(AT("symlink_replaced", "soft"));
	ignore_result(symlink("b", AT("symlink_replaced", "soft")));
}

static inline void do_symlink_removed(void)
{
	unlink(AT("symlink_removed", "dangling"));
}

static inline void do_through_symlink(void)
{
	append_file(AT("through_symlink", "soft"));
	/* A name that the link makes. */
	append_file(AT("through_symlink", "dangling"));
}

static inline void do_through_folder_link(void)
{
	append_file(AT("through_folder_link", "folder_link/c"));
	unlink(AT("through_folder_link", "folder_link/d"));
}

/* Attributes */

static inline void do_chmod(void)
{
	chmod(AT("chmod", "a"), 0777);
}

static inline void do_fchmod(void)
{
	int fd = open(AT("fchmod", "a"), O_RDONLY);
	fchmod(fd, 0400);
	close(fd);
}

static inline void do_chmod_folder(void)
{
	chmod(AT("chmod_folder", "sub"), 0);
}

static inline void do_chown(void)
{
	ignore_result(chown(AT("chown", "a"), 12345, 54321));
	ignore_result(chown(AT("chown", "sub"), 12345, 54321));
}

static inline void do_lchown(void)
{
	ignore_result(lchown(AT("lchown", "soft"), 12345, 54321));
}

static inline void touch(const char *path, int flags)
{
	struct timespec times[] = { { 1000000000, 1 }, { 1000000001, 2 } };
	utimensat(AT_FDCWD, path, times, flags);
}

static inline void do_utimensat(void)
{
	touch(AT("utimensat", "a"), 0);
}

static inline void do_touch_folder(void)
{
	touch(AT("touch_folder", "sub"), 0);
}

static inline void do_touch_symlink(void)
{
	touch(AT("touch_symlink", "soft"), AT_SYMLINK_NOFOLLOW);
}

static inline void do_setxattr(void)
{
	setxattr(AT("setxattr", "a"), "user.trial", "changed", 7, 0);
	setxattr(AT("setxattr", "b"), "user.new", "new", 3, 0);
}

static inline void do_removexattr(void)
{
	removexattr(AT("removexattr", "a"), "user.trial");
}

static inline void do_setxattr_folder(void)
{
	setxattr(AT("setxattr_folder", "sub"), "user.new", "new", 3, 0);
}

static inline void do_trusted_xattr(void)
{
	setxattr(AT("trusted_xattr", "a"), "trusted.trial", "new", 3, 0);
}

static inline void do_capability(void)
{
	/* cap_net_raw=ep, version 2 (linux/capability.h). */
	static const unsigned char value[20] = { 1, 0, 0, 2, 0, 0x20 };
	setxattr(AT("capability", "x.sh"), "security.capability", value, sizeof(value), 0);
}

static inline void do_acl(void)
{
	/* Version 2 (linux/posix_acl_xattr.h); user::rw-, user:12345:rw-, group::r--, mask::rw-, other::--- */
	static const unsigned char value[] = { 2, 0, 0, 0, /**/
					       1, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, /**/
					       2, 0, 6, 0, 0x39, 0x30, 0, 0, /**/
					       4, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, /**/
					       16, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, /**/
					       32, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };
	setxattr(AT("acl", "a"), "system.posix_acl_access", value, sizeof(value), 0);
	/* Where there are no such lists, the mode tells. */
	chmod(AT("acl", "b"), 0606);
}

static inline void do_flags(void)
{
	int flags = 0, fd = open(AT("flags", "a"), O_RDONLY);
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_NODUMP_FL;
		ignore_result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	}
	fchmod(fd, 0600);
	close(fd);
}

/* Writers */

static inline void do_opened_before(void)
{
	/* A process of its own for each test has nothing open. */
	if (opened_before < 0)
		write_file(AT("opened_before", "a"));
	else
		ignore_result(pwrite(opened_before, TEXT, strlen(TEXT), 3));
}

static inline void do_mapped_before(void)
{
	if (mapped_before)
		memset((char *)mapped_before + 9000, '#', 100);
	else
		write_mapped(AT("mapped_before", "big"), 0);
}

static inline void do_folder_opened_before(void)
{
	if (folder_before < 0) {
		append_file(AT("folder_opened_before", "sub/c"));
		return;
	}
	write_to(openat(folder_before, "c", O_WRONLY | O_APPEND));
	unlinkat(folder_before, "d", 0);
}

static inline void do_child(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		append_file(AT("child", "a"));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static inline void do_shell(void)
{
	struct path path = at("shell", "a");
	setenv("TRIAL_PATH", path.text, 1);
	ignore_result(system("echo written by a shell >>\"$TRIAL_PATH\"; rm -f \"${TRIAL_PATH%/*}/b\""));
	unsetenv("TRIAL_PATH");
}

static inline void do_spawn(void)
{
	char program[] = "/bin/rm", option[] = "-rf", *environment[] = { NULL };
	struct path path = at("spawn", "sub");
	char *words[] = { program, option, path.text, NULL };
	pid_t pid;
	if (posix_spawn(&pid, program, NULL, NULL, words, environment) == 0)
		waitpid(pid, NULL, 0);
}

/* Writes until it is killed, but not for ever. */
static inline void write_on(const char *path)
{
	for (int i = 0; i < 3000; i++) {
		append_file(path);
		usleep(20000);
	}
	_exit(0);
}

static inline void do_daemon(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		for (int fd = 0; fd < 64; fd++)
			close(fd);
		write_on(AT("daemon", "a"));
	}
	waitpid(pid, NULL, 0);
	usleep(1000);
}

static inline void do_stubborn_child(void)
{
	if (fork() == 0) {
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		write_on(AT("stubborn_child", "a"));
	}
	usleep(1000);
}

static inline void *write_aside(void *argument)
{
	append_file(AT("thread", "a"));
	return argument;
}

static inline void do_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, write_aside, NULL) == 0)
		pthread_join(thread, NULL);
}

static inline void do_flocked(void)
{
	int fd = open(AT("flocked", "a"), O_RDWR);
	flock(fd, LOCK_EX | LOCK_NB);
	ignore_result(pwrite(fd, TEXT, strlen(TEXT), 0));
	close(fd);
}

/* Paths */

static inline void do_proc_self_fd(void)
{
	char name[64];
	int fd = open(AT("proc_self_fd", "a"), O_RDONLY);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	write_to(open(name, O_WRONLY | O_TRUNC));
	close(fd);
}

/* In the working directory, from a folder that the tool knows. */
static inline void do_proc_self_cwd(void)
{
	append_file("/proc/self/cwd/in_cwd/a");
}

static inline void do_proc_self_root(void)
{
	append_file(join("/proc/self/root", AT("proc_self_root", "a")).text);
}

static inline void do_openat(void)
{
	int folder = open(AT("openat", "sub"), O_PATH | O_DIRECTORY);
	write_to(openat(folder, "c", O_WRONLY | O_TRUNC));
	unlinkat(folder, "d", 0);
	mkdirat(folder, "new", 0755);
	close(folder);
}

static inline void do_chdir_relative(void)
{
	int back = open(".", O_PATH | O_DIRECTORY);
	if (chdir(AT("chdir_relative", "sub")) == 0) {
		append_file("c");
		unlink("./deeper/../d");
	}
	ignore_result(fchdir(back));
	close(back);
}

static inline void do_fchdir_relative(void)
{
	int back = open(".", O_PATH | O_DIRECTORY), folder = open(AT("fchdir_relative", "sub"), O_RDONLY | O_DIRECTORY);
	if (fchdir(folder) == 0)
		append_file("../a");
	ignore_result(fchdir(back));
	close(folder);
	close(back);
}

/* Goes down one by one: the path is longer than what a call takes. Returns the last folder. */
static inline int open_deep(const char *operation)
{
	int fd = open(AT(operation, "deep"), O_PATH | O_DIRECTORY);
	for (;;) {
		int next = openat(fd, "a-folder-that-goes-down-and-down-and-down", O_PATH | O_DIRECTORY);
		if (next < 0)
			return fd;
		close(fd);
		fd = next;
	}
}

static inline void do_deep(void)
{
	int fd = open_deep("deep");
	write_to(openat(fd, "bottom", O_WRONLY | O_TRUNC));
	write_to(openat(fd, "new", O_WRONLY | O_CREAT, 0600));
	close(fd);
}

static inline void do_rmdir_deep(void)
{
	int fd = open_deep("rmdir_deep");
	unlinkat(fd, "bottom", 0);
	for (int i = 0; i < 300; i++) {
		int up = openat(fd, "..", O_PATH | O_DIRECTORY);
		close(fd);
		fd = up;
		if (unlinkat(fd, "a-folder-that-goes-down-and-down-and-down", AT_REMOVEDIR) != 0)
			break;
	}
	close(fd);
}

static inline void do_long_name(void)
{
	char name[256];
	memset(name, 'n', 255);
	name[255] = 0;
	append_file(AT("long_name", name));
	append_file(AT("long_name", "line\nbreak \xff"));
}

/* Places */

static inline void change_place(const char *variable, const char *operation)
{
	struct path folder = join(setting(variable), operation);
	append_file(join(folder.text, "a").text);
	unlink(join(folder.text, "b").text);
	write_file(join(folder.text, "new").text);
}

static inline void do_in_tmp(void)
{
	change_place("TRIAL_TMP", "in_tmp");
}

static inline void do_in_var_tmp(void)
{
	change_place("TRIAL_VAR_TMP", "in_var_tmp");
}

static inline void do_in_home(void)
{
	change_place("HOME", "in_home");
}

static inline void do_in_shm(void)
{
	change_place("TRIAL_SHM", "in_shm");
}

static inline void do_in_build(void)
{
	change_place("TRIAL_BUILD", "in_build");
}

static inline void do_in_git(void)
{
	change_place("TRIAL_PROJECT", ".git");
}

static inline void do_beside_the_project(void)
{
	change_place("TRIAL_BESIDE", "beside_the_project");
}

static inline void do_own_data(void)
{
	remove_tree(join(setting("TRIAL_BUILD"), "own_data").text);
}

static inline void do_own_executable(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length <= 0)
		return;
	path[length] = 0;
	/* The tool itself stays: a suite of processes has a copy of this program. */
	if (strstr(path, "/build/"))
		unlink(path);
}

/* Mounts: once, as each more would double them where mounts are shared. */

static inline void do_mount_over(void)
{
	if (access(AT("mount_over", "sub/c"), F_OK) == 0 &&
	    mount("trial", AT("mount_over", "sub"), "tmpfs", 0, "size=1m") == 0)
		write_file(AT("mount_over", "sub/hidden"));
}

static inline void do_mount_bind(void)
{
	if (access(AT("mount_bind", "sub/c"), F_OK) == 0)
		mount(AT("mount_bind", "other"), AT("mount_bind", "sub"), NULL, MS_BIND, NULL);
	append_file(AT("mount_bind", "sub/f"));
}

/* Many and large */

static inline void change_many(const char *operation, int unlinked, int prefix)
{
	for (int i = 0; i < atoi(setting("TRIAL_MANY")); i++) {
		char name[64];
		snprintf(name, sizeof(name), "many/%c%d/%d", prefix, i % 100, i);
		if (unlinked)
			unlink(AT(operation, name));
		else
			append_file(AT(operation, name));
	}
}

static inline void do_many_removed(void)
{
	change_many("many_removed", 1, 'd');
}

static inline void do_many_written(void)
{
	change_many("many_written", 0, 'd');
}

static inline void do_many_made(void)
{
	for (int i = 0; i < 100; i++) {
		char name[64];
		snprintf(name, sizeof(name), "many/n%d", i);
		mkdir(AT("many_made", name), 0755);
	}
	change_many("many_made", 0, 'n');
}

static inline void do_large_removed(void)
{
	unlink(AT("large_removed", "large"));
}

static inline void do_large_cut(void)
{
	ignore_result(truncate(AT("large_cut", "large"), 1000));
}

static inline void do_large_written(void)
{
	int fd = open(AT("large_written", "large"), O_RDWR);
	for (off_t offset = 0; offset < 200000000; offset += 10000000)
		ignore_result(pwrite(fd, TEXT, strlen(TEXT), offset));
	close(fd);
}

/* Not an operation: passes as long as some files are as they were, so that there is an order to be found. */
static inline int files_are_there(void)
{
	struct stat st;
	return stat(AT("write", "a"), &st) == 0 && stat(AT("unlink", "a"), &st) == 0 &&
	       stat(AT("rename_onto", "b"), &st) == 0 && stat(AT("create", "new"), &st) != 0;
}
