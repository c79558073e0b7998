#!/usr/bin/env python3
"""The table of process state in docs/pollution.md is the one that the program has, src/attributes/rows.h, and a test
changes each attribute.

Usage: check_attributes.py [--fix]

--fix writes what stands between the marks anew.
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TABLE = TOP / "src" / "attributes" / "rows.h"
STEPS = TOP / "tests" / "unit" / "subject_attributes_acts.h"
PAGE = TOP / "docs" / "pollution.md"
MARKS = re.compile(r"(?<=<!-- attributes: begin \(tests/lint/check_attributes\.py --fix\) -->\n).*?(?=<!-- attributes: end -->)", re.S)
TEXT = r'"((?:[^"\\]|\\.)*)"'
# Name, what, how; then how it shows when it is not there, and which function reads it.
ROW = re.compile(r"^ROW\(" + TEXT + r",\s*" + TEXT + r",\s*" + TEXT + r",\s*(?:NULL|" + TEXT + r"),\s*\w+,([^()]*)\)", re.M)
WEIGHTS = {"WEIGHT_HIGH": "`high`", "WEIGHT_MEDIUM": "`medium`", "WEIGHT_LOW": "`low`", "WEIGHT_PLAIN": "", "WEIGHT_POSITION": ""}


def rows():
    body = TABLE.read_text()
    found = ROW.findall(body)
    begun = len(re.findall(r"^ROW\(", body, re.M))
    if len(found) != begun:
        sys.exit(f"{TABLE.relative_to(TOP)}: {begun} rows begin, but {len(found)} could be read: has their shape changed?")
    for name, what, how, _, rest in found:
        weight = re.search(r"WEIGHT_\w+", rest)
        yield name, what, how, WEIGHTS[weight[0]]


def table():
    lines = ["| name | what | severity | how it is read |", "| --- | --- | --- | --- |"]
    lines += [f"| `{name}` | {what} | {weight} | {how} |" for name, what, how, weight in rows()]
    return "\n".join(lines) + "\n"


def untested():
    """Attributes that no step of the test program changes: roots there are "name" or "name[key]"."""
    steps = STEPS.read_text()
    return [name for name, *_ in rows() if not re.search(rf'"{name}["[]', steps)]


def main():
    for name in untested():
        print(f"{STEPS.relative_to(TOP)}: no step changes {name}")
    if untested():
        return 1
    page = PAGE.read_text()
    there = MARKS.search(page)
    where = PAGE.relative_to(TOP)
    if not there:
        sys.exit(f"{where}: the marks of the table of process state are gone")
    if there[0] == table():
        return 0
    if sys.argv[1:] == ["--fix"]:
        PAGE.write_text(page[: there.start()] + table() + page[there.end() :])
        return 0
    print(f"{where}: the table of process state differs from {TABLE.relative_to(TOP)}: tests/lint/check_attributes.py --fix")
    return 1


if __name__ == "__main__":
    sys.exit(main())
