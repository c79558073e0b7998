"""The tables of docs/real-suites.md about `polygraph pollution`: fresh findings, and what people judged of their roots.

judged_roots.toml has the judgements. What PolDet's authors count (a reasonable test could observe it through the API)
is apart from what is merely left changed.
"""

import collections
import fnmatch
import math
import re
import tomllib
from pathlib import Path

SEVERITIES = ("high", "medium", "low")
FILE = Path(__file__).with_name("judged_roots.toml")
# PolDet (2015): 26 projects.
PAPER = {"tests": 6105, "reported": 324, "real": 194, "ratio": 4.50}


class Judgement:
    def __init__(self, entry):
        self.package, self.roots, self.files = entry["package"], entry["roots"], entry.get("files")
        self.what, self.why = entry["what"], entry["why"]
        self.real, self.observable, self.act = entry["real"], entry["observable"], entry["act"]
        self.shown = entry.get("shown") or ", ".join(f"`{root}`" for root in self.roots)

    def fits(self, package, finding):
        file = (finding.get("declared") or {}).get("file") or ""
        return (self.package == package and any(fnmatch.fnmatchcase(finding["root"], root) for root in self.roots)
                and (not self.files or any(fnmatch.fnmatchcase(file, pattern) for pattern in self.files)))


def judgements():
    with open(FILE, "rb") as file:
        return [Judgement(entry) for entry in tomllib.load(file)["root"]]


def judge(known, package, finding):
    """The first that fits; None: nobody looked at it yet."""
    return next((one for one in known if one.fits(package, finding)), None)


def is_observable(known, package, finding):
    """Files always; variables as people said, or if another test was seen to read them."""
    if finding["where"] == "file":
        return True
    found = judge(known, package, finding)
    return found.observable if found else bool(finding.get("readers"))


def yes(value):
    return "yes" if value else "no"


def rows_of(known, package, findings):
    """Rows of the table of findings: (judgement or None, root, its findings)."""
    groups = collections.defaultdict(list)
    for program, finding in findings:
        found = judge(known, package, finding)
        groups[found, None if found else finding["root"]].append((program, finding))
    places = {one: i for i, one in enumerate(known)}
    return [(found, root, groups[found, root])
            for found, root in sorted(groups, key=lambda key: (places.get(key[0], len(places)), key[1] or ""))]


def lines_of(cells_of_rows, left):
    """A table in Markdown; the first row is the heading, and the first @left columns are text."""
    cells_of_rows = list(cells_of_rows)
    width = len(cells_of_rows[0])
    align = ["---" if column in left else "---:" for column in range(width)]
    return [f"| {' | '.join(cells)} |" for cells in [cells_of_rows[0], align, *cells_of_rows[1:]]]


def findings_table(results):
    """@results: (package, [(program, finding)]) of memory."""
    known = judgements()
    table = [["package", "root", "tests", *SEVERITIES, "what it is", "real", "observable", "acted on", "why"]]
    for package, findings in results:
        for found, root, group in rows_of(known, package, findings):
            count = collections.Counter(finding["severity"] for _, finding in group)
            tests = len({(program, finding["test"]) for program, finding in group})
            told = ([found.what, yes(found.real), yes(found.observable), yes(found.act), found.why] if found else
                    ["", "not judged", "", "", ""])
            table.append([package, found.shown if found else f"`{root}`", str(tests),
                          *(str(count[severity] or "") for severity in SEVERITIES), *told])
    return lines_of(table, {0, 1, 6, 7, 8, 9, 10})


def sums_table(results):
    """By severity: how many are real, and how many of them one would act on."""
    known = judgements()
    counts = collections.Counter()
    for package, findings in results:
        for _, finding in findings:
            found = judge(known, package, finding)
            for severity in (finding["severity"], "all"):
                counts[severity, "findings"] += 1
                counts[severity, "judged"] += bool(found)
                counts[severity, "real"] += bool(found and found.real)
                counts[severity, "act"] += bool(found and found.act)
    table = [["", "findings", "judged", "real", "acted on", "not acted on"]]
    for severity in (*SEVERITIES, "all"):
        judged = counts[severity, "judged"]
        rest = judged - counts[severity, "act"]
        table.append([severity, *(str(counts[severity, key]) for key in ("findings", "judged", "real", "act")),
                      f"{100 * rest / judged:.0f} %" if judged else "–"])
    return lines_of(table, {0})


def mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def paper_table(results, times):
    """@results: (package, figures): polluting tests, and what it costs (@times), as the paper tells them."""
    known = judgements()
    table = [["package", "tests", "left changed", "observable", "plain s", "first pass s", "ratio", "whole command s",
              "ratio"]]
    sums = collections.Counter()
    for package, figures in results:
        changed, observable = set(), set()
        for program, finding in figures.findings:
            if finding["where"] == "process":
                continue  # the paper compares memory and files
            changed.add((program, finding["test"]))
            if is_observable(known, package, finding):
                observable.add((program, finding["test"]))
        sums.update(tests=figures.tests, changed=len(changed), observable=len(observable), plain=figures.plain,
                    first=figures.first, whole=figures.whole)
        table.append([package, str(figures.tests), str(len(changed)), str(len(observable)), f"{figures.plain:.3f}",
                      f"{figures.first:.3f}", f"{figures.ratio:.2f}", f"{figures.whole:.3f}",
                      f"{figures.whole_ratio:.2f}"])
    table.append(["all; ratios: geometric mean", *(str(sums[key]) for key in ("tests", "changed", "observable")),
                  f"{sums['plain']:.3f}", f"{sums['first']:.3f}", f"{mean(f.ratio for _, f in results):.2f}",
                  f"{sums['whole']:.3f}", f"{mean(f.whole_ratio for _, f in results):.2f}"])
    table.append(["PolDet (26 projects)", f"{PAPER['tests']:,}", str(PAPER["reported"]), str(PAPER["real"]), "", "",
                  f"{PAPER['ratio']:.2f}", "", ""])
    return lines_of([row if times else row[:4] for row in table], {0})


def splice(text, name, lines):
    """Puts lines between the marks of that name; the text as it is where it has none."""
    begin, end = f"<!-- {name}: begin (./dev real-suites --pollution --markdown) -->", f"<!-- {name}: end -->"
    body = "\n".join([begin, *lines, end])
    return re.sub(re.escape(begin) + r".*?" + re.escape(end), lambda _: body, text, flags=re.S)


def page(text, results, times=True):
    """docs/real-suites.md with its tables of pollution made anew; @results: (package, figures)."""
    memory = [(package, [(program, finding) for program, finding in figures.findings if finding["where"] == "memory"])
              for package, figures in results]
    for name, lines in (("memory findings", findings_table(memory)), ("memory severities", sums_table(memory)),
                        ("as the paper counts", paper_table(results, times))):
        text = splice(text, name, lines)
    return text
