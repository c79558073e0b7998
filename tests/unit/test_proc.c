#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"

/* ---- maps ---- */

static bool mapping_of(char *text, struct proc_mapping *ret)
{
	return proc_next_mapping(&text, ret);
}

static void test_mapping(void **state)
{
	(void)state;
	char text[] =
		"55d0c0a00000-55d0c0a21000 rw-p 0001f000 fd:10 2531452"
		"                    /srv/a b/c (deleted)\n"
		"not a mapping at all\n"
		"7ffd0000-7ffd1000 r-xs 00000000 00:00 0 \n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vs]";
	char *at = text;
	struct proc_mapping m;
	assert_true(proc_next_mapping(&at, &m));
	assert_true(m.start == 0x55d0c0a00000 && m.end == 0x55d0c0a21000);
	assert_true(m.readable && m.writable && !m.executable && !m.shared);
	assert_true(m.offset == 0x1f000 && m.inode == 2531452);
	assert_true(m.device == makedev(0xfd, 0x10));
	assert_string_equal(m.path, "/srv/a b/c" PROC_DELETED);
	assert_true(proc_next_mapping(&at, &m));
	assert_true(m.start == 0x7ffd0000 && m.shared && m.executable);
	assert_true(!m.writable && !m.inode);
	assert_string_equal(m.path, "");
	assert_true(proc_next_mapping(&at, &m));
	assert_true(m.end == 0xffffffffff601000);
	assert_string_equal(m.path, "[vs]");
	assert_false(proc_next_mapping(&at, &m));
	assert_false(proc_next_mapping(&at, &m));
	at = NULL;
	assert_false(proc_next_mapping(&at, &m));
}

static void test_mapping_names(void **state)
{
	(void)state;
	struct proc_mapping m;
	char newline[] = "1000-2000 r--p 00000000 00:00 7 /a\\012b\\012\\013\\";
	assert_true(mapping_of(newline, &m));
	assert_string_equal(m.path, "/a\nb\n\\013\\");
	char cut[] = "1000-2000 r--p 00000000 00:00 7";
	assert_false(mapping_of(cut, &m));
	char backwards[] = "2000-1000 r--p 00000000 00:00 7 /a";
	assert_false(mapping_of(backwards, &m));
	char rights[] = "1000-2000 r-";
	assert_false(mapping_of(rights, &m));
	char empty[] = "\n\n\n";
	assert_false(mapping_of(empty, &m));
}

/* A file whose name has all that may go wrong, mapped here and removed. */
static void test_mapping_real(void **state)
{
	(void)state;
	char folder[] = "/tmp/polygraph-unit-XXXXXX", path[128], deleted[160];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a b) (\n[heap] 12", folder);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 8192), 0);
	void *memory =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	assert_true(memory != MAP_FAILED);
	struct stat st;
	fstat(fd, &st);
	for (int round = 0; round < 2; round++) {
		_cleanup_(str_freep) struct str text = STR_INIT;
		assert_ok(proc_read(getpid(), 0, "maps", &text));
		struct proc_mapping m;
		bool found = false;
		for (char *at = text.s; !found && proc_next_mapping(&at, &m);)
			found = m.start == (uintptr_t)memory;
		assert_true(found);
		snprintf(deleted, sizeof(deleted), "%s%s", path,
			 round ? PROC_DELETED : "");
		assert_string_equal(m.path, deleted);
		assert_true(m.end == m.start + 4096 && m.offset == 4096);
		assert_true(m.inode == st.st_ino && m.shared && m.writable);
		unlink(path);
	}
	munmap(memory, 4096);
	close(fd);
	rmdir(folder);
}

