#!/usr/bin/env python3
"""Makes a locale that no machine has, with localedef(1): a decimal comma, an i without dot, another order of letters.

Usage: make_locale.py LOCALEDEF FOLDER

FOLDER is the locale's, and its name is the locale's name. Characters and their classes are those of Unicode as Python
knows them, so that no source of a locale has to be installed.
"""

import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

# Letters that Turkish tells apart: i and its capital with a dot, the other i and its capital without.
UPPER = {0x69: 0x130, 0x131: 0x49}
LOWER = {0x130: 0x69, 0x49: 0x131}
HEAD = "comment_char %\nescape_char /\n"

CATEGORIES = """
LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
LC_MONETARY
int_curr_symbol "EUR "
currency_symbol "X"
mon_decimal_point ","
mon_thousands_sep "."
mon_grouping 3;3
positive_sign ""
negative_sign "-"
int_frac_digits 2
frac_digits 2
p_cs_precedes 0
p_sep_by_space 1
n_cs_precedes 0
n_sep_by_space 1
p_sign_posn 1
n_sign_posn 1
END LC_MONETARY
LC_TIME
abday "d1";"d2";"d3";"d4";"d5";"d6";"d7"
day "day1";"day2";"day3";"day4";"day5";"day6";"day7"
abmon "m1";"m2";"m3";"m4";"m5";"m6";"m7";"m8";"m9";"m10";"m11";"m12"
mon "month1";"month2";"month3";"month4";"month5";"month6";"month7";"month8";"month9";"month10";"month11";"month12"
d_t_fmt "%a %d.%m.%Y %H.%M.%S"
d_fmt "%d.%m.%Y"
t_fmt "%H.%M.%S"
am_pm "";""
t_fmt_ampm ""
date_fmt "%a %d.%m.%Y %H.%M.%S %Z"
week 7;19971130;4
END LC_TIME
LC_MESSAGES
yesexpr "^[+1yY]"
noexpr "^[-0nN]"
END LC_MESSAGES
LC_PAPER
height 297
width 210
END LC_PAPER
LC_NAME
name_fmt "%d%t%g%t%m%t%f"
END LC_NAME
LC_ADDRESS
postal_fmt "%a%N%f%N%d%N%b%N%s %h %e %r%N%T, %S %z%N%c%N"
END LC_ADDRESS
LC_TELEPHONE
tel_int_fmt "+%c %a %l"
END LC_TELEPHONE
LC_MEASUREMENT
measurement 1
END LC_MEASUREMENT
LC_IDENTIFICATION
title "A locale of polygraph's"
source ""
address ""
contact ""
email ""
tel ""
fax ""
language ""
territory ""
revision "1"
date "2026-01-01"
category "i18n:2012";LC_IDENTIFICATION
category "i18n:2012";LC_CTYPE
category "i18n:2012";LC_COLLATE
category "i18n:2012";LC_TIME
category "i18n:2012";LC_NUMERIC
category "i18n:2012";LC_MONETARY
category "i18n:2012";LC_MESSAGES
category "i18n:2012";LC_PAPER
category "i18n:2012";LC_NAME
category "i18n:2012";LC_ADDRESS
category "i18n:2012";LC_TELEPHONE
category "i18n:2012";LC_MEASUREMENT
END LC_IDENTIFICATION
"""


def name(code):
    return f"<U{code:04X}>" if code < 0x10000 else f"<U{code:08X}>"


def characters():
    return [code for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]


def charmap(codes):
    lines = ["<code_set_name> UTF-8", "<comment_char> %", "<escape_char> /", "<mb_cur_min> 1", "<mb_cur_max> 6", "CHARMAP"]
    for code in codes:
        lines.append(name(code) + " " + "".join(f"/x{byte:02x}" for byte in chr(code).encode()) + " C")
    lines += ["END CHARMAP", "WIDTH"]
    for code in codes:
        char = chr(code)
        if unicodedata.category(char) in ("Mn", "Me", "Cf") and code != 0xAD:
            lines.append(f"{name(code)} 0")
        elif unicodedata.east_asian_width(char) in "WF":
            lines.append(f"{name(code)} 2")
    return "\n".join([*lines, "END WIDTH", ""])


def single(code, text):
    """The other case of a letter: one character, or itself."""
    return ord(text) if len(text) == 1 else code


def ctype(codes):
    classes = {word: [] for word in ("upper", "lower", "alpha", "digit", "space", "cntrl", "punct", "xdigit", "blank", "graph", "print")}
    up, down = [], []
    for code in codes:
        char, kind = chr(code), unicodedata.category(chr(code))
        upper, lower = UPPER.get(code, single(code, char.upper())), LOWER.get(code, single(code, char.lower()))
        if upper != code:
            up.append((code, upper))
        if lower != code:
            down.append((code, lower))
        letter = kind[0] == "L" or kind == "Nl" or (kind[0] in "NM" and code > 0x7F)
        if kind == "Lu" or lower != code:
            classes["upper"].append(code)
        if (kind == "Ll" or upper != code) and lower == code:
            classes["lower"].append(code)
        if letter or upper != code or lower != code:
            classes["alpha"].append(code)
        if char in "0123456789":
            classes["digit"].append(code)
        if char in "0123456789abcdefABCDEF":
            classes["xdigit"].append(code)
        if kind in ("Cc", "Zl", "Zp"):
            classes["cntrl"].append(code)
        spacing = kind[0] == "Z" and code not in (0xA0, 0x2007, 0x202F)
        if char in "\t\n\v\f\r" or spacing:
            classes["space"].append(code)
        if char == "\t" or (spacing and kind == "Zs"):
            classes["blank"].append(code)
        if kind in ("Cc", "Zl", "Zp"):
            continue
        classes["print"].append(code)
        if spacing:
            continue
        classes["graph"].append(code)
        if code not in classes["alpha"][-1:] and code not in classes["digit"][-1:]:
            classes["punct"].append(code)
    lines = ["LC_CTYPE"]
    for word, members in classes.items():
        lines.append(f"{word} " + ";/\n ".join(name(code) for code in members))
    lines.append("outdigit <U0030>..<U0039>")
    for word, pairs in (("toupper", up), ("tolower", down)):
        lines.append(f"{word} " + ";/\n ".join(f"({name(one)},{name(other)})" for one, other in pairs))
    return "\n".join([*lines, "END LC_CTYPE", ""])


def collate(codes):
    """Small letters and capitals side by side, which the order of codes keeps apart."""
    letters = [chr(code) + chr(code).upper() for code in range(ord("a"), ord("z") + 1)]
    front = [code for code in codes if code < 0x80 and not chr(code).isalpha()]
    middle = [ord(char) for char in "".join(letters)]
    order = front + middle + [code for code in codes if 0x80 <= code < 0x600]
    return "\n".join(["LC_COLLATE", "order_start forward", *(name(code) for code in order), "UNDEFINED", "order_end", "END LC_COLLATE", ""])


def main():
    localedef, folder = sys.argv[1], Path(sys.argv[2])
    codes = characters()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        source, map_of = Path(place) / "source", Path(place) / "charmap"
        source.write_text(HEAD + ctype(codes) + collate(codes) + CATEGORIES)
        map_of.write_text(charmap(codes))
        done = subprocess.run([localedef, "-c", "-f", map_of, "-i", source, folder.absolute()], capture_output=True, text=True, check=False)
    # Its exit status also tells of warnings.
    if not (folder / "LC_IDENTIFICATION").exists():
        sys.exit(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
