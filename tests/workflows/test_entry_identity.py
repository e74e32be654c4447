"""The identity of a run's calls on entries: repeated, reset, continued, rebuilt."""

from __future__ import annotations

import json
from typing import Any

import pytest
import runs
from entry_scripts import (
    AskingForEntriesWorkflow,
    CarryingEntriesWorkflow,
)
from entry_workers import kept
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from durable_memory.activities import EntryActivities
from durable_memory.cli.faults import reset_before_model_call
from durable_memory.stores import EntryStore
from scripts import ScriptWorkflow, call, save


async def test_same_id_in_one_response_is_one_operation(
    temporal_client: Client, queue: str, memory: dict[str, Any]
) -> None:
    """Within a response a tool call id is one operation; in the next it means nothing."""
    _, first, again, _, other = await runs.run(
        temporal_client,
        queue,
        memory,
        {"do": "snapshot"},
        save("/a", "one", call_id="call_0"),
        save("/a", "one", call_id="call_0"),
        {"do": "snapshot"},
        save("/a", "two", call_id="call_0"),
    )
    assert again["data"] == {**first["data"], "replayed": True}
    assert other["data"]["status"] == "updated"


async def test_reused_id_with_other_arguments_fails(
    temporal_client: Client, queue: str, memory: dict[str, Any]
) -> None:
    """A tool call id that comes again in one response with other arguments fails the workflow."""
    with pytest.raises(WorkflowFailureError) as failure:
        await runs.run(
            temporal_client,
            queue,
            memory,
            save("/a", "one", call_id="call_0"),
            save("/a", "two", call_id="call_0"),
        )
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "MemoryOperationConflictError"


async def test_counters_carried_through_continue_as_new(
    temporal_client: Client, queue: str, memory_store: str
) -> None:
    """With an operation scope, the same save in the next run is another call, not a replay."""
    status = await temporal_client.execute_workflow(
        CarryingEntriesWorkflow.run,
        args=[memory_store, None],
        id=runs.unique("carry"),
        task_queue=queue,
    )
    assert status == "updated"


async def test_two_resets_write_nothing_twice(
    temporal_client: Client, queue: str, entries: EntryStore, memory: dict[str, Any]
) -> None:
    """After two resets, with new tool call ids, each save and forget has happened once, in order.

    The first path is saved with the same words three times: three operations, and stay three.
    """
    prompts = [
        json.dumps([["save_memory", {"path": path, "content": text}] for path, text in batch])
        for batch in [
            [("/a", "tea"), ("/b", "bread")],
            [("/a", "coffee"), ("/a", "tea")],
            [("/a", "tea")],
        ]
    ]
    prompts.insert(2, json.dumps([["forget_memory", {"path": "/b"}]]))
    run = await temporal_client.start_workflow(
        AskingForEntriesWorkflow.run,
        args=[memory, prompts],
        id=runs.unique("agent"),
        task_queue=queue,
    )
    told = await run.result()
    (before,) = await kept(entries, memory["store"], memory["actor"])
    ids = [await runs.tool_call_ids(run)]
    for first_again in (1, 0):
        run = await reset_before_model_call(temporal_client, run, call=first_again)
        assert await run.result() == told, "a receipt says what the first run said"
        ids.append(await runs.tool_call_ids(run))
    assert len(set.union(*ids)) == 6 + 4 + 6, "the model gave new ids"
    (after,) = await kept(entries, memory["store"], memory["actor"])
    assert after == before
    steps = await entries.history(memory["store"], after.id, limit=100)
    assert len(steps) == 4
    assert after.content == "tea"


async def test_uncached_workflows_rebuild_the_handle(
    temporal_client: Client, entries: EntryStore, memory: dict[str, Any]
) -> None:
    """A worker that keeps no workflow in memory rebuilds the handle's state in every task."""
    calls = [save(f"/{i % 3}", "text", call_id=f"c{i}") for i in range(6)]
    steps: list[dict[str, Any]] = [
        {"do": "together", "calls": calls},
        {"do": "snapshot"},
        *calls,
        call("list_memories"),
    ]
    async with runs.worker(
        temporal_client,
        queue := runs.unique("uncached"),
        activities=EntryActivities(entries).activities,
        workflows=[ScriptWorkflow],
        max_cached_workflows=0,
    ):
        results = await runs.run(temporal_client, queue, memory, *steps)
    assert len(json.loads(results[-1]["text"])["memories"]) == 3
    saved = [*results[0], *results[2:-1]]
    assert [each["data"]["status"] for each in saved] == [*["created"] * 3, *["updated"] * 9]
    assert not any(each["data"]["replayed"] for each in saved)
