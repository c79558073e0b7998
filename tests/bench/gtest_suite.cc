// A GoogleTest suite of BENCH_TESTS tests, each busy for BENCH_MICROSECONDS; before the first one the program is busy for
// BENCH_STARTUP_MS, as one is that loads its data.
#include <cstdlib>
#include <time.h>

#include <gtest/gtest.h>

namespace {

long from_environment(const char *name)
{
	const char *text = getenv(name);
	return text ? atol(text) : 0;
}

long long now()
{
	timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

void spin(long long nanoseconds)
{
	static volatile int sink;
	long long end = now() + nanoseconds;
	// The clock is a system call: between two of them, work.
	while (now() < end)
		for (int i = 0; i < 300; i++)
			sink = sink + 1;
}

const long test_nanoseconds = from_environment("BENCH_MICROSECONDS") * 1000;

class Bench : public testing::TestWithParam<int> {};

TEST_P(Bench, Spins)
{
	spin(test_nanoseconds);
	EXPECT_GE(GetParam(), 0);
}

INSTANTIATE_TEST_SUITE_P(Many, Bench, testing::Range(0, static_cast<int>(from_environment("BENCH_TESTS"))));

} // namespace

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	spin(from_environment("BENCH_STARTUP_MS") * 1000000LL);
	return RUN_ALL_TESTS();
}
