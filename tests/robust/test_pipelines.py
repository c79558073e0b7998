#!/usr/bin/env python3
"""The examples of examples/ci, each run as far as that is possible without its service: all commands, in their order.

Usage: test_pipelines.py --polygraph PROGRAM

What installs (apt-get, curl, sudo) is replaced by programs that only note how they were called.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import runner

TOP = Path(__file__).resolve().parents[2]
EXAMPLES = TOP / "examples/ci"
POLYGRAPH = None
VICTIM = "retry/starts_with_three fails after retry/limit_can_be_set"


def blocks(text, key):
    """The lines of each `key: |` of a YAML file, without their indentation."""
    found = []
    for match in re.finditer(rf"^( *)(?:- )?{key}: \|\n((?:\1 +.*\n?)+)", text, re.M):
        found.append([line.strip() for line in match[2].splitlines()])
    return found


def items(text, job, key):
    """The list under `key:` of a job of a GitLab file; aliases (`*name`) stand for the list of their anchor."""
    section = re.search(rf"^{job}:\n((?: +.*\n?)+)", text, re.M)[1]
    alias = re.search(rf"^  {key}: \*(\w+)$", section, re.M)
    if alias:
        return re.findall(r"^  - (.*)$", re.search(rf"&{alias[1]}\n((?:  - .*\n)+)", text)[1], re.M)
    return re.findall(r"^    - (.*)$", re.search(rf"^  {key}:\n((?:    - .*\n?)+)", section, re.M)[1], re.M)


class Pipelines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="polygraph-pipeline-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.project = self.folder / "project"
        shutil.copytree(EXAMPLES / "project", self.project)
        # As if it were installed under this prefix.
        lists = self.project / "CMakeLists.txt"
        lists.write_text(lists.read_text().replace("/usr/share/polygraph/cmake", str(TOP / "packaging/cmake")))
        tools = self.folder / "bin"
        tools.mkdir()
        for name in ("sudo", "apt-get", "curl"):
            (tools / name).write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.folder}/installed"\n')
            (tools / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{tools}:{Path(POLYGRAPH).parent}:{os.environ['PATH']}",
                            "POLYGRAPH_URL": "somewhere"}
        self.environment.pop("CMAKE_GENERATOR", None)

    def run_it(self, command, status=0, **environment):
        done = subprocess.run(["bash", "-e", "-c", command], cwd=self.project, env={**self.environment, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}")
        return done.stdout

    def test_github_actions(self):
        install, build, check = blocks((EXAMPLES / "github-actions.yml").read_text(), "run")
        self.run_it("\n".join(install + build))
        self.assertIn("sudo apt-get install -y cmake ninja-build libcmocka-dev ./polygraph.deb",
                      (self.folder / "installed").read_text())
        self.assertIn(VICTIM, self.run_it("\n".join(check), status=1))
        self.assertEqual(len(ElementTree.parse(self.project / "polygraph.xml").findall(".//failure")), 1)

    def test_github_matrix(self):
        text = (EXAMPLES / "github-matrix.yml").read_text()
        shares = re.search(r"share: \[(.*)\]", text)[1].split(", ")
        _, check, _, merge = blocks(text, "run")
        for share in shares:
            self.run_it("\n".join(check).replace("${{ matrix.share }}", share))
        self.assertIn(VICTIM, self.run_it("\n".join(merge), status=1))

    def test_gitlab(self):
        text = (EXAMPLES / "gitlab-ci.yml").read_text()
        total = int(re.search(r"parallel: (\d+)", text)[1])
        self.run_it("\n".join(items(text, "polygraph", "before_script")))
        for index in range(1, total + 1):
            self.run_it("\n".join(items(text, "polygraph", "script")), CI_NODE_INDEX=str(index), CI_NODE_TOTAL=str(total))
        self.assertIn(VICTIM, self.run_it("\n".join(items(text, "verdict", "script")), status=1))
        self.assertTrue((self.project / "polygraph.xml").exists())

    def known(self):
        """The findings as a baseline; then everything is fine."""
        text = self.run_it("polygraph check --format json build/retry_test", status=1)
        ids = re.findall(r'"id": "([\w-]+)"', text)
        with open(self.project / "known-findings.txt", "a") as file:
            file.writelines(f"{identity}\n" for identity in ids)

    def test_cmake_module(self):
        self.run_it("cmake -S . -B build && cmake --build build")
        self.assertIn("retry_test.polygraph", self.run_it("cd build && ctest -N -L polygraph"))
        self.assertIn("retry/starts_with_three", self.run_it("cd build && ctest -L polygraph --output-on-failure", status=8))
        self.run_it("cd build && ctest -LE polygraph")
        self.known()
        self.run_it("cd build && ctest -L polygraph")

    def test_cmake_module_without_polygraph(self):
        path = self.folder / "few"
        path.mkdir()
        out = self.run_it("cmake -S . -B build -DPOLYGRAPH_EXECUTABLE=POLYGRAPH_EXECUTABLE-NOTFOUND "
                          "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF "
                          "-DCMAKE_C_COMPILER=/usr/bin/cc -DCMAKE_MAKE_PROGRAM=$(command -v make)")
        self.assertIn("polygraph was not found: retry_test.polygraph is disabled", out)

    def test_cmake_module_refuses_what_it_does_not_know(self):
        lists = self.project / "CMakeLists.txt"
        text = lists.read_text()
        for wrong, message in (("retry_test TIME 3", "unknown argument"), ("no_such_target", "there is no target")):
            lists.write_text(text + f"polygraph_add_check({wrong})\n")
            self.assertIn(message, self.run_it("cmake -S . -B build", status=1))

    def test_meson(self):
        self.run_it("meson setup build && ninja -C build")
        self.assertIn("retry.polygraph", self.run_it("meson test -C build --suite polygraph", status=1))
        self.known()
        self.run_it("meson test -C build --suite polygraph")
        self.assertIn("no new problem (1 known) in 2 tests of 1 suite",
                      self.run_it("polygraph check --meson build --tests '!*.polygraph' --baseline known-findings.txt"))

    def test_pre_commit(self):
        text = (EXAMPLES / "pre-commit-config.yaml").read_text()
        entry = re.search(r"^ +entry: (.*)$", text, re.M)[1]
        self.run_it("cmake -S . -B build && cmake --build build")
        self.assertIn(VICTIM, self.run_it(entry, status=1))
        self.known()
        self.run_it(entry)
        if shutil.which("pre-commit"):
            (self.project / ".pre-commit-config.yaml").write_text(text)
            self.run_it("git init -q && git add -A && pre-commit run --all-files --hook-stage push polygraph")


def prepare(polygraph, _):
    global POLYGRAPH
    POLYGRAPH = polygraph


if __name__ == "__main__":
    sys.exit(runner.main("pipelines", prepare))
