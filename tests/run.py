#!/usr/bin/env python3
"""All tests, with the sum as the closing line; `./dev test` builds and calls this.

Usage: run.py [--full] [--only WORD]...

--full runs the subjects in every variant (compilers, optimisation levels, linking), also with the sanitizers and as an
ordinary user, and the models of APIs with all seeds. Otherwise a selection of them runs. --only runs the parts whose name
contains one of the words.
"""

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fresh
from counts import Counts

TOP = Path(__file__).resolve().parents[1]
TESTS = TOP / "tests"
# Kinds of subjects: the name of their parts, their script, and their folder in the build folder.
KINDS = {
    "subjects": ("test_subjects.py", "subjects"),
    "pollution subjects": ("test_pollution.py", "pollution"),
    "order subjects": ("test_order.py", "order"),
    "choices subjects": ("test_choices.py", "choices"),
    "schedules subjects": ("test_schedules.py", "schedules"),
    "repair subjects": ("test_repair.py", "repair"),
}
SMOKE_SECONDS = 5
# Of the models' correct cases (tests/models): all of them take three minutes of two processors.
SEEDS, QUICK_SEEDS = 200, 50
# Look at objects of the whole system, which other tests make.
ALONE = ("test_leftovers",)

# A sanitizer's report has to fail the test that caused it.
SANITIZERS = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


def scripts(folder):
    return sorted((TESTS / folder).glob("test_*.py"))


