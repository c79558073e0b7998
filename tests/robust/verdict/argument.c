/* Tests tell their runner through what they are called with. */
#include "verdict.h"

#ifdef CONTEXT
struct context {
	const char *name;
	int checks;
	int failed;
};
#define PARAMETER struct context *context
#define CHECK(condition) (context->checks++, (condition) ? (void)0 : (void)context->failed++)
#else
#define PARAMETER int *failed
#define CHECK(condition) ((condition) ? (void)0 : (void)++*failed)
#endif

FUNCTION void test_passes(PARAMETER)
{
	CHECK(level == 0);
	KEEP();
}

FUNCTION void test_fails(PARAMETER)
{
	CHECK(level == 0);
	CHECK(level != 0);
	KEEP();
}

FUNCTION void test_fails_too(PARAMETER)
{
	CHECK(level == 1);
	KEEP();
}

FUNCTION void test_passes_again(PARAMETER)
{
	CHECK(level == 0);
	KEEP();
}

#ifdef CONTEXT
static FUNCTION int run(const char *name, void (*test)(struct context *))
{
	struct context context = { .name = name };
	test(&context);
	return context.failed;
}
#define RUN(name) failures += run(#name, name)
#else
#define RUN(name) name(&failures)
#endif

int main(void)
{
	int failures = 0;
	RUN(test_passes);
	RUN(test_fails);
	RUN(test_fails_too);
	RUN(test_passes_again);
	return failures != 0;
}
