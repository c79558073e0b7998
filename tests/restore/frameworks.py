#!/usr/bin/env python3
"""Lists tests/subjects/NAME/restore.* that can be built here, for meson.build: name, source and flags, apart by tabs.

How to build one is a directive in its source: //@ restore [header=H] [pkg=P] [flags=…]. It is left out where <H> is
not installed or pkg-config does not know P.
"""
import os
import pathlib
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "harness"))
import build  # noqa: E402 (it lies in another folder)
import frameworks  # noqa: E402
import parts  # noqa: E402
import subject  # noqa: E402


def main():
    builder = build.Builder("none")
    for name in frameworks.names():
        source = frameworks.extra(name, "restore")
        for directive in subject.parse_file(source) if source else ():
            options = directive.options
            flags = shlex.split(options.get("flags", ""))
            try:
                if "pkg" in options:
                    flags += builder.pkg_config("--cflags", options["pkg"])
                    flags += builder.pkg_config("--libs", options["pkg"])
                if "header" in options:
                    builder.header("g++", options["header"], [])
            except parts.Unavailable:
                continue
            print(name, os.path.relpath(source, HERE), shlex.join(flags), sep="\t")


if __name__ == "__main__":
    main()
