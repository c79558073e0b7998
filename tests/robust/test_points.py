#!/usr/bin/env python3
"""Where the tool stops between set-up, body and tear-down of tests, in every framework that has them.

usage: test_points.py --polygraph PATH [-v] [TEST…]

The programs, tests/subjects/NAME/points.*, say what they do in the file in which the tool says where it stops; while
one writes the other waits, so the lines are in their true sequence. How a program is built and what is expected is a
directive in its source:

    //@ points VARIANT count=TESTS [flags=…] [pkg=…] [uses=…] [builds=gcc-O2,…] [folded=yes] [without=TEST]

uses= names a component of the framework (harness/frameworks.py); folded=yes: also with equal functions folded into
one; without=TEST: of this one the points are not known.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import runner

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "harness"))
import build  # noqa: E402 (it lies in another folder)
import frameworks  # noqa: E402
import parts  # noqa: E402
import subject  # noqa: E402

POLYGRAPH = None
FOLDER = None
BUILDS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2")]
FOLDED = [("gcc", "-O2 -ffunction-sections -fuse-ld=gold -Wl,--icf=all")]


def points_of(name):
    """What is expected of a test, by its name."""
    setup = not re.search(r"(?i)plain|teardown_only", name)
    teardown = not re.search(r"(?i)plain|setup_only", name)
    return (["point before-setup"] + ["note setup"] * setup + ["point after-setup", "note body",
            "point before-teardown"] + ["note teardown"] * teardown + ["point after-teardown"])


class Points(unittest.TestCase):
    maxDiff = None

    def compile(self, name, source, compiler, flags, more):
        cc, cxx = build.COMPILERS[compiler]
        if not shutil.which(cc):
            self.skipTest(f"there is no {cc}")
        path = os.path.join(FOLDER, name)
        command = [cxx if source.suffix == ".cc" else cc, "-g", *flags.split(), "-w", f"-I{HERE}", "-o", path,
                   str(source), *more]
        subprocess.run(command, check=True)
        return path

    def trace(self, program, *options):
        """Tests, in their sequence, each with what happened in it; None: outside of them."""
        with tempfile.NamedTemporaryFile(dir=FOLDER) as file:
            environment = {**os.environ, "POINTS_FILE": file.name, "POLYGRAPH_LOG": "native",
                           "POLYGRAPH_FAULT_POINTS": "1"}
            with open(file.name, "ab") as log:
                done = subprocess.run([POLYGRAPH, "run", *options, program], env=environment, stderr=log,
                                      stdout=subprocess.PIPE, timeout=120, check=False)
            text = file.read().decode()
        self.assertEqual(done.returncode, 3, done.stdout.decode() + text)
        # Before the order that was asked for, others show what the program does between its tests.
        text = text.rpartition("[native] the order ")[2]
        tests, current = [], None
        for line in text.splitlines():
            point = re.search(r"(point [a-z-]+) (.*)", line)
            if point and point[1] == "point before-setup":
                current = (point[2], [])
                tests.append(current)
            if point:
                self.assertIsNotNone(current, text)
                self.assertEqual(point[2], current[0], text)
                current[1].append(point[1])
                if point[1] == "point after-teardown":
                    current = None
            elif line.startswith("note "):
                self.assertIsNotNone(current, "outside of a test:\n" + text)
                current[1].append(line)
        return tests

    def flags(self, name, options):
        """What the program is compiled with besides, by the directive."""
        builder = build.Builder(pathlib.Path(POLYGRAPH).parent)
        flags = shlex.split(options.get("flags", ""))
        try:
            if "pkg" in options:
                flags += builder.pkg_config("--cflags", options["pkg"]) + builder.pkg_config("--libs", options["pkg"])
            if "uses" in options:
                component = builder.component(name, options["uses"])
                flags += [*component.get("cflags", []), *map(str, component.get("sources", [])),
                          *component.get("libs", [])]
        except parts.Unavailable as reason:
            self.skipTest(str(reason))
        return flags

    def check(self, name, source, options):
        more = self.flags(name, options)
        builds = BUILDS + (FOLDED if "folded" in options else [])
        for compiler, flags in builds:
            if "builds" in options and f"{compiler}{flags}" not in options["builds"].split(","):
                continue
            program = self.compile(name, source, compiler, flags, more)
            for order in ([], ["--reverse"]):
                with self.subTest(compiler=compiler, flags=flags, order=order):
                    tests = self.trace(program, *order)
                    self.assertEqual(len(tests), int(options["count"]))
                    for test, seen in tests:
                        if test == options.get("without"):
                            continue
                        self.assertEqual(seen, points_of(test), test)


def add_program(name, source, directive):
    setattr(Points, f"test_{name}_{directive.args[0]}", lambda self: self.check(name, source, directive.options))


for framework in frameworks.names():
    program = frameworks.extra(framework, "points")
    for points in subject.parse_file(program) if program else ():
        add_program(framework, program, points)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder


if __name__ == "__main__":
    sys.exit(runner.main("points", prepare))
