// Tests that exceptions leave, and one that catches its own, for test_runners.py.
#include <stdexcept>

static volatile int number = 7;
static volatile int failed;

extern "C" {
__attribute__((noinline)) void test_throws()
{
	if (number)
		throw std::runtime_error("left");
}

__attribute__((noinline)) static void deep(int n)
{
	if (!n)
		test_throws();
	deep(n - 1);
	number = 7;
}

__attribute__((noinline)) void test_throws_deep()
{
	deep(20);
}

__attribute__((noinline)) void test_catches()
{
	for (int i = 0; i < 3; i++) {
		try {
			test_throws();
		} catch (const std::runtime_error &) {
			number = 7;
		}
	}
}

__attribute__((noinline)) void test_returns()
{
	number = 7;
}
}

int main()
{
	static void (*volatile const table[])() = {test_throws, test_throws, test_catches, test_throws_deep, test_returns};
	for (int i = 0; i < 5; i++) {
		try {
			table[i]();
		} catch (...) {
			failed = failed + 1;
		}
	}
	return failed;
}
