"""Adding up parts that each end with "N passed, N failed[, N skipped]".

A part is a command. Its output is kept in a log, shown when something in it failed, and its closing line is added to the
sum; Python's unittest closes in its own words. A part without a closing line is one test, judged by its exit status; a part
that says that nothing failed but exits with another status than zero counts as one failure. Parts may run side by side, each
in a thread. What each took, by the clock and of the processors, is shown at the end.

A few parts that failed beside others may run once more, alone (`repeat()`). What passes then is *unsteady*: it is counted as
passed, named at the end with its output, and has to be mended all the same.
"""

import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

# With more failures something is broken, not unsteady.
REPEATED_PARTS, REPEATED_FAILURES = 3, 5

CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(?: \((.*)\))?$", re.M)


def closing_counts(text):
    """(passed, failed, skipped) from the last closing line, or None."""
    found = CLOSING.findall(text)
    if found:
        return tuple(int(number or 0) for number in found[-1])
    found = UNITTEST.findall(text)
    if found:
        ran, words = found[-1]
        kinds = {kind.strip(): int(number) for kind, number in re.findall(r"([\w ]+)=(\d+)", words)}
        skipped = kinds.get("skipped", 0)
        failed = sum(kinds.get(kind, 0) for kind in ("failures", "errors", "unexpected successes"))
        return max(int(ran) - failed - skipped, 0), failed, skipped
    return None


class Stopped(Exception):
    """The user ended the whole run."""


class Process:
    """A command in a session of its own, which knows what processor time it took."""

    def __init__(self, command, stopping, **options):
        self.child = subprocess.Popen(command, start_new_session=True, **options)
        self.stopping = stopping
        self.cpu = 0

    def ended(self, seconds):
        """Whether it ended within that time."""
        end = time.monotonic() + seconds
        while True:
            pid, status, usage = os.wait4(self.child.pid, os.WNOHANG)
            if pid:
                self.child.returncode = os.waitstatus_to_exitcode(status)
                self.cpu = usage.ru_utime + usage.ru_stime
                return True
            if self.stopping.is_set():
                self.stop()
                raise Stopped
            if time.monotonic() > end:
                return False
            time.sleep(0.05)

    def stop(self):
        """First as Ctrl-C does, so that it can clean up."""
        self.stopping = threading.Event()
        for number, patience in ((signal.SIGINT, 15), (signal.SIGKILL, 60)):
            os.killpg(self.child.pid, number)
            if self.ended(patience):
                return


class Counts:
    def __init__(self, logs):
        # Being told to end is like Ctrl-C: the parts that run are stopped with us.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        self.passed = self.failed = self.skipped = 0
        self.broken = {}        # name of a part: its counts, what to tell the user
        self.unsteady = []
        self.repeating = False
        self.times = []
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.logs = Path(logs)
        self.logs.mkdir(parents=True, exist_ok=True)

    def run(self, name, command, timeout=900, again=None, **options):
        """Runs one part; true where nothing in it failed. @again: what to tell the user to run, if not the command."""
        command = [str(word) for word in command]
        log = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        log = self.logs / (log + (".again.log" if self.repeating else ".log"))
        started = time.monotonic()
        cpu = 0
        with log.open("wb") as out:
            try:
                process = Process(command, self.stopping, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                  **options)
                status = self.wait(process, timeout)
                cpu = process.cpu
                if status == 124:
                    out.write(f"\nstopped after {timeout} s\n".encode())
            except OSError as error:
                out.write(f"{command[0]}: {error.strerror}\n".encode())
                status = 127
        text = log.read_text(errors="replace")
        passed, failed, skipped = closing_counts(text) or (int(status == 0), int(status != 0), 0)
        if status and not failed:
            failed = 1
        seconds = time.monotonic() - started
        with self.lock:
            self.times.append((name, seconds, cpu))
            if self.repeating:
                self.settle(name, passed, failed, skipped)
            else:
                self.add(passed, failed, skipped)
            if failed:
                self.broken[name] = ((passed, failed, skipped), f"{name}: {log}; again: {again or ' '.join(command)}")
                print(text)
            elif skipped:
                for line in [line for line in text.splitlines() if re.search(r"\bskip", line, re.I)][:20]:
                    print("   ", line)
            print(f"== {name}: {passed} passed, {failed} failed, {skipped} skipped ({seconds:.0f} s, "
                  f"processors {cpu:.0f} s)", flush=True)
        return not failed

    def settle(self, name, passed, failed, skipped):
        """A part ran again: that counts instead of the first run, and where it passed, the part is unsteady."""
        before, entry = self.broken.pop(name)
        self.add(*(-number for number in before))
        self.add(passed, failed, skipped)
        if not failed:
            self.unsteady.append(entry)

    def repeat(self, functions):
        """Calls each of those that failed again, if they are few; @functions by the names of their parts."""
        if not 0 < len(self.broken) <= REPEATED_PARTS or self.failed > REPEATED_FAILURES:
            return
        self.repeating = True
        for name in list(self.broken):
            print(f"== {name}: again, alone", flush=True)
            functions[name]()
        self.repeating = False

    @staticmethod
    def wait(process, timeout):
        """Exit status; 124 where it had to be stopped."""
        try:
            if process.ended(timeout):
                return process.child.returncode
        except KeyboardInterrupt:
            process.stop()
            raise
        process.stop()
        return 124

    def skip(self, name, why):
        with self.lock:
            self.add(0, 0, 1)
            print(f"== {name}: skipped: {why}", flush=True)

    def add(self, passed, failed, skipped):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def side_by_side(self, lanes, chains):
        """Calls the functions of each chain one after the other, and several chains at a time."""
        def run(chain):
            for function in chain:
                if self.stopping.is_set():
                    return
                function()

        with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
            futures = [pool.submit(run, chain) for chain in chains]
            try:
                for future in concurrent.futures.as_completed(futures):
                    future.result()
            except BaseException:
                self.stopping.set()
                raise

    def close(self):
        """Prints the closing line and gives the exit status."""
        if self.times:
            print(f"\n{'by the clock':>12} {'processors':>11}")
            for name, seconds, cpu in self.times:
                print(f"{seconds:10.1f} s {cpu:9.1f} s  {name}")
            print(f"{'':12} {sum(cpu for *_, cpu in self.times):9.1f} s  in all\n")
        for entry in self.unsteady:
            print(f"unsteady, failed beside others and passed alone: {entry}")
        for _, entry in self.broken.values():
            print(f"failed: {entry}")
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}")
        sys.stdout.flush()
        return int(self.failed != 0)
