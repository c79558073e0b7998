#!/usr/bin/env python3
"""Hand-written runners: which functions are their tests.

usage: test_which.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Names.test_default.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import runner

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None

COMPILERS = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if shutil.which(pair[1])]
BUILDS = [(*pair, level) for pair in COMPILERS for level in ("-O0", "-O2")]


def build(source, cc, cxx, level, *flags):
    """The program made of which/@source in one way."""
    words = [cxx if source.endswith(".cc") else cc, level, *flags]
    path = os.path.join(FOLDER, "-".join([source, *words]))
    if not os.path.exists(path):
        subprocess.run([*words, "-g", "-Wall", "-o", path, os.path.join(HERE, "which", source)], check=True)
    return path


def tool(*words, status=(0,)):
    run = subprocess.run([POLYGRAPH, *runner.failing_on_low(words)], cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         check=False, timeout=300)
    if run.returncode not in status:
        raise AssertionError(f"{' '.join(words)}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return run


class Which(unittest.TestCase):
    maxDiff = None
    source = None

    def programs(self):
        for how in BUILDS:
            with self.subTest(build=" ".join(how[1:])):
                yield build(self.source, *how)

    def listed(self, *words):
        return [test["name"] for test in json.loads(tool("list", "--format", "json", *words).stdout)["tests"]]


class Names(Which):
    """--test-functions: repeatable, '!' excludes, C++ names."""
    source = "names.cc"

    def check(self, wanted, *globs):
        words = [f"--test-functions={glob}" for glob in globs]
        for program in self.programs():
            self.assertEqual(self.listed(*words, program), wanted)

    def test_default(self):
        self.check(["test_global", "test_other", "test_plain"])

    def test_namespace(self):
        self.check(["app::test_one", "app::test_two", "app::test_sized<int>", "app::test_sized<char>"], "app::test_*",
                   "!app::suite::*")

    def test_several(self):
        self.check(["app::util_three", "test_global", "test_other", "test_plain"], "app::util_*", "test_*")

    def test_only_excluded(self):
        """Then the others are those of the default."""
        self.check(["test_global", "test_plain"], "!test_other")

    def test_excluded_by_symbol(self):
        self.check(["test_global", "test_plain"], "test_*", "!_Z10test_otherv")

    def test_parameters(self):
        self.check(["app::test_two"], "app::*(int)", "!*<*")
        self.check(["app::test_sized<int>"], "app::test_sized<int>(int)")

    def test_member(self):
        self.check(["app::suite::test_member"], "*::suite::test_*")

    def test_anonymous(self):
        self.check(["(anonymous namespace)::test_hidden"], "*::test_hidden")

    def test_symbol(self):
        self.check(["app::test_one"], "_ZN3app8test_oneEv")

    def test_none(self):
        for program in self.programs():
            run = tool("list", "--test-functions", "nothing_*", "--test-functions", "!x*", program, status=(3,))
            self.assertIn("no function matches 'nothing_*', '!x*'", run.stderr)

    def test_suggested(self):
        """A runner's own classes: the method that runs their tests is suggested, and works."""
        for how in BUILDS:
            with self.subTest(build=" ".join(how[1:])):
                program = build("classes.cc", *how)
                run = tool("list", program, status=(3,))
                self.assertIn("3 classes have a method 'runTestCase'", run.stderr)
                self.assertIn("--test-functions '*::runTestCase'", run.stderr)
                self.assertEqual(self.listed("--test-functions=*::runTestCase", program),
                                 ["TestAdd::runTestCase", "TestFail::runTestCase", "TestLast::runTestCase"])

    def test_runs(self):
        """They run by these names, in other orders too, and replays keep them."""
        for program in self.programs():
            run = tool("run", "--reverse", "--format=json", "--test-functions=app::test_*", "--test-functions=test_*",
                       "--test-functions=!app::suite*", program)
            self.assertEqual([(test["name"], test["outcome"]) for test in json.loads(run.stdout)["tests"]],
                             [(name, "pass") for name in ("test_plain", "test_other", "test_global",
                                                          "app::test_sized<char>", "app::test_sized<int>",
                                                          "app::test_two", "app::test_one")])

    def test_too_many(self):
        run = tool("list", *["--test-functions=a"] * 65, "/bin/true", status=(2,))
        self.assertIn("--test-functions was given 65 times", run.stderr)


