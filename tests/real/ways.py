"""Runs the real suites in their own order, reversed and each test alone, and compares names and outcomes each time.

What is compared with is always the suite's own report of its own order. A test that differs in another order either
depends on the order, which people judge in its source, or is a mistake of the tool. The reports stay in
WORK/SUITE/ways/.
"""

import json
import shutil
from dataclasses import dataclass, field

from pollution import lay_out

WAYS = {"own": [], "reversed": ["--reverse"], "alone": ["--alone"]}


@dataclass
class Figures:
    programs: int = 0
    tests: int = 0
    plain: float = 0.0
    differences: dict = field(default_factory=lambda: {way: [] for way in WAYS})
    seconds: dict = field(default_factory=lambda: dict.fromkeys(WAYS, 0.0))
    errors: list = field(default_factory=list)
    limits: list = field(default_factory=list)


def run_way(runner, program, way, folder, run):
    """Returns (framework, tests, seconds)."""
    suite = runner.suite
    report = folder / f"{program.name}.{way}.json"
    more = suite.alone if way == "alone" else []
    what = ([f"--{suite.framework}", str(runner.build_folder)] if suite.framework in ("ctest", "meson") else
            ["--", *program.command])
    command = [str(runner.options.polygraph), "run", *WAYS[way], *more, "--format", "json", "--output", str(report),
               "--quiet", *suite.options, *what]
    status, took = run(command, program.cwd, program.env, folder / f"{program.name}.{way}.out")
    if status not in (0, 3) or not report.exists():
        said = (folder / f"{program.name}.{way}.out").read_text(encoding="utf-8", errors="replace").splitlines()
        said = [line for line in said if line.startswith("polygraph:")] or ["no output"]
        return None, [("status", f"{status}: {said[0]}")], took
    found = json.loads(report.read_text(encoding="utf-8"))
    return found["suite"]["framework"], [(test["name"], test["outcome"]) for test in found["tests"]], took


def measure(runner, run, compare, say):
    """All executables of a suite that is built."""
    figures = Figures()
    folder = runner.folder / "ways"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for program in runner.programs():
        own = folder / f"{program.name}.report"
        own.mkdir()
        runner.clean()
        expected = runner.plain_tests(program, own)
        figures.plain += run(program.command, program.cwd, program.env, folder / f"{program.name}.plain")[1]
        figures.programs += 1
        figures.tests += len(expected)
        for way in WAYS:
            say(f"{runner.suite.name}: {program.name}, {way}")
            runner.clean()
            framework, found, took = run_way(runner, program, way, folder, run)
            figures.seconds[way] += took
            known = (runner.suite.framework, None)
            lines = [] if framework in known else [f"framework taken for {framework}"]
            lines += compare(expected, found)
            figures.differences[way] += [f"{program.name}, {way}: {line}" for line in lines]
    for lines in figures.differences.values():
        figures.errors += lines
    return figures


COLUMNS = ["suite", "programs", "tests", *WAYS, "plain s", *(f"{way} s" for way in WAYS)]


def row(name, figures):
    return [name, str(figures.programs), str(figures.tests),
            *(str(len(figures.differences[way])) for way in WAYS), f"{figures.plain:.2f}",
            *(f"{figures.seconds[way]:.2f}" for way in WAYS)]


def table(results, cell="  "):
    """@results: (name, figures). The numbers below the ways are those of differences."""
    return lay_out([COLUMNS] + [row(name, figures) for name, figures in results], cell)


def sums(results):
    return [f"{sum(figures.tests for _, figures in results)} tests; differences: "
            + ", ".join(f"{sum(len(figures.differences[way]) for _, figures in results)} {way}" for way in WAYS)]
