"""Activities that still run after the workflow has stopped waiting for them."""

from __future__ import annotations

import json
from datetime import datetime

import asyncpg
import pytest
import runs
from fleets import Fleet, Reader
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from durable_memory.activities import ModelActivities
from durable_memory.cli.faults import reset_before_model_call, row_lock, until
from durable_memory.notebook import (
    MAIN_FILENAME,
    ModelRequest,
    ModelResponse,
    ModelToolCall,
    Scope,
)
from durable_memory.stores import PostgresMemoryStore
from scripts import AskingWorkflow, write

BLOCKED = Scope(namespace="blocked")
SCOPE = Scope(namespace="zombie")


class RewordingModel:
    """Asks for a write in other words each time it is asked."""

    def __init__(self) -> None:
        self.drafts = 0

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Ask for a write in new words, then say that it is done."""
        if request.messages[-1].role != "user":
            return ModelResponse(content="done")
        self.drafts += 1
        arguments = json.dumps({"content": f"draft {self.drafts}"})
        call = ModelToolCall(id=runs.unique("call"), name="write_memory", arguments=arguments)
        return ModelResponse(tool_calls=(call,))


async def pending_activity(handle: runs.Handle, name: str) -> None:
    """Wait until a worker has taken the activity."""

    async def started() -> bool:
        described = await handle.describe()
        return any(
            each.activity_type.name == name and each.attempt and each.HasField("last_started_time")
            for each in described.raw_description.pending_activities
        )

    await until(started, f"{name} to be started")


@pytest.fixture
async def blocked_row(store: PostgresMemoryStore) -> None:
    """A notebook whose row can be locked."""
    await store.write(BLOCKED.path(MAIN_FILENAME), "begin\n", expected_version=None)


async def test_cancelled_write_cannot_land_later(
    temporal_client: Client, fleet: Fleet, reader: Reader, blocked_row: None
) -> None:
    """A write whose outcome is unknown after a cancellation is settled before the next one goes.

    The late worker arrives before the deadline: only the settled receipt is in its way.
    """
    async with (
        row_lock(fleet.url, BLOCKED) as lock,
        fleet.stalled() as late,
        runs.worker(temporal_client, agents := runs.unique("agents")),
    ):
        await lock.hold()
        memory = {"task_queue": fleet.queue, "seconds": {"attempt": 2, "mutation": 300}}
        blocker = await runs.start(
            temporal_client, agents, {**memory, "namespace": BLOCKED.namespace}, [write("x")]
        )
        await lock.waiting_backend()
        run = await runs.start(
            temporal_client,
            agents,
            {**memory, "namespace": SCOPE.namespace},
            [{"do": "cancelled", "call": write("old")}, write("new")],
        )
        await pending_activity(run, "memory.write")
        late.stop()
        await lock.release()
        await run.signal("go", "cancel")
        async with fleet.worker():
            cancelled, written = await run.result()
            await blocker.result()
        assert cancelled == "cancelled"
        assert written["data"]["status"] == "created"
        outcomes = await late.finish()
    assert f"{SCOPE.namespace} MemoryOperationAbandonedError" in outcomes
    assert await reader.lines(SCOPE) == ["new"]


async def test_write_from_before_a_reset_cannot_land_after_its_deadline(
    temporal_client: Client, fleet: Fleet, reader: Reader, blocked_row: None
) -> None:
    """A write that a reset left behind, reworded since, is refused once its deadline is over."""
    model = RewordingModel()
    async with (
        row_lock(fleet.url, BLOCKED) as lock,
        fleet.stalled() as late,
        runs.worker(
            temporal_client,
            agents := runs.unique("agents"),
            activities=[ModelActivities(model).complete],
        ),
    ):
        await lock.hold()
        await runs.start(
            temporal_client,
            agents,
            {"task_queue": fleet.queue, "namespace": BLOCKED.namespace},
            [write("x")],
        )
        await lock.waiting_backend()
        run = await temporal_client.start_workflow(
            AskingWorkflow.run,
            {
                "task_queue": fleet.queue,
                "namespace": SCOPE.namespace,
                "seconds": {"attempt": 4, "mutation": 8},
            },
            id=runs.unique("asking"),
            task_queue=agents,
        )
        await pending_activity(run, "memory.write")
        late.stop()
        await lock.release()
        deadline = await runs.deadline_of(run)
        again = await reset_before_model_call(temporal_client, run, 0)
        async with fleet.worker():
            await again.result()
            assert await reader.lines(SCOPE) == ["draft 2"]
            await wait_for_clock(fleet.url, deadline)
        outcomes = await late.finish()
    assert f"{SCOPE.namespace} MemoryDeadlineExceeded" in outcomes
    assert await reader.lines(SCOPE) == ["draft 2"]


async def wait_for_clock(url: str, deadline: datetime) -> None:
    """Wait until the database's clock has passed `deadline`."""
    connection = await asyncpg.connect(url)
    try:
        await until(
            lambda: connection.fetchval("SELECT clock_timestamp() > $1", deadline), "the deadline"
        )
    finally:
        await connection.close()


async def test_timed_out_write_is_told_as_it_is(
    temporal_client: Client, fleet: Fleet, store: PostgresMemoryStore, reader: Reader
) -> None:
    """A write that a dead worker left in the database past its time-out is settled.

    The workflow is told that nothing was changed, and nothing ever is; the next write goes on.
    """
    await store.write(SCOPE.path(MAIN_FILENAME), "begin\n", expected_version=None)
    async with (
        row_lock(fleet.url, SCOPE) as lock,
        runs.worker(temporal_client, agents := runs.unique("agents")),
    ):
        await lock.hold()
        async with fleet.worker() as first:
            run = await runs.start(
                temporal_client,
                agents,
                {
                    "task_queue": fleet.queue,
                    "namespace": SCOPE.namespace,
                    "seconds": {"attempt": 10, "mutation": 10, "settle": 60},
                },
                [write("late"), {"do": "wait", "for": "released"}, write("next")],
            )
            await lock.waiting_backend()
            await first.kill()
        async with fleet.worker():
            await until(lambda: runs.scheduled(run, "memory.settle"), "the settling")
            await lock.release()
            await run.signal("go", "released")
            late, _, following = await run.result()
    assert late["is_error"]
    assert late["data"]["code"] == "unavailable"
    assert following["data"]["status"] == "appended"
    assert await reader.lines(SCOPE) == ["begin", "next"]


async def test_unreported_write_is_answered_by_its_receipt(
    temporal_client: Client, fleet: Fleet, store: PostgresMemoryStore, reader: Reader
) -> None:
    """A write that committed in a worker that died is not repeated by the next worker."""
    await store.write(SCOPE.path(MAIN_FILENAME), "begin\n", expected_version=None)
    async with (
        row_lock(fleet.url, SCOPE) as lock,
        runs.worker(temporal_client, agents := runs.unique("agents")),
    ):
        await lock.hold()
        async with fleet.worker() as first:
            run = await runs.start(
                temporal_client,
                agents,
                {
                    "task_queue": fleet.queue,
                    "namespace": SCOPE.namespace,
                    "seconds": {"attempt": 2},
                },
                [write("once")],
            )
            await lock.waiting_backend()
            first.freeze()
            await lock.release()
            await lock.wait_for_receipts(run.id, 1)
            await first.kill()
        async with fleet.worker():
            (result,) = await run.result()
    assert result["data"]["status"] == "appended"
    assert result["data"]["replayed"]
    started = await runs.events(run, EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED)
    assert max(each.activity_task_started_event_attributes.attempt for each in started) > 1
    assert await reader.lines(SCOPE) == ["begin", "once"]
