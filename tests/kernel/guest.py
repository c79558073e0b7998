#!/usr/bin/env python3
"""The tests inside the machine that boot.py starts.

Usage: guest.py [--only WORD]... [--full] LOGS

`--only bench` measures what each way to find written memory costs there, see tests/bench/bench_tracking.py.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import parts

sys.path.insert(0, str(parts.TOP / "tests"))
from counts import Counts  # noqa: E402
from run import OrdinaryUser  # noqa: E402

LONG = 3600
SLOWNESS = "8"
ON_OVERLAY = "/opt/polygraph-over-overlay"
# Which way of finding written memory there has to be.
SCAN_SINCE = (6, 7)


class Guest:
    def __init__(self, counts, only, full):
        self.counts, self.only, self.full, self.release = counts, only, full, platform.release()
        version = tuple(int(number) for number in re.findall(r"\d+", self.release)[:2])
        tracking = "scan" if version >= SCAN_SINCE else "soft-dirty"
        self.environment = {**os.environ, "POLYGRAPH_TEST_TRACKING": tracking,
                            "POLYGRAPH_TEST_SLOWNESS": SLOWNESS}
        self.user = OrdinaryUser()

    def name(self, part):
        """None where it is not wanted."""
        return f"{self.release}: {part}" if not self.only or any(word in part for word in self.only) else None

    def python(self, part, *command, **variables):
        if name := self.name(part):
            self.counts.run(name, [sys.executable, *command], timeout=LONG, env={**self.environment, **variables})

    def robust(self, part, script, *words, **variables):
        self.python(part, parts.TOP / "tests" / "robust" / f"{script}.py", "--polygraph", parts.TOP / "build" / "polygraph",
                    *words, **variables)

    def bench(self):
        """Only where it is asked for; shows what it measured."""
        done = subprocess.run([sys.executable, parts.TOP / "tests" / "bench" / "bench.py", "--quick", "tracking"], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        print(done.stdout + done.stderr, flush=True)
        self.counts.add(int(not done.returncode), int(bool(done.returncode)), 0)

    def run(self):
        if "bench" in self.only:
            self.bench()
        for script in parts.ROBUST:
            self.robust(script, script)
        # The root is an overlay, as in a container; the temporary folders are not.
        os.makedirs(ON_OVERLAY, exist_ok=True)
        self.robust("test_sandbox over an overlay", "test_sandbox", "Root.test_detectors_change_nothing", TMPDIR=ON_OVERLAY)
        units = parts.UNITS + (parts.MORE_UNITS if self.full else ())
        for unit in units:
            self.python(f"unit {unit}", parts.TOP / "tests" / "meson_test.py", parts.TOP / "build", "--no-rebuild",
                        "--timeout-multiplier", "20", unit)
        for kind in parts.SUBJECTS:
            self.python(f"{kind} subjects", *parts.command(kind, self.full))
        for kind in ("pollution", "order"):
            name = self.name(f"{kind} subjects as an ordinary user")
            if name and self.user.why_not:
                self.counts.skip(name, self.user.why_not)
            elif name:
                self.user.run(self.counts, name, parts.SUBJECTS[kind][0], kind, parts.options(kind, False))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("logs", type=Path)
    options = parser.parse_args()
    counts = Counts(options.logs)
    Guest(counts, options.only, options.full).run()
    return counts.close()


if __name__ == "__main__":
    os.chdir(parts.TOP)
    sys.exit(main())
