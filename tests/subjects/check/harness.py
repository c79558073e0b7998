"""What the harness has to know of Check: see tests/harness/frameworks.py."""

import os

from parts import BuildError, Unavailable, digest, make, run
from plain import Framework, PATIENCE, Result, parse_xml, place, read_file


def check_shared(builder):
    """Check as a stripped shared library: Debian has the position-independent archive only."""
    folder = builder.folder / "components/check-shared"
    command = ["gcc", "-shared", "-s", "-Wl,-soname,libcheck.so", "-Wl,--whole-archive", "-lcheck_pic",
               "-Wl,--no-whole-archive", "-lsubunit", "-lrt", "-lm", "-pthread", "-o"]
    try:
        make(folder / "libcheck.so", digest(command, builder.version("gcc")), lambda out: run(command + [str(out)]))
    except BuildError as error:
        if "cannot find -lcheck_pic" in str(error):
            raise Unavailable("libcheck_pic.a is not installed (Debian: check)") from error
        raise
    return {"libs": [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lcheck", "-pthread"]}


COMPONENTS = {"check-shared": check_shared}


class Plain(Framework):
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


def groups(name):
    return ["runner", *name.split("/")[:2]]
