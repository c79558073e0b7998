#!/usr/bin/env python3
"""Runs Meson's tests in BUILD-DIR with a closing line of their own: cmocka's tests are counted one by one.

Usage: meson_test.py BUILD-DIR [OPTION-OF-MESON-TEST...]

Limits of time end what hangs. They are five times as long as usual, so that no test fails because the machine is busy.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

BAD = ("FAIL", "TIMEOUT", "ERROR", "UNEXPECTEDPASS", "INTERRUPT")
# cmocka closes a group with these; what else prints them is not one of ours.
GROUPS = re.compile(r"^\[  (PASSED|FAILED|SKIPPED) +\] (?:.*: )?(\d+) test\(s\)", re.M)


def main():
    build = Path(sys.argv[1])
    status = subprocess.run(
        ["meson", "test", "-C", build, "--num-processes", "2", "--timeout-multiplier", "5", "--print-errorlogs",
         *sys.argv[2:]], check=False
    ).returncode
    passed = failed = skipped = 0
    log = build / "meson-logs" / "testlog.json"
    for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
        test = json.loads(line)
        inside = {"PASSED": 0, "FAILED": 0, "SKIPPED": 0}
        for word, number in GROUPS.findall((test.get("stdout") or "") + "\n" + (test.get("stderr") or "")):
            inside[word] += int(number)
        bad = test["result"] in BAD
        passed += inside["PASSED"] or (not bad and test["result"] != "SKIP")
        failed += inside["FAILED"] or bad
        skipped += inside["SKIPPED"] or test["result"] == "SKIP"
    print(f"{passed:d} passed, {failed:d} failed" + (f", {skipped:d} skipped" if skipped else ""))
    return status


if __name__ == "__main__":
    sys.exit(main())
