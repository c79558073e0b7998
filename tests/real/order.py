"""Runs `polygraph order` on the real suites: what it finds, what it costs, and how far it got.

For each executable: plain, then `order` with a budget (--budget), then a replay of each finding, three times. Whatever
is in the build and temporary folders afterwards has to be what was there before, but for the tool's own results. The
reports stay in WORK/SUITE/order/.
"""

import collections
import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field

from pollution import lay_out

CLASSES = ("victim", "brittle", "non-idempotent", "unexplained")
OWN = ".polygraph"
MORE = 120              # seconds that a run may take beyond its budget, on a busy machine


@dataclass
class Figures:
    programs: int = 0
    tests: int = 0
    found: collections.Counter = field(default_factory=collections.Counter)     # by class
    rooted: int = 0         # findings with at least one polluted root
    replayed: int = 0
    random: list = field(default_factory=list)
    plain: float = 0.0
    order: float = 0.0
    executions: int = 0
    pairs: collections.Counter = field(default_factory=collections.Counter)     # all, tried, by_state
    ended: int = 0          # programs where the budget ended the search
    limits: list = field(default_factory=list)
    errors: list = field(default_factory=list)

    @property
    def findings(self):
        return sum(self.found.values())

    @property
    def open(self):
        return self.pairs["all"] - self.pairs["tried"] - self.pairs["by_state"]


class Failed(Exception):
    pass


def files(*folders):
    """What is in folders: the path of each name, with kind, permissions and content."""
    found = {}
    for top in folders:
        for folder, names, others in os.walk(top):
            if OWN in names:
                names.remove(OWN)
            for name in names + others:
                path = os.path.join(folder, name)
                mode = os.lstat(path).st_mode
                if os.path.islink(path):
                    content = os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, "rb") as file:
                        content = hashlib.file_digest(file, "sha256").hexdigest()
                else:
                    content = ""
                found[path] = (mode, content)
    return found


class Search:
    """One executable; @run is that of real_suites."""

    def __init__(self, runner, program, run):
        self.runner, self.program, self.run = runner, program, run
        self.folder = runner.folder / "order"
        self.options = runner.options

    def call(self, name, *command, limit):
        """Runs the tool; returns (exit status, seconds, what it said)."""
        output = self.folder / f"{self.program.name}{name}.out"
        status, took = self.run([str(self.options.polygraph), *command], self.program.cwd, self.program.env, output,
                                limit)
        return status, took, output.read_text(encoding="utf-8", errors="replace")

    def search(self):
        report = self.folder / f"{self.program.name}.json"
        suite = self.runner.suite
        what = ([f"--{suite.framework}", str(self.runner.build_folder)] if suite.framework in ("ctest", "meson") else
                ["--", *self.program.command])
        status, took, said = self.call("", "order", "--quiet", "--fresh", "--budget", f"{self.options.budget}s",
                                       "--format", "json", "--output", str(report), *suite.options, *what,
                                       limit=self.options.budget + MORE)
        if status not in (0, 1, 3) or not report.exists():
            said = [line for line in said.splitlines() if line.startswith("polygraph:")] or ["nothing said"]
            raise Failed(f"{self.program.name}: status {status}: {said[-1]}")
        return json.loads(report.read_text(encoding="utf-8")), took

    def measure(self, figures):
        name = self.program.name
        folders = (self.runner.build_folder, self.runner.folder / "tmp")
        self.runner.clean()
        plain = self.run(self.program.command, self.program.cwd, self.program.env, self.folder / f"{name}.plain")[1]
        self.runner.clean()
        before = files(*folders)
        report, took = self.search()
        for finding in report["findings"]:
            if finding["kind"] == "flaky":
                figures.random.append(f"{name}: {finding['test']}")
                continue
            status, _, said = self.call(f".{finding['id']}", "replay", "--times", "3", finding["id"],
                                        limit=self.options.budget + MORE)
            figures.replayed += status == 1
            if status != 1:
                figures.errors.append(f"{name}: {finding['id']} ({finding['test']}): not seen again: "
                                      + (said.strip().splitlines() or [f"status {status}"])[-1])
            figures.found[finding["class"]] += 1
            figures.rooted += bool(finding["polluted"])
        after = files(*folders)
        figures.errors += [f"{name}: {path} is another one than before" for path in sorted(before.keys() | after.keys())
                           if before.get(path) != after.get(path) and not path.endswith("Temporary/LastTest.log")]
        order = report["order"]
        figures.programs += 1
        figures.tests += len(report["tests"])
        figures.plain += plain
        figures.order += took
        figures.executions += order["executions"]
        figures.pairs.update(order["pairs"])
        figures.ended += order["ended_by"] is not None
        figures.limits += [f"{name}: {limit}" for limit in report["limits"]]
        shutil.rmtree(self.program.cwd / OWN, ignore_errors=True)


def measure(runner, run, say, failure):
    """All executables of a suite that is built; @failure: what @run throws."""
    figures = Figures()
    folder = runner.folder / "order"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for program in runner.programs():
        say(f"{runner.suite.name}: order of {program.name}")
        try:
            Search(runner, program, run).measure(figures)
        except (Failed, failure) as error:
            figures.errors.append(str(error))
    return figures


COLUMNS = ["suite", "programs", "tests", *CLASSES, "roots named", "random", "replayed", "plain s", "order s",
           "executions", "pairs", "tried", "by state", "open", "ended by budget"]


def row(name, figures):
    return [name, str(figures.programs), str(figures.tests), *(str(figures.found[kind]) for kind in CLASSES),
            f"{figures.rooted}/{figures.findings}", str(len(figures.random)), str(figures.replayed),
            f"{figures.plain:.1f}", f"{figures.order:.1f}",
            str(figures.executions), str(figures.pairs["all"]), str(figures.pairs["tried"]),
            str(figures.pairs["by_state"]), str(figures.open), str(figures.ended)]


def table(results, cell="  "):
    """@results: (name, figures)."""
    return lay_out([COLUMNS] + [row(name, figures) for name, figures in results], cell)


def sums(results):
    found, pairs = collections.Counter(), collections.Counter()
    for _, figures in results:
        found.update(figures.found)
        pairs.update(figures.pairs)
    replayed = sum(figures.replayed for _, figures in results)
    return [f"{sum(found.values())} findings: " + ", ".join(f"{found[kind]} {kind}" for kind in CLASSES)
            + f"; {replayed} shown again by replay, three times each",
            f"polluted roots are named for {sum(figures.rooted for _, figures in results)} of them",
            f"{pairs['all']} pairs: {pairs['tried']} tried, {pairs['by_state']} left out because of state, "
            f"{sum(figures.open for _, figures in results)} open; {sum(f.executions for _, f in results)} test executions",
            *(f"fails at random: {name}/{test}" for name, figures in results for test in figures.random)]
