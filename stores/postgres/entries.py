"""The store of entries on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime

from ...notebook import (
    MAX_ENTRY_RESULTS,
    ROOT_PREFIX,
    Append,
    EntryFilter,
    EntryKey,
    InvalidMemoryRequest,
    MemoryNotFound,
    check_actor,
    check_content,
    check_description,
    check_edit,
    check_entry_id,
    check_entry_path,
    check_entry_query,
    check_store_id,
)
from ..checks import NEWEST, check_bound, check_deadline, check_operation, parse_version
from ..embedding import Embedder
from ..entryrecords import (
    EVERYTHING,
    PLAIN_WRITE,
    Entry,
    EntryCursor,
    EntryMatch,
    EntryMutation,
    EntryPage,
    EntryVersion,
    EntryWrite,
)
from ..records import MemoryOperation
from .calls import Caller
from .changes import identity
from .entrychanges import EntryChange, EntryMutator, replay
from .entryrows import entry, past, version_step
from .entrysearch import EntrySearch
from .memorystores import PostgresMemoryStores
from .pool import PostgresPool
from .rows import Row
from .walks import walk_back


class PostgresEntryStore(PostgresMemoryStores):
    """Memory stores and entries in the schema `durable_memory`, made by `migrate`.

    Args:
        pool: asyncpg's pool, or one that looks like it; the caller's.
        timeout: Seconds that one call may take, the wait for a connection included.
        embedder: Adds meaning to search; without one it goes by words.
        embed_timeout: Seconds that a search waits for the embedder before it goes by words.
        max_writers: Changes at once; more wait without a connection. No bound by default.
    """

    def __init__(
        self,
        pool: PostgresPool,
        *,
        timeout: float = 10.0,
        embedder: Embedder | None = None,
        embed_timeout: float = 2.0,
        max_writers: int | None = None,
    ) -> None:
        writers = asyncio.Semaphore(max_writers) if max_writers else nullcontext()
        super().__init__(Caller(pool=pool, timeout=timeout, writers=writers))
        self._search = EntrySearch(
            caller=self._caller, embedder=embedder, embed_timeout=embed_timeout
        )

    async def create(
        self,
        key: EntryKey,
        *,
        content: str = "",
        description: str = "",
        entry_id: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """See `EntryStore.create`. One round trip."""
        if entry_id is not None:
            check_entry_id(entry_id)
        change = EntryChange(
            kind="create",
            store=key.store,
            key=key,
            entry_id=entry_id,
            content=check_content(content),
            description=check_description(description),
        )
        return await self._mutator(write).apply(change)

    async def put(
        self,
        key: EntryKey,
        *,
        content: str,
        description: str | None = None,
        expected_version: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """See `EntryStore.put`. One round trip."""
        change = EntryChange(
            kind="put",
            store=key.store,
            key=key,
            expected=expected_version,
            content=check_content(content),
            description=None if description is None else check_description(description),
        )
        return await self._mutator(write).apply(change)

    async def append(
        self,
        key: EntryKey,
        *,
        content: str,
        description: str | None = None,
        expected_version: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """See `EntryStore.append`. One round trip."""
        check_edit(Append(content=content))
        change = EntryChange(
            kind="append",
            store=key.store,
            key=key,
            expected=expected_version,
            content=content,
            description=None if description is None else check_description(description),
        )
        return await self._mutator(write).apply(change)

    async def get(self, store: str, entry_id: str, *, content: bool = True) -> Entry | None:
        """See `EntryStore.get`. One round trip."""
        check_store_id(store)
        row = await self._caller.row(
            "get_entry", store, check_entry_id(entry_id), content, self._incarnation
        )
        return None if row is None else entry(row)

    async def find(self, key: EntryKey, *, content: bool = True) -> Entry | None:
        """See `EntryStore.find`. One round trip."""
        where = (key.store, key.actor, key.session or "", key.path)
        row = await self._caller.row("find_entry", *where, content, self._incarnation)
        return None if row is None else entry(row)

    async def list_entries(
        self,
        store: str,
        actor: str,
        *,
        limit: int,
        where: EntryFilter = EVERYTHING,
        after: EntryCursor | None = None,
        content: bool = True,
    ) -> EntryPage:
        """See `EntryStore.list_entries`. One round trip."""
        check_bound("limit", limit)
        rows = await self._caller.rows(
            "list_entries",
            check_store_id(store),
            check_actor(actor),
            *path_ranges(where),
            None if where.path is not None else where.session,
            after.path if after else "",
            (after.session or "") if after else "",
            limit + 1,
            content,
            self._incarnation,
        )
        entries = [entry(row) for row in rows[:limit]]
        more = len(rows) > limit
        return EntryPage(entries=entries, next=_cursor(entries[-1]) if more else None)

    async def search(
        self,
        store: str,
        actor: str,
        query: str,
        *,
        limit: int = 10,
        where: EntryFilter = EVERYTHING,
        content: bool = True,
    ) -> Sequence[EntryMatch]:
        """See `EntryStore.search`. One round trip, after the embedder's."""
        if check_bound("limit", limit) > MAX_ENTRY_RESULTS:
            raise InvalidMemoryRequest(f"limit is at most {MAX_ENTRY_RESULTS}")
        return await self._search.search(
            check_store_id(store),
            check_actor(actor),
            check_entry_query(query),
            limit=limit,
            paths=path_ranges(where),
            session=None if where.path is not None else where.session,
            content=content,
            incarnation=self._incarnation,
        )

    async def update(
        self,
        store: str,
        entry_id: str,
        *,
        content: str | None = None,
        description: str | None = None,
        expected_version: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """See `EntryStore.update`. One round trip."""
        if content is None and description is None:
            raise InvalidMemoryRequest("an update changes content, description or both")
        change = EntryChange(
            kind="update",
            store=check_store_id(store),
            entry_id=check_entry_id(entry_id),
            expected=expected_version,
            content=None if content is None else check_content(content),
            description=None if description is None else check_description(description),
        )
        return await self._mutator(write).apply(change)

    async def delete(
        self,
        store: str,
        entry_id: str,
        *,
        expected_version: str | None = None,
        write: EntryWrite = PLAIN_WRITE,
    ) -> EntryMutation:
        """See `EntryStore.delete`. One round trip."""
        change = EntryChange(
            kind="delete",
            store=check_store_id(store),
            entry_id=check_entry_id(entry_id),
            expected=expected_version,
        )
        return await self._mutator(write).apply(change)

    async def forget(
        self, store: str, actor: str, path: str, *, write: EntryWrite = PLAIN_WRITE
    ) -> EntryMutation:
        """See `EntryStore.forget`. One round trip."""
        check_store_id(store)
        check_actor(actor)
        return await self._mutator(write).forget(store, actor, check_entry_path(path))

    async def history(
        self, store: str, entry_id: str, *, limit: int, before: str | None = None
    ) -> Sequence[EntryVersion]:
        """See `EntryStore.history`. One round trip."""
        check_bound("limit", limit)
        bound = NEWEST if before is None else parse_version(before)
        where = (check_store_id(store), check_entry_id(entry_id))
        rows = await self._caller.rows("entry_history", *where, bound, limit, self._incarnation)
        if not rows:
            raise MemoryNotFound
        return [version_step(row) for row in rows if row["version"] is not None]

    async def read_version(self, store: str, entry_id: str, version: str) -> Entry | None:
        """See `EntryStore.read_version`. One round trip for each 32 steps since that version."""
        where = (check_store_id(store), check_entry_id(entry_id), parse_version(version))

        async def steps(below: int, limit: int) -> Sequence[Row]:
            args = (*where, below, limit, self._incarnation)
            return await self._caller.rows("entry_steps_since", *args)

        return past(*await walk_back(steps, version), None)

    async def get_operation(self, operation: MemoryOperation) -> EntryMutation | None:
        """See `EntryStore.get_operation`. At most two round trips."""
        check_operation(operation)
        row = await self._caller.row("get_entry_operation", operation.id)
        return None if row is None else await replay(self._caller, row, operation)

    async def settle(
        self, operation: MemoryOperation, *, deadline: datetime | None = None
    ) -> EntryMutation:
        """See `EntryStore.settle`. Waits for an attempt that is under way."""
        check_operation(operation)
        check_deadline(deadline)
        wait = self._caller.timeout_ms
        row: Row = await self._caller.mutate("settle", *identity(operation), wait)
        if row["abandoned"]:
            return EntryMutation(abandoned=True, replayed=row["replayed"])
        found = await self.get_operation(operation)
        # A receipt can go only by the sweep, between the two.
        return found or EntryMutation(existed=row["existed"], replayed=True)

    def _mutator(self, write: EntryWrite) -> EntryMutator:
        return EntryMutator(caller=self._caller, write=write, incarnation=self._incarnation)


def path_ranges(where: EntryFilter) -> tuple[str, str, str]:
    """Return what a filter admits: one path, and a range from the second up to the third.

    Bytewise, what lies below `/a` is from `/a/` up to `/a0`, as `0` follows `/`.
    """
    if where.path is not None:
        return where.path, "", ""
    prefix = (where.path_prefix or ROOT_PREFIX).removesuffix("/")
    if not prefix:
        return "", "/", "0"
    return prefix, f"{prefix}/", f"{prefix}0"


def _cursor(last: Entry) -> EntryCursor:
    return EntryCursor(path=last.key.path, session=last.key.session)
