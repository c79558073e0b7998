"""What the harness has to know of tinytest: see tests/harness/frameworks.py."""

import re

from parts import source_files
from plain import Framework, Result, place

FILES = ("tinytest.c", "tinytest.h", "tinytest_macros.h")


def tinytest(builder, package, folder):
    source = source_files(builder.folder, package, *[f"{folder}/{name}" for name in FILES]) / folder
    return {"cflags": [f"-I{source}"], "sources": [source / "tinytest.c"]}


COMPONENTS = {
    "tinytest-libevent": lambda builder: tinytest(builder, "libevent", "test"),
    "tinytest-tor": lambda builder: tinytest(builder, "tor", "src/ext"),
}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        return ["--no-fork", *wanted]

    def read(self, run, cwd, exe):
        outcomes = {"OK": "pass", "SKIPPED": "skip", "DISABLED": "skip"}
        results = {}
        # A test that is tried again has its name printed again.
        for name, output, end in re.findall(
                r"^(\w+/\w+): (.*?)(OK|SKIPPED|DISABLED|\[\w+ FAILED\])$", run.out, re.M | re.S):
            failure = re.search(r"^  FAIL (.*?):(\d+): ", output, re.M)
            results[name] = Result(outcomes.get(end, "fail"), None, place(*failure.groups()) if failure else None)
        return results
