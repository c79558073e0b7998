// What looks like GoogleTest, with two suites. With an argument, the second one never calls its test.
#include <cstdio>
#include <string>
#include <vector>

namespace testing {

struct Location {
	std::string file;
	int line;
};

struct TestPartResult {
	int type;
	std::string file;
	int line;
	std::string summary, message;
};

struct TestResult {
	std::vector<TestPartResult> test_part_results_;
	int death_test_count_ = 0;
};

class TestInfo {
public:
	std::string test_suite_name_, name_;
	Location location_;
	bool should_run_ = true, is_disabled_ = false, matches_filter_ = true;
	TestResult result_;
	TestInfo(const char *suite, const char *name, int line)
	    : test_suite_name_(suite), name_(name), location_{ __FILE__, line }
	{
	}
	__attribute__((noinline)) void Run();
};
void TestInfo::Run()
{
	printf("%s\n", name_.c_str());
}

class TestSuite {
public:
	bool refuses_ = false;
	std::vector<TestInfo *> test_info_list_;
	bool should_run_ = true;
	__attribute__((noinline)) void Run();
};
void TestSuite::Run()
{
	for (TestInfo *info : test_info_list_)
		if (!refuses_)
			info->Run();
}

class UnitTest {
public:
	std::vector<TestSuite *> suites;
	__attribute__((noinline)) static UnitTest *GetInstance();
	__attribute__((noinline)) int total_test_suite_count() const;
	__attribute__((noinline)) const TestSuite *GetTestSuite(int i) const;
};
UnitTest *UnitTest::GetInstance()
{
	static UnitTest instance;
	return &instance;
}
int UnitTest::total_test_suite_count() const
{
	return (int)suites.size();
}
const TestSuite *UnitTest::GetTestSuite(int i) const
{
	return suites[(size_t)i];
}

} // namespace testing

int main(int argc, char **)
{
	testing::TestInfo one("First", "One", __LINE__), two("Second", "Two", __LINE__);
	testing::TestSuite first, second;
	first.test_info_list_.push_back(&one);
	second.test_info_list_.push_back(&two);
	second.refuses_ = argc > 1;
	testing::UnitTest *unit = testing::UnitTest::GetInstance();
	unit->suites = { &first, &second };
	for (int i = 0; i < unit->total_test_suite_count(); i++)
		const_cast<testing::TestSuite *>(unit->GetTestSuite(i))->Run();
	return 0;
}
