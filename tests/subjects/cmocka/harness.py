"""What the harness has to know of cmocka: see tests/harness/frameworks.py."""

import os
import re

from parts import digest, make, run, source_files
from plain import Framework, Result, parse_xml, place


def cmocka_new(builder):
    """2.0 or later, from the sources of Debian's next release."""
    source = source_files(builder.folder, "cmocka", "src/", "include/", release="sid")
    folder = builder.folder / "components/cmocka-new"
    command = ["gcc", "-O2", "-g", "-fPIC", "-shared", "-w", "-D_GNU_SOURCE", "-Wl,-soname,libcmocka.so",
               *(f"-DHAVE_{what}=1" for what in HAVE), f"-I{source}/include", str(source / "src/cmocka.c"), "-o"]
    make(folder / "libcmocka.so", digest(command, (source / "src/cmocka.c").read_bytes(), builder.version("gcc")),
         lambda out: run(command + [str(out)]))
    return {"cflags": [f"-I{source}/include"], "libs": [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lcmocka"]}


# What its own build finds out.
HAVE = ("SETJMP_H", "SIGNAL_H", "STRSIGNAL", "INTTYPES_H", "STDINT_H", "MALLOC_H", "GCC_THREAD_LOCAL_STORAGE",
        "STRUCT_TIMESPEC", "CLOCK_REALTIME", "CLOCK_GETTIME")
COMPONENTS = {"cmocka-new": cmocka_new}


class Plain(Framework):
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


def groups(name):
    return name.split("/")[:1]
