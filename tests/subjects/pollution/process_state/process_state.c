// Process state: every row of the table left changed, and its twin that puts it back. What is left stays for the tests
// that follow, which must not be blamed for it.
//
//@ subject framework=functions lang=c where=process
//@ variant plain libs="-lm -lrt -pthread" quick=gcc-O0,clang-O2
//@ variant static libs="-static -lm -lrt -pthread" builds=gcc-O2 quick=gcc-O2

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

/* Descriptors that are there before the first test. */
enum { OLD_FD = 40, OLD_WRITE_FD, OLD_CLOSED_FD, OLD_OTHER_FD, OLD_LOCK_FD, LEFT_FD = 50 };

// ---- working directory, umask ----

TEST(test_umask) //@ pollutes test_umask umask umask before=...022 after=...077 severity=high effect=settles
{
	umask(077);
}

TEST(test_umask_back) //@ clean test_umask_back
{
	mode_t old = umask(0);
	umask(old);
}

TEST(test_chdir_back) //@ clean test_chdir_back
{
	if (!chdir("folder"))
		(void)!chdir("..");
}

TEST(test_fchdir_back) //@ clean test_fchdir_back
{
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)!chdir("/");
	(void)!fchdir(fd);
	close(fd);
}

// ---- environment ----

TEST(test_setenv) //@ pollutes test_setenv environment[SUBJECT_NEW] environment[SUBJECT_NEW] before=unset after="\"1\"" effect=settles
{
	setenv("SUBJECT_NEW", "1", 1);
}

TEST(test_setenv_changes) //@ pollutes test_setenv_changes environment[SUBJECT_OLD] environment[SUBJECT_OLD] before="\"old\"" after="\"a longer value\""
{
	setenv("SUBJECT_OLD", "a longer value", 1);
}

TEST(test_unsetenv) //@ pollutes test_unsetenv environment[SUBJECT_GONE] environment[SUBJECT_GONE] before="\"old\"" after=unset
{
	unsetenv("SUBJECT_GONE");
}

TEST(test_putenv) //@ pollutes test_putenv environment[SUBJECT_PUT] environment[SUBJECT_PUT] before=unset after="\"put\""
{
	static char text[] = "SUBJECT_PUT=put";
	putenv(text);
}

TEST(test_setenv_accumulates) //@ pollutes test_setenv_accumulates environment[SUBJECT_LIST] environment[SUBJECT_LIST] before="\"a\"" after="\"a:b\"" effect=accumulates
{
	char text[256];
	snprintf(text, sizeof(text), "%.200s:b", getenv("SUBJECT_LIST"));
	setenv("SUBJECT_LIST", text, 1);
}

TEST(test_setenv_the_same) //@ clean test_setenv_the_same
{
	setenv("SUBJECT_KEPT", "kept", 1);
	setenv("SUBJECT_KEPT", "other", 0);
}

TEST(test_setenv_back) //@ clean test_setenv_back
{
	setenv("SUBJECT_KEPT", "other", 1);
	setenv("SUBJECT_SHORT", "1", 1);
	setenv("SUBJECT_KEPT", "kept", 1);
	unsetenv("SUBJECT_SHORT");
}

// ---- signals ----

static void on_usr1(int number)
{
	(void)number;
}

static void on_usr2(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
}

TEST(test_signal) //@ pollutes test_signal signal-handler[SIGUSR1] signal-handler[SIGUSR1] before=default after=...on_usr1... effect=settles
{
	signal(SIGUSR1, on_usr1);
}

TEST(test_sigaction) //@ pollutes test_sigaction signal-handler[SIGUSR2] signal-handler[SIGUSR2] before=default after=...on_usr2...
{
	struct sigaction action = { .sa_sigaction = on_usr2, .sa_flags = SA_SIGINFO | SA_RESTART };
	sigaction(SIGUSR2, &action, NULL);
}

