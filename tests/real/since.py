#!/usr/bin/env python3
"""check --since on a real build: are all tests selected that execute what changed?

Usage: since.py --polygraph PROGRAM --work FOLDER [--build NAME] [--only WORD]

Builds are Debian source packages with dozens of test executables of cmocka: libyang and libssh. Each change goes to one
source file or header and keeps its lines. The build that polygraph sees is `-g -O2`. The other opinion comes from
a second build, `-O0 -finstrument-functions`, and from nothing of polygraph's:

- which functions each test calls: since_recorder.c;
- which functions changed: those whose machine code in an object file differs after the change, or that refer to a
  variable whose content does.

A test that calls such a function must be selected (complete). The table shows how many tests were selected, how many
had to be, and how many call any function of a changed file: --since counts files as a whole.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "harness"))
from apt_sources import Apt  # noqa: E402

# A declaration, since many projects want these first.
NOP = 'int since_changed __attribute__((unused)) = ({ __asm__ volatile ("nop"); 0; });'


@dataclass
class Build:
    package: str
    needs: list             # Debian packages
    options: list           # for cmake
    programs: str           # glob of test executables below the build
    changes: dict           # title: (file, function whose body gets an instruction), or (file, old text, new text)


BUILDS = {
    "libyang": Build("libyang2", ["libcmocka-dev", "libpcre2-dev", "pkg-config"], ["-DENABLE_TESTS=ON"], "tests/utest_*", {
        "a parser of one format": ("src/parser_lyb.c", "lyb_parse_node_header"),
        "a printer of one format": ("src/printer_tree.c", "tree_print_module"),
        "differences of data trees": ("src/diff.c", "lyd_diff_apply_all"),
        "paths": ("src/path.c", "ly_path_compile_predicate_leafref"),
        "a type behind a table of pointers": ("src/plugins_types/ipv6_address.c", "lyplg_type_print_ipv6_address"),
        "an extension behind a table": ("src/plugins_exts/schema_mount.c", "schema_mount_parse"),
        "validation": ("src/validation.c", "lyd_validate_unique"),
        "a low-level function that all need": ("src/hash_table.c", "lyht_find"),
        "a table of data": ("src/plugins_types/binary.c", '6789+/"', '6789/+"'),
        "an internal header": ("src/xpath.h", "#define LYXP_SET_SIZE_START 4", "#define LYXP_SET_SIZE_START 8"),
        "inside one test": ("tests/utests/types/int8.c", "test_data_lyb"),
        "a helper of one test file": ("tests/utests/basic/test_context.c", "test_imp_clb"),
        "the header of all tests": ("tests/utests/utests.h", "ly_ctx_new(NULL, 0,", "ly_ctx_new(NULL, LY_CTX_NO_YANGLIBRARY,"),
    }),
    "libssh": Build("libssh", ["libcmocka-dev", "libssl-dev", "zlib1g-dev"],
                    ["-DUNIT_TESTING=ON", "-DWITH_GSSAPI=OFF", "-DWITH_EXAMPLES=OFF"], "tests/unittests/torture_*", {
        "buffers": ("src/buffer.c", "ssh_buffer_add_u16"),
        "compression": ("src/gzip.c", "gzip_compress"),
        "the configuration file": ("src/config.c", "ssh_config_parse_line"),
        "known hosts": ("src/knownhosts.c", "ssh_known_hosts_read_entries"),
        "base64": ("src/base64.c", "_base64_to_bin"),
        "filter of packets": ("src/packet.c", "ssh_packet_incoming_filter"),
        "a list of texts": ("src/token.c", "ssh_tokenize"),
        "one kind of keys": ("src/pki_ed25519_common.c", "pki_ed25519_key_cmp"),
        "a table of data": ("src/external/blowfish.c", "0xd1310ba6", "0xd1310ba7"),
        "an internal header": ("include/libssh/priv.h", "define MAX_BUF_SIZE 4096", "define MAX_BUF_SIZE 8192"),
        "what all tests share": ("tests/torture.c", "torture_isdir"),
        "inside one test": ("tests/unittests/torture_list.c", "torture_ssh_list_new"),
    }),
}


def run(*words, cwd=None, env=None, check=True):
    done = subprocess.run([str(word) for word in words], cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True,
                          text=True, errors="replace")
    if check and done.returncode:
        raise SystemExit(f"since: {' '.join(map(str, words))}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


class Elf:
    """Sections, symbols and relocations of a 64-bit file."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        at, = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size) for i in range(count)]
        self.names = [self.text(names, section[0]) for section in self.sections]

    def text(self, section, offset):
        start = self.sections[section][4] + offset
        return self.data[start:self.data.index(b"\0", start)].decode(errors="replace")

    def content(self, number):
        section = self.sections[number]
        return b"" if section[1] == 8 else self.data[section[4]:section[4] + section[5]]

    def symbols(self):
        """[(name, info, section, value, size)] of the symbol table, with names of sections where there are none."""
        for section in self.sections:
            if section[1] != 2:
                continue
            for at in range(section[4], section[4] + section[5], 24):
                name, info, _, where, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
                text = self.text(section[6], name)
                if info & 15 == 3 and where < len(self.names):
                    text = self.names[where]
                yield text, info, where, value, size

    def relocations(self):
        """{section: [(offset, symbol number, addend)]}"""
        found = {}
        for section in self.sections:
            if section[1] == 4:
                for at in range(section[4], section[4] + section[5], 24):
                    offset, info, addend = struct.unpack_from("<QQq", self.data, at)
                    found.setdefault(section[7], []).append((offset, info >> 32, addend))
        return found


