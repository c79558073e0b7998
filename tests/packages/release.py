#!/usr/bin/env python3
"""The README's two commands, and tests, on a new minimal Debian; `./dev test --release NAME` calls this.

Usage: release.py [--only WORD]... [--times N] [--mirror URL] RELEASE...

What is committed here is cloned into a system made with debootstrap, which has nothing but what `./dev` itself installs. Root
runs both commands, then an ordinary user does, then both again N times beside processes that keep the processors busy. --only
runs the parts of tests/run.py whose name contains one of the words there, as root, without the sanitizers' build.
"""

import argparse
import contextlib
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402
from counts import closing_counts  # noqa: E402
from minimal import Checks, Debian, mirror, need, why_not  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
SOURCE = "/srv/polygraph"
RELEASES = ("bookworm", "trixie")
BUSY = 4


class Release:
    def __init__(self, name, work, options, checks):
        self.name, self.checks = name, checks
        self.debian = Debian(work, name, options.mirror)
        need("git", "clone", "-q", TOP, self.debian.root / SOURCE.lstrip("/"))
        self.somebody = self.debian.add_user("somebody", 1234)

    def expect(self, what, good, evidence):
        self.checks.expect(f"{self.name}: {what}", good, evidence)

    def command(self, *words, **options):
        return self.debian.run(*words, folder=SOURCE, **options)

    def readme(self, who, **options):
        done = self.command("./dev", "demo", **options)
        self.expect(f"./dev demo, {who}", done.returncode == 0, done.stdout)
        done = self.command("build/polygraph", "build/examples/settings_test", **options)
        self.expect(f"the example is checked, {who}", done.returncode == 1 and
                    "Retry.GivesUpAfterThreeAttempts fails after Retry.LimitIsConfigurable" in done.stdout, done.stdout)

    def readme_of_everybody(self, times):
        self.readme("as root", home="/root")
        need("chroot", self.debian.root, "chown", "-R", self.somebody, SOURCE)
        ordinary = {"user": self.somebody}
        self.readme("as an ordinary user", **ordinary)
        with busy(BUSY if times else 0):
            for i in range(times):
                self.readme(f"on a busy machine, {i + 1} of {times}", **ordinary)
        need("chroot", self.debian.root, "chown", "-R", "0:0", SOURCE)

    def tests(self, words):
        script = ("./dev setup test && ./dev build && ninja -C build meson-test-prereq >/dev/null && exec python3 tests/run.py " +
                  " ".join(f"--only '{word}'" for word in words))
        path = TOP / "build" / "logs" / f"release-{self.name}.log"
        print(f"{self.name}: tests, {path}", flush=True)
        with open(path, "w+", encoding="utf-8") as log:
            done = self.command("sh", "-c", script, home="/root", stdout=log, stderr=subprocess.STDOUT)
            log.seek(0)
            text = log.read()
        print("\n".join(line for line in text.splitlines() if line.startswith(("== ", "failed: ", "unsteady"))))
        counts = closing_counts(text)
        if not counts:
            return self.expect("the tests were run", False, text[-4000:])
        self.checks.passed += counts[0]
        self.checks.failed += max(counts[1], int(done.returncode != 0))
        self.checks.skipped += counts[2]


@contextlib.contextmanager
def busy(n):
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def main():
    parser = argparse.ArgumentParser(description="The README's commands, and tests, on a new minimal Debian.")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--times", type=int, default=0, metavar="N")
    parser.add_argument("--work", type=Path, default=TOP / "build-package" / "release")
    parser.add_argument("--mirror", default=mirror())
    parser.add_argument("releases", nargs="+", metavar="RELEASE", help=", ".join(RELEASES))
    options = parser.parse_args()
    for name in options.releases:
        if name not in RELEASES:
            parser.error(f"there is no release '{name}' here, only {', '.join(RELEASES)}")
    fresh.start()
    checks = Checks()
    reason = why_not(options.mirror)
    if reason:
        checks.skip(reason)
        return checks.close()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    (TOP / "build" / "logs").mkdir(parents=True, exist_ok=True)
    for name in options.releases:
        release = Release(name, work, options, checks)
        release.readme_of_everybody(options.times)
        if options.only:
            release.tests(options.only)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
