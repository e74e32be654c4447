"""Edits: what a tool call does to a file, and the splice that does it.

An edit is what was asked for, and fits any state of the file or is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from .errors import MemoryRefusal
from .names import MAIN_FILENAME
from .splices import Splice
from .text import check_text

_LINE_ENDING = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class Append:
    """Add `content` as new lines at the end; creates the file."""

    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Replace:
    """Put `content` in the place of the one passage `old_text`; empty removes the passage."""

    old_text: str
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Remove:
    """Delete the file."""


Edit: TypeAlias = Append | Replace | Remove
"""One change of a file, as it was asked for."""


def check_edit(edit: Edit) -> Edit:
    """Return `edit` if it can be carried out on some file.

    Raises:
        MemoryRefusal: `invalid_text` for text that cannot be stored, `invalid_arguments` for an
            append of nothing or a replacement of nothing.
    """
    if isinstance(edit, Remove):
        return edit
    check_text(edit.content, field="content")
    if isinstance(edit, Replace):
        check_text(edit.old_text, field="old_text")
        if not edit.old_text:
            raise MemoryRefusal(
                "invalid_arguments",
                "`old_text` is empty. Leave it out to append, or pass the passage to replace.",
            )
    elif not edit.content.strip():
        raise MemoryRefusal(
            "invalid_arguments",
            "There is nothing to append. Pass the text in `content`, or pass `old_text` to "
            "replace or remove a passage.",
        )
    return edit


def check_removable(name: str) -> None:
    """Raise `MemoryRefusal` (`protected`) for the main notebook, which is never deleted."""
    if name == MAIN_FILENAME:
        raise MemoryRefusal(
            "protected",
            f"{MAIN_FILENAME} is the main notebook and cannot be deleted. Remove text from it by "
            "writing with `old_text` and an empty `content`.",
        )


def plan_edit(current: str | None, edit: Edit, *, name: str, max_chars: int) -> Splice:
    r"""Return the splice that carries out `edit` on a file.

    A `Remove` takes out the whole text; of a missing file, nothing. A `Replace` needs exactly one
    occurrence of `old_text`, overlapping ones counted, line endings (`\r\n`, `\r`, `\n`)
    compared as equal. Where the passage found has other line endings than `old_text`, those of
    `content` become the first one of the passage; else `content` goes in as it is.

    Args:
        current: The file's whole text, `None` when there is no file.
        edit: What to do.
        name: The file's name, for the messages.
        max_chars: Characters a file may have, before and after an append or a replacement.

    Raises:
        MemoryRefusal: As `check_edit` and `check_removable`; `oversize`, `not_found`,
            `text_not_found` or `ambiguous`. Nothing was changed.
    """
    check_edit(edit)
    if isinstance(edit, Remove):
        check_removable(name)
        return Splice(at=0, removed=current or "", added="")
    before = len(current or "")
    if before > max_chars:
        raise _oversize_file(name, max_chars)
    if isinstance(edit, Append):
        added = append_addition(current or "", edit.content)
        splice = Splice(at=before, removed="", added=added)
    else:
        splice = _replacement(current, edit, name)
    after = before - len(splice.removed) + len(splice.added)
    if after > max_chars:
        raise _oversize_result(name, after, max_chars)
    return splice


def append_addition(current: str, content: str) -> str:
    r"""Return what an append adds after `current`, which is kept as it is.

    With `body` = `content` without the `\r` and `\n` at its end, and `newline` = the first line
    ending of `current` (`\r\n` if its first `\n` follows a `\r`, else `\n`), or if it has no
    `\n`, that of `content`, or if that has none either, `\n`:

    - `body + newline` if `current` is empty or ends with `\n`;
    - `newline + body + newline` otherwise.

    So it depends on no more of `current` than whether it is empty, its last character and the two
    characters at its first `\n`.
    """
    newline = newline_style(current) or newline_style(content) or "\n"
    body = content.rstrip("\r\n") + newline
    return body if not current or current.endswith("\n") else newline + body


def newline_style(text: str) -> str:
    r"""Return the line ending at the first `\n` of a text: `\r\n`, `\n`, or empty for none."""
    first = text.find("\n")
    if first < 0:
        return ""
    return "\r\n" if text[max(0, first - 1)] == "\r" else "\n"


def _replacement(current: str | None, edit: Replace, name: str) -> Splice:
    if current is None:
        raise MemoryRefusal(
            "not_found",
            f'There is no memory file "{name}". Leave out `old_text` to create it.',
        )
    start, end = _find_passage(current, edit.old_text, name)
    passage = current[start:end]
    added = edit.content
    if passage != edit.old_text:
        # The writer wrote other line endings than the file's, so means the file's.
        added = _LINE_ENDING.sub(_LINE_ENDING.findall(passage)[0], added)
    return Splice(at=start, removed=passage, added=added)


def _find_passage(current: str, old_text: str, name: str) -> tuple[int, int]:
    """Return the span of the only passage that is `old_text` up to line endings."""
    text, passage = _unify(current), _unify(old_text)
    start = text.find(passage)
    if start < 0:
        raise MemoryRefusal(
            "text_not_found",
            f'`old_text` does not occur in "{name}". Read the file and copy the passage exactly.',
        )
    if text.find(passage, start + 1) >= 0:
        raise MemoryRefusal(
            "ambiguous",
            f'`old_text` occurs more than once in "{name}". Take in some of the text around it, '
            "so that it occurs exactly once.",
        )
    return _original(current, start), _original(current, start + len(passage))


def _unify(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _original(text: str, offset: int) -> int:
    """Return the position in `text` of a position in `_unify(text)`."""
    pair = text.find("\r\n")
    while 0 <= pair < offset:
        offset += 1
        pair = text.find("\r\n", pair + 2)
    return offset


def _oversize_file(name: str, max_chars: int) -> MemoryRefusal:
    # Not how many: stores read no further than they must to know that it is over.
    return MemoryRefusal(
        "oversize",
        f'"{name}" has over {max_chars} characters, too many to be edited here. Write to another '
        "file.",
    )


def _oversize_result(name: str, chars: int, max_chars: int) -> MemoryRefusal:
    return MemoryRefusal(
        "oversize",
        f'"{name}" would have {chars} characters; the limit is {max_chars}. Shorten the text, or '
        "split it over several memory files.",
    )
