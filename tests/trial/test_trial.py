#!/usr/bin/env python3
"""The trial: whatever tests do to files, and whoever kills the tool at what moment, nothing of the user's is changed.

usage: test_trial.py --polygraph PROGRAM [--full] [--sandbox MODE] [--only WORD]... [--seed N] [--work DIR] [--lanes N]

The suites (functions.c, gtest.cc, step.c) have one test for each operation of operations.h. The detectors run on them, as root
and as an ordinary user, undisturbed and killed in each way of moments.py. Before and after, everything of the user's
(stock.py) is compared by code that knows nothing of the tool (compare.py), and what still runs is looked for. First of all
the operations run without the tool: each of them has to change something, and the comparison has to see it.

A case is one operation in one run. Changed: something of the user's is different after it. Left: processes, files, mounts
that the run left. Without --full there is a selection, always the same. --sandbox is passed on to the tool (default: always);
`none` passes no such option, and with `none` and `never` files may have been put back: inodes, times of their change and
the times of folders do not count then. --only runs the groups whose title contains the word. As root each lane has its own /tmp, /var/tmp and
/dev/shm, so that nothing else is there.
"""

import argparse
import collections
import ctypes
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
import compare  # noqa: E402
import fresh  # noqa: E402
import moments  # noqa: E402
from stock import Operation, Stock  # noqa: E402

DETECTORS = {
    "pollution": ["pollution", "--budget", "6s"],
    "order": ["order", "--budget", "4s"],
    "choices": ["choices", "--budget", "4s"],
    "check": ["check", "--budget", "8s"],
    "run": ["run"],
}
HEAVY = ["--budget", "5m", "--timeout", "5m"]  # the later option counts
SUITES = ("functions", "gtest", "commands")
USERS = ("root", "user")
MANY = 30000
QUICK_MANY = 300

# What ./dev test runs: title of the group, and the kills with their moments, as fractions of the run's length.
QUICK = [
    ("root check functions", [("kill -9, both", 0.2), ("kill -9, group", 0.6), ("Ctrl-C", 0.4)]),
    ("root order commands", [("kill -9, both", 0.5)]),
    ("root pollution gtest", [("kill -9, controller", 0.5)]),
    ("root choices functions", [("kill -9, all", 0.5)]),
    ("user check gtest", [("kill -9, both", 0.3), ("SIGTERM", 0.5)]),
    ("user order functions", [("kill -9, both", 0.7), ("kill -9, any one", 0.3), ("kill -9, guard", 0.5)]),
    ("user pollution commands", [("kill -9, group", 0.5)]),
    ("user choices commands", [("kill -9, controller", 0.5)]),
    ("user run functions", [("kill -9, both", 0.02)]),
    ("user pollution functions many", []),
    ("user pollution functions large", []),
]
FULL_MOMENTS = 4  # of each kill: one in each quarter of the run


@dataclass
class Group:
    """Runs that differ only in how they are killed; the first is not, and gives the length."""

    title: str
    kills: list
    user: str = ""
    detector: str = ""
    suite: str = ""
    heavy: str = None

    def __post_init__(self):
        self.user, self.detector, self.suite, *heavy = self.title.split()
        self.heavy = heavy[0] if heavy else None


@dataclass
class Row:
    """One run, judged."""

    group: Group
    kill: str
    fraction: float
    began: set = field(default_factory=set)
    changed: dict = field(default_factory=dict)  # path -> what is different
    touched: set = field(default_factory=set)  # operations whose files are among them
    left: list = field(default_factory=list)
    problems: list = field(default_factory=list)  # the run did not go as it should
    why_not: str = ""  # not run at all
    text: str = ""
    seconds: float = 0

    def failed(self):
        return bool(self.changed or self.left or self.problems)

    def title(self):
        return f"{self.group.title}, {self.kill or 'not killed'}" + (f" at {self.fraction:.2f}" if self.kill else "")


def list_quick():
    return [Group(title, kills) for title, kills in QUICK]


