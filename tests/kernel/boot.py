#!/usr/bin/env python3
"""Tests on another kernel, in a machine that QEMU emulates; `./dev test --kernel NAME` builds and calls this.

Usage: boot.py [--only WORD]... [--full] KERNEL...

KERNEL is one of package.py. The machine sees this system's files read-only, over 9p, below an overlay in its memory. Its
temporary folders are on a disk of its own. It runs guest.py, which prints one line a part. --only runs the parts whose name contains one of the words.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import initramfs
import package
import parts

HERE = Path(__file__).resolve().parent
TOP = parts.TOP
sys.path.insert(0, str(TOP / "tests"))
from counts import closing_counts  # noqa: E402

QEMU = "qemu-system-x86_64"
MEMORY = "3G"
DISK = 8 << 30  # bytes, of which only those are taken that are written
# Emulated, everything takes ten times as long; a machine that has stopped says nothing at all.
SILENCE = 900


class Machine:
    """One kernel, from its package to the closing line of its tests."""

    def __init__(self, name):
        self.name = name
        self.folder = TOP / "build" / "kernel" / name
        self.out = TOP / "build" / "logs" / f"kernel-{name}"
        self.console = self.folder / "console"

    def prepare(self, words):
        for program in (QEMU, "busybox", "depmod", "mkfs.ext4"):
            if not shutil.which(program, path=os.environ["PATH"] + ":/sbin:/usr/sbin"):
                raise package.Unavailable(f"there is no {program} here (./dev setup kernel)")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.root = package.unpack(self.name, self.folder)
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        command = " ".join(["python3", str(HERE / "guest.py"), f"'{self.out}'", *words])
        (self.out / "start").write_text(
            "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8\n"
            f"cd '{TOP}'\n{command} >'{self.out}/report' 2>&1\n"
            "echo o >/proc/sysrq-trigger\nsleep 60\n")
        with open(self.folder / "disk", "wb") as disk:
            disk.truncate(DISK)
        subprocess.run(["mkfs.ext4", "-q", "-F", self.folder / "disk"], check=True)
        initramfs.write(self.root, self.out, self.folder / "initramfs")

    def command(self):
        kernel = next((self.root / "boot").glob("vmlinuz-*"))
        return [
            QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(min(4, len(os.sched_getaffinity(0)))),
            "-m", MEMORY, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", kernel, "-initrd", self.folder / "initramfs",
            "-append", "console=ttyS0 quiet panic=-1 mitigations=off",
            "-serial", f"file:{self.console}",
            "-drive", f"file={self.folder / 'disk'},format=raw,if=virtio,cache=unsafe",
            "-virtfs", "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap",
            "-virtfs", f"local,path={self.out},mount_tag=out,security_model=none,multidevs=remap",
        ]

    def run(self):
        """Shows its report as it grows; true where it ended by itself."""
        report, shown = self.out / "report", 0
        qemu = subprocess.Popen([str(word) for word in self.command()], stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            last = time.monotonic()
            while True:
                ended = qemu.poll() is not None
                text = report.read_text(errors="replace") if report.exists() else ""
                whole = text if ended else text[:text.rfind("\n") + 1]
                if len(whole) > shown:
                    print(whole[shown:], end="", flush=True)
                    shown, last = len(whole), time.monotonic()
                if ended:
                    return qemu.returncode == 0, text
                if time.monotonic() - last > SILENCE:
                    return False, text
                time.sleep(0.2)
        finally:
            if qemu.poll() is None:
                qemu.send_signal(signal.SIGKILL)
                qemu.wait()


def test_kernel(name, words):
    """(passed, failed, skipped)"""
    machine = Machine(name)
    started = time.monotonic()
    try:
        machine.prepare(words)
    except package.Unavailable as why:
        print(f"== kernel {name}: skipped: {why}", flush=True)
        return 0, 0, 1
    well, text = machine.run()
    counts = closing_counts(re.sub(r"^== .*$", "", text, flags=re.M))
    seconds = time.monotonic() - started
    if not well or not counts:
        print(machine.console.read_text(errors="replace")[-4000:])
        print(f"== kernel {name}: the machine ended before its tests after {seconds:.0f} s; {machine.console}", flush=True)
        return 0, 1, 0
    print(f"== kernel {name}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped ({seconds:.0f} s)", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--full", action="store_true", help="also what takes long")
    parser.add_argument("kernels", nargs="+", metavar="KERNEL", help=", ".join(package.KERNELS))
    options = parser.parse_args()
    for name in options.kernels:
        if name not in package.KERNELS:
            parser.error(f"there is no kernel '{name}' here, only {', '.join(package.KERNELS)}")
    broken = parts.build(options.full)
    if broken:
        print(f"{broken}\n0 passed, 1 failed")
        return 1
    words = [f"--only '{word}'" for word in options.only] + (["--full"] if options.full else [])
    sums = [sum(numbers) for numbers in zip(*(test_kernel(name, words) for name in options.kernels))]
    print(f"{sums[0]} passed, {sums[1]} failed" + (f", {sums[2]} skipped" if sums[2] else ""))
    return int(sums[1] != 0)


if __name__ == "__main__":
    sys.exit(main())
