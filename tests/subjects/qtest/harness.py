"""What the harness has to know of Qt Test: see tests/harness/frameworks.py."""

import pathlib
import re

from parts import Unavailable, digest, make, run
from plain import Framework, Result, place

SUBJECTS = pathlib.Path(__file__).resolve().parent.parent
MOC = {5: "/usr/lib/qt5/bin/moc", 6: "/usr/lib/qt6/libexec/moc"}


def qt(version):
    """Qt as Debian has it: shared and stripped. Qt's own compiler makes FILE.moc of each subject."""
    def component(builder):
        moc = pathlib.Path(MOC[version])
        if not moc.exists():
            raise Unavailable(f"{moc} is not installed")
        package = f"Qt{version}Test"
        cflags = builder.pkg_config("--cflags", package)
        folder = builder.folder / f"components/qt{version}"
        for source in [*SUBJECTS.glob("qtest/*.cc"), *SUBJECTS.glob("*/qtest_*/*.cc")]:
            make(folder / f"{source.stem}.moc", digest(run([moc, "--version"]), source.read_bytes()),
                 lambda out, source=source: run([moc, source, "-o", out]))
        return {"cflags": [*cflags, "-fPIC", f"-I{folder}"], "libs": builder.pkg_config("--libs", package)}
    return component


COMPONENTS = {"qt5": qt(5), "qt6": qt(6)}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        """function:tag"""
        return [re.sub(r"^.*::(\w+)\((.*)\)$", lambda m: f"{m[1]}:{m[2]}" if m[2] else m[1], name) for name in wanted]

    def read(self, run, cwd, exe):
        words = {"PASS": "pass", "FAIL!": "fail", "XPASS": "fail", "SKIP": "skip", "BFAIL": "skip"}
        results = {}
        for word, name, rest in re.findall(r"^(\w+!?) *: (\w+::\w+\([^)\n]*\))(.*(?:\n  .*)*)", run.out, re.M):
            if word not in words or re.search(r"::(initTestCase|cleanupTestCase)\(", name) or name in results:
                continue
            # Of what ends the process, it gives a line of its own or, since Qt 6, that of the message.
            ended = "Caught unhandled exception" in rest or "Received a fatal error." in rest
            where = re.search(r"Loc: \[(.*)\((\d+)\)\]", rest) if words[word] == "fail" and not ended else None
            results[name] = Result(words[word], None, place(*where.groups()) if where else None)
        return results

    def assertion_ended(self, run, result):
        """Qt Test calls these failures, and then the process ends."""
        return result is not None and ("Caught unhandled exception" in run.out or "Received a fatal error." in run.out
                                       and "Received signal" not in run.out)