TESTS = ["test_a", "test_b", "test_c", "test_d", "test_e", "test_f", "test_g", "test_h", "test_uses_helpers",
         "test_server", "test_shares_one", "test_shares_two", "test_first", "test_second"]


class Suites(Which):
    """Functions that call tests."""
    source = "suites.c"

    def test_suites(self):
        for program in self.programs():
            self.assertEqual(self.listed(program), TESTS)
            for order in ([], ["--reverse"], ["--alone"]):
                run = json.loads(tool("run", "--format=json", *order, program).stdout)
                self.assertEqual(sorted((test["name"], test["outcome"]) for test in run["tests"]),
                                 sorted((name, "pass") for name in TESTS))

    def test_named(self):
        """A suite that is named is a test."""
        for program in self.programs():
            self.assertEqual(self.listed("--test-functions=test_*", "--test-functions=test_fixtures", program),
                             [*TESTS[:2], "test_fixtures", *TESTS[4:]])

    def test_excluded(self):
        """What calls only functions that are said to be no tests is a test itself."""
        for program in self.programs():
            self.assertEqual(self.listed("--test-functions=!test_g", program),
                             [*TESTS[:6], "test_suite_table", *TESTS[7:]])


class Fixtures(Which):
    source = "fixtures.c"

    def test_pairs(self):
        for program in self.programs():
            self.assertEqual(self.listed(program), ["test_core__one", "test_disk", "test_window_setup"])


class Listing(Which):
    """The run in which tests are skipped ends badly."""

    def limits(self, ends, says, *words):
        for how in BUILDS:
            with self.subTest(build=" ".join(how[1:])):
                program = build("dies.c", *how, f"-DENDS={ends}")
                run = json.loads(tool("run", "--format=json", *words, program).stdout)
                names = [test["name"] for test in run["tests"]]
                yield names, [limit for limit in run["limits"] if says in limit]

    def check_runs(self, ends, *words):
        """Then they are listed by a run in which they are not skipped."""
        for names, limits in self.limits(ends, "if its tests are skipped", *words):
            self.assertEqual(names, ["test_makes", "test_uses", "test_last"])
            self.assertEqual(len(limits), 1, limits)

    def test_crash(self):
        self.check_runs(1)

    def test_hang(self):
        self.check_runs(3, "--timeout=1s")

    def test_exit(self):
        for names, limits in self.limits(2, "tests were listed"):
            self.assertEqual(names, ["test_makes"])
            self.assertEqual(len(limits), 1, limits)
            self.assertIn("the program ended with exit status 7", limits[0])
            self.assertIn("there may be more than the 1 test that", limits[0])

    def test_well(self):
        for names, limits in self.limits(0, "tests were listed"):
            self.assertEqual(names, ["test_makes", "test_uses", "test_last"])
            self.assertEqual(limits, [])


class Suggested(Which):
    source = "other_names.c"

    def test_suggestion(self):
        for program in self.programs():
            run = tool("list", program, status=(3,))
            self.assertIn("2 functions match '*_test'", run.stderr)
            self.assertIn("--test-functions '*_test'", run.stderr)
            self.assertEqual(self.listed("--test-functions=*_test", program), ["parse_test", "print_test"])


class Retries(Which):
    source = "retries.c"
    wanted = [("test_twice", "fail"), ("test_good", "pass"), ("test_second_time", "fail"), ("test_never", "fail"),
              ("test_after", "pass"), ("test_row", "pass"), ("test_row#2", "pass"), ("test_row#3", "fail"), ("test_row#4", "pass"),
              ("test_twice#2", "pass"), ("test_good#2", "pass")]

    def test_in_sequence(self):
        """A call that repeats one that failed is no other test and shifts none."""
        for program in self.programs():
            run = json.loads(tool("run", "--format=json", program, status=(0, 3)).stdout)
            self.assertEqual([(test["name"], test["outcome"]) for test in run["tests"]], self.wanted)

    def test_part(self):
        wanted = [pair for pair in self.wanted if pair[0] not in ("test_never", "test_row")]
        for program in self.programs():
            run = json.loads(tool("run", "--format=json", "--tests=!test_never", "--tests=!test_row", program,
                                  status=(0, 3)).stdout)
            self.assertEqual([(test["name"], test["outcome"]) for test in run["tests"]], wanted)


