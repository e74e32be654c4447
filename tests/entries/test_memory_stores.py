"""Memory stores: made, listed, changed, and deleted with all that is in them."""

from __future__ import annotations

import uuid

import asyncpg
import pytest
from entry_changes import key

from durable_memory.notebook import (
    InvalidMemoryRequest,
    MemoryAlreadyExists,
    MemoryNotFound,
)
from durable_memory.stores import PostgresEntryStore


async def test_deleted_store_leaves_nothing(
    entries: PostgresEntryStore, store: str, pool: asyncpg.Pool
) -> None:
    """Documents, histories, terms, vectors and queued work go with their memory store."""
    made = await entries.put(key(store), content="secret")
    await entries.append(key(store), content="more")
    row = await pool.fetchrow("SELECT id FROM durable_memory.documents WHERE store = $1", store)
    await entries.delete_store(store)
    assert await entries.get_store(store) is None
    for table in ("documents", "entry_terms", "entry_vectors", "entry_embeddings"):
        count = f"SELECT count(*) FROM durable_memory.{table} WHERE store = $1"  # noqa: S608
        assert await pool.fetchval(count, store) == 0
    steps = "SELECT count(*) FROM durable_memory.history WHERE document_id = $1"
    assert await pool.fetchval(steps, row["id"]) == 0
    assert await entries.get(store, made.entry_ids[0]) is None


async def test_stores_are_listed_by_keyset(entries: PostgresEntryStore, store: str) -> None:
    """Pages of memory stores show each once, in order, and carry what they were made with."""
    prefix = f"z{uuid.uuid4().hex[:8]}"
    for n in range(5):
        await entries.create_store(f"{prefix}-{n}", creator="USER:me", description=str(n))
    seen, after = [], prefix
    while True:
        page = await entries.list_stores(limit=2, after=after)
        seen += [each.id for each in page.stores if each.id.startswith(prefix)]
        if page.next is None:
            break
        after = page.next
    assert seen == [f"{prefix}-{n}" for n in range(5)]
    changed = await entries.update_store(f"{prefix}-0", description="new")
    assert (changed.description, changed.creator) == ("new", "USER:me")
    assert changed.updated_at > changed.created_at
    with pytest.raises(MemoryNotFound):
        await entries.update_store("no-such-store", description="new")
    with pytest.raises(MemoryAlreadyExists):
        await entries.create_store(store, creator="USER:another")


@pytest.mark.parametrize(
    "creator",
    ["", "someone", "GROUP:all", "USER:", "USER: padded", "USER:a\0b", "USER:" + "x" * 257],
)
async def test_creator_is_a_principal(entries: PostgresEntryStore, creator: str) -> None:
    """A store whose creator nobody could be is not made."""
    name = f"s-{uuid.uuid4().hex[:12]}"
    with pytest.raises(InvalidMemoryRequest):
        await entries.create_store(name, creator=creator)
    assert await entries.get_store(name) is None
