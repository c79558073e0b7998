#!/usr/bin/env python3
"""The Debian package on a minimal Debian 12 made with debootstrap, used by an ordinary user; reproducible builds; the
container file.

Usage: debian.py [--work DIR] [--suite NAME] [--mirror URL]

Needs root, debootstrap and a Debian mirror. Makes the packages twice, from two copies of the sources at different places.
The container file's instructions are carried out in the same minimal system: there is no container engine here.
"""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402
from minimal import Checks, Debian, mirror, need, why_not  # noqa: E402

TOP = Path(__file__).resolve().parents[2]


class Container:
    """Carries out a container file, as far as it is used here, in a Debian instead of its base image."""

    def __init__(self, debian, context):
        self.debian, self.context = debian, context
        self.user, self.folder, self.entry, self.words = "0:0", "/", [], []

    def instructions(self, path):
        text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", path.read_text(), flags=re.M))
        return [line.split(None, 1) for line in text.splitlines() if line.strip()]

    def build(self, path):
        for word, rest in self.instructions(path):
            getattr(self, f"do_{word.lower()}")(rest)

    def root_path(self, path):
        return self.debian.root / path.lstrip("/")

    def do_from(self, image):
        if not image.startswith("debian:12"):
            raise SystemExit(f"container file: unexpected base image {image}")

    def do_copy(self, rest):
        glob, place = rest.split()
        self.root_path(place).mkdir(parents=True, exist_ok=True)
        for path in self.context.glob(glob):
            shutil.copy(path, self.root_path(place))

    def do_run(self, rest):
        done = self.debian.run("sh", "-c", rest)
        if done.returncode:
            raise SystemExit(f"container file: RUN {rest}\n{done.stdout}")

    def do_user(self, name):
        line = next(line for line in (self.debian.root / "etc/passwd").read_text().splitlines() if line.startswith(f"{name}:"))
        self.user = ":".join(line.split(":")[2:4])

    def do_workdir(self, path):
        self.folder = path
        self.root_path(path).mkdir(parents=True, exist_ok=True)

    def do_entrypoint(self, rest):
        self.entry = re.findall(r'"([^"]*)"', rest)

    def do_cmd(self, rest):
        self.words = re.findall(r'"([^"]*)"', rest)

    def start(self, *words):
        return self.debian.run(*self.entry, *(words or self.words), user=self.user, folder=self.folder)


def reproducible(work, checks):
    """Two builds at different places, one with another umask, locale and time zone."""
    found, source = [], TOP
    for name, environment in (("first", {}), ("second-with-a-longer-name", {"LC_ALL": "C", "TZ": "Asia/Tokyo"})):
        place = work / name
        shutil.rmtree(place, ignore_errors=True)
        need("git", "clone", "-q", source, place / "source")
        source = place / "source"  # the second is a copy of the first, whatever is committed meanwhile
        need(sys.executable, place / "source/packaging/package.py", "--output", place / "out",
             env={**os.environ, **environment}, umask=0o077 if environment else 0o022)
        found.append({path.name: path.read_bytes() for path in (place / "out").iterdir()})
    first, second = found
    checks.expect("two builds make packages of the same names", set(first) == set(second) and len(first) == 2, str(set(second)))
    for name in first:
        checks.expect(f"both make the same {name}", first[name] == second.get(name))
    return work / "first/out"


