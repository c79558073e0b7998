"""What repairing costs: candidates a second, a candidate that hangs, many functions in reach, and the subjects as a whole.

A generated suite of plain functions: a polluter, a victim, and N functions that all write the polluted variable. One of them
puts it back; its name says nothing, so that it is tried last. Or some hang. `polygraph repair` says how many it tried and how
long that took. Then the subjects of tests/subjects/repair/: from the finding to the proven patch, compiling included.

Called by bench.py (`./dev bench repair`).
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
GOAL_TRIES = 1000  # a second
GOAL_HANG_MS = 100
HANGING = 10


def write_suite(folder, functions, hanging):
    bodies = [f"void touch_{i}(void) {{ level = {i + 2}; }}" for i in range(functions)]
    bodies += [f"void hang_{i}(void) {{ for (;;) level = 0; }}" for i in range(hanging)]
    bodies.append("void zz_unlikely(void) { level = 1; }")
    declared = "\n".join(line.split(" {")[0] + ";" for line in bodies)
    text = "\n".join(bodies)
    (folder / "level.h").write_text(f"#pragma once\nint level_get(void);\nvoid level_raise(void);\n{declared}\n")
    (folder / "level.c").write_text('#include "level.h"\nstatic volatile int level = 1;\nint level_get(void) { return level; }\n'
                                    f"void level_raise(void) {{ level = level + 100000; }}\n{text}\n")
    (folder / "tests.c").write_text('#include <assert.h>\n#include "level.h"\n'
                                    "void test_raises(void)\n{\n\tlevel_raise();\n}\n"
                                    "void test_is_one(void)\n{\n\tassert(level_get() == 1);\n}\n"
                                    "int main(void)\n{\n\ttest_is_one();\n\ttest_raises();\n\treturn 0;\n}\n")
    (folder / "build.sh").write_text("cc -g -O0 -o tests tests.c level.c\n")
    subprocess.run(["sh", "build.sh"], cwd=folder, check=True)


def measure(options, functions, hanging):
    with tempfile.TemporaryDirectory(prefix="polygraph-bench-") as name:
        folder = Path(name)
        write_suite(folder, functions, hanging)
        subprocess.run([options.polygraph, "order", "--format", "json", "--output", "/dev/null", "./tests"], cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = subprocess.run([options.polygraph, "repair", "--build", "sh build.sh", "--format", "json"], cwd=folder,
                              stdout=subprocess.PIPE)
        return json.loads(done.stdout)["findings"][0]


def bench_repair(options, rows):
    for size in (100, 1000) if options.quick else (100, 1000, 5000):
        found = measure(options, size, 0)
        rate = found["tried"] / found["try_seconds"] if found["try_seconds"] else 0
        rows.append({"bench": "repair", "functions": size, "tried": found["tried"], "tries_a_second": rate,
                     "search_seconds": found["search_seconds"], "proven": found["proven"]})
        print(f"{size:5} functions in reach, the right one last: {found['tried']} tried, {rate:.0f} a second (goal: {GOAL_TRIES}); "
              f"{found['search_seconds']:.2f} s to find it, {found['prove_seconds']:.2f} s to prove it"
              f"{'' if found['proven'] else '; NOT proven'}")
    plain = statistics.median(measure(options, 100, 0)["try_seconds"] for _ in range(3))
    hung = statistics.median(measure(options, 100, HANGING)["try_seconds"] for _ in range(3))
    cost = (hung - plain) / HANGING * 1000
    rows.append({"bench": "repair", "hang_ms": cost})
    print(f"a candidate that hangs: {cost:.0f} ms (goal: {GOAL_HANG_MS})")
    bench_subjects(options, rows)


def bench_subjects(options, rows):
    """Builds them through the harness, which leaves the reports."""
    build = options.build / "repair-subjects"
    shutil.rmtree(build, ignore_errors=True)
    subprocess.run([sys.executable, TOP / "tests/harness/test_repair.py", "--quick", "--polygraph", options.polygraph, "--build",
                    build, "--jobs", "1"], check=True, stdout=subprocess.DEVNULL)
    times = []
    for report in build.glob("repair/*/*/repair.json"):
        times += [f["search_seconds"] + f["prove_seconds"] for f in json.loads(report.read_text())["findings"] if f["proven"]]
    rows.append({"bench": "repair", "patches": len(times), "median_seconds": statistics.median(times), "max_seconds": max(times)})
    print(f"subjects: {len(times)} proven patches, from finding to proof {statistics.median(times):.1f} s in the median, at most "
          f"{max(times):.1f} s")
