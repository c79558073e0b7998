#!/usr/bin/env python3
"""Runs real test suites plain and under polygraph, and compares names and outcomes test by test.

The suites come from Debian source packages (suites.py). Everything is fetched, built and run below one folder
(--work); as root, missing build dependencies are installed, an ordinary user is told which they are.

Exit status: 0 all suites agree, 1 some differ or could not be run, 2 the call was wrong, 130 interrupted.
"""

import argparse
import collections
import contextlib
import fnmatch
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import choices
import order
import plain
import pollution
import ways
from suites import SUITES

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/harness"))
from apt_sources import Apt, AptError, installed  # noqa: E402

TIME_LIMIT = 600        # seconds for one run of one executable
BASICS = ["build-essential", "dpkg-dev", "patch"]


class SuiteError(Exception):
    pass


@dataclass
class Result:
    suite: object
    version: str = "?"
    executables: int = 0
    tests: int = 0
    outcomes: collections.Counter = field(default_factory=collections.Counter)
    plain_seconds: float = 0.0
    polygraph_seconds: float = None
    differences: list = field(default_factory=list)
    error: str = None

    @property
    def ratio(self):
        if self.polygraph_seconds is None or not self.plain_seconds:
            return None
        return self.polygraph_seconds / self.plain_seconds


@dataclass
class Program:
    """One call of a test executable (or of a build folder's suite of processes)."""
    name: str
    command: list
    cwd: Path
    env: dict


def run(command, cwd, env, output, limit=TIME_LIMIT):
    """Runs to the end with its output in a file; returns (exit status, seconds). Nothing it started is left over."""
    with open(output, "wb") as out:
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        # With a timeout, wait() looks every 50 ms: too coarse for a clock.
        late = threading.Event()

        def give_up():
            late.set()
            os.killpg(process.pid, signal.SIGKILL)

        watchdog = threading.Timer(limit, give_up)
        watchdog.start()
        try:
            status = process.wait()
            if late.is_set():
                raise SuiteError(f"{shlex.join(map(str, command))}: no end after {limit} s")
        finally:
            seconds = time.monotonic() - start
            watchdog.cancel()
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    return status, seconds


def is_program(path):
    if not path.is_file() or path.is_symlink() or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


