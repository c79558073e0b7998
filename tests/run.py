#!/usr/bin/env python3
"""All tests, one part after the other, with the sum as the closing line; `./dev test` builds and calls this.

Usage: run.py [--full] [--only WORD]

--full runs the subjects in every variant (compilers, optimisation levels, linking), also with the sanitizers and as an
ordinary user, and the models of APIs with all seeds, where otherwise a part of them has to do; --only runs the parts whose name contains WORD.
"""

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from counts import Counts

TOP = Path(__file__).resolve().parents[1]
TESTS = TOP / "tests"
HARNESS = TESTS / "harness" / "test_subjects.py"
POLLUTION = TESTS / "harness" / "test_pollution.py"
ORDER = TESTS / "harness" / "test_order.py"
CHOICES = TESTS / "harness" / "test_choices.py"
SMOKE_SECONDS = 10
# Of the models' correct cases (tests/models): all of them take three minutes of two processors.
SEEDS, QUICK_SEEDS = 200, 50

# A sanitizer's report has to fail the test that caused it.
SANITIZERS = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


def scripts(folder):
    return sorted((TESTS / folder).glob("test_*.py"))


def subjects(polygraph, build, full, *more, script=HARNESS):
    command = [sys.executable, script, "--polygraph", polygraph, "--build", build, *more]
    return command if full else command + ["--quick"]


def as_ordinary_user(counts, full):
    """The subjects again without root's powers, with a build folder that the ordinary user can write to."""
    name = "subjects as an ordinary user"
    if os.geteuid() != 0:
        counts.skip(name, "not root: the other parts ran as an ordinary user already")
        return
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        counts.skip(name, "there is no user nobody")
        return
    become = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]

    def can(*command):
        return shutil.which("setpriv") and not subprocess.run(become + list(command), stderr=subprocess.DEVNULL).returncode

    if not can("true"):
        counts.skip(name, "setpriv cannot change the user here")
        return
    with tempfile.TemporaryDirectory(prefix="polygraph-nobody-") as folder:
        copy = Path(folder)
        copy.chmod(0o755)
        (copy / "tmp").mkdir()
        (copy / "build").mkdir()
        for program in ("polygraph", "libpolygraph-agent.so", "libpolygraph-choices.so"):
            shutil.copy2(TOP / "build" / program, copy / "build")
        for built in ("subjects", "pollution", "order", "choices"):
            if (TOP / "build" / built).is_dir():
                shutil.copytree(TOP / "build" / built, copy / "build" / built, symlinks=True,
                                ignore=shutil.ignore_patterns("run-*"))  # of failures, with files of all kinds
        # Sources that stay where they are need not be compiled again.
        tests = TESTS
        if not can("test", "-r", str(HARNESS)):
            tests = copy / "tests"
            shutil.copytree(TESTS, tests, symlinks=True)
        subprocess.run(["chown", "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", folder], check=True)
        environment = {
            "HOME": folder,
            "TMPDIR": str(copy / "tmp"),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "USER": "nobody",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        narrow = [] if full else ["--exe", "*-gcc-O0"]
        for title, script in ((name, HARNESS), (f"pollution {name}", POLLUTION), (f"order {name}", ORDER),
                              (f"choices {name}", CHOICES)):
            command = subjects("build/polygraph", "build", full, *narrow, script=tests / "harness" / script.name)
            # The interpreter that runs this may lie in root's home.
            counts.run(title, become + ["python3", *command[1:]], cwd=copy, env=environment)


def main():
    parser = argparse.ArgumentParser(description="All tests of polygraph.")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    counts = Counts(TOP / "build" / "logs")
    polygraph = TOP / "build" / "polygraph"
    sanitized = TOP / "build-sanitized" / "polygraph"
    sanitize = {"env": {**os.environ, **SANITIZERS}}

    def part(name, command, **run_options):
        if options.only in name:
            counts.run(name, command, **run_options)

    part("rooms", [sys.executable, TESTS / "lint" / "check_rooms.py", "--build", TOP / "build"])
    part("rooms check", [sys.executable, TESTS / "lint" / "test_check_rooms.py"])
    # Models make objects of the whole system (semaphores): not beside tests that look at these.
    for folder in ("build", "build-sanitized"):
        part(f"unit tests, {folder}", [sys.executable, TESTS / "meson_test.py", TOP / folder, "--no-suite", "models"],
             **sanitize)
    # The agent is the same in both builds.
    part("models", [sys.executable, TESTS / "meson_test.py", TOP / "build", "--suite", "models"], timeout=1800,
         env={**os.environ, "POLYGRAPH_TEST_SEEDS": str(SEEDS if options.full else QUICK_SEEDS)})
    part("demo", [TOP / "examples" / "demo", polygraph, TOP / "build" / "examples"])
    for script in scripts("cli"):
        part(f"cli/{script.stem}", [sys.executable, script, TOP / "build" / "tests" / "cli" / "polygraph_fake"])
    for script in scripts("robust"):
        part(f"robust/{script.stem}", [sys.executable, script, "--polygraph", polygraph])
    part("subjects", subjects(polygraph, TOP / "build", options.full), timeout=3600)
    narrow = [] if options.full else ["--exe", "*-clang-O2"]
    part("subjects, sanitizers", subjects(sanitized, TOP / "build", options.full, *narrow), timeout=3600, **sanitize)
    part("pollution subjects", subjects(polygraph, TOP / "build", options.full, script=POLLUTION), timeout=3600)
    part("pollution subjects, sanitizers", subjects(sanitized, TOP / "build", options.full, *narrow, script=POLLUTION),
         timeout=3600, **sanitize)
    part("order subjects", subjects(polygraph, TOP / "build", options.full, script=ORDER), timeout=3600)
    part("order subjects, sanitizers", subjects(sanitized, TOP / "build", options.full, *narrow, script=ORDER),
         timeout=3600, **sanitize)
    part("choices subjects", subjects(polygraph, TOP / "build", options.full, script=CHOICES), timeout=3600)
    part("choices subjects, sanitizers", subjects(sanitized, TOP / "build", options.full, *narrow, script=CHOICES),
         timeout=3600, **sanitize)
    if options.only in "pollution order choices subjects as an ordinary user":
        as_ordinary_user(counts, options.full)
    part("fuzz smoke", [sys.executable, TESTS / "fuzz" / "run.py", SMOKE_SECONDS])
    return counts.close()


if __name__ == "__main__":
    os.chdir(TOP)
    sys.exit(main())