def list_full(seed):
    chance = random.Random(seed)
    groups = []

    def draw(kinds, count):
        return [(kill, (part + chance.random()) / count) for kill in kinds for part in range(count)]

    for user in USERS:
        for suite in SUITES:
            for detector in DETECTORS:
                groups.append(Group(f"{user} {detector} {suite}", draw(moments.KILLS, FULL_MOMENTS)))
    for user in USERS:
        for heavy in ("many", "large"):
            for call in ("pollution functions", "choices gtest", "order commands"):
                groups.append(Group(f"{user} {call} {heavy}", draw(["kill -9, both"], 1)))
    chance.shuffle(groups)  # who stops it early has seen something of each
    return groups


class Libc:
    """Calls that Python has no function for."""

    NEWNS, REC, BIND, PRIVATE, SHARED, DETACH = 0x20000, 0x4000, 0x1000, 1 << 18, 1 << 20, 2

    def __init__(self):
        self.c = ctypes.CDLL(None, use_errno=True)

    def check(self, result, what):
        if result:
            raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")

    def unshare(self):
        self.check(self.c.unshare(self.NEWNS), "unshare")

    def mount(self, source, target, kind, flags):
        self.check(self.c.mount(source.encode(), str(target).encode(), kind, ctypes.c_ulong(flags), None), f"mount {target}")

    def unmount(self, target):
        self.c.umount2(str(target).encode(), self.DETACH)


