"""One migrated database for all tests of entries; every test has a memory store of its own."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import asyncpg
import pytest_asyncio
from backends import database_url, new_database

from durable_memory.stores import (
    PostgresEmbeddingQueue,
    PostgresEntryStore,
    create_pool,
    migrate,
)


@pytest_asyncio.fixture(scope="session")
async def entries_url(postgres_url: str) -> AsyncIterator[str]:
    """URL of the database, which is theirs alone: some of them empty it."""
    async with new_database(postgres_url) as name:
        await migrate(url := database_url(postgres_url, name))
        yield url


@pytest_asyncio.fixture(scope="module")
async def pool(entries_url: str) -> AsyncIterator[asyncpg.Pool]:
    """A pool of our own making; its connections go with the module."""
    async with await create_pool(entries_url, max_size=40) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module")
async def entries(pool: asyncpg.Pool) -> PostgresEntryStore:
    """The store of entries, without an embedder."""
    return PostgresEntryStore(pool)


@pytest_asyncio.fixture
async def store(entries: PostgresEntryStore) -> str:
    """Id of a new memory store."""
    name = f"s-{uuid.uuid4().hex[:16]}"
    return (await entries.create_store(name, creator="USER:someone")).id


@pytest_asyncio.fixture
async def queue(pool: asyncpg.Pool) -> PostgresEmbeddingQueue:
    """The queue of embedding, empty."""
    await pool.execute("DELETE FROM durable_memory.entry_embeddings")
    return PostgresEmbeddingQueue(pool)


@pytest_asyncio.fixture
async def clean(pool: asyncpg.Pool) -> None:
    """Nothing in the database but what the test writes."""
    for table in ("documents", "entry_terms", "entry_vectors", "entry_embeddings"):
        await pool.execute(f"DELETE FROM durable_memory.{table}")  # noqa: S608
