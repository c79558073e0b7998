"""What the agent adds to a pair of malloc and free: malloc_cost.c run plain and with it preloaded, in turns."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOAL_EXTRA_NS = 40  # more a pair, one thread
ROUNDS = 5
# Frame pointers to follow, and none.
FLAGS = {"frame pointers": ["-O1", "-fno-omit-frame-pointer"], "without": ["-O2", "-fomit-frame-pointer"]}


def measure(program, agent):
    environment = {**os.environ, "LD_PRELOAD": str(agent)} if agent else os.environ
    lines = subprocess.run([program], env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: float(value) for name, value in (line.split() for line in lines)}


def best(runs):
    """The smallest of each: whatever else runs on the machine only adds."""
    return {name: min(run[name] for run in runs) for name in runs[0]}


def bench_malloc(build, agent, rows):
    """@build: folder for the program; @agent: path of libpolygraph-agent.so; adds to @rows what was measured."""
    print("\na pair of malloc and free, nanoseconds: plain, with the agent, more")
    for kind, flags in FLAGS.items():
        program = build / f"malloc_cost_{kind.split()[0]}"
        subprocess.run(["cc", "-g", *flags, "-pthread", "-o", program, HERE / "malloc_cost.c"], check=True)
        plain, noted = [], []
        for _ in range(ROUNDS):
            plain.append(measure(program, None))
            noted.append(measure(program, agent))
        before, after = best(plain), best(noted)
        for name, value in before.items():
            extra = after[name] - value
            over = "  more than the goal" if extra > GOAL_EXTRA_NS and name != "two-threads" else ""
            print(f"{kind:<16} {name:<12} {value:8.1f} {after[name]:8.1f} {extra:8.1f}{over}", flush=True)
            rows.append({"bench": "malloc", "code": kind, "way": name, "plain_ns": value, "agent_ns": after[name]})


if __name__ == "__main__":
    top = HERE.parents[1] / "build"
    bench_malloc(top, top / "libpolygraph-agent.so", [])
