// What test_callers.c looks at: functions by the names of a framework, of tests
// and of a program, as symbols. Never run.
#include <vector>

#define USED __attribute__((used, noinline))

namespace testing {

struct TestInfo {
	int number;
	USED virtual int run() { return number; }
	virtual ~TestInfo() = default;
};

namespace internal {
template <typename T> USED bool CmpHelperEQ(const T &a, const T &b)
{
	return a == b;
}
USED int lambda_inside(int n)
{
	auto add = [](int x) USED { return x + 1; };
	return add(n);
}
} // namespace internal

// Tests in the framework's own namespace are tests.
struct Suite_Name_Test {
	USED void TestBody() { internal::CmpHelperEQ(1, 2); }
};

} // namespace testing

namespace app {
USED int helper(int n)
{
	return n + 1;
}
struct Fixture_Works_Test {
	USED void TestBody() { testing::internal::CmpHelperEQ(helper(1), 2); }
};
} // namespace app

namespace testing_tools {
USED int not_the_framework(int n)
{
	return n;
}
} // namespace testing_tools

template class std::vector<testing::TestInfo *>;
template class std::vector<const app::Fixture_Works_Test *>;

extern "C" {
USED int UnityBegin(int n)
{
	return n;
}
USED static int print_number(int n)
{
	return n + 2;
}
USED int UnityEnd(int n)
{
	return print_number(n);
}
USED static int helper_of_tests(int n)
{
	return n + 3;
}
USED int test_something(int n)
{
	return helper_of_tests(n);
}
}

int main(int argc, char **)
{
	testing::Suite_Name_Test().TestBody();
	app::Fixture_Works_Test().TestBody();
	return testing::TestInfo().run() + argc;
}