def names_of(path, unit):
    """What an object file, compiled with a section for each function and variable, holds:
    {name: (is code, content with what it refers to, names referred to)}; names of one file are (file, name)."""
    elf = Elf(path)
    symbols = list(elf.symbols())
    relocations = elf.relocations()

    def key(symbol):
        name, info, where = symbol[0], symbol[1], symbol[2]
        return name if info >> 4 != 0 or where == 0 else (unit, name)

    owners = {}
    for symbol in symbols:
        if symbol[1] & 15 in (1, 2, 6) and 0 < symbol[2] < len(elf.sections):
            owners.setdefault(symbol[2], symbol)
    result = {}
    for number, symbol in owners.items():
        content, refs = [elf.content(number)], set()
        for offset, target, addend in relocations.get(number, []):
            to = symbols[target]
            if to[1] & 15 == 3 and to[2] in owners and owners[to[2]][1] & 15 != 3:
                to = (*owners[to[2]][:2], to[2], 0, 0)
            elif to[1] & 15 == 3:           # a text without a name: what it says
                text = elf.content(to[2])[max(addend + (4 if elf.sections[number][2] & 4 else 0), 0):]
                content.append(text[:text.find(b"\0") + 1])
                continue
            content.append(repr((offset, key(to), addend)).encode())
            refs.add(key(to))
        result[key(symbol)] = (bool(elf.sections[number][2] & 4), b"|".join(content), refs)
    return result


class Oracle:
    def __init__(self, kind, source, folder):
        self.kind, self.folder = kind, folder
        flags = "-g -O0 -w -finstrument-functions -ffunction-sections -fdata-sections"
        if not (folder / "build.ninja").exists():
            configure(kind, source, folder, flags)
        run("ninja", cwd=folder)
        self.recorder = folder / "recorder.so"
        run("cc", "-w", "-g", "-O1", "-shared", "-fPIC", "-o", self.recorder, HERE / "since_recorder.c", "-ldl", "-lpthread")
        self.objects = [line.split(":")[0] for line in run("ninja", "-t", "targets", "all", cwd=folder).stdout.splitlines()
                        if line.split(":")[0].endswith(".c.o")]

    def calls(self):
        """{(executable, test): names of functions}"""
        result = {}
        for program in sorted(path for path in self.folder.glob(self.kind.programs) if path.is_file() and os.access(path, os.X_OK)):
            out = self.folder / "calls"
            out.unlink(missing_ok=True)
            run(program, cwd=program.parent, check=False, env={"LD_PRELOAD": str(self.recorder), "SINCE_CALLS": str(out)})
            names, functions = {}, None
            for line in out.read_text().splitlines() if out.exists() else []:
                what, rest = line.split(" ", 1)
                if what == "T":
                    functions = result.setdefault((program.name, rest), set())
                    continue
                path, offset = rest.rsplit(" ", 1)
                if path not in names:
                    names[path] = addresses(path)
                functions.add(names[path].get(int(offset, 16), "?"))
        return result

    def made(self):
        run("ninja", *self.objects, cwd=self.folder)
        result = {}
        for name in self.objects:
            unit = Path(name).name.removesuffix(".o")
            result[name] = names_of(self.folder / name, unit)
        return result


