#!/usr/bin/env python3
"""Writes a real run on the example suite into the README, between its two marks.

Usage: transcript.py README POLYGRAPH BUILD-DIR        (BUILD-DIR: where the demo built the example)
"""

import re
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "settings"
COMMANDS = (["run", "./settings_test"], ["run", "--reverse", "./settings_test"])
MARKS = re.compile(r"(<!-- transcript: begin.*?-->\n).*?(<!-- transcript: end -->)", re.S)


def main():
    readme, polygraph, build = (Path(word).resolve() for word in sys.argv[1:])
    text = "```console\n"
    for words in COMMANDS:
        done = subprocess.run(
            [polygraph, *words], cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        # As seen by somebody who stands where the sources are.
        shown = done.stdout.rstrip().replace(f"{SOURCES}/", "")
        text += f"$ polygraph {' '.join(words)}\n{shown}\n"
    text += "```\n"
    written, count = MARKS.subn(lambda match: match[1] + text + match[2], readme.read_text())
    if count != 1:
        sys.exit(f"transcript: {readme} has no marks to write between")
    readme.write_text(written)


if __name__ == "__main__":
    main()