class Lane:
    """One process that runs groups, with places of its own."""

    def __init__(self, options, number, operations):
        self.options, self.operations = options, operations
        self.users = {"root": None, "user": options.nobody}
        moments.start_reaping()
        self.notes = moments.Notes()
        self.libc = Libc()
        self.work = options.work / f"lane-{number}"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True, exist_ok=True)
        self.temporary = []
        self.private = self.make_places()
        self.stock, self.before = None, None

    def make_places(self):
        """The disk of the work folder at /var/tmp, and memory at /tmp and /dev/shm, if that is allowed."""
        libc = self.libc
        private = os.geteuid() == 0
        try:
            if private:
                libc.unshare()
        except OSError:  # in a container
            private = False
        if not private:
            # Everybody has to get there; the work folder may be somebody's own.
            top = self.make_temporary(tempfile.gettempdir())
            self.places = {"tmp": self.make_temporary("/tmp"), "var_tmp": self.make_temporary("/var/tmp"),
                           "shm": self.make_temporary("/dev/shm")}
        else:
            top = Path("/var/tmp")
            self.places = {"tmp": "/tmp", "var_tmp": "/var/tmp/place", "shm": "/dev/shm"}
            (self.work / "place").mkdir()
        self.base, self.parts = Path(top) / "trial", Path(top) / "parts"
        parts = self.work / "parts" if private else self.parts
        parts.mkdir()
        for file in self.options.tools + self.options.programs:
            shutil.copy2(file, parts)
        if private:
            libc.mount("none", "/", None, libc.REC | libc.PRIVATE)
            libc.mount(str(self.work), "/var/tmp", None, libc.BIND)
            libc.mount("trial", "/tmp", b"tmpfs", 0)
            libc.mount("trial", "/dev/shm", b"tmpfs", 0)
            os.chdir("/")
            # As on most systems: what is mounted in a copy of these is mounted here, too, unless the tool prevents it.
            libc.mount("none", "/", None, libc.REC | libc.SHARED)
        return private

    def make_temporary(self, folder):
        path = tempfile.mkdtemp(prefix="polygraph-trial-", dir=folder)
        os.chmod(path, 0o777)
        self.temporary.append(path)
        return path

    def close(self):
        if self.stock:
            self.stock.remove()
        for path in self.temporary:
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.work.iterdir() if not self.private else Path("/var/tmp").iterdir()):
            shutil.rmtree(path, ignore_errors=True)

    def prepare(self, user, heavy):
        """The user's files as they should be: made again only where they are not."""
        many = MANY if self.options.full else QUICK_MANY
        wanted = (user, heavy)
        if not self.stock or (self.stock.user, self.stock.heavy) != wanted:
            if self.stock:
                self.stock.remove()
            names = [file.name for file in self.options.programs]
            tools = [self.parts / file.name for file in self.options.tools]
            self.stock = Stock(self.base, self.places, [self.parts / name for name in names], tools, self.operations,
                               self.users[user], heavy, many)
            self.stock.user = user
            self.before = None
        if not self.before:
            self.stock.make()
            self.write_commands(heavy)
            self.before = self.look()

    def write_commands(self, heavy):
        """The suite of processes; not the user's, so that it is written afresh."""
        names = [operation.name for operation in self.operations if self.selected(operation, heavy)]
        (self.base / "commands.txt").write_text("".join(f"build/step {name}\n" for name in ["files_are_there", *names]))

    @staticmethod
    def selected(operation, heavy):
        return operation.group == heavy if heavy else not operation.heavy

    def look(self):
        own, _ = self.stock.own()
        beside = sorted(os.listdir("/tmp") + os.listdir("/var/tmp") + os.listdir("/dev/shm")) if self.private else []
        return compare.snapshot(self.stock.roots, own), compare.mounts(), beside

    def compare(self, row, put_back):
        """What is different, by operation; where anything is, the files are made again."""
        entries, mounts, beside = self.look()
        row.changed = compare.differences(self.before[0], entries, self.stock.own()[1], put_back)
        row.touched = {name for path in row.changed if (name := self.operation_of(path))}
        new = [line for line in mounts if line not in self.before[1]]
        row.left += [f"mounted: {line}" for line in new]
        row.touched |= {self.operation_of(line.split()[1]) for line in new}
        self.unmount_new()
        row.left += [f"left: {name}" for name in beside if name not in self.before[2]]
        row.touched.discard(None)
        if row.changed or row.left:
            self.before = None

    def unmount_new(self):
        """Mounts that the run left; one of them may go with another."""
        for _ in range(100):
            new = [line.split()[1] for line in compare.mounts() if line not in self.before[1]]
            if not new:
                return
            for point in reversed(new):
                self.libc.unmount(point)

    def operation_of(self, path):
        parts = path.split("/")
        known = {operation.name for operation in self.operations}
        if path.startswith(f"{self.stock.build}/") and len(parts) == len(self.stock.build.parts) + 1:
            return "own_executable"
        return next((part.removesuffix(".one") for part in parts if part.removesuffix(".one") in known), {
            ".git": "in_git", "in_cwd": "proc_self_cwd"}.get(next((p for p in parts if p in (".git", "in_cwd")), None)))

    def words(self, group):
        words = [self.base / "bin" / "polygraph", *DETECTORS[group.detector], *(HEAVY if group.heavy else ["--timeout", "20s"])]
        if self.options.sandbox != "none":
            words += ["--sandbox", self.options.sandbox]
        if group.suite == "commands":
            return words + ["--commands", self.base / "commands.txt"]
        prefix = {"functions": "test_", "gtest": "Trial."}[group.suite]
        # Those that run, or those that do not: whatever is shorter.
        for operation in self.operations:
            if group.heavy and self.selected(operation, group.heavy):
                words += ["--tests", prefix + operation.name]
            elif not group.heavy and operation.heavy:
                words += ["--tests", f"!{prefix}{operation.name}"]
        return words + ["--", f"build/{group.suite}"]

    def run(self, group, kill=None, fraction=0, length=None):
        self.prepare(group.user, group.heavy)
        shutil.rmtree(self.stock.project / ".polygraph", ignore_errors=True)
        row = Row(group, kill, fraction)
        outcome = moments.run_until(self.words(group), self.stock.project, self.stock.environment(), self.users[group.user],
                                    self.notes, kill, length.moment(fraction) if kill else None, seed=fraction)
        row.began, row.text, row.seconds = outcome.began, outcome.text, outcome.length.seconds
        row.left += [f"running: {name} ({pid})" for pid, name in outcome.left.items()]
        if not kill:
            self.judge_undisturbed(row, outcome)
        elif outcome.began and outcome.killed and kill == "Ctrl-C" and outcome.status not in (130, 0, 1, 3):
            row.problems.append(f"exit status {outcome.status} after Ctrl-C")
        self.compare(row, put_back=self.options.sandbox in ("none", "never"))
        return row, outcome.length

    def judge_undisturbed(self, row, outcome):
        if "no sandbox is possible" in outcome.text and not outcome.began:
            row.why_not = outcome.text.strip().splitlines()[0]
            return
        if outcome.status not in (0, 1, 3):
            row.problems.append(f"exit status {outcome.status}")
        missing = [operation.name for operation in self.operations
                   if self.selected(operation, row.group.heavy) and operation.name not in outcome.began]
        if missing:
            row.problems.append(f"did not run: {', '.join(missing)}")

    def run_group(self, group):
        first, length = self.run(group)
        yield first
        if first.why_not:
            return
        for kill, fraction in group.kills:
            yield self.run(group, kill, fraction, length)[0]

    def run_plain(self, user):
        """Without the tool: which operations the comparison does not see."""
        self.prepare(user, None)
        group = Group(f"{user} plain functions", [])
        row = Row(group, None, 0)
        names = [operation.name for operation in self.operations if not operation.heavy]
        outcome = moments.run_until([self.stock.build / "functions", *names], self.stock.project, self.stock.environment(),
                                    self.users[user], self.notes, going=0.1)
        row.began = outcome.began
        self.compare(row, put_back=False)
        self.before = None
        unseen = [operation.name for operation in self.operations if not operation.heavy and operation.name not in row.touched
                  and (operation.who == "anyone" or user == "root" and self.private)]
        row.problems = [f"the comparison does not see: {', '.join(unseen)}"] if unseen else []
        row.changed, row.left = {}, []
        return row


