"""Subjects: small test programs that say in their own source what must be found in them.

A subject is a folder. Its directives are comments in its source files:

    //@ VERB ARGUMENT... KEY=VALUE...        (an argument or value with spaces: "in quotes, with C escapes")

Several may stand on one line, each begun by //@. A directive speaks of the line it stands on; one on a line without
code speaks of the next line that has some. Verbs:

    subject framework=F lang=c|c++        once a subject; header=H: skip the subject where <H> is not installed;
                                          packages="P…": Debian packages that ./dev installs for it
    variant NAME                          one way to build it: cflags= libs= sources= (default: every source file)
                                          pkg= pkg-cflags= (pkg-config) uses= (a component, see build.py)
                                          builds=gcc-O0,clang-O2 (default: all of them); the files named in
                                          shared= and plugins= become libFILE.so next to the program, linked with
                                          it and not; debug=separate|none; needs=H: skip it where <H> is not installed
    test NAME OUTCOME                     `polygraph list` gives NAME with this file and line; it ends as OUTCOME
                                          after=OTHER:OUTCOME: ends so when OTHER ran before it in the same process
                                          ends: a plain run of the framework does not survive it (crash and timeout
                                          imply that)
                                          hidden: the framework's own list leaves it out; ours may, too
    fails NAME                            the place of NAME's (first) failed assertion, or of its crash, is here
    subset GLOB...                        what the check of --tests selects (default: see test_subjects.py)
    pollutes, clean, first, run, says     what `polygraph pollution` must find: see test_pollution.py
    victim, brittle, non-idempotent, cleaned, random, order, run, says
                                          what `polygraph order` must find: see test_order.py
    assumption, space, met, unmet, random, run, says
                                          what `polygraph choices` must find: see test_choices.py
    late, early, run, says                what `polygraph schedules` must find: see test_schedules.py
    mend, leftover, unmended              what `polygraph repair` must find: see test_repair.py
    points, restore                       in points.* and restore.*, which are programs of their own: see
                                          robust/test_points.py and restore/frameworks.py

To add a verb, list it in VERBS; whoever needs it reads Subject.directives.
"""

import pathlib
import re

OUTCOMES = ("pass", "fail", "skip", "crash", "timeout")
VERBS = ("subject", "variant", "test", "fails", "subset", "pollutes", "clean", "first", "run", "says",
         "victim", "brittle", "non-idempotent", "cleaned", "random", "order", "assumption", "space", "met", "unmet",
         "late", "early", "points", "restore", "mend", "leftover", "unmended", "unproven",
         "suggested")
SOURCES = (".c", ".cc", ".cpp")
HEADERS = (".h", ".hpp")
APART = ("points", "restore")  # programs of their own, in the folder of a framework's subject

_TOKEN = re.compile(r'\s*(?:([A-Za-z][\w-]*)=)?("(?:\\.|[^"\\])*"|\S+)')
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|.)")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


class SubjectError(Exception):
    """A directive that cannot be understood; says where."""


def _unquote(token):
    if not token.startswith('"') or len(token) < 2:
        return token

    def char(match):
        code = match.group(1)
        if code[0] == "x":
            return chr(int(code[1:], 16))
        if code in _SIMPLE:
            return _SIMPLE[code]
        if code[0] in "01234567":
            return chr(int(code, 8))
        return code

    return _ESCAPE.sub(char, token[1:-1])


class Directive:
    def __init__(self, verb, args, options, file, line):
        self.verb, self.args, self.options, self.file, self.line = verb, args, options, file, line

    def where(self):
        return f"{self.file}:{self.line}"

    def error(self, text):
        return SubjectError(f"{self.where()}: {self.verb}: {text}")


class Test:
    """An expected test: its name, its place, how it ends, and where it fails."""

    def __init__(self, name, outcome, file, line):
        self.name, self.outcome, self.file, self.line = name, outcome, file, line
        self.after = {}  # name of another test -> outcome when that one ran before
        self.ends = outcome in ("crash", "timeout")
        self.hidden = False
        self.failure = None  # (file, line)


