"""What the harness has to know of GLib's test functions: see tests/harness/frameworks.py."""

import re

from plain import Framework, Result, place


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        if len(wanted) == 1:
            return ["--tap", "-k", "-p", wanted[0]]
        return ["--tap", "-k", *(word for name in left_out for word in ("-s", name))]

    def read(self, run, cwd, exe):
        results = {}
        for word, name, rest in re.findall(r"^(ok|not ok) \d+ (\S+)(.*)$", run.out, re.M):
            skipped = "# SKIP" in rest
            results[name] = Result("skip" if skipped else "pass" if word == "ok" else "fail")
        # A failed assertion ends the process; the report does not say which test it was.
        match = re.search(r"^Bail out! ERROR:(.*?):(\d+):", run.out, re.M)
        if match and self.running:
            results[self.running] = Result("fail", None, place(*match.groups()))
        return results

    running = None

    def run_one(self, exe, name):
        self.running = name
        return super().run_one(exe, name)

    def assertion_ended(self, run, result):
        return result is not None and "Bail out! ERROR:" in run.out


def groups(name):
    return name.split("/")[1:-1]