/* More lines than a page, or a chunk that is read at once, holds. */
static void test_mapping_many(void **state)
{
	(void)state;
	enum { COUNT = 1000 };
	char *memory = mmap(NULL, (size_t)COUNT * 4096, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	for (int i = 0; i < COUNT; i += 2)
		mprotect(memory + (size_t)i * 4096, 4096, PROT_READ);
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(closep) int fd = proc_open(getpid(), 0, "maps", O_RDONLY);
	for (int round = 0; round < 2; round++) {
		assert_ok(proc_read_fd(fd, &text));
		struct proc_mapping m;
		size_t found = 0;
		uint64_t last = 0;
		for (char *at = text.s; proc_next_mapping(&at, &m);) {
			assert_true(m.start >= last);
			last = m.end;
			found += m.start >= (uintptr_t)memory &&
				 m.end <= (uintptr_t)memory + COUNT * 4096UL;
		}
		assert_true(found >= COUNT - 2);
	}
	munmap(memory, (size_t)COUNT * 4096);
}

/* What is said of folders stays, so another process says it. */
static int look_for_moved(const struct stat *file)
{
	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	int moved = 0;
	/* The second is not on the device, the third comes too late. */
	assert_ok(proc_add_folder(file->st_dev, "/proc/below"));
	assert_ok(proc_add_folder(file->st_dev + 1, "/proc/other"));
	assert_ok(proc_add_folder(file->st_dev, "/proc/second"));
	assert_ok(proc_read_maps(getpid(), &maps));
	for (size_t i = 0; i < maps.n; i++) {
		const struct proc_mapping *mapping = &maps.data[i];
		bool is_file = mapping->inode == file->st_ino &&
			       mapping->device == file->st_dev;
		if (is_file != !strncmp(mapping->path, "/proc/below/", 12))
			return 2;
		moved += is_file;
	}
	return moved == 1 ? 0 : 1;
}

/* A path that does not lead to the file; it has no name any more. */
static void test_mapping_moved(void **state)
{
	(void)state;
	char name[] = "/tmp/polygraph-proc-XXXXXX";
	struct stat st;
	_cleanup_(closep) int fd = mkstemp(name);
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fstat(fd, &st), 0);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(map != MAP_FAILED);
	pid_t pid = fork();
	if (pid == 0)
		_exit(look_for_moved(&st));
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	munmap(map, 4096);
}

/* ---- stat ---- */

static void test_stat(void **state)
{
	(void)state;
	struct proc_stat stat = { .state = '?' };
	assert_true(proc_parse_stat(
		"71 (a) S (b\\n) R 1234 71 71 0 -1 4194560 111 5 22 0 1 2 3 4 "
		"20 0 1 0 987654321 4096 1 18446744073709551615",
		&stat));
	assert_true(stat.state == 'R' && stat.parent == 1234);
	assert_int_equal(stat.flags, 4194560);
	assert_true(stat.minor_faults == 111 && stat.major_faults == 22);
	assert_true(stat.start_ticks == 987654321);

	struct proc_stat before = stat;
	assert_false(proc_parse_stat("", &stat));
	assert_false(proc_parse_stat("71 (a", &stat));
	assert_false(proc_parse_stat("71 (a)", &stat));
	assert_false(proc_parse_stat("71 (a) ", &stat));
	assert_false(proc_parse_stat("71 (a) R 1 2 3", &stat));
	assert_false(proc_parse_stat("71 (a) R 1 x 3 4", &stat));
	assert_memory_equal(&before, &stat, sizeof(stat));
}

