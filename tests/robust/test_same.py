#!/usr/bin/env python3
"""The same answer each time: runs of `polygraph check` on one suite differ in times only.

usage: test_same.py --polygraph PATH [--runs N] [--suite NAME]... [--full]

Every run has a folder of its own with nothing in it but the suite; every second one has --jobs 1. Ids, effects, severities,
repeats, seeds, messages, values, orders and limits have to be equal, and so does the exit status. What may differ:

    times     "seconds", "started", "start"
    work      how many tests were begun and how many choices met (WORK): what is flaky is repeated more or less often
    chance    of a flaky test: how often it failed, and how it ended in the suite's own order

--full: 30 runs of five suites, as root and as an ordinary user, idle and beside stress-ng. Otherwise three runs of three
suites, as whoever calls it.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "harness"), str(HERE.parent)]
import fresh  # noqa: E402
import parts  # noqa: E402 (it lies in another folder)

SUBJECTS = HERE.parent / "subjects"
GTEST = ("-lgtest", "-lgtest_main", "-pthread")
SUITES = {
    "leftovers": (HERE / "same/leftovers.cc", GTEST),
    "flaky": (SUBJECTS / "order/random/random.c", ("-lcunit",)),
    "commands": (SUBJECTS / "order/commands/commands.c", ()),
    "threads": (SUBJECTS / "pollution/threads/threads.c", ("-pthread",)),
    "runner": (SUBJECTS / "pollution/effects/effects.c", ()),
}
QUICK = ("leftovers", "flaky", "runner")
WORK = {"order": ("executions", "until_last"), "choices": ("executions", "made", "acted")}
PATIENCE = 600
SHOWN = 20


def build(name, folder):
    """The program, or why there is none."""
    source, libraries = SUITES[name]
    compiler = "g++" if source.suffix == ".cc" else "gcc"
    try:
        parts.run([compiler, "-g", "-O0", "-o", str(folder / source.stem), str(source), *libraries])
    except (parts.BuildError, OSError) as error:
        return str(error)
    return None


def without_chance(report):
    """What has to be equal."""
    flaky = {finding["test"] for finding in report["findings"] if finding["kind"] == "flaky"}
    for test in report["tests"]:
        if test["name"] in flaky:
            for key in ("outcome", "failure", "output"):
                test.pop(key, None)
    for finding in report["findings"]:
        if finding["kind"] == "flaky":
            del finding["failures"], finding["headline"]
    for section, keys in WORK.items():
        for key in keys:
            report.get(section, {}).pop(key, None)
    for section, runs, key in (("order", "executed", "differing"), ("choices", "outcomes", "failed")):
        for one in report.get(section, {}).get(runs, []):
            one[key] = [name for name in one[key] if name not in flaky]
    if flaky:
        del report["totals"]["tests"]
    # Every second run has another --jobs.
    for key in ("started", "options"):
        del report["run"][key]
    for phase in report["run"]["phases"]:
        del phase["start"], phase["executions"]
    return without_times(report)


def without_times(thing):
    if isinstance(thing, dict):
        return {key: without_times(value) for key, value in thing.items() if key != "seconds"}
    return [without_times(value) for value in thing] if isinstance(thing, list) else thing


def flatten(thing, path=""):
    """{path: value}; members of lists by what names them, so that one that is missing does not move the others."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from flatten(value, f"{path}.{key}")
    elif isinstance(thing, list):
        yield f"{path}.n", len(thing)
        for i, value in enumerate(thing):
            name = isinstance(value, dict) and (value.get("id") or value.get("name"))
            yield from flatten(value, f"{path}[{name or i}]")
    else:
        yield path, thing


class User:
    """Who runs it, and with what in front of the command."""

    def __init__(self, name, become=(), owner=None):
        self.name, self.become, self.owner = name, list(become), owner


def users(full):
    me = User("root" if os.geteuid() == 0 else "an ordinary user")
    if not full or os.geteuid() != 0 or not shutil.which("setpriv"):
        return [me]
    import pwd
    nobody = pwd.getpwnam("nobody")
    become = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    return [me, User("an ordinary user", become, (nobody.pw_uid, nobody.pw_gid))]


