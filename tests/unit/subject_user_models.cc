// A program whose own functions leave something open, and tests of it: for
// test_user_models.c. Those named "…_fragile" assume more than is promised.
#include <cassert>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <thread>

#define NOINLINE __attribute__((noinline))

extern "C" {

static const char *table[8];

NOINLINE const char **list_names(size_t *n)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	memcpy(table, names, sizeof(names));
	*n = 6;
	return table;
}

/* Fills an array that the caller has; calls itself. */
NOINLINE int collect(int *out, int n)
{
	if (n > 1)
		collect(out, n - 1);
	out[n - 1] = n;
	return n;
}

NOINLINE int ticket()
{
	return 1;
}

NOINLINE long take(long n)
{
	return n;
}

static jmp_buf back;

NOINLINE const char **leaves(size_t *n)
{
	*n = 0;
	longjmp(back, 1);
}

void test_list_fragile()
{
	size_t n;
	const char **names = list_names(&n);
	assert(n == 6);
	for (size_t i = 0; i < n; i++)
		assert(names[i][0] == "abcdef"[i]);
}

void test_list_correct()
{
	size_t n;
	const char **names = list_names(&n);
	unsigned seen = 0;
	for (size_t i = 0; i < n; i++)
		seen |= 1U << (names[i][0] - 'a');
	assert(n == 6 && seen == 0x3f);
}

void test_collect_fragile()
{
	int out[5];
	assert(collect(out, 5) == 5);
	for (int i = 0; i < 5; i++)
		assert(out[i] == i + 1);
}

void test_ticket_fragile()
{
	assert(ticket() == 1);
}

void test_ticket_correct()
{
	int number = ticket();
	assert(number >= 1 && number <= 9);
}

void test_take_fragile()
{
	assert(take(100) == 100);
}

void test_take_correct()
{
	long left = 100;
	for (int i = 0; left && i < 100; i++) {
		long got = take(left);
		assert(got >= 1 && got <= left);
		left -= got;
	}
	assert(!left);
}

void test_leaves_correct()
{
	size_t n = 0;
	for (volatile int i = 0; i < 3; i = i + 1) {
		if (!setjmp(back))
			leaves(&n);
	}
	assert(list_names(&n));
}

void test_threads_correct()
{
	std::thread threads[4];
	for (auto &thread : threads)
		thread = std::thread([] {
			for (int i = 0; i < 20; i++) {
				int number = ticket();
				assert(number >= 1 && number <= 9);
			}
		});
	for (auto &thread : threads)
		thread.join();
}
}

namespace app {
struct registry {
	NOINLINE static int *numbers(int);
};
int *registry::numbers(int from)
{
	static int numbers[8];
	for (int i = 0; i < 7; i++)
		numbers[i] = from + i;
	return numbers;
}
} // namespace app

extern "C" void test_numbers_fragile()
{
	int *numbers = app::registry::numbers(10);
	for (int i = 0; i < 7; i++)
		assert(numbers[i] == 10 + i);
}

int main()
{
	test_list_fragile();
	test_list_correct();
	test_collect_fragile();
	test_ticket_fragile();
	test_ticket_correct();
	test_take_fragile();
	test_take_correct();
	test_leaves_correct();
	test_threads_correct();
	test_numbers_fragile();
	puts("done");
	return 0;
}