def build_programs(work):
    """Compiled only where the sources are newer."""
    programs = []
    for source, compiler in (("functions.c", ["cc", "-std=gnu17"]), ("gtest.cc", ["c++", "-std=c++17"]), ("step.c", ["cc", "-std=gnu17"])):
        target = work / Path(source).stem
        newest = max((HERE / name).stat().st_mtime for name in (source, "operations.h"))
        if not target.exists() or target.stat().st_mtime < newest:
            subprocess.run([*compiler, "-g", "-O1", "-Wall", "-Wextra", "-o", target, HERE / source]
                           + (["-lgtest"] if source == "gtest.cc" else []) + ["-pthread"], check=True)
        programs.append(target)
    return programs


def work_lane(options, number, operations, tasks, results):
    """What a lane's process does."""
    fresh.start()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        lane = Lane(options, number, operations)
        try:
            for group in iter(tasks.get, None):
                if isinstance(group, str):
                    results.put(lane.run_plain(group))
                    continue
                for row in lane.run_group(group):
                    results.put(row)
        finally:
            moments.stop_all()
            lane.close()
    except BaseException:
        results.put(traceback.format_exc())
    results.put(None)


def show(row, verbose):
    if not row.failed() and not row.why_not:
        if verbose:
            print(f"ok      {row.title()}: {len(row.began)} operations, {row.seconds:.1f} s", flush=True)
        return
    if row.why_not:
        print(f"skipped {row.title()}: {row.why_not}", flush=True)
        return
    print(f"FAILED  {row.title()}: {len(row.changed)} changed, {len(row.left)} left", flush=True)
    print(f"          operations: {', '.join(sorted(row.touched)) or 'none'}")
    for path, what in sorted(row.changed.items(), key=lambda item: (item[1] in compare.TIMES, item))[:8]:
        print(f"          {path[-120:]}: {what}")
    for line in row.left[:8] + row.problems:
        print(f"          {line}")
    if row.problems:
        print("          " + "\n          ".join(row.text.splitlines()[-6:]), flush=True)


