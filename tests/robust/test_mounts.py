#!/usr/bin/env python3
"""The sandbox where unusual things are mounted: in a chroot, in another user namespace, with mounts below /tmp, and with
mounts that forbid something.

usage: test_mounts.py --polygraph PATH [-v] [TEST…]

Everything is mounted in a mount namespace of its own. Root makes chroots as root and plays an ordinary user as well; who
is none mounts in a user namespace.
"""
import json
import os
import pwd
import subprocess
import sys
import unittest

import runner
from fresh import copy_tool

os.environ["PATH"] += ":/usr/sbin"  # chroot
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
POLYGRAPH = None
FOLDER = None
ORDINARY = ()  # the command that makes root an ordinary user

SUITE = r"""
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHECK(it) do { if (!(it)) { printf("%s: %s\n", #it, strerror(errno)); abort(); } } while (0)

static int level;

static void append(const char *path)
{
	FILE *file = path ? fopen(path, "a") : NULL;
	CHECK(file && fputs("more\n", file) >= 0 && fclose(file) == 0);
}

void test_reads(void)
{
	char text[32] = "";
	FILE *file = fopen(getenv("MARKER"), "r");
	CHECK(file && fgets(text, sizeof(text), file) && !fclose(file));
	CHECK(!strcmp(text, "inner\n"));
}

void test_writes(void)
{
	append(getenv("WRITTEN"));
}

void test_flags(void)
{
	struct statvfs st;
	CHECK(!getenv("FORBIDDING") || (statvfs(getenv("FORBIDDING"), &st) == 0 && st.f_flag & ST_NOEXEC &&
					st.f_flag & ST_NOSUID && st.f_flag & ST_NODEV));
}

void test_temporary(void)
{
	char name[] = "/tmp/polygraph-made-XXXXXX";
	int fd = mkstemp(name);
	CHECK(fd >= 0 && write(fd, "left", 4) == 4 && !close(fd) && !rename(name, "/tmp/polygraph-renamed"));
	CHECK(tmpfile());
}

void test_raises(void)
{
	level = 1;
}

void test_is_zero(void)
{
	CHECK(!level);
}

int main(void)
{
	test_reads();
	test_writes();
	test_flags();
	test_temporary();
	test_is_zero();
	test_raises();
	return 0;
}
"""
TESTS = ["test_flags", "test_is_zero", "test_raises", "test_reads", "test_temporary", "test_writes"]


def can(*words):
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def give_to_ordinary(path):
    nobody = pwd.getpwnam("nobody")
    os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)


