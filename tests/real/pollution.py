"""Runs `polygraph pollution` on the real suites: what it finds, and what it costs.

For each executable: plain, the first pass alone (--no-readers --no-effect) of memory and of all kinds of state, the
first pass with one test only, which is what starting up and reading debug information cost, and everything. What is
timed is run in turns, so that a busy spell of the machine does not count for one of them alone. Names and outcomes have
to be those of the plain run. What tests left is removed before each run. Suites of processes have no memory to be
compared. The reports stay in WORK/SUITE/pollution/, with the figures, of which --tables makes the tables again.
"""

import collections
import json
import math
import shutil
from dataclasses import dataclass, field

import judged

SEVERITIES = ("high", "medium", "low")
KINDS = ("memory", "file", "process")
LONG = 1e-3             # seconds: tests that take so long on average are compared by ratio, the others by difference


@dataclass
class Figures:
    programs: int = 0
    tests: int = 0
    found: collections.Counter = field(default_factory=collections.Counter)     # by (where, severity)
    roots: set = field(default_factory=set)
    plain: float = 0.0
    start: float = 0.0
    memory: float = 0.0     # the first pass with --only memory
    first: float = 0.0
    whole: float = 0.0
    limits: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    findings: list = field(default_factory=list)    # (program, what the report says of it)

    def add(self, program, report):
        """What the whole command said of one executable."""
        self.found.update((finding["where"], finding["severity"]) for finding in report["findings"])
        self.roots.update((program, finding["where"], finding["root"]) for finding in report["findings"])
        self.findings += [(program, finding) for finding in report["findings"]]
        self.limits += [f"{program}: {limit}" for limit in report["limits"]]

    @property
    def whole_ratio(self):
        return self.whole / self.plain if self.plain else 0.0

    @property
    def ratio(self):
        return self.first / self.plain if self.plain else 0.0

    @property
    def memory_ratio(self):
        return self.memory / self.plain if self.plain else 0.0

    @property
    def added(self):
        """What files and process state add to a plain run."""
        return 1 + (self.first - self.memory) / self.plain if self.plain else 0.0

    @property
    def tests_ratio(self):
        """Without starting up."""
        return 1 + max(self.first - self.start - self.plain, 0.0) / self.plain if self.plain else 0.0

    @property
    def more(self):
        """Microseconds more for a test, without starting up."""
        return max(self.first - self.start - self.plain, 0.0) / self.tests * 1e6 if self.tests else 0.0

    @property
    def is_long(self):
        return bool(self.tests) and self.plain / self.tests >= LONG


class Failed(Exception):
    pass


class Measurement:
    """One executable; @run and @compare are those of real_suites."""

    def __init__(self, runner, program, run, compare):
        self.runner, self.program, self.run, self.compare = runner, program, run, compare
        self.folder = runner.folder / "pollution"
        self.options = runner.options
        self.is_processes = runner.suite.framework in ("ctest", "meson")

    def report(self, name, *arguments):
        """One run of the tool; returns (its report, seconds)."""
        report = self.folder / f"{self.program.name}{name}.json"
        report.unlink(missing_ok=True)
        self.runner.clean()
        output = report.with_suffix(".out")
        what = ([f"--{self.runner.suite.framework}", str(self.runner.build_folder)] if self.is_processes else
                ["--", *self.program.command])
        command = [str(self.options.polygraph), "pollution", "--quiet", "--format", "json", "--output", str(report),
                   *self.runner.suite.options, *arguments, *what]
        status, took = self.run(command, self.program.cwd, self.program.env, output)
        if status not in (0, 1, 3) or not report.exists():
            said = [line for line in output.read_text(encoding="utf-8", errors="replace").splitlines()
                    if line.startswith("polygraph:")] or ["nothing said"]
            raise Failed(f"{self.program.name}: status {status}: {said[-1]}")
        return json.loads(report.read_text(encoding="utf-8")), took

    def turns(self, runs):
        """The best of some runs of each, in turns; @runs: functions that return seconds."""
        seconds = [[run() for run in runs] for _ in range(self.options.repeat)]
        return [min(column) for column in zip(*seconds)]

    def plain(self):
        self.runner.clean()
        return self.run(self.program.command, self.program.cwd, self.program.env, self.folder / "plain.out")[1]

    def measure(self, figures):
        self.folder.mkdir(parents=True, exist_ok=True)
        reports = self.folder / f"{self.program.name}.plain"    # cmocka does not overwrite another program's
        reports.mkdir()
        expected = self.runner.plain_tests(self.program, reports)
        report, whole = self.report("")
        tests = report["tests"]
        figures.errors += [f"{self.program.name}: {line}" for line in
                           self.compare(expected, [(test["name"], test["outcome"]) for test in tests])]
        quickest = min(tests, key=lambda test: test.get("seconds") or 0.0)
        first_only = ("--no-readers", "--no-effect")
        runs = [self.plain, lambda: self.report(".first", *first_only)[1]]
        if not self.is_processes:
            runs += [lambda: self.report(".memory", *first_only, "--only", "memory")[1],
                     lambda: self.report(".start", *first_only, "--tests", escape(quickest["name"]))[1]]
        plain, first, memory, start = (self.turns(runs) + [0.0, 0.0])[:4]
        figures.programs += 1
        figures.tests += len(tests)
        figures.add(self.program.name, report)
        figures.plain += plain
        figures.start += min(max(start - (quickest.get("seconds") or 0.0), 0.0), first)
        figures.memory += plain if self.is_processes else memory
        figures.first += first
        figures.whole += whole


