"""Several memories on one agent."""

from __future__ import annotations

from typing import Any

import pytest
import runs
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from durable_memory.notebook import Scope
from durable_memory.stores import InMemoryStore
from scripts import SeveralWorkflow

OWN = {"id": "own", "namespace": "someone", "heading": "Your notes"}
ORG = {"id": "org", "agent_name": "org", "heading": "Org notes", "tool_prefix": "org"}


async def several(
    client: Client, store: InMemoryStore, memories: list[dict[str, str]], calls: list[list[str]]
) -> dict[str, Any]:
    """Make the calls through several memories, then load their snapshots."""
    async with runs.worker(
        client, queue := runs.unique("several"), store=store, workflows=[SeveralWorkflow]
    ):
        return await client.execute_workflow(
            SeveralWorkflow.run, args=[memories, calls], id=runs.unique("several"), task_queue=queue
        )


async def test_each_tool_reaches_its_own_memory(temporal_client: Client) -> None:
    """A prefixed tool works on its own scope, and headings keep the blocks apart."""
    store = InMemoryStore()
    seen = await several(
        temporal_client,
        store,
        [OWN, ORG],
        [["write_memory", "mine"], ["org_write_memory", "ours"], ["other_write_memory", "x"]],
    )
    assert seen["errors"] == [False, False, True]
    own, org = seen["blocks"]
    assert "## Your notes" in own
    assert "mine" in own
    assert "ours" not in own
    assert "## Org notes" in org
    assert "ours" in org
    assert "org_read_memory" in seen["tools"]
    assert "## Org notes" in seen["instructions"]
    found = await store.read(Scope(agent_name="org").path("MEMORY.md"), max_chars=100)
    assert found is not None
    assert found.content == "ours\n"


async def test_two_on_one_scope_show_one_block(temporal_client: Client) -> None:
    """Of two memories on one scope the later block replaces the earlier."""
    again = {**OWN, "id": "again", "heading": "The same", "tool_prefix": "again"}
    seen = await several(temporal_client, InMemoryStore(), [OWN, again], [["write_memory", "one"]])
    (block,) = seen["blocks"]
    assert "## The same" in block


@pytest.mark.parametrize(
    "second",
    [{**ORG, "tool_prefix": ""}, {**ORG, "id": "own"}, {**ORG, "heading": OWN["heading"]}],
    ids=["tool names", "id", "heading"],
)
async def test_clashes_are_refused(temporal_client: Client, second: dict[str, str]) -> None:
    """Two memories with the same tool names, id or heading are refused by name."""
    with pytest.raises(WorkflowFailureError) as failure:
        await several(temporal_client, InMemoryStore(), [OWN, second], [])
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "InvalidMemoryRequest"
