#!/usr/bin/env python3
"""Rules for text: no paths of one machine, no hosts of package registries, no broken links, short lines, plain English.

A line that has to name such a path or host says `lint: path` or `lint: host`. In Markdown:

- a line has at most 100 columns. A row of a table may be longer, but a cell has at most 80;
- none of the phrases of tests/lint/phrases.txt occurs, except in code, nor in the strings of src/;
- links lead to a file and heading that exist. So do files of this tree that are named as code and, in the architecture,
  functions and structures.

Text between marks such as `<!-- models: begin ... -->` and `<!-- models: end -->` is generated, and may be wider.
"""

import bisect
import itertools
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
GENERATED = re.compile(r"^<!-- (\w+): begin.*?^<!-- \1: end -->", re.M | re.S)
INDENTED = re.compile(r"(?:\A|\n[ \t]*\n)((?:(?: {4}|\t)(?![ \t]*(?:[-*+]|\d+\.) ).*(?:\n|\Z)|[ \t]*\n)+)")
NAMED_FILE = re.compile(r"`((?!build|\S*NAME)\w+/(?:[\w.-]+/)*(?:[\w-]+\.\w+)?)`")
NAMED_CODE = re.compile(r"`(\w+\(\))`|`(struct \w+)`")
CELL = re.compile(r"(?<!\\)\|")
BREAK = re.compile(r"\n[ \t]*(?:\n|(?=\||#|[ \t]*(?:[-*+]|\d+\.) ))")
LINE_COLUMNS = 100
CELL_COLUMNS = 80
# A comment, a character, or a string: whichever begins first.
C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.S)


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


def check_paths(path, text, problems):
    """Files of this tree that a document names as code: `src/room/file.c`, `room/file.h`, `tests/folder/`."""
    where = path.relative_to(TOP)
    rooms = {folder.name for folder in (TOP / "src").iterdir() if folder.is_dir()}
    for match in NAMED_FILE.finditer(blank(FENCE, text)):
        first = match[1].split("/")[0]
        if first not in rooms and not (TOP / first).is_dir():
            continue
        if not (TOP / match[1]).exists() and not (TOP / "src" / match[1]).exists():
            number = text.count("\n", 0, match.start()) + 1
            problems.append(f"{where}:{number}: names {match[1]}: no such file here")


def check_names(path, text, problems):
    """Functions and structures that the architecture names: `walk_start()`, `struct walk`."""
    code = "\n".join(file.read_text(errors="replace") for file in (TOP / "src").rglob("*.[ch]"))
    words = set(re.findall(r"\w+(?=\()|struct \w+", code))
    for match in NAMED_CODE.finditer(blank(FENCE, text)):
        name = (match[1] or match[2]).removesuffix("()")
        if name not in words:
            number = text.count("\n", 0, match.start()) + 1
            problems.append(f"{path.relative_to(TOP)}:{number}: names {name}, which src/ does not have")


def blank(pattern, text):
    """The text with what matches replaced by spaces: offsets and line numbers stay."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def check_width(where, text, problems):
    for number, line in enumerate(blank(GENERATED, text).splitlines(), 1):
        line = line.rstrip()
        if len(line) <= LINE_COLUMNS:
            continue
        if not line.startswith("|"):
            problems.append(f"{where}:{number}: {len(line)} columns, at most {LINE_COLUMNS}: {line.strip()[:60]}")
            continue
        for cell in map(str.strip, CELL.split(line)):
            if len(cell) > CELL_COLUMNS:
                problems.append(f"{where}:{number}: a cell of {len(cell)} columns, at most {CELL_COLUMNS}: {cell[:60]}")


def phrases():
    """The list as pairs of an expression and the better wording."""
    for line in (TOP / "tests" / "lint" / "phrases.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            words, _, better = line.partition(" => ")
            # A capital letter in the words themselves, not in an escape such as \\S.
            flags = 0 if re.search(r"(?<!\\)[A-Z]", words) else re.I
            yield re.compile(words, flags), better


def prose(text):
    """Paragraphs, list items and table cells of a Markdown text, each with its offset."""
    for pattern in (GENERATED, FENCE, INDENTED, re.compile(r"<!--.*?-->", re.S), re.compile(r"`[^`]+`")):
        text = blank(pattern, text)
    start = 0
    for match in [*BREAK.finditer(text), None]:
        end = match.start() if match else len(text)
        block = text[start:end]
        cut = CELL.finditer(block) if block.lstrip().startswith("|") else ()
        inner = 0
        for bar in [*cut, None]:
            stop = bar.start() if bar else len(block)
            piece = block[inner:stop]
            lead = re.match(r"\s*(?:(?:[-*+]|\d+\.)\s+|#+\s+)?", piece).end()
            yield start + inner + lead, piece[lead:]
            inner = stop + 1
        start = match.end() if match else end


def strings(text):
    """The strings of a C source, adjacent ones joined, each with its offset."""
    parts, begin, end = [], 0, 0
    for token in C_TOKEN.finditer(text):
        if token[0][0] != '"':
            continue
        # Adjacent: nothing but white space, continued lines and macros such as PRIu64 in between.
        if parts and not re.fullmatch(r"(?:\s|\\\n|PRI\w+)*", blank(C_TOKEN, text[end:token.start()])):
            yield begin, "".join(parts)
            parts = []
        if not parts:
            begin = token.start()
        parts.append(re.sub(r"\\[nt]", " ", token[0][1:-1]))
        end = token.end()
    if parts:
        yield begin, "".join(parts)


def check_phrases(where, text, pieces, problems):
    for offset, piece in pieces:
        # One space for any white space; where each word begins in the text.
        words = [*re.finditer(r"\S+", piece)]
        line = " ".join(word[0] for word in words)
        begins = [0, *itertools.accumulate(len(word[0]) + 1 for word in words)]
        for pattern, better in PHRASES:
            for match in pattern.finditer(line):
                word = words[bisect.bisect(begins, match.start()) - 1]
                number = text.count("\n", 0, offset + word.start()) + 1
                problems.append(f'{where}:{number}: "{match[0].lstrip(".;: ")}": write: {better}')


PHRASES = list(phrases())


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
            check_paths(path, text, problems)
            if where.name == "architecture.md":
                check_names(path, text, problems)
            check_width(where, text, problems)
            check_phrases(where, text, prose(text), problems)
        elif where.parts[0] == "src" and path.suffix in (".c", ".h", ".cc"):
            check_phrases(where, text, strings(text), problems)
    for problem in problems:
        print(problem)
    print(f"{files} files, {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
