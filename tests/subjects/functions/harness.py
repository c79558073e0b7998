"""What the harness has to know of hand-written runners: see tests/harness/frameworks.py."""

import re

from plain import Framework, Result


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        return wanted

    def read(self, run, cwd, exe):
        return {name: Result("pass") for name in re.findall(r"^(\w+)\.\.\. ok$", run.out, re.M)}
