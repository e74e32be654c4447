"""The activities by name, with plain JSON, as a caller in another language uses them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import runs
from temporalio.client import Client, WorkflowFailureError
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory.activities import MemoryActivities
from durable_memory.notebook import MAX_RECORD_BYTES, Scope, ScopePolicy, encoded_size
from durable_memory.stores import InMemoryStore, MemoryStore
from scripts import ByNameWorkflow

ALLOWED = {"namespace": "allowed/someone"}
SCOPE = Scope(namespace="allowed/someone")
CALL = {"operation_scope": "one conversation", "n": 1}


@pytest_asyncio.fixture(scope="module")
async def served(temporal_client: Client) -> AsyncIterator[tuple[str, runs.Shelf]]:
    """A worker that serves `allowed/*` only: its queue, and where it finds its store."""
    policy = ScopePolicy(patterns=["allowed/*"])
    async with runs.serving(temporal_client, [ByNameWorkflow], policy=policy) as serving:
        yield serving


@pytest.fixture
def store(served: tuple[str, runs.Shelf]) -> InMemoryStore:
    """A store of the test's own, on the worker."""
    return served[1].renew()


@pytest.fixture
def queue(served: tuple[str, runs.Shelf], store: InMemoryStore) -> str:
    """The worker's queue."""
    return served[0]


async def ask(client: Client, queue: str, activity: str, record: Any, *, attempts: int = 0) -> Any:
    """Run one activity in a workflow and return its result."""
    return await client.execute_workflow(
        ByNameWorkflow.run,
        args=[activity, record, attempts],
        id=runs.unique("by-name"),
        task_queue=queue,
    )


async def failure(client: Client, queue: str, activity: str, record: Any) -> ApplicationError:
    """Run one activity that fails and return its error."""
    with pytest.raises(WorkflowFailureError) as raised:
        await ask(client, queue, activity, record)
    error = raised.value.cause
    assert isinstance(error, ActivityError)
    assert isinstance(error.cause, ApplicationError)
    return error.cause


async def test_minimal_records(temporal_client: Client, queue: str) -> None:
    """The least that each activity needs is a scope and its subject; the rest has defaults."""
    written = await ask(
        temporal_client,
        queue,
        "memory.write",
        {"scope": ALLOWED, "edits": [{"content": "hello", "call": {"tool_call_id": "t1"}}]},
    )
    assert written["results"][0]["status"] == "created"
    read = await ask(temporal_client, queue, "memory.read", {"scope": ALLOWED, "file": "MEMORY.md"})
    assert read["content"] == "hello\n"
    found = await ask(temporal_client, queue, "memory.search", {"scope": ALLOWED, "query": "HELLO"})
    assert [match["file"] for match in found["matches"]] == ["MEMORY.md"]
    snapshot = await ask(temporal_client, queue, "memory.load_snapshot", {"scope": ALLOWED})
    assert "hello" in snapshot["text"]
    held = {"scope": ALLOWED, "token": snapshot["token"]}
    unchanged = await ask(temporal_client, queue, "memory.load_snapshot", held)
    assert unchanged == {"unchanged": True}


async def test_edits_travel_together(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """One record holds several edits: each has its result and its receipt, in order."""
    edits = [
        {"content": "one", "call": {"tool_call_id": "a"}},
        {"content": "two", "file": "other", "call": {"tool_call_id": "b"}},
        {"content": "x", "file": "a/b", "call": {"tool_call_id": "c"}},
        {"op": "delete", "file": "other", "call": {"tool_call_id": "d"}},
        {"content": "one", "call": {"tool_call_id": "a"}},
    ]
    response = await ask(temporal_client, queue, "memory.write", {"scope": ALLOWED, "edits": edits})
    results = response["results"]
    assert [result["status"] for result in results] == [
        "created",
        "created",
        "refused",
        "deleted",
        "created",
    ]
    assert [result["replayed"] for result in results] == [False, False, False, False, True]
    assert await store.list_paths(SCOPE.prefix, limit=10) == [SCOPE.path("MEMORY.md")]


async def test_unknown_fields_are_ignored(temporal_client: Client, queue: str) -> None:
    """A record of a newer release, with fields this one does not know, is served."""
    record = {
        "scope": {**ALLOWED, "colour": "blue"},
        "edits": [{"content": "x", "mood": "good", "call": {"tool_call_id": "t", "why": 1}}],
        "future": [1, 2],
    }
    response = await ask(temporal_client, queue, "memory.write", record)
    assert response["results"][0]["status"] == "created"


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        "text",
        {},
        {"scope": {}},
        {"scope": 1, "edits": []},
        {"scope": {}, "edits": []},
        {"scope": {}, "edits": [{"content": 5}]},
        {"scope": {}, "edits": [{"content": "x", "call": {"n": 0}}]},
        {"scope": {}, "edits": [{"content": "x", "call": {"n": "1"}}]},
        {"scope": {"namespace": "../x"}, "edits": [{"content": "x"}]},
        {"scope": {"namespace": "allowed", "agent_name": "a/b"}, "edits": [{"content": "x"}]},
        {"scope": ALLOWED, "edits": [{"content": "x"}], "max_memory_size": -5},
        {"scope": ALLOWED, "edits": [{"content": "x"}], "max_memory_size": 10**9},
        {"scope": ALLOWED, "edits": [{"content": "x"}], "deadline": "2026-01-01T00:00:00"},
    ],
    ids=str,
)
async def test_malformed_records_are_not_retried(
    temporal_client: Client, queue: str, store: InMemoryStore, record: Any
) -> None:
    """A malformed record fails once, by `InvalidMemoryRequest`, and changes nothing."""
    error = await failure(temporal_client, queue, "memory.write", record)
    assert error.type == "InvalidMemoryRequest"
    assert error.non_retryable
    assert await store.list_paths(limit=10) == []


