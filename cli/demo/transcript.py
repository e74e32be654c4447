"""The conversation behind the demo: JSON lines, cut into sessions.

Each line is an object with `role` (`user`, `assistant`, `system` or `tool`) and `content`, and may
have a `session`. The agent is fed the user's lines, one workflow run for each session; the others
are there to be read by people.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...notebook import (
    MAIN_FILENAME,
    Append,
    Limits,
    MemoryRefusal,
    apply_splice,
    check_text,
    plan_edit,
)
from ..errors import MISUSED, CommandError

MIN_USER_LINES = 2
"""The demo holds the worker at a note that is not the first."""

MAX_SESSION_LINES = 40
"""Fewer than the agent answers before it continues as new."""

_ROLES = ("assistant", "developer", "system", "tool", "user")


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """What the user said in one session, in order."""

    name: str
    lines: tuple[str, ...]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    role: str
    content: str
    session: str = Field(default="", max_length=100)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Said:
    session: str
    content: str


def load_transcript(path: Path | None = None) -> tuple[Session, ...]:
    """Read a transcript: at least two sessions, at least two lines of the user.

    A session of more than `MAX_SESSION_LINES` is cut into several, and a transcript of one session
    in two: the demo needs a run before the one it interrupts, and resets a run as a whole.

    Args:
        path: The file; the transcript shipped with the project when `None`.

    Raises:
        CommandError: The file cannot be read, or a line cannot be used; names the line.
    """
    return parse_transcript(_lines(path))


def parse_transcript(lines: Iterable[str]) -> tuple[Session, ...]:
    """Parse the lines of a transcript, as `load_transcript`."""
    said = list(_parse(lines))
    if len(said) < MIN_USER_LINES:
        raise CommandError(
            f"the transcript needs at least {MIN_USER_LINES} lines of the user", exit_code=MISUSED
        )
    longest = MAX_SESSION_LINES
    if len({line.session for line in said}) == 1:
        longest = min(longest, (len(said) + 1) // 2)
    return tuple(
        part
        for name, group in groupby(said, key=attrgetter("session"))
        for part in _cut(name, tuple(line.content for line in group), longest)
    )


def _lines(path: Path | None) -> list[str]:
    if path is None:
        shipped = resources.files(__package__).joinpath("transcript.jsonl")
        return shipped.read_text(encoding="utf-8").split("\n")
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CommandError(f"{path}: {reason}", exit_code=MISUSED) from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise _fault(line, "not UTF-8") from None


def _parse(lines: Iterable[str]) -> Iterator[_Said]:
    """Yield what the user said; every line of the file is checked."""
    rules = _Rules()
    session = ""
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        line = _parse_line(number, text)
        session = line.session or session
        if line.role == "user":
            rules.admit(number, session, line.content)
            yield _Said(session=session, content=line.content)


def _parse_line(number: int, text: str) -> _Line:
    try:
        line = _Line.model_validate(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise _fault(number, _reason(error)) from None
    if line.role not in _ROLES:
        raise _fault(number, f"role must be one of {', '.join(_ROLES)}")
    return line


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        fault = error.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(map(str, fault['loc'])) or 'line'}: {fault['msg']}"
    return "not a JSON object"


class _Rules:
    """What the user's lines must be so that each can become a note of its own."""

    def __init__(self) -> None:
        self._notebook = ""
        self._ended: set[str] = set()
        self._session: str | None = None

    def admit(self, number: int, session: str, content: str) -> None:
        """Check one line of the user.

        Raises:
            CommandError: It cannot be a note; names the line.
        """
        if session in self._ended:
            raise _fault(number, "this session has already ended")
        if self._session is not None and session != self._session:
            self._ended.add(self._session)
        self._session = session
        self._write(number, content)

    def _write(self, number: int, content: str) -> None:
        current = self._notebook or None
        limit = Limits().max_memory_size
        try:
            edit = Append(content=check_text(content, field="content"))
            splice = plan_edit(current, edit, name=MAIN_FILENAME, max_chars=limit)
        except MemoryRefusal as refusal:
            raise _fault(number, str(refusal)) from None
        self._notebook = apply_splice(self._notebook, splice)


def _cut(name: str, lines: tuple[str, ...], longest: int) -> Iterator[Session]:
    if len(lines) <= longest:
        yield Session(name=name, lines=lines)
        return
    for part, start in enumerate(range(0, len(lines), longest), start=1):
        yield Session(name=f"{name} {part}".strip(), lines=lines[start : start + longest])


def _fault(number: int, reason: str) -> CommandError:
    return CommandError(f"transcript line {number}: {reason}", exit_code=MISUSED)
