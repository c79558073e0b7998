#!/usr/bin/env python3
"""Compiles the runner's classes into a jar: the same bytes for the same sources.

Usage: make_jar.py JDK CLASSPATH JAR SOURCE...
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# Of class files: what the oldest VM that is supported reads. The interfaces are those of its library.
RELEASE = "11"
# What others find by the name of an interface of theirs (java.util.ServiceLoader).
SERVICES = {"META-INF/services/org.junit.jupiter.api.extension.Extension": b"polygraph.JUnit5Listing\n"}


def compile_sources(jdk, class_path, sources, folder):
    words = [f"{jdk}/bin/javac", "--release", RELEASE, "-Xlint:all,-options,-processing", "-Werror", "-proc:none"]
    words += ["-g", "-encoding", "UTF-8", "-cp", class_path, "-d", folder]
    subprocess.run(words + sources, check=True)


def main():
    jdk, class_path, jar, *sources = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        compile_sources(jdk, class_path, sources, folder)
        files = {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*.class")}
    files.update(SERVICES)
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as out:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            out.writestr(entry, files[name])


main()
