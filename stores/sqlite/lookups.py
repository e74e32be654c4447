"""What can be asked of the tables, each within one transaction that sees one state of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from ...notebook import (
    MAIN_FILENAME,
    MemoryNotFound,
    NotebookView,
    Splice,
    is_storable,
    split_path,
)
from ..checks import NEWEST
from ..history import rebuild
from ..records import MemoryFile, MemoryVersion
from ..statements import statements
from .clock import moment
from .sessions import Session

_SQL = statements(__package__, "queries.sql")


def read(session: Session, path: str, max_chars: int) -> MemoryFile | None:
    """Return the beginning of a file."""
    row = session.row(_SQL["read"], max_chars + 1, *split_path(path))
    return None if row is None else _file(row, max_chars)


def list_paths(session: Session, prefix: str, limit: int) -> list[str]:
    """Return the paths below a prefix, in the order of listings."""
    own = session.rows(_SQL["list_own"], prefix.removesuffix("/"), limit)
    paths = [f"{row['scope']}/{row['name']}" for row in own]
    # Bytewise, the scopes nested below `a/` lie from there up to `a0`, as `0` follows `/`.
    low, high = (prefix, prefix[:-1] + "0") if prefix else ("", "\U0010ffff")
    nested = session.rows(_SQL["list_nested"], low, high, limit - len(paths))
    return [*paths, *(f"{row['scope']}/{row['name']}" for row in nested)]


def view(session: Session, prefix: str, tail_chars: int, max_names: int) -> NotebookView:
    """Return the tail of a scope's main file and the names beside it."""
    scope = prefix.removesuffix("/")
    row = session.row(_SQL["tail"], tail_chars + 1, scope, MAIN_FILENAME)
    tail = "" if row is None else row["tail"]
    rows = session.rows(_SQL["names"], scope, MAIN_FILENAME, max_names + 1)
    names = [row["name"] for row in rows]
    return NotebookView(
        tail=tail[-tail_chars:],
        tail_truncated=len(tail) > tail_chars,
        names=tuple(names[:max_names]),
        names_truncated=len(names) > max_names,
    )


def contents(
    session: Session, prefix: str, *, max_files: int, max_chars: int
) -> Iterator[tuple[str, MemoryFile]]:
    """Yield the beginnings of a scope's files that the tools can spell, one by one."""
    scope = prefix.removesuffix("/")
    for row in session.rows(_SQL["contents"], max_chars + 1, scope, max_files + 1):
        yield row["name"], _file(row, max_chars)


def history(session: Session, path: str, *, limit: int, before: str | None) -> list[MemoryVersion]:
    """Return steps of a file, newest first; none before a version that it never had."""
    bound = NEWEST if before is None else _step_of(session, path, before)
    if bound is None:
        return []
    return list(map(_step, session.rows(_SQL["history"], *split_path(path), bound, limit)))


def read_version(session: Session, path: str, version: str) -> MemoryFile | None:
    """Rebuild a file as it was; raise `MemoryNotFound` if it never had that version."""
    first, row = _step_of(session, path, version), session.row(_SQL["document"], *split_path(path))
    if first is None or row is None:
        raise MemoryNotFound
    steps = map(_step, session.rows(_SQL["steps_since"], *split_path(path), first))
    content = rebuild(row["content"], steps, version)
    return None if content is None else MemoryFile(content=content, version=version)


def _step_of(session: Session, path: str, version: str) -> int | None:
    """Return the place of a version; `None` for one that the file never had.

    What cannot be stored is no version of any file, and SQLite's driver fails on it.
    """
    if not is_storable(version):
        return None
    row = session.row(_SQL["step_of"], *split_path(path), version)
    return None if row is None else int(row["step"])


def _file(row: sqlite3.Row, max_chars: int) -> MemoryFile:
    content = row["content"]
    return MemoryFile(
        content=content[:max_chars], version=row["version"], truncated=len(content) > max_chars
    )


def _step(row: sqlite3.Row) -> MemoryVersion:
    return MemoryVersion(
        version=row["version"],
        operation_id=row["operation_id"],
        written_at=moment(row["written_at"]),
        existed_before=bool(row["existed_before"]),
        exists=bool(row["exists_after"]),
        change=Splice(at=row["at"], removed=row["removed"], added=row["added"]),
    )
