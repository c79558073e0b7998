#!/usr/bin/env python3
"""Checks `polygraph repair` against the subjects in tests/subjects/repair/, which say which patch it must find.

Besides the directives of subject.py these, next to the test they speak of:

    mend TEST                 a patch is found for what makes TEST order-dependent, and it proves itself
                              added=LINE also=LINE: lines that it adds; lacks=TEXT: text that it does not have
                              function=NAME: what the report says is called; says=TEXT: what it says besides
    unproven TEST says=TEXT   there is a patch (added= as above), but it is not called proven: the report says why
    leftover TEST root=ROOT   the same for what TEST leaves in ROOT: a patch of TEST (added= as above)
    unmended TEST says=TEXT   no patch is found, and the report says this
    suggested TEST says=TEXT  likewise; function=NAME is what it suggests to call

`variant` takes cflags= libs= pkg= sources=, quick=CC-OPT,…: what quick mode builds, folder=NAME: where polygraph is
called, below the folder of the sources, gone=FILE: what is removed when it is built, and
repair=OPTIONS: more options of `polygraph repair`. Each subject is copied to a folder
of its own and built there by one command, build.sh, which is also what patches are proven with.

Of each executable is checked: `polygraph order` finds the tests; `polygraph repair --build` finds the patches and says that
they are proven; all files are as before; each patch applies with `patch -p1`, builds without a new warning, and in what was
built the failing order passes (`polygraph run --order`).
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import threading

import subject as subject_module
from build import BUILDS, COMPILERS, STANDARD
from test_order import snapshot
from test_subjects import name_in_order_file

HERE = pathlib.Path(__file__).resolve()
PATIENCE = 300


class Mismatch(Exception):
    pass


class Skipped(Exception):
    pass


def call(words, folder, environment=None):
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=PATIENCE, env={**os.environ, "LSAN_OPTIONS": "detect_leaks=0", **(environment or {})})
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


class Executable:
    def __init__(self, subject, variant, cc, opt, options):
        self.subject, self.variant, self.cc, self.opt = subject, variant, cc, opt
        self.label = f"{variant}-{cc}-{opt}"
        self.name = f"{subject.name} {self.label}"
        self.options = options
        self.folder = (pathlib.Path(options.build) / "repair" / subject.name / self.label).resolve()
        self.work = self.folder / "work"
        self.place = self.work / subject.variants[variant].get("folder", ".")
        self.program = os.path.relpath(self.work / "tests", self.place)
        self.program = self.program if "/" in self.program else f"./{self.program}"

    def polygraph(self, *words, status=(0, 1), folder=None):
        command = [str(self.options.polygraph), *words]
        got, out, err = call(command, folder or self.place)
        if got not in status:
            raise Mismatch(f"{shlex.join(command)}: exit status {got}\n{err.strip()}")
        return got, out, err

    def prepare(self):
        subject, settings = self.subject, self.subject.variants[self.variant]
        compiler = COMPILERS[self.cc][subject.lang == "c++"]
        if not shutil.which(compiler):
            raise Skipped(f"{compiler} is not installed")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(subject.folder, self.work)
        self.place.mkdir(exist_ok=True)
        sources = shlex.split(settings.get("sources", "")) or [p.name for p in subject.sources]
        flags = [f"-{self.opt}", "-g", "-Wall", "-Wextra", *shlex.split(settings.get("cflags", ""))]
        libs = shlex.split(settings.get("libs", ""))
        if "pkg" in settings:
            found, out, _ = call(["pkg-config", "--cflags", "--libs", settings["pkg"]], self.work)
            if found:
                raise Skipped(f"pkg-config knows no {settings['pkg']}")
            flags += [word for word in shlex.split(out) if word.startswith("-I") or word.startswith("-p")]
            libs += [word for word in shlex.split(out) if word.startswith("-l") or word.startswith("-L")]
        lines, objects = ["set -e"], []
        for source in sources:
            c = source.endswith(".c")
            command = COMPILERS[self.cc][not c]
            compiled = f"{source}.o"
            objects.append(compiled)
            lines.append(f"[ {compiled} -nt {source} ] || "
                         + shlex.join([command, STANDARD["c" if c else "c++"], *flags, "-c", source, "-o", compiled]))
        lines.append(shlex.join([compiler, *flags, *objects, "-o", "tests", *libs]))
        (self.work / "build.sh").write_text("\n".join(lines) + "\n", encoding="utf-8")
        if subject.header:
            language = "c++" if subject.lang == "c++" else "c"
            done = subprocess.run([compiler, *flags, "-E", "-x", language, "-"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, input=f"#include <{subject.header}>\n".encode()
                                  if language == "c++" or subject.header != "cmocka.h" else b"")
            if done.returncode:
                raise Skipped(f"<{subject.header}> is not installed")
        status, out, err = call(["sh", "build.sh"], self.work)
        if status:
            raise Mismatch(f"it does not build:\n{out}{err}")
        self.warnings = err.count("warning:")

    def findings(self):
        _, out, _ = self.polygraph("order", "--format", "json", "--", self.program, status=(0, 1))
        return json.loads(out)["findings"]

    def check(self):
        self.prepare()
        before = self.findings()
        orders = {f["test"]: f for f in before if f["kind"] == "order-dependent"}
        if "gone" in self.subject.variants[self.variant]:
            (self.work / self.subject.variants[self.variant]["gone"]).unlink()
        clean = snapshot(self.work)
        mends = self.subject.of("mend")
        unproven = self.subject.of("unproven")
        unmended = self.subject.of("unmended") + self.subject.of("suggested")
        wanted = [d.args[0] for d in mends + unproven + unmended]
        missing = [test for test in wanted if test not in orders]
        if missing:
            raise Mismatch(f"no order-dependent test: {', '.join(missing)}; found are {', '.join(orders) or 'none'}")
        ids = [orders[test]["id"] for test in wanted]
        left = self.leftovers()
        patches = self.folder / "patches"
        build = f"cd {shlex.quote(str(self.work))} && sh build.sh"
        status, out, err = self.polygraph("repair", "--build", build, "--patches", str(patches), "--format", "json",
                                          *shlex.split(self.subject.variants[self.variant].get("repair", "")),
                                          *ids, *left.values())
        (self.folder / "repair.json").write_text(out, encoding="utf-8")
        self.validate(self.folder / "repair.json")
        found = {f["finding"]: f for f in json.loads(out)["findings"]}
        if snapshot(self.work) != clean:
            raise Mismatch("files were changed")
        if (status == 1) != bool(unmended + unproven):
            raise Mismatch(f"exit status {status}")
        for d in mends:
            self.check_mend(d, orders[d.args[0]], found[orders[d.args[0]]["id"]], patches)
        for d, key in left.items():
            self.check_patch(d, found[key], patches)
        for d in unproven:
            f = found[orders[d.args[0]]["id"]]
            if not f["patch"] or f["proven"] or d.options["says"] not in f["message"] or d.options["added"] not in f["patch"]:
                raise Mismatch(f"{d.args[0]}: {f['message']}\n{f['patch'] or ''}")
        for d in unmended:
            f = found[orders[d.args[0]]["id"]]
            if f["patch"] or d.options["says"] not in f["message"] or f["function"] != d.options.get("function"):
                raise Mismatch(f"{d.args[0]}: {f['message']}\n{f['patch'] or ''}")

    def validate(self, report):
        """By the published schema, where the package for that is installed."""
        schema = HERE.parents[2] / "docs/findings.schema.json"
        if not schema.is_file():  # a copy of the tests alone
            return
        status, out, err = call(["python3", str(HERE.parents[1] / "report/validate.py"), "--strict", str(schema), str(report)],
                                self.work)
        if status not in (0, 3):
            raise Mismatch(f"{report} is not as the schema says:\n{out}{err}")

    def leftovers(self):
        directives = self.subject.of("leftover")
        if not directives:
            return {}
        _, out, _ = self.polygraph("pollution", "--format", "json", "--", self.program, status=(0, 1))
        found = {(f["test"], f["root"]): f["id"] for f in json.loads(out)["findings"] if f["kind"] == "pollution"}
        return {d: found[(d.args[0], d.options["root"])] for d in directives}

    def check_patch(self, directive, found, patches):
        test, options = directive.args[0], directive.options
        patch = found["patch"] or ""
        if not patch or not found["proven"]:
            raise Mismatch(f"{test}: {found['message']}\n{patch}")
        added = [line[1:].strip() for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++")]
        for key in ("added", "also"):
            if key in options and not any(options[key] in line for line in added):
                raise Mismatch(f"{test}: '{options[key]}' is not added\n{patch}")
        if "lacks" in options and any(options["lacks"] in line for line in added):
            raise Mismatch(f"{test}: '{options['lacks']}' is in the patch\n{patch}")
        if "function" in options and found["function"] != options["function"]:
            raise Mismatch(f"{test}: the function is {found['function']}, not {options['function']}\n{patch}")
        if options.get("says", "") not in found["message"]:
            raise Mismatch(f"{test}: '{options['says']}' is not said: {found['message']}\n{patch}")
        if not found["tried"]:
            raise Mismatch(f"{test}: nothing was tried")
        copy = self.folder / "patched"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.work, copy)
        name = patches / f"{found['finding']}.patch"
        if name.read_text(encoding="utf-8") != patch:
            raise Mismatch(f"{name} is another patch")
        top = pathlib.Path(found["folder"] or self.place)
        below = os.path.relpath(self.work, top)
        # "a/" and what leads to the subject's own folder
        strip = 1 + (0 if below == "." else below.count("/") + 1)
        for words in (["patch", f"-p{strip}", "-i", str(name)], ["sh", "build.sh"]):
            status, out, err = call(words, copy)
            if status:
                raise Mismatch(f"{test}: {shlex.join(words)}:\n{out}{err}\n{patch}")
        if "warning:" in err:
            raise Mismatch(f"{test}: a new warning:\n{err}\n{patch}")
        return copy

    def check_mend(self, directive, order, found, patches):
        copy = self.check_patch(directive, found, patches)
        failing = order["failing_order"]
        (self.folder / "order").write_text("".join(f"{name_in_order_file(name)}\n" for name in failing), encoding="utf-8")
        _, out, _ = self.polygraph("run", "--format", "json", "--order", str(self.folder / "order"), "--", "./tests",
                                   status=(0, 1, 3), folder=copy)
        last = json.loads(out)["tests"][-1]
        if last["outcome"] != "pass":
            raise Mismatch(f"{order['test']}: still ends with {last['outcome']} after {failing}\n{found['patch']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", default="build/polygraph", metavar="PATH", help="default: build/polygraph")
    parser.add_argument("--build", default="build", metavar="DIR", help="the build folder; default: build")
    parser.add_argument("--subjects", default=HERE.parent.parent / "subjects" / "repair", metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="SUBJECT", help="may be given again")
    parser.add_argument("--exe", metavar="GLOB", help="only executables VARIANT-CC-OPT that match")
    parser.add_argument("--quick", action="store_true", help="only what variants say under quick=")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="name the checks that pass, too")
    options = parser.parse_args()
    options.polygraph = pathlib.Path(options.polygraph).resolve()
    executables = []
    try:
        for subject in subject_module.find_subjects(options.subjects, options.only):
            for variant, settings in subject.variants.items():
                quick = settings.get("quick", "gcc-O0").split(",")
                for cc, opt in BUILDS:
                    exe = Executable(subject, variant, cc, opt, options)
                    if (not options.exe or fnmatch.fnmatchcase(exe.label, options.exe)) \
                            and (not options.quick or f"{cc}-{opt}" in quick):
                        executables.append(exe)
    except subject_module.SubjectError as error:
        print(f"FAIL {error}\n0 passed, 1 failed, 0 skipped")
        return 1
    counts, lock = {"passed": 0, "failed": 0, "skipped": 0}, threading.Lock()

    def check(exe):
        result, text = "passed", ""
        try:
            exe.check()
        except Skipped as reason:
            result, text = "skipped", f"skip {exe.name}: {reason}"
        except (Mismatch, subprocess.TimeoutExpired, KeyError, ValueError, OSError) as error:
            again = shlex.join([str(HERE), "--only", exe.subject.name, "--exe", exe.label])
            result, text = "failed", f"FAIL {exe.name}: {error}\n     files: {exe.folder}\n     again: {again}"
        with lock:
            counts[result] += 1
            if text or options.verbose:
                print(text or f"ok   {exe.name}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(check, executables))
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not executables else 0


if __name__ == "__main__":
    sys.exit(main())
