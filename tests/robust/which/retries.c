/* A runner that calls a test that failed once more, and the next ones in any case. */
#include <stdio.h>

#define TEST __attribute__((noinline)) int

static volatile int tries;

TEST test_good(void) { return tries > 8; }
TEST test_twice(void) { return tries == 0; }
TEST test_second_time(void) { return tries++ == 0; }
TEST test_never(void) { return tries < 9; }
TEST test_after(void) { return tries > 9; }
TEST test_row(int row) { return tries >= 0 && row == 2; }

static int run(const char *name, int (*test)(void))
{
	int failed = test();
	for (int i = 0; failed && i < 2; i++)
		failed = test();
	printf("%s %s\n", name, failed ? "failed" : "ok");
	return failed;
}

int main(void)
{
	int failed = 0;
	failed += run("twice", test_twice);
	failed += run("good", test_good);
	failed += run("second time", test_second_time);
	failed += run("never", test_never);
	failed += run("after", test_after);
	for (int row = 0; row < 4; row++) {
		if (test_row(row))
			failed += test_row(row);
	}
	failed += run("twice again", test_twice);
	failed += run("good again", test_good);
	return failed;
}
