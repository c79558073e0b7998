/* Functions by their C++ names: namespaces, overloads, templates, members. */
#define TEST __attribute__((noinline, used)) void

static volatile int ran;

namespace app {
TEST test_one() { ran = ran + 1; }
TEST test_two(int number) { ran = ran + number; }
TEST util_three() { ran = ran + 3; }
template <typename T> TEST test_sized(T) { ran = ran + static_cast<int>(sizeof(T)); }
struct suite {
	int number = 1;
	TEST test_member() { ran = ran + number; }
};
} // namespace app
namespace {
TEST test_hidden() { ran = ran + 1; }
} // namespace
TEST test_global() { ran = ran + 1; }
TEST test_other() { ran = ran + 1; }
extern "C" TEST test_plain(void) { ran = ran + 1; }

int main()
{
	app::suite suite;
	app::test_one();
	app::test_two(2);
	app::util_three();
	app::test_sized(1);
	app::test_sized('a');
	suite.test_member();
	test_hidden();
	test_global();
	test_other();
	test_plain();
	return 0;
}
