// C++: static members, namespaces, a vector of messages, a flag.
#include <cstdio>
#include <string>
#include <vector>

#define FUNCTION __attribute__((noinline))
#define KEEP() __asm__ volatile("" ::: "memory")

namespace report
{
class Log
{
    public:
	static std::vector<std::string> failures;
	static int checks;
	static void add(const char *text);
};
std::vector<std::string> Log::failures;
int Log::checks;
FUNCTION void Log::add(const char *text)
{
	failures.push_back(text);
	KEEP();
}
namespace
{
bool healthy = true;
}
} // namespace report

static volatile int level;
#define CHECK(condition) (report::Log::checks++, (condition) ? (void)0 : report::Log::add(#condition))

extern "C" {
FUNCTION void test_passes()
{
	CHECK(level == 0);
	KEEP();
}

FUNCTION void test_lists()
{
	CHECK(level == 0);
	CHECK(level == 1);
	KEEP();
}

FUNCTION void test_clears()
{
	CHECK(level == 0);
	report::healthy = level == 1;
	KEEP();
}

FUNCTION void test_lists_again()
{
	CHECK(level == 2);
	KEEP();
}
}

int main()
{
	test_passes();
	test_lists();
	test_clears();
	test_lists_again();
	for (const std::string &text : report::Log::failures)
		std::printf("wrong: %s\n", text.c_str());
	return report::Log::failures.empty() && report::healthy ? 0 : 1;
}
