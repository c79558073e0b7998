"""Builds subjects: variants x compilers x optimisation levels, into BUILD/subjects/NAME/VARIANT-CC-OPT/NAME.

Objects are kept under a name made of everything that goes into them, so that variants share them and nothing is
compiled twice. A component (`uses=`) is something built or fetched for a variant: see frameworks.py.
"""

import argparse
import concurrent.futures
import pathlib
import shlex
import shutil
import subprocess
import sys

import frameworks
import subject as subject_module
from parts import BuildError, Unavailable, digest, make, run

COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}
BUILDS = [(cc, opt) for cc in COMPILERS for opt in ("O0", "O2")]
QUICK = [("gcc", "O0"), ("clang", "O2")]
STANDARD = {"c": "-std=gnu11", "c++": "-std=c++17"}


class Executable:
    """One built subject, or the reason why there is none (skip: outside; error: a fault)."""

    def __init__(self, subject, variant, cc, opt, folder):
        self.subject, self.variant, self.cc, self.opt = subject, variant, cc, opt
        self.build = f"{cc}-{opt}"
        self.label = f"{variant}-{cc}-{opt}"
        self.folder = folder
        self.path = folder / subject.name
        self.skip = self.error = None


class Builder:
    """Builds subjects into a folder, several at a time."""

    def __init__(self, build_folder, jobs=2):
        self.folder = pathlib.Path(build_folder).resolve() / "subjects"
        self.jobs = jobs
        self._known = {}

    def once(self, key, function):
        """function()'s value or exception, found out once; called before the threads start."""
        if key not in self._known:
            try:
                self._known[key] = (function(), None)
            except (Unavailable, BuildError) as error:
                self._known[key] = (None, error)
        value, error = self._known[key]
        if error:
            raise error
        return value

    def version(self, compiler):
        def ask():
            if not shutil.which(compiler):
                raise Unavailable(f"{compiler} is not installed")
            return run([compiler, "--version"])
        return self.once(("version", compiler), ask)

    def pkg_config(self, what, package):
        def ask():
            try:
                return shlex.split(run(["pkg-config", what, package]))
            except (BuildError, OSError) as error:
                raise Unavailable(f"pkg-config knows no {package}") from error
        return self.once(("pkg-config", what, package), ask)

    def component(self, framework, name):
        """What a variant that says uses=NAME is built with: {"cflags": […], "libs": […], "sources": […]}."""
        known = frameworks.load(framework).COMPONENTS
        if name not in known:
            raise BuildError(f"uses={name}: {framework} has no such component")
        return self.once(("component", name), lambda: known[name](self))

    def header(self, compiler, name, cflags):
        def ask():
            done = subprocess.run([compiler, *cflags, "-E", "-x", "c++" if "++" in compiler else "c", "-"],
                                  input=f"#if !__has_include(<{name}>)\n#error\n#endif\n".encode(),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if done.returncode != 0:
                raise Unavailable(f"<{name}> is not installed")
        self.once(("header", compiler, name, *cflags), ask)

    def build(self, subjects, builds=BUILDS, wants=lambda exe: True):
        """All executables of the subjects; those that could not be built say so in .skip or .error."""
        executables, objects, plans = [], {}, []
        for subject in subjects:
            for variant, options in subject.variants.items():
                wanted = options.get("builds", "").split(",") if "builds" in options else None
                for cc, opt in builds:
                    if wanted and f"{cc}-{opt}" not in wanted:
                        continue
                    exe = Executable(subject, variant, cc, opt, self.folder / subject.name / f"{variant}-{cc}-{opt}")
                    if not wants(exe):
                        continue
                    executables.append(exe)
                    try:
                        plans.append((exe, *self._plan(exe, options, objects)))
                    except Unavailable as reason:
                        exe.skip = str(reason)
                    except BuildError as error:
                        exe.error = str(error)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            # The files that hold a whole framework take longest: start with them.
            names = sorted(objects, key=lambda path: "main" not in objects[path][1])
            futures = {path: pool.submit(make, path, path.name, objects[path][0]) for path in names}
            links = {}
            for exe, parts, link in plans:
                def finish(exe=exe, parts=parts, link=link):
                    for library, command, key in self._libraries(exe):
                        make(library, key, lambda out, command=command: run(command + ["-o", str(out)]))
                    key = digest(link, *(p.name for p in parts), exe.subject.variants[exe.variant].get("debug"))
                    make(exe.path, key, lambda out: self._link(exe, link, out))
                try:
                    for part in parts:
                        futures[part].result()
                except BuildError as error:
                    exe.error = str(error)
                    continue
                links[exe] = pool.submit(finish)
            for exe, future in links.items():
                try:
                    future.result()
                except BuildError as error:
                    exe.error = str(error)
        return executables

    def _link(self, exe, link, out):
        run(link + ["-o", str(out)])
        debug = exe.subject.variants[exe.variant].get("debug")
        if debug == "separate":
            file = exe.folder / f"{exe.path.name}.debug"
            run(["objcopy", "--only-keep-debug", str(out), str(file)])
            run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={file}", str(out)])
        elif debug == "none":
            run(["objcopy", "--strip-debug", str(out)])
        elif debug:
            raise BuildError(f"{exe.subject.folder}: debug={debug}: 'separate' and 'none' are known")

    def _libraries(self, exe):
        """Shared libraries of the subject's own: path, command and key of each."""
        options = exe.subject.variants[exe.variant]
        compiler = COMPILERS[exe.cc][1 if exe.subject.lang == "c++" else 0]
        for name in shlex.split(options.get("shared", "")) + shlex.split(options.get("plugins", "")):
            source = exe.subject.folder / name
            command = [compiler, STANDARD[exe.subject.lang], "-g", f"-{exe.opt}", "-Wall", *shlex.split(options.get("cflags", "")),
                       "-fPIC", "-shared", f"-Wl,-soname,lib{source.stem}.so", str(source)]
            headers = [p.read_bytes() for p in exe.subject.headers]
            key = digest(self.version(compiler), shlex.join(command), source.read_bytes(), *headers)
            yield exe.folder / f"lib{source.stem}.so", command, key

    def _plan(self, exe, options, objects):
        subject = exe.subject
        cxx = subject.lang == "c++"
        compiler = COMPILERS[exe.cc][1 if cxx else 0]
        version = self.version(compiler)
        cflags, libs = shlex.split(options.get("cflags", "")), shlex.split(options.get("libs", ""))
        if "sources" in options:
            sources = [subject.folder / name for name in shlex.split(options["sources"])]
        else:
            apart = shlex.split(options.get("shared", "")) + shlex.split(options.get("plugins", ""))
            sources = [p for p in subject.sources if p.name not in apart]
        for name in shlex.split(options.get("shared", "")):
            libs = [f"-L{exe.folder}", f"-Wl,-rpath,{exe.folder}", f"-l{pathlib.Path(name).stem}", *libs]
        for what in ("pkg", "pkg-cflags"):
            if what in options:
                cflags += self.pkg_config("--cflags", options[what])
        if "pkg" in options:
            libs += self.pkg_config("--libs", options["pkg"])
        if "uses" in options:
            component = self.component(subject.framework, options["uses"])
            cflags, libs = component.get("cflags", []) + cflags, component.get("libs", []) + libs
            sources += component.get("sources", [])
        for header in (subject.header, options.get("needs")):
            if header:
                self.header(compiler, header, cflags)
        headers = [p.read_bytes() for p in subject.headers]
        parts = []
        for source in sources:
            command = [compiler, STANDARD[subject.lang], "-g", f"-{exe.opt}", "-Wall", *cflags, "-c", str(source)]
            key = digest(version, shlex.join(command), source.read_bytes(), *headers)
            path = self.folder / subject.name / "objects" / f"{source.stem}-{exe.cc}-{exe.opt}-{key}.o"
            objects[path] = (lambda out, command=command: run(command + ["-o", str(out)]), source.stem)
            parts.append(path)
        return parts, [compiler, *map(str, parts), *libs]


def main():
    parser = argparse.ArgumentParser(description="Build the subjects.")
    parser.add_argument("--build", default="build")
    parser.add_argument("--subjects", default=pathlib.Path(__file__).resolve().parent.parent / "subjects")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    subjects = subject_module.find_subjects(args.subjects, args.only)
    failed = False
    for exe in Builder(args.build, args.jobs).build(subjects, QUICK if args.quick else BUILDS):
        if exe.error:
            failed = True
            print(f"FAIL {exe.path}\n{exe.error}")
        elif exe.skip:
            print(f"SKIP {exe.path}: {exe.skip}")
        else:
            print(exe.path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
