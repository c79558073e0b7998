#!/usr/bin/env python3
"""A check after an edit says what a fresh one says: the same findings at or above medium, and the same exit status.

Small suites are made up, edited again and again, and rebuilt. After each edit `polygraph check` runs in a folder that knows
the checks before, and `polygraph check --fresh` in another one. Edits are: a test is added, removed, changed or renamed, all
is as it was some edits ago, a header's constant, a library's initial value, a data file, an environment variable, nothing.

usage: test_edits.py --polygraph PATH [--sequences N] [--seed N] [-v] [TEST…]

Without --seed the sequences differ from run to run; the seed is printed. --sequences 200 is the long form.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

import runner

POLYGRAPH = FOLDER = None
SEQUENCES = 4
EDITS = 5
SEED = random.SystemRandom().randrange(1 << 32)
PATIENCE = 300
VARIABLE = "EDITS_MODE"

HEADER = """#pragma once
#ifdef __cplusplus
#include <gtest/gtest.h>
#endif
#define LIMIT {limit}
#ifdef __cplusplus
extern "C" {{
#endif
extern int v0, v1;
int data(void);
int is_wild(void);
int is_there(const char *name);
void make(const char *name);
#ifdef __cplusplus
}}
#define TEST_CASE(group, name) TEST(group, name)
#define CHECK(c) EXPECT_TRUE(c)
#else
extern int failures;
#define TEST_CASE(group, name) void test_##group##_##name(void)
#define CHECK(c) do {{ if (!(c)) failures++; }} while (0)
#endif
"""
LIBRARY = """#include "common.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int v0 = {first}, v1;
int data(void)
{{
	int number = -1;
	FILE *file = fopen("data.txt", "r");
	if (file) {{
		if (fscanf(file, "%d", &number) != 1)
			number = -2;
		fclose(file);
	}}
	return number;
}}
int is_wild(void) {{ const char *mode = getenv("EDITS_MODE"); return mode && !strcmp(mode, "wild"); }}
int is_there(const char *name) {{ return access(name, F_OK) == 0; }}
void make(const char *name) {{ FILE *file = fopen(name, "w"); if (file) fclose(file); }}
"""
RUNNER = """#include <stdio.h>
int failures;
{declarations}
int main(void)
{{
	static void (*const tests[])(void) = {{ {names} }};
	for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tests[i]();
	return failures != 0;
}}
"""
# What a test does; {v} is one of the variables, {n} a number of its own.
BODIES = [
    "CHECK(1 + {n} > 1);",
    "v{v} = {n};",
    "v{v} = {n}; CHECK(v{v} == {n}); v{v} = 0;",
    "CHECK(v{v} < 3);",
    "CHECK(v{v} < 5);",
    "CHECK(v0 < 3);",
    "CHECK(v1 == 0);",
    "v{v} = {n};",
    "v1 = {n};",
    "if (LIMIT > 10) v{v} = {n};",
    "CHECK(v{v} <= LIMIT);",
    "if (data() > 10) v{v} = {n};",
    "CHECK(data() + v{v} < 100);",
    "if (is_wild()) v{v} = {n};",
    'make("left{v}.txt");',
    'CHECK(!is_there("left{v}.txt"));',
    'if (is_there("extra.txt")) v{v} = {n};',
    "static int calls; CHECK(calls++ == 0);",
]
FILES = ("one", "two")


class Suite:
    """What a suite is made of, and how it is edited."""

    def __init__(self, chance, kind):
        self.chance, self.kind = chance, kind
        self.tests = []  # [file, name, body]
        self.limit, self.first, self.data, self.mode, self.extra = 9, 0, "5", None, False
        self.count = 0
        for _ in range(chance.randint(3, 5)):
            self.add()

    def body(self):
        return self.chance.choice(BODIES).format(v=self.chance.randrange(2), n=self.chance.choice((1, 3, 7, 20)))

    def name(self):
        self.count += 1
        return f"{self.chance.choice('ABCXYZ')}{self.count}"

    def add(self):
        self.tests.insert(self.chance.randint(0, len(self.tests)), [self.chance.choice(FILES), self.name(), self.body()])
        return f"add {self.tests[-1]}"

    def remove(self):
        if len(self.tests) < 3:
            return self.add()
        return f"remove {self.tests.pop(self.chance.randrange(len(self.tests)))}"

    def change(self):
        test = self.chance.choice(self.tests)
        test[2] = self.body()
        return f"change {test}"

    def rename(self):
        test = self.chance.choice(self.tests)
        test[1] = self.name()
        return f"rename {test}"

    def header(self):
        self.limit = 29 - self.limit if self.limit in (9, 20) else 9
        return f"header: LIMIT {self.limit}"

    def constant(self):
        self.first = self.chance.choice([value for value in (0, 2, 4) if value != self.first])
        return f"constant: v0 = {self.first}"

    def data_file(self):
        self.data = self.chance.choice([text for text in ("5", "50", "99", None) if text != self.data])
        return f"data file: {self.data}"

    def another_file(self):
        self.extra = not self.extra
        return f"extra file: {self.extra}"

    def environment(self):
        self.mode = self.chance.choice([mode for mode in (None, "tame", "wild") if mode != self.mode])
        return f"environment: {self.mode}"

    def state(self):
        return [list(test) for test in self.tests], self.limit, self.first, self.data, self.mode, self.extra

    def restore(self, state):
        tests, self.limit, self.first, self.data, self.mode, self.extra = state
        self.tests = [list(test) for test in tests]

    def edit(self, history):
        """Says what was done."""
        before = self.state()
        kinds = [self.add, self.add, self.remove, self.change, self.change, self.change, self.rename, self.header, self.constant,
                 self.data_file, self.another_file, self.environment]
        choice = self.chance.randrange(len(kinds) + 5)
        if choice < len(kinds):
            said = kinds[choice]()
        elif choice < len(kinds) + 4 and history:
            back = self.chance.choice(history)
            self.restore(back)
            said = "revert"
        else:
            said = "nothing"
        history.append(before)
        return said

    # ---- as files ----

    def sources(self):
        suffix = "cc" if self.kind == "gtest" else "c"
        made = {"common.h": HEADER.format(limit=self.limit), "library.c": LIBRARY.format(first=self.first)}
        for name in FILES:
            tests = [f"TEST_CASE(G{name}, {test}) {{ {body} }}\n" for file, test, body in self.tests if file == name]
            made[f"{name}.{suffix}"] = '#include "common.h"\n' + "".join(tests)
        if self.kind == "functions":
            names = [f"test_G{file}_{test}" for file, test, _ in self.tests]
            made["main.c"] = RUNNER.format(declarations="".join(f"void {name}(void);\n" for name in names),
                                           names=", ".join(names))
        return made


class Folder:
    """The sources of a suite, two places to check it in, and what was compiled."""

    def __init__(self, folder, kind):
        self.folder, self.kind = folder, kind
        self.written = {}
        self.places = {name: folder / name for name in ("again", "fresh")}
        for place in self.places.values():
            place.mkdir(parents=True)

    def compile(self, name):
        words = ["c++", "-std=c++17", "-O0", "-g", f"-I{FOLDER}/gtest"] if name.endswith(".cc") else ["cc", "-O0", "-g"]
        subprocess.run([*words, "-c", "-o", f"{name}.o", name], cwd=self.folder, check=True)

    def write(self, suite):
        """Only what differs is compiled, as make would."""
        sources = suite.sources()
        differ = {name for name in sources if self.written.get(name) != sources[name]}
        for name in differ:
            (self.folder / name).write_text(sources[name])
        for name in sorted(sources):
            if not name.endswith(".h") and (name in differ or "common.h" in differ):
                self.compile(name)
        self.written = sources
        if differ:
            libraries = ["-lgtest", "-lgtest_main", "-pthread"] if self.kind == "gtest" else []
            linker = "c++" if self.kind == "gtest" else "cc"
            subprocess.run([linker, "-o", "suite", *(f"{name}.o" for name in sorted(sources) if not name.endswith(".h")),
                            *libraries], cwd=self.folder, check=True)
        for place in self.places.values():
            if differ:
                shutil.copy(self.folder / "suite", place / "suite.new")
                os.rename(place / "suite.new", place / "suite")
            write_or_remove(place / "data.txt", suite.data)
            write_or_remove(place / "extra.txt", "" if suite.extra else None)

    def check(self, which, suite, *options):
        """Exit status and findings."""
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        if suite.mode:
            environment[VARIABLE] = suite.mode
        done = subprocess.run([POLYGRAPH, "check", *options, "--format", "json", "--output", "report.json", "./suite"],
                              cwd=self.places[which], env=environment, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode not in (0, 1, 3):
            raise AssertionError(f"exit status {done.returncode}: {done.stdout}")
        report = json.loads((self.places[which] / "report.json").read_text())
        found = {finding["id"]: f"{finding['severity']}: {finding['message']}" for finding in report["findings"]
                 if finding["severity"] != "low"}
        return (done.returncode, found), report["run"].get("reused", False)


def write_or_remove(path, text):
    if text is None:
        path.unlink(missing_ok=True)
    elif not path.exists() or path.read_text() != text:
        path.write_text(text)


class Edits(unittest.TestCase):
    maxDiff = None

    def run_sequence(self, kind, seed):
        """How many checks were compared, and how many of them ran nothing."""
        chance = random.Random(seed)
        suite = Suite(chance, kind)
        folder = Folder(pathlib.Path(FOLDER) / f"{kind}-{seed}", kind)
        history, said, reused = [], ["begin"], 0
        for number in range(EDITS + 1):
            if number:
                said.append(suite.edit(history))
            folder.write(suite)
            again, was_reused = folder.check("again", suite)
            fresh, _ = folder.check("fresh", suite, "--fresh")
            self.assertEqual(again, fresh, f"{kind}, after: {'; '.join(said)}\nagain: --seed {seed} in {folder.folder}")
            reused += was_reused
        shutil.rmtree(folder.folder)
        return EDITS + 1, reused

    def run_sequences(self, kind, sequences):
        checks = reused = bad = 0
        for number in range(sequences):
            seed = SEED + number
            with self.subTest(kind=kind, seed=seed):
                bad += 1
                made, of_them = self.run_sequence(kind, seed)
                bad -= 1
                checks += made
                reused += of_them
        print(f"{kind}: seed {SEED}, {sequences} sequences, {checks} checks compared, {reused} of them ran nothing, "
              f"{bad} sequences differ", flush=True)

    def test_functions(self):
        self.run_sequences("functions", SEQUENCES)

    def test_gtest(self):
        if not has_gtest():
            self.skipTest("there is no GoogleTest (Debian: libgtest-dev)")
        self.run_sequences("gtest", max(1, SEQUENCES // 4))


class Kept(unittest.TestCase):
    """Edits after which a check once said less than a fresh one."""

    def begin(self, kind, *tests):
        if kind == "gtest" and not has_gtest():
            self.skipTest("there is no GoogleTest (Debian: libgtest-dev)")
        suite = Suite(random.Random(1), kind)
        suite.tests = [list(test) for test in tests]
        folder = Folder(pathlib.Path(FOLDER) / f"{kind}-{self._testMethodName}", kind)
        return suite, folder

    def compare(self, suite, folder, status):
        """What both say; @status: that of both."""
        folder.write(suite)
        again, _ = folder.check("again", suite)
        self.assertEqual(again, folder.check("fresh", suite, "--fresh")[0])
        self.assertEqual(again[0], status, again)
        return again[1]

    def replay(self, folder, identity):
        return subprocess.run([POLYGRAPH, "replay", identity], cwd=folder.places["again"], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)

    def come_back(self, kind):
        """A flaw is mended, and comes back: it is a finding again, and replay knows it."""
        suite, folder = self.begin(kind, ("one", "Reads", "CHECK(v1 == 0);"), ("one", "Idle", "CHECK(1);"),
                                   ("two", "Sets", "v1 = 3;"))
        first = self.compare(suite, folder, 1)
        self.assertTrue(any(text.startswith("high") for text in first.values()), first)
        suite.tests[2][2] = "v1 = 3; v1 = 0;"
        self.assertEqual(self.compare(suite, folder, 0), {})
        suite.tests[2][2] = "v1 = 3;"
        self.assertEqual(self.compare(suite, folder, 1), first)
        for identity in first:
            done = self.replay(folder, identity)
            self.assertEqual(done.returncode, 1, done.stdout)

    def changed_victim(self, kind):
        """A test is changed, so that one that is as it was misleads it."""
        suite, folder = self.begin(kind, ("one", "Later", "CHECK(1);"), ("one", "Idle", "CHECK(1);"), ("two", "Sets", "v1 = 3;"),
                                   ("two", "Other", "CHECK(2);"))
        self.compare(suite, folder, 0)
        suite.tests[0][2] = "CHECK(v1 == 0);"
        self.assertTrue(any("Later" in text for text in self.compare(suite, folder, 1).values()))

    def new_polluter(self, kind):
        """A new test in another file misleads one that is as it was, whichever of them comes first."""
        for place in (0, 2):
            suite, folder = self.begin(kind, ("one", "Reads", "CHECK(v1 == 0);"), ("one", "Idle", "CHECK(1);"))
            self.compare(suite, folder, 0)
            suite.tests.insert(place, ["two", "Sets", "v1 = 3;"])
            found = self.compare(suite, folder, 1)
            self.assertEqual(self.compare(suite, folder, 1), found)
            shutil.rmtree(folder.folder)

    def inputs(self, kind):
        """Nothing but a header's constant, a data file, one that was not there, or a variable is different."""
        suite, folder = self.begin(kind, ("one", "Reads", "CHECK(v1 == 0);"), ("one", "Limit", "if (LIMIT > 10) v1 = 3;"),
                                   ("two", "Data", "if (data() > 10) v1 = 7;"),
                                   ("two", "Extra", 'if (is_there("extra.txt")) v1 = 9;'),
                                   ("two", "Wild", "if (is_wild()) v1 = 11;"))
        self.compare(suite, folder, 0)
        for name, bad in (("limit", 20), ("data", "50"), ("extra", True), ("mode", "wild")):
            good = getattr(suite, name)
            setattr(suite, name, bad)
            self.compare(suite, folder, 1)
            setattr(suite, name, good)
            self.compare(suite, folder, 0)

    def test_come_back(self):
        self.come_back("functions")

    def test_come_back_gtest(self):
        self.come_back("gtest")

    def test_changed_victim(self):
        self.changed_victim("functions")

    def test_changed_victim_gtest(self):
        self.changed_victim("gtest")

    def test_new_polluter(self):
        self.new_polluter("functions")

    def test_new_polluter_gtest(self):
        self.new_polluter("gtest")

    def test_inputs(self):
        self.inputs("functions")

    def test_inputs_gtest(self):
        self.inputs("gtest")


def has_gtest():
    """Compiles its header once for all."""
    folder = pathlib.Path(FOLDER) / "gtest" / "gtest"
    if folder.exists():
        return True
    folder.mkdir(parents=True)
    for header in ("/usr/include/gtest/gtest.h", "/usr/local/include/gtest/gtest.h"):
        if os.path.exists(header):
            subprocess.run(["c++", "-std=c++17", "-O0", "-g", "-x", "c++-header", "-o", folder / "gtest.h.gch", header], check=True)
            return True
    return False


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder


def take(name, usual):
    """The number after an option, which unittest does not know."""
    if name not in sys.argv:
        return usual
    at = sys.argv.index(name)
    value = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return value


if __name__ == "__main__":
    SEQUENCES = take("--sequences", SEQUENCES)
    SEED = take("--seed", SEED)
    sys.exit(runner.main("edits", prepare))