def addresses(path):
    """{address: name} of functions; of names that one file has, (file, name)."""
    unit, result = None, {}
    for name, info, where, value, _ in Elf(path).symbols():
        if info & 15 == 4:
            unit = name
        elif info & 15 == 2 and where:
            result[value] = name if info >> 4 else (unit, name)
    return result


def changed_functions(before, after):
    """Names whose content differs, and functions that refer to such data, through other data, too."""
    bad = {name for object_ in after for name in set(before[object_]) | set(after[object_])
           if before[object_].get(name, (0, 0))[:2] != after[object_].get(name, (0, 0))[:2]}
    data = {name for content in after.values() for name, (code, _, _) in content.items() if name in bad and not code}
    more = True
    while more:
        more = {name for content in after.values() for name, (code, _, refs) in content.items()
                if not code and name not in data and refs & data}
        data |= more
    return bad | {name for content in after.values() for name, (code, _, refs) in content.items() if code and refs & data}


def configure(kind, source, folder, flags):
    folder.mkdir(parents=True, exist_ok=True)
    run("cmake", "-G", "Ninja", "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=None", *kind.options,
        env={"CFLAGS": flags})


def edit(path, change):
    text = path.read_text()
    if len(change) == 1:
        new, n = re.subn(rf"(?m)^([^\n;(]*\b{change[0]}\([^;{{]*?\{{)", lambda match: match.group(1) + " " + NOP, text, count=1)
    else:
        new, n = text.replace(*change, 1), text.count(change[0])
    if not n:
        raise SystemExit(f"since: {path}: nothing to change for {change}")
    path.write_text(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--polygraph", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--build", choices=list(BUILDS), default="libyang")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    polygraph, work, kind = options.polygraph.resolve(), options.work.resolve() / options.build, BUILDS[options.build]
    work.mkdir(parents=True, exist_ok=True)
    source = next((path.parent for path in (work / "source").glob("*/CMakeLists.txt")), None)
    if not source:
        apt = Apt(work / "apt", work / "apt.log")
        apt.install(["cmake", "ninja-build", *kind.needs])
        source = apt.fetch(kind.package, work / "source")[1]
    if not (source / ".git").exists():
        run("git", "init", "-q", ".", cwd=source)
        run("git", "add", "-A", cwd=source)
        run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base", cwd=source)
    run("git", "checkout", "-q", "--", ".", cwd=source)
    build = work / "build"
    if not (build / "build.ninja").exists():
        configure(kind, source, build, "-g -O2")
    oracle = Oracle(kind, source, work / "oracle")
    calls, before = oracle.calls(), oracle.made()
    units = {Path(name).name.removesuffix(".o"): set(content) for name, content in before.items()}
    print(f"{len(calls)} tests in {len({program for program, _ in calls})} executables were seen calling functions\n")
    print("| change | file | selected | of | had to be | in the file | missed |\n| --- | --- | --- | --- | --- | --- | --- |")
    failed = 0
    for what, change in kind.changes.items():
        if options.only not in what:
            continue
        edit(source / change[0], change[1:])
        after = oracle.made()
        run("ninja", cwd=build)
        functions = changed_functions(before, after)
        plan = json.loads(run(polygraph, "check", "--ctest", build, "--dry-run", "--since", "HEAD", "--format", "json",
                              cwd=source).stdout)
        selected = {(Path(test["suite"]).name, test["name"]) for test in plan["tests"]}
        needed = {test for test, called in calls.items() if called & functions}
        unit = units.get(Path(change[0]).name, set())
        near = {test for test, called in calls.items() if called & unit}
        processes = {test for suite, test in selected if suite == "processes"}
        chosen = {test for test in calls if test in selected or test[0] in processes}
        missed = needed - chosen
        failed += bool(missed) or not functions
        print(f"| {what} | `{change[0]}` | {len(chosen)} | {len(calls)} | {len(needed)} | {len(near) if unit else ''} | {len(missed)} |",
              flush=True)
        for test in sorted(missed)[:5]:
            print(f"missed: {test}: {sorted(map(str, calls[test] & functions))[:3]}")
        if not functions:
            print("nothing changed in the other build")
        run("git", "checkout", "-q", "--", ".", cwd=source)
    print(f"\n{len(kind.changes) - failed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
