#!/usr/bin/env python3
"""Every room has a log channel, logs on it, and on no other room's.

Usage: check_log.py

The channels are in src/base/log.h, the rooms in docs/rooms.txt. `wire` is only the layout of shared memory and has no
channel. The rooms in the tested program cannot log: the controller does it for them, from any room, and they have no
lines of their own.
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SILENT = {"wire"}
# In the tested program's process.
INSIDE = {"agent", "models", "recorder", "vm"}
# Rooms that decide nothing a user would ask about: they format what others decided.
QUIET = {"finding", "report"}


def read_rooms():
    text = (TOP / "docs" / "rooms.txt").read_text()
    return set(re.findall(r"^(\w+):", text, re.M))


def read_channels():
    text = (TOP / "src" / "base" / "log.h").read_text()
    return re.findall(r'^\s+X\((\w+), "(\w+)"\)', text, re.M)


def find_problems(rooms, channels, lines):
    """@lines: (place, room, channel) of each use of a channel."""
    problems = []
    names = [name for _, name in channels]
    for constant, name in channels:
        if constant != name.upper():
            problems.append(f"src/base/log.h: channel {constant} is called {name}")
    for room in sorted(rooms - SILENT - set(names)):
        problems.append(f"src/base/log.h: room {room} has no channel")
    for name in sorted(set(names) - (rooms - SILENT)):
        problems.append(f"src/base/log.h: there is no room for the channel {name}")
    if names != sorted(names):
        problems.append("src/base/log.h: channels are not sorted")
    for place, room, channel in lines:
        if channel.lower() not in {room} | INSIDE:
            problems.append(f"{place}: room {room} logs on the channel of {channel.lower()}")
    used = {room for _, room, channel in lines if channel.lower() == room}
    for room in sorted(rooms - SILENT - INSIDE - QUIET - used):
        problems.append(f"src/{room}: no decision is logged (log_debug(LOG_{room.upper()}, ...))")
    return problems


def read_lines(channels):
    constants = "|".join(constant for constant, _ in channels)
    for path in sorted((TOP / "src").rglob("*.[ch]*")):
        where = path.relative_to(TOP)
        if where == Path("src/base/log.h"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for channel in re.findall(rf"\bLOG_({constants})\b", line):
                yield f"{where}:{number}", where.parts[1], channel


def test_self():
    rooms, channels = {"a", "b", "wire"}, [("A", "a"), ("B", "b")]
    good = [("x", "a", "A"), ("y", "b", "B"), ("z", "b", "MODELS")]
    expected = (
        (rooms, channels, good, 0),
        (rooms, channels, good[:1], 1),
        (rooms, channels, [*good, ("w", "a", "B")], 1),
        (rooms | {"c"}, channels, [*good, ("w", "c", "C")], 1),
        (rooms - {"b"}, channels, good[:1], 1),
    )
    return ["self-test failed" for *given, n in expected if len(find_problems(*given)) != n]


def main():
    channels = read_channels()
    lines = list(read_lines(channels))
    problems = test_self() + find_problems(read_rooms(), channels, lines)
    for problem in problems:
        print(problem)
    print(f"{len(channels)} channels, {len(lines)} uses, {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
