"""What the harness has to know of cmocka: see tests/harness/frameworks.py."""

import os
import re

from plain import Framework, Result, parse_xml, place


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        if len(wanted) == 1:
            return [wanted[0].rpartition("/")[2]]
        # One pattern is all that cmocka takes.
        prefix = os.path.commonprefix([name.rpartition("/")[2] for name in left_out])
        return ["*", prefix + "*"] if left_out else []

    def environment(self):
        return {"CMOCKA_MESSAGE_OUTPUT": "xml"}

    def read(self, run, cwd, exe):
        results = {}
        # One root element a group, in one stream.
        for part in re.findall(r"<testsuites>.*?</testsuites>", run.out, re.S):
            root = parse_xml(part)
            for suite in root.iter("testsuite") if root is not None else []:
                for case in suite.iter("testcase"):
                    failure = case.find("failure")
                    text = failure.text or "" if failure is not None else ""
                    if failure is not None:
                        outcome = "crash" if "Test failed with exception" in text else "fail"
                    else:
                        outcome = "skip" if case.find("skipped") is not None else "pass"
                    match = re.search(r"^(\S[^:\n]*):(\d+): error:", text, re.M)
                    results[f"{suite.get('name')}/{case.get('name')}"] = Result(
                        outcome, None, place(*match.groups()) if match else None)
        return results


def groups(name):
    return name.split("/")[:1]
