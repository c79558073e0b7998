#!/usr/bin/env python3
"""Configuring with nothing but what `./dev setup build` installs: no unit test framework, no JDK.

Usage: test_configure.py --polygraph PROGRAM

Only the libraries of the packages that `dev` names under "build" can be found by pkg-config, with those that they need.
Headers that are found without it (toml++) are those of the system. Nothing is compiled but meson's own probes.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402

TOP = Path(__file__).resolve().parents[2]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def library_packages():
    """The -dev packages of packages() in `dev`, under "build"."""
    words = re.search(r"^\tbuild\).*?\n(.*?);;", (TOP / "dev").read_text(), re.M | re.S)[1].split()
    return [word for word in words if re.fullmatch(r"lib\S+-dev", word)]


def descriptions(packages):
    """The .pc files of Debian packages and of what they depend on."""
    known, open_ones, found = set(), list(packages), []
    while open_ones:
        name = open_ones.pop()
        if name in known:
            continue
        known.add(name)
        status = run("dpkg-query", "-W", "-f", "${Depends}", name)
        if status.returncode:
            continue
        found += [Path(line) for line in run("dpkg", "-L", name).stdout.splitlines() if line.endswith(".pc")]
        # A library's, not those of programs: the graph ends there.
        open_ones += re.findall(r"(lib[a-z0-9.+-]*-dev|[a-z0-9.+-]+-dev)\b", status.stdout)
    return found


@unittest.skipUnless(shutil.which("dpkg-query") and shutil.which("meson"), "needs Debian's dpkg, and meson")
class Configure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="polygraph-configure-")
        cls.work = Path(cls.folder.name)
        cls.only = cls.work / "pkgconfig"
        cls.only.mkdir()
        for path in descriptions(library_packages()):
            if path.exists():
                (cls.only / path.name).symlink_to(path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def configure(self, name, *options, **environment):
        env = {**os.environ, "PKG_CONFIG_LIBDIR": str(self.only), "CMAKE": "/nonexistent", **environment}
        env.pop("PKG_CONFIG_PATH", None)
        return run("meson", "setup", self.work / name, TOP, *options, env=env)

    def targets(self, name):
        return (self.work / name / "build.ninja").read_text()

    def test_needs_no_more_than_is_said(self):
        for package in ("cmocka", "glib-2.0"):
            self.assertFalse((self.only / f"{package}.pc").exists(), package)
        done = self.configure("least", "-Djvm=disabled")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("cmocka not found: no unit tests (Debian and Ubuntu: libcmocka-dev)", done.stdout)
        self.assertIn("no JDK: Java suites are left out (./dev setup jvm)", done.stdout)
        targets = self.targets("least")
        self.assertIn("build polygraph:", targets)
        self.assertIn("build libpolygraph-agent.so:", targets)
        self.assertNotIn("build libpolygraph-jvm.so", targets)
        self.assertNotIn("tests/unit/test_", targets)

    def test_says_which_library_is_missing(self):
        missing = self.only / "jansson.pc"
        away = missing.rename(missing.with_name("away"))
        try:
            done = self.configure("missing", "-Djvm=disabled")
        finally:
            away.rename(missing)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn('Dependency "jansson" not found', done.stdout)


class Without(unittest.TestCase):
    """A program that was built without a JDK: what a JDK makes is not beside it."""

    polygraph = None

    def test_says_that_java_is_missing(self):
        with tempfile.TemporaryDirectory(prefix="polygraph-configure-") as name:
            folder = Path(name)
            shutil.copy(self.polygraph, folder / "polygraph")
            for path in self.polygraph.parent.glob("libpolygraph-*.so"):
                if path.name != "libpolygraph-jvm.so":
                    shutil.copy(path, folder)
            (folder / "classes").mkdir()
            for command in ("list", "run", "pollution", "order", "choices", "schedules", "check"):
                done = run(folder / "polygraph", command, "--test-classes", folder / "classes", cwd=folder)
                self.assertEqual(done.returncode, 3, f"{command}: {done.stdout}")
                self.assertIn("polygraph was built without Java; install a JDK", done.stdout, command)


def main():
    parser = argparse.ArgumentParser(description="Configuring with little installed.")
    parser.add_argument("--polygraph", required=True, type=Path)
    options, rest = parser.parse_known_args()
    Without.polygraph = options.polygraph.resolve()
    fresh.start()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
