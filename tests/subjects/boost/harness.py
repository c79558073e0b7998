"""What the harness has to know of Boost.Test: see tests/harness/frameworks.py."""

from plain import Framework, Result, parse_xml, place, read_file


class Plain(Framework):
    SIGNALS = ("memory access violation", "signal:", "application abort requested")

    def arguments(self, exe, wanted, left_out):
        chosen = wanted if len(wanted) == 1 else ["!" + name for name in left_out]
        return ["--report_format=XML", "--report_level=detailed", "--report_sink=report.xml", "--log_format=XML",
                "--log_level=all", "--log_sink=log.xml", *("--run_test=" + name for name in chosen)]

    def read(self, run, cwd, exe):
        results = {}

        def walk(element, path, visit):
            for child in element:
                if child.tag == "TestSuite":
                    walk(child, path + [child.get("name")], visit)
                elif child.tag == "TestCase":
                    visit("/".join(path + [child.get("name")]), child)

        def log(name, case):
            where = place(case.get("file"), case.get("line"))
            if case.get("skipped"):
                results[name] = Result("skip", where)
                return
            failure, crash = None, False
            for element in case:
                if element.tag in ("Error", "FatalError", "Exception"):
                    failure = element if failure is None else failure
                    crash |= element.tag == "Exception" and any(s in (element.text or "") for s in self.SIGNALS)
            results[name] = Result("crash" if crash else "fail" if failure is not None else "pass", where,
                                   None if failure is None or failure.get("file") == "unknown location"
                                   else place(failure.get("file"), failure.get("line")))

        def report(name, case):
            result = results.get(name)
            if result and case.get("result") == "passed" and result.outcome == "fail":
                result.outcome, result.failure = "pass", None  # its failures were expected

        for file, visit in (("log.xml", log), ("report.xml", report)):
            text = read_file(cwd, file)
            # Messages about dependencies come before the log's root.
            root = parse_xml(text[max(text.find("<TestLog>"), 0):])
            if root is not None:
                for module in root.iter("TestSuite"):
                    walk(module, [], visit)
                    break
        # What ended the process early was not reported.
        return results if read_file(cwd, "report.xml") else {}

    def run_one(self, exe, name):
        # To name a disabled test is to enable it.
        return None if exe.subject.tests[name].outcome == "skip" else super().run_one(exe, name)


def groups(name):
    return name.split("/")[:-1]


RELATIONS = [("needs", "decorators/dependent", {"decorators/base"})]
