"""What the scripts here share: a folder of their own, unittest, and the sum as the closing line."""

import argparse
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fresh  # noqa: E402


def failing_on_low(words):
    """The words of a command line; findings of any severity make its exit status 1."""
    command, *rest = words
    return [command, "--fail-on=low", *rest] if command in ("check", "pollution", "order", "choices") else list(words)


def main(name, prepare):
    """@prepare is told the program and the folder; what it returns, if anything, is why nothing can be run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--polygraph", required=True)
    options, rest = parser.parse_known_args()
    fresh.start()
    with tempfile.TemporaryDirectory(prefix=f"polygraph-{name}-") as folder:
        why = prepare(os.path.abspath(options.polygraph), folder)
        if why:
            print(f"skipped all: {why}\n0 passed, 0 failed, 1 skipped")
            return False
        result = unittest.main(module="__main__", argv=[sys.argv[0], *rest], exit=False,
                               verbosity=2 if "-v" in rest else 1).result
    # Parts of a test (subTest) fail one by one; it is one test nevertheless.
    bad = {getattr(test, "test_case", test).id().split(".", 1)[1] for test, _ in result.failures + result.errors}
    for test, why in result.skipped:
        print(f"skipped {test}: {why}")
    for test in sorted(bad):
        print(f"again: {sys.argv[0]} --polygraph {options.polygraph} {test}")
    skipped = len(result.skipped)
    print(f"{result.testsRun - len(bad) - skipped} passed, {len(bad)} failed, {skipped} skipped")
    return bool(bad)
