#!/usr/bin/env python3
"""The agent shows what it interposes and nothing else, and needs the C library and nothing else.

Usage: check_exports.py AGENT LIST [NAME ...]

LIST has one symbol a line, sorted. NAMEs may be needed from the C library though others of their kind may not: models
of threads go on with them, on behalf of the program's call.
"""

import re
import subprocess
import sys
from pathlib import Path

# Of these it may have nothing: they allocate, buffer, lock, or belong to a runtime that the program may not have.
FORBIDDEN = re.compile(r"^(_Z|__cxa_(?!finalize)|__asan|__ubsan|__tsan|__gcov|pthread_|dl|printf|fopen|malloc$|calloc$|free$)")


def symbols(agent, option):
    lines = subprocess.run(["nm", "-D", option, agent], check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(line.split()[-1].split("@")[0] for line in lines)


def main():
    agent, listed, allowed = sys.argv[1], Path(sys.argv[2]).read_text().split(), sys.argv[3:]
    shown = symbols(agent, "--defined-only")
    problems = [f"visible, but not listed: {name}" for name in shown if name not in listed]
    problems += [f"listed, but not visible: {name}" for name in listed if name not in shown]
    if listed != sorted(set(listed)):
        problems.append(f"{sys.argv[2]} is not sorted")
    needed = symbols(agent, "--undefined-only")
    problems += [f"needed from elsewhere: {name}" for name in needed if FORBIDDEN.match(name) and name not in allowed]
    problems += [f"allowed, but not needed: {name}" for name in allowed if name not in needed]
    dynamic = subprocess.run(["readelf", "-d", agent], check=True, capture_output=True, text=True).stdout
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    problems += [f"needs {name}" for name in libraries if not re.match(r"(libc|ld-linux.*)\.so", name)]
    for flag in ("NOW", "INITFIRST", "NODELETE"):
        if not re.search(rf"\(FLAGS_1\).*\b{flag}\b", dynamic):
            problems.append(f"not linked with the flag {flag}")
    for problem in problems:
        print(problem)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
