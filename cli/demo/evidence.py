"""Collecting what the proof needs, from PostgreSQL and from Temporal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from temporalio.api.common.v1 import Payloads
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer

from ...notebook import COMPLETE, MAIN_FILENAME, WRITE, Scope
from ...stores import PostgresMemoryStore, create_pool
from ...workflows import AgentWorkflow
from .proof import RunRecord, Write

_EVERYTHING = 10_000_000
"""Characters, or steps: more than a demo writes."""


class Activities:
    """The activities of one history.

    Args:
        history: As Temporal gives it.
    """

    def __init__(self, history: WorkflowHistory) -> None:
        self._events = {event.event_id: event for event in history.events}

    def scheduled(self, name: str) -> Iterator[HistoryEvent]:
        """Yield the events that scheduled activities of a type, in order."""
        for event in self._events.values():
            if event.activity_task_scheduled_event_attributes.activity_type.name == name:
                yield event

    def completed(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield attempt and result of each completed activity of a type, in order."""
        for event in self._events.values():
            done = event.activity_task_completed_event_attributes
            if done.scheduled_event_id and self._type(done.scheduled_event_id) == name:
                started = self._events[done.started_event_id]
                attempt = started.activity_task_started_event_attributes.attempt
                yield attempt, _decode(done.result)

    def _type(self, scheduled_event_id: int) -> str:
        scheduled = self._events[scheduled_event_id]
        return scheduled.activity_task_scheduled_event_attributes.activity_type.name


def _decode(payloads: Payloads) -> Any:
    return json.loads(payloads.payloads[0].data)


async def read_run(client: Client, workflow_id: str, run_id: str) -> RunRecord:
    """Fetch one run's history, replay it, and return what it says."""
    history = await client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
    activities = Activities(history)
    return RunRecord(
        workflow_id=workflow_id,
        run_id=run_id,
        writes=tuple(_writes(activities)),
        call_ids=tuple(_call_ids(activities)),
        replay_error=await _replay(history),
    )


def _writes(activities: Activities) -> Iterator[Write]:
    for attempt, response in activities.completed(WRITE):
        for result in response["results"]:
            replayed = result.get("replayed", False)
            yield Write(attempt=attempt, replayed=replayed, version=result.get("version", ""))


def _call_ids(activities: Activities) -> Iterator[str]:
    for _, response in activities.completed(COMPLETE):
        yield from (call["id"] for call in response.get("tool_calls", ()))


async def _replay(history: WorkflowHistory) -> str | None:
    replayer = Replayer(workflows=[AgentWorkflow])
    outcome = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return type(outcome.replay_failure).__name__ if outcome.replay_failure else None


async def read_notebook(store: str, scope: Scope) -> tuple[str, tuple[str, ...]]:
    """Return the notebook's text and what each step of its history added, oldest first."""
    path = scope.path(MAIN_FILENAME)
    async with await create_pool(store, max_size=1) as pool:
        opened = PostgresMemoryStore(pool)
        file = await opened.read(path, max_chars=_EVERYTHING)
        steps = await opened.history(path, limit=_EVERYTHING)
    return file.content if file else "", tuple(step.change.added for step in reversed(steps))
