#!/usr/bin/env python3
"""Builds the Java projects of docs/real-suites-java.md with Debian's JDK and jars, each as it was at one revision.

Usage: java_projects.py --work FOLDER [--from REPOSITORY=PATH]... [NAME]...

A project is cloned from GitHub, or from PATH where there is a clone of it. Afterwards FOLDER/NAME has "cp", the class path,
target/classes and target/test-classes, and "without", patterns of classes with slow tests, which is what `./dev bench jvm --projects FOLDER` and the commands in the
document take. As root, missing packages are installed.

To add a project: one entry in PROJECTS.
"""

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/harness"))
from apt_sources import installed  # noqa: E402

JARS = Path("/usr/share/java")
BASICS = ["openjdk-17-jdk-headless", "junit4", "libhamcrest-java", "git"]


@dataclass
class Project:
    name: str
    repository: str
    revision: str
    needs: list                 # Debian packages
    jars: list                  # below /usr/share/java
    folder: str = "."           # of the module
    main: list = field(default_factory=lambda: ["src/main/java"])
    test: str = "src/test/java"
    encoding: str = "UTF-8"
    options: list = field(default_factory=lambda: ["--release", "8"])
    without: list = field(default_factory=list)     # files that do not compile; say why in `note`
    resources: list = field(default_factory=list)   # folders of sources that have resources among them
    annotations: list = field(default_factory=list) # that newer libraries lack: made here, empty
    slow: list = field(default_factory=list)        # patterns of classes that the project's own build leaves out
    after: object = None        # called with the project's folder and class path
    note: str = ""


def compile_joda_zones(folder, class_path):
    """As its pom.xml does: the zones are compiled by the project itself."""
    target = folder / "target/classes/org/joda/time/tz/data"
    target.mkdir(parents=True, exist_ok=True)
    source = folder / "src/main/java/org/joda/time/tz/src"
    names = ["africa", "antarctica", "asia", "australasia", "europe", "northamerica", "southamerica", "pacificnew",
             "etcetera", "backward", "systemv"]
    subprocess.run(["java", "-Dorg.joda.time.DateTimeZone.Provider=org.joda.time.tz.UTCProvider", "-cp", class_path,
                    "org.joda.time.tz.ZoneInfoCompiler", "-src", source, "-dst", target, *names],
                   check=True, stdout=subprocess.DEVNULL)


JUNIT4 = ["junit4.jar", "hamcrest.jar"]
JUNIT5 = ["junit-jupiter.jar", "junit-jupiter-api.jar", "junit-jupiter-params.jar", "junit-jupiter-engine.jar",
          "junit-platform-commons.jar", "junit-platform-engine.jar", "junit-platform-launcher.jar", "opentest4j.jar",
          "apiguardian-api.jar"]
EASYMOCK = ["easymock.jar", "objenesis.jar", "byte-buddy.jar", "byte-buddy-agent.jar"]

PROJECTS = [
    Project("commons-cli", "apache/commons-cli", "a0dcd6a0", [], JUNIT4, encoding="ISO-8859-1"),
    Project("scribe-java", "scribejava/scribejava", "0311a435", ["libcommons-codec-java"],
            [*JUNIT4, "commons-codec.jar"]),
    Project("commons-lang", "apache/commons-lang", "fad946a1", ["libeasymock-java", "libcommons-io-java"],
            [*JUNIT4, *EASYMOCK, "commons-io.jar"], encoding="ISO-8859-1"),
    Project("joda-time", "JodaOrg/joda-time", "07002501", ["libjoda-convert-java"], [*JUNIT4, "joda-convert.jar"],
            resources=["src/main/java", "src/test/java"], after=compile_joda_zones),
    Project("jsoup", "jhy/jsoup", "jsoup-1.15.3",
            ["junit5", "libgoogle-gson-java", "libjetty9-java", "libservlet-api-java", "libjsr305-java"],
            [*JUNIT5, "gson.jar", "jsr305.jar", "servlet-api.jar",
             *(f"jetty9-{part}.jar" for part in ("server", "servlet", "http", "io", "util", "security"))],
            slow=["*IT"]),
    Project("httpclient", "apache/httpcomponents-client", "ccb26e1f3",
            ["libhttpcore-java", "libmockito-java", "libcommons-logging-java", "libcommons-codec-java"],
            [*JUNIT4, "httpcore.jar", "commons-logging.jar", "commons-codec.jar", "mockito-core.jar", "byte-buddy.jar",
             "byte-buddy-agent.jar", "objenesis.jar"],
            folder="httpclient", main=["src/main/java", "src/main/java-deprecated"], without=["TestRedirectExec.java"],
            annotations=[f"org.apache.http.annotation.{name}" for name in
                         ("GuardedBy", "Immutable", "NotThreadSafe", "ThreadSafe")],
            note="httpcore of Debian is newer, and has none of these annotations; the file left out needs an older Mockito"),
]


