// A runner of its own, in which each test is a class.
#include <cstdio>

struct TestCase {
	virtual ~TestCase() = default;
	virtual bool runTestCase() = 0;
};

struct TestAdd : TestCase {
	TestAdd() { std::puts("add"); }
	bool runTestCase() override;
};
struct TestFail : TestCase {
	TestFail() { std::puts("fail"); }
	bool runTestCase() override;
};
struct TestLast : TestCase {
	TestLast() { std::puts("last"); }
	bool runTestCase() override;
};

static volatile int number = 7;

bool TestAdd::runTestCase()
{
	return number + 1 == 8;
}
bool TestFail::runTestCase()
{
	return number != 7;
}
bool TestLast::runTestCase()
{
	return number > 3;
}

int main()
{
	TestAdd add;
	TestFail fail;
	TestLast last;
	TestCase *volatile all[] = {&add, &fail, &last};
	int failed = 0;
	for (TestCase *test : all)
		failed += !test->runTestCase();
	return failed;
}
