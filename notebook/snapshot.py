"""Snapshot: the bounded text of a notebook at one moment, as put in a model's request.

    <memory>
    ## heading

    [Older text is left out: ...]
    the newest lines of MEMORY.md

    Other files: a.md, b.md
    [More files are left out: ...]
    </memory>

Guidance and snapshot share one budget of `max_tokens * 4` characters. Guidance never takes the
last 384 of them, in which markers, heading and both notices always have room.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from .errors import InvalidMemoryRequest
from .limits import CHARS_PER_TOKEN, check_limit
from .markers import CLOSE, OPEN, neutralize
from .names import MAIN_FILENAME, is_memory_filename
from .text import is_storable
from .toolkits import check_tool_prefix
from .tools import with_tool_names

RENDERER_VERSION = 1
"""Part of every token: another renderer makes another text of the same notebook."""

SNAPSHOT_RESERVE_CHARS = 384
"""Characters of the budget that guidance never takes."""

MAX_HEADING_CHARS = 100
"""Length of a heading, look-alikes of markers in it escaped."""

_EMPTY = "[Memory is empty.]"
_EMPTY_MAIN = f"[{MAIN_FILENAME} is empty.]"
_OLDER = (
    f'[Older text of {MAIN_FILENAME} is left out: {{read_memory}} with "{MAIN_FILENAME}", or '
    "{search_memory}.]"
)
_FILES = "Other files: "
_MORE_FILES = "[More files: {search_memory}.]"
_CUT = "..."
_GAP = "\n\n"
_BETWEEN_NAMES = ", "
_SHORTEST_NAME = len("a.md")
_FILES_SHARE = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class NotebookView:
    """What a snapshot is made of, as a store gathers it.

    Attributes:
        tail: The end of `MEMORY.md`, at most as many characters as were asked for.
        tail_truncated: Whether `MEMORY.md` holds more before `tail`.
        names: Names of the scope's other files that the memory tools can spell.
        names_truncated: Whether there are more than `names`.
    """

    tail: str = ""
    tail_truncated: bool = False
    names: tuple[str, ...] = ()
    names_truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotOptions:
    """How a snapshot is rendered.

    Attributes:
        heading: Put above it as `## heading`, if any.
        guidance_chars: Length of the guidance that shares the budget.
        max_tokens: Guidance and snapshot together, in tokens of 4 characters.
        max_lines: Lines of `MEMORY.md` shown at most.
        tool_prefix: The prefix of the tools' names.

    Raises:
        InvalidMemoryRequest: One of them is malformed.
    """

    heading: str = ""
    guidance_chars: int = 0
    max_tokens: int = 2_000
    max_lines: int = 200
    tool_prefix: str = ""

    def __post_init__(self) -> None:
        check_heading(self.heading)
        check_limit("max_tokens", self.max_tokens)
        check_limit("max_lines", self.max_lines)
        check_tool_prefix(self.tool_prefix)
        if type(self.guidance_chars) is not int or self.guidance_chars < 0:
            raise InvalidMemoryRequest("guidance_chars must be a whole number, 0 or more")

    @property
    def max_chars(self) -> int:
        """Characters of the whole snapshot, markers included."""
        total = self.max_tokens * CHARS_PER_TOKEN
        return total - min(self.guidance_chars, guidance_room(self.max_tokens))


def guidance_room(max_tokens: int) -> int:
    """Return how many characters of a budget guidance may take.

    Raises:
        InvalidMemoryRequest: `max_tokens` is not a valid limit.
    """
    return check_limit("max_tokens", max_tokens) * CHARS_PER_TOKEN - SNAPSHOT_RESERVE_CHARS


def check_heading(heading: str) -> str:
    """Return `heading` if it can stand above guidance and snapshot.

    Raises:
        InvalidMemoryRequest: It is not one line of at most 100 characters that can be stored.
    """
    if not isinstance(heading, str) or len(heading.splitlines()) > 1:
        raise InvalidMemoryRequest("a heading is one line of text")
    if not is_storable(heading):
        raise InvalidMemoryRequest("the heading holds NUL or half of a surrogate pair")
    if len(heading) > MAX_HEADING_CHARS or len(neutralize(heading)) > MAX_HEADING_CHARS:
        raise InvalidMemoryRequest(f"a heading has at most {MAX_HEADING_CHARS} characters")
    return heading


def snapshot_bounds(options: SnapshotOptions) -> tuple[int, int]:
    """Return how much a snapshot could show, which is what to ask a store for.

    Returns:
        Characters of the end of `MEMORY.md`, and names of other files.
    """
    room = _room(options)
    names = (room - len(_FILES) + len(_BETWEEN_NAMES)) // (_SHORTEST_NAME + len(_BETWEEN_NAMES))
    return room, names


def render_snapshot(view: NotebookView, options: SnapshotOptions) -> str:
    """Return the text of a notebook, in its markers, at most `options.max_chars` characters.

    The newest lines are kept; the line at which the room ends is cut at its start. Other files
    get what `MEMORY.md` leaves, and at least a quarter of the room. What was left out is said.

    Args:
        view: What the store gathered; what is over `snapshot_bounds` is not looked at.
        options: How to render it.
    """
    view = _bounded(view, options)
    room = _room(options)
    main, files = _main(view, options, room), _files(view, options, room)
    if files and len(main) + len(_GAP) + len(files) > room:
        least = len(with_tool_names(_MORE_FILES, options.tool_prefix))
        files = _files(
            view, options, max(least, room // _FILES_SHARE, room - len(main) - len(_GAP))
        )
        main = _main(view, options, room - len(_GAP) - len(files))
    body = f"{main}{_GAP}{files}" if files else main
    return f"{OPEN}\n{_head(options)}{body}\n{CLOSE}"


def snapshot_token(view: NotebookView, options: SnapshotOptions) -> str:
    """Return a digest of everything that shapes the snapshot's text, 64 hexadecimal digits.

    The same token means the same text. It stands for the text in a workflow's history when memory
    has not changed.
    """
    view = _bounded(view, options)
    shape = [options.max_chars, options.max_lines, options.heading, options.tool_prefix]
    seen = [view.tail, view.tail_truncated, view.names, view.names_truncated]
    text = json.dumps([RENDERER_VERSION, shape, seen], separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _head(options: SnapshotOptions) -> str:
    return f"## {neutralize(options.heading)}{_GAP}" if options.heading else ""


def _room(options: SnapshotOptions) -> int:
    return options.max_chars - len(f"{OPEN}\n{_head(options)}\n{CLOSE}")


def _bounded(view: NotebookView, options: SnapshotOptions) -> NotebookView:
    """Return the part of a view that can be shown, so that no more of it is ever looked at."""
    tail_chars, max_names = snapshot_bounds(options)
    shown = view.names[:max_names]
    return NotebookView(
        tail=view.tail[-tail_chars:],
        tail_truncated=view.tail_truncated or len(view.tail) > tail_chars,
        names=tuple(n for n in shown if n != MAIN_FILENAME and is_memory_filename(n)),
        names_truncated=view.names_truncated or len(view.names) > max_names,
    )


def _main(view: NotebookView, options: SnapshotOptions, room: int) -> str:
    """Return the newest lines of `MEMORY.md`, below a notice if there are older ones."""
    text = neutralize(view.tail.replace("\r\n", "\n")).strip("\n")
    if not text.strip() and not view.tail_truncated:
        return _EMPTY_MAIN if view.names or view.names_truncated else _EMPTY
    newest = _last_lines(text, options.max_lines)
    if newest == text and not view.tail_truncated and len(text) <= room:
        return text
    notice = with_tool_names(_OLDER, options.tool_prefix)
    if not newest:
        return notice
    whole = newest != text or not view.tail_truncated
    return f"{notice}\n{_last_chars(newest, room - len(notice) - 1, whole=whole)}"


def _last_lines(text: str, lines: int) -> str:
    start = len(text)
    for _ in range(lines):
        start = text.rfind("\n", 0, start)
        if start < 0:
            return text
    return text[start + 1 :] if lines else ""


def _last_chars(text: str, room: int, *, whole: bool) -> str:
    """Return the end of `text`, marked where it starts within a line.

    Args:
        text: The lines to show.
        room: Characters there is room for.
        whole: Whether the first line is whole.
    """
    if whole and len(text) <= room:
        return text
    start = max(0, len(text) - room)
    if start > 0 and text[start - 1] == "\n":
        return text[start:]
    start = max(0, len(text) - room + len(_CUT))
    return _CUT + text[start:] if room > len(_CUT) else ""


def _files(view: NotebookView, options: SnapshotOptions, room: int) -> str:
    """Return the names of the other files, above a notice if not all are named."""
    everything = _FILES + _BETWEEN_NAMES.join(view.names) if view.names else ""
    if not view.names_truncated and len(everything) <= room:
        return everything
    notice = with_tool_names(_MORE_FILES, options.tool_prefix)
    names = _fitting(view.names, room - len(_FILES) - 1 - len(notice))
    return f"{_FILES}{_BETWEEN_NAMES.join(names)}\n{notice}" if names else notice


def _fitting(names: Iterable[str], room: int) -> list[str]:
    kept: list[str] = []
    for name in names:
        room -= len(name) + (len(_BETWEEN_NAMES) if kept else 0)
        if room < 0:
            break
        kept.append(name)
    return kept
