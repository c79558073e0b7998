#!/usr/bin/env python3
"""One severity, one count, one exit status: whatever command, format and sentence says it.

usage: test_counts.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Severity.test_commands_agree.
"""
import json
import pathlib
import re
import shutil
import subprocess
import unittest

import runner

POLYGRAPH = None
FOLDER = None

# What is left: a flag that misleads a test, a setting and a file that are read and mislead none, a folder.
LEAVES = """#include <assert.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int raised, setting = 1, unread;
void test_is_down(void) { assert(raised == 0); }
void test_raises(void) { raised = 1; }
void test_sets(void) { setting = 7; }
void test_reads(void) { assert(setting > 0); }
void test_reads_again(void) { assert(setting < 9); }
void test_writes(void) { FILE *file = fopen("left.txt", "w"); fclose(file); }
void test_looks(void) { FILE *file = fopen("left.txt", "r"); if (file) fclose(file); }
void test_moves(void) { mkdir("below", 0755); assert(!chdir("below")); }
void test_stays(void) { assert(access("nothing", F_OK) != 0); }
void test_ends(void) { unread = 3; }
int main(void)
{
    test_is_down(); test_raises(); test_sets(); test_reads(); test_reads_again(); test_writes(); test_looks(); test_moves();
    test_stays(); test_ends();
    return 0;
}
"""


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(FOLDER) / self.id().rsplit(".", 1)[1]
        self.folder.mkdir()

    def build(self, source, name="suite"):
        """Each source is compiled once."""
        built = pathlib.Path(FOLDER) / f"built-{abs(hash(source))}"
        if not built.exists():
            built.with_suffix(".c").write_text(source)
            subprocess.run(["gcc", "-g", "-O0", "-o", built, built.with_suffix(".c")], check=True)
        shutil.copy2(built, self.folder / name)

    def run_it(self, *words, status=None, **options):
        done = subprocess.run([POLYGRAPH, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=300, check=False, **options)
        if status is not None:
            self.assertEqual(done.returncode, status, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def report(self, command, *words, status=None):
        done = self.run_it(command, "--format", "json", *words, status=status)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)


class Severity(Case):
    """It follows from what is left and from what its readers do right after it, which each command finds out."""

    @staticmethod
    def severities(report):
        return {finding["id"]: (finding["root"], finding["severity"], finding["message"]) for finding in report["findings"]
                if finding["kind"] == "pollution"}

    def test_commands_agree(self):
        self.build(LEAVES)
        check = self.severities(self.report("check", "./suite"))
        shutil.rmtree(self.folder / ".polygraph")
        self.assertEqual(self.severities(self.report("pollution", "./suite")), check)
        found = {root: severity for root, severity, _ in check.values()}
        self.assertEqual(found["raised"], "high")
        self.assertEqual(found["setting"], "low")
        self.assertEqual(found["left.txt"], "low")
        # Everything after it depends on it, whoever was seen to.
        self.assertEqual(found["working-directory"], "medium")
        self.assertEqual(found["unread"], "low")

    def test_replay_says_what_was_found(self):
        """A replay runs the test alone, which knows less of its readers."""
        self.build(LEAVES)
        for identity, (root, severity, message) in self.severities(self.report("check", "./suite")).items():
            done = self.run_it("replay", identity, status=1)
            lines = done.stdout.splitlines()
            self.assertEqual([line.split()[0] for line in lines if re.match("high|medium|low", line)], [severity], done.stdout)
            self.assertNotIn("no other test was seen to read it" if "other test" in message else "\0", done.stdout, root)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if shutil.which("gcc") else "gcc is not installed"


if __name__ == "__main__":
    raise SystemExit(runner.main("counts", prepare))
