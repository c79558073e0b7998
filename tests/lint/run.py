#!/usr/bin/env python3
"""All rules of the code, one part after the other, with the sum as the closing line; `./dev lint` configures and calls this."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from counts import Counts  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
LINT = TOP / "tests" / "lint"


def tracked(*globs):
    names = subprocess.run(["git", "ls-files", "-z", *globs], cwd=TOP, check=True, capture_output=True, text=True).stdout
    return [name for name in names.split("\0") if name and (TOP / name).is_file()]


def main():
    counts = Counts(TOP / "build" / "logs")
    code = tracked("src/*.[ch]", "src/*.cc", "tests/unit/*.[ch]", "tests/fuzz/*.[ch]")
    shell = tracked("dev", ".ci/run", "examples/demo", "*.sh")
    # Both compilers, with their warnings as errors.
    for folder in ("build", "build-clang"):
        counts.run(f"compile {folder}", ["ninja", "-C", TOP / folder, "-k", "0"])
    counts.run("clang-format", ["clang-format", "--dry-run", "-Werror", *code], cwd=TOP, again="./dev format")
    counts.run("sources", [sys.executable, LINT / "check_sources.py"])
    counts.run("rooms", [sys.executable, LINT / "check_rooms.py", "--build", TOP / "build"])
    counts.run("rooms check", [sys.executable, LINT / "test_check_rooms.py"])
    counts.run("names", [sys.executable, LINT / "check_names.py"])
    counts.run("log", [sys.executable, LINT / "check_log.py"])
    counts.run("text", [sys.executable, LINT / "check_text.py"])
    counts.run("text check", [sys.executable, LINT / "test_check_text.py"])
    counts.run("attributes", [sys.executable, LINT / "check_attributes.py"], again="tests/lint/check_attributes.py --fix")
    counts.run("models", [sys.executable, LINT / "check_models.py"], again="tests/lint/check_models.py --fix")
    counts.run("shellcheck", ["shellcheck", *shell], cwd=TOP)
    counts.run("pyflakes", ["pyflakes3", *tracked("*.py")], cwd=TOP)
    counts.run("clang-tidy", [sys.executable, LINT / "check_tidy.py", TOP / "build-clang"], timeout=3600)
    return counts.close()


if __name__ == "__main__":
    sys.exit(main())