def escape(name):
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


NUMBERS = ("programs", "tests", "plain", "start", "memory", "first", "whole")


def save(folder, programs, figures):
    (folder / "figures.json").write_text(json.dumps({
        "programs_run": [program.name for program in programs], "errors": figures.errors,
        **{name: getattr(figures, name) for name in NUMBERS}}, indent=1) + "\n", encoding="utf-8")


def load(folder):
    """The figures of an earlier run."""
    kept = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    figures = Figures(errors=kept["errors"], **{name: kept[name] for name in NUMBERS})
    for program in kept["programs_run"]:
        report = folder / f"{program}.json"
        if report.exists():
            figures.add(program, json.loads(report.read_text(encoding="utf-8")))
    return figures


def measure(runner, run, compare, say):
    """All executables of a suite that is built."""
    if runner.options.tables:
        return load(runner.folder / "pollution")
    figures = Figures()
    programs = runner.programs()
    shutil.rmtree(runner.folder / "pollution", ignore_errors=True)
    for program in programs:
        say(f"{runner.suite.name}: pollution of {program.name}")
        try:
            Measurement(runner, program, run, compare).measure(figures)
        except Failed as error:
            figures.errors.append(str(error))
    save(runner.folder / "pollution", programs, figures)
    return figures


COLUMNS = ["suite", "programs", "tests", *(f"{kind} h/m/l" for kind in KINDS), "plain s", "start-up s", "memory s",
           "all s", "whole s", "memory", "files + process", "all", "without start-up", "µs more a test"]


def row(name, figures):
    return [name, str(figures.programs), str(figures.tests),
            *("/".join(str(figures.found[kind, severity]) for severity in SEVERITIES) for kind in KINDS),
            *(f"{seconds:.3f}" for seconds in (figures.plain, figures.start, figures.memory, figures.first,
                                               figures.whole)),
            *(f"{ratio:.2f}" for ratio in (figures.memory_ratio, figures.added, figures.ratio, figures.tests_ratio)),
            f"{figures.more:.0f}"]


def lay_out(rows, cell="  "):
    """A table: the first row is the heading."""
    if cell != "  ":
        lines = [f"| {' | '.join(cells)} |" for cells in rows]
        lines.insert(1, "| --- " + "| ---: " * (len(rows[0]) - 1) + "|")
        return "\n".join(lines)
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(rows[0]))]
    return "\n".join(cell.join(text.rjust(width) if i else text.ljust(width)
                               for i, (text, width) in enumerate(zip(cells, widths))).rstrip() for cells in rows)


def table(results, cell="  "):
    """@results: (name, figures)."""
    return lay_out([COLUMNS] + [row(name, figures) for name, figures in results], cell)


def mean(results, key):
    return math.exp(sum(math.log(max(getattr(figures, key), 1e-9)) for _, figures in results) / len(results))


def sums(results):
    """What the goals speak of, in sentences."""
    long = [(name, figures) for name, figures in results if figures.is_long]
    short = [(name, figures) for name, figures in results if figures.tests and not figures.is_long]
    lines = []
    if long:
        for text, key in (("all kinds", "ratio"), ("memory alone", "memory_ratio"),
                          ("files and process state alone", "added"), ("all kinds, without start-up", "tests_ratio")):
            name, worst = max(long, key=lambda result: getattr(result[1], key))
            lines.append(f"{len(long)} suites whose tests take 1 ms or more: geometric mean of the slow-down ({text}) "
                         f"{mean(long, key):.2f}, largest {getattr(worst, key):.2f} ({name})")
    if short:
        name, worst = max(short, key=lambda result: result[1].more)
        lines.append(f"{len(short)} faster ones: at most {worst.more:.0f} µs more a test ({name})")
    for kind in KINDS:
        counts = collections.Counter()
        for _, figures in results:
            counts.update({severity: figures.found[kind, severity] for severity in SEVERITIES})
        roots = sum(where == kind for _, figures in results for _, where, _ in figures.roots)
        lines.append(f"{kind}: {sum(counts.values())} findings at {roots} roots: "
                     + ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES))
    return lines


def write_page(path, results, times):
    """The page with its tables made anew; @results: (package, figures); @times: with what it costs."""
    path.write_text(judged.page(path.read_text(encoding="utf-8"), results, times), encoding="utf-8")