class Forks(Which):
    """Runners that fork for each of their tests."""
    wanted = [("test_passes", "pass"), ("test_counts", "pass"), ("test_counts_too", "pass"), ("test_fails", "fail"),
              ("test_crashes", "crash"), ("test_wants_no_file", "pass"), ("test_leaves_file", "pass")]

    def tearDown(self):
        left = os.path.join(FOLDER, "left.txt")
        if os.path.exists(left):
            os.unlink(left)

    def outcomes(self, *words):
        self.tearDown()
        run = json.loads(tool("run", "--format=json", *words, status=(3,)).stdout)
        return [(test["name"], test["outcome"]) for test in run["tests"]]

    def check(self, how, builds=BUILDS):
        for one in builds:
            with self.subTest(build=" ".join(one[1:])):
                program = build("forks.c", *one, f"-DHOW={how}")
                self.assertEqual(self.outcomes(program), self.wanted)
                self.assertEqual(sorted(self.outcomes("--alone", program)), sorted(self.wanted))
                other = dict(self.outcomes("--reverse", program))
                self.assertEqual(other, {**dict(self.wanted), "test_wants_no_file": "fail"})

    def test_waitpid(self):
        self.check("WAITPID")

    def test_pipe(self):
        self.check("PIPE")

    def test_wait(self):
        self.check("ALARM", BUILDS[:1])

    def test_waitid(self):
        self.check("WAITID", BUILDS[:1])

    def test_poll(self):
        self.check("POLL", BUILDS[:1])

    def test_pollution(self):
        """A file that a child leaves is found; what it changes in memory is gone with it."""
        program = build("forks.c", *BUILDS[0], "-DHOW=PIPE")
        run = json.loads(tool("pollution", "--format=json", program, status=(1,)).stdout)
        self.assertEqual([finding["test"] for finding in run["findings"]], ["test_leaves_file"])
        self.assertIn("left.txt", json.dumps(run["findings"][0]))
        run = json.loads(tool("order", "--format=json", program, status=(1,)).stdout)
        self.assertEqual([finding["test"] for finding in run["findings"]], ["test_wants_no_file"])
        # Found by experiments in copies, which have pipes of their own.
        self.assertIn("left.txt", json.dumps(run["findings"][0]))

    def test_parallel(self):
        """Several at once are refused."""
        program = build("forks.c", *BUILDS[0], "-DHOW=PARALLEL")
        run = tool("run", program, status=(3,))
        self.assertIn("one after another", run.stderr)


class ForksTell(Which):
    """Children that end with exit status 0 and tell in another way that their test failed."""
    names = ["test_passes", "test_fails", "test_passes_too", "test_fails_silently", "test_wants_no_file",
             "test_leaves_file"]
    failing = ("test_fails", "test_fails_silently")

    def tearDown(self):
        for left in ("left.txt", "log.txt"):
            if os.path.exists(os.path.join(FOLDER, left)):
                os.unlink(os.path.join(FOLDER, left))

    def run_it(self, *words, status=(3,)):
        self.tearDown()
        run = json.loads(tool("run", "--format=json", *words, status=status).stdout)
        return {test["name"]: test for test in run["tests"]}

    def check(self, how, *flags, builds=BUILDS[:1]):
        for one in builds:
            with self.subTest(build=" ".join(one[1:])):
                program = build("forks_tell.c", *one, f"-DHOW={how}", *flags)
                wanted = {name: "fail" if name in self.failing else "pass" for name in self.names}
                for order in ([], ["--alone"], ["--reverse"]):
                    tests = self.run_it(*order, program)
                    if order == ["--reverse"]:
                        wanted["test_wants_no_file"] = "fail"
                    self.assertEqual({name: test["outcome"] for name, test in tests.items()}, wanted)
                    failure = tests["test_fails"]["failure"]
                    if order == ["--alone"]:  # judged at the end of the program
                        continue
                    self.assertTrue(failure["file"].endswith("forks_tell.c"))
                    with open(os.path.join(HERE, "which", "forks_tell.c"), encoding="utf-8") as file:
                        self.assertIn("fprintf(stderr", file.read().splitlines()[failure["line"] - 1])
                    self.assertIsNone(tests["test_fails_silently"]["failure"]["line"])

    def test_read_first(self):
        self.check("READ_FIRST", builds=BUILDS)

    def test_wait_first(self):
        """What is in the pipe is not taken from the process by the copy that shows how the program ends."""
        self.check("WAIT_FIRST")

    def test_shared_memory(self):
        self.check("SHARED")

    def test_counts(self):
        self.check("READ_FIRST", "-DMANY")

    def test_unknown(self):
        """Where nothing says which test failed, the program is not called passed."""
        program = build("forks_tell.c", *BUILDS[0], "-DHOW=READ_FIRST", "-DLOGS")
        run = json.loads(tool("run", "--format=json", program, status=(3,)).stdout)
        self.assertIn("fail", [test["outcome"] for test in run["tests"]])
        self.assertIn("verdicts are unknown", json.dumps(run["limits"]))

    def test_good(self):
        """The twin: nothing fails, in its own order."""
        for how in ("READ_FIRST", "WAIT_FIRST", "SHARED"):
            program = build("forks_tell.c", *BUILDS[0], f"-DHOW={how}", "-DGOOD")
            tests = self.run_it(program, status=(0,))
            self.assertEqual({test["outcome"] for test in tests.values()}, {"pass"})

    def test_order(self):
        program = build("forks_tell.c", *BUILDS[0], "-DHOW=WAIT_FIRST")
        self.tearDown()
        run = json.loads(tool("order", "--format=json", program, status=(1,)).stdout)
        self.assertEqual([finding["test"] for finding in run["findings"]], ["test_wants_no_file"])
        self.assertIn("left.txt", json.dumps(run["findings"][0]))


