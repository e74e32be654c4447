"""The memory store on PostgreSQL: any number of hosts, one transaction for each mutation."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import partial

from ...notebook import (
    MAIN_FILENAME,
    Edit,
    NotebookView,
    check_text,
)
from ..checks import NEWEST, check_bound, check_deadline, check_operation, parse_version
from ..embedding import Embedder
from ..records import MemoryFile, MemoryMutation, MemoryOperation, MemorySearchResult, MemoryVersion
from ..sweeping import RECEIPT_AGE, SWEEP_LIMIT, check_age
from .addresses import NOTEBOOKS, Address, nested_range, scope_of_prefix
from .calls import Caller
from .changes import Change, Mutator, identity
from .entries import PostgresEntryStore
from .pool import PostgresPool
from .rows import mutation, receipt, step
from .search import search_notebook
from .vectors import PostgresEmbeddingQueue
from .walks import walk_back


class PostgresMemoryStore:
    """A memory store in the schema `durable_memory` of a PostgreSQL database.

    Has every ability in `durable_memory.stores`. The schema is made by `migrate`. The pool is the
    caller's: it is never closed or configured here; `create_pool` makes one that fits.

    Args:
        pool: asyncpg's pool, or one that looks like it.
        timeout: Seconds that one call may take, the wait for a connection included.
    """

    def __init__(self, pool: PostgresPool, *, timeout: float = 10.0) -> None:
        self._caller = Caller(pool=pool, timeout=timeout)

    def entries(self, *, embedder: Embedder | None = None) -> PostgresEntryStore:
        """See `EntryServingStore.entries`."""
        return PostgresEntryStore(
            self._caller.pool, timeout=self._caller.timeout, embedder=embedder
        )

    def embedding_queue(self) -> PostgresEmbeddingQueue:
        """Return the entries that wait for their vectors, on the same connections."""
        return PostgresEmbeddingQueue(self._caller.pool, timeout=self._caller.timeout)

    async def read(self, path: str, *, max_chars: int) -> MemoryFile | None:
        """See `MemoryStore.read`. One round trip."""
        address = Address.of_path(path)
        row = await self._caller.row("read", *address.key, check_bound("max_chars", max_chars))
        if row is None:
            return None
        return MemoryFile(
            content=row["content"], version=str(row["version"]), truncated=row["truncated"]
        )

    async def get_operation(self, operation: MemoryOperation) -> MemoryMutation | None:
        """See `MemoryStore.get_operation`. One round trip."""
        check_operation(operation)
        row = await self._caller.row("get_operation", operation.id)
        return None if row is None else receipt(row, operation)

    async def write(
        self,
        path: str,
        content: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `MemoryStore.write`. One round trip."""
        check_text(content, field="content")
        expected = None if expected_version is None else parse_version(expected_version)
        change = Change(kind="write", expected=expected, content=content)
        return await self._mutator(path, operation, deadline).apply(change)

    async def delete(
        self,
        path: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `MemoryStore.delete`. One round trip."""
        expected = None if expected_version is None else parse_version(expected_version)
        change = Change(kind="delete", expected=expected)
        return await self._mutator(path, operation, deadline).apply(change)

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """See `MemoryStore.list_paths`. One round trip."""
        check_bound("limit", limit)
        own = scope_of_prefix(prefix)
        rows = await self._caller.rows("list_paths", NOTEBOOKS, own, *nested_range(prefix), limit)
        return [f"{row['actor']}/{row['path']}" for row in rows]

    async def view(self, prefix: str, *, tail_chars: int, max_names: int) -> NotebookView:
        """See `SnapshotStore.view`. One round trip."""
        check_bound("tail_chars", tail_chars)
        check_bound("max_names", max_names)
        rows = await self._caller.rows(
            "view", NOTEBOOKS, scope_of_prefix(prefix), MAIN_FILENAME, tail_chars, max_names + 1
        )
        row = rows[0]
        return NotebookView(
            tail=row["tail"] or "",
            tail_truncated=row["tail_truncated"],
            names=tuple(row["names"][:max_names]),
            names_truncated=len(row["names"]) > max_names,
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
        """See `SearchableMemoryStore.search`. One round trip."""
        return await search_notebook(
            self._caller,
            prefix,
            query,
            limit=check_bound("limit", limit),
            max_files=check_bound("max_files", max_files),
            max_chars=check_bound("max_chars", max_chars),
            max_file_chars=check_bound("max_file_chars", max_file_chars),
        )

    async def settle(
        self, operation: MemoryOperation, *, deadline: datetime | None = None
    ) -> MemoryMutation:
        """See `SettlingStore.settle`. One round trip; waits for an attempt that is under way.

        An attempt ends by its own deadline. The wait is bounded by that, and by the store's
        `timeout`, after which it is `MemoryStoreUnavailable`.
        """
        check_operation(operation)
        check_deadline(deadline)
        wait = self._caller.timeout_ms
        return mutation(await self._caller.mutate("settle", *identity(operation), wait))

    async def edit(
        self,
        path: str,
        edit: Edit,
        *,
        max_chars: int,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `EditingStore.edit`. A replacement is two round trips, other edits are one."""
        check_bound("max_chars", max_chars)
        return await self._mutator(path, operation, deadline).edit(edit, max_chars)

    def _mutator(
        self, path: str, operation: MemoryOperation | None, deadline: datetime | None
    ) -> Mutator:
        address = Address.of_path(path)
        return Mutator(caller=self._caller, address=address, operation=operation, deadline=deadline)

    async def history(
        self, path: str, *, limit: int, before: str | None = None
    ) -> list[MemoryVersion]:
        """See `HistoryStore.history`. One round trip."""
        bound = NEWEST if before is None else parse_version(before)
        check_bound("limit", limit)
        rows = await self._caller.rows("history", *Address.of_path(path).key, bound, limit)
        return [step(row) for row in rows]

    async def read_version(self, path: str, version: str) -> MemoryFile | None:
        """See `HistoryStore.read_version`. One round trip for each 32 steps since that version."""
        where = (*Address.of_path(path).key, parse_version(version))
        content, _ = await walk_back(partial(self._caller.rows, "steps_since", *where), version)
        return None if content is None else MemoryFile(content=content, version=version)

    async def restore(
        self,
        path: str,
        version: str,
        *,
        expected_version: str | None,
        operation: MemoryOperation | None = None,
        deadline: datetime | None = None,
    ) -> MemoryMutation:
        """See `HistoryStore.restore`. Two round trips: a version never changes once it is made."""
        past = await self.read_version(path, version)
        if past is None:
            return await self.delete(
                path, expected_version=expected_version, operation=operation, deadline=deadline
            )
        return await self.write(
            path,
            past.content,
            expected_version=expected_version,
            operation=operation,
            deadline=deadline,
        )

    async def sweep_receipts(
        self,
        older_than: timedelta = RECEIPT_AGE,
        *,
        open_runs: Collection[tuple[str, str]] = (),
        limit: int = SWEEP_LIMIT,
    ) -> int:
        """See `SweepingStore.sweep_receipts`. One round trip."""
        check_age(older_than)
        check_bound("limit", limit)
        workflows, runs = [name for name, _ in open_runs], [run for _, run in open_runs]
        row = await self._caller.mutate("sweep_receipts", older_than, workflows, runs, limit)
        swept: int = row["swept"]
        return swept