TEST(test_signal_ignored) //@ pollutes test_signal_ignored signal-handler[SIGPIPE] signal-handler[SIGPIPE] before=default after=ignored
{
	signal(SIGPIPE, SIG_IGN);
}

TEST(test_sigaction_flags) //@ pollutes test_sigaction_flags signal-handler[SIGUSR2] ...
{
	struct sigaction action = { .sa_sigaction = on_usr2, .sa_flags = SA_SIGINFO | SA_NODEFER };
	sigaction(SIGUSR2, &action, NULL);
}

TEST(test_signal_back) //@ clean test_signal_back
{
	struct sigaction action = { .sa_handler = on_usr1 }, old;
	sigaction(SIGHUP, &action, &old);
	raise(SIGHUP);
	sigaction(SIGHUP, &old, NULL);
	signal(SIGHUP, signal(SIGHUP, on_usr1));
}

static void block(int how, int number)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(how, &set, NULL);
}

TEST(test_signal_mask) //@ pollutes test_signal_mask signal-mask signal-mask after=...SIGWINCH... severity=high effect=settles
{
	block(SIG_BLOCK, SIGWINCH);
}

TEST(test_signal_mask_back) //@ clean test_signal_mask_back
{
	block(SIG_BLOCK, SIGURG);
	block(SIG_UNBLOCK, SIGURG);
}

TEST(test_pending) //@ pollutes test_pending pending-signals[SIGTTIN] pending-signals[SIGTTIN] before=absent|... after=...
{
	raise(SIGTTIN); /* blocked since main() */
}

TEST(test_pending_taken) //@ clean test_pending_taken
{
	raise(SIGTTOU);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	int number;
	sigwait(&set, &number);
}

static char stack[1 << 16];

TEST(test_signal_stack) //@ pollutes test_signal_stack signal-stack ...
{
	stack_t new = { .ss_sp = stack, .ss_size = sizeof(stack) };
	sigaltstack(&new, NULL);
}

TEST(test_signal_stack_back) //@ clean test_signal_stack_back
{
	stack_t new = { .ss_flags = SS_DISABLE }, old;
	sigaltstack(&new, &old);
	sigaltstack(&old, NULL);
}

// ---- descriptors ----

TEST(test_open) //@ pollutes test_open descriptor[50] descriptor[50] before=absent after=...old.txt...
{
	int fd = open("old.txt", O_RDONLY | O_CLOEXEC);
	dup2(fd, LEFT_FD);
	close(fd);
}

TEST(test_open_and_close) //@ clean test_open_and_close
{
	close(open("old.txt", O_RDONLY | O_CLOEXEC));
	FILE *file = fopen("old.txt", "r");
	fclose(file);
}

TEST(test_pipe) //@ pollutes test_pipe descriptor[51] descriptor[51] before=absent after=pipe... //@ pollutes test_pipe descriptor[52] descriptor[52] before=absent after=pipe...
{
	int ends[2];
	if (pipe(ends))
		return;
	dup2(ends[0], LEFT_FD + 1);
	dup2(ends[1], LEFT_FD + 2);
	close(ends[0]);
	close(ends[1]);
}

TEST(test_pipe_and_close) //@ clean test_pipe_and_close
{
	int ends[2];
	if (pipe(ends))
		return;
	close(ends[0]);
	close(ends[1]);
}

TEST(test_socket) //@ pollutes test_socket descriptor[53] descriptor[53] before=absent after=...socket...
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	dup2(fd, LEFT_FD + 3);
	close(fd);
}

TEST(test_closes) //@ pollutes test_closes descriptor[42] descriptor[42] before=...old.txt... after=absent
{
	close(OLD_CLOSED_FD);
}

TEST(test_dup2) //@ pollutes test_dup2 descriptor[43] descriptor[43] before=...old.txt... after=.../dev/null...
{
	int fd = open("/dev/null", O_RDONLY);
	dup2(fd, OLD_OTHER_FD);
	close(fd);
}

TEST(test_offset) //@ pollutes test_offset descriptor[40] descriptor[40].offset before=0 after=2 severity=low
{
	lseek(OLD_FD, 2, SEEK_SET);
}

