#!/usr/bin/env python3
"""Tests run in a private file system: what they do there works, and nothing of it reaches the user's files.

usage: test_sandbox.py --polygraph PATH [-v] [TEST…]

Everything runs as root, as an ordinary user, and as an ordinary user with layers on a disk, as far as one can be the
other. tests/trial tries many more ways to change a file, and kills.
"""
import hashlib
import json
import os
import pwd
import shutil
import socket
import stat
import subprocess
import sys
import threading
import unittest

import runner
from fresh import copy_tool, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
POLYGRAPH = None
FOLDER = None

CHANGES = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CHECK(it) do { if (!(it)) { printf("%s: %s\n", #it, strerror(errno)); abort(); } } while (0)

static int size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) ? -1 : (int)st.st_size;
}

void test_append(void)
{
	int fd = open("log.txt", O_WRONLY | O_APPEND);
	CHECK(fd >= 0 && write(fd, "more\n", 5) == 5 && close(fd) == 0);
}

void test_remove(void)
{
	unlink("keep.txt");
	CHECK(size_of("keep.txt") == -1);
}

/*
 * What is written under one name is read under the other. Not so, and folders
 * cannot be renamed, where an ordinary user's places are covered and calls are
 * not followed: see docs/sandbox.md.
 */
void test_link(void)
{
	int fd = open("one.txt", O_WRONLY | O_TRUNC);
	CHECK(fd >= 0 && write(fd, "linked!", 7) == 7 && close(fd) == 0);
	CHECK(size_of("two.txt") == 7 || getenv("COVERED_PLACES"));
}

void test_map(void)
{
	int fd = open("mapped.bin", O_RDWR);
	CHECK(fd >= 0);
	char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(bytes != MAP_FAILED);
	memset(bytes, 'y', 4096);
	CHECK(munmap(bytes, 4096) == 0 && close(fd) == 0);
}

/* A folder that is removed and made again is empty. */
void test_folder(void)
{
	unlink("folder/inside.txt");
	rmdir("folder");
	CHECK(mkdir("folder", 0700) == 0);
	CHECK(size_of("folder/inside.txt") == -1);
}

void test_rename_folder(void)
{
	int failed = rename("moved", "moved-away");
	if (failed && errno == EXDEV && getenv("COVERED_PLACES"))
		return;
	CHECK(!failed);
	CHECK(size_of("moved-away/inside.txt") == 2 && size_of("moved") == -1);
	CHECK(rename("moved-away", "moved") == 0);
}

/* Permissions hold as outside, and so do owners. */
void test_rights(void)
{
	struct stat st;
	CHECK(stat("closed.txt", &st) == 0 && st.st_uid == getuid() && st.st_gid == getgid());
	CHECK(getuid() == 0 || (open("closed.txt", O_RDONLY) < 0 && errno == EACCES));
	CHECK(getuid() == (unsigned)atoi(getenv("EXPECTED_UID")));
}

/* Somebody outside answers. */
void test_socket(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char answer = 0;
	strcpy(to.sun_path, "server");
	CHECK(fd >= 0 && connect(fd, (void *)&to, sizeof(to)) == 0);
	CHECK(read(fd, &answer, 1) == 1 && answer == '!' && close(fd) == 0);
}

void test_through(void)
{
	int fd = open("through/coverage", O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0 && write(fd, "c", 1) == 1 && close(fd) == 0);
}

void test_temporary(void)
{
	char name[200];
	snprintf(name, sizeof(name), "%s/left-XXXXXX", getenv("TMPDIR"));
	int fd = mkstemp(name);
	CHECK(fd >= 0 && write(fd, "left", 4) == 4 && close(fd) == 0);
}

int main(void)
{
	test_append();
	test_remove();
	test_link();
	test_map();
	test_folder();
	test_rename_folder();
	test_rights();
	test_socket();
	test_through();
	test_temporary();
	return 0;
}
"""

# Without privileges nothing can be mounted: as in a container.
FORBID = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 125;
	execv(argv[1], argv + 1);
	return 126;
}
"""


def compile_text(name, text):
    path = os.path.join(FOLDER, name)
    subprocess.run(["cc", "-g", "-D_GNU_SOURCE", "-w", "-x", "c", "-o", path, "-"], input=text.encode(), check=True)
    return path


def look(folder):
    """All that can be seen of all files, by path; reading leaves no trace in it."""
    seen = {}
    for where, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            path = os.path.join(where, name)
            st = os.lstat(path)
            what = None
            if stat.S_ISREG(st.st_mode):
                mode = stat.S_IMODE(st.st_mode)
                os.chmod(path, mode | 0o400)
                with open(path, "rb") as file:
                    what = hashlib.sha256(file.read()).hexdigest()
                os.chmod(path, mode)
            seen[os.path.relpath(path, folder)] = (st.st_mode, st.st_uid, st.st_gid, st.st_nlink, st.st_ino, st.st_size,
                                                   st.st_mtime_ns, what)
    return seen


class Server:
    """Says "!" to everyone who connects."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        os.chmod(path, 0o777)
        self.socket.listen()
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        while True:
            try:
                other, _ = self.socket.accept()
            except OSError:
                return
            other.sendall(b"!")
            other.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Whoever:
    """The tests; who runs them is below."""

    become = ()
    uid = None
    extra = {}  # environment

    def setUp(self):
        self.room = os.path.join(FOLDER, type(self).__name__ + "-" + self._testMethodName)
        self.work = os.path.join(self.room, "work")
        self.home = os.path.join(self.room, "home")
        self.temporary = os.path.join(self.room, "tmp")
        os.makedirs(self.work)
        os.mkdir(self.home)
        os.mkdir(self.temporary)
        os.chmod(self.room, 0o755)
        for name, text in (("log.txt", "log\n"), ("keep.txt", "keep\n"), ("one.txt", "one\n"), ("mapped.bin", "x" * 4096),
                           ("folder/inside.txt", "i\n"), ("moved/inside.txt", "i\n"), ("closed.txt", "closed\n"),
                           ("through/here.txt", "h\n")):
            path = os.path.join(self.work, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        os.link(os.path.join(self.work, "one.txt"), os.path.join(self.work, "two.txt"))
        os.chmod(os.path.join(self.work, "closed.txt"), 0)
        if self.uid is not None:
            for where, folders, files in os.walk(self.room):
                for name in [".", *folders, *files]:
                    os.lchown(os.path.join(where, name), self.uid, self.gid)
        self.server = None

    def tearDown(self):
        if self.server:
            self.server.close()
        shutil.rmtree(self.room)

    def serve(self):
        folder = os.getcwd()
        os.chdir(self.work)
        self.server = Server("server")
        os.chdir(folder)

    def run_it(self, *args, status=0, prefix=()):
        environment = {**os.environ, "HOME": self.home, "TMPDIR": self.temporary, "EXPECTED_UID": str(self.uid if self.become else os.getuid()),
                       **self.extra}
        environment.pop("XDG_CACHE_HOME", None)
        if args[0] == "run" and not isinstance(self, Root):
            environment["COVERED_PLACES"] = "1"
        done = subprocess.run([*self.become, *prefix, POLYGRAPH, *args], cwd=self.work, capture_output=True, timeout=120,
                              check=False, env=environment)
        self.assertEqual(done.returncode, status, (done.stdout + done.stderr).decode(errors="replace"))
        return done

    def seen(self):
        seen = look(self.work)
        seen.pop(".")  # its time changes with .polygraph
        return {path: what for path, what in seen.items() if not path.startswith(".polygraph")}

    def test_detectors_change_nothing(self):
        self.serve()
        before = self.seen()
        for command in ("pollution", "order", "choices", "check"):
            with self.subTest(command):
                done = self.run_it(command, "--sandbox", "always", "--format", "json", CHANGED,
                                   status=1 if command in ("pollution", "check") else 0)
                result = json.loads(done.stdout)
                self.assertEqual({test["name"]: test["outcome"] for test in result["tests"]},
                                 {name: "pass" for name in NAMES}, result["tests"])
                self.assertEqual([each for each in result["findings"] if each["kind"] == "flaky"], [])
                self.assertEqual(self.seen(), before)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_run_only_where_asked(self):
        self.serve()
        before = self.seen()
        self.run_it("run", "--sandbox", "always", CHANGED)
        self.assertEqual(self.seen(), before)
        self.assertFalse(os.path.exists(os.path.join(self.work, ".polygraph")))
        self.run_it("run", "--tests", "test_append", CHANGED)
        changed = self.seen()
        self.assertEqual({name for name in changed if changed[name] != before[name]}, {"log.txt"})

    def test_write_through(self):
        self.serve()
        before = self.seen()
        self.run_it("run", "--sandbox", "always", "--write-through", "through", CHANGED)
        after = self.seen()
        self.assertEqual(set(after) - set(before), {"through/coverage"})
        for mode in ("always", "never"):
            os.remove(os.path.join(self.work, "through/coverage"))
            self.run_it("pollution", "--sandbox", mode, "--write-through", "through", CHANGED, status=1)
            self.assertEqual(set(self.seen()) - set(before), {"through/coverage"})
        for wrong, message in (("nowhere", "No such file"), ("log.txt", "is not a folder")):
            done = self.run_it("run", "--sandbox", "always", "--write-through", wrong, CHANGED, status=2)
            self.assertIn(message, done.stderr.decode())

    def test_outputs_and_results_are_outside(self):
        self.serve()
        os.mkdir(os.path.join(self.work, "reports"))
        if self.become:
            os.chown(os.path.join(self.work, "reports"), self.uid, self.gid)
        self.run_it("pollution", "--sandbox", "always", "--format", "json", "--output", "reports/out.json", "--format",
                    "text", "--output", "out.txt", CHANGED, status=1)
        with open(os.path.join(self.work, "reports/out.json"), encoding="utf-8") as file:
            finding = json.load(file)["findings"][0]["id"]
        self.assertGreater(os.path.getsize(os.path.join(self.work, "out.txt")), 0)
        before = self.seen()
        self.assertIn("reproduced", self.run_it("replay", "--sandbox", "always", finding, status=1).stdout.decode())
        self.assertEqual(self.seen(), before)

    def test_nothing_is_left_of_a_suite_that_does_not_open(self):
        before = self.seen()
        self.run_it("check", "--sandbox", "always", "/bin/true", status=3)
        self.assertEqual(self.seen(), before)

    def test_where_it_is_forbidden(self):
        self.serve()
        done = self.run_it("pollution", "--sandbox", "always", CHANGED, status=3, prefix=[FORBIDS])
        self.assertRegex(done.stderr.decode(), r"\Apolygraph: no sandbox is possible here: [^\n]+\n  [^\n]+\n\Z")
        self.assertEqual(done.stdout, b"")
        done = self.run_it("pollution", CHANGED, status=1, prefix=[FORBIDS])
        self.assertRegex(done.stderr.decode(), r"\Apolygraph: warning: no sandbox is possible here \([^\n]+\): [^\n]+\n\Z")
        done = self.run_it("pollution", "--sandbox", "never", CHANGED, status=1, prefix=[FORBIDS])
        self.assertEqual(done.stderr, b"")

    def test_nothing_stays_behind(self):
        """Also of one that is killed, at the latest when another starts."""
        self.serve()
        self.run_it("pollution", "--sandbox", "always", CHANGED, status=1)
        self.assertEqual(self.layers(), [])
        process = subprocess.Popen([*self.become, POLYGRAPH, "run", "--sandbox", "always", "--repeat", "1000000",
                                    "--tests", "test_append", CHANGED], cwd=self.work, stdout=subprocess.DEVNULL,
                                   env={**os.environ, "HOME": self.home, **self.extra}, start_new_session=True)
        self.assertTrue(wait_for(lambda: self.children(process.pid)))
        os.killpg(process.pid, 9)
        process.wait()
        # Those whose processes are still on their way out are left to the next but one.
        self.assertTrue(wait_for(lambda: self.run_it("run", "--sandbox", "always", "--tests", "test_append", CHANGED)
                                 and not self.layers()))

    def layers(self):
        return [name for folder in (self.home, "/tmp", "/var/tmp") for name in os.listdir(folder)
                if name.startswith("polygraph-layers-") and os.stat(os.path.join(folder, name)).st_uid == (self.uid or 0)
                and self.extra]

    @staticmethod
    def children(pid):
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                return file.read().split()
        except OSError:
            return []


class Root(Whoever, unittest.TestCase):
    def setUp(self):
        if os.getuid():
            self.skipTest("only root is root")
        super().setUp()


class Ordinary(Whoever, unittest.TestCase):
    def setUp(self):
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            type(self).uid, type(self).gid = nobody.pw_uid, nobody.pw_gid
            type(self).become = ("setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups")
        try:
            super().setUp()
            self.run_it("run", "--sandbox", "always", "--tests", "test_remove", CHANGED)
        except AssertionError as why:
            self.skipTest(f"this system gives ordinary users no sandbox: {why}")


class OnDisk(Ordinary):
    extra = {"POLYGRAPH_FAULT_LAYERS": "1"}


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER, CHANGED, NAMES, FORBIDS
    # Where everybody can read it.
    os.chmod(folder, 0o755)
    FOLDER = folder
    POLYGRAPH = os.path.join(folder, "polygraph")
    copy_tool(os.path.dirname(polygraph), folder)
    CHANGED = compile_text("changed", CHANGES)
    FORBIDS = compile_text("forbids", FORBID)
    NAMES = sorted({line.split("(")[0].split()[1] for line in CHANGES.splitlines() if line.startswith("void test_")})


if __name__ == "__main__":
    sys.exit(runner.main("sandbox", prepare))
