#!/usr/bin/env python3
"""The style sheet and the script of HTML reports, as C.

Usage: make_page.py OUTPUT STYLE SCRIPT

The content security policy has the digests of both, so that a browser runs and applies nothing else.
"""

import base64
import hashlib
import re
import sys


def literal(text):
    """As an array of numbers: a string literal of that length is more than C promises to take."""
    data = text.encode() + b"\0"
    rows = (data[i:i + 20] for i in range(0, len(data), 20))
    return "{\n" + "\n".join("\t" + "".join(f"{byte}," for byte in row) for row in rows) + "\n}"


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def with_still(style):
    """A page without a script (:root.still) has the dark colours where the browser asks for them."""
    dark = re.search(r"^:root\.dark \{\n(.*?)^\}\n", style, re.M | re.S)
    if not dark:
        sys.exit("the style sheet has no colours for the dark")
    return style + "@media screen and (prefers-color-scheme: dark) { :root.still {\n" + dark[1] + "} }\n"


def main():
    output, *inputs = sys.argv[1:]
    texts = []
    for path in inputs:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
        if "</s" in texts[-1].lower():
            sys.exit(f"{path}: would end the element that it is put into")
    style, script = with_still(texts[0]), texts[1]
    policy = (f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; "
              "base-uri 'none'; form-action 'none'")
    with open(output, "w", encoding="utf-8") as file:
        file.write('/* Made by make_page.py. */\n#include "report/page_data.h"\n\n')
        for name, text in (("style", style), ("script", script), ("policy", policy)):
            file.write(f"const char page_{name}[] = {literal(text)};\n")


main()
