"""The activities for entries by name, with plain JSON, as a caller in another language."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import runs
from temporalio.client import Client, WorkflowFailureError
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory.activities import EntryActivities
from durable_memory.notebook import MemoryRefusal, Partition, StorePolicy, fingerprint
from durable_memory.plugin import MemoryPlugin
from durable_memory.stores import (
    EntryMutation,
    EntryStore,
    InMemoryStore,
    PostgresEntryStore,
    create_pool,
)
from scripts import ByNameWorkflow

ALLOWED = "allowed-store"
ANN = {"store": ALLOWED, "actor": "ann@example.com"}


@pytest_asyncio.fixture(scope="module")
async def allowed(entries: PostgresEntryStore) -> EntryStore:
    """The store of entries, with a memory store that the worker serves, and another."""
    for store in (ALLOWED, "allowed-store-x"):
        await entries.create_store(store, creator="USER:tests")
    return entries


@pytest_asyncio.fixture(scope="module")
async def queue(temporal_client: Client, allowed: EntryStore) -> AsyncIterator[str]:
    """The queue of a worker that serves one memory store."""
    activities = EntryActivities(allowed, policy=StorePolicy(patterns=[ALLOWED])).activities
    async with runs.worker(
        temporal_client,
        name := runs.unique("queue"),
        activities=activities,
        workflows=[ByNameWorkflow],
    ):
        yield name


@pytest.fixture
def actor() -> dict[str, str]:
    """An actor of the test's own."""
    return {"store": ALLOWED, "actor": runs.unique("actor")}


async def ask(client: Client, queue: str, activity: str, record: Any) -> Any:
    """Run one activity in a workflow and return its result."""
    return await client.execute_workflow(
        ByNameWorkflow.run,
        args=[activity, record, 0],
        id=runs.unique("by-name"),
        task_queue=queue,
    )


async def failure(client: Client, queue: str, activity: str, record: Any) -> ApplicationError:
    """Run one activity and return its failure."""
    with pytest.raises(WorkflowFailureError) as raised:
        await ask(client, queue, activity, record)
    error = raised.value.cause
    assert isinstance(error, ActivityError)
    assert isinstance(error.cause, ApplicationError)
    return error.cause


async def test_minimal_records(temporal_client: Client, queue: str, actor: dict[str, str]) -> None:
    """The least that each activity needs is store, actor and its subject; the rest has defaults."""
    save = {**actor, "edits": [{"path": "/a", "content": "likes tea"}]}
    saved = await ask(temporal_client, queue, "memory.save_entry", save)
    (result,) = saved["results"]
    assert (result["status"], result["path"], result["replayed"]) == ("created", "/a", False)
    listed = await ask(temporal_client, queue, "memory.list_entries", actor)
    assert [entry["path"] for entry in listed["entries"]] == ["/a"]
    assert "content" not in listed["entries"][0]
    query = {**actor, "query": "tea"}
    found = await ask(temporal_client, queue, "memory.search_entries", query)
    assert [entry["content"] for entry in found["entries"]] == ["likes tea"]
    forget = {**actor, "edits": [{"path": "/a"}]}
    forgotten = await ask(temporal_client, queue, "memory.forget_entry", forget)
    assert forgotten["results"][0]["status"] == "deleted"


async def test_edits_travel_together(
    temporal_client: Client, queue: str, actor: dict[str, str]
) -> None:
    """One record holds several edits: each has its result and its receipt, in order."""
    edits = [
        {"path": "/a", "content": "one", "call": {"tool_call_id": "a"}},
        {"path": "/b", "content": "two", "session": "s", "call": {"tool_call_id": "b"}},
        {"path": "b", "content": "x", "call": {"tool_call_id": "c"}},
        {"op": "forget", "path": "/b", "call": {"tool_call_id": "d"}},
        {"path": "/a", "content": "one", "call": {"tool_call_id": "a"}},
    ]
    record = {**actor, "edits": edits}
    results = (await ask(temporal_client, queue, "memory.save_entry", record))["results"]
    statuses = [result["status"] for result in results]
    assert statuses == ["created", "created", "refused", "deleted", "created"]
    assert [result["replayed"] for result in results] == [False, False, False, False, True]


