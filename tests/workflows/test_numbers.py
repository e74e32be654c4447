"""The numbers of identical calls: each ends in a receipt, so that every branch walks the same."""

from __future__ import annotations

import json

import runs
from hypothesis import given
from hypothesis import strategies as st
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from durable_memory.notebook import MAIN_FILENAME, WRITE, Scope
from durable_memory.stores import InMemoryStore
from durable_memory.workflows.runs import ScopeState
from scripts import GivingUpWorkflow, InsistingWorkflow


async def test_refused_call_leaves_no_number_to_a_later_branch(temporal_client: Client) -> None:
    """A note that was refused, then written, is not written again after a reset to before both."""
    store, filler = InMemoryStore(), "x" * 90
    path = Scope(namespace="insist").path(MAIN_FILENAME)
    await store.write(path, filler + "\n", expected_version=None)
    queue = runs.unique("insist")
    async with runs.worker(temporal_client, queue, store=store, workflows=[InsistingWorkflow]):
        run = await temporal_client.start_workflow(
            InsistingWorkflow.run, args=["note " * 4, filler], id=queue, task_queue=queue
        )
        assert await run.result() == ["refused", "updated", "appended"]
        response = await temporal_client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=temporal_client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=run.id),
                request_id=queue,
                workflow_task_finish_event_id=4,
            )
        )
        again = temporal_client.get_workflow_handle(run.id, run_id=response.run_id)
        assert await again.result() == ["appended"]
    found = await store.read(path, max_chars=1_000)
    assert found is not None
    assert found.content.count("note") == 4


async def test_number_of_a_call_that_was_never_sent_is_given_back(temporal_client: Client) -> None:
    """A write cancelled while it waits behind another gives its number to the next like it."""
    queue = runs.unique("waiting")
    async with runs.worker(temporal_client, queue, workflows=[GivingUpWorkflow]):
        run = await temporal_client.start_workflow(GivingUpWorkflow.run, id=queue, task_queue=queue)
        await run.signal(GivingUpWorkflow.give_up)
        await runs.until_scheduled(run, WRITE, 1)
        # Only now is there a worker for the memory: the first write waited all the while.
    async with runs.worker(
        temporal_client, queue, store=InMemoryStore(), workflows=[GivingUpWorkflow]
    ):
        assert await run.result() == ["created", "appended"]
    sent = [
        json.loads(each.activity_task_scheduled_event_attributes.input.payloads[0].data)
        for each in await runs.scheduled(run, WRITE)
    ]
    assert [(each["edits"][0]["content"], each["edits"][0]["call"]["n"]) for each in sent] == [
        ("first", 1),
        ("second", 1),
    ]


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("ab")), max_size=40))
def test_numbers_in_use_are_distinct(steps: list[tuple[bool, str]]) -> None:
    """Taken numbers are distinct, and the next is the smallest that is free."""
    state = ScopeState()
    used: dict[str, set[int]] = {"a": set(), "b": set()}
    for take, fingerprint in steps:
        if take:
            n = state.next_n("run", fingerprint)
            assert n == min(set(range(1, 50)) - used[fingerprint])
            used[fingerprint].add(n)
        elif used[fingerprint]:
            n = max(used[fingerprint])
            used[fingerprint].remove(n)
            state.give_back("run", fingerprint, n)
