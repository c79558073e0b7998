"""What the harness has to know of Unity: see tests/harness/frameworks.py."""

import re

from parts import digest, make, run, source_files
from plain import Framework, Result, place


def unity(builder):
    source = fetch_unity(builder)
    return {"cflags": [f"-I{source}"], "sources": [source / "unity.c"]}


def unity_shared(builder):
    source = fetch_unity(builder)
    folder = builder.folder / "components/unity-shared"
    command = ["gcc", "-O2", "-fPIC", "-shared", "-s", "-Wl,-soname,libunity.so", str(source / "unity.c"), "-o"]
    make(folder / "libunity.so", digest(command, (source / "unity.c").read_bytes(), builder.version("gcc")),
         lambda out: run(command + [str(out)]))
    return {"cflags": [f"-I{source}"], "libs": [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lunity"]}


def fetch_unity(builder):
    """Unity has no package of its own; it comes inside the source package cjson."""
    return source_files(builder.folder, "cjson", "tests/unity/") / "tests/unity/src"


COMPONENTS = {"unity": unity, "unity-shared": unity_shared}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        return wanted

    def read(self, run, cwd, exe):
        outcomes = {"PASS": "pass", "FAIL": "fail", "IGNORE": "skip"}
        results = {}
        for file, line, name, word in re.findall(r"^(.*?):(\d+):(\w+):(PASS|FAIL|IGNORE)\b", run.out, re.M):
            results[name] = Result(outcomes[word], None, place(file, line) if word == "FAIL" else None)
        return results