async def test_pages(temporal_client: Client, queue: str, actor: dict[str, str]) -> None:
    """A list goes on behind `next`, and keeps to a prefix that ends at a segment."""
    paths = ["/acme", "/acme/a", "/acme/b", "/acme-corp", "/z"]
    edits = [{"path": path, "content": "x", "call": {"tool_call_id": path}} for path in paths]
    await ask(temporal_client, queue, "memory.save_entry", {**actor, "edits": edits})
    request = {**actor, "path_prefix": "/acme/", "max_listed_entries": 2}
    first = await ask(temporal_client, queue, "memory.list_entries", request)
    more = {**request, "after": first["next"]}
    second = await ask(temporal_client, queue, "memory.list_entries", more)
    shown = [entry["path"] for page in (first, second) for entry in page["entries"]]
    assert shown == ["/acme", "/acme/a", "/acme/b"]
    assert "next" not in second


async def test_unknown_fields_are_ignored(
    temporal_client: Client, queue: str, actor: dict[str, str]
) -> None:
    """A record of a newer release, with fields this one does not know, is served."""
    edit = {"path": "/a", "content": "x", "mood": "good", "call": {"tool_call_id": "t", "why": 1}}
    record = {**actor, "edits": [edit], "future": [1, 2]}
    response = await ask(temporal_client, queue, "memory.save_entry", record)
    assert response["results"][0]["status"] == "created"


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {"store": ALLOWED, "edits": [{"path": "/a", "content": "x"}]},
        {**ANN, "actor": "", "edits": [{"path": "/a", "content": "x"}]},
        {**ANN, "actor": None, "edits": [{"path": "/a", "content": "x"}]},
        {**ANN, "actor": "x" * 513, "edits": [{"path": "/a", "content": "x"}]},
        {**ANN, "store": "Not an id", "edits": [{"path": "/a", "content": "x"}]},
        {**ANN, "store": "_notebooks", "edits": [{"path": "/a", "content": "x"}]},
        {**ANN, "session": "s", "edits": [{"path": "/a", "content": "x"}]},
        {**ANN, "edits": []},
        {**ANN, "edits": [{"content": "x"}]},
        {**ANN, "edits": [{"path": "/a", "content": 5}]},
        {**ANN, "edits": [{"path": "/a", "content": "x", "session": ""}]},
        {**ANN, "edits": [{"op": "forget", "path": "/a", "session": "s"}]},
        {**ANN, "edits": [{"path": "/a", "content": "x", "call": {"n": 0}}]},
        {**ANN, "edits": [{"path": "/a", "content": "x"}], "deadline": "2026-01-01T00:00:00"},
    ],
    ids=str,
)
async def test_malformed_records_are_not_retried(
    temporal_client: Client, queue: str, allowed: EntryStore, record: Any
) -> None:
    """A malformed record fails once, by `InvalidMemoryRequest`, and changes nothing."""
    error = await failure(temporal_client, queue, "memory.save_entry", record)
    assert error.type == "InvalidMemoryRequest"
    assert error.non_retryable
    assert (await allowed.list_entries(ALLOWED, ANN["actor"], limit=1)).entries == []


@pytest.mark.parametrize(
    ("activity", "rest"),
    [
        ("memory.list_entries", {"max_listed_entries": 401}),
        ("memory.list_entries", {"session": ""}),
        ("memory.search_entries", {"query": "x", "max_entry_results": 101}),
        ("memory.search_entries", {"query": "x", "max_entry_result_chars": 1}),
        ("memory.settle_entry", {}),
    ],
    ids=str,
)
async def test_malformed_lookups_are_not_retried(
    temporal_client: Client, queue: str, activity: str, rest: dict[str, Any]
) -> None:
    """What asks for more than a record can hold, or for nothing, fails once."""
    error = await failure(temporal_client, queue, activity, {**ANN, **rest})
    assert error.type == "InvalidMemoryRequest"


