"""Databases for tests, and backends held up by row locks and looked at from beside them."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import asyncpg

from durable_memory.cli.faults import connected, lock_row, until, waiting_backends
from durable_memory.stores import PostgresConnection

LOCK_RECEIPT = "INSERT INTO durable_memory.receipts (operation_id, fingerprint) VALUES ($1, $2)"
"""Holds an operation's receipt, as an earlier attempt does that is under way."""


def database_url(server_url: str, name: str) -> str:
    """Return the URL of another database of the server."""
    return server_url.replace("/postgres?", f"/{name}?")


@asynccontextmanager
async def new_database(server_url: str, *, template: str = "template1") -> AsyncIterator[str]:
    """Make a database, return its name, and drop it on leaving."""
    name = f"test_{uuid.uuid4().hex}"
    async with connected(server_url) as admin:
        await admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        yield name
        await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Two connections beside the store's pool: one that can hold a lock, one that looks."""

    holder: asyncpg.Connection
    watcher: asyncpg.Connection

    async def hold(self, path: str) -> None:
        """Begin a transaction that holds the row of an existing file."""
        await self.holder.execute("BEGIN")
        await lock_row(self.holder, path)

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
            pids[:] = await waiting_backends(self.watcher)
            return len(pids) == count

        await until(enough, f"{count} waiting backends")
        return pids

    async def terminate(self, pid: int) -> None:
        """End a backend, and wait until it is gone."""
        await self.watcher.fetchval("SELECT pg_terminate_backend($1, 10000)", pid)


@asynccontextmanager
async def beside(url: str) -> AsyncIterator[Beside]:
    """Connect to a database beside the store's pool."""
    async with connected(url) as holder, connected(url) as watcher:
        yield Beside(holder=holder, watcher=watcher)


class SingleConnection:
    """A pool of someone else's: one connection, and nothing but what the store asks for."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    def acquire(
        self, *, timeout: float | None = None
    ) -> AbstractAsyncContextManager[PostgresConnection]:
        """Lend the connection, at once."""
        assert timeout is not None
        return self._lend()

    @asynccontextmanager
    async def _lend(self) -> AsyncIterator[PostgresConnection]:
        yield self._connection
