"""What the harness has to know of munit: see tests/harness/frameworks.py."""

import re

from parts import source_files
from plain import Framework, Result, first_place


def munit_raft(builder):
    """The copy that raft and dqlite have; with MUNIT_ALWAYS_TEAR_DOWN it tears down after a failed test, too."""
    source = source_files(builder.folder, "raft", "test/lib/munit.c", "test/lib/munit.h", release="trixie") / "test/lib"
    return {"cflags": [f"-I{source}"], "sources": [source / "munit.c"]}


def munit_ngtcp2(builder):
    """The copy that nghttp2 and its relatives maintain."""
    source = source_files(builder.folder, "ngtcp2", "tests/munit/munit.c", "tests/munit/munit.h",
                          release="sid") / "tests/munit"
    return {"cflags": [f"-I{source}"], "sources": [source / "munit.c"]}


COMPONENTS = {"munit-raft": munit_raft, "munit-ngtcp2": munit_ngtcp2}


def groups(name):
    return ["second" if name.startswith("/second/") else "first"]


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        # A single test runs as by default, in a process of its own: a crash has a report, too.
        words = ["--no-fork"] if len(wanted) > 1 else []
        if len(wanted) == 1:
            for parameter in wanted[0].split(" ", 1)[1:]:
                for pair in parameter.split(", "):
                    words += ["--param", *pair.split("=", 1)]
        return words + sorted({name.split(" ")[0] for name in wanted})

    def read(self, run, cwd, exe):
        outcomes = {"OK": "pass", "TODO": "pass", "FAIL": "fail", "ERROR": "fail", "SKIP": "skip"}
        results, test = {}, None
        for line in run.out.splitlines():
            match = re.match(r"(/\S+|  [\w=, ]*?\w)?\s*(?:\[ (\w+)\s*\].*)?$", line)
            name, word = match.groups() if match else (None, None)
            if name and name.startswith("/"):
                test = name
            if word in outcomes:
                full = f"{test} {name.strip()}" if name and name.startswith(" ") else test
                results[full] = Result(outcomes[word])
        failed = [result for result in results.values() if result.outcome == "fail"]
        errors = re.findall(r"^Error: (.*)$", run.err, re.M)
        if len(failed) == 1 and errors:
            failed[0].failure = first_place(errors[0])
            if errors[0].startswith("child "):
                failed[0].outcome = "crash"
        return results
