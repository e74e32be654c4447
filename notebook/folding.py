"""Folding: the form in which text is compared, and the way back to the text itself.

`fold(x) = NFKC(casefold(NFKC(x)))`, with Unicode's full, context-free case folding. In PostgreSQL:
`normalize(casefold(normalize(x, NFKC) COLLATE pg_unicode_fast), NFKC)`. It is stable:
`fold(fold(x)) == fold(x)`. Characters that only one side's Unicode version knows may differ.

Long runs of marks are cut first, as `marks.py` says, and once more where they are decomposed:
`NFKC(cut(NFKD(casefold(NFKC(cut(x))))))`, which is the same where there are none. So all of it is
linear, and a folded text needs no more cuts, however it is decomposed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .marks import NON_STARTERS, cut_runs, has_long_run

_BLOCK_CHARS = 512

# Default_Ignorable_Code_Point (DerivedCoreProperties.txt), which `unicodedata` does not have.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def fold(text: str) -> str:
    """Return `text` as it is compared: `NFKC(casefold(NFKC(text)))`, with long runs cut."""
    if text.isascii():
        return text.lower()
    if not has_long_run(text):
        return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    folded = unicodedata.normalize("NFKC", cut_runs(text)).casefold()
    return unicodedata.normalize("NFKC", cut_runs(unicodedata.normalize("NFKD", folded)))


def unfold_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of `text` that holds the span `start:end` of `fold(text)`.

    The span is the smallest that folds on its own, so that the folded piece is found again in the
    fold of any piece of `text` around it: a base letter with its marks, a Hangul syllable from its
    jamo, a ligature as a whole.

    Args:
        text: The text as stored.
        start: First position in `fold(text)`.
        end: Position after the last in `fold(text)`, greater than `start`.
    """
    if text.isascii():
        return start, end
    first, folded = _skip(text, 0, 0, start, _BLOCK_CHARS)
    first, folded = _skip(text, first, folded, start, 1)
    last, folded = _skip(text, first, folded, end - 1, _BLOCK_CHARS)
    last, _ = _skip(text, last, folded, end - 1, 1)
    return first, next_cut(text, last + 1)


def next_cut(text: str, at: int) -> int:
    """Return the first position from `at` on at which cutting `text` does not change its fold."""
    while at < len(text) and _joins(text[at]):
        at += 1
    return min(at, len(text))


def _skip(text: str, at: int, folded: int, target: int, step: int) -> tuple[int, int]:
    """Pass over the pieces of about `step` characters whose fold ends before `target`."""
    while at < len(text):
        stop = next_cut(text, at + step)
        length = folded + len(fold(text[at:stop]))
        if length > target:
            break
        at, folded = stop, length
    return at, folded


@lru_cache(maxsize=8192)
def _joins(character: str) -> bool:
    """Tell whether a character may combine with the one before it when they are normalised."""
    first = unicodedata.normalize("NFKD", character)[0]
    # Vowel and final jamo, and the one vowel sign that combines without being a mark.
    jamo = "\u1160" <= first <= "\u11ff" or first == "\U00016d67"
    mark = unicodedata.category(first).startswith("M") or character in NON_STARTERS
    return jamo or mark


def drop_ignorable(text: str) -> str:
    """Return `text` without the characters that are, by their Unicode properties, not shown."""
    return text if text.isascii() else _IGNORABLE.sub("", text)
