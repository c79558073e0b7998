#!/usr/bin/env python3
"""A program does the same with the agent as without it, and the agent notes what it does.

Usage: check_same.py AGENT PROGRAM...

A program without arguments lists its words, one a line; each is run both ways, and output and status are compared. With
the agent the program looks at what the agent noted, and says what is wrong on its standard error.
"""

import os
import signal
import subprocess
import sys
import tempfile


def run(program, word, agent):
    env = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "LC_ALL", "LANG")}
    if agent:
        env["LD_PRELOAD"] = agent
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, *word],
            capture_output=True,
            text=True,
            cwd=folder,
            env=env,
            timeout=60,
            # As most shells hand it on; Python would ignore it in us alone.
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN),
            restore_signals=False,
        )
    return done.stdout, done.stderr, done.returncode


def check(agent, program):
    problems = []
    words = run(program, [], None)[0].split("\n")
    words = [word for word in words if word.isidentifier()]
    if not words:
        problems.append("lists no words")
    for word in words:
        plain, noted = run(program, [word], None), run(program, [word], agent)
        if plain[1] or plain[2] == 3:
            problems.append(f"{word}: without the agent: {plain[1]} (status {plain[2]})")
        elif noted != plain:
            problems.append(f"{word}: {noted[1]}(status {noted[2]}, not {plain[2]})\n--- without\n{plain[0]}--- with\n{noted[0]}")
    return [f"{program}: {problem}" for problem in problems]


def main():
    problems = [problem for program in sys.argv[2:] for problem in check(os.path.abspath(sys.argv[1]), os.path.abspath(program))]
    for problem in problems:
        print(problem)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
