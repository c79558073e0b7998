// Small tests become part of their runner when it is optimised: what they leave is no test's, but it is said.
//
//@ subject framework=functions lang=c where=process
//@ variant plain quick=gcc-O0,gcc-O2

#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define TEST __attribute__((noinline)) void
#ifdef __OPTIMIZE__
#define SMALL_TEST static inline __attribute__((always_inline)) void
#else
#define SMALL_TEST TEST
#endif

TEST test_directory(void) //@ pollutes test_directory working-directory working-directory after=/ severity=high
{
	(void)!chdir("/");
}

SMALL_TEST test_umask(void) //@ pollutes test_umask umask umask after=...077 severity=high on=*-O0
{
	umask(077);
}

SMALL_TEST test_alarm(void) //@ pollutes test_alarm timer[real] timer[real] before=absent on=*-O0
{
	alarm(10000);
}

//@ says "inlined into the runner" on=*-O2
//@ says "changed while no test ran, by the runner or by tests that were inlined into it: umask, timer[real]" on=*-O2

TEST test_timer(void) //@ pollutes test_timer timer[virtual] timer[virtual] before=absent
{
	const struct itimerval long_time = { .it_value = { .tv_sec = 10000 } };
	setitimer(ITIMER_VIRTUAL, &long_time, NULL);
}

SMALL_TEST test_umask_back(void) //@ clean test_umask_back on=*-O0
{
	umask(umask(0));
}

TEST test_directory_back(void) //@ clean test_directory_back
{
	char before[4096];
	if (getcwd(before, sizeof(before)) && !chdir("/tmp"))
		(void)!chdir(before);
}

int main(void)
{
	test_directory();
	test_umask();
	test_alarm();
	test_timer();
	test_umask_back();
	test_directory_back();
	return 0;
}
