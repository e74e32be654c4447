"""What configures a memory of entries: refused by name, or resolved from trusted input."""

from __future__ import annotations

from typing import Any

import pytest
import runs
from entry_scripts import (
    VerifiedWorkflow,
)
from entry_workers import kept
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from durable_memory.stores import EntryStore
from scripts import save


@pytest.mark.parametrize(
    "fields",
    [
        {"actor": ""},
        {"actor": " "},
        {"actor": None},
        {"actor": "x" * 600},
        {"actor": 7},
        {"store": ""},
        {"store": "_notebooks"},
        {"store": "a/b"},
        {"session": ""},
        {"tool_prefix": "no spaces"},
        {"max_entry_results": 101},
        {"max_entry_result_chars": 10},
        {"heading": "two\nlines"},
        {"task_queue": ""},
    ],
    ids=str,
)
async def test_malformed_configuration_fails_the_workflow(
    temporal_client: Client, queue: str, memory: dict[str, Any], fields: dict[str, object]
) -> None:
    """A memory without an actor, or any field that cannot work, fails the workflow."""
    with pytest.raises(WorkflowFailureError) as failure:
        await runs.run(temporal_client, queue, {**memory, **fields}, save("/a", "x"))
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "InvalidMemoryRequest"


async def test_missing_actor_fails_the_workflow(
    temporal_client: Client, queue: str, memory_store: str
) -> None:
    """A configuration that says nothing of an actor has none, and no shared one in its place."""
    with pytest.raises(WorkflowFailureError) as failure:
        await runs.run(temporal_client, queue, {"store": memory_store}, save("/a", "x"))
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "InvalidMemoryRequest"


async def test_actor_resolved_from_the_input(
    temporal_client: Client, queue: str, entries: EntryStore, memory_store: str
) -> None:
    """Store, actor and session can be functions of the workflow's input."""
    user = {"store": memory_store, "id": "bob", "session": "monday"}
    told = await temporal_client.execute_workflow(
        VerifiedWorkflow.run, user, id=runs.unique("verified"), task_queue=queue
    )
    assert told == "Saved memory at /hello.md"
    (entry,) = await kept(entries, memory_store, "bob")
    assert entry.key.session == "monday"


@pytest.mark.parametrize("user", [{}, {"id": None}, {"id": ""}], ids=str)
async def test_unverified_user_fails_the_workflow(
    temporal_client: Client, queue: str, memory_store: str, user: dict[str, Any]
) -> None:
    """An input without an identity fails the workflow and never falls back to a shared memory."""
    with pytest.raises(WorkflowFailureError) as failure:
        await temporal_client.execute_workflow(
            VerifiedWorkflow.run,
            {"store": memory_store, **user},
            id=runs.unique("verified"),
            task_queue=queue,
        )
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "InvalidMemoryRequest"
    assert memory_store not in str(failure.value.cause)


async def test_unknown_store_fails_the_workflow(temporal_client: Client, queue: str) -> None:
    """Saving into a memory store that does not exist fails the workflow: no model could act."""
    memory = {"store": "no-such-store", "actor": "ann"}
    with pytest.raises(WorkflowFailureError) as failure:
        await runs.run(temporal_client, queue, memory, save("/a", "x"))
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "MemoryNotFound"
