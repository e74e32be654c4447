r"""Scoring: how well a file answers a query, from counts alone.

Of a folded text and a folded term are counted
- `total`: occurrences that do not overlap, from the left (in PostgreSQL
  `(length(text) - length(replace(text, term, ''))) / length(term)`);
- `whole`: occurrences that do not overlap, from the left, with a word boundary or an end of the
  text on both sides (`regexp_count(text, '(?<![^B])' || escaped || '(?![^B])')`, where `[B]` is
  `WORD_BOUNDARY`);
- `part = total - whole`.

For term *t* in a file, content and name together, where *c* counts in the folded content and *m*
in the folded name without `.md`: `whole = c.whole + 8 * m.whole`, `part = c.part + 8 * m.part`, and

    presence(t) = 1   - 1 / (32 * (whole + 1))    if whole > 0
                  0.5 - 1 / (32 * (part + 1))     if only part > 0
                  0                               otherwise
    rarity(t)   = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5))
    score       = (found / asked) * sum over t, in the query's order, of rarity(t) * presence(t)

with *N* the files looked at in the scope, *df(t)* those of them with `total > 0` in content or
name, *asked* the query's terms and *found* those of them in the file. The score is rounded to 9
decimals; higher is better, equal ones go by name in code point order.

Rarity is that of BM25 (Robertson and Zaragoza 2009, eq. 3.3, with 1 added so that it stays
positive). Presence saturates within 1/32 below its limit, and queries have at most 32 terms: so a
file with the whole words of another and one more always ranks above it, however often the other
repeats them, and any whole word is worth more than any number of parts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_TERMS = 32
"""Distinct terms of one query."""

NAME_WEIGHT = 8
"""An occurrence in a file's name counts as this many in its content."""

WORD_BOUNDARY = (
    r"[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb"
    r"\u00bf\u00d7\u00f7\u1680\u2000-\u206f\u2190-\u23ff\u2500-\u27bf\u2e00-\u2e2e\u2e30-\u2e7f"
    r"\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40"
    r"\uff5b-\uff65]"
)
"""The characters between words: a character class for Python's `re` and PostgreSQL alike.

Spaces and control characters, punctuation and symbols of ASCII, Latin-1, General Punctuation and
the CJK blocks, arrows, technical and graphic symbols.
"""

_INNER = WORD_BOUNDARY[1:-1]


@dataclass(frozen=True, kw_only=True, slots=True)
class TermCounts:
    """Occurrences of one term: as a whole word, and within a longer one."""

    whole: int = 0
    part: int = 0

    def __bool__(self) -> bool:
        return self.whole > 0 or self.part > 0


def term_counts(folded_text: str, term: str) -> TermCounts:
    """Count a folded, non-empty term in a folded text."""
    total = folded_text.count(term)
    if not total:
        return _NOTHING
    whole = len(_whole_word(term).findall(folded_text))
    return TermCounts(whole=whole, part=total - whole)


_NOTHING = TermCounts()


@lru_cache(maxsize=256)
def _whole_word(term: str) -> re.Pattern[str]:
    # The text before a match is looked at last: a pattern that starts with text is found faster.
    literal = re.escape(term)
    return re.compile(f"{literal}(?![^{_INNER}])(?<![^{_INNER}]{literal})")


def first_occurrence(folded_text: str, term: str) -> int:
    """Return where a term first occurs as a whole word, else within one, else -1."""
    found = _whole_word(term).search(folded_text)
    return found.start() if found else folded_text.find(term)


def file_counts(content: TermCounts, name: TermCounts) -> TermCounts:
    """Return the counts of a term in a file, from those in its content and in its name."""
    return TermCounts(
        whole=content.whole + NAME_WEIGHT * name.whole, part=content.part + NAME_WEIGHT * name.part
    )


def rarity(files: int, files_with_term: int) -> float:
    """Return the weight of a term that `files_with_term` of `files` files have."""
    return math.log(1 + (files - files_with_term + 0.5) / (files_with_term + 0.5))


def presence(counts: TermCounts) -> float:
    """Return how present a term is in a file, from 0 to below 1."""
    if counts.whole:
        return 1 - 1 / (MAX_TERMS * (counts.whole + 1))
    return 0.5 - 1 / (MAX_TERMS * (counts.part + 1)) if counts.part else 0.0


def score(
    terms: Sequence[str], counts: Mapping[str, TermCounts], rarities: Mapping[str, float]
) -> float:
    """Return the score of one file, 0.0 for one without any of the terms.

    Args:
        terms: The query's distinct terms, in its order.
        counts: What `file_counts` says of each term in this file; a missing one counts as none.
        rarities: The weight of each term.
    """
    found = [term for term in terms if counts.get(term)]
    if not found:
        return 0.0
    total = sum(rarities[term] * presence(counts[term]) for term in found)
    return round(len(found) / len(terms) * total, 9)


def rank(
    counts: Mapping[str, Mapping[str, TermCounts]], terms: Sequence[str], *, files: int
) -> list[tuple[str, float]]:
    """Return names and scores of the files that have any of the terms, best first.

    Args:
        counts: For each file that has any, by name, the counts of the terms it has.
        terms: The query's distinct terms, in its order.
        files: How many files were looked at.
    """
    having = {term: sum(term in found for found in counts.values()) for term in terms}
    rarities = {term: rarity(files, having[term]) for term in terms}
    scores = [(name, score(terms, found, rarities)) for name, found in counts.items()]
    return sorted(scores, key=lambda scored: (-scored[1], scored[0]))
