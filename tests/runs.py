"""Running scripts on real workers."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from durable_memory.activities import MemoryActivities, ModelActivities, ScriptedModel
from durable_memory.cli.faults import until
from durable_memory.notebook import COMPLETE, WRITE, Scope, ScopePolicy
from durable_memory.stores import InMemoryStore, MemoryStore
from durable_memory.workflows import AgentWorkflow
from scripts import (
    AskingWorkflow,
    ByNameWorkflow,
    CarryingWorkflow,
    GivingUpWorkflow,
    InsistingWorkflow,
    OversizeWorkflow,
    ResolvingWorkflow,
    ScriptWorkflow,
    SeveralWorkflow,
)

Handle = WorkflowHandle[Any, Any]
WORKFLOWS = [
    AgentWorkflow,
    AskingWorkflow,
    ByNameWorkflow,
    CarryingWorkflow,
    GivingUpWorkflow,
    InsistingWorkflow,
    OversizeWorkflow,
    ResolvingWorkflow,
    ScriptWorkflow,
    SeveralWorkflow,
]


def unique(kind: str) -> str:
    """A name that nothing else has."""
    return f"{kind}-{uuid.uuid4().hex[:12]}"


@dataclass(slots=True)
class Shelf:
    """Where a worker that serves many tests finds the store of the test that runs now."""

    store: MemoryStore | None = None

    def renew(self) -> InMemoryStore:
        """Put a new, empty store there and return it."""
        self.store = store = InMemoryStore()
        return store

    async def __call__(self, _scope: Scope) -> MemoryStore:
        """Return the test's store."""
        assert self.store is not None
        return self.store


@asynccontextmanager
async def worker(
    client: Client,
    queue: str,
    *,
    store: MemoryStore | None = None,
    activities: Sequence[Callable[..., Any]] = (),
    workflows: Sequence[type] = WORKFLOWS,
    **options: Any,
) -> AsyncIterator[Worker]:
    """A worker in this process; with the memory activities when it has a store."""
    own = [*MemoryActivities(store).activities] if store is not None else []
    own += [*activities] or [ModelActivities(ScriptedModel()).complete]
    running = Worker(
        client,
        task_queue=queue,
        workflows=workflows,
        activities=own,
        graceful_shutdown_timeout=timedelta(seconds=5),
        **options,
    )
    async with running:
        yield running


@asynccontextmanager
async def serving(
    client: Client, workflows: Sequence[type], *, policy: ScopePolicy | None = None
) -> AsyncIterator[tuple[str, Shelf]]:
    """A worker that serves many tests: its queue, and where it finds its store."""
    shelf = Shelf()
    activities = MemoryActivities(shelf, policy=policy).activities
    queue = unique("queue")
    async with worker(client, queue, activities=activities, workflows=workflows):
        yield queue, shelf


async def start(
    client: Client, queue: str, memory: dict[str, Any], steps: list[dict[str, Any]]
) -> WorkflowHandle[ScriptWorkflow, list[Any]]:
    """Start a script."""
    return await client.start_workflow(
        ScriptWorkflow.run, args=[memory, steps], id=unique("script"), task_queue=queue
    )


async def run(
    client: Client, queue: str, memory: dict[str, Any], *steps: dict[str, Any]
) -> list[Any]:
    """Run a script to its end and return what each step returned."""
    return await (await start(client, queue, memory, list(steps))).result()


async def events(handle: Handle, kind: int) -> list[Any]:
    """The events of a kind in a workflow's history."""
    history = await handle.fetch_history()
    return [event for event in history.events if event.event_type == kind]


async def scheduled(handle: Handle, activity: str) -> list[Any]:
    """The scheduling events of an activity."""
    found = await events(handle, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
    return [
        event
        for event in found
        if event.activity_task_scheduled_event_attributes.activity_type.name == activity
    ]


async def results_of(handle: Handle, activity: str) -> list[Any]:
    """What the completed runs of an activity returned, in order of their completion."""
    ids = {event.event_id for event in await scheduled(handle, activity)}
    completed = await events(handle, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
    return [
        json.loads(event.activity_task_completed_event_attributes.result.payloads[0].data)
        for event in completed
        if event.activity_task_completed_event_attributes.scheduled_event_id in ids
    ]


async def tool_call_ids(handle: Handle) -> set[str]:
    """The ids of all tool calls a model gave in a run."""
    return {
        call["id"]
        for response in await results_of(handle, COMPLETE)
        for call in response.get("tool_calls", ())
    }


async def deadline_of(handle: Handle) -> datetime:
    """The deadline that the first write of a run carries."""
    (asked, *_) = await scheduled(handle, WRITE)
    payloads = asked.activity_task_scheduled_event_attributes.input.payloads
    return datetime.fromisoformat(json.loads(payloads[0].data)["deadline"])


async def until_results(handle: Handle, count: int) -> None:
    """Wait until a script has the results of `count` steps."""

    async def there() -> bool:
        return len(await handle.query("results")) >= count

    await until(there, f"{count} results")


async def until_cancel_requested(handle: Handle, activity: str) -> None:
    """Wait until the cancellation of an activity stands in the history."""
    (asked, *_) = await scheduled(handle, activity)

    async def there() -> bool:
        found = await events(handle, EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED)
        return any(
            each.activity_task_cancel_requested_event_attributes.scheduled_event_id
            == asked.event_id
            for each in found
        )

    await until(there, "the cancellation")


async def until_scheduled(handle: Handle, activity: str, count: int) -> None:
    """Wait until an activity was scheduled a number of times."""

    async def there() -> bool:
        return len(await scheduled(handle, activity)) >= count

    await until(there, f"{activity} to be scheduled")
