#!/usr/bin/env python3
"""The built tests in different environments; `./dev test --environments` builds and calls this.

Usage: environments.py [--part WORD]... [ENVIRONMENT...]

No test may depend on what is usual where it was written: a locale, a signal that is not ignored, a quiet machine. Each
environment runs the parts of run.py whose name contains a WORD (default: the unit tests, cli and robust) and adds one line;
the last line is the sum. Names of environments limit the run to these.
"""

import argparse
import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import run
from counts import Counts

DEFAULT_PARTS = ["unit tests, plain", "cli/", "robust/"]


class Unavailable(Exception):
    """Why an environment cannot be had here."""


class InEnvironment(Counts):
    """Runs each part with other variables, after @prepare was called in its process."""

    def __init__(self, name, variables, prepare):
        super().__init__(run.TOP / "build" / "logs" / "environments" / name)
        self.variables, self.prepare = variables, prepare

    def run(self, name, command, **options):
        environment = options.pop("env", os.environ)
        environment = {key: value for key, value in {**environment, **self.variables}.items() if value is not None}
        return super().run(name, command, env=environment, preexec_fn=self.prepare, **options)


class Environment:
    """As it is; the others change something. @only: parts that can run there at all."""

    def __init__(self, prepare=None, variables=None, only=("",), around=contextlib.nullcontext):
        self.prepare, self.variables, self.only, self.around = prepare, variables or {}, only, around


def ignoring(*numbers):
    def prepare():
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
    return prepare


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


@contextlib.contextmanager
def folder_nonexistent():
    """The folder that everybody takes for one that is not there."""
    path = Path("/nonexistent")
    if path.exists():
        yield {}
        return
    if os.geteuid() != 0:
        raise Unavailable("only root can make /nonexistent")
    path.mkdir()
    (path / "file").write_text("here\n")
    try:
        yield {}
    finally:
        shutil.rmtree(path)


@contextlib.contextmanager
def long_temporary_folder():
    with tempfile.TemporaryDirectory(prefix="polygraph environments ") as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "a folder with blanks" / ("long" * 20)
        path.mkdir(parents=True)
        yield {"TMPDIR": str(path)}


def locale(name):
    """A locale with other letters and numbers, made for the purpose."""
    @contextlib.contextmanager
    def around():
        if not shutil.which("localedef"):
            raise Unavailable("no localedef here")
        with tempfile.TemporaryDirectory(prefix="polygraph-locales-") as folder:
            made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", f"{folder}/{name}.UTF-8"], capture_output=True,
                                  text=True, check=False)
            if not (Path(folder) / f"{name}.UTF-8").is_dir():
                raise Unavailable(made.stderr.strip().splitlines()[-1])
            yield {"LOCPATH": folder, "LANG": f"{name}.UTF-8", "LC_ALL": f"{name}.UTF-8", "LANGUAGE": None}
    return around


@contextlib.contextmanager
def busy_machine():
    if not shutil.which("stress-ng"):
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            raise Unavailable("stress-ng is not installed")
        subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", "stress-ng"], check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not shutil.which("stress-ng"):
            raise Unavailable("stress-ng cannot be installed")
    with tempfile.TemporaryDirectory(prefix="polygraph-stress-") as folder:
        stress = subprocess.Popen(["stress-ng", "--quiet", "--cpu", "4", "--io", "2"], cwd=folder)
        try:
            yield {}
        finally:
            stress.send_signal(signal.SIGINT)
            stress.wait()


ENVIRONMENTS = {
    "nohup": Environment(ignoring(signal.SIGHUP)),
    "locale-c": Environment(variables={"LC_ALL": "C", "LANG": None, "LANGUAGE": None}),
    "locale-turkish": Environment(around=locale("tr_TR")),
    "locale-german": Environment(around=locale("de_DE")),
    "time-zone": Environment(variables={"TZ": "Asia/Kathmandu"}),
    "umask": Environment(lambda: os.umask(0o077)),
    "folder-nonexistent": Environment(around=folder_nonexistent),
    "no-home": Environment(variables={"HOME": None, "XDG_CACHE_HOME": None}),
    "temporary-folder": Environment(around=long_temporary_folder),
    "input-closed": Environment(lambda: os.close(0)),
    "background": Environment(ignoring(signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE)),
    # Meson cannot wait for its tests then.
    "children-ignored": Environment(ignoring(signal.SIGCHLD), only=("cli/", "robust/")),
    "few-descriptors": Environment(few_descriptors),
    "nice": Environment(lambda: os.nice(10)),
    "busy": Environment(around=busy_machine),
}


def run_in(name, parts, sums):
    environment = ENVIRONMENTS[name]
    try:
        with environment.around() as variables:
            counts = InEnvironment(name, {**environment.variables, **(variables or {})}, environment.prepare)
            chosen = run.Parts(counts, False, parts)
            wanted = chosen.wants
            chosen.wants = lambda part: wanted(part) and any(word in part for word in environment.only)
            chosen.run()
    except Unavailable as why:
        sums.skip(name, why)
        return
    for entry in counts.broken:
        print(f"failed: {entry}")
    print(f"==== {name}: {counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped", flush=True)
    sums.add(counts.passed, counts.failed, counts.skipped)
    sums.broken += [f"{name}: {entry}" for entry in counts.broken]


def main():
    parser = argparse.ArgumentParser(description="The tests in different environments.")
    parser.add_argument("--part", action="append", default=[], metavar="WORD")
    parser.add_argument("environments", nargs="*", metavar="ENVIRONMENT", help=", ".join(ENVIRONMENTS))
    options = parser.parse_args()
    for name in set(options.environments) - set(ENVIRONMENTS):
        parser.error(f"there is no environment '{name}'")
    sums = Counts(run.TOP / "build" / "logs" / "environments")
    for name in options.environments or ENVIRONMENTS:
        run_in(name, options.part or DEFAULT_PARTS, sums)
    return sums.close()


if __name__ == "__main__":
    os.chdir(run.TOP)
    sys.exit(main())