class OrdinaryUser:
    """Runs subjects without root's powers, in a copy of the build folder that the ordinary user can write to."""

    def __init__(self):
        self.why_not = self.find_out()

    def find_out(self):
        if os.geteuid() != 0:
            return "not root: the other parts ran as an ordinary user already"
        try:
            nobody = pwd.getpwnam("nobody")
        except KeyError:
            return "there is no user nobody"
        self.owner = f"{nobody.pw_uid}:{nobody.pw_gid}"
        self.become = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        return None if self.can("true") else "setpriv cannot change the user here"

    def can(self, *command):
        return shutil.which("setpriv") and not subprocess.run(self.become + list(command), stderr=subprocess.DEVNULL).returncode

    def run(self, counts, name, script, built, options):
        with tempfile.TemporaryDirectory(prefix="polygraph-nobody-") as folder:
            copy = Path(folder)
            copy.chmod(0o755)
            (copy / "tmp").mkdir()
            (copy / "build" / "tests" / "tree").mkdir(parents=True)
            fresh.copy_tool(TOP / "build", copy / "build")
            shutil.copy2(TOP / "build" / "tests/tree/tree_driver", copy / "build" / "tests/tree/tree_driver")
            if (TOP / "build" / built).is_dir():
                shutil.copytree(TOP / "build" / built, copy / "build" / built, symlinks=True,
                                ignore=shutil.ignore_patterns("run-*"))  # of failures, with files of all kinds
            # Sources that stay where they are need not be compiled again.
            tests = TESTS
            if not self.can("test", "-r", str(TESTS / "harness" / script)):
                tests = copy / "tests"
                shutil.copytree(TESTS, tests, symlinks=True)
            subprocess.run(["chown", "-R", self.owner, folder], check=True)
            environment = {
                "HOME": folder,
                "TMPDIR": str(copy / "tmp"),
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "USER": "nobody",
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            # The interpreter that runs this may lie in root's home.
            command = ["python3", tests / "harness" / script, "--polygraph", "build/polygraph", "--build", "build", *options]
            counts.run(name, self.become + command, cwd=copy, env=environment)


class Parts:
    def __init__(self, counts, full, only):
        self.counts, self.full, self.only = counts, full, only
        self.polygraph = TOP / "build" / "polygraph"
        self.sanitized = TOP / "build-sanitized" / "polygraph"
        self.sanitize = {"env": {**os.environ, **SANITIZERS}}
        # Tests wait for time-outs, for sleeping programs and for one another: a few more than there are processors.
        cpus = len(os.sched_getaffinity(0))
        self.lanes = max(3, min(4, cpus))
        self.jobs = max(2, cpus // self.lanes)
        self.user = OrdinaryUser()
        self.functions = {}     # by name of the part

    def part(self, name, command, **options):
        """The part as a function, in a list; an empty one where it was not asked for."""
        return self.step(name, lambda: self.counts.run(name, command, **options))

    def step(self, name, function):
        if not self.wants(name):
            return []
        self.functions[name] = function
        return [function]

    def wants(self, name):
        return not self.only or any(word in name for word in self.only)

    def python(self, name, script, *arguments, **options):
        return self.part(name, [sys.executable, script, *arguments], **options)

    def meson(self, name, folder, *arguments, **options):
        return self.python(name, TESTS / "meson_test.py", TOP / folder, *arguments, **options)

    def subjects(self, kind):
        """The same subjects built once: with the plain program, the sanitized one, and as an ordinary user."""
        script, built = KINDS[kind]
        options = ["--jobs", str(self.jobs)] + ([] if self.full else ["--quick"])

        def selection(glob):
            return options + ([] if self.full else ["--exe", glob])

        def run(polygraph, words):
            return [TESTS / "harness" / script, "--polygraph", polygraph, "--build", TOP / "build", *words]

        chain = self.python(kind, *run(self.polygraph, options), timeout=3600)
        chain += self.python(f"{kind}, sanitizers", *run(self.sanitized, selection("*-clang-O2")), timeout=3600,
                             **self.sanitize)
        name = f"{kind} as an ordinary user"
        if not self.user.why_not:
            chain += self.step(name, lambda: self.user.run(self.counts, name, script, built, selection("*-gcc-O0")))
        if kind == "schedules subjects":
            some = [] if self.full else ["--only", "threads", "--only", "twins"]
            chain += self.python(f"{kind}, busy", *run(self.polygraph, selection("*-gcc-O0")), *some, "--busy",
                                 str(2 * len(os.sched_getaffinity(0))), timeout=3600)
        return chain

    def alone(self):
        """Parts that use all processors by themselves, and look at objects of the whole system."""
        yield self.meson("unit tests, plain", "build", "--no-suite", "models", **self.sanitize)
        yield self.meson("unit tests, sanitizers", "build-sanitized", **self.sanitize)
        for script in scripts("robust"):
            if script.stem in ALONE:
                yield self.robust(script)

    def robust(self, script):
        runs = {"POLYGRAPH_TEST_RUNS": "1000"} if self.full and script.stem == "test_schedules" else {}
        return self.python(f"robust/{script.stem}", script, "--polygraph", self.polygraph, env={**os.environ, **runs})

    def makers(self):
        """Parts that make objects of the whole system, such as semaphores, and others that do not mind them."""
        yield self.subjects("subjects")
        # The agents are the same in both builds.
        yield self.meson("models", "build", "--suite", "models", timeout=1800,
                         env={**os.environ, "POLYGRAPH_TEST_SEEDS": str(SEEDS if self.full else QUICK_SEEDS)})
        for script in scripts("robust"):
            if script.stem not in ALONE:
                yield self.robust(script)
        for script in scripts("trial"):
            full = ["--full"] if self.full and script.stem == "test_trial" else []
            yield self.python(f"trial/{script.stem}", script, "--polygraph", self.polygraph, *full, timeout=14400)
        for script in scripts("cli"):
            yield self.python(f"cli/{script.stem}", script, TOP / "build" / "tests" / "cli" / "polygraph_fake")
        for script in scripts("harness"):
            if script.stem.startswith("test_jvm"):
                yield self.python(f"java/{script.stem}", script, "--polygraph", self.polygraph)
        for script in scripts("report"):
            yield self.python(f"report/{script.stem}", script, self.polygraph)
        for script in scripts("packages"):
            yield self.python(f"packages/{script.stem}", script, "--polygraph", self.polygraph)
        yield self.part("demo", [TOP / "examples" / "demo", self.polygraph, TOP / "build" / "examples"])
        yield self.python("rooms", TESTS / "lint" / "check_rooms.py", "--build", TOP / "build")
        yield self.python("rooms check", TESTS / "lint" / "test_check_rooms.py")

    def watchers(self):
        """Parts that look at such objects, each at its own."""
        for kind in ("order subjects", "pollution subjects", "choices subjects", "schedules subjects",
                     "repair subjects"):
            yield self.subjects(kind)
        yield self.python("polluted roots", TESTS / "harness" / "test_roots.py", "--polygraph", self.polygraph, "--build",
                          TOP / "build", *([] if self.full else ["--quick"]), timeout=1800)
        yield self.python("fuzz smoke", TESTS / "fuzz" / "run.py", SMOKE_SECONDS)
        yield self.python("self check", TESTS / "self_check.py", TOP / "build")

    def run(self):
        for chain in self.alone():
            for function in chain:
                function()
        for chains in (self.makers(), self.watchers()):
            self.counts.side_by_side(self.lanes, chains)
        self.counts.repeat(self.functions)
        name = "subjects as an ordinary user"
        if self.user.why_not and self.wants(name):
            self.counts.skip(name, self.user.why_not)


def main():
    parser = argparse.ArgumentParser(description="All tests of polygraph.")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    options = parser.parse_args()
    counts = Counts(TOP / "build" / "logs")
    Parts(counts, options.full, options.only).run()
    return counts.close()


if __name__ == "__main__":
    os.chdir(TOP)
    sys.exit(main())
