"""Commits wait for the disk, on a database that is told not to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import uuid4

import asyncpg
import pytest
from backends import SingleConnection

from durable_memory.notebook import Append, EntryKey, Remove, Replace
from durable_memory.stores import PostgresEntryStore, PostgresMemoryStore
from durable_memory.testing.samples import new_operation, new_scope

FILE = new_scope().path("notes.md")
ENTRY = EntryKey(store=f"s-{uuid4().hex[:16]}", actor="ann", path="/notes.md")

Change = Callable[[PostgresMemoryStore, PostgresEntryStore], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "append": lambda files, _: files.edit(FILE, Append(content="two"), max_chars=100),
    "replace": lambda files, _: files.edit(
        FILE, Replace(old_text="one", content="two"), max_chars=100
    ),
    "remove": lambda files, _: files.edit(FILE, Remove(), max_chars=100),
    "write": lambda files, _: files.write(f"{FILE}.md", "new", expected_version=None),
    "settle": lambda files, _: files.settle(new_operation()),
    "put": lambda _, entries: entries.put(ENTRY, content="two"),
    "append to an entry": lambda _, entries: entries.append(ENTRY, content="two"),
    "forget": lambda _, entries: entries.forget(ENTRY.store, ENTRY.actor, ENTRY.path),
    "delete a store": lambda _, entries: entries.delete_store(ENTRY.store),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("setting", "kept"), [("off", "on"), ("on", "on"), ("remote_apply", "remote_apply")]
)
async def test_change_waits_for_the_disk(
    migrated_url: str, change: Change, setting: str, kept: str
) -> None:
    """Where commits need not be durable those of a change are, and a stricter setting stays."""
    settings = {"synchronous_commit": setting}
    connection = await asyncpg.connect(migrated_url, server_settings=settings)
    pool = SingleConnection(connection)
    files, entries = PostgresMemoryStore(pool), PostgresEntryStore(pool)
    transaction = connection.transaction()
    await transaction.start()
    await files.write(FILE, "one", expected_version=None)
    await entries.create_store(ENTRY.store, creator="USER:someone")
    await entries.put(ENTRY, content="one")
    await connection.execute(f"SET LOCAL synchronous_commit = {setting}")
    await change(files, entries)
    assert await connection.fetchval("SHOW synchronous_commit") == kept
    await transaction.rollback()
    await connection.close()
