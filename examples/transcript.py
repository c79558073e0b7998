#!/usr/bin/env python3
"""Writes real runs on the example suite into the README: a group of commands between each pair of marks.

Usage: transcript.py README POLYGRAPH BUILD-DIR        (BUILD-DIR: where the demo built the example)
"""

import os
import re
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "settings"
GROUPS = (
    (["run", "./settings_test"], ["run", "--reverse", "./settings_test"]),
    (["pollution", "./settings_test"],),
    (["order", "--fresh", "./settings_test"],),
)
MARKS = re.compile(r"(<!-- transcript: begin.*?-->\n).*?(<!-- transcript: end -->)", re.S)


def transcript(commands, polygraph, build):
    text = "```console\n"
    for words in commands:
        done = subprocess.run(
            [polygraph, *words], cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        # As seen by somebody who stands where the sources are.
        shown = done.stdout.rstrip()
        for sources in (SOURCES, os.path.relpath(SOURCES, build)):
            shown = shown.replace(f"{sources}/", "")
        text += f"$ polygraph {' '.join(words)}\n{shown}\n"
    return text + "```\n"


def main():
    readme, polygraph, build = (Path(word).resolve() for word in sys.argv[1:])
    texts = iter([transcript(commands, polygraph, build) for commands in GROUPS])
    old = readme.read_text()
    count = len(MARKS.findall(old))
    if count != len(GROUPS):
        sys.exit(f"transcript: {readme} has {count} pairs of marks to write between, not {len(GROUPS)}")
    readme.write_text(MARKS.sub(lambda match: match[1] + next(texts) + match[2], old))


if __name__ == "__main__":
    main()
