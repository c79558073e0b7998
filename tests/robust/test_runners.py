#!/usr/bin/env python3
"""Hand-written runners as compilers make them: a test that passes in the plain program passes under the tool.

usage: test_runners.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Runners.test_table.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import runner

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
BUILDS = [[compiler, level] for compiler in COMPILERS for level in LEVELS]
# Each with one compiler is enough: they change how functions are reached, not their bodies.
LINKED = [["gcc", "-O2", "-static"], ["gcc", "-O2", "-fno-pie", "-no-pie"],
          ["gcc", "-O2", "-fcf-protection=none", "-fomit-frame-pointer"],
          ["gcc", "-O1", "-fcf-protection=full", "-fno-omit-frame-pointer"],
          ["gcc", "-O2", "-ffunction-sections", "-fuse-ld=gold", "-Wl,--icf=all"],
          ["gcc", "-O2", "-flto"]]
SOURCES = {"MODIFIES": "modifies.c", "THROWS": "throws.cc", "HELPERS": "helpers.c"}
PLAIN = ["test_loop_first", "test_loop_long", "test_loop_asm", "test_ends_with_helper", "test_ends_with_next",
         "test_after_it", "test_ends_with_earlier", "test_uses_helper_often", "test_same_one", "test_same_two",
         "test_has_cold_part", "test_jumps_by_table", "test_jumps_inside", "test_uses_stack"]
STRAIGHT = [*PLAIN, "test_recurses", "test_tail_recurses", "test_ping", "test_comes_last"]


def build(kind, flags):
    """The runner of this kind; None where the linker that is asked for is not installed."""
    path = os.path.join(FOLDER, "-".join([kind.lower(), *flags]).replace(",", "_"))
    source = os.path.join(HERE, SOURCES.get(kind, "runners.c"))
    if not os.path.exists(path):
        made = subprocess.run([*flags, "-g", "-w", f"-DRUNNER={kind}", "-o", path, source],
                              stderr=subprocess.PIPE, text=True, check=False)
        if made.returncode:
            return None
    return path


class Runners(unittest.TestCase):
    maxDiff = None

    def outcomes(self, program, *args):
        """(test, outcome) in the order they ran."""
        run = subprocess.run([POLYGRAPH, "run", "--format", "json", "--timeout", "20s", *args, program], cwd=FOLDER,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=300)
        self.assertIn(run.returncode, (0, 3), run.stderr)
        return [(test["name"], test["outcome"]) for test in json.loads(run.stdout)["tests"]]

    def check(self, kind, wanted, status, *args, builds=None):
        """The plain program ends with @status; @wanted is what each of its tests comes to."""
        tried = 0
        for flags in builds or BUILDS:
            with self.subTest(build=" ".join(flags)):
                program = build(kind, flags)
                if not program:
                    self.assertIn(flags, LINKED, "it is not built")
                    continue
                tried += 1
                if status is not None:
                    plain = subprocess.run([program], cwd=FOLDER, check=False)
                    self.assertEqual(plain.returncode, status)
                self.assertEqual(self.folded(self.outcomes(program, *args)), self.folded(wanted))
        self.assertGreater(tried, 0)

    @staticmethod
    def folded(outcomes):
        """Equal functions may have become one: then the second is the first, called again."""
        names = {"test_same_one": "test_same", "test_same_two": "test_same", "test_same_one#2": "test_same",
                 "test_same_two#2": "test_same"}
        return [(names.get(name, name), outcome) for name, outcome in outcomes]

    def test_straight(self):
        """Calls one after another."""
        self.check("STRAIGHT", [(name, "pass") for name in STRAIGHT], 0)

    def test_last_is_tail_call(self):
        """main() itself ends with a jump to the last test."""
        self.check("LAST", [(name, "pass") for name in STRAIGHT], 0)

    def test_table(self):
        """A loop: every test is called from the same place, with the same stack."""
        self.check("TABLE", [(name, "pass") for name in PLAIN], 0, builds=BUILDS + LINKED)

    def test_table_reversed(self):
        """At the place of the first call."""
        self.check("TABLE", [(name, "pass") for name in reversed(PLAIN)], 0, "--reverse")

    def test_wrapper(self):
        """A function that only jumps to the test it is given."""
        self.check("WRAPPER", [(name, "pass") for name in PLAIN], 0)

    def test_left(self):
        """The twins: a test that is left by longjmp failed, also if the next call is of the same function."""
        wanted = [("test_leaves", "fail"), ("test_leaves#2", "fail"), ("test_leaves_if", "fail"),
                  ("test_leaves_if#2", "pass"), ("test_leaves_if#3", "fail"), ("test_leaves_deep", "fail"),
                  ("test_returns", "pass"), ("test_loop_first", "pass")]
        self.check("LEFT", wanted, 1)

    def test_thrown(self):
        """A test that an exception leaves failed; one that catches its own did not."""
        wanted = [("test_throws", "fail"), ("test_throws#2", "fail"), ("test_catches", "pass"),
                  ("test_throws_deep", "fail"), ("test_returns", "pass")]
        self.check("THROWS", wanted, 3, builds=[[c.replace("gcc", "g++").replace("clang", "clang++"), l]
                                                for c in COMPILERS for l in ("-O0", "-O2")])

    def test_modifies_code(self):
        """Tests that write into their own code, into that of others, and make some."""
        names = ["test_patches_operand", "test_replaces_function", "test_replaces_function_later", "test_changes_next",
                 "test_replaces_itself_next", "test_patches_body", "test_copies_function", "test_makes_code",
                 "test_called_by_made_code", "test_called_by_made_code#2", "test_called_by_made_code#3"]
        self.check("MODIFIES", [(name, "pass") for name in names], 0)
        # Each by itself, and with memory and files watched: the same verdicts.
        program = build("MODIFIES", [COMPILERS[0], "-O2"])
        self.assertEqual(sorted(self.outcomes(program, "--alone")), sorted((name, "pass") for name in names))
        for command in ("pollution", "order"):
            run = subprocess.run([POLYGRAPH, command, "--format", "json", program], cwd=FOLDER, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, check=False, timeout=300)
            self.assertIn(run.returncode, (0, 1), run.stderr)
            tests = json.loads(run.stdout)["tests"]
            self.assertEqual([(test["name"], test["outcome"]) for test in tests], [(name, "pass") for name in names])

    def test_hangs(self):
        """The twins: what never ends is a time-out, and costs only its own test."""
        wanted = [("test_loop_first", "pass"), ("test_spins", "timeout"), ("test_after_it", "pass"),
                  ("test_spins_on_variable", "timeout"), ("test_has_cold_part", "pass")]
        self.check("HANGS", wanted, None, "--timeout", "1s", builds=[[c, l] for c in COMPILERS for l in ("-O0", "-O2")])

    def test_results(self):
        """Of a result as many bits count as its type has."""
        wanted = [("test_short_result", "pass"), ("test_short_result_fails", "fail"), ("test_char_result", "pass"),
                  ("test_long_result", "pass"), ("test_long_result_fails", "fail"), ("test_bool_result", "pass")]
        self.check("RESULTS", wanted, 2)

    def test_exits(self):
        """The last test may end the program itself, with 0."""
        wanted = [("test_loop_first", "pass"), ("test_after_it", "pass"), ("test_leaves_the_program", "pass")]
        self.check("EXITS", wanted, 0)

    def test_pairs(self):
        """A struct of a message and a number: the number tells, also where tests are skipped or run in other places."""
        wanted = [("test_pair_passes", "pass"), ("test_pair_fails", "fail"), ("test_pair_too", "pass")]
        self.check("PAIRS", wanted, 1)
        self.check("PAIRS", wanted, 1, "--alone")
        self.check("PAIRS", list(reversed(wanted)), 1, "--reverse")

    def test_needed_between(self):
        """A program that crashes if its tests are skipped: all are listed, and only the test that crashes is blamed."""
        names = ["test_loop_first", "test_makes_it", "test_after_it", "test_uses_it"]
        builds = [[c, l] for c in COMPILERS for l in ("-O0", "-O2")]
        self.check("NEEDS", [(name, "pass") for name in names], 0, builds=builds)
        alone = [(name, "crash" if name == "test_uses_it" else "pass") for name in names]
        self.check("NEEDS", alone, 0, "--alone", builds=builds)
        self.check("NEEDS", list(reversed(alone)), 0, "--reverse", builds=builds)

    def test_helpers(self):
        """Values in, a text out: that is no test, unless it is given by its name."""
        wanted = [(name, "pass") for name in ("test_returns_message", "test_at_place", "test_prints")]
        builds = [[c, l] for c in COMPILERS for l in ("-O0", "-O2")]
        self.check("HELPERS", wanted, 0, builds=builds)
        run = subprocess.run([POLYGRAPH, "list", "--format=json", "--test-functions=test_status_string",
                              build("HELPERS", builds[0])], cwd=FOLDER, stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn("test_status_string", run.stdout)

    def test_shapes(self):
        """What is looked for is really there: at -O2 jumps lead to the functions' first instructions."""
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", build("TABLE", [COMPILERS[0], "-O2"])],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        for name in ("test_loop_asm", "test_loop_first"):
            body = code.split(f"<{name}>:\n", 1)[1].split("\n\n", 1)[0]
            self.assertRegex(body, rf"\tj\w+ +[0-9a-f]+ <{name}>\n?")


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if COMPILERS else "no compiler"


if __name__ == "__main__":
    sys.exit(runner.main("runners", prepare))
