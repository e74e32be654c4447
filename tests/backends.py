"""Backends of PostgreSQL held up by row locks, and looked at from a connection beside them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

PATIENCE = 20.0
"""Seconds after which a condition that was waited for has failed."""

_LOCK_ROW = """
SELECT id FROM durable_memory.documents
WHERE store = '_notebooks' AND actor = $1 AND session = '' AND path = $2
FOR UPDATE
"""
_WAITING = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()
ORDER BY state_change
"""


async def until(condition: Callable[[], Awaitable[object]], what: str) -> None:
    """Wait until `condition` is true."""
    end = time.monotonic() + PATIENCE
    while not await condition():
        assert time.monotonic() < end, f"waited too long for {what}"
        await asyncio.sleep(0.005)


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Two connections beside the store's pool: one that can hold a lock, one that looks."""

    holder: asyncpg.Connection
    watcher: asyncpg.Connection

    async def hold(self, path: str) -> None:
        """Begin a transaction that holds the row of an existing file."""
        await self.holder.execute("BEGIN")
        scope, _, name = path.rpartition("/")
        assert await self.holder.fetchval(_LOCK_ROW, scope, name) is not None

    async def hold_query(self, query: str, *args: object) -> None:
        """Begin a transaction that holds what a statement locks."""
        await self.holder.execute("BEGIN")
        await self.holder.fetch(query, *args)

    async def commit(self) -> None:
        """Let go."""
        await self.holder.execute("COMMIT")

    async def roll_back(self) -> None:
        """Let go, and undo what the statement did."""
        await self.holder.execute("ROLLBACK")

    async def waiting(self, count: int) -> list[int]:
        """Return the process ids of backends that wait for a lock, once there are `count`."""
        pids: list[int] = []

        async def enough() -> bool:
            pids[:] = [row["pid"] for row in await self.watcher.fetch(_WAITING)]
            return len(pids) == count

        await until(enough, f"{count} waiting backends")
        return pids

    async def terminate(self, pid: int) -> None:
        """End a backend, and wait until it is gone."""
        await self.watcher.fetchval("SELECT pg_terminate_backend($1, 10000)", pid)


@asynccontextmanager
async def beside(url: str) -> AsyncIterator[Beside]:
    """Connect to a database beside the store's pool."""
    holder, watcher = await asyncpg.connect(url), await asyncpg.connect(url)
    try:
        yield Beside(holder=holder, watcher=watcher)
    finally:
        await holder.close()
        await watcher.close()
