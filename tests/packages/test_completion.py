#!/usr/bin/env python3
"""What the shells complete, asked from the shells themselves: bash, zsh and fish.

Usage: test_completion.py --polygraph PROGRAM

A shell that is not installed is skipped.
"""

import argparse
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402

POLYGRAPH = None
BASH = r"""
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_polygraph
printf '%s\n' "${COMPREPLY[@]}"
"""


def script(shell):
    return subprocess.run([POLYGRAPH, "completion", shell], check=True, stdout=subprocess.PIPE, text=True).stdout


def commands():
    text = subprocess.run([POLYGRAPH, "help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"^  ([a-z]+) +\S", text, re.M)


def long_options(command):
    text = subprocess.run([POLYGRAPH, "help", command], check=True, stdout=subprocess.PIPE, text=True).stdout
    return set(re.findall(r"^ {2,6}(?:-\w(?: [A-Z-]+)?, )?(--[a-z-]+)", text, re.M))


class Shell:
    """What all shells must answer alike; subclasses say how one is asked."""

    shell = None

    def setUp(self):
        if not shutil.which(self.shell):
            self.skipTest(f"{self.shell} is not installed")
        folder = tempfile.TemporaryDirectory(prefix="polygraph-completion-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "unit_tests").touch()
        (self.folder / "builds").mkdir()
        self.script = self.folder / ".script"
        self.script.write_text(script(self.shell))

    def test_commands(self):
        self.assertIn("pollution", self.complete("polygraph", "poll"))

    def test_options_of_the_command(self):
        self.assertIn("--color", self.complete("polygraph", "check", "--col"))
        self.assertIn("--list-models", self.complete("polygraph", "choices", "--list-m"))
        self.assertNotIn("--list-models", self.complete("polygraph", "order", "--list-m"))

    def test_options_without_command_are_those_of_check(self):
        self.assertIn("--budget", self.complete("polygraph", "--budg"))

    def test_values(self):
        self.assertIn("always", self.complete("polygraph", "check", "--color", "al"))

    def test_frameworks(self):
        self.assertIn("gtest", self.complete("polygraph", "run", "--framework", "gt"))

    def test_folders(self):
        self.assertTrue({"builds", "builds/"} & set(self.complete("polygraph", "check", "--ctest", "bui")))

    def test_ids(self):
        """replay and repair are offered what there is to replay, also in front of options."""
        (self.folder / "state.c").write_text("#include <stdlib.h>\nint state;\nvoid test_zero(void) { if (state) abort(); }\n"
                                             "void test_sets(void) { state = 1; }\n"
                                             "int main(void) { test_zero(); test_sets(); return 0; }\n")
        subprocess.run(["cc", "-g", "-O0", "-o", "state_tests", "state.c"], cwd=self.folder, check=True)
        subprocess.run([POLYGRAPH, "order", "-q", "./state_tests"], cwd=self.folder, check=False, stdout=subprocess.DEVNULL)
        known, = subprocess.run([POLYGRAPH, "replay", "--list", "-q"], cwd=self.folder, check=True, stdout=subprocess.PIPE,
                                text=True).stdout.split()
        for command in ("replay", "repair"):
            self.assertEqual(self.complete(POLYGRAPH, command, "ord"), [known])
        self.assertIn("--gdb", self.complete(POLYGRAPH, "replay", known, "--gd"))

    def test_executable(self):
        self.assertIn("unit_tests", self.complete("polygraph", "order", "uni"))


class Bash(Shell, unittest.TestCase):
    shell = "bash"

    def complete(self, *words):
        done = subprocess.run(["bash", "-c", BASH, "bash", self.script, *words], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.stderr, "")
        return [word for word in done.stdout.split("\n") if word]

    def test_every_option_of_every_command(self):
        for command in commands():
            with self.subTest(command):
                self.assertEqual(set(self.complete("polygraph", command, "--")), long_options(command))

    def test_value_after_equals_sign(self):
        self.assertEqual(self.complete("polygraph", "check", "--color", "=", "al"), ["always"])
        self.assertEqual(self.complete("polygraph", "check", "--color", "="), ["auto", "always", "never"])

    def test_short_option_with_value(self):
        self.assertIn("unit_tests", self.complete("polygraph", "check", "-o", "uni"))

    def test_arguments_of_the_executable_are_files(self):
        self.assertEqual(self.complete("polygraph", "check", "./unit_tests", "--col"), [])

    def test_is_clean(self):
        self.assertEqual(subprocess.run(["bash", "-n", self.script]).returncode, 0)


class Fish(Shell, unittest.TestCase):
    shell = "fish"

    def complete(self, *words):
        line = " ".join(words)
        done = subprocess.run(["fish", "--no-config", "-c", f"source .script; complete -C '{line}'"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "HOME": str(self.folder)})
        self.assertEqual(done.stderr, "")
        return [entry.split("\t")[0] for entry in done.stdout.split("\n") if entry]


class Zsh(Shell, unittest.TestCase):
    """zsh completes only in its line editor, so it gets a terminal."""

    shell = "zsh"

    def complete(self, *words):
        """The last word of the line after completion; what is ambiguous stays as it is."""
        functions = self.folder / ".functions"
        functions.mkdir(exist_ok=True)
        shutil.copy(self.script, functions / "_polygraph")
        (self.folder / ".zshrc").write_text(
            "PS1=; fpath=($PWD/.functions $fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep\n"
            # The line as it is then, between marks that nobody types.
            "asked() { zle complete-word; print -r -- \"<\"\"<$BUFFER>\"\">\" >$PWD/.answer.new; mv .answer.new .answer }\n"
            "zle -N asked; bindkey '^I' asked; touch .ready\n")
        answer = self.folder / ".answer"
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-i"], {**os.environ, "TERM": "dumb", "ZDOTDIR": str(self.folder)})
        try:
            self.assertTrue(self.comes(terminal, self.folder / ".ready"))
            os.write(terminal, (" ".join(words) + "\t").encode())
            self.assertTrue(self.comes(terminal, answer))
            line = answer.read_text()
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            os.close(terminal)
            answer.unlink(missing_ok=True)
            (self.folder / ".ready").unlink(missing_ok=True)
        return line.strip().removeprefix("<<").removesuffix(">>").rstrip("=").split()[-1:]

    def comes(self, terminal, path):
        """Whether the file appears; what is printed meanwhile is taken away."""
        def look():
            if select.select([terminal], [], [], 0)[0]:
                os.read(terminal, 65536)
            return path.exists()
        return fresh.wait_for(look)

    def test_is_clean(self):
        self.assertEqual(subprocess.run(["zsh", "-n", self.script]).returncode, 0)


class Unknown(unittest.TestCase):
    def test_shell(self):
        for words, text in ((["tcsh"], "there is no completion for 'tcsh'"), ([], "which shell?"),
                            (["bash", "zsh"], "'completion' takes one shell")):
            done = subprocess.run([POLYGRAPH, "completion", *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, "")


def main():
    global POLYGRAPH
    parser = argparse.ArgumentParser(description="What shells complete.")
    parser.add_argument("--polygraph", required=True)
    options, rest = parser.parse_known_args()
    POLYGRAPH = os.path.abspath(options.polygraph)
    fresh.start()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
