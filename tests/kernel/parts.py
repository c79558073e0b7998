"""What is tested on another kernel: a selection that touches whatever the tool asks of a kernel."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HARNESS = TOP / "tests" / "harness"

# Unit tests of what depends on the kernel; MORE_UNITS only in --full. Not `watchpoint`: the processors that QEMU 7.2 emulates
# do not notice atomic instructions.
UNITS = ("image", "tree", "process_tree", "sandbox")
MORE_UNITS = ("arch", "attributes", "blocks", "callers", "files", "files_hostile", "files_readers", "follow", "keep", "output",
              "proc", "process", "process_watch", "split")

# Subjects by script; the second tuple only in --full.
SUBJECTS = {
    "run": ("test_subjects.py", ("cmocka", "functions", "gtest"), ("catch2", "boost", "check")),
    "pollution": ("test_pollution.py", ("scalars", "threads"),
                  ("heap", "graphs", "files", "process_state", "gtest_fixture", "cmocka_fixture", "files_catch2",
                   "libc_state", "moved", "process_ipc")),
    "order": ("test_order.py", ("brittle",),
              ("victims", "files", "memory", "process", "threads", "gtest_suites", "commands")),
    "choices": ("test_choices.py", ("commands",), ("known_c", "memory", "library")),
}
ROBUST = ("test_tracking", "test_sandbox")


def subjects(kind, full):
    _, quick, more = SUBJECTS[kind]
    return quick + more if full else quick


def options(kind, full):
    """Of the harness, without the program."""
    only = [word for subject in subjects(kind, full) for word in ("--only", subject)]
    return ["--quick", "--exe", "*-gcc-O0", *only]


def command(kind, full):
    words = [HARNESS / SUBJECTS[kind][0], "--polygraph", TOP / "build" / "polygraph", "--build", TOP / "build"]
    return [str(word) for word in [*words, *options(kind, full)]]


def build(full):
    """The subjects are built here: compilers take long in an emulated machine. Gives what failed, or None."""
    for kind in SUBJECTS:
        done = subprocess.run([sys.executable, *command(kind, full), "--build-only"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stdout + done.stderr
    return None
