"""What the harness has to know of CUnit: see tests/harness/frameworks.py."""

import re

from plain import Framework, Result, place


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        return wanted

    def read(self, run, cwd, exe):
        results, suite, name = {}, None, None
        for line in run.out.splitlines():
            if line.startswith("Suite: "):
                suite = line[len("Suite: "):]
            elif line.startswith("  Test: "):
                name, _, word = line[len("  Test: "):].rpartition(" ...")
                name = f"{suite}/{name}"
                if word in ("passed", "FAILED"):
                    results[name] = Result("pass" if word == "passed" else "fail")
            else:
                match = re.match(r"    1\. (.*):(\d+) ", line)
                if match and name in results:
                    results[name].failure = place(*match.groups())
        if "Run Summary" in run.out:  # inactive tests go unmentioned
            for test in exe.subject.tests.values():
                if test.outcome == "skip":
                    results.setdefault(test.name, Result("skip"))
        return results


def groups(name):
    return name.split("/")[:1]
