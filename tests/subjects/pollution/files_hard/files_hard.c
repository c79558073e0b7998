// Files that are hard to follow: fresh and strange names, outside of the working directory, many of them, unlinked while
// open, without permission; and another process that writes at the same time.
//
//@ subject framework=functions lang=c where=file
//@ variant plain libs=-pthread quick=gcc-O0
//@ variant static libs="-static -pthread" builds=gcc-O2
//@ run default beside="while :; do echo x >>busy.log; echo y >busy-$$; mv busy-$$ busy.new; mkdir -p busy.d; rmdir busy.d; sleep 0.01; done"
//@ run walk --file-tracking walk --watch-dir . --watch-dir ../outside quick=no prepare="mkdir ../outside"

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <errno.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

static void *write_in_thread(void *name)
{
	write_file(name, "thread");
	return NULL;
}

// ---- fresh names ----

//@ pollutes test_mkstemp left-XXXXXX left-XXXXXX before=absent severity=low
TEST(test_mkstemp)
{
	char name[] = "left-XXXXXX";
	int fd = mkstemp(name);
	(void)!write(fd, "x", 1);
	close(fd);
}

TEST(test_mkstemp_and_back) //@ clean test_mkstemp_and_back
{
	char name[] = "short-XXXXXX";
	close(mkstemp(name));
	unlink(name);
}

//@ pollutes test_mkdtemp folder-XXXXXX|folder-XXXXXX/... folder-XXXXXX before=absent after=folder... severity=low
TEST(test_mkdtemp)
{
	char name[] = "folder-XXXXXX", file[64];
	if (!mkdtemp(name))
		return;
	snprintf(file, sizeof(file), "%s/inside.txt", name);
	write_file(file, "inside");
}

TEST(test_mkdtemp_and_back) //@ clean test_mkdtemp_and_back
{
	char name[] = "short-XXXXXX";
	if (mkdtemp(name))
		rmdir(name);
}

//@ pollutes test_pid_in_name run-PID.log run-PID.log before=absent severity=low
TEST(test_pid_in_name)
{
	char name[64];
	snprintf(name, sizeof(name), "run-%d.log", (int)getpid());
	write_file(name, "log");
}

//@ pollutes test_in_tmp ...tmp/test-XXXXXX ... before=absent severity=low in=default
//@ clean test_in_tmp in=walk
TEST(test_in_tmp)
{
	const char *tmp = getenv("TMPDIR");
	char name[4096];
	snprintf(name, sizeof(name), "%s/test-XXXXXX", tmp ? tmp : "/tmp");
	close(mkstemp(name));
}

TEST(test_tmpfile) //@ clean test_tmpfile
{
	FILE *file = tmpfile();
	if (!file)
		return;
	fputs("text", file);
	fclose(file);
}

TEST(test_o_tmpfile) //@ clean test_o_tmpfile
{
	int fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	(void)!write(fd, "x", 1);
	close(fd);
}

// ---- a file without a name ----

