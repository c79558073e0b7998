#!/usr/bin/env python3
"""Files and process state: suites of processes, and that nothing of the tool's own is reported or left behind.

usage: test_leftovers.py --polygraph PATH [-v] [TEST…]

What tests of one process leave is checked with subjects (tests/harness/test_pollution.py).
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import runner
from test_robust import processes

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None

# A suite whose tests write nothing at all.
QUIET = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TEST __attribute__((noinline)) void
TEST test_a(void) { char *p = malloc(100); memset(p, 1, 100); free(p); }
TEST test_b(void) { printf("output\\n"); fprintf(stderr, "more\\n"); }
TEST test_c(void) { volatile const char *home = getenv("HOME"); (void)home; }
int main(void) { test_a(); test_b(); test_c(); return 0; }
"""

# One that leaves something of each kind.
LOUD = """
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define TEST __attribute__((noinline)) void
int counter;
TEST test_memory(void) { counter++; }
TEST test_file(void) { close(open("left.txt", O_WRONLY | O_CREAT, 0600)); }
TEST test_process(void) { umask(0); }
TEST test_nothing(void) { __asm__ volatile("nop"); }
int main(void) { umask(022); test_memory(); test_file(); test_process(); test_nothing(); return 0; }
"""

# A child that goes on writing: the file changes while it is looked at, and after the test.
WRITER = """
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#define TEST __attribute__((noinline)) void
static char data[1 << 16];
TEST test_starts(void)
{
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int fd = open("growing.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 20000; i++) {
		(void)!pwrite(fd, data, sizeof(data), (i % 64) * sizeof(data));
		(void)!ftruncate(fd, (i % 70) * 60000);
	}
	_exit(0);
}
TEST test_goes_on(void) { usleep(50000); }
TEST test_and_on(void) { usleep(50000); }
int main(void) { test_starts(); test_goes_on(); test_and_on(); return 0; }
"""

# Tests in a thread of their own, while the first one waits for it.
ASIDE = """
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#define TEST __attribute__((noinline)) void
TEST test_file(void) { close(open("aside.txt", O_WRONLY | O_CREAT, 0600)); usleep(2000); }
TEST test_nothing(void) { usleep(2000); }
TEST test_mask(void) { umask(0); usleep(2000); }
TEST test_last(void) { usleep(2000); }
static void *all(void *arg) { test_file(); test_nothing(); test_mask(); test_last(); return arg; }
int main(void)
{
	pthread_t thread;
	umask(022);
	return pthread_create(&thread, 0, all, 0) || pthread_join(thread, 0);
}
"""

# A server whose starter crashes: the tests after it run in another process.
ORPHAN = """
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#define TEST __attribute__((noinline)) void
TEST test_crash(void)
{
	int fd = open("said", O_WRONLY | O_NONBLOCK);
	if (fork() == 0) {
		for (int i = 0; i < 100; i++) {
			if (chmod("said", 0600) != 0)
				dprintf(fd, "%s\\n", strerror(errno));
			usleep(2000);
		}
		_exit(0);
	}
	abort();
}
TEST test_next(void) { usleep(300000); }
int main(void) { test_crash(); test_next(); return 0; }
"""

# One that does not end, and makes calls all the time.
BUSY = """
#include <fcntl.h>
#include <unistd.h>
#define TEST __attribute__((noinline)) void
TEST test_busy(void)
{
	for (;;)
		close(open("busy.txt", O_WRONLY | O_CREAT, 0600));
}
int main(void) { test_busy(); return 0; }
"""


def compile_c(name, source):
    path = os.path.join(FOLDER, name)
    subprocess.run(["cc", "-g", "-O0", "-D_GNU_SOURCE", "-w", "-pthread", "-o", path, source], check=True)
    return path


