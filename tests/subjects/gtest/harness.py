"""What the harness has to know of GoogleTest: see tests/harness/frameworks.py."""

import json
import pathlib
import re

from parts import Unavailable, digest, make, run, source_files
from plain import Framework, Result, first_place, place, read_file


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


def compile_framework(builder, name, flags, folder, *sources):
    """Objects of the framework, with its main(), as projects build what they bundle."""
    main = builder.folder / f"components/{name}/main.cc"
    make(main, digest(MAIN), lambda out: out.write_text(MAIN))
    base = ["g++", "-std=c++17", "-pthread", *flags, f"-I{folder}", "-w", "-c"]
    objects = []
    for source in (main, *sources):
        key = digest(base, source.read_bytes(), builder.version("g++"))
        objects.append(make(main.with_name(source.stem + ".o"), key,
                            lambda out, source=source: run(base + [str(source), "-o", str(out)])))
    return {"cflags": [f"-I{folder}"], "libs": [*map(str, objects), "-pthread"]}


MAIN = """#include <gtest/gtest.h>
int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
"""


def gtest_old(builder):
    """1.11 in one file, as c-ares bundles it: g++ -O2 leaves the beginning of TestInfo::Run() in its caller."""
    source = source_files(builder.folder, "c-ares", "test/gmock-1.11.0/") / "test/gmock-1.11.0"
    whole = source / "gmock-gtest-all.cc"
    guard = "GOOGLETEST_INCLUDE_GTEST_GTEST_SPI_H_"
    spi = re.search(rf"^#ifndef {guard}$.*?^#endif.*{guard}$", whole.read_text(), re.M | re.S)
    if not spi:
        raise Unavailable("the GoogleTest that c-ares bundles has no gtest-spi.h")
    text = "#pragma once\n" + spi.group(0)
    make(source / "gtest/gtest-spi.h", digest(text), lambda out: out.write_text(text))
    return compile_framework(builder, "gtest-old", ["-O2", "-g"], source, whole)


def gtest_new(builder):
    """1.16, from the sources of another release of Debian."""
    source = source_files(builder.folder, "googletest", "googletest/include/", "googletest/src/",
                          release="trixie") / "googletest"
    return compile_framework(builder, "gtest-new", ["-O0", "-g", f"-I{source}"], source / "include",
                             source / "src/gtest-all.cc")


def gtest_lto(builder):
    """With link-time optimisation, which inlines TestSuite::Run() and TestInfo::Run() into their callers."""
    source = pathlib.Path("/usr/src/googletest/googletest")
    if not (source / "src/gtest-all.cc").exists():
        raise Unavailable("the sources of GoogleTest are not installed (Debian: googletest)")
    built = compile_framework(builder, "gtest-lto", ["-O2", "-g", "-flto", f"-I{source}"], source / "include",
                              source / "src/gtest-all.cc")
    return {"cflags": [*built["cflags"], "-flto"], "libs": [*built["libs"], "-flto", "-O2"]}


COMPONENTS = {"gtest-shared": gtest_shared, "gtest-old": gtest_old, "gtest-new": gtest_new, "gtest-lto": gtest_lto}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        return ["--gtest_output=json:report.json",
                "--gtest_filter=" + (":".join(wanted) if len(wanted) == 1 else "*-" + ":".join(left_out))]

    def read(self, run, cwd, exe):
        results = {}
        report = read_file(cwd, "report.json")
        for suite in json.loads(report)["testsuites"] if report else []:
            for test in suite["testsuite"]:
                failures = test.get("failures", [])
                if failures:
                    outcome = "fail"
                else:
                    outcome = "pass" if test["result"] == "COMPLETED" else "skip"
                results[f"{suite['name']}.{test['name']}"] = Result(
                    outcome, place(test["file"], test["line"]) if "file" in test else None,
                    first_place(failures[0]["failure"]) if failures else None)
        return results


def groups(name):
    return [name.rsplit(".", 1)[0]]
