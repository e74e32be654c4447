"""Saves that still run after the workflow has stopped waiting for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import runs
from held_entries import HeldEntries
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import CancelledError

from durable_memory.activities import EntryActivities
from durable_memory.notebook import EntryKey, MemoryStoreUnavailable, Partition
from durable_memory.stores import EntryStore, create_pool
from scripts import ScriptWorkflow, call, save

PATIENCE = 60


class Switch:
    """A resolver whose store is down, or up."""

    def __init__(self) -> None:
        self.store: EntryStore | None = None

    async def __call__(self, _partition: Partition) -> EntryStore:
        """Return the store when it is up."""
        if self.store is None:
            raise MemoryStoreUnavailable
        return self.store


@pytest.fixture(scope="module")
def switch() -> Switch:
    """Where the module's worker finds the store of the test that runs now."""
    return Switch()


@pytest_asyncio.fixture(scope="module")
async def queue(temporal_client: Client, switch: Switch) -> AsyncIterator[str]:
    """The queue of a worker behind the switch."""
    async with runs.worker(
        temporal_client,
        name := runs.unique("queue"),
        activities=EntryActivities(switch).activities,
        workflows=[ScriptWorkflow],
    ):
        yield name


@pytest_asyncio.fixture
async def held(entries_url: str, switch: Switch) -> AsyncIterator[HeldEntries]:
    """A store, on the worker, that holds the saves of `old`."""
    async with await create_pool(entries_url) as pool:
        switch.store = store = HeldEntries(pool, held="old")
        yield store
        store.release.set()
        switch.store = None


async def content(store: EntryStore, memory_store: str) -> str | None:
    """What lies at the path that these tests save to."""
    found = await store.find(EntryKey(store=memory_store, actor="ann", path="/a"))
    return found.content if found else None


async def test_cancelled_save_cannot_land_later(
    temporal_client: Client, queue: str, held: HeldEntries, memory_store: str
) -> None:
    """A save whose outcome is unknown after a cancellation is settled before the next one goes.

    The late attempt is still within its deadline: only the settled receipt is in its way.
    """
    memory = {
        "store": memory_store,
        "actor": "ann",
        "seconds": {"attempt": 1, "mutation": 300},
    }
    run = await runs.start(
        temporal_client,
        queue,
        memory,
        [{"do": "cancelled", "call": save("/a", "old")}, save("/a", "new")],
    )
    await asyncio.wait_for(held.arrived.wait(), PATIENCE)
    await run.signal("go", "cancel")
    cancelled, saved = await run.result()
    assert cancelled == "cancelled"
    assert saved["data"]["status"] == "created"
    assert len(await runs.scheduled(run, "memory.settle_entry")) == 1
    held.release.set()
    await asyncio.wait_for(held.ended.wait(), PATIENCE)
    assert held.outcomes == ["new: applied", "old: MemoryOperationAbandonedError"]
    assert await content(held, memory_store) == "new"


async def test_same_words_after_an_abandoned_save(
    temporal_client: Client, queue: str, held: HeldEntries, memory_store: str
) -> None:
    """A save that was given up does not stand in the way of the same words said again."""
    memory = {
        "store": memory_store,
        "actor": "ann",
        "seconds": {"attempt": 1, "mutation": 1},
    }
    run = await runs.start(
        temporal_client,
        queue,
        memory,
        [save("/a", "old"), {"do": "wait", "for": "again"}, save("/a", "old")],
    )
    await runs.until_results(run, 1)
    held.release.set()
    await asyncio.wait_for(held.ended.wait(), PATIENCE)
    await run.signal("go", "again")
    late, _, saved = await run.result()
    assert late["is_error"]
    assert "Nothing was changed" in late["text"]
    assert saved["data"]["status"] == "created"
    assert not saved["data"]["replayed"]
    assert await content(held, memory_store) == "old"


async def test_cancelled_workflow_ends_cancelled_after_its_save(
    temporal_client: Client, queue: str, held: HeldEntries, memory_store: str
) -> None:
    """A cancelled workflow waits for the save that is under way, and then is cancelled."""
    memory = {"store": memory_store, "actor": "ann"}
    run = await runs.start(temporal_client, queue, memory, [save("/a", "old"), save("/a", "never")])
    await asyncio.wait_for(held.arrived.wait(), PATIENCE)
    await run.cancel()
    await runs.until_cancel_requested(run, "memory.save_entry")
    held.release.set()
    with pytest.raises(WorkflowFailureError) as failure:
        await run.result()
    assert isinstance(failure.value.cause, CancelledError)
    assert await content(held, memory_store) == "old"


async def test_undecided_save_is_settled_before_the_next(
    temporal_client: Client, queue: str, switch: Switch, entries: EntryStore, memory_store: str
) -> None:
    """Tools say that the store is down; a save that could not be settled is settled later."""
    half = {"attempt": 0.5, "mutation": 0.5, "settle": 0.5, "lookup": 0.5}
    memory: dict[str, Any] = {"store": memory_store, "actor": "ann", "seconds": half}
    run = await runs.start(
        temporal_client,
        queue,
        memory,
        [
            call("list_memories"),
            call("search_memory", query="x"),
            save("/a", "first"),
            {"do": "wait", "for": "up"},
            save("/a", "then"),
        ],
    )
    await runs.until_results(run, 3)
    switch.store = entries
    await run.signal("go", "up")
    listed, found, first, _, then = await run.result()
    switch.store = None
    codes = [each["data"]["code"] for each in (listed, found, first)]
    assert codes == ["unavailable", "unavailable", "undecided"]
    assert "not known" in first["text"]
    assert then["data"]["status"] == "created"
    assert await content(entries, memory_store) == "then"
    assert len(await runs.scheduled(run, "memory.settle_entry")) == 2
