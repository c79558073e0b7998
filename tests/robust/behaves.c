/*
 * Tests that do all that a tested program may do to its process. Each of them
 * passes when it is run by hand; each has to pass under control, in any order.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(cond)                                                           \
	do {                                                                  \
		if (!(cond)) {                                                \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__,   \
				__LINE__, #cond, errno);                      \
			abort();                                              \
		}                                                             \
	} while (0)

extern char **environ;

static int exit_status_of(pid_t pid)
{
	int status;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A function that matches the glob and is called by everyone. */
static atomic_int visits;
__attribute__((noinline)) void test_helper(void)
{
	atomic_fetch_add(&visits, 1);
	__asm__ volatile("");
}

#define THREADS 8
#define ROUNDS 200
static void *visit_often(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		test_helper();
	return arg;
}

__attribute__((noinline)) void test_threads_meet_at_a_breakpoint(void)
{
	pthread_t threads[THREADS];
	visits = 0;
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, visit_often, NULL));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK(visits == THREADS * ROUNDS);
}

static void *short_life(void *arg)
{
	return arg;
}

__attribute__((noinline)) void test_threads_come_and_go(void)
{
	for (int i = 0; i < 100; i++) {
		pthread_t thread;
		CHECK(!pthread_create(&thread, NULL, short_life, &visits));
		void *result;
		CHECK(!pthread_join(thread, &result));
		CHECK(result == &visits);
	}
}

__attribute__((noinline)) void test_fork_runs_the_same_code(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			visits = 0;
			test_helper();
			_exit(visits == 1 ? 7 : 1);
		}
		CHECK(exit_status_of(pid) == 7);
	}
}

__attribute__((noinline)) void test_fork_in_a_child(void)
{
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		pid_t inner = fork();
		if (!inner) {
			test_helper();
			_exit(3);
		}
		_exit(exit_status_of(inner) + 1);
	}
	CHECK(exit_status_of(pid) == 4);
}

__attribute__((noinline)) void test_vfork_shares_memory(void)
{
	volatile int shared = 0;
	pid_t pid = vfork();
	CHECK(pid >= 0);
	if (!pid) {
		test_helper();
		shared = 5;
		_exit(6);
	}
	CHECK(exit_status_of(pid) == 6);
	CHECK(shared == 5);
}

__attribute__((noinline)) void test_posix_spawn(void)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"exit 9",
			       NULL };
	for (int i = 0; i < 10; i++) {
		pid_t pid;
		CHECK(!posix_spawnp(&pid, "sh", NULL, NULL, argv, environ));
		CHECK(exit_status_of(pid) == 9);
	}
}

__attribute__((noinline)) void test_system_and_popen(void)
{
	CHECK(WEXITSTATUS(system("exit 4")) == 4);
	FILE *pipe = popen("echo hello", "r");
	char line[16] = "";
	CHECK(pipe && fgets(line, sizeof(line), pipe));
	CHECK(!strcmp(line, "hello\n"));
	CHECK(pclose(pipe) == 0);
}

static int clone_body(void *arg)
{
	test_helper();
	*(volatile int *)arg = 11;
	return 12;
}

__attribute__((noinline)) void test_clone_with_shared_memory(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	volatile int shared = 0;
	int pid = clone(clone_body, stack + sizeof(stack),
			CLONE_VM | SIGCHLD, (void *)&shared);
	CHECK(pid > 0);
	CHECK(exit_status_of(pid) == 12);
	CHECK(shared == 11);
}

static volatile sig_atomic_t caught;
static void on_signal(int number)
{
	caught = number;
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };
	CHECK(!sigaction(number, &action, NULL));
}

__attribute__((noinline)) void test_signals_arrive(void)
{
	const int numbers[] = { SIGINT, SIGTERM, SIGUSR1, SIGHUP,
				       SIGTRAP, SIGCHLD, SIGSEGV, SIGRTMIN };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		caught = 0;
		handle(numbers[i], on_signal);
		CHECK(!raise(numbers[i]));
		CHECK(caught == numbers[i]);
		handle(numbers[i], SIG_DFL);
	}
}

static siginfo_t info_seen;
static void on_info(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	info_seen = *info;
}

__attribute__((noinline)) void test_signal_values_arrive(void)
{
	struct sigaction action = { .sa_sigaction = on_info,
				    .sa_flags = SA_SIGINFO };
	CHECK(!sigaction(SIGRTMIN + 1, &action, NULL));
	CHECK(!sigqueue(getpid(), SIGRTMIN + 1,
			(union sigval){ .sival_int = 4711 }));
	CHECK(info_seen.si_value.sival_int == 4711);
	CHECK(info_seen.si_code == SI_QUEUE && info_seen.si_pid == getpid());
}

static sigjmp_buf jump;
static void on_fault(int number)
{
	siglongjmp(jump, number);
}

