"""Runs `polygraph choices` on the real suites: what it finds, what it costs, and how far it got.

For each executable: plain, then `choices` with a budget (--budget), then a replay of each finding, three times. The
reports stay in WORK/SUITE/choices/.
"""

import collections
import json
import shutil
from dataclasses import dataclass, field

from order import MORE, OWN, Failed, files
from pollution import lay_out

LEVELS = ("one", "eq", "id", "full")


@dataclass
class Figures:
    programs: int = 0
    tests: int = 0
    found: collections.Counter = field(default_factory=collections.Counter)     # by level
    apis: collections.Counter = field(default_factory=collections.Counter)
    replayed: int = 0
    random: list = field(default_factory=list)
    unexplained: int = 0
    plain: float = 0.0
    choices: float = 0.0
    runs: int = 0           # of a program: without choices, and with seeds at levels
    executions: int = 0
    models: set = field(default_factory=set)
    ended: int = 0          # programs where the budget ended the search
    limits: list = field(default_factory=list)
    errors: list = field(default_factory=list)


class Search:
    """One executable; @run is that of real_suites."""

    def __init__(self, runner, program, run):
        self.runner, self.program, self.run = runner, program, run
        self.folder = runner.folder / "choices"
        self.options = runner.options

    def call(self, name, *command):
        """Runs the tool; returns (exit status, seconds, what it said)."""
        output = self.folder / f"{self.program.name}{name}.out"
        status, took = self.run([str(self.options.polygraph), *command], self.program.cwd, self.program.env, output,
                                self.options.budget + MORE)
        return status, took, output.read_text(encoding="utf-8", errors="replace")

    def search(self):
        report = self.folder / f"{self.program.name}.json"
        suite = self.runner.suite
        what = ([f"--{suite.framework}", str(self.runner.build_folder)] if suite.framework in ("ctest", "meson") else
                ["--", *self.program.command])
        status, took, said = self.call("", "choices", "--quiet", "--budget", f"{self.options.budget}s", "--format", "json",
                                       "--output", str(report), *suite.options, *what)
        if status not in (0, 1, 3) or not report.exists():
            said = [line for line in said.splitlines() if line.startswith("polygraph:")] or ["nothing said"]
            raise Failed(f"{self.program.name}: status {status}: {said[-1]}")
        return json.loads(report.read_text(encoding="utf-8")), took

    def measure(self, figures):
        name = self.program.name
        folders = (self.runner.build_folder, self.runner.folder / "tmp")
        self.runner.clean()
        plain = self.run(self.program.command, self.program.cwd, self.program.env, self.folder / f"{name}.plain")[1]
        after_plain = files(*folders)
        self.runner.clean()
        before = files(*folders)
        report, took = self.search()
        for finding in report["findings"]:
            status, _, said = self.call(f".{finding['id']}", "replay", "--times", "3", finding["id"])
            figures.replayed += status == 1
            if status != 1:
                figures.errors.append(f"{name}: {finding['id']} ({finding['test']}): not seen again: "
                                      + (said.strip().splitlines() or [f"status {status}"])[-1])
            figures.found[finding["level"]] += 1
            figures.apis[finding["api"]] += 1
        after = files(*folders)
        # What the tests leave when they run plainly is theirs.
        figures.errors += [f"{name}: {path} is another one than before" for path in sorted(before.keys() | after.keys())
                           if before.get(path) != after.get(path) and path not in after_plain
                           and not path.endswith("Temporary/LastTest.log")]
        choices = report["choices"]
        figures.programs += 1
        figures.tests += len(report["tests"])
        figures.random += [f"{name}: {found['test']}" for found in report["findings"] if found["kind"] == "flaky"]
        figures.unexplained += choices["unexplained"]
        figures.plain += plain
        figures.choices += took
        figures.runs += choices["runs"] + choices["baselines"]
        figures.executions += choices["executions"]
        figures.models.update(choices["models"])
        figures.ended += choices["ended_by"] is not None
        figures.limits += [f"{name}: {limit}" for limit in report["limits"]]
        shutil.rmtree(self.program.cwd / OWN, ignore_errors=True)


def measure(runner, run, say, failure):
    """All executables of a suite that is built; @failure: what @run throws."""
    figures = Figures()
    folder = runner.folder / "choices"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for program in runner.programs():
        say(f"{runner.suite.name}: choices of {program.name}")
        try:
            Search(runner, program, run).measure(figures)
        except (Failed, failure) as error:
            figures.errors.append(str(error))
    return figures


COLUMNS = ["suite", "programs", "tests", *LEVELS, "random", "unexplained", "replayed", "models", "plain s", "choices s",
           "runs", "executions", "ended by budget"]


def row(name, figures):
    return [name, str(figures.programs), str(figures.tests), *(str(figures.found[level]) for level in LEVELS),
            str(len(figures.random)), str(figures.unexplained), str(figures.replayed), str(len(figures.models)),
            f"{figures.plain:.1f}", f"{figures.choices:.1f}", str(figures.runs), str(figures.executions),
            str(figures.ended)]


def table(results, cell="  "):
    """@results: (name, figures)."""
    return lay_out([COLUMNS] + [row(name, figures) for name, figures in results], cell)


def sums(results):
    found, apis = collections.Counter(), collections.Counter()
    for _, figures in results:
        found.update(figures.found)
        apis.update(figures.apis)
    replayed = sum(figures.replayed for _, figures in results)
    return [f"{sum(found.values())} findings: " + ", ".join(f"{found[level]} at level {level}" for level in LEVELS)
            + f"; {replayed} shown again by replay, three times each",
            *(f"{count} of {api}" for api, count in apis.most_common()),
            *(f"fails at random: {name}/{test}" for name, figures in results for test in figures.random)]