class Mounts(unittest.TestCase):
    def setUp(self):
        self.room = os.path.join(FOLDER, type(self).__name__ + "-" + self._testMethodName)
        self.work = os.path.join(self.room, "work")
        os.makedirs(self.work)

    def path(self, *names):
        return os.path.join(self.room, *names)

    def write(self, text, *names):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(*names)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def run_it(self, script, *words, status=1, namespaces=None, **environment):
        """In mounts of its own: the lines of the script, then the program where it says "$@"."""
        if namespaces is None:
            namespaces = ("-m",) if not os.getuid() else ("-m", "-U", "-r")
        done = subprocess.run(["unshare", *namespaces, "sh", "-ec", script, "sh", *words], cwd=self.work, check=False,
                              timeout=120, capture_output=True, text=True, errors="replace",
                              env={**os.environ, "HOME": self.work, **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def passes(self, done, names=TESTS):
        """All tests pass alone, and the one dependency is found."""
        result = json.loads(done.stdout)
        self.assertEqual({test["name"]: test["outcome"] for test in result["tests"]}, {name: "pass" for name in names},
                         done.stdout)
        self.assertEqual([each["test"] for each in result["findings"] if each["id"].startswith("order-")], ["test_is_zero"])


CHECK = ("check", "--fresh", "--format", "json")


class InChroot(Mounts):
    """With a root folder of its own."""

    ENTER = r"""
        cd "$ROOT"
        for name in usr dev proc; do mount --rbind /$name $name; done
        for name in bin lib lib64; do test -e $name || ln -s usr/$name $name; done
        mount --bind "$TOOL" tool
        {0}
        set +e
        wc -l < /proc/self/mountinfo > "$ROOT/../before"
        chroot "$ROOT" sh -c 'cd /work && exec "$@"' sh "$@"
        status=$?
        wc -l < /proc/self/mountinfo > "$ROOT/../after"
        exit $status
    """

    def setUp(self):
        super().setUp()
        for name in ("usr", "dev", "proc", "tool", "work", "tmp", "mnt", "data"):
            os.makedirs(self.path("root", name))
        self.write("inner\n", "root", "marker")
        self.write("before\n", "root", "data", "written")
        subprocess.run(["cp", os.path.join(FOLDER, "suite"), self.path("root", "work")], check=True)

    def enter(self, more="", words=CHECK, become=(), **options):
        return self.run_it(self.ENTER.format(more), *become, "/tool/polygraph", *words, "./suite", ROOT=self.path("root"),
                           TOOL=os.path.dirname(POLYGRAPH), MARKER="/marker", WRITTEN="/data/written", **options)


class Chroot(InChroot):
    """The tested program sees the caller's root folder, and nothing outside is changed."""

    def is_untouched(self):
        self.assertEqual(self.read("root", "data", "written"), "before\n")
        self.assertFalse(os.path.exists("/tmp/polygraph-renamed"))
        self.assertEqual(self.read("before"), self.read("after"))

    @unittest.skipIf(os.getuid(), "only root has a sandbox in a chroot")
    def test_as_root(self):
        shared = "mount --make-rshared /"
        for name, more in (("plain", ""), ("shared", shared), ("bound", shared + '\nmount --rbind "$ROOT" "$ROOT"')):
            with self.subTest(name):
                done = self.enter(more, words=(*CHECK, "--sandbox", "always"))
                self.assertEqual(done.stderr, "")
                self.passes(done)
                self.is_untouched()
                self.assertTrue(os.listdir(self.path("root", "work", ".polygraph")))
                self.assertEqual(sorted(os.listdir(self.path("root", "tmp"))), [])

    @unittest.skipIf(os.getuid(), "only root has a sandbox in a chroot")
    def test_results_are_found_again(self):
        finding = json.loads(self.enter(words=("order", "--format", "json")).stdout)["findings"][0]["id"]
        done = self.run_it(self.ENTER.format(""), "/tool/polygraph", "replay", finding, ROOT=self.path("root"),
                           TOOL=os.path.dirname(POLYGRAPH), MARKER="/marker", WRITTEN="/data/written")
        self.assertIn("reproduced", done.stdout)
        self.is_untouched()

    @unittest.skipUnless(can("unshare", "-m", "-U", "-r", "chroot", "/", "true"), "no user namespace can be made here")
    def test_in_a_user_namespace(self):
        """The kernel gives it no namespace of users: it goes on without a sandbox, and says so in one line."""
        done = self.enter(namespaces=("-m", "-U", "-r"))
        self.assertRegex(done.stderr, r"\Apolygraph: warning: no sandbox is possible here \([^\n]+\): [^\n]+; in a chroot only "
                                      r"root can have one\n\Z")
        self.passes(done)


@unittest.skipUnless(can("unshare", "-U", "-r", "true"), "no user namespace can be made here")
class UserNamespace(Mounts):
    """Who is root only there may not mount everything: the way of ordinary users is taken."""

    def test_root_of_a_user_namespace(self):
        marker, written = self.write("inner\n", "work", "marker"), self.write("before\n", "work", "written")
        for namespaces in (("-U", "-r"), ("-U", "-r", "-m")):
            with self.subTest(namespaces):
                done = self.run_it('exec "$@"', POLYGRAPH, *CHECK, "--sandbox", "always", os.path.join(FOLDER, "suite"),
                                   namespaces=namespaces, MARKER=marker, WRITTEN=written)
                self.assertEqual(done.stderr, "")
                self.passes(done)
                self.assertEqual(self.read("work", "written"), "before\n")
                self.assertFalse(os.path.exists("/tmp/polygraph-renamed"))


class Flags(Mounts):
    """What a mount forbids is forbidden in the sandbox: programs, programs of other users, devices."""

    MOUNT = 'mkdir -p "$FORBIDDING"; mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs "$FORBIDDING"\n'

    def check(self, become="", **options):
        marker, written = self.write("inner\n", "marker"), self.path("flags", "written")
        done = self.run_it(self.MOUNT + f'exec {become} "$@"', POLYGRAPH, *CHECK, "--sandbox", "always",
                           os.path.join(FOLDER, "suite"), FORBIDDING=self.path("flags"), MARKER=marker, WRITTEN=written,
                           **options)
        self.assertEqual(done.stderr, "")
        self.passes(done)

    def test_first_user(self):
        self.check()

    @unittest.skipIf(os.getuid(), "only root is an ordinary user as well")
    def test_ordinary_user(self):
        give_to_ordinary(self.work)
        self.check(" ".join(ORDINARY))


class Submounts(Mounts):
    """A folder below which something is mounted can be written to, and what was in it is there; outside nothing changes."""

    MOUNT = r"""
        mount -t tmpfs -o mode=1777 tmpfs "$PLACE/mounted"
        mount -t tmpfs -o mode=1777 tmpfs "$PLACE/own/deep/mounted"
        echo inner > "$PLACE/mounted/file"
        chown --reference="$PLACE/small" "$PLACE/mounted/file"
        look() { find "$PLACE" -path "$PLACE/work" -prune -o -printf '%p %y %s %m %u %C@ %l\n' | sort; }
        look > "$PLACE/../before"
        set +e
        BECOME "$@"
        status=$?
        look > "$PLACE/../after"
        exit $status
    """
    COMMANDS = r"""
test -x $PLACE/small && test "$(cat $PLACE/small)" = before && echo more >> $PLACE/small && grep -q more $PLACE/small
echo more > $PLACE/new && mv $PLACE/new $PLACE/newer && rm $PLACE/newer && ! test -e $PLACE/newer
echo more > $PLACE/small.new && mv $PLACE/small.new $PLACE/small && rm $PLACE/small
echo more >> $PLACE/folder/file && mkdir $PLACE/folder/made && rm -r $PLACE/folder/made
echo more > $PLACE/own/new && mkdir $PLACE/own/made && rmdir $PLACE/own/made
echo more >> $PLACE/own/deep/file && test "$(head -1 $PLACE/own/deep/file)" = before
test "$(readlink $PLACE/link)" = small
test "$(cat $PLACE/mounted/file)" = inner && echo more >> $PLACE/mounted/file && echo more > $PLACE/mounted/new
echo more > work.out && rm work.out
test "$(stat -c %s $PLACE/large)" = 8000000
mv $PLACE/folder $PLACE/renamed && rm -r $PLACE/renamed && ! test -e $PLACE/folder
echo more >> $PLACE/crowded/file && mkdir $PLACE/crowded/made && rm -r $PLACE/crowded/made
mv $PLACE/crowded $PLACE/moved || exit 0; mv $PLACE/moved $PLACE/crowded
"""

    def check(self, become="", own=lambda path: None):
        crowd = [f"crowded/{number}" for number in range(40)]
        for name in ("small", "folder/file", "own/deep/file", "crowded/file", *crowd):
            self.write("before\n", "place", *name.split("/"))
        os.chmod(self.path("place", "small"), 0o755)
        os.truncate(self.write("", "place", "large"), 8000000)
        os.symlink("small", self.path("place", "link"))
        for name in ("mounted", "own/deep/mounted", "work"):
            os.makedirs(self.path("place", name))
        os.mkdir(self.path("cache"))
        own(self.path("cache"))
        self.write(self.COMMANDS.replace("$PLACE", self.path("place")), "commands")
        for where, folders, files in os.walk(self.path("place")):
            for name in (".", *folders, *files):
                own(os.path.join(where, name))
        os.rmdir(self.work)
        os.symlink("place/work", self.work)
        for command, status, more in (("run", 0, ("--jobs", "1")), ("pollution", 1, ("--format", "json"))):
            with self.subTest(command):
                done = self.run_it(self.MOUNT.replace("BECOME", become), POLYGRAPH, command, "--sandbox", "always", *more,
                                   "--commands", self.path("commands"), status=status, PLACE=self.path("place"), HOME=self.path("place"),
                                   XDG_CACHE_HOME=self.path("cache"))
                self.assertEqual(done.stderr, "")
                self.assertEqual(self.read("before"), self.read("after"))
                self.assertLessEqual(set(os.listdir(self.work)), {".polygraph"})
                if command == "pollution" and become:
                    limits = " ".join(json.loads(done.stdout)["limits"])
                    self.assertIn(f"'{self.path('place', 'crowded')}' can be neither removed nor renamed in the sandbox", limits)

    def test_first_user(self):
        self.check()

    @unittest.skipIf(os.getuid(), "only root is an ordinary user as well")
    def test_ordinary_user(self):
        self.check(" ".join(ORDINARY), give_to_ordinary)


@unittest.skipIf(os.getuid(), "only root can make a folder that an ordinary user's sandbox does not cover")
class Refused(Mounts):
    """What fails in the sandbox alone is no failure of a test: it is said, and the tests begin again in another one."""

    # Somebody whom the kernel does not mistake for the unknown owners in a user namespace.
    SCRIPT = r"""
        mount -t tmpfs -o mode=755 tmpfs /mnt
        mkdir /mnt/own
        echo before > /mnt/own/mine
        echo before > /mnt/own/others
        echo before > /mnt/closed
        chmod 666 /mnt/own/others
        chown 12345:12345 /mnt/own /mnt/own/mine .
        look() { find /mnt -mindepth 1 -printf '%p %y %s %m %u %T@\n' | sort; }
        look > "$ROOM/before"
        set +e
        for words in "$@"; do
            setpriv --reuid=12345 --regid=12345 --clear-groups "$POLYGRAPH" $words
            status=$?
        done
        look > "$ROOM/after"
        exit $status
    """
    COVERS = (r"polygraph: warning: '{}' is read-only in the sandbox, and a test fails: the tests begin again, with a private "
              r"copy of its folder\n")
    LEAVES = (r"polygraph: warning: '{}' cannot be changed in the sandbox, and a test fails: the tests begin again without a "
              r"sandbox for it; [^\n]+\n")

    def enter(self, *lines, status=1, changed="", **environment):
        done = self.run_it(self.SCRIPT, *lines, status=status, POLYGRAPH=POLYGRAPH, ROOM=self.room, **environment)
        before, after = (set(self.read(name).splitlines()) for name in ("before", "after"))
        # What is left out of the sandbox is restored, but for its times.
        self.assertEqual({line for line in before ^ after if not changed or f"/{changed} " not in line}, set())
        return done

    def test_a_folder_outside_of_the_places(self):
        suite = os.path.join(FOLDER, "suite")
        environment = {"MARKER": self.write("inner\n", "marker"), "WRITTEN": "/mnt/own/new"}
        done = self.enter(f"check --format json {suite}", **environment)
        self.assertRegex(done.stderr, r"\A" + self.COVERS.format("/mnt/own/new") + r"\Z")
        self.passes(done)
        finding = next(each["id"] for each in json.loads(done.stdout)["findings"] if each["test"] == "test_writes")
        done = self.enter(f"replay {finding}", **environment)
        self.assertIn("reproduced", done.stdout)
        self.assertNotIn("not reproduced", done.stdout)

    def test_a_file_of_somebody_else(self):
        commands = self.write("echo more >> /mnt/own/mine\necho more >> /mnt/own/others\n", "commands")
        done = self.enter(f"pollution --format json --commands {commands}", changed="others")
        self.assertRegex(done.stderr, r"\A" + self.COVERS.format("/mnt/own/mine") + self.LEAVES.format("/mnt/own/others") + r"\Z")
        self.assertEqual([test["outcome"] for test in json.loads(done.stdout)["tests"]], ["pass", "pass"])
        self.assertIn("sandbox: '/mnt/own/others' is outside it, and restored afterwards", json.loads(done.stdout)["limits"])

    def test_only_what_would_work_outside(self):
        """A file that nobody lets the user change is no matter of the sandbox."""
        commands = self.write("echo more >> /mnt/closed\n", "commands")
        done = self.enter(f"pollution --format json --commands {commands}", status=3)
        self.assertEqual(done.stderr, "")
        self.assertEqual([test["outcome"] for test in json.loads(done.stdout)["tests"]], ["fail"])

    def test_a_sandbox_that_must_be(self):
        commands = self.write("echo more >> /mnt/own/others\n", "commands")
        done = self.enter(f"pollution --sandbox always --format json --commands {commands}", status=3)
        result = json.loads(done.stdout)
        self.assertEqual([test["outcome"] for test in result["tests"]], ["fail"])
        self.assertIn("/mnt/own/others", "".join(result["limits"]))


@unittest.skipUnless(can("unshare", "-m", "-U", "-r", "chroot", "/", "true"), "no user namespace can be made here")
class Advice(InChroot):
    """Where a setting forbids it, the line names that setting, as the documents do."""

    # This may be a container, whose flags would be named; the root folder that is made here says nothing of it.
    SETTING = r"""
        mount --rbind "$ROOT" "$ROOT"
        mount -t tmpfs tmpfs "$ROOT/proc/sys/kernel"
        echo {1} > "$ROOT/proc/sys/kernel/{0}"
        echo 0 > /proc/sys/user/max_user_namespaces
    """

    def advice(self, name, value, *words, status=1):
        done = self.enter(self.SETTING.format(name, value), become=("setpriv", "--bounding-set=-all", "--inh-caps=-all"),
                          words=(*CHECK, *words), namespaces=("-m", "-U", "-r"), status=status, container="")
        self.assertIn("no sandbox is possible here", done.stderr)
        return done.stderr

    def test_names_the_setting(self):
        documents = {}
        for name in ("sandbox.md", "docker.md"):
            with open(os.path.join(TOP, "docs", name), encoding="utf-8") as file:
                documents[name] = file.read()
        for name, value, wanted in (("apparmor_restrict_unprivileged_userns", "1", "0"), ("unprivileged_userns_clone", "0", "1")):
            with self.subTest(name):
                line = self.advice(name, value)
                self.assertIn(f"sudo sysctl kernel.{name}={wanted}\n", line)
                self.assertIn(f"kernel.{name}={wanted}", documents["sandbox.md"])
        self.assertIn("sysctl kernel.apparmor_restrict_unprivileged_userns=0", documents["docker.md"])
        self.assertIn("sudo sysctl user.max_user_namespaces=", self.advice("other", "0"))
        self.assertIn("sudo sysctl user.max_user_namespaces=", self.advice("other", "0", "--sandbox", "always", status=3))


class Profile(unittest.TestCase):
    """The package ships what AppArmor needs, and installs it only where its AppArmor understands it."""

    def script(self, name, word, root):
        subprocess.run(["sh", os.path.join(TOP, "packaging/debian", name), word], check=True,
                       env={**os.environ, "DPKG_ROOT": root})

    def test_is_installed_where_it_is_understood(self):
        for known in (False, True):
            root = os.path.join(FOLDER, f"profile-{known}")
            os.makedirs(os.path.join(root, "usr/share/polygraph/apparmor"))
            os.makedirs(os.path.join(root, "etc/apparmor.d", "abi" if known else "."), exist_ok=True)
            if known:
                with open(os.path.join(root, "etc/apparmor.d/abi/4.0"), "w", encoding="ascii"):
                    pass
            subprocess.run(["cp", os.path.join(TOP, "packaging/apparmor/polygraph"),
                            os.path.join(root, "usr/share/polygraph/apparmor")], check=True)
            installed = os.path.join(root, "etc/apparmor.d/polygraph")
            for _ in range(2):
                self.script("postinst", "configure", root)
                self.assertEqual(os.path.exists(installed), known)
            self.script("postrm", "upgrade", root)
            self.assertEqual(os.path.exists(installed), known)
            for _ in range(2):
                self.script("postrm", "remove", root)
                self.assertFalse(os.path.exists(installed))


def prepare(polygraph, folder):
    global POLYGRAPH, FOLDER, ORDINARY
    if not can("unshare", "-m", "true") and not can("unshare", "-m", "-U", "-r", "true"):
        return "nothing can be mounted here"
    # Where everybody can read it.
    os.chmod(folder, 0o755)
    FOLDER = folder
    os.mkdir(os.path.join(folder, "tool"))
    POLYGRAPH = os.path.join(folder, "tool", "polygraph")
    copy_tool(os.path.dirname(polygraph), os.path.dirname(POLYGRAPH))
    if not os.getuid():
        nobody = pwd.getpwnam("nobody")
        ORDINARY = ("setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups")
    subprocess.run(["cc", "-g", "-w", "-D_GNU_SOURCE", "-x", "c", "-o", os.path.join(folder, "suite"), "-"],
                   input=SUITE.encode(), check=True)
    return None


if __name__ == "__main__":
    sys.exit(runner.main("mounts", prepare))
