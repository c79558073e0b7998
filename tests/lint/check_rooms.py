#!/usr/bin/env python3
"""The architecture, enforced: what each room of src/ includes, and how long files and functions are.

Usage: check_rooms.py [TOP]

 1. Every #include "room/file.h" in src/ is allowed by docs/rooms.txt, and every room there exists and is listed once.
 2. A header NAME_internal.h is included from its own room only.
 3. A file of more than 1,000 lines says why, in a comment that begins "Long because"; so does a function of more than
    100, in the comment above it.
"""

import re
import sys
from pathlib import Path

TOP = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
SOURCE = TOP / "src"
FILE_LINES = 1000
FUNCTION_LINES = 100
ARGUED = re.compile(r"Long because", re.I)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def read_rules(problems):
    rules = {}
    for number, line in enumerate((TOP / "docs" / "rooms.txt").read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, colon, allowed = line.partition(":")
        if not colon or room in rules:
            problems.append(f'docs/rooms.txt:{number}: not "room: rooms", or the room a second time')
        rules[room.strip()] = set(allowed.split())
    for room, allowed in rules.items():
        for other in sorted(allowed - set(rules)):
            problems.append(f"docs/rooms.txt: {room} may include {other}, which is not a room")
    return rules


def check_includes(path, lines, rules, problems):
    room = path.relative_to(SOURCE).parts[0]
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        where = f"{path.relative_to(TOP)}:{number}"
        parts = Path(match[1]).parts
        if len(parts) < 2 or parts[0] not in rules:
            problems.append(f'{where}: include "{match[1]}" as "room/file.h"')
        elif parts[0] != room and parts[0] not in rules[room]:
            problems.append(f"{where}: {room} may not include {parts[0]} (docs/rooms.txt)")
        elif parts[0] != room and parts[-1].endswith("_internal.h"):
            problems.append(f"{where}: {match[1]} is for {parts[0]} alone")


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


def check_lengths(path, lines, problems):
    where = path.relative_to(TOP)
    if len(lines) > FILE_LINES and not ARGUED.search("\n".join(lines[:60])):
        problems.append(f'{where}: {len(lines)} lines; split it, or argue in its first comment ("Long because …")')
    for head, opening, closing in functions(lines):
        length = closing - opening + 1
        if length > FUNCTION_LINES and not ARGUED.search("\n".join(lines[head:opening])):
            problems.append(
                f'{where}:{opening + 1}: a function of {length} lines; split it, or argue above it ("Long because …")'
            )


def main():
    problems = []
    rules = read_rules(problems)
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    for room in sorted(rooms ^ set(rules)):
        problems.append(f"docs/rooms.txt and src/ differ: {room}")
    files = 0
    for path in sorted(path for path in SOURCE.rglob("*") if path.suffix in (".c", ".h", ".cc")):
        if path.relative_to(SOURCE).parts[0] not in rules:
            continue
        files += 1
        lines = path.read_text().splitlines()
        check_includes(path, lines, rules, problems)
        check_lengths(path, lines, problems)
    for problem in problems:
        print(problem)
    print(f"{files} files in {len(rooms)} rooms, {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
