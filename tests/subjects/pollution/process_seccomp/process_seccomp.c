// A test that lets the kernel kill its own process for all but a few system calls: it is not made to ask any more, and
// what comes after it is still looked at.
//
//@ subject framework=functions lang=c where=process
//@ variant plain libs="-lpthread" quick=gcc-O0,clang-O2
//@ variant static libs="-static -lpthread" builds=gcc-O2 quick=gcc-O2
//@ says "filter of system calls"

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

static int counter;

// What is asked of the process itself is read until then.
TEST(test_stack) //@ pollutes test_stack signal-stack ...
{
	static char memory[1 << 16];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	sigaltstack(&stack, NULL);
}

// An ordinary user's process has it from the start on: the tool needs it.
TEST(test_seal) //@ pollutes test_seal no-new-privileges ... if=root //@ clean test_seal if=user
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

TEST(test_variable) //@ pollutes test_variable environment[SUBJECT] environment[SUBJECT] before="\"old\"" after="\"new\""
{
	char *value = getenv("SUBJECT");
	assert(value);
	value[0] = 'n';
	value[1] = 'e';
	value[2] = 'w';
}

TEST(test_counter) //@ pollutes test_counter counter counter where=memory after=1
{
	counter++;
}

// Copies that are made on the way, when so much time has passed, would be the end of it.
TEST(test_takes_its_time) //@ clean test_takes_its_time
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 120);
}

// What it makes once is not forked for, which would be the end of it: then it is a change like any other.
static pthread_once_t control = PTHREAD_ONCE_INIT;
static int prepared;

static void prepare(void)
{
	prepared = 1;
}

TEST(test_once) //@ pollutes test_once prepared prepared where=memory //@ pollutes test_once control ... where=memory
{
	pthread_once(&control, prepare);
	TOUCH(&prepared);
}

TEST(test_nothing) //@ clean test_nothing
{
	(void)!write(1, "nothing\n", 8);
}

int main(void)
{
	setenv("SUBJECT", "old", 1);
	return runner_main();
}
