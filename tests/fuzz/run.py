#!/usr/bin/env python3
"""Runs every fuzz target for SECONDS, two side by side, starting from its seeds.

Usage: run.py SECONDS

What the fuzzer learns goes to build-sanitized/corpus/, an input that breaks a target to build-sanitized/artifacts/; the seeds under
tests/fuzz/corpus/ stay as they are.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build-sanitized"


def fuzz(source, seconds):
    target = source.stem
    name = target.removeprefix("fuzz_")
    learned = BUILD / "corpus" / name
    artifacts = BUILD / "artifacts" / name
    learned.mkdir(parents=True, exist_ok=True)
    artifacts.mkdir(parents=True, exist_ok=True)
    command = [BUILD / "tests" / "fuzz" / target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048"]
    command += ["-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={artifacts}/", learned]
    folders = (TOP / "tests" / "fuzz" / "corpus" / name, BUILD / "tests" / "fuzz" / f"seeds_{name}")
    command += [seeds for seeds in folders if seeds.is_dir()]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    return target, done.returncode, done.stdout + done.stderr


def main():
    seconds = int(sys.argv[1])
    sources = sorted((TOP / "tests" / "fuzz").glob("fuzz_*.c"))
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for target, status, output in pool.map(lambda source: fuzz(source, seconds), sources):
            runs = next((line.split()[-1] for line in output.splitlines() if "number_of_executed_units" in line), "?")
            print(f"{'ok' if status == 0 else 'FAILED':6} {target}: {runs} inputs")
            if status:
                failed += 1
                print(output)
                print(f"again: build-sanitized/tests/fuzz/{target} FILE, with the file named above")
    print(f"{len(sources) - failed} passed, {failed} failed")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
