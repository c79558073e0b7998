"""What the harness has to know of GoogleTest: see tests/harness/frameworks.py."""

import json
import pathlib

from parts import Unavailable, digest, make, run
from plain import Framework, Result, first_place, place, read_file


def gtest_shared(builder):
    """GoogleTest as a stripped shared library, from the sources that the distribution installs."""
    source = pathlib.Path("/usr/src/googletest/googletest")
    if not (source / "src/gtest-all.cc").exists():
        raise Unavailable("the sources of GoogleTest are not installed (Debian: googletest)")
    folder = builder.folder / "components/gtest-shared"
    key = digest((source / "src/gtest.cc").read_bytes(), builder.version("g++"))
    base = ["g++", "-std=c++17", "-O2", "-fPIC", "-pthread", "-shared", "-s", f"-I{source}", f"-I{source}/include"]
    make(folder / "libgtest.so", key,
         lambda out: run(base + ["-Wl,-soname,libgtest.so", str(source / "src/gtest-all.cc"), "-o", str(out)]))
    make(folder / "libgtest_main.so", key,
         lambda out: run(base + ["-Wl,-soname,libgtest_main.so", str(source / "src/gtest_main.cc"),
                                 f"-L{folder}", "-lgtest", "-o", str(out)]))
    return {"cflags": [f"-I{source}/include", "-DGTEST_LINKED_AS_SHARED_LIBRARY=1"],
            "libs": [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lgtest_main", "-lgtest", "-pthread"]}


COMPONENTS = {"gtest-shared": gtest_shared}


class Plain(Framework):
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


def groups(name):
    return [name.rsplit(".", 1)[0]]
