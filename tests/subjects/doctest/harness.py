"""What the harness has to know of doctest: see tests/harness/frameworks.py."""

import re

from parts import source_files
from plain import Framework, Result, parse_xml, place


def doctest_new(builder):
    """2.4.11, from another release of Debian."""
    return {"cflags": [f"-I{source_files(builder.folder, 'doctest', 'doctest/', release='trixie')}"]}


COMPONENTS = {"doctest-new": doctest_new}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        def listed(names):
            # A filter is a wildcard, split at commas; an odd character is stood for by "?".
            return ",".join(re.sub(r'[,\\"\n]', "?", name) for name in names)
        if len(wanted) == 1:
            return ["-r=xml", "-cs=1", "-tc=" + listed(wanted)]
        return ["-r=xml", "-cs=1", "-tce=" + listed(left_out)]

    def read(self, run, cwd, exe):
        results = {}
        # An attribute's line break would be read as a space: the reporter does not write it as a reference.
        text = re.sub(r'(?<= name=")[^"]*(?=")', lambda m: m.group().replace("\n", "&#10;"), run.out)
        root = parse_xml(text)
        for case in root.iter("TestCase") if root is not None else []:
            where = place(case.get("filename"), case.get("line"))
            overall = case.find("OverallResultsAsserts")
            if case.get("skipped") == "true":
                results[case.get("name")] = Result("skip", where)
            elif overall is not None:
                success = overall.get("test_case_success") == "true"
                failure = None
                for element in case.iter():
                    if element.tag in ("Expression", "Message") and element.get("type") != "WARN":
                        failure = place(element.get("filename"), element.get("line"))
                        break
                results[case.get("name")] = Result("pass" if success else "fail", where, None if success else failure)
        return results
