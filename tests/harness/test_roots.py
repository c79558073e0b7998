#!/usr/bin/env python3
"""Counts for how many tests that fail after another `polygraph order` names the right polluted variables.

The programs are tests/restore/roots.cc as the build compiled it. In each of its suites the test `pollute` changes what
`victim` relies on, and also an innocent variable. A comment in front says which variables make the outcome: one of them
(alone, any), or only all of them together (both). There are freed and reused blocks, containers, statics of functions and
classes, thread-locals, shared blocks and sets of two variables among them.

At least 95 % of the victims have to be named with the right variables, and no innocent variable may be named at all.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
SOURCE = HERE.parents[1] / "restore" / "roots.cc"
GOAL = 0.95
PATIENCE = 120


def expectations():
    """Suite: (kind, names). The comment of a suite is the last one in front of its first test."""
    found, waiting = {}, None
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        comment = re.search(r"/\* (alone|any|both|none): (.*?) \*/", line)
        test = re.match(r"TEST(?:_F)?\((\w+), pollute\)", line)
        if comment:
            waiting = (comment[1], comment[2].split())
        elif test and waiting:
            found[test[1]] = waiting
            waiting = None
    return found


def last_part(name):
    return name.rsplit("::", 1)[-1]


def polluted_roots(polygraph, program, suite):
    """The roots of SUITE.victim; [] if it is not found at all, None if the program does not have it."""
    with tempfile.TemporaryDirectory(prefix="polygraph-roots-") as folder:
        done = subprocess.run([polygraph, "order", "--format", "json", "--timeout", "2s", "--tests", f"{suite}.*", "--tests",
                               f"{suite}Later.*", "--", str(program)], cwd=folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{program}: {suite}: exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    report = json.loads(done.stdout)
    for finding in report["findings"]:
        if finding["kind"] == "order-dependent" and finding["test"].endswith(".victim"):
            return finding["polluted"]
    return [] if report["tests"] else None


def is_right(kind, names, roots):
    named = {last_part(root) for root in roots}
    wanted = {last_part(name) for name in names}
    if kind == "both":
        return named == wanted
    if kind == "any":
        return bool(named & wanted)
    return bool(named) and named <= wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", default="build/polygraph", metavar="PATH", help="default: build/polygraph")
    parser.add_argument("--build", default="build", metavar="DIR", help="the build folder; default: build")
    parser.add_argument("--quick", action="store_true", help="only what gcc made without and clang with optimisation")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="name what is right, too")
    options = parser.parse_args()
    polygraph = pathlib.Path(options.polygraph).resolve()
    kinds = ("gcc-O0", "clang-O2") if options.quick else ("gcc-O0", "gcc-O2", "clang-O0", "clang-O2")
    programs = [pathlib.Path(options.build).resolve() / "tests/restore" / f"roots-{kind}" for kind in kinds]
    programs = [program for program in programs if program.is_file()]
    if not programs:
        print("skip: tests/restore/roots was not built (GoogleTest is missing)\n0 passed, 0 failed, 1 skipped")
        return 0
    right = innocent = total = 0
    wanted = {suite: row for suite, row in expectations().items() if row[0] != "none"}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(lambda pair: polluted_roots(polygraph, *pair), [(p, s) for p in programs for s in wanted])
        found = iter(list(found))
    for program in programs:
        for suite, (kind, names) in wanted.items():
            roots = next(found)
            if roots is None:
                continue
            total += 1
            good = is_right(kind, names, roots)
            accused = any(last_part(root) in ("innocent", "leftovers") for root in roots)
            right += good
            innocent += accused
            if not good or accused or options.verbose:
                print(f"{'ok  ' if good and not accused else 'miss'} {program.name} {suite}: {', '.join(roots) or 'none'}; "
                      f"{kind}: {' '.join(names)}", flush=True)
    share = right / total if total else 0
    print(f"polluted variables are right for {right} of {total} victims ({share:.1%}, goal {GOAL:.0%}); {innocent} innocent")
    failed = share < GOAL or innocent or not total
    print(f"{0 if failed else 1} passed, {1 if failed else 0} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
