"""Splices: changes of one text, which can be undone.

A splice fits one state of a text: at a position, some of it is removed and some added. A store
keeps every version of a file as the splices between them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Splice:
    """One change of a text: at position `at`, `removed` goes and `added` comes.

    Attributes:
        at: Position in characters (code points), from 0.
        removed: What stands there before the change.
        added: What stands there after it.
    """

    at: int
    removed: str
    added: str


def apply_splice(text: str, splice: Splice) -> str:
    """Return `text` with `splice` done.

    Raises:
        ValueError: `text` is not what the splice was made for.
    """
    return _swap(text, splice.at, splice.removed, splice.added)


def undo_splice(text: str, splice: Splice) -> str:
    """Return `text` as it was before `splice`.

    Raises:
        ValueError: `text` is not what the splice left.
    """
    return _swap(text, splice.at, splice.added, splice.removed)


def diff_splice(before: str, after: str) -> Splice:
    """Return a splice that makes `after` of `before`: all but their common start and end."""
    start = _common_start(before, after)
    old, new = before[start:], after[start:]
    end = _common_start(old[::-1], new[::-1])
    return Splice(at=start, removed=old[: len(old) - end], added=new[: len(new) - end])


def _swap(text: str, at: int, old: str, new: str) -> str:
    if not (0 <= at <= len(text) and text.startswith(old, at)):
        raise ValueError("the splice does not fit this text")
    return text[:at] + new + text[at + len(old) :]


def _common_start(one: str, two: str) -> int:
    """Return how many characters two texts share at their start; halves what it compares."""
    same, end = 0, min(len(one), len(two))
    while same < end:
        middle = (same + end + 1) // 2
        if one[same:middle] == two[same:middle]:
            same = middle
        else:
            end = middle - 1
    return same
