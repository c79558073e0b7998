"""A minimal Debian made with debootstrap: what somebody has who has only just installed it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

# In namespaces of its own the folder becomes the root, as that of a machine does, which `chroot` alone would not make of it:
# sandboxes find no other root above it. $1: the folder, $2: that of downloaded packages, $3…: the command.
ENTER = """
root=$1 packages=$2
shift 2
mount --bind "$root" "$root" && cd "$root" && mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys &&
mount --bind "$packages" var/cache/apt/archives && pivot_root . mnt && cd / && umount --lazy /mnt && exec "$@"
"""
NAMESPACES = ("--mount", "--pid", "--ipc", "--fork", "--kill-child", "--propagation", "private")


def run(*command, **options):
    return subprocess.run([str(word) for word in command],
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "stdin": subprocess.DEVNULL, **options})


def need(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def mirror():
    """That of this system."""
    files = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for path in filter(Path.is_file, files):
        found = re.search(r"^(?:URIs:|deb(?: \[.*\])?) *(http\S+/debian/?)(?: |$)", path.read_text(), re.M)
        if found:
            return found[1]
    return None


def why_not(url):
    """Why there can be none here, or None."""
    if os.geteuid():
        return "not root: debootstrap cannot make a system"
    if not shutil.which("debootstrap"):
        return "debootstrap is not installed"
    return None if url else "no Debian mirror is known; name one with --mirror URL"


class Debian:
    """A new system in a folder, which keeps what was downloaded; not below a temporary folder, where sandboxes put their own."""

    def __init__(self, folder, suite, mirror):
        self.root, self.packages = folder / "root", folder / f"{suite}-packages"
        base = folder / f"{suite}.tar"
        if not base.exists():
            made, unfinished = folder / "base", folder / f"{suite}.tar.new"
            shutil.rmtree(made, ignore_errors=True)
            need("debootstrap", "--variant=minbase", suite, made, mirror)
            need("tar", "-cf", unfinished, "-C", made, ".")
            unfinished.rename(base)
            shutil.rmtree(made)
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()
        (self.packages / "partial").mkdir(parents=True, exist_ok=True)
        need("tar", "-xf", base, "-C", self.root)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        # Nothing has to survive a power cut.
        (self.root / "etc/dpkg/dpkg.cfg.d/fast").write_text("force-unsafe-io\n")

    def run(self, *command, user="0:0", folder="/", home="/tmp", **options):
        uid, gid = user.split(":")
        become = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"] if user != "0:0" else []
        environment = ["/usr/bin/env", "-i", f"--chdir={folder}", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", f"HOME={home}",
                       "DEBIAN_FRONTEND=noninteractive"]
        return run("unshare", *NAMESPACES, "sh", "-c", ENTER, "sh", self.root, self.packages, *become, *environment, *command, **options)

    def add_user(self, name, uid):
        need("chroot", self.root, "useradd", "--create-home", "--uid", uid, name)
        return f"{uid}:{uid}"


class Checks:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def expect(self, what, good, evidence=""):
        self.passed += bool(good)
        self.failed += not good
        print(f"{'ok' if good else 'FAILED'}: {what}" + ("" if good else f"\n{evidence}"), flush=True)

    def skip(self, why):
        self.skipped += 1
        print(f"skipped: {why}", flush=True)

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        return int(self.failed != 0)
