"""The records that a memory store takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..notebook import Splice


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryFile:
    """One memory file.

    Attributes:
        content: The file's text, or the first `max_chars` characters of it.
        version: Opaque; stands for the whole file, also when `content` is cut.
        truncated: Whether the file holds more than `content`.
    """

    content: str
    version: str
    truncated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryOperation:
    """The identity of one mutation.

    Attributes:
        id: Names the operation; the same for every attempt and replay of it.
        fingerprint: Digest of the arguments; the same id with another one is a conflict.
        workflow_id: Workflow that asked for it, so that receipts of open runs can be kept.
        run_id: The run of that workflow, as above.
    """

    id: str
    fingerprint: str
    workflow_id: str = ""
    run_id: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryMutation:
    """What a mutation did: also the receipt of it.

    Attributes:
        version: The version it made; `None` when no file is left.
        replayed: Whether this is the receipt of an earlier arrival of the same operation.
        existed: Whether the file existed before.
        abandoned: The operation was settled before it was applied, and never will be. Only
            `settle` and `get_operation` return it; a mutation raises
            `MemoryOperationAbandonedError`.
    """

    version: str | None
    replayed: bool = False
    existed: bool = False
    abandoned: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class MemorySearchMatch:
    """One file that matched, with a piece of it that shows a match where the text has one."""

    path: str
    snippet: str
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MemorySearchResult:
    """Matches, best first.

    Attributes:
        matches: At most `limit`.
        scanned: How many files were looked at.
        truncated: Whether files, matches or text were left out.
    """

    matches: Sequence[MemorySearchMatch]
    scanned: int
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryVersion:
    """One step of a file's history.

    Attributes:
        version: The version this step made.
        operation_id: The operation that made it, when it had one.
        written_at: When, by the store's clock.
        existed_before: Whether the file existed before the step.
        exists: Whether it existed after it.
        change: The edit: where, what was removed, what was added.
    """

    version: str
    operation_id: str | None
    written_at: datetime
    existed_before: bool
    exists: bool
    change: Splice
