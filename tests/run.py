#!/usr/bin/env python3
"""All tests, one part after the other, with the sum as the closing line; `./dev test` builds and calls this.

Usage: run.py [--full] [--only WORD]

--full runs the subjects in every variant (compilers, optimisation levels, linking) also where the quick form would do;
--only runs the parts whose name contains WORD.
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
SMOKE_SECONDS = 10

# A sanitizer's report has to fail the test that caused it.
SANITIZERS = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


def scripts(folder):
    return sorted((TESTS / folder).glob("test_*.py"))


def subjects(polygraph, build, full):
    command = [sys.executable, HARNESS, "--polygraph", polygraph, "--build", build]
    return command if full else command + ["--quick"]


def as_ordinary_user(counts):
    """The subjects again without root's powers, in a copy that the ordinary user can reach."""
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
    if not shutil.which("setpriv") or subprocess.run(become + ["true"], stderr=subprocess.DEVNULL).returncode:
        counts.skip(name, "setpriv cannot change the user here")
        return
    with tempfile.TemporaryDirectory(prefix="polygraph-nobody-") as folder:
        copy = Path(folder)
        copy.chmod(0o755)
        for part in ("build/polygraph", "tests", "examples"):
            (copy / part).parent.mkdir(parents=True, exist_ok=True)
            if (TOP / part).is_dir():
                shutil.copytree(TOP / part, copy / part, symlinks=True)
            else:
                shutil.copy2(TOP / part, copy / part)
        if (TOP / "build/subjects").is_dir():
            shutil.copytree(TOP / "build/subjects", copy / "build/subjects", symlinks=True)
        (copy / "tmp").mkdir()
        subprocess.run(["chown", "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", folder], check=True)
        environment = {
            "HOME": str(copy),
            "TMPDIR": str(copy / "tmp"),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "USER": "nobody",
        }
        command = subjects("build/polygraph", "build", False)
        command = become + ["python3", "tests/harness/test_subjects.py"] + command[2:]
        counts.run(name, command, cwd=copy, env=environment)


def main():
    parser = argparse.ArgumentParser(description="All tests of polygraph.")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    counts = Counts(TOP / "build" / "logs")
    polygraph = TOP / "build" / "polygraph"
    sanitized = TOP / "build-asan" / "polygraph"
    sanitize = {"env": {**os.environ, **SANITIZERS}}

    def part(name, command, **run_options):
        if options.only in name:
            counts.run(name, command, **run_options)

    part("rooms", [sys.executable, TESTS / "lint" / "check_rooms.py"])
    for folder in ("build", "build-asan"):
        part(f"unit tests, {folder}", [sys.executable, TESTS / "meson_test.py", TOP / folder], **sanitize)
    part("demo", [TOP / "examples" / "demo", polygraph, TOP / "build" / "examples"])
    for folder in ("cli", "robust"):
        for script in scripts(folder):
            part(f"{folder}/{script.stem}", [sys.executable, script, "--polygraph", polygraph])
    part("subjects", subjects(polygraph, TOP / "build", options.full), timeout=3600)
    part("subjects, sanitizers", subjects(sanitized, TOP / "build", False), **sanitize)
    if options.only in "subjects as an ordinary user":
        as_ordinary_user(counts)
    part("fuzz smoke", [sys.executable, TESTS / "fuzz" / "run.py", SMOKE_SECONDS])
    return counts.close()


if __name__ == "__main__":
    os.chdir(TOP)
    sys.exit(main())
