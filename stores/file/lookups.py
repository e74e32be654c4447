"""What can be asked of the files; the journal only says which versions they have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...notebook import MAIN_FILENAME, NotebookView, is_memory_filename, split_path
from ..records import MemoryFile
from .contents import Found, look, peek, tail
from .errors import ForeignFileError
from .folders import opened
from .journal import Journal
from .listing import names_in
from .spelling import spell_path


def read(root: Path, journal: Journal, path: str, max_chars: int) -> MemoryFile | None:
    """Return the beginning of a file and the version of all of it.

    A mutation may come between looking at the journal and at the file. So a state that the journal
    did not know is foreign only if the journal says the same afterwards.
    """
    known = journal.known(path)
    while True:
        found = _find(root, path, max_chars)
        if found is None:
            return None
        before, known = known, known if known.has(found.stamp) else journal.known(path)
        if known == before:
            return MemoryFile(
                content=found.text,
                version=known.version_of(found.stamp),
                truncated=found.truncated,
            )


def view(root: Path, prefix: str, tail_chars: int, max_names: int) -> NotebookView:
    """Return the tail of a scope's main file and the names beside it."""
    scope = prefix.removesuffix("/")
    names = [name for name in _own(root, scope) if name != MAIN_FILENAME]
    *folders, main = spell_path(scope, MAIN_FILENAME)
    try:
        with opened(root, folders) as folder:
            text, more = tail(folder, main, max_chars=tail_chars) or ("", False)
    except (FileNotFoundError, ForeignFileError):
        text, more = "", False
    return NotebookView(
        tail=text,
        tail_truncated=more,
        names=tuple(names[:max_names]),
        names_truncated=len(names) > max_names,
    )


def contents(
    root: Path, prefix: str, *, max_files: int, max_chars: int
) -> Iterator[tuple[str, MemoryFile]]:
    """Yield the beginnings of a scope's files that the tools can spell, one by one."""
    scope = prefix.removesuffix("/")
    for name in _own(root, scope)[: max_files + 1]:
        *folders, spelled = spell_path(scope, name)
        try:
            with opened(root, folders) as folder:
                found = peek(folder, spelled, max_chars=max_chars)
        except (FileNotFoundError, ForeignFileError):
            continue
        if found:
            # A search shows no versions.
            yield name, MemoryFile(content=found[0], version="", truncated=found[1])


def _own(root: Path, scope: str) -> list[str]:
    return [name for name in names_in(root, scope) if is_memory_filename(name)]


def _find(root: Path, path: str, max_chars: int) -> Found | None:
    *folders, name = spell_path(*split_path(path))
    try:
        with opened(root, folders) as folder:
            return look(folder, name, max_chars=max_chars)
    except (FileNotFoundError, ForeignFileError):
        return None
