"""What the harness has to know of Catch2: see tests/harness/frameworks.py."""

import re

from parts import digest, make, run, source_files
from plain import Framework, Result, parse_xml, place


def catch2_library(builder):
    """3.x with its main(), from the one source file that another release of Debian has of it."""
    source = source_files(builder.folder, "catch2", "extras/", release="trixie") / "extras"
    folder = builder.folder / "components/catch2-library"
    base = ["g++", "-std=c++17", "-O1", "-g", "-w", f"-I{source}", "-c", str(source / "catch_amalgamated.cpp"), "-o"]
    key = digest(base, (source / "catch_amalgamated.cpp").read_bytes(), builder.version("g++"))
    library = make(folder / "catch.o", key, lambda out: run(base + [str(out)]))
    include = "#include <catch_amalgamated.hpp>\n"
    make(folder / "include/catch2/catch.hpp", digest(include), lambda out: out.write_text(include))
    return {"cflags": [f"-I{folder}/include", f"-I{source}"], "libs": [str(library)]}


COMPONENTS = {"catch2-library": catch2_library}


class Plain(Framework):
    def arguments(self, exe, wanted, left_out):
        def quoted(name):
            return '"' + re.sub(r'(["\\,\[])', r"\\\1", name) + '"'
        if len(wanted) == 1:
            return ["-r", "xml", quoted(wanted[0])]
        return ["-r", "xml", "".join("~" + quoted(name) for name in left_out)]

    def read(self, run, cwd, exe):
        results = {}
        root = parse_xml(run.out)
        for case in root.iter("TestCase") if root is not None else []:
            overall = case.find("OverallResult")
            if overall is None:
                continue
            failure = None
            for element in case.iter():
                if element.tag in ("Exception", "Failure", "FatalErrorCondition") or (
                        element.tag == "Expression" and element.get("success") == "false"):
                    failure = place(element.get("filename"), element.get("line"))
                    break
            success = overall.get("success") == "true"
            results[case.get("name")] = Result("pass" if success else "fail",
                                               place(case.get("filename"), case.get("line")),
                                               None if success else failure)
        return results

    def run_one(self, exe, name):
        # 2.13 has no way to spell a name with a backslash on its command line.
        return None if "\\" in name else super().run_one(exe, name)
