"""Snippets: the pieces of files that show why they matched, within one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .folding import fold, unfold_span
from .scoring import first_occurrence

_CUT = "..."
_MIN_SNIPPET_CHARS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A file that matched, and the text its snippet is taken from.

    Attributes:
        name: The file's name, without its scope.
        text: The file's text, or a part of it around a match.
        score: How well the file matched.
        cut_before: Whether the file has text before `text`.
        cut_after: Whether the file has text after it.
    """

    name: str
    text: str
    score: float
    cut_before: bool = False
    cut_after: bool = False

    @property
    def need(self) -> int:
        """Characters that show all of it."""
        return len(self.text) + len(_CUT) * (self.cut_before + self.cut_after)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchMatch:
    """One file that matched, as it is shown.

    Attributes:
        name: The file's name, without its scope.
        snippet: A piece of its text, which shows a match where the text has one.
        score: How well the file matched, above 0.
    """

    name: str
    snippet: str
    score: float


def show_matches(
    passages: Sequence[Passage], terms: Sequence[str], max_chars: int
) -> tuple[SearchMatch, ...]:
    """Return the matches that fit into a budget, with their snippets.

    As many are shown as have room for their names, and a match or 40 characters each. What is left
    is shared equally, and short texts leave what they do not need to the others.

    Args:
        passages: The files that matched, best first.
        terms: The query's folded terms.
        max_chars: Characters of all names and snippets together.
    """
    floors = _floors(passages, terms, max_chars)
    shown = passages[: len(floors)]
    room = max_chars - sum(len(one.name) for one in shown)
    shares = _shares([one.need for one in shown], floors, room)
    return tuple(
        SearchMatch(name=one.name, snippet=_snippet(one, terms, share), score=one.score)
        for one, share in zip(shown, shares, strict=True)
    )


def _floors(passages: Sequence[Passage], terms: Sequence[str], max_chars: int) -> list[int]:
    """Return the least that must be shown of each passage, for as many as there is room for."""
    floors: list[int] = []
    used = 0
    for one in passages:
        match = _shortest(_occurrences(one.text, terms))
        least = min(one.need, max(_MIN_SNIPPET_CHARS, _length(one.text, match)))
        if not floors:
            least = min(least, max_chars - len(one.name))
        used += len(one.name) + least
        if used > max_chars or least < 0:
            break
        floors.append(least)
    return floors


def _shares(needs: Sequence[int], floors: Sequence[int], room: int) -> list[int]:
    """Divide `room`: the same for all, but no less than its floor and no more than its need."""

    def divide(level: int) -> list[int]:
        return [min(n, max(f, level)) for n, f in zip(needs, floors, strict=True)]

    low, high = 0, max(room, 0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(divide(middle)) <= room:
            low = middle
        else:
            high = middle - 1
    return divide(low)


def _snippet(passage: Passage, terms: Sequence[str], max_chars: int) -> str:
    """Return a piece of a passage that shows the place where the most terms occur together.

    The piece is as stored. Where it was cut stands `...`, which counts too, and is left out where
    the match needs its place. The match is shown whole if it fits, else its start is. When no term
    occurs, because the name matched, the piece is the start of the text.
    """
    if passage.need <= max_chars:
        start, end = 0, len(passage.text)
    else:
        start, end = _best_match(passage.text, terms, max_chars)
        if end - start > max_chars - 2 * len(_CUT):
            return passage.text[start : start + max(0, max_chars)]
        start, end = _around(passage, start, end, max_chars)
    head = _CUT if start > 0 or passage.cut_before else ""
    tail = _CUT if end < len(passage.text) or passage.cut_after else ""
    return head + passage.text[start:end] + tail


def _around(passage: Passage, start: int, end: int, max_chars: int) -> tuple[int, int]:
    """Return the span to show of text that does not fit: the match in its middle if it can be."""
    room = max_chars - 2 * len(_CUT)
    spare_head = 0 if passage.cut_before else len(_CUT)
    spare_tail = 0 if passage.cut_after else len(_CUT)
    start -= (room - (end - start)) // 2
    if start <= spare_head:
        return 0, room + spare_head
    if start + room >= len(passage.text) - spare_tail:
        return len(passage.text) - room - spare_tail, len(passage.text)
    return start, start + room


_Spans = list[tuple[int, int]]
"""Where terms first occur in folded text, each as start and end."""


def _occurrences(text: str, terms: Sequence[str]) -> _Spans:
    folded = fold(text)
    found = ((first_occurrence(folded, term), len(term)) for term in terms)
    return [(at, at + length) for at, length in found if at >= 0]


def _shortest(spans: _Spans) -> tuple[int, int] | None:
    return min(spans, key=lambda span: span[1] - span[0], default=None)


def _length(text: str, span: tuple[int, int] | None) -> int:
    """Return how many characters of the text a span of its folded form stands for."""
    if span is None:
        return 0
    start, end = unfold_span(text, *span)
    return end - start


def _best_match(text: str, terms: Sequence[str], max_chars: int) -> tuple[int, int]:
    """Return the span of the first occurrence of the term that has the most others near it."""
    spans = _occurrences(text, terms)
    shortest = _shortest(spans)
    if shortest is None:
        return 0, 0
    reach = max_chars // 2

    def company(span: tuple[int, int]) -> int:
        return sum(span[0] - reach <= o[0] and o[1] <= span[1] + reach for o in spans)

    start, end = unfold_span(text, *max(spans, key=company))
    if end - start > max_chars:
        start, end = unfold_span(text, *shortest)
    return start, end
