"""What a test executable says about itself: names and outcomes from each framework's own machine-readable output.

To add a framework: a function that reads its output into a list of (name, outcome), and one entry in FRAMEWORKS saying
how that output is asked for. Names and outcomes are those of docs/contract.md. `disabled` is ours alone: a test that
the framework lists but by default does not run, so that a comparison may accept its absence.
"""

import json
import re
import xml.etree.ElementTree as xml
from collections import namedtuple

# ask(folder) gives (arguments, environment) that make the program leave a report in `folder`;
# read(folder, output) gives the tests, `output` being the program's standard output.
Framework = namedtuple("Framework", "ask read")


class ReportError(Exception):
    pass


def _xml(path):
    try:
        return xml.parse(path).getroot()
    except (OSError, xml.ParseError) as error:
        raise ReportError(f"no usable report at {path}: {error}") from error


def _gtest(folder, _output):
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError) as error:
        raise ReportError(f"no usable report in {folder}: {error}") from error
    tests = []
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            if test["status"] != "RUN":
                outcome = "disabled"
            elif test["result"] == "SKIPPED":
                outcome = "skip"
            else:
                outcome = "fail" if test.get("failures") else "pass"
            tests.append((f"{suite['name']}.{test['name']}", outcome))
    return tests


def _catch2(folder, _output):
    tests = []
    for case in _xml(folder / "report.xml").iter("TestCase"):
        result = case.find("OverallResult")
        if result is None:
            raise ReportError(f"test case '{case.get('name')}' has no result")
        outcome = "pass" if result.get("success") == "true" else "fail"
        if outcome == "pass" and int(result.get("skips", "0")) > 0:
            outcome = "skip"
        tests.append((case.get("name"), outcome))
    return tests


def _doctest(folder, _output):
    tests = []
    for case in _xml(folder / "report.xml").iter("TestCase"):
        result = case.find("OverallResultsAsserts")
        if case.get("skipped") == "true":
            outcome = "disabled"
        elif result is None:
            raise ReportError(f"test case '{case.get('name')}' has no result")
        else:
            outcome = "pass" if result.get("test_case_success") == "true" else "fail"
        tests.append((case.get("name"), outcome))
    return tests


def _boost(folder, _output):
    outcomes = {"passed": "pass", "failed": "fail", "aborted": "crash", "skipped": "skip"}
    tests = []

    def walk(suite, prefix):
        for unit in suite:
            if unit.tag == "TestSuite":
                walk(unit, prefix + unit.get("name") + "/")
            elif unit.tag == "TestCase":
                tests.append((prefix + unit.get("name"), outcomes[unit.get("result")]))

    for master in _xml(folder / "report.xml"):
        walk(master, "")
    return tests


def _check(folder, _output):
    outcomes = {"success": "pass", "failure": "fail", "error": "crash"}
    space = "{http://check.sourceforge.net/ns}"
    found = []
    for suite in _xml(folder / "report.xml").iter(space + "suite"):
        title = suite.findtext(space + "title")
        for test in suite.iter(space + "test"):
            name = "/".join((title, test.findtext(space + "description"), test.findtext(space + "id")))
            found.append((name, int(test.findtext(space + "iteration")), outcomes[test.get("result")]))
    # The report numbers every test; only loop tests have more than number 0.
    loops = {name for name, iteration, _ in found if iteration}
    return [(f"{name}:{iteration}" if name in loops else name, outcome) for name, iteration, outcome in found]


def _cmocka(folder, _output):
    tests = []
    for path in sorted(folder.glob("group-*.xml")):
        for group in _xml(path).iter("testsuite"):
            for case in group.iter("testcase"):
                outcome = ("fail" if case.find("failure") is not None or case.find("error") is not None
                           else "skip" if case.find("skipped") is not None else "pass")
                tests.append((f"{group.get('name')}/{case.get('name')}", outcome))
    return tests


def _cunit(_folder, output):
    tests = []
    suite = None
    # A test's own output may stand between its name and the verdict.
    for piece in re.split(r"(?m)^(?=Suite: |  Test: |Run Summary:)", output):
        if match := re.match(r"Suite: (.*)", piece):
            suite = match.group(1)
        elif match := re.match(r"  Test: (.*?) \.\.\.", piece):
            verdict = re.search(r"(passed|FAILED)", piece[match.end():])
            outcome = {"passed": "pass", "FAILED": "fail"}[verdict.group(1)] if verdict else "crash"
            tests.append((f"{suite}/{match.group(1)}", outcome))
    return tests


def _glib(_folder, output):
    tests = []
    for match in re.finditer(r"(?m)^(ok|not ok) \d+ (?:- )?(/\S*)(?: # (SKIP|TODO))?", output):
        outcome = "skip" if match.group(3) else "pass" if match.group(1) == "ok" else "fail"
        tests.append((match.group(2), outcome))
    return tests


def _cpputest(_folder, output):
    tests = []
    for match in re.finditer(r"(?ms)^(IGNORE_)?TEST\((\w+), (\w+)\)(.*?) - \d+ ms$", output):
        outcome = "skip" if match.group(1) else "fail" if "error: Failure in" in match.group(4) else "pass"
        tests.append((f"{match.group(2)}.{match.group(3)}", outcome))
    return tests


def _unity(_folder, output):
    outcomes = {"PASS": "pass", "FAIL": "fail", "IGNORE": "skip"}
    return [(match.group(1), outcomes[match.group(2)])
            for match in re.finditer(r"(?m)^.+?:\d+:(\w+):(PASS|FAIL|IGNORE)\b", output)]


