"""What the harness has to know of utest.h: see tests/harness/frameworks.py."""

import os
import re

from parts import source_files
from plain import Framework, Result, first_place


def utest(builder):
    """It has no package of its own; it comes inside the source package suitesparse."""
    folder = "LAGraph/deps/json_h/test"
    source = source_files(builder.folder, "suitesparse", f"{folder}/utest.h", release="trixie")
    return {"cflags": [f"-I{source / folder}", "-w"]}


COMPONENTS = {"utest-suitesparse": utest}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        if len(wanted) == 1:
            return [f"--filter={wanted[0]}"]
        return [f"--filter={os.path.commonprefix(wanted)}*"]    # one pattern is all that it takes

    def read(self, run, cwd, exe):
        outcomes = {"OK": "pass", "FAILED": "fail", "SKIPPED": "skip"}
        results = {}
        for name, output, word in re.findall(
                r"^\[ RUN      \] (\S+)\n(.*?)^\[ +(OK|FAILED|SKIPPED) +\] \1 ", run.out, re.M | re.S):
            results[name] = Result(outcomes[word], None, first_place(output) if word == "FAILED" else None)
        return results
