"""Suites with order-dependent tests, generated: where they stand is a matter of the seed, and known.

A victim fails after each of its polluters, which stand after it in natural order: the suite passes as it is, as those do
whose owners do not know. With --latent one in N of the other tests leaves something changed that nobody minds.

    order_suite.py [--kind functions|gtest|commands] [--tests N] [--microseconds N] [--seed N] [--latent N]

writes the source.
"""

import argparse
import random

# Polluters of each victim: five in all.
POLLUTERS = (2, 2, 1)

HEAD = """#include <stdlib.h>
#include <time.h>

static long long nanoseconds;
volatile int sink;

static long long now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static __attribute__((noinline)) void spin(void)
{
	/* The clock is a system call: between two of them, work. */
	for (long long end = now() + nanoseconds; now() < end;)
		for (int i = 0; i < 300; i++)
			sink = sink + 1;
	sink = 0;
}

"""

FUNCTIONS_MAIN = """
int main(void)
{
	nanoseconds = %d * 1000LL;
	for (unsigned i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tests[i]();
	return 0;
}
"""

GTEST_MAIN = """
class Order : public testing::TestWithParam<int> {};

TEST_P(Order, Test)
{
	spin();
	EXPECT_TRUE(act(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Many, Order, testing::Range(0, %d));

int main(int argc, char **argv)
{
	nanoseconds = %d * 1000LL;
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
"""


class Plan:
    """Which tests are what: numbers in natural order."""

    def __init__(self, tests, seed, latent=0):
        chance = random.Random(seed)
        self.tests = tests
        places = iter(chance.sample(range(tests), len(POLLUTERS) + sum(POLLUTERS)))
        self.victims = {}  # number -> its polluters
        for count in POLLUTERS:
            first, *others = sorted(next(places) for _ in range(count + 1))
            self.victims[first] = others
        busy = {*self.victims, *(p for polluters in self.victims.values() for p in polluters)}
        self.latent = [i for i in range(tests) if latent and i not in busy and not chance.randrange(latent)]

    def names(self, name):
        """What has to be found: pairs of a victim and the set of its polluters, by name(number)."""
        return {(name(v), frozenset((name(p),) for p in polluters)) for v, polluters in self.victims.items()}


def act_source(plan):
    """act(test): what a test does besides its work; false where it fails."""
    text = [f"int shared_{v};\n" for v in plan.victims] + [f"int latent_{i};\n" for i in plan.latent]
    text.append("\nstatic __attribute__((noinline)) int act(int test)\n{\n\tswitch (test) {\n")
    for victim, polluters in plan.victims.items():
        text.append(f"\tcase {victim}:\n\t\treturn shared_{victim} == 0;\n")
        text += [f"\tcase {p}:\n\t\tshared_{victim} = 1;\n\t\tbreak;\n" for p in polluters]
    text += [f"\tcase {i}:\n\t\tlatent_{i}++;\n\t\tbreak;\n" for i in plan.latent]
    text.append("\tdefault:\n\t\tbreak;\n\t}\n\treturn 1;\n}\n\n")
    return "".join(text)


def functions_source(plan, microseconds):
    text = [HEAD, act_source(plan)]
    for i in range(plan.tests):
        text.append(f"void test_{i}(void);\nvoid test_{i}(void)\n{{\n\tspin();\n\tif (!act({i}))\n\t\tabort();\n}}\n")
    text.append("static void (*const tests[])(void) = {\n")
    text += [f"\ttest_{i},\n" for i in range(plan.tests)]
    text += ["};\n", FUNCTIONS_MAIN % microseconds]
    return "".join(text)


def gtest_source(plan, microseconds):
    return "".join(["#include <gtest/gtest.h>\n\n", HEAD, act_source(plan), GTEST_MAIN % (plan.tests, microseconds)])


def command_of(plan):
    """number -> the command line; they share files."""
    commands = {i: f"true # {i}" for i in range(plan.tests)}
    for victim, polluters in plan.victims.items():
        commands[victim] = f"test ! -e shared_{victim}"
        commands.update({p: f"echo {p} > shared_{victim}" for p in polluters})
    commands.update({i: f"echo {i} > latent_{i}" for i in plan.latent})
    return lambda number: commands[number]


def commands_source(plan, microseconds):
    del microseconds  # a process takes its time
    command = command_of(plan)
    return "".join(f"{command(i)}\n" for i in range(plan.tests))


SOURCES = {"functions": functions_source, "gtest": gtest_source, "commands": commands_source}
NAMES = {
    "functions": lambda plan: lambda number: f"test_{number}",
    "gtest": lambda plan: lambda number: f"Many/Order.Test/{number}",
    "commands": command_of,
}


def main():
    parser = argparse.ArgumentParser(description="Generates a suite with order-dependent tests.")
    parser.add_argument("--kind", choices=SOURCES, default="functions")
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--microseconds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latent", type=int, default=0)
    options = parser.parse_args()
    print(SOURCES[options.kind](Plan(options.tests, options.seed, options.latent), options.microseconds), end="")


if __name__ == "__main__":
    main()
