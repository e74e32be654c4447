"""Terms: what the text of entries and queries is indexed by.

Text becomes words at Unicode's boundaries between letters, marks and digits and all else. Words
are compared after NFKC, case folding and without accents, and English endings are taken off, so
that `Cafés` and `cafe` are one term. Chinese, Japanese and Korean are written without spaces
between words, or with endings grown onto them: a run of their characters becomes its single
characters and its pairs, so that a word inside the run is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .folding import fold
from .marks import cut_runs
from .stemming import stem

MAX_TERM_CHARS = 64
"""Length of a term; of a longer word the beginning is the term."""

MAX_TERMS_PER_TEXT = 20_000
"""Different terms of one entry that are indexed; the first ones are."""

_MAX_TERM_BYTES = 300_000
"""Bytes of all terms of one entry, so that they fit the database's type for them."""

_MAX_FOLDED = 262_144
"""Folded characters of one text that are indexed: some single ones fold into eighteen."""

# Han, Hiragana, Katakana, Bopomofo, Hangul, and Thai, Lao, Khmer, Burmese: runs that are no words.
_RUN = (
    "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1100-\u11ff\u1780-\u17d3\u2e80-\u2fdf"
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u3099\u309a"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7a3\ud7b0-\ud7ff"
    "\uf900-\ufaff\U0001aff0-\U0001afff\U0001b000-\U0001b16f\U00020000-\U000323af"
)
# The vowel signs and other marks inside words of Indic scripts, which are no letters to `re`.
_MARKS = "\u0900-\u0963\u0971-\u0dff"
_LETTER = f"(?![{_RUN}])(?:[^\\W_]|[{_MARKS}])"
_TERMS = re.compile(f"([{_RUN}]+)|((?:{_LETTER})+(?:_+(?:{_LETTER})+)*)")

_STOP_LIST = """
a an the and or but if nor so as than then that this these those there here i me my mine
myself we us our ours you your yours he him his she her hers it its they them their
theirs who whom whose which what when where why how am is are was were be been being do
does did doing have has had having will would shall should can could may might must not
no of in on at to for from with without by about into onto over under up down out off
through s t ll re ve d m don didn doesn isn aren wasn weren
"""
STOP_WORDS = frozenset(_STOP_LIST.split())
"""English words that say little about a text."""

MAX_QUERY_TERMS = 200
"""Different terms of a query that are looked for; the first ones are."""

MAX_OCCURRENCES = 16
"""Occurrences of a term that are counted: from there on more make no difference."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedText:
    """What a text is indexed by.

    Attributes:
        counts: How often each term occurs.
        length: Occurrences of all terms together.
    """

    counts: Mapping[str, int]
    length: int


def split_terms(text: str) -> Iterator[str]:
    """Yield the terms of a text, in order, each as often as it occurs.

    A run of Chinese, Japanese or Korean gives each of its characters and each two that are
    neighbours; every other word gives its stem. `_` does not end a word (Unicode Standard Annex
    29), so `john_doe` is another word than `john-doe`, which is two.
    """
    for run in _TERMS.finditer(_plain(text)):
        if run[1]:
            yield from run[1]
            yield from map("".join, zip(run[1], run[1][1:], strict=False))
        else:
            yield _stem(run[2][:MAX_TERM_CHARS])


def _with_parts(terms: Iterable[str]) -> Iterator[str]:
    """Yield terms and the words that `_` joins in them: a text is found by those too."""
    for term in terms:
        yield term
        if "_" in term:
            yield from (_stem(part) for part in term.split("_") if part)


def index_terms(text: str) -> IndexedText:
    """Return what a text is indexed by.

    That of two texts with a line break between them is the sum of both, so that an append can be
    indexed without what it is added to.
    """
    counts: dict[str, int] = {}
    length, room = 0, _MAX_TERM_BYTES
    for term in _with_parts(split_terms(text)):
        length += 1
        if term in counts:
            counts[term] += 1
        elif len(counts) < MAX_TERMS_PER_TEXT and room > 0:
            room -= len(term.encode())
            counts[term] = 1
    return IndexedText(counts=counts, length=length)


def query_terms(query: str) -> tuple[str, ...]:
    """Return the terms of a query, each once, in order; at most 200."""
    return tuple(dict.fromkeys(split_terms(query)))[:MAX_QUERY_TERMS]


def is_stop_term(term: str) -> bool:
    """Tell whether a term is the stem of a stop word."""
    return term in _STOP_STEMS


def _plain(text: str) -> str:
    """Return `text` folded and without accents; Hangul stays composed."""
    folded = fold(text)[:_MAX_FOLDED]
    if folded.isascii():
        return folded
    parts = unicodedata.normalize("NFD", folded)
    # A joiner that cut a run of marks is an accent too: without it the run is long again.
    kept = "".join(c for c in parts if not _is_accent(c))
    return unicodedata.normalize("NFC", cut_runs(kept))


@lru_cache(maxsize=4096)
def _is_accent(character: str) -> bool:
    """Tell whether a character only changes the letter before it.

    So do the marks of European scripts, and the points of Hebrew and Arabic. Those of other scripts
    make another syllable.
    """
    european = character < "\u0900" or "\u1ab0" <= character <= "\u20ff"
    return european and unicodedata.category(character) == "Mn"


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    return stem(word)


_STOP_STEMS = frozenset(map(stem, STOP_WORDS))
