#!/usr/bin/env python3
"""The tarball, made from the build folder: unpacked anywhere, used from there, by path and through a link.

Usage: test_tarball.py --polygraph PROGRAM

The build folder is that of the program.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
POLYGRAPH = None
JAVA = ("libpolygraph-jvm.so", "polygraph-jvm.jar", "polygraph-boot.jar")
SUITE = r"""
#include <stdio.h>
#include <stdlib.h>
int level;
__attribute__((noinline)) static void test_raises(void) { level = 1; }
__attribute__((noinline)) static void test_is_zero(void) { if (level) abort(); }
int main(void) { test_is_zero(); test_raises(); puts("ok"); return 0; }
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


class Tarball(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="polygraph-tarball-")
        cls.work = Path(cls.folder.name)
        made = run(sys.executable, TOP / "packaging/package.py", "--quick", "--build", POLYGRAPH.parent, "--output",
                   cls.work / "out")
        if made.returncode:
            raise AssertionError(made.stdout)
        cls.archive = next((cls.work / "out").glob("*.tar.gz"))
        cls.place = cls.work / "another place"
        with tarfile.open(cls.archive) as archive:
            cls.members = archive.getmembers()
            archive.extractall(cls.place)
        cls.top = next(cls.place.iterdir())
        (cls.work / "suite.c").write_text(SUITE)
        built = run("cc", "-g", "-O0", "-o", cls.work / "suite", cls.work / "suite.c")
        if built.returncode:
            raise AssertionError(built.stdout)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, program):
        with tempfile.TemporaryDirectory(prefix="polygraph-tarball-") as folder:
            done = run(program, "check", self.work / "suite", cwd=folder)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("test_is_zero crashes after test_raises", done.stdout)

    def test_runs_where_it_lies(self):
        self.check(self.top / "bin/polygraph")

    def test_runs_through_a_link(self):
        link = self.work / "polygraph-link"
        link.symlink_to(self.top / "bin/polygraph")
        self.check(link)

    def test_takes_its_own_libraries(self):
        listed = run("ldd", self.top / "bin/polygraph").stdout
        mine = {name for name, path in re.findall(r"^\s*(\S+) => (.+) \(", listed, re.M) if path.startswith(str(self.place))
                or str(self.place) in os.path.realpath(path)}
        others = {name for name, path in re.findall(r"^\s*(\S+) => (.+) \(", listed, re.M)} - mine
        self.assertTrue({"libdw.so.1", "libelf.so.1", "libjansson.so.4", "libsqlite3.so.0", "libstdc++.so.6", "liblzma.so.5"}
                        <= mine, listed)
        self.assertTrue(others <= {"libc.so.6", "libm.so.6"}, listed)

    def page(self):
        """The page of a run where the system's plug-ins of Graphviz cannot be had: what is in it besides the report."""
        nowhere = self.work / "nowhere"
        nowhere.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="polygraph-tarball-") as folder:
            path = Path(folder) / "page.html"
            done = run(self.top / "bin/polygraph", "check", "--format", "html", "--output", path, self.work / "suite",
                       cwd=folder, env={**os.environ, "GVBINDIR": str(nowhere)})
            self.assertEqual(done.returncode, 1, done.stdout)
            text = path.read_text()
        return json.loads(re.search(r'<script type="application/json" id="more">(.*?)</script>', text, re.S)[1])

    def test_draws_without_plugins_of_the_system(self):
        more = self.page()
        self.assertTrue(all(cause["graph"].startswith("<svg") for cause in more["causes"]), more)
        self.assertTrue(more["causes"])
        self.assertNotIn("no_pictures", more)

    def test_says_that_it_cannot_draw(self):
        plugin = self.top / "lib/polygraph/bundled/libgvplugin_dot_layout.so"
        away = plugin.rename(plugin.with_name("away"))
        try:
            more = self.page()
        finally:
            away.rename(plugin)
        self.assertFalse(any("graph" in cause for cause in more["causes"]), more)
        self.assertIn("dot_layout", more["no_pictures"])

    def test_has_what_java_suites_need(self):
        built = {name for name in JAVA if (POLYGRAPH.parent / name).exists()}
        if not built:
            self.skipTest("there was no JDK when it was built")
        self.assertEqual(built, set(JAVA))
        for name in JAVA:
            self.assertTrue((self.top / "lib/polygraph" / name).is_file(), name)

    def test_version_and_manual_pages(self):
        said = run(self.top / "bin/polygraph", "--version").stdout
        self.assertRegex(said, r"^polygraph \d+\.\d+\.\d+ \(commit \S+\)\n$")
        pages = {path.name for path in (self.top / "share/man/man1").iterdir()}
        self.assertIn("polygraph.1.gz", pages)
        help_text = run(self.top / "bin/polygraph", "help").stdout
        for command in ("check", "run", "list", "completion"):
            self.assertIn(f"polygraph-{command}.1.gz", pages)
            self.assertIn(command, help_text)

    def test_belongs_to_nobody_in_particular(self):
        for member in self.members:
            self.assertEqual((member.uid, member.gid), (0, 0), member.name)
            self.assertEqual(member.mode & 0o022, 0, member.name)
        self.assertEqual(len({member.mtime for member in self.members}), 1)

    def test_is_the_same_again(self):
        made = run(sys.executable, TOP / "packaging/package.py", "--quick", "--build", POLYGRAPH.parent, "--output",
                   self.work / "again", umask=0o077)
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertTrue((self.work / "again" / self.archive.name).read_bytes() == self.archive.read_bytes(), "they differ")


def main():
    global POLYGRAPH
    parser = argparse.ArgumentParser(description="The tarball.")
    parser.add_argument("--polygraph", required=True)
    options, rest = parser.parse_known_args()
    POLYGRAPH = Path(options.polygraph).resolve()
    fresh.start()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
