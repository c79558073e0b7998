#!/usr/bin/env python3
"""The agent shows what it interposes and nothing else, and needs the C library and nothing else.

Usage: check_exports.py [--models] AGENT LIST [NAME ...]

LIST has one symbol a line, sorted. With --models it has those that are not an API of the table of models
(src/wire/models_*.h): that each of these acts is for the tests of models. NAMEs may be needed from the C library though others of their kind may not: models
of threads go on with them, on behalf of the program's call.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lint"))

import check_models  # noqa: E402

# Of these it may have nothing: they allocate, buffer, lock, or belong to a runtime that the program may not have.
FORBIDDEN = re.compile(r"^(_Z|__cxa_(?!finalize)|__asan|__ubsan|__tsan|__gcov|pthread_|dl|printf|fopen|malloc$|calloc$|free$)")


def symbols(agent, option):
    lines = subprocess.run(["nm", "-D", option, agent], check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(line.split()[-1].split("@")[0] for line in lines)


def main():
    parser = argparse.ArgumentParser(description="What the agent shows and needs.")
    parser.add_argument("--models", action="store_true")
    parser.add_argument("agent")
    parser.add_argument("list", type=Path)
    parser.add_argument("allowed", nargs="*")
    options = parser.parse_args()
    agent, listed, allowed = options.agent, options.list.read_text().split(), options.allowed
    models = check_models.apis() if options.models else set()
    shown = symbols(agent, "--defined-only")
    problems = [f"visible, but not listed: {name}" for name in shown if name not in listed and name not in models]
    problems += [f"listed, but not visible: {name}" for name in listed if name not in shown]
    problems += [f"listed, but in the table of models: {name}" for name in listed if name in models]
    if listed != sorted(set(listed)):
        problems.append(f"{options.list} is not sorted")
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