class ForksPlaces(Which):
    """Failures of tests in children: the place that they print."""

    def test_places(self):
        for one in BUILDS:
            program = build("forks_places.c", *one)
            with open(os.path.join(HERE, "which", "forks_places.c"), encoding="utf-8") as file:
                lines = file.read().splitlines()
            run = json.loads(tool("run", "--format=json", program, status=(3,)).stdout)
            tests = {test["name"]: test for test in run["tests"]}
            self.assertEqual([test["outcome"] for test in run["tests"]], ["crash", "fail", "fail", "pass"])
            failure = tests["test_asserts"]["failure"]
            self.assertIn("assert(number", lines[failure["line"] - 1])
            self.assertEqual(failure["message"], "assertion failed: number == 7")
            failure = tests["test_prints"]["failure"]
            self.assertIn("PRINTED", lines[failure["line"] - 1])
            self.assertIn("number is not 8", failure["message"])
            self.assertIsNone(tests["test_says_nothing"]["failure"]["line"])


class ForksLeave(Which):
    """What tests in children leave in the system is found, what they change in their process is not there."""

    def test_left(self):
        program = build("forks_leave.c", *BUILDS[0])
        key = 0x5A000000 + 2 * os.getpid()
        os.environ["KEY"] = str(key)
        try:
            run = json.loads(tool("pollution", "--format=json", program, status=(1,)).stdout)
        finally:
            subprocess.run(["ipcrm", "-Q", str(key)], check=False)
        found = {finding["test"]: json.dumps(finding) for finding in run["findings"]}
        self.assertEqual(sorted(found), ["test_leaves_process", "test_leaves_queue"])
        self.assertIn("message-queue[", found["test_leaves_queue"])
        self.assertIn("child[", found["test_leaves_process"])


class ForksExecute(Which):
    """A runner that executes itself for each test is refused; one that does so for something else is not."""

    def test_refused(self):
        program = build("forks_exec.c", *BUILDS[0])
        for command in ("list", "run"):
            run = tool(command, program, status=(3,))
            self.assertIn("executing itself", run.stderr)
            self.assertIn("--commands", run.stderr)
            self.assertNotIn("passed", run.stdout)

    def test_helper(self):
        program = build("forks_exec.c", *BUILDS[0], "-DHELPER")
        self.assertIn("2 passed", tool("run", program).stdout)


class Inlined(Which):
    """Suites that the compiler inlined are no tests that are missing; inlined tests are."""

    def test_suites(self):
        for cc, cxx in COMPILERS:
            run = tool("run", build("inlined.c", cc, cxx, "-O2"))
            self.assertIn("4 passed", run.stdout)
            self.assertNotIn("inlined", run.stdout)

    def test_tests(self):
        for cc, cxx in COMPILERS:
            run = tool("run", build("inlined.c", cc, cxx, "-O2", "-DTESTS"))
            self.assertIn("2 functions matching 'test_*' were inlined", run.stdout)


