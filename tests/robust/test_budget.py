#!/usr/bin/env python3
"""Runs that end early: by a budget, by Ctrl-C. What an earlier, longer run found stays.

usage: test_budget.py --polygraph PATH [-v] [TEST…]
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import runner

SOURCE = pathlib.Path(__file__).resolve().parent / "slow.c"
STATE_MIB = 128
TRIES = 6  # of Ctrl-C
POLYGRAPH = None
FOLDER = None


class Ends(unittest.TestCase):
    def setUp(self):
        self.room = FOLDER / self.id().rsplit(".", 1)[1]
        self.room.mkdir()

    def build(self, *flags):
        subprocess.run(["gcc", "-g", "-O0", *flags, "-o", self.room / "slow", SOURCE], check=True)

    def run_it(self, *words, **environment):
        """Exit status, what it wrote, and how long it took."""
        started = time.monotonic()
        done = subprocess.run([POLYGRAPH, *words], cwd=self.room, capture_output=True, text=True, timeout=300,
                              env={**os.environ, **environment})
        return done.returncode, done.stdout + done.stderr, time.monotonic() - started

    def findings(self, *words, **environment):
        status, out, _ = self.run_it(*words, "--format", "json", "--output", "report", "./slow", **environment)
        self.assertNotIn(status, (2, 4), out)
        report = json.loads((self.room / "report").read_text())
        return status, {finding["id"]: finding for finding in report["findings"]}

    def known(self):
        return set(self.run_it("replay", "--list", "--quiet")[1].split())


class Budget(Ends):
    def plain(self):
        """How long the program takes by itself, as busy as the machine is."""
        started = time.monotonic()
        subprocess.run([self.room / "slow"], env={**os.environ, "FIXED": "1"}, check=True)
        return time.monotonic() - started

    def test_large_state(self):
        """Whatever is under way when it ends: comparing memory, capturing it, other orders, choices."""
        self.build(f"-DMIB={STATE_MIB}")
        plain = self.plain()
        for command in ("pollution", "order", "choices", "check"):
            for budget in (1, 4):
                with self.subTest(f"{command} {budget}s"):
                    shutil.rmtree(self.room / ".polygraph", ignore_errors=True)
                    status, out, took = self.run_it(command, "--budget", f"{budget}s", "./slow")
                    self.assertIn(status, (0, 1), out)
                    # To start and to end the program takes its time, the more so where the machine is busy meanwhile.
                    plain = max(plain, self.plain())
                    self.assertLess(took, 1.2 * budget + 10 * plain + 2, out)

    def test_shorter_run_keeps_findings(self):
        self.build()
        status, found = self.findings("order")
        self.assertEqual(status, 1)
        self.assertEqual({finding["test"] for finding in found.values()}, {"test_victim", "test_brittle"})
        # No time for anything, or not for all of it.
        for budget in ("50ms", "1s"):
            status, again = self.findings("order", "--budget", budget)
            self.assertEqual((status, set(again)), (1, set(found)), budget)
            self.assertEqual(self.known(), set(found))
        self.assertEqual(self.run_it("replay", next(iter(found)))[0], 1)
        # Other tests are asked for: these are not spoken of, and stay.
        status, other = self.findings("order", "--tests", "test_first")
        self.assertEqual((status, other), (0, {}))
        self.assertEqual(self.known(), set(found))
        # Tried again, and not so any more.
        status, gone = self.findings("order", FIXED="1")
        self.assertEqual((status, gone, self.known()), (0, {}, set()))

    def test_other_program_starts_over(self):
        self.build()
        self.assertEqual(self.findings("order")[0], 1)
        self.build("-DMIB=1")
        status, found = self.findings("order", "--budget", "50ms")
        self.assertEqual((status, found), (0, {}))

    def test_what_others_leave(self):
        """Orders, which stopped after their share, go on with what the other detectors did not need."""
        tests = [f"__attribute__((noinline)) int test_{i}(void) {{ return use({i}); }}\n" for i in range(80)]
        (self.room / "pairs.c").write_text(
            "#include <pthread.h>\n#include <unistd.h>\nstatic volatile int slots[80];\n"
            "static void *work(void *data) { return data; }\n"
            "static int use(int own) { int sum = 0; for (int i = 0; i < 80; i++) sum += slots[i]; slots[own] = 1; usleep(4000);"
            " return sum > 100; }\n" + "".join(tests) +
            "__attribute__((noinline)) int test_thread(void) { pthread_t t; pthread_create(&t, 0, work, 0);"
            " return pthread_join(t, 0); }\n"
            "int main(void) { return test_thread() + " + " + ".join(f"test_{i}()" for i in range(80)) + "; }\n")
        subprocess.run(["gcc", "-g", "-O0", "-pthread", "-o", "pairs", "pairs.c"], cwd=self.room, check=True)
        budget = 10
        self.run_it("check", "--no-choices", "--no-readers", "--budget", f"{budget}s", "-o", "report.json", "./pairs")
        report = json.loads((self.room / "report.json").read_text())
        phases = report["run"]["phases"]
        spent = phases[-1]["start"] + phases[-1]["seconds"]
        self.assertIn(f"(budget {budget}s)", " ".join(report["limits"]))
        self.assertGreater(spent, 0.85 * budget)
        names = [phase["name"] for phase in phases]
        if names[-1] == "order":  # where the machine was too busy, nothing was left
            self.assertEqual(names.count("order"), 2)
            self.assertEqual(report["order"]["known"], 0)
            self.assertEqual(len([limit for limit in report["limits"] if "pairs explored" in limit]), 1, report["limits"])


class Interrupt(Ends):
    def test_status(self):
        """130, whatever it is doing at that moment; also where only one of the processes is told."""
        self.build()
        chance = random.Random(14)
        for i in range(TRIES):
            shutil.rmtree(self.room / ".polygraph", ignore_errors=True)
            process = subprocess.Popen([POLYGRAPH, "order", "--budget", "1m", "--all-pairs", "./slow"], cwd=self.room,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
            moment = chance.uniform(0.3, 2)
            time.sleep(moment)
            if i % 2:
                os.killpg(process.pid, signal.SIGINT)
            else:
                process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 130, f"after {moment:.2f} s: {out}")


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, pathlib.Path(folder)
    return None if shutil.which("gcc") else "gcc is not installed"


if __name__ == "__main__":
    sys.exit(runner.main("budget", prepare))
