"""Everything the memory service keeps, on one pool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ..notebook import InvalidMemoryRequest
from .embedding import Embedder
from .entries import EntryStore
from .grants import GrantStore
from .postgres import (
    PostgresEntryStore,
    PostgresGrantStore,
    PostgresTokenStore,
    create_pool,
    ensure_compatible,
)
from .postgres import migrate as migrate_schema
from .tokens import TokenStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """The stores of the memory service.

    Attributes:
        entries: Memory stores and their entries.
        grants: Who may use a memory store.
        tokens: Who calls.
    """

    entries: EntryStore
    grants: GrantStore
    tokens: TokenStore


@asynccontextmanager
async def open_backend(
    url: str,
    *,
    min_size: int = 1,
    max_size: int = 10,
    transaction_pooling: bool = False,
    migrate: bool = True,
    embedder: Embedder | None = None,
) -> AsyncIterator[Backend]:
    """Open the stores of the memory service at a PostgreSQL `url`, and close them on leaving.

    Arguments and errors are those of `open_store`; no other store has grants and tokens. With an
    `embedder` search goes by meaning too.
    """
    if url.partition(":")[0] not in {"postgres", "postgresql"}:
        raise InvalidMemoryRequest("the memory service needs a postgresql:// URL")
    if migrate:
        await migrate_schema(url)
    pool = await create_pool(
        url, min_size=min_size, max_size=max_size, transaction_pooling=transaction_pooling
    )
    async with pool:
        await ensure_compatible(pool)
        yield Backend(
            # Writers that wait for a lock leave half the connections to reads and tokens.
            entries=PostgresEntryStore(pool, embedder=embedder, max_writers=max(1, max_size // 2)),
            grants=PostgresGrantStore(pool),
            tokens=PostgresTokenStore(pool),
        )
