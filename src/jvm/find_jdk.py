#!/usr/bin/env python3
"""Where a JDK is, and the jars of the frameworks that the runner is compiled against.

Prints two lines, the JDK's folder and a class path, or nothing where there is no JDK or a framework is missing. $JAVA_HOME
comes first, then Debian's JDKs, the newest of those that are long supported.
"""

import os
from pathlib import Path

JARS = (
    "junit4",
    "hamcrest",
    "junit-jupiter-api",
    "junit-platform-commons",
    "junit-platform-engine",
    "junit-platform-launcher",
    "opentest4j",
    "apiguardian-api",
    "testng",
)
PLACES = ("/usr/share/java",)


def find_jdk():
    folders = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    folders += sorted(Path("/usr/lib/jvm").glob("java-*-openjdk-*"))
    for folder in folders:
        if (folder / "include" / "jvmti.h").exists() and (folder / "bin" / "javac").exists():
            return folder
    return None


def find_jars():
    paths = []
    for name in JARS:
        there = [Path(place) / f"{name}.jar" for place in PLACES if (Path(place) / f"{name}.jar").exists()]
        if not there:
            return None
        paths.append(str(there[0]))
    return ":".join(paths)


def main():
    jdk, jars = find_jdk(), find_jars()
    if jdk and jars:
        print(jdk)
        print(jars)


main()