def run(words, **options):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                          **options)
    if done.returncode:
        sys.exit(f"java_projects: {' '.join(map(str, words))[:300]} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def install(packages):
    missing = [name for name in packages if not installed(name)]
    if missing and os.geteuid():
        sys.exit(f"java_projects: packages are missing; as root, run: apt-get install --no-install-recommends {' '.join(missing)}")
    if missing:
        run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing])


def clone(project, source, folder):
    if not (folder / ".git").is_dir():
        run(["git", "clone", "-q", source, folder])
    run(["git", "checkout", "-q", project.revision], cwd=folder)


def compile_tree(project, sources, target, class_path):
    target.mkdir(parents=True, exist_ok=True)
    files = sorted(path for root in sources for path in root.rglob("*.java") if path.name not in project.without)
    run(["javac", "-g", "-nowarn", "-proc:none", "-encoding", project.encoding, *project.options, "-cp", class_path, "-d",
         target, *files])


def copy_resources(root, target):
    for path in root.rglob("*"):
        to = target / path.relative_to(root)
        if path.is_file() and path.suffix != ".java" and not to.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())


def annotation_sources(project, folder):
    for name in project.annotations:
        package, simple = name.rsplit(".", 1)
        path = folder / "target/annotations" / (name.replace(".", "/") + ".java")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"package {package};\npublic @interface {simple} {{ String value() default \"\"; }}\n")
    return [folder / "target/annotations"] if project.annotations else []


def build(project, source, work):
    install([*BASICS, *project.needs])
    tree = work / "sources" / project.name
    clone(project, source, tree)
    folder, here = (tree / project.folder).resolve(), work / project.name
    jars = [JARS / name for name in project.jars]
    absent = [str(jar) for jar in jars if not jar.exists()]
    if absent:
        sys.exit(f"java_projects: {project.name}: no {', '.join(absent)}")
    target = folder / "target"
    libraries = ":".join(map(str, jars))
    compile_tree(project, [*(folder / path for path in project.main), *annotation_sources(project, folder)], target / "classes", libraries)
    compile_tree(project, [folder / project.test], target / "test-classes", f"{target / 'classes'}:{libraries}")
    for kind, to in (("main", "classes"), ("test", "test-classes")):
        copy_resources(folder / f"src/{kind}/resources", target / to)
    for path in project.resources:
        copy_resources(folder / path, target / ("classes" if path in project.main else "test-classes"))
    class_path = f"{target / 'classes'}:{libraries}"
    if project.after:
        project.after(folder, class_path)
    (folder / "cp").write_text(class_path + "\n")
    if project.slow:
        (folder / "without").write_text("\n".join(project.slow) + "\n")
    here.unlink(missing_ok=True)
    here.symlink_to(folder)
    print(f"{project.name}: {len(list((target / 'test-classes').rglob('*.class')))} classes of tests in {here}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--from", dest="sources", action="append", default=[], metavar="REPOSITORY=PATH")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    unknown = set(options.names) - {project.name for project in PROJECTS}
    if unknown or not all(re.match(r"[^=/]+/[^=/]+=.", word) for word in options.sources):
        parser.error(f"no project {', '.join(sorted(unknown))}" if unknown else "--from takes OWNER/NAME=PATH")
    sources = dict(word.split("=", 1) for word in options.sources)
    options.work = options.work.resolve()
    for project in PROJECTS:
        if not options.names or project.name in options.names:
            build(project, sources.get(project.repository, f"https://github.com/{project.repository}"), options.work)


if __name__ == "__main__":
    main()
