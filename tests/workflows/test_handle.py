"""The handle in real workflows, on a real server, with the in-memory store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import runs
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from durable_memory.notebook import Scope
from durable_memory.stores import InMemoryStore
from scripts import (
    CarryingWorkflow,
    OversizeWorkflow,
    ResolvingWorkflow,
    ScriptWorkflow,
    call,
    write,
)

SCOPE = Scope(namespace="someone", agent_name="main")
MEMORY = {"namespace": "someone"}
WORKFLOWS = [CarryingWorkflow, OversizeWorkflow, ResolvingWorkflow, ScriptWorkflow]


@pytest_asyncio.fixture(scope="module")
async def served(temporal_client: Client) -> AsyncIterator[tuple[str, runs.Shelf]]:
    """A worker of this module: its queue, and where it finds its store."""
    async with runs.serving(temporal_client, WORKFLOWS) as serving:
        yield serving


@pytest.fixture
def store(served: tuple[str, runs.Shelf]) -> InMemoryStore:
    """A store of the test's own, on the worker."""
    return served[1].renew()


@pytest.fixture
def queue(served: tuple[str, runs.Shelf], store: InMemoryStore) -> str:
    """The worker's queue."""
    return served[0]


async def notebook_text(store: InMemoryStore, name: str = "MEMORY.md") -> str:
    """The text of a file of the test's scope."""
    found = await store.read(SCOPE.path(name), max_chars=1_000_000)
    assert found is not None
    return found.content


