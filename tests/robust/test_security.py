#!/usr/bin/env python3
"""What other users put into a folder, the cache or the temporary folder is not obeyed, and nobody reads our results.

usage: test_security.py --polygraph PATH [-v] [TEST…]

Root plays both parts where it can: it is the user of the tool, and it gives files to other users. An ordinary user
runs the parts that need no second user.
"""
import contextlib
import glob
import json
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

import runner

POLYGRAPH = None
FOLDER = None
OTHER = None  # the id of another user; None: we are not root

SUITE = r"""
#include <stdlib.h>
int kept;
void __attribute__((noinline)) test_leaves(void) { kept++; setenv("SECRET", "hush", 1); }
void __attribute__((noinline)) test_fine(void) { if (kept > 100) abort(); }
int main(void) { test_leaves(); test_fine(); return 0; }
"""


def compile_c(name, text):
    path = os.path.join(FOLDER, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["cc", "-g", "-O1", "-w", "-o", path, path + ".c"], check=True)
    return path


def needs_another_user(test):
    return lambda self: self.skipTest("only root can give files to another user") if OTHER is None else test(self)


class Security(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.suite = compile_c("suite", SUITE)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-security-", dir=FOLDER)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("home"))
        os.mkdir(self.path("work"))
        self.environment = {key: value for key, value in os.environ.items() if key not in ("XDG_CACHE_HOME", "SUDO_UID")}
        self.environment["HOME"] = self.path("home")

    def path(self, name):
        return os.path.join(self.folder, name)

    def work(self, name):
        return os.path.join(self.folder, "work", name)

    def write(self, path, text, mode=0o644, owner=None):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        if owner is not None:
            os.chown(path, owner, owner)
        return path

    def run_it(self, *args, status=0, env=None, **options):
        done = subprocess.run([POLYGRAPH, *runner.failing_on_low(args)], timeout=120, check=False, capture_output=True,
                              cwd=self.path("work"),
                              env={**self.environment, **(env or {})}, **options)
        self.assertEqual(done.returncode, status, (done.stdout + done.stderr).decode(errors="replace"))
        return done

    def mode(self, path):
        return stat.S_IMODE(os.lstat(path).st_mode)

    # Configuration

    def plant(self, mode=0o644, owner=None):
        """A configuration whose command leaves a trace."""
        trace = self.path("trace")
        with contextlib.suppress(FileNotFoundError):
            os.remove(trace)
        self.write(self.work("list"), f"touch {trace}\n")
        self.write(self.work("polygraph.toml"), 'commands = "list"\n', mode, owner)
        return trace

    def refused(self, words, **options):
        trace = self.path("trace")
        for command in ("list", "run", "pollution", "order", "choices", "check"):
            done = self.run_it(command, status=2, **options)
            self.assertIn(words, done.stderr.decode())
            self.assertIn("  if you trust it, name it: --config polygraph.toml\n", done.stderr.decode())
            self.assertEqual(done.stderr.count(b"\n"), 2, done.stderr)
        self.assertFalse(os.path.exists(trace))

    def obeyed(self, *args, **options):
        self.run_it("run", *args, **options)
        self.assertTrue(os.path.exists(self.path("trace")))

    def test_own_configuration(self):
        for mode in (0o600, 0o644, 0o664):
            self.plant(mode)
            self.obeyed()

    @needs_another_user
    def test_planted_configuration(self):
        self.plant(owner=OTHER)
        self.refused("'polygraph.toml' belongs to another user")
        self.refused("'polygraph.toml' belongs to another user", env={"SUDO_UID": str(OTHER + 1)})
        self.refused("'polygraph.toml' belongs to another user", env={"SUDO_UID": "nonsense"})
        # Who is named is trusted: the user who called sudo, and a file on the command line.
        self.obeyed(env={"SUDO_UID": str(OTHER)})
        self.plant(owner=OTHER)
        self.obeyed("--config", "polygraph.toml")

    @needs_another_user
    def test_planted_link_to_configuration(self):
        """The file is ours, but somebody else chose it for this folder."""
        self.plant()
        os.rename(self.work("polygraph.toml"), self.path("elsewhere.toml"))
        os.symlink(self.path("elsewhere.toml"), self.work("polygraph.toml"))
        self.obeyed()
        self.plant_link_owner()
        self.refused("'polygraph.toml' belongs to another user")

    def plant_link_owner(self):
        os.remove(self.path("trace"))
        os.lchown(self.work("polygraph.toml"), OTHER, OTHER)

    @needs_another_user
    def test_link_to_configuration_of_another_user(self):
        self.plant(owner=OTHER)
        os.rename(self.work("polygraph.toml"), self.path("elsewhere.toml"))
        os.symlink(self.path("elsewhere.toml"), self.work("polygraph.toml"))
        self.refused("'polygraph.toml' belongs to another user")

    def test_configuration_for_everybody(self):
        for mode in (0o666, 0o602):
            self.plant(mode)
            self.refused("'polygraph.toml' can be written by every user")
        self.obeyed("--config", "polygraph.toml")

    @needs_another_user
    def test_configuration_of_root(self):
        """An ordinary user obeys root, who can do everything anyway, and no third user."""
        become = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
        with tempfile.TemporaryDirectory(prefix="polygraph-security-") as folder:
            os.chmod(folder, 0o755)
            if subprocess.run([*become, "ls", folder], capture_output=True, check=False).returncode:
                self.skipTest("the temporary folder is closed to other users, or there is no setpriv")
            shutil.copy(POLYGRAPH, folder)
            self.write(os.path.join(folder, "list"), "true\n")
            config = self.write(os.path.join(folder, "polygraph.toml"), 'commands = "list"\n')
            for owner, status in ((0, 0), (OTHER, 0), (OTHER - 1, 2)):
                os.chown(config, owner, owner)
                done = subprocess.run([*become, "./polygraph", "run"], cwd=folder, env={"PATH": os.environ["PATH"]},
                                      capture_output=True, timeout=60, check=False)
                self.assertEqual(done.returncode, status, done.stderr)

    # Results

    def test_results_are_private(self):
        """They hold values of variables, also of the environment; no umask makes them readable."""
        for mask in (0, 0o022, 0o077):
            shutil.rmtree(self.work(".polygraph"), ignore_errors=True)
            self.run_it("check", self.suite, status=1, preexec_fn=lambda mask=mask: os.umask(mask))
            self.assertEqual(self.mode(self.work(".polygraph")), 0o700)
            names = os.listdir(self.work(".polygraph"))
            self.assertIn("results.db", names)
            for name in names:
                self.assertEqual(self.mode(os.path.join(self.work(".polygraph"), name)), 0o600, name)
            self.assertEqual(self.mode(self.path("home/.cache")) & 0o077, 0)
            for path in glob.glob(self.path("home/.cache/polygraph/*")):
                self.assertEqual(self.mode(path), 0o600, path)

    def test_results_of_an_older_version_become_private(self):
        self.run_it("check", self.suite, status=1)
        os.chmod(self.work(".polygraph"), 0o755)
        os.chmod(self.work(".polygraph/results.db"), 0o644)
        self.run_it("check", self.suite, status=1)
        self.assertEqual(self.mode(self.work(".polygraph")), 0o700)
        self.assertEqual(self.mode(self.work(".polygraph/results.db")), 0o600)

    def results_refused(self, words, path=".polygraph"):
        """Nothing of them is used or written; a run goes on without."""
        before = self.tree(self.work(path))
        done = self.run_it("check", self.suite, status=1)
        self.assertIn("results are not kept: ", done.stderr.decode())
        self.assertIn(words, done.stderr.decode())
        self.assertIn("; move '.polygraph' away", done.stderr.decode())
        done = self.run_it("replay", "--list", status=2)
        self.assertRegex(done.stderr.decode(), f"{words}|no stored findings")
        self.assertEqual(self.tree(self.work(path)), before)

    @staticmethod
    def tree(path):
        """Everything about a file, or a folder and what is in it."""
        result = {}
        for name in [path, *glob.glob(os.path.join(path, "*"))]:
            status = os.lstat(name)
            content = None
            if stat.S_ISREG(status.st_mode):
                with open(name, "rb") as file:
                    content = file.read()
            result[name] = (status.st_mode, status.st_uid, status.st_mtime_ns, status.st_size, content)
        return result

    def made_results(self):
        self.run_it("check", self.suite, status=1)
        return json.loads(self.run_it("replay", "--list", "--format", "json").stdout)

    @needs_another_user
    def test_planted_results(self):
        finding = self.made_results()[0]["id"]
        os.chown(self.work(".polygraph/results.db"), OTHER, OTHER)
        self.results_refused("'.polygraph/results.db' belongs to another user")
        self.run_it("replay", finding, status=2)
        os.chown(self.work(".polygraph"), OTHER, OTHER)
        self.results_refused("'.polygraph' belongs to another user")
        done = self.run_it("replay", finding, status=1, env={"SUDO_UID": str(OTHER)})
        self.assertIn(b"reproduced", done.stdout)
        self.assertNotIn(b"another user", done.stderr)

    def test_results_that_are_links(self):
        self.made_results()
        victim = self.write(self.path("victim"), "precious\n")
        for target in (victim, self.path("nothing"), "/etc/passwd"):
            os.remove(self.work(".polygraph/results.db"))
            os.symlink(target, self.work(".polygraph/results.db"))
            self.results_refused("'.polygraph/results.db' is not a regular file")
        os.remove(self.work(".polygraph/results.db"))
        os.symlink(victim, self.work(".polygraph/results.db-wal"))
        self.results_refused("'.polygraph/results.db-wal' is not a regular file")
        with open(victim, encoding="ascii") as file:
            self.assertEqual(file.read(), "precious\n")
        self.assertFalse(os.path.exists(self.path("nothing")))

    def test_results_for_everybody(self):
        self.made_results()
        os.chmod(self.work(".polygraph"), 0o777)
        self.results_refused("'.polygraph' can be written by every user")
        os.chmod(self.work(".polygraph"), 0o700)
        os.chmod(self.work(".polygraph/results.db"), 0o606)
        self.results_refused("'.polygraph/results.db' can be written by every user")

    def test_own_link_to_a_folder_of_results(self):
        os.mkdir(self.path("elsewhere"), 0o700)
        os.symlink(self.path("elsewhere"), self.work(".polygraph"))
        for sandbox in ("auto", "never"):
            self.run_it("check", "--sandbox", sandbox, self.suite, status=1)
            self.assertTrue(self.run_it("replay", "--list").stdout)
            self.assertIn("results.db", os.listdir(self.path("elsewhere")))
            os.remove(self.path("elsewhere/results.db"))

    @needs_another_user
    def test_planted_link_to_a_folder_of_results(self):
        """Such a link would have root write where the other user cannot."""
        os.mkdir(self.path("elsewhere"), 0o700)
        os.symlink(self.path("elsewhere"), self.work(".polygraph"))
        os.lchown(self.work(".polygraph"), OTHER, OTHER)
        self.results_refused("'.polygraph' belongs to another user")
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    @needs_another_user
    def test_folder_of_another_user(self):
        """Nothing planted: root may work there, and its results stay root's."""
        os.chown(self.path("work"), OTHER, OTHER)
        self.made_results()
        self.assertEqual(os.lstat(self.work(".polygraph")).st_uid, 0)
        self.assertEqual(self.mode(self.work(".polygraph")), 0o700)

    # The cache

    def cached(self, env=None, command="pollution"):
        done = self.run_it(command, self.suite, status=1, env={"POLYGRAPH_LOG": "dwarf", **(env or {})})
        lines = [line for line in done.stderr.decode().splitlines()
                 if f"{self.suite}: variables and types are read from " in line]
        self.assertTrue(lines, done.stderr)
        return "from the cache" in lines[0]

    def test_own_cache(self):
        self.assertFalse(self.cached())
        self.assertTrue(self.cached())

    @needs_another_user
    def test_planted_cache(self):
        self.assertFalse(self.cached())
        folder = self.path("home/.cache/polygraph")
        for path in glob.glob(folder + "/*"):
            os.chown(path, OTHER, OTHER)
        before = self.tree(folder)
        self.assertFalse(self.cached())
        del before[folder]
        after = self.tree(folder)
        self.assertEqual({path: after[path] for path in before}, before)
        # Nor is a folder of another user used, or written to.
        os.chown(folder, OTHER, OTHER)
        before = self.tree(folder)
        self.assertFalse(self.cached())
        self.assertEqual(self.tree(folder), before)

    @needs_another_user
    def test_home_of_another_user(self):
        """As with sudo -E: that user's home gets no folder that only root can use."""
        os.chown(self.path("home"), OTHER, OTHER)
        self.assertFalse(self.cached())
        self.assertFalse(self.cached())
        self.assertEqual(os.listdir(self.path("home")), [])

    def test_cache_for_everybody(self):
        for variable in ("HOME", "XDG_CACHE_HOME"):
            folder = self.path("shared-" + variable)
            cache = os.path.join(folder, ".cache/polygraph" if variable == "HOME" else "polygraph")
            os.makedirs(cache)
            os.chmod(cache, 0o777)
            self.assertFalse(self.cached({variable: folder}))
            self.assertFalse(self.cached({variable: folder}))
            self.assertEqual(os.listdir(cache), [])

    def test_foreign_files_in_the_cache_stay(self):
        folder = self.path("home/.cache/polygraph")
        os.makedirs(folder, 0o700)
        for name in ("notes.idx", ".new-abcdef", "mine.txt", "README", "0123456789abcdef.idx"):
            self.write(os.path.join(folder, name), "mine\n")
            os.utime(os.path.join(folder, name), (0, 0))
        os.mkdir(os.path.join(folder, "sub.idx"))
        before = self.tree(folder)
        self.assertFalse(self.cached())
        del before[folder]
        after = self.tree(folder)
        self.assertEqual({path: after[path] for path in before}, before)
        self.assertEqual(sorted(name for name in os.listdir(folder) if name.startswith(".")), [".new-abcdef"])

    def test_cache_as_a_link_to_nowhere(self):
        os.mkdir(self.path("home/.cache"))
        os.symlink(self.path("nowhere"), self.path("home/.cache/polygraph"))
        self.assertFalse(self.cached())
        self.assertFalse(os.path.exists(self.path("nowhere")))

    # Temporary files, and what else the caller's environment names

    def test_temporary_folder_of_everybody(self):
        """Without the sticky bit others could replace the link to the agent: another folder is taken."""
        shared = self.path("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o777)
        program = self.path("a b")
        os.mkdir(program)
        for name in ("polygraph", "libpolygraph-agent.so", "libpolygraph-choices.so"):
            shutil.copy(os.path.join(os.path.dirname(POLYGRAPH), name), program)
        for folder, used in ((shared, False), (self.path("home"), True)):
            os.utime(folder, (0, 0))
            done = subprocess.run([os.path.join(program, "polygraph"), "pollution", "--fail-on", "low", "--sandbox", "never",
                                   self.suite],
                                  cwd=self.path("work"), capture_output=True, timeout=60, check=False,
                                  env={**self.environment, "TMPDIR": folder, "XDG_CACHE_HOME": self.path("cache")})
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(done.stderr, b"")
            self.assertEqual(os.listdir(folder), [])
            self.assertEqual(os.stat(folder).st_mtime > 0, used)

    def test_temporary_folder_that_is_none(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for folder in ("/dev/null", fifo, self.path("missing"), "relative", ""):
            self.run_it("check", self.suite, status=1, env={"TMPDIR": folder})
        self.assertFalse(os.path.exists(self.path("missing")))

    def test_report_through_a_planted_name(self):
        """The name that a report has until it is whole cannot be guessed; a link of the user is followed."""
        self.write(self.path("precious"), "precious\n")
        for name in (".report.json.tmp", ".report.json.new", "report.json.tmp", "report.json~"):
            os.symlink(self.path("precious"), self.work(name))
        self.run_it("run", "--format", "json", "--output", "report.json", self.suite)
        with open(self.path("precious"), encoding="ascii") as file:
            self.assertEqual(file.read(), "precious\n")
        self.assertTrue(os.path.isfile(self.work("report.json")))

    def test_preloaded_into_the_tool(self):
        """What the caller preloads is theirs and goes on to the tests."""
        library = os.path.join(FOLDER, "own.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-"], input=b"int own;", check=True)
        for value in (library, f"{library} {library}", f"{library}:", ""):
            self.run_it("check", self.suite, status=1, env={"LD_PRELOAD": value})


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER, OTHER
    POLYGRAPH, FOLDER = polygraph, folder
    with contextlib.suppress(KeyError):
        OTHER = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


if __name__ == "__main__":
    sys.exit(runner.main("security", prepare))
