"""Light stemming of English: plurals, verb endings and a few derived forms.

After M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, steps 1a to 1c, and
final `e`. The later steps, which cut words to their Latin roots, are left out: in a memory of some
hundred short texts they join words that have nothing to do with each other more often than they
find one.
"""

from __future__ import annotations

import re

_VOWEL = re.compile(r"[aeiouy]")
_PLAIN = re.compile(r"[a-z]{3,}")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")


def stem(word: str) -> str:
    """Return the stem of a folded word; of one that is not of `a-z` alone, the word."""
    if not _PLAIN.fullmatch(word):
        return word
    return _final(_verb(_plural(word)))


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + ("ie" if len(word) == 4 else "y")  # noqa: PLR2004  (ties, not flies)
    if word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    return word[:-1]


def _verb(word: str) -> str:
    """Take off `ed` and `ing`, and undo what they did to the end of the verb."""
    for ending in ("ingly", "edly", "ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and _VOWEL.search(base) and len(base) > 1:
            break
    else:
        return word
    if _DOUBLE.search(base):
        return base[:-1]
    return base


def _final(word: str) -> str:
    """Make `happy` and `happi`, `like` and `lik` one."""
    if len(word) > 3 and word.endswith("e"):  # noqa: PLR2004  (short words keep their vowel)
        word = word[:-1]
    if len(word) > 2 and word.endswith("y") and word[-2] not in "aeiou":  # noqa: PLR2004
        word = word[:-1] + "i"
    return word