class Runner:
    def __init__(self, suite, options, apt):
        self.suite = suite
        self.options = options
        self.apt = apt
        self.folder = options.work / suite.name
        self.build_folder = self.folder / "build"
        self.result = Result(suite)
        self.source = None

    def fill(self, text):
        return (text.replace("{source}", str(self.source)).replace("{build}", str(self.build_folder))
                .replace("{tmp}", str(self.folder / "tmp")).replace("{jobs}", str(self.options.jobs)))

    def environment(self, build=False):
        env = {key: value for key, value in os.environ.items()
               if key in ("PATH", "USER", "LOGNAME", "TERM", "http_proxy", "https_proxy")}
        for name in ("tmp", "home"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        env.update(LC_ALL="C.UTF-8", HOME=str(self.folder / "home"), TMPDIR=str(self.folder / "tmp"))
        if build:
            env.update(CFLAGS="-g -O2", CXXFLAGS="-g -O2",
                       DEB_VERSION_UPSTREAM=self.result.version.split(":", 1)[-1].rsplit("-", 1)[0])
        else:
            env.update({key: self.fill(value) for key, value in self.suite.env.items()})
        return env

    def fetch(self):
        self.result.version, self.source = self.apt.fetch(self.suite.package, self.folder / "source")

    def build(self):
        commands = [self.fill(command) for command in self.suite.build]
        stamp = self.folder / "built"
        want = json.dumps([self.result.version, commands])
        if stamp.exists() and stamp.read_text(encoding="utf-8") == want:
            return
        say(f"{self.suite.name}: building")
        stamp.unlink(missing_ok=True)
        shutil.rmtree(self.build_folder, ignore_errors=True)
        self.build_folder.mkdir(parents=True)
        log = self.folder / "build.log"
        log.unlink(missing_ok=True)
        for command in commands:
            with open(log, "a", encoding="utf-8") as out:
                out.write(f"$ {command}\n")
                out.flush()
                status = subprocess.run(["nice", "sh", "-c", command], cwd=self.build_folder,
                                        env=self.environment(build=True), stdin=subprocess.DEVNULL, stdout=out,
                                        stderr=out).returncode
            if status != 0:
                raise SuiteError(f"`{command}` ended with status {status}: see {log}")
        stamp.write_text(want, encoding="utf-8")

    def clean(self):
        """Removes what tests left in the build and the temporary folder, so that the next run begins as the first."""
        listed = self.folder / "built-files"
        built = (self.folder / "built").stat().st_mtime
        if not listed.exists() or listed.stat().st_mtime < built:
            names = {path.relative_to(self.folder) for path in self.build_folder.rglob("*")
                     if path.lstat().st_mtime <= built and not path.is_dir()}
            names |= {parent for name in names for parent in name.parents}
            listed.write_text("\0".join(sorted(map(str, names))), encoding="utf-8", errors="surrogateescape")
        known = set(listed.read_text(encoding="utf-8", errors="surrogateescape").split("\0"))
        for top in (self.build_folder, self.folder / "tmp"):
            for path in sorted(top.rglob("*"), reverse=True):
                if path.is_dir() and not path.is_symlink():
                    if not any(path.iterdir()) and path.stat().st_mtime > built:
                        path.rmdir()
                elif str(path.relative_to(self.folder)) not in known:
                    path.unlink()

    def programs(self):
        suite = self.suite
        env = self.environment()
        if suite.framework == "ctest":
            return [Program("ctest", ["ctest", "--test-dir", str(self.build_folder), "-j1"], self.build_folder, env)]
        if suite.framework == "meson":
            return [Program("meson", ["meson", "test", "-C", str(self.build_folder), "--no-rebuild",
                                      "--num-processes", "1"], self.build_folder, env)]
        programs = []
        for pattern in suite.programs:
            found = sorted(path for path in self.build_folder.glob(pattern) if is_program(path))
            if not found:
                raise SuiteError(f"the build left no test executable {pattern} in {self.build_folder}")
            for path in found:
                if path.name not in suite.without:
                    cwd = Path(self.fill(suite.cwd)) if suite.cwd else path.parent
                    arguments = [self.fill(word) for word in suite.args]
                    programs.append(Program(path.name, [str(path), *arguments], cwd, env))
        return programs

    @contextlib.contextmanager
    def serving(self):
        """While the suite's server runs, if it has one."""
        if not self.suite.server:
            yield
            return
        (self.folder / "tmp").mkdir(parents=True, exist_ok=True)
        with open(self.folder / "server.log", "wb") as log:
            server = subprocess.Popen(["sh", "-c", self.fill(self.suite.server)], stdin=subprocess.DEVNULL, stdout=log,
                                      stderr=log)
        time.sleep(1)
        try:
            if server.poll() is not None:
                raise SuiteError(f"its server ends at once: see {self.folder / 'server.log'}")
            yield
        finally:
            server.terminate()
            server.wait()

    def plain_tests(self, program, folder):
        """One run that makes the framework's own report."""
        framework = plain.FRAMEWORKS[self.suite.framework]
        output = folder / "report.out"
        if self.suite.framework == "ctest":
            command, env = [*program.command, "--output-junit", str(folder / "report.xml")], program.env
        elif self.suite.framework == "meson":
            command, env = program.command, program.env
        else:
            arguments, more = framework.ask(folder)
            command, env = [*program.command, *self.suite.report_args, *arguments], {**program.env, **more}
        status, _ = run(command, program.cwd, env, output)
        if status < 0:
            raise SuiteError(f"{program.name} ends by signal {-status} on its own: see {output}")
        where = self.build_folder if self.suite.framework == "meson" else folder
        tests = (self.suite.read or framework.read)(where, output.read_text(encoding="utf-8", errors="replace"))
        if not tests:
            raise SuiteError(f"{program.name} reported no tests: see {output}")
        return tests

    def polygraph_command(self, program, report):
        command = [str(self.options.polygraph), "run", "--format", "json", "--output", str(report), "--quiet",
                   *self.suite.options]
        if self.suite.framework in ("ctest", "meson"):
            return [*command, "--jobs", "1", f"--{self.suite.framework}", str(self.build_folder)]
        return [*command, "--", *program.command]

    def polygraph_tests(self, program, folder):
        """The run that is compared, then the timed ones; returns (framework, tests, seconds)."""
        report = folder / "polygraph.json"
        command = self.polygraph_command(program, report)
        seconds = []
        for _ in range(self.options.repeat):
            report.unlink(missing_ok=True)
            status, took = run(command, program.cwd, program.env, folder / "polygraph.out")
            seconds.append(took)
            if status not in (0, 3) or not report.exists():
                said = (folder / "polygraph.out").read_text(encoding="utf-8", errors="replace").strip().splitlines()
                said = [line for line in said if line.startswith("polygraph:")] or said[-1:] or ["no output"]
                raise SuiteError(f"polygraph ended with status {status}: {said[0]}")
        try:
            found = json.loads(report.read_text(encoding="utf-8"))
            tests = [(test["name"], test["outcome"]) for test in found["tests"]]
            return found["suite"]["framework"], tests, min(seconds)
        except (ValueError, KeyError, TypeError) as error:
            raise SuiteError(f"polygraph's report {report} is not as the contract says: {error!r}") from error

    def run_program(self, program):
        folder = self.folder / "runs" / program.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        result = self.result
        tests = self.plain_tests(program, folder)
        seconds = [run(program.command, program.cwd, program.env, folder / "plain.out")[1]
                   for _ in range(self.options.repeat)]
        result.executables += 1
        result.tests += len(tests)
        result.outcomes.update(outcome for _, outcome in tests)
        result.plain_seconds += min(seconds)
        (folder / "plain.json").write_text(json.dumps(tests, indent=0) + "\n", encoding="utf-8")
        if self.options.plain_only:
            return
        try:
            framework, found, took = self.polygraph_tests(program, folder)
        except SuiteError as error:
            result.differences.append(f"{program.name}: {error}")
            return
        result.polygraph_seconds = (result.polygraph_seconds or 0.0) + took
        if self.suite.framework not in ("ctest", "meson") and framework != self.suite.framework:
            result.differences.append(f"{program.name}: framework taken for {framework}")
        result.differences += [f"{program.name}: {line}" for line in compare(tests, found)]

    def prepare(self):
        """Fetched and built."""
        say(f"{self.suite.name}: fetching")
        self.fetch()
        missing = [package for package in BASICS + self.suite.needs if not installed(package)]
        if missing:
            say(f"{self.suite.name}: installing {' '.join(missing)}" if os.geteuid() == 0 else
                f"{self.suite.name}: needs packages")
        self.apt.install(BASICS + self.suite.needs)
        self.build()

    def everything(self):
        self.prepare()
        if self.options.build_only:
            return
        programs = self.programs()
        with self.serving():
            for program in programs:
                say(f"{self.suite.name}: running {program.name}")
                try:
                    self.run_program(program)
                except plain.ReportError as error:
                    raise SuiteError(f"{program.name}: {error}") from error
        (self.folder / "differences.txt").write_text("".join(line + "\n" for line in self.result.differences),
                                                     encoding="utf-8")


def compare(expected, found):
    """The differences between two lists of (name, outcome), as lines for a person."""
    left, right = collections.defaultdict(list), collections.defaultdict(list)
    for tests, side in ((expected, left), (found, right)):
        for name, outcome in tests:
            side[name].append(outcome)
    lines = []
    for name in dict.fromkeys([*left, *right]):
        plainly, ours = sorted(left[name]), sorted(right[name])
        if set(plainly) == {"disabled"} and set(ours) <= {"skip"}:
            continue
        if plainly != ours:
            lines.append(f"{name!r}: plain {', '.join(plainly) or 'not there'}; "
                         f"polygraph {', '.join(ours) or 'not there'}")
    return lines


def say(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text[:100]}")
        sys.stderr.flush()
    else:
        print(text, file=sys.stderr)


def done():
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


COLUMNS = ["suite", "version", "framework", "programs", "tests", "plain s", "polygraph s", "ratio", "differences"]


def row(result):
    if result.error:
        verdict = "not run"
    elif result.polygraph_seconds is None and not result.differences:
        verdict = "-"
    else:
        verdict = str(len(result.differences))
    seconds = "-" if result.polygraph_seconds is None else f"{result.polygraph_seconds:.3f}"
    ratio = "-" if result.ratio is None else f"{result.ratio:.2f}"
    return [result.suite.name, result.version, result.suite.framework, str(result.executables or "-"),
            str(result.tests or "-"), f"{result.plain_seconds:.3f}" if result.tests else "-", seconds, ratio, verdict]


def total(results):
    """The row of sums, over the suites that ran both ways."""
    both = [result for result in results if result.ratio is not None]
    plain_seconds = sum(result.plain_seconds for result in both)
    seconds = sum(result.polygraph_seconds for result in both)
    return ["all", "", "", str(sum(result.executables for result in both)), str(sum(result.tests for result in both)),
            f"{plain_seconds:.3f}", f"{seconds:.3f}", f"{seconds / plain_seconds:.2f}" if both else "-",
            str(sum(len(result.differences) for result in both))]


def text_table(results):
    rows = [COLUMNS] + [row(result) for result in results]
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(COLUMNS))]
    return "\n".join("  ".join(cell.ljust(width) if i < 3 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(cells, widths))).rstrip() for cells in rows)