def table(title, keys, rows):
    """Cases, changed, left, by a key of a row or of an operation in it: keys(row) -> [(key, cases, changed, left)]."""
    sums = collections.OrderedDict()
    for row in rows:
        for key, *numbers in keys(row):
            old = sums.get(key, (0, 0, 0, 0))
            sums[key] = tuple(a + b for a, b in zip(old, (1, *numbers)))
    print(f"\n{title:<34} {'runs':>6} {'cases':>8} {'changed':>8} {'left':>6}")
    for key, numbers in sums.items():
        print(f"{key:<34} {numbers[0]:>6} {numbers[1]:>8} {numbers[2]:>8} {numbers[3]:>6}")


def show_tables(rows, operations):
    group_of = {operation.name: operation.group for operation in operations}

    def whole(key):
        # A change that no operation explains is one, too.
        return lambda row: [(key(row), len(row.began), len(row.touched) or bool(row.changed), bool(row.left))]

    def by_group(row):
        counts = collections.Counter(group_of[name] for name in row.began if name in group_of)
        return [(group, count, sum(group_of[name] == group for name in row.touched), 0) for group, count in sorted(counts.items())]

    table("moment", whole(lambda row: row.kill or "not killed"), rows)
    table("operations", by_group, rows)
    table("detector, suite", whole(lambda row: f"{row.group.detector}, {row.group.suite}"), rows)
    table("user", whole(lambda row: row.group.user), rows)
    table("all", whole(lambda row: f"{len({name for row in rows for name in row.began})} kinds of operation"), rows)
    print()


def run_groups(options, groups, operations):
    context = multiprocessing.get_context("fork")
    tasks, results = context.Queue(), context.Queue()
    users = sorted({group.user for group in groups})
    for task in [*users, *groups] + [None] * options.lanes:
        tasks.put(task)
    lanes = [context.Process(target=work_lane, args=(options, number, operations, tasks, results))
             for number in range(options.lanes)]
    for lane in lanes:
        lane.start()
    rows, open_lanes, broken = [], len(lanes), 0
    try:
        while open_lanes:
            row = results.get()
            if row is None:
                open_lanes -= 1
            elif isinstance(row, str):
                broken += 1
                print(row)
            else:
                rows.append(row)
                show(row, options.verbose)
    except KeyboardInterrupt:  # the lanes have got it, too; what is known is shown
        broken += 1
        print("interrupted")
    for lane in lanes:
        lane.join()
    return rows, broken


def main():
    parser = argparse.ArgumentParser(description="Nothing of the user's is touched, whatever tests do and whoever kills the tool.")
    parser.add_argument("--polygraph", type=Path, required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--sandbox", default="always", choices=("auto", "always", "never", "none"))
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=TOP / "build" / "trial")
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    fresh.start()
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    folder = options.polygraph.resolve().parent
    options.tools = [folder / name for name in ("polygraph", "libpolygraph-agent.so", "libpolygraph-choices.so")]
    options.programs = build_programs(options.work)
    listed = subprocess.run([options.programs[0], "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    operations = [Operation(line) for line in listed.splitlines()]
    users, options.nobody = moments.find_users()
    groups = list_full(options.seed) if options.full else list_quick()
    groups = [group for group in groups if all(word in group.title for word in options.only)]
    missing = [group for group in groups if group.user not in users]
    for group in missing:
        print(f"skipped {group.title}: " + ("not root" if group.user == "root" else "cannot become an ordinary user here"))
    groups = [group for group in groups if group.user in users]
    rows, broken = run_groups(options, groups, operations)
    runs = [row for row in rows if row.group.detector != "plain" and not row.why_not]
    show_tables(runs, operations)
    failed = sum(row.failed() for row in rows) + broken
    skipped = sum(bool(row.why_not) for row in rows)
    print(f"{len(rows) - skipped - failed + broken} passed, {failed} failed, {skipped + len(missing)} skipped")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
