"""The records that a store of entries takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..notebook import (
    EntryFilter,
    EntryKey,
    InvalidMemoryRequest,
    Provenance,
    Splice,
    is_storable,
)
from .records import MemoryOperation

EVERYTHING = EntryFilter()
"""All of an actor's entries."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryStoreInfo:
    """A memory store.

    Attributes:
        id: Chosen by its creator, never changes; also its display name.
        description: For people.
        creator: Principal that made it, as the service names principals.
        created_at: By the database's clock.
        updated_at: When its description last changed.
    """

    id: str
    description: str
    creator: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """An entry, or one of its versions.

    Attributes:
        key: Whose it is and where it lies.
        id: Public id within its store: `[A-Za-z0-9._-]`, never guessable unless the creator chose
            it, and another one after delete and re-create.
        version: Opaque; new with every write.
        content: The text; `None` when it was not asked for.
        description: Short text for search; may be empty.
        provenance: Where the last write came from.
        created_at: By the database's clock.
        updated_at: By the database's clock; order by `version` where order matters.
    """

    key: EntryKey
    id: str
    version: str
    content: str | None
    description: str
    provenance: Provenance
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryMutation:
    """What a mutation did: also the receipt of it.

    Attributes:
        entry: The entry as this mutation left it, also in a replay, when others have written
            since; `None` when it is deleted, or its store is.
        entry_ids: Ids of the entries that were changed or deleted; several after `forget`.
        version: The version it made; `None` when no entry is left.
        existed: Whether there was an entry before.
        replayed: This is the receipt of an earlier arrival of the same operation.
        abandoned: As in `MemoryMutation`; only from `settle` and `get_operation`.
    """

    entry: Entry | None = None
    entry_ids: tuple[str, ...] = ()
    version: str | None = None
    existed: bool = False
    replayed: bool = False
    abandoned: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryCursor:
    """A place in an actor's list: the page goes on behind it, whatever came or went meanwhile.

    It need not be an entry's: one that was made up shows a part of the same actor's list, no more.

    Raises:
        InvalidMemoryRequest: It cannot be sent to a database.
    """

    path: str
    session: str | None = None

    def __post_init__(self) -> None:
        if not is_storable(self.path + (self.session or "")):
            raise InvalidMemoryRequest("a cursor is text without NUL and lone surrogates")


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryPage:
    """One page of entries, in bytewise order of path, then session (none first).

    Attributes:
        entries: At most `limit`.
        next: Where the next page goes on; `None` on the last.
    """

    entries: Sequence[Entry]
    next: EntryCursor | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryStorePage:
    """One page of memory stores, in order of their ids.

    Attributes:
        stores: At most `limit`.
        next: The id behind which the next page goes on; `None` on the last.
    """

    stores: Sequence[EntryStoreInfo]
    next: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryMatch:
    """An entry that search found; scores order the matches of one search and no more."""

    entry: Entry
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryVersion:
    """One step of an entry's history, of earlier entries at the same place too.

    Attributes:
        version: The version it made.
        operation_id: The operation that made it, when it had one.
        workflow_id: The workflow that asked for it, empty for none.
        written_at: By the database's clock.
        existed_before: Whether there was an entry before.
        exists: Whether there was one after.
        change: What it did to the content.
        description: The description after it.
        provenance: Where it came from.
    """

    version: str
    operation_id: str | None
    workflow_id: str
    written_at: datetime
    existed_before: bool
    exists: bool
    change: Splice
    description: str
    provenance: Provenance


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryWrite:
    """What every mutation is told beside its arguments.

    Attributes:
        operation: Identity, for exactly-once.
        deadline: Aware time after which nothing may change.
        provenance: Where the text comes from.
    """

    operation: MemoryOperation | None = None
    deadline: datetime | None = None
    provenance: Provenance = field(default_factory=Provenance)


PLAIN_WRITE = EntryWrite()
"""A write by an agent, without an operation and a deadline."""
