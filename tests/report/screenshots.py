#!/usr/bin/env python3
"""Makes the pictures of docs/report.md: the report of the newcomer's project (tests/robust/newcomer), light and dark.

usage: screenshots.py POLYGRAPH [FOLDER]     FOLDER: where they go; docs/ unless given
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
SIZE = {"width": 1240, "height": 1240}
DARK = "if (!document.documentElement.classList.contains('dark')) document.querySelector('[aria-label=\"Dark or light\"]').click()"


def make_report(polygraph, folder):
    (folder / "shop_test.cc").write_text((TOP / "tests" / "robust" / "newcomer" / "shop_test.cc").read_text())
    subprocess.run(["g++", "-g", "-O0", "shop_test.cc", "-o", "shop_test", "-lgtest", "-lgtest_main", "-pthread"], cwd=folder, check=True)
    subprocess.run([polygraph, "check", "--format", "html", "--output", "report.html", "./shop_test"], cwd=folder, check=False)
    return folder / "report.html"


def main():
    why = browser.why_not()
    if why:
        sys.exit(f"screenshots: {why}")
    polygraph = str(pathlib.Path(sys.argv[1]).resolve())
    target = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else TOP / "docs")
    with tempfile.TemporaryDirectory(prefix="polygraph-pictures-") as folder:
        page = make_report(polygraph, pathlib.Path(folder).resolve())
        shown = browser.Browser(**SIZE)
        shown.open(page)
        shown.wait("document.querySelector('.card') !== null")
        shown.run("window.scrollTo(0, 0)")
        shown.screenshot(target / "report-light.png")
        shown.run(DARK)
        shown.click("#tab-map")
        shown.screenshot(target / "report-dark.png")
        shown.close()


if __name__ == "__main__":
    main()
