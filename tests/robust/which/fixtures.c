/* Fixtures that are named as tests, and a test whose name only looks so. */
#define TEST __attribute__((noinline)) void

static volatile int opened;

TEST test_core__initialize(void) { opened = 1; }
TEST test_core__one(void) { opened = 2; }
TEST test_core__cleanup(void) { opened = 0; }
TEST test_setup(void) { opened = 1; }
TEST test_teardown(void) { opened = 0; }
TEST test_disk_set_up(void) { opened = 1; }
TEST test_disk_tear_down(void) { opened = 0; }
TEST test_disk(void) { opened = 3; }
/* Nothing is torn down: it is the test of a setup. */
TEST test_window_setup(void) { opened = 4; }

int main(void)
{
	test_core__initialize();
	test_core__one();
	test_core__cleanup();
	test_setup();
	test_disk_set_up();
	test_disk();
	test_disk_tear_down();
	test_teardown();
	test_window_setup();
	return 0;
}