TEST(test_unlinked_while_open) //@ clean test_unlinked_while_open
{
	int fd = open("unlinked.txt", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	unlink("unlinked.txt");
	(void)!write(fd, "x", 1);
	close(fd);
}

// Left open, it is a descriptor that is left, but no file.
//@ pollutes test_unlinked_left_open descriptor[60] where=process before=absent
TEST(test_unlinked_left_open)
{
	int fd = open("unlinked.txt", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	unlink("unlinked.txt");
	dup2(fd, 60);
	close(fd);
}

// ---- elsewhere ----

TEST(test_outside) //@ pollutes test_outside /...outside/created.txt ... before=absent after="file of 7 bytes"
{
	write_file("../outside/created.txt", "outside");
}

TEST(test_outside_and_back) //@ clean test_outside_and_back
{
	write_file("../outside/shortly.txt", "outside");
	unlink("../outside/shortly.txt");
}

// The path is told from where the suite was started.
TEST(test_in_other_directory) //@ pollutes test_in_other_directory deep/created.txt deep/created.txt before=absent
{
	if (chdir("deep"))
		return;
	write_file("created.txt", "deep");
	(void)!chdir("..");
}

TEST(test_at_descriptor) //@ pollutes test_at_descriptor deep/at.txt deep/at.txt before=absent
{
	int folder = open("deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(folder, "at.txt", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	(void)!write(fd, "x", 1);
	close(fd);
	close(folder);
}

TEST(test_through_linked_folder) //@ pollutes test_through_linked_folder deep/through.txt deep/through.txt before=absent
{
	write_file("./way/../way/./through.txt", "x");
}

TEST(test_device) //@ clean test_device
{
	write_file("/dev/null", "nothing");
	char text[8];
	read_file("/proc/self/stat", text, sizeof(text));
	write_file("/proc/self/oom_score_adj", "0");
}

// ---- ways to write that are easily missed ----

enum { EARLY_FD = 70 };

TEST(test_proc_descriptor) //@ pollutes test_proc_descriptor early.txt early.txt before="\"old\\n\"" after="\"proc\""
{
	write_file("/proc/self/fd/70", "proc");
}

TEST(test_cut_through_descriptor) //@ pollutes test_cut_through_descriptor early.txt early.txt before="\"proc\"" after="\"p\""
{
	(void)!ftruncate(EARLY_FD, 1);
}

TEST(test_mode_through_descriptor) //@ pollutes test_mode_through_descriptor early.txt "early.txt: mode" after=...640...
{
	fchmod(EARLY_FD, 0640);
}

// The child has the descriptor from its parent, who had it before the first test.
TEST(test_inherited_descriptor) //@ pollutes test_inherited_descriptor early.txt early.txt after="\"child\\n\""
{
	(void)!lseek(EARLY_FD, 0, SEEK_SET);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(EARLY_FD, 1);
		execl("/bin/echo", "echo", "child", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	(void)!lseek(EARLY_FD, 0, SEEK_SET);
}

TEST(test_sendfile) //@ pollutes test_sendfile early.txt early.txt
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	(void)!sendfile(EARLY_FD, from, NULL, 100);
	(void)!lseek(EARLY_FD, 0, SEEK_SET);
	close(from);
}

TEST(test_descriptor_unused) //@ clean test_descriptor_unused
{
	char text[8];
	(void)!pread(EARLY_FD, text, sizeof(text), 0);
}

static FILE *early_log;

TEST(test_early_log) //@ pollutes test_early_log early.log early.log effect=accumulates //@ pollutes test_early_log descriptor[71] where=process may=yes
{
	fprintf(early_log, "line\n");
	fflush(early_log);
}

TEST(test_early_log_unused) //@ clean test_early_log_unused
{
	fflush(early_log);
}

TEST(test_in_thread) //@ pollutes test_in_thread by-thread.txt by-thread.txt before=absent
{
	pthread_t thread;
	if (!pthread_create(&thread, NULL, write_in_thread, "by-thread.txt"))
		pthread_join(thread, NULL);
}

// The thread has the process's directory, the child one of its own.
TEST(test_shell_elsewhere) //@ pollutes test_shell_elsewhere deep/by-shell.txt deep/by-shell.txt before=absent
{
	(void)!system("cd deep && echo x >by-shell.txt");
}

TEST(test_vfork) //@ pollutes test_vfork by-vfork by-vfork before=absent after=folder
{
	pid_t pid = vfork();
	if (pid == 0) {
		execl("/bin/mkdir", "mkdir", "by-vfork", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

TEST(test_pipeline) //@ pollutes test_pipeline sorted.txt sorted.txt before=absent after="file of 4 bytes"
{
	(void)!system("printf 'b\\na\\n' | sort | cat >sorted.txt");
}

TEST(test_pipeline_and_back) //@ clean test_pipeline_and_back
{
	(void)!system("printf 'b\\na\\n' | tee short.txt | cat >/dev/null; rm short.txt");
}

// ---- strange names ----

TEST(test_space) //@ pollutes test_space "with space.txt" "with space.txt" before=absent
{
	write_file("with space.txt", "x");
}

TEST(test_newline) //@ pollutes test_newline "with...newline.txt" "..." before=absent
{
	write_file("with\nnewline.txt", "x");
}

TEST(test_not_utf8) //@ pollutes test_not_utf8 "not-...-utf8.txt" "..." before=absent
{
	write_file("not-\xff\xfe-utf8.txt", "x");
}

TEST(test_not_utf8_and_back) //@ clean test_not_utf8_and_back
{
	write_file("not-\xff\xfd-utf8.txt", "x");
	unlink("not-\xff\xfd-utf8.txt");
}

TEST(test_content_not_utf8) //@ pollutes test_content_not_utf8 bytes.txt bytes.txt
{
	write_file("bytes.txt", "new \xff\xfe\n\t\x1b[31m");
}

TEST(test_dash) //@ pollutes test_dash "-rf: mode" "-rf: mode" before=absent
{
	write_file("-rf: mode", "x");
}

// ---- many ----

//@ pollutes test_many many|many/... many before=absent after=folder... at-most=20
TEST(test_many)
{
	mkdir("many", 0755);
	for (int i = 0; i < 1000; i++) {
		char name[64];
		snprintf(name, sizeof(name), "many/%d.txt", i);
		write_file(name, "x");
	}
}

//@ pollutes test_many_in_old_folder crowd|crowd/... ... at-most=50
TEST(test_many_in_old_folder)
{
	for (int i = 0; i < 400; i++) {
		char name[64];
		snprintf(name, sizeof(name), "crowd/%d.txt", i);
		write_file(name, "x");
	}
}

TEST(test_many_and_back) //@ clean test_many_and_back
{
	for (int i = 0; i < 300; i++) {
		char name[64];
		snprintf(name, sizeof(name), "deep/%d.txt", i);
		write_file(name, "x");
		unlink(name);
	}
}

TEST(test_one_many_times) //@ clean test_one_many_times
{
	for (int i = 0; i < 20; i++)
		write_file("deep/again.txt", i % 2 ? "old\n" : "new\n");
}

// ---- without permission ----

//@ pollutes test_in_locked_folder locked/inside.txt ... before=absent if=root
//@ pollutes test_in_locked_folder locked/inside.txt ... may=yes if=user
TEST(test_in_locked_folder)
{
	chmod("locked", 0700);
	write_file("locked/inside.txt", "x");
	chmod("locked", 0);
}

TEST(test_in_locked_folder_and_back) //@ clean test_in_locked_folder_and_back
{
	chmod("locked", 0700);
	write_file("locked/shortly.txt", "x");
	unlink("locked/shortly.txt");
	chmod("locked", 0);
}

// Nobody can read it but root; that it grew is seen by its size.
TEST(test_unreadable_file) //@ pollutes test_unreadable_file unreadable.txt ... effect=accumulates
{
	append_file("unreadable.txt", "more\n");
}

// ---- others ----

// Someone else writes here all the time, and not because of the tests.
TEST(test_reads_busy) //@ clean test_reads_busy
{
	char text[64];
	for (int i = 0; i < 20; i++) {
		read_file("busy.log", text, sizeof(text));
		usleep(1000);
	}
}

TEST(test_waits) //@ clean test_waits
{
	usleep(20000);
}

// A child of a child, without a parent when it writes.
// Its end of the pipe is closed a moment before it is gone.
//@ pollutes test_orphan by-orphan.txt by-orphan.txt before=absent
//@ pollutes test_orphan child[...] where=process may=yes
TEST(test_orphan)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid_t pid = fork();
	if (pid == 0) {
		pid_t parent = getpid();
		if (fork())
			_exit(0);
		while (getppid() == parent)
			usleep(100);
		write_file("by-orphan.txt", "orphan");
		_exit(0);
	}
	close(ends[1]);
	waitpid(pid, NULL, 0);
	char byte;
	(void)!read(ends[0], &byte, 1); /* until the orphan is gone */
	close(ends[0]);
}

// Left running, it writes while others run. That is not their doing.
//@ pollutes test_daemon child[...] where=process
//@ pollutes test_daemon daemon.log may=yes
TEST(test_daemon)
{
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		/* However slow the machine is, it is there when the test ends; at most 30 seconds. */
		for (int i = 0; i < 3000 && getppid() == parent; i++) {
			usleep(10000);
			if (i >= 20)
				continue;
			int fd = open("daemon.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
			(void)!write(fd, "x", 1);
			close(fd);
		}
		_exit(0);
	}
	usleep(30000); // the kernel knows when a process began to a hundredth of a second
}

// Who walks cannot know.
//@ clean test_beside_daemon in=default
//@ pollutes test_beside_daemon daemon.log may=yes in=walk
TEST(test_beside_daemon)
{
	usleep(50000);
}

int main(void)
{
	umask(022);
	mkdir("../outside", 0755);
	mkdir("deep", 0755);
	mkdir("crowd", 0755);
	mkdir("locked", 0);
	(void)!symlink("deep", "way");
	write_file("bytes.txt", "old");
	write_file("early.txt", "old\n");
	int early = open("early.txt", O_RDWR), log = open("early.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
	dup2(early, EARLY_FD);
	dup2(log, EARLY_FD + 1);
	close(early);
	close(log);
	early_log = fdopen(EARLY_FD + 1, "a");
	write_file("deep/again.txt", "old\n");
	write_file("unreadable.txt", "old\n");
	chmod("unreadable.txt", 0200);
	return runner_main();
}
