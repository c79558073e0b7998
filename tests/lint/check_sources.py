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
# Rooms that are not part of the program's library, and the names of their lists.
LISTS = {"agent": "agent_sources", "models": "model_sources", "recorder": "recorder_sources", "vm": "vm_sources"}


def rooms():
    return sorted(path for path in (TOP / "src").iterdir() if path.is_dir())


def sources(room):
    """The files that belong in the room's list."""
    files = (path.name for path in room.iterdir() if path.suffix in (".c", ".cc") and path.name != PROGRAM)
    return sorted(files)


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
        name = LISTS.get(room.name, "sources")
        problems += check_list(room / "meson.build", name, sources(room), fix)
    for problem in problems:
        print(problem)
    if problems:
        print("run ./dev sources to bring the lists up to date")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
