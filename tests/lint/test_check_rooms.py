#!/usr/bin/env python3
"""Checks check_rooms.py itself, on small trees made for it: what it must report, and what it must not."""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "check_rooms.py"
RULES = "low:\nmiddle: low\nhigh: low middle\nagent: \n"
FILES = {
    "low/low.h": "int low_value(void);\n",
    "low/low.c": '#include "low/low.h"\nint low_value(void) { return 1; }\n',
    "middle/middle.h": "int middle_value(void);\n",
    "middle/middle.c": '#include "low/low.h"\n#include "middle/middle.h"\n'
                       "int middle_value(void) { return low_value(); }\n",
    "high/high.c": '#include "low/low.h"\n#include "middle/middle.h"\nint high_value(void);\n'
                   "int high_value(void) { return low_value() + middle_value(); }\n",
    "agent/agent.c": "int agent_value(void);\nint agent_value(void) { return 1; }\n",
}


class Rooms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        for name, text in FILES.items():
            self.write(f"src/{name}", text)
        self.write_rules(RULES)

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_rules(self, rules, table=None):
        rooms = table or [line.split(":")[0] for line in rules.splitlines()]
        self.write("docs/rooms.txt", rules)
        self.write("docs/architecture.md", "".join(f"| `{room}` | what it holds | |\n" for room in rooms))

    def compile(self):
        """The objects where Meson would put them."""
        for path in sorted((self.top / "src").rglob("*.c")):
            room, name = path.relative_to(self.top / "src").parts
            folders = [("src/libpolygraph.a.p", "")]
            if room == "agent":
                folders = [("libpolygraph-agent.so.p", "src_"), ("libpolygraph-choices.so.p", "src_")]
            for folder, prefix in folders:
                out = self.top / "build" / folder / f"{prefix}{room}_{name}.o"
                out.parent.mkdir(parents=True, exist_ok=True)
                subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-I", self.top / "src", "-c", path, "-o", out], check=True)

    def problems(self, build=True):
        if build:
            self.compile()
        command = [sys.executable, CHECK, self.top] + (["--build", self.top / "build"] if build else [])
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        *found, _ = run.stdout.splitlines()
        self.assertEqual(run.returncode, int(bool(found)))
        return found

    def test_nothing_wrong(self):
        self.assertEqual(self.problems(), [])

    def test_include_upwards(self):
        self.write("src/low/low.c", '#include "low/low.h"\n#include "middle/middle.h"\nint low_value(void) { return 1; }\n')
        expected = ["src/low/low.c:2: low may not include middle (docs/rooms.txt)"]
        self.assertEqual(self.problems(build=False), expected)

    def test_internal_header(self):
        self.write("src/low/low_internal.h", "")
        self.write("src/high/more.c", '#include "low/low_internal.h"\n')
        self.assertEqual(self.problems(), ["src/high/more.c:1: low/low_internal.h is for low alone"])

    def test_symbol_upwards(self):
        """Declared by hand: no include shows it."""
        self.write("src/low/low.c", "int middle_value(void);\nint low_value(void);\n"
                                    "int low_value(void) { return middle_value(); }\n")
        expected = ["src/low/low.c: low may not use middle_value, which is of middle (docs/rooms.txt)"]
        self.assertEqual(self.problems(build=False), [])
        self.assertEqual(self.problems(), expected)

    def test_variable_upwards(self):
        self.write("src/middle/middle.c", FILES["middle/middle.c"] + "int middle_table[3] = { 1 };\n")
        self.write("src/low/low.c", "extern int middle_table[];\nint low_value(void);\n"
                                    "int low_value(void) { return middle_table[1]; }\n")
        expected = ["src/low/low.c: low may not use middle_table, which is of middle (docs/rooms.txt)"]
        self.assertEqual(self.problems(), expected)

    def test_symbol_sideways(self):
        """The libraries are linked apart from the program: there the same name is another function."""
        self.write("src/agent/agent.c", FILES["agent/agent.c"] + "int low_value(void);\n"
                                        "int agent_more(void);\nint agent_more(void) { return low_value(); }\n")
        self.assertEqual(self.problems(), [])

    def test_unused_permission(self):
        self.write("src/high/high.c", '#include "middle/middle.h"\nint high_value(void);\n'
                                      "int high_value(void) { return middle_value(); }\n")
        self.assertEqual(self.problems(), ["docs/rooms.txt: high may use low, but does not"])

    def test_permission_used_by_symbol_alone(self):
        self.write("src/high/high.c", '#include "middle/middle.h"\nint low_value(void);\nint high_value(void);\n'
                                      "int high_value(void) { return low_value() + middle_value(); }\n")
        self.assertEqual(self.problems(), [])

    def test_circle(self):
        self.write_rules(RULES.replace("low:\n", "low: high\n"))
        self.assertEqual(self.problems(build=False), ["docs/rooms.txt: low may use high, which is not listed before it"])

    def test_room_without_folder(self):
        self.write_rules(RULES + "attic: low\n")
        self.assertEqual(self.problems(build=False), ["docs/rooms.txt and src/ differ: attic"])

    def test_table_lacks_a_room(self):
        self.write_rules(RULES, ["low", "high", "agent"])
        expected = ["docs/rooms.txt and the table of docs/architecture.md differ: middle"]
        self.assertEqual(self.problems(build=False), expected)

    def test_table_has_a_room_twice(self):
        self.write_rules(RULES, ["low", "middle", "high", "agent", "low"])
        self.assertEqual(self.problems(build=False), ["docs/architecture.md: its table has low twice"])

    def test_no_objects(self):
        """A build that is not there is not a build without mistakes."""
        (self.top / "build").mkdir()
        run = subprocess.run([sys.executable, CHECK, "--build", self.top / "build", self.top], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("no objects in", run.stdout)


if __name__ == "__main__":
    unittest.main()
