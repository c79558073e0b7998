#!/usr/bin/env python3
"""Every source file of src/ is listed in its room's meson.build, and nothing else is.

Usage: check_sources.py [--fix]

The lists are explicit, so that a file that belongs to nobody is noticed. --fix rewrites them from what is in the folders
(`./dev sources`).
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LIST = r"^{name} \+= files\(\n(?P<names>(?:\t.*\n)*)\)\n"
# Not part of the library that the unit tests link with.
PROGRAM = "main.c"
# Rooms that are libraries of their own, with lists of their own: the files of the first pattern that matches.
LISTS = {
    "agent": [
        ("choice_sources", re.compile(r"choose|model_")),
        ("state_sources", re.compile(r"(filelog|fileops|hooks|next|random|reads|start|state)\.c")),
        ("agent_sources", re.compile(r"")),
    ]
}
DEFAULT = [("sources", re.compile(r""))]


def rooms():
    return sorted(path for path in (TOP / "src").iterdir() if path.is_dir())


def sources(room):
    """The lists of a room, by name: which files belong in them."""
    lists = {name: [] for name, _ in LISTS.get(room.name, DEFAULT)}
    for path in sorted(room.iterdir(), key=lambda path: path.name):
        if path.suffix in (".c", ".cc") and path.name != PROGRAM:
            name = next(name for name, pattern in LISTS.get(room.name, DEFAULT) if pattern.match(path.name))
            lists[name].append(path.name)
    return lists


def check_list(build, name, there, fix):
    """What is wrong with one list; with @fix, nothing is afterwards."""
    text = build.read_text() if build.exists() else ""
    match = re.search(LIST.format(name=name), text, re.M)
    listed = re.findall(r"'([^']+)'", match["names"]) if match else []
    if listed == there and match:
        return []
    if fix:
        block = f"{name} += files(\n" + "".join(f"\t'{file}',\n" for file in there) + ")\n"
        build.write_text(text[: match.start()] + block + text[match.end() :] if match else block + text)
        return []
    where = build.relative_to(TOP)
    problems = [f"{where}: {file} is not listed" for file in there if file not in listed]
    problems += [f"{where}: {file} is listed but not there" for file in listed if file not in there]
    return problems or [f"{where}: the list {name} is missing, not sorted, or has doubles"]


def main():
    fix = sys.argv[1:] == ["--fix"]
    problems = []
    for room in rooms():
        for name, there in sources(room).items():
            problems += check_list(room / "meson.build", name, there, fix)
    for problem in problems:
        print(problem)
    if problems:
        print("run ./dev sources to bring the lists up to date")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
