"""A memory store that was deleted and made again is another one, also for who had a right in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import asyncpg
import pytest
import pytest_asyncio
from entry_changes import CHANGES, Change, key

from durable_memory.notebook import MemoryNotFound
from durable_memory.stores import (
    EntryStore,
    EntryWrite,
    Grant,
    Permission,
    PostgresEntryStore,
    PostgresGrantStore,
    Principal,
    PrincipalType,
)

ANN = Principal(type=PrincipalType.USER, name="ann")
CAROL = Principal(type=PrincipalType.USER, name="carol")


@dataclass(frozen=True, kw_only=True)
class Swapped:
    """A store of ann's that became carol's; ann's right in it is of before."""

    store: str
    before: int
    entry_id: str
    version: str


@pytest_asyncio.fixture
async def grants(pool: asyncpg.Pool) -> PostgresGrantStore:
    """The grants."""
    return PostgresGrantStore(pool)


@pytest_asyncio.fixture
async def swapped(entries: PostgresEntryStore, store: str, grants: PostgresGrantStore) -> Swapped:
    """A store that was deleted and made again, with an entry at the same place."""
    access = await grants.access(store, ANN)
    assert access is not None
    await entries.delete_store(store)
    await entries.create_store(store, creator=CAROL.key)
    await grants.grant(store, Grant(principal=CAROL, permission=Permission.READ))
    made = await entries.create(key(store), content="carol's word")
    return Swapped(
        store=store,
        before=access.incarnation,
        entry_id=made.entry_ids[0],
        version=made.version or "",
    )


async def untouched(entries: PostgresEntryStore, swapped: Swapped) -> bool:
    """Whether carol's store is as she made it."""
    info = await entries.get_store(swapped.store)
    page = await entries.list_entries(swapped.store, "someone", limit=10)
    versions = [each.version for each in page.entries]
    return info is not None and info.description == "" and versions == [swapped.version]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_change_lands_in_no_other_store(
    entries: PostgresEntryStore, swapped: Swapped, change: Change
) -> None:
    """Who had WRITE before changes nothing in what came after."""
    bound = entries.within(swapped.before)
    with pytest.raises(MemoryNotFound):
        await change(bound, swapped.store, swapped.entry_id, EntryWrite())
    assert await untouched(entries, swapped)


async def test_store_itself_is_out_of_reach(entries: PostgresEntryStore, swapped: Swapped) -> None:
    """Who had made it before neither deletes nor describes what another has made."""
    bound = entries.within(swapped.before)
    assert not await bound.delete_store(swapped.store)
    with pytest.raises(MemoryNotFound):
        await bound.update_store(swapped.store, description="mine")
    assert await bound.get_store(swapped.store) is None
    assert await untouched(entries, swapped)


Read = Callable[[EntryStore, Swapped], Awaitable[object]]
READS: dict[str, Read] = {
    "get": lambda bound, it: bound.get(it.store, it.entry_id),
    "find": lambda bound, it: bound.find(key(it.store)),
    "search": lambda bound, it: bound.search(it.store, "someone", "word"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
async def test_reads_find_nothing(
    entries: PostgresEntryStore, swapped: Swapped, read: Read
) -> None:
    """Who had READ before sees nothing of what came after; who has it now sees it."""
    assert not await read(entries.within(swapped.before), swapped)
    assert await read(entries, swapped)


async def test_lists_and_histories_show_nothing(
    entries: PostgresEntryStore, swapped: Swapped
) -> None:
    """Neither do pages, versions and what they were."""
    bound = entries.within(swapped.before)
    assert (await bound.list_entries(swapped.store, "someone", limit=10)).entries == []
    with pytest.raises(MemoryNotFound):
        await bound.history(swapped.store, swapped.entry_id, limit=10)
    with pytest.raises(MemoryNotFound):
        await bound.read_version(swapped.store, swapped.entry_id, swapped.version)


async def test_grants_are_those_of_the_store_that_is(
    grants: PostgresGrantStore, swapped: Swapped
) -> None:
    """Who managed grants before gives, takes and sees none in what came after."""
    with pytest.raises(MemoryNotFound):
        await grants.grant(
            swapped.store,
            Grant(principal=ANN, permission=Permission.WRITE),
            incarnation=swapped.before,
        )
    assert not await grants.revoke(swapped.store, CAROL, incarnation=swapped.before)
    page = await grants.list_grants(swapped.store, limit=10, incarnation=swapped.before)
    assert page.grants == []
    access = await grants.access(swapped.store, CAROL)
    assert access is not None
    assert access.incarnation > swapped.before
    (grant,) = (await grants.list_grants(swapped.store, limit=10)).grants
    assert grant.principal == CAROL
