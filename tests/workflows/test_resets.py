"""Resets to before a model call: the model is asked again, and its tool calls get new ids."""

from __future__ import annotations

from typing import Any

import runs
from fleets import Fleet, Reader
from temporalio.client import Client, WorkflowHandle

from durable_memory.cli.faults import reset_before_model_call, row_lock
from durable_memory.notebook import MAIN_FILENAME, Scope
from durable_memory.stores import PostgresMemoryStore
from durable_memory.workflows import AgentRequest, AgentWorkflow

PROMPTS = [
    "I drink tea.",
    "Remind me to breathe.",
    "My sister is Ada.",
    "Remind me to breathe.",
    "내 고양이는 나비예요.",
    "Remind me to breathe.",
]
CALLS_PER_PROMPT = 2  # one that asks for the write, one that answers


async def start_agent(
    client: Client, fleet: Fleet, scope: Scope
) -> WorkflowHandle[AgentWorkflow, Any]:
    """Start the reference agent on the fleet."""
    request = AgentRequest(prompts=PROMPTS, namespace=scope.namespace, attempt_timeout_seconds=3.0)
    return await client.start_workflow(
        AgentWorkflow.run, request, id=runs.unique("agent"), task_queue=fleet.queue
    )


async def test_two_resets_write_nothing_twice(
    temporal_client: Client, fleet: Fleet, store: PostgresMemoryStore, reader: Reader
) -> None:
    """A write stopped between commit and report, and two resets, leave each note exactly once.

    Three of the notes are equal: they are three operations, and stay three.
    """
    scope = Scope(namespace="reset")
    await store.write(scope.path(MAIN_FILENAME), "begin\n", expected_version=None)
    async with row_lock(fleet.url, scope) as lock:
        await lock.hold()
        async with fleet.worker() as first:
            run = await start_agent(temporal_client, fleet, scope)
            passed = await lock.let_through(run.id, 3)
            await lock.waiting_backend()
            first.freeze()
            await lock.release()
            await lock.wait_for_receipts(run.id, passed + 1)
            # Committed, and nobody was told: reset to before the model call that asked for it.
            run = await reset_before_model_call(temporal_client, run, passed * CALLS_PER_PROMPT)
            await first.kill()
    async with fleet.worker():
        assert (await run.result())["answered"] == len(PROMPTS)
        assert await reader.lines(scope) == ["begin", *PROMPTS]
        again = await reset_before_model_call(temporal_client, run, 0)
        assert (await again.result())["answered"] == len(PROMPTS)
    assert await reader.lines(scope) == ["begin", *PROMPTS]
    ids = await runs.tool_call_ids(again)
    assert not ids & await runs.tool_call_ids(run), "the model gave new ids"
    history = await store.history(scope.path(MAIN_FILENAME), limit=100)
    assert len(history) == 1 + len(PROMPTS), "and nothing was written and taken back"
