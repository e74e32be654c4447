"""Commits wait for the disk, on a database that is told not to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import uuid4

import asyncpg
import pytest
from backends import SingleConnection

from durable_memory.notebook import Append, EntryKey, Remove, Replace
from durable_memory.stores import (
    Grant,
    Permission,
    PostgresEntryStore,
    PostgresGrantStore,
    PostgresMemoryStore,
    PostgresTokenStore,
    Principal,
    PrincipalType,
    issue_token,
)
from durable_memory.testing.samples import new_operation, new_scope

FILE = new_scope().path("notes.md")
ENTRY = EntryKey(store=f"s-{uuid4().hex[:16]}", actor="ann", path="/notes.md")

ANN = Principal(type=PrincipalType.USER, name="ann")
_, TOKEN = issue_token(ANN, admin=False)


@dataclass(frozen=True, kw_only=True)
class Stores:
    """All stores on one connection."""

    files: PostgresMemoryStore
    entries: PostgresEntryStore
    grants: PostgresGrantStore
    tokens: PostgresTokenStore


Change = Callable[[Stores], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "append": lambda on: on.files.edit(FILE, Append(content="two"), max_chars=100),
    "replace": lambda on: on.files.edit(
        FILE, Replace(old_text="one", content="two"), max_chars=100
    ),
    "remove": lambda on: on.files.edit(FILE, Remove(), max_chars=100),
    "write": lambda on: on.files.write(f"{FILE}.md", "new", expected_version=None),
    "settle": lambda on: on.files.settle(new_operation()),
    "put": lambda on: on.entries.put(ENTRY, content="two"),
    "append to an entry": lambda on: on.entries.append(ENTRY, content="two"),
    "forget": lambda on: on.entries.forget(ENTRY.store, ENTRY.actor, ENTRY.path),
    "create a store": lambda on: on.entries.create_store(f"{ENTRY.store}-2", creator=ANN.key),
    "describe a store": lambda on: on.entries.update_store(ENTRY.store, description="x"),
    "delete a store": lambda on: on.entries.delete_store(ENTRY.store),
    "grant": lambda on: on.grants.grant(
        ENTRY.store, Grant(principal=ANN, permission=Permission.WRITE)
    ),
    "revoke": lambda on: on.grants.revoke(ENTRY.store, ANN),
    "add a token": lambda on: on.tokens.add_token(issue_token(ANN, admin=False)[1]),
    "revoke a token": lambda on: on.tokens.revoke_token(TOKEN.id),
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
    on = Stores(
        files=PostgresMemoryStore(pool),
        entries=PostgresEntryStore(pool),
        grants=PostgresGrantStore(pool),
        tokens=PostgresTokenStore(pool),
    )
    try:
        await connection.execute("BEGIN")
        await prepare(on)
        await connection.execute(f"SET LOCAL synchronous_commit = {setting}")
        await change(on)
        assert await connection.fetchval("SHOW synchronous_commit") == kept
    finally:
        await connection.close()


async def prepare(on: Stores) -> None:
    """Make what the changes change."""
    await on.files.write(FILE, "one", expected_version=None)
    await on.entries.create_store(ENTRY.store, creator="USER:someone")
    await on.entries.put(ENTRY, content="one")
    await on.tokens.add_token(TOKEN)
    await on.grants.grant(ENTRY.store, Grant(principal=ANN, permission=Permission.READ))
