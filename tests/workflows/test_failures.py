"""The handle when the store is down, the workflow is cancelled, or its worker forgets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import runs
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError, CancelledError

from durable_memory.activities import MemoryActivities
from durable_memory.notebook import MAIN_FILENAME, MemoryStoreUnavailable, Scope
from durable_memory.stores import InMemoryStore, MemoryStore
from scripts import ScriptWorkflow, call, write

SCOPE = Scope(namespace="someone")
MEMORY: dict[str, Any] = {
    "namespace": "someone",
    "seconds": {
        "attempt": 0.5,
        "mutation": 0.5,
        "settle": 0.5,
        "lookup": 0.5,
        "snapshot": 0.5,
        "local_snapshot": 0.5,
    },
}


class Switch:
    """A resolver whose store is down, held, or up."""

    def __init__(self) -> None:
        self.store = InMemoryStore()
        self.up = asyncio.Event()
        self.asked = asyncio.Event()
        self.waits = False

    async def __call__(self, _scope: Scope) -> MemoryStore:
        """Return the store when it is up; wait for that, or fail."""
        self.asked.set()
        if self.waits:
            await self.up.wait()
        if not self.up.is_set():
            raise MemoryStoreUnavailable
        return self.store

    async def lines(self) -> list[str]:
        """The lines that are stored."""
        found = await self.store.read(SCOPE.path(MAIN_FILENAME), max_chars=10_000)
        return found.content.splitlines() if found else []


@pytest.fixture
def switch() -> Switch:
    """A switch of the test's own."""
    return Switch()


@pytest_asyncio.fixture
async def queue(temporal_client: Client, switch: Switch) -> AsyncIterator[str]:
    """The queue of a worker behind the switch."""
    activities = MemoryActivities(switch).activities
    async with runs.worker(
        temporal_client,
        name := runs.unique("queue"),
        activities=activities,
        workflows=[ScriptWorkflow],
    ):
        yield name


async def test_snapshot_is_skipped_while_the_store_is_down(
    temporal_client: Client, queue: str
) -> None:
    """With `injection_errors='ignore'` a request goes without its snapshot, and says so."""
    (snapshot,) = await runs.run(temporal_client, queue, MEMORY, {"do": "snapshot"})
    assert snapshot == {"text": "", "token": None, "skipped": True}


async def test_snapshot_failure_can_fail_the_workflow(temporal_client: Client, queue: str) -> None:
    """With `injection_errors='raise'` the workflow fails by a stable type."""
    memory = {**MEMORY, "injection_errors": "raise"}
    with pytest.raises(WorkflowFailureError) as failure:
        await runs.run(temporal_client, queue, memory, {"do": "snapshot"})
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "MemoryStoreUnavailable"


async def test_tools_say_that_the_store_is_down(temporal_client: Client, queue: str) -> None:
    """Tool calls give an error result while the store is down; the workflow goes on."""
    results = await runs.run(
        temporal_client,
        queue,
        MEMORY,
        call("read_memory", file="x"),
        call("search_memory", query="x"),
        write("x"),
    )
    assert all(each["is_error"] for each in results)
    assert [each["data"]["code"] for each in results] == ["unavailable", "unavailable", "undecided"]


async def test_undecided_write_is_settled_before_the_next(
    temporal_client: Client, queue: str, switch: Switch
) -> None:
    """A write that could not even be settled is settled first when the store is back."""
    handle = await runs.start(
        temporal_client, queue, MEMORY, [write("first"), {"do": "wait", "for": "up"}, write("then")]
    )
    await runs.until_results(handle, 1)
    switch.up.set()
    await handle.signal("go", "up")
    first, _, then = await handle.result()
    assert first["data"]["code"] == "undecided"
    assert then["data"]["status"] == "created"
    assert await switch.lines() == ["then"]
    assert len(await runs.scheduled(handle, "memory.settle")) == 2


async def test_cancelled_workflow_ends_cancelled_after_its_write(
    temporal_client: Client, queue: str, switch: Switch
) -> None:
    """A cancelled workflow waits for the write that is under way, and then is cancelled."""
    switch.waits = True
    handle = await runs.start(
        temporal_client, queue, {"namespace": "someone"}, [write("under way"), write("never")]
    )
    await switch.asked.wait()
    await handle.cancel()
    await runs.until_cancel_requested(handle, "memory.write")
    switch.up.set()
    with pytest.raises(WorkflowFailureError) as failure:
        await handle.result()
    assert isinstance(failure.value.cause, CancelledError)
    assert await switch.lines() == ["under way"]


async def test_uncached_workflows_rebuild_the_handle(temporal_client: Client) -> None:
    """A worker that keeps no workflow in memory rebuilds the handle's state in every task."""
    store = InMemoryStore()
    notes = [write(f"note {i % 3}", call_id=f"c{i}") for i in range(6)]
    steps: list[dict[str, Any]] = [
        {"do": "snapshot"},
        {"do": "together", "calls": notes},
        {"do": "snapshot"},
        *notes,
    ]
    async with runs.worker(
        temporal_client,
        queue := runs.unique("uncached"),
        store=store,
        workflows=[ScriptWorkflow],
        max_cached_workflows=0,
    ):
        results = await runs.run(temporal_client, queue, {"namespace": "someone"}, *steps)
    assert len(results) == len(steps)
    found = await store.read(SCOPE.path(MAIN_FILENAME), max_chars=10_000)
    assert found is not None
    assert found.content.splitlines() == [f"note {i % 3}" for i in range(6)] * 2
