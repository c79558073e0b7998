#!/usr/bin/env python3
"""A test that loads a library, and with it the C++ runtime: processes from before it do not have that.

usage: test_loads.py --polygraph PATH [-v] [TEST…]

The one command that runs a failing test again is this one with its name, e.g. Loads.test_search.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import runner

POLYGRAPH = None
FOLDER = None

LIBRARY = """
#include <iostream>
#include <string>
extern "C" int get() { static std::string text; text += "x"; try { throw 1; } catch (int) {} std::cout.flush(); return 1; }
"""
PROGRAM = """
#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
static int (*get)(void);
static int level;
void test_load(void)
{
	void *library = dlopen("./libloaded.so", RTLD_NOW);
	assert(library);
	get = (int (*)(void))dlsym(library, "get");
	assert(get() == 1);
}
void test_sets(void) { level = 1; }
void test_wants(void) { assert(level == 0); }
int main(void) { test_load(); test_wants(); test_sets(); puts("done"); return 0; }
"""


class Loads(unittest.TestCase):
    maxDiff = None

    def test_search(self):
        for name, source in (("loaded.cc", LIBRARY), ("loads.c", PROGRAM)):
            with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
                file.write(source)
        subprocess.run(["g++", "-g", "-shared", "-fPIC", "-o", "libloaded.so", "loaded.cc"], cwd=FOLDER, check=True)
        subprocess.run(["gcc", "-g", "-o", "loads", "loads.c", "-ldl"], cwd=FOLDER, check=True)
        run = subprocess.run([POLYGRAPH, "check", "--fresh", "--format=json", "./loads"], cwd=FOLDER,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=300)
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        report = json.loads(run.stdout)
        self.assertEqual(report["limits"], [])
        found = [(finding["test"], finding["polluted"]) for finding in report["findings"]
                 if finding["kind"] == "order-dependent"]
        self.assertEqual(found, [("test_wants", ["level"])])


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder
    return None if shutil.which("g++") else "no C++ compiler"


if __name__ == "__main__":
    sys.exit(runner.main("loads", prepare))