class Subject:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.name = self.folder.name
        self.sources = sorted(p for p in self.folder.iterdir() if p.suffix in SOURCES and p.stem not in APART)
        # Those of the folder above are shared by the subjects in it.
        self.headers = sorted(p for f in (self.folder.parent, self.folder) for p in f.iterdir() if p.suffix in HEADERS)
        own = [p for p in self.headers if p.parent == self.folder]
        self.directives = [d for p in self.sources + own for d in parse_file(p)]
        self._interpret()

    def of(self, verb):
        return [d for d in self.directives if d.verb == verb]

    def _interpret(self):
        heads = self.of("subject")
        if len(heads) != 1:
            raise SubjectError(f"{self.folder}: one 'subject' directive is wanted, {len(heads)} found")
        options = heads[0].options
        for key in ("framework", "lang"):
            if key not in options:
                raise heads[0].error(f"'{key}=' is missing")
        self.framework, self.lang, self.header = options["framework"], options["lang"], options.get("header")
        self.variants = {d.args[0]: d.options for d in self.of("variant")}
        if not self.variants:
            raise heads[0].error("no 'variant' directive")
        self.subset = [glob for d in self.of("subset") for glob in d.args]

        self.tests = {}
        for d in self.of("test"):
            if len(d.args) < 2 or d.args[1] not in OUTCOMES:
                raise d.error(f"NAME and one of {', '.join(OUTCOMES)} are wanted")
            if d.args[0] in self.tests:
                raise d.error(f"'{d.args[0]}' is there already")
            test = self.tests[d.args[0]] = Test(d.args[0], d.args[1], d.file, d.line)
            for flag in d.args[2:]:
                if flag not in ("ends", "hidden"):
                    raise d.error(f"unknown flag '{flag}'")
                setattr(test, flag, True)
            if "after" in d.options:
                other, _, outcome = d.options["after"].rpartition(":")
                if outcome not in OUTCOMES:
                    raise d.error("after=OTHER:OUTCOME is wanted")
                test.after[other] = outcome
        for d in self.of("fails"):
            test = self.tests.get(d.args[0] if d.args else None)
            if not test:
                raise d.error("no such test")
            if test.failure:
                raise d.error(f"'{test.name}' has its place already (the first failed assertion counts)")
            test.failure = (d.file, d.line)
        for test in self.tests.values():
            for other in test.after:
                if other not in self.tests:
                    raise SubjectError(f"{test.file}:{test.line}: after={other}: no such test")


def parse_file(path):
    """The directives of one file, each with the line it speaks of."""
    found, waiting = [], []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code, *directives = re.split(r"\s*//@\s+", text) if "//@" in text else (text,)
        has_code = bool(code.strip()) and not code.lstrip().startswith("//")
        here = [_parse(d, path, number) for d in directives]
        found += here
        if has_code:
            for d in waiting:
                d.line = number
            waiting = []
        else:
            waiting += here
    return found


def _parse(text, path, number):
    words = text.split(None, 1)
    verb, rest = (words + [""])[:2] if words else ("", "")
    directive = Directive(verb, [], {}, path, number)
    if verb not in VERBS:
        raise SubjectError(f"{path}:{number}: unknown verb '{verb}'")
    at = 0
    rest = rest.rstrip()
    while at < len(rest):
        match = _TOKEN.match(rest, at)
        if not match:
            raise directive.error(f"cannot be read from '{rest[at:]}' on")
        key, value = match.groups()
        if key:
            directive.options[key] = _unquote(value)
        else:
            directive.args.append(_unquote(value))
        at = match.end()
    return directive


def find_subjects(folder, only=()):
    """All subjects below a folder: each folder with a 'subject' directive in a source file."""
    subjects = []
    for path in sorted(pathlib.Path(folder).iterdir()):
        if not path.is_dir() or (only and path.name not in only):
            continue
        if any(p.suffix in SOURCES and "//@ subject" in p.read_text(encoding="utf-8") for p in path.iterdir()):
            subjects.append(Subject(path))
    return subjects
