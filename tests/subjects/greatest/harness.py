"""What the harness has to know of greatest: see tests/harness/frameworks.py."""

import re

from parts import source_files
from plain import Framework, Result, place


def greatest(builder, package, path, release=None):
    """It has no package of its own; it comes inside other source packages."""
    source = source_files(builder.folder, package, path, release=release)
    return {"cflags": [f"-I{(source / path).parent}", "-w"]}


COMPONENTS = {
    "greatest-1.3": lambda builder: greatest(builder, "fzy", "deps/greatest/greatest.h"),
    "greatest-1.4": lambda builder: greatest(builder, "linuxcnc", "unit_tests/greatest.h"),
    "greatest-1.5": lambda builder: greatest(builder, "dunst", "test/greatest.h", release="trixie"),
}


class Plain(Framework):
    one_by_one = False      # its filters take a part of a name

    def arguments(self, exe, wanted, left_out):
        return ["-v", "-x", "by_"]      # all tests that do not come back, and no others

    def read(self, run, cwd, exe):
        results, suite = {}, None
        for line in run.out.splitlines():
            begin = re.match(r"\* Suite (\w+):", line)
            end = re.match(r"(PASS|FAIL|SKIP) (\w+): .*?(?: \((\S+):(\d+)\))?( \(\d+ ticks.*)?$", line)
            # The copy in linuxcnc prints a failure as a compiler would.
            other = re.match(r"(\S+):(\d+): error: test (\w+) failed: ", line)
            if begin:
                suite = begin[1]
            elif re.match(r"\d+ tests? - ", line):
                suite = None
            elif end:
                self.add(results, suite, end[2], Result(end[1].lower(), None, place(end[3], end[4])))
            elif other:
                self.add(results, suite, other[3], Result("fail", None, place(other[1], other[2])))
        return results

    def add(self, results, suite, name, result):
        name = f"{suite}/{name}" if suite else name
        before = sum(other.partition("#")[0] == name for other in results)
        results[f"{name}#{before + 1}" if before else name] = result


def groups(name):
    return name.split("/")[:-1]