TEST(test_offset_back) //@ clean test_offset_back
{
	char byte;
	off_t old = lseek(OLD_FD, 0, SEEK_CUR);
	(void)!read(OLD_FD, &byte, 1);
	lseek(OLD_FD, old, SEEK_SET);
}

TEST(test_descriptor_flags) //@ pollutes test_descriptor_flags descriptor[41] descriptor[41].flags
{
	fcntl(OLD_WRITE_FD, F_SETFL, fcntl(OLD_WRITE_FD, F_GETFL) | O_NONBLOCK);
}

TEST(test_close_on_exec) //@ pollutes test_close_on_exec descriptor[44] descriptor[44].flags
{
	fcntl(OLD_LOCK_FD, F_SETFD, FD_CLOEXEC);
}

TEST(test_descriptor_flags_back) //@ clean test_descriptor_flags_back
{
	int flags = fcntl(OLD_FD, F_GETFL);
	fcntl(OLD_FD, F_SETFL, flags | O_NONBLOCK);
	fcntl(OLD_FD, F_SETFL, flags);
}

// ---- locale, time zone ----

TEST(test_locale) //@ pollutes test_locale locale[LC_NUMERIC] locale[LC_NUMERIC] before="C|\"C\"" after="C.UTF-8|\"C.UTF-8\"" severity=high effect=settles
{
	setlocale(LC_NUMERIC, "C.UTF-8");
}

TEST(test_locale_back) //@ clean test_locale_back
{
	setlocale(LC_CTYPE, "C.UTF-8");
	setlocale(LC_CTYPE, "C");
	setlocale(LC_ALL, setlocale(LC_ALL, NULL));
}

// For the first time in this process.
TEST(test_time_zone_first) //@ clean test_time_zone_first
{
	time_t now = 1000000;
	struct tm tm;
	localtime_r(&now, &tm);
	tzset();
}

TEST(test_time_zone) //@ pollutes test_time_zone time-zone ... severity=high //@ pollutes test_time_zone environment[TZ] environment[TZ] after="\"XYZ-5\""
{
	setenv("TZ", "XYZ-5", 1);
	tzset();
}

TEST(test_time_zone_back) //@ clean test_time_zone_back
{
	setenv("TZ", "ABC+3", 1);
	tzset();
	setenv("TZ", "XYZ-5", 1);
	tzset();
}

// ---- limits, priority, scheduling ----

TEST(test_limit) //@ pollutes test_limit limit[nofile] limit[nofile] after=...200... effect=settles not-readers=test_limit_back
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 200;
	setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(test_limit_back) //@ clean test_limit_back
{
	struct rlimit limit, other;
	getrlimit(RLIMIT_STACK, &limit);
	other = limit;
	other.rlim_cur = 1 << 22;
	setrlimit(RLIMIT_STACK, &other);
	setrlimit(RLIMIT_STACK, &limit);
}

TEST(test_nice) //@ pollutes test_nice priority ... effect=accumulates not-readers=test_scheduling_back
{
	(void)!nice(1);
}

TEST(test_priority_back) //@ clean test_priority_back
{
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0));
}

TEST(test_scheduling) //@ pollutes test_scheduling scheduling ...
{
	struct sched_param param = { 0 };
	sched_setscheduler(0, SCHED_BATCH, &param);
}

TEST(test_scheduling_back) //@ clean test_scheduling_back
{
	struct sched_param param = { 0 };
	int old = sched_getscheduler(0);
	sched_setscheduler(0, SCHED_OTHER, &param);
	sched_setscheduler(0, old, &param);
}

static void to_other_cpu(void)
{
	cpu_set_t now, other;
	sched_getaffinity(0, sizeof(now), &now);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		CPU_ZERO(&other);
		CPU_SET(i, &other);
		if (!CPU_EQUAL(&now, &other) && !sched_setaffinity(0, sizeof(other), &other))
			return;
	}
}

