#!/usr/bin/env python3
"""What a share of a large build costs: 1,000 executables of cmocka, 100 shares.

Usage: shares.py --polygraph PROGRAM --work FOLDER [--executables N] [--shares N]

Measures how long it takes to find what is in the executables, with and without a plan (--dry-run, then --shard-weights),
and how long a share takes.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

TEST = r"""#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
static int level = %(number)d;
static void raises(void **s) { (void)s; level++; }
static void is_level(void **s) { (void)s; assert_true(level >= %(number)d); }
static void adds(void **s) { (void)s; assert_int_equal(%(number)d + 1, 1 + %(number)d); }
static void other(void **s) { (void)s; assert_true(1); }
int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(raises), cmocka_unit_test(is_level), cmocka_unit_test(adds),
					    cmocka_unit_test(other) };
	return cmocka_run_group_tests_name("g", tests, NULL, NULL);
}
"""
KINDS = 20      # that many are compiled, the others are copies


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--executables", type=int, default=1000)
    parser.add_argument("--shares", type=int, default=100)
    options = parser.parse_args()
    folder = options.work.resolve() / "shares"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number in range(options.executables):
        path = folder / f"t{number:04}_test"
        if number >= KINDS:
            shutil.copy(folder / f"t{number % KINDS:04}_test", path)
            continue
        (folder / "test.c").write_text(TEST % {"number": number})
        subprocess.run(["cc", "-g", "-o", path, folder / "test.c", "-lcmocka"], check=True)

    def measure(title, *words):
        start = time.monotonic()
        done = subprocess.run([options.polygraph.resolve(), "check", "--program", "./*_test", *words], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        print(f"{title}: {time.monotonic() - start:.1f} s, exit status {done.returncode}", flush=True)
        if done.returncode > 1:
            raise SystemExit(done.stderr)
        return done.stdout

    share = f"1/{options.shares}"
    measure("the plan", "--dry-run", "--format", "json", "--output", "plan.json")
    measure("a share without the plan, found only", "--dry-run", "--shard", share)
    measure("a share with the plan, found only", "--dry-run", "--shard", share, "--shard-weights", "plan.json")
    measure("a share with the plan, checked", "--shard", share, "--shard-weights", "plan.json", "--format", "json", "--output",
            "share.json")
    report = json.loads((folder / "share.json").read_text())
    print(f"of that in {len(report['suites'])} suites: {sum(suite['seconds'] for suite in report['suites']):.1f} s")
    found = []
    for index in range(1, options.shares + 1, max(1, options.shares // 4)):
        measure(f"share {index}, found only", "--dry-run", "--shard", f"{index}/{options.shares}", "--shard-weights", "plan.json",
                "--format", "json", "--output", "found.json")
        found += [suite["name"] for suite in json.loads((folder / "found.json").read_text())["suites"]]
    if len(found) != len(set(found)):
        raise SystemExit("shares: a suite is in two shares")
    return 0


if __name__ == "__main__":
    sys.exit(main())
