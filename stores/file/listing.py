"""What is in the directory: scopes and files, read back from their spellings."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from .errors import ForeignFileError
from .folders import opened
from .spelling import CONTINUED, read_file, read_segment, spell_segment


@dataclass(kw_only=True, slots=True)
class Contents:
    """What lies directly in a scope's folder.

    Attributes:
        names: Files.
        segments: Scopes nested in it, by one segment.
    """

    names: list[str] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)


def names_in(root: Path, scope: str) -> list[str]:
    """Return the names of a scope's files, bytewise."""
    return sorted(_contents(root, scope).names, key=str.encode)


def paths_below(root: Path, prefix: str, limit: int) -> list[str]:
    """Return at most `limit` paths that start with `prefix`, in the order of listings.

    Scopes come in the order of their keys, which is no order of folders (`a-b` lies between `a` and
    `a/b`): the smallest that is known is next, as those nested in it are greater.
    """
    return list(islice(_walk(root, prefix.removesuffix("/")), limit))


def _walk(root: Path, start: str) -> Iterator[str]:
    waiting = [(start.encode(), start)]
    while waiting:
        _, scope = heapq.heappop(waiting)
        found = _contents(root, scope)
        prefix = f"{scope}/" if scope else ""
        for segment in found.segments:
            key = prefix + segment
            heapq.heappush(waiting, (key.encode(), key))
        if scope:
            yield from (prefix + name for name in sorted(found.names, key=str.encode))


def _contents(root: Path, scope: str) -> Contents:
    pieces = chain.from_iterable(map(spell_segment, scope.split("/"))) if scope else ()
    found = Contents()
    # A folder that is missing holds nothing, and neither does a link.
    with suppress(FileNotFoundError, ForeignFileError):
        _scan(root, tuple(pieces), (), found)
    return found


def _scan(root: Path, folders: Sequence[str], begun: Sequence[str], found: Contents) -> None:
    """Add what is in a folder; `begun` are the pieces of a spelling that goes on in it."""
    with opened(root, (*folders, *begun)) as folder, os.scandir(folder) as entries:
        kinds = [
            (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False))
            for entry in entries
        ]
    for name, is_folder, is_file in kinds:
        pieces = (*begun, name)
        if is_folder and name.endswith(CONTINUED):
            _scan(root, folders, pieces, found)
        elif is_folder and (segment := read_segment(pieces)):
            found.segments.append(segment)
        elif is_file and (spelled := read_file(pieces)):
            found.names.append(spelled)