// On a machine with one CPU there is no other.
TEST(test_affinity) //@ pollutes test_affinity cpu-affinity ... may=yes
{
	to_other_cpu();
}

TEST(test_affinity_back) //@ clean test_affinity_back
{
	cpu_set_t now;
	sched_getaffinity(0, sizeof(now), &now);
	to_other_cpu();
	sched_setaffinity(0, sizeof(now), &now);
}

// ---- timers ----

static void set_timer(int which, long seconds)
{
	struct itimerval timer = { .it_value.tv_sec = seconds };
	setitimer(which, &timer, NULL);
}

TEST(test_alarm) //@ pollutes test_alarm timer[real] ...
{
	alarm(10000);
}

// It runs on meanwhile, which is not this test's doing.
TEST(test_while_timer_runs) //@ clean test_while_timer_runs
{
	usleep(5000);
}

TEST(test_timer_virtual) //@ pollutes test_timer_virtual timer[virtual] ...
{
	set_timer(ITIMER_VIRTUAL, 10000);
}

TEST(test_timer_profiling) //@ pollutes test_timer_profiling timer[profiling] ...
{
	set_timer(ITIMER_PROF, 10000);
}

TEST(test_timer_stopped) //@ clean test_timer_stopped
{
	set_timer(ITIMER_PROF, 0);
}

TEST(test_timer_back) //@ clean test_timer_back
{
	set_timer(ITIMER_PROF, 10000);
	set_timer(ITIMER_PROF, 0);
}

TEST(test_posix_timer) //@ pollutes test_posix_timer timer[posix...] ...
{
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	timer_create(CLOCK_MONOTONIC, &event, &timer);
}

TEST(test_posix_timer_back) //@ clean test_posix_timer_back
{
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	if (!timer_create(CLOCK_MONOTONIC, &event, &timer))
		timer_delete(timer);
}

// ---- floating point, random numbers ----

TEST(test_rounding) //@ pollutes test_rounding rounding-mode ... severity=high effect=settles
{
	fesetround(FE_UPWARD);
}

TEST(test_rounding_back) //@ clean test_rounding_back
{
	int old = fegetround();
	fesetround(FE_TOWARDZERO);
	fesetround(old);
}

TEST(test_exceptions) //@ clean test_exceptions
{
	feraiseexcept(FE_DIVBYZERO | FE_OVERFLOW);
}

TEST(test_traps) //@ pollutes test_traps floating-point-exceptions ... severity=high
{
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_DIVBYZERO);
}

TEST(test_exceptions_back) //@ clean test_exceptions_back
{
	feraiseexcept(FE_UNDERFLOW);
	feclearexcept(FE_UNDERFLOW);
}

TEST(test_srand) //@ pollutes test_srand random ... severity=low|medium
{
	srand(4711);
}

TEST(test_random_back) //@ clean test_random_back
{
	static char own[128];
	char *old = initstate(1, own, sizeof(own));
	(void)!rand();
	setstate(old);
	memset(own, 0, sizeof(own));
}

TEST(test_srand48) //@ pollutes test_srand48 drand48 ... severity=low|medium
{
	srand48(4711);
}

TEST(test_drand48_back) //@ clean test_drand48_back
{
	unsigned short old[3], other[3] = { 1, 2, 3 };
	memcpy(old, seed48(other), sizeof(old));
	drand48();
	seed48(old);
}

// ---- threads and processes ----

// Before there are children: one that stays in a group keeps its leader from making a session.
TEST(test_process_group) //@ pollutes test_process_group process-group ...
{
	setpgid(0, getpgid(getppid()));
}

TEST(test_process_group_back) //@ clean test_process_group_back
{
	pid_t old = getpgrp();
	setpgid(0, 0);
	setpgid(0, old);
}

// Out of its group, it can become a session of its own.
TEST(test_session) //@ pollutes test_session session ... //@ pollutes test_session process-group ... may=yes
{
	setsid();
}

