"""Java subjects for the tests of Java suites: compiled once, with the frameworks of Debian's packages.

A script that uses this takes --polygraph PATH and ends by calling main(). Without a JDK, or with a program that was built
without one, its tests are skipped, and it says why.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUBJECTS = HERE.parent / "subjects" / "jvm"
JARS = Path("/usr/share/java")
PATHS = {
    "junit4": ("junit4", "hamcrest"),
    "junit5": ("junit-jupiter-api", "junit-jupiter-engine", "junit-jupiter-params", "junit-platform-commons",
               "junit-platform-engine", "junit-platform-launcher", "opentest4j", "apiguardian-api"),
    "testng": ("testng", "jcommander", "bsh"),
}
# On a busy machine.
PATIENCE = 300


class Java:
    """Where everything is; `polygraph` is set by main()."""

    polygraph = None
    folder = None
    compiled = {}

    @staticmethod
    def class_path(framework):
        return ":".join(str(JARS / f"{name}.jar") for name in PATHS[framework])

    @staticmethod
    def why_not():
        if not shutil.which("javac"):
            return "there is no JDK (./dev setup jvm)"
        missing = [name for names in PATHS.values() for name in names if not (JARS / f"{name}.jar").exists()]
        if missing:
            return f"jars are missing: {', '.join(missing)} (./dev setup jvm)"
        if not (Java.polygraph.parent / "polygraph-jvm.jar").exists():
            return "polygraph was built without Java"
        return None


def compile_subject(name, framework):
    """The folder with the classes of tests/subjects/jvm/NAME."""
    if name not in Java.compiled:
        target = Path(Java.folder) / name
        sources = sorted(str(path) for path in (SUBJECTS / name).rglob("*.java"))
        words = ["javac", "-g", "-nowarn", "-XDignore.symbol.file", "-cp", Java.class_path(framework), "-d", str(target)]
        subprocess.run(words + sources, check=True)
        Java.compiled[name] = target
    return Java.compiled[name]


class Suite:
    """One subject, ready to be given to polygraph."""

    def __init__(self, name, framework, options=()):
        self.words = ["--classpath", Java.class_path(framework), "--test-classes", str(compile_subject(name, framework))]
        self.vm = list(options)
        self.cwd = tempfile.mkdtemp(dir=Java.folder)

    def call(self, command, *words, cwd=None, env=None):
        tail = ["--"] + self.vm if self.vm else []
        return subprocess.run([str(Java.polygraph), *command.split(), *map(str, words), *self.words, *tail],
                              cwd=cwd or self.cwd, capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, **(env or {})})

    def report(self, command, *words, **more):
        """(exit status, report) of a call."""
        result = self.call(command, "--format", "json", *words, **more)
        if not result.stdout.startswith("{"):
            raise AssertionError(f"no report: {result.stdout}{result.stderr}")
        return result.returncode, json.loads(result.stdout)

    def outcomes(self, *words, **more):
        """Test name without its class's package, to outcome; those of one run, in their order."""
        _, report = self.report("run", *words, **more)
        return {short(test["name"]): test["outcome"] for test in report["tests"]}


def short(name):
    return name.replace("subject.", "")


def main():
    if "--polygraph" not in sys.argv:
        sys.exit("usage: test_jvm….py --polygraph PATH [-v] [TEST…]")
    at = sys.argv.index("--polygraph")
    Java.polygraph = Path(sys.argv[at + 1]).resolve()
    del sys.argv[at : at + 2]
    why_not = Java.why_not()
    if why_not:
        print(f"skipped: {why_not}")
        print("0 passed, 0 failed, 1 skipped")
        return
    with tempfile.TemporaryDirectory(prefix="polygraph-jvm-") as folder:
        Java.folder = folder
        unittest.main(exit=True)