/* The child has the worst of names, and ends when the pipe is closed. */
static pid_t start_child(int *ret_pipe)
{
	int ready[2], hold[2];
	char byte;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_NAME, "a) R\n\\b (c");
		close(hold[1]);
		if (write(ready[1], "", 1) == 1)
			_exit((int)read(hold[0], &byte, 1));
		_exit(1);
	}
	close(hold[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*ret_pipe = hold[1];
	return pid;
}

static void test_child(void **state)
{
	(void)state;
	int hold;
	pid_t pid = start_child(&hold);
	struct proc_stat stat;
	struct proc_status status;
	char name[PROC_NAME_MAX];
	_cleanup_(pids_freep) struct pids children = {};
	assert_true(proc_read_stat(pid, 0, &stat));
	assert_int_equal(stat.parent, getpid());
	assert_true(stat.start_ticks > 0);
	assert_true(proc_read_status(pid, &status));
	assert_string_equal(status.name, "a) R\n\\b (c");
	assert_int_equal(status.parent, getpid());
	assert_int_equal(status.tracer, 0);
	assert_true(proc_read_name(pid, 0, name));
	assert_string_equal(name, "a) R\n\\b (c");
	assert_ok(proc_read_children(getpid(), getpid(), &children));
	assert_true(pids_have(&children, pid));

	/* Ended, but nobody has waited for it. */
	close(hold);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(proc_read_stat(pid, 0, &stat));
	assert_int_equal(stat.state, 'Z');
	assert_true(proc_read_status(pid, &status));
	assert_int_equal(status.state, 'Z');
	_cleanup_(str_freep) struct str text = STR_INIT;
	assert_ok(proc_read(pid, 0, "maps", &text));
	struct proc_mapping m;
	char *at = text.s;
	assert_false(proc_next_mapping(&at, &m));

	/* Gone. */
	waitpid(pid, NULL, 0);
	assert_false(proc_read_stat(pid, 0, &stat));
	assert_false(proc_read_status(pid, &status));
	assert_false(proc_read_name(pid, 0, name));
	assert_err(proc_read(pid, 0, "maps", &text), ERR_INTERNAL, "maps");
	children.n = 0;
	assert_ok(proc_read_children(pid, pid, &children));
	assert_int_equal(children.n, 0);
}

/* Descriptors that were opened before it ended. */
static void test_child_vanishes(void **state)
{
	(void)state;
	int hold;
	pid_t pid = start_child(&hold);
	_cleanup_(closep) int maps = proc_open(pid, 0, "maps", O_RDONLY);
	_cleanup_(closep) int stat_fd = proc_open(pid, 0, "stat", O_RDONLY);
	assert_true(maps >= 0 && stat_fd >= 0);
	struct proc_stat stat;
	assert_true(proc_read_stat_fd(stat_fd, &stat));
	close(hold);
	waitpid(pid, NULL, 0);
	assert_false(proc_read_stat_fd(stat_fd, &stat));
	_cleanup_(str_freep) struct str text = STR_INIT;
	err_destroy(proc_read_fd(maps, &text));
	assert_int_equal(text.n, 0);
}

struct held_thread {
	pthread_barrier_t both;
	pid_t tid;
};

static void *hold_thread(void *data)
{
	struct held_thread *held = data;
	prctl(PR_SET_NAME, "worker");
	held->tid = gettid();
	pthread_barrier_wait(&held->both);
	pthread_barrier_wait(&held->both);
	return NULL;
}

static void test_thread(void **state)
{
	(void)state;
	pthread_t thread;
	struct held_thread held;
	struct proc_stat stat;
	char name[PROC_NAME_MAX];
	pthread_barrier_init(&held.both, NULL, 2);
	pthread_create(&thread, NULL, hold_thread, &held);
	pthread_barrier_wait(&held.both);
	assert_true(proc_read_name(getpid(), held.tid, name));
	assert_string_equal(name, "worker");
	assert_true(proc_read_stat(getpid(), held.tid, &stat));
	/* By its number alone, too. */
	assert_true(proc_read_stat(held.tid, 0, &stat));
	pthread_barrier_wait(&held.both);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&held.both);
	/* Joined, it may be listed for another moment. */
	while (proc_read_stat(getpid(), held.tid, &stat))
		usleep(1000);
}

/* ---- status ---- */

static void test_status(void **state)
{
	(void)state;
	const char *text = "Name:\tState:\\nPPid:\\\\\nUmask:\t0022\n"
			   "State:\tS (sleeping)\nPPid:\t17\nTracerPid:\t0\n"
			   "Groups:\t \nSigCgt:\t00000001800004ec\nLast:\t1";
	struct proc_status status;
	char field[64];
	uint64_t number = 5;
	assert_true(proc_parse_status(text, &status));
	assert_string_equal(status.name, "State:\nPPid:\\");
	assert_true(status.state == 'S' && status.parent == 17);
	assert_true(proc_status_field(text, "Umask", field, sizeof(field)));
	assert_string_equal(field, "0022");
	assert_true(proc_status_field(text, "Groups", field, sizeof(field)));
	assert_string_equal(field, "");
	assert_true(proc_status_number(text, "SigCgt", 16, &number));
	assert_true(number == 0x1800004ec);
	assert_true(proc_status_number(text, "Last", 10, &number));
	assert_int_equal(number, 1);
	assert_false(proc_status_number(text, "State", 10, &number));
	assert_false(proc_status_field(text, "Sig", field, sizeof(field)));
	assert_false(proc_status_field("", "Umask", field, sizeof(field)));
	assert_false(
		proc_parse_status("Name:\tx\nState:\t\nPPid:\t1\n", &status));
	assert_false(
		proc_parse_status("Name:\tx\nState:\tR\nPPid:\t1\n", &status));
}

/* ---- children ---- */

static void test_children(void **state)
{
	(void)state;
	_cleanup_(pids_freep) struct pids pids = {};
	assert_ok(proc_parse_children("", &pids));
	assert_int_equal(pids.n, 0);
	assert_ok(proc_parse_children("12 15 ", &pids));
	assert_ok(proc_parse_children("99999999999999999999 0 7\n", &pids));
	assert_ok(proc_parse_children("x 4", &pids));
	assert_ok(proc_parse_children("-4 ", &pids));
	assert_int_equal(pids.n, 3);
	assert_true(pids_have(&pids, 12) && pids_have(&pids, 15));
	assert_true(pids_have(&pids, 7) && !pids_have(&pids, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_mapping_names),
		cmocka_unit_test(test_mapping_real),
		cmocka_unit_test(test_mapping_many),
		cmocka_unit_test(test_mapping_moved),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_child_vanishes),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_children),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