static void *stay(void *data)
{
	for (;;)
		pause();
	return data;
}

TEST(test_thread) //@ pollutes test_thread thread[left-over] thread[left-over] before=absent
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, stay, NULL))
		return;
	pthread_setname_np(thread, "left-over");
	pthread_detach(thread);
}

static void *leave(void *data)
{
	return data;
}

TEST(test_thread_joined) //@ clean test_thread_joined
{
	pthread_t thread;
	if (!pthread_create(&thread, NULL, leave, NULL))
		pthread_join(thread, NULL);
}

/* Returns when the child has its name, or is about to end. */
static void start_child(const char *name, bool stays)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		close(ends[1]);
		for (int i = 0; stays && i < 300 && getppid() == parent; i++)
			usleep(100000);
		_exit(0);
	}
	char byte;
	close(ends[1]);
	(void)!read(ends[0], &byte, 1);
	close(ends[0]);
}

TEST(test_child) //@ pollutes test_child child[left-child] ... before=absent after=running
{
	start_child("left-child", true);
}

TEST(test_child_program) //@ pollutes test_child_program child[sleep]|child[process_state] ... before=absent after=running
{
	char *argv[] = { "sleep", "5", NULL };
	pid_t pid;
	posix_spawnp(&pid, "sleep", NULL, NULL, argv, environ);
}

TEST(test_zombie) //@ pollutes test_zombie child[left-zombie] ... before=absent after="not waited for"
{
	start_child("left-zombie", false);
	usleep(20000);
}

TEST(test_child_waited_for) //@ clean test_child_waited_for
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

// ---- mappings ----

TEST(test_mapping) //@ pollutes test_mapping mapping[...old.txt] ... before=absent
{
	int fd = open("old.txt", O_RDONLY | O_CLOEXEC);
	(void)!mmap(NULL, 4, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
}

TEST(test_mapping_and_back) //@ clean test_mapping_and_back
{
	int fd = open("old-too.txt", O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	munmap(at, 4);
}

// Memory of the program's own is not counted.
TEST(test_anonymous_mapping) //@ clean test_anonymous_mapping
{
	(void)!mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *block = malloc(1 << 22);
	TOUCH(block);
}

// ---- ports, locks ----

static int bound(int type, int fd)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	(void)!bind(s, (struct sockaddr *)&address, sizeof(address));
	if (type == SOCK_STREAM)
		listen(s, 1);
	if (fd >= 0) {
		dup2(s, fd);
		close(s);
	}
	return s;
}

TEST(test_listens) //@ pollutes test_listens "port[tcp 127.0.0.1:*]" "port[tcp 127.0.0.1:*]" before=absent //@ pollutes test_listens descriptor[54] descriptor[54] before=absent
{
	bound(SOCK_STREAM, LEFT_FD + 4);
}

TEST(test_binds) //@ pollutes test_binds "port[udp 127.0.0.1:*]" "port[udp 127.0.0.1:*]" before=absent //@ pollutes test_binds descriptor[55] descriptor[55] before=absent
{
	bound(SOCK_DGRAM, LEFT_FD + 5);
}

TEST(test_listens_and_back) //@ clean test_listens_and_back
{
	close(bound(SOCK_STREAM, -1));
	close(bound(SOCK_DGRAM, -1));
}

TEST(test_flock) //@ pollutes test_flock lock[...locked.txt] ... before=absent
{
	flock(OLD_LOCK_FD, LOCK_EX);
}

TEST(test_flock_back) //@ clean test_flock_back
{
	flock(OLD_FD, LOCK_SH);
	flock(OLD_FD, LOCK_UN);
}

static void record_lock(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_len = 2 };
	fcntl(fd, F_SETLK, &lock);
}

TEST(test_record_lock) //@ pollutes test_record_lock lock[...written.txt] ... before=absent
{
	record_lock(OLD_WRITE_FD, F_WRLCK);
}

TEST(test_record_lock_back) //@ clean test_record_lock_back
{
	record_lock(OLD_FD, F_RDLCK);
	record_lock(OLD_FD, F_UNLCK);
}

