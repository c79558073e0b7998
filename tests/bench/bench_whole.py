"""What the whole of `polygraph pollution` costs, effects and readers included: against the plain run, on generated suites.

The suites are whole_suite.c: tests of 2 ms that share four variables, which one test of a hundred, one of ten, or every test
leaves changed. Printed are, for each suite,

    ratio           of the time of the whole run to that of the plain one: this is what the goals are about
    processors      the same of processor time, which other work on the machine changes less

And what 512 MiB that nobody touches add to the time of a run.

Called by bench.py (`./dev bench whole`).
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import HERE, Spread, newer

# Each so-manyth test leaves something; the goal for the ratio.
SUITES = [(100, 1.5), (10, 1.5), (1, 2.5)]
MICROSECONDS = 2000
UNTOUCHED_MIB = 512
GOAL_UNTOUCHED_SECONDS = 0.1


def build_whole(build):
    target, source = build / "whole_suite", HERE / "whole_suite.c"
    if not newer(target, source, HERE / "suite.h"):
        subprocess.run(["cc", "-g", "-O1", "-Wall", "-o", target, source], check=True)
    return target


def environment_for(tests, every, untouched=0):
    return {
        **os.environ,
        "BENCH_TESTS": str(tests),
        "BENCH_EVERY": str(every),
        "BENCH_UNTOUCHED": str(untouched),
        "BENCH_MICROSECONDS": str(MICROSECONDS),
    }


def measure(command, environment, good):
    """Seconds by the clock, and of the processors."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          check=False)
    elapsed, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in good:
        words = " ".join(str(word) for word in command)
        sys.exit(f"bench: exit status {done.returncode}: {words}\n{done.stderr.decode(errors='replace')}")
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_findings(command, tests, every, environment):
    """The comparison is worth something only where all was found out."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        measure([*command[:-1], "--output", file.name, command[-1]], environment, (0, 1))
        report = json.loads(Path(file.name).read_text())
    polluters = {finding["test"] for finding in report["findings"]}
    unknown = [finding for finding in report["findings"] if finding["effect"] == "unknown"]
    readers = [finding for finding in report["findings"] if finding["root"] == "level" and finding["readers"]]
    if len(polluters) != -(-tests // every) or unknown or not readers or report["limits"]:
        sys.exit(f"bench: {len(polluters)} polluters, {len(unknown)} effects not known, {len(readers)} of level with readers, "
                 f"{report['limits']}")


def bench_whole(options, rows):
    tests = 500 if options.quick else 1000
    times = 3 if options.quick else 5
    program = build_whole(options.build)
    command = [options.polygraph, "pollution", "--format", "json", program]
    print(f"\nWhole searches for leftovers: plain against polygraph pollution; {tests} tests of {MICROSECONDS / 1000:.0f} ms\n")
    print(f"{'leaving something':<20} {'ratio':<30} {'processors':<30} goal")
    for every, goal in SUITES:
        environment = environment_for(tests, every)
        check_findings(command, tests, every, environment)
        ratios, processors = [], []
        for i in range(times):
            pair = {}
            # Who goes first changes, so that drift of the machine hits both alike.
            for kind in (0, 1) if i % 2 else (1, 0):
                pair[kind] = measure(([program], command)[kind], environment, (0, kind))
            ratios.append(pair[1][0] / pair[0][0])
            processors.append(pair[1][1] / pair[0][1])
        ratio, share = Spread(ratios), Spread(processors)
        met = ratio.median <= goal
        name = "each test" if every == 1 else f"1 of {every}"
        print(f"{name:<20} {ratio.show(2)} {share.show(2)} <= {goal}x: {'met' if met else 'not met'}", flush=True)
        rows.append({"bench": "whole", "every": every, "tests": tests, "ratio": ratios, "processors": processors, "goal": goal,
                     "met": met})
    bench_untouched(command, times, rows)


def bench_untouched(command, times, rows):
    extra = []
    for i in range(times):
        taken = {}
        for untouched in (0, UNTOUCHED_MIB) if i % 2 else (UNTOUCHED_MIB, 0):
            taken[untouched] = measure(command, environment_for(10, 1000, untouched), (0, 1))[0]
        extra.append(taken[UNTOUCHED_MIB] - taken[0])
    seconds = Spread(extra)
    met = seconds.median <= GOAL_UNTOUCHED_SECONDS
    print(f"\n{UNTOUCHED_MIB} MiB that nobody touches: {seconds.show(3)} s more, goal <= {GOAL_UNTOUCHED_SECONDS}: "
          f"{'met' if met else 'not met'}")
    rows.append({"bench": "untouched", "mib": UNTOUCHED_MIB, "seconds": extra, "goal": GOAL_UNTOUCHED_SECONDS, "met": met})
