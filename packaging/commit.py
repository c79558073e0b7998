#!/usr/bin/env python3
"""Prints the commit of this source tree, with -dirty if files were changed since; nothing where that is not known."""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


def main():
    # Sources that were only unpacked into somebody else's repository have no commit.
    if not (TOP / ".git").exists():
        return 1
    command = ["git", "-C", str(TOP), "-c", f"safe.directory={TOP}", "describe", "--always", "--dirty", "--abbrev=12",
               "--exclude=*"]
    try:
        return subprocess.run(command, stderr=subprocess.DEVNULL).returncode
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
