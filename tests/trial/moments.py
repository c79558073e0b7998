"""Runs of the tool that are killed at a moment of their own, and what is alive afterwards.

The caller is the process that orphans go to (start_reaping), so whatever a run leaves running is below it, whatever it did
to its session, its group and its environment. Tests tell when they begin (note() in operations.h), so that a moment is a
number of tests and a time after the last of them, not a time since the start: a busy machine is slower, but gets as far.
"""

import ctypes
import os
import pwd
import random
import select
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field

PATIENCE = 900  # for the broken case: seconds until a run counts as hanging
GOING = 15  # and until what it started is gone
PR_SET_CHILD_SUBREAPER = 36


def find_users():
    """The users that there can be here, and the ids of an ordinary one if that is not us."""
    if os.geteuid() != 0:
        return ["user"], None
    try:
        nobody = pwd.getpwnam("nobody")
        ids = nobody.pw_uid, nobody.pw_gid
        subprocess.run(["true"], user=ids[0], group=ids[1], extra_groups=[], check=True)
    except (KeyError, OSError, subprocess.SubprocessError):
        return ["root"], None
    return ["root", "user"], ids


def start_reaping():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def read_processes():
    """pid -> (parent, state, name) of everything in /proc."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                before, _, after = file.read().rpartition(")")
        except OSError:
            continue
        words = after.split()
        found[int(name)] = (int(words[1]), words[0], before.partition("(")[2])
    return found


def descendants():
    """Processes below this one, parents first: pid -> name. Those that have ended are reaped on the way."""
    processes = read_processes()
    children = {}
    for pid, (parent, state, name) in sorted(processes.items()):
        children.setdefault(parent, []).append((pid, state, name))
    found, queue = {}, [os.getpid()]
    for parent in queue:
        for pid, state, name in children.get(parent, ()):
            queue.append(pid)
            if state not in "ZX":
                found[pid] = name
    return found


def reap_orphans(spared):
    for pid, (parent, state, _) in read_processes().items():
        if parent == os.getpid() and state == "Z" and pid != spared:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def own_processes(run):
    """The tool's processes, the one that was started first."""
    return [pid for pid, name in descendants().items() if pid == run.pid or name.startswith("polygraph")]


def kill_controller(run, _chance):
    send(own_processes(run)[1:2], signal.SIGKILL)


def kill_both(run, _chance):
    send(own_processes(run), signal.SIGKILL)


def kill_all(run, _chance):
    send(descendants(), signal.SIGKILL)


def kill_one(run, chance):
    send([chance.choice(sorted(descendants()))], signal.SIGKILL)


def send_group(number):
    return lambda run, _chance: os.killpg(run.pid, number)


def send_guard(number):
    return lambda run, _chance: send([run.pid], number)


# The guard is what the user started, the controller its first child; later versions may have more processes.
KILLS = {
    "Ctrl-C": send_group(signal.SIGINT),
    "SIGTERM": send_guard(signal.SIGTERM),
    "SIGHUP, group": send_group(signal.SIGHUP),
    "kill -9, controller": kill_controller,
    "kill -9, guard": send_guard(signal.SIGKILL),
    "kill -9, both": kill_both,
    "kill -9, group": send_group(signal.SIGKILL),
    "kill -9, any one": kill_one,
    "kill -9, all": kill_all,
}


class Notes:
    """What tests say."""

    def __init__(self):
        self.name = f"polygraph-trial-{os.getpid()}-{os.urandom(6).hex()}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.name)
        self.socket.setblocking(False)

    def wait(self, seconds):
        """Names of operations that began."""
        names = []
        if select.select([self.socket], [], [], seconds)[0]:
            try:
                while True:
                    names.append(self.socket.recv(100).decode())
            except BlockingIOError:
                pass
        return names


@dataclass
class Length:
    """Of a run that nobody kills: when tests began, and when it ended."""

    notes: list = field(default_factory=list)
    seconds: float = 0

    def moment(self, fraction):
        """So many tests began, and so many seconds after the last of them."""
        when = fraction * self.seconds
        count = sum(time <= when for time in self.notes)
        return count, when - (self.notes[count - 1] if count else 0)


@dataclass
class Outcome:
    status: int = None
    text: str = ""
    began: set = field(default_factory=set)  # operations
    length: Length = field(default_factory=Length)
    killed: bool = False
    left: dict = field(default_factory=dict)  # processes that stayed


def run_until(words, folder, environment, user, notes, kill=None, moment=None, seed=0,
              going=GOING):
    """Runs it, kills it at that moment, and waits until nothing of it runs."""
    outcome = Outcome()
    chance = random.Random(seed)
    output = os.memfd_create("output")
    become = {"user": user[0], "group": user[1], "extra_groups": []} if user else {}
    notes.wait(0)  # what an earlier run left
    started = last = time.monotonic()
    run = subprocess.Popen([str(word) for word in words], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                           env={**environment, "TRIAL_NOTES": notes.name}, start_new_session=True, **become)
    while run.poll() is None:
        for name in notes.wait(0.005):
            outcome.began.add(name)
            last = time.monotonic()
            outcome.length.notes.append(last - started)
        now = time.monotonic()
        if kill and not outcome.killed and len(outcome.length.notes) >= moment[0] and now - last >= moment[1]:
            outcome.killed = True
            KILLS[kill](run, chance)
        if now - started > PATIENCE:
            outcome.text = f"still running after {PATIENCE} s\n"
            send(descendants(), signal.SIGKILL)
            run.wait()
    outcome.length.seconds = time.monotonic() - started
    outcome.status = run.returncode
    outcome.began.update(notes.wait(0))
    end = time.monotonic() + going
    while (left := descendants()) and time.monotonic() < end:
        reap_orphans(run.pid)
        time.sleep(0.01)
    outcome.left = left
    stop_all()
    outcome.text += os.pread(output, 1 << 20, 0).decode(errors="replace")
    os.close(output)
    return outcome


def stop_all():
    """Ends what should have ended."""
    while left := descendants():
        send(left, signal.SIGKILL)
        reap_orphans(0)
        time.sleep(0.01)
    reap_orphans(0)
