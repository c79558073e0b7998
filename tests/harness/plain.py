"""What the frameworks themselves say: runs a subject's executable without polygraph and reads its own report.

    run_all(exe)        every test that a plain run survives, in one process, in the natural order
    run_one(exe, name)  one test in a process of its own; None where the framework cannot do that

Both give {name: Result}. How to ask a framework is in the class Plain of its subject: see frameworks.py.
"""

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
