"""The plugin: one line on a client or a worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import runs
from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker

from durable_memory.activities import MemoryActivities
from durable_memory.notebook import InvalidMemoryRequest, Scope, ScopePolicy
from durable_memory.plugin import EPHEMERAL, LazyStore, MemoryPlugin
from durable_memory.stores import InMemoryStore, MemoryStore
from scripts import ScriptWorkflow, call, write


def with_plugin(client: Client, plugin: MemoryPlugin) -> Client:
    """The same client, with a plugin."""
    config = client.config()
    config["plugins"] = [plugin]
    return Client(**config)


def serving(client: Client, queue: str, plugin: MemoryPlugin) -> Worker:
    """A worker on that plugin."""
    return Worker(client, task_queue=queue, workflows=[ScriptWorkflow], plugins=[plugin])


async def test_plugin_on_client_and_worker_registers_once(temporal_client: Client) -> None:
    """The plugin may stand on the client, the worker, or both: the activities are there once."""
    client = with_plugin(temporal_client, MemoryPlugin("memory:"))
    with pytest.warns(UserWarning, match="present from both"):
        worker = Worker(
            client,
            task_queue=(queue := runs.unique("plugin")),
            workflows=[ScriptWorkflow],
            plugins=[MemoryPlugin("memory:")],
        )
    async with worker:
        (result,) = await runs.run(client, queue, {}, write("hello"))
    assert result["data"]["status"] == "created"


async def test_plugin_sets_no_data_converter(temporal_client: Client) -> None:
    """A client keeps its data converter: other plugins may set theirs."""
    before = temporal_client.config()["data_converter"]
    client = with_plugin(temporal_client, MemoryPlugin("memory:"))
    assert client.config()["data_converter"] is before


async def test_store_of_the_caller_is_not_closed(temporal_client: Client) -> None:
    """A store that was given open is the caller's, and works on after the worker has ended."""
    store = InMemoryStore()
    plugin = MemoryPlugin(store, policy=ScopePolicy(patterns=["main"]))
    async with Worker(
        temporal_client,
        task_queue=(queue := runs.unique("plugin")),
        workflows=[ScriptWorkflow],
        plugins=[plugin],
    ):
        await runs.run(temporal_client, queue, {}, write("hello"))
    assert await store.read(Scope().path("MEMORY.md"), max_chars=10) is not None


@pytest.mark.parametrize(
    ("store", "warned"), [("memory:", 1), (InMemoryStore(), 0)], ids=["url", "store"]
)
async def test_memory_that_does_not_last_is_named(
    temporal_client: Client,
    caplog: pytest.LogCaptureFixture,
    store: str | MemoryStore,
    warned: int,
) -> None:
    """A worker whose plugin keeps memory in the process warns once; a store given open does not."""
    async with Worker(
        temporal_client, task_queue=runs.unique("plugin"), plugins=[MemoryPlugin(store)]
    ):
        pass
    messages = [record.message for record in caplog.records if "ends with" in record.message]
    assert messages == [EPHEMERAL] * warned


async def test_lazy_store_opens_once_and_again() -> None:
    """A lazy store opens at the first call, fails as often as opening fails, and closes once."""
    said: list[str] = []

    @asynccontextmanager
    async def open_() -> AsyncIterator[MemoryStore]:
        said.append("open")
        if len(said) == 1:
            raise ConnectionRefusedError
        yield InMemoryStore()
        said.append("close")

    lazy = LazyStore(open_)
    await lazy.close()
    assert said == []
    for _ in range(3):
        try:
            await lazy(Scope())
        except ConnectionRefusedError:
            said.append("failed")
    await lazy.close()
    await lazy.close()
    assert said == ["open", "failed", "open", "close"]


async def test_stricter_plugin_of_the_worker_serves(temporal_client: Client) -> None:
    """A plugin on the worker takes the place of its client's: the allow-list is the worker's."""
    client = with_plugin(temporal_client, MemoryPlugin("memory:"))
    strict = MemoryPlugin("memory:", policy=ScopePolicy(patterns=["allowed/*"]))
    with pytest.warns(UserWarning, match="present from both"):
        worker = Worker(
            client,
            task_queue=(queue := runs.unique("plugin")),
            workflows=[ScriptWorkflow],
            plugins=[strict],
        )
    async with worker:
        with pytest.raises(WorkflowFailureError):
            await runs.run(client, queue, {"namespace": "other"}, write("hello"))


async def test_activities_of_the_caller_are_not_replaced(temporal_client: Client) -> None:
    """Memory activities that the worker has already are an error, not a question of order."""
    activities = MemoryActivities(InMemoryStore()).activities
    with pytest.raises(InvalidMemoryRequest, match="leave it to the plugin"):
        Worker(
            temporal_client,
            task_queue="never",
            activities=activities,
            plugins=[MemoryPlugin("memory:")],
        )


async def test_store_lives_as_long_as_the_last_worker(temporal_client: Client) -> None:
    """Of two workers, and a replayer, on one plugin only the last to stop closes its store."""
    plugin = MemoryPlugin("memory:")
    first, second = runs.unique("plugin"), runs.unique("plugin")
    async with serving(temporal_client, first, plugin):
        async with serving(temporal_client, second, plugin):
            await runs.run(temporal_client, second, {}, write("kept"))
        read = call("read_memory", file="MEMORY.md")
        (result,) = await runs.run(temporal_client, first, {}, read)
    assert result["text"] == "kept\n"