__attribute__((noinline)) void test_faults_can_be_survived(void)
{
	handle(SIGSEGV, on_fault);
	if (!sigsetjmp(jump, 1))
		*(volatile int *)0 = 1;
	else
		caught = SIGSEGV;
	CHECK(caught == SIGSEGV);
	handle(SIGSEGV, SIG_DFL);
}

__attribute__((noinline)) void test_own_breakpoint_instructions(void)
{
	caught = 0;
	handle(SIGTRAP, on_signal);
	__asm__ volatile("int3");
	CHECK(caught == SIGTRAP);
	handle(SIGTRAP, SIG_DFL);
}

__attribute__((noinline)) void test_interval_timer_ticks(void)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	handle(SIGALRM, on_signal);
	CHECK(!setitimer(ITIMER_REAL, &timer, NULL));
	for (int i = 0; i < 5; i++) {
		caught = 0;
		while (!caught)
			test_helper();
	}
	timer = (struct itimerval){};
	CHECK(!setitimer(ITIMER_REAL, &timer, NULL));
	handle(SIGALRM, SIG_DFL);
}

__attribute__((noinline)) void test_stopped_and_continued(void)
{
	pid_t self = getpid(), pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		/* Until it is stopped: state T in its stat file. */
		char path[64], text[256];
		snprintf(path, sizeof(path), "/proc/%d/stat", self);
		for (int i = 0; i < 5000; i++) {
			FILE *file = fopen(path, "r");
			size_t n = fread(text, 1, sizeof(text) - 1, file);
			text[n] = 0;
			fclose(file);
			char *state = strrchr(text, ')');
			if (state && (state[2] == 'T' || state[2] == 't'))
				break;
			usleep(1000);
		}
		usleep(20000);
		kill(self, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	CHECK(exit_status_of(pid) == 0);
}

__attribute__((noinline)) void test_stopped_children_are_seen(void)
{
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		raise(SIGSTOP);
		_exit(2);
	}
	int status;
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	kill(pid, SIGCONT);
	CHECK(exit_status_of(pid) == 2);
}

__attribute__((noinline)) void test_a_child_can_be_traced(void)
{
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
			_exit(1);
		raise(SIGSTOP);
		test_helper();
		_exit(8);
	}
	int status;
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	CHECK(!ptrace(PTRACE_CONT, pid, 0, 0));
	CHECK(exit_status_of(pid) == 8);
}

__attribute__((noinline)) void test_all_processors_are_seen(void)
{
	cpu_set_t cpus;
	CHECK(!sched_getaffinity(0, sizeof(cpus), &cpus));
	const char *expected = getenv("EXPECTED_CPUS");
	CHECK(!expected || CPU_COUNT(&cpus) == atoi(expected));
	/* And children really have them. */
	if (expected) {
		char command[64];
		snprintf(command, sizeof(command), "test $(nproc) = %s",
			 expected);
		CHECK(system(command) == 0);
	}
}

__attribute__((noinline)) void test_own_process_group(void)
{
	CHECK(getpgrp() == getpid());
	caught = 0;
	handle(SIGUSR1, on_signal);
	CHECK(!kill(0, SIGUSR1));
	CHECK(caught == SIGUSR1);
	handle(SIGUSR1, SIG_DFL);
}

__attribute__((noinline)) void test_the_thread_knows_its_id(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&mutex, &attr);
	CHECK(!pthread_mutex_lock(&mutex));
	/* The owner in the mutex is the id that the C library remembers. */
	CHECK(mutex.__data.__owner == (int)syscall(SYS_gettid));
	CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
	CHECK(!pthread_mutex_unlock(&mutex));
	CHECK(!pthread_kill(pthread_self(), 0));
}

__attribute__((noinline)) void test_much_output(void)
{
	for (int i = 0; i < 20000; i++)
		printf("line %d of a test that talks a lot\n", i);
	fflush(stdout);
}

__attribute__((noinline)) void test_floating_point_survives(void)
{
	volatile double x = 1.5;
	double y = x * 2;
	test_helper();
	CHECK(y + x == 4.5);
}

int main(void)
{
	test_threads_meet_at_a_breakpoint();
	test_threads_come_and_go();
	test_fork_runs_the_same_code();
	test_fork_in_a_child();
	test_vfork_shares_memory();
	test_posix_spawn();
	test_system_and_popen();
	test_clone_with_shared_memory();
	test_signals_arrive();
	test_signal_values_arrive();
	test_faults_can_be_survived();
	test_own_breakpoint_instructions();
	test_interval_timer_ticks();
	test_stopped_and_continued();
	test_stopped_children_are_seen();
	test_a_child_can_be_traced();
	test_all_processors_are_seen();
	test_own_process_group();
	test_the_thread_knows_its_id();
	test_much_output();
	test_floating_point_survives();
	return 0;
}