@pytest.mark.parametrize(
    ("activity", "rest"),
    [
        ("memory.list_entries", {"path_prefix": "a"}),
        ("memory.search_entries", {"query": " "}),
        ("memory.search_entries", {"query": "x", "path_prefix": "/.."}),
    ],
    ids=str,
)
async def test_mistaken_lookups_are_refused(
    temporal_client: Client, queue: str, activity: str, rest: dict[str, Any]
) -> None:
    """What may come from a model is answered with a refusal, not a failed activity."""
    response = await ask(temporal_client, queue, activity, {**ANN, **rest})
    assert response["status"] == "refused"
    assert response["code"] in {"invalid_name", "invalid_query"}
    assert response["message"]


OPERATION = {"tool": "save_memory", "fingerprint": "f", "call": {"n": 1}}


@pytest.mark.parametrize(
    ("activity", "rest"),
    [
        ("memory.save_entry", {"edits": [{"path": "/secret", "content": "secret words"}]}),
        ("memory.forget_entry", {"edits": [{"path": "/secret"}]}),
        ("memory.list_entries", {}),
        ("memory.search_entries", {"query": "secret"}),
        ("memory.settle_entry", {"operation": OPERATION}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("store", ["allowed-store-x", "allowed-stor", "other"])
async def test_other_stores_are_denied(
    temporal_client: Client, queue: str, activity: str, rest: dict[str, Any], store: str
) -> None:
    """A store off the allow-list is denied by every activity, and the error says nothing of it."""
    record = {"store": store, "actor": "secret", **rest}
    error = await failure(temporal_client, queue, activity, record)
    assert error.type == "MemoryPermissionDenied"
    assert error.non_retryable
    assert "secret" not in str(error)
    assert store not in str(error)


async def test_missing_store(temporal_client: Client, entries: EntryStore) -> None:
    """Saving into a memory store that is not there fails once, by `MemoryNotFound`."""
    async with runs.worker(
        temporal_client,
        queue := runs.unique("missing"),
        activities=EntryActivities(entries).activities,
        workflows=[ByNameWorkflow],
    ):
        record = {"store": "not-there", "actor": "ann", "edits": [{"path": "/a", "content": "x"}]}
        error = await failure(temporal_client, queue, "memory.save_entry", record)
    assert error.type == "MemoryNotFound"
    assert error.non_retryable


async def test_conflicting_reuse_of_an_id(
    temporal_client: Client, queue: str, actor: dict[str, str]
) -> None:
    """A caller's tool call id used again with other arguments is a conflict, not a save."""
    edits = [
        {"path": "/a", "content": "one", "call": {"tool_call_id": "same"}},
        {"path": "/a", "content": "one", "session": "s", "call": {"tool_call_id": "same"}},
    ]
    error = await failure(temporal_client, queue, "memory.save_entry", {**actor, "edits": edits})
    assert error.type == "MemoryOperationConflictError"


async def test_settled_operations_never_land(
    temporal_client: Client, queue: str, actor: dict[str, str]
) -> None:
    """An operation that was settled is abandoned: its save says so, and changes nothing."""
    call = {"operation_scope": runs.unique("scope"), "n": 1}
    edit = {"path": "/a", "content": "x", "session": "s"}
    operation = {
        "tool": "save_memory",
        "fingerprint": fingerprint("save_memory", edit),
        "call": call,
    }
    settle = {**actor, "operation": operation}
    settled = await ask(temporal_client, queue, "memory.settle_entry", settle)
    assert settled["abandoned"]
    save = {**actor, "edits": [{**edit, "call": call}]}
    (result,) = (await ask(temporal_client, queue, "memory.save_entry", save))["results"]
    assert result["status"] == "abandoned"
    listed = await ask(temporal_client, queue, "memory.list_entries", actor)
    assert listed["entries"] == []


async def test_pydantic_converter(
    temporal_client: Client, allowed: EntryStore, actor: dict[str, str]
) -> None:
    """The same records pass through Temporal's Pydantic data converter."""
    config = temporal_client.config()
    config["data_converter"] = pydantic_data_converter
    client = Client(**config)
    async with runs.worker(
        client,
        queue := runs.unique("pydantic"),
        activities=EntryActivities(allowed).activities,
        workflows=[ByNameWorkflow],
    ):
        await test_minimal_records(client, queue, actor)


class LateRefusal(PostgresEntryStore):
    """Saves, loses the answer, and refuses what comes again, as another release might."""

    attempts = 0

    async def put(self, *arguments: Any, **options: Any) -> EntryMutation:
        """Apply the first attempt and hide that; refuse the next."""
        self.attempts += 1
        if self.attempts > 1:
            raise MemoryRefusal("oversize", "Too long for this release.")
        await super().put(*arguments, **options)
        raise ConnectionResetError


async def test_a_refused_retry_is_answered_by_the_receipt(
    temporal_client: Client, entries_url: str, allowed: EntryStore, actor: dict[str, str]
) -> None:
    """A retry that is refused asks for the receipt first: an earlier attempt may have landed."""
    async with (
        await create_pool(entries_url) as pool,
        runs.worker(
            temporal_client,
            queue := runs.unique("late"),
            activities=EntryActivities(LateRefusal(pool)).activities,
            workflows=[ByNameWorkflow],
        ),
    ):
        record = {**actor, "edits": [{"path": "/a", "content": "x"}]}
        response = await ask(temporal_client, queue, "memory.save_entry", record)
    (result,) = response["results"]
    assert (result["status"], result["replayed"]) == ("created", True)


async def test_plugin_serves_entries_beside_notebooks(
    temporal_client: Client, entries_url: str, memory_store: str
) -> None:
    """The plugin's one URL serves entries too, under the allow-list of stores it is given."""
    policy = StorePolicy(patterns=[memory_store])
    async with runs.worker(
        temporal_client,
        queue := runs.unique("plugin"),
        workflows=[ByNameWorkflow],
        plugins=[MemoryPlugin(entries_url, entry_policy=policy)],
    ):
        record = {"store": memory_store, "actor": "ann", "edits": [{"path": "/a", "content": "x"}]}
        saved = await ask(temporal_client, queue, "memory.save_entry", record)
        denied = await failure(temporal_client, queue, "memory.list_entries", ANN)
        notebook = {"scope": {}, "query": "x"}
        found = await ask(temporal_client, queue, "memory.search", notebook)
    assert saved["results"][0]["status"] == "created"
    assert denied.type == "MemoryPermissionDenied"
    assert found["status"] == "ok"


async def test_plugin_says_that_its_store_keeps_no_entries(temporal_client: Client) -> None:
    """Beside a store without entries the activities fail at once, and say what they need."""
    async with runs.worker(
        temporal_client,
        queue := runs.unique("plugin"),
        workflows=[ByNameWorkflow],
        plugins=[MemoryPlugin(InMemoryStore())],
    ):
        error = await failure(temporal_client, queue, "memory.list_entries", ANN)
    assert error.type == "InvalidMemoryRequest"
    assert "PostgreSQL" in str(error)


async def test_plugin_takes_entries_of_their_own(
    temporal_client: Client, allowed: EntryStore
) -> None:
    """Entries may be elsewhere than notebooks: a store or a resolver of partitions is asked."""
    asked: list[str] = []

    async def resolve(partition: Partition) -> EntryStore:
        asked.append(partition.store)
        return allowed

    async with runs.worker(
        temporal_client,
        queue := runs.unique("plugin"),
        workflows=[ByNameWorkflow],
        plugins=[MemoryPlugin("memory:", entries=resolve)],
    ):
        await ask(temporal_client, queue, "memory.list_entries", ANN)
    assert asked == [ALLOWED]