def compile_text(name, text):
    source = os.path.join(FOLDER, name + ".c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    return compile_c(name, source)


def tree(folder):
    """Everything below a folder: what a change of it would change."""
    found = {}
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(where, name)
            st = os.lstat(path)
            content = None
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = file.read()
            found[os.path.relpath(path, folder)] = (st.st_mode, st.st_uid, st.st_nlink, content,
                                                    st.st_mtime_ns if content is not None else None)
    return found


class Base(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.room = tempfile.mkdtemp(prefix="room-", dir=FOLDER)
        for name in ("work", "tmp", "home", "cache"):
            os.mkdir(os.path.join(self.room, name))
        self.work = os.path.join(self.room, "work")
        self.environment = {**os.environ, "TMPDIR": os.path.join(self.room, "tmp"),
                            "HOME": os.path.join(self.room, "home"),
                            "XDG_CACHE_HOME": os.path.join(self.room, "cache")}

    def tearDown(self):
        shutil.rmtree(self.room, ignore_errors=True)

    def pollution(self, *args, status=None, **options):
        """The report of a run in the working directory."""
        done = subprocess.run([POLYGRAPH, "pollution", "--fail-on", "low", "--format", "json", *args], capture_output=True, timeout=120,
                              check=False, cwd=self.work, env=self.environment, **options)
        said = (done.stdout + done.stderr).decode(errors="replace")
        try:
            report = json.loads(done.stdout)
        except ValueError:
            self.fail(f"no report: {said}")
        wanted = status if status is not None else 1 if report["findings"] else 0
        self.assertEqual(done.returncode, wanted, said)
        return report


def found(report):
    """{test: {(where, root), ...}}"""
    result = {test["name"]: set() for test in report["tests"]}
    for finding in report["findings"]:
        result[finding["test"]].add((finding["where"], finding["root"]))
    return result


class Processes(Base):
    """The tested process goes on as it would alone."""

    def test_in_another_thread(self):
        result = self.pollution(compile_text("aside", ASIDE))
        self.assertEqual({test["outcome"] for test in result["tests"]}, {"pass"}, result["tests"])
        self.assertEqual(found(result), {"test_file": {("file", "aside.txt")}, "test_nothing": set(),
                                         "test_mask": {("process", "umask")}, "test_last": set()})

    def test_orphan_is_not_disturbed(self):
        pipe = os.path.join(self.work, "said")
        os.mkfifo(pipe)
        said = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            result = self.pollution("--sandbox", "never", compile_text("orphan", ORPHAN))
            self.assertEqual([test["outcome"] for test in result["tests"]], ["crash", "pass"])
            self.assertEqual(os.read(said, 4096), b"")
        finally:
            os.close(said)

    def test_place_is_not_ours(self):
        result = self.pollution("--timeout", "500ms", compile_text("busy", BUSY))
        test = result["tests"][0]
        self.assertEqual(test["outcome"], "timeout")
        self.assertRegex(test["failure"]["message"], "in test_busy$")


class Commands(Base):
    """Suites of processes: what one command leaves for the next."""

    @classmethod
    def setUpClass(cls):
        cls.left = compile_c("left", os.path.join(HERE, "left.c"))

    def commands(self, *lines, options=()):
        path = os.path.join(self.room, "commands")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        report = self.pollution("--commands", path, *options)
        for test in report["tests"]:
            self.assertEqual(test["outcome"], "pass", test)
        return report

    FILES = {
        "echo x >created.txt": {("file", "created.txt")},
        "echo x >shortly.txt; rm shortly.txt": set(),
        "mkdir folder": {("file", "folder")},
        "mkdir short && rmdir short": set(),
        "echo new >old.txt": {("file", "old.txt")},
        "echo kept >kept.txt": set(),
        "chmod 600 mode.txt": {("file", "mode.txt")},
        "rm gone.txt": {("file", "gone.txt")},
        "true": set(),
        "(echo y >by-grandchild.txt)": {("file", "by-grandchild.txt")},
    }

    def prepare(self):
        for name in ("old", "kept", "mode", "gone"):
            with open(os.path.join(self.work, name + ".txt"), "w", encoding="ascii") as file:
                file.write(name + "\n")
            os.chmod(file.name, 0o644)

    def test_files(self):
        self.prepare()
        self.assertEqual(found(self.commands(*self.FILES)), self.FILES)

    def test_files_by_walking(self):
        self.prepare()
        options = ("--file-tracking", "walk", "--watch-dir", ".")
        self.assertEqual(found(self.commands(*self.FILES, options=options)), self.FILES)

    def test_files_only(self):
        self.prepare()
        self.assertEqual(found(self.commands(*self.FILES, options=["--only", "files"])), self.FILES)

    def test_readers(self):
        report = self.commands("echo x >shared.txt", "cat shared.txt", "true", "echo x >shared.txt",
                               "test -e unread.txt || touch unread.txt")
        shared = [f for f in report["findings"] if f["root"] == "shared.txt"]
        self.assertEqual([f["test"] for f in shared], ["echo x >shared.txt"])
        self.assertEqual(shared[0]["readers"], ["cat shared.txt"])
        self.assertEqual(shared[0]["severity"], "high")

    def test_background_process(self):
        mark = f"100.{os.getpid()}1"
        result = found(self.commands(f"sleep {mark} &", "sleep 0.01 & wait", "true"))
        self.assertEqual(list(result.values()), [{("process", "child[sleep]")}, set(), set()])
        self.assertEqual(processes(mark), [], "it is still there")

    def test_daemon(self):
        left = shlex.quote(self.left)
        result = list(found(self.commands(f"{left} stay", "true", f"{left} listen", "true")).values())
        self.assertEqual(result[0], {("process", "child[left]")})
        self.assertEqual(result[1], set())
        self.assertEqual(result[2], {("process", "child[left]"), ("process", "port[tcp 127.0.0.1:*]")})
        self.assertEqual(result[3], set())
        self.assertEqual(processes(self.left), [], "it is still there")

    def test_ipc(self):
        keys = [(os.getpid() << 4 & 0x7ffffff0) + i for i in range(6)]
        left, lines = shlex.quote(self.left), []
        for i, what in enumerate(("shm", "sem", "msg")):
            lines.append(f"{left} make {what} {keys[i]}")
            lines.append(f"{left} make {what} {keys[3 + i]} && {left} remove {what} {keys[3 + i]}")
        try:
            result = list(found(self.commands(*lines)).values())
        finally:
            for i, what in enumerate(("shm", "sem", "msg")):
                subprocess.run([self.left, "remove", what, str(keys[i])], check=False)
        for i, name in enumerate(("shared-memory", "semaphore", "message-queue")):
            self.assertEqual(len(result[2 * i]), 1, result)
            where, root = result[2 * i].pop()
            self.assertEqual(where, "process")
            self.assertRegex(root, rf"^{name}\[.+\]$")
            self.assertEqual(result[2 * i + 1], set())

    def test_posix_shared_memory(self):
        name = f"polygraph-left-{os.getpid()}"
        try:
            result = list(found(self.commands(f"echo x >/dev/shm/{name}", f"rm /dev/shm/{name}",
                                              f"echo x >/dev/shm/{name}; rm /dev/shm/{name}")).values())
        finally:
            if os.path.exists(f"/dev/shm/{name}"):
                os.unlink(f"/dev/shm/{name}")
        self.assertEqual(len(result[0]), 1)  # told once, not as a file and as memory
        self.assertEqual(result[1], set())  # it cleans up
        self.assertEqual(result[2], set())

    def test_ctest(self):
        build = os.path.join(self.room, "build")
        os.mkdir(build)
        with open(os.path.join(build, "CTestTestfile.cmake"), "w", encoding="ascii") as file:
            for name, command in (("leaves", "echo x >left.txt"), ("reads", "cat left.txt"),
                                  ("cleans", "echo x >short.txt; rm short.txt")):
                file.write(f'add_test({name} "/bin/sh" "-c" "{command}")\n')
        if not shutil.which("ctest"):
            self.skipTest("there is no ctest")
        report = self.pollution("--ctest", build)
        self.assertEqual({f["test"] for f in report["findings"]}, {"leaves"}, report["findings"])
        self.assertTrue(report["findings"][0]["root"].endswith("left.txt"))
        self.assertEqual(report["findings"][0].get("readers"), ["reads"])


class Orders(Base):
    """What is put back between orders, and what is nobody's to touch."""

    def order(self, *lines, options=(), status):
        path = os.path.join(self.room, "commands")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        done = subprocess.run([POLYGRAPH, "order", "--format", "json", *options, "--commands", path], check=False,
                              capture_output=True, timeout=120, cwd=self.work, env=self.environment)
        self.assertIn(done.returncode, status, (done.stdout + done.stderr).decode(errors="replace"))
        shutil.rmtree(os.path.join(self.work, ".polygraph"), ignore_errors=True)
        return json.loads(done.stdout)

    def write(self, name, text):
        with open(os.path.join(self.work, name), "w", encoding="ascii") as file:
            file.write(text)

    def test_ends_in_the_first_run(self):
        self.write("old", "old\n")
        before = tree(self.work)
        report = self.order("echo new >old; mkdir -p new; sleep 0.2", "true", options=["--budget", "100ms"], status=[0])
        self.assertIn("order: not searched (budget 100ms)", report["limits"])
        self.assertEqual(tree(self.work), before)

    def test_folder_of_others(self):
        folder = os.path.join(self.work, "folder")
        os.mkdir(folder, 0o755)
        self.write("folder/edited", "before\n")

        def others():
            self.write("folder/edited", "by others\n")
            self.write("folder/new", "by others\n")

        timer = threading.Timer(0.5, others)
        timer.start()
        report = self.order("chmod 700 folder", "sleep 0.4; test $(stat -c %a folder) = 755", status=[1])
        timer.join()
        self.assertEqual([finding["class"] for finding in report["findings"]], ["victim"])
        self.assertEqual(report["findings"][0]["polluted"], ["folder"])
        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o755)
        for name in "edited", "new":
            with open(os.path.join(folder, name), encoding="ascii") as file:
                self.assertEqual(file.read(), "by others\n")

    def test_only_copy(self):
        """More than is kept: wherever a test moves it, it is not removed."""
        large = os.path.join(self.work, "large")
        self.write("large", "begins\n")
        os.truncate(large, 300 << 20)
        time.sleep(0.05)
        self.order("mv large other", "mv other large", "true", options=["--no-cleaners"], status=[0, 1, 3])
        there = [name for name in ("large", "other") if os.path.exists(os.path.join(self.work, name))]
        self.assertEqual(len(there), 1)
        with open(os.path.join(self.work, there[0]), "rb") as file:
            self.assertEqual(file.read(7), b"begins\n")


class Own(Base):
    """Nothing of the tool's own is reported, and nothing is left behind."""

    @classmethod
    def setUpClass(cls):
        cls.quiet = compile_text("quiet", QUIET)
        cls.loud = compile_text("loud", LOUD)

    def test_only(self):
        wanted = {"memory": ("memory", "counter"), "files": ("file", "left.txt"), "process": ("process", "umask")}
        for only, finding in wanted.items():
            with self.subTest(only):
                result = found(self.pollution("--only", only, self.loud))
                self.assertEqual(set.union(*result.values()), {finding})
                self.assertEqual(result["test_" + finding[0]], {finding})
            if os.path.exists(os.path.join(self.work, "left.txt")):
                os.unlink(os.path.join(self.work, "left.txt"))
        self.assertEqual(set.union(*found(self.pollution(self.loud)).values()), set(wanted.values()))

    def test_output_and_cache_in_the_working_directory(self):
        """Where the tool writes next to the tests, it writes nothing that would be told."""
        self.environment["XDG_CACHE_HOME"] = os.path.join(self.work, "cache")
        self.environment["TMPDIR"] = self.work
        for options in ((), ("--file-tracking", "walk", "--watch-dir", ".")):
            with self.subTest(options):
                done = subprocess.run([POLYGRAPH, "pollution", "--format", "json", "--output", "report.json", *options,
                                       self.quiet], capture_output=True, timeout=120, check=False, cwd=self.work,
                                      env=self.environment)
                self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode())
                with open(os.path.join(self.work, "report.json"), encoding="utf-8") as file:
                    report = json.load(file)
                self.assertEqual(report["findings"], [])
                self.assertEqual(len(report["tests"]), 3)

    def test_nothing_reported_in_any_way(self):
        for options in ([], ["--eager"], ["--capture", "before-setup..before-setup"], ["--page-tracking", "compare"],
                        ["--file-tracking", "walk"], ["--only", "files"], ["--only", "process"]):
            with self.subTest(options):
                done = subprocess.run([POLYGRAPH, "pollution", "--format", "json", *options, self.quiet],
                                      capture_output=True, timeout=120, check=False, cwd=self.work, env=self.environment)
                self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode())
                self.assertEqual(json.loads(done.stdout)["findings"], [])

    def test_writes_only_to_its_cache(self):
        """The rest of what it can see of its user's folders stays as it was, and temporary files go."""
        before = tree(self.room)
        self.assertEqual(self.pollution(self.quiet)["findings"], [])
        after = tree(self.room)
        new = {path for path in after if after[path] != before.get(path)} | set(before) - set(after)
        self.assertTrue(all(path.split("/")[0] == "cache" for path in new), new)

    def test_writes_nowhere_else(self):
        """All that is written goes to a layer of its own, which is looked at: the whole file system is covered."""
        if os.geteuid():
            self.skipTest("only root can mount")
        if {os.stat(path).st_dev for path in (self.room, POLYGRAPH)} != {os.stat("/").st_dev}:
            self.skipTest("not all of it lies on the root file system")
        layer = os.path.join(self.room, "layer")
        os.mkdir(layer)
        script = """
            mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" "$1/all" || exit 99
            mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/all" || exit 99
            for each in proc dev sys; do mount --rbind "/$each" "$1/all/$each" || exit 99; done
            layer=$1
            shift
            chroot "$layer/all" sh -c 'cd "$1" && shift && exec "$@"' sh "$@" >/dev/null
            status=$?
            cd "$layer/upper" && find . ! -type d
            exit $status
        """
        for suite, status in ((self.quiet, 0), (self.loud, 1)):
            with self.subTest(suite):
                done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", layer,
                                       self.work, POLYGRAPH, "pollution", "--output", "report.txt", suite],
                                      capture_output=True, timeout=120, check=False, env=self.environment)
                if done.returncode == 99 or b"unshare:" in done.stderr:
                    self.skipTest(f"cannot mount a layer here: {done.stderr.decode().strip()}")
                self.assertEqual(done.returncode, status, done.stderr.decode())
                written = {os.path.normpath(os.path.join("/", path)) for path in done.stdout.decode().splitlines()}
                mine = {path for path in written if not path.startswith(os.path.join(self.room, "cache") + "/")}
                wanted = {os.path.join(self.work, "report.txt")}
                if status:
                    wanted |= {os.path.join(self.work, name)
                               for name in (".polygraph/results.db", ".polygraph/report.json", ".polygraph/.gitignore")}
                self.assertEqual(mine, wanted)

    def test_file_that_never_rests(self):
        """A child goes on writing while its file is looked at: the run ends, and blames the test that started it."""
        writer = compile_text("writer", WRITER)
        for options in ((), ("--file-tracking", "walk", "--watch-dir", ".")):
            with self.subTest(options):
                result = found(self.pollution(*options, writer))
                self.assertTrue({root for _, root in result["test_starts"]} & {"growing.bin", "child[writer]"}, result)


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER
    POLYGRAPH, FOLDER = polygraph, folder


if __name__ == "__main__":
    sys.exit(runner.main("left", prepare))
