#!/usr/bin/env python3
"""What `polygraph repair` prints and writes: a verdict as the last line, reports where --output says, patches where --patches says.

usage: test_patches.py --polygraph PATH [-v] [TEST…]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import runner

SUBJECT = pathlib.Path(__file__).resolve().parent.parent / "subjects" / "repair" / "plain"
BUILD = "gcc -g -fno-inline *.c -o tests"
POLYGRAPH = None
FOLDER = None


class Patches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(FOLDER) / "plain"
        shutil.copytree(SUBJECT, cls.folder)
        subprocess.run(BUILD, shell=True, cwd=cls.folder, check=True)
        cls.polygraph("order", "-q", "./tests", status=1)

    @classmethod
    def polygraph(cls, *words, status=0):
        done = subprocess.run([POLYGRAPH, *words], cwd=cls.folder, text=True, timeout=300, check=False, capture_output=True)
        if done.returncode != status:
            raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout if status != 2 else done.stderr

    def test_verdict(self):
        lines = self.polygraph("repair").splitlines()
        self.assertTrue(lines[0].endswith("lets it pass; not proven: no --build"), lines[0])
        self.assertEqual(lines[-1], "1 finding: 1 with a patch that is not proven; --build COMMAND proves them")
        lines = self.polygraph("repair", "--build", BUILD).splitlines()
        self.assertEqual(lines[-1], "1 finding: 1 with a proven patch; --apply changes your files")
        lines = self.polygraph("repair", "-q", "--build", BUILD).splitlines()
        self.assertEqual(len(lines), 2)

    def test_where_the_advice_is(self):
        """The report says at the end of which test to restore it: there the patch is."""
        advice = self.polygraph("order", "--fresh", "./tests", status=1)
        self.assertIn("fix: restore it at the end of test_increments: ", advice)
        self.assertIn(" counter_reset(); at the end of test_increments lets it pass", self.polygraph("repair"))

    def test_files(self):
        said = self.polygraph("repair", "-o", "report.json")
        self.assertEqual(len(said.splitlines()), 1, "the verdict alone")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertIn("+\tcounter_reset();", report["findings"][0]["patch"])
        self.assertEqual(json.loads(self.polygraph("repair", "--format", "json"))["findings"][0]["function"], "counter_reset")
        self.polygraph("repair", "--patches", "patches", "-o", "report.txt")
        self.assertEqual((self.folder / "report.txt").read_text().splitlines()[-1],
                         "1 finding: 1 with a patch that is not proven; --build COMMAND proves them")
        name = f"{report['findings'][0]['finding']}.patch"
        self.assertEqual([path.name for path in (self.folder / "patches").iterdir()], [name])
        self.assertEqual((self.folder / "patches" / name).read_text(), report["findings"][0]["patch"])

    def test_other_programs_of_a_build(self):
        """One program at a time: what is left out of the others is said, and their ids work."""
        folder = pathlib.Path(FOLDER) / "build"
        folder.mkdir()
        for name in ("one", "two"):
            subprocess.run(f"gcc -g -fno-inline -Dtest_increments=test_{name} -Dtest_starts_at_seven=test_seven_{name} "
                           f"{self.folder}/*.c -o {name}", shell=True, cwd=folder, check=True)
        words = [POLYGRAPH, "check", "-q", "--no-choices", "--no-schedules", "--program", "one", "--program", "two"]
        subprocess.run([*words, "-o", "report.json"], cwd=folder, check=False, capture_output=True)
        found = [finding["id"] for finding in json.loads((folder / "report.json").read_text())["findings"]
                 if finding["kind"] == "order-dependent"]
        self.assertEqual(len(set(found)), 2, found)
        done = subprocess.run([POLYGRAPH, "repair"], cwd=folder, text=True, timeout=300, check=False, capture_output=True)
        self.assertIn("1 finding of other programs of the build is left out; give their ids, one program at a time", done.stderr)
        for one in found:
            done = subprocess.run([POLYGRAPH, "repair", one], cwd=folder, text=True, timeout=300, check=False, capture_output=True)
            self.assertIn("lets it pass", done.stdout)
            self.assertNotIn("left out", done.stderr)

    def test_refused(self):
        self.assertIn("the format 'html' cannot show patches", self.polygraph("repair", "-o", "report.html", status=2))
        self.assertIn("is a folder", self.polygraph("repair", "-o", ".", status=2))
        self.assertFalse((self.folder / "report.html").exists())


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if os.path.exists("/usr/bin/gcc") else "gcc is not installed"


if __name__ == "__main__":
    sys.exit(runner.main("patches", prepare))