def _ctest(folder, _output):
    tests = []
    for case in _xml(folder / "report.xml").iter("testcase"):
        status = case.get("status")
        outcome = {"run": "pass", "fail": "fail", "disabled": "disabled", "notrun": "skip"}.get(status, status)
        if case.find("skipped") is not None and outcome == "pass":
            outcome = "skip"
        tests.append((case.get("name"), outcome))
    return tests


def _meson(folder, _output):
    outcomes = {"OK": "pass", "EXPECTEDFAIL": "pass", "SKIP": "skip", "TIMEOUT": "timeout"}
    try:
        lines = (folder / "meson-logs/testlog.json").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ReportError(f"no Meson log: {error}") from error
    tests = []
    for line in lines:
        test = json.loads(line)
        # "suite / name" in the log; the name alone on Meson's command line.
        tests.append((test["name"].rsplit(" / ", 1)[-1], outcomes.get(test["result"], "fail")))
    return tests


def _clar(_folder, output):
    tests = []
    for match in re.finditer(r"(?m)^(ok|not ok) \d+ - (# SKIP )?(\S.*::\S+)$", output):
        outcome = "skip" if match.group(2) else "pass" if match.group(1) == "ok" else "fail"
        tests.append((match.group(3), outcome))
    return tests


def _tinytest(_folder, output):
    """`group/test: ` and the verdict, with whatever the test says in between."""
    outcomes = {"OK": "pass", "SKIPPED": "skip", "DISABLED": "disabled", "FAILED": "fail"}
    tests = []
    for piece in re.split(r"(?m)^(?=[\w-]+/[\w./+-]+: )", output)[1:]:
        name = re.match(r"(\S+): ", piece).group(1)
        verdict = re.search(r"\b(OK|SKIPPED|DISABLED|FAILED)\b", piece[len(name):])
        tests.append((name, outcomes[verdict.group(1)] if verdict else "crash"))
    return list(dict(tests).items())  # one that is tried again counts as the last time


def numbered(tests):
    """Names that come again get a number, as in polygraph's reports."""
    seen = {}
    result = []
    for name, outcome in tests:
        seen[name] = seen.get(name, 0) + 1
        result.append((f"{name}#{seen[name]}" if seen[name] > 1 else name, outcome))
    return result


def _qtest(folder, _output):
    # An expected failure (xfail) is followed by the verdict.
    outcomes = {"pass": "pass", "fail": "fail", "skip": "skip", "xpass": "fail", "bpass": "pass", "bfail": "pass"}
    tests = []
    report = _xml(folder / "report.xml")
    for function in report.iter("TestFunction"):
        if function.get("name") in ("initTestCase", "cleanupTestCase"):
            continue
        for incident in function.findall("Incident"):
            if incident.get("type") == "xfail":
                continue
            tag = incident.findtext("DataTag")
            name = f"{report.get('name')}::{function.get('name')}({tag or ''})"
            tests.append((name, outcomes[incident.get("type")]))
        for message in function.findall("Message[@type='skip']"):
            name = f"{report.get('name')}::{function.get('name')}({message.findtext('DataTag') or ''})"
            tests.append((name, "skip"))
    return numbered(tests)


def _criterion(folder, _output):
    tests = []
    for suite in _xml(folder / "report.xml").iter("testsuite"):
        for case in suite.iter("testcase"):
            outcome = ("crash" if case.find("error") is not None else "fail" if case.find("failure") is not None else
                       "skip" if case.find("skipped") is not None else "pass")
            tests.append((f"{suite.get('name')}::{case.get('name')}", outcome))
    return numbered(tests)


def functions(pattern, outcomes, name=str):
    """A hand-written runner: `pattern` finds (name, verdict) in its output; `name` maps its name to the function's."""
    def read(_folder, output):
        return [(name(match.group("name")), outcomes[match.group("verdict")])
                for match in re.finditer(pattern, output)]
    return read


FRAMEWORKS = {
    "gtest": Framework(lambda folder: ([f"--gtest_output=json:{folder}/report.json"], {}), _gtest),
    "catch2": Framework(lambda folder: (["-r", "xml", "-o", f"{folder}/report.xml"], {}), _catch2),
    "doctest": Framework(lambda folder: (["-r=xml", f"-o={folder}/report.xml"], {}), _doctest),
    "boost": Framework(lambda folder: (["--report_level=detailed", "--report_format=XML",
                                        f"--report_sink={folder}/report.xml"], {}), _boost),
    "check": Framework(lambda folder: ([], {"CK_XML_LOG_FILE_NAME": f"{folder}/report.xml"}), _check),
    "cmocka": Framework(lambda folder: ([], {"CMOCKA_MESSAGE_OUTPUT": "XML",
                                             "CMOCKA_XML_FILE": f"{folder}/group-%g.xml"}), _cmocka),
    "cunit": Framework(lambda folder: ([], {}), _cunit),
    "glib": Framework(lambda folder: (["--tap", "-k"], {}), _glib),
    "cpputest": Framework(lambda folder: (["-v"], {}), _cpputest),
    "unity": Framework(lambda folder: ([], {}), _unity),
    "clar": Framework(lambda folder: (["-t"], {}), _clar),
    "tinytest": Framework(lambda folder: ([], {}), _tinytest),
    "qtest": Framework(lambda folder: (["-o", f"{folder}/report.xml,xml"], {}), _qtest),
    "criterion": Framework(lambda folder: ([f"--xml={folder}/report.xml"], {}), _criterion),
    "functions": Framework(lambda folder: ([], {}), None),
    "ctest": Framework(None, _ctest),
    "meson": Framework(None, _meson),
}