class Minunit(Which):
    """Two of the small headers that are called MinUnit: verdicts with their places, in every order."""

    def check(self, source, wanted, failed, mark):
        self.source = source
        for program in self.programs():
            for order in ([], ["--reverse"], ["--alone"]):
                run = json.loads(tool("run", "--format=json", *order, program, status=(3,)).stdout)
                self.assertEqual(sorted((test["name"], test["outcome"]) for test in run["tests"]),
                                 sorted((name, "fail" if name == failed else "pass") for name in wanted))
            failure = next(test["failure"] for test in run["tests"] if test["name"] == failed)
            if mark:
                with open(os.path.join(HERE, "which", source), encoding="utf-8") as file:
                    self.assertIn(mark, file.read().splitlines()[failure["line"] - 1])
            else:
                self.assertEqual(failure["message"], "error, bar != 5")

    def test_messages(self):
        self.check("minunit_jera.c", ["test_foo", "test_bar", "test_both"], "test_bar", None)

    def test_suites(self):
        self.check("minunit_suites.c", ["test_made", "test_made_again", "test_bar", "test_last"], "test_bar",
                   "/* fails */")


class Tap(Which):
    """Programs that print TAP and have no test functions."""
    wanted = [("starts at 0", "pass"), ("leaves a number", "pass"), ("fails", "fail"), ("leaves a file", "pass"),
              ("not yet", "pass"), ("not here", "skip"), ("7", "pass")]

    def tearDown(self):
        left = os.path.join(FOLDER, "point.txt")
        if os.path.exists(left):
            os.unlink(left)

    def results(self, *words):
        return json.loads(tool("run", "--format=json", *words, status=(3,)).stdout)["tests"]

    def test_points(self):
        for how in BUILDS:
            with self.subTest(build=" ".join(how[1:])):
                program = build("tap_points.c", *how, "-DCRASH=0")
                self.assertEqual(self.listed(program), [name for name, _ in self.wanted])
                for order in ([], ["--alone"], ["--reverse"]):
                    tests = self.results(*order, program)
                    self.assertEqual(sorted((test["name"], test["outcome"]) for test in tests), sorted(self.wanted))
                failure = next(test["failure"] for test in tests if test["name"] == "fails")
                self.assertEqual(os.path.basename(failure["file"]), "tap_points.c")
                with open(os.path.join(HERE, "which", "tap_points.c"), encoding="utf-8") as source:
                    self.assertIn("/* not ok */", source.read().splitlines()[failure["line"] - 1])

    def test_pollution(self):
        """The library's own variables are no state of tests."""
        program = build("tap_points.c", *BUILDS[0], "-DCRASH=0")
        run = json.loads(tool("pollution", "--format=json", program, status=(1,)).stdout)
        found = sorted((finding["test"], finding["root"]) for finding in run["findings"])
        self.assertEqual([test for test, _ in found], ["leaves a file", "leaves a number"])

    def test_order(self):
        """Points stay in their sequence: nothing depends on another."""
        program = build("tap_points.c", *BUILDS[0], "-DCRASH=0")
        self.assertEqual(json.loads(tool("order", "--format=json", program, status=(0, 3)).stdout)["findings"], [])

    def test_crash(self):
        program = build("tap_points.c", *BUILDS[0], "-DCRASH=1")
        run = json.loads(tool("run", "--format=json", program, status=(0, 3)).stdout)
        self.assertEqual(len(run["tests"]), 6)
        self.assertTrue(any("SIGABRT" in limit and "tests were listed" in limit for limit in run["limits"]))

    def test_commands(self):
        """As a process, 'not ok' is a failure although it ends with 0; without a plan it is only text."""
        path = os.path.join(FOLDER, "commands.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(build("tap_points.c", *BUILDS[0], "-DCRASH=0") + "\n")
            file.write("printf '1..1\\nok 1\\n'\nprintf 'not ok 1\\n'\nprintf '1..2\\nBail out! no\\n'\n")
        tests = sorted(self.results("--commands", path), key=lambda test: test["line"])
        outcomes = [test["outcome"] for test in tests]
        self.assertEqual(outcomes, ["fail", "pass", "pass", "fail"])


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if COMPILERS else "no compiler"


if __name__ == "__main__":
    sys.exit(runner.main("which", prepare))
