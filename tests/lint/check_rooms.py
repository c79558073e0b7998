#!/usr/bin/env python3
"""The architecture, enforced: what each room of src/ uses, and how long files and functions are.

Usage: check_rooms.py [--build FOLDER] [TOP]

 1. Every #include "room/file.h" in src/ is allowed by docs/rooms.txt, and every room there exists and is listed once.
 2. A header NAME_internal.h is included from its own room only.
 3. Dependencies go one way: a room may use only rooms that docs/rooms.txt lists before it.
 4. The table in docs/architecture.md names each room once.
 5. A file of more than 1,000 lines says why, in a comment that begins "Long because"; so does a function of more than
    100, in the comment above it.

With --build, which is a folder that Meson configured and that is up to date:

 6. A room refers only to symbols of rooms that it may use: a declaration can be written by hand, or stand in a header
    below the code that it declares.
 7. Every permission of docs/rooms.txt is used.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

FILE_LINES = 1000
FUNCTION_LINES = 100
ARGUED = re.compile(r"Long because", re.I)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# The first column of the table in docs/architecture.md.
ROW = re.compile(r"^\| `(\w+)` \|", re.M)
# What is linked together: the objects of the program, and those of each preloaded library.
PROGRAMS = (
    ("src/libpolygraph.a.p", "polygraph.p"),
    ("libpolygraph-agent.so.p",),
    ("libpolygraph-choices.so.p",),
    ("libpolygraph-jvm.so.p",),
)
# Built only where there is a JDK.
OPTIONAL = {"libpolygraph-jvm.so.p"}
# Meson names an object after the source: "watch_roots.c.o" in src/, "src_agent_malloc.c.o" at the top,
# "meson-generated_.._base_commit.c.o" if the build made it.
OBJECT = re.compile(r"^(?:src_|meson-generated_\.\._)?([a-z]+)_(.+)\.(?:c|cc)\.o$")


class Tree:
    """The rules and the sources below one folder, with what was found wrong with them."""

    def __init__(self, top):
        self.top = top
        self.source = top / "src"
        self.problems = []
        self.rules = self.read_rules()
        self.used = set()  # (room, room that it uses)

    def problem(self, text):
        self.problems.append(text)

    def read_rules(self):
        rules = {}
        for number, line in enumerate((self.top / "docs" / "rooms.txt").read_text().splitlines(), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            room, colon, allowed = line.partition(":")
            if not colon or room in rules:
                self.problem(f'docs/rooms.txt:{number}: not "room: rooms", or the room a second time')
            rules[room.strip()] = set(allowed.split())
        for room, allowed in rules.items():
            for other in sorted(allowed - set(rules)):
                self.problem(f"docs/rooms.txt: {room} may use {other}, which is not a room")
        return rules

    def check_rooms(self):
        rooms = {path.name for path in self.source.iterdir() if path.is_dir()}
        for room in sorted(rooms ^ set(self.rules)):
            self.problem(f"docs/rooms.txt and src/ differ: {room}")
        before = set()
        for room, allowed in self.rules.items():
            for other in sorted(allowed & set(self.rules) - before):
                self.problem(f"docs/rooms.txt: {room} may use {other}, which is not listed before it")
            before.add(room)
        table = ROW.findall((self.top / "docs" / "architecture.md").read_text())
        for room in sorted(set(self.rules) ^ set(table)):
            self.problem(f"docs/rooms.txt and the table of docs/architecture.md differ: {room}")
        for room in sorted(room for room in set(table) if table.count(room) > 1):
            self.problem(f"docs/architecture.md: its table has {room} twice")

    def check_includes(self, path, lines):
        room = path.relative_to(self.source).parts[0]
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            where = f"{path.relative_to(self.top)}:{number}"
            parts = Path(match[1]).parts
            if len(parts) < 2 or parts[0] not in self.rules:
                self.problem(f'{where}: include "{match[1]}" as "room/file.h"')
                continue
            self.used.add((room, parts[0]))
            if parts[0] != room and parts[0] not in self.rules[room]:
                self.problem(f"{where}: {room} may not include {parts[0]} (docs/rooms.txt)")
            elif parts[0] != room and parts[-1].endswith("_internal.h"):
                self.problem(f"{where}: {match[1]} is for {parts[0]} alone")

    def check_lengths(self, path, lines):
        where = path.relative_to(self.top)
        if len(lines) > FILE_LINES and not ARGUED.search("\n".join(lines[:60])):
            self.problem(f'{where}: {len(lines)} lines; split it, or argue in its first comment ("Long because …")')
        for head, opening, closing in functions(lines):
            length = closing - opening + 1
            if length > FUNCTION_LINES and not ARGUED.search("\n".join(lines[head:opening])):
                self.problem(
                    f'{where}:{opening + 1}: a function of {length} lines; split it, or argue above it ("Long because …")'
                )

    def check_files(self):
        files = sorted(path for path in self.source.rglob("*") if path.suffix in (".c", ".h", ".cc"))
        files = [path for path in files if path.relative_to(self.source).parts[0] in self.rules]
        for path in files:
            lines = path.read_text().splitlines()
            self.check_includes(path, lines)
            self.check_lengths(path, lines)
        return files

    def check_symbols(self, build, folders):
        """One program: (object, room, symbols that it defines, symbols that it refers to) of each of its objects."""
        objects = [path for folder in folders for path in sorted((build / folder).glob("*.o"))]
        if not objects and not OPTIONAL.issuperset(folders):
            self.problem(f"no objects in {' and '.join(str(build / folder) for folder in folders)}")
        seen, defined = [], {}
        for path in objects:
            match = OBJECT.match(path.name)
            if not match or match[1] not in self.rules:
                self.problem(f"{path}: the object of which room?")
                continue
            defines, refers = symbols(path)
            seen.append((f"src/{match[1]}/{match[2]}.c", match[1], refers))
            for symbol in defines:
                defined.setdefault(symbol, match[1])
        for name, room, refers in seen:
            for symbol in sorted(refers):
                other = defined.get(symbol, room)
                self.used.add((room, other))
                if other != room and other not in self.rules[room]:
                    self.problem(f"{name}: {room} may not use {symbol}, which is of {other} (docs/rooms.txt)")

    def check_permissions(self):
        for room, allowed in self.rules.items():
            for other in sorted(allowed):
                if (room, other) not in self.used:
                    self.problem(f"docs/rooms.txt: {room} may use {other}, but does not")


def symbols(path):
    """What others can see of an object file: the symbols that it defines, and those that it refers to."""
    output = subprocess.run(["nm", "--format=posix", "--extern-only", path], check=True, capture_output=True, text=True)
    defines, refers = set(), set()
    for line in output.stdout.splitlines():
        name, kind = line.split()[:2]
        (refers if kind in "Uwv" else defines).add(name)
    return defines, refers


def functions(lines):
    """(first line of the comment or head, opening line, closing line) of each function: braces in column one."""
    opening = None
    for number, line in enumerate(lines):
        if line == "{" or (opening is None and re.match(r"^[a-zA-Z_].*\)\s*\{$", line)):
            opening = number
        elif line.startswith("}") and opening is not None:
            head = opening
            while head > 0 and lines[head - 1].strip() and not lines[head - 1].startswith("}"):
                head -= 1
            yield head, opening, number
            opening = None


def main():
    parser = argparse.ArgumentParser(description="The architecture, enforced.")
    parser.add_argument("--build", type=Path)
    parser.add_argument("top", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    tree = Tree(options.top)
    tree.check_rooms()
    files = tree.check_files()
    if options.build:
        for folders in PROGRAMS:
            tree.check_symbols(options.build, folders)
        tree.check_permissions()
    for problem in tree.problems:
        print(problem)
    symbols_too = "" if options.build else " (symbols were not looked at: no --build)"
    print(f"{len(files)} files in {len(tree.rules)} rooms, {len(tree.problems)} problems{symbols_too}")
    return int(bool(tree.problems))


if __name__ == "__main__":
    sys.exit(main())
