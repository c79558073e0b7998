"""What the harness has to know of Unity: see tests/harness/frameworks.py."""

import pathlib
import re
import tarfile
import tempfile

from parts import Unavailable, digest, fetch_source, make, run
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
    target = builder.folder / "components/unity"
    if not (target / "src/unity.c").exists():
        with tempfile.TemporaryDirectory() as temporary:
            for archive in fetch_source("cjson", pathlib.Path(temporary)):
                if ".orig.tar" not in archive.name:
                    continue
                target.mkdir(parents=True, exist_ok=True)
                with tarfile.open(archive) as tar:
                    for member in tar:
                        _, inside, rest = member.name.partition("/tests/unity/")
                        if inside and rest.startswith(("src/", "examples/unity_config.h")) and member.isfile():
                            (target / rest).parent.mkdir(parents=True, exist_ok=True)
                            (target / rest).write_bytes(tar.extractfile(member).read())
        if not (target / "src/unity.c").exists():
            raise Unavailable("the source package cjson holds no tests/unity/src/unity.c")
    return target / "src"


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