@pytest.mark.parametrize(
    ("activity", "rest"),
    [
        ("memory.write", {"edits": [{"content": "secret words"}]}),
        ("memory.delete", {"edits": [{"file": "secret"}]}),
        ("memory.read", {"file": "secret"}),
        ("memory.search", {"query": "secret"}),
        ("memory.load_snapshot", {}),
        (
            "memory.settle",
            {"operation": {"tool": "write_memory", "fingerprint": "f", "call": {"n": 1}}},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("namespace", ["", "allowedx", "other/someone", "other/allowed"])
async def test_other_scopes_are_denied(
    temporal_client: Client, queue: str, activity: str, rest: dict[str, Any], namespace: str
) -> None:
    """A scope off the allow-list is denied by every activity, and the error says nothing of it."""
    record = {"scope": {"namespace": namespace}, **rest}
    error = await failure(temporal_client, queue, activity, record)
    assert error.type == "MemoryPermissionDenied"
    assert error.non_retryable
    assert "secret" not in str(error)


async def test_conflicting_reuse_of_an_id(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """A caller's tool call id used again with other arguments is a conflict, not a write."""
    edits = [
        {"content": "one", "call": {"tool_call_id": "same"}},
        {"content": "two", "call": {"tool_call_id": "same"}},
    ]
    record = {"scope": ALLOWED, "edits": edits}
    error = await failure(temporal_client, queue, "memory.write", record)
    assert error.type == "MemoryOperationConflictError"
    assert await store.list_paths(limit=10) == [], "nothing of the record was applied"


async def test_long_text_is_cut_to_a_record(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """A file larger than a record, as JSON, is read cut and marked, never sent whole."""
    await store.write(SCOPE.path("wide.md"), "\U0001f600" * 200_000, expected_version=None)
    record = {"scope": ALLOWED, "file": "wide", "max_memory_size": 500_000}
    read = await ask(temporal_client, queue, "memory.read", record)
    assert read["truncated"]
    assert MAX_RECORD_BYTES * 0.9 < encoded_size(read) <= MAX_RECORD_BYTES


async def test_pydantic_converter(temporal_client: Client, store: InMemoryStore) -> None:
    """The same records pass through Temporal's Pydantic data converter."""
    config = temporal_client.config()
    config["data_converter"] = pydantic_data_converter
    client = Client(**config)
    async with runs.worker(
        client, queue := runs.unique("pydantic"), store=store, workflows=[ByNameWorkflow]
    ):
        await test_minimal_records(client, queue)


async def test_unavailable_store_is_retried_until_it_is_back(temporal_client: Client) -> None:
    """A resolver that cannot reach its database fails retryably, and the call lands later."""
    store = InMemoryStore()
    asked = 0

    async def resolve(_scope: Scope) -> MemoryStore:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise ConnectionRefusedError
        return store

    activities = MemoryActivities(resolve).activities
    async with runs.worker(
        temporal_client,
        queue := runs.unique("down"),
        activities=activities,
        workflows=[ByNameWorkflow],
    ):
        response = await ask(
            temporal_client, queue, "memory.write", {"scope": {}, "edits": [{"content": "x"}]}
        )
    assert response["results"][0]["status"] == "created"
    assert asked == 3


async def test_unnamed_edits_of_one_record_are_operations_of_their_own(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """Edits without a name are told apart by their place in the record, equal ones too."""
    edits = [{"content": "same"}, {"content": "same"}, {"content": "other", "file": "other"}]
    response = await ask(temporal_client, queue, "memory.write", {"scope": ALLOWED, "edits": edits})
    assert [each["status"] for each in response["results"]] == ["created", "appended", "created"]
    found = await store.read(SCOPE.path("MEMORY.md"), max_chars=100)
    assert found is not None
    assert found.content == "same\nsame\n"


async def test_refusal_leaves_an_abandoned_operation(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """What the store refused can never be applied later under the same name."""
    edit = {"content": "new", "old_text": "old", "call": CALL}
    record = {"scope": ALLOWED, "edits": [edit]}
    first = await ask(temporal_client, queue, "memory.write", record)
    assert first["results"][0]["code"] == "not_found"
    await store.write(SCOPE.path("MEMORY.md"), "old", expected_version=None)
    again = await ask(temporal_client, queue, "memory.write", record)
    assert again["results"][0]["status"] == "abandoned"


async def test_operation_scope_joins_workflows(
    temporal_client: Client, queue: str, store: InMemoryStore
) -> None:
    """With an operation scope the same call of another workflow is the same operation."""
    edit = {"content": "once", "call": CALL}
    for replayed in (False, True):
        response = await ask(
            temporal_client, queue, "memory.write", {"scope": ALLOWED, "edits": [edit]}
        )
        assert response["results"][0]["replayed"] == replayed
    found = await store.read(SCOPE.path("MEMORY.md"), max_chars=100)
    assert found is not None
    assert found.content == "once\n"
