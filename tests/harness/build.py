"""Builds subjects: variants x compilers x optimisation levels, into BUILD/subjects/NAME/VARIANT-CC-OPT/NAME.

Objects are kept under a name made of everything that goes into them, so that variants share them and nothing is
compiled twice. A component (`uses=`) is something built or fetched for a variant: see COMPONENTS.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile

import subject as subject_module

COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}
BUILDS = [(cc, opt) for cc in COMPILERS for opt in ("O0", "O2")]
QUICK = [("gcc", "O0"), ("clang", "O2")]
STANDARD = {"c": "-std=gnu11", "c++": "-std=c++17"}


class Unavailable(Exception):
    """Something outside of the repository is not there: a reason to skip."""


class BuildError(Exception):
    """A command failed; carries what it said."""


class Executable:
    """One built subject, or the reason why there is none (skip: outside; error: a fault)."""

    def __init__(self, subject, variant, cc, opt, folder):
        self.subject, self.variant, self.cc, self.opt = subject, variant, cc, opt
        self.build = f"{cc}-{opt}"
        self.label = f"{variant}-{cc}-{opt}"
        self.folder = folder
        self.path = folder / subject.name
        self.skip = self.error = None


def run(command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise BuildError(f"{shlex.join(map(str, command))}\n{done.stdout.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()[:24]


def make(path, key, build):
    """Calls build(temporary path) unless path was made with the same key before."""
    stamp = path.with_name(path.name + ".key")
    if path.exists() and stamp.exists() and stamp.read_text() == key:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    build(fresh)
    os.replace(fresh, path)
    stamp.write_text(key)
    return path


# Components: each returns {"cflags": [...], "libs": [...], "sources": [...]} for a variant that says uses=NAME.

def gtest_shared(builder):
    """GoogleTest as a stripped shared library, from the sources that the distribution installs."""
    source = pathlib.Path("/usr/src/googletest/googletest")
    if not (source / "src/gtest-all.cc").exists():
        raise Unavailable("the sources of GoogleTest are not installed (Debian: googletest)")
    folder = builder.folder / "components/gtest-shared"
    key = digest((source / "src/gtest.cc").read_bytes(), builder.version("g++"))
    base = ["g++", "-std=c++17", "-O2", "-fPIC", "-pthread", "-shared", "-s", f"-I{source}", f"-I{source}/include"]
    make(folder / "libgtest.so", key,
         lambda out: run(base + ["-Wl,-soname,libgtest.so", str(source / "src/gtest-all.cc"), "-o", str(out)]))
    make(folder / "libgtest_main.so", key,
         lambda out: run(base + ["-Wl,-soname,libgtest_main.so", str(source / "src/gtest_main.cc"),
                                 f"-L{folder}", "-lgtest", "-o", str(out)]))
    return {"cflags": [f"-I{source}/include", "-DGTEST_LINKED_AS_SHARED_LIBRARY=1"],
            "libs": [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lgtest_main", "-lgtest", "-pthread"]}


def check_shared(builder):
    """Check as a stripped shared library: Debian has the position-independent archive only."""
    folder = builder.folder / "components/check-shared"
    command = ["gcc", "-shared", "-s", "-Wl,-soname,libcheck.so", "-Wl,--whole-archive", "-lcheck_pic",
               "-Wl,--no-whole-archive", "-lsubunit", "-lrt", "-lm", "-pthread", "-o"]
    try:
        make(folder / "libcheck.so", digest(command, builder.version("gcc")), lambda out: run(command + [str(out)]))
    except BuildError as error:
        if "cannot find -lcheck_pic" in str(error):
            raise Unavailable("libcheck_pic.a is not installed (Debian: check)") from error
        raise
    return {"libs": [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lcheck", "-pthread"]}


def unity(builder):
    source = fetch_unity(builder)
    return {"cflags": [f"-I{source}"], "sources": [source / "unity.c"]}


def unity_shared(builder):
    source = fetch_unity(builder)
    folder = builder.folder / "components/unity-shared"
    command = ["gcc", "-O2", "-fPIC", "-shared", "-s", "-Wl,-soname,libunity.so", str(source / "unity.c"), "-o"]
    make(folder / "libunity.so", digest(command, (source / "unity.c").read_bytes(), builder.version("gcc")),
         lambda out: run(command + [str(out)]))
    return {"cflags": [f"-I{source}"], "libs": [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lunity"]}


COMPONENTS = {"gtest-shared": gtest_shared, "check-shared": check_shared,
              "unity": unity, "unity-shared": unity_shared}


def fetch_unity(builder):
    """Unity has no package of its own; it comes inside the source package cjson."""
    target = builder.folder / "components/unity"
    if not (target / "src/unity.c").exists():
        with tempfile.TemporaryDirectory() as temporary:
            for archive in fetch_source("cjson", pathlib.Path(temporary)):
                if ".orig.tar" not in archive.name:
                    continue
                target.mkdir(parents=True, exist_ok=True)
                with tarfile.open(archive) as tar:
                    for member in tar:
                        _, inside, rest = member.name.partition("/tests/unity/")
                        if inside and rest.startswith(("src/", "examples/unity_config.h")) and member.isfile():
                            (target / rest).parent.mkdir(parents=True, exist_ok=True)
                            (target / rest).write_bytes(tar.extractfile(member).read())
        if not (target / "src/unity.c").exists():
            raise Unavailable("the source package cjson holds no tests/unity/src/unity.c")
    return target / "src"


def fetch_source(package, folder):
    """The files of a Debian source package, from wherever this machine gets its packages."""
    if not shutil.which("apt-get"):
        raise Unavailable(f"source package {package}: no apt-get here")
    parts = folder / "parts"
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    etc = pathlib.Path("/etc/apt")
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        lines = path.read_text(errors="replace").splitlines()
        if path.suffix == ".sources":
            lines = ["Types: deb-src" if line.lower().startswith("types:") else line for line in lines]
        else:
            lines = ["deb-src" + line[3:] for line in lines if line.startswith(("deb ", "deb\t"))]
        (parts / path.name).write_text("\n".join(lines) + "\n")
    options = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": parts, "Dir::State::Lists": folder / "lists",
               "Dir::Cache": folder / "cache", "APT::Sandbox::User": "root" if os.geteuid() == 0 else ""}
    apt = ["apt-get", "-qq"] + [f"-o{key}={value}" for key, value in options.items() if value]
    said = ""
    for command in (["update"], ["source", "--download-only", package]):
        done = subprocess.run(apt + command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = done.stdout.decode(errors="replace").strip()
    files = sorted(folder.glob(f"{package}_*"))
    if not files:
        last = said.splitlines()[-1] if said else "apt-get said nothing"
        raise Unavailable(f"source package {package} cannot be fetched: {last}")
    return files


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
            if options["uses"] not in COMPONENTS:
                raise BuildError(f"{subject.folder}: uses={options['uses']}: no such component")
            component = self.once(("component", options["uses"]), lambda: COMPONENTS[options["uses"]](self))
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