class Load:
    """Everything else that a machine may be busy with."""

    def __enter__(self):
        cpus = str(len(os.sched_getaffinity(0)))
        self.process = subprocess.Popen(["stress-ng", "--quiet", "--cpu", cpus, "--io", "1", "--vm", "1", "--vm-bytes", "64M"],
                                        stdout=subprocess.DEVNULL, start_new_session=True)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Idle:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


class Runs:
    def __init__(self, tool, programs, user, folder):
        self.tool, self.programs, self.user, self.folder = tool, programs, user, folder

    def one(self, name, number):
        """The report and the exit status of one run, in a new folder that has the same name each time."""
        room = self.folder / "room"
        shutil.rmtree(room, ignore_errors=True)
        for part in ("work", "tmp", "out"):
            (room / part).mkdir(parents=True)
        source = SUITES[name][0]
        shutil.copy2(self.programs / source.stem, room / "work")
        words = ["--", f"./{source.stem}"]
        if (source.parent / "suite").exists():
            shutil.copy(source.parent / "suite", room / "work")
            words = ["--commands", "suite"]
        if self.user.owner:
            for path in [room, *room.rglob("*")]:
                os.chown(path, *self.user.owner)
        jobs = ["--jobs", "1"] if number % 2 else []
        command = [*self.user.become, str(self.tool), "check", *jobs, "--format", "json", "--output", str(room / "out/report"),
                   *words]
        environment = {**os.environ, "TMPDIR": str(room / "tmp"), "HOME": str(room / "out"), "XDG_CACHE_HOME": str(room / "out")}
        done = subprocess.run(command, cwd=room / "work", env=environment, capture_output=True, text=True, timeout=PATIENCE)
        try:
            report = json.loads((room / "out/report").read_text())
        except (OSError, ValueError) as error:
            raise AssertionError(f"{error}; exit status {done.returncode}: {done.stderr.strip()}") from error
        return {**dict(flatten(without_chance(report))), "status": done.returncode}

    def compare(self, name, count):
        """What differs between the runs, in lines."""
        seen = {}
        for number in range(count):
            for path, value in self.one(name, number).items():
                seen.setdefault(path, []).append(json.dumps(value))
        for path, values in seen.items():
            counts = {value: values.count(value) for value in values}
            if len(values) < count:
                counts["(absent)"] = count - len(values)
            if len(counts) > 1:
                yield f"{path}: " + ", ".join(f"{n} x {value[:200]}" for value, n in counts.items())


def copy_tool(polygraph, folder):
    """Where everybody can execute it."""
    tool = folder / "polygraph"
    fresh.copy_tool(polygraph.parent, folder)
    return tool


def main():
    parser = argparse.ArgumentParser(description="The same answer each time.")
    parser.add_argument("--polygraph", required=True, type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--suite", action="append", choices=SUITES)
    options = parser.parse_args()
    runs = options.runs or (30 if options.full else 3)
    suites = options.suite or (SUITES if options.full else QUICK)
    loads = {"idle": Idle}
    if options.full and shutil.which("stress-ng"):
        loads["beside stress-ng"] = Load
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="polygraph-same-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        tool = copy_tool(options.polygraph.resolve(), folder)
        whynot = {name: build(name, folder) for name in suites}
        for user in users(options.full):
            for title, load in loads.items():
                with load():
                    for name in suites:
                        what = f"{name}, {runs} runs as {user.name}, {title}"
                        if whynot[name]:
                            skipped += 1
                            print(f"skipped {what}: {whynot[name]}")
                            continue
                        try:
                            lines = list(Runs(tool, folder, user, folder).compare(name, runs))
                        except (AssertionError, subprocess.TimeoutExpired) as error:
                            lines = [str(error)]
                        print(f"{'FAIL' if lines else 'ok'} {what}", *lines[:SHOWN], sep="\n    ", flush=True)
                        failed += bool(lines)
                        passed += not lines
    if options.full and "beside stress-ng" not in loads:
        skipped += 1
        print("skipped beside stress-ng: it is not installed")
    if failed:
        print(f"again: {sys.argv[0]} --polygraph {options.polygraph}" + (" --full" if options.full else ""))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
