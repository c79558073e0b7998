#!/usr/bin/env python3
"""Names of src/ stand alone, so that a breakpoint, a backtrace or a profile can be read without the file's name.

Usage: check_names.py

Two rules, for static functions too:
  - a function, and the tag of a struct, union or enum, is defined in one file only;
  - a function's name has at least two words: verb and noun (`walk_visit_node`), not `visit`.
Functions of the preloaded libraries marked `_export_` have the names of those they stand for and are left out, as are
functions that a macro defines.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NOISE = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.S | re.M
)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(?:_\w+_\s+)?(\w+)\s*$")
NOT_FUNCTIONS = {"if", "while", "for", "switch", "sizeof", "__attribute__", "alignas", "_printf_"}
LIBRARY_NAME = "_export_"
# Names of one word that everybody knows: the language's own, and the scope guards of base/macro.h.
GIVEN = {"main", "freep", "closep"}


def blank(match):
    """Comments, strings and directives, with their lines kept."""
    return re.sub(r"[^\n]", " ", match[0])


def function_name(head):
    """The name of the function that the text before a brace defines, or None."""
    depth = 0
    for match in re.finditer(r"[()]|(\w+)\s*(?=\((?!\*))|=", head):
        if match[1] and not depth and match[1] not in NOT_FUNCTIONS and not is_macro(match[1]):
            return match[1]
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "=" and not depth:
            return None
    return None


def is_macro(name):
    return name.isupper() or (name.startswith("_") and name.endswith("_"))


def definitions(text):
    """(kind, name, line) of what a source file defines; kind is "function" or "type"."""
    text = NOISE.sub(blank, text)
    outside = 0  # braces that are open and do not count: extern "C", namespace
    depth, begin = 0, 0
    for match in re.finditer(r"[{};]", text):
        head = text[begin : match.start()]
        if match[0] == "{":
            line = text.count("\n", 0, match.start()) + 1
            tag = TAG.search(head)
            if tag:
                yield "type", tag[1], line
            if depth == outside:
                if re.search(r"\bextern\s*$|\bnamespace\b[\w\s:]*$", head):
                    outside += 1
                elif not tag and LIBRARY_NAME not in head:
                    name = function_name(head)
                    if name:
                        yield "function", name, line
            depth += 1
        elif match[0] == "}":
            depth -= 1
            outside = min(outside, depth)
        begin = match.end()


def read_sources():
    """{(kind, name): [(path, line)]} over src/."""
    places = defaultdict(list)
    for path in sorted((TOP / "src").rglob("*")):
        if path.suffix in (".c", ".h", ".cc"):
            for kind, name, line in definitions(path.read_text()):
                places[kind, name].append((path.relative_to(TOP), line))
    return places


def find_problems(places):
    """One line for each name that breaks a rule."""
    problems = []
    for (kind, name), where in sorted(places.items(), key=lambda item: (-len(item[1]), item[0])):
        listed = ", ".join(f"{path}:{line}" for path, line in where)
        if len({path for path, _ in where}) > 1:
            problems.append(f"{kind} {name} is defined in {len(where)} places: {listed}")
        elif kind == "function" and "_" not in name.strip("_") and name not in GIVEN:
            problems.append(f"function {name} says nothing alone, name it verb and noun: {listed}")
    return problems


SELF_TEST = """
struct one { struct inner *x; enum { A, B } kind; };
struct only_declared;
static const struct one table[] = { { 1 }, };
/* static void in_comment(void) { } */
#define MAKE(x) \\
	static void in_macro(void) { }
static struct err *with_type(struct one *one, void (*back)(int a))
{
	if (x) { nested(1); } struct local { int a; };
	char c = '{', *s = "}";
}
_export_ int open(const char *path, int flags, ...)
{
}
extern "C" {
enum second { C };
_noreturn_ void _printf_(1, 2) with_attribute(int x) { }
}
static int (*table_of_pointers[])(void) = { a, b };
int last_one(void) __attribute__((cold)) { return f((struct one){ 1 }); }
"""
SELF_TEST_NAMES = ["one", "with_type", "local", "second", "with_attribute", "last_one"]


def test_self():
    """What is wrong with the check itself."""
    names = [name for _, name, _ in definitions(SELF_TEST)]
    problems = [] if names == SELF_TEST_NAMES else [f"self-test: found {names}, not {SELF_TEST_NAMES}"]
    two = [(Path("src/a/x.c"), 1), (Path("src/b/y.c"), 2)]
    same = [(Path("src/a/x.c"), 1), (Path("src/a/x.c"), 9)]
    for places, expected in (
        ({("function", "walk_visit"): two}, 1),
        ({("type", "layout"): two}, 1),
        ({("function", "walk_visit"): same}, 0),  # the two sides of an #if
        ({("function", "visit"): same}, 1),
        ({("type", "visit"): same, ("function", "main"): same}, 0),
    ):
        if len(find_problems(places)) != expected:
            problems.append(f"self-test: {places}: not {expected} problems")
    return problems


def main():
    places = read_sources()
    problems = test_self() + find_problems(places)
    for problem in problems:
        print(problem)
    print(f"{len(places)} names, {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
