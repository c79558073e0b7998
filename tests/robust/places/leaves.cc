/* Tests that throw and jump past their runner's call; each needs its set-up and has its own arguments. */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define FUNCTION __attribute__((noinline))

static int *made;
static jmp_buf back;

extern "C" {
FUNCTION int test_first(int wanted)
{
	return wanted != 1 || !made || (*made)++;
}

FUNCTION int test_throws(const char *name, int wanted, double share)
{
	if (!made || (*made)++ || share != wanted / 2.0)
		abort();
	if (wanted == 3)
		throw std::runtime_error(name);
	return 0;
}

FUNCTION int test_last(int wanted)
{
	return wanted != 4 || !made || (*made)++;
}

FUNCTION int test_jumps(int wanted)
{
	if (wanted == 5)
		longjmp(back, 1);
	return 1;
}
}

template <typename Test> FUNCTION static void run(Test test)
{
	made = static_cast<int *>(calloc(1, sizeof(*made)));
	try {
		if (setjmp(back) == 0)
			printf("%d\n", test());
		else
			puts("jumped");
	} catch (const std::exception &error) {
		puts(error.what());
	}
	free(made);
	made = nullptr;
}

int main()
{
	run([] { return test_first(1); });
	run([] { return test_throws("two", 2, 1.0); });
	run([] { return test_throws("three", 3, 1.5); });
	run([] { return test_last(4); });
	run([] { return test_jumps(5); });
	return 0;
}
