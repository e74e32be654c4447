"""Memory stores on PostgreSQL."""

from __future__ import annotations

from copy import copy
from typing import Self

from ...notebook import MemoryAlreadyExists, MemoryNotFound, check_description, check_store_id
from ..checks import check_bound
from ..entryrecords import EntryCursor, EntryStoreInfo, EntryStorePage
from ..grants import Principal
from .calls import Caller
from .entryrows import store_info


class PostgresMemoryStores:
    """The part of an `EntryStore` that is about memory stores.

    Args:
        caller: Runs the queries.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._incarnation: int | None = None

    def within(self, incarnation: int) -> Self:
        """See `EntryStore.within`."""
        bound = copy(self)
        bound._incarnation = incarnation  # noqa: SLF001  (a copy of its own)
        return bound

    async def create_store(
        self, store: str, *, creator: str, description: str = ""
    ) -> EntryStoreInfo:
        """See `EntryStore.create_store`. One round trip."""
        check_store_id(store)
        check_description(description)
        Principal.of_key(creator)
        row = await self._caller.mutate("create_memory_store", store, description, creator)
        if row["id"] is None:
            raise MemoryAlreadyExists
        return store_info(row)

    async def get_store(self, store: str) -> EntryStoreInfo | None:
        """See `EntryStore.get_store`. One round trip."""
        row = await self._caller.row("get_memory_store", check_store_id(store), self._incarnation)
        return None if row is None else store_info(row)

    async def list_stores(self, *, limit: int, after: str | None = None) -> EntryStorePage:
        """See `EntryStore.list_stores`. One round trip."""
        check_bound("limit", limit)
        place = EntryCursor(path=after or "")
        rows = await self._caller.rows("list_memory_stores", place.path, limit + 1)
        stores = [store_info(row) for row in rows[:limit]]
        return EntryStorePage(stores=stores, next=stores[-1].id if len(rows) > limit else None)

    async def update_store(self, store: str, *, description: str) -> EntryStoreInfo:
        """See `EntryStore.update_store`. One round trip."""
        check_store_id(store)
        check_description(description)
        row = await self._caller.mutate(
            "update_memory_store", store, description, self._incarnation
        )
        if row["id"] is None:
            raise MemoryNotFound
        return store_info(row)

    async def delete_store(self, store: str) -> bool:
        """See `EntryStore.delete_store`. One round trip."""
        row = await self._caller.mutate(
            "delete_memory_store", check_store_id(store), self._incarnation
        )
        existed: bool = row["existed"]
        return existed
