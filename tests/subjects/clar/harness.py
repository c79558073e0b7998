"""What the harness has to know of clar: see tests/harness/frameworks.py."""

import pathlib
import re
import shutil
import sys

from parts import digest, make, run, source_files
from plain import Framework, Result, place

FOLDER = pathlib.Path(__file__).resolve().parent


def generated(builder, source, program, suites):
    """clar.suite, which clar's own script writes: it takes the name of a suite from the name of a file."""
    folder = builder.folder / "components/clar" / digest(source, program, suites)

    def generate(fresh):
        work = fresh.with_name(fresh.name + ".d")
        for suite in suites:
            (work / suite).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(program, work / f"{suite}.c")
        run([sys.executable, source / "generate.py", "-x", "excluded", work])
        shutil.move(work / "clar.suite", fresh)
        shutil.rmtree(work)

    make(folder / "clar.suite", digest(program.read_bytes(), (source / "generate.py").read_bytes()), generate)
    return folder


def clar(builder, source, program):
    suites = sorted(set(re.findall(r"^void test_(\w+?)__", program.read_text(), re.M)))
    folder = generated(builder, source, program, suites)
    return {"cflags": [f"-I{source}", f"-I{folder}", '-DCLAR_FIXTURE_PATH="."'], "sources": [source / "clar.c"]}


def clar_2020(builder, program):
    return clar(builder, source_files(builder.folder, "libgit2", "tests/clar/") / "tests/clar", program)


def clar_2024(builder, program):
    source = source_files(builder.folder, "git", "t/unit-tests/clar/", release="trixie")
    return clar(builder, source / "t/unit-tests/clar", program)


COMPONENTS = {
    "clar-2020": lambda builder: clar_2020(builder, FOLDER / "clar_subject.c"),
    "clar-2024": lambda builder: clar_2024(builder, FOLDER / "clar_subject.c"),
    "points-2020": lambda builder: clar_2020(builder, FOLDER / "points.c"),
    "points-2024": lambda builder: clar_2024(builder, FOLDER / "points.c"),
}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        return ["-t", *[f"-s{name}$" for name in wanted]]

    def environment(self):
        return {"CLAR_TMP": "."}    # a test that does not come back leaves its folder

    def read(self, run, cwd, exe):
        results = {}
        for part in re.split(r"^(?=ok |not ok )", run.out, flags=re.M):
            match = re.match(r"(ok|not ok) \d+ - (# SKIP )?(.*)", part)
            if not match:
                continue
            word, skipped, name = match.groups()
            failed = re.search(r"^ +file: '(.*)'\n +line: (\d+)", part, re.M)
            outcome = "skip" if skipped else "pass" if word == "ok" else "fail"
            results[name] = Result(outcome, None, place(*failed.groups()) if failed else None)
        return results
