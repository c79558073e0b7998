#!/usr/bin/env python3
"""All formats: of one run over the example suite, of hostile texts, and of very many findings, against the schemas.

Usage: test_formats.py POLYGRAPH [unittest options]
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402
import documents  # noqa: E402
from documents import TOP, assumption, dependence, document, flaky, pollution, write  # noqa: E402

PROGRAM = None
FORMATS = ("json", "sarif", "junit", "html")
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&]]>&lt;\u202e\u0001\u2028%s\\u003c\U0001f600"
MANY = 10000
# Of 10,000 findings; the text itself takes 20 MiB.
MANY_MEMORY = 600 << 20


def polygraph(folder, *words, status=0):
    result = subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    if result.returncode != status:
        raise AssertionError(f"{words}: exit status {result.returncode}: {result.stderr}")
    return result


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="polygraph-report-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name).resolve()

    def render(self, value, *formats):
        """The files that `polygraph report` makes of a document."""
        source = write(self.folder / "document.json", value)
        words = [word for name in formats for word in ("--format", name, "--output", f"out.{name}")]
        polygraph(self.folder, "report", *words, source.name)
        return [self.folder / f"out.{name}" for name in formats]

    def check_json(self, path):
        wrong, why = documents.validate(documents.SCHEMA, path, "--strict")
        if why:
            self.skipTest(why)
        self.assertEqual(wrong, "")

    def check_sarif(self, path):
        schema, why = documents.find_schema("sarif")
        if why:
            self.skipTest(why)
        wrong, why = documents.validate(schema, path)
        if why:
            self.skipTest(why)
        self.assertEqual(wrong, "")

    def check_junit(self, path):
        """By the schema of old versions of Jenkins."""
        schema, why = documents.find_schema("junit")
        if why:
            self.skipTest(why)
        result = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", schema, path], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)


class Example(Folder):
    """One run over the example suite, in all formats."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="polygraph-example-")
        cls.addClassCleanup(temporary.cleanup)
        cls.example = Path(temporary.name).resolve()
        sources = [TOP / "examples" / "settings" / name for name in ("settings.cc", "settings_test.cc")]
        subprocess.run(["c++", "-std=c++17", "-g", "-o", "settings_test", *sources, "-lgtest", "-lgtest_main", "-pthread"],
                       cwd=cls.example, check=True)
        words = [word for name in FORMATS for word in ("--format", name, "--output", f"result.{name}")]
        polygraph(cls.example, "check", *words, "./settings_test", status=1)

    def path(self, name):
        return self.example / f"result.{name}"

    def test_json(self):
        self.check_json(self.path("json"))
        result = json.loads(self.path("json").read_text())
        run = result["run"]
        self.assertEqual((run["folder"], run["exit_status"], run["command"]), (str(self.example), 1, "check"))
        self.assertTrue(str(TOP / "examples" / "settings").startswith(run["sources"]))
        self.assertRegex(run["build_id"] or "", "^([0-9a-f]{8,})?$")
        self.assertIn("--format=html", run["options"])
        # Schedules only where a test waited, which may be chance.
        phases = [phase["name"] for phase in run["phases"]]
        self.assertEqual([name for name in phases if name != "schedules"], ["pollution", "order", "choices"])
        self.assertTrue(all(phase["executions"] for phase in run["phases"]))
        self.assertEqual(result["totals"]["findings"], {"high": 2, "medium": 0, "low": 0, "new": 2, "known": 0})
        self.assertEqual(result["totals"]["tests"]["pass"], 10)
        order = result["order"]
        first, second = (order["tests"].index("Retry." + name) for name in ("LimitIsConfigurable", "GivesUpAfterThreeAttempts"))
        self.assertEqual(order["matrix"][first][second], "f")
        self.assertEqual(sum(row.count("f") for row in order["matrix"]), 1)
        self.assertEqual(len(order["executed"]) + order["executed_more"], order["orders"])
        left = next(finding for finding in result["findings"] if finding["kind"] == "pollution")
        self.assertEqual((left["was"], left["is"]), ({"kind": "absent", "text": None}, {"kind": "value", "text": '"1"'}))
        self.assertIn("basic_string", left["type"])
        self.assertIn("retry.limit", left["graphs"])

    def test_other_commands(self):
        for command in ("list", "run"):
            (self.folder / "out").write_text(polygraph(self.example, command, "--format", "json", "./settings_test").stdout)
            self.check_json(self.folder / "out")

    def test_sarif(self):
        self.check_sarif(self.path("sarif"))
        run, = json.loads(self.path("sarif").read_text())["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertLessEqual({"pollution", "order-dependent", "flaky", "schedule", "assumption", "repair"}, set(rules))
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
        self.assertTrue(all(rule["help"]["text"] for rule in run["tool"]["driver"]["rules"]))
        for rule in run["tool"]["driver"]["rules"]:
            self.assertRegex(rule["helpUri"], r"^man:polygraph-[a-z]+\(1\)$")
            self.assertIn(f"]({rule['helpUri']})", rule["help"]["markdown"])
        # What leaves it and what is misled are one cause, so one alert.
        victim, = run["results"]
        self.assertEqual([(one["id"].split("-")[0], one["test"]) for one in victim["properties"]["findings"]],
                         [("order", "Retry.GivesUpAfterThreeAttempts"), ("pollution", "Retry.LimitIsConfigurable")])
        place = victim["locations"][0]["physicalLocation"]
        root = run["originalUriBaseIds"]["SRCROOT"]["uri"]
        self.assertEqual(root + place["artifactLocation"]["uri"], f"file://{TOP}/examples/settings/settings_test.cc")
        self.assertEqual(place["region"]["startLine"], 55)
        related = {one["message"]["text"]: one["physicalLocation"]["artifactLocation"]["uri"].rsplit("/")[-1]
                   for one in victim["relatedLocations"]}
        self.assertEqual(related["polluter: Retry.LimitIsConfigurable"], "settings_test.cc")
        self.assertEqual(related["declaration of what is left changed"], "settings.cc")
        self.assertEqual(victim["partialFingerprints"], {"polygraphId/v1": "order-1052f0457994", "polygraphCause/v1": "memory settings::registry"})
        self.assertNotIn("suppressions", victim)

    def test_junit(self):
        self.check_junit(self.path("junit"))
        suites = ElementTree.parse(self.path("junit")).getroot()
        places = {one.get("name"): one.get("value") for one in suites[0].iter("property") if one.get("name").startswith("place: ")}
        self.assertEqual(len(places), 10)
        self.assertRegex(places["place: Retry.GivesUpAfterThreeAttempts"], r"examples/settings/settings_test\.cc:5\d$")
        case, = suites[1]
        self.assertEqual((case.get("name"), case.get("classname")), ("settings::registry", "polygraph.memory"))
        self.assertIn("polygraph replay order-1052f0457994", case.find("failure").text)

    def test_html(self):
        page = self.path("html").read_text()
        self.assertEqual(page.count("<script"), 3)
        self.assertNotRegex(page, r"(src|href)=[\"']?(https?:)?//")
        for word in ("<svg", "\\u003csvg", "settings::registry", "Content-Security-Policy"):
            self.assertEqual(word in page, word != "<svg", word)

    def test_again(self):
        """`polygraph report` makes the same files, of what is kept and of a file."""
        for words in ([], ["result.json"]):
            for name in FORMATS:
                again = polygraph(self.example, "report", "--format", name, *words).stdout
                # Of JUnit the time of the suite's own run is not kept.
                texts = [re.sub('time="[^"]*"', "", text) if name == "junit" else text
                         for text in (again, self.path(name).read_text())]
                self.assertEqual(texts[0], texts[1], (name, words))
        self.assertIn("order-1052f0457994", polygraph(self.example, "report").stdout)


class Project(Folder):
    """Tests in a folder of their own, without a working copy: what build files tell is the source root."""

    def test_source_root(self):
        (self.folder / "src").mkdir()
        (self.folder / "tests").mkdir()
        (self.folder / "Makefile").write_text("all:\n")
        (self.folder / "tests" / "Makefile").write_text("all:\n")
        (self.folder / "src" / "state.c").write_text("int state;\nvoid set(void)\n{\n\tstate = 1;\n}\n")
        (self.folder / "tests" / "state_test.c").write_text(
            "#include <stdlib.h>\nextern int state;\nvoid set(void);\nint main(void);\n"
            "void test_zero(void) { if (state) abort(); }\nvoid test_sets(void) { set(); }\n"
            "int main(void) { test_zero(); test_sets(); return 0; }\n")
        build = self.folder / "build"
        build.mkdir()
        subprocess.run(["cc", "-g", "-O0", "-o", "state_test", "../tests/state_test.c", "../src/state.c"], cwd=build, check=True)
        polygraph(build, "check", "-o", "x.json", "-o", "x.sarif", "-o", "x.html", "./state_test", status=1)
        self.assertEqual(json.loads((build / "x.json").read_text())["run"]["sources"], str(self.folder))
        run, = json.loads((build / "x.sarif").read_text())["runs"]
        self.assertEqual(run["originalUriBaseIds"]["SRCROOT"]["uri"], f"file://{self.folder}/")
        places = re.findall(r'"uri": "([^"]*)", "uriBaseId": "SRCROOT"', json.dumps(run))
        self.assertEqual(set(places), {"src/state.c", "tests/state_test.c"})
        self.assertIn("void set(void)", (build / "x.html").read_text())


class Documents(Folder):
    def findings(self, text=""):
        return [pollution(1, "Adds" + text, "root" + text, text), pollution(2, "Writes", "left.txt" + text, text, where="file", known=True),
                dependence(3, "Empty", ["Adds" + text], "root" + text, text, because=["pollution-000000000001"]),
                assumption(4, "Lists", text), flaky(5, "Connects" + text, text)]

    def test_causes(self):
        (self.folder / "src").mkdir()
        (self.folder / "src" / "fill.c").write_text("one\ntwo\nthree\nfour\n")
        paths = self.render(document(self.folder, self.findings()), *FORMATS)
        self.check_json(paths[0])
        run, = json.loads(paths[1].read_text())["runs"]
        self.assertEqual([len(result.get("suppressions", [])) for result in run["results"]], [0, 0, 0, 1])
        flow = run["results"][1]["codeFlows"][0]["threadFlows"][0]["locations"]
        self.assertEqual([step["location"]["physicalLocation"]["region"]["startLine"] for step in flow], [1, 3])
        self.check_sarif(paths[1])
        self.check_junit(paths[2])
        cases = ElementTree.parse(paths[2]).getroot()[1]
        self.assertEqual({case.get("name"): case[0].tag for case in cases},
                         {"root": "failure", "left.txt": "skipped", "qsort at src/fill.c:3": "failure", "Connects": "failure"})
        self.assertEqual((cases.get("failures"), cases.get("skipped")), ("3", "1"))
        self.assertIn('"src/fill.c:4": {"first": 1, "lines": ["one", "two", "three", "four"]}', paths[3].read_text())

    def test_hostile(self):
        value = document(self.folder, self.findings(HOSTILE), text=HOSTILE)
        paths = self.render(value, *FORMATS)
        self.assertEqual(dict(json.loads(paths[0].read_text()), totals=None), dict(value, totals=None))
        self.check_json(paths[0])
        self.check_sarif(paths[1])
        self.check_junit(paths[2])
        page = paths[3].read_text()
        self.assertEqual((page.count("<script"), page.count("</script>"), page.count("<img")), (3, 3, 0))

    def test_source_of_others(self):
        """Debug information can name any file; only those of the project are shown."""
        with tempfile.NamedTemporaryFile("w", prefix="secret") as secret:
            secret.write("top secret\n")
            secret.flush()
            finding = pollution(1, "Adds")
            finding["declared"] = {"file": secret.name, "line": 1}
            os.symlink(secret.name, self.folder / "link.c")
            finding["allocated"] = [{"function": "f", "file": "link.c", "line": 1}]
            page, = self.render(document(self.folder, [finding]), "html")
            self.assertNotIn("top secret", page.read_text())

    def test_slips(self):
        write(self.folder / "other.json", {"schema": 2})
        write(self.folder / "list.json", [])
        write(self.folder / "kind.json", document(self.folder, [dict(flaky(1, "T"), kind="new")]))
        (self.folder / "text").write_text("no JSON")
        for words, message in ((["text"], "text:1: not JSON"), (["other.json"], "'other.json': not a report of polygraph"),
                               (["list.json"], "not a report"), (["kind.json"], "of a kind that this version does not have"),
                               (["absent"], "absent"), ([], "there is no report of a run"), (["a", "b"], "one report at a time")):
            result = polygraph(self.folder, "report", *words, status=2)
            self.assertIn(message, result.stderr)

    def test_wrong_types(self):
        """What is of another type counts as unknown."""
        value = document(self.folder, self.findings())
        for finding in value["findings"]:
            for key in set(finding) - {"id", "kind", "test", "message", "replay"}:
                finding[key] = {"file": 3, "line": -1} if isinstance(finding[key], list) else [finding[key], None, {"line": "x"}]
        value.update(run=[], order=3, choices="x", limits={}, seed="y", totals=None)
        self.render(value, "sarif", "junit", "html", "text")

    def test_many(self):
        """10,000 findings: as many are in each format, and memory stays bounded."""
        findings = [pollution(i, f"Suite{i % 97}.Test{i}", f"root{i % 2500}") if i % 2 else
                    dependence(i, f"Suite{i % 97}.Test{i}", [f"Suite{(i + 1) % 97}.Test{i + 1}"], f"root{(i + 1) % 2500}")
                    for i in range(MANY)]
        value = document(self.folder, findings)
        paths = self.render(value, *FORMATS)
        self.assertEqual(len(json.loads(paths[0].read_text())["findings"]), MANY)
        self.assertEqual(len(json.loads(paths[1].read_text())["runs"][0]["results"]), 1250)
        self.assertEqual(len(ElementTree.parse(paths[2]).getroot()[1]), 1250)
        self.assertEqual(len(re.findall('"type": "memory", "name"', paths[3].read_text())), 1250)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        print(f"{MANY} findings: {used >> 20} MiB at most, {paths[3].stat().st_size >> 20} MiB of HTML", file=sys.stderr)
        self.assertLess(used, MANY_MEMORY)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    fresh.start()
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
