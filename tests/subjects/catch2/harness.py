"""What the harness has to know of Catch2: see tests/harness/frameworks.py."""

import re

from plain import Framework, Result, parse_xml, place


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        def quoted(name):
            return '"' + re.sub(r'(["\\,\[])', r"\\\1", name) + '"'
        if len(wanted) == 1:
            return ["-r", "xml", quoted(wanted[0])]
        return ["-r", "xml", "".join("~" + quoted(name) for name in left_out)]

    def read(self, run, cwd, exe):
        results = {}
        root = parse_xml(run.out)
        for case in root.iter("TestCase") if root is not None else []:
            overall = case.find("OverallResult")
            if overall is None:
                continue
            failure = None
            for element in case.iter():
                if element.tag in ("Exception", "Failure", "FatalErrorCondition") or (
                        element.tag == "Expression" and element.get("success") == "false"):
                    failure = place(element.get("filename"), element.get("line"))
                    break
            success = overall.get("success") == "true"
            results[case.get("name")] = Result("pass" if success else "fail",
                                               place(case.get("filename"), case.get("line")),
                                               None if success else failure)
        return results

    def run_one(self, exe, name):
        # 2.13 has no way to spell a name with a backslash on its command line.
        return None if "\\" in name else super().run_one(exe, name)