def os_name():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def wrapped(text, indent=""):
    return textwrap.fill(text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def markdown(results, options):
    compiler = output_of("gcc", "-dumpfullversion")
    kernel = ".".join(platform.release().split(".")[:2])
    lines = ["# Real suites", "",
             wrapped("Test suites from Debian source packages, built with `-g -O2` by their own build systems, run plain "
                     "and under `polygraph run`. Names and outcomes are compared test by test. Generated by "
                     "`./dev real-suites --markdown docs/real-suites.md`; `tests/real/suites.py` lists the suites."), "",
             wrapped(f"{os_name()}, gcc {compiler}, Linux {kernel}. Seconds are wall-clock time, including start-up and "
                     f"reading debug information: the best of {options.repeat} runs of each executable, added up. A "
                     "difference is a missing or additional test, a different outcome, or an executable that did not "
                     "run."), ""]
    lines.append("| " + " | ".join(["package", *COLUMNS[1:]]) + " |")
    lines.append("| --- | --- | --- " + "| ---: " * (len(COLUMNS) - 3) + "|")
    for result in results:
        cells = row(result)
        cells[0] = result.suite.package
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("| " + " | ".join(total(results)) + " |")
    notes = [result for result in results if result.suite.note]
    if notes:
        lines += ["", "What is special about each:", ""]
        lines += [wrapped(f"- {result.suite.package}: {result.suite.note}", "  ") for result in notes]
    troubled = [result for result in results if result.differences or result.error]
    if troubled:
        lines += ["", "## Differences", ""]
        for result in troubled:
            shown = ([result.error] if result.error else []) + result.differences
            lines += [f"{result.suite.package}:", ""]
            lines += [f"- {line}".replace(str(options.work), "…") for line in shown[:options.show]]
            if len(shown) > options.show:
                lines.append(f"- and {len(shown) - options.show} more")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def judged(path):
    """What people wrote at the end of the page: it is theirs."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    start = text.find("\n## Pollution")
    return text[start:] if start >= 0 else ""


def parse():
    parser = argparse.ArgumentParser(prog="./dev real-suites", description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="GLOB", action="append", help="suites by name (may be given again)")
    parser.add_argument("--list", action="store_true", help="print the suites and stop")
    parser.add_argument("--work", type=Path, default=ROOT / "build/real-suites", metavar="DIR",
                        help="everything is written below it (default: build/real-suites)")
    parser.add_argument("--polygraph", type=Path, default=ROOT / "build/polygraph", metavar="PATH",
                        help="the program to try (default: build/polygraph)")
    parser.add_argument("--ways", action="store_true",
                        help="in their own order, reversed and alone instead; reports in DIR/SUITE/ways")
    parser.add_argument("--pollution", action="store_true",
                        help="what `polygraph pollution` finds and costs instead; reports in DIR/SUITE/pollution")
    parser.add_argument("--tables", action="store_true",
                        help="with --pollution: from the reports that are there, without running anything")
    parser.add_argument("--no-times", action="store_true",
                        help="with --pollution: leave out of the tables what it costs (on a busy machine)")
    parser.add_argument("--order", action="store_true",
                        help="what `polygraph order` finds and costs instead; reports in DIR/SUITE/order")
    parser.add_argument("--choices", action="store_true",
                        help="what `polygraph choices` finds and costs instead; reports in DIR/SUITE/choices")
    parser.add_argument("--budget", type=int, default=60, metavar="SECONDS",
                        help="with --order and --choices: for each executable (60)")
    parser.add_argument("--plain-only", action="store_true", help="do not run polygraph")
    parser.add_argument("--build-only", action="store_true", help="fetch and build, run nothing")
    parser.add_argument("--commands", action="store_true",
                        help="print how each executable is run, for trying it by hand")
    parser.add_argument("--keep-going", action="store_true", help="go on after a suite that cannot be built or run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="processors for building (default: all)")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="timed runs, of which the best counts (3)")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="differences shown for each suite (20)")
    parser.add_argument("--markdown", type=Path, metavar="FILE",
                        help="write the results there as well; with --pollution: into the tables of that page")
    options = parser.parse_args()
    options.work = options.work.resolve()
    options.suites = [suite for suite in SUITES
                      if not options.only or any(fnmatch.fnmatch(suite.name, glob) for glob in options.only)]
    if not options.suites:
        parser.error(f"no suite is called {' or '.join(options.only)}; there are: "
                     + ", ".join(suite.name for suite in SUITES))
    if options.jobs < 1 or options.repeat < 1 or options.budget < 1:
        parser.error("--jobs, --repeat and --budget take a number from 1")
    if options.tables and not options.pollution:
        parser.error("--tables is for --pollution")
    if not (options.plain_only or options.build_only or options.list or options.commands or options.tables):
        options.polygraph = options.polygraph.resolve()
        if not os.access(options.polygraph, os.X_OK):
            parser.error(f"{options.polygraph} is not there: build it first (./dev build), or --plain-only")
    return options


def show_detector(options, apt, detector, measure):
    """`polygraph pollution`, `order` or `choices`, or ways to run (@detector: that module) on all suites."""
    results, failed = [], False
    for suite in options.suites:
        runner = Runner(suite, options, apt)
        try:
            if options.tables:
                figures = measure(runner)
            else:
                runner.prepare()
                with runner.serving():
                    figures = measure(runner)
        except (AptError, SuiteError, plain.ReportError, OSError) as error:
            done()
            print(f"real-suites: {suite.name}: {error}", file=sys.stderr)
            failed = True
            if not options.keep_going:
                break
            continue
        done()
        results.append((suite.name, figures))
        print(detector.table(results[-1:]), flush=True)
        for line in figures.errors + figures.limits:
            print(f"  {line}")
        failed |= bool(figures.errors)
    print("\n" + detector.table(results) + "\n")
    print("\n".join(detector.sums(results)))
    if options.markdown and detector is pollution and options.markdown.exists():
        packages = {suite.name: suite.package for suite in options.suites}
        pollution.write_page(options.markdown, [(packages[name], figures) for name, figures in results], not options.no_times)
    elif options.markdown:
        options.markdown.write_text(detector.table(results, "|") + "\n\n"
                                    + "".join(f"- {line}\n" for line in detector.sums(results)), encoding="utf-8")
    return 1 if failed else 0


def show_commands(options, apt):
    for suite in options.suites:
        runner = Runner(suite, options, apt)
        runner.everything()
        for program in runner.programs():
            env = " ".join(f"{key}={shlex.quote(value)}" for key, value in program.env.items()
                           if os.environ.get(key) != value)
            print(f"cd {shlex.quote(str(program.cwd))} && {env} {shlex.join(program.command)}")


def main():
    options = parse()
    if options.list:
        for suite in options.suites:
            print(f"{suite.name:22} {suite.framework:10} {suite.package}")
        return 0
    if not shutil.which("apt-get"):
        print("real-suites: needs apt-get: this works on Debian and its relatives", file=sys.stderr)
        return 2
    options.work.mkdir(parents=True, exist_ok=True)
    apt = Apt(options.work / "apt", options.work / "apt.log")
    if options.commands:
        options.build_only = True
        show_commands(options, apt)
        return 0
    if options.ways:
        return show_detector(options, apt, ways, lambda runner: ways.measure(runner, run, compare, say))
    if options.pollution:
        return show_detector(options, apt, pollution, lambda runner: pollution.measure(runner, run, compare, say))
    if options.order:
        return show_detector(options, apt, order, lambda runner: order.measure(runner, run, say, SuiteError))
    if options.choices:
        return show_detector(options, apt, choices, lambda runner: choices.measure(runner, run, say, SuiteError))
    if os.geteuid() != 0:
        # All at once, rather than one suite after the other.
        wanted = dict.fromkeys(BASICS + [package for suite in options.suites for package in suite.needs])
        missing = [package for package in wanted if not installed(package)]
        if missing:
            print(f"real-suites: missing packages; as root: apt-get install {' '.join(missing)}", file=sys.stderr)
            if not options.keep_going:
                return 1
    results = []
    for suite in options.suites:
        runner = Runner(suite, options, apt)
        results.append(runner.result)
        try:
            runner.everything()
        except (AptError, SuiteError, OSError) as error:
            runner.result.error = str(error)
            done()
            print(f"real-suites: {suite.name}: {error}", file=sys.stderr)
            if not options.keep_going:
                print("real-suites: stopped there; --keep-going goes on with the next", file=sys.stderr)
                break
    done()
    print(text_table(results))
    for result in results:
        if result.differences:
            print(f"\n{result.suite.name}: {len(result.differences)} differences "
                  f"(all in {options.work / result.suite.name / 'differences.txt'})")
            for line in result.differences[:options.show]:
                print(f"  {line}")
    if options.markdown:
        options.markdown.write_text(markdown(results, options) + judged(options.markdown), encoding="utf-8")
    return 1 if any(result.error or result.differences for result in results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
