#!/usr/bin/env python3
"""Checks check_text.py itself: what it must report, and what it must not."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import check_text  # noqa: E402

LONG = "word " * 60
# A text, and how many lines or cells of it are too wide.
WIDTHS = {
    "short\n": 0,
    f"{LONG}\n": 1,
    f"- an item\n  {LONG}\n": 1,
    f"    {LONG}\n": 1,
    f"```\n{LONG}\n```\n": 1,
    # A row may be wide as a whole, but not by one cell: prose does not hide in a table.
    "| " + " | ".join(["a cell"] * 30) + " |\n": 0,
    f"| a | {LONG} |\n": 1,
    f"| {LONG} | {LONG} |\n": 2,
    f"|{LONG}|\n": 1,
    f"<!-- models: begin (a script) -->\n| {LONG} |\n<!-- models: end -->\n": 0,
    f"<!-- models: begin (a script) -->\n| x |\n<!-- models: end -->\n{LONG}\n": 1,
}
# A document, and the line numbers at which it has a phrase of the list.
DOCUMENTS = {
    "It starts again.\n": [],
    "It starts anew.\n": [1],
    "# It starts anew\n": [1],
    "One line,\nand it starts\nanew here.\n": [3],
    "That is\nsaid there, and it is\n  told.\n": [1, 2],
    "- one\n- that is said\n": [2],
    "| a | that is said |\n| --- | --- |\n| b | Of files, the name |\n": [1, 3],
    "Part of files. Of files, the name.\n": [1],
    "`that is said` is code.\n": [],
    "    that is said\n": [],
    "Text:\n\n    that is said\n\nThat is said.\n": [5],
    "```\nthat is said\n```\n": [],
    "<!-- models: begin -->\nthat is said\n<!-- models: end -->\n": [],
    "There is no change.\n": [],
    "That is no change.\n": [1],
}
# A C source, and the line numbers of strings with a phrase.
SOURCES = {
    'x = "it starts anew";\n': [1],
    '/* that is said */ x = "fine";\n': [],
    'x = "that "\n    "is said";\n': [1],
    '#define X "that " \\\n    "is said"\n': [1],
    "x = '\"'; /* anew */ y = \"anew\";\n": [1],
    'f("that", "is said");\n': [],
    'x = "that is" "\\nsaid %" PRIu64 " times, anew";\n': [1, 1],
}


def lines_of(problems):
    return sorted(int(problem.split(":")[1]) for problem in problems)


def main():
    passed = failed = 0

    def expect(what, text, found, wanted):
        nonlocal passed, failed
        passed += found == wanted
        failed += found != wanted
        if found != wanted:
            print(f"{what}: {text!r}: found {found}, not {wanted}")

    for text, wanted in WIDTHS.items():
        problems = []
        check_text.check_width("text", text, problems)
        expect("width", text, len(problems), wanted)
    for what, texts, pieces in (
        ("phrases", DOCUMENTS, check_text.prose), ("strings", SOURCES, check_text.strings)
    ):
        for text, wanted in texts.items():
            problems = []
            check_text.check_phrases("text", text, pieces(text), problems)
            expect(what, text, lines_of(problems), wanted)
    print(f"{passed} passed, {failed} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
