"""Receipts of entries' mutations: an operation is applied once, by its deadline, or never."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from entry_changes import CHANGES, Change, key, new_operation

from durable_memory.notebook import (
    MAX_CONTENT_CHARS,
    MemoryDeadlineExceeded,
    MemoryNotFound,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
)
from durable_memory.stores import (
    EntryMutation,
    EntryWrite,
    MemoryOperation,
    PostgresEntryStore,
    PostgresMemoryStore,
)


def told(mutation: EntryMutation) -> tuple[object, ...]:
    """What a mutation says, but for whether it was a replay."""
    return mutation.version, mutation.existed, mutation.entry_ids, mutation.entry


@pytest.mark.parametrize("made_again", [False, True])
@pytest.mark.parametrize("size", [5, MAX_CONTENT_CHARS - 3])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_mutation_arriving_again_is_answered_by_its_receipt(
    entries: PostgresEntryStore, store: str, change: Change, size: int, *, made_again: bool
) -> None:
    """The same operation changes nothing the second time, and says what it said.

    So it does on an entry that is nearly full, and when others were made in its place meanwhile.
    """
    made = await entries.create(key(store), content="x" * size)
    write = EntryWrite(operation=new_operation())
    first = await change(entries, store, made.entry_ids[0], write)
    if made_again:
        for path in ("/a.md", "/new"):
            await entries.forget(store, "someone", path)
            await entries.create(key(store, path), content="another")
    steps = await _history_length(entries, store)
    again = await change(entries, store, made.entry_ids[0], write)
    assert again.replayed
    assert not first.replayed
    assert told(again) == told(first)
    assert await _history_length(entries, store) == steps
    assert write.operation is not None
    assert await entries.get_operation(write.operation) == again
    assert await entries.settle(write.operation) == again


async def _history_length(entries: PostgresEntryStore, store: str) -> int:
    page = await entries.list_entries(store, "someone", limit=100)
    return sum([len(await entries.history(store, e.id, limit=100)) for e in page.entries])


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_late_mutation_changes_nothing(
    entries: PostgresEntryStore, store: str, change: Change
) -> None:
    """After its deadline a mutation is refused and leaves no receipt."""
    made = await entries.create(key(store), content="start")
    late = EntryWrite(operation=new_operation(), deadline=datetime.now(UTC) - timedelta(seconds=1))
    with pytest.raises(MemoryDeadlineExceeded):
        await change(entries, store, made.entry_ids[0], late)
    assert late.operation is not None
    assert await entries.get_operation(late.operation) is None
    entry = await entries.find(key(store))
    assert entry is not None
    assert entry.version == made.version


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_settled_operation_never_lands(
    entries: PostgresEntryStore, store: str, change: Change
) -> None:
    """What was settled before it was applied is abandoned for ever."""
    made = await entries.create(key(store), content="start")
    operation = new_operation()
    assert (await entries.settle(operation)).abandoned
    with pytest.raises(MemoryOperationAbandonedError):
        await change(entries, store, made.entry_ids[0], EntryWrite(operation=operation))
    found = await entries.get_operation(operation)
    assert found is not None
    assert found.abandoned


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_mutation_of_no_store_is_refused(entries: PostgresEntryStore, change: Change) -> None:
    """Nothing is written into a memory store that does not exist."""
    with pytest.raises(MemoryNotFound):
        await change(entries, "no-such-store", "some-id", EntryWrite())


async def test_operation_with_other_arguments_is_a_conflict(
    entries: PostgresEntryStore, store: str
) -> None:
    """An id that is used again with another fingerprint is refused everywhere."""
    operation = new_operation()
    await entries.put(key(store), content="x", write=EntryWrite(operation=operation))
    other = MemoryOperation(id=operation.id, fingerprint="other")
    for call in (
        entries.put(key(store), content="y", write=EntryWrite(operation=other)),
        entries.forget(store, "someone", "/a.md", write=EntryWrite(operation=other)),
        entries.get_operation(other),
        entries.settle(other),
    ):
        with pytest.raises(MemoryOperationConflictError):
            await call


async def test_receipt_of_a_deleted_store_still_answers(
    entries: PostgresEntryStore, store: str
) -> None:
    """A late retry writes nothing into a new store of the same id."""
    write = EntryWrite(operation=new_operation())
    first = await entries.put(key(store), content="x", write=write)
    assert await entries.delete_store(store)
    assert not await entries.delete_store(store)
    await entries.create_store(store, creator="USER:another")
    again = await entries.put(key(store), content="x", write=write)
    assert (again.replayed, again.entry, again.version) == (True, None, first.version)
    assert (await entries.list_entries(store, "someone", limit=1)).entries == []


async def test_receipt_of_a_notebook_answers_no_entry(
    entries: PostgresEntryStore, pool: asyncpg.Pool
) -> None:
    """An operation that changed a file is refused where entries are asked for it."""
    operation = new_operation()
    path = f"{operation.id}/agent/notes.md"
    await PostgresMemoryStore(pool).write(path, "x", expected_version=None, operation=operation)
    for call in (entries.get_operation(operation), entries.settle(operation)):
        with pytest.raises(MemoryOperationConflictError):
            await call
