"""What the harness has to know of CppUTest: see tests/harness/frameworks.py."""

import os

from plain import Framework, Result, first_place, parse_xml, place, read_file


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        if len(wanted) == 1:
            group, _, name = wanted[0].partition(".")
            return ["-ojunit", "-sg", group, "-sn", name]
        return ["-ojunit", *(word for name in wanted for word in ("-sn", name.partition(".")[2]))]

    def read(self, run, cwd, exe):
        results = {}
        for file in sorted(os.listdir(cwd)):
            root = parse_xml(read_file(cwd, file)) if file.startswith("cpputest_") else None
            for case in root.iter("testcase") if root is not None else []:
                failure = case.find("failure")
                outcome = "fail" if failure is not None else "skip" if case.find("skipped") is not None else "pass"
                results[f"{root.get('name')}.{case.get('name')}"] = Result(
                    outcome, place(case.get("file"), case.get("line")),
                    first_place(failure.get("message")) if failure is not None else None)
        return results
