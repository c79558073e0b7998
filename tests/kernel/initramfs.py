"""The first files that a kernel sees: busybox, the modules needed to reach the root, and a script that goes there."""

import gzip
import lzma
import re
import shutil
import stat
import subprocess

# Needed before the root can be reached; those that are built into a kernel are not files.
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_blk", "crc32c_generic", "ext4")

INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /lower /memory /disk /machine
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
stop() {
	echo "kernel test: $1" >/dev/console
	echo o >/proc/sysrq-trigger
	sleep 60
}
for module in /modules/*.ko; do
	insmod "$module" || stop "cannot load $module"
done
p9=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o "ro,cache=loose,$p9" root /lower || stop "cannot mount the root"
mount -t tmpfs -o size=75% memory /memory
mkdir /memory/upper /memory/work
mount -t overlay -o lowerdir=/lower,upperdir=/memory/upper,workdir=/memory/work overlay /machine ||
	stop "cannot mount an overlay on the root"
mount -t proc proc /machine/proc
mount -t sysfs sys /machine/sys
mount -t cgroup2 cgroup /machine/sys/fs/cgroup
mount -t devtmpfs dev /machine/dev
mkdir -p /machine/dev/pts /machine/dev/shm /machine/run
mount -t devpts -o ptmxmode=0666 devpts /machine/dev/pts
mount -t tmpfs -o mode=1777 shm /machine/dev/shm
mount -t tmpfs run /machine/run
ln -sf /proc/self/fd /machine/dev/fd
mount -t ext4 /dev/vda /disk || stop "cannot mount the disk"
for folder in @TEMPORARY@; do
	mkdir -p -m 1777 "/disk$folder"
	chmod 1777 "/disk$folder"
	mount -o bind "/disk$folder" "/machine$folder"
done
ip link set lo up
hostname polygraph-kernel
mount -t 9p -o "cache=none,$p9" out "/machine@OUT@" || stop "cannot mount the folder for results"
exec switch_root /machine /bin/sh "@OUT@/start"
"""


def newc(entries):
    """A cpio archive in the format that kernels read. @entries: (name, mode, content)."""
    out = bytearray()
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        path = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
        out += b"070701" + "".join(f"{field:08x}" for field in fields).encode() + path
        out += b"\0" * (-len(out) % 4) + content
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def modules_needed(root):
    """Their files in the order in which they are to be loaded."""
    folder = next((root / "lib" / "modules").iterdir())
    subprocess.run(["depmod", "-b", root, folder.name], check=True)
    needs = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, others = line.split(":")
        # What a module needs is listed from the last to be loaded to the first.
        needs[re.sub(r"\.ko.*", "", path.rsplit("/", 1)[-1])] = [*reversed(others.split()), path]
    files = [path for name in MODULES for path in needs.get(name, [])]
    return [folder / path for path in dict.fromkeys(files)]


def write(root, out, path):
    """@root: an unpacked kernel; @out: the folder for results, which has the same name in the machine."""
    entries = [("bin", stat.S_IFDIR | 0o755, b"")]
    with open(shutil.which("busybox"), "rb") as busybox:
        entries.append(("bin/busybox", stat.S_IFREG | 0o755, busybox.read()))
    entries.append(("dev", stat.S_IFDIR | 0o755, b""))
    entries.append(("modules", stat.S_IFDIR | 0o755, b""))
    for number, module in enumerate(modules_needed(root)):
        content = module.read_bytes()
        if module.suffix == ".xz":
            content = lzma.decompress(content)
        entries.append((f"modules/{number:02}-{module.name.split('.')[0]}.ko", stat.S_IFREG | 0o644, content))
    # What is below them on this system is not seen then.
    temporary = " ".join(folder for folder in ("/tmp", "/var/tmp") if not str(out).startswith(folder + "/"))
    init = INIT.replace("@OUT@", str(out)).replace("@TEMPORARY@", temporary)
    entries.append(("init", stat.S_IFREG | 0o755, init.encode()))
    path.write_bytes(gzip.compress(newc(entries), 1))
