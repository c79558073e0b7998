#!/usr/bin/env python3
"""Java suites: which tests there are, how they end, and what is found when they are put into other orders.

usage: test_jvm.py --polygraph PATH [-v] [TEST…]

The subjects are in tests/subjects/jvm/.
"""

import os
import shutil
import stat
import subprocess
import unittest
from pathlib import Path

from jvm import Java, Suite, compile_subject, main, short


class JUnit4(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.suite = Suite("junit4", "junit4")

    def test_list(self):
        status, report = self.suite.report("list")
        self.assertEqual(status, 0)
        self.assertEqual(report["suite"]["framework"], "junit4")
        names = [short(test["name"]) for test in report["tests"]]
        self.assertEqual(len(names), len(set(names)))
        for name in ("BasicTest.passes", "FixtureTest.hasFixtures", "ManyTest.small[0]", "ManyTest.positive[2]",
                     "OldTest.testAdds", "BrokenFixtureTest.neverRuns", "SortedTest.b"):
            self.assertIn(name, names)
        self.assertFalse([name for name in names if name.startswith("AllSuite")])
        place = next(test for test in report["tests"] if test["name"].endswith("BasicTest.passes"))
        self.assertEqual((place["file"], place["line"]), ("subject/BasicTest.java", 13))

    def test_outcomes(self):
        outcomes = self.suite.outcomes("--tests", "!*victim", "--tests", "!*findsFile")
        bad = {name: outcome for name, outcome in outcomes.items() if outcome != "pass"}
        self.assertEqual(bad, {"BasicTest.fails": "fail", "BasicTest.ignored": "skip", "ManyTest.small[2]": "fail",
                               "OldTest.testFails": "fail", "BrokenFixtureTest.neverRuns": "fail"})

    def test_place_of_failure(self):
        result = self.suite.call("run", "--tests", "*BasicTest.fails")
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("subject/BasicTest.java:19", result.stdout)
        self.assertIn("expected:<3> but was:<2>", result.stdout)

    def test_output(self):
        result = self.suite.call("run", "--pass-through", "--tests", "*BasicTest.*")
        self.assertEqual(result.stdout.count("text of passes"), 1, result.stdout)

    def test_orders(self):
        """The order that is asked for is the one that runs, across classes, with repetitions and inner runners."""
        order = ["BasicTest.polluter", "ManyTest.small[1]", "BasicTest.victim", "ManyTest.small[0]", "ManyTest.positive[1]",
                 "BasicTest.victim", "BasicTest.passes", "ManyTest.small[0]"]
        file = Path(self.suite.cwd) / "order.txt"
        file.write_text("".join(f"subject.{name}\n" for name in order))
        result = self.suite.call("run", "--verbose", "--order", file)
        lines = [line.split()[-1] for line in result.stdout.splitlines() if line[:4] in ("PASS", "FAIL")]
        self.assertEqual([short(name) for name in lines], order, result.stdout)
        self.assertEqual(result.stdout.count("FAIL"), 2, result.stdout)

    def test_declared_order_twice(self):
        """A class whose runner does not sort runs in any order that is asked for, in pieces."""
        order = [f"SortedTest.{name}" for name in "abbaba"]
        file = Path(self.suite.cwd) / "order.txt"
        file.write_text("".join(f"subject.{name}\n" for name in order))
        result = self.suite.call("run", "--verbose", "--order", file)
        lines = [line.split()[-1] for line in result.stdout.splitlines() if line[:4] == "PASS"]
        self.assertEqual([short(name) for name in lines], order, result.stdout + result.stderr)

    def test_alone(self):
        _, report = self.suite.report("run", "--alone", "--tests", "*BasicTest.*")
        outcomes = {short(test["name"]): test["outcome"] for test in report["tests"]}
        self.assertEqual(outcomes["BasicTest.victim"], "pass")

    def test_words_of_the_vm(self):
        for option in ("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"):
            suite = Suite("junit4", "junit4", [option])
            self.assertEqual(suite.outcomes("--tests", "*FixtureTest.*").popitem()[1], "pass", option)
        result = Suite("junit4", "junit4", ["-XX:NoSuchOption"]).call("list")
        self.assertEqual(result.returncode, 3)
        self.assertIn("NoSuchOption", result.stderr)


class Ends(unittest.TestCase):
    """A test that takes the VM with it costs that test only."""

    def outcomes(self, *words):
        suite = Suite("ends", "junit4", ["-XX:-CreateCoredumpOnCrash"])
        _, report = suite.report("run", *words)
        self.assertFalse(list(Path(suite.cwd).glob("hs_err*")))
        return {short(test["name"]): test["outcome"] for test in report["tests"]}

    def test_ends(self):
        self.assertEqual(self.outcomes("--tests", "!*hangs", "--tests", "!*spins"), {
            "EndsTest.before": "pass", "EndsTest.exits": "crash", "EndsTest.between": "pass", "EndsTest.halts": "crash",
            "EndsTest.crashes": "crash", "EndsTest.overflows": "fail", "EndsTest.zlast": "pass"})

    def test_hangs(self):
        """A time limit that no other test comes near, also on a busy machine: a VM that crashes writes much first."""
        self.assertEqual(self.outcomes("--timeout", "2s", "--tests", "*hangs", "--tests", "*spins", "--tests", "*before",
                                       "--tests", "*zlast"), {
            "EndsTest.before": "pass", "EndsTest.hangs": "timeout", "EndsTest.spins": "timeout", "EndsTest.zlast": "pass"})

    def test_words(self):
        result = Suite("ends", "junit4").call("run", "--tests", "*exits")
        self.assertIn("ended the Java VM: exit status 3", result.stdout)
        self.assertIn("about to leave", result.stdout)


class JUnit5(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.suite = Suite("junit5", "junit5")

    def test_names(self):
        status, report = self.suite.report("list", "--tests", "*ShapesTest*")
        self.assertEqual((status, report["suite"]["framework"]), (0, "junit5"))
        names = {short(test["name"]) for test in report["tests"]}
        self.assertEqual(names, {
            "ShapesTest.passes", "ShapesTest.named", "ShapesTest.fails", "ShapesTest.disabled", "ShapesTest.assumes",
            "ShapesTest.small(int)[1]", "ShapesTest.small(int)[2]", "ShapesTest.small(int)[3]",
            "ShapesTest.word(String)[1]", "ShapesTest.word(String)[2]", "ShapesTest.again[1]", "ShapesTest.again[2]",
            "ShapesTest.made[1]", "ShapesTest.made[2]", "ShapesTest.polluter", "ShapesTest.victim",
            "ShapesTest$Inner.inside", "ShapesTest$Inner$Deeper.deep"})

    def test_outcomes(self):
        for words in ((), ("--reverse",), ("--shuffle", "--seed", "7")):
            outcomes = self.suite.outcomes("--tests", "*ShapesTest*", "--tests", "!*victim", *words)
            bad = {name: outcome for name, outcome in outcomes.items() if outcome != "pass"}
            self.assertEqual(bad, {
                "ShapesTest.fails": "fail", "ShapesTest.disabled": "skip", "ShapesTest.assumes": "skip",
                "ShapesTest.small(int)[3]": "fail", "ShapesTest.made[2]": "fail"}, words)

    def test_order_is_kept(self):
        order = ["ShapesTest.polluter", "ShapesTest$Inner$Deeper.deep", "ShapesTest.word(String)[2]", "ShapesTest.victim",
                 "ShapesTest.word(String)[1]", "ShapesTest.passes"]
        file = Path(self.suite.cwd) / "order.txt"
        file.write_text("".join(f"subject.{name}\n" for name in order))
        result = self.suite.call("run", "--verbose", "--order", file)
        lines = [line.split()[-1] for line in result.stdout.splitlines() if line[:4] in ("PASS", "FAIL")]
        self.assertEqual([short(name) for name in lines], order, result.stdout)
        self.assertEqual(result.stdout.count("FAIL"), 1, result.stdout)

    def test_missing_launcher(self):
        suite = Suite("junit5", "junit5")
        suite.words[1] = ":".join(path for path in suite.words[1].split(":") if "launcher" not in path)
        result = suite.call("list")
        self.assertEqual(result.returncode, 3)
        self.assertIn("junit-platform-launcher is not on the class path", result.stderr)


class TestNg(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.suite = Suite("testng", "testng")

    def test_outcomes(self):
        status, report = self.suite.report("run", "--tests", "!*victim")
        self.assertEqual((status, report["suite"]["framework"]), (3, "testng"))
        outcomes = {short(test["name"]): test["outcome"] for test in report["tests"]}
        bad = {name: outcome for name, outcome in outcomes.items() if outcome != "pass"}
        self.assertEqual(bad, {"StepsTest.fails": "fail", "StepsTest.afterFailure": "skip"})
        self.assertNotIn("StepsTest.disabled", outcomes)

    def test_dependencies_come_first(self):
        names = [short(test["name"]) for test in self.suite.report("list")[1]["tests"]]
        self.assertLess(names.index("StepsTest.opens"), names.index("StepsTest.writes"))
        self.assertLess(names.index("StepsTest.writes"), names.index("StepsTest.closes"))
        self.assertLess(names.index("StepsTest.opens"), names.index("LaterTest.afterGroup"))


class Odd(unittest.TestCase):
    """What frameworks, runners and tests do that nobody expects costs no other test its result."""

    def outcomes(self, name, framework, tests, *words):
        return Suite(name, framework, words).outcomes("--tests", tests)

    def test_failure_cannot_be_told(self):
        self.assertEqual(self.outcomes("odd_junit4", "junit4", "*EvilTest.*"), {
            "EvilTest.a_has_no_frames": "fail", "EvilTest.b_passes": "pass", "EvilTest.c_leaves_manager": "pass",
            "EvilTest.d_fails": "fail", "EvilTest.e_passes": "pass"})

    def test_class_cannot_begin(self):
        self.assertEqual(self.outcomes("odd_junit4", "junit4", "*StaticTest.*"),
                         {"StaticTest.one": "fail", "StaticTest.two": "fail"})

    def test_names(self):
        suite = Suite("odd_junit4", "junit4")
        wanted = {"NamesTest.isGood[same]": "pass", "NamesTest.isGood[other]": "pass", "NamesTest.isGood[same]#2": "fail",
                  "NamesTest.isGood[nul\\0nul]": "pass", "NamesTest.isGood[half?]": "pass"}
        self.assertEqual(suite.outcomes("--tests", "*NamesTest.*"), wanted)
        for name, outcome in wanted.items():
            alone = suite.outcomes("--tests", "subject." + name.translate({ord(c): "?" for c in "[]\\"}))
            self.assertEqual(alone, {name: outcome})

    def test_time(self):
        """It is that of the VM: messages of short tests arrive together."""
        _, report = Suite("odd_junit4", "junit4").report("run", "--tests", "*LastsTest.*")
        for test in report["tests"]:
            self.assertGreaterEqual(test["seconds"], 0.02, test["name"])

    def test_inner_classes(self):
        self.assertEqual(self.outcomes("odd_junit4", "junit4", "*InnerTest*"), {
            "InnerTest$Assumes.never": "skip", "InnerTest$Breaks.never": "fail", "InnerTest$Runs.runs": "pass"})

    def test_suites_in_suites(self):
        """Of JUnit 3: each test of the tree is one, and any order of them runs."""
        suite = Suite("odd_junit4", "junit4")
        wanted = [("NestedTest.testSmall", "pass"), ("NestedTest.testOdd", "pass"),
                  ("NestedTest.testSmall#2", "pass"), ("NestedTest.testOdd#2", "fail")]
        self.assertEqual(list(suite.outcomes("--tests", "*NestedTest*").items()), wanted)
        self.assertEqual(suite.outcomes("--tests", "*NestedTest*", "--reverse"), dict(wanted))
        self.assertEqual(suite.outcomes("--tests", "*NestedTest*", "--alone"), dict(wanted))
        self.assertEqual(suite.outcomes("--tests", "*NestedTest.testOdd#2"), {"NestedTest.testOdd#2": "fail"})

    def test_runner_leaves_one_out(self):
        self.assertEqual(self.outcomes("odd_junit4", "junit4", "*LeavesOutTest*"), {
            "LeavesOutTest.left": "fail", "LeavesOutTest.runs": "pass", "LeavesOutTest.runsToo": "pass"})

    def test_fewer_than_listed(self):
        self.assertEqual(self.outcomes("odd_junit5", "junit5", "*FewerTest*"), {
            "FewerTest.a": "pass", "FewerTest.b[1]": "pass", "FewerTest.b[2]": "fail", "FewerTest.b[3]": "fail",
            "FewerTest.c": "pass"})

    def test_aborted_without_a_reason(self):
        self.assertEqual(self.outcomes("odd_junit5", "junit5", "*AbortsTest*"), {"AbortsTest.aborts": "skip"})

    def test_data_providers(self):
        """None of it, and several at a time: one at a time here."""
        self.assertEqual(self.outcomes("odd_testng", "testng", "*EmptyTest*"), {
            "EmptyTest.a": "skip", "EmptyTest.b": "pass", "EmptyTest.c": "pass", "EmptyTest.d": "pass",
            "EmptyTest.e": "pass"})

    def test_priorities(self):
        """They are the order of the suite, and no other order is kept from running."""
        suite = Suite("odd_testng", "testng")
        self.assertEqual(list(suite.outcomes("--tests", "*PriorityTest*").items()), [
            ("PriorityTest.first", "pass"), ("PriorityTest.second", "pass"), ("PriorityTest.third", "pass")])
        _, report = suite.report("order", "--tests", "*PriorityTest*")
        self.assertEqual({(short(finding["test"]), *finding["polluters"][0]) for finding in report["findings"]},
                         {("PriorityTest.first", "subject.PriorityTest.third"),
                          ("PriorityTest.second", "subject.PriorityTest.third")})

    def test_broken_configuration(self):
        """What keeps tests from running is their failure in each order; what comes after them is nobody's."""
        suite = Suite("odd_testng", "testng")
        for name, outcome in ("BrokenTest", "fail"), ("BrokenEachTest", "fail"), ("BrokenEndTest", "pass"):
            self.assertEqual(suite.outcomes("--tests", f"*{name}.*"), {f"{name}.a": outcome, f"{name}.b": outcome})
            _, report = suite.report("order", "--tests", f"*{name}.*")
            self.assertEqual(report["findings"], [])
        result = suite.call("run", "--tests", "*BrokenEndTest.*")
        self.assertIn("broken at its end, outside of its tests", result.stdout + result.stderr)

    def test_tried_again(self):
        self.assertEqual(self.outcomes("odd_testng", "testng", "*RetryTest*"), {"RetryTest.a": "pass"})

    def test_hooks_do_not_run_when_listed(self):
        mark = Path(Java.folder) / "hook-ran"
        suite = Suite("odd_testng", "testng", [f"-Dsubject.mark={mark}"])
        self.assertEqual(suite.report("list", "--tests", "*HookTest*")[0], 0)
        self.assertFalse(mark.exists())
        self.assertEqual(suite.outcomes("--tests", "*HookTest*"), {"HookTest.ran": "pass"})
        self.assertTrue(mark.exists())


class Orders(unittest.TestCase):
    """Order-dependent tests are found, with their polluters; declared orders are no finding."""

    def check(self, name, framework, victims, *words):
        suite = Suite(name, framework)
        _, report = suite.report("order", *words)
        found = {short(finding["test"]): finding for finding in report["findings"] if finding["kind"] == "order-dependent"}
        self.assertEqual(set(found), set(victims), report["findings"])
        for test, polluter in victims.items():
            self.assertEqual(found[test]["class"], "victim")
            self.assertIn([f"subject.{polluter}"], found[test]["polluters"])
        return suite, report, found

    def test_junit4(self):
        suite, _, found = self.check("junit4", "junit4", {"BasicTest.victim": "BasicTest.polluter",
                                                          "FilesTest.findsFile": "FilesTest.leavesFile"},
                                     "--tests", "*BasicTest.[pv]*", "--tests", "*SortedTest.*", "--tests", "*FilesTest.*")
        self.assertFalse((Path(suite.cwd) / "left-by-test.txt").exists())
        for finding in list(found.values())[:1]:
            result = subprocess.run([str(Java.polygraph), *finding["replay"].split()[1:]], cwd=suite.cwd,
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)

    def test_junit5(self):
        self.check("junit5", "junit5", {"ShapesTest.victim": "ShapesTest.polluter"}, "--tests", "*ShapesTest.[pv]*",
                   "--tests", "*Inner.inside")

    def test_testng(self):
        self.check("testng", "testng", {"StepsTest.victim": "StepsTest.polluter"}, "--tests", "*StepsTest.[copvw]*")


class Messages(unittest.TestCase):
    """What is wrong is said in a sentence, with the exit status of the contract."""

    def call(self, *words, **env):
        return subprocess.run([str(Java.polygraph), *words], cwd=Java.folder, capture_output=True, text=True,
                              env={**os.environ, **env})

    def test_usage(self):
        classes = str(compile_subject("ends", "junit4"))
        for words, text in (
            (["list", "--test-classes", "no-such"], "'no-such' is not a folder"),
            (["list", "--test-classes", classes, "--java", "/tmp"], "is not the folder of a JDK"),
            (["list", "--test-classes", classes, "--framework", "gtest"], "is no framework of Java"),
            (["list", "--maven", "/tmp"], "there is no project in '/tmp'"),
            (["list", "--gradle", "/tmp"], "there is no project in '/tmp'"),
            (["list", "--test-classes", classes, "--maven", "/tmp"], "both"),
        ):
            result = self.call(*words)
            self.assertEqual(result.returncode, 2, (words, result.stderr))
            self.assertIn(text, result.stderr)

    def test_no_framework(self):
        result = self.call("list", "--test-classes", str(compile_subject("ends", "junit4")))
        self.assertEqual(result.returncode, 3)
        self.assertIn("has no tests", result.stderr)


class Projects(unittest.TestCase):
    """Build tools are asked for the class path; here, ones that only say it."""

    def setUp(self):
        self.tools = Path(Java.folder) / "tools"
        self.tools.mkdir(exist_ok=True)
        self.classes = compile_subject("ends", "junit4")

    def tool(self, name, text):
        path = self.tools / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def call(self, *words):
        return subprocess.run([str(Java.polygraph), *words], cwd=Java.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}"})

    def project(self, name, file, classes):
        folder = Path(Java.folder) / name
        (folder / classes).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("")
        if not (folder / classes).exists():
            (folder / classes).symlink_to(self.classes)
        return folder

    def test_maven(self):
        folder = self.project("maven-project", "pom.xml", "target/test-classes")
        self.tool("mvn", f"""for word; do case $word in -Dmdep.outputFile=*)
            printf %s '{Java.class_path("junit4")}' > "${{word#*=}}";; esac; done\n""")
        result = self.call("list", "--maven", str(folder))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("EndsTest.zlast", result.stdout)
        self.tool("mvn", "echo \"[ERROR] No plugin found for prefix 'dependency'\"; exit 1\n")
        result = self.call("list", "--maven", str(folder))
        self.assertEqual(result.returncode, 3)
        self.assertIn("No plugin found for prefix", result.stderr)
        self.assertIn("libmaven-dependency-plugin-java", result.stderr)

    def test_gradle(self):
        folder = self.project("gradle-project", "build.gradle", "build/classes/java/test")
        self.tool("gradle", f"""echo 'polygraph-folders {folder}/build/classes/java/test:/no/such'
            echo 'polygraph-path {Java.class_path("junit4")}'\n""")
        result = self.call("list", "--gradle", str(folder))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("EndsTest.zlast", result.stdout)

    def test_maven_for_real(self):
        """Debian's Maven with Debian's repository, without a network."""
        plugin = Path("/usr/share/maven-repo/org/apache/maven/plugins/maven-dependency-plugin")
        if not shutil.which("mvn") or not plugin.exists():
            self.skipTest("Maven is not installed with its plug-in (packages maven, libmaven-dependency-plugin-java)")
        folder = self.project("real-maven", "pom.xml", "target/test-classes")
        (folder / "pom.xml").write_text("""<project xmlns="http://maven.apache.org/POM/4.0.0">
            <modelVersion>4.0.0</modelVersion><groupId>subject</groupId><artifactId>subject</artifactId><version>1</version>
            <dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version>
            <scope>test</scope></dependency></dependencies></project>""")
        (folder / ".mvn").mkdir(exist_ok=True)
        (folder / ".mvn" / "maven.config").write_text("-Dmaven.repo.local=/usr/share/maven-repo\n")
        result = subprocess.run([str(Java.polygraph), "list", "--maven", str(folder)], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("EndsTest.zlast", result.stdout)

    def test_gradle_for_real(self):
        if not shutil.which("gradle"):
            self.skipTest("Gradle is not installed (package gradle)")
        folder = self.project("real-gradle", "build.gradle", "build/classes/java/test")
        jars = ", ".join(f"'{jar}'" for jar in Java.class_path("junit4").split(":"))
        (folder / "build.gradle").write_text(f"apply plugin: 'java'\ndependencies {{ testCompile files({jars}) }}\n")
        result = subprocess.run([str(Java.polygraph), "list", "--gradle", str(folder)], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("EndsTest.zlast", result.stdout)


if __name__ == "__main__":
    main()
