"""What choices cost, and what they find: `polygraph choices`.

a) Programs run plain and with the library that makes choices, at level ONE with all models, in turns (choices_cost.c): the
   tool's own start is not in it. Then the whole of `polygraph choices --level one --runs 1`, divided by the number of times
   that it ran the suite. Programs made for this (choices_work.cc), and the real suites that `./dev real-suites` has built
   in --work. Seconds by the clock, and of the processor, which say more where the machine does something else, too.
b) Runs until the first failure: each fragile case of tests/models with its own model, seeds from 1 on at the model's lowest
   level, against plain repetition of the same program. Then the errors known in the wild (tests/subjects/choices/) with the
   command itself and all models: the run that failed first, counted from the first of its level and from the first of all.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import HERE, TOP, Spread, newer

GOAL_RATIO = 1.3  # real suites, level ONE
KINDS = ("strings", "blocks", "hashes", "mixed")
SEEDS = 200
REPEATS = 100
TIME_LIMIT = 600
BUDGET = "60s"  # for the whole command, an executable
OWN = ".polygraph"  # where it keeps findings
# Subjects, how they are built, and pkg-config's name for what they need.
SUBJECTS = {"known_c/known_c.c": (["cc", "-fno-builtin"], ["-lcmocka", "-pthread"], None),
            "known_cxx/known_cxx.cc": (["c++", "-std=c++17"], ["-lgtest", "-lgtest_main", "-pthread"], None),
            "json_glib/json_glib.c": (["cc"], [], "glib-2.0")}
LEVELS = ("one", "eq", "id", "full")
FAMILIES = ("order", "hash", "memory", "values", "short", "statics", "threads", "environment")


def build_runner(build):
    runner, work = build / "choices_cost", build / "choices_work"
    if not newer(runner, HERE / "choices_cost.c", *(TOP / "src/wire").glob("*.h")):
        subprocess.run(["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-g", "-I", TOP / "src", "-o", runner,
                        HERE / "choices_cost.c"], check=True)
    if not newer(work, HERE / "choices_work.cc"):
        subprocess.run(["c++", "-std=c++17", "-O2", "-g", "-o", work, HERE / "choices_work.cc"], check=True)
    return runner, work


class Program:
    def __init__(self, name, command, cwd=None, env=None, options=()):
        self.name, self.command, self.cwd, self.env, self.options = name, command, cwd, env, list(options)


class Cost:
    """Of the programs of a suite, added up for each repetition."""

    def __init__(self, runner, agent, programs, times):
        self.plain, self.one, self.plain_cpu, self.one_cpu = ([0.0] * times for _ in range(4))
        self.made, self.changed = 0, set()
        for program in programs:
            # The first time warms the page cache.
            said = subprocess.run([runner, agent, "cost", str(times + 1), *program.command], cwd=program.cwd, env=program.env,
                                  check=True, capture_output=True, text=True).stdout.splitlines()[1:]
            for i, line in enumerate(said):
                plain, plain_cpu, one, one_cpu, plain_status, one_status, made, _ = map(float, line.split())
                self.plain[i] += plain
                self.one[i] += one
                self.plain_cpu[i] += plain_cpu
                self.one_cpu[i] += one_cpu
                self.made += made / times
                if plain_status != one_status:
                    self.changed.add(program.name)

    def ratio(self):
        return Spread([b / a for a, b in zip(self.plain, self.one)])

    def ratio_cpu(self):
        return Spread([b / a for a, b in zip(self.plain_cpu, self.one_cpu)])


def whole(polygraph, programs, plain_seconds):
    """The command itself: seconds for each time it ran the tests, against a plain run; None where it cannot."""
    seconds = 0.0
    for program in programs:
        own = Path(program.cwd or ".") / OWN
        was_there = own.exists()
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            command = [str(polygraph), "choices", "--level", "one", "--runs", "1", "--budget", BUDGET, "--quiet", "--format", "json",
                       "--output", str(report), *program.options, "--", *map(str, program.command)]
            started = time.perf_counter()
            try:
                subprocess.run(command, cwd=program.cwd, env=program.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=TIME_LIMIT, check=False)
            except subprocess.TimeoutExpired:
                return None
            elapsed = time.perf_counter() - started
            if not was_there:
                shutil.rmtree(own, ignore_errors=True)
            try:
                found = json.loads(report.read_text(encoding="utf-8"))
                tests = len(found["tests"]) or 1
                rounds = max(1.0, found["choices"]["executions"] / tests)
            except (OSError, ValueError, KeyError):
                return None
            seconds += elapsed / rounds
    return seconds / plain_seconds


def real_programs(work):
    """The suites in @work that are built: (name, programs). Suites of processes are left out: who starts them counts, too."""
    sys.path.insert(0, str(TOP / "tests" / "real"))
    import real_suites
    from suites import SUITES

    for suite in SUITES:
        folder = work / suite.name
        if suite.framework in ("ctest", "meson") or not (folder / "built").exists():
            continue
        runner = real_suites.Runner(suite, argparse.Namespace(work=work, jobs=1), None)
        trees = [path for path in (folder / "source").iterdir() if (path / "debian").is_dir()]
        if len(trees) != 1:
            continue
        runner.source = trees[0]
        try:
            programs = runner.programs()
        except real_suites.SuiteError:
            continue
        yield suite.name, [Program(p.name, p.command, p.cwd, p.env, suite.options) for p in programs]


def show(title, cost, rows, kind, goal=None, tool=None):
    ratio, cpu = cost.ratio(), cost.ratio_cpu()
    line = f"{title:<22} {statistics.median(cost.plain):>8.3f} {cost.made / 1e6:>8.2f}   {ratio.show(2, 6)} {cpu.show(2, 6)}"
    line += f" {'' if kind == 'work' else '-' if tool is None else f'{tool:.1f}':>6}"
    if goal:
        line += f"  <= {goal}: {'met' if ratio.median <= goal else 'not met'}"
    if cost.changed:
        line += f" (fails with choices: {', '.join(sorted(cost.changed)[:3])})"
    print(line, flush=True)
    rows.append({"bench": "choices", "kind": kind, "suite": title, "ratio": ratio.values, "ratio_cpu": cpu.values,
                 "plain": cost.plain, "made": cost.made, "tool": tool, "changed": sorted(cost.changed)})
    return ratio.median, cpu.median


def bench_cost(options, runner, work, agent, rows):
    times = 3 if options.quick else 5
    print("\nLevel ONE with all models against the plain run (a: by the clock; b: of the processor; c: polygraph choices, each "
          "round)")
    print(f"\n{'':<22} {'plain s':>8} {'million':>8}   {'a':<25} {'b':<25} {'c':>6}")
    for kind in KINDS:
        show(kind, Cost(runner, agent, [Program(kind, [work, kind])], times), rows, "work")
    medians = []
    for name, programs in real_programs(options.work):
        cost = Cost(runner, agent, programs, times)
        tool = None if options.quick else whole(options.polygraph, programs, statistics.median(cost.plain))
        medians.append(show(name, cost, rows, "real", GOAL_RATIO, tool))
    if not medians:
        print(f"no real suites in {options.work}: ./dev real-suites --build-only makes them, --work says where they are")
        return
    for title, i in (("by the clock", 0), ("of the processor", 1)):
        values = [median[i] for median in medians]
        met = sum(value <= GOAL_RATIO for value in values)
        print(f"real suites, {title}: median {statistics.median(values):.2f}, largest {max(values):.2f}, "
              f"{met} of {len(values)} at most {GOAL_RATIO}")


def plain_failures(program, repeats):
    """Of repeated plain runs: how often each fragile case failed by itself."""
    failures = {}
    environment = {k: v for k, v in os.environ.items() if k not in ("TZ", "LC_ALL", "TMPDIR", "COLUMNS", "LINES")}
    for _ in range(repeats):
        said = subprocess.run([program, "fragile"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False).stdout
        for line in said.splitlines():
            model, verdict = line.split()
            failures[model] = failures.get(model, 0) + (verdict == "failed")
    return failures


def bench_first(options, runner, agent, rows):
    repeats = 10 if options.quick else REPEATS
    top = options.polygraph.parent
    targets = [f"tests/models/{family}_O0" for family in FAMILIES]
    if subprocess.run(["ninja", "-C", top, *targets], stdout=subprocess.DEVNULL, check=False).returncode:
        print(f"\n{top} does not build tests/models: left out")
        return
    models = [line.split() for line in subprocess.run([runner, agent, "models"], check=True, capture_output=True,
                                                      text=True).stdout.splitlines()]
    print(f"\nRuns until the first failure of the fragile cases, lowest level of each model; plain: {repeats} repetitions")
    print(f"\n{'family':<12} {'models':>6} {'median':>7} {'most':>5} {'first run':>10} {'never':>6} {'plain finds':>12}")
    everything = []
    for family in FAMILIES:
        program = top / "tests" / "models" / f"{family}_O0"
        alone = plain_failures(program, repeats)
        runs, never, names = [], [], [name for of, name, _ in models if of == family]
        for name in names:
            needed = int(subprocess.run([runner, agent, "first", name, str(SEEDS), program], check=True, capture_output=True,
                                        text=True).stdout)
            if needed > 0:
                runs.append(needed)
            elif not needed:
                never.append(name)
        by_itself = [name for name in names if alone.get(name)]
        everything += runs
        print(f"{family:<12} {len(runs) + len(never):>6} {statistics.median(runs):>7} {max(runs):>5} {runs.count(1):>10} "
              f"{len(never):>6} {len(by_itself):>12}" + (f"  {', '.join((never + by_itself)[:4])}" if never + by_itself else ""),
              flush=True)
        rows.append({"bench": "choices", "kind": "first", "family": family, "runs": runs, "never": never,
                     "plain_repeats": repeats, "plain_failures": {name: alone[name] for name in by_itself}})
    print(f"{'all':<12} {len(everything):>6} {statistics.median(everything):>7} {max(everything):>5} "
          f"{everything.count(1):>10}")


def build_subject(build, name):
    (compiler, *flags), libraries, package = SUBJECTS[name]
    source = TOP / "tests" / "subjects" / "choices" / name
    target = build / f"choices_{source.stem}"
    if package:
        asked = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
        libraries = [*libraries, *asked.stdout.split()]
    done = subprocess.run([compiler, *flags, "-g", "-O0", "-o", target, source, *libraries], capture_output=True, check=False)
    return target if not done.returncode else None


def bench_subjects(options, rows):
    repeats, each = (10, 3) if options.quick else (REPEATS, 10)
    print(f"\nKnown errors, all models, {each} runs a level; plain: how many of {repeats} repetitions of the program failed")
    print(f"\n{'test':<36} {'api':<36} {'level':<5} {'runs there':>10} {'in all':>7} {'plain':>6}")
    for name in SUBJECTS:
        program = build_subject(options.build, name)
        if not program:
            print(f"{name}: cannot be built here")
            continue
        with tempfile.TemporaryDirectory() as folder:
            plain = sum(subprocess.run([program], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, check=False).returncode != 0 for _ in range(repeats))
            subprocess.run([options.polygraph, "choices", "--runs", str(each), "--quiet", "--format", "json", "--output",
                            "report.json", program], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
        first = report["choices"]["seed"]
        for finding in report["findings"]:
            there = finding["failing_seed"] - first + 1
            total = LEVELS.index(finding["level"]) * each + there
            print(f"{finding['test']:<36} {finding['api']:<36} {finding['level']:<5} {there:>10} {total:>7} {plain:>6}", flush=True)
            rows.append({"bench": "choices", "kind": "subject", "test": finding["test"], "api": finding["api"],
                         "level": finding["level"], "runs": there, "runs_all": total, "plain_repeats": repeats,
                         "plain_failures": plain})


def bench_choices(options, rows):
    agent = options.polygraph.parent / "libpolygraph-choices.so"
    runner, work = build_runner(options.build)
    bench_cost(options, runner, work, agent, rows)
    bench_first(options, runner, agent, rows)
    bench_subjects(options, rows)
