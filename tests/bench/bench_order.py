"""What finding order-dependent tests costs: `polygraph order`, systematically and by random orders, to the same result.

Generated suites (order_suite.py): 2,000 tests of 100 µs each with 5 polluters and 3 victims, as functions and with
GoogleTest; the same where one test in 20 more leaves something behind that nobody minds; and 60 commands. The
systematic search runs once. The random one, which is that of iDFlakies, gets more and more orders until it knows all that
the systematic one does, for several seeds; counted is what its last call took until then, not the calls before with too
few orders. Shown is what it takes until all victims are known with all of their polluters, and, which is less, until all
victims are known with one each.

Called by bench.py (`./dev bench order`).
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import HERE, Spread, newer
from order_suite import NAMES, SOURCES, Plan

GOAL_SECONDS = 60  # 2,000 tests of 100 µs, two cores
MICROSECONDS = 100
SUITE_SEED = 1
LATENT = 20
MOST_RUNS = 256
PATIENCE = 600


def build_suite(build, kind, tests, latent):
    """The suite's words on the command line, and its plan."""
    plan = Plan(tests, SUITE_SEED, latent)
    suffix = {"functions": ".c", "gtest": ".cc", "commands": ".txt"}[kind]
    source = build / f"order_{kind}_{tests}_{latent}{suffix}"
    target = source.with_suffix("")
    if not newer(source, Path(__file__), HERE / "order_suite.py"):
        source.write_text(SOURCES[kind](plan, MICROSECONDS))
    if kind == "commands":
        return ["--commands", source], plan
    if not newer(target, source):
        compiler = ["cc"] if kind == "functions" else ["c++", "-std=c++17"]
        libraries = [] if kind == "functions" else ["-lgtest", "-pthread"]
        subprocess.run([*compiler, "-g", "-O1", "-o", target, source, *libraries], check=True)
    return ["--", target], plan


class Search:
    """One call of `polygraph order`, in a folder of its own: nothing is known from the one before."""

    def __init__(self, polygraph, suite, *arguments):
        with tempfile.TemporaryDirectory(prefix="polygraph-bench-") as folder:
            words = [polygraph, "order", "--format", "json", "--output", "report.json", *arguments, *suite]
            started = time.perf_counter()
            try:
                done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                sys.exit(f"bench: still running after {PATIENCE} s: {' '.join(map(str, words))}")
            self.seconds = time.perf_counter() - started
            if done.returncode not in (0, 1, 3):  # 3: a victim was taken for a test that fails on its own
                sys.exit(f"bench: exit status {done.returncode}: {' '.join(map(str, words))}\n"
                         f"{done.stderr.decode(errors='replace')}")
            report = json.loads((Path(folder) / "report.json").read_text())
        self.executions, self.until_last = report["order"]["executions"], report["order"]["until_last"]
        self.limits = report.get("limits", [])
        self.found = {f["test"]: {tuple(names) for names in f["polluters"]} for f in report["findings"]
                      if f["class"] == "victim"}
        self.others = [f["test"] for f in report["findings"] if f["class"] != "victim"]

    def knows_all(self, wanted):
        return all(polluters <= self.found.get(victim, set()) for victim, polluters in wanted)

    def knows_victims(self, wanted):
        return all(polluters & self.found.get(victim, set()) for victim, polluters in wanted)

    def false(self, wanted):
        """Findings that are none."""
        truth = dict(wanted)
        return self.others + [f"{test} after {', '.join(names)}" for test, lists in self.found.items() for names in lists
                              if names not in truth.get(test, ())]


def search_randomly(polygraph, suite, wanted, seed, enough):
    """The first call that knows enough, with the number of orders; None with the most where no number is enough."""
    runs = 1
    while runs <= MOST_RUNS:
        search = Search(polygraph, suite, "--strategy", "random", "--runs", str(runs), "--seed", str(seed))
        if enough(search, wanted):
            return search, runs
        runs *= 2
    return None, MOST_RUNS


def row(title, runs, seconds, until, total, note=""):
    print(f"  {title:<34} {runs:>6} {seconds:>9} {until:>14} {total:>12}   {note}", flush=True)


def bench_suite(options, rows, kind, tests, latent):
    suite, plan = build_suite(options.build, kind, tests, latent)
    wanted = plan.names(NAMES[kind](plan))
    each = "a process each" if kind == "commands" else f"{MICROSECONDS} µs each"
    print(f"\n{kind}: {tests} tests, {each}; 3 victims, 5 polluters"
          + (f", {len(plan.latent)} that leave something else" if latent else ""))
    row("", "orders", "seconds", "tests until", "tests in all")
    systematic = Search(options.polygraph, suite)
    complete, false = systematic.knows_all(wanted), systematic.false(wanted)
    large = tests == 2000 and not latent
    note = f"goal < {GOAL_SECONDS} s: {'met' if systematic.seconds < GOAL_SECONDS else 'not met'}" if large else ""
    row("systematic", "", f"{systematic.seconds:.2f}", systematic.until_last, systematic.executions, note)
    if not complete:
        row("  NOT ALL FOUND:", "", "", "", "", str(systematic.found))
    for text in false:
        row("  NOT SO:", "", "", "", "", text)
    result = {"bench": "order", "suite": kind, "tests": tests, "latent": len(plan.latent), "complete": complete, "false": false,
              "seconds": systematic.seconds, "executions": systematic.executions, "until_last": systematic.until_last,
              "limits": systematic.limits, "random": []}
    rows.append(result)
    for title, enough in (("random, all polluters", Search.knows_all), ("random, one polluter a victim", Search.knows_victims)):
        ratios, times = [], []
        for seed in range(1, 2 if options.quick else 4):
            search, runs = search_randomly(options.polygraph, suite, wanted, seed, enough)
            if not search:
                row(f"{title}, seed {seed}", f"> {runs}", "", "never", "")
                result["random"].append({"what": title, "seed": seed, "runs": None})
                continue
            ratios.append(search.until_last / systematic.until_last if systematic.until_last else float("inf"))
            times.append(search.seconds / systematic.seconds)
            row(f"{title}, seed {seed}", runs, f"{search.seconds:.2f}", search.until_last, search.executions)
            result["random"].append({"what": title, "seed": seed, "runs": runs, "seconds": search.seconds,
                                     "executions": search.executions, "until_last": search.until_last})
        if ratios:
            print(f"  {title}: {Spread(ratios).show(2, 0).strip()} times the executions of the systematic search, "
                  f"{Spread(times).show(2, 0).strip()} times its seconds")


def bench_order(options, rows):
    print("\nOrder-dependent tests: until the last of them is known, systematically and by random orders")
    tests = 300 if options.quick else 2000
    for kind, latent in (("functions", 0), ("gtest", 0), ("functions", LATENT)):
        bench_suite(options, rows, kind, tests, latent)
    bench_suite(options, rows, "commands", 60, LATENT)
