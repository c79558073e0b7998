"""Adding up parts that each end with "N passed, N failed[, N skipped]".

A part is a command. Its output is kept in a log, shown when something in it failed, and its closing line is added to the
sum; Python's unittest closes in its own words. A part without a closing line is one test, judged by its exit status; a part that says that nothing failed but exits
with another status than zero counts as one failure.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

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


def run_within(seconds, command, **options):
    """Exit status of the command; 124 where it had to be stopped: first as Ctrl-C does, so that it can clean up."""
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        except BaseException:
            os.killpg(process.pid, signal.SIGINT)
            raise
        for number, patience in ((signal.SIGINT, 15), (signal.SIGKILL, None)):
            try:
                os.killpg(process.pid, number)
                process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                continue
        return 124


class Counts:
    def __init__(self, logs):
        # Being told to end is like Ctrl-C: the part that runs is stopped with us.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        self.passed = self.failed = self.skipped = 0
        self.broken = []
        self.logs = Path(logs)
        self.logs.mkdir(parents=True, exist_ok=True)

    def run(self, name, command, timeout=900, again=None, **options):
        """Runs one part; true where nothing in it failed. @again: what to tell the user to run, if not the command."""
        command = [str(word) for word in command]
        log = self.logs / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".log")
        started = time.monotonic()
        with log.open("wb") as out:
            try:
                status = run_within(timeout, command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, **options)
            except OSError as error:
                out.write(f"{command[0]}: {error.strerror}\n".encode())
                status = 127
            if status == 124:
                out.write(f"\nstopped after {timeout} s\n".encode())
        text = log.read_text(errors="replace")
        passed, failed, skipped = closing_counts(text) or (int(status == 0), int(status != 0), 0)
        if status and not failed:
            failed = 1
        self.add(passed, failed, skipped)
        if failed:
            self.broken.append(f"{name}: {log}; again: {again or ' '.join(command)}")
            print(text)
        elif skipped:
            for line in [line for line in text.splitlines() if re.search(r"\bskip", line, re.I)][:20]:
                print("   ", line)
        self.tell(name, f"{passed} passed, {failed} failed, {skipped} skipped", started)
        return not failed

    def skip(self, name, why):
        self.add(0, 0, 1)
        self.tell(name, f"skipped: {why}")

    def add(self, passed, failed, skipped):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    @staticmethod
    def tell(name, what, started=None):
        seconds = "" if started is None else f" ({time.monotonic() - started:.0f} s)"
        print(f"== {name}: {what}{seconds}", flush=True)

    def close(self):
        """Prints the closing line and gives the exit status."""
        for entry in self.broken:
            print(f"failed: {entry}")
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}")
        sys.stdout.flush()
        return int(self.failed != 0)
