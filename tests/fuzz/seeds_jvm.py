#!/usr/bin/env python3
"""Seeds for fuzz_jvm: what Java VMs say when all goes well, and some lies.

Usage: seeds_jvm.py STAMP        (the seeds go to the folder seeds_jvm beside the stamp)

The messages are those of src/wire/vm.h, vm_heap.h, vm_outside.h and vm_schedule.h, framed as fuzz_jvm.c says.
"""

import struct
import sys
from pathlib import Path

LIST, RUN, CONSECUTIVE, OUTSIDE, READERS, ROOTS, SCHEDULE, TREE = range(8)
HELLO, TEST, LISTED, STARTED, ENDED, DONE, SAYS = range(16, 23)
CHANGES, LEFT_OUT, READ, COST = range(80, 84)
MOMENT, SCHEDULE_END, THREADS = range(168, 171)
POINT = 192
RAW, NEXT = 254, 255


def numbers(*values):
    return struct.pack(f"<{len(values)}I", *values)


def text(value):
    return numbers(len(value)) + value


def texts(*values):
    return numbers(len(values)) + b"".join(map(text, values))


def message(kind, content=b""):
    return struct.pack("<BH", kind, len(content)) + content


def test(name, groups=(), after=(), needs=()):
    return message(TEST, text(b"JUnit4\ta.T\t" + name) + text(b"a.T." + name) + text(b"a/T.java") + numbers(3, 0)
                   + texts(*groups) + texts(*after) + texts(*needs))


def ended(place, outcome=0, reason=b""):
    return message(ENDED, numbers(place, outcome, 1500, 12) + text(reason) + text(b"a/T.java"))


def change(root, where=0, first=0, weight=0, paths=1):
    one = (numbers(2, 1) + text(root + b".n") + text(b"1") + text(b"2") + text(b"int") + text(root + b"/n"))
    return (numbers(where, first, weight, 0, 2) + struct.pack("<QQ", 5, 6) + text(root) + text(b"a/T.java")
            + numbers(paths) + one * paths)


def changes(*rows):
    return message(CHANGES, numbers(0, len(rows)) + b"".join(rows))


def moment(kind, operation=0, key=b"", inside=0, frames=1):
    frame = text(b"a.T.m") + text(b"a/T.java") + numbers(9)
    return message(MOMENT, numbers(kind, 1, 1000, 0, 1, operation, 0, inside) + text(key) + text(b"")
                   + numbers(frames) + frame * frames)


NEW = message(NEXT)
HI = message(HELLO, numbers(1) + text(b"17.0.1") + text(b"OpenJDK") + texts(b"JUnit4"))
LEFT = changes(change(b"a.T.count"), change(b"a.U.list", first=1, paths=0), change(b"default-locale", where=2, weight=4))


def run(n, *extra, first=0):
    """A VM that runs tests up to this one, and says that in each of them."""
    return HI + b"".join(message(STARTED, numbers(i)) + b"".join(extra) + ended(i) for i in range(first, n))


SEEDS = {
    "list": [LIST, HI + test(b"a", (b"a.T",)) + test(b"b", (b"a.T", b"a.T/1"), (b"JUnit4\ta.T\ta",))
             + test(b"c", (b"a.T",), (), (b"JUnit4\ta.T\tb", b"JUnit4\ta.T\tc")) + message(LISTED)],
    "list-circle": [LIST, HI + test(b"a", (), (b"JUnit4\ta.T\tb",)) + test(b"b", (), (b"JUnit4\ta.T\ta",))
                    + test(b"b") + message(SAYS, text(b"worth a line")) + message(LISTED)],
    "list-ended": [LIST, HI + test(b"a")],
    "run": [RUN, run(3, LEFT, message(LEFT_OUT, text(b"a.T.x") + text(b"of JUnit"))) + message(COST, numbers(*range(8)))
            + message(DONE) + NEW + run(1)],
    "run-crash": [RUN, run(1, LEFT) + message(STARTED, numbers(1)) + NEW + run(3, first=2) + NEW + run(1)],
    "run-fail": [RUN, HI + message(STARTED, numbers(0)) + ended(0, 1, b"expected 1") + message(STARTED, numbers(1))
                 + ended(1, 2, b"later") + message(STARTED, numbers(2)) + ended(2) + NEW + run(1)],
    "consecutive": [CONSECUTIVE, HI + message(STARTED, numbers(0)) + ended(0) + message(STARTED, numbers(1)) + LEFT
                    + ended(1) + message(STARTED, numbers(2)) + ended(2) + NEW + run(1)],
    "outside": [OUTSIDE, run(3, message(POINT, numbers(0)), LEFT) + NEW + run(1, message(POINT, numbers(0)))],
    "readers": [READERS, run(3, LEFT) + NEW + run(3, message(READ, numbers(0, 0, 0)), message(READ, numbers(0, 1, 1)))],
    "roots": [ROOTS, run(3, LEFT) + NEW + run(3, LEFT) + NEW + run(3)],
    "schedule": [SCHEDULE, run(1, moment(0, key=b"9:1"), moment(1, 1, b"start a.T.m"), moment(3, 2, b"sleep a.T.m"),
                               moment(4), message(THREADS), message(SCHEDULE_END, numbers(3, 1, 5000, 0)))],
    "schedule-hangs": [SCHEDULE, HI + message(STARTED, numbers(0)) + moment(2, 3, b"wait", inside=1)
                       + message(SCHEDULE_END, numbers(4, 0, 0, 0))],
    "tree": [TREE, run(3) + NEW + run(2) + NEW + run(1)],
    # Lies.
    "hello-twice": [RUN, run(3) + HI],
    "hello-twice-list": [LIST, HI + HI + test(b"a") + message(LISTED)],
    "no-hello": [RUN, message(STARTED, numbers(0)) + LEFT + ended(0) + message(STARTED, numbers(1)) + ended(1)],
    "no-hello-outside": [OUTSIDE, message(POINT, numbers(0)) + LEFT + run(3)],
    "nothing-changed": [RUN, run(3, changes(change(b"a.T.count", paths=0)))],
    "stale-entry": [CONSECUTIVE, run(3) + NEW + HI + LEFT + run(1)],
    "no-operation": [SCHEDULE, run(1, moment(1, 0, b"start", inside=1), moment(2, 77, b"wait", inside=1))],
    "frames": [SCHEDULE, run(1, moment(1, 1, b"start", frames=70))],
    "too-many": [RUN, HI + message(STARTED, numbers(0)) + message(CHANGES, numbers(0, 0xFFFFFFFF))],
    "too-many-paths": [RUN, HI + message(CHANGES, numbers(0, 1, 0, 0, 0, 0, 2, 5, 0, 6, 0) + text(b"a.T.n") + text(b"")
                                         + numbers(65536))],
    "too-large": [RUN, message(RAW, struct.pack("<IHH", 0xFFFFFFF0, HELLO, 1))],
    "other-version": [RUN, message(RAW, struct.pack("<IHH", 4, HELLO, 9) + b"abcd")],
    "cut": [RUN, HI + message(RAW, struct.pack("<IHH", 4000, CHANGES, 1) + b"abcd")],
}


def main():
    stamp = Path(sys.argv[1])
    folder = stamp.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, (asked, said) in SEEDS.items():
        (folder / name).write_bytes(bytes([asked]) + said)
    stamp.touch()


if __name__ == "__main__":
    main()
