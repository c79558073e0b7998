"""What the harness has to know of acutest: see tests/harness/frameworks.py."""

import re

from parts import source_files
from plain import Framework, Result, parse_xml, place, read_file


def acutest_nng(builder):
    """A copy of 2019, with other names inside and without TEST_SKIP."""
    source = source_files(builder.folder, "nng", "src/testing/acutest.h") / "src/testing"
    return {"cflags": [f"-I{source}"]}


def acutest_neomutt(builder):
    source = source_files(builder.folder, "neomutt", "test/acutest.h", release="sid") / "test"
    return {"cflags": [f"-I{source}"]}


COMPONENTS = {"acutest-nng": acutest_nng, "acutest-neomutt": acutest_neomutt}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        # By default each test has a process of its own: one that does not come back has a report, too.
        ends = len(wanted) == 1 and exe.subject.tests[wanted[0]].ends
        return ["--exec=always" if ends else "--no-exec", "--xml-output=report.xml", *wanted]

    def read(self, run, cwd, exe):
        results = {}
        root = parse_xml(read_file(cwd, "report.xml"))
        for case in root.iter("testcase") if root is not None else []:
            name = case.get("name")
            outcome = "fail" if case.find("failure") is not None else "pass"
            if case.find("skipped") is not None:
                outcome = "skip"
            said = re.search(rf"^Test {name}\.\.\. (.*\n(?: .*\n)*)", run.out, re.M)
            failed = re.search(r"^ *(\S+):(\d+): .*\.\.\. failed$", said[1], re.M) if said else None
            if said and "Test interrupted by SIG" in said[1] and not failed:
                outcome = "crash"
            # Without the folder; all are in the same.
            where = place(f"{exe.subject.folder}/{failed[1]}", failed[2]) if failed and outcome == "fail" else None
            results[name] = Result(outcome, None, where)
        return results
