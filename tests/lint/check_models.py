#!/usr/bin/env python3
"""The table of models in docs/choices.md is the one that the program has, src/wire/models_*.h.

Usage: check_models.py [--fix]

--fix writes what stands between the marks anew.
"""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
WIRE = TOP / "src" / "wire"
PAGE = TOP / "docs" / "choices.md"
MARKS = re.compile(r"(?<=<!-- models: begin \(tests/lint/check_models\.py --fix\) -->\n).*?(?=<!-- models: end -->)", re.S)
TEXTS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
ROW = re.compile(r"\bX\(\s*(\w+),\s*WIRE_(\w+),\s*WIRE_(\w+),\s*([^,\"]*?),\s*" + TEXTS + r",\s*" + TEXTS + r",\s*" + TEXTS + r"\)")
KINDS = {"PERMUTE", "RANDOM", "EXTEND", "SHORT", "SPURIOUS", "ENVIRONMENT"}
LEVELS = {"ONE", "EQ", "ID", "FULL"}


def text(parts):
    """Adjacent string literals as the compiler joins them."""
    joined = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', parts))
    return joined.replace('\\"', '"').replace("\\\\", "\\").replace("|", "\\|")


def families():
    # In the sequence of the table, so that the page has the program's.
    table = (WIRE / "models.h").read_text()
    return [name.lower() for name in re.findall(r"\bWIRE_MODELS_([A-Z]+)\(X\)", table)]


def rows(family):
    path = WIRE / f"models_{family}.h"
    body = re.sub(r"\\\n", "\n", path.read_text())
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    found = ROW.findall(body)
    begun = len(re.findall(r"^\s*X\(", body, re.M))
    if len(found) != begun:
        sys.exit(f"{path.relative_to(TOP)}: {begun} rows begin, but {len(found)} could be read: has their shape changed?")
    for name, kind, level, flags, api, clause, _ in found:
        if kind not in KINDS or level not in LEVELS:
            sys.exit(f"{path.relative_to(TOP)}: {name}: not a kind and a level: {kind}, {level}")
        yield text(api), kind.lower(), level.lower(), "WIRE_OPTIONAL" in flags, text(clause)


def apis():
    """What users call the models: functions, most of them."""
    return {api for family in families() for api, *_ in rows(family)}


def table():
    lines = []
    for family in families():
        found = list(rows(family))
        if not found:
            continue
        lines += [f"### {family.capitalize()}", "", "| API | kind | from level | what leaves it open |", "| --- | --- | --- | --- |"]
        for api, kind, level, optional, clause in found:
            lines.append(f"| `{api}` | {kind} | {level}{', optional' if optional else ''} | {clause} |")
        lines.append("")
    return "\n".join(lines)


def main():
    page = PAGE.read_text()
    there = MARKS.search(page)
    where = PAGE.relative_to(TOP)
    if not there:
        sys.exit(f"{where}: the marks of the table of models are gone")
    if there[0] == table():
        return 0
    if sys.argv[1:] == ["--fix"]:
        PAGE.write_text(page[: there.start()] + table() + page[there.end() :])
        return 0
    print(f"{where}: the table of models differs from {WIRE.relative_to(TOP)}/models_*.h: tests/lint/check_models.py --fix")
    return 1


if __name__ == "__main__":
    sys.exit(main())