def use(debian, user, checks, where):
    """The examples of the README, by an ordinary user, on a suite that was built elsewhere."""
    folder = f"/srv/{where}"
    path = debian.root / folder.lstrip("/")
    path.mkdir(parents=True)
    example = TOP / "examples/settings"
    need("c++", "-std=c++17", "-g", "-o", path / "settings_test", example / "settings.cc", example / "settings_test.cc",
         "-l:libgtest.a", "-l:libgtest_main.a", "-lpthread")
    need("chown", "-R", user, path)
    done = debian.run("polygraph", "check", "./settings_test", user=user, folder=folder)
    checks.expect(f"{where}: check finds the victim and its polluter", done.returncode == 1 and
                  "Retry.GivesUpAfterThreeAttempts fails after Retry.LimitIsConfigurable" in done.stdout, done.stdout)
    identity = re.search(r"polygraph replay (order-\w+)", done.stdout)
    done = debian.run("polygraph", "replay", identity[1] if identity else "order", user=user, folder=folder)
    checks.expect(f"{where}: the finding replays", done.returncode == 1, done.stdout)
    done = debian.run("polygraph", "check", "--format", "html", "--output", "page.html", "./settings_test", user=user, folder=folder)
    page = (path / "page.html").read_text() if (path / "page.html").exists() else done.stdout
    checks.expect(f"{where}: the page has its pictures", "\\u003csvg" in page and "no_pictures\"" not in page, done.stdout)
    done = debian.run("polygraph", "--version", user=user)
    checks.expect(f"{where}: the version has its commit", re.match(r"polygraph [\d.]+ \(commit [0-9a-f]{12}\)\n$", done.stdout),
                  done.stdout)


def find_jdk():
    return need(sys.executable, TOP / "src/jvm/find_jdk.py").strip()


def installed(work, packages, options, checks):
    debian = Debian(work, options.suite, options.mirror)
    package = next(packages.glob("*.deb"))
    shutil.copy(package, debian.root / "tmp")
    done = debian.run("sh", "-c", f"apt-get -qq update && apt-get -qq install -y --no-install-recommends /tmp/{package.name}")
    checks.expect("the package installs with its dependencies", done.returncode == 0, done.stdout)
    done = debian.run("sh", "-c", "dpkg --verify polygraph && ldd /usr/bin/polygraph")
    checks.expect("what is installed is what was packed, and finds its libraries", done.returncode == 0 and
                  "not found" not in done.stdout, done.stdout)
    # Built where there is a JDK.
    java = [f"usr/lib/polygraph/{name}" for name in ("libpolygraph-jvm.so", "polygraph-jvm.jar", "polygraph-boot.jar")]
    if not find_jdk():
        java = []
        print("not looked at: what Java suites need, for there is no JDK here")
    for path in ("usr/share/man/man1/polygraph-check.1.gz", "usr/share/bash-completion/completions/polygraph",
                 "usr/share/zsh/vendor-completions/_polygraph", "usr/share/fish/vendor_completions.d/polygraph.fish",
                 "usr/share/doc/polygraph/copyright", *java):
        # Minimal systems leave out manual pages and documents; what matters is that the package has them.
        checks.expect(f"the package has {path}", f"./{path}" in need("dpkg-deb", "--contents", package))
    somebody = debian.add_user("somebody", 1234)
    use(debian, somebody, checks, "installed")
    done = debian.run("sh", "-c", "apt-get -qq purge -y polygraph && ! test -e /usr/bin/polygraph && ! test -e /usr/lib/polygraph")
    checks.expect("the package leaves nothing behind", done.returncode == 0, done.stdout)

    archive = next(packages.glob("*.tar.gz"))
    need("tar", "-xf", archive, "-C", debian.root / "opt")
    (debian.root / "usr/local/bin/polygraph").symlink_to(f"/opt/{archive.name.removesuffix('-x86_64.tar.gz')}/bin/polygraph")
    use(debian, somebody, checks, "tarball")


def contained(work, packages, options, checks):
    container = Container(Debian(work, options.suite, options.mirror), packages)
    container.build(TOP / "packaging/Containerfile")
    done = container.start()
    checks.expect("the container shows its help", done.returncode == 0 and "polygraph" in done.stdout, done.stdout)
    use(container.debian, container.user, checks, "container")


def main():
    parser = argparse.ArgumentParser(description="The packages, on a minimal Debian.")
    parser.add_argument("--work", type=Path, default=TOP / "build-package" / "test")
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--mirror", default=mirror())
    options = parser.parse_args()
    fresh.start()
    checks = Checks()
    reason = why_not(options.mirror)
    if reason:
        checks.skip(reason)
        return checks.close()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    packages = reproducible(work, checks)
    installed(work, packages, options, checks)
    contained(work, packages, options, checks)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
