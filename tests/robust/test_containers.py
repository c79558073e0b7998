#!/usr/bin/env python3
"""What containers forbid, forbidden by a filter of system calls as Docker's default profile does it: the tool goes on, finds
the same, and names the flag that would allow it.

Usage: test_containers.py --polygraph PROGRAM
"""

import ctypes
import errno
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import runner

POLYGRAPH = None
SUITE = r"""
#include <stdio.h>
#include <stdlib.h>
int level;
__attribute__((noinline)) static void test_raises(void) { level = 1; }
__attribute__((noinline)) static void test_is_zero(void) { if (level) abort(); }
int main(void) { test_is_zero(); test_raises(); puts("ok"); return 0; }
"""
# x86-64 numbers of what Docker's default profile refuses without CAP_SYS_ADMIN; clone3 fails with ENOSYS there, so that
# libraries use clone, whose flags a filter can see.
PTRACE, MOUNT, UMOUNT2, UNSHARE, SETNS, USERFAULTFD, CLONE, CLONE3, PERSONALITY = 101, 165, 166, 272, 308, 323, 56, 435, 135
NAMESPACES = 0x7E020000
NO_RANDOMIZE = 0x0040000
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
FLAGS = "--cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined"


def statement(code, k, true=0, false=0):
    return struct.pack("HBBI", code, true, false, k)


def filter_of(refused, also_ptrace):
    """Loads the number; each refused one returns its error; clone and personality are judged by their first argument."""
    load_number, load_argument = statement(0x20, 0), statement(0x20, 16)
    program = [load_number]
    for number in refused + ([PTRACE] if also_ptrace else []):
        program += [statement(0x15, number, 0, 1), statement(0x06, REFUSE | errno.EPERM)]
    program += [statement(0x15, CLONE3, 0, 1), statement(0x06, REFUSE | errno.ENOSYS)]
    for number, bits in ((CLONE, NAMESPACES), (PERSONALITY, NO_RANDOMIZE)):
        # 0xffffffff asks personality(2) for the present value.
        program += [statement(0x15, number, 0, 5), load_argument, statement(0x15, 0xFFFFFFFF, 2, 0),
                    statement(0x45, bits, 0, 1), statement(0x06, REFUSE | errno.EPERM), statement(0x06, ALLOW)]
    return b"".join(program + [statement(0x06, ALLOW)]), len(program) + 1


def confine(also_ptrace=False):
    """For subprocess: called in the child."""
    code, n = filter_of([MOUNT, UMOUNT2, UNSHARE, SETNS, USERFAULTFD], also_ptrace)
    libc = ctypes.CDLL(None, use_errno=True)
    memory = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", n, ctypes.addressof(memory))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.create_string_buffer(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


class Containers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-container-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "suite.c").write_text(SUITE)
        subprocess.run(["cc", "-g", "-O0", "-o", "suite", "suite.c"], cwd=self.folder, check=True)

    def run_it(self, *words, also_ptrace=False, confined=True, container="docker"):
        environment = {**os.environ, "container": container}
        return subprocess.run([POLYGRAPH, *words], cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, preexec_fn=(lambda: confine(also_ptrace)) if confined else None)

    def findings(self, done):
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        return sorted((finding["kind"], finding["test"], finding.get("root")) for finding in report["findings"])

    def test_finds_the_same_and_names_the_flags(self):
        words = ("check", "--fresh", "--format", "json", "./suite")
        confined = self.run_it(*words)
        self.assertIn("no sandbox is possible here", confined.stderr)
        self.assertIn(f"start the container with {FLAGS}", confined.stderr)
        self.assertEqual(self.findings(confined), self.findings(self.run_it(*words, confined=False)))

    def test_outside_of_containers_no_flags_are_named(self):
        if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
            self.skipTest("this is a container")
        done = self.run_it("pollution", "./suite", container="")
        self.assertIn("docs/sandbox.md says how to allow one", done.stderr)
        self.assertNotIn("--cap-add", done.stderr)

    def test_a_sandbox_that_must_be(self):
        done = self.run_it("check", "--sandbox", "always", "./suite")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no sandbox is possible here", done.stderr)
        self.assertIn(f"start the container with {FLAGS}", done.stderr)

    def test_without_ptrace(self):
        done = self.run_it("run", "./suite", also_ptrace=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cannot trace the program", done.stderr)
        self.assertIn("start the container with --cap-add SYS_PTRACE", done.stderr)


def prepare(polygraph, _):
    global POLYGRAPH
    POLYGRAPH = polygraph


if __name__ == "__main__":
    sys.exit(runner.main("containers", prepare))
