"""The handle on entries in real workflows, on a real server and a real database."""

from __future__ import annotations

import json
from typing import Any

import pytest
import runs
from entry_scripts import (
    MixedWorkflow,
    SessionsWorkflow,
)
from entry_workers import kept
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from durable_memory.cli.faults import connected, count_receipts
from durable_memory.notebook import (
    EntryKey,
    encoded_size,
)
from durable_memory.stores import EntryStore
from scripts import call, save


async def test_four_tools(temporal_client: Client, queue: str, memory: dict[str, Any]) -> None:
    """The four tools work from a workflow, and what they tell the model says what was done."""
    empty, saved, replaced, listed, found, forgotten, gone, nothing = await runs.run(
        temporal_client,
        queue,
        memory,
        call("list_memories"),
        save("/drinks.md", "Ann drinks tea.", description="What Ann drinks"),
        save("/drinks.md", "Ann drinks coffee."),
        call("list_memories"),
        call("search_memory", query="which coffee?"),
        call("forget_memory", path="/drinks.md"),
        call("forget_memory", path="/drinks.md"),
        call("search_memory", query="coffee"),
    )
    assert empty["text"] == nothing["text"] == "No memory found."
    assert saved["text"] == replaced["text"] == "Saved memory at /drinks.md"
    assert [r["data"]["status"] for r in (saved, replaced, forgotten, gone)] == [
        *("created", "updated", "deleted", "not_found"),
    ]
    (one,) = json.loads(listed["text"])["memories"]
    assert one == {"path": "/drinks.md", "description": "What Ann drinks"}
    (match,) = json.loads(found["text"])["memories"]
    assert match["content"] == "Ann drinks coffee."
    assert forgotten["text"] == "Forgot memory at /drinks.md"
    assert gone["text"] == "No memory at /drinks.md"
    assert "ann" not in json.dumps([each["text"] for each in (saved, listed, forgotten)])


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (save("drinks.md", "x"), "invalid_name"),
        (save("/a/../b", "x"), "invalid_name"),
        (save("/a", "a\x00b"), "invalid_text"),
        (save("/a", "x" * 70_000), "oversize"),
        (save("/a", "x", description="x" * 5_000), "oversize"),
        (save("/a", " \n"), "invalid_arguments"),
        (save("/a", "x", actor="bob"), "invalid_arguments"),
        (call("save_memory", path="/a"), "invalid_arguments"),
        (call("list_memories", path="/a"), "invalid_arguments"),
        (call("forget_memory", path="a"), "invalid_name"),
        (call("search_memory", query="  "), "invalid_query"),
        (call("write_memory", content="x"), "unknown_tool"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_mistakes_are_tool_results(
    temporal_client: Client, queue: str, memory: dict[str, Any], step: dict[str, object], code: str
) -> None:
    """A mistake of the model is a result that says what to do, and changes nothing."""
    result, listed = await runs.run(temporal_client, queue, memory, step, call("list_memories"))
    assert result["is_error"]
    assert result["data"]["code"] == code
    assert result["text"]
    assert listed["text"] == "No memory found."


async def test_actors_see_their_own(
    temporal_client: Client, queue: str, memory: dict[str, Any]
) -> None:
    """What one actor saves no other lists, finds or forgets, whatever its name begins with."""
    other = {**memory, "actor": "ann@example.com/x"}
    await runs.run(temporal_client, queue, memory, save("/a", "tea"))
    listed, found, forgotten = await runs.run(
        temporal_client,
        queue,
        other,
        call("list_memories"),
        call("search_memory", query="tea"),
        call("forget_memory", path="/a"),
    )
    assert listed["text"] == found["text"] == "No memory found."
    assert forgotten["text"] == "No memory at /a"
    (mine,) = await runs.run(temporal_client, queue, memory, call("search_memory", query="tea"))
    assert json.loads(mine["text"])["memories"]


async def test_forget_crosses_sessions_with_one_receipt(
    temporal_client: Client,
    queue: str,
    entries: EntryStore,
    entries_url: str,
    memory: dict[str, Any],
) -> None:
    """Forgetting removes every session's entry at the path, and nothing else, in one operation."""
    store, actor = memory["store"], memory["actor"]
    for who, session, path in [
        (actor, None, "/plan"),
        (actor, "monday", "/plan"),
        (actor, "tuesday", "/plan"),
        (actor, "monday", "/plan/b"),
        ("bob", None, "/plan"),
    ]:
        key = EntryKey(store=store, actor=who, session=session, path=path)
        await entries.put(key, content="text")
    monday = {**memory, "session": "monday"}
    handle = await runs.start(temporal_client, queue, monday, [call("forget_memory", path="/plan")])
    (result,) = await handle.result()
    assert result["data"]["status"] == "deleted"
    assert [entry.key.path for entry in await kept(entries, store, actor)] == ["/plan/b"]
    assert len(await kept(entries, store, "bob")) == 1
    async with connected(entries_url) as connection:
        assert await count_receipts(connection, [handle.id]) == 1


async def test_a_session_is_a_memory_of_its_own(
    temporal_client: Client, queue: str, memory: dict[str, Any]
) -> None:
    """With a session, what is saved belongs to it, and lists and searches see nothing else."""
    monday = {**memory, "session": "monday"}
    await runs.run(temporal_client, queue, memory, save("/a", "tea for all"))
    _, listed, found = await runs.run(
        temporal_client,
        queue,
        monday,
        save("/a", "tea on monday"),
        call("list_memories"),
        call("search_memory", query="tea"),
    )
    assert len(json.loads(listed["text"])["memories"]) == 1
    (match,) = json.loads(found["text"])["memories"]
    assert match["content"] == "tea on monday"
    assert "monday" not in listed["text"], "the model is not told of sessions"


async def test_handles_on_sessions_share_the_order(
    temporal_client: Client, queue: str, entries: EntryStore, memory_store: str
) -> None:
    """Calls through handles on several sessions of one actor land in order, each counted alone.

    The forget was called last, so it finds all that was saved before it, in both sessions.
    """
    results = await temporal_client.execute_workflow(
        SessionsWorkflow.run,
        args=[memory_store, ["one", "one", "two"]],
        id=runs.unique("sessions"),
        task_queue=queue,
    )
    statuses = [result["status"] for result in results]
    assert statuses == [*["created"] * 2, *["updated"] * 4, "deleted"]
    assert not any(result["replayed"] for result in results)
    assert await kept(entries, memory_store, "ann") == []


async def test_long_results_are_bounded(
    temporal_client: Client, queue: str, entries: EntryStore, memory: dict[str, Any]
) -> None:
    """Lists and searches stay within count and size, share it fairly, and say what is left out."""
    for i in range(12):
        key = EntryKey(store=memory["store"], actor=memory["actor"], path=f"/{i:02}")
        text = "차" * 30_000 + f" tea {i} " + "차" * 30_000
        await entries.put(key, content=text, description="설명" * 2_000)
    bounds = {"max_listed_entries": 10, "max_entry_result_chars": 60_000}
    listed, found = await runs.run(
        temporal_client,
        queue,
        {**memory, **bounds},
        call("list_memories"),
        call("search_memory", query="tea"),
    )
    paths = json.loads(listed["text"])
    assert [each["path"] for each in paths["memories"]] == [f"/{i:02}" for i in range(10)]
    assert paths["truncated"]
    matches = json.loads(found["text"])
    assert len(matches["memories"]) == 10
    assert all(" tea " in each["content"] for each in matches["memories"])
    assert matches["truncated"]
    for result in (listed, found):
        assert len(result["text"]) < 62_000
        assert encoded_size(result["data"]) < 1024 * 1024


async def test_beside_a_notebook(
    temporal_client: Client, queue: str, memory: dict[str, Any]
) -> None:
    """A notebook and entries work as one set of tools, with a prefix for one of the two."""
    seen = await temporal_client.execute_workflow(
        MixedWorkflow.run,
        args=[
            [{"namespace": "ann"}, {**memory, "tool_prefix": "long_term", "heading": "Long term"}],
            [
                ["write_memory", {"content": "note"}],
                ["long_term_save_memory", {"path": "/a", "content": "entry"}],
                ["search_memory", {"query": "entry"}],
                ["long_term_search_memory", {"query": "entry"}],
                ["save_memory", {"path": "/a", "content": "entry"}],
            ],
        ],
        id=runs.unique("mixed"),
        task_queue=queue,
    )
    _, saved, in_notebook, in_entries, unknown = seen["texts"]
    assert saved == "Saved memory at /a"
    assert json.loads(in_notebook)["matches"] == []
    assert json.loads(in_entries)["memories"][0]["content"] == "entry"
    assert "no tool" in unknown
    assert len(seen["blocks"]) == 1, "entries inject nothing"
    assert "## Long term" in seen["instructions"]
    assert "long_term_search_memory" in seen["instructions"]


@pytest.mark.parametrize(
    "others",
    [
        [{"namespace": "ann"}],
        [{"namespace": "ann", "tool_prefix": "a", "id": "entries"}],
    ],
    ids=["tool name", "id"],
)
async def test_clashes_are_refused(
    temporal_client: Client, queue: str, memory: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    """Entries beside a notebook whose tool has the same name, or with its id, are refused."""
    with pytest.raises(WorkflowFailureError) as failure:
        await temporal_client.execute_workflow(
            MixedWorkflow.run,
            args=[[memory, *others], []],
            id=runs.unique("mixed"),
            task_queue=queue,
        )
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "InvalidMemoryRequest"
