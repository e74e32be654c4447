"""Mutations of entries, as calls of the database's functions for them.

What an entry is found by is computed here, where Unicode's categories are, and sent with the text,
so that one call changes both. Text and terms are of one argument, so they cannot differ. An append
sends the terms of what it adds: between it and what is there stands a line break, which no term
crosses. Content and description are indexed apart, so either can change without the other's text.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ...notebook import (
    MAX_CONTENT_CHARS,
    MAX_OCCURRENCES,
    EntryKey,
    MemoryNotFound,
    MemoryRefusal,
    index_terms,
)
from ..checks import check_deadline, check_operation, parse_version
from ..entryrecords import Entry, EntryMutation, EntryWrite
from ..records import MemoryOperation
from .calls import Caller
from .changes import identity
from .entryrows import past, receipt
from .errors import DocumentTooLarge
from .rows import Row
from .walks import walk_back

_LONG = 4_096
"""Characters from which a text is split beside the event loop."""

_Kind = Literal["create", "put", "append", "update", "delete"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryChange:
    """What `mutate_entry_v1` is told to do; its comment says what each kind needs.

    Attributes:
        kind: What to do.
        store: The memory store.
        key: Which entry, for the first three kinds.
        entry_id: Which entry for the last two, and the chosen id for `create`.
        expected: The version it must have, `None` for any.
        content: The new text, or what is added; `None` keeps what is there.
        description: The new description; `None` keeps what is there.
    """

    kind: _Kind
    store: str
    key: EntryKey | None = None
    entry_id: str | None = None
    expected: str | None = None
    content: str | None = None
    description: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryMutator:
    """Changes entries for one operation.

    Attributes:
        caller: Runs the calls.
        write: Operation, deadline, provenance.
        incarnation: Of the memory store, `None` for any.
    """

    caller: Caller
    write: EntryWrite
    incarnation: int | None

    def __post_init__(self) -> None:
        check_operation(self.write.operation)
        check_deadline(self.write.deadline)

    async def apply(self, change: EntryChange) -> EntryMutation:
        """Make one change. One round trip, and one more when the operation is replayed."""
        key, provenance = change.key, self.write.provenance
        try:
            row = await self.caller.mutate(
                "mutate_entry",
                change.kind,
                change.store,
                key and key.actor,
                (key.session or "") if key else None,
                key and key.path,
                change.entry_id,
                None if change.expected is None else parse_version(change.expected),
                change.content,
                change.description,
                MAX_CONTENT_CHARS,
                provenance.source_type,
                provenance.origin,
                *await _terms(change.content),
                *await _terms(change.description),
                *identity(self.write.operation),
                self.write.deadline,
                self.incarnation,
                deadline=self.write.deadline,
            )
        except DocumentTooLarge:
            raise _oversize() from None
        if row["replayed"]:
            return await replay(self.caller, row, self.write.operation)
        return receipt(row, None, self._entry(change, row))

    async def forget(self, store: str, actor: str, path: str) -> EntryMutation:
        """Delete every session's entry at a path. One round trip."""
        row = await self.caller.mutate(
            "forget_entries",
            store,
            actor,
            path,
            self.write.provenance.source_type,
            self.write.provenance.origin,
            *identity(self.write.operation),
            self.write.deadline,
            self.incarnation,
            deadline=self.write.deadline,
        )
        return receipt(row, None, None)

    def _entry(self, change: EntryChange, row: Row) -> Entry | None:
        if row["version"] is None:
            return None
        return Entry(
            key=EntryKey(
                store=change.store,
                actor=row["actor"],
                path=row["path"],
                session=row["session"] or None,
            ),
            id=row["entry_ids"][0],
            version=str(row["version"]),
            content=change.content if row["content"] is None else row["content"],
            description=row["description"],
            provenance=self.write.provenance,
            created_at=row["created_at"],
            updated_at=row["updated_at"],
        )


async def replay(caller: Caller, row: Row, operation: MemoryOperation | None) -> EntryMutation:
    """Return a receipt, with the entry as the operation left it unless that is gone."""
    found = receipt(row, operation, None)
    if found.version is None:
        return found
    steps = partial(caller.rows, "document_steps_since", row["document_id"], row["version"])
    try:
        content, made = await walk_back(steps, found.version)
    except MemoryNotFound:  # its memory store was deleted, and its history with it
        return found
    return receipt(row, operation, past(content, made, found.entry_ids[0]))


async def _terms(text: str | None) -> tuple[str | None, int | None]:
    """Return the terms of a text as the database reads them, and their number.

    A long text is split in a thread: the largest takes tenths of a second.
    """
    if text is None:
        return None, None
    if len(text) < _LONG:
        return _split(text)
    return await asyncio.to_thread(_split, text)


def _split(text: str) -> tuple[str, int]:
    indexed = index_terms(text)
    parts = (
        f"'{term}':{','.join(map(str, range(1, min(count, MAX_OCCURRENCES) + 1)))}"
        for term, count in indexed.counts.items()
    )
    return " ".join(parts), indexed.length


def _oversize() -> MemoryRefusal:
    return MemoryRefusal(
        "oversize",
        f"The memory would have over {MAX_CONTENT_CHARS} characters. Save the text at another "
        "path, or replace what is there.",
    )
