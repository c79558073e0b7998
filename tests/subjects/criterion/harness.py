"""What the harness has to know of Criterion: see tests/harness/frameworks.py."""

import re

from plain import Framework, Result, parse_xml, place, read_file


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        words = ["-j1", "--xml=report.xml"]
        if len(wanted) == 1:
            words += ["--filter", wanted[0].partition("#")[0].replace("::", "/")]
        return words

    def read(self, run, cwd, exe):
        results = {}
        root = parse_xml(read_file(cwd, "report.xml"))
        # What ran last comes first, also among the failures of a test.
        for suite in reversed(list(root.iter("testsuite")) if root is not None else []):
            for case in reversed(list(suite.iter("testcase"))):
                name = f"{suite.get('name')}::{case.get('name')}"
                same = sum(other.partition("#")[0] == name for other in results)
                outcome = {"PASSED": "pass", "SKIPPED": "skip", "FAILED": "fail"}.get(case.get("status"), "crash")
                if case.find("error[@type='timeout']") is not None:
                    outcome = "timeout"
                failure = case.find("failure")
                places = re.findall(r"^(\S+):(\d+): ", failure.text or "", re.M) if failure is not None else []
                results[f"{name}#{same + 1}" if same else name] = Result(
                    outcome, None, place(*places[-1]) if places else None)
        return results
