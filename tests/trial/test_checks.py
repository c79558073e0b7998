#!/usr/bin/env python3
"""Three checks in a row of a project under version control: the same findings each time, and nothing to commit.

usage: test_checks.py --polygraph PATH [-v] [TEST…]

The project is tests/trial/project: its tests remove, replace and grow files that are under version control.
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
sys.path.insert(0, str(HERE.parent / "robust"))
import moments  # noqa: E402
import runner  # noqa: E402

FOLDER = TOOL = None
PATIENCE = 300
# Test -> what is found in it, whatever runs the tests. A process that runs a test twice does not exist in a suite of
# processes, but the file that it leaves does.
CLASSES = {"needs_keep": ("victim",), "reads_settings": ("victim",), "log_is_short": ("non-idempotent", "victim")}
POLLUTERS = {"removes_keep", "grows_log", "renames_over", "makes_folder", "log_is_short"}
BUILD = {
    "functions": ["cc", "-g", "-O1", "-o", "build/tests", "functions.c"],
    "gtest": ["c++", "-std=c++17", "-g", "-O1", "-o", "build/tests", "gtest.cc", "-lgtest", "-pthread"],
    "commands": ["cc", "-g", "-O1", "-o", "build/step", "step.c"],
}
TESTS = ("needs_keep", "reads_settings", "log_is_short", "cleans_up", "removes_keep", "grows_log", "renames_over", "makes_folder")


class Project:
    """A repository with everything committed but the build folder."""

    def __init__(self, kind, user):
        self.kind = kind
        self.folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=FOLDER))
        self.become = {"user": user[0], "group": user[1], "extra_groups": []} if user else {}
        home = self.folder / "home"
        self.work = self.folder / "project"
        shutil.copytree(HERE / "project", self.work)
        (self.work / "data").mkdir()
        home.mkdir()
        (self.work / "data" / "keep.txt").write_text("keep this\n")
        (self.work / "data" / "log.txt").write_text("the log begins\n")
        (self.work / "data" / "settings.txt").write_text("setting = 1\n")
        (self.work / "build").mkdir()
        (self.work / ".gitignore").write_text("/build/\n")
        (self.work / "tests.txt").write_text("".join(f"build/step {name}\n" for name in TESTS))
        if user:
            for path in [self.folder, *self.folder.rglob("*")]:
                os.chown(path, *user)
        self.environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                            "GIT_CONFIG_NOSYSTEM": "1"}
        self.run(BUILD[kind])
        for words in (["init", "-q"], ["add", "-A"],
                      ["-c", "user.name=trial", "-c", "user.email=trial@localhost", "commit", "-qm", "all"]):
            self.run(["git", *words])

    def run(self, words, good=(0,)):
        done = subprocess.run(words, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, **self.become)
        if done.returncode not in good:
            raise AssertionError(f"exit status {done.returncode}: {words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def check(self, number, *options):
        report = self.folder / "home" / f"report-{number}.json"
        suite = ["--commands", "tests.txt"] if self.kind == "commands" else ["--", "build/tests"]
        self.run([TOOL, "check", *options, "--format", "json", "--output", report, *suite], good=(1,))
        return json.loads(report.read_text())

    def changes(self):
        return self.run(["git", "status", "--porcelain"])


def name_of(test):
    return test.removeprefix("test_").removeprefix("Notes.").removeprefix("build/step ")


def look_at(test, findings):
    """What is known to be there, and nothing that fails at random."""
    test.assertFalse([finding["test"] for finding in findings if finding["kind"] == "flaky"])
    classes = {name_of(finding["test"]): finding["class"] for finding in findings if finding["kind"] == "order-dependent"}
    for name, wanted in CLASSES.items():
        test.assertIn(classes.get(name), wanted, name)
    polluters = {name_of(finding["test"]) for finding in findings if finding["kind"] == "pollution"}
    test.assertLessEqual(POLLUTERS, polluters)
    test.assertNotIn("cleans_up", polluters | classes.keys())


def ordinary_user(test):
    _, ids = moments.find_users()
    if not ids:
        test.skipTest("cannot become an ordinary user here" if os.geteuid() == 0
                      else "not root: the other tests ran as an ordinary user already")
    return ids


class Checks(unittest.TestCase):
    def check_three(self, kind, user=None, *options):
        project = Project(kind, user)
        self.assertEqual(project.changes(), "")
        first = None
        for number in (1, 2, 3):
            report = project.check(number, *options)
            self.assertEqual(project.changes(), "", f"git status after check {number}")
            findings = sorted(report["findings"], key=lambda finding: finding["id"])
            if first is None:
                first = findings
                look_at(self, findings)
            self.assertEqual(findings, first, f"findings of check {number}")

    def test_functions(self):
        self.check_three("functions")

    def test_gtest(self):
        self.check_three("gtest")

    def test_commands(self):
        self.check_three("commands")

    def test_functions_as_user(self):
        self.check_three("functions", ordinary_user(self))

    def test_commands_as_user(self):
        self.check_three("commands", ordinary_user(self))

    def test_put_back(self):
        """Without the sandbox, files are put back one by one."""
        self.check_three("functions", None, "--sandbox", "never")


class OnOverlay(unittest.TestCase):
    """As in a container: the project lies on an overlay already."""

    def check_on_overlay(self, user):
        if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("nothing can be mounted here")
        project = Project("functions", user)
        for name in ("upper", "work"):
            (project.folder / name).mkdir()
            os.chown(project.folder / name, *(user or (0, 0)))
        report = project.folder / "home" / "report.json"
        become = f"setpriv --reuid={user[0]} --regid={user[1]} --clear-groups" if user else ""
        script = 'mount -t overlay trial -o lowerdir="$1",upperdir="$2/upper",workdir="$2/work" "$1" && cd "$1" && ' \
            f'exec {become} "$3" check --sandbox always --format json --output "$4" -- build/tests'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", project.work, project.folder, TOOL, report],
                              env=project.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        if "no sandbox is possible" in done.stdout:
            self.skipTest(done.stdout.splitlines()[0])
        self.assertEqual(done.returncode, 1, done.stdout)
        look_at(self, json.loads(report.read_text())["findings"])
        # Results are the only thing that the lower overlay gets.
        self.assertEqual(sorted(os.listdir(project.folder / "upper")), [".polygraph"])
        self.assertEqual(project.changes(), "")

    def test_overlay(self):
        self.check_on_overlay(None)

    def test_overlay_as_user(self):
        self.check_on_overlay(ordinary_user(self))


def prepare(polygraph, folder):
    global FOLDER, TOOL
    if not shutil.which("git"):
        return "there is no git"
    os.chmod(folder, 0o755)
    FOLDER = folder
    # Where everybody can read it.
    tools = Path(folder) / "bin"
    tools.mkdir()
    for name in ("polygraph", "libpolygraph-agent.so", "libpolygraph-choices.so"):
        shutil.copy2(Path(polygraph).parent / name, tools)
    TOOL = str(tools / "polygraph")
    return None


if __name__ == "__main__":
    sys.exit(runner.main("checks", prepare))
