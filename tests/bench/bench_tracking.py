"""What each way to find written memory costs: `polygraph pollution --page-tracking METHOD` against the plain run.

The suites are those of bench_pollution.py, with 1 MiB and 64 MiB of state, of which each test writes one page and puts it
back. Ways that this kernel does not have are left out. Called by bench.py (`./dev bench tracking`); in the machines of
tests/kernel it shows the others.
"""

import json
import subprocess
import tempfile
from pathlib import Path

from bench_pollution import Measured, build_state, environment_for

METHODS = ("scan", "soft-dirty", "fork", "compare")
SUITES = [("array", mib, 1, 0, each) for mib in (1, 64) for each in (100, 1000)]


def has_method(command, program):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([*command, "--format", "json", "--output", file.name, program],
                       env=environment_for(2, "array", 1, 1, 0, 100), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        return "memory was not compared" not in json.dumps(json.loads(Path(file.name).read_text()).get("limits", []))


def bench_tracking(options, rows):
    print("\nWays to find written memory: plain against polygraph pollution")
    program = build_state(options.build)
    tests = 100 if options.quick else 500
    print(f"{tests} tests each, one page written\n")
    print(f"{'method':<11} {'MiB':>4} {'each':>8}   {'ratio':<30} {'µs more a test':<30} first pass alone")
    for method in METHODS:
        tool = [options.polygraph, "pollution", "--sandbox", "never", "--only", "memory", "--page-tracking", method]
        if not has_method(tool, program):
            print(f"{method:<11} this kernel does not have it")
            continue
        for suite in SUITES:
            _, mib, _, _, each = suite
            measured = Measured([program], [*tool, "--format", "json", "--output", "/dev/null", program], suite, tests,
                                3 if options.quick else 5)
            ratio, extra, inner = measured.ratio(), measured.extra_us(), measured.inner_us()
            print(f"{method:<11} {mib:>4} {f'{each} µs':>8}   {ratio.show(2)} {extra.show(0)} {inner.show(0)}", flush=True)
            rows.append({"bench": "tracking", "method": method, "mib": mib, "tests": tests, "microseconds": each,
                         "ratio": ratio.values, "extra_us": extra.values, "inner_us": inner.values})
