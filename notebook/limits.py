"""Limits and their defaults, and the bounds no limit may pass."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .entries import MAX_ENTRY_RESULTS
from .errors import InvalidMemoryRequest

CHARS_PER_TOKEN = 4
"""Characters counted as one token of a model's request."""

MAX_RECORD_BYTES = 1024 * 1024
"""Encoded size of the largest record sent through Temporal (half of its payload limit)."""

MAX_TASK_BYTES = 2 * 1024 * 1024
"""Encoded size of all records one workflow task may hold (half of Temporal's message limit)."""

MAX_BYTES_PER_CHAR = 12
"""One character as JSON in ASCII, at worst (a surrogate pair of escapes)."""

_RECORD_OVERHEAD_BYTES = 64 * 1024
_MAX_TEXT_CHARS = (MAX_RECORD_BYTES - _RECORD_OVERHEAD_BYTES) // MAX_BYTES_PER_CHAR

_BOUNDS: dict[str, tuple[int, int]] = {
    # The markers, a heading and one notice must always fit; see `snapshot.py`.
    "max_tokens": (128, _MAX_TEXT_CHARS // CHARS_PER_TOKEN),
    "max_lines": (0, 1_000_000),
    # A character is at least one byte: above this no file could be sent whole. Files are sent
    # cut where they are larger as JSON than a record.
    "max_memory_size": (1, 1_000_000),
    "max_search_results": (1, 1_000),
    "max_search_result_chars": (100, _MAX_TEXT_CHARS),
    "max_search_files": (1, 1_000_000),
    "max_entry_results": (1, MAX_ENTRY_RESULTS),
    "max_listed_entries": (1, 400),
    # One entry's path, session and description must always fit.
    "max_entry_result_chars": (6_000, _MAX_TEXT_CHARS),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The bounds of a notebook.

    Attributes:
        max_tokens: Guidance, notebook and file list together, in tokens of 4 characters.
        max_lines: Lines of `MEMORY.md` shown at most.
        max_memory_size: Characters of one file that are read, searched and written.
        max_search_results: Matches of one search.
        max_search_result_chars: File names and snippets of one search together, in characters.
        max_search_files: Files that a scan looks at.

    Raises:
        InvalidMemoryRequest: A limit is not a whole number, or outside the range in which its
            record can be sent; the message names it.
    """

    max_tokens: int = 2_000
    max_lines: int = 200
    max_memory_size: int = 65_536
    max_search_results: int = 10
    max_search_result_chars: int = 4_000
    max_search_files: int = 1_000

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryLimits:
    """The bounds of what is shown of entries.

    Attributes:
        max_entry_results: Matches of one search.
        max_listed_entries: Entries of one list.
        max_entry_result_chars: Paths, descriptions and contents of one search, or of one list,
            together, in characters.

    Raises:
        InvalidMemoryRequest: As `Limits`.
    """

    max_entry_results: int = 10
    max_listed_entries: int = 200
    max_entry_result_chars: int = 20_000

    def __post_init__(self) -> None:
        _check(self)


def _check(limits: Limits | EntryLimits) -> None:
    for field in fields(limits):
        check_limit(field.name, getattr(limits, field.name))


def check_limit(name: str, value: object) -> int:
    """Return `value` if it may be the limit `name`; raise `InvalidMemoryRequest` if not."""
    low, high = _BOUNDS[name]
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidMemoryRequest(f"{name} must be a whole number, from {low} to {high}")
    if not low <= value <= high:
        raise InvalidMemoryRequest(f"{name} is {value}; it must be from {low} to {high}")
    return value
