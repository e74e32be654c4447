"""The memory store in a SQLite database: any number of processes on one host."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from ...notebook import (
    Edit,
    InvalidMemoryRequest,
    NotebookView,
    check_path,
    check_prefix,
    split_path,
)
from ..checks import check_bound, check_deadline, check_operation
from ..intents import Change, Intent, Overwrite, Revision
from ..records import MemoryFile, MemoryMutation, MemoryOperation, MemorySearchResult, MemoryVersion
from ..searching import search_contents
from ..statements import script
from ..sweeping import RECEIPT_AGE, SWEEP_LIMIT, OpenRuns, check_age
from . import lookups
from .changes import apply
from .connections import Connections
from .databases import BorrowedDatabase, Database, OwnDatabase
from .receipts import RECEIPTS_SCHEMA, Receipts
from .schema import Schema

_SCHEMA = Schema(
    application_id=0x646D656D,  # "dmem"
    migrations=(RECEIPTS_SCHEMA + script(__package__, "schema.sql"),),
)


class SqliteMemoryStore:
    """A memory store in a SQLite database, or on a connection of the caller's.

    Has every ability in `durable_memory.stores`. Nothing is opened before the first call; all work
    is done in threads off the event loop.

    With `database`, the file is the store's own: it is made when it is missing, in WAL mode, and
    what was committed survives a loss of power. WAL needs a local disk.

    With `connection`, the database's settings, and how long another process is waited for, are the
    caller's. The connection must be dedicated to the store, created with
    `check_same_thread=False`, and idle at the start of every call: inside a transaction the call is
    refused, and the transaction is neither committed nor rolled back. It is never closed.

    Args:
        database: Path of the file.
        connection: In place of a path.
        timeout: Seconds that a call waits for another process.

    Raises:
        InvalidMemoryRequest: Both or neither of `database` and `connection` are given, or a
            `database` that is no file.
    """

    def __init__(
        self,
        database: str | Path | None = None,
        *,
        connection: sqlite3.Connection | None = None,
        timeout: float = 10.0,
    ) -> None:
        if (database is None) == (connection is None):
            raise InvalidMemoryRequest("give either database or connection")
        if database in {"", ":memory:"}:
            raise InvalidMemoryRequest("give a connection for a database without a file")
        self._database: Database
        if connection is not None:
            self._database = BorrowedDatabase(connection, _SCHEMA)
        else:
            path = Path(database or "").absolute()
            self._database = OwnDatabase(
                connections=Connections(path=path, schema=_SCHEMA, timeout=timeout)
            )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for the calls that run, and close what is the store's own.

        A call after it opens it again.
        """
        await self._database.close()

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """See `MemoryStore.read`."""
        check_path(path)
        check_bound("max_chars", max_chars)
        return await self._database.look(lambda session: lookups.read(session, path, max_chars))

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """See `MemoryStore.get_operation`."""
        check_operation(operation)
        return await self._database.look(lambda session: Receipts(session=session).find(operation))

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `MemoryStore.write`."""
        intent = Overwrite(content=content, expected_version=expected_version)
        return await self._change(path, intent, operation, deadline)

    async def delete(
        self,
        path: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `MemoryStore.delete`."""
        intent = Overwrite(content=None, expected_version=expected_version)
        return await self._change(path, intent, operation, deadline)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """See `MemoryStore.list_paths`."""
        check_prefix(prefix)
        check_bound("limit", limit)
        return await self._database.look(lambda session: lookups.list_paths(session, prefix, limit))

    async def settle(
        self, operation: MemoryOperation, *, deadline: datetime | None = None
    ) -> MemoryMutation:
        """See `SettlingStore.settle`; an attempt that is under way holds the write lock."""
        check_operation(operation)
        check_deadline(deadline)
        return await self._database.change(
            lambda session: Receipts(session=session).settle(operation)
        )

    async def edit(
        self,
        path: str,
        edit: Edit,
        *,
        max_chars: int,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `EditingStore.edit`; planned under the write lock, so it never loses a race."""
        intent = Revision(name=split_path(path)[1], edit=edit, max_chars=max_chars)
        return await self._change(path, intent, operation, deadline)

    async def view(self, prefix: str, *, tail_chars: int, max_names: int) -> NotebookView:
        """See `SnapshotStore.view`."""
        check_prefix(prefix)
        check_bound("tail_chars", tail_chars)
        check_bound("max_names", max_names)
        return await self._database.look(
            lambda session: lookups.view(session, prefix, tail_chars, max_names)
        )

    async def search(
        self,
        prefix: str,
        query: str,
        *,
        limit: int,
        max_files: int,
        max_chars: int,
        max_file_chars: int,
    ) -> MemorySearchResult:
        """See `SearchableMemoryStore.search`; scans, in a thread, one file after the other."""
        check_prefix(prefix)
        check_bound("limit", limit)
        check_bound("max_files", max_files)
        check_bound("max_chars", max_chars)
        check_bound("max_file_chars", max_file_chars)
        return await self._database.look(
            lambda session: search_contents(
                prefix,
                query,
                lookups.contents(session, prefix, max_files=max_files, max_chars=max_file_chars),
                limit=limit,
                max_files=max_files,
                max_chars=max_chars,
            )
        )

    async def history(
        self, path: str, *, limit: int, before: str | None = None
    ) -> list[MemoryVersion]:
        """See `HistoryStore.history`."""
        check_path(path)
        check_bound("limit", limit)
        return await self._database.look(
            lambda session: lookups.history(session, path, limit=limit, before=before)
        )

    async def read_version(self, path: str, version: str) -> MemoryFile | None:
        """See `HistoryStore.read_version`."""
        check_path(path)
        return await self._database.look(
            lambda session: lookups.read_version(session, path, version)
        )

    async def restore(
        self,
        path: str,
        version: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `HistoryStore.restore`; a version never changes once it is made."""
        past = await self.read_version(path, version)
        intent = Overwrite(
            content=None if past is None else past.content, expected_version=expected_version
        )
        return await self._change(path, intent, operation, deadline)

    async def sweep_receipts(
        self,
        older_than: timedelta = RECEIPT_AGE,
        *,
        open_runs: Collection[tuple[str, str]] = (),
        limit: int = SWEEP_LIMIT,
    ) -> int:
        """See `SweepingStore.sweep_receipts`."""
        check_age(older_than)
        check_bound("limit", limit)
        runs = OpenRuns.of(open_runs)
        return await self._database.change(
            lambda session: Receipts(session=session).sweep(older_than, runs, limit)
        )

    async def _change(
        self,
        path: str,
        intent: Intent,
        operation: MemoryOperation | None,
        deadline: datetime | None,
    ) -> MemoryMutation:
        change = Change(path=path, intent=intent, operation=operation, deadline=deadline)
        return await self._database.change(
            lambda session: apply(session, change), deadline=deadline
        )
