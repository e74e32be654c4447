"""How scope segments and file names are spelled on disk.

A disk may compare names without case, in another normalisation, refuse characters, or reserve
names. So no two names of a store may have spellings that any common disk takes for one, and every
spelling can be read back. Ordinary names are spelled as they are: `MEMORY.md`, `notes.md`, `가.md`,
`you@example.com`.

* `%XX` stands for a byte of UTF-8 of what a disk could refuse or change: controls, `"*/:<>?|` and
  the backslash, `%` and `~` themselves, `.` and blanks at an end, the first letter of a device
  (`con`, `nul`); and where the whole name would change by folding, of all that is not ASCII.
* `~` and a number in hexadecimal says which letters are capitals, the first by the lowest bit:
  `Alice` is `Alice~1`. Names in small letters need none, nor does `MEMORY.md`; its small twin is
  `memory~0.md`.
* Files end in `.md` and folders never do: `notes.md` as a segment is `notes%2Emd`, and a file
  `notes` is `notes~0-.md`, where `-` says that the name has no ending.
* A spelling over the bound goes on in folders: each but the last piece ends in `~+`, and each but
  the first begins with `~`.

What is left when case is folded away still tells the name: `~` occurs nowhere else, the number
gives the capitals back, and what is kept beyond ASCII does not change by folding. Files of a person
whose names are spelled otherwise (`Ideas.md` in place of `Ideas~1.md`) are not seen, and not
touched.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from urllib.parse import unquote_to_bytes

from ...notebook import MAIN_FILENAME, drop_ignorable, fold

MAX_PIECE_BYTES = 200
"""Size of one name on disk; common disks take 255."""

CONTINUED = "~+"
"""Ending of a folder in which a spelling goes on."""

_MARK = "~"
_SUFFIX = ".md"
_NO_SUFFIX = "-"
_ESCAPED = frozenset('"*/:<>?\\|%~\x7f') | frozenset(map(chr, range(32)))
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$) *(\.|\Z)", re.IGNORECASE)
_TOKENS = re.compile(r"%[0-9A-F]{2}|.", re.DOTALL)
_FILE = re.compile(r"([^~]*)(?:~[0-9a-f]+(-?))?\.md", re.DOTALL)
_FOLDER = re.compile(r"([^~]*)(?:~[0-9a-f]+)?", re.DOTALL)


def spell_file(name: str) -> tuple[str, ...]:
    """Return the pieces that spell a file's name: folders, and the file as the last."""
    plain = name.endswith(_SUFFIX) and name != _SUFFIX
    body = name.removesuffix(_SUFFIX) if plain else name
    capitals = _capitals(body)
    usual = _capitals(MAIN_FILENAME) if name.lower() == MAIN_FILENAME.lower() else 0
    mark = "" if plain and capitals == usual else f"{_MARK}{capitals:x}"
    return _cut(_escape(body), f"{mark}{'' if plain else _NO_SUFFIX}{_SUFFIX}")


def spell_segment(segment: str) -> tuple[str, ...]:
    """Return the pieces that spell a scope's segment: folders."""
    capitals = _capitals(segment)
    escaped = _escape(segment)
    if segment.lower().endswith(_SUFFIX) and escaped[-len(_SUFFIX)] == ".":
        escaped = f"{escaped[: -len(_SUFFIX)]}%2E{escaped[1 - len(_SUFFIX) :]}"
    return _cut(escaped, f"{_MARK}{capitals:x}" if capitals else "")


def spell_path(scope: str, name: str) -> tuple[str, ...]:
    """Return the pieces of a path: folders, and the file as the last."""
    folders = (piece for segment in scope.split("/") for piece in spell_segment(segment))
    return (*folders, *spell_file(name))


def read_file(pieces: Sequence[str]) -> str | None:
    """Return the name that the pieces spell; `None` when no name is spelled so."""
    spelled = _FILE.fullmatch(_join(pieces))
    if spelled is None:
        return None
    name = _unescape(spelled[1])
    if name is not None and not spelled[2]:
        name += _SUFFIX
    return name if name is not None and spell_file(name) == tuple(pieces) else None


def read_segment(pieces: Sequence[str]) -> str | None:
    """Return the segment that the pieces spell; `None` when no segment is spelled so."""
    spelled = _FOLDER.fullmatch(_join(pieces))
    segment = None if spelled is None else _unescape(spelled[1])
    return segment if segment and spell_segment(segment) == tuple(pieces) else None


def _capitals(text: str) -> int:
    """Return which of the letters that have two cases are capitals; the first is the lowest bit."""
    cased = (character for character in text if _small(character) or _capital(character))
    return sum(1 << place for place, character in enumerate(cased) if _small(character))


def _small(character: str) -> str | None:
    """Return the small letter of a capital that has exactly one."""
    small = character.lower()
    paired = small != character and len(small) == 1 and small.upper() == character
    return small if paired else None


def _capital(character: str) -> str | None:
    """Return the capital of a small letter that has exactly one."""
    capital = character.upper()
    paired = capital != character and len(capital) == 1 and capital.lower() == character
    return capital if paired else None


def _escape(text: str) -> str:
    stable = text.isascii() or _is_stable("".join(_small(each) or each for each in text))
    device = _DEVICES.match(text) is not None
    last = len(text) - 1
    return "".join(
        _percent(each)
        if each in _ESCAPED
        or (each in ". " and place in {0, last})
        or (device and place == 0)
        or not (stable or each.isascii())
        else each
        for place, each in enumerate(text)
    )


def _is_stable(text: str) -> bool:
    """Whether folding, in any of its kinds, leaves a text of small letters as it is."""
    kinds = {unicodedata.category(character)[0] for character in text if not character.isascii()}
    return fold(text) == text and drop_ignorable(text) == text and kinds <= set("LMNPS")


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def _unescape(text: str) -> str | None:
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeError:
        return None


def _cut(escaped: str, ending: str) -> tuple[str, ...]:
    """Cut a spelling into pieces within the bound; the ending is never torn."""
    if len((escaped + ending).encode()) <= MAX_PIECE_BYTES:
        return (escaped + ending,)
    pieces, piece = list[str](), ""
    for token in [*_TOKENS.findall(escaped), ending]:
        if len(f"{piece}{token}{CONTINUED}".encode()) > MAX_PIECE_BYTES:
            pieces.append(piece + CONTINUED)
            piece = _MARK
        piece += token
    return (*pieces, piece)


def _join(pieces: Iterable[str]) -> str:
    first, *rest = pieces
    return "".join(
        [first.removesuffix(CONTINUED)]
        + [piece.removesuffix(CONTINUED).removeprefix(_MARK) for piece in rest]
    )
