"""A database as the store sees it: looks and changes, each one transaction off the event loop.

A change takes the write lock first (`BEGIN IMMEDIATE`), looks, and changes. So no change is planned
on what another process has changed since, and all of it is committed with its receipt or none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from ...notebook import InvalidMemoryRequest
from ..checks import remaining
from .connections import Connections, OwnConnection
from .errors import being_replaced, translated
from .lanes import Lane
from .schema import Schema
from .sessions import Session
from .transactions import Kind, transaction

ResultT = TypeVar("ResultT")

_READERS = 4


class Database(Protocol):
    """Where the store's tables are."""

    async def look(self, work: Callable[[Session], ResultT]) -> ResultT:
        """Return what `work` makes of one state of the database."""
        ...

    async def change(
        self, work: Callable[[Session], ResultT], *, deadline: datetime | None = None
    ) -> ResultT:
        """Commit what `work` does; the lock is not waited for after the deadline."""
        ...

    async def close(self) -> None:
        """Let go of what is not the caller's."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnDatabase:
    """A file of the store's own. Readers have a lane beside the writers'."""

    connections: Connections
    _readers: Lane = field(default_factory=lambda: Lane(_READERS))
    _writer: Lane = field(default_factory=Lane)

    async def look(self, work: Callable[[Session], ResultT]) -> ResultT:
        """See `Database.look`."""
        return await self._readers.run(lambda: self._look(work))

    async def change(
        self, work: Callable[[Session], ResultT], *, deadline: datetime | None = None
    ) -> ResultT:
        """See `Database.change`."""
        return await self._writer.run(lambda: self._change(work, deadline))

    async def close(self) -> None:
        """End the threads and close the connections; the next call opens new ones."""
        await self._readers.close()
        await self._writer.close()
        self.connections.close()

    def _look(self, work: Callable[[Session], ResultT]) -> ResultT:
        with self.connections.borrow() as connection, transaction(connection, "DEFERRED"):
            return work(Session(connection=connection))

    def _change(self, work: Callable[[Session], ResultT], deadline: datetime | None) -> ResultT:
        for _ in range(2):
            with self.connections.borrow() as connection:
                self._bound_wait(connection, deadline)
                with transaction(connection, "IMMEDIATE"):
                    # Deleted while the lock was waited for: what was written would be lost.
                    if self.connections.is_current(connection):
                        return work(Session(connection=connection))
        raise being_replaced()

    def _bound_wait(self, connection: OwnConnection, deadline: datetime | None) -> None:
        left = remaining(deadline)
        wait = self.connections.timeout if left is None else min(self.connections.timeout, left)
        connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000):d}")


class BorrowedDatabase:
    """A connection of the caller's: used while it is idle, and left as it was.

    Its settings are the caller's, and decide how durable a commit is and how long a lock is waited
    for. It is never closed, and nothing that the caller began is committed or rolled back.

    Args:
        connection: Dedicated to the store, created with `check_same_thread=False`.
        schema: What the database must hold.
    """

    def __init__(self, connection: sqlite3.Connection, schema: Schema) -> None:
        self._connection = connection
        self._schema = schema
        self._lane = Lane()
        self._ready = False

    async def look(self, work: Callable[[Session], ResultT]) -> ResultT:
        """See `Database.look`."""
        return await self._lane.run(lambda: self._run("DEFERRED", work))

    async def change(
        self,
        work: Callable[[Session], ResultT],
        *,
        deadline: datetime | None = None,  # noqa: ARG002  (the wait is the caller's setting)
    ) -> ResultT:
        """See `Database.change`."""
        return await self._lane.run(lambda: self._run("IMMEDIATE", work))

    async def close(self) -> None:
        """End the thread; the connection stays open."""
        await self._lane.close()

    def _run(self, kind: Kind, work: Callable[[Session], ResultT]) -> ResultT:
        with translated(), self._idle() as connection:
            if not self._ready:
                self._schema.ensure(connection)
                self._ready = True
            with transaction(connection, kind):
                return work(Session(connection=connection))

    @contextmanager
    def _idle(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        if connection.in_transaction:
            raise InvalidMemoryRequest(
                "the connection is inside a transaction of yours: commit or roll back first, and "
                "give the store a connection of its own"
            )
        if connection.text_factory is not str:
            raise InvalidMemoryRequest("the connection's text_factory must be str")
        yield connection
