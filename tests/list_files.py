#!/usr/bin/env python3
"""Prints the names in FOLDER that match GLOB, sorted, one a line: for lists that Meson makes when it configures.

Usage: list_files.py FOLDER GLOB
"""

import sys
from pathlib import Path

print("\n".join(sorted(path.name for path in Path(sys.argv[1]).glob(sys.argv[2]))))
