"""What each way to find written memory costs: `polygraph pollution --page-tracking METHOD` against the plain run.

The suites are those of bench_pollution.py, with 1 MiB and 64 MiB of state, of which each test of 1 ms writes one page and
puts it back. Processor time is measured, of all processes together, so that a busy machine says the same. Ways that this
kernel does not have are left out. Called by bench.py (`./dev bench tracking`); `./dev test --kernel NAME --only bench` calls
it on other kernels.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import Spread
from bench_pollution import build_state, environment_for

METHODS = ("scan", "soft-dirty", "fork", "compare")
SIZES = (1, 64)  # MiB
MICROSECONDS = 1000


def has_method(command, program):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([*command, "--format", "json", "--output", file.name, program],
                       env=environment_for(2, "array", 1, 1, 0, 100), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        return "memory was not compared" not in json.dumps(json.loads(Path(file.name).read_text()).get("limits", []))


def processor_seconds(command, environment):
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench: exit status {process.returncode}: {' '.join(str(word) for word in command)}")
    return usage.ru_utime + usage.ru_stime


def bench_tracking(options, rows):
    print("\nWays to find written memory: processor time of the plain run against polygraph pollution")
    program = build_state(options.build)
    tests = 100 if options.quick else 500
    print(f"{tests} tests of 1 ms each, which write one page\n")
    print(f"{'method':<11} {'MiB':>4}   {'ratio':<30} µs more a test")
    for method in METHODS:
        tool = [options.polygraph, "pollution", "--only", "memory", "--page-tracking", method]
        if not has_method(tool, program):
            print(f"{method:<11} this kernel does not have it")
            continue
        for mib in SIZES:
            environment = environment_for(tests, "array", mib, 1, 0, MICROSECONDS)
            pairs = [(processor_seconds([program], environment),
                      processor_seconds([*tool, "--format", "json", "--output", "/dev/null", program], environment))
                     for _ in range(3 if options.quick else 7)]
            ratio = Spread([controlled / plain for plain, controlled in pairs])
            extra = Spread([(controlled - plain) / tests * 1e6 for plain, controlled in pairs])
            print(f"{method:<11} {mib:>4}   {ratio.show(2)} {extra.show(0)}", flush=True)
            rows.append({"bench": "tracking", "method": method, "mib": mib, "tests": tests, "microseconds": MICROSECONDS,
                         "ratio": ratio.values, "extra_us": extra.values})
