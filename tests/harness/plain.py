"""What the frameworks themselves say: runs a subject's executable without polygraph and reads its own report.

    run_all(exe)        every test that a plain run survives, in one process, in the natural order
    run_one(exe, name)  one test in a process of its own; None where the framework cannot do that

Both give {name: Result}. One class a framework; FRAMEWORKS lists them.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

TIMEOUT = 1.0  # for one test that may hang
PATIENCE = 60.0  # for a whole run


class Result:
    """An outcome, and the places that the framework gave for the test and its first failure (else None)."""

    def __init__(self, outcome, place=None, failure=None):
        self.outcome, self.place, self.failure = outcome, place, failure


class Run:
    """A finished process: its status (negative: a signal; None: it had to be stopped) and output."""

    def __init__(self, command, cwd, timeout, env=None):
        process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, start_new_session=True)
        try:
            out, err = process.communicate(timeout=timeout)
            self.status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            self.status = None
        self.out, self.err = out.decode(errors="replace"), err.decode(errors="replace")


def place(file, line):
    return (file, int(line)) if file and line and int(line) > 0 else None


def first_place(text):
    """FILE:LINE at the beginning of a line."""
    match = re.search(r"^(\S[^:\n]*):(\d+)\b", text or "", re.M)
    return place(*match.groups()) if match else None


class Framework:
    """A plain run: the command line for a selection of tests, and how to read what comes of it."""

    one_by_one = True

    def arguments(self, exe, wanted, left_out):
        """Arguments that run `wanted`, which is all but `left_out`."""
        raise NotImplementedError

    def environment(self):
        return {}

    def read(self, run, cwd, exe):
        """{name: Result} from a run that came to its end, or as much as there is of it."""
        raise NotImplementedError

    def run_all(self, exe):
        tests = exe.subject.tests
        left_out = [name for name, test in tests.items() if test.ends or test.hidden]
        wanted = [name for name in tests if name not in left_out]
        return self._run(exe, wanted, left_out, PATIENCE)[0]

    def run_one(self, exe, name):
        tests = exe.subject.tests
        if not self.one_by_one or tests[name].hidden:
            return None
        timeout = TIMEOUT if tests[name].outcome == "timeout" else PATIENCE
        results, run = self._run(exe, [name], [other for other in tests if other != name], timeout)
        if run.status is None:
            return Result("timeout")
        result = results.get(name)
        if self.assertion_ended(run, result):
            return result
        # A report that breaks off, or a process that ended before any: the test did not come back.
        return result if result and run.status >= 0 else Result("crash")

    def assertion_ended(self, run, result):
        """Was it a failed assertion that ended the process?"""
        return False

    def _run(self, exe, wanted, left_out, timeout):
        with tempfile.TemporaryDirectory(prefix="plain-") as cwd:
            run = Run([str(exe.path), *self.arguments(exe, wanted, left_out)], cwd, timeout, self.environment())
            results = self.read(run, cwd, exe)
        chosen = {name: result for name, result in results.items() if name not in left_out}
        return chosen, run


def parse_xml(text):
    """The root element, or what can be read of a report that breaks off; None if nothing."""
    parser = ElementTree.XMLPullParser(("start",))
    root = None
    try:
        parser.feed(text)
        for _, element in parser.read_events():
            root = element if root is None else root
    except ElementTree.ParseError:
        pass
    return root


def read_file(cwd, name):
    path = os.path.join(cwd, name)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class GoogleTest(Framework):
    def arguments(self, exe, wanted, left_out):
        return ["--gtest_output=json:report.json",
                "--gtest_filter=" + (":".join(wanted) if len(wanted) == 1 else "*-" + ":".join(left_out))]

    def read(self, run, cwd, exe):
        results = {}
        report = read_file(cwd, "report.json")
        for suite in json.loads(report)["testsuites"] if report else []:
            for test in suite["testsuite"]:
                failures = test.get("failures", [])
                if failures:
                    outcome = "fail"
                else:
                    outcome = "pass" if test["result"] == "COMPLETED" else "skip"
                results[f"{suite['name']}.{test['name']}"] = Result(
                    outcome, place(test["file"], test["line"]),
                    first_place(failures[0]["failure"]) if failures else None)
        return results


class Catch2(Framework):
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


class Doctest(Framework):
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


class Boost(Framework):
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


class Check(Framework):
    """Runs each test in a process of its own and selects cases, not tests: only whole runs, which survive anything."""

    one_by_one = False

    def arguments(self, exe, wanted, left_out):
        return []

    def environment(self):
        return {"CK_XML_LOG_FILE_NAME": "report.xml", "CK_FORK": "yes"}

    def run_all(self, exe):
        return self._run(exe, list(exe.subject.tests), [], PATIENCE)[0]

    def read(self, run, cwd, exe):
        results = {}
        root = parse_xml(read_file(cwd, "report.xml"))
        if root is None:
            return results
        space = "{http://check.sourceforge.net/ns}"
        for suite in root.iter(space + "suite"):
            for test in suite.iter(space + "test"):
                def text(tag, test=test):
                    return test.findtext(space + tag) or ""
                name = "/".join((suite.findtext(space + "title"), text("description"), text("id")))
                loop = f"{name}:{text('iteration')}"
                if loop in exe.subject.tests:
                    name = loop
                message = text("message")
                if test.get("result") == "success":
                    outcome = "pass"
                elif "Test timeout expired" in message:
                    outcome = "timeout"
                elif test.get("result") == "error" and message != "Early exit with return value 0":
                    outcome = "crash"
                else:
                    outcome = "fail"  # status 0 and another wanted: the test came back
                file, _, line = text("fn").rpartition(":")
                failure = None
                if outcome == "fail" and not message.startswith("Early exit"):
                    failure = place(os.path.join(text("path"), file), line)
                results[name] = Result(outcome, None, failure)
        return results


class Cmocka(Framework):
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


class Unity(Framework):
    def arguments(self, exe, wanted, left_out):
        return wanted

    def read(self, run, cwd, exe):
        outcomes = {"PASS": "pass", "FAIL": "fail", "IGNORE": "skip"}
        results = {}
        for file, line, name, word in re.findall(r"^(.*?):(\d+):(\w+):(PASS|FAIL|IGNORE)\b", run.out, re.M):
            results[name] = Result(outcomes[word], None, place(file, line) if word == "FAIL" else None)
        return results


class CUnit(Framework):
    def arguments(self, exe, wanted, left_out):
        return wanted

    def read(self, run, cwd, exe):
        results, suite, name = {}, None, None
        for line in run.out.splitlines():
            if line.startswith("Suite: "):
                suite = line[len("Suite: "):]
            elif line.startswith("  Test: "):
                name, _, word = line[len("  Test: "):].rpartition(" ...")
                name = f"{suite}/{name}"
                if word in ("passed", "FAILED"):
                    results[name] = Result("pass" if word == "passed" else "fail")
            else:
                match = re.match(r"    1\. (.*):(\d+) ", line)
                if match and name in results:
                    results[name].failure = place(*match.groups())
        if "Run Summary" in run.out:  # inactive tests go unmentioned
            for test in exe.subject.tests.values():
                if test.outcome == "skip":
                    results.setdefault(test.name, Result("skip"))
        return results


class GLib(Framework):
    def arguments(self, exe, wanted, left_out):
        if len(wanted) == 1:
            return ["--tap", "-k", "-p", wanted[0]]
        return ["--tap", "-k", *(word for name in left_out for word in ("-s", name))]

    def read(self, run, cwd, exe):
        results = {}
        for word, name, rest in re.findall(r"^(ok|not ok) \d+ (\S+)(.*)$", run.out, re.M):
            skipped = "# SKIP" in rest
            results[name] = Result("skip" if skipped else "pass" if word == "ok" else "fail")
        # A failed assertion ends the process; the report does not say which test it was.
        match = re.search(r"^Bail out! ERROR:(.*?):(\d+):", run.out, re.M)
        if match and self.running:
            results[self.running] = Result("fail", None, place(*match.groups()))
        return results

    running = None

    def run_one(self, exe, name):
        self.running = name
        return super().run_one(exe, name)

    def assertion_ended(self, run, result):
        return result is not None and "Bail out! ERROR:" in run.out


class CppUTest(Framework):
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


class Functions(Framework):
    def arguments(self, exe, wanted, left_out):
        return wanted

    def read(self, run, cwd, exe):
        return {name: Result("pass") for name in re.findall(r"^(\w+)\.\.\. ok$", run.out, re.M)}


FRAMEWORKS = {"gtest": GoogleTest, "catch2": Catch2, "doctest": Doctest, "boost": Boost, "check": Check,
              "cmocka": Cmocka, "unity": Unity, "cunit": CUnit, "glib": GLib, "cpputest": CppUTest,
              "functions": Functions}


def framework(name):
    return FRAMEWORKS[name]()
