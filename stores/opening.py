"""Opening a store by its URL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..notebook import InvalidMemoryRequest
from .memory import InMemoryStore
from .postgres import PostgresMemoryStore, create_pool, ensure_compatible
from .postgres import migrate as migrate_schema
from .protocols import MemoryStore


@asynccontextmanager
async def open_store(
    url: str,
    *,
    min_size: int = 1,
    max_size: int = 10,
    transaction_pooling: bool = False,
    migrate: bool = True,
) -> AsyncIterator[MemoryStore]:
    """Open the store at `url`, and close it on leaving.

    Args:
        url: `memory:`, or `postgres://` / `postgresql://` and so on.
        min_size: Connections of Postgres opened at once.
        max_size: Connections of Postgres at most.
        transaction_pooling: The URL is of a transaction-pooling proxy.
        migrate: Whether to bring the schema of Postgres up to date first.

    Raises:
        InvalidMemoryRequest: The URL names no store that is known; it is not repeated.
        MemorySchemaMismatch: The database and this release do not fit each other.
        MemoryStoreUnavailable: The database did not answer.
    """
    if _scheme(url) == "memory":
        yield InMemoryStore()
        return
    if _scheme(url) not in {"postgres", "postgresql"}:
        raise InvalidMemoryRequest("a store's URL begins with memory: or postgresql://")
    if migrate:
        await migrate_schema(url)
    pool = await create_pool(
        url, min_size=min_size, max_size=max_size, transaction_pooling=transaction_pooling
    )
    async with pool:
        await ensure_compatible(pool)
        yield PostgresMemoryStore(pool)


def _scheme(url: str) -> str:
    return url.partition(":")[0]
