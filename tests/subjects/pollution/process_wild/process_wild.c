// Process state that lies or is too much of it: the tool goes on, says what it can, and keeps to a bound.
//
//@ subject framework=functions lang=c where=process
//@ variant plain libs=-pthread quick=gcc-O0
//@ run default deep=yes

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

TEST(test_value_not_utf8) //@ pollutes test_value_not_utf8 environment[SUBJECT_BYTES] ... before=unset
{
	setenv("SUBJECT_BYTES", "\xff\xfe\n\t\x1b[31m \"quoted\" \\", 1);
}

TEST(test_value_long) //@ pollutes test_value_long environment[SUBJECT_LONG] ... before=unset
{
	char *text = malloc(1 << 20);
	memset(text, 'x', (1 << 20) - 1);
	text[(1 << 20) - 1] = '\0';
	setenv("SUBJECT_LONG", text, 1);
	free(text);
}

TEST(test_name_strange) //@ pollutes test_name_strange environment[...] ... at-most=2
{
	static char without[] = "SUBJECT_WITHOUT_VALUE", nameless[] = "=x";
	static char *own[2000];
	size_t n = 0;
	while (environ[n] && n < 1900)
		n++;
	memcpy(own, environ, n * sizeof(*own));
	own[n++] = without;
	own[n++] = nameless;
	own[n] = NULL;
	environ = own;
	TOUCH(own);
} //@ pollutes test_name_strange own|test_name_strange::own where=memory may=yes

TEST(test_two_of_a_name) //@ clean test_two_of_a_name
{
	static char second[] = "SUBJECT_TWICE=second";
	size_t n = 0;
	while (environ[n])
		n++;
	char **old = environ, *own[2000];
	memcpy(own, environ, n * sizeof(*own));
	own[n++] = second;
	own[n] = NULL;
	environ = own;
	TOUCH(own);
	environ = old;
}

TEST(test_environment_bogus_and_back) //@ clean test_environment_bogus_and_back
{
	char **old = environ;
	environ = (char **)16;
	TOUCH(&environ);
	environ = old;
}

// All variables are gone: each is told, up to a bound.
TEST(test_environment_bogus) //@ pollutes test_environment_bogus environment|environment[...] ... may=yes
{
	environ = (char **)16;
}

TEST(test_environment_loop) //@ pollutes test_environment_loop environment|environment[...] ... may=yes
{
	static char text[] = "SUBJECT_AGAIN=1";
	char **many = mmap(NULL, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < (1 << 24) / sizeof(*many); i++)
		many[i] = text; /* and no end but that of the mapping */
	environ = many;
}

TEST(test_environment_empty) //@ pollutes test_environment_empty environment|environment[...] ... may=yes
{
	static char *none[] = { NULL };
	environ = none;
}

TEST(test_many_descriptors) //@ pollutes test_many_descriptors descriptor[...] ... before=absent after=/dev/null...
{
	for (int i = 0; i < 300; i++)
		(void)!open("/dev/null", O_RDONLY);
}

TEST(test_descriptor_of_deleted) //@ pollutes test_descriptor_of_deleted descriptor[600] ... before=absent
{
	write_file("with\nnewline (deleted)", "x");
	int fd = open("with\nnewline (deleted)", O_RDONLY);
	unlink("with\nnewline (deleted)");
	dup2(fd, 600);
	close(fd);
}

TEST(test_many_children) //@ pollutes test_many_children child[...] ... before=absent after="not waited for"
{
	for (int i = 0; i < 30; i++) {
		if (!fork())
			_exit(0);
	}
	usleep(100000);
}

TEST(test_waits_for_all) //@ pollutes test_waits_for_all child[...] ... may=yes
{
	while (wait(NULL) > 0)
		continue;
}

TEST(test_thread_gone_by_itself) //@ clean test_thread_gone_by_itself
{
	pid_t pid = vfork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

TEST(test_process_name_strange) //@ pollutes test_process_name_strange process-name ...
{
	prctl(PR_SET_NAME, "a) R \n\xff(b");
}

// Whatever the tool has to do in this process now must do without new descriptors …
TEST(test_no_descriptors) //@ pollutes test_no_descriptors limit[nofile] ...
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &limit);
}

// … without signals …
TEST(test_all_signals_blocked) //@ pollutes test_all_signals_blocked signal-mask ...
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

// … and without those that were there: what is left of them is closed.
TEST(test_all_closed) //@ pollutes test_all_closed descriptor[...] ... after=absent
{
	syscall(SYS_close_range, 3, ~0U, 0);
}

TEST(test_nothing) //@ clean test_nothing
{
}

TEST(test_directory_gone) //@ pollutes test_directory_gone working-directory ...
{
	mkdir("gone", 0700);
	(void)!chdir("gone");
	rmdir("../gone");
}

TEST(test_in_no_directory) //@ clean test_in_no_directory
{
	write_file("nowhere.txt", "x");
	(void)!mkdir("nowhere", 0700);
}

int main(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < 1024) {
		limit.rlim_cur = limit.rlim_max < 1024 ? limit.rlim_max : 1024;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	setenv("SUBJECT_TWICE", "first", 1);
	dup2(open("/dev/null", O_RDONLY), 700);
	return runner_main();
}
