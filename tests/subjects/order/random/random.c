// CUnit: tests that fail now and then, whatever ran before, next to tests that depend on others.
//
//@ subject framework=cunit lang=c header=CUnit/Basic.h
//@ variant plain libs="-lcunit" quick=gcc-O0,clang-O2
//@ run again --seed 7 quick=no

#include <CUnit/Basic.h>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static int counter;
static int configured;
static int noise;
static int shaking;

static unsigned char dice(void)
{
	unsigned char byte = 0;
	int fd = open("/dev/urandom", O_RDONLY);
	if (fd >= 0) {
		(void)!read(fd, &byte, 1);
		close(fd);
	}
	return byte;
}

/* So many sides that two throws are never the same. */
static int large_dice(void)
{
	return 1 << 24 | dice() << 16 | dice() << 8 | dice();
}

static void innocent(void)
{
	CU_ASSERT(1);
}

static void one_in_three(void) //@ random s/one_in_three
{
	CU_ASSERT(dice() % 3 != 0);
}

static void zero(void) //@ victim s/zero polluters=s/counts polluted=counter
//@ cleaned s/zero after=s/counts by=none
{
	CU_ASSERT(counter == 0);
}

static void counts(void)
{
	noise = large_dice();
	counter = 1;
}

// Depends on the process, which is another one each time.
static void pid(void) //@ random s/pid
{
	CU_ASSERT((getpid() * 2654435761u >> 16) % 2 == 0);
}

static void configures(void)
{
	configured = 1;
}

static void clock_parity(void) //@ random s/clock_parity
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	CU_ASSERT((now.tv_nsec / 7 & 1) == 0);
}

static void is_configured(void) //@ brittle s/is_configured setters=s/configures polluted=configured
{
	CU_ASSERT(configured == 1);
}

// Leaves something different each time that nobody minds.
static void rolls(void)
{
	noise = large_dice();
	CU_ASSERT(noise >= 0);
}

// Passes, but after a certain other one only now and then: two dice, one of them thrown by each.
static void shaken(void) //@ random s/shaken listed=no
{
	CU_ASSERT(!shaking || dice() % 2);
}

static void shakes(void)
{
	shaking = 1;
}

int main(void)
{
	if (CU_initialize_registry() != CUE_SUCCESS)
		return CU_get_error();
	CU_pSuite s = CU_add_suite("s", NULL, NULL);
	CU_add_test(s, "innocent", innocent);
	CU_add_test(s, "one_in_three", one_in_three);
	CU_add_test(s, "zero", zero);
	CU_add_test(s, "counts", counts);
	CU_add_test(s, "pid", pid);
	CU_add_test(s, "configures", configures);
	CU_add_test(s, "clock_parity", clock_parity);
	CU_add_test(s, "is_configured", is_configured);
	CU_add_test(s, "rolls", rolls);
	CU_add_test(s, "shaken", shaken);
	CU_add_test(s, "shakes", shakes);
	CU_basic_set_mode(CU_BRM_SILENT);
	CU_basic_run_tests();
	CU_cleanup_registry();
	return 0;
}
