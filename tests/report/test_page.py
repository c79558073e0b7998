#!/usr/bin/env python3
"""The HTML report in a real browser: hostile texts, clicks, keys, links, a phone, and ten thousand findings.

Usage: test_page.py POLYGRAPH [unittest options]
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fresh  # noqa: E402
import browser  # noqa: E402
from documents import assumption, dependence, document, flaky, pollution, repair, schedule, write  # noqa: E402

PROGRAM = None
MANY = 10000
# Each of them would set window.hit if it were taken for markup or code.
HOSTILE = ["</script><script>window.hit = 1</script>", "<img src=x onerror='window.hit = 2'>", "\"><svg onload='window.hit = 3'>",
           "javascript:window.hit=4", "&lt;b&gt;", "${window.hit = 5}", "\u202egnp.\u0001\u2028", "'-window.hit-'"]


def findings(text=""):
    return [pollution(1, "Registry.Adds" + text, "registry" + text, text),
            dependence(2, "Registry.Empty" + text, ["Registry.Adds" + text], "registry" + text, text,
                       because=["pollution-000000000001"]),
            pollution(3, "Report.Writes", "left.txt" + text, text, where="file", known=True, severity="low"),
            assumption(4, "Listing.Sorted", text), flaky(5, "Net.Connects", text)]


def other_kinds(text=""):
    trace = [{"function": "fill" + text, "file": "src/fill.c", "line": 2}]
    return [pollution(1, "Registry.Adds" + text, "registry" + text, text, written=trace,
                      reads=[{"test": "Reader.One", "stack": [dict(trace[0], function="look" + text, line=3)]}]),
            schedule(6, "Queue.Drains" + text, text), repair(7, "Registry.Empty", "order-dependent-000000000002", text)]


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = browser.why_not()
        if why:
            raise unittest.SkipTest(why)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="polygraph-page-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name).resolve()
        (self.folder / "src").mkdir()
        (self.folder / "src" / "fill.c").write_text("one\ntwo <b>\nthree\nfour\n")

    def show(self, value, fragment="", **environment):
        write(self.folder / "document.json", value)
        subprocess.run([PROGRAM, "report", "--format", "html", "--output", "page.html", "document.json"], cwd=self.folder,
                       check=True, timeout=300, env={**os.environ, **environment})
        self.browser.open(self.folder / "page.html", fragment)
        self.browser.wait("document.querySelector('#cards') !== null")

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def names(self):
        return self.browser.run("return [...document.querySelectorAll('.card .name')].map(one => one.textContent)")

    def open_all(self):
        self.browser.run("document.querySelectorAll('.card:not(.open) > header button').forEach(one => one.click());"
                         "document.querySelectorAll('details').forEach(one => one.open = true)")

    def test_hostile(self):
        text = " ".join(HOSTILE)
        value = document(self.folder, findings(text) + other_kinds(text)[1:], text=text)
        value["findings"][0]["id"] = 'x"><script>window.hit = 6</script>'
        self.show(value)
        for key in ("findings", "map", "pairs", "choices", "run"):
            self.browser.click(f"#tab-{key}")
            self.open_all()
        self.assertIsNone(self.browser.run("return window.hit === undefined ? null : window.hit"))
        self.assertEqual(self.browser.count("script"), 3)
        self.assertEqual(self.browser.count("img, iframe, object, embed, link, form, foreignObject, image, use, [onload], [onerror]"), 0)
        self.assertEqual(self.browser.count("svg a, a[href^=javascript]"), 0)
        shown = self.browser.run("return document.querySelector('.card .name').textContent")
        self.assertTrue(shown.startswith("registry</script><script>window.hit = 1</script>"), shown)
        # What has no shape, or turns the text around, is spelt out.
        self.assertIn("\\u202egnp.\\u0001\\u2028", shown)
        self.assertIn("&lt;b&gt;", shown)
        self.assertGreater(self.browser.count(".picture svg"), 0)

    def test_no_pictures(self):
        """Where Graphviz has no plug-ins the page says so."""
        self.show(document(self.folder, findings()), GVBINDIR=str(self.folder / "src"))
        self.open_all()
        self.assertEqual(self.browser.count(".picture svg"), 0)
        self.assertIn("There are no pictures: Graphviz", self.browser.text("#cards .undrawn"))
        self.browser.click("#tab-run")
        self.assertIn("There are no pictures: Graphviz", self.browser.text("#page"))

    def test_other_kinds(self):
        """Patches, schedules, and the stacks of what is left."""
        self.show(document(self.folder, other_kinds()))
        self.open_all()
        text = self.browser.text("#cards")
        for word in ("Written in\nfill src/fill.c:2", "Read by Reader.One in\nlook src/fill.c:3", "passes if it comes just before src/fill.c:1:5 one",
                     "fails if it comes before src/fill.c:2:5 two <b>", "proven", "12 candidates tried"):
            self.assertIn(word, text)
        rows = self.browser.run("return [...document.querySelectorAll('.timeline tr')].map(row => [...row.children].map(one => "
                                "one.textContent.trim().replace(/\\s+/g, ' ')))")
        self.assertEqual(rows, [["ms", "Test", "Thread 1"], ["0.000", "src/fill.c:1:5one", ""], ["1.000", "", "begins src/fill.c:3:5three"],
                                ["2.000", "", "is held src/fill.c:4:5four"], ["3.000", "fails src/fill.c:2:5two <b>", ""]])
        lines = self.browser.run("return [...document.querySelectorAll('.diff .row')].map(one => one.className)")
        self.assertEqual(lines, ["row file", "row file", "row hunk", "row ", "row removed", "row added"])
        self.browser.click(".source figcaption .copy")
        self.assertEqual(self.browser.run("return document.querySelector('.source figcaption .copy').dataset.copy"),
                         other_kinds()[2]["patch"])

    def test_contents(self):
        self.show(document(self.folder, findings()))
        self.assertEqual(self.browser.text("h1"), "4 problems (3 new ones) in 8 tests")
        self.assertEqual(self.names(), ["registry", "qsort at src/fill.c:3", "Net.Connects", "left.txt"])
        # One number of problems: the tiles are its parts.
        tiles = self.browser.run("return [...document.querySelectorAll('.tile b')].slice(0, 3).map(one => one.textContent)")
        self.assertEqual(tiles, ["3", "0", "1"])
        # Closed at first; a title says what fails and when.
        self.assertEqual(self.browser.count(".card.open, .finding"), 0)
        titles = self.browser.run("return [...document.querySelectorAll('.card .title')].map(one => one.textContent)")
        self.assertEqual(titles[0], findings()[1].get("headline", findings()[1]["message"]))
        self.open_all()
        self.assertEqual(self.browser.count(".finding"), 5)
        body = self.browser.text(".card .body")
        for word in ("Registry.Adds", "Cleaner", "What to do: mend it", "(absent)", "expected 0\n got 1", "two <b>",
                     "polygraph replay order-dependent-000000000002 --gdb"):
            self.assertIn(word, body)
        # What to do comes first, once; the pictures say of which test they are.
        first = self.browser.run("const body = document.querySelector('.card .body'); return [body.firstChild.className, body.firstChild.textContent, "
                                 "body.querySelectorAll('.hint').length, body.querySelectorAll('.finding').length]")
        self.assertEqual(first, ["hint", "What to do: mend it ", 2, 2])
        self.assertIn("registry before and after Registry.Adds", body)
        self.assertIn("before Registry.Adds\n", body)
        nodes = self.browser.run("return [...document.querySelectorAll('.picture .node')].map(one => one.getAttribute('class'))")
        for kind in ("leave", "root", "misled", "could", "cleaner", "was", "changed"):
            self.assertIn("node " + kind, nodes)
        self.assertEqual(self.browser.text(".levels .now"), "eq")
        self.browser.click("#tab-pairs")
        self.assertGreater(self.browser.run("return document.querySelector('.matrix canvas').width"), 50)
        self.browser.click("#tab-map")
        self.assertEqual(self.browser.count(".map td .misled"), 2)
        self.browser.click("#tab-choices")
        self.assertEqual(self.browser.count(".grid td.bad"), 2)
        self.browser.click("#tab-run")
        self.assertEqual(self.browser.count(".time div"), 2)
        self.assertIn("order: not all", self.browser.text("#panel-run"))

    def test_filter(self):
        self.show(document(self.folder, findings()))
        self.browser.click(".chip[data-value=low]")
        self.assertEqual(self.names(), ["left.txt"])
        self.browser.click(".chip[data-value=low]")
        self.browser.click(".chip[data-value=flaky]")
        self.browser.click(".chip[data-value=assumption]")
        self.assertEqual(self.names(), ["qsort at src/fill.c:3", "Net.Connects"])
        self.assertEqual(self.browser.text(".shown"), "2 of 4 causes")
        self.browser.press("Escape")
        self.browser.click(".chip[data-value=known]")
        self.assertEqual(self.names(), ["left.txt"])
        self.browser.press("Escape")
        self.browser.type("#search", "registry.empty")
        self.assertEqual(self.names(), ["registry"])
        self.browser.press("Escape")
        self.browser.type("#search", "nothing at all")
        self.assertEqual((self.names(), self.browser.count(".empty")), ([], 1))
        self.browser.press("Escape")
        self.browser.click(".card > header button")
        self.browser.click(".card .test.misled")
        self.assertEqual(self.names(), ["registry"])

    def test_keys(self):
        self.show(document(self.folder, findings()))
        self.browser.run("window.copied = []; navigator.clipboard.writeText = async text => { window.copied.push(text); }")
        focused = "return document.activeElement.closest('.card').querySelector('.name').textContent"
        self.browser.press("j")
        self.assertEqual(self.browser.run(focused), "registry")
        self.browser.press("j")
        self.assertEqual(self.browser.run(focused), "qsort at src/fill.c:3")
        was = self.browser.run("return document.activeElement.getAttribute('aria-expanded')")
        self.browser.press("Enter")
        self.assertNotEqual(self.browser.run("return document.activeElement.getAttribute('aria-expanded')"), was)
        self.browser.press("k", "c")
        self.browser.wait("window.copied.length === 1")
        self.assertEqual(self.browser.run("return window.copied"), ["polygraph replay order-dependent-000000000002"])
        self.browser.press("/", "l", "e", "f", "t")
        self.assertEqual(self.names(), ["left.txt"])
        self.browser.press("Escape", "3")
        self.assertFalse(self.browser.run("return document.querySelector('#panel-pairs').classList.contains('hidden')"))
        self.browser.run("document.querySelector('.matrix canvas').focus()")
        self.browser.press("Right", "Down")
        self.assertIn("Registry.Empty → Registry.Empty: one test", self.browser.text("#panel-pairs .told"))
        dark = "return document.documentElement.classList.contains('dark')"
        before = self.browser.run(dark)
        self.browser.press("t")
        self.assertNotEqual(self.browser.run(dark), before)
        self.browser.press("t", "?")
        self.assertTrue(self.browser.run("return document.querySelector('dialog').open"))
        # Every control can be reached, and says what it is.
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('button, input, canvas[tabindex]')]"
                                          ".filter(one => !(one.textContent.trim() || one.getAttribute('aria-label'))).length"), 0)

    def test_copy(self):
        self.show(document(self.folder, findings()))
        self.browser.run("window.copied = []; navigator.clipboard.writeText = async text => { window.copied.push(text); }")
        self.browser.click(".card > header button")
        self.browser.click(".finding .copy")
        self.browser.wait("window.copied.length === 1")
        self.assertEqual(self.browser.run("return document.querySelector('.finding .copy').dataset.copy === window.copied[0]"), True)

    def test_link(self):
        self.show(document(self.folder, findings()), "#flaky-000000000005")
        self.browser.wait("document.querySelector('.finding.target') !== null")
        self.assertEqual(self.browser.run("return document.querySelector('.finding.target').id"), "flaky-000000000005")
        self.assertTrue(self.browser.run("const box = document.querySelector('.finding.target').getBoundingClientRect();"
                                         "return box.top >= 0 && box.top < innerHeight"))
        self.browser.run("location.hash = '#no-such-thing'; location.hash = '#%E0%A4%A'; location.hash = '#pollution-000000000003'")
        self.browser.wait("document.querySelector('.finding.target').id === 'pollution-000000000003'")

    def test_phone(self):
        self.browser.command("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
        self.addCleanup(self.browser.command, "Emulation.clearDeviceMetricsOverride")
        self.show(document(self.folder, findings("x" * 200)))
        for key in ("findings", "map", "pairs", "choices", "run"):
            self.browser.run("document.getElementById(arguments[0]).click()", f"tab-{key}")
            self.open_all()
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 360, key)

    def test_phone_shows_all(self):
        """Nothing needs to be pushed sideways, nor ends where it should not: but for the matrix, of many tests."""
        self.browser.command("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        self.addCleanup(self.browser.command, "Emulation.clearDeviceMetricsOverride")
        self.show(document(self.folder, findings("_and_so_on" * 9) + other_kinds()[1:]))
        for key in ("findings", "map", "pairs", "choices", "run"):
            self.browser.run("document.getElementById(arguments[0]).click()", f"tab-{key}")
            self.open_all()
            cut = self.browser.run("""return [...document.querySelectorAll('#panel-' + arguments[0] + ' *, .tabs, .lead, h1')].filter(one =>
                one.offsetParent && getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1)
                .map(one => one.className + ': ' + one.textContent.slice(0, 60))""", key)
            self.assertEqual([one for one in cut if not one.startswith(("matrix", "p0", "p1"))], [], key)
        self.assertEqual(self.browser.count(".map-list"), 3)

    def test_matrix(self):
        """A test that fails alone: after which others it fails as well, and which one it needs."""
        brittle = dependence(2, "Needs", [], **{"class": "brittle"})
        value = document(self.folder, [dict(brittle, setters=[["Sets"]])], tests=["Sets", "Needs", "Other"])
        value["order"].update(tests=["Sets", "Needs", "Other"], matrix=["-ms", "p-p", "pp-"])
        self.show(value)
        self.browser.click("#tab-pairs")
        self.browser.run("document.querySelector('.matrix canvas').focus()")
        told = {}
        for keys in (("Right",), ("Right",), ("Down",), ("Left",), ("Down",)):
            self.browser.press(*keys)
            text = self.browser.text("#panel-pairs .told")
            if text:
                told.update([text.split(": ", 1)])
        self.assertEqual(told, {"Sets → Needs": "the second fails alone; the first makes it pass", "Sets → Other": "the first leaves nothing behind",
                                "Needs → Other": "tried: the second passes, as alone", "Needs → Needs": "one test, or not allowed",
                                "Other → Needs": "the second fails, as alone"})
        self.assertNotIn("open", self.browser.text("#panel-pairs .legend"))
        # Names at both sides have room.
        self.assertGreater(*self.browser.run("const c = document.querySelector('.matrix canvas'); return [c.clientWidth, 3 * 20]"))
        self.assertEqual(*self.browser.run("const c = document.querySelector('.matrix canvas'); return [c.clientWidth, c.clientHeight]"))

    def test_theme_and_print(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        seen = {}
        self.show(document(self.folder, []))
        self.browser.run("localStorage.clear()")
        for theme in ("light", "dark"):
            self.browser.command("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": theme}])
            self.show(document(self.folder, findings()))
            seen[theme] = self.browser.run(ground)
        self.assertNotEqual(seen["light"], seen["dark"])
        self.browser.command("Emulation.setEmulatedMedia", media="print")
        self.addCleanup(self.browser.command, "Emulation.setEmulatedMedia", media="", features=[])
        self.browser.run("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.browser.run(ground), "rgb(255, 255, 255)")
        self.assertEqual(self.browser.run("return getComputedStyle(document.querySelector('.filters')).display"), "none")
        self.assertEqual(self.browser.count(".card.open"), 4)

    def test_nothing_found(self):
        self.show(document(self.folder, []))
        self.assertEqual(self.browser.text("h1"), "No problem found in 3 tests")
        for key in ("map", "pairs", "choices", "run"):
            self.browser.click(f"#tab-{key}")

    def test_many(self):
        """What is in the page at once stays small, however much was found; how long it takes is told."""
        many = [pollution(i, f"Suite{i % 97}.Test{i}", f"root{i}", severity=("high", "medium", "low")[i % 3]) for i in range(MANY)]
        self.show(document(self.folder, many))
        opened = self.browser.run("return performance.getEntriesByType('navigation')[0].domComplete")
        self.assertEqual(self.browser.text(".shown"), "10,000 causes")
        self.assertLess(self.browser.count(".card"), 200)
        took = self.browser.run("""
            const search = document.querySelector('#search'), times = [];
            for (const text of ['s', 'suite5', 'suite5.test9', 'suite96', '']) {
                const began = performance.now();
                search.value = text;
                search.dispatchEvent(new Event('input'));
                document.body.offsetHeight;
                times.push(performance.now() - began);
            }
            return times;""")
        print(f"{MANY} findings: opened in {opened:.0f} ms, filtered in {max(took):.0f} ms at most", file=sys.stderr)
        self.browser.type("#search", "root9999")
        self.assertEqual(self.names(), ["root9999"])
        self.browser.press("Escape")
        # The list may be made anew after the first try.
        self.browser.wait("(window.scrollTo(0, document.body.scrollHeight), document.querySelectorAll('.card').length > 40)")
        self.browser.run("location.hash = '#pollution-' + (9998).toString(16).padStart(12, '0')")
        self.browser.wait("document.querySelector('.finding.target') !== null")
        self.assertLess(self.browser.count(".card"), 300)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    fresh.start()
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
