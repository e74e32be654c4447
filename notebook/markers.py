r"""Markers: what encloses a snapshot, and keeping stored text from counterfeiting them.

A look-alike is text that reads as a `memory` tag once compatibility characters are normalised
(NFKC), characters that are not shown are dropped, entities are decoded, also nested ones, and
case and spaces are overlooked. What would be its `<` is written `&lt;\`. The backslash keeps it
from becoming a tag again for a reader that decodes entities.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from html.entities import html5

from .folding import drop_ignorable

OPEN = "<memory>"
"""The marker before a snapshot."""

CLOSE = "</memory>"
"""The marker after a snapshot."""

_ESCAPE = "&lt;\\"
_MAX_PASSES = 8
_AMPERSANDS = "&\uff06\ufe60"
_SUSPECT = re.compile(f"[<\uff1c\ufe64{_AMPERSANDS}]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_AMPERSAND = re.compile(f"[{_AMPERSANDS}]")

# Also a tag that the end of the text cuts off: what comes after it is not known here.
_TAG = re.compile(r"<\s*(?:/\s*)?(?:memory|(?:m(?:e(?:m(?:or?)?)?)?)?\Z)", re.IGNORECASE)

_NUMERIC = re.compile(r"&#(?:0*([0-9]{1,7})(?![0-9])|[xX]0*([0-9a-fA-F]{1,6})(?![0-9a-fA-F]));?")
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31};?)")
_SHORTEST_NAME = 2

_View = tuple[str, list[int], list[int]]
"""Normalised text, and where in the original each of its characters starts and ends."""


def neutralize(text: str) -> str:
    """Return `text` with the `<` of every look-alike of a `memory` tag escaped.

    Takes time linear in the text. Text without look-alikes comes back as it is, and so does text
    that was neutralised before.
    """
    if not _SUSPECT.search(text):
        return text
    view = _normalised(text)
    for _ in range(_MAX_PASSES):
        decoded = _decoded(view)
        if decoded is None:
            return _escaped(text, view)
        view = decoded
    # Entities nested this deep have no honest reason: stop all of them from being decoded.
    broken = _AMPERSAND.sub(r"&\\", text)
    return _escaped(broken, _normalised(broken))


def _escaped(text: str, view: _View) -> str:
    normal, starts, ends = view
    pieces, done = [], 0
    for tag in _TAG.finditer(normal):
        pieces += [text[done : starts[tag.start()]], _ESCAPE]
        done = ends[tag.start()]
    return "".join([*pieces, text[done:]])


def _normalised(text: str) -> _View:
    if text.isascii() and not _CONTROL.search(text):
        return text, list(range(len(text))), list(range(1, len(text) + 1))
    pieces = list(map(_normalised_character, text))
    starts = [at for at, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), starts, [at + 1 for at in starts]


@lru_cache(maxsize=8192)
def _normalised_character(character: str) -> str:
    return "".join(filter(_is_shown, drop_ignorable(unicodedata.normalize("NFKC", character))))


def _is_shown(character: str) -> bool:
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Mn", "Me"}
    return character in "\t\n\r" or not hidden


def _decoded(view: _View) -> _View | None:
    """Return the view with its entities decoded once, `None` if it has none."""
    normal, starts, ends = view
    pieces: list[str] = []
    new_starts: list[int] = []
    new_ends: list[int] = []
    done = 0
    at = normal.find("&")
    while at >= 0:
        found = _entity(normal, at)
        if found is not None:
            plain, stop = found
            pieces += [normal[done:at], plain]
            new_starts += starts[done:at] + [starts[at]] * len(plain)
            new_ends += ends[done:at] + [ends[stop - 1]] * len(plain)
            done = stop
        at = normal.find("&", max(done, at + 1))
    if not pieces:
        return None
    return (
        "".join([*pieces, normal[done:]]),
        new_starts + starts[done:],
        new_ends + ends[done:],
    )


def _entity(normal: str, at: int) -> tuple[str, int] | None:
    """Return what the entity at a position decodes to, normalised, and where it ends."""
    if number := _NUMERIC.match(normal, at):
        code = int(number[1]) if number[1] else int(number[2], 16)
        plain = chr(code) if code <= sys.maxunicode else ""
        return "".join(map(_normalised_character, plain)), number.end()
    if named := _NAMED.match(normal, at):
        # As browsers read it: the longest name that starts here, some without a semicolon.
        for length in range(len(named[1]), _SHORTEST_NAME - 1, -1):
            plain = html5.get(named[1][:length], "")
            if plain:
                return "".join(map(_normalised_character, plain)), at + 1 + length
    return None
