"""Marks: long runs of them are cut, so that normalising takes time linear in the text.

Normalising sorts each run of non-starters (marks that stack on a letter), in time quadratic in the
run. No language stacks more than a few. As in Unicode's Stream-Safe Text Format (Standard Annex 15,
section 13), a run is cut by U+034F COMBINING GRAPHEME JOINER after every 30, which nothing is
sorted across. The twin in SQL is `cut_marks_v1`.
"""

from __future__ import annotations

import re

MAX_RUN = 30
"""Non-starters that follow each other without a cut."""

JOINER = "\u034f"
"""What runs are cut with: a mark that is not shown, and a starter to normalisation."""

# Made from `unicodedata`: all characters whose NFKD begins with one of a combining class above 0.
# Written out, and up to Unicode 16, so that every Python and PostgreSQL cut at the same places;
# tests hold it against what both know of.
NON_STARTER_CLASS = (
    r"[\u0300-\u034e\u0350-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    r"\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711"
    r"\u0730-\u074a\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d"
    r"\u0859-\u085b\u0897-\u089f\u08ca-\u08e1\u08e3-\u08ff\u093c\u094d\u0951-\u0954\u09bc\u09cd"
    r"\u09fe\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c3c\u0c4d\u0c55\u0c56\u0cbc\u0ccd\u0d3b"
    r"\u0d3c\u0d4d\u0dca\u0e38-\u0e3a\u0e48-\u0e4b\u0eb8-\u0eba\u0ec8-\u0ecb\u0f18\u0f19\u0f35"
    r"\u0f37\u0f39\u0f71-\u0f75\u0f7a-\u0f7d\u0f80-\u0f84\u0f86\u0f87\u0fc6\u1037\u1039\u103a"
    r"\u108d\u135d-\u135f\u1714\u1715\u1734\u17d2\u17dd\u18a9\u1939-\u193b\u1a17\u1a18\u1a60"
    r"\u1a75-\u1a7c\u1a7f\u1ab0-\u1abd\u1abf-\u1ace\u1b34\u1b44\u1b6b-\u1b73\u1baa\u1bab\u1be6"
    r"\u1bf2\u1bf3\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce0\u1ce2-\u1ce8\u1ced\u1cf4\u1cf8\u1cf9"
    r"\u1dc0-\u1dff\u20d0-\u20dc\u20e1\u20e5-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f"
    r"\u3099\u309a\ua66f\ua674-\ua67d\ua69e\ua69f\ua6f0\ua6f1\ua806\ua82c\ua8c4\ua8e0-\ua8f1"
    r"\ua92b-\ua92d\ua953\ua9b3\ua9c0\uaab0\uaab2-\uaab4\uaab7\uaab8\uaabe\uaabf\uaac1\uaaf6\uabed"
    r"\ufb1e\ufe20-\ufe2f\uff9e\uff9f\U000101fd\U000102e0\U00010376-\U0001037a\U00010a0d\U00010a0f"
    r"\U00010a38-\U00010a3a\U00010a3f\U00010ae5\U00010ae6\U00010d24-\U00010d27"
    r"\U00010d69-\U00010d6d\U00010eab\U00010eac\U00010efd-\U00010eff\U00010f46-\U00010f50"
    r"\U00010f82-\U00010f85\U00011046\U00011070\U0001107f\U000110b9\U000110ba\U00011100-\U00011102"
    r"\U00011133\U00011134\U00011173\U000111c0\U000111ca\U00011235\U00011236\U000112e9\U000112ea"
    r"\U0001133b\U0001133c\U0001134d\U00011366-\U0001136c\U00011370-\U00011374"
    r"\U000113ce-\U000113d0\U00011442\U00011446\U0001145e\U000114c2\U000114c3\U000115bf\U000115c0"
    r"\U0001163f\U000116b6\U000116b7\U0001172b\U00011839\U0001183a\U0001193d\U0001193e\U00011943"
    r"\U000119e0\U00011a34\U00011a47\U00011a99\U00011c3f\U00011d42\U00011d44\U00011d45\U00011d97"
    r"\U00011f41\U00011f42\U0001612f\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016ff0\U00016ff1"
    r"\U0001bc9e\U0001d165-\U0001d169\U0001d16d-\U0001d172\U0001d17b-\U0001d182"
    r"\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244\U0001e000-\U0001e006"
    r"\U0001e008-\U0001e018\U0001e01b-\U0001e021\U0001e023\U0001e024\U0001e026-\U0001e02a"
    r"\U0001e08f\U0001e130-\U0001e136\U0001e2ae\U0001e2ec-\U0001e2ef\U0001e4ec-\U0001e4ef"
    r"\U0001e5ee\U0001e5ef\U0001e8d0-\U0001e8d6\U0001e944-\U0001e94a]"
)
"""The non-starters: a character class for Python's `re` and PostgreSQL alike."""

_BOUNDS = re.findall("(.)(?:-(.))?", NON_STARTER_CLASS[1:-1].encode().decode("unicode_escape"))

NON_STARTERS = frozenset(
    chr(code) for first, last in _BOUNDS for code in range(ord(first), ord(last or first) + 1)
)
"""The characters of `NON_STARTER_CLASS`."""

_FULL_RUN = re.compile(b"\1{%d}(?=\1)" % MAX_RUN)


def has_long_run(text: str) -> bool:
    """Tell whether a text may have a run of over 12 non-starters; it surely has none if not.

    Runs of 12 have at most 27 once they are decomposed: one becomes two at most, and the letter
    before them brings three.
    """
    # Most text is passed by every 13th character alone, and the rest by two beside some of them.
    if NON_STARTERS.isdisjoint(text[12::13]):
        return False
    found = (at for at in range(12, len(text), 13) if text[at] in NON_STARTERS)
    return any(
        (text[at - 1] in NON_STARTERS and text[at - 2] in NON_STARTERS)
        or (text[at + 1 : at + 2] in NON_STARTERS and text[at + 2 : at + 3] in NON_STARTERS)
        for at in found
    )


def cut_runs(text: str) -> str:
    """Return `text` with a `JOINER` after every 30 non-starters that another one follows."""
    if not has_long_run(text):
        return text
    places = [run.end() for run in _FULL_RUN.finditer(bytes(map(NON_STARTERS.__contains__, text)))]
    bounds = zip([0, *places], [*places, len(text)], strict=True)
    return JOINER.join(text[start:end] for start, end in bounds)
