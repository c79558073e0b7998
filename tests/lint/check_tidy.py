#!/usr/bin/env python3
"""clang-tidy over src/, two files side by side, with the checks chosen in .clang-tidy.

Usage: check_tidy.py BUILD-DIR [FILE…]

A file that was clean is looked at again only when it, a header of ours, or the list of checks has changed: its digest is
kept in BUILD-DIR/tidy/.
"""

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def digest(path, shared):
    return hashlib.sha256(shared + str(path).encode() + path.read_bytes()).hexdigest()


def tidy(build, path):
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", build, path], cwd=TOP, capture_output=True, text=True, check=False
    )
    return path, done.returncode, done.stdout + (done.stderr if done.returncode else "")


def main():
    build = Path(sys.argv[1]).resolve()
    sources = [Path(name).resolve() for name in sys.argv[2:]]
    sources = sources or sorted(path for path in (TOP / "src").rglob("*") if path.suffix in (".c", ".cc"))
    headers = [TOP / ".clang-tidy", *sorted((TOP / "src").rglob("*.h"))]
    shared = b"".join(path.read_bytes() for path in headers)
    known = build / "tidy"
    known.mkdir(exist_ok=True)
    wanted = [path for path in sources if not (known / digest(path, shared)).exists()]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        # Largest first, so that neither of the two waits long for the other at the end.
        wanted.sort(key=lambda path: -path.stat().st_size)
        for path, status, output in pool.map(lambda path: tidy(build, path), wanted):
            if status:
                failed += 1
                print(output)
            else:
                (known / digest(path, shared)).touch()
    print(f"{len(sources)} files, {len(sources) - len(wanted)} of them unchanged and clean before, {failed} with problems")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
