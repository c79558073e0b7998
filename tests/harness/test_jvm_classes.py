#!/usr/bin/env python3
"""Changed class files, judged by the VM's own verifier: classes of the JDK and of jars, every method wrapped, every use of a field told.

usage: test_jvm_classes.py --polygraph PATH [--full] [-v]

By default each 20th class of the JDK is taken; with --full all of them, and those of every jar in /usr/share/java.
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

from jvm import HERE, JARS, Java, main

SOURCES = HERE.parents[0] / "jvm"
SRC = HERE.parents[1] / "src"
FULL = "--full" in sys.argv
if FULL:
    sys.argv.remove("--full")
PATIENCE = 3600 if FULL else 600


def jdk():
    shown = subprocess.run(["java", "-XshowSettings:properties", "-version"], capture_output=True, text=True, check=True)
    return Path(re.search(r"java\.home = (.*)", shown.stderr)[1])


class Verifier(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(Java.folder)
        include = jdk() / "include"
        parts = [SOURCES / "verify_agent.c", SRC / "vm" / "vm_class.c", SRC / "vm" / "vm_class_edit.c", SRC / "vm" / "vm_class_fills.c"]
        subprocess.run(["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", f"-I{SRC}", f"-I{include}", f"-I{include / 'linux'}",
                        "-o", cls.folder / "libverify.so", *parts], check=True)
        subprocess.run(["javac", "-nowarn", "-d", cls.folder / "verify", SOURCES / "Verify.java"], check=True)
        subprocess.run(["javac", "-nowarn", "--patch-module", f"java.base={SOURCES}", "-d", cls.folder / "boot",
                        SOURCES / "Verified.java"], check=True)

    def verify(self, *words):
        result = subprocess.run(
            ["java", f"-agentpath:{self.folder / 'libverify.so'}", f"-Djava.library.path={self.folder}",
             f"--patch-module=java.base={self.folder / 'boot'}", "--add-exports=java.base/polygraph.boot=ALL-UNNAMED",
             "-Xverify:all",
             "--add-modules=ALL-SYSTEM", "-Xlog:disable", "-cp", self.folder / "verify", "Verify", *map(str, words)],
            capture_output=True, text=True, timeout=PATIENCE)
        last = result.stdout.strip().splitlines()[-1:]
        print(f"\n{words[0]}: {' '.join(last)}", file=sys.stderr)
        found = re.match(r"(\d+) classes: (\d+) linked, (\d+) lack others, (\d+) refused; (\d+) seen, (\d+) changed, "
                         r"(\d+) methods, (\d+) calls, (\d+) uses of fields, (\d+) unreadable", last[0] if last else "")
        self.assertTrue(found, result.stdout[-2000:] + result.stderr[-2000:])
        everything, linked, lacking, refused, _, changed, methods, calls, uses, unreadable = map(int, found.groups())
        self.assertEqual(refused, 0, result.stdout[-2000:])
        self.assertEqual(unreadable, 0)
        self.assertEqual(linked + lacking, everything)
        self.assertGreater(changed, everything / 3)
        self.assertGreater(methods, changed)
        self.assertGreater(uses, changed)
        return lacking, calls

    def test_jdk(self):
        lacking, calls = self.verify("every=1" if FULL else "every=20", "*")
        self.assertEqual(lacking, 0)
        self.assertGreater(calls, 100)

    def test_jars(self):
        """Some of what they need may be missing; nothing is refused."""
        self.verify(*(sorted(JARS.glob("*.jar")) if FULL else [JARS / "junit4.jar", JARS / "testng.jar"]))


if __name__ == "__main__":
    main()