async def test_writes_read_and_search(temporal_client: Client, queue: str) -> None:
    """The four tools work from a workflow, and their results say what was done."""
    created, appended, updated, read, found, deleted, gone = await runs.run(
        temporal_client,
        queue,
        MEMORY,
        write("likes tea", file="drinks"),
        write("likes rye bread", file="drinks"),
        write("likes coffee", file="drinks", old_text="likes tea"),
        call("read_memory", file="drinks"),
        call("search_memory", query="coffee"),
        call("delete_memory", file="drinks"),
        call("delete_memory", file="drinks"),
    )
    statuses = [r["data"]["status"] for r in (created, appended, updated, deleted, gone)]
    assert statuses == ["created", "appended", "updated", "deleted", "not_found"]
    assert read["text"] == "likes coffee\nlikes rye bread\n"
    (match,) = json.loads(found["text"])["matches"]
    assert match["file"] == "drinks.md"
    assert "coffee" in match["snippet"]
    assert not any(r["is_error"] for r in (created, appended, updated, read, found, deleted, gone))


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (write("x", file="a/b"), "invalid_name"),
        (write("x", file=".."), "invalid_name"),
        (write("x", file="memory.md"), "invalid_name"),
        (write("a\x00b"), "invalid_text"),
        (write("x" * 70_000), "oversize"),
        (write("x", old_text="not there"), "not_found"),
        (call("delete_memory", file="MEMORY.md"), "protected"),
        (call("read_memory", file="nothing"), "not_found"),
        (call("search_memory", query="  "), "invalid_query"),
        (call("write_memory"), "invalid_arguments"),
        (call("forget_everything"), "unknown_tool"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_mistakes_are_tool_results(
    temporal_client: Client, queue: str, store: InMemoryStore, step: dict[str, object], code: str
) -> None:
    """A mistake of the model is a result that says what to do, and changes nothing."""
    (result,) = await runs.run(temporal_client, queue, MEMORY, step)
    assert result["is_error"]
    assert result["data"]["code"] == code
    assert result["text"]
    assert await store.list_paths(SCOPE.prefix, limit=10) == []


async def test_calls_of_one_response_land_in_order(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """Calls that are awaited together apply in the order of the calls, and all land."""
    notes = [f"note {i}" for i in range(12)]
    calls = [write(note, call_id=f"id-{i}") for i, note in enumerate(notes)]
    calls.append(call("read_memory", file="MEMORY.md"))
    (results,) = await runs.run(temporal_client, queue, MEMORY, {"do": "together", "calls": calls})
    assert (await notebook_text(store)).splitlines() == notes
    assert results[-1]["text"].splitlines() == notes, "a read sees the writes called before it"


async def test_same_id_in_one_response_is_one_operation(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """A tool call id that comes again in one response, with the same arguments, is a replay."""
    _, first, again = await runs.run(
        temporal_client,
        queue,
        MEMORY,
        {"do": "snapshot"},
        write("once", call_id="call_0"),
        write("once", call_id="call_0"),
    )
    assert first["text"] == again["text"]
    assert again["data"]["replayed"]
    assert await notebook_text(store) == "once\n"


async def test_ids_repeat_across_responses(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """A tool call id means nothing in the next response, so equal notes are two operations."""
    await runs.run(
        temporal_client,
        queue,
        MEMORY,
        {"do": "snapshot"},
        write("twice", call_id="call_0"),
        {"do": "snapshot"},
        write("twice", call_id="call_0"),
        write("named", call_id="call_0", request="third"),
        write("named", call_id="call_0", request="fourth"),
    )
    assert await notebook_text(store) == "twice\ntwice\nnamed\nnamed\n"


async def test_reused_id_with_other_arguments_fails(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """A tool call id that comes again in one response with other arguments fails the workflow."""
    with pytest.raises(WorkflowFailureError) as failure:
        await runs.run(
            temporal_client,
            queue,
            MEMORY,
            {"do": "snapshot"},
            write("one", call_id="call_0"),
            write("two", call_id="call_0"),
        )
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "MemoryOperationConflictError"
    assert await notebook_text(store) == "one\n"


async def test_snapshot_shows_the_latest_text(temporal_client: Client, queue: str) -> None:
    """Each request's snapshot holds what was written before it, between the markers."""
    empty, _, full, same = await runs.run(
        temporal_client,
        queue,
        MEMORY,
        {"do": "snapshot"},
        write("the sky is blue"),
        {"do": "snapshot"},
        {"do": "snapshot"},
    )
    assert "the sky is blue" not in empty["text"]
    assert "the sky is blue" in full["text"]
    assert full["text"].startswith("<memory>")
    assert full["text"].endswith("</memory>")
    assert same == full


async def test_frozen_snapshot(temporal_client: Client, queue: str) -> None:
    """With `refresh='run'` the first snapshot stands for the whole run."""
    first, _, later = await runs.run(
        temporal_client,
        queue,
        {**MEMORY, "refresh": "run"},
        {"do": "snapshot"},
        write("new"),
        {"do": "snapshot"},
    )
    assert first == later


async def test_nothing_injected(temporal_client: Client, queue: str) -> None:
    """With `inject_memory=False` a snapshot is empty and costs no event, and the tools stay."""
    handle = await runs.start(
        temporal_client,
        queue,
        {**MEMORY, "inject_memory": False},
        [write("kept"), {"do": "snapshot"}, call("read_memory", file="MEMORY.md")],
    )
    _, snapshot, read = await handle.result()
    assert snapshot["text"] == ""
    assert read["text"] == "kept\n"
    assert await runs.events(handle, EventType.EVENT_TYPE_MARKER_RECORDED) == []


async def test_local_and_fleet_snapshots(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """Snapshots are local activities in the agent's own worker, normal ones with a fleet."""
    own = await runs.start(temporal_client, queue, MEMORY, [{"do": "snapshot"}])
    await own.result()
    assert len(await runs.events(own, EventType.EVENT_TYPE_MARKER_RECORDED)) == 1
    assert await runs.scheduled(own, "memory.load_snapshot") == []

    fleet = runs.unique("fleet")
    async with runs.worker(temporal_client, fleet, store=store, workflows=[]):
        agents = runs.unique("agents")
        async with runs.worker(temporal_client, agents, workflows=WORKFLOWS):
            remote = await runs.start(
                temporal_client,
                agents,
                {**MEMORY, "task_queue": fleet},
                [{"do": "snapshot"}, write("by the fleet")],
            )
            await remote.result()
    assert len(await runs.scheduled(remote, "memory.load_snapshot")) == 1
    assert await notebook_text(store) == "by the fleet\n"


async def test_counters_carried_through_continue_as_new(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """With an operation scope, the same note in the next run is another call, not a replay."""
    await temporal_client.execute_workflow(
        CarryingWorkflow.run, args=["again", None], id=runs.unique("carry"), task_queue=queue
    )
    found = await store.read(Scope(namespace="carry").path("MEMORY.md"), max_chars=100)
    assert found is not None
    assert found.content == "again\nagain\n"


@pytest.mark.parametrize(
    "memory",
    [
        {"namespace": "../other"},
        {"namespace": "a//b"},
        {"agent_name": "a/b"},
        {"namespace": "x" * 201},
        {"max_tokens": -1},
        {"max_tokens": 1_000_000},
        {"max_memory_size": 10_000_000},
        {"seconds": {"mutation": -1}},
        {"heading": "two\nlines"},
        {"tool_prefix": "no spaces"},
        {"refresh": "sometimes"},
    ],
    ids=str,
)
async def test_malformed_configuration_fails_the_workflow(
    temporal_client: Client, queue: str, store: InMemoryStore, memory: dict[str, object]
) -> None:
    """A configuration that cannot work fails the workflow instead of leaving it hanging."""
    with pytest.raises(WorkflowFailureError) as failure:
        await runs.run(temporal_client, queue, memory, write("x"))
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "InvalidMemoryRequest"
    assert await store.list_paths(limit=10) == []


async def test_record_that_cannot_be_sent_is_refused(temporal_client: Client, queue: str) -> None:
    """A text whose record would be over its encoded bound is refused before it is scheduled."""
    handle = await temporal_client.start_workflow(
        OversizeWorkflow.run,
        args=["\U0001f600", 90_000, 1],
        id=runs.unique("oversize"),
        task_queue=queue,
    )
    assert await handle.result() == ["oversize"]
    assert await runs.scheduled(handle, "memory.write") == []


async def test_one_task_holds_no_more_than_temporal_takes(
    temporal_client: Client, queue: str
) -> None:
    """Writes of 0.8 MB to eight scopes at once all land: they do not go in one workflow task."""
    results = await temporal_client.execute_workflow(
        OversizeWorkflow.run,
        args=["\U0001f600", 65_000, 8],
        id=runs.unique("wide"),
        task_queue=queue,
    )
    assert results == ["created"] * 8


async def test_scope_resolved_from_the_input(temporal_client: Client, queue: str) -> None:
    """A namespace can be a function of the workflow's input."""
    key = await temporal_client.execute_workflow(
        ResolvingWorkflow.run, {"id": "a@b.c"}, id=runs.unique("resolve"), task_queue=queue
    )
    assert key == "a@b.c/main"


async def test_failing_resolver_fails_the_workflow(temporal_client: Client, queue: str) -> None:
    """A resolver's failure always propagates, and says nothing of what it was given."""
    with pytest.raises(WorkflowFailureError) as failure:
        await temporal_client.execute_workflow(
            ResolvingWorkflow.run, {"secret": "s"}, id=runs.unique("resolve"), task_queue=queue
        )
    assert isinstance(failure.value.cause, ApplicationError)
    assert "KeyError" in str(failure.value.cause)
    assert "secret" not in str(failure.value.cause)
