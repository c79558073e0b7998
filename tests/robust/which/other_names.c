/* Tests that are not named test_*. */
#define TEST __attribute__((noinline)) int

static volatile int number = 1;

TEST parse_test(void) { return number != 1; }
TEST print_test(void) { return number != 1; }
TEST check_it(void) { return number != 1; }

int main(void)
{
	return parse_test() + print_test() + check_it();
}
