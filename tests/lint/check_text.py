#!/usr/bin/env python3
"""What tracked text may not contain: paths of one machine, hosts of package registries and mirrors, links to nowhere.

Usage: check_text.py

A line that has to name such a thing, because it is about it, says `lint: path` or `lint: host`.
"""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

TOP = Path(__file__).resolve().parents[2]

# Home folders, checkouts and job folders: what stands here came from somebody's machine. (The brackets keep the
# patterns from finding themselves.)
PATHS = re.compile(r"(?<![\w.$}{])/(?:[h]ome/\w|[U]sers/\w|[r]oot/|[w]ork/|[f]arm/|[b]uilds?/\w+/|[t]mp/bash)")
HOSTS = re.compile(
    r"\b(?:[\w-]+\.)*(?:deb\.[d]ebian\.org|ftp[\w.]*\.[d]ebian\.org|[a]rchive\.ubuntu\.com|[s]ecurity\.ubuntu\.com"
    r"|[s]napshot\.debian\.org|[p]ypi\.org|[f]iles\.pythonhosted\.org|[r]egistry\.npmjs\.org|[c]rates\.io|[d]ocker\.io"
    r"|[g]hcr\.io|[q]uay\.io|[p]roxy\.golang\.org|[r]epo1?\.maven\.[\w.]+)\b"
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)", re.M)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        path = TOP / name
        if not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            yield path, data.decode(errors="replace")


def anchor(heading):
    """The anchor that common Markdown renderers give a heading."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def anchors(path):
    text = FENCE.sub("", path.read_text())
    return {anchor(heading) for heading in re.findall(r"^#+\s+(.*?)\s*#*$", text, re.M)}


def check_links(path, text, problems):
    for match in LINK.finditer(FENCE.sub("", text)):
        target = unquote(match[1] or match[2])
        if re.match(r"[a-z]+:", target):
            continue
        name, _, fragment = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        where = path.relative_to(TOP)
        if not file.exists() or TOP not in (file, *file.parents):
            problems.append(f"{where}: link to {target}: no such file here")
        elif fragment and file.suffix == ".md" and fragment not in anchors(file):
            problems.append(f"{where}: link to {target}: no such heading")


def main():
    problems = []
    files = 0
    for path, text in tracked():
        files += 1
        where = path.relative_to(TOP)
        for number, line in enumerate(text.splitlines(), 1):
            if PATHS.search(line) and "lint: path" not in line:
                problems.append(f"{where}:{number}: names a path of one machine: {line.strip()[:100]}")
            if HOSTS.search(line) and "lint: host" not in line:
                problems.append(f"{where}:{number}: names a registry or mirror: {line.strip()[:100]}")
        if path.suffix == ".md":
            check_links(path, text, problems)
    for problem in problems:
        print(problem)
    print(f"{files} files, {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
