"""What the harness has to know of programs that print TAP: see tests/harness/frameworks.py."""

import re

from plain import Framework, Result

FIXED = True


class Plain(Framework):
    one_by_one = False

    def arguments(self, exe, wanted, left_out):
        return []

    def read(self, run, cwd, exe):
        results = {}
        for bad, name, directive, place in re.findall(
                r"^(not )?ok \d+ - (\S+)(?: # (TODO|SKIP)[^\n]*)?\n((?:#[^\n]*\n)?)", run.out, re.M):
            at = re.search(r"at (\S+) line (\d+)", place)
            outcome = "skip" if directive == "SKIP" else "fail" if bad and not directive else "pass"
            results[name] = Result(outcome, None, (at[1], int(at[2])) if at and outcome == "fail" else None)
        return results