// ---- the end, the C library ----

static void at_the_end(void)
{
}

// Nothing takes it back: there is no twin.
TEST(test_atexit) //@ pollutes test_atexit atexit[at_the_end] ... severity=low
{
	atexit(at_the_end);
}

TEST(test_errno) //@ clean test_errno
{
	errno = EDOM;
}

// ---- prctl, groups ----

TEST(test_process_name) //@ pollutes test_process_name process-name ... after=...renamed... severity=low|medium not-readers=test_parent_death_back
{
	prctl(PR_SET_NAME, "renamed");
}

TEST(test_process_name_back) //@ clean test_process_name_back
{
	char old[17] = "";
	prctl(PR_GET_NAME, old);
	prctl(PR_SET_NAME, "shortly");
	prctl(PR_SET_NAME, old);
}

TEST(test_parent_death) //@ pollutes test_parent_death parent-death-signal ... not-readers=test_process_name_back
{
	prctl(PR_SET_PDEATHSIG, SIGURG);
}

TEST(test_parent_death_back) //@ clean test_parent_death_back
{
	int old = 0;
	prctl(PR_GET_PDEATHSIG, &old);
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	prctl(PR_SET_PDEATHSIG, old);
}

// An ordinary user's process has it set by being followed.
TEST(test_no_new_privileges) //@ pollutes test_no_new_privileges no-new-privileges ... may=yes not-readers=test_process_name_back,test_parent_death_back
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

TEST(test_personality) //@ pollutes test_personality personality ...
{
	personality(personality(0xffffffff) | STICKY_TIMEOUTS);
}

TEST(test_personality_back) //@ clean test_personality_back
{
	int old = personality(0xffffffff);
	personality((unsigned long)old | SHORT_INODE);
	personality((unsigned long)old);
}

// ---- what disturbs all others comes last ----

TEST(test_stdio_buffer) //@ pollutes test_stdio_buffer stdio[stderr] ...
{
	setvbuf(stderr, NULL, _IOFBF, 1 << 12);
}

TEST(test_stdout_back) //@ clean test_stdout_back
{
	fflush(stdout);
	int saved = dup(1), null = open("/dev/null", O_WRONLY);
	dup2(null, 1);
	close(null);
	printf("nowhere\n");
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
}

TEST(test_stdout_redirected) //@ pollutes test_stdout_redirected descriptor[1]|stdio[stdout] ... severity=high
{
	int null = open("/dev/null", O_WRONLY);
	dup2(null, 1);
	close(null);
}

TEST(test_stderr_reopened) //@ pollutes test_stderr_reopened descriptor[2]|stdio[stderr] ... severity=high
{
	(void)!freopen("/dev/zero", "w", stderr);
}

TEST(test_chdir) //@ pollutes test_chdir working-directory working-directory after=...folder severity=high
{
	(void)!chdir("folder");
}

int main(void)
{
	umask(022);
	unsetenv("TZ");
	unsetenv("SUBJECT_NEW");
	setenv("SUBJECT_OLD", "old", 1);
	setenv("SUBJECT_GONE", "old", 1);
	setenv("SUBJECT_KEPT", "kept", 1);
	setenv("SUBJECT_LIST", "a", 1);
	signal(SIGPIPE, SIG_DFL);
	block(SIG_BLOCK, SIGTTIN);
	block(SIG_BLOCK, SIGTTOU);
	mkdir("folder", 0755);
	for (int fd = OLD_FD; fd <= OLD_LOCK_FD; fd++) {
		static const char *const names[] = { "old.txt", "written.txt", "old.txt", "old.txt", "locked.txt" };
		const char *name = names[fd - OLD_FD];
		write_file(name, "text");
		int opened = open(name, fd == OLD_FD ? O_RDONLY : O_RDWR);
		dup2(opened, fd);
		close(opened);
	}
	write_file("old-too.txt", "text");
	return runner_main();
}
